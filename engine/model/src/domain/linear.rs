//! Lines: sums of a few variables that are at most zero, or exactly zero.
//!
//! Intervals forget that a pointer and the index beside it reach the same end. Lines relate the
//! two. They come from definitions, comparisons and checks that held, follow a variable to its new
//! value by substitution, and are kept at a join if both states prove them (linear inequalities as
//! in Cousot and Halbwachs, *Automatic discovery of linear restraints among variables of a
//! program*, 1978, but few, and without convex hulls). A line is proved by adding up others with
//! positive factors, so that each sum on the way bounds it from above.
//!
//! A variable is a signed number, or the offset of an address in its object. Nothing here wraps
//! around: whoever adds a line has shown that.

mod hull;
mod lines;
mod products;
mod steps;
mod strides;

use std::fmt;
use std::hash::BuildHasher;

use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

pub use self::lines::Lines;
pub use self::products::Product;
pub use self::steps::{Drift, Step};
pub use self::strides::Strides;
use super::space::ObjId;

/// Factors and constants stay below this limit.
const LARGE: i128 = 1 << 62;
/// Bounds beyond this limit say nothing.
const BOUND: i128 = 1 << 61;
/// A difference that is bounded by more is bounded by the ranges of types only.
const OF_TYPES: i128 = 1 << 30;
/// The greatest differences of two values of a narrow type.
const OF_NARROW_TYPES: [i128; 2] = [(1 << 8) - 1, (1 << 16) - 1];

/// A line that allows a cursor to be further past a string's end is dropped.
const PAST: i128 = 2;

/// A variable of lines.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Var {
    /// A register of the innermost call.
    Reg(u32),
    /// A register of an enclosing call: its context and its number.
    Outer(u32, u32),
    /// A cell of a single object: its offset and its length in bytes.
    Cell(ObjId, u32, u32),
    /// The size of a single object.
    Size(ObjId),
    /// The offset of a zero byte in a single object ([`super::nul`]).
    Nul(ObjId, Which),
    /// An offset of a row, by the row's object and start ([`super::owners::Row`]).
    Row(ObjId, u32, Edge),
}

/// Which offset of a row.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Edge {
    /// The offset of the first element that owns.
    From,
    /// The offset after the last element that owns.
    To,
    /// The offset of the element that is set apart from the others.
    At,
}

/// Which zero byte of an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Which {
    /// The farthest one that was met.
    Far,
    /// The one that was met last.
    Near,
}

/// Set in the number of a register, or in the length of a cell, that is read as unsigned.
pub const UNSIGNED: u32 = 1 << 31;

/// The context of temporary names during a renaming. No call has it, nor the two below.
pub const TEMPORARY_CTX: u32 = u32::MAX;
/// The context of the parameters of a shared function, as they were at its beginning.
pub const PARAMETER_CTX: u32 = u32::MAX - 1;
/// The context of the names of new offsets while lines still mention the old ones.
pub const NEW_OFFSET_CTX: u32 = u32::MAX - 2;

impl Var {
    /// This variable, read as an unsigned number.
    pub fn unsigned(self) -> Var {
        match self {
            Var::Reg(reg) => Var::Reg(reg | UNSIGNED),
            Var::Outer(ctx, reg) => Var::Outer(ctx, reg | UNSIGNED),
            Var::Cell(object, at, len) => Var::Cell(object, at, len | UNSIGNED),
            Var::Size(_) | Var::Nul(..) | Var::Row(..) => self,
        }
    }
}

/// Variables with factors, and a constant.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Sum {
    /// Sorted by variable; no factor is zero.
    terms: Terms,
    constant: i128,
}

/// The largest factor between the units of an encoding, in characters or bytes.
const UNITS: i128 = 8;

/// Variables with factors; a line has at most five.
type Terms = SmallVec<[(Var, i128); 5]>;

/// Returns the range of a variable.
pub type Ranges<'a> = &'a dyn Fn(Var) -> (i128, i128);

/// The range of a variable of which nothing is known.
pub const ANY: (i128, i128) = (i64::MIN as i128, i64::MAX as i128);

impl Sum {
    /// A constant.
    pub fn number(constant: i128) -> Sum {
        Sum {
            terms: Terms::new(),
            constant,
        }
    }

    /// A single variable.
    pub fn of(var: Var) -> Sum {
        Sum {
            terms: smallvec::smallvec![(var, 1)],
            constant: 0,
        }
    }

