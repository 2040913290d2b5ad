//! A certificate's facts about loops in C, for tools that read invariants at places in the source.
//!
//! A certificate has facts for a loop head in each call context; the source has one loop for all of
//! them. Therefore, an invariant of a loop is what holds in every context: the facts that all
//! contexts have in common, and the disjunction of their other facts. A fact is translated only if
//! a C expression means exactly the same (`expression`), over variables that have a name there
//! ([`cegar_model::program::LoopHead`]); the other facts are counted. For people there is
//! [`super::Words`].

mod expression;
#[cfg(test)]
mod tests;
mod typed;

use std::collections::BTreeMap;
use std::time::Duration;

use cegar_checker::Certificate;
use cegar_checker::claims::{Claimed, Claims, Malformed};
use cegar_model::program::ir::{
    BlockId, FuncId, FunctionKind, Holder, LoopHead, Named, Op, Pos, Program, Reg,
};
use cegar_model::solver::{Answer, Limits, Solver as _, Z3};
use cegar_model::symbolic::cuts::{Bytes, Cell, CutState, Part, Place, Value};
use cegar_model::symbolic::world::{Cut, ObjId, ObjectKind, World};
use cegar_model::term::{Node, Pool, Term, value};
use rustc_hash::FxHashMap;

use expression::Speaker;
use typed::binds;

/// The facts that hold before the first iteration of a loop and whenever an iteration begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopFacts {
    /// The place where the loop statement begins.
    pub pos: Pos,
    /// The function that contains the loop.
    pub function: FuncId,
    /// Conditions in C, all of which hold.
    pub facts: Vec<String>,
    /// The number of facts that were left out.
    pub left_out: usize,
}

/// A certificate's facts about loops in C.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InC {
    /// The loops with facts, in the program's order.
    pub loops: Vec<LoopFacts>,
    /// The number of facts about the user's loops that were left out.
    pub left_out: usize,
}

/// The maximum number of contexts that are distinguished. With more, only the common facts are
/// used.
const CONTEXTS: usize = 6;

