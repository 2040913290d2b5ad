//! Memory consists of objects.
//!
//! An address is `object << 32 | offset`, so that checking bounds, lifetimes and provenance takes
//! two comparisons. Globals and functions have fixed numbers; every other object gets the next
//! number, which is never reused: a removed object leaves a tombstone of a few bytes, so that the
//! report of a use after free can name the object. Objects are shared and copied on write, so that
//! starting a run or taking a snapshot costs one reference per object.

use std::rc::Rc;

use cegar_stubs::UNDEFINED_BYTE;

use super::contents::Contents;
use super::shadow::Shadow;
use super::watch::Seen;
use crate::program::ir::{
    CallSite, DYNAMIC_OBJECTS, FUNCTION_OBJECTS, GLOBAL_OBJECTS, GlobalId, Loc, Program, number_of,
    place_of,
};
use crate::term::Array;
use crate::term::fault::{self, Access, Concrete, Extent};

/// The origin of an object, which only a report puts into words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ObjectOrigin {
    Global(GlobalId),
    /// Made by an operation of a block. `inst` of the location is here the index of the operation.
    Stack {
        at: Loc,
    },
    Heap(Option<CallSite>),
    /// An array from outside, on the heap, whose length is only a guess.
    OutsideArray,
    /// The copy of a struct passed by value, or the areas of a variable argument list.
    Arguments,
}

impl ObjectOrigin {
    pub(super) fn is_heap(self) -> bool {
        matches!(self, ObjectOrigin::Heap(_) | ObjectOrigin::OutsideArray)
    }
}

/// The bytes that were never written. `left` counts them, so that fully written objects cost
/// nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Undefined {
    left: u32,
    bits: Vec<u64>,
}

impl Undefined {
    fn reset(&mut self, size: usize) {
        self.left = size as u32;
        self.bits.clear();
        self.bits.resize(size.div_ceil(64), u64::MAX);
    }

    #[inline]
    pub(super) fn any(&self, at: usize, len: usize) -> bool {
        self.left > 0 && (at..at + len).any(|i| self.bits[i / 64] >> (i % 64) & 1 == 1)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.left == 0
    }

    #[inline]
    pub(super) fn clear(&mut self, at: usize, len: usize) {
        if self.left > 0 {
            for i in at..at + len {
                let (word, bit) = (&mut self.bits[i / 64], 1u64 << (i % 64));
                self.left -= u32::from(*word & bit != 0);
                *word &= !bit;
            }
        }
    }

    pub(super) fn set(&mut self, at: usize, len: usize, size: usize) {
        self.bits.resize(size.div_ceil(64), 0);
        for i in at..at + len {
            let (word, bit) = (&mut self.bits[i / 64], 1u64 << (i % 64));
            self.left += u32::from(*word & bit == 0);
            *word |= bit;
        }
    }
}

/// An object that has bytes.
#[derive(Clone, Debug)]
pub(super) struct Object {
    pub(super) bytes: Contents,
    /// False after the end of its lifetime, until a new lifetime starts.
    pub(super) alive: bool,
    pub(super) writable: bool,
    pub(super) site: ObjectOrigin,
    pub(super) undefined: Undefined,
    /// The shadow of all bytes, once a symbolic one was stored.
    pub(super) shadow: Option<Shadow>,
    /// The contents as an array term; dropped by every write.
    pub(super) array: Option<Array>,
}

impl Object {
    /// `len` bytes, little-endian.
    #[inline]
    pub(super) fn read(&self, at: usize, len: usize) -> u128 {
        let bytes = &self.bytes[at..at + len];
        match *bytes {
            [a] => u128::from(a),
            [a, b, c, d] => u128::from(u32::from_le_bytes([a, b, c, d])),
            [a, b, c, d, e, f, g, h] => u128::from(u64::from_le_bytes([a, b, c, d, e, f, g, h])),
            _ => bytes
                .iter()
                .rev()
                .fold(0, |value, &byte| value << 8 | u128::from(byte)),
        }
    }

