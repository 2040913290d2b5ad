//! Translates instructions on memory.

use cegar_llvm::{LLVMAtomicRMWBinOp, Type, Value};

use crate::program::ir::*;
use crate::program::load::body::Body;
use crate::term::fault;

/// The rule for reads of volatile pointers.
const VOLATILE_POINTERS: &str = "volatile-pointers";

impl<'m> Body<'_, 'm> {
    pub(super) fn alloca(&mut self, value: Value<'m>) -> Result<(), String> {
        let dst = self.result(value)?;
        let each = self.layout.size(value.allocated_type());
        let count = value.operand(0);
        let mut room = None;
        let size = match (count.const_int(), self.scalar(count)?) {
            (Some(n), _) => Operand::Const(n.saturating_mul(each)),
            (None, n) => {
                let n = self.widened(n, self.width(count.ty()));
                room = Some(Box::new(Room {
                    count: n,
                    most: fault::STACK / each.max(1),
                    check: self.check(CheckKind::ArrayBound, String::new()),
                }));
                if each == 1 {
                    n
                } else {
                    let dst = self.temporary(64);
                    let b = Operand::Const(each);
                    self.emit(Op::Bin {
                        dst,
                        op: BinOp::Mul,
                        width: 64,
                        a: n,
                        b,
                        check: None,
                    });
                    Operand::Reg(dst)
                }
            }
        };
        let variable = self.loader.variables.of(value).first().cloned();
        self.emit(Op::Alloca {
            dst,
            size,
            align: value.align(),
            name: variable
                .as_ref()
                .map_or_else(String::new, |v| v.name.clone()),
            shape: variable.and_then(|v| v.shape),
            room,
        });
        Ok(())
    }

    pub(super) fn load(&mut self, value: Value<'m>) -> Result<(), String> {
        byte_sized(self, value.ty())?;
        let (first, _) = self.place(value)?;
        let leaves = self.loader.types.leaves(value.ty())?;
        let pointer = value.operand(0);
        let base = self.scalar(pointer)?;
        let check = self.access(CheckKind::Read, pointer, self.layout.store_size(value.ty()));
        // A device does not write pointers, unless the user says so.
        let keeps =
            value.ty().is_pointer() && !self.loader.program.lifted.contains(VOLATILE_POINTERS);
        let volatile = value.is_volatile() && !keeps;
        for (i, leaf) in leaves.iter().enumerate() {
            let address = self.displaced(base, leaf.offset);
            let dst = Reg(first.0 + i as u32);
            self.emit(Op::Load {
                dst,
                width: leaf.width,
                address,
                volatile,
                check,
            });
        }
        Ok(())
    }

    pub(super) fn store(&mut self, value: Value<'m>) -> Result<(), String> {
        let (stored, pointer) = (value.operand(0), value.operand(1));
        byte_sized(self, stored.ty())?;
        let leaves = self.loader.types.leaves(stored.ty())?;
        let operands = self.operands(stored)?;
        let base = self.scalar(pointer)?;
        let check = self.access(
            CheckKind::Write,
            pointer,
            self.layout.store_size(stored.ty()),
        );
        let volatile = value.is_volatile();
        for (value, leaf) in operands.into_iter().zip(leaves.iter()) {
            let address = self.displaced(base, leaf.offset);
            self.emit(Op::Store {
                value,
                width: leaf.width,
                address,
                volatile,
                check,
            });
        }
        Ok(())
    }

    pub(super) fn address(&mut self, value: Value<'m>) -> Result<(), String> {
        if value.ty().is_vector() {
            return Err("vector of addresses".to_owned());
        }
        let dst = self.result(value)?;
        let base = self.scalar(value.operand(0))?;
        let (offset, parts) = value.gep_parts(self.layout).ok_or("getelementptr")?;
        let mut indices = Vec::with_capacity(parts.len());
        for (index, scale) in parts {
            indices.push((self.scalar(index)?, self.width(index.ty()), scale));
        }
        let inbounds = value.is_inbounds();
        self.emit(Op::Address {
            dst,
            base,
            offset,
            indices: indices.into(),
            inbounds,
        });
        Ok(())
    }

    pub(super) fn atomic(&mut self, value: Value<'m>) -> Result<(), String> {
        use LLVMAtomicRMWBinOp::*;
        let mut nand = false;
        let op = match value.atomic_operation() {
            LLVMAtomicRMWBinOpXchg => None,
            LLVMAtomicRMWBinOpAdd => Some(BinOp::Add),
            LLVMAtomicRMWBinOpSub => Some(BinOp::Sub),
            LLVMAtomicRMWBinOpAnd => Some(BinOp::And),
            LLVMAtomicRMWBinOpNand => {
                nand = true;
                Some(BinOp::And)
            }
            LLVMAtomicRMWBinOpOr => Some(BinOp::Or),
            LLVMAtomicRMWBinOpXor => Some(BinOp::Xor),
            LLVMAtomicRMWBinOpMax => Some(BinOp::SMax),
            LLVMAtomicRMWBinOpMin => Some(BinOp::SMin),
            LLVMAtomicRMWBinOpUMax => Some(BinOp::UMax),
            LLVMAtomicRMWBinOpUMin => Some(BinOp::UMin),
            other => return Err(format!("atomicrmw {other:?}")),
        };
        let (pointer, operand) = (value.operand(0), value.operand(1));
        let (dst, address, b) = (
            self.result(value)?,
            self.scalar(pointer)?,
            self.scalar(operand)?,
        );
        let width = self.width(operand.ty());
        let check = self.access(
            CheckKind::Write,
            pointer,
            self.layout.store_size(operand.ty()),
        );
        self.emit(Op::AtomicRmw {
            dst,
            op,
            nand,
            width,
            address,
            b,
            check,
        });
        Ok(())
    }

    pub(super) fn compare_exchange(&mut self, value: Value<'m>) -> Result<(), String> {
        let (first, _) = self.place(value)?;
        let pointer = value.operand(0);
        let address = self.scalar(pointer)?;
        let (expected, new) = (
            self.scalar(value.operand(1))?,
            self.scalar(value.operand(2))?,
        );
        let width = self.width(value.operand(1).ty());
        let size = self.layout.store_size(value.operand(1).ty());
        let check = self.access(CheckKind::Write, pointer, size);
        let success = Reg(first.0 + 1);
        self.emit(Op::CmpXchg {
            dst: first,
            success,
            width,
            address,
            expected,
            new,
            check,
        });
        Ok(())
    }
}

/// Rejects vectors whose elements are not whole bytes: they are packed in memory, which leaves
/// cannot express.
fn byte_sized<'m>(body: &Body<'_, 'm>, ty: Type<'m>) -> Result<(), String> {
    if ty.is_vector() && !body.layout.bits(ty.element()).is_multiple_of(8) {
        return Err(format!("access to {}", ty.text()));
    }
    Ok(())
}
