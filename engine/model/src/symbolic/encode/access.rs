//! Loads, stores and block moves.

use std::rc::Rc;

use super::super::cuts::CELLS;
use super::super::memory::{Object, constant, stored};
use super::super::range::Ranges;
use super::super::spans::Span;
use super::super::state::{Reached, Surroundings};
use super::super::world::{CtxId, ObjId};
use super::pointer::Root;
use super::{Encoder, Step, Stop};
use crate::program::ir::{CheckId, CheckKind, Width};
use crate::term::Term;
use crate::term::fault::{self, Extent};

/// One object that an access may go to, under a condition and at an offset.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) cond: Term,
    pub(super) id: ObjId,
    pub(super) offset: Term,
}

impl Encoder<'_, '_> {
    /// The object that an address leads to, if it is an object with bytes.
    pub(super) fn led_to(&mut self, root: Root) -> Option<ObjId> {
        match root {
            Root::Number(number) => self.world.object_at(number),
            Root::Of(id) => Some(id),
            Root::Null | Root::Unknown => None,
        }
    }

    /// The objects in which `len` bytes at `pointer` may lie. Records the check, and ends the path
    /// if the check cannot hold. The flag says whether there are cases in which the object is not
    /// known.
    pub(super) fn access(
        &mut self,
        ctx: CtxId,
        now: &mut Reached,
        pointer: Term,
        len: Term,
        (check, kind): (Option<CheckId>, CheckKind),
    ) -> Step<(Vec<Target>, bool)> {
        let mut targets = Vec::new();
        let mut violated = self.pool.bit(false);
        let mut unknown = self.pool.bit(false);
        let mut rejected = self.pool.bit(false);
        for case in self.split(now, pointer) {
            if case.root == Root::Unknown {
                unknown = self.pool.or(unknown, case.cond);
                continue;
            }
            let found = self
                .led_to(case.root)
                .and_then(|id| self.object(&now.state, id).map(|object| (id, object)));
            let Some((id, object)) = found else {
                violated = self.pool.or(violated, case.cond);
                continue;
            };
            let info = self.world.object(id);
            let extent = Extent {
                alive: object.alive,
                size: object.size,
                writable: info.writable,
                guessed: info.guessed,
            };
            let write = kind == CheckKind::Write;
            let fault = fault::access(self.pool, extent, (case.offset, len), write);
            let past = self.pool.and(case.cond, fault.rejected);
            rejected = self.pool.or(rejected, past);
            let bad = fault.violated;
            let bad = self.pool.and(case.cond, bad);
            violated = self.pool.or(violated, bad);
            targets.push(Target {
                cond: case.cond,
                id,
                offset: case.offset,
            });
        }
        if let Some(&wraps) = self.wrapped.get(&pointer) {
            violated = self.pool.or(violated, wraps);
        }
        self.oblige(ctx, now, check, kind, violated)?;
        let stays = self.pool.not(rejected);
        self.assume(now, stays)?;
        let vague = self.pool.as_const(unknown) != Some(0);
        if vague {
            self.vague(ctx, now, check, kind, unknown);
        }
        Ok((targets, vague))
    }

    /// The bytes that an access of `len` bytes from the target's offset on may touch. If the offset
    /// varies, they are represented as one array from now on.
    pub(super) fn span(&mut self, now: &Reached, target: &Target, len: u32, size: Term) -> Span {
        let reach = self.reach(now, target, len, size);
        self.indexed(target.id, reach)
    }

    /// The bytes that an access at a varying offset may touch. `None` if the offset is constant.
    /// Records nothing.
    fn reach(&mut self, now: &Reached, target: &Target, len: u32, size: Term) -> Option<Span> {
        if constant(self.pool, target.offset).is_some() {
            return None;
        }
        let len = self.c64(u64::from(len));
        Some(self.within(now, target.offset, len, size))
    }

    /// Records the bytes of an object that are accessed at a varying offset.
    fn indexed(&mut self, id: ObjId, reach: Option<Span>) -> Span {
        let Some(span) = reach else {
            return Span::ALL;
        };
        self.world.mark_indexed(id, span);
        span
    }

    /// Whether bytes that are not represented as an array yet are addresses. A read at an offset of
    /// which so little is known may read any of them, and it is not worthwhile to turn the
    /// addresses into bytes for it.
    fn hides_addresses(&mut self, now: &Reached, object: &Object, id: ObjId, span: Span) -> bool {
        let words = object
            .contents
            .wholes(self.pool, span.low, span.high - span.low);
        words.into_iter().any(|(at, value)| {
            self.pool.width(value) == 64
                && !self.world.object(id).indexed.overlaps(at, 8)
                && self.is_address(now, value)
        })
    }