    /// Writes bytes; they become defined and concrete.
    #[inline]
    pub(super) fn write(&mut self, at: usize, len: usize, value: u128) {
        self.bytes[at..at + len].copy_from_slice(&value.to_le_bytes()[..len]);
        self.written(at, len);
    }

    /// Notes that the bytes at `at` were overwritten with concrete, defined ones.
    #[inline]
    pub(super) fn written(&mut self, at: usize, len: usize) {
        self.undefined.clear(at, len);
        if let Some(shadow) = &mut self.shadow {
            shadow.clear(at, len);
        }
        self.array = None;
    }

    /// The properties of the object that decide whether an access is valid.
    #[inline(always)]
    fn extent(&self) -> Extent<Concrete> {
        Extent {
            alive: self.alive,
            size: self.bytes.len() as u128,
            writable: self.writable,
            guessed: self.site == ObjectOrigin::OutsideArray,
        }
    }

    /// The reason why an invalid access is invalid.
    #[cold]
    fn fault(&self, (offset, len): (u128, u128), found: Access<bool>) -> Fault {
        let size = self.bytes.len() as u128;
        if found.rejected {
            Fault::PastGuess
        } else if !self.alive {
            Fault::OutOfScope
        } else if fault::beyond(&mut Concrete, offset, len, size) {
            Fault::Bounds
        } else {
            Fault::Constant
        }
    }

    /// Resets the bytes at `at` to the pattern of uninitialised memory.
    pub(super) fn forget(&mut self, at: usize, len: usize) {
        self.bytes[at..at + len].fill(UNDEFINED_BYTE);
        self.written(at, len);
        self.undefined.set(at, len, self.bytes.len());
    }
}

#[derive(Clone, Debug)]
enum Slot {
    Here(Rc<Object>),
    Gone { size: u32, site: ObjectOrigin },
}

/// The reason why an access is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Null,
    NotAnObject,
    Function,
    Gone,
    OutOfScope,
    Bounds,
    /// Past the end of an object whose size is a guess: not a fault of the program.
    PastGuess,
    Constant,
}

/// The place of the object that an address leads to.
#[inline(always)]
fn place(address: u64) -> u32 {
    place_of((address >> 32) as u32)
}

/// All objects of a run.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    globals: Vec<Rc<Object>>,
    dynamic: Vec<Slot>,
    /// Objects to be reused, so that a call which makes objects does not need the allocator.
    spare: Vec<Rc<Object>>,
    /// Bytes of live heap and stack objects.
    pub(super) live: u64,
}

const SPARE_OBJECTS: usize = 64;
const SPARE_BYTES: usize = 4096;

impl Memory {
    /// The Program's globals with their initial contents.
    pub(super) fn new(program: &Program) -> Memory {
        let object = |(index, global): (usize, &crate::program::ir::Global)| {
            Rc::new(Object {
                bytes: Contents::of(global),
                alive: true,
                writable: !global.constant,
                site: ObjectOrigin::Global(GlobalId(index as u32)),
                undefined: Undefined::default(),
                shadow: None,
                array: None,
            })
        };
        let globals = program.globals.iter().enumerate().map(object).collect();
        Memory {
            globals,
            dynamic: Vec::new(),
            spare: Vec::new(),
            live: 0,
        }
    }

    #[inline]
    fn find(&self, address: u64) -> Result<&Object, Fault> {
        let id = place(address);
        if id >= DYNAMIC_OBJECTS {
            match self.dynamic.get((id - DYNAMIC_OBJECTS) as usize) {
                Some(Slot::Here(object)) => Ok(object),
                Some(Slot::Gone { .. }) => Err(Fault::Gone),
                None if address >> 32 == 0 => Err(Fault::Null),
                None => Err(Fault::NotAnObject),
            }
        } else {
            match self.globals.get(id.wrapping_sub(GLOBAL_OBJECTS) as usize) {
                Some(object) => Ok(object),
                None if id >= FUNCTION_OBJECTS => Err(Fault::Function),
                None => Err(Fault::NotAnObject),
            }
        }
    }