/// Translates a certificate's facts to C. The program must have been loaded with its loops
/// ([`Program::load_with_loops`]), and the certificate must have been accepted by
/// [`cegar_checker::check()`].
pub fn in_c(program: &Program, certificate: &Certificate) -> Result<InC, Malformed> {
    let Claims {
        world,
        mut pool,
        cuts,
    } = Claims::read(program, certificate)?;
    let mut places: BTreeMap<Pos, Vec<&LoopHead>> = BTreeMap::new();
    for head in &program.loops {
        places.entry(head.pos).or_default().push(head);
    }
    let mut result = InC::default();
    let mut questions = Questions(QUESTIONS);
    for (pos, heads) in places {
        let mut contexts = Vec::new();
        let mut left_out = 0;
        for head in &heads {
            for (&cut, claimed) in cuts.iter().filter(|(cut, _)| cut.block == head.block) {
                let (facts, unsaid) = said(&world, &mut pool, (cut, claimed), head);
                contexts.push(facts);
                left_out += unsaid;
            }
        }
        let Some(function) = heads.first().map(|head| program.block(head.block).function) else {
            continue;
        };
        let (facts, unsaid) = combined(contexts, &mut |known, facts| {
            questions.without_implied(&mut pool, known, facts);
        });
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
    for (cut, claimed) in &cuts {
        let function = program.block(cut.block).function;
        if program.function(function).kind == FunctionKind::User && !is_known(cut.block) {
            result.left_out += claimed.facts.len();
        }
    }
    result.loops.retain(|one| !one.facts.is_empty());
    Ok(result)
}

/// A condition in C, and the formula that it was translated from, if any.
#[derive(Clone, Debug)]
struct Fact {
    text: String,
    term: Option<Term>,
}

impl Fact {
    fn is_among(&self, facts: &[Fact]) -> bool {
        facts.iter().any(|fact| fact.text == self.text)
    }
}

/// The maximum number of queries for removing implied facts.
const QUESTIONS: u32 = 2_000;

/// The number of queries that may still be asked.
struct Questions(u32);

impl Questions {
    /// Removes facts that are implied by the others and by `known`, the longest first. Most facts
    /// of a search are implied.
    fn without_implied(&mut self, pool: &mut Pool, known: &[Fact], facts: &mut Vec<Fact>) {
        let mut order: Vec<String> = facts.iter().map(|fact| fact.text.clone()).collect();
        order.sort_by_key(|text| std::cmp::Reverse(text.len()));
        let limits = Limits {
            time: Some(QUESTION),
            ..Limits::default()
        };
        for text in order {
            let Some(at) = facts.iter().position(|fact| fact.text == text) else {
                continue;
            };
            let Some(term) = facts[at].term.filter(|_| self.0 > 0) else {
                continue;
            };
            self.0 -= 1;
            let others = known.iter().chain(&facts[..at]).chain(&facts[at + 1..]);
            let mut terms: Vec<Term> = others.filter_map(|fact| fact.term).collect();
            terms.push(pool.not(term));
            if matches!(Z3::new().check(pool, &terms, &limits), Answer::Unsat { .. }) {
                facts.remove(at);
            }
        }
    }
}

/// The time limit of one query.
const QUESTION: Duration = Duration::from_secs(1);

/// The facts of one context, and the number of facts that were left out.
fn said(
    world: &World<'_>,
    pool: &mut Pool,
    (cut, claimed): (Cut, &Claimed),
    head: &LoopHead,
) -> (Vec<Fact>, usize) {
    let state = &claimed.state;
    let mut facts: Vec<Fact> = Vec::new();
    let mut add = |text: String, term: Option<Term>| {
        let fact = Fact { text, term };
        if !fact.is_among(&facts) {
            facts.push(fact);
        }
    };
    let known = Known::new(world, pool, cut, state, head);
    for text in known.plain {
        add(text, None);
    }
    let bounds = state.bounded(pool);
    let speaker = Speaker {
        pool,
        names: known.names,
    };
    // Bounds of variables without a name are not facts of the certificate, so they are not counted.
    for &bound in &bounds {
        if let Some(said) = speaker.say(bound) {
            add(said.within(binds::BITS), Some(bound));
        }
    }
    let mut unsaid = 0;
    for &fact in &claimed.facts {
        match speaker.say(fact) {
            Some(said) => add(said.within(binds::BITS), Some(fact)),
            None => unsaid += 1,
        }
    }
    (facts, unsaid)
}

/// The facts that all contexts have in common, and the disjunction of the other facts of each.
/// Conditions with the same text mean the same in all contexts. `shorten` removes facts that are
/// implied by others and by known ones.
fn combined(
    mut contexts: Vec<Vec<Fact>>,
    shorten: &mut dyn FnMut(&[Fact], &mut Vec<Fact>),
) -> (Vec<String>, usize) {
    let Some(first) = contexts.first() else {
        return (Vec::new(), 0);
    };
    let in_all = |fact: &&Fact| contexts.iter().all(|facts| fact.is_among(facts));
    let mut common: Vec<Fact> = first.iter().filter(in_all).cloned().collect();
    for facts in &mut contexts {
        // Over this context's own variables, the common facts are other formulas.
        let (known, mut rest): (Vec<Fact>, Vec<Fact>) =
            facts.drain(..).partition(|fact| fact.is_among(&common));
        shorten(&known, &mut rest);
        *facts = rest;
    }
    shorten(&[], &mut common);
    let rest = contexts.iter().map(Vec::len).sum();
    let texts = |facts: &[Fact]| {
        facts
            .iter()
            .map(|fact| fact.text.clone())
            .collect::<Vec<_>>()
    };
    let mut said = texts(&common);
    let mut rests: Vec<Vec<String>> = contexts.iter().map(|facts| texts(facts)).collect();
    rests.sort();
    rests.dedup();
    let says_nothing = rests.iter().any(Vec::is_empty);
    if says_nothing || rests.len() > CONTEXTS {
        return (said, rest);
    }
    let each: Vec<String> = rests
        .iter()
        .map(|facts| format!("({})", facts.join(" && ")))
        .collect();
    said.push(format!("({})", each.join(" || ")));
    (said, 0)
}

/// The names of a loop head's variables, and facts about these.
struct Known {
    /// The variables of formulas.
    names: FxHashMap<u32, Named>,
    /// Facts without a formula: constants, and two names for one value.
    plain: Vec<String>,
}

impl Known {
    fn new(
        world: &World<'_>,
        pool: &mut Pool,
        cut: Cut,
        state: &CutState,
        head: &LoopHead,
    ) -> Known {
        let mut known = Known {
            names: FxHashMap::default(),
            plain: Vec::new(),
        };
        let variables = state.variables(pool, world);
        let program = world.program();
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
                    known.holds(pool, &variables, &place, named);
                    continue;
                }
                Holder::Local(reg) => made_by(program, head.block, reg).and_then(|(block, op)| {
                    object(world, |kind| {
                        matches!(kind, ObjectKind::Made { ctx, block: b, op: o, .. }
                            if (ctx, b, o) == (cut.ctx, block, op))
                    })
                }),
                Holder::Global(global) => object(world, |kind| kind == ObjectKind::Global(global)),
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
            known.holds(pool, &variables, &place, named);
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

    fn holds(&mut self, pool: &Pool, variables: &[(Place, Term)], place: &Place, named: &Named) {
        let Some(&(_, term)) = variables.iter().find(|(known, _)| known == place) else {
            return;
        };
        let Node::Variable(number) = *pool.node(term) else {
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

fn object(world: &World<'_>, is_it: impl Fn(ObjectKind) -> bool) -> Option<ObjId> {
    let mut all = world.objects();
    all.find(|&id| is_it(world.object(id).kind))
}

/// The operation that creates the object whose address is in this register, in the function of a
/// loop head.
fn made_by(program: &Program, head: BlockId, reg: Reg) -> Option<(BlockId, u32)> {
    let function = program.function(program.block(head).function);
    let mut blocks = function.blocks.clone().map(BlockId);
    blocks.find_map(|block| {
        let mut ops = program.block(block).ops.iter();
        let op = ops.position(|inst| matches!(inst.op, Op::Alloca { dst, .. } if dst == reg))?;
        Some((block, op as u32))
    })
}
