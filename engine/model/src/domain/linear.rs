//! Sums that are never above zero: what one value says of others.
//!
//! Intervals forget that a pointer and the index beside it stop at the same end. A line says that a sum of a few variables with factors is zero at
//! most, or just zero. Lines come from definitions, comparisons and checks that held, follow a variable to its new value by substitution, and
//! are kept where both ways into a block prove them (linear inequalities as in Cousot and Halbwachs, *Automatic discovery of linear
//! restraints among variables of a program*, 1978, but few, and without a hull). To prove one is to add up others: each step of the search
//! adds a line with a positive factor, so that whatever it ends with is an upper bound.
//!
//! A variable means a number with its sign, or the offset of an address in its object. Nothing here wraps around: who makes a line has
//! shown that.

use serde::{Deserialize, Serialize};

use super::space::ObjId;

/// Lines that a state has at most.
const LINES: usize = 80;
/// Terms of a line.
const TERMS: usize = 5;
/// Lines that are added up to prove one.
const STEPS: u32 = 4;
/// Sums that are looked at to prove one.
const EFFORT: u32 = 300;
/// Factors and constants are smaller.
const LARGE: i128 = 1 << 62;

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
}

/// What marks the reading of a register or a cell as a number without a sign: part of the register's number, or of the cell's length.
pub const UNSIGNED: u32 = 1 << 31;

impl Var {
    /// The same as a number without a sign.
    pub fn unsigned(self) -> Var {
        match self {
            Var::Reg(reg) => Var::Reg(reg | UNSIGNED),
            Var::Outer(ctx, reg) => Var::Outer(ctx, reg | UNSIGNED),
            Var::Cell(object, at, len) => Var::Cell(object, at, len | UNSIGNED),
            Var::Size(object) => Var::Size(object),
        }
    }
}

/// Variables with factors, and a constant.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Sum {
    /// Sorted by variable; no factor is zero.
    terms: Vec<(Var, i128)>,
    constant: i128,
}

/// What values a variable may have.
pub type Ranges<'a> = &'a dyn Fn(Var) -> (i128, i128);

/// What a variable may have of which nothing is known.
pub const ANY: (i128, i128) = (i64::MIN as i128, i64::MAX as i128);

impl Sum {
    /// A number.
    pub fn number(constant: i128) -> Sum {
        Sum {
            terms: Vec::new(),
            constant,
        }
    }

    /// A variable.
    pub fn of(var: Var) -> Sum {
        Sum {
            terms: vec![(var, 1)],
            constant: 0,
        }
    }

    /// With another sum, so many times, added. None if that is too large to be followed.
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

    /// How often a variable is in it.
    fn factor(&self, var: Var) -> i128 {
        let at = self.terms.binary_search_by_key(&var, |(known, _)| *known);
        at.map_or(0, |at| self.terms[at].1)
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
}

/// How a line is written down: variables with factors, the constant, whether it is exact.
type Written = (Vec<(Var, i64)>, i64, bool);

impl From<Written> for Line {
    fn from((terms, constant, exact): Written) -> Line {
        let start = Sum::number(constant.into());
        // Whatever a file says, terms become sorted and small.
        let sum = terms.iter().try_fold(start, |sum, &(var, factor)| {
            sum.plus(&Sum::of(var), factor.into())
        });
        let (sum, exact) = sum.map_or((Sum::number(0), true), |sum| (sum, exact));
        Line { sum, exact }
    }
}

impl From<Line> for Written {
    fn from(line: Line) -> Written {
        let terms = line.sum.terms.iter();
        let terms = terms.map(|(var, factor)| (*var, *factor as i64)).collect();
        (terms, line.sum.constant as i64, line.exact)
    }
}

impl Line {
    /// Its variables.
    pub fn vars(&self) -> impl Iterator<Item = Var> + '_ {
        self.sum.terms.iter().map(|(var, _)| *var)
    }