    /// The object that holds `len` bytes at `address`, and the offset in it.
    #[inline]
    fn access(&self, address: u64, len: u64, write: bool) -> Result<(&Object, usize), Fault> {
        let offset = address & 0xffff_ffff;
        let object = self.find(address)?;
        let at = (u128::from(offset), u128::from(len));
        let found = fault::access(&mut Concrete, object.extent(), at, write);
        if found.violated || found.rejected {
            return Err(object.fault(at, found));
        }
        Ok((object, offset as usize))
    }

    /// The object that holds `len` readable bytes at `address`, and the offset in it.
    #[inline]
    pub(super) fn readable(&self, address: u64, len: u64) -> Result<(&Object, usize), Fault> {
        self.access(address, len, false)
    }

    /// The object that holds `len` writable bytes at `address`, and the offset in it.
    #[inline]
    pub(super) fn writable(
        &mut self,
        address: u64,
        len: u64,
    ) -> Result<(&mut Object, usize), Fault> {
        let (_, offset) = self.access(address, len, true)?;
        self.unchecked(address)
            .map(|object| (object, offset))
            .ok_or(Fault::NotAnObject)
    }

    /// The object that an address points into, even if it is dead, constant or too small.
    pub(super) fn unchecked(&mut self, address: u64) -> Option<&mut Object> {
        let id = place(address);
        let object = if id >= DYNAMIC_OBJECTS {
            match self.dynamic.get_mut((id - DYNAMIC_OBJECTS) as usize)? {
                Slot::Here(object) => object,
                Slot::Gone { .. } => return None,
            }
        } else {
            self.globals
                .get_mut(id.wrapping_sub(GLOBAL_OBJECTS) as usize)?
        };
        Some(Rc::make_mut(object))
    }

    /// Whether `writable` would succeed, without copying anything.
    pub(super) fn check_write(&self, address: u64, len: u64) -> Result<(), Fault> {
        self.access(address, len, true).map(|_| ())
    }

    /// Makes a new, uninitialised object; returns its address.
    pub(super) fn allocate(&mut self, size: u64, site: ObjectOrigin) -> u64 {
        let size = size as usize;
        let spare = if size <= SPARE_BYTES {
            self.spare.pop()
        } else {
            None
        };
        let mut object = spare.unwrap_or_else(|| {
            Rc::new(Object {
                bytes: Contents::default(),
                alive: true,
                writable: true,
                site,
                undefined: Undefined::default(),
                shadow: None,
                array: None,
            })
        });
        let new = Rc::make_mut(&mut object);
        new.bytes.refill(size, UNDEFINED_BYTE);
        new.undefined.reset(size);
        (new.alive, new.writable, new.site) = (true, true, site);
        (new.shadow, new.array) = (None, None);
        self.live += size as u64;
        let id = DYNAMIC_OBJECTS + self.dynamic.len() as u32;
        self.dynamic.push(Slot::Here(object));
        u64::from(number_of(id)) << 32
    }

    /// The number of the object that is allocated after `others` others.
    pub(super) fn next_number(&self, others: u32) -> u32 {
        number_of(DYNAMIC_OBJECTS + self.dynamic.len() as u32 + others)
    }

    /// Turns a dynamic object into a tombstone.
    pub(super) fn remove(&mut self, address: u64) {
        let id = place(address);
        let Some(slot) = self
            .dynamic
            .get_mut(id.wrapping_sub(DYNAMIC_OBJECTS) as usize)
        else {
            return;
        };
        if let Slot::Here(object) = slot {
            let (size, site) = (object.bytes.len() as u32, object.site);
            let Slot::Here(object) = std::mem::replace(slot, Slot::Gone { size, site }) else {
                return;
            };
            self.live -= u64::from(size);
            if self.spare.len() < SPARE_OBJECTS
                && size as usize <= SPARE_BYTES
                && Rc::strong_count(&object) == 1
            {
                self.spare.push(object);
            }
        }
    }

