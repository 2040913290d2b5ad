//! Products: pairs of variables whose product equals a sum.
//!
//! A matrix of `rows * cols` elements is read at `i * cols + j`. Lines cannot derive from `i <
//! rows` that `i * cols` is less than `rows * cols` by at least a row. So products that do not wrap
//! around are kept with the sum that they equal, and a new one is compared with the known ones that
//! share a factor: `i <= rows - 1` and `cols >= 0` give `i * cols <= rows * cols - cols`, which is
//! a line. Products are not multiplied further, and loops create none: each iteration multiplies
//! anew.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::lines::Lines;
use super::{Line, Ranges, Sum, Var};

/// The most products that are known; the oldest ones are forgotten first.
const PRODUCTS: usize = 6;
/// Factors that are compared differ by less, and multiples of products are smaller.
const NEAR: i128 = 1 << 16;

/// A multiple of the product of two variables that equals a sum, in whole numbers that do not wrap
/// around.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub struct Product {
    factors: [Var; 2],
    times: i128,
    sum: Sum,
}

/// The serialised form: the factors, the multiple, the variables of the sum with factors, the
/// constant.
type Written = ([Var; 2], i64, Vec<(Var, i64)>, i64);

impl From<Written> for Product {
    fn from((factors, times, terms, constant): Written) -> Product {
        let sum = Sum::read(&terms, constant);
        // A sum that cannot be read says nothing: zero times the product is zero.
        let times = sum.as_ref().map_or(0, |_| times.into());
        Product {
            factors,
            times,
            sum: sum.unwrap_or_default(),
        }
    }
}

impl From<Product> for Written {
    fn from(product: Product) -> Written {
        let (terms, constant) = product.sum.written();
        (product.factors, product.times as i64, terms, constant)
    }
}

impl fmt::Display for Product {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b] = self.factors;
        write!(f, "{} {a} * {b} = {}", self.times, self.sum)
    }
}

impl Product {
    /// The variables that it mentions.
    pub fn vars(&self) -> impl Iterator<Item = Var> + '_ {
        self.factors.into_iter().chain(self.sum.vars())
    }

    /// Whether it holds for these values; `None` if one of them is unknown.
    pub fn holds(&self, value: impl Fn(Var) -> Option<i128>) -> Option<bool> {
        let [a, b] = self.factors.map(&value);
        let product = a?.checked_mul(b?)?.checked_mul(self.times)?;
        Some(self.sum.value(&value)? == product)
    }

    /// The product with a variable replaced by what an exact line says that it is, if there is one.
    fn without(mut self, var: Var, by: &[Line]) -> Option<Product> {
        let exact = || by.iter().filter(|line| line.is_exact());
        for factor in self.factors.iter_mut().filter(|factor| **factor == var) {
            *factor = exact().find_map(|line| line.other(var))?;
        }
        let own = self.sum.factor(var);
        if own != 0 {
            let line = exact().min_by_key(|line| line.factor(var).abs())?;
            let its = line.factor(var);
            let scaled = self.sum.times(its.abs())?;
            self.sum = scaled.plus(&line.sum, -own * its.signum())?;
            self.times = self.times.checked_mul(its.abs())?;
        }
        Some(self).filter(Product::is_small)
    }

    fn is_small(&self) -> bool {
        (1..NEAR).contains(&self.times)
    }
}

impl Lines {
    /// Whether a line or a product mentions such a variable.
    pub fn speaks_of(&self, is_it: impl Fn(Var) -> bool) -> bool {
        let mut vars = self.all.iter().flat_map(Line::vars);
        let mut products = self.products.iter().flat_map(Product::vars);
        vars.any(&is_it) || products.any(&is_it)
    }

    /// The known products.
    pub fn products(&self) -> &[Product] {
        &self.products
    }

    /// Adds a product.
    pub fn put_product(&mut self, product: Product) {
        if product.is_small() && !self.has_product(&product) {
            self.products.push(product);
            let over = self.products.len().saturating_sub(PRODUCTS);
            self.products.drain(..over);
        }
    }

    /// Adds the product of two variables, and the lines that follow from comparing it with known
    /// products that share a factor.
    pub fn multiplied(&mut self, factors: [Var; 2], sum: Sum, ranges: Ranges<'_>) {
        let Some(new) = self.product(factors, sum) else {
            return;
        };
        let mut found = Vec::new();
        for known in &self.products {
            for (shared, own, other) in self.shared(&new, known) {
                if self.is_non_negative(shared, ranges) {
                    found.extend(self.compared((&new, own), (known, other), shared, ranges));
                }
            }
        }
        for (factor, other) in [(factors[0], factors[1]), (factors[1], factors[0])] {
            let (least, _) = ranges(factor);
            if (1..NEAR).contains(&least) && self.is_non_negative(other, ranges) {
                // `least * other <= factor * other`
                let least = Sum::of(other).times(least);
                found.extend(least.and_then(|least| least.plus(&new.sum, -1)));
            }
        }
        self.put_product(new);
        for sum in found {
            self.at_most_zero(Some(sum));
        }
    }

