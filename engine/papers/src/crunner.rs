//! CRunner: the program is executed, and the abstraction chooses its inputs.
//!
//! After Kroening, Groce and Clarke, *Counterexample guided abstraction refinement via program
//! execution* (2004), figure 2. The program is executed until it reads input. The Boolean program
//! starts there, in the abstract state of the current state. The first few steps of its shortest
//! path to an error are simulated, from any state with the same predicates, and the resulting input
//! is given to the program, which continues to its next input. The states at inputs are a stack. If
//! no error can be reached from the abstract state, the state is popped and marked as safe, and no
//! path into it is followed again; when the stack is empty, there is no error. A step that the
//! program cannot take by itself is excluded before predicates are added.
//!
//! Three things that the paper leaves open are decided here. *Path removal*: instead of the path to
//! the state that was popped, every path into its abstract state is removed, since this is what was
//! shown, and since other inputs may lead along the same path to other states. *The cached answer*:
//! if the program returns to an input in an abstract state that is on the stack, the machine
//! repeats what the program read in between, which needs no query. If this leads to no violation,
//! or if a run ends without another input, the path is simulated as a whole from the *concrete*
//! state, and the reason why it is impossible is a refinement. *Error-free*: the code before the
//! first input is a path as well. Therefore, the last step is a search from the program's start
//! with the same predicates, which gives the facts for a certificate.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use super::base::run_strategy;
use super::predicate_loop::{First, Found, PredicateLoop};
use super::slam;
use crate::boolean::program::AbstractPath;
use crate::boolean::refine::{Simulated, Trace};
use cegar_model::program::ir::Program;
use cegar_model::symbolic::world::{Cut, Grain};
use cegar_model::term::Term;
use cegar_search::abstraction::forest::Walk;
use cegar_search::abstraction::loops::Path;
use cegar_search::simulate::pump::LADDER;
use cegar_search::strategy::options::Options;
use cegar_search::strategy::outcome::Proof;

/// The number of steps of an abstract path that are simulated.
const AHEAD: usize = 4;
/// The maximum number of steps of a run between two inputs; longer runs are regarded as infinite
/// loops.
const STEPS: usize = 20_000;
/// Longest tape, in bytes.
const LONGEST: usize = 1 << 18;

/// Runs CRunner.
pub fn prove<'p>(program: &'p Program, options: &Options, stop: &AtomicBool) -> Proof<'p> {
    run_strategy(program, options, stop, Grain::Blocks, &mut |base| {
        let mut runner = Runner::new(PredicateLoop::new(base));
        runner.run();
        let predicate_loop = &mut runner.predicate_loop;
        predicate_loop.abstraction.forget_safe();
        predicate_loop.abstraction.start_at(None, Vec::new());
        slam::refined(predicate_loop, &mut |_, _, _| false)
    })
}

/// An abstract state of the program.
type Seen = (Option<Cut>, Vec<bool>);

struct Runner<'b, 'a, 'p> {
    predicate_loop: PredicateLoop<'b, 'a, 'p>,
    /// The cut points whose fragments read the tape.
    inputs: BTreeSet<Option<Cut>>,
    stack: Vec<Walk>,
    /// What was replayed from which abstract states.
    replayed: BTreeSet<(Option<Cut>, Vec<bool>, Vec<u8>)>,
}

