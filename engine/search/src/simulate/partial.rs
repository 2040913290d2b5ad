//! Partial simulation: from a recorded execution, an input that leaves it at one point.
//!
//! Kroening, Groce and Clarke (CRunner, section 3.4) do not simulate a whole abstract trace. They
//! keep executing, and ask the solver only about the next few steps, since programs decide on an
//! input soon after they read it. Here the execution already happened, so what is limited is not
//! the number of steps ahead but the number of *inputs behind*: the last k choices that the wanted
//! condition depends on become symbolic, everything earlier keeps its recorded value, for k = 1, 2,
//! 4, ... Most answers come at k = 1 from a query over a few bytes, however long the path was. Only
//! when the constraints that are transitively related to the condition are few is the whole
//! question asked at once, and only then does "unsatisfiable" mean that no input at all follows
//! this path and then departs.
//!
//! A long choice (a file, a packet) is taken in pieces, and beside the last pieces that the
//! condition mentions the last ones that its constraints mention become symbolic, too: a checksum
//! that follows what it covers ties all of it together, which is hard for a solver as a whole and
//! easy as "these bytes, and then the checksum".

use rustc_hash::{FxHashMap, FxHashSet};

use cegar_model::machine::{Choice, PathEvent};
use cegar_model::solver::{Answer, Limits, Model, Z3};

use crate::solver::Cached;
use cegar_model::term::{Pool, Term};

/// The related constraints of one query are never more than this; beyond it the question is
/// narrowed to the last k choices.
const RELATED_LIMIT: usize = 400;
/// Nor may they mention more tape bytes than this.
const BYTES_LIMIT: usize = 4096;

/// A choice of more bytes than this is not one number, and is taken in pieces.
const LONG: usize = 16;
/// So many bytes are a piece: as wide as most fields are.
const PIECE: usize = 4;

/// An index holds no more pairs of condition and byte than this. Where positions are sums of what
/// was read before (decoders), every condition depends on every earlier byte: indexing such a path
/// whole takes gigabytes.
const INDEX_LIMIT: usize = 1 << 20;

/// Finding them walks no more parts of terms than that: a second's work.
const WALK_LIMIT: u64 = 1 << 22;

/// The conditions of a recorded path, indexed by the tape bytes that they depend on.
pub struct PathIndex {
    conditions: Vec<Term>,
    by_input: FxHashMap<u32, Vec<u32>>,
}

impl PathIndex {
    /// Indexes the conditions of a path, which all hold on it; of a path that is too much for an
    /// index, a beginning.
    pub fn new(pool: &mut Pool, path: &[PathEvent]) -> PathIndex {
        let mut conditions = Vec::with_capacity(path.len());
        let mut by_input: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        let mut pairs = 0;
        let mut steps = WALK_LIMIT;
        for (at, event) in path.iter().enumerate() {
            let holds = match event.event.condition() {
                (condition, true) => condition,
                (violated, false) => pool.not(violated),
            };
            let Some(inputs) = pool.inputs_within(holds, &mut steps) else {
                break;
            };
            pairs += inputs.len();
            if pairs > INDEX_LIMIT {
                break;
            }
            for &input in inputs.iter() {
                by_input.entry(input).or_default().push(at as u32);
            }
            conditions.push(holds);
        }
        PathIndex {
            conditions,
            by_input,
        }
    }

    /// How many events of the path are indexed.
    pub fn len(&self) -> usize {
        self.conditions.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.conditions.is_empty()
    }

    /// Conditions before event `before` that share inputs with `seed`, transitively; `None` when
    /// there are more than the limits allow.
    fn related(&self, pool: &mut Pool, before: usize, seed: &[u32]) -> Option<Vec<usize>> {
        let mut inputs: FxHashSet<u32> = seed.iter().copied().collect();
        let mut work: Vec<u32> = seed.to_vec();
        let mut taken = FxHashSet::default();
        let mut result = Vec::new();
        while let Some(input) = work.pop() {
            for &at in self.by_input.get(&input).into_iter().flatten() {
                let at = at as usize;
                if at >= before || !taken.insert(at) {
                    continue;
                }
                result.push(at);
                if result.len() > RELATED_LIMIT {
                    return None;
                }
                for &other in pool.inputs(self.conditions[at]).iter() {
                    if inputs.insert(other) {
                        work.push(other);
                    }
                }
                if inputs.len() > BYTES_LIMIT {
                    return None;
                }
            }
        }
        result.sort_unstable();
        Some(result)
    }

    /// Conditions before `before` that mention one of `free`.
    fn touching(&self, before: usize, free: &FxHashSet<u32>) -> Vec<usize> {
        let mut result: Vec<usize> = free
            .iter()
            .flat_map(|input| self.by_input.get(input).into_iter().flatten())
            .map(|&at| at as usize)
            .filter(|&at| at < before)
            .collect();
        result.sort_unstable();
        result.dedup();
        result
    }
}

/// What came of a partial simulation.
#[derive(Debug)]
pub enum Simulated {
    /// A tape that follows the path up to the event and then satisfies the wanted condition.
    Tape {
        /// The tape: the recorded one with some bytes replaced.
        tape: Vec<u8>,
        /// The positions that were replaced.
        changed: Vec<u32>,
    },
    /// No input takes this path and satisfies the condition.
    Dead,
    /// Only narrowed questions could be asked, and none had an answer.
    Open,
    /// The solver reached its limits.
    OutOfLimits,
}