    /// The product of two variables, or of the variables that they are multiples of.
    fn product(&self, factors: [Var; 2], sum: Sum) -> Option<Product> {
        let whole = factors.map(|var| self.solved(Sum::of(var)).multiple().unwrap_or((var, 1)));
        let product = Product {
            factors: whole.map(|(var, _)| var),
            times: whole[0].1.checked_mul(whole[1].1)?,
            sum,
        };
        Some(product).filter(Product::is_small)
    }

    /// An upper bound of the product of two variables, neither of which may be negative, from a
    /// known product that shares a factor and whose other factor is not less.
    pub fn bounds_product(&self, factors: [Var; 2], ranges: Ranges<'_>) -> Option<i128> {
        let new = self.product(factors, Sum::default())?;
        if !factors
            .into_iter()
            .all(|var| self.is_non_negative(var, ranges))
        {
            return None;
        }
        let all = self.products.iter().flat_map(|known| {
            let shared = self.shared(&new, known).into_iter();
            shared.filter_map(|(_, own, other)| {
                let is_less = self.proves(&difference(own, other)?, ranges);
                let most = self.upper(&known.sum, ranges).saturating_mul(new.times);
                is_less.then_some(most / known.times)
            })
        });
        all.min()
    }

    /// The factors that two products share, each with the two other factors.
    fn shared(&self, a: &Product, b: &Product) -> Vec<(Var, Var, Var)> {
        let ways = [(0, 0), (0, 1), (1, 0), (1, 1)];
        let all = ways.into_iter().filter_map(|(i, k)| {
            let (shared, known) = (a.factors[i], b.factors[k]);
            self.are_same(shared, known)
                .then(|| (shared, a.factors[1 - i], b.factors[1 - k]))
        });
        all.collect()
    }

    /// The sums that are at most zero because of the difference of the factors that two products do
    /// not share. The shared factor may not be negative.
    fn compared(
        &self,
        (new, own): (&Product, Var),
        (known, other): (&Product, Var),
        shared: Var,
        ranges: Ranges<'_>,
    ) -> Vec<Sum> {
        let ways = [(own, other, 1), (other, own, -1)];
        let all = ways.into_iter().filter_map(|(less, more, sign)| {
            let by = self.upper(&difference(less, more)?, ranges);
            if by.abs() >= NEAR {
                return None;
            }
            // `less * shared <= (more + by) * shared`, multiplied by `times`.
            let times = new.times.checked_mul(known.times)?;
            let difference = new.sum.times(known.times)?;
            let difference = difference.plus(&known.sum, -new.times)?.times(sign)?;
            difference.plus(&Sum::of(shared), -by.checked_mul(times)?)
        });
        all.collect()
    }

    /// Whether lines say that two variables are equal.
    fn are_same(&self, a: Var, b: Var) -> bool {
        a == b || difference(a, b).is_some_and(|sum| self.is_zero(&sum))
    }

    fn is_non_negative(&self, var: Var, ranges: Ranges<'_>) -> bool {
        let negative = Sum::of(var).times(-1);
        negative.is_some_and(|negative| self.proves(&negative, ranges))
    }

    fn is_zero(&self, sum: &Sum) -> bool {
        self.solved(sum.clone()) == Sum::default()
    }

    /// Whether a product is known.
    fn has_product(&self, product: &Product) -> bool {
        self.products.iter().any(|known| {
            let [a, b] = product.factors;
            let [x, y] = known.factors;
            let are_same = self.are_same(a, x) && self.are_same(b, y)
                || self.are_same(a, y) && self.are_same(b, x);
            let sum = known.sum.times(product.times);
            are_same
                && sum
                    .and_then(|sum| sum.plus(&product.sum, -known.times))
                    .is_some_and(|sum| self.is_zero(&sum))
        })
    }

    /// Whether a product is known, or follows because one of its factors is a constant.
    fn says_product(&self, product: &Product, ranges: Ranges<'_>) -> bool {
        let [a, b] = product.factors;
        self.has_product(product)
            || [(a, b), (b, a)].into_iter().any(|(single, other)| {
                let (low, high) = ranges(single);
                let by = low.checked_mul(-product.times).filter(|_| low == high);
                let zero = by.and_then(|by| product.sum.plus(&Sum::of(other), by));
                zero.is_some_and(|zero| {
                    let not = zero.times(-1);
                    self.proves(&zero, ranges) && not.is_some_and(|not| self.proves(&not, ranges))
                })
            })
    }

    /// Whether all products of another set are known or follow.
    pub(super) fn says_products(&self, other: &Lines, ranges: Ranges<'_>) -> bool {
        let mut products = other.products.iter();
        products.all(|product| self.says_product(product, ranges))
    }

