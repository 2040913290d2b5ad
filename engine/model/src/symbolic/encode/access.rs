//! Loads, stores and block moves.

use std::rc::Rc;

use super::super::cuts::CELLS;
use super::super::memory::{Contents, Object, constant, plus, stored};
use super::super::range::{Ranges, residue};
use super::super::spans::Span;
use super::super::state::{Reached, Surroundings};
use super::super::world::{CtxId, ObjId};
use super::pointer::Root;
use super::{Encoder, Step, Stop};
use crate::program::ir::{BinOp, CheckId, CheckKind, Pred, Width};
use crate::term::fault::{self, Extent};
use crate::term::{Node, Pool, Term};

/// A table of addresses with more words than that is bytes.
const WORDS: u64 = 66;

/// One object that an access may go to.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) cond: Term,
    pub(super) id: ObjId,
    pub(super) offset: Term,
}

impl Encoder<'_, '_> {
    /// The object that an address leads to, if it is one with bytes.
    pub(super) fn led_to(&mut self, root: Root) -> Option<ObjId> {
        match root {
            Root::Number(number) => self.world.object_at(number),
            Root::Of(id) => Some(id),
            Root::Null | Root::Unknown => None,
        }
    }

    /// The objects that `len` bytes at `pointer` can lie in. Notes the check, and ends where it cannot hold. The flag
    /// says whether there are cases that are not known.
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

    /// The bytes that an access of that many from the target's offset on can touch. They are one array from now on if the
    /// offset varies.
    pub(super) fn span(&mut self, now: &Reached, target: &Target, len: u32, size: Term) -> Span {
        let reach = self.reach(now, target, len, size);
        self.indexed(target.id, reach)
    }

    /// The same where the offset varies, and nothing changes by that.
    fn reach(&mut self, now: &Reached, target: &Target, len: u32, size: Term) -> Option<Span> {
        if constant(self.pool, target.offset).is_some() {
            return None;
        }
        let len = self.c64(u64::from(len));
        Some(self.within(now, target.offset, len, size))
    }

    /// Notes where an object is indexed.
    fn indexed(&mut self, id: ObjId, reach: Option<Span>) -> Span {
        let Some(span) = reach else {
            return Span::ALL;
        };
        self.world.index(id, span);
        span
    }

    /// Whether bytes that are not one array yet are addresses. What is read at an offset of which so little is known may be any of
    /// them, and is not worth that they become bytes.
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

