//! What was known where a check was not proved, for users who want to know what is missing.
//!
//! An open check alone does not say whether the walk knows too little of an index, a size or a
//! pointer. This is noted in sets, joined over all paths on which the walk came to the check; the
//! report puts the sets in words. Nothing is proved with them.

use std::collections::BTreeMap;

use super::num::Num;
use super::space::Alive;
use crate::program::ir::{BlockId, FuncId, GlobalId, Operand, Pos, Pred, Width};

/// The most objects that are noted for one check.
pub const OBJECTS: usize = 4;

/// What was known where a check may be violated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OpenCheckNote {
    /// The function that was walked.
    pub function: FuncId,
    /// The position in the source.
    pub pos: Pos,
    /// What has to hold, and what was known.
    pub asked: Asked,
}

/// What has to hold, and what was known of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Asked {
    /// Whether an access is valid.
    Access(Box<Access>),
    /// Whether a block can be released.
    Release(Pointer),
    /// Whether a comparison has the result that it has to have.
    Compare(Compare),
}

/// A number that is added to an address: the operand, its width, its factor, and its range.
pub type Index = (Operand, Width, i64, Num);

/// An access.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Access {
    /// The address to which numbers are added.
    pub base: Pointer,
    /// The constant that is added.
    pub offset: i64,
    /// The multiples of operands that are added.
    pub indices: Vec<Index>,
    /// The number of bytes.
    pub len: Num,
    /// The operand with the number of bytes.
    pub extent: Operand,
    /// Whether it writes.
    pub write: bool,
    /// Whether an index may have been too large to be multiplied.
    pub wrapped: bool,
    /// The objects that it may touch.
    pub places: BTreeMap<Thing, Place>,
}

/// A pointer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pointer {
    /// The operand.
    pub operand: Operand,
    /// The numbers that it may be, besides addresses: 0 is NULL.
    pub number: Option<Num>,
    /// The objects that it may point into, [`OBJECTS`] of them at most.
    pub objects: BTreeMap<Thing, Place>,
    /// Whether there are more objects.
    pub more: bool,
}

/// An object that a pointer may point into.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Thing {
    /// A global.
    Global(GlobalId),
    /// A function.
    Function(FuncId),
    /// Made by an operation: the block and its index there.
    Made(BlockId, u32),
    /// An object that no longer exists.
    Gone,
}

/// A place in an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The offsets.
    pub offset: Num,
    /// The object's size; `None` for a function or an object that no longer exists.
    pub size: Option<Num>,
    /// Whether it is alive.
    pub alive: Alive,
    /// Whether it may be written.
    pub writable: bool,
    /// Whether it comes from the heap.
    pub heap: bool,
    /// Whether the access is known to be valid there.
    pub sure: bool,
}

/// A comparison that a branch tests.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Compare {
    /// The predicate that has to hold, or not to hold if it is `negated`.
    pub pred: Pred,
    /// Whether it has to be false.
    pub negated: bool,
    /// The width in bits.
    pub width: Width,
    /// The operands with their numbers; `None` if an operand may be an address.
    pub sides: [(Operand, Option<Num>); 2],
}

impl Place {
    fn join(&mut self, other: &Place) {
        self.offset = self.offset.join(64, &other.offset);
        self.size = match (self.size, &other.size) {
            (Some(a), Some(b)) => Some(a.join(64, b)),
            _ => None,
        };
        if self.alive != other.alive {
            self.alive = Alive::Maybe;
        }
        self.writable &= other.writable;
        self.sure &= other.sure;
    }
}

fn numbers(a: Option<Num>, b: Option<Num>, width: Width) -> Option<Num> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.join(width, &b)),
        (a, b) => a.or(b),
    }
}

/// Joins places with known ones, of which there are at most `OBJECTS`; whether there were more.
fn places(known: &mut BTreeMap<Thing, Place>, new: &BTreeMap<Thing, Place>) -> bool {
    let mut more = false;
    for (thing, place) in new {
        let room = known.len() < OBJECTS;
        match known.get_mut(thing) {
            Some(known) => known.join(place),
            None if room => {
                known.insert(*thing, place.clone());
            }
            None => more = true,
        }
    }
    more
}

impl Pointer {
    fn join(&mut self, other: &Pointer) {
        self.number = numbers(self.number, other.number, 64);
        self.more |= other.more;
        self.more |= places(&mut self.objects, &other.objects);
    }
}

impl OpenCheckNote {
    /// Joins what was known on another path. If that has another form, it is ignored, and less is
    /// said.
    pub fn join(&mut self, other: &OpenCheckNote) {
        match (&mut self.asked, &other.asked) {
            (Asked::Access(known), Asked::Access(new)) => {
                known.base.join(&new.base);
                known.base.more |= places(&mut known.places, &new.places);
                known.len = known.len.join(64, &new.len);
                known.wrapped |= new.wrapped;
                for (known, new) in known.indices.iter_mut().zip(&new.indices) {
                    known.3 = known.3.join(known.1, &new.3);
                }
            }
            (Asked::Release(known), Asked::Release(new)) => known.join(new),
            (Asked::Compare(known), Asked::Compare(new)) => {
                let width = known.width;
                for (known, new) in known.sides.iter_mut().zip(&new.sides) {
                    known.1 = known.1.zip(new.1).map(|(a, b)| a.join(width, &b));
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointer(null: bool, thing: u32, offset: u128) -> Pointer {
        let place = Place {
            offset: Num::exactly(64, offset),
            size: Some(Num::exactly(64, 8)),
            alive: Alive::Yes,
            writable: true,
            heap: true,
            sure: false,
        };
        Pointer {
            operand: Operand::Const(0),
            number: null.then(|| Num::exactly(64, 0)),
            objects: [(Thing::Made(BlockId(thing), 0), place)].into(),
            more: false,
        }
    }

    fn note(pointer: Pointer) -> OpenCheckNote {
        OpenCheckNote {
            function: FuncId(0),
            pos: Pos::default(),
            asked: Asked::Release(pointer),
        }
    }

    #[test]
    fn what_is_known_on_several_ways_is_joined() {
        let mut known = note(pointer(false, 1, 0));
        known.join(&note(pointer(true, 1, 4)));
        let Asked::Release(joined) = &known.asked else {
            panic!("{known:?}");
        };
        assert!(joined.number.is_some_and(|number| number.has(64, 0)));
        let place = &joined.objects[&Thing::Made(BlockId(1), 0)];
        assert_eq!((place.offset.least, place.offset.most), (0, 4));
        assert!(!joined.more);
    }

    #[test]
    fn of_many_objects_some_are_kept_and_that_there_are_more() {
        let mut known = note(pointer(false, 0, 0));
        for thing in 1..10 {
            known.join(&note(pointer(false, thing, 0)));
        }
        let Asked::Release(joined) = &known.asked else {
            panic!("{known:?}");
        };
        assert_eq!(joined.objects.len(), OBJECTS);
        assert!(joined.more);
    }
}
