//! Sums that are never above zero: what one value says of others.
//!
//! Intervals forget that a pointer and the index beside it stop at the same end. A line says that a
//! sum of a few variables with factors is zero at most, or just zero. Lines come from definitions,
//! comparisons and checks that held, follow a variable to its new value by substitution, and are
//! kept where both ways into a block prove them (linear inequalities as in Cousot and
//! Halbwachs, *Automatic discovery of linear restraints among variables of a program*, 1978, but
//! few, and without a hull). To prove one is to add up others: each step of the search adds a line
//! with a positive factor, so that whatever it ends with is an upper bound.
//!
//! A variable means a number with its sign, or the offset of an address in its object. Nothing here
//! wraps around: who makes a line has shown that.

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

/// Factors and constants are smaller.
const LARGE: i128 = 1 << 62;
/// Bounds of numbers and offsets that say something are nearer to zero.
const BOUND: i128 = 1 << 61;
/// The ranges of types that are narrower than an address differ by more.
const OF_TYPES: i128 = 1 << 30;
/// By how much two values of a narrow type differ at most.
const OF_NARROW_TYPES: [i128; 2] = [(1 << 8) - 1, (1 << 16) - 1];

/// How far past a text's end a cursor may be that is still compared with it.
const PAST: i128 = 2;

/// What has a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Var {
    /// A register of the innermost call.
    Reg(u32),
    /// A register of a call around it: context and number.
    Outer(u32, u32),
    /// A cell of an object of which there is one: offset, bytes.
    Cell(ObjId, u32, u32),
    /// The size of an object of which there is one.
    Size(ObjId),
    /// The offset of a zero byte in an object of which there is one ([`super::nul`]).
    Nul(ObjId, Which),
    /// A bound of a row of an object, by where the row starts ([`super::owners::Row`]).
    Row(ObjId, u32, Edge),
}

/// Which offset of a row.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Edge {
    /// That of the first element that owns.
    From,
    /// That behind the last element that owns.
    To,
    /// That of the element that is spoken of apart from the others.
    At,
}

/// Which zero byte of an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Which {
    /// The farthest that was met.
    Far,
    /// The one that was met last.
    Near,
}

/// What marks the reading of a register or a cell as a number without a sign: part of the
/// register's number, or of the cell's length.
pub const UNSIGNED: u32 = 1 << 31;

/// The context of names that registers have while others are given the same. No call has it, nor
/// the two below.
pub const MEANWHILE: u32 = u32::MAX;
/// The context of the parameters of a shared function as they were where it began.
pub const BEGINNING: u32 = u32::MAX - 1;
/// The context of the names of offsets while older ones are still spoken of.
pub const NEXT: u32 = u32::MAX - 2;

impl Var {
    /// This variable, read as a number without a sign.
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

/// Characters, or bytes, of a unit that is written in others.
const UNITS: i128 = 8;

/// Variables with factors. A line has five at most.
type Terms = SmallVec<[(Var, i128); 5]>;

/// What values a variable may have.
pub type Ranges<'a> = &'a dyn Fn(Var) -> (i128, i128);

/// What a variable may have of which nothing is known.
pub const ANY: (i128, i128) = (i64::MIN as i128, i64::MAX as i128);

impl Sum {
    /// A number.
    pub fn number(constant: i128) -> Sum {
        Sum {
            terms: Terms::new(),
            constant,
        }
    }

    /// A variable.
    pub fn of(var: Var) -> Sum {
        Sum {
            terms: smallvec::smallvec![(var, 1)],
            constant: 0,
        }
    }

    /// The sum plus a multiple of another; `None` if a factor is too large to be followed.
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

    /// So many times it.
    pub fn times(&self, times: i128) -> Option<Sum> {
        Sum::default().plus(self, times)
    }

    /// Its variables.
    pub fn vars(&self) -> impl Iterator<Item = Var> + '_ {
        self.terms.iter().map(|(var, _)| *var)
    }

    /// The variable of which it is a multiple, and how many times.
    fn multiple(&self) -> Option<(Var, i128)> {
        match self.terms[..] {
            [(var, times)] if self.constant == 0 && times > 0 => Some((var, times)),
            _ => None,
        }
    }

    /// The variable that it is.
    pub fn single(&self) -> Option<Var> {
        let multiple = self.multiple().filter(|(_, times)| *times == 1);
        multiple.map(|(var, _)| var)
    }

    /// How often a variable is in it.
    fn factor(&self, var: Var) -> i128 {
        let at = self.terms.binary_search_by_key(&var, |(known, _)| *known);
        at.map_or(0, |at| self.terms[at].1)
    }

    /// The sum of terms that were written down: whatever a file says, they become sorted and small.
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

    /// What it is where its variables have these values; none where one is not known.
    fn value(&self, value: impl Fn(Var) -> Option<i128>) -> Option<i128> {
        self.terms
            .iter()
            .try_fold(self.constant, |sum, &(var, factor)| {
                sum.checked_add(factor.checked_mul(value(var)?)?)
            })
    }

    /// The sum of other variables; none where one has no name.
    fn renamed(&self, name: impl Fn(Var) -> Option<Var>) -> Option<Sum> {
        let start = Sum::number(self.constant);
        self.terms.iter().try_fold(start, |sum, &(var, factor)| {
            sum.plus(&Sum::of(name(var)?), factor)
        })
    }