    /// The sum plus a multiple of another; `None` if a factor or the constant gets too large.
    pub fn plus(&self, other: &Sum, times: i128) -> Option<Sum> {
        let mut sum = self.clone();
        sum.constant = sum
            .constant
            .checked_add(other.constant.checked_mul(times)?)?;
        for &(var, factor) in &other.terms {
            let factor = factor.checked_mul(times)?;
            match sum.terms.binary_search_by_key(&var, |(known, _)| *known) {
                Ok(at) => {
                    sum.terms[at].1 += factor;
                    if sum.terms[at].1 == 0 {
                        sum.terms.remove(at);
                    }
                }
                Err(at) if factor != 0 => sum.terms.insert(at, (var, factor)),
                Err(_) => {}
            }
        }
        let small = |number: i128| number.abs() < LARGE;
        (small(sum.constant) && sum.terms.iter().all(|(_, f)| small(*f))).then_some(sum)
    }

    /// A multiple of the sum.
    pub fn times(&self, times: i128) -> Option<Sum> {
        Sum::default().plus(self, times)
    }

    /// The variables of the sum.
    pub fn vars(&self) -> impl Iterator<Item = Var> + '_ {
        self.terms.iter().map(|(var, _)| *var)
    }

    /// The variable that the sum is a positive multiple of, and the factor.
    fn multiple(&self) -> Option<(Var, i128)> {
        match self.terms[..] {
            [(var, times)] if self.constant == 0 && times > 0 => Some((var, times)),
            _ => None,
        }
    }

    /// The variable, if the sum is just one variable.
    pub fn as_variable(&self) -> Option<Var> {
        let multiple = self.multiple().filter(|(_, times)| *times == 1);
        multiple.map(|(var, _)| var)
    }

    fn factor(&self, var: Var) -> i128 {
        let at = self.terms.binary_search_by_key(&var, |(known, _)| *known);
        at.map_or(0, |at| self.terms[at].1)
    }

    /// A sum of terms from a file, which need be neither sorted nor small.
    fn read(terms: &[(Var, i64)], constant: i64) -> Option<Sum> {
        let start = Sum::number(constant.into());
        terms.iter().try_fold(start, |sum, &(var, factor)| {
            sum.plus(&Sum::of(var), factor.into())
        })
    }

    fn written(&self) -> (Vec<(Var, i64)>, i64) {
        let terms = self.terms.iter();
        let terms = terms.map(|(var, factor)| (*var, *factor as i64));
        (terms.collect(), self.constant as i64)
    }

    /// The sum for values of its variables; `None` if one of them is unknown.
    fn value(&self, value: impl Fn(Var) -> Option<i128>) -> Option<i128> {
        self.terms
            .iter()
            .try_fold(self.constant, |sum, &(var, factor)| {
                sum.checked_add(factor.checked_mul(value(var)?)?)
            })
    }

    /// The sum of renamed variables; `None` if one has no new name.
    fn renamed(&self, name: impl Fn(Var) -> Option<Var>) -> Option<Sum> {
        let start = Sum::number(self.constant);
        self.terms.iter().try_fold(start, |sum, &(var, factor)| {
            sum.plus(&Sum::of(name(var)?), factor)
        })
    }

    /// A bit for each variable: sums without a common bit have no common variable.
    fn mask(&self) -> u64 {
        self.terms.iter().fold(0, |mask, (var, _)| mask | bit(*var))
    }

    /// The variable for which the equation that the sum is zero is solved: one with factor 1 or -1,
    /// and one of an enclosing call if possible.
    fn pivot(&self) -> Option<Var> {
        let rank = |var: Var| match var {
            Var::Outer(..) => 3,
            Var::Reg(_) => 2,
            Var::Cell(..) => 1,
            Var::Size(_) | Var::Nul(..) | Var::Row(..) => 0,
        };
        let single = self.terms.iter().filter(|(_, f)| f.abs() == 1);
        let best = single.max_by_key(|(var, _)| (rank(*var), *var));
        best.map(|(var, _)| *var)
    }

    /// A term whose variable's range does not bound the sum from above.
    fn unbounded(&self, ranges: Ranges<'_>) -> Option<(Var, i128)> {
        let is_unbounded = |(var, by): &&(Var, i128)| {
            let (low, high) = ranges(*var);
            if *by > 0 { high > BOUND } else { low < -BOUND }
        };
        self.terms.iter().find(is_unbounded).copied()
    }

    /// The greatest value that the ranges of the variables allow.
    fn most(&self, ranges: Ranges<'_>) -> i128 {
        self.terms.iter().fold(self.constant, |sum, &(var, by)| {
            let (low, high) = ranges(var);
            sum.saturating_add(by.saturating_mul(if by > 0 { high } else { low }))
        })
    }
}

