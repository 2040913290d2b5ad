//! What is known of one value: it is this, it points there, it lies between these, or nothing.

use std::collections::BTreeSet;

use super::super::world::ObjId;
use crate::program::ir::{DYNAMIC_OBJECTS, FUNCTION_OBJECTS, place_of};

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

/// Whether an upper half is one of addresses that have no others beside them: NULL and the
/// functions'.
pub fn is_exact(number: u32) -> bool {
    number == 0 || (FUNCTION_OBJECTS..DYNAMIC_OBJECTS).contains(&place_of(number))
}
