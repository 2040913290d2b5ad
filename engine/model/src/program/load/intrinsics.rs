//! Translates LLVM's intrinsics.

use cegar_llvm::Value;

use super::body::Body;
use super::instructions::float_kind;
use super::names;
use crate::program::ir::*;

/// The number that LLVM gives to C's calling convention.
const C_CONVENTION: u32 = 0;

impl<'m> Body<'_, 'm> {
    pub(super) fn llvm_intrinsic(&mut self, value: Value<'m>, name: &str) -> Result<(), String> {
        let full = name;
        let name = name.strip_prefix("llvm.").unwrap_or(name);
        let base = name.split('.').next().unwrap_or(name);
        match base {
            "dbg" | "assume" | "donothing" | "prefetch" | "var" | "pseudoprobe" | "sideeffect" => {
                Ok(())
            }
            "lifetime" => {
                let address = self.scalar(value.operand(1))?;
                self.emit(Op::Lifetime {
                    start: name.starts_with("lifetime.start"),
                    address,
                });
                Ok(())
            }
            "experimental" if name.starts_with("experimental.noalias.scope") => Ok(()),
            "memcpy" | "memmove" if !name.contains("element") => {
                self.copy(value, base == "memmove")
            }
            "memset" if !name.contains("element") => self.set(value),
            "trap" => self.trap(CheckKind::Abort, "__builtin_trap"),
            "ubsantrap" => {
                let (kind, text) =
                    names::sanitizer(value.operand(0).const_int().unwrap_or(u64::MAX));
                self.trap(kind, text)
            }
            "sadd" | "uadd" | "ssub" | "usub" | "smul" | "umul" => {
                self.arithmetic(value, base, name)
            }
            "smax" | "smin" | "umax" | "umin" => {
                let op = match base {
                    "smax" => BinOp::SMax,
                    "smin" => BinOp::SMin,
                    "umax" => BinOp::UMax,
                    "umin" => BinOp::UMin,
                    _ => return Err(format!("llvm.{name}")),
                };
                self.binary_lanes(value, op)
            }
            "abs" => self.unary_lanes(value, UnOp::Abs),
            "ctpop" => self.unary_lanes(value, UnOp::CtPop),
            "ctlz" | "cttz" => {
                let op = if base == "ctlz" {
                    UnOp::CtLz
                } else {
                    UnOp::CtTz
                };
                let partial = value.operand(1).const_int() == Some(1);
                self.unary_operation(value, op, partial)
            }
            "bswap" => self.unary_lanes(value, UnOp::BSwap),
            "bitreverse" => self.unary_lanes(value, UnOp::BitReverse),
            "fshl" | "fshr" => {
                let left = base == "fshl";
                let width = self.lane_width(value.ty());
                self.lanes(value, &[0, 1, 2], |dst, a| Op::Funnel {
                    dst,
                    left,
                    width,
                    a: a[0],
                    b: a[1],
                    by: a[2],
                })
            }
            "expect" | "ssa" | "launder" | "strip" | "annotation" | "ptr" => {
                self.lanes(value, &[0], |dst, a| Op::Copy { dst, a: a[0] })
            }
            "threadlocal" => self.lanes(value, &[0], |dst, a| Op::Copy { dst, a: a[0] }),
            "is" if name.starts_with("is.constant") => self.answer(value, 0),
            "is" if name.starts_with("is.fpclass") => self.float_class(value),
            "objectsize" => {
                let least = value.operand(1).const_int() == Some(1);
                let unknown = u64::MAX >> (64 - self.width(value.ty()).min(64));
                self.answer(value, if least { 0 } else { unknown })
            }
            "va_start" => {
                if value.parent_function().convention() != Some(C_CONVENTION) {
                    return Err("variable arguments of another calling convention".to_owned());
                }
                let list = self.scalar(value.operand(0))?;
                let check = self.access(CheckKind::Write, value.operand(0), 24);
                self.emit(Op::VaStart { list, check });
                Ok(())
            }
            "va_end" => Ok(()),
            "va_copy" => {
                let (to, from) = (
                    self.scalar(value.operand(0))?,
                    self.scalar(value.operand(1))?,
                );
                let check = self.access(CheckKind::Write, value.operand(0), 24);
                self.emit(Op::VaCopy { to, from, check });
                Ok(())
            }
            // Clears the low bits of an address, all of them bits of its offset; `va_arg` aligns
            // addresses this way.
            "ptrmask" => self.binary_lanes(value, BinOp::And),
            "stacksave" => {
                let dst = self.result(value)?;
                self.emit(Op::StackSave { dst });
                Ok(())
            }
            "stackrestore" => {
                let saved = self.scalar(value.operand(0))?;
                self.emit(Op::StackRestore { saved });
                Ok(())
            }
            "fmuladd" => self.multiply_add(value),
            "vector" if name.starts_with("vector.reduce.") => self.reduce(value, name),
            "x86" => self.processor_intrinsic(value, &name["x86.".len()..]),
            "minnum" => self.math(value, MathFn::Fmin),
            "maxnum" => self.math(value, MathFn::Fmax),
            "roundeven" => self.math(value, MathFn::Rint),
            _ => match names::math_double(base) {
                Some(function) => self.math(value, function),
                None => Err(full.to_owned()),
            },
        }
    }

    /// A result that depends on what the compiler knows. The native target, which is not
    /// optimised before, has `answer`.
    fn answer(&mut self, value: Value<'m>, answer: u64) -> Result<(), String> {
        let args = [(Operand::Const(answer), self.width(value.ty()))];
        self.results(value, &args, |_| ProcessorFn::Unspecified)
    }

    fn trap(&mut self, kind: CheckKind, text: &str) -> Result<(), String> {
        let check = self.check(kind, text.to_owned());
        self.ended = Some(Terminator::Unreachable { check: Some(check) });
        Ok(())
    }

    fn copy(&mut self, value: Value<'m>, overlap: bool) -> Result<(), String> {
        let (to, from) = (
            self.scalar(value.operand(0))?,
            self.scalar(value.operand(1))?,
        );
        let size = value.operand(2);
        let known = size.const_int().unwrap_or(u64::MAX);
        let len = self.scalar(size)?;
        let len = self.widened(len, self.width(size.ty()));
        let read = self.access(CheckKind::Read, value.operand(1), known);
        let write = self.access(CheckKind::Write, value.operand(0), known);
        self.emit(Op::MemCopy {
            to,
            from,
            len,
            overlap,
            read,
            write,
        });
        Ok(())
    }

    fn set(&mut self, value: Value<'m>) -> Result<(), String> {
        let (to, byte) = (
            self.scalar(value.operand(0))?,
            self.scalar(value.operand(1))?,
        );
        let size = value.operand(2);
        let known = size.const_int().unwrap_or(u64::MAX);
        let len = self.scalar(size)?;
        let len = self.widened(len, self.width(size.ty()));
        let check = self.access(CheckKind::Write, value.operand(0), known);
        self.emit(Op::MemSet {
            to,
            value: byte,
            len,
            check,
        });
        Ok(())
    }

    /// `llvm.sadd.with.overflow`, `llvm.sadd.sat` and similar intrinsics.
    fn arithmetic(&mut self, value: Value<'m>, base: &str, name: &str) -> Result<(), String> {
        let signed = base.starts_with('s');
        let op = match &base[1..] {
            "add" => BinOp::Add,
            "sub" => BinOp::Sub,
            "mul" => BinOp::Mul,
            _ => return Err(format!("llvm.{name}")),
        };
        if name.contains(".sat.") {
            return match (signed, op) {
                (true, BinOp::Add) => self.binary_lanes(value, BinOp::SAddSat),
                (true, BinOp::Sub) => self.binary_lanes(value, BinOp::SSubSat),
                (false, BinOp::Add) => self.binary_lanes(value, BinOp::UAddSat),
                (false, BinOp::Sub) => self.binary_lanes(value, BinOp::USubSat),
                _ => Err(format!("llvm.{name}")),
            };
        }
        if !name.contains(".with.overflow.") || value.operand(0).ty().is_vector() {
            return Err(format!("llvm.{name}"));
        }
        let (first, _) = self.place(value)?;
        let width = self.width(value.operand(0).ty());
        let (a, b) = (
            self.scalar(value.operand(0))?,
            self.scalar(value.operand(1))?,
        );
        let overflow = Reg(first.0 + 1);
        self.emit(Op::Overflow {
            value: first,
            overflow,
            op,
            signed,
            width,
            a,
            b,
        });
        Ok(())
    }

    fn binary_lanes(&mut self, value: Value<'m>, op: BinOp) -> Result<(), String> {
        let width = self.lane_width(value.ty());
        self.lanes(value, &[0, 1], |dst, a| Op::Bin {
            dst,
            op,
            width,
            a: a[0],
            b: a[1],
            check: None,
        })
    }

    fn unary_lanes(&mut self, value: Value<'m>, op: UnOp) -> Result<(), String> {
        self.unary_operation(value, op, false)
    }

    fn unary_operation(&mut self, value: Value<'m>, op: UnOp, partial: bool) -> Result<(), String> {
        let width = self.lane_width(value.ty());
        self.lanes(value, &[0], |dst, a| Op::Un {
            dst,
            op,
            width,
            a: a[0],
            partial,
        })
    }

    fn math(&mut self, value: Value<'m>, function: MathFn) -> Result<(), String> {
        let kind = float_kind(value.operand(0).ty())?;
        let operands: Vec<u32> = (0..value.arguments().len() as u32).collect();
        self.lanes(value, &operands, |dst, a| Op::FloatFn {
            dst,
            function,
            kind,
            args: a.into(),
        })
    }

    /// `a * b + c`. x86-64 computes it in two steps, or in one step if the function may use FMA.
    fn multiply_add(&mut self, value: Value<'m>) -> Result<(), String> {
        let features = value.parent_function().string_attribute("target-features");
        let has_fma = |features: &str| {
            features
                .split(',')
                .any(|one| matches!(one, "+fma" | "+fma4"))
        };
        if features.as_deref().is_some_and(has_fma) {
            return self.math(value, MathFn::Fma);
        }
        let kind = float_kind(value.ty())?;
        let (first, n) = self.place(value)?;
        let (a, b) = (
            self.operands(value.operand(0))?,
            self.operands(value.operand(1))?,
        );
        let c = self.operands(value.operand(2))?;
        for i in 0..n as usize {
            let product = self.temporary(kind.width());
            self.emit(Op::Float {
                dst: product,
                op: FloatOp::Mul,
                kind,
                a: a[i],
                b: b[i],
            });
            let dst = Reg(first.0 + i as u32);
            self.emit(Op::Float {
                dst,
                op: FloatOp::Add,
                kind,
                a: Operand::Reg(product),
                b: c[i],
            });
        }
        Ok(())
    }

    fn reduce(&mut self, value: Value<'m>, name: &str) -> Result<(), String> {
        let op = match name.split('.').nth(2) {
            Some("add") => BinOp::Add,
            Some("mul") => BinOp::Mul,
            Some("and") => BinOp::And,
            Some("or") => BinOp::Or,
            Some("xor") => BinOp::Xor,
            Some("smax") => BinOp::SMax,
            Some("smin") => BinOp::SMin,
            Some("umax") => BinOp::UMax,
            Some("umin") => BinOp::UMin,
            _ => return Err(format!("llvm.{name}")),
        };
        let dst = self.result(value)?;
        let width = self.width(value.ty());
        let lanes = self.operands(value.operand(0))?;
        let mut total = lanes[0];
        for b in &lanes[1..] {
            let next = self.temporary(width);
            self.emit(Op::Bin {
                dst: next,
                op,
                width,
                a: total,
                b: *b,
                check: None,
            });
            total = Operand::Reg(next);
        }
        self.emit(Op::Copy { dst, a: total });
        Ok(())
    }

    /// `llvm.is.fpclass` on singles and doubles, by comparing bit patterns.
    fn float_class(&mut self, value: Value<'m>) -> Result<(), String> {
        let kind = float_kind(value.operand(0).ty())?;
        let (width, mantissa) = match kind {
            FloatKind::F32 => (32, 23),
            FloatKind::F64 => (64, 52),
            _ => return Err("llvm.is.fpclass".to_owned()),
        };
        if value.ty().is_vector() {
            return Err("llvm.is.fpclass".to_owned());
        }
        let wanted = value.operand(1).const_int().unwrap_or(0);
        let sign = 1u64 << (width - 1);
        let least_normal = 1u64 << mantissa;
        let infinity = (sign - 1) & !(least_normal - 1);
        let quiet = infinity | (least_normal >> 1);
        // The classes of positive values: the bit in the mask, and the inclusive range of bit
        // patterns.
        let positive = [
            (6, 0, 0),
            (7, 1, least_normal - 1),
            (8, least_normal, infinity - 1),
            (9, infinity, infinity),
            (0, infinity + 1, quiet - 1),
            (1, quiet, sign - 1),
        ];
        let negative_bit = [5, 4, 3, 2, 0, 1];
        let dst = self.result(value)?;
        let a = self.scalar(value.operand(0))?;
        let mut any = Operand::Const(0);
        for (range, negative) in positive.into_iter().zip(negative_bit) {
            for (bit, low, high) in [range, (negative, range.1 | sign, range.2 | sign)] {
                if wanted & (1 << bit) == 0 {
                    continue;
                }
                let (distance, inside, next) =
                    (self.temporary(width), self.temporary(1), self.temporary(1));
                let b = Operand::Const(low);
                self.emit(Op::Bin {
                    dst: distance,
                    op: BinOp::Sub,
                    width,
                    a,
                    b,
                    check: None,
                });
                let (x, y) = (Operand::Reg(distance), Operand::Const(high - low));
                self.emit(Op::Cmp {
                    dst: inside,
                    pred: Pred::Ule,
                    width,
                    a: x,
                    b: y,
                });
                let b = Operand::Reg(inside);
                self.emit(Op::Bin {
                    dst: next,
                    op: BinOp::Or,
                    width: 1,
                    a: any,
                    b,
                    check: None,
                });
                any = Operand::Reg(next);
            }
        }
        self.emit(Op::Copy { dst, a: any });
        Ok(())
    }
}
