//! Executions as a tree: each state knows the state before it.
//!
//! Synergy's forest (section 3) and Lee and Yannakakis's tree of witnesses are sets of concrete
//! states with parents. The [forest](cegar_search::abstraction::forest) has states to refute
//! guesses with and forgets where they came from; here a state's way is what matters, because a
//! test that goes one step further begins as the way to that state did.

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

/// Transitions of one execution.
const LONGEST: usize = 20_000;
/// States in all.
const MOST: usize = 120_000;
/// How long the question for one test may take.
const TEST: Duration = Duration::from_secs(1);
/// Longest tape of a test.
const TAPE: usize = 1 << 20;
/// One state in so many keeps the way to it as a formula.
const APART: usize = 32;
/// How many such formulas are kept.
const KEPT: usize = 1_000;

/// A concrete state.
#[derive(Debug)]
pub struct Node {
    /// Where; none: where the program begins.
    pub at: Option<Cut>,
    /// The state.
    pub sample: Sample,
    /// The state before and the transition from there, by its number in the fragment.
    pub parent: Option<(usize, usize)>,
    /// Transitions from the start.
    depth: usize,
    /// The tape of the execution, of which this state has taken so many bytes.
    tape: Rc<Vec<u8>>,
    taken: usize,
}

/// A test that goes as another one went, and then further.
#[derive(Debug)]
pub enum Further {
    /// This one.
    Tape(Vec<u8>),
    /// There is none along that way.
    None,
    /// There may be one.
    Unknown,
}

/// See the [module](self).
#[derive(Debug)]
pub struct Tree {
    /// The states, parents before children; the first is where the program begins.
    pub nodes: Vec<Node>,
    evaluator: Evaluator,
    /// The ways to some of them, as formulas.
    paths: BTreeMap<usize, Path>,
}

impl Tree {
    /// The state that every execution begins with.
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

    /// Whether there is no room for more.
    pub fn is_full(&self) -> bool {
        self.nodes.len() >= MOST
    }

    /// Executes a tape from the start, as far as the graph tells it; the states that were added.
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
            // One execution, one tape: no state but the last one holds it.
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

    /// What an execution has read of its tape when it is in this state.
    pub fn tape(&self, node: usize) -> &[u8] {
        let node = &self.nodes[node];
        &node.tape[..node.taken.min(node.tape.len())]
    }

    /// Takes one transition from a state, with a tape that begins as the one that led there; the
    /// new state's number.
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

    /// The way to a state as a formula over what it reads.
    fn path(&mut self, graph: &mut Graph<'_>, walker: &Walker, node: usize) -> Path {
        let mut steps = Vec::new();
        let mut at = node;
        let mut path = loop {
            if let Some(path) = self.paths.get(&at) {
                break path.clone();
            }
            let Some((parent, way)) = self.nodes[at].parent else {
                // One number for all: names tell the places of one path apart, and no two paths
                // meet in one question.
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

    /// Asks for a test that comes to a cut point by the way that led to this state, whatever it
    /// reads on the way, and meets a condition there, under so many of the fragment's assumptions.
    pub fn further(
        &mut self,
        all: &mut Asking<'_, '_>,
        node: usize,
        (condition, prefix): (&[Term], usize),
    ) -> Further {
        let mut path = self.path(all.graph, all.walker, node);
        let before = path.conditions.len();
        path.end(all.graph, condition, prefix);
        if path.is_dead(&all.graph.pool) {
            return Further::None;
        }
        // What has nothing to do with it stays as it was.
        let (old, new) = path.conditions.split_at(before);
        let pool = &mut all.graph.pool;
        let wanted = pool.all(new);
        let near = related(pool, old, wanted);
        let near: Vec<Term> = near.into_iter().map(|i| old[i]).collect();
        let new = new.to_vec();
        let limits = all.patience.within(TEST);
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

    /// What an execution read on the way to a state.
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
