//! What is known of an object's bytes: cell by cell where it is small, and otherwise where it is not indexed.

use std::collections::{BTreeMap, BTreeSet};

use super::super::memory::{Contents, Spans};
use super::Value;
use crate::program::ir::Width;
use crate::term::Pool;

/// Objects up to this size are kept cell by cell where they are not indexed.
pub(in crate::abstraction) const CELLS: u64 = 512;

/// Of larger objects, and of those whose size is not known, at most that many values are kept beside the array.
pub(super) const FIELDS: usize = 64;

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
    pub(super) fn by_cell(&self) -> Option<&BTreeMap<Cell, Value>> {
        match self {
            Bytes::Fixed(_) => None,
            Bytes::Cells(cells) | Bytes::Mixed(cells) => Some(cells),
        }
    }
}

/// How the part of an object that is not indexed is divided: aligned words of eight bytes, and smaller ones where those do not
/// fit. None if there is too much of it, or if nobody knows how much.
pub(super) fn layout(size: &Value, indexed: &Spans) -> Option<Vec<Cell>> {
    let &Value::Const(size) = size else {
        return None;
    };
    let size = u32::try_from(size).ok()?;
    // A small object is one value, and not worth an array.
    let none = Spans::default();
    let spans = if size > 8 { indexed } else { &none };
    if u64::from(size - spans.bytes(size)) > CELLS {
        return None;
    }
    let mut cells = Vec::new();
    let mut at = 0u32;
    while at < size {
        if let Some(end) = spans.end(at) {
            at = end;
            continue;
        }
        let mut bytes = 8;
        while !at.is_multiple_of(bytes) || at + bytes > size || spans.overlaps(at, bytes) {
            bytes /= 2;
        }
        cells.push(Cell {
            offset: at,
            width: bytes as Width * 8,
        });
        at += bytes;
    }
    Some(cells)
}

/// Whether all bytes of an object are kept cell by cell.
pub(super) fn is_dense(size: &Value, indexed: &Spans) -> bool {
    match size {
        Value::Const(size) if *size <= 8 => true,
        Value::Const(size) => indexed.is_empty() && *size <= u128::from(CELLS),
        _ => false,
    }
}

pub(super) fn halves(cell: Cell) -> [Cell; 2] {
    [0, 4].map(|by| Cell {
        offset: cell.offset + by,
        width: 32,
    })
}

impl Bytes {
    pub(super) fn join(
        self,
        other: Bytes,
        pool: &mut Pool,
        size: &Value,
        (indexed, bounded): (&Spans, bool),
    ) -> Bytes {
        if self == other && (!matches!(self, Bytes::Cells(_)) || is_dense(size, indexed)) {
            return self;
        }
        if let Some(layout) = layout(size, indexed) {
            let (a, b) = (self.as_cells(pool, &layout), other.as_cells(pool, &layout));
            let cells = join_cells(a, b, bounded);
            return if is_dense(size, indexed) {
                Bytes::Cells(cells)
            } else {
                Bytes::Mixed(cells)
            };
        }
        // What both sides keep.
        let keys: Vec<Cell> = match (&self, &other) {
            (Bytes::Fixed(_), Bytes::Fixed(_)) => Vec::new(),
            (Bytes::Fixed(_), cells) | (cells, _) => {
                let cells = cells.by_cell().into_iter().flatten();
                cells.map(|(cell, _)| *cell).collect()
            }
        };
        let mut cells = BTreeMap::new();
        for cell in keys {
            let bytes = u32::from(cell.width / 8);
            if indexed.overlaps(cell.offset, bytes) {
                continue;
            }
            if let (Some(a), Some(b)) = (self.cell(pool, cell), other.cell(pool, cell)) {
                cells.insert(cell, a.join_cell(&b, cell.width, bounded));
            }
        }
        Bytes::Mixed(cells)
    }

    /// What is known of a cell, if it is kept.
    fn cell(&self, pool: &mut Pool, cell: Cell) -> Option<Value> {
        match self {
            Bytes::Fixed(contents) => {
                let bytes = u32::from(cell.width / 8);
                let term = contents.read_at(pool, cell.offset, bytes);
                Some(pool.as_const(term).map_or(Value::Any, Value::Const))
            }
            Bytes::Cells(cells) | Bytes::Mixed(cells) => cells.get(&cell).cloned(),
        }
    }

    fn as_cells(&self, pool: &mut Pool, layout: &[Cell]) -> BTreeMap<Cell, Value> {
        let mut all = BTreeMap::new();
        for &cell in layout {
            match self {
                Bytes::Fixed(_) => {
                    let value = self.cell(pool, cell).unwrap_or(Value::Any);
                    all.insert(cell, value);
                }
                Bytes::Cells(cells) | Bytes::Mixed(cells) => {
                    for part in [cell].into_iter().chain(halves(cell)) {
                        if let Some(value) = cells.get(&part) {
                            all.insert(part, value.clone());
                        }
                    }
                }
            }
        }
        all
    }
}

/// Cell by cell; a word is divided where either side has it divided, or where nothing is known of it as a whole. What one side
/// lacks can be anything.
fn join_cells(
    a: BTreeMap<Cell, Value>,
    b: BTreeMap<Cell, Value>,
    bounded: bool,
) -> BTreeMap<Cell, Value> {
    let mut all = BTreeMap::new();
    let divide = |cells: &BTreeMap<Cell, Value>, word: Cell| -> [(Cell, Value); 2] {
        halves(word).map(|half| {
            let value = cells
                .get(&half)
                .cloned()
                .unwrap_or_else(|| match cells.get(&word) {
                    Some(Value::Const(c)) => {
                        let shift = (half.offset - word.offset) * 8;
                        Value::Const((*c >> shift) & 0xffff_ffff)
                    }
                    _ => Value::Any,
                });
            (half, value)
        })
    };
    let has = |cell: Cell| a.contains_key(&cell) || b.contains_key(&cell);
    let words: BTreeSet<Cell> = a
        .keys()
        .chain(b.keys())
        .map(|&cell| {
            let word = Cell {
                offset: cell.offset / 8 * 8,
                width: 64,
            };
            let is_half = cell.width == 32 && (has(word) || halves(word).into_iter().all(has));
            if is_half { word } else { cell }
        })
        .collect();
    for word in words {
        let whole = match (a.get(&word), b.get(&word)) {
            (Some(x), Some(y)) => Some(x.join_cell(y, word.width, bounded)),
            _ => None,
        };
        match whole {
            Some(value) if value != Value::Any || word.width != 64 => {
                all.insert(word, value);
            }
            _ if word.width == 64 => {
                let (x, y) = (divide(&a, word), divide(&b, word));
                for ((half, x), (_, y)) in x.into_iter().zip(y) {
                    all.insert(half, x.join_cell(&y, 32, bounded));
                }
            }
            _ => {
                all.insert(word, Value::Any);
            }
        }
    }
    all
}