    /// What values terms can have there.
    pub(super) fn ranges(&self, now: &Reached) -> Ranges<'_> {
        Ranges::new(self.pool, &now.guard, self.start.map(|start| &start.bounds))
    }

    /// The bytes from an offset on, `len` of them, that an access can touch which was checked: all of it lies in the object.
    fn within(&self, now: &Reached, offset: Term, len: Term, size: Term) -> Span {
        let ranges = self.ranges(now);
        let (at, len) = (ranges.of(offset), ranges.of(len));
        let size = self.pool.as_const(size).unwrap_or(u128::from(u32::MAX));
        let end = u128::from(at.high) + u128::from(len.high);
        let span = Span {
            low: u32::try_from(at.low).unwrap_or(0),
            high: u32::try_from(end.min(size)).unwrap_or(u32::MAX),
        };
        // No access at all, which is not seen everywhere: any answer is right.
        if span.low < span.high {
            span
        } else {
            Span::ALL
        }
    }

    /// The offsets that an access of a word can go to, if its offset varies and there are few.
    fn words(&self, now: &Reached, object: &Object, offset: Term, len: u32) -> Option<Vec<u32>> {
        if len != 8 || constant(self.pool, offset).is_some() {
            return None;
        }
        let size = self.pool.as_const(object.size).map(|n| n as u64)?;
        let (by, rest) = residue(self.pool, offset, 0);
        if by < 8 || rest % 8 != 0 {
            return None;
        }
        let range = self.ranges(now).of(offset);
        let last = range.high.min(size.checked_sub(8)?);
        if last.checked_sub(range.low)? / by > WORDS {
            return None;
        }
        // `by` is a power of two.
        let first = range.low + rest.wrapping_sub(range.low) % by;
        let all: Vec<u32> = (first..=last)
            .step_by(by as usize)
            .map(|at| at as u32)
            .collect();
        (!all.is_empty()).then_some(all)
    }

    /// Reads a word of a table of addresses: one choice for each that it can be.
    fn read_words(
        &mut self,
        now: &Reached,
        object: &Object,
        offset: Term,
        len: u32,
    ) -> Option<Term> {
        let words = self.words(now, object, offset, len)?;
        let read = |encoder: &mut Self, at: u32| object.contents.read_at(encoder.pool, at, 8);
        let values: Vec<Term> = words.iter().map(|&at| read(self, at)).collect();
        let (&last, others) = values.split_last()?;
        if others.iter().any(|&value| value != last) {
            values.iter().find(|&&value| self.is_address(now, value))?;
        }
        let mut value = last;
        for (&at, &other) in words.iter().zip(others).rev() {
            let at = self.c64(u64::from(at));
            let here = self.pool.eq(offset, at);
            value = self.pool.ite(here, other, value);
        }
        Some(value)
    }

    /// Writes a word of a table of addresses: each that it can be may change. False if this is none.
    fn write_words(
        &mut self,
        now: &Reached,
        object: &mut Object,
        offset: Term,
        value: Term,
        cond: Option<Term>,
    ) -> bool {
        let len = u32::from(self.pool.width(value) / 8);
        let Some(words) = self.words(now, object, offset, len) else {
            return false;
        };
        let mut old = Vec::new();
        for &at in &words {
            old.push(object.contents.read_at(self.pool, at, 8));
        }
        let table = [value].iter().chain(&old).any(|&v| self.is_address(now, v));
        if !table {
            return false;
        }
        for (&at, old) in words.iter().zip(old) {
            let place = self.c64(u64::from(at));
            let mut here = self.pool.eq(offset, place);
            if let Some(cond) = cond {
                here = self.pool.and(here, cond);
            }
            let new = self.pool.ite(here, value, old);
            object.contents.write_at(self.pool, at, new);
        }
        true
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

    /// After a write through a pointer: where it is not known where it went, nothing goes on.
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

    /// Makes the bytes from there on unknown, where these are the targets.
    pub(super) fn forget(&mut self, now: &mut Reached, targets: &[Target], len: Term) {
        for target in targets {
            self.out.approximations += 1;
            let Some(object) = self.object(&now.state, target.id) else {
                continue;
            };
            let mut object = Object::clone(&object);
            let span = self.within(now, target.offset, len, object.size);
            self.world.index(target.id, span);
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

    /// `memset`.
    pub(super) fn fill(
        &mut self,
        ctx: CtxId,
        now: &mut Reached,
        (to, byte, len): (Term, Term, Term),
        check: Option<CheckId>,
    ) -> Step {
        if self.is_nothing(len) {
            return Ok(());
        }
        let (targets, vague) = self.access_some(ctx, now, to, len, (check, CheckKind::Write))?;
        let count = self.pool.as_const(len).map(|n| n as u64);
        let single = targets.len() == 1 && !vague;
        for target in &targets {
            let Some(object) = self.object(&now.state, target.id) else {
                continue;
            };
            let mut object = Object::clone(&object);
            let at = constant(self.pool, target.offset);
            let size = self.pool.as_const(object.size).map(|n| n as u64);
            let whole = single && at == Some(0) && count.is_some() && count == size;
            match (count, at, self.pool.as_const(byte)) {
                (Some(n), _, Some(value)) if whole && n > self.budget.moved => {
                    let bytes = vec![value as u8; n as usize];
                    let array = self.pool.array_constant(&bytes);
                    object.contents = Contents::new(array);
                }
                (Some(n), Some(at), _) if n <= self.budget.moved => {
                    for i in 0..n as u32 {
                        let offset = at.wrapping_add(i);
                        let offset = self.c64(u64::from(offset));
                        let contents = &mut object.contents;
                        match single {
                            true => contents.write(self.pool, offset, byte, Span::ALL),
                            false => {
                                let to = (offset, byte);
                                contents.write_where(self.pool, target.cond, to, Span::ALL);
                            }
                        }
                    }
                }
                _ => {
                    self.forget(now, std::slice::from_ref(target), len);
                    if single {
                        let one = self.c64(1);
                        let none = self.c64(0);
                        let last = self.pool.bin(BinOp::Sub, len, one);
                        let at = self.pool.bin(BinOp::Add, target.offset, last);
                        let empty = self.pool.eq(len, none);
                        let some = self.pool.not(empty);
                        self.note_byte(now, target.id, at, byte, some)?;
                    }
                    continue;
                }
            }
            now.state.objects.insert(target.id, Rc::new(object));
        }
        self.go_only(ctx, now, vague, to)
    }

    /// A block operation of no bytes does nothing. Where the length may be nothing, nothing is checked there: the
    /// machine does not, either.
    pub(super) fn is_nothing(&self, len: Term) -> bool {
        self.pool.as_const(len) == Some(0)
    }

    /// `memcpy` and `memmove`.
    pub(super) fn copy(
        &mut self,
        ctx: CtxId,
        now: &mut Reached,
        (to, from, len): (Term, Term, Term),
        (read, write): (Option<CheckId>, Option<CheckId>),
        overlap: bool,
    ) -> Step {
        if self.is_nothing(len) {
            return Ok(());
        }
        let (sources, vague_source) =
            self.access_some(ctx, now, from, len, (read, CheckKind::Read))?;
        let (targets, vague) = self.access_some(ctx, now, to, len, (write, CheckKind::Write))?;
        if !overlap {
            self.overlap(ctx, now, (&sources, &targets), len, write)?;
        }
        let count = self.pool.as_const(len).map(|n| n as u64);
        let bytes = match (count, &sources[..], vague_source) {
            (Some(n), [source], false) if n <= self.budget.moved => {
                Some(self.bytes_of(now, source, n as u32))
            }
            _ => None,
        };
        let mut wholes = Vec::new();
        if let (Some(bytes), [source]) = (&bytes, &sources[..])
            && let Some(at) = constant(self.pool, source.offset)
            && let Some(object) = self.object(&now.state, source.id)
        {
            let stored = object.contents.wholes(self.pool, at, bytes.len() as u32);
            wholes.extend(stored.into_iter().map(|(offset, v)| (offset - at, v)));
        }
        let single = targets.len() == 1 && !vague;
        match bytes {
            None => {
                let known = match (&sources[..], &targets[..]) {
                    ([source], [target]) if !vague && !vague_source => {
                        let object = self.object(&now.state, source.id);
                        object.map(|object| (source, target, object.contents.clone()))
                    }
                    _ => None,
                };
                self.forget(now, &targets, len);
                if let Some((source, target, contents)) = known {
                    self.copy_witness(now, (source, contents), target, len)?;
                }
            }
            Some(bytes) => {
                for target in &targets {
                    let Some(object) = self.object(&now.state, target.id) else {
                        continue;
                    };
                    let mut object = Object::clone(&object);
                    let span = self.span(now, target, bytes.len() as u32, object.size);
                    for (i, &byte) in bytes.iter().enumerate() {
                        let offset = plus(self.pool, target.offset, i as u32);
                        let contents = &mut object.contents;
                        match single {
                            true => contents.write(self.pool, offset, byte, span),
                            false => {
                                let to = (offset, byte);
                                contents.write_where(self.pool, target.cond, to, span);
                            }
                        }
                    }
                    if let (true, Some(at)) = (single, constant(self.pool, target.offset)) {
                        for &(offset, value) in &wholes {
                            object.contents.note_whole(at + offset, value);
                        }
                    }
                    now.state.objects.insert(target.id, Rc::new(object));
                }
            }
        }
        self.go_only(ctx, now, vague, to)
    }

    /// `memcpy` within one object, between ranges that overlap.
    fn overlap(
        &mut self,
        ctx: CtxId,
        now: &Reached,
        (sources, targets): (&[Target], &[Target]),
        len: Term,
        check: Option<CheckId>,
    ) -> Step {
        let mut violated = self.pool.bit(false);
        for source in sources {
            for target in targets.iter().filter(|target| target.id == source.id) {
                let (to, from) = (target.offset, source.offset);
                let both = self.pool.and(source.cond, target.cond);
                if self.pool.as_const(both) == Some(0) || self.is_grid(to, from, len) {
                    continue;
                }
                let bad = fault::overlap(self.pool, to, from, len);
                let bad = self.pool.and(both, bad);
                violated = self.pool.or(violated, bad);
            }
        }
        self.oblige(ctx, now, check, CheckKind::Write, violated)
    }

    /// Whether the distance of two offsets is a multiple of the length: elements of one array, or the same one.
    fn is_grid(&mut self, to: Term, from: Term, len: Term) -> bool {
        let Some(len) = self.pool.as_const(len).filter(|&len| len > 0) else {
            return false;
        };
        let distance = self.pool.bin(BinOp::Sub, to, from);
        let (by, rest) = residue(self.pool, distance, 0);
        u128::from(by) >= len && u128::from(by) % len == 0 && u128::from(rest) % len == 0
            || is_multiple(self.pool, distance, len, 0)
    }

    /// Of a copy of unknown length, only the byte at the witness is known to be in both.
    fn copy_witness(
        &mut self,
        now: &mut Reached,
        (source, mut contents): (&Target, Contents),
        target: &Target,
        len: Term,
    ) -> Step {
        let Some(witness) = contents.witness else {
            return Ok(());
        };
        let byte = contents.read(self.pool, witness, 1, Span::ALL);
        let distance = self.pool.bin(BinOp::Sub, witness, source.offset);
        let copied = self.pool.cmp(Pred::Ult, distance, len);
        let at = self.pool.bin(BinOp::Add, target.offset, distance);
        self.note_byte(now, target.id, at, byte, copied)
    }

    /// Where `cond` holds, an object that was forgotten has this byte there.
    fn note_byte(
        &mut self,
        now: &mut Reached,
        id: ObjId,
        at: Term,
        byte: Term,
        cond: Term,
    ) -> Step {
        let Some(object) = self.object(&now.state, id) else {
            return Ok(());
        };
        let mut object = Object::clone(&object);
        let new = object.contents.clone().read(self.pool, at, 1, Span::ALL);
        let same = self.pool.eq(new, byte);
        let not = self.pool.not(cond);
        let known = self.pool.or(not, same);
        let before = object.contents.witness.unwrap_or(at);
        object.contents.witness = Some(self.pool.ite(cond, at, before));
        now.state.objects.insert(id, Rc::new(object));
        self.assume(now, known)
    }

    /// Bytes of an object, as they are now.
    pub(super) fn bytes_of(&mut self, now: &Reached, source: &Target, n: u32) -> Vec<Term> {
        let Some(object) = self.object(&now.state, source.id) else {
            return (0..n).map(|_| self.unknown(8)).collect();
        };
        let span = self.span(now, source, n, object.size);
        let mut contents = object.contents.clone();
        (0..n)
            .map(|i| {
                let offset = plus(self.pool, source.offset, i);
                contents.read(self.pool, offset, 1, span)
            })
            .collect()
    }

    /// As [`Encoder::access`], where an access of no bytes is always valid.
    pub(super) fn access_some(
        &mut self,
        ctx: CtxId,
        now: &mut Reached,
        pointer: Term,
        len: Term,
        check: (Option<CheckId>, CheckKind),
    ) -> Step<(Vec<Target>, bool)> {
        if self.pool.as_const(len).is_some() {
            return self.access(ctx, now, pointer, len, check);
        }
        let zero = self.c64(0);
        let none = self.pool.eq(len, zero);
        let some = self.pool.not(none);
        let mut narrowed = now.clone();
        narrowed.guard = narrowed.guard.and(self.pool, some);
        match self.access(ctx, &mut narrowed, pointer, len, check) {
            Ok(found) => Ok(found),
            // Only a length of nothing goes on.
            Err(Stop::Ended) => {
                now.guard = now.guard.and(self.pool, none);
                Ok((Vec::new(), false))
            }
            Err(stop) => Err(stop),
        }
    }
}

/// Whether a sum is seen to consist of multiples of a number. What wraps is no offset in an object any more.
fn is_multiple(pool: &Pool, t: Term, of: u128, depth: u32) -> bool {
    if depth > 8 {
        return false;
    }
    if let Some(value) = pool.as_const(t) {
        return (value as i64).unsigned_abs().is_multiple_of(of as u64);
    }
    match *pool.node(t) {
        Node::Bin(BinOp::Add | BinOp::Sub, a, b) | Node::Ite(_, a, b) => {
            is_multiple(pool, a, of, depth + 1) && is_multiple(pool, b, of, depth + 1)
        }
        Node::Bin(BinOp::Mul, _, by) => pool.as_const(by).is_some_and(|by| by % of == 0),
        _ => false,
    }
}
