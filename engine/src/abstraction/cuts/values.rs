//! What is known of one value: it is this, it points there, it lies between these, or nothing.

use std::collections::BTreeSet;

use super::super::encode::pointer::object_and_offset;
use super::super::encode::range::Range;
use super::super::world::ObjId;
use crate::program::ir::{DYNAMIC_OBJECTS, FUNCTION_OBJECTS, Width};

/// The upper half of an address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Base {
    /// This number; 0 for NULL.
    Number(u32),
    /// The present object of this allocation.
    Of(ObjId),
}

/// What is known of a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// It is this.
    Const(u128),
    /// It is this offset from one of these; an offset that varies if there is none.
    Pointer(BTreeSet<Base>, Option<u64>),
    /// It lies between these, both inclusive, as a number without a sign.
    Within(u64, u64),
    /// Nothing.
    Any,
}

/// More objects than that, and a pointer is not followed.
const BASES: usize = 12;

/// Whether an upper half is one of addresses that have no others beside them: NULL and the functions'.
pub(super) fn is_exact(number: u32) -> bool {
    number == 0 || (FUNCTION_OBJECTS..DYNAMIC_OBJECTS).contains(&number)
}

pub(super) fn pointer(bases: BTreeSet<Base>, offset: Option<u64>) -> Value {
    let integer = bases.len() == 1 && bases.contains(&Base::Number(0));
    if integer || bases.is_empty() || bases.len() > BASES {
        return Value::Any;
    }
    // NULL and functions have no other addresses beside them.
    let exact = |base: &Base| matches!(base, Base::Number(number) if is_exact(*number));
    let offset = offset.filter(|&offset| offset == 0 || !bases.iter().any(exact));
    Value::Pointer(bases, offset)
}

impl Value {
    /// What is known if one of the two is so.
    pub fn join(&self, other: &Value, width: Width) -> Value {
        if self == other {
            return self.clone();
        }
        match (self.bases(width), other.bases(width)) {
            (Some((a, m)), Some((b, n))) => {
                let offset = m.filter(|_| m == n);
                pointer(a.union(&b).copied().collect(), offset)
            }
            _ => Value::Any,
        }
    }

    /// The same with bounds, which grow by leaps from what was known before, so that this comes to an end.
    pub(super) fn widen(&self, new: &Value, width: Width) -> Value {
        let joined = self.join(new, width);
        let (Value::Any, Some(before), Some(now)) =
            (&joined, self.bounds(width), new.bounds(width))
        else {
            return joined;
        };
        let all = Range::all(width);
        let mut low = before.low.min(now.low);
        let mut high = before.high.max(now.high);
        // One of two numbers is as it was: a flag, or where a loop begins.
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

    /// The same for a piece of memory. A word of which nothing is known is two halves, of which more may be known than of the word's
    /// bounds.
    pub(super) fn join_cell(&self, new: &Value, width: Width, bounded: bool) -> Value {
        match bounded && width < 64 {
            true => self.widen(new, width),
            false => self.join(new, width),
        }
    }

    fn bounds(&self, width: Width) -> Option<Range> {
        match *self {
            Value::Const(c) if width <= 64 => {
                let c = c as u64;
                Some(Range { low: c, high: c })
            }
            Value::Within(low, high) => Some(Range { low, high }),
            _ => None,
        }
    }

    fn bases(&self, width: Width) -> Option<(BTreeSet<Base>, Option<u64>)> {
        match self {
            Value::Within(..) | Value::Any => None,
            Value::Pointer(bases, offset) => Some((bases.clone(), *offset)),
            Value::Const(c) if width == 64 => {
                let (number, offset) = object_and_offset(*c as u64);
                // Of the small numbers only NULL is a pointer.
                let pointer = !is_exact(number) || offset == 0;
                pointer.then(|| (BTreeSet::from([Base::Number(number)]), Some(offset)))
            }
            Value::Const(_) => None,
        }
    }
}
