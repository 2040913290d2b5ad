//! What a certificate says of loops, in C: for tools that read invariants where the source has
//! them.
//!
//! A certificate speaks of a loop's head in each call context; the source has one loop for all of
//! them. So what is said of a loop is what holds in every context: the facts that all have in
//! common, and of the rest that one context's or another's hold. A fact is said only where C's
//! expression means exactly the same (`expression`) of variables that can be named there
//! ([`cegar_model::program::LoopHead`]); the others are counted. For people there is
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
/// ([`Program::load_with_loops`]), and the certificate accepted by [`cegar_checker::check()`].
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

/// A condition in C, and the formula that it says, if it was made from one.
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

/// Questions that leaving out what follows from the rest may cost in all.
const QUESTIONS: u32 = 2_000;

/// How many more questions may be asked.
struct Questions(u32);

impl Questions {
    /// Drops facts that follow from the others and from `known`, the longest first. Most guesses of
    /// a search are such.
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

/// How long one question may take.
const QUESTION: Duration = Duration::from_secs(1);

/// What holds in one context, and how many facts were left out.
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
    // Bounds of what has no name are no facts of the certificate.
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

/// What all contexts have in common, and that the rest of one of them holds. Conditions with the
/// same text have the same meaning, whatever context they come from. `shorten` drops what follows
/// from the rest and from what else is known.
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
        // In this context's own variables the common facts are other formulas.
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

/// What is known of a head's variables.
struct Known {
    /// The variables of formulas.
    names: FxHashMap<u32, Named>,
    /// Facts that are no formulas: constants, and two names for one value.
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
