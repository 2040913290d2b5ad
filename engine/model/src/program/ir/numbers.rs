//! Which number an object has in addresses.
//!
//! An address is an object's number above an offset, and a sum of the two carries: a step of 2^32
//! from one object comes to the next number. No memory is laid out like that, and who adds numbers
//! up must not come from one object into another by it. So the numbers of objects lie far apart:
//! what is a place in a table is multiplied by a constant that scatters it. A distance that no two
//! objects have then leads nowhere, as a number that is no address does, while the distance of two
//! objects (`new - old`, added to what pointed into the old block) still leads from the one to the
//! other.
//!
//! They are odd, so that no offset of a few more than 32 bits fits between the bits of a number
//! without a carry, and below 2^31; the prover keeps the upper half for objects of which it does
//! not know the number.

/// First place of globals: `GLOBAL_OBJECTS + GlobalId`.
pub const GLOBAL_OBJECTS: u32 = 0x0001_0000;
/// First place of functions: `FUNCTION_OBJECTS + FuncId`.
pub const FUNCTION_OBJECTS: u32 = 0x0100_0000;
/// First place of blocks whose address is taken: `BLOCK_OBJECTS + BlockId`.
pub const BLOCK_OBJECTS: u32 = 0x0180_0000;
/// First place of memory that is allocated while running (stack and heap).
pub const DYNAMIC_OBJECTS: u32 = 0x0200_0000;

/// Places are below this.
pub const PLACES: u32 = 1 << 30;

/// Its multiples by small numbers lie far from 0 and from each other, so that small differences of
/// numbers are large ones of places.
const GATHER: u32 = 0x1204_f89b;
/// Its inverse.
const SCATTER: u32 = inverse(GATHER);

const fn inverse(odd: u32) -> u32 {
    // Newton's iteration doubles the bits that are right: 3, 6, 12, 24, 48.
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

/// The place of the object with this number; [`PLACES`] or more if it is none that an object can
/// have.
#[inline(always)]
pub const fn place_of(number: u32) -> u32 {
    // An odd number below 2^31 becomes one below 2^30, any other has one of the upper bits.
    let half = number.rotate_right(1) ^ 1 << 31;
    half.wrapping_mul(GATHER) & (PLACES - 1) | half & !(PLACES - 1)
}

/// The first number of objects of which the prover does not know the number. It is no power of two,
/// so that to be above it stays a comparison and does not become a question about one bit.
pub const UNFIXED: u32 = (1 << 31) + (1 << 24);

/// Whether an object can have this number.
pub fn is_number(number: u32) -> bool {
    number >= UNFIXED || (GLOBAL_OBJECTS..PLACES).contains(&place_of(number))
}

/// The object that a constant address belongs to, and the offset in it. A small step before an
/// object's first byte is an address with its neighbour's number, and a small negative number is
/// one that no object has; both are what is left when a pointer's constant parts have been added
/// up, and an index may lead back into the object.
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
