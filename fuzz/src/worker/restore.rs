//! The target's writable memory, put back before each run, at the cost of what the run touched.
//!
//! The whole pages of a piece are watched (see the `watch` module): those that most runs write are
//! compared with what they were and rewritten if they differ, the others cost nothing until a run
//! writes them. Most of what is compared is one byte all over (zeros, or what fresh heap holds):
//! that is compared with a page of it, which stays in the cache.
//!
//! Watching takes a fault of some microseconds for a first write, which for megabytes that every
//! run writes elsewhere is too much. So a piece above [`LONG`] is mapped privately from a copy in
//! memory: giving its pages back costs a call and a page fault for each that is written, and pages
//! that are written in most runs are copied; which these are is found out by comparing, once in
//! many runs.

use std::ffi::CStr;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd};

use super::watch::{PAGE, Watch};

/// Pieces from this size on are mapped, up to one that the sandbox lets no file be as long as.
const LONG: usize = 1 << 20;
const LONGEST: usize = 32 << 20;
/// Runs that are looked at first, and how many pass from then on until one is looked at again.
const FIRST: u64 = 8;
const EVERY: u64 = 2048;
/// What fresh heap memory holds.
pub(super) const FRESH: u8 = 0xaa;

static ZEROS: [u8; PAGE] = [0; PAGE];
static UNWRITTEN: [u8; PAGE] = [FRESH; PAGE];

/// What a part of the memory held after loading.
struct Was {
    bytes: Vec<u8>,
    /// By page: the page that it was equal to, if it was one byte all over.
    plain: Vec<Option<&'static [u8; PAGE]>>,
}

impl Was {
    fn new(bytes: &[u8]) -> Was {
        let plain: Vec<_> = (bytes.chunks_exact(PAGE))
            .map(|page| [&ZEROS, &UNWRITTEN].into_iter().find(|p| *p == page))
            .collect();
        // What is plain all over needs no copy.
        let bytes = match plain.iter().all(Option::is_some) {
            true => Vec::new(),
            false => bytes.to_vec(),
        };
        Was { bytes, plain }
    }

    /// Puts a page back if it differs; whether it did.
    ///
    /// # Safety
    ///
    /// `start` is where this part begins, and no other code accesses this memory while this runs.
    unsafe fn put(&self, start: *mut u8, page: usize) -> bool {
        let was = match self.plain[page] {
            Some(plain) => &plain[..],
            None => &self.bytes[page * PAGE..(page + 1) * PAGE],
        };
        // SAFETY: as the caller promises.
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
    /// Before the first whole page, and after the last.
    before: Vec<u8>,
    after: Vec<u8>,
    pages: Kind,
}

/// How the whole pages are put back.
enum Kind {
    Looked(Was),
    Watched(Was, Watch),
    Mapped(Pages),
}

/// Pages that are mapped from a file.
struct Pages {
    was: Vec<u8>,
    /// The pages that are copied.
    hot: Vec<bool>,
    /// Offsets and lengths, in bytes, of what is copied and of what is given back.
    copied: Vec<(usize, usize)>,
    given: Vec<(usize, usize)>,
    runs: u64,
}

impl Piece {
    /// # Safety
    ///
    /// The memory must be writable, used by the target only, and stay until the end of the process.
    /// Its pages become read-only at times: [`super::watch::opened`] must be asked about faults
    /// before anything else is done about them.
    pub unsafe fn new(at: *mut u8, length: usize) -> Piece {
        // SAFETY: as the caller promises.
        let bytes = unsafe { std::slice::from_raw_parts(at, length) };
        let start = at.align_offset(PAGE).min(length);
        let count = (length - start) / PAGE;
        let end = start + count * PAGE;
        let within = &bytes[start..end];
        // SAFETY: these pages lie in the piece.
        let mapped = (LONG..=LONGEST).contains(&within.len())
            && unsafe { map(at.add(start), within) }.is_ok();
        let pages = if mapped {
            Kind::Mapped(Pages::new(within))
        } else if within.len() < LONG
            // SAFETY: these pages lie in the piece, and the caller's promise is what is asked for.
            && let Some(watch) = unsafe { Watch::new(at.add(start), count, false) }
        {
            Kind::Watched(Was::new(within), watch)
        } else {
            Kind::Looked(Was::new(within))
        };
        Piece {
            at,
            before: bytes[..start].to_vec(),
            after: bytes[end..].to_vec(),
            pages,
        }
    }

