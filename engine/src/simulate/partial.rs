//! Partial simulation: from a recorded execution, an input that leaves it at one point.
//!
//! Kroening, Groce and Clarke (CRunner, section 3.4) do not simulate a whole abstract trace. They keep
//! executing, and ask the solver only about the next few steps, since programs decide on an input soon after
//! they read it. Here the execution already happened, so what is limited is not the number of steps ahead but the number of *inputs
//! behind*: the last k choices that the wanted condition depends on become symbolic, everything earlier keeps
//! its recorded value, for k = 1, 2, 4, ... Most answers come at k = 1 from a query over a few bytes, however
//! long the path was. Only when the constraints that are transitively related to the condition are few is the whole
//! question asked at once, and only then does "unsatisfiable" mean that no input at all follows this path and then departs.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::machine::{Choice, PathEvent};
use crate::solver::{Answer, Cached, Limits, Model, Z3};
use crate::term::{Pool, Term};

/// The related constraints of one query are never more than this; beyond it the question is narrowed to the
/// last k choices.
const RELATED_LIMIT: usize = 400;
/// Nor may they mention more tape bytes than this.
const BYTES_LIMIT: usize = 4096;

/// An index holds no more pairs of condition and byte than this. Where positions are sums of what was read before
/// (decoders), every condition depends on every earlier byte: indexing such a path whole takes gigabytes.
const INDEX_LIMIT: usize = 1 << 20;

/// The conditions of a recorded path, indexed by the tape bytes that they depend on.
pub struct PathIndex {
    conditions: Vec<Term>,
    by_input: FxHashMap<u32, Vec<u32>>,
}

impl PathIndex {
    /// Indexes the conditions of a path, which all hold on it; of a path that is too much for an index, a beginning.
    pub fn new(pool: &mut Pool, path: &[PathEvent]) -> PathIndex {
        let mut conditions = Vec::with_capacity(path.len());
        let mut by_input: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        let mut pairs = 0;
        for (at, event) in path.iter().enumerate() {
            let holds = match event.event.condition() {
                (condition, true) => condition,
                (violated, false) => pool.not(violated),
            };
            let inputs = pool.inputs(holds);
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

    /// Conditions before event `before` that share inputs with `seed`, transitively; `None` when there
    /// are more than the limits allow.
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
    fn touching(&self, before: usize, free: &[u32]) -> Vec<usize> {
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
    /// The solver gave up, or only narrowed questions could be asked and none had an answer.
    Open,
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

/// Asks it, narrowing the symbolic inputs to the last k choices where the whole question is too large.
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
    if let Some(related) = question.index.related(pool, question.before, &inputs) {
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
            Answer::Sat(model) => return replaced(question.tape, &model),
            Answer::Unsat { .. } => return Simulated::Dead,
            Answer::Unknown(_) => {}
        }
    }
    deepen(pool, solver, question, &inputs, limits)
}

fn byte(question: &Question<'_>, at: u32) -> u8 {
    question.tape.get(at as usize).copied().unwrap_or(0)
}

/// k = 1, 2, 4, ...: only the last k choices that the condition depends on are symbolic.
fn deepen(
    pool: &mut Pool,
    solver: &mut Cached<Z3>,
    question: &Question<'_>,
    inputs: &[u32],
    limits: &Limits,
) -> Simulated {
    let groups = by_choice(question.choices, inputs);
    let mut k = 1;
    loop {
        let free: Vec<u32> = groups
            .iter()
            .rev()
            .take(k)
            .flat_map(|group| group.iter().copied())
            .collect();
        let free_set: FxHashSet<u32> = free.iter().copied().collect();
        let touching = question.index.touching(question.before, &free);
        if touching.len() <= 4 * RELATED_LIMIT {
            let mut fix = |term: Term| {
                pool.substitute(term, &|at| {
                    (!free_set.contains(&at)).then(|| byte(question, at))
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
                Answer::Unknown(_) => return Simulated::Open,
                Answer::Unsat { .. } => {}
            }
        }
        if k >= groups.len() {
            return Simulated::Open;
        }
        k *= 2;
    }
}

/// The inputs grouped by the choice that read them, in tape order.
fn by_choice(choices: &[Choice], inputs: &[u32]) -> Vec<Vec<u32>> {
    let mut groups: Vec<(usize, Vec<u32>)> = Vec::new();
    for &input in inputs {
        let choice = choices.partition_point(|c| c.at + c.len <= input as usize);
        match groups.last_mut() {
            Some((last, group)) if *last == choice => group.push(input),
            _ => groups.push((choice, vec![input])),
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
