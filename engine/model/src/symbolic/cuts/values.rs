//! What is known of one value: a constant, a pointer to known objects, an interval, or nothing.

use std::collections::BTreeSet;

use super::super::world::ObjId;
use crate::program::ir::{DYNAMIC_OBJECTS, FUNCTION_OBJECTS, place_of};

/// The possible value of the upper half of an address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Base {
    /// This number; 0 for NULL.
    Number(u32),
    /// The number of the present object of this allocation.
    Of(ObjId),
}

/// What is known of a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// The value is this constant.
    Const(u128),
    /// The value is an offset from one of these bases. The offset is `None` if it varies.
    Pointer(BTreeSet<Base>, Option<u64>),
    /// The value, as an unsigned number, lies between these bounds, both inclusive.
    Within(u64, u64),
    /// Nothing is known.
    Any,
}

/// Whether an upper half belongs to only one address: NULL, or the address of a function.
pub fn is_exact(number: u32) -> bool {
    number == 0 || (FUNCTION_OBJECTS..DYNAMIC_OBJECTS).contains(&place_of(number))
}
