//! The heap: malloc and its family, with the behaviour of the native runtime (`rt_heap.c`).
//!
//! Fresh memory is uninitialised, `realloc` always moves the block, a request that no heap could
//! meet gives NULL and sets errno, and a request of size 0 gives a block of no bytes. Freeing a
//! block twice, or a pointer that was never allocated, is a violation. An object has the size of
//! this run; the path records which other sizes would do (`sizes`).

use super::memory::ObjectOrigin;
use super::shadow::Shade;
use super::step::{Run, Step, Stop};
use smallvec::SmallVec;

use crate::program::ir::{BinOp, Call, CheckId, CheckKind, HeapFn, Operand, Pred, Program, Width};
use crate::term::fault::{self, Concrete};
use crate::term::{Pool, Term};

const ENOMEM: u32 = 12;
const EINVAL: u32 = 22;
/// The number of bytes that are filled in the time of one operation.
const FILLED: u64 = 64;

impl<const TRACK: bool> Run<'_, TRACK> {
    pub(super) fn heap_function(
        &mut self,
        function: HeapFn,
        call: &Call,
        check: Option<CheckId>,
    ) -> Step {
        let operand = |i: usize| call.args.get(i).map_or(Operand::Const(0), |a| a.value);
        let size_term = self.asked(function, call);
        let sizes: SmallVec<[Operand; 2]> = function.sizes().map(operand).collect();
        let symbolic = self.size_of(&sizes);
        let mut number = |i: usize| match function.sizes().contains(&i) {
            true => self.get64(operand(i)),
            false => self.concretise(operand(i), 64) as u64,
        };
        let address = match function {
            HeapFn::Calloc => {
                let (size, _) = bytes(number(0), number(1));
                let address = self.heap(call, size)?;
                if address != 0
                    && let Ok((object, at)) = self.memory.writable(address, size)
                {
                    object.bytes.fill(0);
                    object.written(at, size as usize);
                }
                address
            }
            HeapFn::Row => {
                let size = number(0);
                self.room_for(size)?;
                let address = self.memory.allocate(size, ObjectOrigin::OutsideArray);
                if let Ok((object, at)) = self.memory.writable(address, size) {
                    object.bytes.fill(0);
                    object.written(at, size as usize);
                }
                address
            }
            HeapFn::Realloc => {
                let (old, size) = (number(0), number(1));
                self.realloc(call, old, size, check)?
            }
            HeapFn::ReallocArray => {
                let (old, n, size) = (number(0), number(1), number(2));
                match bytes(n, size) {
                    (all, false) => self.realloc(call, old, all, check)?,
                    // The size is checked first: the old block stays as it is, whether it is valid
                    // or not.
                    (_, true) => self.refuse(ENOMEM),
                }
            }
            HeapFn::Free => {
                let address = number(0);
                let freed = self.release(address, check);
                if freed.is_err() {
                    self.note_fault(&[operand(0)], Some((address, 0)));
                }
                return freed;
            }
            HeapFn::AlignedAlloc => {
                let (alignment, size) = (number(0), number(1));
                if fault::alignment(&mut Concrete, u128::from(alignment), 1) {
                    self.refuse(EINVAL)
                } else {
                    self.heap(call, size)?
                }
            }
            HeapFn::PosixMemalign => {
                let (into, alignment, size) = (number(0), number(1), number(2));
                let error = self.posix_memalign(call, (into, alignment, size), symbolic, check)?;
                return self.give(call, u128::from(error));
            }
            HeapFn::UsableSize => {
                let address = number(0);
                if address != 0 && !self.memory.is_live_heap(address) {
                    return Err(self.bad_free(address, check));
                }
                let size = self.memory.about(address).map_or(0, |(size, _)| size);
                self.fix_size(address);
                return self.give(call, u128::from(size));
            }
            HeapFn::Malloc | HeapFn::Valloc => {
                let size = number(0);
                self.heap(call, size)?
            }
        };
        self.made_of_size(address, symbolic);
        if TRACK && self.crossing.is_some() && !matches!(function, HeapFn::UsableSize) {
            let size = self.memory.about(address).map_or(0, |(size, _)| size);
            self.note_made(address, size, size_term);
        }
        self.give(call, u128::from(address))?;
        if TRACK && address == 0 {
            self.shade_refused(call, size_term);
        }
        Ok(())
    }

    /// Makes a NULL result depend on the requested size, if dependencies are recorded.
    fn shade_refused(&mut self, call: &Call, size: Option<Term>) {
        let Some(size) = size.filter(|_| !call.result.is_empty()) else {
            return;
        };
        let term = self.make(|pool| {
            let [most, none, some] =
                [fault::ONE_ALLOCATION, 0, 1 << 40].map(|n| pool.constant(64, u128::from(n)));
            let is_much = pool.cmp(Pred::Ugt, size, most);
            pool.ite(is_much, none, some)
        });
        let shade = Shade {
            term,
            ..Shade::default()
        };
        self.set_shaded(call.dst, 0, shade);
    }

    /// The requested size as a term, if it is symbolic and recorded.
    fn asked(&mut self, function: HeapFn, call: &Call) -> Option<Term> {
        self.crossing.as_ref()?;
        let sizes = function.sizes().filter_map(|i| call.args.get(i));
        let operands: Vec<(Operand, Width)> = sizes.map(|arg| (arg.value, 64)).collect();
        let product = |pool: &mut Pool, terms: &[Term]| {
            let all = terms.iter().copied();
            let all = all.reduce(|a, b| pool.bin(BinOp::Mul, a, b));
            all.unwrap_or_else(|| pool.constant(64, 0))
        };
        self.shade_of(&operands, product).term
    }

    /// Allocates a heap object, or returns 0 if no heap could be that large. If it exceeds the
    /// limits of the run, the run ends: whether the environment refuses the request was asked
    /// before.
    fn heap(&mut self, call: &Call, size: u64) -> Step<u64> {
        if size > fault::ONE_ALLOCATION {
            return Ok(self.refuse(ENOMEM));
        }
        self.room_for(size)?;
        // Filling takes time, so the next reading of the clock comes earlier, as after operations.
        self.pause = self.pause.saturating_sub(size / FILLED);
        Ok(self
            .memory
            .allocate(size, ObjectOrigin::Heap(Some(call.site))))
    }

    /// Returns no block, and sets errno if the program uses it.
    fn refuse(&mut self, error: u32) -> u64 {
        if let Some(place) = self.program.errno()
            && let Ok((object, at)) = self.memory.writable(Program::global_address(place, 0), 4)
        {
            object.bytes[at..at + 4].copy_from_slice(&error.to_le_bytes());
            object.written(at, 4);
        }
        0
    }

    fn posix_memalign(
        &mut self,
        call: &Call,
        (into, alignment, size): (u64, u64, u64),
        size_term: Option<Term>,
        check: Option<CheckId>,
    ) -> Step<u32> {
        if fault::alignment(&mut Concrete, u128::from(alignment), 8) {
            return Ok(EINVAL);
        }
        let block = self.heap(call, size)?;
        if block == 0 {
            return Ok(ENOMEM);
        }
        self.made_of_size(block, size_term);
        match self.memory.writable(into, 8) {
            Ok((object, at)) => {
                object.bytes[at..at + 8].copy_from_slice(&block.to_le_bytes());
                object.written(at, 8);
                Ok(0)
            }
            Err(fault) => Err(self.fault(check, CheckKind::Write, fault, into, 8)),
        }
    }

    fn release(&mut self, address: u64, check: Option<CheckId>) -> Step {
        if address == 0 {
            return Ok(());
        }
        if !self.memory.is_live_heap(address) {
            return Err(self.bad_free(address, check));
        }
        self.memory.remove(address);
        Ok(())
    }

    #[cold]
    fn bad_free(&self, address: u64, check: Option<CheckId>) -> Stop {
        let detail = match self.memory.about(address) {
            None => format!("free of {address:#x}, which is no object"),
            Some((_, site)) if !site.is_heap() => {
                format!(
                    "free of {}",
                    self.object(address, "was not allocated by malloc")
                )
            }
            Some(_) if self.memory.readable(address, 0).is_err() => {
                format!("second free of {}", self.object(address, "is gone"))
            }
            Some(_) => {
                let offset = address & 0xffff_ffff;
                format!("free at offset {offset} of {}", self.object(address, ""))
            }
        };
        self.violated(check, CheckKind::Free, detail)
    }

    fn realloc(&mut self, call: &Call, old: u64, size: u64, check: Option<CheckId>) -> Step<u64> {
        if old != 0 && !self.memory.is_live_heap(old) {
            return Err(self.bad_free(old, check));
        }
        if old != 0 && size == 0 {
            self.memory.remove(old);
            return Ok(0);
        }
        let new = self.heap(call, size)?;
        if new != 0 && old != 0 {
            let keep = self.memory.about(old).map_or(0, |(n, _)| n.min(size));
            self.within(old, keep, None);
            self.copy_bytes(new, old, keep);
            self.memory.remove(old);
        }
        Ok(new)
    }
}

/// The size of `n` elements in bytes, and whether it overflows.
fn bytes(n: u64, size: u64) -> (u64, bool) {
    let (all, overflow) = fault::elements(&mut Concrete, u128::from(n), u128::from(size));
    (all as u64, overflow)
}
