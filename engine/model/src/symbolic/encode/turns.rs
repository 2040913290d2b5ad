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
pub(super) struct Worklist {
    /// Blocks that are still to be executed, by their positions in reverse postorder.
    pub(super) pending: BTreeMap<u32, (BlockId, Reached)>,
    /// The last blocks of functions that are encoded alone, once for each path. They are executed
    /// next.
    pub(super) final_blocks: Vec<(BlockId, Reached)>,
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
    back_edges: Vec<Reached>,
    /// The edges that leave the loop.
    exits: Vec<Taken>,
}

/// The result of unrolling a loop to its end.
#[derive(Default)]
struct Unrolled {
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
        worklist: &mut Worklist,
    ) {
        if let Some(turn) = &mut worklist.turn {
            if to == turn.head {
                turn.back_edges.push(now);
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
                let head = worklist.heads.entry(place).or_insert((to, Vec::new()));
                head.1.push(now);
                return;
            }
            return self.transition(Cut { ctx, block: to }, now);
        }
        if self.ends_at_once(ctx, to) {
            worklist.final_blocks.push((to, now));
            return;
        }
        let joined = match worklist.pending.remove(&place) {
            Some((_, before)) => before.join(now, self),
            None => now,
        };
        worklist.pending.insert(place, (to, joined));
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
    pub(super) fn unroll_heads(&mut self, ctx: CtxId, worklist: &mut Worklist) -> Step {
        loop {
            let Some((&place, _)) = worklist.heads.first_key_value() else {
                return Ok(());
            };
            let next = worklist.pending.first_key_value().map(|(&place, _)| place);
            if next.is_some_and(|next| next < place) {
                return Ok(());
            }
            let Some((head, entries)) = worklist.heads.remove(&place) else {
                return Ok(());
            };
            for entry in entries {
                self.unroll(ctx, head, entry, worklist)?;
            }
        }
    }

    /// Unrolls a loop, or cuts it at its head.
    fn unroll(
        &mut self,
        ctx: CtxId,
        head: BlockId,
        entry: Reached,
        worklist: &mut Worklist,
    ) -> Step {
        let mark = Mark::of(&self.out);
        let (block, pos, before) = (self.block, self.pos, self.out.operations);
        let limit = self.unroll_limit;
        let end = before + OPERATIONS;
        self.unroll_limit = Some(limit.map_or(end, |outer| outer.min(end)));
        let unrolled = self.turns(ctx, head, entry.clone());
        (self.block, self.pos, self.unroll_limit) = (block, pos, limit);
        match unrolled {
            Ok(Some(unrolled)) => {
                self.out.unrolled.insert(Cut { ctx, block: head });
                // In reverse order, so that the path conditions that are joined share the longest
                // prefixes.
                for (from, to, now) in unrolled.exits.into_iter().rev() {
                    self.take(ctx, (from, to), now, worklist);
                }
                for now in unrolled.returned.into_iter().rev() {
                    worklist.returned = Some(match worklist.returned.take() {
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
    fn turns(&mut self, ctx: CtxId, head: BlockId, entry: Reached) -> Step<Option<Unrolled>> {
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
        let mut unrolled = Unrolled::default();
        let mut now = entry;
        let mut open = 0;
        for _ in 0..TURNS {
            let turn = Turn {
                head,
                body: Rc::clone(&body),
                back_edges: Vec::new(),
                exits: Vec::new(),
            };
            let mut worklist = Worklist {
                turn: Some(turn),
                ..Worklist::default()
            };
            self.run_on(ctx, (head, 0), now, &mut worklist)?;
            let Some(turn) = worklist.turn else {
                return Ok(None);
            };
            if self.out.transitions.len() > before {
                return Ok(None);
            }
            let leaves = !turn.exits.is_empty() || worklist.returned.is_some();
            unrolled.exits.extend(turn.exits);
            unrolled.returned.extend(worklist.returned);
            let mut next: Option<Reached> = None;
            for reached in turn.back_edges {
                next = Some(match next {
                    Some(before) => before.join(reached, self),
                    None => reached,
                });
            }
            let Some(next) = next else {
                return Ok(Some(unrolled));
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
