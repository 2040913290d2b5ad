//! Sets of objects.
//!
//! Most nodes of the constraints hold a few objects, and some nodes of a large program hold
//! thousands and pass most of them on. So a set is a short list first, and a bit set when it has
//! grown.

use fixedbitset::FixedBitSet;

use super::solve::Object;

/// The length of the longest list.
const FEW: usize = 8;

/// A set of objects; see the [module](self).
#[derive(Clone, Debug)]
pub(super) enum Set {
    /// Different objects, in the order of their insertion.
    Few(Vec<Object>),
    /// The numbers of the objects.
    Many(FixedBitSet),
}

impl Default for Set {
    fn default() -> Set {
        Set::Few(Vec::new())
    }
}

impl Set {
    /// Whether it has no objects.
    pub fn is_empty(&self) -> bool {
        match self {
            Set::Few(few) => few.is_empty(),
            Set::Many(many) => many.is_clear(),
        }
    }

    /// Adds an object. Returns whether it is new.
    pub fn insert(&mut self, object: Object) -> bool {
        if let Set::Few(few) = self {
            if few.contains(&object) {
                return false;
            }
            if few.len() < FEW {
                few.push(object);
                return true;
            }
        }
        let many = self.many();
        many.grow(object as usize + 1);
        !many.put(object as usize)
    }

    /// Adds the objects of another set. Returns those that are new.
    pub fn add(&mut self, objects: &Set) -> Set {
        match objects {
            Set::Few(few) => {
                let new = few.iter().copied().filter(|&object| self.insert(object));
                Set::Few(new.collect())
            }
            Set::Many(objects) => {
                let many = self.many();
                let mut new = objects.clone();
                new.difference_with(many);
                many.union_with(&new);
                Set::Many(new)
            }
        }
    }

    /// The objects, in ascending order.
    pub fn sorted(&self) -> Vec<Object> {
        match self {
            Set::Few(few) => {
                let mut few = few.clone();
                few.sort_unstable();
                few
            }
            Set::Many(many) => many.ones().map(|object| object as Object).collect(),
        }
    }

    /// The set as a bit set.
    fn many(&mut self) -> &mut FixedBitSet {
        if let Set::Few(few) = self {
            *self = Set::Many(few.iter().map(|&object| object as usize).collect());
        }
        match self {
            Set::Many(many) => many,
            Set::Few(_) => unreachable!("it was turned into a bit set"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_bit_sets_are_the_same_sets() {
        let set = |objects: &[Object]| {
            let mut set = Set::default();
            objects.iter().for_each(|&object| {
                set.insert(object);
            });
            set
        };
        let large: Vec<Object> = (0..40).map(|object| object * 70).collect();
        for first in [&[][..], &[70, 3], &large] {
            for second in [&[][..], &[3, 70, 9], &large] {
                let mut both = set(first);
                let new = both.add(&set(second));
                let mut expected: Vec<Object> = first.iter().chain(second).copied().collect();
                expected.sort_unstable();
                expected.dedup();
                assert_eq!(both.sorted(), expected);
                let mut added = second.to_vec();
                added.retain(|object| !first.contains(object));
                added.sort_unstable();
                assert_eq!(new.sorted(), added);
                assert_eq!(new.is_empty(), added.is_empty());
                assert!(!both.clone().insert(3) || !expected.contains(&3));
            }
        }
    }
}
