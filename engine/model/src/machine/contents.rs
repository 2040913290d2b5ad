//! The bytes of an object.
//!
//! Every run begins with fresh globals, and an object that a run writes to is copied first. A
//! static array of half a gigabyte would be copied by every run that writes a byte of it, although
//! it contains only zeros. So a large global of zeros is an anonymous mapping, of which a fresh
//! copy costs nothing until it is written.

use std::ops::{Deref, DerefMut};

use memmap2::MmapMut;

use crate::program::ir::Global;

/// The size from which on a global of zeros is a mapping.
const LARGE: usize = 1 << 20;
/// The unit in which a copy of a mapping skips zeros.
const CHUNK: usize = 1 << 16;

/// See the [module](self).
#[derive(Debug)]
pub(super) enum Contents {
    /// Ordinary bytes.
    Owned(Vec<u8>),
    /// A mapping that was created with zeros, and whether it may have been written since.
    Mapped(MmapMut, bool),
}

impl Default for Contents {
    fn default() -> Contents {
        Contents::Owned(Vec::new())
    }
}

impl Contents {
    /// The initial contents of a global.
    pub(super) fn of(global: &Global) -> Contents {
        let mapped = global.zeros && global.init.len() >= LARGE;
        mapped
            .then(|| Contents::zeros(global.init.len()))
            .flatten()
            .unwrap_or_else(|| Contents::Owned(global.init.clone()))
    }

    /// A mapping of zeros; `None` if the system provides none.
    fn zeros(size: usize) -> Option<Contents> {
        let map = MmapMut::map_anon(size).ok()?;
        Some(Contents::Mapped(map, false))
    }

    /// Replaces the contents by `size` bytes with the same value.
    pub(super) fn refill(&mut self, size: usize, byte: u8) {
        match self {
            Contents::Owned(bytes) => {
                bytes.clear();
                bytes.resize(size, byte);
            }
            Contents::Mapped(..) => *self = Contents::Owned(vec![byte; size]),
        }
    }
}

impl Clone for Contents {
    fn clone(&self) -> Contents {
        match self {
            Contents::Owned(bytes) => Contents::Owned(bytes.clone()),
            Contents::Mapped(map, written) => {
                let Some(mut copy) = Contents::zeros(map.len()) else {
                    return Contents::Owned(map.to_vec());
                };
                if *written {
                    for (to, from) in copy.chunks_mut(CHUNK).zip(map.chunks(CHUNK)) {
                        // A chunk of zeros needs no memory in the copy.
                        if from.iter().any(|&byte| byte != 0) {
                            to.copy_from_slice(from);
                        }
                    }
                }
                copy
            }
        }
    }
}

impl Deref for Contents {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Contents::Owned(bytes) => bytes,
            Contents::Mapped(map, _) => map,
        }
    }
}

impl DerefMut for Contents {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        match self {
            Contents::Owned(bytes) => bytes,
            Contents::Mapped(map, written) => {
                *written = true;
                map
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::program::ir::Pos;

    #[test]
    fn copies_of_large_zeros_are_independent() {
        let global = |size| Global {
            name: "table".to_owned(),
            source_name: "table".to_owned(),
            shape: None,
            init: vec![0; size],
            zeros: true,
            constant: false,
            align: 1,
            external: false,
            visible: false,
            pos: Pos::default(),
        };
        assert!(matches!(Contents::of(&global(16)), Contents::Owned(_)));
        let start = Contents::of(&global(3 * LARGE));
        assert!(matches!(start, Contents::Mapped(_, false)));
        let mut run = start.clone();
        run[2 * LARGE] = 7;
        let mut later = run.clone();
        later[5] = 1;
        assert_eq!((start[2 * LARGE], run[5]), (0, 0));
        assert_eq!((later[2 * LARGE], later[5], later.len()), (7, 1, 3 * LARGE));
        later.refill(4, 9);
        assert_eq!(*later, [9; 4]);
    }
}
