//! Loops of the library that are walked turn by turn.
//!
//! A loop's head is a cut point, and what is known there has to be found: an invariant. Many loops
//! of the stub library need none. They go over a literal, a format or a name, and how often they
//! turn is decided by constants of the very path that comes to them. Such a loop is executed in the
//! fragment that enters it, one turn after the other, as a bounded model checker unwinds it (CBMC:
//! Clarke, Kroening, Lerda, *A tool for checking ANSI-C programs*, TACAS 2004), and the head is no
//! cut point on that path. It is never half walked: a loop that does not come to its end within
//! bounds, or that meets a cut point on the way, is begun again, and cut at its head. Either way
//! the code means the same, so that only the bounds are a matter of choice, and prover and checker
//! choose alike.
//!
//! The user's loops are not walked: their invariants are what a proof is about, and executions are
//! held against their heads. Neither is what runs before `main` and after it, where every path of a
//! program comes together.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::state::Reached;
use super::super::world::{CtxId, Cut};
use super::{Encoder, Fragment, Step, Stop};
use crate::program::ir::{BlockId, FunctionKind, Program};

/// A loop that turns more often is cut.
const TURNS: u32 = 80;
/// Turns behind which it is not known whether the loop goes on.
const OPEN: u32 = 8;
/// Operations of one walk, with the walks within it.
const OPERATIONS: u64 = 20_000;
/// Operations of all walks that a fragment gave up.
const WASTED: u64 = 60_000;

/// An edge of the control flow that is taken, and how.
type Taken = (BlockId, BlockId, Reached);

/// Where execution of a function's blocks has come to.
#[derive(Default)]
pub(super) struct Ways {
    /// Blocks that are executed next, by their place in the function's order.
    pub(super) pending: BTreeMap<u32, (BlockId, Reached)>,
    /// Last blocks of functions that are encoded alone, once for each path; executed next.
    pub(super) last: Vec<(BlockId, Reached)>,
    /// Loops that begin, by the place of the head, and the ways there.
    heads: BTreeMap<u32, (BlockId, Vec<Reached>)>,
    /// The returns, joined.
    pub(super) returned: Option<Reached>,
    /// Where only one turn of a loop is executed.
    turn: Option<Turn>,
}

/// One turn of a loop.
struct Turn {
    head: BlockId,
    body: Rc<FxHashSet<BlockId>>,
    /// The ways to the next turn.
    next: Vec<Reached>,
    /// The ways out.
    exits: Vec<Taken>,
}

/// A loop that was walked to its end.
#[derive(Default)]
struct Walked {
    exits: Vec<Taken>,
    returned: Vec<Reached>,
}

/// How much of a fragment there was.
struct Mark {
    obligations: usize,
    entered: usize,
    transitions: usize,
    holes: usize,
    narrowings: usize,
    assumptions: usize,
    calls: usize,
    inputs: usize,
    deviations: usize,
    approximations: u32,
}

impl Mark {
    fn of(fragment: &Fragment) -> Mark {
        Mark {
            obligations: fragment.obligations.len(),
            entered: fragment.entered.len(),
            transitions: fragment.transitions.len(),
            holes: fragment.holes.len(),
            narrowings: fragment.narrowings.len(),
            assumptions: fragment.assumptions.len(),
            calls: fragment.calls.len(),
            inputs: fragment.inputs.len(),
            deviations: fragment.deviations.len(),
            approximations: fragment.approximations,
        }
    }

    /// Takes back what came since.
    fn restore(&self, fragment: &mut Fragment) {
        fragment.obligations.truncate(self.obligations);
        fragment.entered.truncate(self.entered);
        fragment.transitions.truncate(self.transitions);
        fragment.holes.truncate(self.holes);
        fragment.narrowings.truncate(self.narrowings);
        fragment.assumptions.truncate(self.assumptions);
        fragment.obligation_of.truncate(self.assumptions);
        fragment.calls.truncate(self.calls);
        fragment.inputs.truncate(self.inputs);
        fragment.deviations.truncate(self.deviations);
        fragment.approximations = self.approximations;
    }
}

impl Encoder<'_, '_> {
    /// Takes an edge: to a block that is executed later, to a cut point, to a loop that may be
    /// walked.
    pub(super) fn take(
        &mut self,
        ctx: CtxId,
        (from, to): (BlockId, BlockId),
        now: Reached,
        ways: &mut Ways,
    ) {
        if let Some(turn) = &mut ways.turn {
            if to == turn.head {
                turn.next.push(now);
                return;
            }
            if !turn.body.contains(&to) {
                turn.exits.push((from, to, now));
                return;
            }
        }
        let function = self.world.context(ctx).function;
        let kind = self.world.program().function(function).kind;
        let flow = self.world.flow(function);
        let place = flow.order.get(&to).copied().unwrap_or(u32::MAX);
        if flow.cuts.contains(&to) {
            let is_library = matches!(kind, FunctionKind::Stub | FunctionKind::EngineOnly);
            let enters = flow.order.get(&from).is_some_and(|&at| at < place);
            if is_library && enters && self.wasted <= WASTED && self.is_asked(ctx) {
                let head = ways.heads.entry(place).or_insert((to, Vec::new()));
                head.1.push(now);
                return;
            }
            return self.transition(Cut { ctx, block: to }, now);
        }
        if self.ends_at_once(ctx, to) {
            ways.last.push((to, now));
            return;
        }
        let joined = match ways.pending.remove(&place) {
            Some((_, before)) => before.join(now, self),
            None => now,
        };
        ways.pending.insert(place, (to, joined));
    }

