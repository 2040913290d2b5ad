//! What a certificate says of loops, in C: for tools that read invariants where the source has them.
//!
//! A certificate speaks of a loop's head in each call context; the source has one loop for all of them. So what is said of a loop is
//! what holds in every context: the facts that all have in common, and of the rest that one context's or another's hold. A
//! fact is said only where C's expression means exactly the same (`expression`) of variables that can be named there
//! ([`cegar_model::program::LoopHead`]); the others are counted. For people there is [`super::Words`].

mod expression;
#[cfg(test)]
mod tests;
mod typed;

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::certificate::{Certificate, formula};
use super::check::Rejected;
use cegar_model::symbolic::cuts::{Bytes, Cell, CutState, Part, Place, Value};
use cegar_model::symbolic::encode::{Budget, Exceeded};
use crate::abstraction::graph::Graph;
use cegar_model::symbolic::world::{Cut, ObjId, ObjectKind};
use cegar_model::program::ir::{
    BlockId, FuncId, FunctionKind, Holder, LoopHead, Named, Op, Pos, Program, Reg,
};
use cegar_model::term::{Node, Term, value};
use expression::Speaker;
use typed::binds;

/// What holds whenever a turn of a loop begins, and before the first one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopFacts {
    /// Where the loop statement begins.
    pub pos: Pos,
    /// Its function.
    pub function: FuncId,
    /// Conditions of C; all of them hold.
    pub facts: Vec<String>,
    /// Facts that were left out.
    pub left_out: usize,
}

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InC {
    /// The loops that something can be said of, in the program's order.
    pub loops: Vec<LoopFacts>,
    /// All facts of the user's loops that were left out.
    pub left_out: usize,
}

/// More contexts are not distinguished: only what they have in common is said.
const CONTEXTS: usize = 6;

/// Says a certificate's facts in C. The program must have been read with its loops
/// ([`Program::load_with_loops`]), and the certificate accepted by [`super::check`].
pub fn in_c(program: &Program, certificate: &Certificate) -> Result<InC, Rejected> {
    let explored = Graph::explore(program, certificate.grain, Budget::default());
    let mut graph = explored.map_err(|why| match why {
        Exceeded::Size => Rejected::Unexplored,
        Exceeded::Time => Rejected::Late,
    })?;
    let claimed = claims(&mut graph, certificate)?;
    let mut places: BTreeMap<Pos, Vec<&LoopHead>> = BTreeMap::new();
    for head in &program.loops {
        places.entry(head.pos).or_default().push(head);
    }
    let mut result = InC::default();
    for (pos, heads) in places {
        let mut contexts = Vec::new();
        let mut left_out = 0;
        for head in &heads {
            let here = |cut: &&Cut| cut.block == head.block;
            let cuts: Vec<Cut> = graph.states.keys().filter(here).copied().collect();
            for cut in cuts {
                let claimed = claimed.get(&cut).map_or(&[][..], Vec::as_slice);
                let (facts, unsaid) = said(&mut graph, cut, head, claimed);
                contexts.push(facts);
                left_out += unsaid;
            }
        }
        let Some(function) = heads.first().map(|head| program.block(head.block).function) else {
            continue;
        };
        let (facts, unsaid) = combined(contexts);
        left_out += unsaid;
        result.left_out += left_out;
        result.loops.push(LoopFacts {
            pos,
            function,
            facts,
            left_out,
        });
    }
    let is_known = |block: BlockId| program.loops.iter().any(|head| head.block == block);
    for (cut, facts) in &claimed {
        let function = program.block(cut.block).function;
        if program.function(function).kind == FunctionKind::User && !is_known(cut.block) {
            result.left_out += facts.len();
        }
    }
    result.loops.retain(|one| !one.facts.is_empty());
    Ok(result)
}

fn claims(
    graph: &mut Graph<'_>,
    certificate: &Certificate,
) -> Result<BTreeMap<Cut, Vec<Term>>, Rejected> {
    let mut all: BTreeMap<Cut, Vec<Term>> = BTreeMap::new();
    for (cut, formulas) in certificate.regions_in(graph) {
        for text in formulas {
            let term = formula(&mut graph.pool, text).map_err(|why| Rejected::Formula {
                cut: format!("block {}", cut.block.0),
                formula: text.clone(),
                why,
            })?;
            all.entry(cut).or_default().push(term);
        }
    }
    Ok(all)
}

/// What holds in one context, and how many facts were left out.
fn said(
    graph: &mut Graph<'_>,
    cut: Cut,
    head: &LoopHead,
    claimed: &[Term],
) -> (Vec<String>, usize) {
    let Some(state) = graph.states.get(&cut).cloned() else {
        return (Vec::new(), 0);
    };
    let mut facts: Vec<String> = Vec::new();
    let mut add = |fact: String| {
        if !facts.contains(&fact) {
            facts.push(fact);
        }
    };
    let known = Known::new(graph, cut, &state, head);
    for fact in known.plain {
        add(fact);
    }
    let bounds = state.bounded(&mut graph.pool);
    let speaker = Speaker {
        pool: &graph.pool,
        names: known.names,
    };
    // Bounds of what has no name are no facts of the certificate.
    for said in bounds.iter().filter_map(|&bound| speaker.say(bound)) {
        add(said.within(binds::BITS));
    }
    let mut unsaid = 0;
    for &fact in claimed {
        match speaker.say(fact) {
            Some(said) => add(said.within(binds::BITS)),
            None => unsaid += 1,
        }
    }
    (facts, unsaid)
}

