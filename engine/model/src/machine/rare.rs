//! Operations that programs seldom execute, apart from the others so that the hot code stays in the
//! cache.

use super::ops::quick_bin;
use crate::machine::memory::ObjectOrigin;
use crate::machine::outcome::Outcome;
use crate::machine::shadow::Shade;
use crate::machine::step::{Next, Run, Step};
use crate::program::ir::{CheckKind, Inst, Loc, Op, Operand, Pred, Room};
use crate::term::fault::{self, Concrete};
use crate::term::{float, value};

impl<const TRACK: bool> Run<'_, TRACK> {
    /// Executes an operation that is not worth a place in the hot function.
    pub(super) fn rare(&mut self, inst: &Inst, index: usize) -> Step<Next> {
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
                // Both shadows are built first, because the destination may be one of the operands.
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
            Op::Processor {
                dst,
                width,
                function,
                args,
            } => self.in_processor((*dst, *width), *function, args)?,
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
                let symbolic = self.size_of(&[*size]);
                let size = self.get64(*size);
                self.room_for(size)?;
                let at = Loc {
                    block: self.block,
                    inst: index as u32,
                };
                let address = self.memory.allocate(size, ObjectOrigin::Stack { at });
                self.made_of_size(address, symbolic);
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
                // `b` is read before the destination is set, because both may be the same register.
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
            // [`Run::operation`] executes these. If one ever comes here, the run ends, so that
            // nothing is skipped.
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

    /// Ends the run if a local array is longer than the stack, and otherwise records the condition
    /// under which it would be.
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
}
