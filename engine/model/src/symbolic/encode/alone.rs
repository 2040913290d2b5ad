//! Calls of functions that are encoded alone, and the returns of such functions.
//!
//! A call becomes a transition to the function's beginning, whose facts the transition must
//! satisfy, and an unknown result with one bit: the bit implies that the result satisfies the facts
//! at the function's end. The bit is assumed behind the call and not before it: the summary of a
//! function that never returns must not make the call itself unreachable.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::fragment::Called;
use super::{Encoder, set};
use crate::program::ir::{BlockId, Call, FuncId, Op, Reg, Terminator, Width};
use crate::symbolic::state::{Reached, State, Surroundings};
use crate::symbolic::world::{CtxId, Cut, ObjectKind, Side};
use crate::term::Term;

/// The number of blocks without calls, up to and including the return, that are encoded path by
/// path.
const LAST: usize = 4;

impl Encoder<'_, '_> {
    /// Executes a call of a function that is encoded alone. `now` becomes the state after the call.
    pub(super) fn call_alone(
        &mut self,
        (begin, id): (Cut, FuncId),
        (call, index): (&Call, usize),
        values: &[Term],
        now: &mut Reached,
    ) {
        let program = self.world.program();
        let function = program.function(id);
        let widths = function.params.iter().enumerate();
        let params: Vec<Term> = widths
            .map(|(i, &width)| self.parameter(values.get(i), width))
            .collect();
        let mut frame = self.new_frame(begin.ctx);
        let registers = Rc::make_mut(&mut frame.registers);
        for (slot, &param) in registers.iter_mut().zip(&params) {
            *slot = Some(param);
        }
        let state = State {
            frames: vec![frame],
            objects: BTreeMap::new(),
        };
        let guard = now.guard.clone();
        self.transition(begin, Reached { guard, state });
        let results: Vec<Term> = function.result.iter().map(|&w| self.unknown(w)).collect();
        let related = self.unknown(1);
        self.out.calls.push(Called {
            function: id,
            transition: self.out.transitions.len() - 1,
            guard: now.guard.clone(),
            params,
            results: results.clone(),
            related,
            assumptions_before: self.out.assumptions.len(),
            inputs: self.out.inputs.len(),
        });
        let reached = now.guard.term(self.pool);
        let not = self.pool.not(reached);
        let returned = self.pool.or(not, related);
        self.out.assumptions.push(returned);
        self.out.obligation_of.push(None);
        for (i, &width) in program
            .expected_results(self.block, index + 1)
            .iter()
            .enumerate()
        {
            let result = match results.get(i) {
                Some(&result) if self.pool.width(result) >= width => {
                    self.pool.extract(result, 0, width)
                }
                _ => self.unknown(width),
            };
            set(&mut now.state, Reg(call.dst.0 + i as u32), result);
        }
    }

    /// The value of a parameter. In a call through a pointer of the wrong type, or by a declaration
    /// without parameters, the argument may be missing or narrower. The rest of the register then
    /// has an arbitrary value.
    pub(super) fn parameter(&mut self, argument: Option<&Term>, width: Width) -> Term {
        match argument {
            Some(&value) if self.pool.width(value) >= width => self.pool.extract(value, 0, width),
            _ => self.unknown(width),
        }
    }

    /// Whether a function that is encoded alone returns after this block without a further call.
    /// Such blocks are encoded once for each path, because the path decides the result, and a
    /// question about one path is easier for the solver than a question about a join of paths.
    pub(super) fn ends_at_once(&mut self, ctx: CtxId, block: BlockId) -> bool {
        if self.world.context(ctx).side.is_none() {
            return false;
        }
        let program = self.world.program();
        let function = self.world.context(ctx).function;
        let mut at = block;
        for _ in 0..LAST {
            let block = program.block(at);
            let calls = block.ops.iter().any(|inst| matches!(inst.op, Op::Call(_)));
            if calls || self.world.flow(function).cuts.contains(&at) {
                return false;
            }
            match &block.end {
                Terminator::Return { .. } => return true,
                Terminator::Jump(edge) => at = edge.to,
                _ => return false,
            }
        }
        false
    }

    /// Executes the return of a function that is encoded alone.
    pub(super) fn end_alone(&mut self, ctx: CtxId, mut returned: Reached) {
        let context = self.world.context(ctx);
        if context.side != Some(Side::Begin) {
            return;
        }
        let Some((_, end)) = self.world.ends_of(context.function) else {
            return;
        };
        let Some(mut frame) = returned.state.frames.pop() else {
            return;
        };
        // Sealed functions have no objects but their variables. Any other object leads to a hole.
        let is_own = |kind| matches!(kind, ObjectKind::Made { .. });
        let mut objects = returned.state.objects.keys();
        if !objects.all(|&id| is_own(self.world.object(id).kind)) {
            returned.state.frames.push(frame);
            let what = "a function that is encoded alone and accesses memory of other functions";
            self.hole(ctx, &returned, what.to_owned());
            return;
        }
        frame.ctx = end.ctx;
        frame.variadic = None;
        frame.objects = Rc::default();
        let state = State {
            frames: vec![frame],
            objects: BTreeMap::new(),
        };
        let guard = returned.guard;
        self.transition(end, Reached { guard, state });
    }
}
