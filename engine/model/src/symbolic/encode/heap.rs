//! The heap functions, as the machine implements them.

use std::rc::Rc;

use super::super::memory::{Contents, Object};
use super::super::state::{Reached, Surroundings};
use super::super::world::CtxId;
use super::access::Target;
use super::pointer::Root;
use super::{Encoder, Step, Stop, set};
use crate::program::ir::{BinOp, Call, CheckId, CheckKind, HeapFn, Operand, Pred};
use crate::term::fault::{self, ONE_ALLOCATION};
use crate::term::{Node, Term};

const ENOMEM: u8 = 12;
const EINVAL: u8 = 22;

impl Encoder<'_, '_> {
    pub(super) fn heap_function(
        &mut self,
        ctx: CtxId,
        now: &mut Reached,
        function: HeapFn,
        (call, index): (&Call, usize),
        check: Option<CheckId>,
    ) -> Step {
        let mut arg = |i: usize| {
            let operand = call.args.get(i).map_or(Operand::Const(0), |a| a.value);
            self.get(&mut now.state, operand, 64)
        };
        let args = [arg(0), arg(1), arg(2)];
        let (refused, [a, b, c]) = self.refusal(function, args);
        let result = match function {
            HeapFn::Malloc | HeapFn::Valloc => {
                let contents = self.unknown_contents();
                self.request(ctx, now, index, (a, refused), contents)
            }
            HeapFn::AlignedAlloc => {
                let contents = self.unknown_contents();
                let crooked = fault::alignment(self.pool, a, 1);
                let straight = self.pool.not(crooked);
                let refused = self.pool.and(refused, straight);
                let address = self.request(ctx, now, index, (b, refused), contents);
                self.set_errno(now, crooked, EINVAL);
                let zero = self.c64(0);
                self.pool.ite(crooked, zero, address)
            }
            HeapFn::Calloc => {
                let (size, overflow) = fault::elements(self.pool, a, b);
                let array = self.pool.array_constant(&[]);
                let one = self.c64(1);
                let mut contents = Contents::new(array);
                contents.witness = Some(self.pool.bin(BinOp::Sub, size, one));
                let refused = self.pool.or(refused, overflow);
                self.request(ctx, now, index, (size, refused), contents)
            }
            HeapFn::Row => {
                let array = self.pool.array_constant(&[]);
                let address = self.allocate(ctx, now, (index, 0), a, Contents::new(array), true);
                for case in self.split(now, address) {
                    if let Some(id) = self.led_to(case.root) {
                        self.world.guess(id);
                    }
                }
                address
            }
            HeapFn::Realloc => self.realloc(ctx, now, index, (a, b, refused), check)?,
            HeapFn::ReallocArray => {
                let (size, overflow) = fault::elements(self.pool, b, c);
                let refused = self.pool.or(refused, overflow);
                self.realloc(ctx, now, index, (a, size, refused), check)?
            }
            HeapFn::Free => {
                self.release(ctx, now, a, check)?;
                return Ok(());
            }
            HeapFn::UsableSize => self.usable_size(ctx, now, a, check)?,
            HeapFn::PosixMemalign => {
                let asked = (a, b, c, refused);
                return self.posix_memalign(ctx, now, (call, index), asked, check);
            }
        };
        if !call.result.is_empty() {
            set(&mut now.state, call.dst, result);
        }
        Ok(())
    }

    /// Recognises the requests that the environment refused: where it did, all sizes are the
    /// largest number. Returns the condition of the refusal, and the arguments as they are where it
    /// does not hold, so that a size stays the term that the program computed.
    fn refusal(&mut self, function: HeapFn, args: [Term; 3]) -> (Term, [Term; 3]) {
        let mut refused: Option<Term> = None;
        let mut plain = args;
        for at in function.sizes() {
            let &Node::Ite(cond, then, other) = self.pool.node(args[at]) else {
                return (self.pool.bit(false), args);
            };
            let is_most = |t: Term| self.pool.as_const(t) == Some(u128::from(u64::MAX));
            let (when, size) = match (is_most(then), is_most(other)) {
                (true, false) => (cond, other),
                (false, true) => (self.pool.not(cond), then),
                _ => return (self.pool.bit(false), args),
            };
            // The condition of the refusal must be the same for all sizes.
            if refused.is_some_and(|refused| refused != when) {
                return (self.pool.bit(false), args);
            }
            refused = Some(when);
            plain[at] = size;
        }
        match refused {
            Some(refused) => (refused, plain),
            None => (self.pool.bit(false), args),
        }
    }

