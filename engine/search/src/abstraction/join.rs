//! The join of the abstract states in which several transitions reach a cut point.
//!
//! States only become weaker, and bounds grow by leaps (widening), so that propagation terminates.
//! Soundness does not depend on this module: the result is written into the certificate, and its
//! checker verifies that each transition preserves it.

use std::collections::{BTreeMap, BTreeSet};

use cegar_model::program::ir::Width;
use cegar_model::program::ir::numbers::object_and_offset;
use cegar_model::symbolic::cuts::{Base, Bytes, CELLS, Cell, Value, is_exact};
use cegar_model::symbolic::range::Range;
use cegar_model::symbolic::spans::Spans;
use cegar_model::term::Pool;

/// The maximum number of objects that a pointer may point to; with more, nothing is known of it.
const BASES: usize = 12;

/// The maximum number of values kept beside the array, of objects that are large or whose size is
/// unknown.
pub const FIELDS: usize = 64;

pub(super) fn pointer(bases: BTreeSet<Base>, offset: Option<u64>) -> Value {
    let integer = bases.len() == 1 && bases.contains(&Base::Number(0));
    if integer || bases.is_empty() || bases.len() > BASES {
        return Value::Any;
    }
    // NULL and functions are valid only at offset 0.
    let exact = |base: &Base| matches!(base, Base::Number(number) if is_exact(*number));
    let offset = offset.filter(|&offset| offset == 0 || !bases.iter().any(exact));
    Value::Pointer(bases, offset)
}

/// The join of abstract values.
pub(super) trait JoinValue {
    /// The join of two values.
    fn join(&self, other: &Value, width: Width) -> Value;
    /// The widening of this value by a new one: bounds that grow do so by leaps, so that an
    /// iteration terminates.
    fn widen(&self, new: &Value, width: Width) -> Value;
    /// The join of memory cells, with bounds if `bounded`. A word of which nothing is known is
    /// divided into two halves, for which bounds are kept.
    fn join_cell(&self, new: &Value, width: Width, bounded: bool) -> Value;
}

impl JoinValue for Value {
    fn join(&self, other: &Value, width: Width) -> Value {
        if self == other {
            return self.clone();
        }
        match (bases(self, width), bases(other, width)) {
            (Some((a, m)), Some((b, n))) => {
                let offset = m.filter(|_| m == n);
                pointer(a.union(&b).copied().collect(), offset)
            }
            _ => Value::Any,
        }
    }

    fn widen(&self, new: &Value, width: Width) -> Value {
        let joined = self.join(new, width);
        let (Value::Any, Some(before), Some(now)) =
            (&joined, bounds(self, width), bounds(new, width))
        else {
            return joined;
        };
        let all = Range::all(width);
        let mut low = before.low.min(now.low);
        let mut high = before.high.max(now.high);
        // A bound leaps only if there were bounds before. The join of two constants is exact: it
        // may be a flag, or the first values of a loop.
        if matches!(self, Value::Within(..)) {
            if low < before.low {
                low = 0;
            }
            if high > before.high {
                high = if high <= all.high / 2 {
                    all.high / 2
                } else {
                    all.high
                };
            }
        }
        match (Range { low, high }) == all {
            true => Value::Any,
            false => Value::Within(low, high),
        }
    }

    fn join_cell(&self, new: &Value, width: Width, bounded: bool) -> Value {
        match bounded && width < 64 {
            true => self.widen(new, width),
            false => self.join(new, width),
        }
    }
}

fn bounds(value: &Value, width: Width) -> Option<Range> {
    match *value {
        Value::Const(c) if width <= 64 => {
            let c = c as u64;
            Some(Range { low: c, high: c })
        }
        Value::Within(low, high) => Some(Range { low, high }),
        _ => None,
    }
}

fn bases(value: &Value, width: Width) -> Option<(BTreeSet<Base>, Option<u64>)> {
    match value {
        Value::Within(..) | Value::Any => None,
        Value::Pointer(bases, offset) => Some((bases.clone(), *offset)),
        Value::Const(c) if width == 64 => {
            let (number, offset) = object_and_offset(*c as u64);
            // Of the numbers in the page of NULL, only 0 is a pointer.
            let pointer = !is_exact(number) || offset == 0;
            pointer.then(|| (BTreeSet::from([Base::Number(number)]), Some(offset)))
        }
        Value::Const(_) => None,
    }
}

/// The cells of the part of an object that is not indexed: aligned words of eight bytes, and
/// smaller cells where words do not fit. `None` if the part is too large, or if the object's size
/// is unknown.
pub(super) fn layout(size: &Value, indexed: &Spans) -> Option<Vec<Cell>> {
    let &Value::Const(size) = size else {
        return None;
    };
    let size = u32::try_from(size).ok()?;
    // A small object is one value and not worth an array.
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

/// Whether all bytes of an object are kept as cells.
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

/// The join of an object's bytes.
pub(super) trait JoinBytes {
    /// The join of two objects' bytes. The rules: where the object is indexed, and whether bounds
    /// are kept.
    fn join(self, other: Bytes, pool: &mut Pool, size: &Value, rules: (&Spans, bool)) -> Bytes;
}

impl JoinBytes for Bytes {
    fn join(
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
            let (a, b) = (
                as_cells(&self, pool, &layout),
                as_cells(&other, pool, &layout),
            );
            let cells = join_cells(a, b, bounded);
            return if is_dense(size, indexed) {
                Bytes::Cells(cells)
            } else {
                Bytes::Mixed(cells)
            };
        }
        // The cells that both sides keep.
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
            if let (Some(a), Some(b)) = (
                self::cell(&self, pool, cell),
                self::cell(&other, pool, cell),
            ) {
                cells.insert(cell, a.join_cell(&b, cell.width, bounded));
            }
        }
        Bytes::Mixed(cells)
    }
}

/// The value of a cell, if it is kept.
fn cell(known: &Bytes, pool: &mut Pool, cell: Cell) -> Option<Value> {
    match known {
        Bytes::Fixed(contents) => {
            let bytes = u32::from(cell.width / 8);
            let term = contents.read_at(pool, cell.offset, bytes);
            Some(pool.as_const(term).map_or(Value::Any, Value::Const))
        }
        Bytes::Cells(cells) | Bytes::Mixed(cells) => cells.get(&cell).cloned(),
    }
}

fn as_cells(known: &Bytes, pool: &mut Pool, layout: &[Cell]) -> BTreeMap<Cell, Value> {
    let mut all = BTreeMap::new();
    for &cell in layout {
        match known {
            Bytes::Fixed(_) => {
                let value = self::cell(known, pool, cell).unwrap_or(Value::Any);
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

/// Joins cell by cell. A word is divided where a side has it divided, or where nothing is known of
/// the whole. Cells that a side lacks can be anything.
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
