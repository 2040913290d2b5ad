//! How large a block is that a request gives, as lines and products say: what was asked for.

use super::define::PRODUCT;
use super::relate::Term;
use super::{Frame, Guide, Walker};
use crate::domain::linear::{Sum, Var};
use crate::domain::space::ObjId;
use crate::domain::state::State;
use crate::domain::value::Value;
use crate::program::ir::{Call, HeapFn, Op, Operand};
use crate::term::fault::ONE_ALLOCATION;

/// What a request asks for.
pub(super) enum Asked {
    /// So many bytes.
    Sum(Sum),
    /// As many as two variables multiplied.
    Product([Var; 2]),
}

impl<G: Guide> Walker<'_, G> {
    /// What is asked for where something is given: a request that is refused asks for more than
    /// there can be instead.
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

    /// The block that a request may give, and what it was asked to be of. Where nothing is given
    /// this is what would have been.
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
        self.names.info(*id).single.then_some((*id, size))
    }
}

/// What is asked for as two numbers, whose product does not wrap around.
fn product(n: Term, m: Term) -> Option<Asked> {
    let (n, m) = if n.low == n.high { (m, n) } else { (n, m) };
    let most = n.high.saturating_mul(m.high);
    if m.low == m.high && most <= u64::MAX.into() {
        return n.sum.times(m.low).map(Asked::Sum);
    }
    let factors = [n.sum.single()?, m.sum.single()?];
    (most <= PRODUCT).then_some(Asked::Product(factors))
}
