//! The target inside the worker: loaded with `dlopen`, run under a guard, reset before each run.
//!
//! A process per run costs a hundred times as much as the run, so millions of runs share one
//! process. Three things make that safe:
//! - the C runtime's own `sigsetjmp`: signals and the watchdog jump back into it, and there is no
//!   Rust frame in between;
//! - the target's writable memory is restored before each run to its content after loading (see the
//!   `restore` module);
//! - this process's allocator is not the C library's, since a jump out of `malloc` could leave its
//!   lock held.
//!
//! The watchdog costs no system call per run: a periodic timer checks whether the run that it saw
//! last is still running.

use std::cell::RefCell;
use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::Ordering;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use super::faults::{ACTIVE, Hooks, RUN};
use super::recorder::Recorder;
use super::restore::{FRESH, Piece};

/// Mirror of `struct crunner_options`.
#[repr(C)]
#[derive(Default)]
struct Options {
    live_bytes: u64,
    output_bytes: u64,
    flags: u32,
    reserved: u32,
    fresh: usize,
    fresh_bytes: u64,
}

/// Mirror of `struct crunner_result`.
#[repr(C)]
pub(super) struct RunResult {
    pub outcome: u32,
    pub status: i32,
    pub kind: u32,
    pub line: u32,
    pub check: u32,
    pub exhausted: u32,
    pub address: u64,
    pub pc: u64,
    pub consumed: u64,
    pub heap_live: u64,
    pub heap_peak: u64,
    pub what: [u8; 256],
    pub file: [u8; 256],
}

/// The side of a heap block that is guarded; the numbers are those of crunner_rt.h.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Guarded {
    Ends = 1,
    Beginnings = 2,
}

pub(super) const RETURNED: u32 = 0;
pub(super) const EXITED: u32 = 1;
pub(super) const VIOLATED: u32 = 3;
pub(super) const CRASHED: u32 = 4;
pub(super) const TIMED_OUT: u32 = 5;
pub(super) const OUT_OF_MEMORY: u32 = 6;

type New = unsafe extern "C" fn(*const Options) -> *mut c_void;
type Run = unsafe extern "C" fn(*mut c_void, *const u8, usize, *mut RunResult);
type Guard = unsafe extern "C" fn(*mut c_void, u32);

/// Why a target could not be loaded.
#[derive(Debug, thiserror::Error)]
pub(super) enum LoadError {
    #[error("cannot load {path}: {message}")]
    Open { path: PathBuf, message: String },
    #[error("{path} has {found} blocks, not {expected}: it was built from another program")]
    Blocks {
        path: PathBuf,
        found: usize,
        expected: u32,
    },
    #[error("{0}: no memory for the runtime")]
    Memory(PathBuf),
}

/// One side of a logged comparison of memory.
#[repr(C)]
pub(super) struct MemoryEntry {
    pub lengths: [u32; 2],
    pub sides: [[u8; 32]; 2],
}

impl MemoryEntry {
    /// The logged bytes of both sides.
    pub fn known(&self) -> [&[u8]; 2] {
        [0, 1].map(|side| {
            let bytes = &self.sides[side];
            &bytes[..bytes.len().min(self.lengths[side] as usize)]
        })
    }

    /// Each side, with the bytes that it would have to equal.
    pub fn both_ways(&self) -> [(&[u8], &[u8]); 2] {
        let [a, b] = self.known();
        [(a, b), (b, a)]
    }

    /// An entry with these bytes, as in the log.
    #[cfg(test)]
    pub fn of(bytes: [&[u8]; 2]) -> MemoryEntry {
        MemoryEntry {
            lengths: bytes.map(|bytes| bytes.len() as u32),
            sides: bytes.map(|bytes| {
                let mut side = [0; 32];
                side[..bytes.len()].copy_from_slice(bytes);
                side
            }),
        }
    }
}

/// A logged comparison of integers.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct CompareEntry {
    pub sides: [u64; 2],
    pub bytes: u32,
    /// Bit 0: the first side is constant; bit 1: the second.
    pub constants: u32,
    /// Identifies the comparison.
    pub site: u64,
}