/// A sum that is at most zero, or exactly zero.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub struct Line {
    sum: Sum,
    exact: bool,
    /// [`Sum::mask`].
    mask: u64,
    /// The variable for which it is solved, if it is exact: [`Sum::pivot`].
    pivot: Option<Var>,
}

/// The serialised form: variables with factors, the constant, whether it is exact.
type Written = (Vec<(Var, i64)>, i64, bool);

impl From<Written> for Line {
    fn from((terms, constant, exact): Written) -> Line {
        let sum = Sum::read(&terms, constant);
        let (sum, exact) = sum.map_or((Sum::number(0), true), |sum| (sum, exact));
        Line::new(sum, exact)
    }
}

impl From<Line> for Written {
    fn from(line: Line) -> Written {
        let (terms, constant) = line.sum.written();
        (terms, constant, line.exact)
    }
}

impl fmt::Display for Var {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = |number: &u32| if number & UNSIGNED == 0 { "" } else { "u" };
        match self {
            Var::Reg(reg) => write!(f, "{}r{}", sign(reg), reg & !UNSIGNED),
            Var::Outer(ctx, reg) => write!(f, "{}c{ctx}r{}", sign(reg), reg & !UNSIGNED),
            Var::Cell(id, at, len) => write!(f, "{}o{}[{at}]", sign(len), id.0),
            Var::Size(id) => write!(f, "size(o{})", id.0),
            Var::Nul(id, Which::Far) => write!(f, "nul(o{})", id.0),
            Var::Nul(id, Which::Near) => write!(f, "nul'(o{})", id.0),
            Var::Row(id, start, edge) => {
                let edge = match edge {
                    Edge::From => "from",
                    Edge::To => "to",
                    Edge::At => "at",
                };
                write!(f, "{edge}(o{}+{start})", id.0)
            }
        }
    }
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (var, factor) in &self.terms {
            match factor {
                1 => write!(f, "+{var} ")?,
                -1 => write!(f, "-{var} ")?,
                _ => write!(f, "{factor:+}{var} ")?,
            }
        }
        write!(f, "{:+}", self.constant)
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let relation = if self.exact { "=" } else { "<=" };
        write!(f, "{} {relation} 0", self.sum)
    }
}

impl Line {
    fn new(sum: Sum, exact: bool) -> Line {
        Line {
            mask: sum.mask(),
            pivot: sum.pivot().filter(|_| exact),
            sum,
            exact,
        }
    }

    fn factor(&self, var: Var) -> i128 {
        match self.mask & bit(var) {
            0 => 0,
            _ => self.sum.factor(var),
        }
    }