    /// Size and origin of the object that an address points into, even if it is gone.
    pub(super) fn about(&self, address: u64) -> Option<(u64, ObjectOrigin)> {
        let id = place(address);
        match id.checked_sub(DYNAMIC_OBJECTS) {
            Some(index) => match self.dynamic.get(index as usize)? {
                Slot::Here(object) => Some((object.bytes.len() as u64, object.site)),
                Slot::Gone { size, site } => Some((u64::from(*size), *site)),
            },
            None => {
                let object = self.globals.get(id.wrapping_sub(GLOBAL_OBJECTS) as usize)?;
                Some((object.bytes.len() as u64, object.site))
            }
        }
    }

    /// The number of objects made besides the globals, including those that are gone.
    pub(super) fn made(&self) -> usize {
        self.dynamic.len()
    }

    /// The object that an address points into, unless it is gone.
    pub(super) fn seen(&self, address: u64) -> Option<Seen<'_>> {
        let object = self.find(address).ok()?;
        Some(Seen {
            alive: object.alive,
            bytes: &object.bytes,
        })
    }

    /// Whether some of these bytes were never written.
    pub(super) fn is_undefined(&self, address: u64, at: usize, len: usize) -> bool {
        self.find(address)
            .is_ok_and(|object| object.undefined.any(at, len))
    }

    /// Whether the address is the start of a heap object that was not freed.
    pub(super) fn is_live_heap(&self, address: u64) -> bool {
        let offset = u128::from(address & 0xffff_ffff);
        let good = |o: &Object| !fault::release(&mut Concrete, o.alive, offset);
        self.find(address)
            .is_ok_and(|o| o.site.is_heap() && good(o))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> Memory {
        Memory::new(&Program::default())
    }

    #[test]
    fn bounds_lifetimes_and_tombstones() {
        let mut m = memory();
        let a = m.allocate(16, ObjectOrigin::Heap(None));
        assert!(m.readable(a, 16).is_ok());
        assert_eq!(m.readable(a + 1, 16).err(), Some(Fault::Bounds));
        assert!(m.readable(a - 1, 1).is_err());
        assert_eq!(m.readable(0, 1).err(), Some(Fault::Null));
        m.remove(a);
        assert_eq!(m.readable(a, 1).err(), Some(Fault::Gone));
        assert_eq!(m.about(a), Some((16, ObjectOrigin::Heap(None))));
        let b = m.allocate(16, ObjectOrigin::Heap(None));
        assert_ne!(a, b);
        assert_eq!(m.live, 16);
    }

    #[test]
    fn undefined_bytes_are_tracked() {
        let mut m = memory();
        let a = m.allocate(100, ObjectOrigin::Arguments);
        let (object, at) = m.writable(a + 62, 8).expect("in bounds");
        object.write(at, 8, 7);
        assert_eq!(object.read(62, 8), 7);
        assert!(!object.undefined.any(62, 8));
        assert!(object.undefined.any(61, 2));
        object.forget(64, 1);
        assert!(object.undefined.any(62, 8));
        assert_eq!(object.read(64, 1), 0xaa);
    }

    #[test]
    fn copies_are_independent() {
        let mut m = memory();
        let a = m.allocate(4, ObjectOrigin::Arguments);
        let snapshot = m.clone();
        m.writable(a, 4).expect("in bounds").0.write(0, 4, 1);
        assert_eq!(
            snapshot.readable(a, 4).expect("in bounds").0.read(0, 4),
            0xaaaa_aaaa
        );
    }
}