impl CompareEntry {
    /// The values that would pass the comparison: the other side's value for equality, and that
    /// value plus or minus one for an order.
    pub fn wanted(&self, side: usize) -> [u64; 3] {
        let other = self.sides[1 - side];
        [other, other.wrapping_add(1), other.wrapping_sub(1)]
    }
}

struct Log {
    counts: [*mut u32; 2],
    compares: *const CompareEntry,
    memory: *const MemoryEntry,
}

/// Records tapes before they are run; shared by a target and the target that logs comparisons.
pub(super) type Recording = Option<Rc<RefCell<Recorder>>>;

/// A loaded target. It is never unloaded, since handlers and debug information may refer to it.
pub(super) struct Target {
    run: Run,
    guard: Guard,
    runtime: *mut c_void,
    hooks: *mut Hooks,
    counters: *mut u8,
    blocks: usize,
    base: u64,
    pieces: Vec<Piece>,
    log: Option<Log>,
    recorder: Recording,
    /// The result of the last run.
    pub result: Box<RunResult>,
}

impl Target {
    /// Loads a target that [`crate::native`] built.
    pub fn load(
        path: &Path,
        blocks: u32,
        live_bytes: u64,
        recorder: Recording,
    ) -> Result<Target, LoadError> {
        let open = |e: libloading::Error| LoadError::Open {
            path: path.to_owned(),
            message: e.to_string(),
        };
        // A name without a folder would be searched for in the system's folders.
        let full = std::path::absolute(path).map_err(|e| LoadError::Open {
            path: path.to_owned(),
            message: e.to_string(),
        })?;
        // SAFETY: the object was built by this crate and has no constructors of its own; its
        // symbols have the types of crunner_rt.h, which Options and RunResult mirror.
        unsafe {
            let library = Library::open(Some(&full), RTLD_NOW | RTLD_LOCAL).map_err(open)?;
            let new: New = *library.get(b"crunner_rt_new").map_err(open)?;
            let run: Run = *library.get(b"crunner_rt_run").map_err(open)?;
            let guard: Guard = *library.get(b"crunner_rt_guard").map_err(open)?;
            let counters: *mut u8 = *library.get(b"__cegar_counters").map_err(open)?;
            let found = *library.get::<*const u32>(b"__cegar_blocks").map_err(open)?;
            let found = *found as usize;
            if found != blocks as usize {
                return Err(LoadError::Blocks {
                    path: path.to_owned(),
                    found,
                    expected: blocks,
                });
            }
            let lent = lent_memory();
            let options = Options {
                live_bytes,
                fresh: lent.as_ref().map_or(0, |(at, _)| *at as usize),
                fresh_bytes: LENT as u64,
                ..Options::default()
            };
            let runtime = new(&options);
            if runtime.is_null() {
                return Err(LoadError::Memory(path.to_owned()));
            }
            let mut kept = vec![(counters as usize, found)];
            let log = match library.get::<*mut u32>(b"__cegar_cmp_count") {
                Err(_) => None,
                Ok(count) => {
                    let memory_count: *mut u32 =
                        *library.get(b"__cegar_mem_count").map_err(open)?;
                    let compares: *const CompareEntry =
                        *library.get(b"__cegar_cmp_log").map_err(open)?;
                    let memory: *const MemoryEntry =
                        *library.get(b"__cegar_mem_log").map_err(open)?;
                    kept.push((compares as usize, COMPARES * size_of::<CompareEntry>()));
                    kept.push((memory as usize, MEMORIES * size_of::<MemoryEntry>()));
                    kept.push((*count as usize, 4));
                    kept.push((memory_count as usize, 4));
                    Some(Log {
                        counts: [*count, memory_count],
                        compares,
                        memory,
                    })
                }
            };
            let segments = super::segments::segments(counters as usize);
            let hooks = Hooks::of(&library, segments.code).map_err(open)?;
            let mut pieces: Vec<Piece> = lent.into_iter().map(|(_, piece)| piece).collect();
            let globals = super::segments::without(&segments.writable, &kept).into_iter();
            pieces.extend(globals.map(|(at, len)| Piece::new(at as *mut u8, len)));
            std::mem::forget(library);
            Ok(Target {
                run,
                guard,
                runtime,
                hooks: Box::into_raw(Box::new(hooks)),
                counters,
                blocks: found,
                base: segments.base as u64,
                pieces,
                log,
                recorder,
                result: Box::new(std::mem::zeroed()),
            })
        }
    }