    /// The ranges of terms on the present path.
    pub(super) fn ranges(&self, now: &Reached) -> Ranges<'_> {
        Ranges::new(self.pool, &now.guard, self.start.map(|start| &start.bounds))
    }

    /// The bytes that an access of `len` bytes from `offset` on may touch. The access has been
    /// checked, so it lies within the object.
    fn within(&self, now: &Reached, offset: Term, len: Term, size: Term) -> Span {
        let ranges = self.ranges(now);
        let (at, len) = (ranges.of(offset), ranges.of(len));
        let size = self.pool.as_const(size).unwrap_or(u128::from(u32::MAX));
        let end = u128::from(at.high) + u128::from(len.high);
        let span = Span {
            low: u32::try_from(at.low).unwrap_or(0),
            high: u32::try_from(end.min(size)).unwrap_or(u32::MAX),
        };
        // The access is infeasible, which is not recognised everywhere. Any answer is correct.
        if span.low < span.high {
            span
        } else {
            Span::ALL
        }
    }

    /// Loads a value.
    pub(super) fn load(
        &mut self,
        ctx: CtxId,
        now: &mut Reached,
        pointer: Term,
        width: Width,
        check: Option<CheckId>,
    ) -> Step<Term> {
        let len = u32::from(width.div_ceil(8));
        let bytes = self.c64(u64::from(len));
        let (targets, vague) = self.access(ctx, now, pointer, bytes, (check, CheckKind::Read))?;
        let single = targets.len() == 1 && !vague;
        let mut value = if vague || targets.is_empty() {
            self.out.approximations += u32::from(vague);
            Some(self.unknown(stored(width)))
        } else {
            None
        };
        for target in targets {
            let Some(mut object) = self.object(&now.state, target.id) else {
                continue;
            };
            let seen = (len, object.size);
            let read = if self.sees_number(now, &object.contents, target.offset, seen) {
                self.numberless(stored(width))
            } else if let Some(read) = self.read_words(now, &object, target.offset, len) {
                read
            } else {
                let reach = self.reach(now, &target, len, object.size);
                if reach.is_some_and(|span| self.hides_addresses(now, &object, target.id, span)) {
                    self.out.approximations += 1;
                    self.unknown(stored(width))
                } else {
                    let span = self.indexed(target.id, reach);
                    let contents = &mut Rc::make_mut(&mut object).contents;
                    let read = contents.read(self.pool, target.offset, len, span);
                    let indexed = !self.world.object(target.id).indexed.is_empty();
                    if single && len == 1 && indexed {
                        contents.notice(self.pool, target.offset, read);
                        now.state.objects.insert(target.id, object);
                    }
                    read
                }
            };
            value = Some(match value {
                None => read,
                Some(other) => self.pool.ite(target.cond, read, other),
            });
        }
        let whole = match value {
            Some(value) => value,
            None => self.unknown(stored(width)),
        };
        Ok(self.pool.extract(whole, 0, width))
    }

    /// Stores a value.
    pub(super) fn store(
        &mut self,
        ctx: CtxId,
        now: &mut Reached,
        pointer: Term,
        value: Term,
        check: Option<CheckId>,
    ) -> Step {
        let bits = stored(self.pool.width(value));
        let value = self.pool.zext(value, bits);
        let len = self.c64(u64::from(bits / 8));
        let (targets, vague) = self.access(ctx, now, pointer, len, (check, CheckKind::Write))?;
        let single = targets.len() == 1;
        for target in &targets {
            let Some(object) = self.object(&now.state, target.id) else {
                continue;
            };
            let mut object = Object::clone(&object);
            let always = single && !vague;
            let cond = (!always).then_some(target.cond);
            if !self.write_words(now, &mut object, target.offset, value, cond) {
                let len = u32::from(bits / 8);
                let span = self.span(now, target, len, object.size);
                let contents = &mut object.contents;
                match cond {
                    None => contents.write(self.pool, target.offset, value, span),
                    Some(cond) => {
                        contents.write_where(self.pool, cond, (target.offset, value), span);
                    }
                }
            }
            now.state.objects.insert(target.id, Rc::new(object));
        }
        self.go_only(ctx, now, vague, pointer)
    }

    /// Ends execution after a write through a pointer in the cases in which the written object is
    /// not known.
    pub(super) fn go_only(
        &mut self,
        ctx: CtxId,
        now: &mut Reached,
        vague: bool,
        pointer: Term,
    ) -> Step {
        if !vague {
            return Ok(());
        }
        let mut known = self.pool.bit(false);
        for case in self.split(now, pointer) {
            if case.root != Root::Unknown {
                known = self.pool.or(known, case.cond);
            }
        }
        let unknown = self.pool.not(known);
        let mut lost = now.clone();
        lost.guard = lost.guard.and(self.pool, unknown);
        self.hole(
            ctx,
            &lost,
            "a write through a pointer of which it is not known where it points".to_owned(),
        );
        now.guard = now.guard.and(self.pool, known);
        if self.pool.as_const(known) == Some(0) {
            return Err(Stop::Ended);
        }
        Ok(())
    }

    /// Makes `len` bytes from the offsets of the targets on unknown.
    pub(super) fn forget(&mut self, now: &mut Reached, targets: &[Target], len: Term) {
        for target in targets {
            self.out.approximations += 1;
            let Some(object) = self.object(&now.state, target.id) else {
                continue;
            };
            let mut object = Object::clone(&object);
            let span = self.within(now, target.offset, len, object.size);
            self.world.mark_indexed(target.id, span);
            let size = self.pool.as_const(object.size);
            let unknown = self.unknown_array();
            let mut forgotten = object.contents.clone();
            let keep = size.filter(|&n| n <= u128::from(CELLS)).unwrap_or(0) as u32;
            forgotten.forget(self.pool, unknown, span, keep);
            object.contents = if targets.len() == 1 {
                forgotten
            } else {
                forgotten.merge(self.pool, target.cond, &object.contents)
            };
            now.state.objects.insert(target.id, Rc::new(object));
        }
    }
}
