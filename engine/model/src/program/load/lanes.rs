//! Operations on temporaries, for constructs that take several operations each.

use cegar_llvm::Value;

use super::body::{Body, Operands};
use crate::program::ir::*;

impl<'m> Body<'_, 'm> {
    /// `a op b` in a new register.
    pub(super) fn bin(&mut self, op: BinOp, width: Width, a: Operand, b: Operand) -> Operand {
        let dst = self.temporary(width);
        let check = None;
        self.emit(Op::Bin {
            dst,
            op,
            width,
            a,
            b,
            check,
        });
        Operand::Reg(dst)
    }

    /// A comparison, as one bit in a new register.
    pub(super) fn cmp(&mut self, pred: Pred, width: Width, a: Operand, b: Operand) -> Operand {
        let dst = self.temporary(1);
        self.emit(Op::Cmp {
            dst,
            pred,
            width,
            a,
            b,
        });
        Operand::Reg(dst)
    }

    /// A value of another width in a new register.
    pub(super) fn cast(
        &mut self,
        kind: CastKind,
        (from, to): (Width, Width),
        a: Operand,
    ) -> Operand {
        let dst = self.temporary(to);
        self.emit(Op::Cast {
            dst,
            kind,
            from,
            to,
            a,
        });
        Operand::Reg(dst)
    }

    /// `a` if `cond`, else `b`, in a new register.
    pub(super) fn choice(
        &mut self,
        width: Width,
        cond: Operand,
        a: Operand,
        b: Operand,
    ) -> Operand {
        let dst = self.temporary(width);
        self.emit(Op::Select {
            dst,
            width,
            cond,
            a,
            b,
        });
        Operand::Reg(dst)
    }

    /// `a op b` on floats, in a new register.
    pub(super) fn float(
        &mut self,
        op: FloatOp,
        kind: FloatKind,
        a: Operand,
        b: Operand,
    ) -> Operand {
        let dst = self.temporary(kind.width());
        self.emit(Op::Float {
            dst,
            op,
            kind,
            a,
            b,
        });
        Operand::Reg(dst)
    }

    /// A comparison of floats, as one bit in a new register.
    pub(super) fn float_cmp(
        &mut self,
        pred: FloatPred,
        kind: FloatKind,
        a: Operand,
        b: Operand,
    ) -> Operand {
        let dst = self.temporary(1);
        self.emit(Op::FloatCmp {
            dst,
            pred,
            kind,
            a,
            b,
        });
        Operand::Reg(dst)
    }

    /// Makes these the lanes of the result of an instruction.
    pub(super) fn give(&mut self, value: Value<'m>, lanes: Operands) -> Result<(), String> {
        let (first, n) = self.place(value)?;
        if lanes.len() != n as usize {
            return Err(format!("{} lanes for {}", lanes.len(), value.ty().text()));
        }
        for (i, a) in lanes.into_iter().enumerate() {
            let dst = Reg(first.0 + i as u32);
            self.emit(Op::Copy { dst, a });
        }
        Ok(())
    }
}
