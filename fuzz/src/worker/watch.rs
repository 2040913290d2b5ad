//! Detects pages that a run seldom writes, without reading them.
//!
//! Comparing a page before each run costs reading it, whether or not it was written; for a
//! harness's output buffer of 64 KB, this took longer than the run. Pages that are seldom written
//! are therefore made read-only. The first write of a run faults; the handler records the page and
//! makes it writable, and the page is restored and made read-only again before the next run. A
//! fault costs as much as comparing a page some hundred times, so a page that is written more often
//! than that stays writable and is compared. The writes are counted anew in each epoch.
//!
//! The kernel's dirty bits would provide the same with a system call for each run, which costs more
//! than the whole run of many targets.

use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering};

/// Bytes of a page.
pub(super) const PAGE: usize = 4096;
/// The number of runs of an epoch. The first epochs are shorter, since nothing is known yet.
const EPOCH: u64 = 1024;
const FIRST: [u64; 3] = [16, 64, 256];
/// A read-only page becomes permanently writable once it was written in this many runs of an epoch.
const OPENED: u16 = 6;
/// A writable page that was written in at most this many runs of an epoch becomes read-only.
const CLOSED: u16 = 2;

/// The areas that the handler knows.
static AREAS: [AtomicPtr<Area>; 64] = [const { AtomicPtr::new(std::ptr::null_mut()) }; 64];
static KNOWN: AtomicUsize = AtomicUsize::new(0);

/// What the handler needs to know about an area. It exists until the end of the process.
struct Area {
    start: usize,
    /// For each page: whether it is writable.
    open: Box<[AtomicBool]>,
    /// The pages that were made writable in this run, and their number.
    written: Box<[AtomicU32]>,
    count: AtomicUsize,
}

impl Area {
    fn access(&self, page: usize, open: bool) -> bool {
        self.open[page].store(open, Ordering::Relaxed);
        let access = match open {
            true => libc::PROT_READ | libc::PROT_WRITE,
            false => libc::PROT_READ,
        };
        let at = (self.start + page * PAGE) as *mut libc::c_void;
        // SAFETY: the page is in the area, which its owner handed to this module.
        let done = unsafe { libc::mprotect(at, PAGE, access) } == 0;
        if !done {
            self.open[page].store(true, Ordering::Relaxed);
        }
        done
    }
}

/// For the fault handler: whether this was the first write to a read-only page, which is writable
/// now. Async-signal-safe.
pub(super) fn opened(address: usize) -> bool {
    let known = KNOWN.load(Ordering::Acquire).min(AREAS.len());
    for area in &AREAS[..known] {
        // SAFETY: areas are leaked, and published only after they were initialised.
        let Some(area) = (unsafe { area.load(Ordering::Acquire).as_ref() }) else {
            continue;
        };
        let page = address.wrapping_sub(area.start) / PAGE;
        if page < area.open.len() && !area.open[page].load(Ordering::Relaxed) {
            let at = area.count.load(Ordering::Relaxed);
            let Some(slot) = area.written.get(at) else {
                return false;
            };
            slot.store(page as u32, Ordering::Relaxed);
            area.count.store(at + 1, Ordering::Relaxed);
            return area.access(page, true);
        }
    }
    false
}

/// Watched pages.
pub(super) struct Watch {
    area: &'static Area,
    /// The writable pages, which are compared before each run.
    open: Vec<u32>,
    /// For each page: the number of runs of this epoch in which it was written.
    runs_written: Vec<u16>,
    runs: u64,
    epoch_ends: u64,
    epochs: usize,
}

impl Watch {
    /// Watches pages, which are initially all writable or (with `closed`) all read-only; `None` if
    /// there are none or too many areas are watched.
    ///
    /// # Safety
    ///
    /// `start` is the start of a page, and `count` pages from there on are the caller's. Their
    /// writers tolerate a fault that is handled. The pages exist until the end of the process.
    pub unsafe fn new(start: *mut u8, count: usize, closed: bool) -> Option<Watch> {
        if count == 0 {
            return None;
        }
        let slot = KNOWN.fetch_add(1, Ordering::AcqRel);
        let slot = AREAS.get(slot)?;
        let area: &'static Area = Box::leak(Box::new(Area {
            start: start as usize,
            open: (0..count).map(|_| AtomicBool::new(true)).collect(),
            written: (0..count).map(|_| AtomicU32::new(0)).collect(),
            count: AtomicUsize::new(0),
        }));
        slot.store(std::ptr::from_ref(area).cast_mut(), Ordering::Release);
        // SAFETY: these pages are the caller's.
        let closed =
            closed && unsafe { libc::mprotect(start.cast(), count * PAGE, libc::PROT_READ) } == 0;
        if closed {
            let pages = area.open.iter();
            pages.for_each(|open| open.store(false, Ordering::Relaxed));
        }
        Some(Watch {
            area,
            open: (0..if closed { 0 } else { count as u32 }).collect(),
            runs_written: vec![0; count],
            runs: 0,
            epoch_ends: FIRST[0],
            epochs: 0,
        })
    }

    /// Restores pages that may have been written. `put` restores a page and returns whether it
    /// differed.
    pub fn restore(&mut self, mut put: impl FnMut(usize) -> bool) {
        for &page in &self.open {
            if put(page as usize) {
                self.runs_written[page as usize] += 1;
            }
        }
        let written = self.area.count.swap(0, Ordering::Relaxed);
        for slot in &self.area.written[..written] {
            let page = slot.load(Ordering::Relaxed);
            let at = page as usize;
            put(at);
            self.runs_written[at] += 1;
            if self.runs_written[at] >= OPENED || !self.area.access(at, false) {
                self.open.push(page);
            }
        }
        self.runs += 1;
        if self.runs == self.epoch_ends {
            self.close();
        }
    }

    /// Ends an epoch: makes pages read-only that were hardly written.
    fn close(&mut self) {
        // A short epoch is not enough evidence: a page that was made writable after a few faults
        // stays so if it was written at all.
        let most = if self.epochs < FIRST.len() { 0 } else { CLOSED };
        let (area, counts) = (self.area, &self.runs_written);
        self.open
            .retain(|&page| counts[page as usize] > most || !area.access(page as usize, false));
        self.runs_written.fill(0);
        self.epochs += 1;
        self.epoch_ends = self.runs + FIRST.get(self.epochs).copied().unwrap_or(EPOCH);
    }

    /// The number of pages that are compared before each run.
    #[cfg(test)]
    pub fn looked_at(&self) -> usize {
        self.open.len()
    }
}