    /// Adds to `to` the products that another set knows, too.
    pub(super) fn kept_products(&self, (other, ranges): (&Lines, Ranges<'_>), to: &mut Lines) {
        for product in &self.products {
            if other.says_product(product, ranges) {
                to.put_product(product.clone());
            }
        }
    }

    /// Replaces a variable in all products by what lines say that it is.
    pub(super) fn replace_in_products(&mut self, var: Var, with: &[Line]) {
        let all = std::mem::take(&mut self.products).into_iter();
        let all = all.filter_map(|product| product.without(var, with));
        self.products = all.collect();
    }

    /// The products with renamed variables. Forgets those with a variable that has no new name.
    pub(super) fn renamed_products(&self, name: &impl Fn(Var) -> Option<Var>) -> Vec<Product> {
        let all = self.products.iter().filter_map(|product| {
            let [a, b] = product.factors;
            Some(Product {
                factors: [name(a)?, name(b)?],
                times: product.times,
                sum: product.sum.renamed(name)?,
            })
        });
        all.collect()
    }
}

fn difference(a: Var, b: Var) -> Option<Sum> {
    Sum::of(a).plus(&Sum::of(b), -1)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    const ROWS: Var = Var::Reg(0);
    const COLS: Var = Var::Reg(1);
    const I: Var = Var::Reg(2);
    const ALL: Var = Var::Reg(3);
    const AT: Var = Var::Reg(4);

    fn line(terms: &[(Var, i64)], constant: i64) -> Option<Sum> {
        Sum::read(terms, constant)
    }

    /// `rows * cols == all`, and `i < rows`; no number is negative.
    fn matrix() -> Lines {
        let mut lines = Lines::default();
        lines.multiplied([ROWS, COLS], Sum::of(ALL), &positive);
        lines.at_most_zero(line(&[(I, 1), (ROWS, -1)], 1));
        lines
    }

    fn positive(_: Var) -> (i128, i128) {
        (0, 1000)
    }

    #[test]
    fn a_row_ends_before_the_matrix() {
        let mut lines = matrix();
        lines.multiplied([COLS, I], Sum::of(AT), &positive);
        // at + cols <= all
        let end = line(&[(AT, 1), (COLS, 1), (ALL, -1)], 0).unwrap();
        assert!(lines.proves(&end, &positive));
        let more = line(&[(AT, 1), (COLS, 1), (ALL, -1)], 1).unwrap();
        assert!(!lines.proves(&more, &positive));
    }

    #[test]
    fn a_factor_that_may_be_negative_compares_nothing() {
        let any = |var| if var == COLS { (-1, 1000) } else { (0, 1000) };
        let mut lines = matrix();
        lines.multiplied([COLS, I], Sum::of(AT), &any);
        let end = line(&[(AT, 1), (COLS, 1), (ALL, -1)], 0).unwrap();
        assert!(!lines.proves(&end, &any));
    }

    #[test]
    fn multiples_of_factors_are_products_of_those() {
        let mut lines = Lines::default();
        let (bytes, size) = (Var::Reg(5), Var::Reg(6));
        lines.zero(line(&[(bytes, 1), (ROWS, -4)], 0));
        lines.multiplied([bytes, COLS], Sum::of(size), &positive);
        lines.at_most_zero(line(&[(I, 1), (ROWS, -1)], 1));
        lines.multiplied([I, COLS], Sum::of(AT), &positive);
        // 4 at + 4 cols <= size
        let end = line(&[(AT, 4), (COLS, 4), (size, -1)], 0).unwrap();
        assert!(lines.proves(&end, &positive));
    }

    #[test]
    fn a_product_follows_its_variables() {
        let mut lines = matrix();
        let (cell, size) = (Var::Reg(5), Var::Reg(6));
        lines.zero(line(&[(cell, 1), (COLS, -1)], 0));
        lines.zero(line(&[(size, 1), (ALL, -8)], 0));
        lines.keep(|var| var != COLS && var != ALL, &positive);
        let values = |rows, cell, size| {
            let value = move |var| match var {
                ROWS => Some(rows),
                Var::Reg(5) => Some(cell),
                Var::Reg(6) => Some(size),
                _ => None,
            };
            lines.products()[0].holds(value)
        };
        assert_eq!(lines.products().len(), 1);
        assert_eq!(values(3, 4, 96), Some(true));
        assert_eq!(values(3, 4, 95), Some(false));
        lines.drop(|var| var == size);
        assert!(lines.products().is_empty());
    }

    #[test]
    fn a_join_keeps_what_both_say() {
        let (here, mut there) = (matrix(), Lines::default());
        let mut both = Lines::default();
        here.kept((&there, &positive), true, &mut both);
        assert!(both.products().is_empty());
        // There `rows` is 2, and `all` is twice `cols`.
        there.zero(line(&[(ALL, 1), (COLS, -2)], 0));
        let two = |var| if var == ROWS { (2, 2) } else { (0, 1000) };
        here.kept((&there, &two), true, &mut both);
        assert_eq!(both.products(), here.products());
        assert!(there.proves_all(&both, &two));
        assert!(!there.proves_all(&both, &positive));
    }

    #[test]
    fn what_is_written_is_read() {
        let product = matrix().products()[0].clone();
        assert_eq!(Product::from(Written::from(product.clone())), product);
    }
}
