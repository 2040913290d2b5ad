//! Vectors as runs of scalar registers, and bit casts between runs of different widths.

use cegar_llvm::Value;

use super::body::{Body, Operands};
use crate::program::ir::*;

impl<'m> Body<'_, 'm> {
    pub(super) fn extract_element(&mut self, value: Value<'m>) -> Result<(), String> {
        let dst = self.result(value)?;
        let lanes = self.operands(value.operand(0))?;
        let index = value.operand(1);
        if let Some(i) = index.const_int() {
            let a = lanes.get(i as usize).copied().unwrap_or(Operand::Undef);
            self.emit(Op::Copy { dst, a });
            return Ok(());
        }
        let width = self.width(value.ty());
        let at = self.scalar(index)?;
        let index_width = self.width(index.ty());
        let mut chosen = lanes[0];
        for (i, lane) in lanes.iter().enumerate().skip(1) {
            let cond = self.is_index(at, index_width, i);
            let next = if i + 1 == lanes.len() {
                dst
            } else {
                self.temporary(width)
            };
            self.emit(Op::Select {
                dst: next,
                width,
                cond,
                a: *lane,
                b: chosen,
            });
            chosen = Operand::Reg(next);
        }
        if lanes.len() == 1 {
            self.emit(Op::Copy { dst, a: chosen });
        }
        Ok(())
    }

    pub(super) fn insert_element(&mut self, value: Value<'m>) -> Result<(), String> {
        let (first, _) = self.place(value)?;
        let lanes = self.operands(value.operand(0))?;
        let inserted = self.scalar(value.operand(1))?;
        let index = value.operand(2);
        let width = self.lane_width(value.ty());
        let known = index.const_int();
        let at = self.scalar(index)?;
        let index_width = self.width(index.ty());
        for (i, lane) in lanes.into_iter().enumerate() {
            let dst = Reg(first.0 + i as u32);
            match known {
                Some(k) if k == i as u64 => self.emit(Op::Copy { dst, a: inserted }),
                Some(_) => self.emit(Op::Copy { dst, a: lane }),
                None => {
                    let cond = self.is_index(at, index_width, i);
                    self.emit(Op::Select {
                        dst,
                        width,
                        cond,
                        a: inserted,
                        b: lane,
                    });
                }
            }
        }
        Ok(())
    }

    fn is_index(&mut self, at: Operand, width: Width, index: usize) -> Operand {
        let dst = self.temporary(1);
        self.emit(Op::Cmp {
            dst,
            pred: Pred::Eq,
            width,
            a: at,
            b: Operand::Const(index as u64),
        });
        Operand::Reg(dst)
    }

    pub(super) fn shuffle(&mut self, value: Value<'m>) -> Result<(), String> {
        let (first, _) = self.place(value)?;
        let mut lanes = self.operands(value.operand(0))?;
        lanes.extend(self.operands(value.operand(1))?);
        for (i, from) in (0..).zip(value.shuffle_mask()) {
            let lane = usize::try_from(from).ok().and_then(|from| lanes.get(from));
            self.emit(Op::Copy {
                dst: Reg(first.0 + i),
                a: lane.copied().unwrap_or(Operand::Undef),
            });
        }
        Ok(())
    }

    pub(super) fn bitcast(&mut self, value: Value<'m>) -> Result<(), String> {
        let (first, n) = self.place(value)?;
        let source = value.operand(0);
        let from = self.lane_width(source.ty());
        let to = self.lane_width(value.ty());
        let lanes = self.operands(source)?;
        let cut = self.recut(lanes, from, to)?;
        if cut.len() != n as usize {
            return Err(format!("bitcast to {}", value.ty().text()));
        }
        for (i, a) in cut.into_iter().enumerate() {
            self.emit(Op::Copy {
                dst: Reg(first.0 + i as u32),
                a,
            });
        }
        Ok(())
    }

    /// The same bits in lanes of another width; lane 0 holds the lowest bits.
    pub(super) fn recut(
        &mut self,
        lanes: Operands,
        from: Width,
        to: Width,
    ) -> Result<Operands, String> {
        if from == to {
            return Ok(lanes);
        }
        if from.is_multiple_of(to) {
            let mut parts = Operands::new();
            for lane in lanes {
                for i in 0..from / to {
                    let mut part = lane;
                    if i > 0 {
                        let dst = self.temporary(from);
                        let b = Operand::Const(u64::from(i * to));
                        self.emit(Op::Bin {
                            dst,
                            op: BinOp::LShr,
                            width: from,
                            a: lane,
                            b,
                            check: None,
                        });
                        part = Operand::Reg(dst);
                    }
                    let dst = self.temporary(to);
                    self.emit(Op::Cast {
                        dst,
                        kind: CastKind::Trunc,
                        from,
                        to,
                        a: part,
                    });
                    parts.push(Operand::Reg(dst));
                }
            }
            return Ok(parts);
        }
        if to.is_multiple_of(from) {
            let group = usize::from(to / from);
            return Ok(lanes
                .chunks(group)
                .map(|parts| self.join(parts, from, to))
                .collect());
        }
        Err(format!("bitcast between lanes of {from} and {to} bits"))
    }

    /// Lanes of `from` bits as one value of `to` bits.
    pub(super) fn join(&mut self, parts: &[Operand], from: Width, to: Width) -> Operand {
        let mut whole = Operand::Const(0);
        for (i, a) in parts.iter().enumerate() {
            let wide = self.temporary(to);
            self.emit(Op::Cast {
                dst: wide,
                kind: CastKind::ZExt,
                from,
                to,
                a: *a,
            });
            if i == 0 {
                whole = Operand::Reg(wide);
                continue;
            }
            let shifted = self.temporary(to);
            let by = Operand::Const(i as u64 * u64::from(from));
            let a = Operand::Reg(wide);
            self.emit(Op::Bin {
                dst: shifted,
                op: BinOp::Shl,
                width: to,
                a,
                b: by,
                check: None,
            });
            let dst = self.temporary(to);
            let b = Operand::Reg(shifted);
            self.emit(Op::Bin {
                dst,
                op: BinOp::Or,
                width: to,
                a: whole,
                b,
                check: None,
            });
            whole = Operand::Reg(dst);
        }
        whole
    }
}
