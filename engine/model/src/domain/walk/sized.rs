//! The size of the block that a request gives, as lines and products: the requested size.

use super::define::PRODUCT;
use super::relate::Term;
use super::{Frame, Guide, Walker};
use crate::domain::linear::{Sum, Var};
use crate::domain::space::ObjId;
use crate::domain::state::State;
use crate::domain::value::Value;
use crate::program::ir::{Call, HeapFn, Op, Operand};
use crate::term::fault::ONE_ALLOCATION;

/// The size that a request asks for.
pub(super) enum Asked {
    /// This number of bytes.
    Sum(Sum),
    /// The product of two variables.
    Product([Var; 2]),
}

impl<G: Guide> Walker<'_, G> {
    /// The size of a granted request. Where the program selects between a size and a constant that
    /// is too large for any block, it is the former.
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

    /// The block that a request may give, and the requested size. If the request is refused, it is
    /// the size that the block would have had.
    pub(super) fn sized(
        &self,
        frame: &Frame,
        state: &State,
        function: HeapFn,
        call: &Call,
        result: &Value,
    ) -> Option<(ObjId, Asked)> {
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
            HeapFn::Malloc | HeapFn::Valloc => Asked::Sum(operand(0)?.sum),
            HeapFn::AlignedAlloc | HeapFn::Realloc => Asked::Sum(operand(1)?.sum),
            HeapFn::Calloc | HeapFn::ReallocArray => {
                let first = usize::from(function == HeapFn::ReallocArray);
                product(operand(first)?, operand(first + 1)?)?
            }
            _ => return None,
        };
        self.names.info(*id).is_unique.then_some((*id, size))
    }
}

/// The requested size as the product of two numbers, if that does not wrap around.
fn product(n: Term, m: Term) -> Option<Asked> {
    let (n, m) = if n.low == n.high { (m, n) } else { (n, m) };
    let most = n.high.saturating_mul(m.high);
    if m.low == m.high && most <= u64::MAX.into() {
        return n.sum.times(m.low).map(Asked::Sum);
    }
    let factors = [n.sum.as_variable()?, m.sum.as_variable()?];
    (most <= PRODUCT).then_some(Asked::Product(factors))
}
