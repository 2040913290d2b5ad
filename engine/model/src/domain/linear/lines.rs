//! Sets of lines: adding, solving, eliminating and proving them.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use super::{ANY, Line, Product, Ranges, Sum, Var, bit, gcd};
use crate::term::fault::ONE_ALLOCATION;

/// The most lines of a state.
const LINES: usize = 80;
/// The most inequalities of the same variables and signs. Joins and eliminations add ever more.
const RIVALS: usize = 2;
/// The most variables of a line.
const TERMS: usize = 5;
/// The most lines that are added up to prove one.
const STEPS: u32 = 4;
/// The most lines that are added up in the first, short search.
const FEW_STEPS: u32 = 2;
/// The most sums that a search looks at.
const EFFORT: u32 = 300;

/// The limit of how far a line is loosened so that it holds in another state.
const FAR: i128 = 1 << 32;

/// A line that ranges imply by more than this margin is redundant.
const MARGIN: i128 = 1 << 8;

/// A set of lines: see the [module above](super).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Lines {
    /// Sorted.
    pub(super) all: Vec<Line>,
    /// Products of two variables, the latest one last.
    pub(super) products: Vec<Product>,
}

impl Lines {
    /// Creates a set from lines and products, which may come from a file.
    pub fn from_parts(
        lines: impl IntoIterator<Item = Line>,
        products: impl IntoIterator<Item = Product>,
    ) -> Lines {
        let mut all = Lines::default();
        for line in lines {
            all.put(line.sum, line.exact);
        }
        products
            .into_iter()
            .for_each(|product| all.put_product(product));
        all
    }

    /// The lines.
    pub fn iter(&self) -> impl Iterator<Item = &Line> {
        self.all.iter()
    }

    /// Adds the line that a sum is at most zero.
    pub fn at_most_zero(&mut self, sum: Option<Sum>) {
        if let Some(sum) = sum.filter(|sum| self.is_needed(sum)) {
            self.put(sum, false);
        }
    }

    /// Adds the line that a sum is zero.
    pub fn zero(&mut self, sum: Option<Sum>) {
        if let Some(sum) = sum.filter(|sum| self.is_needed(sum)) {
            self.put(sum, true);
        }
    }

    /// Whether intervals do not express a sum. They express a single variable, unless it equals an
    /// object's size or a caller's register, which have no interval here that could be narrowed.
    fn is_needed(&self, sum: &Sum) -> bool {
        match sum.terms[..] {
            [] => false,
            [_] => {
                let solved = self.solved(sum.clone());
                matches!(solved.terms[..], [(Var::Size(_) | Var::Outer(..), _)])
            }
            _ => true,
        }
    }

    fn put(&mut self, sum: Sum, exact: bool) {
        let Some(line) = Line::reduced(self.solved(sum), exact) else {
            return;
        };
        let is_long = !(1..=TERMS).contains(&line.sum.terms.len());
        if is_long || line.is_crooked() || line.is_idle() {
            return;
        }
        let is_same = |known: &Line| known.mask == line.mask && known.sum.terms == line.sum.terms;
        if let Some(at) = self.all.iter().position(is_same) {
            let known = &self.all[at];
            if known.exact || !line.exact && known.sum.constant >= line.sum.constant {
                return;
            }
            self.all.remove(at);
        }
        if self.all.binary_search(&line).is_ok() {
            return;
        }
        let is_rival = |known: &Line| known.is_rival(&line);
        let rivals = self.all.iter().filter(|known| is_rival(known)).count();
        if rivals >= RIVALS && !self.make_room(&line, is_rival) {
            return;
        }
        if self.all.len() >= LINES && !self.make_room(&line, |_| true) {
            return;
        }
        let Err(at) = self.all.binary_search(&line) else {
            return;
        };
        let Some(pivot) = line.pivot else {
            self.all.insert(at, line);
            return;
        };
        // The variable for which it is solved occurs in no other line.
        let others = self.taken(pivot);
        if let Err(at) = self.all.binary_search(&line) {
            self.all.insert(at, line);
        }
        for other in others {
            self.put(other.sum, other.exact);
        }
    }

    /// Replaces the least useful of some lines if `line` is more useful; whether it is.
    fn make_room(&mut self, line: &Line, is_among: impl Fn(&Line) -> bool) -> bool {
        let among = self.all.iter().enumerate();
        let among = among.filter(|(_, known)| is_among(known));
        let heaviest = among.max_by_key(|(_, known)| known.weight());
        match heaviest {
            Some((at, heaviest)) if heaviest.weight() > line.weight() => {
                self.all.remove(at);
                true
            }
            _ => false,
        }
    }