/// The question: after the first `before` events of the path, can `wanted` hold?
pub struct Question<'a> {
    /// The recorded path.
    pub index: &'a PathIndex,
    /// The number of events that are kept.
    pub before: usize,
    /// The condition, one bit.
    pub wanted: Term,
    /// The tape of the recording.
    pub tape: &'a [u8],
    /// The choices that the recording made.
    pub choices: &'a [Choice],
}

/// Asks it, narrowing the symbolic inputs to the last k choices where the whole question is too
/// large.
pub fn simulate(
    pool: &mut Pool,
    solver: &mut Cached<Z3>,
    question: &Question<'_>,
    limits: &Limits,
) -> Simulated {
    match pool.as_const(question.wanted) {
        Some(0) => return Simulated::Dead,
        Some(_) => {
            return Simulated::Tape {
                tape: question.tape.to_vec(),
                changed: Vec::new(),
            };
        }
        None => {}
    }
    let inputs: Vec<u32> = pool.inputs(question.wanted).to_vec();
    let Some(related) = question.index.related(pool, question.before, &inputs) else {
        return deepen(pool, solver, question, [&inputs, &[]], limits);
    };
    let path: Vec<Term> = related
        .iter()
        .map(|&at| question.index.conditions[at])
        .collect();
    let answer = solver.check_from(
        pool,
        &path,
        question.wanted,
        &|at| byte(question, at),
        limits,
    );
    match answer {
        Answer::Sat(model) => replaced(question.tape, &model),
        Answer::Unsat { .. } => Simulated::Dead,
        Answer::Unknown(_) => {
            let mut tied: Vec<u32> = path
                .iter()
                .flat_map(|&t| pool.inputs(t).to_vec())
                .chain(inputs.iter().copied())
                .collect();
            tied.sort_unstable();
            tied.dedup();
            match deepen(pool, solver, question, [&inputs, &tied], limits) {
                Simulated::Open => Simulated::OutOfLimits,
                other => other,
            }
        }
    }
}

fn byte(question: &Question<'_>, at: u32) -> u8 {
    question.tape.get(at as usize).copied().unwrap_or(0)
}

/// k = 1, 2, 4, ...: only the last k pieces of what the condition depends on are symbolic, and of
/// what it is tied to. `of`: the inputs of the one, and of the other if the question as a whole was
/// asked in vain.
fn deepen(
    pool: &mut Pool,
    solver: &mut Cached<Z3>,
    question: &Question<'_>,
    of: [&[u32]; 2],
    limits: &Limits,
) -> Simulated {
    let pieces = of.map(|inputs| pieces(question.choices, inputs));
    let all = of[0].len().max(of[1].len());
    let longest = pieces[0].len().max(pieces[1].len());
    let mut k = 1;
    loop {
        let free: FxHashSet<u32> = pieces
            .iter()
            .flat_map(|pieces| pieces.iter().rev().take(k))
            .flatten()
            .copied()
            .collect();
        if free.len() == all && !of[1].is_empty() {
            return Simulated::OutOfLimits;
        }
        let touching = question.index.touching(question.before, &free);
        if touching.len() <= 4 * RELATED_LIMIT {
            let mut fix = |term: Term| {
                pool.substitute(term, &|at| {
                    (!free.contains(&at)).then(|| byte(question, at))
                })
            };
            let path: Vec<Term> = touching
                .iter()
                .map(|&at| fix(question.index.conditions[at]))
                .collect();
            let wanted = fix(question.wanted);
            let answer = solver.check_from(pool, &path, wanted, &|at| byte(question, at), limits);
            match answer {
                Answer::Sat(model) => return replaced(question.tape, &model),
                // More symbolic bytes only make it harder.
                Answer::Unknown(_) => return Simulated::OutOfLimits,
                Answer::Unsat { .. } => {}
            }
        }
        if k >= longest {
            return Simulated::Open;
        }
        k *= 2;
    }
}

/// The inputs grouped by the choice that read them, in tape order; a long choice in pieces of
/// [`PIECE`] bytes.
fn pieces(choices: &[Choice], inputs: &[u32]) -> Vec<Vec<u32>> {
    let mut groups: Vec<((usize, usize), Vec<u32>)> = Vec::new();
    for &input in inputs {
        let choice = choices.partition_point(|c| c.at + c.len <= input as usize);
        let piece = match choices.get(choice) {
            Some(c) if c.len > LONG => (input as usize).saturating_sub(c.at) / PIECE,
            _ => 0,
        };
        match groups.last_mut() {
            Some((last, group)) if *last == (choice, piece) => group.push(input),
            _ => groups.push(((choice, piece), vec![input])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

fn replaced(tape: &[u8], model: &Model) -> Simulated {
    let mut tape = tape.to_vec();
    let mut changed = Vec::new();
    for (&input, &value) in &model.inputs {
        let at = input as usize;
        if at >= tape.len() {
            tape.resize(at + 1, 0);
        }
        if tape[at] != value {
            tape[at] = value;
            changed.push(input);
        }
    }
    changed.sort_unstable();
    Simulated::Tape { tape, changed }
}
