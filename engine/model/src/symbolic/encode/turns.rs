//! Unrolling of loops of library functions.
//!
//! The head of a loop is a cut point, and the facts there have to be found: an invariant. Many
//! loops of the stub library need none. They traverse a literal, a format or a name, and constants
//! of the very path that enters them decide the number of their turns. Such a loop is unrolled in
//! the fragment that enters it, as a bounded model checker does (CBMC: Clarke, Kroening, Lerda, *A
//! tool for checking ANSI-C programs*, TACAS 2004), and its head is no cut point on that path. A
//! loop is never unrolled partially: if it does not end within the bounds, or reaches a cut point,
//! the unrolling is discarded and the loop is cut at its head. The code means the same in both
//! cases, so the bounds are only a heuristic, and prover and checker use the same ones.
//!
//! The user's loops are not unrolled: their invariants are what a proof is about, and executions
//! are compared with the states at their heads. Loops that run before `main` or after it are not
//! unrolled either, because every path of a program passes there.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::state::Reached;
use super::super::world::{CtxId, Cut};
use super::{Encoder, Fragment, Step, Stop};
use crate::program::ir::{BlockId, FunctionKind, Program};

/// The number of turns above which a loop is cut.
const TURNS: u32 = 80;
/// The number of turns after which the loop may end as well as go on, above which it is cut.
const OPEN: u32 = 8;
/// The number of operations of one unrolling, including nested ones.
const OPERATIONS: u64 = 20_000;
/// The number of operations in discarded unrollings of a fragment above which no loop is unrolled.
const WASTED: u64 = 60_000;

/// An edge of the control flow that is taken, with the state there.
type Taken = (BlockId, BlockId, Reached);

/// The progress of executing a function's blocks.
#[derive(Default)]
pub(super) struct Ways {
    /// Blocks that are still to be executed, by their positions in reverse postorder.
    pub(super) pending: BTreeMap<u32, (BlockId, Reached)>,
    /// The last blocks of functions that are encoded alone, once for each path. They are executed
    /// next.
    pub(super) last: Vec<(BlockId, Reached)>,
    /// Heads of loops that are entered, by their positions, with the states that enter them.
    heads: BTreeMap<u32, (BlockId, Vec<Reached>)>,
    /// The join of the states at the returns.
    pub(super) returned: Option<Reached>,
    /// Set if only one turn of a loop is executed.
    turn: Option<Turn>,
}

/// One turn of a loop.
struct Turn {
    head: BlockId,
    body: Rc<FxHashSet<BlockId>>,
    /// The states at the edges back to the head.
    next: Vec<Reached>,
    /// The edges that leave the loop.
    exits: Vec<Taken>,
}

/// The result of unrolling a loop to its end.
#[derive(Default)]
struct Walked {
    exits: Vec<Taken>,
    returned: Vec<Reached>,
}

/// The size of a fragment at some time.
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

    /// Removes everything that was added to the fragment since.
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
    /// Follows an edge: to a block that is executed later, to a cut point, or to a loop that may be
    /// unrolled.
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

    /// Whether the user's code called this context, directly or indirectly. It does not call code
    /// that runs before `main` or after it.
    fn is_asked(&self, ctx: CtxId) -> bool {
        let program = self.world.program();
        self.world.chain(ctx).into_iter().any(|ctx| {
            let function = self.world.context(ctx).function;
            program.function(function).kind == FunctionKind::User
        })
    }

    /// Unrolls the loops whose heads come before the next block.
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

    /// Unrolls a loop, or cuts it at its head.
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
                // In reverse order, so that the path conditions that are joined share the longest
                // prefixes.
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

    /// Executes the turns of a loop. Returns `None` if it does not end within the bounds.
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

/// The blocks of a loop: those from which control flow returns to its head without passing it.
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
