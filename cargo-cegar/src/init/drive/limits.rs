//! The greatest sizes and counts that a harness chooses.
//!
//! A proof assumes these bounds, and an input that is shorter than each array of the code cannot
//! overflow any of them. So a bound lies above the sizes of memory in the code that the driven
//! function reaches ([`MemorySizes`](cegar_model::program::MemorySizes)), as far as these are not
//! so large that executions would take most of their time to fill memory.

use super::Body;
use crate::init::api::Api;

/// The greatest size of memory in the code that bounds of inputs other than the main one depend on.
const GREATEST: u64 = 1024;
/// The greatest size of memory that numbers of calls depend on.
const GREATEST_TURNS: u64 = 64;
/// The longest input of a fuzzer without a setting, in bytes.
const USUAL_INPUT: u64 = 4096;
/// The greatest size of memory that makes a harness ask for longer inputs.
const GREATEST_INPUT: u64 = 16 << 10;

/// A number that is larger than `size` by some elements, and by an eighth.
fn above(size: u64) -> u64 {
    (size + size / 8 + 8).next_multiple_of(8)
}

/// The longest input, in bytes, that a harness asks for because the code works on memory that is
/// larger than usual inputs. The least such size counts, because long inputs take time. `None` if
/// there is none.
pub fn longest_input(api: &Api, function: &str) -> Option<u64> {
    let sizes = api.sizes.reached_from(function);
    let bounds = sizes.range(..=GREATEST_INPUT).copied().map(above);
    bounds.filter(|bound| *bound > USUAL_INPUT).min()
}

impl Body<'_> {
    /// The bound of a size that a function takes. It is at least `usual`.
    pub(super) fn most_size(&self, function: &str, usual: usize) -> usize {
        let sizes = self.api.sizes.reached_from(function);
        let greatest = sizes.range(..=GREATEST).next_back().copied();
        greatest.map_or(usual, |size| usual.max(above(size) as usize))
    }

    /// The bound of a number of calls of a function. It is at least `usual`.
    pub(super) fn most_turns(&self, function: &str, usual: usize) -> usize {
        let sizes = self.api.sizes.reached_from(function);
        let greatest = sizes.range(..=GREATEST_TURNS).next_back().copied();
        greatest.map_or(usual, |size| usual.max(size as usize + 2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_lies_above_the_size() {
        assert_eq!((above(16), above(128), above(1024)), (32, 152, 1160));
    }
}
