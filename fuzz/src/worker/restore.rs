//! The target's writable memory, put back before each run.
//!
//! A harness with a buffer of 64 KB costs more to restore by copying than to run. So the whole pages of a longer piece are
//! mapped privately from a copy in memory: giving them back costs a call and a page fault for each that is written. Pages
//! that are written in most runs are copied; which pages these are is found out by comparing, once in many runs.
//!
//! Most of what is copied is zeros that no run touched: an output buffer of which a run fills a few bytes. Reading them is
//! cheaper than writing them, so zeros are written only where there are none.

use std::ffi::CStr;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd};

/// Bytes of a page.
const PAGE: usize = 4096;
/// Pieces from this size on are mapped, up to one that the sandbox lets no file be as long as.
const LONG: usize = 128 << 10;
const LONGEST: usize = 32 << 20;
/// Runs that are looked at first, and how many pass from then on until one is looked at again.
const FIRST: u64 = 8;
const EVERY: u64 = 2048;

/// Zeros to compare with.
static ZEROS: [u8; PAGE] = [0; PAGE];

/// A piece of the target's writable memory and what it held after loading.
pub(super) struct Piece {
    at: *mut u8,
    bytes: Vec<u8>,
    /// By so many bytes as a page has, from the start on: whether they were zeros.
    zeros: Vec<bool>,
    /// The pages of a long piece.
    pages: Option<Pages>,
}

struct Pages {
    /// Offset of the first in the piece.
    start: usize,
    /// Those that are copied.
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
    pub unsafe fn new(at: *mut u8, length: usize) -> Piece {
        // SAFETY: as the caller promises.
        let bytes = unsafe { std::slice::from_raw_parts(at, length) }.to_vec();
        let start = at.align_offset(PAGE);
        let count = length.saturating_sub(start) / PAGE;
        let within = bytes.get(start..start + count * PAGE);
        let pages = within
            .filter(|within| (LONG..=LONGEST).contains(&within.len()))
            // SAFETY: these pages lie in the piece.
            .filter(|within| unsafe { map(at.add(start), within) }.is_ok())
            .map(|_| {
                let mut pages = Pages {
                    start,
                    hot: vec![false; count],
                    copied: Vec::new(),
                    given: Vec::new(),
                    runs: 0,
                };
                pages.divide(length);
                pages
            });
        let zeros = (bytes.chunks(PAGE))
            .map(|chunk| *chunk == ZEROS[..chunk.len()])
            .collect();
        Piece {
            at,
            bytes,
            zeros,
            pages,
        }
    }

    /// Puts a part of the piece back by writing what differs.
    ///
    /// # Safety
    ///
    /// Nobody may be running in the target, and the part must lie in the piece.
    unsafe fn copy(&self, offset: usize, length: usize) {
        let (mut from, end) = (offset, offset + length);
        while from < end {
            let unit = from / PAGE;
            let to = end.min((unit + 1) * PAGE);
            // SAFETY: as the caller promises; nobody else has this memory while this runs.
            unsafe {
                let now = std::slice::from_raw_parts_mut(self.at.add(from), to - from);
                if !self.zeros[unit] {
                    now.copy_from_slice(&self.bytes[from..to]);
                } else if *now != ZEROS[..to - from] {
                    now.fill(0);
                }
            }
            from = to;
        }
    }

    /// Puts the piece back.
    ///
    /// # Safety
    ///
    /// Nobody may be running in the target.
    pub unsafe fn restore(&mut self) {
        let Some(pages) = &mut self.pages else {
            // SAFETY: as the caller promises.
            unsafe { self.copy(0, self.bytes.len()) };
            return;
        };
        pages.runs += 1;
        if pages.runs <= FIRST || pages.runs.is_multiple_of(EVERY) {
            // SAFETY: as above; nobody writes while this is read.
            let now = unsafe { std::slice::from_raw_parts(self.at, self.bytes.len()) };
            pages.look(now, &self.bytes);
        }
        let Some(pages) = &self.pages else { return };
        // SAFETY: the ranges lie in the piece, and what is given back is whole pages of the mapping that `map` made.
        unsafe {
            for &(offset, length) in &pages.copied {
                self.copy(offset, length);
            }
            for &(offset, length) in &pages.given {
                let at = self.at.add(offset);
                if libc::madvise(at.cast(), length, libc::MADV_DONTNEED) != 0 {
                    std::ptr::copy_nonoverlapping(self.bytes.as_ptr().add(offset), at, length);
                }
            }
        }
    }
}

