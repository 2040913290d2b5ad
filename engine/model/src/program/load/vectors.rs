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
        // An index beyond the last lane gives an undefined value.
        let mut chosen = Operand::Undef;
        for (i, lane) in lanes.iter().enumerate() {
            let cond = self.is_index(at, index_width, i);
            chosen = self.choice(width, cond, *lane, chosen);
        }
        self.emit(Op::Copy { dst, a: chosen });
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
        // An index beyond the last lane makes all lanes undefined.
        let count = Operand::Const(lanes.len() as u64);
        let is_inside = match known {
            Some(_) => Operand::Const(1),
            None => self.cmp(Pred::Ult, index_width, at, count),
        };
        for (i, lane) in lanes.into_iter().enumerate() {
            let dst = Reg(first.0 + i as u32);
            match known {
                Some(k) if k == i as u64 => self.emit(Op::Copy { dst, a: inserted }),
                Some(_) => self.emit(Op::Copy { dst, a: lane }),
                None => {
                    let cond = self.is_index(at, index_width, i);
                    let a = self.choice(width, cond, inserted, lane);
                    self.emit(Op::Select {
                        dst,
                        width,
                        cond: is_inside,
                        a,
                        b: Operand::Undef,
                    });
                }
            }
        }
        Ok(())
    }

    fn is_index(&mut self, at: Operand, width: Width, index: usize) -> Operand {
        self.cmp(Pred::Eq, width, at, Operand::Const(index as u64))
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
                        let by = Operand::Const(u64::from(i * to));
                        part = self.bin(BinOp::LShr, from, lane, by);
                    }
                    parts.push(self.cast(CastKind::Trunc, (from, to), part));
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
            let wide = self.cast(CastKind::ZExt, (from, to), *a);
            if i == 0 {
                whole = wide;
                continue;
            }
            let by = Operand::Const(i as u64 * u64::from(from));
            let shifted = self.bin(BinOp::Shl, to, wide, by);
            whole = self.bin(BinOp::Or, to, whole, shifted);
        }
        whole
    }
}