    /// The counts of the last run.
    pub fn counts(&self) -> &[u8] {
        // SAFETY: the array is part of the loaded object, which is never unloaded. The program that
        // writes it runs only inside `run`, which borrows `self` mutably.
        unsafe { std::slice::from_raw_parts(self.counters, self.blocks) }
    }

    /// Clears the counters.
    pub fn clear(&mut self) {
        // SAFETY: as above.
        unsafe { std::ptr::write_bytes(self.counters, 0, self.blocks) }
    }

    /// Runs the program once. The counters are not cleared here.
    pub fn run(&mut self, tape: &[u8]) {
        if let Some(recorder) = &self.recorder {
            recorder.borrow_mut().note(tape);
        }
        // SAFETY: the pieces are this object's writable memory, and the target is not running.
        unsafe {
            for piece in &mut self.pieces {
                piece.restore();
            }
        }
        ACTIVE.store(self.hooks, Ordering::Release);
        RUN.store(
            RUN.load(Ordering::Relaxed).wrapping_add(1),
            Ordering::Relaxed,
        );
        // SAFETY: the runtime is alive, the tape does not move, and every way out of the program
        // returns here.
        unsafe { (self.run)(self.runtime, tape.as_ptr(), tape.len(), &mut *self.result) }
        if self.result.outcome == CRASHED
            && let Some(recorder) = &self.recorder
        {
            recorder.borrow_mut().crashed();
        }
    }

    /// Runs the program once with inaccessible pages around its heap blocks, and preserves the
    /// counters. Returns the counts of this run if it failed.
    pub fn run_guarded(&mut self, tape: &[u8], guarded: Guarded) -> Option<Vec<u8>> {
        let before = self.counts().to_vec();
        self.clear();
        // SAFETY: the runtime is alive, and no program is running.
        unsafe { (self.guard)(self.runtime, guarded as u32) }
        self.run(tape);
        // SAFETY: as above.
        unsafe { (self.guard)(self.runtime, 0) }
        let failed = matches!(self.result.outcome, VIOLATED | CRASHED);
        let counts = failed.then(|| self.counts().to_vec());
        // SAFETY: as in `clear`; the vector has the same length.
        unsafe { std::ptr::copy_nonoverlapping(before.as_ptr(), self.counters, self.blocks) }
        counts
    }

    /// Clears the log of comparisons.
    pub fn clear_log(&mut self) {
        if let Some(log) = &self.log {
            for count in log.counts {
                // SAFETY: this is a variable of the loaded object.
                unsafe { *count = 0 }
            }
        }
    }

    /// The comparisons that were logged since then.
    pub fn logged(&self) -> (&[CompareEntry], &[MemoryEntry]) {
        let Some(log) = &self.log else {
            return (&[], &[]);
        };
        // SAFETY: the arrays are part of the loaded object. The counts never exceed their lengths,
        // and are clamped nevertheless.
        unsafe {
            let compares = (*log.counts[0] as usize).min(COMPARES);
            let memory = (*log.counts[1] as usize).min(MEMORIES);
            (
                std::slice::from_raw_parts(log.compares, compares),
                std::slice::from_raw_parts(log.memory, memory),
            )
        }
    }

    /// Converts an address to one relative to where the target was loaded.
    pub fn relative(&self, pc: u64) -> u64 {
        pc.wrapping_sub(self.base)
    }
}

/// The number of bytes that are lent to a target's heap and restored like its globals.
const LENT: usize = 1 << 20;

/// Maps new memory for a heap; it stays mapped until the end of the process.
fn lent_memory() -> Option<(*mut u8, Piece)> {
    // SAFETY: this is a new mapping that no other code uses yet, and the fault handler handles its
    // faults.
    unsafe {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let at = libc::mmap(std::ptr::null_mut(), LENT, access, flags, -1, 0);
        if at == libc::MAP_FAILED {
            return None;
        }
        std::ptr::write_bytes(at.cast::<u8>(), FRESH, LENT);
        Piece::fresh(at.cast(), LENT).map(|piece| (at.cast(), piece))
    }
}

/// Sizes of the log's arrays, as in `cegar_cmp.c`.
const COMPARES: usize = 4096;
const MEMORIES: usize = 256;
