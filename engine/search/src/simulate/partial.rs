//! Partial simulation: derives from a recorded execution an input that departs from it at one
//! point.
//!
//! Kroening, Groce and Clarke (CRunner, section 3.4) do not simulate a whole abstract trace. They
//! keep executing, and ask the solver only about the next few steps, since programs decide on an
//! input soon after they read it. Here the execution already happened, so the limit is not on the
//! number of steps ahead but on the number of *inputs behind*: the last k choices that the wanted
//! condition depends on become symbolic, and all earlier ones keep their recorded values, for k =
//! 1, 2, 4, ... Most answers come at k = 1 from a query over a few bytes, however long the path
//! was. The whole query is asked at once only if few constraints are transitively related to the
//! condition, and only then does "unsatisfiable" mean that no input at all follows this path and
//! then departs.
//!
//! A long choice (a file, a packet) is taken in pieces. In addition to the last pieces that the
//! condition mentions, the last pieces that its related constraints mention become symbolic: a
//! checksum depends on all bytes that it covers, which is hard for a solver as a whole and easy if
//! only a few of these bytes and the checksum are symbolic.

use rustc_hash::{FxHashMap, FxHashSet};

use cegar_model::machine::{Choice, PathEvent};
use cegar_model::solver::{Answer, Limits, Model, Z3};

use crate::solver::Cached;
use cegar_model::term::{Pool, Term};

/// The maximum number of related constraints in one query; beyond it the query is narrowed to the
/// last k choices.
const RELATED_LIMIT: usize = 400;
/// The maximum number of tape bytes that the related constraints may mention.
const BYTES_LIMIT: usize = 4096;

/// A choice of more bytes than this is not one number and is taken in pieces.
const LONG: usize = 16;
/// The size of a piece, in bytes: the width of most fields.
const PIECE: usize = 4;

/// The maximum number of pairs of condition and byte in an index. In decoders, where positions are
/// sums of values read before, every condition depends on every earlier byte; a complete index of
/// such a path takes gigabytes.
const INDEX_LIMIT: usize = 1 << 20;

/// The maximum number of subterms visited while indexing a path: about a second's work.
const WALK_LIMIT: u64 = 1 << 22;

/// The conditions of a recorded path, indexed by the tape bytes that they depend on.
pub struct PathIndex {
    conditions: Vec<Term>,
    by_input: FxHashMap<u32, Vec<u32>>,
}

impl PathIndex {
    /// Indexes the conditions of a path, as they held on it. If the path exceeds the limits of an
    /// index, only a prefix is indexed.
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

    /// The number of indexed events of the path.
    pub fn len(&self) -> usize {
        self.conditions.len()
    }

    /// Whether no event is indexed.
    pub fn is_empty(&self) -> bool {
        self.conditions.is_empty()
    }

    /// The conditions before event `before` that share inputs with `seed`, transitively; `None` if
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

    /// The conditions before `before` that mention an input in `free`.
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

/// The result of a partial simulation.
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
    /// Only narrowed queries could be asked, and none had an answer.
    Open,
    /// The solver reached its limits.
    OutOfLimits,
}

/// The query: after the first `before` events of the path, can `wanted` hold?
pub struct Question<'a> {
    /// The recorded path.
    pub index: &'a PathIndex,
    /// The number of events that the input must follow.
    pub before: usize,
    /// The condition, one bit.
    pub wanted: Term,
    /// The tape of the recording.
    pub tape: &'a [u8],
    /// The choices that the recording made.
    pub choices: &'a [Choice],
}

/// Asks the query. Where it is too large, narrows the symbolic inputs to the last k choices.
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

/// Asks with only the last k pieces symbolic, for k = 1, 2, 4, ... `of` contains the inputs that
/// the condition depends on and, if the whole query was asked in vain, the inputs that the related
/// constraints depend on.
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
                // More symbolic bytes would only make the query harder.
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

/// Groups the inputs by the choice that read them, in tape order, with a long choice split into
/// pieces of [`PIECE`] bytes.
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
