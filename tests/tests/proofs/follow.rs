//! Compares one execution with the graph of fragments.
//!
//! At every cut point that the machine reaches, the fragment that should have led there is
//! evaluated: the variables of the previous cut point get the values that the machine had there,
//! the inputs those that were read. Then the transition must be possible, its updates must give the
//! machine's registers and bytes, no check may be violated, and the entered blocks must be the
//! machine's. Values that a fragment leaves open (unknowns) are not compared.
//!
//! Values are substituted by rewriting, which folds the known terms to constants. Objects that are
//! created at run time have other numbers in the machine than in the graph. So the two numbers are
//! matched when the object is first met, and addresses are compared through that mapping.

mod state;

use std::collections::BTreeMap;

use cegar_model::machine::{Execution, Limits, Machine, Outcome, View};
use cegar_model::program::Program;
use cegar_model::program::ir::{BlockId, FunctionKind, Op};
use cegar_model::symbolic::encode::{Fragment, Input, Obligation, Transition};
use cegar_model::symbolic::state::Guard;
use cegar_model::symbolic::world::{Cut, UNFIXED};
use cegar_model::term::{Array, Node, Pool, Rewriter, Term};
use cegar_search::abstraction::graph::Graph;

/// The size, in bytes, above which objects are not compared, such as the stub library's tables.
const LARGEST: usize = 256;
/// The maximum number of cut points of one execution that are compared.
const LONGEST: usize = 150;

/// The numbers of comparisons.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compared {
    /// Transitions that the machine took.
    pub transitions: usize,
    /// Loop heads that a fragment walks through.
    pub passed: usize,
    /// Registers, words and bytes of objects whose value both sides know.
    pub values: usize,
    /// Registers, words and bytes whose value the fragment left open.
    pub open: usize,
    /// Ends of executions, violations among them.
    pub ends: usize,
    /// Violations.
    pub violations: usize,
}

/// The values of the variables at the start of a fragment.
#[derive(Default)]
struct Known {
    terms: Vec<(Term, Term)>,
    arrays: Vec<(Array, Array)>,
}

/// Follows one execution in the graph of fragments; see the [module](self).
pub struct Follower<'g, 'p> {
    graph: &'g mut Graph<'p>,
    program: &'p Program,
    tape: &'g [u8],
    at: Option<Cut>,
    known: Known,
    position: usize,
    /// The graph's numbers of the machine's objects.
    numbers: BTreeMap<u32, u32>,
    fresh: u32,
    /// Blocks of the user's functions that were entered since the cut point.
    entered: Vec<BlockId>,
    steps: usize,
    is_over: bool,
    /// The differences found.
    pub told: Vec<String>,
    /// The numbers of comparisons so far.
    pub compared: Compared,
}

/// Runs the machine on a tape and follows it in the graph. Returns the differences and the numbers
/// of comparisons.
pub fn follow<'p>(
    graph: &mut Graph<'p>,
    program: &'p Program,
    tape: &[u8],
    limits: Limits,
) -> (Vec<String>, Compared) {
    let mut follower = Follower {
        graph,
        program,
        tape,
        at: None,
        known: Known::default(),
        position: 0,
        numbers: BTreeMap::new(),
        fresh: 0,
        entered: Vec::new(),
        steps: 0,
        is_over: false,
        told: Vec::new(),
        compared: Compared::default(),
    };
    let machine = Machine::new(program, limits);
    let run = machine.run_watched(tape, &mut |view| follower.look(view));
    follower.finish(&run);
    (follower.told, follower.compared)
}