    /// A bit for each variable: two sums share none if they share no bit.
    fn mask(&self) -> u64 {
        self.terms.iter().fold(0, |mask, (var, _)| mask | bit(*var))
    }

    /// The variable that it solves where it is zero: one that it has once, of a call around this
    /// one if there is such.
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

    /// A variable whose range says nothing of how large the sum may be, with its factor.
    fn unbounded(&self, ranges: Ranges<'_>) -> Option<(Var, i128)> {
        let is_unbounded = |(var, by): &&(Var, i128)| {
            let (low, high) = ranges(*var);
            if *by > 0 { high > BOUND } else { low < -BOUND }
        };
        self.terms.iter().find(is_unbounded).copied()
    }

    /// The most that its variables' ranges allow.
    fn most(&self, ranges: Ranges<'_>) -> i128 {
        self.terms.iter().fold(self.constant, |sum, &(var, by)| {
            let (low, high) = ranges(var);
            sum.saturating_add(by.saturating_mul(if by > 0 { high } else { low }))
        })
    }
}

/// A sum that is zero at most, or just zero.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub struct Line {
    sum: Sum,
    exact: bool,
    /// [`Sum::mask`].
    mask: u64,
    /// The variable that it solves, if it is exact: [`Sum::pivot`].
    pivot: Option<Var>,
}

/// How a line is written down: variables with factors, the constant, whether it is exact.
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

    /// How often a variable is in it.
    fn factor(&self, var: Var) -> i128 {
        match self.mask & bit(var) {
            0 => 0,
            _ => self.sum.factor(var),
        }
    }

    /// Its variables with their factors.
    pub fn terms(&self) -> impl Iterator<Item = (Var, i128)> + '_ {
        self.sum.terms.iter().copied()
    }

    /// What is added to them.
    pub fn constant(&self) -> i128 {
        self.sum.constant
    }

    /// Whether the sum is zero, not only zero at most.
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// Its variables.
    pub fn vars(&self) -> impl Iterator<Item = Var> + '_ {
        self.sum.vars()
    }

    /// Whether it holds of these values; none where one is not known.
    pub fn holds(&self, value: impl Fn(Var) -> Option<i128>) -> Option<bool> {
        let sum = self.sum.value(value)?;
        Some(sum == 0 || sum < 0 && !self.exact)
    }

    /// The line divided by its factors' common divisor; `None` if it constrains nothing.
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

    /// What is said of more variables, with larger factors, and not exactly, is of less use; the
    /// bounds of types least. A factor that is twice as large counts like one more variable.
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

    /// Whether it bounds a difference by a number as large as the bounds of types.
    fn is_far(&self) -> bool {
        let by = -self.sum.constant;
        self.sum.terms.len() > 1 && (by > OF_TYPES || OF_NARROW_TYPES.contains(&by))
    }

    /// Whether both bound combinations of the same variables, several of them and with the same
    /// signs.
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

    /// Whether it is a bound of multiples that no declaration makes: sizes of nested arrays and
    /// structures are multiples of each other. Texts that stand for bytes (three are four
    /// characters of base64, five are eight of base32) relate two numbers by small factors.
    fn is_crooked(&self) -> bool {
        let factors = self.sum.terms.iter().map(|(_, factor)| factor.abs());
        let divides = |a: i128, b: i128| a % b == 0 || b % a == 0;
        let mut pairs = factors
            .clone()
            .flat_map(|a| factors.clone().map(move |b| (a, b)));
        let is_of_two = factors.len() == 2 && factors.clone().all(|factor| factor <= UNITS);
        !self.exact && !is_of_two && pairs.any(|(a, b)| a != 1 && b != 1 && !divides(a, b))
    }

    /// Whether it says where a text ends.
    fn speaks_of_texts(&self) -> bool {
        self.vars().any(|var| matches!(var, Var::Nul(..)))
    }

    /// Whether it only says that a text ends not much before something: what bounds nothing by the
    /// end.
    fn is_idle(&self) -> bool {
        let mut ends = self.terms().filter(|(var, _)| matches!(var, Var::Nul(..)));
        !self.exact
            && self.sum.constant < -PAST
            && self.speaks_of_texts()
            && ends.all(|(_, factor)| factor < 0)
    }

    /// Whether it says that a variable is another one, but for a constant, of which no narrower
    /// range is known.
    fn only_renames(&self, var: Var, ranges: Ranges<'_>) -> bool {
        let (Some(pivot), [(a, f), (b, g)]) = (self.pivot, &self.sum.terms[..]) else {
            return false;
        };
        if pivot == var || f * g != -1 {
            return false;
        }
        // `var + by` is the other one.
        let own = if *a == var { *f } else { *g };
        let by = self.sum.constant * own;
        let ((low, high), (least, most)) = (ranges(var), ranges(if *a == var { *b } else { *a }));
        least <= low.saturating_add(by) && high.saturating_add(by) <= most
    }

    /// The variable that it says another one is.
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

/// One of 64 bits, by what the variable is.
fn bit(var: Var) -> u64 {
    1 << (FxBuildHasher.hash_one(var) >> 58)
}