    /// Whether it holds of these values; none where one is not known.
    pub fn holds(&self, value: impl Fn(Var) -> Option<i128>) -> Option<bool> {
        let start = Some(self.sum.constant);
        let sum = self.sum.terms.iter().fold(start, |sum, &(var, factor)| {
            sum?.checked_add(factor.checked_mul(value(var)?)?)
        })?;
        Some(sum == 0 || sum < 0 && !self.exact)
    }

    /// With smaller factors, if they have a common divisor. None if it says nothing.
    fn reduced(mut self) -> Option<Line> {
        let common = self
            .sum
            .terms
            .iter()
            .fold(0, |all, (_, f)| gcd(all, f.abs()));
        if common == 0 {
            return None;
        }
        if common > 1 && (!self.exact || self.sum.constant % common == 0) {
            self.sum.terms.iter_mut().for_each(|(_, f)| *f /= common);
            self.sum.constant = -((-self.sum.constant).div_euclid(common));
        }
        if self.exact && self.sum.terms[0].1 < 0 {
            self.sum.terms.iter_mut().for_each(|(_, f)| *f = -*f);
            self.sum.constant = -self.sum.constant;
        }
        Some(self)
    }

    /// The variable that it solves: one that it has once, of a call around this one if there is such.
    fn pivot(&self) -> Option<Var> {
        let rank = |var: Var| match var {
            Var::Outer(..) => 3,
            Var::Reg(_) => 2,
            Var::Cell(..) => 1,
            Var::Size(_) => 0,
        };
        let single = self.sum.terms.iter().filter(|(_, f)| f.abs() == 1);
        let best = single.max_by_key(|(var, _)| (rank(*var), *var));
        best.filter(|_| self.exact).map(|(var, _)| *var)
    }

    fn signs(&self) -> &'static [i128] {
        if self.exact { &[1, -1] } else { &[1] }
    }
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// See the [module](self).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Lines {
    /// Sorted.
    all: Vec<Line>,
}

