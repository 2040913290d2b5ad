//! Boolean programs: places, and relations between the bits before and after.
//!
//! The program counter is not a bit. A relation belongs to one way between two places, and sets of
//! states are kept by place, which is the same disjunctive partition of the transition relation
//! that a model checker would find for a program counter in binary, without the bits.

/// A bit of an abstract state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Bit {
    /// Of the place where a way begins, by number.
    Now(usize),
    /// Of the place where it ends.
    Next(usize),
}

/// Bits that must have one of these values together.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Table {
    /// The bits.
    pub bits: Vec<Bit>,
    /// Their values, in the same order.
    pub rows: Vec<Vec<bool>>,
}

/// Bits with their values.
pub type Cube = Vec<(Bit, bool)>;

/// Which changes of the bits are possible: all that every part allows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Relation {
    /// None at all.
    pub impossible: bool,
    /// Bits that come out with this value.
    pub fixed: Vec<(usize, bool)>,
    /// Bits that come out as another went in, or as its complement: (after, before, complemented).
    pub copied: Vec<(usize, usize, bool)>,
    /// What the solver enumerated.
    pub tables: Vec<Table>,
    /// What was found impossible since.
    pub excluded: Vec<Cube>,
}

/// A way between two places, or from a place to an error.
#[derive(Clone, Debug)]
pub struct Edge {
    /// Where it begins.
    pub from: usize,
    /// Where it ends.
    pub to: Target,
    /// What it does.
    pub relation: Relation,
}

/// Where a way ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// A place.
    Place(usize),
    /// An error, by number.
    Error(usize),
}

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub struct BooleanProgram {
    /// How many bits each place has.
    pub places: Vec<usize>,
    /// The ways.
    pub edges: Vec<Edge>,
    /// Where it starts.
    pub start: usize,
    /// The bits that are known there.
    pub initial: Vec<(usize, bool)>,
    /// Errors that are not looked for.
    pub hidden: Vec<usize>,
    /// States of places that need not be looked at: no error is reached from them. By place and
    /// bits.
    pub safe: Vec<(usize, Vec<(usize, bool)>)>,
}

/// A step of an abstract execution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The way.
    pub edge: usize,
    /// The state before it.
    pub before: Vec<bool>,
}

/// An abstract execution that ends in an error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AbstractPath {
    /// From the start on; the last way is the one to the error.
    pub steps: Vec<Step>,
    /// The error.
    pub error: usize,
}