    /// Removes and returns the lines with a variable.
    fn taken(&mut self, var: Var) -> Vec<Line> {
        self.all
            .extract_if(.., |line| line.factor(var) != 0)
            .collect()
    }

    /// The sum without the variables for which lines are solved.
    pub(super) fn solved(&self, mut sum: Sum) -> Sum {
        for line in &self.all {
            let Some(pivot) = line.pivot else { continue };
            let factor = sum.factor(pivot);
            if factor == 0 {
                continue;
            }
            let own = line.factor(pivot);
            if let Some(rest) = sum.plus(&line.sum, -factor * own) {
                sum = rest;
            }
        }
        sum
    }

    /// The bounds of single variables that lines give: least and greatest value.
    pub fn bounds(&self) -> Vec<(Var, i128, i128)> {
        let single = self.all.iter().filter_map(|line| match line.sum.terms[..] {
            [(var, 1)] => Some((var, ANY.0, -line.sum.constant)),
            [(var, -1)] => Some((var, line.sum.constant, ANY.1)),
            _ => None,
        });
        single.collect()
    }

    /// The sum without a variable, by an equation whose other variables are all kept.
    pub(in crate::domain) fn replaced(
        &self,
        sum: &Sum,
        gone: Var,
        is_kept: impl Fn(Var) -> bool,
    ) -> Option<Sum> {
        let says_it = |line: &&Line| {
            line.exact
                && line.factor(gone).abs() == 1
                && line.vars().all(|var| var == gone || is_kept(var))
        };
        let line = self.all.iter().find(says_it)?;
        sum.plus(&line.sum, -sum.factor(gone) * line.factor(gone))
    }

    /// Whether a line or a product mentions a variable.
    pub fn has(&self, var: Var) -> bool {
        let mut products = self.products.iter().flat_map(Product::vars);
        self.all.iter().any(|line| line.factor(var) != 0) || products.any(|own| own == var)
    }

    /// The least upper bound of a sum that is found.
    pub fn upper(&self, sum: &Sum, ranges: Ranges<'_>) -> i128 {
        self.bound(sum, ranges, None)
    }

    /// Whether a sum is proved to be at most zero.
    pub fn proves(&self, sum: &Sum, ranges: Ranges<'_>) -> bool {
        self.bound(sum, ranges, Some(0)) <= 0
    }

    /// An upper bound of a sum: the least that is found, or the first that is small enough.
    fn bound(&self, sum: &Sum, ranges: Ranges<'_>, enough: Option<i128>) -> i128 {
        let known = Remembered::default();
        let ranges = |var| known.range(var, ranges);
        let most = sum.most(&ranges);
        if enough.is_some_and(|enough| most <= enough) {
            return most;
        }
        let solved = self.solved(sum.clone());
        let start = solved.most(&ranges).min(most);
        // Short proofs first: one line that leads nowhere may use up the effort.
        [FEW_STEPS, STEPS].into_iter().fold(start, |best, steps| {
            let effort = &mut EFFORT.clone();
            match enough.is_some_and(|enough| best <= enough) {
                true => best,
                false => self.search((&solved, best), &ranges, steps, enough, effort),
            }
        })
    }

    /// Improves the known upper bound of a sum.
    fn search(
        &self,
        (sum, mut best): (&Sum, i128),
        ranges: Ranges<'_>,
        steps: u32,
        enough: Option<i128>,
        effort: &mut u32,
    ) -> i128 {
        let done = |best: i128| enough.is_some_and(|enough| best <= enough);
        if steps == 0 || sum.terms.is_empty() || done(best) {
            return best;
        }
        // All sums with one more line are bounded by ranges before more lines are added.
        let mut next = Vec::new();
        for (rest, scale) in self.added(sum, ranges, effort) {
            let found = rest.most(ranges);
            best = best.min(divided(found, scale));
            if done(best) {
                return best;
            }
            next.push((rest, scale, found));
        }
        if steps == 1 {
            return best;
        }
        next.sort_by_key(|(rest, ..)| rest.terms.len());
        for (rest, scale, known) in next {
            if done(best) || *effort == 0 {
                return best;
            }
            let wanted = enough.map(|enough| enough.saturating_mul(scale));
            let found = self.search((&rest, known), ranges, steps - 1, wanted, effort);
            best = best.min(divided(found, scale));
        }
        best
    }

