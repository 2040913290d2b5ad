//! Paths through cut points as one formula: transitions, and loops taken a number of times.
//!
//! A path is SatAbs's counterexample with loops (section 3, figure 6): fragments from one cut point
//! to the next, and at a cut point `n` iterations of a segment, with `n` a variable. The values of
//! a cut point's variables are terms over the bytes that the path reads from the tape and over the
//! numbers of iterations; a model gives a tape. Paths need not be exact: conditions of the
//! iterations are required for the first and the last one only, and for others when an answer
//! violates them ([`Path::broken`]). The machine decides on every tape.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::frontier::Tape;
use super::super::graph::Graph;
use super::closed::Closed;
use super::lazy::{self, Lazy, Written};
use super::renaming::{Renaming, in_turn, some_turn};
use cegar_model::program::ir::{BinOp, Pred};
use cegar_model::solver::Model;
use cegar_model::symbolic::encode::{Fragment, Input, Transition};
use cegar_model::symbolic::update::Update;
use cegar_model::symbolic::world::Cut;
use cegar_model::term::{Array, Evaluator, Item, Pool, Rewriter, Term};

/// The maximum number of iterations of one loop.
pub const TURNS: u64 = 1 << 26;
/// How many first iterations are all checked for violated conditions; after these, fewer and fewer
/// are.
const LOOKED_AT: u64 = 3_000;

/// What a path reads from the tape.
#[derive(Clone, Debug)]
pub enum Taken {
    /// Reads an input, if all of these hold.
    Input(Vec<Term>, Input),
    /// Reads all of these, a number of times.
    Times(Term, Vec<Taken>),
}

/// A path around a loop that can be taken any number of times.
#[derive(Clone, Debug)]
pub struct Segment {
    /// The effect of an iteration, over the cut point's variables and over unknowns that are the
    /// same in every iteration.
    pub turn: Update,
    /// The conditions under which the iteration is taken.
    pub conditions: Vec<Term>,
    /// What an iteration reads from the tape.
    pub taken: Vec<Taken>,
    /// The number of iterations of the loop in the code that the segment consists of. A segment of
    /// several is followed by those that begin one iteration later.
    pub period: usize,
}

/// Renames the variables of what is read.
fn renamed(renaming: &mut Renaming, pool: &mut Pool, taken: &Taken) -> Taken {
    match taken {
        Taken::Input(guard, input) => {
            let guard = guard.iter().map(|&t| renaming.apply(pool, t)).collect();
            let input = match *input {
                Input::Bytes(t) => Input::Bytes(renaming.apply(pool, t)),
                Input::Remaining(t) => Input::Remaining(renaming.apply(pool, t)),
            };
            Taken::Input(guard, input)
        }
        Taken::Times(turns, inner) => {
            let turns = renaming.apply(pool, *turns);
            let inner = inner.iter().map(|taken| renamed(renaming, pool, taken));
            Taken::Times(turns, inner.collect())
        }
    }
}

/// Iterations of a loop on a path.
#[derive(Clone, Debug)]
struct Around {
    turns: Term,
    /// The conditions of the iteration [`some_turn`], on the path.
    conditions: Vec<Term>,
}

/// A path from one cut point to another; see the [module](self).
#[derive(Clone, Debug)]
pub struct Path {
    /// The cut point at its end; `None`: the start of the program.
    pub at: Option<Cut>,
    /// The conditions of the path.
    pub conditions: Vec<Term>,
    /// What the path reads from the tape.
    pub taken: Vec<Taken>,
    terms: FxHashMap<Term, Term>,
    arrays: FxHashMap<Array, Array>,
    around: Vec<Around>,
    lazy: Vec<Lazy>,
    /// For each condition, the step in which it was added, from 1, and the term before renaming.
    origins: FxHashMap<Term, (u32, Term)>,
    number: u32,
    steps: u32,
}