    /// The variables with their factors.
    pub fn terms(&self) -> impl Iterator<Item = (Var, i128)> + '_ {
        self.sum.terms.iter().copied()
    }

    /// The constant of the sum.
    pub fn constant(&self) -> i128 {
        self.sum.constant
    }

    /// Whether the sum is exactly zero, not only at most zero.
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// The variables of the sum.
    pub fn vars(&self) -> impl Iterator<Item = Var> + '_ {
        self.sum.vars()
    }

    /// Whether it holds for these values; `None` if one of them is unknown.
    pub fn holds(&self, value: impl Fn(Var) -> Option<i128>) -> Option<bool> {
        let sum = self.sum.value(value)?;
        Some(sum == 0 || sum < 0 && !self.exact)
    }

    /// The line divided by the greatest common divisor of its factors; `None` without variables.
    fn reduced(mut sum: Sum, exact: bool) -> Option<Line> {
        let common = sum.terms.iter().fold(0, |all, (_, f)| gcd(all, f.abs()));
        if common == 0 {
            return None;
        }
        if common > 1 && (!exact || sum.constant % common == 0) {
            sum.terms.iter_mut().for_each(|(_, f)| *f /= common);
            sum.constant = -((-sum.constant).div_euclid(common));
        }
        if exact && sum.terms[0].1 < 0 {
            sum.terms.iter_mut().for_each(|(_, f)| *f = -*f);
            sum.constant = -sum.constant;
        }
        Some(Line::new(sum, exact))
    }

    /// How useless a line is: bounds as wide as types most, then other inequalities, then more
    /// variables and larger factors. Twice the largest factor counts as much as one more variable.
    fn weight(&self) -> (bool, bool, u32) {
        let factors = self
            .sum
            .terms
            .iter()
            .map(|(_, factor)| factor.unsigned_abs());
        let largest = factors.max().unwrap_or(0);
        let inexact = !self.exact;
        let terms = self.sum.terms.len() as u32;
        let size = u128::BITS - largest.leading_zeros();
        (inexact && self.is_far(), inexact, terms + size)
    }

    /// Whether it bounds a difference by a number as large as the ranges of types do.
    fn is_far(&self) -> bool {
        let by = -self.sum.constant;
        self.sum.terms.len() > 1 && (by > OF_TYPES || OF_NARROW_TYPES.contains(&by))
    }

    /// Whether both are inequalities of the same variables, more than one, with the same signs.
    fn is_rival(&self, other: &Line) -> bool {
        let (own, others) = (&self.sum.terms, &other.sum.terms);
        let is_alike =
            |((a, f), (b, g)): (&(Var, i128), &(Var, i128))| a == b && f.signum() == g.signum();
        !self.exact
            && !other.exact
            && self.mask == other.mask
            && own.len() > 1
            && own.len() == others.len()
            && own.iter().zip(others).all(is_alike)
    }

    /// Whether it is an inequality with factors that no declaration yields: sizes of nested arrays
    /// and structures are multiples of each other. Encodings relate two numbers by small factors
    /// (base64 writes 3 bytes as 4 characters, base32 writes 5 as 8).
    fn is_crooked(&self) -> bool {
        let factors = self.sum.terms.iter().map(|(_, factor)| factor.abs());
        let divides = |a: i128, b: i128| a % b == 0 || b % a == 0;
        let mut pairs = factors
            .clone()
            .flat_map(|a| factors.clone().map(move |b| (a, b)));
        let is_of_two = factors.len() == 2 && factors.clone().all(|factor| factor <= UNITS);
        !self.exact && !is_of_two && pairs.any(|(a, b)| a != 1 && b != 1 && !divides(a, b))
    }

    /// Whether it mentions where a string ends.
    fn speaks_of_texts(&self) -> bool {
        self.vars().any(|var| matches!(var, Var::Nul(..)))
    }

    /// Whether it is only an upper bound, by the end of a string, that reaches far past the end.
    fn is_idle(&self) -> bool {
        let mut ends = self.terms().filter(|(var, _)| matches!(var, Var::Nul(..)));
        !self.exact
            && self.sum.constant < -PAST
            && self.speaks_of_texts()
            && ends.all(|(_, factor)| factor < 0)
    }

    /// Whether it equates `var` with another variable, but for a constant, whose range is not
    /// narrower.
    fn only_renames(&self, var: Var, ranges: Ranges<'_>) -> bool {
        let (Some(pivot), [(a, f), (b, g)]) = (self.pivot, &self.sum.terms[..]) else {
            return false;
        };
        if pivot == var || f * g != -1 {
            return false;
        }
        // `var + by` is the other variable.
        let own = if *a == var { *f } else { *g };
        let by = self.sum.constant * own;
        let ((low, high), (least, most)) = (ranges(var), ranges(if *a == var { *b } else { *a }));
        least <= low.saturating_add(by) && high.saturating_add(by) <= most
    }

    /// The variable that it says to be equal to `var`.
    fn other(&self, var: Var) -> Option<Var> {
        match self.sum.terms[..] {
            [(a, f), (b, g)] if self.exact && self.sum.constant == 0 && f * g == -1 => match var {
                _ if var == a => Some(b),
                _ if var == b => Some(a),
                _ => None,
            },
            _ => None,
        }
    }

    fn signs(&self) -> &'static [i128] {
        if self.exact { &[1, -1] } else { &[1] }
    }
}

pub(super) fn gcd(a: i128, b: i128) -> i128 {
    match (a, b) {
        (1, _) | (_, 1) => 1,
        (a, 0) => a,
        (a, b) => gcd(b, a % b),
    }
}

/// One of 64 bits, by a hash of the variable.
fn bit(var: Var) -> u64 {
    1 << (FxBuildHasher.hash_one(var) >> 58)
}
