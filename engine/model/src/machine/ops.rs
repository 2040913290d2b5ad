//! Operations: arithmetic, comparisons, conversions, and the way to everything else.

use super::memory::Site;
use super::outcome::{Event, Outcome};
use super::shadow::Shade;
use super::step::{Next, Run, Step};
use crate::program::ir::{
    BinOp, CastKind, CheckId, CheckKind, Inst, Loc, Op, Operand, Pred, Reg, Room, Width,
};
use crate::term::fault::{self, Concrete};
use crate::term::{float, value};

/// `a op b` where it is one machine instruction and the width at most 64; the rest is [`value::bin`].
#[inline(always)]
fn quick_bin(op: BinOp, width: Width, a: u128, b: u128) -> u128 {
    if width <= 64 {
        let (x, y) = (a as u64, b as u64);
        let ones = u64::MAX >> (64 - u32::from(width.max(1)));
        let quick = match op {
            BinOp::Add => x.wrapping_add(y),
            BinOp::Sub => x.wrapping_sub(y),
            BinOp::Mul => x.wrapping_mul(y),
            BinOp::And => x & y,
            BinOp::Or => x | y,
            BinOp::Xor => x ^ y,
            BinOp::Shl if y < u64::from(width) => x << y,
            BinOp::LShr if y < u64::from(width) => x >> y,
            _ => return value::bin(op, width, a, b),
        };
        return u128::from(quick & ones);
    }
    value::bin(op, width, a, b)
}

/// The bits of its second operand that x86 looks at, for a shift that nobody checks.
#[inline(always)]
fn shift_mask(op: BinOp, width: Width, checked: bool) -> Option<u128> {
    let shift = matches!(op, BinOp::Shl | BinOp::LShr | BinOp::AShr);
    (shift && !checked).then_some(match width {
        0..=32 => 31,
        33..=64 => 63,
        _ => 127,
    })
}

#[inline(always)]
fn quick_cmp(pred: Pred, width: Width, a: u128, b: u128) -> bool {
    if width <= 64 && width > 0 {
        let (x, y) = (a as u64, b as u64);
        let unused = 64 - u32::from(width);
        let (s, t) = ((x << unused) as i64, (y << unused) as i64);
        return match pred {
            Pred::Eq => x == y,
            Pred::Ne => x != y,
            Pred::Ult => x < y,
            Pred::Ule => x <= y,
            Pred::Ugt => x > y,
            Pred::Uge => x >= y,
            Pred::Slt => s < t,
            Pred::Sle => s <= t,
            Pred::Sgt => s > t,
            Pred::Sge => s >= t,
        };
    }
    value::cmp(pred, width, a, b)
}