impl Path {
    /// An empty path, from any state of a cut point or from the start of the program. `number`
    /// distinguishes its variables from those of other paths.
    pub fn from(at: Option<Cut>, number: u32) -> Path {
        Path {
            at,
            conditions: Vec::new(),
            taken: Vec::new(),
            terms: FxHashMap::default(),
            arrays: FxHashMap::default(),
            around: Vec::new(),
            lazy: Vec::new(),
            origins: FxHashMap::default(),
            number,
            steps: 0,
        }
    }

    /// An empty path from a cut point, with these values of the variables.
    pub fn with(at: Cut, values: Update, number: u32) -> Path {
        let mut path = Path::from(Some(at), number);
        path.terms = values.terms.into_iter().collect();
        path.arrays = values.arrays.into_iter().collect();
        path
    }

    /// The step in which a condition was added, from 1, and the guard or assumption before
    /// renaming.
    pub fn origin(&self, condition: Term) -> Option<(u32, Term)> {
        self.origins.get(&condition).copied()
    }

    /// The variables for the numbers of iterations.
    pub fn turns(&self) -> impl Iterator<Item = Term> + '_ {
        self.around.iter().map(|around| around.turns)
    }

    /// Whether the latest loop can be taken only zero times.
    pub fn is_stuck(&self, pool: &mut Pool) -> bool {
        let Some(around) = self.around.last() else {
            return false;
        };
        let zero = pool.constant(64, 0);
        let none = pool.eq(around.turns, zero);
        self.conditions.contains(&none)
    }

    fn renaming(&mut self, graph: &mut Graph<'_>) -> Renaming {
        self.steps += 1;
        let mut renaming = Renaming {
            rewriter: Rewriter::new(),
            seen: FxHashSet::default(),
            suffix: format!("@{}.{}", self.number, self.steps),
        };
        if let Some(state) = self.at.and_then(|cut| graph.states.get(&cut)).cloned() {
            for (_, variable) in state.variables(&mut graph.pool, &graph.world) {
                let value = self.terms.get(&variable).copied().unwrap_or(variable);
                renaming.seen.insert(Item::Term(variable));
                renaming.rewriter.replace(variable, value);
            }
            for (_, array) in state.arrays(&mut graph.pool, &graph.world) {
                let value = self.arrays.get(&array).copied().unwrap_or(array);
                renaming.seen.insert(Item::Array(array));
                renaming.rewriter.replace_array(array, value);
            }
        }
        renaming
    }

    fn require(&mut self, pool: &Pool, t: Term) {
        if pool.as_const(t) != Some(1) && !self.conditions.contains(&t) {
            self.conditions.push(t);
        }
    }

    /// Whether a condition is constantly false.
    pub fn is_dead(&self, pool: &Pool) -> bool {
        self.conditions.iter().any(|&t| pool.as_const(t) == Some(0))
    }

    fn pass(
        &mut self,
        pool: &mut Pool,
        fragment: &Fragment,
        assumptions_before: usize,
        guard: &[Term],
        renaming: &mut Renaming,
    ) {
        let faithful = fragment.faithful(pool);
        let conditions = guard
            .iter()
            .chain(&fragment.assumptions[..assumptions_before]);
        for &here in conditions.chain(&faithful) {
            let t = renaming.apply(pool, here);
            self.require(pool, t);
            self.origins.entry(t).or_insert((self.steps, here));
        }
        for (guard, input) in &fragment.inputs {
            let taken = Taken::Input(guard.0.clone(), input.clone());
            let taken = renamed(renaming, pool, &taken);
            let never = |t: &Term| pool.as_const(*t) == Some(0);
            if !matches!(&taken, Taken::Input(guard, _) if guard.iter().any(never)) {
                self.taken.push(taken);
            }
        }
    }

    /// Assigns the variables their new values.
    fn assign(&mut self, pool: &mut Pool, update: &Update, renaming: &mut Renaming) {
        let terms = update.terms.iter();
        self.terms = terms
            .map(|&(variable, value)| (variable, renaming.apply(pool, value)))
            .collect();
        let arrays = update.arrays.iter();
        self.arrays = arrays
            .map(|&(array, value)| (array, renaming.array(pool, value)))
            .collect();
    }

    /// Continues to the next cut point.
    pub fn step(&mut self, graph: &mut Graph<'_>, transition: &Transition) {
        let update = graph.update(self.at, transition);
        self.step_by(graph, transition, &update);
    }

    /// Continues to the next cut point, with the given update of its variables.
    pub fn step_by(&mut self, graph: &mut Graph<'_>, transition: &Transition, update: &Update) {
        let Some(fragment) = graph.fragments.get(&self.at).cloned() else {
            return;
        };
        let mut renaming = self.renaming(graph);
        let pool = &mut graph.pool;
        self.pass(
            pool,
            &fragment,
            transition.assumptions_before,
            &transition.reached.guard.0,
            &mut renaming,
        );
        self.assign(pool, update, &mut renaming);
        self.at = Some(transition.to);
    }

    /// Takes a segment at this cut point once.
    pub fn follow(&mut self, graph: &mut Graph<'_>, segment: &Segment) {
        let mut renaming = self.renaming(graph);
        let pool = &mut graph.pool;
        for &t in &segment.conditions {
            let t = renaming.apply(pool, t);
            self.require(pool, t);
        }
        for taken in &segment.taken {
            let taken = renamed(&mut renaming, pool, taken);
            self.taken.push(taken);
        }
        self.assign(pool, &segment.turn, &mut renaming);
    }

    /// Ends at a goal of the fragment that starts here, where all of these hold.
    pub fn end(&mut self, graph: &mut Graph<'_>, goal: &[Term], assumptions_before: usize) {
        let Some(fragment) = graph.fragments.get(&self.at).cloned() else {
            return;
        };
        let mut renaming = self.renaming(graph);
        self.pass(
            &mut graph.pool,
            &fragment,
            assumptions_before,
            goal,
            &mut renaming,
        );
    }

    /// The effect of a path that began in any state of the cut point at which it ends.
    pub fn turn(&self) -> Update {
        let mut terms: Vec<_> = self.terms.iter().map(|(&v, &u)| (v, u)).collect();
        let mut arrays: Vec<_> = self.arrays.iter().map(|(&a, &u)| (a, u)).collect();
        terms.sort_unstable();
        arrays.sort_unstable();
        Update {
            terms,
            arrays,
            ..Update::default()
        }
    }

    /// Takes a segment at this cut point any number of times.
    pub fn go_around(&mut self, graph: &mut Graph<'_>, segment: &Segment) {
        let mut renaming = self.renaming(graph);
        let pool = &mut graph.pool;
        let turns = pool.variable(&format!("?turns{}", renaming.suffix), 64);
        let mut closed = Closed::solve(pool, &segment.turn, &format!("?free{}", renaming.suffix));
        let some = some_turn(pool);
        renaming.keep(turns);
        renaming.keep(some);
        let most = pool.constant(64, u128::from(TURNS));
        let few = pool.cmp(Pred::Ule, turns, most);
        self.require(pool, few);
        let taken = segment
            .taken
            .iter()
            .map(|taken| renamed(&mut renaming, pool, taken))
            .collect();
        self.taken.push(Taken::Times(turns, taken));
        let mut then = closed.after(pool, some);
        let mut conditions: Vec<Term> = segment
            .conditions
            .iter()
            .map(|&t| then.apply(pool, t))
            .collect();
        conditions.extend(closed.side_conditions(pool, some));
        let conditions = conditions
            .into_iter()
            .map(|t| renaming.apply(pool, t))
            .collect();
        let around = Around { turns, conditions };
        let (zero, one) = (pool.constant(64, 0), pool.constant(64, 1));
        let last = pool.bin(BinOp::Sub, turns, one);
        for turn in [zero, last] {
            for t in around.in_turn(pool, turn) {
                self.require(pool, t);
            }
        }
        for &(variable, _) in &segment.turn.terms {
            let after = closed.value(pool, variable, turns);
            let after = renaming.apply(pool, after);
            self.terms.insert(variable, after);
        }
        for &(array, after) in &segment.turn.arrays {
            if array == after {
                continue;
            }
            let writes = lazy::writes(pool, &mut closed, (array, after), &mut then, &mut renaming);
            let fresh = pool.array_variable(&format!("{}{}", array.index(), renaming.suffix));
            if let Some(writes) = writes {
                self.lazy.push(Lazy {
                    array: fresh,
                    below: renaming.array(pool, array),
                    writes,
                    turns,
                });
            }
            self.arrays.insert(array, fresh);
        }
        self.around.push(around);
    }

    /// The path as assertions, including the facts about arrays that loops wrote.
    pub fn formula(&self, pool: &mut Pool) -> Vec<Term> {
        let mut all = self.conditions.clone();
        lazy::instantiate(pool, &self.lazy, &mut all);
        all
    }

    /// The conditions of up to `most` iterations, from the first one whose conditions a model
    /// violates; these have to be added to the query. `None` if no violation is found.
    pub fn broken(&self, pool: &mut Pool, model: &Model, most: u64) -> Option<Vec<Term>> {
        let arrays = lazy::known(pool, &self.lazy, model);
        let here = Written::new(pool, model, &arrays);
        let mut evaluator = Evaluator::new();
        let mut found = None;
        for around in &self.around {
            let turns = here.value(around.turns);
            let mut at = 1;
            while at + 1 < turns && found.is_none() {
                if !here.hold(&mut evaluator, at, &around.conditions) {
                    found = Some((around, at, turns.min(at + most)));
                }
                at += 1 + at / LOOKED_AT;
            }
        }
        let (around, from, to) = found?;
        let mut all = Vec::new();
        for at in from..to {
            let turn = pool.constant(64, u128::from(at));
            all.extend(around.in_turn(pool, turn));
        }
        lazy::instantiate(pool, &self.lazy, &mut all);
        Some(all)
    }

    /// The tape that a model describes; `None` if it is longer than `most` bytes.
    pub fn tape(&self, pool: &Pool, model: &Model, most: usize) -> Option<Vec<u8>> {
        let mut tape = Tape::after(&[]);
        write(pool, &self.taken, model, &mut tape, most)?;
        Some(tape.finish())
    }
}