impl<'b, 'a, 'p> Runner<'b, 'a, 'p> {
    fn new(predicate_loop: PredicateLoop<'b, 'a, 'p>) -> Runner<'b, 'a, 'p> {
        let fragments = predicate_loop.base.graph.fragments.iter();
        let inputs = fragments
            .filter(|(_, fragment)| !fragment.inputs.is_empty())
            .map(|(&start, _)| start)
            .collect();
        Runner {
            predicate_loop,
            inputs,
            stack: Vec::new(),
            replayed: BTreeSet::new(),
        }
    }

    /// Runs until the stack is empty or time is up.
    fn run(&mut self) {
        let Some(first) = self.first() else {
            return;
        };
        let mut now = first.clone();
        while self.predicate_loop.base.begin_iteration() {
            let here = self.seen(&now);
            let numbered = here.1.iter().copied().enumerate().collect::<Vec<_>>();
            self.predicate_loop
                .abstraction
                .start_at(here.0, numbered.clone());
            match self.predicate_loop.search() {
                Found::Nothing(_) => {
                    self.predicate_loop.abstraction.note_safe(here.0, numbered);
                    match self.stack.pop() {
                        Some(before) => now = before,
                        None => return,
                    }
                }
                Found::Path(path) => {
                    let left = self.predicate_loop.base.goals.len();
                    if let Some(next) = self.follow(&now, here, &path) {
                        self.stack.push(std::mem::replace(&mut now, next));
                    } else if self.predicate_loop.base.goals.len() < left {
                        // Something is violated; the other errors are searched from the beginning.
                        self.stack.clear();
                        now = first.clone();
                    }
                }
                Found::GivenUp => return,
            }
        }
    }

    /// The state at the first input; `None` if the program ends or violates a check before.
    fn first(&mut self) -> Option<Walk> {
        let start = Walk::start(&self.predicate_loop.base.graph);
        if self.predicate_loop.is_violated_alone() {
            return None;
        }
        if self.inputs.contains(&None) {
            return Some(start);
        }
        self.go_on(&start, &[])
    }

    /// Runs from a state on a tape to the next input.
    fn go_on(&mut self, from: &Walk, tape: &[u8]) -> Option<Walk> {
        let inputs = &self.inputs;
        let base = &*self.predicate_loop.base;
        let stop = |at: Option<Cut>| inputs.contains(&at) || base.cancellation.is_over();
        let walked = base.walker.walk(&base.graph, from, tape, (&stop, STEPS));
        (walked.stopped && self.inputs.contains(&walked.walk.at)).then_some(walked.walk)
    }

    /// The abstract state of a state.
    fn seen(&self, walk: &Walk) -> Seen {
        let predicates = self.predicate_loop.abstraction.predicates().at(walk.at);
        let base = &*self.predicate_loop.base;
        let state = base.walker.evaluate(&base.graph, walk, predicates);
        (walk.at, state)
    }

    /// Tries to follow an abstract path. Returns the state at the next input, if its abstract state
    /// is new.
    fn follow(&mut self, now: &Walk, here: Seen, path: &AbstractPath) -> Option<Walk> {
        let trace = Trace::of(&self.predicate_loop.abstraction, path);
        let known = self.known(&here);
        let from = Path::from(now.at, self.predicate_loop.number());
        match self
            .predicate_loop
            .simulate((&trace, AHEAD), (from.clone(), &known))
        {
            Simulated::Impossible(why) => {
                if self
                    .predicate_loop
                    .refine(path, &trace, (&why, from), First::Steps)
                {
                    return None;
                }
            }
            Simulated::Unknown => {}
            Simulated::Possible { tape, .. } => {
                let mut whole = now.sample.tape.to_vec();
                whole.extend(&tape);
                whole.truncate(LONGEST);
                if let Some(next) = self.go_on(now, &whole) {
                    let there = self.seen(&next);
                    let is_safe = self.predicate_loop.abstraction.is_safe(there.0, &there.1);
                    let before = self.on_stack(now, &there);
                    match before {
                        None if !is_safe => return Some(next),
                        Some(before) if self.replay(&before, &next, there) => return None,
                        _ => {}
                    }
                } else if self.predicate_loop.execute(&whole).1 {
                    return None;
                }
            }
        }
        self.refute(now, (path, &trace), &known);
        None
    }

    /// What holds in an abstract state: its predicates and the axioms.
    fn known(&mut self, (at, state): &Seen) -> Vec<Term> {
        let graph = &mut self.predicate_loop.base.graph;
        let mut known = graph.axioms(*at);
        let predicates = self.predicate_loop.abstraction.predicates().at(*at);
        for (&t, &value) in predicates.iter().zip(state) {
            known.push(if value { t } else { graph.pool.not(t) });
        }
        known
    }

    /// The current state or a state on the stack with this abstract state.
    fn on_stack(&self, now: &Walk, there: &Seen) -> Option<Walk> {
        let all = std::iter::once(now).chain(self.stack.iter().rev());
        all.into_iter()
            .find(|walk| walk.at == there.0 && self.seen(walk) == *there)
            .cloned()
    }

    /// Repeats what the program read between two states with the same abstract state. True if that
    /// violates a check.
    fn replay(&mut self, before: &Walk, next: &Walk, there: Seen) -> bool {
        let tape = &next.sample.tape;
        let stretch = tape[before.sample.tape.len()..].to_vec();
        let fresh = (there.0, there.1, stretch.clone());
        if stretch.is_empty() || !self.replayed.insert(fresh) {
            return false;
        }
        let tape = tape.to_vec();
        let mut longest = 0;
        for times in LADDER {
            let room = LONGEST.saturating_sub(tape.len());
            let more = (stretch.len() * times).min(room);
            if self.predicate_loop.base.cancellation.is_over() || more <= longest {
                return false;
            }
            longest = more;
            let mut longer = tape.clone();
            longer.extend(stretch.iter().copied().cycle().take(more));
            let (execution, is_violated) = self.predicate_loop.execute(&longer);
            if is_violated {
                return true;
            }
            if execution.consumed < longer.len() {
                return false;
            }
        }
        false
    }

    /// Simulates the whole path, from any state with the same abstract state and then from the
    /// current state: it gives an input or is refuted.
    fn refute(&mut self, now: &Walk, (path, trace): (&AbstractPath, &Trace), known: &[Term]) {
        let from = Path::from(now.at, self.predicate_loop.number());
        let whole = (trace, usize::MAX);
        if let Simulated::Impossible(why) =
            self.predicate_loop.simulate(whole, (from.clone(), known))
            && self
                .predicate_loop
                .refine(path, trace, (&why, from), First::Steps)
        {
            return;
        }
        let values = now.values(&mut self.predicate_loop.base.graph);
        let from = match now.at {
            Some(cut) => Path::with(cut, values, self.predicate_loop.number()),
            None => Path::from(None, self.predicate_loop.number()),
        };
        match self.predicate_loop.simulate(whole, (from.clone(), &[])) {
            Simulated::Possible { tape, .. } => {
                let mut whole = now.sample.tape.to_vec();
                whole.extend(&tape);
                self.predicate_loop.reached(path.error, &whole);
            }
            Simulated::Impossible(why) => {
                if !self
                    .predicate_loop
                    .refine(path, trace, (&why, from), First::Steps)
                {
                    self.predicate_loop.close(path.error);
                }
            }
            Simulated::Unknown => self.predicate_loop.close(path.error),
        }
    }
}
