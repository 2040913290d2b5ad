//! Restores the target's writable memory before each run, at a cost proportional to what the run
//! wrote.
//!
//! The whole pages of a piece are watched (see the `watch` module): pages that most runs write are
//! compared with their original content and rewritten if they differ; the others cost nothing until
//! a run writes them. Most of these pages originally contain a single repeated byte (zeros, or the
//! fill of fresh heap memory) and are compared with one shared page of it, which stays in the
//! cache.
//!
//! Watching takes a fault of some microseconds for the first write to a page. That is too much if
//! each run writes elsewhere in megabytes of memory. A piece above [`LONG`] is therefore mapped
//! privately from a copy in memory. Discarding its pages costs one system call, and a page fault
//! for each page that is written again; pages that most runs write are copied instead. A comparison
//! once in many runs determines which pages these are.

use std::ffi::CStr;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd};

use super::watch::{PAGE, Watch};

/// The sizes of pieces that are mapped: from `LONG` to `LONGEST` bytes, since the sandbox limits
/// the length of files.
const LONG: usize = 1 << 20;
const LONGEST: usize = 32 << 20;
/// The number of first runs in which pages are compared, and the interval of later comparisons.
const FIRST: u64 = 8;
const EVERY: u64 = 2048;
/// The fill of fresh heap memory.
pub(super) const FRESH: u8 = cegar_stubs::UNDEFINED_BYTE;

static ZEROS: [u8; PAGE] = [0; PAGE];
static UNWRITTEN: [u8; PAGE] = [FRESH; PAGE];

/// The original content of a part of the memory, after loading.
struct Was {
    bytes: Vec<u8>,
    /// For each page: the page of a single repeated byte that it equals, if any.
    plain: Vec<Option<&'static [u8; PAGE]>>,
}

impl Was {
    fn new(bytes: &[u8]) -> Was {
        let plain: Vec<_> = (bytes.chunks_exact(PAGE))
            .map(|page| [&ZEROS, &UNWRITTEN].into_iter().find(|p| *p == page))
            .collect();
        // If all pages are of this kind, no copy is needed.
        let bytes = match plain.iter().all(Option::is_some) {
            true => Vec::new(),
            false => bytes.to_vec(),
        };
        Was { bytes, plain }
    }

    /// Restores a page if it differs. Returns whether it did.
    ///
    /// # Safety
    ///
    /// `start` is where this part begins, and no other code accesses this memory meanwhile.
    unsafe fn put(&self, start: *mut u8, page: usize) -> bool {
        let was = match self.plain[page] {
            Some(plain) => &plain[..],
            None => &self.bytes[page * PAGE..(page + 1) * PAGE],
        };
        // SAFETY: guaranteed by the caller.
        let now = unsafe { std::slice::from_raw_parts_mut(start.add(page * PAGE), PAGE) };
        let differs = now != was;
        if differs {
            now.copy_from_slice(was);
        }
        differs
    }
}

/// A piece of the target's writable memory.
pub(super) struct Piece {
    at: *mut u8,
    /// The content before the first whole page and after the last one.
    before: Vec<u8>,
    after: Vec<u8>,
    pages: Restore,
}

/// How the whole pages are restored.
enum Restore {
    Compare(Was),
    Watch(Was, Watch),
    Remap(Pages),
}

/// Pages that are mapped from a file.
struct Pages {
    was: Vec<u8>,
    /// The pages that are copied.
    hot: Vec<bool>,
    /// Offsets and lengths, in bytes, of the ranges that are copied and of those that are
    /// discarded.
    copied: Vec<(usize, usize)>,
    given: Vec<(usize, usize)>,
    runs: u64,
}

impl Piece {
    /// # Safety
    ///
    /// The memory must be writable, used by the target only, and stay mapped until the end of the
    /// process. Its pages become read-only at times, so a fault handler must first call
    /// [`super::watch::opened`].
    pub unsafe fn new(at: *mut u8, length: usize) -> Piece {
        // SAFETY: guaranteed by the caller.
        let bytes = unsafe { std::slice::from_raw_parts(at, length) };
        let start = at.align_offset(PAGE).min(length);
        let count = (length - start) / PAGE;
        let end = start + count * PAGE;
        let within = &bytes[start..end];
        // SAFETY: these pages are part of the piece.
        let mapped = (LONG..=LONGEST).contains(&within.len())
            && unsafe { map(at.add(start), within) }.is_ok();
        let pages = if mapped {
            Restore::Remap(Pages::new(within))
        } else if within.len() < LONG
            // SAFETY: these pages are part of the piece, and the caller guarantees what is
            // required.
            && let Some(watch) = unsafe { Watch::new(at.add(start), count, false) }
        {
            Restore::Watch(Was::new(within), watch)
        } else {
            Restore::Compare(Was::new(within))
        };
        Piece {
            at,
            before: bytes[..start].to_vec(),
            after: bytes[end..].to_vec(),
            pages,
        }
    }

