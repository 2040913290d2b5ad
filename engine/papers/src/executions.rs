//! Executions as a tree: each state has a reference to the state before it.
//!
//! Synergy's forest (section 3) and Lee and Yannakakis's tree of witnesses are sets of concrete
//! states with parents. The [forest](cegar_search::abstraction::forest) has states for refuting
//! candidates and does not keep their predecessors. Here the path to a state matters, because a
//! test that goes one step further follows that path.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use super::regions::Asking;
use cegar_model::solver::{Answer, Model};
use cegar_model::symbolic::encode::Input;
use cegar_model::symbolic::world::Cut;
use cegar_model::term::{Evaluator, Pool, Term};
use cegar_search::abstraction::asking::ask;
use cegar_search::abstraction::forest::{Sample, Walk, Walker};
use cegar_search::abstraction::graph::Graph;
use cegar_search::abstraction::loops::{Path, Taken};
use cegar_search::solver::related;

/// The maximum number of transitions of one execution.
const LONGEST: usize = 20_000;
/// The maximum number of states in all.
const MOST: usize = 120_000;
/// The time limit of the query for one test.
const TEST: Duration = Duration::from_secs(1);
/// The longest tape of a test, in bytes.
const TAPE: usize = 1 << 20;
/// One state in this many keeps the path to it as a formula.
const APART: usize = 32;
/// The maximum number of such formulas.
const KEPT: usize = 1_000;

/// A concrete state.
#[derive(Debug)]
pub struct Node {
    /// The cut point; `None`: the start of the program.
    pub at: Option<Cut>,
    /// The state.
    pub sample: Sample,
    /// The state before it, and the transition from there by its number in the fragment.
    pub parent: Option<(usize, usize)>,
    /// The number of transitions from the start.
    depth: usize,
    /// The tape of the execution; this state has read the first `taken` bytes.
    tape: Rc<Vec<u8>>,
    taken: usize,
}

/// The result of a query for a test that follows another one and then goes further.
#[derive(Debug)]
pub enum Further {
    /// The tape of the test.
    Tape(Vec<u8>),
    /// There is no such test along that path.
    None,
    /// There may be one, but the solver gave no answer.
    Unknown,
}

/// A tree of executions; see the [module](self).
#[derive(Debug)]
pub struct Tree {
    /// The states, parents before children; the first is the start of the program.
    pub nodes: Vec<Node>,
    evaluator: Evaluator,
    /// The paths to some of the states, as formulas.
    paths: BTreeMap<usize, Path>,
}

impl Tree {
    /// A tree with the start of the program only.
    pub fn new(graph: &Graph<'_>) -> Tree {
        let start = Node {
            at: None,
            sample: Walk::start(graph).sample,
            parent: None,
            depth: 0,
            tape: Rc::default(),
            taken: 0,
        };
        Tree {
            nodes: vec![start],
            evaluator: Evaluator::new(),
            paths: BTreeMap::new(),
        }
    }

    /// Whether the tree is full.
    pub fn is_full(&self) -> bool {
        self.nodes.len() >= MOST
    }

    /// Executes a tape from the start, as far as the graph is known. Returns the states that were
    /// added.
    pub fn run(
        &mut self,
        graph: &Graph<'_>,
        walker: &Walker,
        tape: &[u8],
    ) -> std::ops::Range<usize> {
        let first = self.nodes.len();
        let (mut at, mut parent) = (None, 0);
        let mut sample = self.nodes[0].sample.clone();
        for _ in 0..LONGEST {
            if self.is_full() {
                break;
            }
            let next = walker.follow(graph, at, &mut sample, tape, &mut self.evaluator);
            let Some((way, to, mut next)) = next else {
                break;
            };
            // One execution has one tape, which only its last state holds at first.
            sample.tape = Rc::default();
            let taken = next.tape.len();
            let kept = std::mem::take(&mut next.tape);
            self.nodes.push(Node {
                at: Some(to),
                sample: next.clone(),
                parent: Some((parent, way)),
                depth: self.nodes[parent].depth + 1,
                tape: Rc::default(),
                taken,
            });
            next.tape = kept;
            parent = self.nodes.len() - 1;
            (at, sample) = (Some(to), next);
        }
        for node in &mut self.nodes[first..] {
            node.tape = Rc::clone(&sample.tape);
        }
        first..self.nodes.len()
    }

