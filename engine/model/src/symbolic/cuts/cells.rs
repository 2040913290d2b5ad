//! What is known of an object's bytes: cell by cell where it is small, and otherwise where it is
//! not indexed.

use std::collections::BTreeMap;

use super::super::memory::Contents;
use super::Value;
use crate::program::ir::Width;

/// Objects up to this size are kept cell by cell where they are not indexed.
pub const CELLS: u64 = 512;

/// A piece of an object.
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
    /// They are these, which contain no variable.
    Fixed(Contents),
    /// Cell by cell, all of them.
    Cells(BTreeMap<Cell, Value>),
    /// These cells, and nothing of the other bytes, which are one array.
    Mixed(BTreeMap<Cell, Value>),
}

impl Bytes {
    /// Nothing.
    pub const ANY: Bytes = Bytes::Mixed(BTreeMap::new());

    /// The cells, if there are any.
    pub fn by_cell(&self) -> Option<&BTreeMap<Cell, Value>> {
        match self {
            Bytes::Fixed(_) => None,
            Bytes::Cells(cells) | Bytes::Mixed(cells) => Some(cells),
        }
    }
}