    /// Memory of whole pages that is filled with [`FRESH`]; `None` if it cannot be watched.
    ///
    /// # Safety
    ///
    /// As for [`Piece::new`].
    pub unsafe fn fresh(at: *mut u8, length: usize) -> Option<Piece> {
        let plain = vec![Some(&UNWRITTEN); length / PAGE];
        let was = Was {
            bytes: Vec::new(),
            plain,
        };
        // SAFETY: guaranteed by the caller.
        let watch = unsafe { Watch::new(at, length / PAGE, true) }?;
        Some(Piece {
            at,
            before: Vec::new(),
            after: Vec::new(),
            pages: Restore::Watch(was, watch),
        })
    }

    /// Restores the piece.
    ///
    /// # Safety
    ///
    /// The target must not be running.
    pub unsafe fn restore(&mut self) {
        // SAFETY: the three parts of the piece are adjacent, and no other code accesses this memory
        // meanwhile.
        unsafe {
            let start = self.at.add(self.before.len());
            let length = match &mut self.pages {
                Restore::Compare(was) => {
                    for page in 0..was.plain.len() {
                        was.put(start, page);
                    }
                    was.plain.len() * PAGE
                }
                Restore::Watch(was, watch) => {
                    watch.restore(|page| was.put(start, page));
                    was.plain.len() * PAGE
                }
                Restore::Remap(pages) => {
                    pages.restore(start);
                    pages.was.len()
                }
            };
            copy(&self.before, self.at);
            copy(&self.after, start.add(length));
        }
    }
}

/// Copies all of `from` to `to`.
///
/// # Safety
///
/// `from.len()` bytes at `to` must be writable by the caller.
unsafe fn copy(from: &[u8], to: *mut u8) {
    // SAFETY: guaranteed by the caller.
    unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to, from.len()) }
}

impl Pages {
    fn new(was: &[u8]) -> Pages {
        let mut pages = Pages {
            was: was.to_vec(),
            hot: vec![false; was.len() / PAGE],
            copied: Vec::new(),
            given: Vec::new(),
            runs: 0,
        };
        pages.divide();
        pages
    }

    /// Restores the pages.
    ///
    /// # Safety
    ///
    /// The pages start at `start` and were mapped by [`map`], and no other code accesses this
    /// memory meanwhile.
    unsafe fn restore(&mut self, start: *mut u8) {
        self.runs += 1;
        if self.runs <= FIRST || self.runs.is_multiple_of(EVERY) {
            // SAFETY: guaranteed by the caller.
            let now = unsafe { std::slice::from_raw_parts(start, self.was.len()) };
            self.look(now);
        }
        // SAFETY: the ranges lie in these pages, and the discarded ranges are whole pages of the
        // mapping.
        unsafe {
            for &(offset, length) in &self.copied {
                copy(&self.was[offset..offset + length], start.add(offset));
            }
            for &(offset, length) in &self.given {
                let at = start.add(offset);
                if libc::madvise(at.cast(), length, libc::MADV_DONTNEED) != 0 {
                    copy(&self.was[offset..offset + length], at);
                }
            }
        }
    }

    /// Finds the pages that differ from their original content; they are copied from now on.
    fn look(&mut self, now: &[u8]) {
        let mut changed = false;
        let pages = now.chunks_exact(PAGE).zip(self.was.chunks_exact(PAGE));
        for (hot, (now, was)) in self.hot.iter_mut().zip(pages) {
            if !*hot && now != was {
                *hot = true;
                changed = true;
            }
        }
        if changed {
            self.divide();
        }
    }

    /// Computes the ranges of adjacent pages of each kind.
    fn divide(&mut self) {
        self.copied.clear();
        self.given.clear();
        for (page, &hot) in self.hot.iter().enumerate() {
            let ranges = match hot {
                true => &mut self.copied,
                false => &mut self.given,
            };
            let offset = page * PAGE;
            match ranges.last_mut() {
                Some((start, length)) if *start + *length == offset => *length += PAGE,
                _ => ranges.push((offset, PAGE)),
            }
        }
    }
}