    /// Allocates a heap object of `size` bytes. The result is NULL if that is too many, or if
    /// `refused`.
    fn request(
        &mut self,
        ctx: CtxId,
        now: &mut Reached,
        index: usize,
        (size, refused): (Term, Term),
        contents: Contents,
    ) -> Term {
        let limit = self.c64(ONE_ALLOCATION);
        let much = self.pool.cmp(Pred::Ugt, size, limit);
        let refused = self.pool.or(refused, much);
        let address = self.allocate(ctx, now, (index, 0), size, contents, true);
        self.set_errno(now, refused, ENOMEM);
        let zero = self.c64(0);
        self.pool.ite(refused, zero, address)
    }

    /// Executes `posix_memalign`, which stores an address only if the request succeeds, and returns
    /// the number of the error.
    fn posix_memalign(
        &mut self,
        ctx: CtxId,
        now: &mut Reached,
        (call, index): (&Call, usize),
        (into, alignment, size, refused): (Term, Term, Term, Term),
        check: Option<CheckId>,
    ) -> Step {
        let crooked = fault::alignment(self.pool, alignment, 8);
        let straight = self.pool.not(crooked);
        let limit = self.c64(ONE_ALLOCATION);
        let much = self.pool.cmp(Pred::Ugt, size, limit);
        let refused = self.pool.or(refused, much);
        let refused = self.pool.and(refused, straight);
        let contents = self.unknown_contents();
        let address = self.request(ctx, now, index, (size, refused), contents);
        let failed = self.pool.or(crooked, refused);
        let granted = self.pool.not(failed);
        let mut without = now.clone();
        without.guard = without.guard.and(self.pool, failed);
        let einval = self.pool.constant(32, u128::from(EINVAL));
        let enomem = self.pool.constant(32, u128::from(ENOMEM));
        let error = self.pool.ite(crooked, einval, enomem);
        self.give(&mut without, call, error);
        let mut with = now.clone();
        with.guard = with.guard.and(self.pool, granted);
        let is_never = with.guard.is_false(self.pool);
        let stored = match is_never {
            true => Err(Stop::Ended),
            false => self.store(ctx, &mut with, into, address, check),
        };
        *now = match stored {
            Ok(()) => {
                let zero = self.constant(32, 0);
                self.give(&mut with, call, zero);
                match without.guard.is_false(self.pool) {
                    true => with,
                    false => with.join(without, self),
                }
            }
            Err(Stop::Ended) => without,
            Err(stop) => return Err(stop),
        };
        match now.guard.is_false(self.pool) {
            true => Err(Stop::Ended),
            false => Ok(()),
        }
    }

    /// Sets `errno` if a request failed.
    fn set_errno(&mut self, now: &mut Reached, failed: Term, error: u8) {
        if self.pool.as_const(failed) == Some(0) {
            return;
        }
        let Some(errno) = self.world.program().errno() else {
            return;
        };
        let id = self.world.global(errno);
        let Some(object) = self.object(&now.state, id) else {
            return;
        };
        let mut object = Object::clone(&object);
        let old = object.contents.read_at(self.pool, 0, 4);
        let new = self.pool.constant(32, u128::from(error));
        let value = self.pool.ite(failed, new, old);
        object.contents.write_at(self.pool, 0, value);
        now.state.objects.insert(id, Rc::new(object));
    }

    /// The live heap objects whose start a pointer points to. Any other pointer, except for NULL,
    /// violates the check.
    fn blocks(
        &mut self,
        ctx: CtxId,
        now: &mut Reached,
        pointer: Term,
        check: Option<CheckId>,
    ) -> Step<(Vec<Target>, bool)> {
        let mut targets = Vec::new();
        let mut violated = self.pool.bit(false);
        let mut unknown = self.pool.bit(false);
        for case in self.split(now, pointer) {
            let id = match case.root {
                Root::Null => continue,
                Root::Number(number) => self.world.object_at(number),
                Root::Of(id) => Some(id),
                Root::Unknown => {
                    unknown = self.pool.or(unknown, case.cond);
                    continue;
                }
            };
            if case.root == Root::Number(0) {
                // NULL may be freed. That the offset is 0 may be known only under the guard.
                let zero = self.c64(0);
                let null = self.pool.eq(case.offset, zero);
                let other = self.pool.not(null);
                let bad = self.pool.and(case.cond, other);
                violated = self.pool.or(violated, bad);
                continue;
            }
            let found = id.filter(|&id| self.world.object(id).heap);
            let object = found.and_then(|id| Some((id, self.object(&now.state, id)?)));
            let Some((id, object)) = object else {
                violated = self.pool.or(violated, case.cond);
                continue;
            };
            let bad = fault::release(self.pool, object.alive, case.offset);
            let bad = self.pool.and(case.cond, bad);
            violated = self.pool.or(violated, bad);
            targets.push(Target {
                cond: case.cond,
                id,
                offset: case.offset,
            });
        }
        self.oblige(ctx, now, check, CheckKind::Free, violated)?;
        let vague = self.pool.as_const(unknown) != Some(0);
        if vague {
            self.vague(ctx, now, check, CheckKind::Free, unknown);
        }
        Ok((targets, vague))
    }