    /// Whether the user's code called for what this context does. What happens before `main` and
    /// after it is none of its asking.
    fn is_asked(&self, ctx: CtxId) -> bool {
        let program = self.world.program();
        self.world.chain(ctx).into_iter().any(|ctx| {
            let function = self.world.context(ctx).function;
            program.function(function).kind == FunctionKind::User
        })
    }

    /// Walks the loops that begin before the next block.
    pub(super) fn walk_heads(&mut self, ctx: CtxId, ways: &mut Ways) -> Step {
        loop {
            let Some((&place, _)) = ways.heads.first_key_value() else {
                return Ok(());
            };
            let next = ways.pending.first_key_value().map(|(&place, _)| place);
            if next.is_some_and(|next| next < place) {
                return Ok(());
            }
            let Some((head, entries)) = ways.heads.remove(&place) else {
                return Ok(());
            };
            for entry in entries {
                self.walk(ctx, head, entry, ways)?;
            }
        }
    }

    /// Walks a loop, or cuts it at its head.
    fn walk(&mut self, ctx: CtxId, head: BlockId, entry: Reached, ways: &mut Ways) -> Step {
        let mark = Mark::of(&self.out);
        let (block, pos, before) = (self.block, self.pos, self.out.operations);
        let limit = self.walk_ends;
        let end = before + OPERATIONS;
        self.walk_ends = Some(limit.map_or(end, |outer| outer.min(end)));
        let walked = self.turns(ctx, head, entry.clone());
        (self.block, self.pos, self.walk_ends) = (block, pos, limit);
        match walked {
            Ok(Some(walked)) => {
                self.out.walked.insert(Cut { ctx, block: head });
                // From the last one on: what two ways share is longest then.
                for (from, to, now) in walked.exits.into_iter().rev() {
                    self.take(ctx, (from, to), now, ways);
                }
                for now in walked.returned.into_iter().rev() {
                    ways.returned = Some(match ways.returned.take() {
                        Some(before) => before.join(now, self),
                        None => now,
                    });
                }
                Ok(())
            }
            Ok(None) | Err(Stop::Ended | Stop::Turns) => {
                mark.restore(&mut self.out);
                self.wasted += self.out.operations - before;
                self.transition(Cut { ctx, block: head }, entry);
                Ok(())
            }
            Err(stop) => Err(stop),
        }
    }

    /// The turns of a loop; none if they come to no end within bounds.
    fn turns(&mut self, ctx: CtxId, head: BlockId, entry: Reached) -> Step<Option<Walked>> {
        let function = self.world.context(ctx).function;
        let program = self.world.program();
        let before = self.out.transitions.len();
        let body = match self.bodies.get(&head) {
            Some(body) => Rc::clone(body),
            None => {
                let body = Rc::new(body(program, &self.world.flow(function).order, head));
                self.bodies.insert(head, Rc::clone(&body));
                body
            }
        };
        let mut walked = Walked::default();
        let mut now = entry;
        let mut open = 0;
        for _ in 0..TURNS {
            let turn = Turn {
                head,
                body: Rc::clone(&body),
                next: Vec::new(),
                exits: Vec::new(),
            };
            let mut ways = Ways {
                turn: Some(turn),
                ..Ways::default()
            };
            self.run_on(ctx, (head, 0), now, &mut ways)?;
            let Some(turn) = ways.turn else {
                return Ok(None);
            };
            if self.out.transitions.len() > before {
                return Ok(None);
            }
            let leaves = !turn.exits.is_empty() || ways.returned.is_some();
            walked.exits.extend(turn.exits);
            walked.returned.extend(ways.returned);
            let mut next: Option<Reached> = None;
            for reached in turn.next {
                next = Some(match next {
                    Some(before) => before.join(reached, self),
                    None => reached,
                });
            }
            let Some(next) = next else {
                return Ok(Some(walked));
            };
            open += u32::from(leaves);
            if open > OPEN {
                return Ok(None);
            }
            now = next;
        }
        Ok(None)
    }
}

/// The blocks of a loop: those that come back to its head and do not pass it.
fn body(program: &Program, order: &FxHashMap<BlockId, u32>, head: BlockId) -> FxHashSet<BlockId> {
    let mut before: BTreeMap<BlockId, Vec<BlockId>> = BTreeMap::new();
    for &block in order.keys() {
        for edge in program.block(block).end.edges() {
            before.entry(edge.to).or_default().push(block);
        }
    }
    let place = order.get(&head);
    let mut body = FxHashSet::from_iter([head]);
    let back = before.get(&head).into_iter().flatten();
    let mut open: Vec<BlockId> = back
        .copied()
        .filter(|block| order.get(block) >= place)
        .collect();
    while let Some(block) = open.pop() {
        if body.insert(block) {
            open.extend(before.get(&block).into_iter().flatten());
        }
    }
    body
}