    /// Adds to a sum each line that cancels a variable: upper bounds of `scale` times the sum.
    fn added(&self, sum: &Sum, ranges: Ranges<'_>, effort: &mut u32) -> Vec<(Sum, i128)> {
        let mut all = Vec::new();
        let unbounded = sum.unbounded(ranges);
        let mask = unbounded.map_or_else(|| sum.mask(), |(var, _)| bit(var));
        for line in self.all.iter().filter(|line| line.mask & mask != 0) {
            for sign in line.signs() {
                let is_shared = |(var, factor): &(Var, i128)| {
                    (line.factor(*var) * sign).signum() == factor.signum()
                };
                let shared = match unbounded {
                    Some(term) => Some(term).filter(|term| is_shared(term)),
                    None => sum.terms.iter().copied().find(is_shared),
                };
                let Some((var, factor)) = shared else {
                    continue;
                };
                if line.only_renames(var, ranges) {
                    continue;
                }
                if *effort == 0 {
                    return all;
                }
                *effort -= 1;
                // Not less than `scale * sum`, since the line is at most zero.
                let by_line = (line.factor(var) * sign).abs();
                // Most factors are one, and a division by an unknown number is slow.
                let (scale, by) = match by_line {
                    1 => (1, factor.abs()),
                    _ => {
                        let common = gcd(by_line, factor.abs());
                        (by_line / common, factor.abs() / common)
                    }
                };
                let rest = match scale {
                    1 => sum.plus(&line.sum, -by * sign),
                    _ => sum
                        .times(scale)
                        .and_then(|all| all.plus(&line.sum, -by * sign)),
                };
                all.extend(
                    rest.filter(|rest| rest.terms.len() <= TERMS)
                        .map(|rest| (rest, scale)),
                );
            }
        }
        all
    }

    /// Removes a variable, and keeps what its lines imply for the others.
    pub fn eliminate(&mut self, var: Var, ranges: Ranges<'_>) {
        let mut with = self.taken(var);
        self.replace_in_products(var, &with);
        let exact = with.iter().filter(|line| line.exact);
        let by = exact.min_by_key(|line| (line.factor(var).abs(), line.sum.terms.len()));
        if let Some(by) = by.cloned() {
            with.retain(|line| *line != by);
            for line in with {
                let (f, g) = (line.factor(var), by.factor(var));
                let scaled = line.sum.times(g.abs());
                if let Some(sum) = scaled.and_then(|sum| sum.plus(&by.sum, -f * g.signum())) {
                    self.put(sum, line.exact);
                }
            }
            self.bounded_by(&by, var, ranges);
            return;
        }
        let (above, below): (Vec<&Line>, Vec<&Line>) =
            with.iter().partition(|line| line.factor(var) > 0);
        for line in &above {
            for other in &below {
                let (f, g) = (line.factor(var), -other.factor(var));
                let scaled = line.sum.times(g);
                if let Some(sum) = scaled.and_then(|sum| sum.plus(&other.sum, f)) {
                    self.put(sum, false);
                }
            }
        }
        let (low, high) = ranges(var);
        for line in &with {
            let factor = line.factor(var);
            let bound = if factor > 0 { low } else { high };
            if bound.abs() < 1 << 48 {
                let value = Sum::number(bound).plus(&Sum::of(var), -1);
                if let Some(sum) = value.and_then(|value| line.sum.plus(&value, factor)) {
                    self.put(sum, false);
                }
            }
        }
    }

    /// Bounds what an exact line equates a variable with by its range, unless that is implied.
    fn bounded_by(&mut self, by: &Line, var: Var, ranges: Ranges<'_>) {
        let factor = by.factor(var);
        if factor.abs() != 1 {
            return;
        }
        let (low, high) = ranges(var);
        // `var` less what it equals is zero.
        let Some(zero) = by.sum.times(factor) else {
            return;
        };
        let own = Sum::of(var);
        let above = own.plus(&Sum::number(high), -1);
        let below = Sum::number(low).plus(&own, -1);
        for (sum, times, bound) in [(above, -1, high), (below, 1, low)] {
            let sum = sum.and_then(|sum| sum.plus(&zero, times));
            if bound.abs() <= ONE_ALLOCATION.into()
                && let Some(sum) = sum
                && sum.most(ranges) > 0
            {
                self.put(sum, false);
            }
        }
    }

