//! Addresses as numbers: an object's number above an offset.

use crate::program::ir::GLOBAL_OBJECTS;

/// The object that a constant address belongs to, and the offset in it. A small step before an object's first byte is an
/// address with its neighbour's number, and a small negative number is one that no object has; both are what is left
/// when a pointer's constant parts have been added up, and an index may lead back into the object.
pub fn object_and_offset(address: u64) -> (u32, u64) {
    let nearest = (address.wrapping_add(1 << 31) >> 32) as u32;
    let number = match (address >> 32) as u32 {
        u32::MAX => 0,
        _ if nearest >= GLOBAL_OBJECTS => nearest,
        number => number,
    };
    let base = u64::from(number) << 32;
    (number, address.wrapping_sub(base))
}
