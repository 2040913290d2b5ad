//! Loads, stores and block moves: their checks, and what stays symbolic at a symbolic address.
//!
//! The accessed object is the one that the concrete address points into (a symbolic offset that
//! leaves the object is a violation, and is recorded as one). Within the object, a load is an
//! element of the object's array, and a store into a small object becomes an if-then-else per byte.
//! Larger objects are accessed at the concrete address, and the path records that.

use super::memory::{Fault, ObjectOrigin};
use super::shadow::{Shade, ShadowByte};
use super::step::{Run, Step};
use crate::program::ir::{BinOp, CheckId, CheckKind, Operand, Pred, Width};
use crate::term::fault::Concrete;
use crate::term::{Term, fault, value::mask};

impl<const TRACK: bool> Run<'_, TRACK> {
    /// Loads `width` bits.
    #[inline(always)]
    pub(super) fn load(
        &mut self,
        address: Operand,
        width: Width,
        check: Option<CheckId>,
    ) -> Step<(u128, Shade)> {
        let len = usize::from(width.div_ceil(8));
        let at = self.get64(address);
        let (object, offset) = match self.memory.readable(at, len as u64) {
            Ok(found) => found,
            Err(fault) => {
                return Err(self.fault_through(address, check, CheckKind::Read, fault, len as u64));
            }
        };
        let value = object.read(offset, len) & mask(width);
        let undefined = object.undefined.any(offset, len);
        if undefined {
            self.undefined_load.get_or_insert(self.pos);
        }
        if !TRACK {
            return Ok((value, Shade::default()));
        }
        let symbolic = object.is_symbolic(offset, len);
        let place = self.shade(address);
        if place.term.is_none() {
            self.within(at, len as u64, check);
        }
        if place.term.is_none() && !place.undefined && !symbolic {
            return Ok((
                value,
                Shade {
                    undefined,
                    ..Shade::default()
                },
            ));
        }
        let mut shade = Shade {
            undefined,
            ..Shade::default()
        };
        if let Some(place) = self.place(address, at, len, check) {
            shade = self.load_anywhere(place, at, len, undefined);
        } else if symbolic && let Some(pool) = self.pool.as_deref_mut() {
            let found = self.memory.readable(at, len as u64).ok();
            shade.term = found.and_then(|(object, offset)| object.load_term(pool, offset, len));
        }
        if let Some(term) = shade.term {
            shade.term = self.make(|pool| pool.extract(term, 0, width));
        }
        Ok((value, shade))
    }

    /// Handles an address that is symbolic or undefined: records the check, and returns the offset
    /// in the object as a term if the address is symbolic.
    fn place(
        &mut self,
        address: Operand,
        at: u64,
        len: usize,
        check: Option<CheckId>,
    ) -> Option<Term> {
        let shade = self.shade(address);
        if shade.undefined {
            self.undefined_decision();
        }
        let term = shade.term?;
        let (size, site) = self.memory.about(at)?;
        let offset = self.make(|pool| {
            let base = pool.constant(64, u128::from(at & !0xffff_ffff));
            pool.bin(BinOp::Sub, term, base)
        })?;
        let symbolic = self.size_term(at);
        let violated = self.make(|pool| {
            let [len, size] = [len as u64, size].map(|n| pool.constant(64, u128::from(n)));
            fault::beyond(pool, offset, len, symbolic.unwrap_or(size))
        });
        // If the size is a guess, no tape is searched that goes past it.
        self.held(
            check.filter(|_| site != ObjectOrigin::OutsideArray),
            violated,
        );
        Some(offset)
    }

    /// Continues with the concrete offset in an object, which the path records.
    fn fix_offset(&mut self, offset: Term, at: u64) {
        self.fixed(offset, 64, u128::from(at & 0xffff_ffff));
    }

    fn load_anywhere(&mut self, offset: Term, at: u64, len: usize, undefined: bool) -> Shade {
        let limit = self.limits.symbolic_load;
        let size = self.memory.about(at).map_or(0, |(size, _)| size as usize);
        if size > limit {
            self.fix_offset(offset, at);
            let pool = self.pool.as_deref_mut();
            let found = self.memory.readable(at, len as u64).ok();
            let term = pool
                .zip(found)
                .and_then(|(p, (o, i))| o.load_term(p, i, len));
            return Shade {
                term,
                undefined,
                ..Shade::default()
            };
        }
        let Some(pool) = self.pool.as_deref_mut() else {
            return Shade::default();
        };
        let Some(object) = self.memory.unchecked(at) else {
            return Shade::default();
        };
        let undefined = !object.undefined.is_empty();
        let array = object.as_array(pool);
        let mut whole: Option<Term> = None;
        for i in 0..len {
            let step = pool.constant(64, i as u128);
            let index = pool.bin(BinOp::Add, offset, step);
            let byte = pool.select(array, index);
            whole = Some(whole.map_or(byte, |low| pool.concat(byte, low)));
        }
        Shade {
            term: whole,
            undefined,
            ..Shade::default()
        }
    }

    /// Stores `width` bits.
    #[inline(always)]
    pub(super) fn store(
        &mut self,
        address: Operand,
        width: Width,
        value: u128,
        shade: Shade,
        check: Option<CheckId>,
    ) -> Step {
        let len = usize::from(width.div_ceil(8));
        let at = self.get64(address);
        if TRACK {
            let place = self.shade(address);
            if place.term.is_some() || place.undefined {
                return self.store_anywhere(address, at, width, value, shade, check);
            }
        }
        match self.memory.writable(at, len as u64) {
            Ok((object, offset)) => {
                object.write(offset, len, value);
                self.within(at, len as u64, check);
                if TRACK && (shade.term.is_some() || shade.undefined) {
                    self.shade_stored(at, len, shade);
                }
                Ok(())
            }
            Err(fault) => {
                Err(self.fault_through(address, check, CheckKind::Write, fault, len as u64))
            }
        }
    }

    /// Sets the shadow of bytes that were just stored.
    fn shade_stored(&mut self, at: u64, len: usize, shade: Shade) {
        let bits = len as u16 * 8;
        let term = shade
            .term
            .and_then(|term| self.make(|pool| pool.zext(term, bits)));
        let Some(object) = self.memory.unchecked(at) else {
            return;
        };
        let offset = (at & 0xffff_ffff) as usize;
        if shade.undefined {
            let size = object.bytes.len();
            object.undefined.set(offset, len, size);
        }
        if let Some(term) = term {
            object.store_term(offset, len, term);
        }
    }

    fn store_anywhere(
        &mut self,
        address: Operand,
        at: u64,
        width: Width,
        value: u128,
        shade: Shade,
        check: Option<CheckId>,
    ) -> Step {
        let len = usize::from(width.div_ceil(8));
        if let Err(fault) = self.memory.check_write(at, len as u64) {
            return Err(self.fault_through(address, check, CheckKind::Write, fault, len as u64));
        }
        let offset = self.place(address, at, len, check);
        let limit = self.limits.symbolic_store;
        let size = self.memory.about(at).map_or(0, |(size, _)| size as usize);
        if let Some(offset) = offset
            && size > limit
        {
            self.fix_offset(offset, at);
        }
        let here = (at & 0xffff_ffff) as usize;
        let Some(object) = self.memory.unchecked(at) else {
            return Ok(());
        };
        let Some(offset) = offset.filter(|_| size <= limit) else {
            object.write(here, len, value);
            self.shade_stored(at, len, shade);
            return Ok(());
        };
        let before = object.bytes.to_vec();
        let old: Vec<ShadowByte> = (0..size).map(|i| object.shadow_at(i)).collect();
        object.write(here, len, value);
        self.shade_stored(at, len, shade);
        let Some(pool) = self.pool.as_deref_mut() else {
            return Ok(());
        };
        let Some(object) = self.memory.unchecked(at) else {
            return Ok(());
        };
        let bits = len as u16 * 8;
        let new = match shade.term {
            Some(term) => pool.zext(term, bits),
            None => pool.constant(bits, value),
        };
        let hits: Vec<Term> = (0..size)
            .map(|i| {
                let i = pool.constant(64, i as u128);
                pool.cmp(Pred::Eq, offset, i)
            })
            .collect();
        for (i, old) in old.into_iter().enumerate() {
            let mut byte = match old.term(pool) {
                Some(term) => term,
                None => pool.constant(8, u128::from(before[i])),
            };
            for k in 0..len.min(i + 1) {
                if i - k + len <= size {
                    let part = pool.extract(new, k as u16 * 8, 8);
                    byte = pool.ite(hits[i - k], part, byte);
                }
            }
            let shadow = match pool.as_const(byte) {
                Some(_) => ShadowByte::CONCRETE,
                None => ShadowByte::byte(byte),
            };
            object.set_shadow(i, shadow);
        }
        Ok(())
    }

    /// The length of a block move at `at`. A symbolic length is checked; the concrete one is
    /// returned.
    fn length(&mut self, len: Operand, at: u64, check: Option<CheckId>) -> u64 {
        if TRACK
            && let Some(term) = self.shade(len).term
            && let Some((size, site)) = self.memory.about(at)
        {
            let symbolic = self.size_term(at);
            let violated = self.make(|pool| {
                let known = [at & 0xffff_ffff, size];
                let [offset, size] = known.map(|n| pool.constant(64, u128::from(n)));
                fault::beyond(pool, offset, term, symbolic.unwrap_or(size))
            });
            self.held(
                check.filter(|_| site != ObjectOrigin::OutsideArray),
                violated,
            );
        }
        self.get64(len)
    }

    /// Handles the address of a whole block: a symbolic address is checked, then made concrete.
    fn block_address(&mut self, address: Operand, len: u64, check: Option<CheckId>) {
        if TRACK {
            let at = self.get64(address);
            if let Some(offset) = self.place(address, at, len as usize, check) {
                self.fix_offset(offset, at);
            }
        }
    }

    /// memcpy and memmove. Overlapping ranges are copied as memmove does.
    pub(super) fn copy(
        &mut self,
        to: Operand,
        from: Operand,
        len: Operand,
        read: CheckId,
        write: CheckId,
        overlap: bool,
    ) -> Step {
        let (target, source) = (self.get64(to), self.get64(from));
        let n = self.length(len, source, Some(read));
        if n > 0
            && let Err(fault) = self.memory.readable(source, n)
        {
            self.note_fault(&[from, len], Some((source, n)));
            return Err(self.fault(Some(read), CheckKind::Read, fault, source, n));
        }
        self.length(len, target, Some(write));
        if n > 0
            && let Err(fault) = self.memory.check_write(target, n)
        {
            self.note_fault(&[to, len], Some((target, n)));
            return Err(self.fault(Some(write), CheckKind::Write, fault, target, n));
        }
        if !overlap {
            self.check_overlap((to, from, len), write)?;
        }
        self.block_address(from, n, Some(read));
        self.block_address(to, n, Some(write));
        self.within(source, n, Some(read));
        self.within(target, n, Some(write));
        self.concretise(len, 64);
        self.copy_bytes(target, source, n);
        Ok(())
    }

    /// Ends the run if the ranges of a `memcpy` overlap at different addresses. Copying a range to
    /// itself changes nothing.
    fn check_overlap(
        &mut self,
        (to, from, len): (Operand, Operand, Operand),
        check: CheckId,
    ) -> Step {
        let [target, source, n] = [to, from, len].map(|operand| self.get(operand, 64));
        if fault::overlap(&mut Concrete, target, source, n) {
            let distance = target.abs_diff(source);
            let detail =
                format!("a copy of {n} bytes to where they come from, {distance} bytes on");
            return Err(self.violated(Some(check), CheckKind::Write, detail));
        }
        if TRACK {
            let parts = [(to, 64), (from, 64), (len, 64)];
            let violated = self.shade_of(&parts, |p, t| fault::overlap(p, t[0], t[1], t[2]));
            self.held(Some(check), violated.term);
        }
        Ok(())
    }

    /// Copies bytes with their shadow and their definedness. Both ranges are valid.
    pub(super) fn copy_bytes(&mut self, target: u64, source: u64, n: u64) {
        let len = n as usize;
        let Ok((object, at)) = self.memory.readable(source, n) else {
            return;
        };
        let bytes = object.bytes[at..at + len].to_vec();
        let undefined: Option<Vec<bool>> = object
            .undefined
            .any(at, len)
            .then(|| (at..at + len).map(|i| object.undefined.any(i, 1)).collect());
        let shadow: Option<Vec<ShadowByte>> = object
            .is_symbolic(at, len)
            .then(|| (at..at + len).map(|i| object.shadow_at(i)).collect());
        let Ok((object, at)) = self.memory.writable(target, n) else {
            return;
        };
        object.bytes[at..at + len].copy_from_slice(&bytes);
        object.written(at, len);
        let size = object.bytes.len();
        for i in undefined
            .iter()
            .flatten()
            .enumerate()
            .filter(|(_, u)| **u)
            .map(|(i, _)| i)
        {
            object.undefined.set(at + i, 1, size);
        }
        for (i, byte) in shadow.into_iter().flatten().enumerate() {
            object.set_shadow(at + i, byte);
        }
    }

    /// memset.
    pub(super) fn fill(
        &mut self,
        to: Operand,
        value: Operand,
        len: Operand,
        check: CheckId,
    ) -> Step {
        let target = self.get64(to);
        let n = self.length(len, target, Some(check));
        if n > 0
            && let Err(fault) = self.memory.check_write(target, n)
        {
            self.note_fault(&[to, len], Some((target, n)));
            return Err(self.fault(Some(check), CheckKind::Write, fault, target, n));
        }
        self.block_address(to, n, Some(check));
        self.within(target, n, Some(check));
        self.concretise(len, 64);
        let (byte, shade) = (self.get(value, 8) as u8, self.shade(value));
        if let Ok((object, at)) = self.memory.writable(target, n) {
            let len = n as usize;
            object.bytes[at..at + len].fill(byte);
            object.written(at, len);
            if shade.undefined {
                let size = object.bytes.len();
                object.undefined.set(at, len, size);
            }
            if let Some(term) = shade.term {
                for i in at..at + len {
                    object.set_shadow(i, ShadowByte::byte(term));
                }
            }
        }
        Ok(())
    }

    /// The bytes that an intrinsic reads, made concrete.
    pub(super) fn bytes(&mut self, at: u64, n: u64, check: Option<CheckId>) -> Step<Vec<u8>> {
        if n == 0 {
            return Ok(Vec::new());
        }
        let (object, offset) = match self.memory.readable(at, n) {
            Ok(found) => found,
            Err(fault) => return Err(self.fault(check, CheckKind::Read, fault, at, n)),
        };
        let bytes = object.bytes[offset..offset + n as usize].to_vec();
        let symbolic = TRACK && object.is_symbolic(offset, n as usize);
        self.within(at, n, check);
        if symbolic {
            for (i, byte) in bytes.iter().enumerate() {
                let pool = self.pool.as_deref_mut();
                let found = self.memory.readable(at + i as u64, 1).ok();
                let term = pool.zip(found).and_then(|(p, (o, k))| o.load_term(p, k, 1));
                if let Some(term) = term {
                    self.fixed(term, 8, u128::from(*byte));
                }
            }
        }
        Ok(bytes)
    }

    /// The C string at `at`, without recording anything: for names of channels and for reports.
    pub(super) fn string(&self, at: u64) -> Result<Vec<u8>, Fault> {
        let (object, offset) = self.memory.readable(at, 1)?;
        let rest = &object.bytes[offset..];
        let end = rest.iter().position(|b| *b == 0).unwrap_or(rest.len());
        Ok(rest[..end].to_vec())
    }
}
