//! How large a block is that a request gives, as lines and products say: what was asked for.

use super::define::PRODUCT;
use super::{Frame, Guide, Walker};
use crate::domain::linear::{Sum, Var};
use crate::domain::space::ObjId;
use crate::domain::state::State;
use crate::domain::value::Value;
use crate::program::ir::{Call, HeapFn, Op, Operand};
use crate::term::fault::ONE_ALLOCATION;

impl<G: Guide> Walker<'_, G> {
    /// What is asked for where something is given: a request that is refused asks for more than there can be instead.
    fn asked(&self, frame: &Frame, size: Operand) -> Operand {
        let made = match size {
            Operand::Reg(reg) => frame.flow.made(self.program, reg),
            _ => None,
        };
        let is_too_large = |operand: &Operand| match operand {
            Operand::Const(number) => *number > ONE_ALLOCATION,
            _ => false,
        };
        match made {
            Some(Op::Select { a, b, .. }) if is_too_large(a) => *b,
            Some(Op::Select { a, b, .. }) if is_too_large(b) => *a,
            _ => size,
        }
    }

    /// The block that a request may give, and what it was asked to be of. Where nothing is given this is what would have been.
    pub(super) fn sized(
        &self,
        frame: &Frame,
        state: &State,
        function: HeapFn,
        call: &Call,
        result: &Value,
    ) -> Option<(ObjId, Sum)> {
        let [(id, _)] = &result.ptr[..] else {
            return None;
        };
        if !self.relations {
            return None;
        }
        let operand = |i: usize| {
            let arg = call.args.get(i)?;
            self.bits(frame, state, self.asked(frame, arg.value), 64)
        };
        let size = match function {
            HeapFn::Malloc | HeapFn::Valloc => operand(0)?.sum,
            HeapFn::AlignedAlloc | HeapFn::Realloc => operand(1)?.sum,
            HeapFn::Calloc | HeapFn::ReallocArray => {
                let first = usize::from(function == HeapFn::ReallocArray);
                let (n, m) = (operand(first)?, operand(first + 1)?);
                let (n, m) = if n.low == n.high { (m, n) } else { (n, m) };
                let fits = m.low == m.high && n.high.saturating_mul(m.low) <= u64::MAX.into();
                n.sum.times(m.low).filter(|_| fits)?
            }
            _ => return None,
        };
        self.names.info(*id).single.then_some((*id, size))
    }

    /// The block that a request may give is as large as the product of two variables.
    pub(super) fn sized_by_product(
        &self,
        frame: &Frame,
        state: &mut State,
        (function, call): (HeapFn, &Call),
        result: &Value,
    ) {
        let first = match function {
            HeapFn::Calloc => 0,
            HeapFn::ReallocArray => 1,
            _ => return,
        };
        let [(id, _)] = result.ptr[..] else { return };
        let operand = |i: usize| {
            let arg = call.args.get(i)?;
            self.bits(frame, state, self.asked(frame, arg.value), 64)
        };
        if let (Some(n), Some(m)) = (operand(first), operand(first + 1))
            && let (Some(x), Some(y)) = (n.sum.single(), m.sum.single())
            && n.high.saturating_mul(m.high) <= PRODUCT
            && self.relations
            && self.names.info(id).single
        {
            self.multiply(state, [x, y], Sum::of(Var::Size(id)));
        }
    }
}