    /// The bytes of its tape that an execution has read when it is in this state.
    pub fn tape(&self, node: usize) -> &[u8] {
        let node = &self.nodes[node];
        &node.tape[..node.taken.min(node.tape.len())]
    }

    /// Takes one transition from a state, on a tape that begins like the one that led there.
    /// Returns the new state's number.
    pub fn step(
        &mut self,
        graph: &Graph<'_>,
        walker: &Walker,
        from: usize,
        tape: &[u8],
    ) -> Option<usize> {
        let mut sample = self.nodes[from].sample.clone();
        sample.tape = Rc::new(self.tape(from).to_vec());
        let at = self.nodes[from].at;
        let (way, to, mut next) =
            walker.follow(graph, at, &mut sample, tape, &mut self.evaluator)?;
        let read = std::mem::take(&mut next.tape);
        self.nodes.push(Node {
            at: Some(to),
            sample: next,
            parent: Some((from, way)),
            depth: self.nodes[from].depth + 1,
            taken: read.len(),
            tape: read,
        });
        Some(self.nodes.len() - 1)
    }

    /// The path to a state as a formula over its inputs.
    fn path(&mut self, graph: &mut Graph<'_>, walker: &Walker, node: usize) -> Path {
        let mut steps = Vec::new();
        let mut at = node;
        let mut path = loop {
            if let Some(path) = self.paths.get(&at) {
                break path.clone();
            }
            let Some((parent, way)) = self.nodes[at].parent else {
                // The same number for all paths: names distinguish the steps of one path, and no
                // two paths occur in one query.
                break Path::from(None, 0);
            };
            steps.push((at, parent, way));
            at = parent;
        };
        while let Some((to, from, way)) = steps.pop() {
            let start = self.nodes[from].at;
            let transition = graph.fragments[&start].transitions[way].clone();
            if let Some(update) = walker.update(start, way) {
                path.step_by(graph, &transition, update);
            }
            if self.nodes[to].depth.is_multiple_of(APART) && self.paths.len() < KEPT {
                self.paths.insert(to, path.clone());
            }
        }
        path
    }

    /// Asks for a test that takes the path that led to this state, with any inputs, and satisfies a
    /// condition there, under the first `assumptions_before` assumptions of the fragment.
    pub fn further(
        &mut self,
        all: &mut Asking<'_, '_>,
        node: usize,
        (condition, assumptions_before): (&[Term], usize),
    ) -> Further {
        let mut path = self.path(all.graph, all.walker, node);
        let before = path.conditions.len();
        path.end(all.graph, condition, assumptions_before);
        if path.is_dead(&all.graph.pool) {
            return Further::None;
        }
        // Inputs that are not related to the condition keep their values.
        let (old, new) = path.conditions.split_at(before);
        let pool = &mut all.graph.pool;
        let wanted = pool.all(new);
        let near = related(pool, old, wanted);
        let near: Vec<Term> = near.into_iter().map(|i| old[i]).collect();
        let new = new.to_vec();
        let limits = all.cancellation.within(TEST);
        let model = match ask(all.solver, all.graph, &near, &new, &limits, all.cost) {
            Answer::Sat(model) => model,
            Answer::Unsat { .. } => return Further::None,
            Answer::Unknown(_) => return Further::Unknown,
        };
        let pool = &all.graph.pool;
        let mut whole = self.read(pool, &path, node);
        whole.merge(model);
        match path.tape(pool, &whole, TAPE) {
            Some(tape) => Further::Tape(tape),
            None => Further::Unknown,
        }
    }

    /// The inputs that an execution read on the path to a state.
    fn read(&self, pool: &Pool, path: &Path, node: usize) -> Model {
        let tape = self.tape(node);
        let mut model = Model::default();
        let mut at = 0;
        for taken in &path.taken {
            let Taken::Input(guard, input) = taken else {
                continue;
            };
            if !guard.is_empty() && !model.satisfies(pool, guard) {
                continue;
            }
            match *input {
                Input::Bytes(variable) => {
                    let bytes = usize::from(pool.width(variable) / 8).min(16);
                    let mut value = 0u128;
                    for i in (0..bytes).rev() {
                        value = value << 8 | u128::from(tape.get(at + i).copied().unwrap_or(0));
                    }
                    at += bytes;
                    model.set_variable(pool, variable, value);
                }
                Input::Remaining(variable) => {
                    let left = tape.len().saturating_sub(at) as u128;
                    model.set_variable(pool, variable, left);
                }
            }
        }
        model
    }
}