/// Replaces pages by a private mapping of the same bytes.
///
/// # Safety
///
/// `at` is the start of a page, and the caller may replace `bytes.len()` bytes from there on.
unsafe fn map(at: *mut u8, bytes: &[u8]) -> std::io::Result<()> {
    const NAME: &CStr = c"globals";
    // SAFETY: this creates a descriptor, which the file then owns.
    let mut file = unsafe {
        let file = libc::memfd_create(NAME.as_ptr(), libc::MFD_CLOEXEC);
        if file < 0 {
            return Err(std::io::Error::last_os_error());
        }
        File::from_raw_fd(file)
    };
    file.write_all(bytes)?;
    // SAFETY: the pages are the caller's. The file does not change, since it has no descriptor once
    // this function returns.
    let mapped = unsafe {
        libc::mmap(
            at.cast(),
            bytes.len(),
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_FIXED,
            file.as_raw_fd(),
            0,
        )
    };
    if mapped == libc::MAP_FAILED {
        return Err(std::io::Error::last_os_error());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::watch::opened;
    use super::*;

    extern "C" fn on_fault(_: i32, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
        // SAFETY: the kernel passes a valid record. A fault outside the watched areas must end the
        // test.
        if !opened(unsafe { (*info).si_addr() } as usize) {
            std::process::abort();
        }
    }

    /// Memory like a target's, of so many pages and not page-aligned, with content derived from the
    /// positions.
    fn piece(count: usize) -> (&'static mut [u8], Piece) {
        // SAFETY: the handler is async-signal-safe. The bytes are leaked, so that they stay valid,
        // and only one test uses them.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_fault as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER;
            libc::sigaction(libc::SIGSEGV, &action, std::ptr::null_mut());
        }
        let (zero, fresh) = (20 * PAGE..30 * PAGE, 30 * PAGE..35 * PAGE);
        // Extra space, so that nothing else lies in these pages.
        let room: &mut [u8] = vec![0; (count + 3) * PAGE].leak();
        let from = room.as_ptr().align_offset(PAGE) + 100;
        let memory = &mut room[from..from + count * PAGE + 100];
        for (at, byte) in memory.iter_mut().enumerate() {
            *byte = match at {
                at if zero.contains(&at) => 0,
                at if fresh.contains(&at) => FRESH,
                at => (at / 7) as u8,
            };
        }
        // SAFETY: as above.
        let piece = unsafe { Piece::new(memory.as_mut_ptr(), memory.len()) };
        (memory, piece)
    }

    fn watch(piece: &Piece) -> &Watch {
        match &piece.pages {
            Restore::Watch(_, watch) => watch,
            _ => panic!("it is short"),
        }
    }

    #[test]
    fn what_is_written_is_put_back_wherever_it_is() {
        for count in [40, 300] {
            let (memory, mut piece) = piece(count);
            let before = memory.to_vec();
            assert_eq!(matches!(piece.pages, Restore::Remap(_)), count > 256);
            for run in 0..(if count > 256 { 600 } else { 6000 }) {
                memory[5 * PAGE] ^= 1;
                memory[run * 10_313 % before.len()] ^= 0x55;
                memory[before.len() - 1] = 1;
                // SAFETY: no other code uses this memory.
                unsafe { piece.restore() };
                assert!(memory == before, "run {run}");
            }
        }
    }

    #[test]
    fn only_pages_that_many_runs_write_are_looked_at() {
        let (memory, mut piece) = piece(40);
        for run in 0..3000 {
            memory[9 * PAGE + 200] ^= 1;
            if run % 100 == 0 {
                memory[12 * PAGE + 200] ^= 1;
            }
            if run % 900 == 0 {
                memory[15 * PAGE + 200] ^= 1;
            }
            // SAFETY: no other code uses this memory.
            unsafe { piece.restore() };
        }
        assert_eq!(watch(&piece).looked_at(), 2);
        for _ in 0..3000 {
            memory[25 * PAGE + 200] ^= 1;
            // SAFETY: as above.
            unsafe { piece.restore() };
        }
        assert_eq!(watch(&piece).looked_at(), 1);
    }

    #[test]
    fn a_page_of_a_long_piece_that_every_run_writes_is_copied() {
        let (memory, mut piece) = piece(300);
        for _ in 0..FIRST {
            memory[9 * PAGE..][..10].fill(77);
            // SAFETY: no other code uses this memory.
            unsafe { piece.restore() };
        }
        let Restore::Remap(pages) = piece.pages else {
            panic!("it is long")
        };
        assert_eq!(pages.hot.iter().filter(|hot| **hot).count(), 1);
        assert_eq!(pages.given.len(), 2);
    }
}
