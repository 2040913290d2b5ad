//! Observes a run while it goes on.
//!
//! The meaning of a program is defined twice: the machine executes it, and the prover turns it into
//! terms. A test that compares the two has to see the machine's state at the places of the prover's
//! states, between blocks.

use super::frame::Frame;
use super::memory::{Memory, ObjectOrigin};
use super::shadow::Shade;
use super::step::Run;
use crate::program::ir::{BlockId, CallSite, DYNAMIC_OBJECTS, FuncId, Loc, Reg, number_of};

/// The state of a run where it enters a block.
#[derive(Debug)]
pub struct View<'v> {
    block: BlockId,
    position: usize,
    frames: &'v [Frame],
    registers: &'v [u128],
    shades: &'v [Shade],
    objects: &'v [u64],
    memory: &'v Memory,
}

/// The current state of an object.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'v> {
    /// Whether it can be accessed.
    pub alive: bool,
    /// Its bytes.
    pub bytes: &'v [u8],
}

/// An observer of a run.
pub(super) type Watch<'w> = dyn FnMut(&View<'_>) + 'w;

impl View<'_> {
    /// The block that is entered.
    pub fn block(&self) -> BlockId {
        self.block
    }

    /// The number of bytes that were requested from the tape.
    pub fn position(&self) -> usize {
        self.position
    }

    /// The number of calls in progress.
    pub fn depth(&self) -> usize {
        self.frames.len()
    }

    /// The function of a frame and the call that entered it; frame 0 is that of the entry function.
    pub fn frame(&self, frame: usize) -> Option<(FuncId, Option<CallSite>)> {
        self.frames.get(frame).map(|f| (f.function, f.site))
    }

    /// A register of a frame, unless its value depends on data that was never written.
    pub fn register(&self, frame: usize, reg: Reg) -> Option<u128> {
        let at = self.frames.get(frame)?.base + reg.index();
        let shade = self.shades.get(at)?;
        self.registers.get(at).copied().filter(|_| !shade.undefined)
    }

    /// The stack objects of a frame by number, oldest first, and the operations that made them.
    pub fn locals(&self, frame: usize) -> Vec<(u32, Loc)> {
        let first = self.frames.get(frame).map_or(0, |f| f.objects);
        let end = self.frames.get(frame + 1).map(|f| f.objects);
        let end = end.unwrap_or(self.objects.len());
        let own = self.objects.get(first..end).unwrap_or_default();
        own.iter()
            .filter_map(|&address| match self.memory.about(address)? {
                (_, ObjectOrigin::Stack { at }) => Some(((address >> 32) as u32, at)),
                _ => None,
            })
            .collect()
    }

    /// The number of objects made so far.
    pub fn made(&self) -> usize {
        self.memory.made()
    }

    /// The blocks of the heap among the objects from the `first`th one on, by number, with the
    /// calls that requested them.
    pub fn blocks(&self, first: usize) -> Vec<(u32, CallSite)> {
        let all = first..self.made();
        all.filter_map(|index| {
            let number = number_of(DYNAMIC_OBJECTS + index as u32);
            match self.memory.about(u64::from(number) << 32)? {
                (_, ObjectOrigin::Heap(Some(call))) => Some((number, call)),
                _ => None,
            }
        })
        .collect()
    }

    /// The object with a number; `None` if there is none, or if it is gone.
    pub fn object(&self, number: u32) -> Option<Seen<'_>> {
        self.memory.seen(u64::from(number) << 32)
    }

    /// Whether there ever was an object with this number.
    pub fn existed(&self, number: u32) -> bool {
        self.memory.about(u64::from(number) << 32).is_some()
    }

    /// Whether some of these bytes of an object were never written.
    pub fn is_undefined(&self, number: u32, at: usize, len: usize) -> bool {
        self.memory.is_undefined(u64::from(number) << 32, at, len)
    }
}

impl<const TRACK: bool> Run<'_, TRACK> {
    /// Shows the state to the observer.
    #[cold]
    pub(super) fn show(&mut self) {
        let Some(watch) = self.watch.take() else {
            return;
        };
        watch(&View {
            block: self.block,
            position: self.position,
            frames: &self.frames,
            registers: &self.registers,
            shades: &self.shades,
            objects: &self.objects,
            memory: &self.memory,
        });
        self.watch = Some(watch);
    }
}
