//! The numbering of objects in addresses.
//!
//! An address is an object's number in the upper half and an offset in the lower half, and sums
//! carry from one to the other: adding 2^32 to an address of one object leads to the next number.
//! Real memory is not laid out like that, and address arithmetic must not lead from one object into
//! another by accident. So the numbers of objects lie far apart: an object's place in a table is
//! multiplied by a constant that scatters it. A distance that no two objects have then leads to no
//! object, like a number that is not an address, while the distance of two objects (`new - old`,
//! added to a pointer into the old block) still leads from one to the other.
//!
//! Numbers are odd, so that adding an offset of slightly more than 32 bits to a number always
//! carries, and they are below 2^31; the prover uses the upper half for objects whose number it
//! does not know.

/// First place of globals: `GLOBAL_OBJECTS + GlobalId`.
pub const GLOBAL_OBJECTS: u32 = 0x0001_0000;
/// First place of functions: `FUNCTION_OBJECTS + FuncId`.
pub const FUNCTION_OBJECTS: u32 = 0x0100_0000;
/// First place of blocks whose address is taken: `BLOCK_OBJECTS + BlockId`.
pub const BLOCK_OBJECTS: u32 = 0x0180_0000;
/// First place of memory that is allocated at run time (stack and heap).
pub const DYNAMIC_OBJECTS: u32 = 0x0200_0000;

/// All places are below this.
pub const PLACES: u32 = 1 << 30;
/// The distance in bytes that every object of a native program keeps from both ends of the address
/// space: no object lies below this address.
pub const LOWEST: u64 = 1 << 16;

/// Its small multiples lie far from 0 and from each other, so that a small difference between
/// numbers is a large difference between places.
const GATHER: u32 = 0x1204_f89b;
/// The inverse of [`GATHER`] modulo 2^32.
const SCATTER: u32 = inverse(GATHER);

const fn inverse(odd: u32) -> u32 {
    // Newton's iteration doubles the number of correct bits: 3, 6, 12, 24, 48.
    let mut x = odd;
    let mut i = 0;
    while i < 4 {
        x = x.wrapping_mul(2u32.wrapping_sub(odd.wrapping_mul(x)));
        i += 1;
    }
    x
}

/// The number of the object with this place.
#[inline(always)]
pub const fn number_of(place: u32) -> u32 {
    (place.wrapping_mul(SCATTER) & (PLACES - 1)) << 1 | 1
}

/// The place of the object with this number; [`PLACES`] or more if no object can have the number.
#[inline(always)]
pub const fn place_of(number: u32) -> u32 {
    // An odd number below 2^31 becomes one below 2^30; any other number has one of the two upper
    // bits set.
    let half = number.rotate_right(1) ^ 1 << 31;
    half.wrapping_mul(GATHER) & (PLACES - 1) | half & !(PLACES - 1)
}

/// The first number for objects whose number the prover does not know. It is not a power of two, so
/// that "at least this number" stays a comparison and is not simplified to a test of one bit.
pub const UNFIXED: u32 = (1 << 31) + (1 << 24);

/// Whether an object can have this number.
pub fn is_number(number: u32) -> bool {
    number >= UNFIXED || (GLOBAL_OBJECTS..PLACES).contains(&place_of(number))
}

/// The object that a constant address belongs to, and the offset in it, which may be negative. An
/// address slightly before an object's first byte has the number below the object's in its upper
/// half, and a small negative constant has a number that no object has. Both remain when only the
/// constant parts of a pointer have been summed, and adding an index may lead back into the object.
pub fn object_and_offset(address: u64) -> (u32, u64) {
    let nearest = (address.wrapping_add(1 << 31) >> 32) as u32;
    let number = match (address >> 32) as u32 {
        u32::MAX => 0,
        _ if is_number(nearest) => nearest,
        _ => 0,
    };
    let base = u64::from(number) << 32;
    (number, address.wrapping_sub(base))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_places_are_each_others_inverse() {
        for place in [0, 1, 2, GLOBAL_OBJECTS, DYNAMIC_OBJECTS + 77, PLACES - 1] {
            let number = number_of(place);
            assert!(number % 2 == 1 && number < 1 << 31);
            assert_eq!(place_of(number), place);
        }
        for none in [0, 2, 1 << 16, 1 << 31, (1 << 31) + 1, u32::MAX] {
            assert!(place_of(none) >= PLACES, "{none:#x}");
        }
    }

    #[test]
    fn small_steps_lead_to_no_neighbour() {
        for step in 1..1u32 << 16 {
            for at in [GLOBAL_OBJECTS, DYNAMIC_OBJECTS] {
                let place = place_of(number_of(at).wrapping_add(step));
                let tables = [
                    GLOBAL_OBJECTS,
                    FUNCTION_OBJECTS,
                    BLOCK_OBJECTS,
                    DYNAMIC_OBJECTS,
                ];
                let near = tables.iter().any(|&table| place.wrapping_sub(table) < 1024);
                assert!(!near, "{at:#x} and {step:#x}");
            }
        }
    }
}
