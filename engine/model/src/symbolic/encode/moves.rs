//! Block moves: `memset`, `memcpy` and `memmove`.

use std::rc::Rc;

use super::access::Target;
use crate::program::ir::{BinOp, CheckId, CheckKind, Pred};
use crate::symbolic::encode::{Encoder, Step, Stop};
use crate::symbolic::memory::{Contents, Object, constant, plus};
use crate::symbolic::range::residue;
use crate::symbolic::spans::Span;
use crate::symbolic::state::{Reached, Surroundings};
use crate::symbolic::world::{CtxId, ObjId};
use crate::term::fault;
use crate::term::{Node, Pool, Term};

impl Encoder<'_, '_> {
    /// Executes `memset`.
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

    /// Whether the length is constantly zero. Such an operation does nothing, and nothing is
    /// checked, as in the machine.
    pub(super) fn is_nothing(&self, len: Term) -> bool {
        self.pool.as_const(len) == Some(0)
    }

    /// Executes `memcpy` or `memmove`.
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

    /// Checks that the source and the target of a `memcpy` do not overlap.
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

    /// Whether the distance of two offsets is a multiple of the length, as for elements of one
    /// array. Then they are equal or do not overlap.
    fn is_grid(&mut self, to: Term, from: Term, len: Term) -> bool {
        let Some(len) = self.pool.as_const(len).filter(|&len| len > 0) else {
            return false;
        };
        let distance = self.pool.bin(BinOp::Sub, to, from);
        let (by, rest) = residue(self.pool, distance, 0);
        u128::from(by) >= len && u128::from(by) % len == 0 && u128::from(rest) % len == 0
            || is_multiple(self.pool, distance, len, 0)
    }

    /// Copies the witness: of a copy of unknown length, only the byte at the witness is known to be
    /// equal in source and target.
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

    /// Assumes that an object whose contents were forgotten has this byte at `at` if `cond` holds.
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

    /// The present bytes of an object.
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

    /// As [`Encoder::access`], but an access of zero bytes is always valid.
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
            // Execution continues only if the length is zero.
            Err(Stop::Ended) => {
                now.guard = now.guard.and(self.pool, none);
                Ok((Vec::new(), false))
            }
            Err(stop) => Err(stop),
        }
    }
}

/// Whether a sum evidently consists of multiples of a number. Overflow is ignored, because an
/// offset that wraps does not lie in an object any more.
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