impl Around {
    /// The conditions in this iteration, if it exists.
    fn in_turn(&self, pool: &mut Pool, turn: Term) -> Vec<Term> {
        let there = pool.cmp(Pred::Ult, turn, self.turns);
        // If there are no iterations, the index of the last one wraps around and does not exist.
        let nowhere = pool.not(there);
        let all = self.conditions.iter().map(|&t| {
            let t = in_turn(pool, turn, t);
            pool.or(nowhere, t)
        });
        all.collect()
    }
}

/// Writes what is read; `None` if that is longer than `most` bytes.
fn write(pool: &Pool, all: &[Taken], model: &Model, tape: &mut Tape, most: usize) -> Option<()> {
    for taken in all {
        match taken {
            Taken::Input(guard, input) => tape.take(pool, model, guard, input),
            Taken::Times(turns, inner) => {
                let turns = tape.value(pool, model, *turns) as usize;
                if turns == 0 {
                    continue;
                }
                let start = tape.bytes.len();
                write(pool, inner, model, tape, most)?;
                let turn = tape.bytes[start..].to_vec();
                if turn.len().checked_mul(turns)? > most {
                    return None;
                }
                for _ in 1..turns {
                    tape.bytes.extend(&turn);
                }
            }
        }
    }
    (tape.bytes.len() <= most).then_some(())
}