    /// Eliminates the variables that do not matter.
    pub fn keep(&mut self, matters: impl Fn(Var) -> bool, ranges: Ranges<'_>) {
        let lines = self.all.iter().flat_map(Line::vars);
        let products = self.products.iter().flat_map(Product::vars);
        let mut gone: Vec<Var> = lines.chain(products).collect();
        gone.retain(|var| !matters(*var));
        gone.sort_unstable();
        gone.dedup();
        gone.into_iter().for_each(|var| self.eliminate(var, ranges));
    }

    /// Forgets all lines and products with such a variable.
    pub fn drop(&mut self, is_gone: impl Fn(Var) -> bool) {
        self.all.retain(|line| !line.vars().any(&is_gone));
        self.products.retain(|known| !known.vars().any(&is_gone));
    }

    /// Forgets lines that ranges imply by a margin: they were loosened repeatedly, and take the
    /// room of useful ones. Lines that ranges just imply stay, since ranges may become wider, but
    /// not those of types' ranges, string ends and multiples.
    pub fn forget_trivial(&mut self, ranges: Ranges<'_>) {
        let known = Remembered::default();
        let ranges = |var| known.range(var, ranges);
        self.all.retain(|line| {
            let most = line.sum.most(&ranges);
            let is_weak = line.is_far()
                || line.speaks_of_texts()
                || line.terms().any(|(_, factor)| factor.abs() > 1);
            line.exact || most > if is_weak { 0 } else { -MARGIN }
        });
    }

    /// Forgets lines about string ends that bound a single variable, or that ranges imply.
    pub fn forget_trivial_texts(&mut self, ranges: Ranges<'_>) {
        self.all.retain(|line| {
            let is_bound = line.sum.terms.len() == 1;
            let says_more = !is_bound && (line.exact || line.sum.most(ranges) > 0);
            !line.speaks_of_texts() || says_more
        });
    }

    /// Renames variables, no two to the same name. Forgets lines with a variable that has none.
    pub fn rename(&self, name: impl Fn(Var) -> Option<Var>) -> Lines {
        let mut all = Lines::default();
        for line in &self.all {
            if let Some(sum) = line.sum.renamed(&name) {
                all.put(sum, line.exact);
            }
        }
        all.products = self.renamed_products(&name);
        all
    }

    /// Adds to `to` the lines that another set proves; with `loosens`, also with another constant.
    pub fn kept(&self, (other, ranges): (&Lines, Ranges<'_>), loosens: bool, to: &mut Lines) {
        for line in &self.all {
            if other.all.binary_search(line).is_ok() {
                to.put(line.sum.clone(), line.exact);
                continue;
            }
            let both = line.signs().iter().filter_map(|sign| line.sum.times(*sign));
            let above: Vec<(Sum, i128)> = both
                .map(|sum| {
                    let above = match loosens {
                        true => other.bound(&sum, ranges, Some(0)).max(0),
                        false if other.proves(&sum, ranges) => 0,
                        false => i128::MAX,
                    };
                    (sum, above)
                })
                .collect();
            if line.exact && above.iter().all(|(_, above)| *above == 0) {
                to.put(line.sum.clone(), line.exact);
                continue;
            }
            for (sum, above) in above {
                if above < FAR {
                    to.at_most_zero(sum.plus(&Sum::number(above), -1));
                }
            }
        }
        self.kept_products((other, ranges), to);
    }

    /// Whether all lines and products of another set are proved.
    pub fn proves_all(&self, other: &Lines, ranges: Ranges<'_>) -> bool {
        other.all.iter().all(|line| {
            self.all.binary_search(line).is_ok()
                || line.signs().iter().all(|sign| {
                    let sum = line.sum.times(*sign);
                    sum.is_some_and(|sum| self.proves(&sum, ranges))
                })
        }) && self.says_products(other, ranges)
    }
}

/// The bound of a sum, from one of `scale` times the sum.
fn divided(bound: i128, scale: i128) -> i128 {
    match scale {
        1 => bound,
        _ => bound.div_euclid(scale),
    }
}

/// Caches ranges: to look one up may read memory.
#[derive(Default)]
struct Remembered(RefCell<FxHashMap<Var, (i128, i128)>>);

impl Remembered {
    fn range(&self, var: Var, ranges: Ranges<'_>) -> (i128, i128) {
        let known = self.0.borrow().get(&var).copied();
        known.unwrap_or_else(|| {
            let range = ranges(var);
            self.0.borrow_mut().insert(var, range);
            range
        })
    }
}
