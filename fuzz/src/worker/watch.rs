//! Pages that a run seldom writes, found out without reading them.
//!
//! A page that is looked at before each run costs its reading, touched or not; a harness's output
//! buffer of 64 KB took longer to look at than the run. So pages that are seldom written are made
//! read-only: the first write of a run faults, the handler notes the page and opens it, and it is
//! put back and closed before the next run. A fault costs as much as looking at a page some hundred
//! times, so that a page which is written more often than that stays open and is looked at; which
//! pages these are is counted anew in each epoch.
//!
//! Dirty bits of the kernel would do the same with a call for each run, which costs more than many
//! targets' whole run.

use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering};

/// Bytes of a page.
pub(super) const PAGE: usize = 4096;
/// Runs of an epoch. The first are shorter: nothing is known then.
const EPOCH: u64 = 1024;
const FIRST: [u64; 3] = [16, 64, 256];
/// A closed page is opened for good once it was written in so many runs of an epoch.
const OPENED: u16 = 6;
/// An open page that was written in at most so many runs of an epoch is closed.
const CLOSED: u16 = 2;

/// Areas that the handler knows.
static AREAS: [AtomicPtr<Area>; 64] = [const { AtomicPtr::new(std::ptr::null_mut()) }; 64];
static KNOWN: AtomicUsize = AtomicUsize::new(0);

/// What the handler needs of an area. It stays until the end of the process.
struct Area {
    start: usize,
    /// By page: whether it may be written.
    open: Box<[AtomicBool]>,
    /// Pages that were opened in this run, and how many.
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
        // SAFETY: the page lies in the area, which its owner gave to this module.
        let done = unsafe { libc::mprotect(at, PAGE, access) } == 0;
        if !done {
            self.open[page].store(true, Ordering::Relaxed);
        }
        done
    }
}

/// For the handler of faults: whether this was the first write to a closed page, which is open now.
/// Async-signal-safe.
pub(super) fn opened(address: usize) -> bool {
    let known = KNOWN.load(Ordering::Acquire).min(AREAS.len());
    for area in &AREAS[..known] {
        // SAFETY: areas are leaked, and published after they were filled.
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
    /// Open pages, which are looked at before each run.
    open: Vec<u32>,
    /// By page: in how many runs of this epoch it was written.
    runs_written: Vec<u16>,
    runs: u64,
    epoch_ends: u64,
    epochs: usize,
}

impl Watch {
    /// Watches pages, which are at first all open or all closed; `None` if there are none or too
    /// many areas are watched.
    ///
    /// # Safety
    ///
    /// `start` is the start of a page, and so many pages from there on are the caller's, whose
    /// writes tolerate a fault that is handled. They stay until the end of the process.
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

    /// Puts back what may have been written: `put` puts a page back and tells whether it had to be.
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

    /// Ends an epoch: closes what was hardly written.
    fn close(&mut self) {
        // A short epoch is no ground to open again what a fault or two opened.
        let most = if self.epochs < FIRST.len() { 0 } else { CLOSED };
        let (area, counts) = (self.area, &self.runs_written);
        self.open
            .retain(|&page| counts[page as usize] > most || !area.access(page as usize, false));
        self.runs_written.fill(0);
        self.epochs += 1;
        self.epoch_ends = self.runs + FIRST.get(self.epochs).copied().unwrap_or(EPOCH);
    }

    /// How many pages are looked at before each run.
    #[cfg(test)]
    pub fn looked_at(&self) -> usize {
        self.open.len()
    }
}