    /// Executes `malloc_usable_size`. For NULL the result is 0.
    fn usable_size(
        &mut self,
        ctx: CtxId,
        now: &mut Reached,
        pointer: Term,
        check: Option<CheckId>,
    ) -> Step<Term> {
        let (targets, vague) = self.blocks(ctx, now, pointer, check)?;
        let mut size = if vague {
            self.out.approximations += 1;
            self.unknown(64)
        } else {
            self.c64(0)
        };
        for target in targets {
            if let Some(object) = self.object(&now.state, target.id) {
                size = self.pool.ite(target.cond, object.size, size);
            }
        }
        Ok(size)
    }

    fn release(
        &mut self,
        ctx: CtxId,
        now: &mut Reached,
        pointer: Term,
        check: Option<CheckId>,
    ) -> Step {
        let (targets, vague) = self.blocks(ctx, now, pointer, check)?;
        for target in targets {
            let Some(object) = self.object(&now.state, target.id) else {
                continue;
            };
            let mut object = Object::clone(&object);
            let kept = self.pool.not(target.cond);
            object.alive = self.pool.and(object.alive, kept);
            now.state.objects.insert(target.id, Rc::new(object));
        }
        self.go_only(ctx, now, vague, pointer)
    }

    fn realloc(
        &mut self,
        ctx: CtxId,
        now: &mut Reached,
        index: usize,
        (old, size, denied): (Term, Term, Term),
        check: Option<CheckId>,
    ) -> Step<Term> {
        let (targets, vague) = self.blocks(ctx, now, old, check)?;
        let zero = self.c64(0);
        let fresh = self.pool.eq(old, zero);
        let nothing = self.pool.eq(size, zero);
        let released = self.pool.not(fresh);
        let frees = self.pool.and(nothing, released);
        let limit = self.c64(ONE_ALLOCATION);
        let much = self.pool.cmp(Pred::Ugt, size, limit);
        let refused = self.pool.or(denied, much);
        // A refused request does not free the block.
        let granted = self.pool.not(denied);
        let frees = self.pool.and(frees, granted);
        // The part of the old contents that is kept, byte by byte if both sizes are known and
        // small.
        let mut contents = self.unknown_contents();
        let mut kept_bytes = false;
        if let [target] = &targets[..]
            && let Some(object) = self.object(&now.state, target.id)
        {
            let sizes = (self.pool.as_const(object.size), self.pool.as_const(size));
            if let (Some(from), Some(to)) = sizes {
                let n = from.min(to) as u64;
                if n <= self.budget.moved {
                    for (i, byte) in self.bytes_of(now, target, n as u32).into_iter().enumerate() {
                        // If the old block is NULL, there are no bytes to keep.
                        let unknown = contents.byte(self.pool, i as u32);
                        let byte = self.pool.ite(target.cond, byte, unknown);
                        contents.write_at(self.pool, i as u32, byte);
                    }
                    kept_bytes = true;
                }
            }
        }
        if !kept_bytes && !targets.is_empty() {
            self.out.approximations += 1;
        }
        let moved = self.pool.not(refused);
        let gone = self.pool.or(moved, frees);
        for target in &targets {
            let Some(object) = self.object(&now.state, target.id) else {
                continue;
            };
            let mut object = Object::clone(&object);
            let ends = self.pool.and(target.cond, gone);
            let kept = self.pool.not(ends);
            object.alive = self.pool.and(object.alive, kept);
            now.state.objects.insert(target.id, Rc::new(object));
        }
        self.go_only(ctx, now, vague, old)?;
        // In a loop, the old block may be the one that this operation made in the previous turn.
        // The new object then replaces it in the state.
        let address = self.request(ctx, now, index, (size, denied), contents);
        Ok(self.pool.ite(frees, zero, address))
    }
}