impl<'p> Follower<'_, 'p> {
    fn pool(&mut self) -> &mut Pool {
        &mut self.graph.pool
    }

    fn tell(&mut self, what: String) {
        let at = self.at.map(|cut| {
            let key = &self.graph.world.context(cut.ctx).key;
            format!("{key} b{}", cut.block.0)
        });
        let at = at.unwrap_or_else(|| "the start".to_owned());
        self.told.push(format!("from {at}: {what}"));
        self.is_over = true;
    }

    /// Called when the machine enters a block.
    fn look(&mut self, view: &View<'_>) {
        if self.is_over {
            return;
        }
        let Some((function, _)) = view.depth().checked_sub(1).and_then(|top| view.frame(top))
        else {
            return;
        };
        if self.graph.world.flow(function).cuts.contains(&view.block()) {
            self.steps += 1;
            if self.steps > LONGEST {
                self.is_over = true;
                return;
            }
            if !self.passes(view) {
                self.arrive(view);
            }
        }
        if self.program.function(function).kind == FunctionKind::User {
            self.entered.push(view.block());
        }
    }

    /// Substitutes the known values and reads the inputs of a fragment. `None` if it is unknown
    /// whether an input is read.
    fn start(&mut self, fragment: &Fragment) -> Option<Rewriter> {
        let mut env = Rewriter::new();
        for &(variable, value) in &self.known.terms {
            env.replace(variable, value);
        }
        for &(array, value) in &self.known.arrays {
            env.replace_array(array, value);
        }
        // The numbers of new objects are arbitrary but distinct.
        let mut chosen: Vec<Term> = Vec::new();
        for transition in &fragment.transitions {
            for object in transition.reached.state.objects.values() {
                let is_free = matches!(self.graph.pool.node(object.number), Node::Variable(_))
                    && !self.known.terms.iter().any(|&(t, _)| t == object.number);
                if is_free && !chosen.contains(&object.number) {
                    chosen.push(object.number);
                    self.fresh += 1;
                    let number = u128::from(UNFIXED + self.fresh);
                    let number = self.pool().constant(32, number);
                    env.replace(object.number, number);
                }
            }
        }
        for (guard, input) in &fragment.inputs {
            match self.holds(&mut env, guard, &[]) {
                Some(true) => {}
                Some(false) => continue,
                None => return None,
            }
            match *input {
                Input::Bytes(variable) => {
                    let bytes = usize::from(self.graph.pool.width(variable) / 8);
                    let mut value = 0u128;
                    for i in (0..bytes).rev() {
                        let byte = self.tape.get(self.position + i).copied().unwrap_or(0);
                        value = value << 8 | u128::from(byte);
                    }
                    self.position += bytes;
                    let value = self.pool().constant(bytes as u16 * 8, value);
                    env.replace(variable, value);
                }
                Input::Remaining(variable) => {
                    let left = self.tape.len().saturating_sub(self.position) as u128;
                    let left = self.pool().constant(64, left);
                    env.replace(variable, left);
                }
            }
        }
        Some(env)
    }

    /// Whether all of these terms hold; `None` if that is unknown.
    fn holds(&mut self, env: &mut Rewriter, guard: &Guard, assumed: &[Term]) -> Option<bool> {
        let mut sure = true;
        for &t in guard.0.iter().chain(assumed) {
            let value = env.apply(&mut self.graph.pool, t);
            match self.graph.pool.as_const(value) {
                Some(1) => {}
                Some(_) => return Some(false),
                None => sure = false,
            }
        }
        sure.then_some(true)
    }

    fn is_violated(
        &mut self,
        env: &mut Rewriter,
        fragment: &Fragment,
        obligation: &Obligation,
    ) -> Option<bool> {
        let guard = Guard(obligation.goal());
        self.holds(
            env,
            &guard,
            &fragment.assumptions[..obligation.assumptions_before],
        )
    }

    /// Whether the execution reaches a hole of the fragment, or may reach one.
    fn is_lost(&mut self, env: &mut Rewriter, fragment: &Fragment) -> bool {
        fragment.holes.iter().any(|hole| {
            let assumed = &fragment.assumptions[..hole.assumptions_before];
            self.holds(env, &hole.guard, assumed) != Some(false)
        })
    }

    /// Checks that the fragment enters the same blocks as the machine.
    fn same_blocks(&mut self, env: &mut Rewriter, fragment: &Fragment) {
        let mut machine: BTreeMap<u32, usize> = BTreeMap::new();
        for block in std::mem::take(&mut self.entered) {
            *machine.entry(block.0).or_default() += 1;
        }
        let mut said: BTreeMap<u32, (usize, usize)> = BTreeMap::new();
        for entered in &fragment.entered {
            let assumed = &fragment.assumptions[..entered.assumptions_before];
            let (sure, perhaps) = match self.holds(env, &entered.guard, assumed) {
                Some(true) => (1, 1),
                Some(false) => (0, 0),
                None => (0, 1),
            };
            let count = said.entry(entered.block.0).or_default();
            count.0 += sure;
            count.1 += perhaps;
        }
        for block in machine.keys().chain(said.keys()) {
            let times = machine.get(block).copied().unwrap_or(0);
            let (sure, perhaps) = said.get(block).copied().unwrap_or((0, 0));
            if times < sure || times > perhaps {
                return self.tell(format!(
                    "b{block} is entered {times} times, the fragment says {sure} to {perhaps}"
                ));
            }
        }
    }

    /// Whether the machine is at a cut point: in its block, with its stack of calls.
    fn is_here(&self, cut: Cut, view: &View<'_>) -> bool {
        let chain = self.graph.world.chain(cut.ctx);
        if cut.block != view.block() || chain.len() != view.depth() {
            return false;
        }
        chain.iter().enumerate().all(|(i, &ctx)| {
            let context = self.graph.world.context(ctx);
            let Some((function, site)) = view.frame(i) else {
                return false;
            };
            let same_site = match (context.back, site) {
                (None, None) => true,
                (Some(back), Some(site)) => {
                    let call = self.program.block(back.block).ops.get(back.op - 1);
                    matches!(call.map(|inst| &inst.op), Some(Op::Call(call)) if call.site == site)
                }
                _ => false,
            };
            function == context.function && same_site
        })
    }

    /// Whether the machine is at a loop head that the fragment walks through, where there is no
    /// state to compare.
    fn passes(&mut self, view: &View<'_>) -> bool {
        let Some(fragment) = self.graph.fragments.get(&self.at).cloned() else {
            return false;
        };
        if !fragment.unrolled.iter().any(|&cut| self.is_here(cut, view)) {
            return false;
        }
        // The same head may be a cut point for another transition.
        let before = (self.position, self.fresh);
        let Some(mut env) = self.start(&fragment) else {
            self.is_over = true;
            return true;
        };
        (self.position, self.fresh) = before;
        let mut arrives = false;
        for transition in &fragment.transitions {
            if self.is_here(transition.to, view) {
                let assumed = &fragment.assumptions[..transition.assumptions_before];
                arrives |= self.holds(&mut env, &transition.reached.guard, assumed) != Some(false);
            }
        }
        self.compared.passed += usize::from(!arrives);
        !arrives
    }

    /// Called when the machine is at a cut point.
    fn arrive(&mut self, view: &View<'_>) {
        let Some(fragment) = self.graph.fragments.get(&self.at).cloned() else {
            return self.tell("there is no fragment".to_owned());
        };
        let Some(mut env) = self.start(&fragment) else {
            self.is_over = true;
            return;
        };
        let is_lost = self.is_lost(&mut env, &fragment);
        if self.position != view.position() {
            // An approximated fragment need not take all bytes: input that is too long to be
            // encoded byte by byte is no input of the fragment.
            if fragment.approximations == 0 && !is_lost {
                let (here, there) = (self.position, view.position());
                self.tell(format!("{here} bytes of the tape are taken, not {there}"));
            }
            self.is_over = true;
            return;
        }
        for obligation in &fragment.obligations {
            let violated = self.is_violated(&mut env, &fragment, obligation);
            if violated == Some(true) && !obligation.vague {
                let (kind, line) = (obligation.kind, obligation.pos.line);
                return self.tell(format!("{kind:?} of line {line} is violated, and is not"));
            }
        }
        let mut taken: Option<&Transition> = None;
        for transition in &fragment.transitions {
            let assumed = &fragment.assumptions[..transition.assumptions_before];
            let holds = self.holds(&mut env, &transition.reached.guard, assumed);
            let here = self.is_here(transition.to, view);
            match (holds, here) {
                (Some(true), false) => {
                    let (to, block) = (transition.to.block.0, view.block().0);
                    return self.tell(format!("a transition leads to b{to}, not to b{block}"));
                }
                (Some(false), _) | (None, false) => {}
                (Some(true), true) => taken = Some(transition),
                (None, true) => taken = taken.or(Some(transition)),
            }
        }
        let Some(transition) = taken else {
            if is_lost {
                self.is_over = true;
            } else {
                self.tell(format!("no transition leads to b{}", view.block().0));
            }
            return;
        };
        self.compared.transitions += 1;
        self.same_blocks(&mut env, &fragment);
        if !self.is_over {
            self.go_on(transition, env, view);
        }
    }

    /// Compares the state after a transition with the machine's, and continues from there.
    fn go_on(&mut self, transition: &Transition, mut env: Rewriter, view: &View<'_>) {
        let Some(target) = self.graph.states.get(&transition.to).cloned() else {
            return self.tell("nothing is known of the target".to_owned());
        };
        let update = self.graph.update(self.at, transition);
        let mut said = Known::default();
        let mut next = Rewriter::new();
        for (variable, value) in update.terms {
            let value = env.apply(&mut self.graph.pool, value);
            next.replace(variable, value);
            said.terms.push((variable, value));
        }
        for (array, value) in update.arrays {
            let value = env.apply_array(&mut self.graph.pool, value);
            next.replace_array(array, value);
            said.arrays.push((array, value));
        }
        let frames = self.graph.world.chain(transition.to.ctx);
        self.match_locals(&target, &mut next, &frames, view);
        self.same_registers(&target, &mut next, &frames, view);
        self.same_objects(&target, &mut next, view);
        for axiom in target.axioms(&mut self.graph.pool, &self.graph.world) {
            let value = next.apply(&mut self.graph.pool, axiom);
            if self.graph.pool.as_const(value) == Some(0) {
                let axiom = self.graph.pool.show(axiom);
                self.tell(format!(
                    "what is known of b{} is false: {axiom}",
                    transition.to.block.0
                ));
            }
        }
        if !self.is_over {
            self.at = Some(transition.to);
            self.known = self.values(&target, said, &frames, view);
        }
    }

    /// Compares the end of the execution.
    fn finish(&mut self, run: &Execution) {
        if self.is_over {
            return;
        }
        let violation = match &run.outcome {
            Outcome::Violated(violation) => Some(violation),
            Outcome::Returned(_) | Outcome::Exited(_) | Outcome::Rejected => None,
            Outcome::StepLimit
            | Outcome::OutOfMemory
            | Outcome::Unmodelled(_)
            | Outcome::StackOverflow => return,
        };
        let Some(fragment) = self.graph.fragments.get(&self.at).cloned() else {
            return self.tell("there is no fragment".to_owned());
        };
        let Some(mut env) = self.start(&fragment) else {
            return;
        };
        if self.is_lost(&mut env, &fragment) {
            return;
        }
        self.compared.ends += 1;
        let mut is_said = false;
        for obligation in &fragment.obligations {
            let violated = self.is_violated(&mut env, &fragment, obligation);
            let of_it =
                violation.is_some_and(|v| v.check == obligation.check && v.kind == obligation.kind);
            is_said |= of_it && violated != Some(false);
            if violated == Some(true) && !obligation.vague && !of_it {
                let (kind, line) = (obligation.kind, obligation.pos.line);
                let outcome = &run.outcome;
                return self.tell(format!(
                    "{kind:?} of line {line} is violated, not {outcome:?}"
                ));
            }
        }
        if let Some(violation) = violation {
            self.compared.violations += 1;
            if !is_said {
                return self.tell(format!("no obligation is violated, but {violation:?}"));
            }
        }
        for transition in &fragment.transitions {
            let assumed = &fragment.assumptions[..transition.assumptions_before];
            if self.holds(&mut env, &transition.reached.guard, assumed) == Some(true) {
                let (to, outcome) = (transition.to.block.0, &run.outcome);
                return self.tell(format!("a transition leads to b{to}, but {outcome:?}"));
            }
        }
        self.same_blocks(&mut env, &fragment);
    }
}
