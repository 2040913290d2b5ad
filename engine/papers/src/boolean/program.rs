//! Boolean programs: places, and relations between the bits before and after.
//!
//! The program counter is not a bit. A relation belongs to one edge between two places, and sets of
//! states are kept by place. This is the disjunctive partition of the transition relation that a
//! model checker would find for a program counter in binary, without the bits.

/// A bit of an abstract state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Bit {
    /// The bit with this number at the place where an edge begins.
    Now(usize),
    /// The bit with this number at the place where it ends.
    Next(usize),
}

/// Bits that must have one of these combinations of values.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Table {
    /// The bits.
    pub bits: Vec<Bit>,
    /// Their values, in the same order.
    pub rows: Vec<Vec<bool>>,
}

/// Bits with their values.
pub type Cube = Vec<(Bit, bool)>;

/// Which changes of the bits are possible: the conjunction of the parts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Relation {
    /// Whether no change is possible.
    pub impossible: bool,
    /// Bits that have this value after the step.
    pub fixed: Vec<(usize, bool)>,
    /// Bits that equal a bit before the step, or its complement: (after, before, complemented).
    pub copied: Vec<(usize, usize, bool)>,
    /// Combinations that the solver enumerated.
    pub tables: Vec<Table>,
    /// Combinations that were found impossible later.
    pub excluded: Vec<Cube>,
}

/// An edge between two places, or from a place to an error.
#[derive(Clone, Debug)]
pub struct Edge {
    /// The place where it begins.
    pub from: usize,
    /// The place or error where it ends.
    pub to: Target,
    /// The possible changes of the bits.
    pub relation: Relation,
}

/// The end of an edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// A place.
    Place(usize),
    /// An error, by number.
    Error(usize),
}

/// A Boolean program; see the [module](self).
#[derive(Clone, Debug, Default)]
pub struct BooleanProgram {
    /// The number of bits of each place.
    pub places: Vec<usize>,
    /// The edges.
    pub edges: Vec<Edge>,
    /// The place where it starts.
    pub start: usize,
    /// The bits that are known there.
    pub initial: Vec<(usize, bool)>,
    /// Errors that are not searched.
    pub hidden: Vec<usize>,
    /// States from which no error is reachable, so that they are not visited, by place and bits.
    pub safe: Vec<(usize, Vec<(usize, bool)>)>,
}

/// A step of an abstract execution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The edge.
    pub edge: usize,
    /// The state before it.
    pub before: Vec<bool>,
}

/// An abstract execution that ends in an error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AbstractPath {
    /// The steps from the start; the last edge leads to the error.
    pub steps: Vec<Step>,
    /// The error.
    pub error: usize,
}