    /// Memory of whole pages that holds [`FRESH`] all over; `None` if it cannot be watched.
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
        // SAFETY: as the caller promises.
        let watch = unsafe { Watch::new(at, length / PAGE, true) }?;
        Some(Piece {
            at,
            before: Vec::new(),
            after: Vec::new(),
            pages: Kind::Watched(was, watch),
        })
    }

    /// Puts the piece back.
    ///
    /// # Safety
    ///
    /// Nobody may be running in the target.
    pub unsafe fn restore(&mut self) {
        // SAFETY: the three parts lie in the piece one after the other, and no other code accesses
        // this memory while this runs.
        unsafe {
            let start = self.at.add(self.before.len());
            let length = match &mut self.pages {
                Kind::Looked(was) => {
                    for page in 0..was.plain.len() {
                        was.put(start, page);
                    }
                    was.plain.len() * PAGE
                }
                Kind::Watched(was, watch) => {
                    watch.restore(|page| was.put(start, page));
                    was.plain.len() * PAGE
                }
                Kind::Mapped(pages) => {
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
/// As many bytes at `to` are the caller's.
unsafe fn copy(from: &[u8], to: *mut u8) {
    // SAFETY: as the caller promises.
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

    /// Puts the pages, which begin at `start`, back.
    ///
    /// # Safety
    ///
    /// `start` is where they begin, mapped by [`map`], and no other code accesses this memory while
    /// this runs.
    unsafe fn restore(&mut self, start: *mut u8) {
        self.runs += 1;
        if self.runs <= FIRST || self.runs.is_multiple_of(EVERY) {
            // SAFETY: as the caller promises.
            let now = unsafe { std::slice::from_raw_parts(start, self.was.len()) };
            self.look(now);
        }
        // SAFETY: the ranges lie in these pages, and what is given back is whole pages of the
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

    /// Pages that differ from what they were are copied from now on.
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

    /// Runs of pages of a kind.
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
/// `at` is the start of a page, and as many bytes from there are the caller's to replace.
unsafe fn map(at: *mut u8, bytes: &[u8]) -> std::io::Result<()> {
    const NAME: &CStr = c"globals";
    // SAFETY: a new descriptor, owned by the file.
    let mut file = unsafe {
        let file = libc::memfd_create(NAME.as_ptr(), libc::MFD_CLOEXEC);
        if file < 0 {
            return Err(std::io::Error::last_os_error());
        }
        File::from_raw_fd(file)
    };
    file.write_all(bytes)?;
    // SAFETY: the caller's pages; the file stays as it is, since nobody has a descriptor once this
    // returns.
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
        // SAFETY: the kernel's record; a fault that is nobody's must end the test.
        if !opened(unsafe { (*info).si_addr() } as usize) {
            std::process::abort();
        }
    }

    /// Memory like a target's, of so many pages, which does not begin at one; the numbers say what
    /// it holds.
    fn piece(count: usize) -> (&'static mut [u8], Piece) {
        // SAFETY: the handler is async-signal-safe; the bytes are leaked, so that they stay, and
        // only one test knows of them.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_fault as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER;
            libc::sigaction(libc::SIGSEGV, &action, std::ptr::null_mut());
        }
        let (zero, fresh) = (20 * PAGE..30 * PAGE, 30 * PAGE..35 * PAGE);
        // Nothing else may lie in these pages.
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
            Kind::Watched(_, watch) => watch,
            _ => panic!("it is short"),
        }
    }

    #[test]
    fn what_is_written_is_put_back_wherever_it_is() {
        for count in [40, 300] {
            let (memory, mut piece) = piece(count);
            let before = memory.to_vec();
            assert_eq!(matches!(piece.pages, Kind::Mapped(_)), count > 256);
            for run in 0..(if count > 256 { 600 } else { 6000 }) {
                memory[5 * PAGE] ^= 1;
                memory[run * 10_313 % before.len()] ^= 0x55;
                memory[before.len() - 1] = 1;
                // SAFETY: nobody else has this memory.
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
            // SAFETY: nobody else has this memory.
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
            // SAFETY: nobody else has this memory.
            unsafe { piece.restore() };
        }
        let Kind::Mapped(pages) = piece.pages else {
            panic!("it is long")
        };
        assert_eq!(pages.hot.iter().filter(|hot| **hot).count(), 1);
        assert_eq!(pages.given.len(), 2);
    }
}
