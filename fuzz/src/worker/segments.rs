//! Which memory of a loaded object a run can change: the writable segments, less what the dynamic linker has made
//! read-only again (RELRO).

use std::ffi::{c_int, c_void};

/// The page size that the dynamic linker goes by on this architecture.
const PAGE: usize = 4096;

struct Search {
    inside: usize,
    base: usize,
    ranges: Vec<(usize, usize)>,
}

extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, data: *mut c_void) -> c_int {
    // SAFETY: the dynamic linker hands out a valid record; `data` is the Search of `writable`.
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
    // The dynamic linker protects whole pages: up to the last page boundary before the end.
    let relro: Vec<(usize, usize)> = segments(libc::PT_GNU_RELRO)
        .map(|(at, len, _)| (at, ((at + len) & !(PAGE - 1)).saturating_sub(at)))
        .collect();
    let writable: Vec<(usize, usize)> = segments(libc::PT_LOAD)
        .filter(|(_, _, flags)| flags & libc::PF_W != 0)
        .map(|(at, len, _)| (at, len))
        .collect();
    search.base = base;
    search.ranges = without(&writable, &relro);
    1
}

/// The load address of the object that holds `inside`, and its writable memory.
pub(super) fn writable(inside: usize) -> (usize, Vec<(usize, usize)>) {
    let mut search = Search {
        inside,
        base: 0,
        ranges: Vec::new(),
    };
    // SAFETY: `visit` casts its argument back to what is passed here, and runs during this call only.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
    (search.base, search.ranges)
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