impl Pages {
    /// Pages that differ from what they were are copied from now on.
    fn look(&mut self, now: &[u8], was: &[u8]) {
        let mut changed = false;
        for (page, hot) in self.hot.iter_mut().enumerate() {
            let range = self.start + page * PAGE..self.start + (page + 1) * PAGE;
            if !*hot && now[range.clone()] != was[range] {
                *hot = true;
                changed = true;
            }
        }
        if changed {
            self.divide(was.len());
        }
    }

    /// Runs of pages of a kind; what lies before the first page and after the last is copied.
    fn divide(&mut self, length: usize) {
        self.copied = vec![(0, self.start)];
        self.given.clear();
        for (page, &hot) in self.hot.iter().enumerate() {
            let ranges = if hot {
                &mut self.copied
            } else {
                &mut self.given
            };
            let offset = self.start + page * PAGE;
            match ranges.last_mut() {
                Some((start, length)) if *start + *length == offset => *length += PAGE,
                _ => ranges.push((offset, PAGE)),
            }
        }
        let end = self.start + self.hot.len() * PAGE;
        self.copied.push((end, length - end));
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
    // SAFETY: the caller's pages; the file stays as it is, since nobody has a descriptor once this returns.
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
    use super::*;

    /// Memory like a target's, of 40 pages, which does not begin at one; the numbers say what it holds.
    fn piece() -> (&'static mut [u8], Piece) {
        let zero = 20 * PAGE..30 * PAGE;
        let bytes: Vec<u8> = (0..40 * PAGE + 100)
            .map(|at| {
                if zero.contains(&at) {
                    0
                } else {
                    (at / 7) as u8
                }
            })
            .collect();
        let bytes = bytes.leak();
        // SAFETY: leaked, so that it stays; only this test knows of it.
        let piece = unsafe { Piece::new(bytes.as_mut_ptr(), bytes.len()) };
        (bytes, piece)
    }

    #[test]
    fn what_is_written_is_put_back_wherever_it_is() {
        let (memory, mut piece) = piece();
        let before = memory.to_vec();
        assert!(piece.pages.is_some());
        for run in 0..3 * EVERY as usize {
            memory[5 * PAGE] ^= 1;
            memory[run * 131 % before.len()] ^= 0x55;
            memory[before.len() - 1] = 1;
            // SAFETY: nobody else has this memory.
            unsafe { piece.restore() };
            assert!(memory == before, "run {run}");
        }
    }

    #[test]
    fn a_page_that_every_run_writes_is_copied() {
        let (memory, mut piece) = piece();
        for _ in 0..FIRST {
            memory[9 * PAGE..][..10].fill(77);
            // SAFETY: nobody else has this memory.
            unsafe { piece.restore() };
        }
        let pages = piece.pages.expect("it is long");
        assert_eq!(pages.hot.iter().filter(|hot| **hot).count(), 1);
        assert_eq!(pages.given.len(), 2);
    }

    #[test]
    fn zeros_are_put_back_where_a_short_piece_had_them() {
        let bytes = vec![0; 3 * PAGE + 50].leak();
        bytes[PAGE + 7] = 9;
        let before = bytes.to_vec();
        // SAFETY: leaked, so that it stays; only this test knows of it.
        let mut piece = unsafe { Piece::new(bytes.as_mut_ptr(), bytes.len()) };
        assert!(piece.pages.is_none());
        for at in (0..bytes.len()).step_by(61) {
            bytes[at] = 0xff;
            bytes[before.len() - 1] = 1;
            // SAFETY: nobody else has this memory.
            unsafe { piece.restore() };
            assert!(bytes == before, "{at}");
        }
    }
}