/// What all contexts have in common, and that the rest of one of them holds.
fn combined(mut contexts: Vec<Vec<String>>) -> (Vec<String>, usize) {
    let Some(first) = contexts.first() else {
        return (Vec::new(), 0);
    };
    let in_all = |fact: &String| contexts.iter().all(|facts| facts.contains(fact));
    let mut common: Vec<String> = first.iter().filter(|f| in_all(f)).cloned().collect();
    for facts in &mut contexts {
        facts.retain(|fact| !common.contains(fact));
    }
    let rest = contexts.iter().map(Vec::len).sum();
    contexts.sort();
    contexts.dedup();
    let is_empty = contexts.iter().any(Vec::is_empty);
    if is_empty || contexts.len() > CONTEXTS {
        return (common, rest);
    }
    let each: Vec<String> = contexts
        .iter()
        .map(|facts| format!("({})", facts.join(" && ")))
        .collect();
    common.push(format!("({})", each.join(" || ")));
    (common, 0)
}

/// What is known of a head's variables.
struct Known {
    /// The variables of formulas.
    names: FxHashMap<u32, Named>,
    /// Facts that are no formulas: constants, and two names for one value.
    plain: Vec<String>,
}

impl Known {
    fn new(graph: &mut Graph<'_>, cut: Cut, state: &CutState, head: &LoopHead) -> Known {
        let mut known = Known {
            names: FxHashMap::default(),
            plain: Vec::new(),
        };
        let variables = state.variables(&mut graph.pool, &graph.world);
        let program = graph.world.program();
        for named in &head.variables {
            let object = match named.holder {
                Holder::Constant(bits) => {
                    known.equals(named, u128::from(bits));
                    continue;
                }
                Holder::Register(reg) => {
                    if let Some(Value::Const(bits)) = state.registers.get(&(cut.ctx, reg)) {
                        known.equals(named, *bits);
                        continue;
                    }
                    let place = Place::Register(cut.ctx, reg, Part::Whole);
                    known.holds(graph, &variables, &place, named);
                    continue;
                }
                Holder::Local(reg) => made_by(program, head.block, reg)
                    .and_then(|(block, op)| object(graph, |kind| {
                        matches!(kind, ObjectKind::Made { ctx, block: b, op: o, .. }
                            if (ctx, b, o) == (cut.ctx, block, op))
                    })),
                Holder::Global(global) => object(graph, |kind| kind == ObjectKind::Global(global)),
            };
            let Some(object) = object else {
                continue;
            };
            let cell = Cell {
                offset: 0,
                width: named.bits,
            };
            let bytes = state.objects.get(&object).map(|known| &known.bytes);
            if let Some(Bytes::Cells(cells) | Bytes::Mixed(cells)) = bytes
                && let Some(Value::Const(bits)) = cells.get(&cell)
            {
                known.equals(named, *bits);
                continue;
            }
            let place = Place::Cell(object, cell, Part::Whole);
            known.holds(graph, &variables, &place, named);
        }
        known
    }

    fn equals(&mut self, named: &Named, bits: u128) {
        let bits = bits & value::mask(named.bits);
        let number = match named.signed {
            true => value::signed(named.bits, bits),
            false => bits as i128,
        };
        let both = Speaker::named(named).zip(typed::Typed::literal(number));
        if let Some((variable, number)) = both
            && let Some((variable, number, _)) = typed::together(&variable, &number, (0, 0))
        {
            let number = number.within(binds::SUM);
            self.plain.push(format!("{} == {number}", variable.text));
        }
    }

    fn holds(
        &mut self,
        graph: &Graph<'_>,
        variables: &[(Place, Term)],
        place: &Place,
        named: &Named,
    ) {
        let Some(&(_, term)) = variables.iter().find(|(known, _)| known == place) else {
            return;
        };
        let Node::Variable(number) = *graph.pool.node(term) else {
            return;
        };
        match self.names.get(&number) {
            None => {
                self.names.insert(number, named.clone());
            }
            Some(first) if (first.bits, first.signed) == (named.bits, named.signed) => {
                let same = format!("{} == {}", named.name, first.name);
                self.plain.push(same);
            }
            Some(_) => {}
        }
    }
}

fn object(graph: &Graph<'_>, is_it: impl Fn(ObjectKind) -> bool) -> Option<ObjId> {
    let mut all = graph.world.objects();
    all.find(|&id| is_it(graph.world.object(id).kind))
}

/// The operation of a head's function that makes the object with its address in this register.
fn made_by(program: &Program, head: BlockId, reg: Reg) -> Option<(BlockId, u32)> {
    let function = program.function(program.block(head).function);
    let mut blocks = function.blocks.clone().map(BlockId);
    blocks.find_map(|block| {
        let mut ops = program.block(block).ops.iter();
        let op = ops.position(|inst| matches!(inst.op, Op::Alloca { dst, .. } if dst == reg))?;
        Some((block, op as u32))
    })
}
