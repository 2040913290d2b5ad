//! Instructions other than calls.

use cegar_llvm::{LLVMIntPredicate, LLVMOpcode, LLVMRealPredicate, LLVMTypeKind, Type, Value};

use super::body::Body;
use crate::program::ir::*;
use crate::term::fault;

impl<'m> Body<'_, 'm> {
    /// Translates one instruction. The error names what is not modelled.
    pub(super) fn instruction(&mut self, value: Value<'m>) -> Result<(), String> {
        use LLVMOpcode::*;
        let Some(opcode) = value.opcode() else {
            return Err("value".to_owned());
        };
        let operands = value.operands();
        let mut types = operands.iter().map(|operand| operand.ty());
        if value.ty().is_in_segment() || types.any(|ty| ty.is_in_segment()) {
            return Err("an address in a segment of its own".to_owned());
        }
        match opcode {
            LLVMPHI | LLVMFence => Ok(()),
            LLVMAdd | LLVMSub | LLVMMul | LLVMUDiv | LLVMSDiv | LLVMURem | LLVMSRem | LLVMShl
            | LLVMLShr | LLVMAShr | LLVMAnd | LLVMOr | LLVMXor => self.binary(value, opcode),
            LLVMFAdd | LLVMFSub | LLVMFMul | LLVMFDiv | LLVMFRem => {
                self.float_binary(value, opcode)
            }
            LLVMFNeg => {
                let kind = float_kind(value.ty())?;
                self.lanes(value, &[0], |dst, a| Op::FloatNeg { dst, kind, a: a[0] })
            }
            LLVMICmp => self.compare(value),
            LLVMFCmp => self.float_compare(value),
            LLVMTrunc | LLVMZExt | LLVMSExt | LLVMPtrToInt | LLVMIntToPtr | LLVMAddrSpaceCast => {
                self.integer_cast(value, opcode)
            }
            LLVMFPTrunc | LLVMFPExt | LLVMFPToSI | LLVMFPToUI | LLVMSIToFP | LLVMUIToFP => {
                self.float_cast(value, opcode)
            }
            LLVMBitCast => self.bitcast(value),
            LLVMSelect => self.select(value),
            LLVMFreeze => {
                let (first, _) = self.place(value)?;
                let leaves = self.loader.types.leaves(value.ty())?;
                let from = self.operands(value.operand(0))?;
                for (i, (a, leaf)) in from.into_iter().zip(leaves.iter()).enumerate() {
                    self.emit(Op::Freeze {
                        dst: Reg(first.0 + i as u32),
                        width: leaf.width,
                        a,
                    });
                }
                Ok(())
            }
            LLVMAlloca => self.alloca(value),
            LLVMLoad => self.load(value),
            LLVMStore => self.store(value),
            LLVMGetElementPtr => self.address(value),
            LLVMExtractValue => self.extract_value(value),
            LLVMInsertValue => self.insert_value(value),
            LLVMExtractElement => self.extract_element(value),
            LLVMInsertElement => self.insert_element(value),
            LLVMShuffleVector => self.shuffle(value),
            LLVMAtomicRMW => self.atomic(value),
            LLVMAtomicCmpXchg => self.compare_exchange(value),
            LLVMCall => self.call(value),
            LLVMVAArg => Err("va_arg instruction".to_owned()),
            _ => Err(format!("{opcode:?}")),
        }
    }

    /// Emits one operation per lane, with the operands at these positions.
    pub(super) fn lanes(
        &mut self,
        value: Value<'m>,
        operands: &[u32],
        op: impl Fn(Reg, &[Operand]) -> Op,
    ) -> Result<(), String> {
        let (first, n) = self.place(value)?;
        let mut flat = Vec::new();
        for i in operands {
            flat.push(self.operands(value.operand(*i))?);
        }
        for lane in 0..n as usize {
            let mut inputs = Vec::with_capacity(flat.len());
            for operand in &flat {
                inputs.push(*operand.get(lane).ok_or("operands of different lengths")?);
            }
            self.emit(op(Reg(first.0 + lane as u32), &inputs));
        }
        Ok(())
    }

    /// Bits of a lane of a scalar or vector type.
    pub(super) fn lane_width(&self, ty: Type<'m>) -> Width {
        self.width(lane_type(ty))
    }

    fn binary(&mut self, value: Value<'m>, opcode: LLVMOpcode) -> Result<(), String> {
        use LLVMOpcode::*;
        let op = match opcode {
            LLVMAdd => BinOp::Add,
            LLVMSub => BinOp::Sub,
            LLVMMul => BinOp::Mul,
            LLVMUDiv => BinOp::UDiv,
            LLVMSDiv => BinOp::SDiv,
            LLVMURem => BinOp::URem,
            LLVMSRem => BinOp::SRem,
            LLVMShl => BinOp::Shl,
            LLVMLShr => BinOp::LShr,
            LLVMAShr => BinOp::AShr,
            LLVMAnd => BinOp::And,
            LLVMOr => BinOp::Or,
            LLVMXor => BinOp::Xor,
            _ => return Err(format!("{opcode:?}")),
        };
        let width = self.lane_width(value.ty());
        let divides = fault::can_be(op, false) == Some(CheckKind::DivisionByZero);
        let harmless = self.operands(value.operand(1))?.iter().all(|d| {
            // Division by -1 can overflow too (the most negative value).
            let is_minus_one = |c: u64| width <= 64 && c == u64::MAX >> (64 - width);
            matches!(d, Operand::Const(c) if *c != 0 && !is_minus_one(*c))
        });
        let check = (divides && !self.division_guarded && !harmless)
            .then(|| self.check(CheckKind::DivisionByZero, String::new()));
        self.lanes(value, &[0, 1], |dst, a| Op::Bin {
            dst,
            op,
            width,
            a: a[0],
            b: a[1],
            check,
        })
    }

    fn float_binary(&mut self, value: Value<'m>, opcode: LLVMOpcode) -> Result<(), String> {
        let op = match opcode {
            LLVMOpcode::LLVMFAdd => FloatOp::Add,
            LLVMOpcode::LLVMFSub => FloatOp::Sub,
            LLVMOpcode::LLVMFMul => FloatOp::Mul,
            LLVMOpcode::LLVMFDiv => FloatOp::Div,
            LLVMOpcode::LLVMFRem => FloatOp::Rem,
            _ => return Err(format!("{opcode:?}")),
        };
        let kind = float_kind(value.ty())?;
        self.lanes(value, &[0, 1], |dst, a| Op::Float {
            dst,
            op,
            kind,
            a: a[0],
            b: a[1],
        })
    }

    fn compare(&mut self, value: Value<'m>) -> Result<(), String> {
        use LLVMIntPredicate::*;
        let pred = match value.int_predicate() {
            LLVMIntEQ => Pred::Eq,
            LLVMIntNE => Pred::Ne,
            LLVMIntULT => Pred::Ult,
            LLVMIntULE => Pred::Ule,
            LLVMIntUGT => Pred::Ugt,
            LLVMIntUGE => Pred::Uge,
            LLVMIntSLT => Pred::Slt,
            LLVMIntSLE => Pred::Sle,
            LLVMIntSGT => Pred::Sgt,
            LLVMIntSGE => Pred::Sge,
        };
        let width = self.lane_width(value.operand(0).ty());
        self.lanes(value, &[0, 1], |dst, a| Op::Cmp {
            dst,
            pred,
            width,
            a: a[0],
            b: a[1],
        })
    }

    fn float_compare(&mut self, value: Value<'m>) -> Result<(), String> {
        use LLVMRealPredicate::*;
        let pred = match value.real_predicate() {
            LLVMRealPredicateFalse => {
                return self.lanes(value, &[], |dst, _| Op::Copy {
                    dst,
                    a: Operand::Const(0),
                });
            }
            LLVMRealPredicateTrue => {
                return self.lanes(value, &[], |dst, _| Op::Copy {
                    dst,
                    a: Operand::Const(1),
                });
            }
            LLVMRealOEQ => FloatPred::OEq,
            LLVMRealOGT => FloatPred::OGt,
            LLVMRealOGE => FloatPred::OGe,
            LLVMRealOLT => FloatPred::OLt,
            LLVMRealOLE => FloatPred::OLe,
            LLVMRealONE => FloatPred::ONe,
            LLVMRealORD => FloatPred::Ord,
            LLVMRealUNO => FloatPred::Uno,
            LLVMRealUEQ => FloatPred::UEq,
            LLVMRealUGT => FloatPred::UGt,
            LLVMRealUGE => FloatPred::UGe,
            LLVMRealULT => FloatPred::ULt,
            LLVMRealULE => FloatPred::ULe,
            LLVMRealUNE => FloatPred::UNe,
        };
        let kind = float_kind(value.operand(0).ty())?;
        self.lanes(value, &[0, 1], |dst, a| Op::FloatCmp {
            dst,
            pred,
            kind,
            a: a[0],
            b: a[1],
        })
    }

    fn integer_cast(&mut self, value: Value<'m>, opcode: LLVMOpcode) -> Result<(), String> {
        let from = self.lane_width(value.operand(0).ty());
        let to = self.lane_width(value.ty());
        let kind = match opcode {
            LLVMOpcode::LLVMSExt => CastKind::SExt,
            _ if to < from => CastKind::Trunc,
            _ if to > from => CastKind::ZExt,
            _ => return self.lanes(value, &[0], |dst, a| Op::Copy { dst, a: a[0] }),
        };
        self.lanes(value, &[0], |dst, a| Op::Cast {
            dst,
            kind,
            from,
            to,
            a: a[0],
        })
    }

    fn float_cast(&mut self, value: Value<'m>, opcode: LLVMOpcode) -> Result<(), String> {
        use LLVMOpcode::*;
        let from = value.operand(0).ty();
        let to = value.ty();
        let cast = match opcode {
            LLVMFPToSI => FloatCast::ToSigned(float_kind(from)?, self.lane_width(to)),
            LLVMFPToUI => FloatCast::ToUnsigned(float_kind(from)?, self.lane_width(to)),
            LLVMSIToFP => FloatCast::FromSigned(self.lane_width(from), float_kind(to)?),
            LLVMUIToFP => FloatCast::FromUnsigned(self.lane_width(from), float_kind(to)?),
            LLVMFPTrunc | LLVMFPExt => FloatCast::Convert(float_kind(from)?, float_kind(to)?),
            _ => return Err(format!("{opcode:?}")),
        };
        self.lanes(value, &[0], |dst, a| Op::FloatCast { dst, cast, a: a[0] })
    }

    fn select(&mut self, value: Value<'m>) -> Result<(), String> {
        let (first, n) = self.place(value)?;
        let leaves = self.loader.types.leaves(value.ty())?;
        let cond = self.operands(value.operand(0))?;
        let (a, b) = (
            self.operands(value.operand(1))?,
            self.operands(value.operand(2))?,
        );
        for i in 0..n as usize {
            let cond = if cond.len() == 1 { cond[0] } else { cond[i] };
            let dst = Reg(first.0 + i as u32);
            self.emit(Op::Select {
                dst,
                width: leaves[i].width,
                cond,
                a: a[i],
                b: b[i],
            });
        }
        Ok(())
    }

    /// An integer, zero-extended or truncated to 64 bits.
    pub(super) fn widened(&mut self, a: Operand, from: Width) -> Operand {
        if from == 64 || matches!(a, Operand::Const(_)) {
            return a;
        }
        let dst = self.temporary(64);
        let kind = if from < 64 {
            CastKind::ZExt
        } else {
            CastKind::Trunc
        };
        self.emit(Op::Cast {
            dst,
            kind,
            from,
            to: 64,
            a,
        });
        Operand::Reg(dst)
    }

    /// The index of the first leaf of the indexed part of an aggregate, and the part's type.
    fn part(&mut self, aggregate: Type<'m>, indices: &[u32]) -> Result<(u32, Type<'m>), String> {
        let (mut ty, mut at) = (aggregate, 0);
        for index in indices {
            if ty.is_struct() {
                let fields = ty.fields();
                for field in fields.iter().take(*index as usize) {
                    at += self.loader.types.count(*field)?;
                }
                ty = *fields.get(*index as usize).ok_or("index of an aggregate")?;
            } else {
                ty = ty.element();
                at += index * self.loader.types.count(ty)?;
            }
        }
        Ok((at, ty))
    }

    fn extract_value(&mut self, value: Value<'m>) -> Result<(), String> {
        let (first, n) = self.place(value)?;
        let aggregate = value.operand(0);
        let (at, _) = self.part(aggregate.ty(), &value.indices())?;
        let from = self.operands(aggregate)?;
        for i in 0..n {
            self.emit(Op::Copy {
                dst: Reg(first.0 + i),
                a: from[(at + i) as usize],
            });
        }
        Ok(())
    }

    fn insert_value(&mut self, value: Value<'m>) -> Result<(), String> {
        let (first, _) = self.place(value)?;
        let (at, part) = self.part(value.ty(), &value.indices())?;
        let n = self.loader.types.count(part)?;
        let mut whole = self.operands(value.operand(0))?;
        let inserted = self.operands(value.operand(1))?;
        whole[at as usize..(at + n) as usize].copy_from_slice(&inserted);
        for (i, a) in whole.into_iter().enumerate() {
            self.emit(Op::Copy {
                dst: Reg(first.0 + i as u32),
                a,
            });
        }
        Ok(())
    }
}

/// A vector's element, or the type itself.
pub(super) fn lane_type(ty: Type<'_>) -> Type<'_> {
    if ty.is_vector() { ty.element() } else { ty }
}

/// The floating-point format of a scalar or of a vector's lanes.
pub(super) fn float_kind(ty: Type<'_>) -> Result<FloatKind, String> {
    Ok(match lane_type(ty).kind() {
        LLVMTypeKind::LLVMHalfTypeKind => FloatKind::F16,
        LLVMTypeKind::LLVMFloatTypeKind => FloatKind::F32,
        LLVMTypeKind::LLVMDoubleTypeKind => FloatKind::F64,
        LLVMTypeKind::LLVMX86_FP80TypeKind => FloatKind::F80,
        LLVMTypeKind::LLVMFP128TypeKind => FloatKind::F128,
        _ => return Err(format!("arithmetic on {}", ty.text())),
    })
}