impl Lines {
    /// Lines that are read from somewhere.
    pub fn from_lines(lines: Vec<Line>) -> Lines {
        let mut all = Lines::default();
        for line in lines {
            all.put(line);
        }
        all
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Line> {
        self.all.iter()
    }

    /// A sum is zero at most. Of one variable the intervals say enough.
    pub fn at_most_zero(&mut self, sum: Option<Sum>) {
        if let Some(sum) = sum.filter(|sum| sum.terms.len() > 1) {
            self.put(Line { sum, exact: false });
        }
    }

    /// A sum is zero.
    pub fn zero(&mut self, sum: Option<Sum>) {
        if let Some(sum) = sum.filter(|sum| sum.terms.len() > 1) {
            self.put(Line { sum, exact: true });
        }
    }

    fn put(&mut self, line: Line) {
        let sum = self.solved(&line.sum);
        let Some(line) = (Line { sum, ..line }).reduced() else {
            return;
        };
        if !(1..=TERMS).contains(&line.sum.terms.len()) {
            return;
        }
        let is_same = |known: &Line| known.sum.terms == line.sum.terms;
        if let Some(at) = self.all.iter().position(is_same) {
            let known = &self.all[at];
            if known.exact || !line.exact && known.sum.constant >= line.sum.constant {
                return;
            }
            self.all.remove(at);
        }
        let Err(at) = self.all.binary_search(&line) else {
            return;
        };
        if self.all.len() >= LINES {
            return;
        }
        let pivot = line.pivot();
        self.all.insert(at, line.clone());
        let Some(pivot) = pivot else { return };
        // The variable that it solves stands in no other line.
        let mut others = Vec::new();
        self.all.retain(|known| {
            let has = *known != line && known.sum.factor(pivot) != 0;
            if has {
                others.push(known.clone());
            }
            !has
        });
        others.into_iter().for_each(|other| self.put(other));
    }

    /// The same sum without the variables that lines solve.
    fn solved(&self, sum: &Sum) -> Sum {
        let mut sum = sum.clone();
        for line in self.all.iter().filter(|line| line.exact) {
            let Some(pivot) = line.pivot() else { continue };
            let (factor, own) = (sum.factor(pivot), line.sum.factor(pivot));
            if factor != 0
                && let Some(rest) = sum.plus(&line.sum, -factor * own)
            {
                sum = rest;
            }
        }
        sum
    }

    /// Registers of which lines say a bound: the least, or the greatest.
    pub fn bounds(&self) -> Vec<(u32, i128, i128)> {
        let single = self.all.iter().filter_map(|line| match line.sum.terms[..] {
            [(Var::Reg(reg), 1)] => Some((reg, ANY.0, -line.sum.constant)),
            [(Var::Reg(reg), -1)] => Some((reg, line.sum.constant, ANY.1)),
            _ => None,
        });
        single.filter(|(reg, ..)| reg & UNSIGNED == 0).collect()
    }

    /// Whether anything is said of a variable.
    pub fn has(&self, var: Var) -> bool {
        self.all.iter().any(|line| line.sum.factor(var) != 0)
    }

    /// The least number that a sum is seen not to be above.
    pub fn upper(&self, sum: &Sum, ranges: Ranges<'_>) -> i128 {
        let solved = self.solved(sum);
        let found = self.search(&solved, ranges, STEPS, None, &mut EFFORT.clone());
        found.min(sum.most(ranges))
    }

    /// Whether a sum is seen to be zero at most.
    pub fn proves(&self, sum: &Sum, ranges: Ranges<'_>) -> bool {
        let solved = self.solved(sum);
        sum.most(ranges) <= 0
            || self.search(&solved, ranges, STEPS, Some(0), &mut EFFORT.clone()) <= 0
    }

    fn search(
        &self,
        sum: &Sum,
        ranges: Ranges<'_>,
        steps: u32,
        enough: Option<i128>,
        effort: &mut u32,
    ) -> i128 {
        let mut best = sum.most(ranges);
        let done = |best: i128| enough.is_some_and(|enough| best <= enough);
        if steps == 0 || sum.terms.is_empty() {
            return best;
        }
        for line in &self.all {
            for sign in line.signs() {
                let shared = sum.terms.iter().find(|(var, factor)| {
                    (line.sum.factor(*var) * sign).signum() == factor.signum()
                });
                let Some(&(var, factor)) = shared else {
                    continue;
                };
                if done(best) || *effort == 0 {
                    return best;
                }
                *effort -= 1;
                // `scale * sum` less `by` times the line is without the variable, and not below `scale * sum`.
                let by_line = (line.sum.factor(var) * sign).abs();
                let common = gcd(by_line, factor.abs());
                let (scale, by) = (by_line / common, factor.abs() / common);
                let rest = sum
                    .times(scale)
                    .and_then(|all| all.plus(&line.sum, -by * sign));
                let Some(rest) = rest.filter(|rest| rest.terms.len() <= TERMS) else {
                    continue;
                };
                let wanted = enough.map(|enough| enough.saturating_mul(scale));
                let found = self.search(&rest, ranges, steps - 1, wanted, effort);
                best = best.min(found.div_euclid(scale));
            }
        }
        best
    }

    /// Nothing is said of a variable any more, but what was said of others by it is.
    pub fn eliminate(&mut self, var: Var, ranges: Ranges<'_>) {
        let is_it = |line: &Line| line.sum.factor(var) != 0;
        let mut with: Vec<Line> = Vec::new();
        self.all.retain(|line| {
            let has = is_it(line);
            if has {
                with.push(line.clone());
            }
            !has
        });
        let exact = with.iter().filter(|line| line.exact);
        let by = exact.min_by_key(|line| (line.sum.factor(var).abs(), line.sum.terms.len()));
        if let Some(by) = by.cloned() {
            with.retain(|line| *line != by);
            for line in with {
                let (f, g) = (line.sum.factor(var), by.sum.factor(var));
                let scaled = line.sum.times(g.abs());
                if let Some(sum) = scaled.and_then(|sum| sum.plus(&by.sum, -f * g.signum())) {
                    let exact = line.exact;
                    self.put(Line { sum, exact });
                }
            }
            return;
        }
        let (above, below): (Vec<&Line>, Vec<&Line>) =
            with.iter().partition(|line| line.sum.factor(var) > 0);
        for line in &above {
            for other in &below {
                let (f, g) = (line.sum.factor(var), -other.sum.factor(var));
                let scaled = line.sum.times(g);
                if let Some(sum) = scaled.and_then(|sum| sum.plus(&other.sum, f)) {
                    self.put(Line { sum, exact: false });
                }
            }
        }
        let (low, high) = ranges(var);
        for line in &with {
            let factor = line.sum.factor(var);
            let bound = if factor > 0 { low } else { high };
            if bound.abs() < 1 << 48 {
                let value = Sum::number(bound).plus(&Sum::of(var), -1);
                if let Some(sum) = value.and_then(|value| line.sum.plus(&value, factor)) {
                    self.put(Line { sum, exact: false });
                }
            }
        }
    }

    /// Eliminates all variables but some.
    pub fn keep(&mut self, matters: impl Fn(Var) -> bool, ranges: Ranges<'_>) {
        let mut gone: Vec<Var> = self.all.iter().flat_map(Line::vars).collect();
        gone.retain(|var| !matters(*var));
        gone.sort_unstable();
        gone.dedup();
        gone.into_iter().for_each(|var| self.eliminate(var, ranges));
    }

    /// Forgets all lines with such a variable.
    pub fn drop(&mut self, is_gone: impl Fn(Var) -> bool) {
        self.all.retain(|line| !line.vars().any(&is_gone));
    }

    /// Calls variables by other names; lines with one that has none are forgotten. No two may get the same name.
    pub fn rename(&self, name: impl Fn(Var) -> Option<Var>) -> Lines {
        let mut all = Lines::default();
        for line in &self.all {
            let start = Some(Sum::number(line.sum.constant));
            let sum = line.sum.terms.iter().fold(start, |sum, &(var, factor)| {
                sum?.plus(&Sum::of(name(var)?), factor)
            });
            if let Some(sum) = sum {
                let exact = line.exact;
                all.put(Line { sum, exact });
            }
        }
        all
    }

    /// Lines of the one that the other proves, too. Where `loosens`, those that it proves with another constant as well.
    pub fn kept(&self, (other, ranges): (&Lines, Ranges<'_>), loosens: bool, to: &mut Lines) {
        for line in &self.all {
            if other.all.binary_search(line).is_ok() {
                to.put(line.clone());
                continue;
            }
            let both = line.signs().iter().filter_map(|sign| line.sum.times(*sign));
            let above: Vec<(Sum, i128)> = both
                .map(|sum| {
                    let above = match loosens {
                        true => other.upper(&sum, ranges).max(0),
                        false if other.proves(&sum, ranges) => 0,
                        false => i128::MAX,
                    };
                    (sum, above)
                })
                .collect();
            if line.exact && above.iter().all(|(_, above)| *above == 0) {
                to.put(line.clone());
                continue;
            }
            for (sum, above) in above {
                if above < 1 << 32 {
                    to.at_most_zero(sum.plus(&Sum::number(above), -1));
                }
            }
        }
    }

    /// Whether all lines of the other are proved.
    pub fn proves_all(&self, other: &Lines, ranges: Ranges<'_>) -> bool {
        other.all.iter().all(|line| {
            self.all.binary_search(line).is_ok()
                || line.signs().iter().all(|sign| {
                    let sum = line.sum.times(*sign);
                    sum.is_some_and(|sum| self.proves(&sum, ranges))
                })
        })
    }
}
