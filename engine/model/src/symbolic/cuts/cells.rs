//! What is known of an object's bytes. A small object that is not indexed is known cell by cell. Of
//! any other object, only bytes that are not indexed are known.

use std::collections::BTreeMap;

use super::super::memory::Contents;
use super::Value;
use crate::program::ir::Width;

/// The size in bytes up to which an object that is not indexed is represented by cells.
pub const CELLS: u64 = 512;

/// A range of bytes of an object that holds one value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Cell {
    /// Its offset in bytes.
    pub offset: u32,
    /// Its width in bits.
    pub width: Width,
}

/// What is known of an object's bytes.
#[derive(Clone, PartialEq, Debug)]
pub enum Bytes {
    /// The contents are known and contain no variables.
    Fixed(Contents),
    /// The cells cover all bytes of the object.
    Cells(BTreeMap<Cell, Value>),
    /// The cells are known. All other bytes are represented by one array of which nothing is known.
    Mixed(BTreeMap<Cell, Value>),
}

impl Bytes {
    /// Nothing is known.
    pub const ANY: Bytes = Bytes::Mixed(BTreeMap::new());

    /// The cells, if there are any.
    pub fn by_cell(&self) -> Option<&BTreeMap<Cell, Value>> {
        match self {
            Bytes::Fixed(_) => None,
            Bytes::Cells(cells) | Bytes::Mixed(cells) => Some(cells),
        }
    }
}
