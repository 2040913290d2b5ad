//! The memory of a loaded object that a run can change (the writable segments, without what the
//! dynamic linker has made read-only again, RELRO), and the address range of its code.

use std::ffi::{c_int, c_void};
use std::ops::Range;

/// The page size that the dynamic linker assumes on this architecture.
const PAGE: usize = 4096;

/// The segments of a loaded object.
#[derive(Default)]
pub(super) struct Segments {
    /// The address at which it was loaded.
    pub base: usize,
    /// Its writable memory, as starts and lengths.
    pub writable: Vec<(usize, usize)>,
    /// The address range of its code.
    pub code: Range<usize>,
}

struct Search {
    inside: usize,
    found: Segments,
}

extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, data: *mut c_void) -> c_int {
    // SAFETY: the dynamic linker passes a valid record; `data` is the `Search` that `segments`
    // passes.
    let (info, search) = unsafe { (&*info, &mut *data.cast::<Search>()) };
    let base = info.dlpi_addr as usize;
    // SAFETY: pointer and count belong together.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
    let segments = |kind| {
        headers
            .iter()
            .filter(move |h| h.p_type == kind)
            .map(move |h| (base + h.p_vaddr as usize, h.p_memsz as usize, h.p_flags))
    };
    let inside = |&(at, len, _): &(usize, usize, u32)| (at..at + len).contains(&search.inside);
    if !segments(libc::PT_LOAD).any(|s| inside(&s)) {
        return 0;
    }
    // The dynamic linker protects whole pages, up to the last page boundary before the end.
    let relro: Vec<(usize, usize)> = segments(libc::PT_GNU_RELRO)
        .map(|(at, len, _)| (at, ((at + len) & !(PAGE - 1)).saturating_sub(at)))
        .collect();
    let writable: Vec<(usize, usize)> = segments(libc::PT_LOAD)
        .filter(|(_, _, flags)| flags & libc::PF_W != 0)
        .map(|(at, len, _)| (at, len))
        .collect();
    let code = || segments(libc::PT_LOAD).filter(|(_, _, flags)| flags & libc::PF_X != 0);
    let first = code().map(|(at, ..)| at).min().unwrap_or_default();
    let end = code().map(|(at, len, _)| at + len).max();
    search.found = Segments {
        base,
        writable: without(&writable, &relro),
        code: first..end.unwrap_or_default(),
    };
    1
}

/// The segments of the object that contains the address `inside`.
pub(super) fn segments(inside: usize) -> Segments {
    let mut search = Search {
        inside,
        found: Segments::default(),
    };
    // SAFETY: `visit` casts its argument back to the type that is passed here, and runs only during
    // this call.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
    search.found
}

/// The parts of `ranges` (start, length) that no range of `holes` covers.
pub(super) fn without(ranges: &[(usize, usize)], holes: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut left: Vec<(usize, usize)> = ranges.to_vec();
    for &(hole, length) in holes {
        let end = hole + length;
        left = left
            .into_iter()
            .flat_map(|(at, len)| {
                let before = (at, hole.clamp(at, at + len) - at);
                let from = end.clamp(at, at + len);
                [before, (from, at + len - from)]
            })
            .filter(|&(_, len)| len > 0)
            .collect();
    }
    left
}

#[cfg(test)]
mod tests {
    use super::without;

    #[test]
    fn holes_are_cut_out() {
        assert_eq!(without(&[(10, 10)], &[(12, 3)]), [(10, 2), (15, 5)]);
        assert_eq!(without(&[(10, 10)], &[(0, 12), (18, 9)]), [(12, 6)]);
        assert_eq!(without(&[(10, 10)], &[(30, 5), (0, 5)]), [(10, 10)]);
        assert_eq!(without(&[(10, 10)], &[(10, 10)]), []);
    }
}