impl<const TRACK: bool> Run<'_, TRACK> {
    /// Executes operation number `index` of the current block.
    #[inline]
    pub(super) fn operation(&mut self, inst: &Inst, index: usize) -> Step<Next> {
        self.pos = inst.pos;
        match &inst.op {
            Op::Bin {
                dst,
                op,
                width,
                a,
                b,
                check,
            } => {
                let (x, y) = (self.get(*a, *width), self.get(*b, *width));
                if let Some(kind) = fault::can_be(*op, check.is_some()) {
                    self.check_bin((*op, *width), (*a, x), (*b, y), (*check, kind))?;
                }
                if let Some(mask) = shift_mask(*op, *width, check.is_some()) {
                    let v = quick_bin(*op, *width, x, y & mask);
                    self.derive(*dst, v, &[(*a, *width), (*b, *width)], |p, t| {
                        let mask = p.constant(*width, mask);
                        let by = p.bin(BinOp::And, t[1], mask);
                        p.bin(*op, t[0], by)
                    });
                    return Ok(Next::Go);
                }
                let v = quick_bin(*op, *width, x, y);
                self.derive(*dst, v, &[(*a, *width), (*b, *width)], |p, t| {
                    p.bin(*op, t[0], t[1])
                });
            }
            Op::Cmp {
                dst,
                pred,
                width,
                a,
                b,
            } => {
                let v = quick_cmp(*pred, *width, self.get(*a, *width), self.get(*b, *width));
                if TRACK && self.asks_sign(*pred, *a, *b) {
                    self.set(*dst, u128::from(v));
                    return Ok(Next::Go);
                }
                let from = [(*a, *width), (*b, *width)];
                self.derive(*dst, u128::from(v), &from, |p, t| p.cmp(*pred, t[0], t[1]));
            }
            Op::Cast {
                dst,
                kind,
                from,
                to,
                a,
            } => {
                let v = value::cast(*kind, *from, *to, self.get(*a, *from));
                self.derive(*dst, v, &[(*a, *from)], |p, t| p.cast(*kind, t[0], *to));
            }
            Op::Load {
                dst,
                width,
                address,
                check,
                ..
            } => {
                let (v, shade) = self.load(*address, *width, Some(*check))?;
                self.set_shaded(*dst, v, shade);
            }
            Op::Store {
                value,
                width,
                address,
                check,
                ..
            } => {
                let (v, shade) = (self.get(*value, *width), self.shade(*value));
                self.store(*address, *width, v, shade, Some(*check))?;
            }
            Op::Address {
                dst,
                base,
                offset,
                indices,
                ..
            } => {
                self.address(*dst, *base, *offset, indices);
            }
            Op::Copy { dst, a } => {
                let (v, shade) = self.moved(*a, *dst);
                self.set_shaded(*dst, v, shade);
            }
            Op::Select {
                dst,
                width,
                cond,
                a,
                b,
            } => self.select(*dst, *width, *cond, *a, *b),
            Op::Call(call) => return self.call(call, index),
            Op::Un { .. }
            | Op::Funnel { .. }
            | Op::Overflow { .. }
            | Op::Float { .. }
            | Op::FloatNeg { .. }
            | Op::FloatCmp { .. }
            | Op::FloatCast { .. }
            | Op::FloatFn { .. }
            | Op::Freeze { .. }
            | Op::Alloca { .. }
            | Op::MemCopy { .. }
            | Op::MemSet { .. }
            | Op::Lifetime { .. }
            | Op::Uninit { .. }
            | Op::VaStart { .. }
            | Op::VaCopy { .. }
            | Op::StackSave { .. }
            | Op::StackRestore { .. }
            | Op::AtomicRmw { .. }
            | Op::CmpXchg { .. }
            | Op::Unmodelled { .. } => return self.rare(inst, index),
        }
        Ok(Next::Go)
    }

    /// The operations that are not worth a place in the hot function.
    fn rare(&mut self, inst: &Inst, index: usize) -> Step<Next> {
        match &inst.op {
            Op::Un {
                dst, op, width, a, ..
            } => {
                let v = value::un(*op, *width, self.get(*a, *width));
                self.derive(*dst, v, &[(*a, *width)], |p, t| p.un(*op, t[0]));
            }
            Op::Funnel {
                dst,
                left,
                width,
                a,
                b,
                by,
            } => {
                let [x, y, z] = [*a, *b, *by].map(|o| self.get(o, *width));
                let from = [(*a, *width), (*b, *width), (*by, *width)];
                let v = value::funnel(*left, *width, x, y, z);
                self.derive(*dst, v, &from, |p, t| p.funnel(*left, t[0], t[1], t[2]));
            }
            Op::Overflow {
                value: dst,
                overflow,
                op,
                signed,
                width,
                a,
                b,
            } => {
                let (x, y) = (self.get(*a, *width), self.get(*b, *width));
                let from = [(*a, *width), (*b, *width)];
                // Both shadows first: the destination may be one of the operands.
                let sum = self.shade_of(&from, |p, t| p.bin(*op, t[0], t[1]));
                let flag = self.shade_of(&from, |p, t| p.overflow(*op, *signed, t[0], t[1]));
                self.set_shaded(*dst, value::bin(*op, *width, x, y), sum);
                let v = value::overflow(*op, *signed, *width, x, y);
                self.set_shaded(*overflow, u128::from(v), flag);
            }
            Op::Float {
                dst,
                op,
                kind,
                a,
                b,
            } => {
                let w = kind.width();
                let v = float::bin(*op, *kind, self.get(*a, w), self.get(*b, w));
                self.derive(*dst, v, &[(*a, w), (*b, w)], |p, t| {
                    p.float_bin(*op, *kind, t[0], t[1])
                });
            }
            Op::FloatNeg { dst, kind, a } => {
                let v = float::neg(*kind, self.get(*a, kind.width()));
                self.derive(*dst, v, &[(*a, kind.width())], |p, t| {
                    p.float_neg(*kind, t[0])
                });
            }
            Op::FloatCmp {
                dst,
                pred,
                kind,
                a,
                b,
            } => {
                let w = kind.width();
                let v = float::cmp(*pred, *kind, self.get(*a, w), self.get(*b, w));
                self.derive(*dst, u128::from(v), &[(*a, w), (*b, w)], |p, t| {
                    p.float_cmp(*pred, *kind, t[0], t[1])
                });
            }
            Op::FloatCast { dst, cast, a } => {
                let w = cast.source();
                let v = float::cast(*cast, self.get(*a, w));
                self.derive(*dst, v, &[(*a, w)], |p, t| p.float_cast(*cast, t[0]));
            }
            Op::FloatFn {
                dst,
                function,
                kind,
                args,
            } => {
                self.float_function(*dst, *function, *kind, args)?;
            }
            Op::Freeze { dst, width, a } => {
                let (v, shade) = (self.get(*a, *width), self.shade(*a));
                self.set_shaded(*dst, v, shade);
            }
            Op::Alloca {
                dst, size, room, ..
            } => {
                if let Some(room) = room {
                    self.check_room(room)?;
                }
                let size = self.concretise(*size, 64) as u64;
                self.room_for(size)?;
                let at = Loc {
                    block: self.block,
                    inst: index as u32,
                };
                let address = self.memory.allocate(size, Site::Stack { at });
                self.objects.push(address);
                self.set(*dst, u128::from(address));
            }
            Op::MemCopy {
                to,
                from,
                len,
                overlap,
                read,
                write,
            } => {
                self.copy(*to, *from, *len, *read, *write, *overlap)?;
            }
            Op::MemSet {
                to,
                value,
                len,
                check,
            } => self.fill(*to, *value, *len, *check)?,
            Op::Lifetime { start, address } => {
                let address = self.get64(*address);
                if let Some(object) = self.memory.unchecked(address) {
                    object.alive = *start;
                    if *start {
                        object.forget(0, object.bytes.len());
                    }
                }
            }
            Op::Uninit { address, len } => {
                let (address, len) = (self.get64(*address), self.concretise(*len, 64) as u64);
                if self.memory.check_write(address, len).is_ok()
                    && let Some(object) = self.memory.unchecked(address)
                {
                    object.forget((address & 0xffff_ffff) as usize, len as usize);
                }
            }
            Op::VaStart { list, check } => self.va_start(*list, *check)?,
            Op::VaCopy { to, from, check } => {
                self.copy(*to, *from, Operand::Const(24), *check, *check, true)?;
            }
            Op::StackSave { dst } => self.set(*dst, self.objects.len() as u128),
            Op::StackRestore { saved } => {
                let floor = self.frames.last().map_or(0, |f| f.objects);
                let keep = (self.get64(*saved) as usize).max(floor);
                self.drop_objects(keep);
            }
            Op::AtomicRmw {
                dst,
                op,
                nand,
                width,
                address,
                b,
                check,
            } => {
                let (old, old_shade) = self.load(*address, *width, Some(*check))?;
                // The old value goes through the destination, so that the shadow is built from registers.
                let (v, operand) = (self.get(*b, *width), self.shade(*b));
                self.set_shaded(*dst, old, old_shade);
                let (new, shade) = match op {
                    Some(op) => {
                        let plain = quick_bin(*op, *width, old, v);
                        let new = if *nand {
                            !plain & value::mask(*width)
                        } else {
                            plain
                        };
                        let shade = if TRACK {
                            self.combine((old, old_shade), (v, operand), *width, |p, a, b| {
                                let r = p.bin(*op, a, b);
                                if *nand { p.not(r) } else { r }
                            })
                        } else {
                            Shade::default()
                        };
                        (new, shade)
                    }
                    None => (v, operand),
                };
                self.store(*address, *width, new, shade, Some(*check))?;
            }
            Op::CmpXchg {
                dst,
                success,
                width,
                address,
                expected,
                new,
                check,
            } => {
                let (old, old_shade) = self.load(*address, *width, Some(*check))?;
                let wanted = (self.get(*expected, *width), self.shade(*expected));
                let (new, new_shade) = (self.get(*new, *width), self.shade(*new));
                let same = old == wanted.0;
                let hit = if TRACK {
                    self.combine((old, old_shade), wanted, *width, |p, a, b| {
                        p.cmp(Pred::Eq, a, b)
                    })
                } else {
                    Shade::default()
                };
                self.set_shaded(*dst, old, old_shade);
                self.set_shaded(*success, u128::from(same), hit);
                if let Some(term) = hit.term {
                    self.fixed(term, 1, u128::from(same));
                }
                if same {
                    self.store(*address, *width, new, new_shade, Some(*check))?;
                }
            }
            Op::Unmodelled { which } => return Err(Box::new(Outcome::Unmodelled(*which))),
            // Done before. If one ever comes here, the run ends: nothing is skipped.
            Op::Bin { .. }
            | Op::Cmp { .. }
            | Op::Cast { .. }
            | Op::Load { .. }
            | Op::Store { .. }
            | Op::Address { .. }
            | Op::Copy { .. }
            | Op::Select { .. }
            | Op::Call(_) => return Err(Box::new(Outcome::Unmodelled(u32::MAX))),
        }
        Ok(Next::Go)
    }

    /// Ends the run where a local array is longer than the stack, and notes when it would have been.
    fn check_room(&mut self, room: &Room) -> Step {
        let count = self.get(room.count, 64);
        let most = u128::from(room.most);
        if fault::too_many(&mut Concrete, count, most) {
            let detail = format!("a local array of {count} elements is more than the stack holds");
            return Err(self.violated(Some(room.check), CheckKind::ArrayBound, detail));
        }
        if TRACK {
            let violated = self.shade_of(&[(room.count, 64)], |p, t| {
                let most = p.constant(64, most);
                fault::too_many(p, t[0], most)
            });
            self.held(Some(room.check), violated.term);
        }
        Ok(())
    }

    /// Ends the run where an operation is a fault, and notes when it would have been.
    #[inline]
    fn check_bin(
        &mut self,
        (op, width): (BinOp, Width),
        a: (Operand, u128),
        b: (Operand, u128),
        (check, kind): (Option<CheckId>, CheckKind),
    ) -> Step {
        if fault::operation(&mut Concrete, (op, width), a.1, b.1) {
            let detail = if kind == CheckKind::Shift {
                format!("shift by {} in {width} bits", value::signed(width, b.1))
            } else if b.1 == 0 {
                "division by zero".to_owned()
            } else {
                "the quotient of the least number and -1 does not fit".to_owned()
            };
            self.note_fault(&[a.0, b.0], None);
            return Err(self.violated(check, kind, detail));
        }
        if TRACK {
            let violated = self.shade_of(&[(a.0, width), (b.0, width)], |p, t| {
                fault::operation(p, (op, width), t[0], t[1])
            });
            self.held(check, violated.term);
        }
        Ok(())
    }

    #[inline(always)]
    fn address(&mut self, dst: Reg, base: Operand, offset: i64, indices: &[(Operand, Width, i64)]) {
        let mut address = self.get64(base).wrapping_add(offset as u64);
        let mut shade = self.shade(base);
        let mut symbolic = shade.term.is_some();
        for &(index, width, scale) in indices {
            let i = value::signed(width, self.get(index, width)) as i64;
            address = address.wrapping_add(i.wrapping_mul(scale) as u64);
            if TRACK {
                let part = self.shade(index);
                shade.undefined |= part.undefined;
                symbolic |= part.term.is_some();
            }
        }
        if TRACK && symbolic {
            let mut sum = self.term(base, 64);
            let parts: smallvec::SmallVec<[_; 4]> = indices
                .iter()
                .map(|&(i, w, scale)| (self.term(i, w), scale))
                .collect();
            sum = self.make(|p| {
                let mut total = p.constant(64, u128::from(offset as u64));
                for (index, scale) in parts {
                    let Some(index) = index else { continue };
                    let wide = p.cast(CastKind::SExt, index, 64);
                    let scale = p.constant(64, u128::from(scale as u64));
                    let product = p.bin(BinOp::Mul, wide, scale);
                    total = p.bin(BinOp::Add, total, product);
                }
                match sum {
                    Some(base) => p.bin(BinOp::Add, base, total),
                    None => total,
                }
            });
            shade.term = sum;
        }
        self.set_shaded(dst, u128::from(address), shade);
    }

    #[inline(always)]
    fn select(&mut self, dst: Reg, width: Width, cond: Operand, a: Operand, b: Operand) {
        let chosen = self.get(cond, 1) & 1 == 1;
        let from = if chosen { a } else { b };
        let v = self.get(from, width);
        let shade = if TRACK {
            if self.shade(cond).term.is_some() {
                let from = [(cond, 1), (a, width), (b, width)];
                self.shade_of(&from, |p, t| p.ite(t[0], t[1], t[2]))
            } else {
                let mut shade = self.shade(from);
                if self.shade(cond).undefined {
                    (shade.undefined, shade.signed) = (true, false);
                }
                shade
            }
        } else {
            Shade::default()
        };
        self.set_shaded(dst, v, shade);
    }

    /// A shadow built from two values that are not in registers.
    fn combine(
        &mut self,
        a: (u128, Shade),
        b: (u128, Shade),
        width: Width,
        build: impl FnOnce(
            &mut crate::term::Pool,
            crate::term::Term,
            crate::term::Term,
        ) -> crate::term::Term,
    ) -> Shade {
        let undefined = a.1.undefined || b.1.undefined;
        if a.1.term.is_none() && b.1.term.is_none() {
            return Shade {
                undefined,
                ..Shade::default()
            };
        }
        let term = self.make(|p| {
            let x = a.1.term.unwrap_or_else(|| p.constant(width, a.0));
            let y = b.1.term.unwrap_or_else(|| p.constant(width, b.0));
            build(p, x, y)
        });
        Shade {
            term,
            undefined,
            ..Shade::default()
        }
    }

    /// Records an assumption made by the machine or the program: `cond` is true here.
    pub(super) fn assumed(&mut self, cond: Option<crate::term::Term>) {
        if let Some(cond) = cond {
            self.record(Event::Assume { cond });
        }
    }
}
