//! Equations that all states satisfy.
//!
//! Closed forms of loops are polynomials in the number of iterations, so the relation between their
//! variables is often a polynomial equation. The data-driven method (Sharma and others, 2013)
//! computes the null space of the states' monomials. It is computed modulo a prime, where nothing
//! overflows or is rounded, and coefficients that are small fractions are recovered. Whether an
//! equation holds modulo the width and whether it is inductive is checked elsewhere.

use std::collections::BTreeSet;

use cegar_model::program::ir::{BinOp, Width};
use cegar_model::term::{Evaluator, Pool, Term, value};

use super::CandidateGenerator;

/// 2^61 - 1.
const PRIME: u128 = (1 << 61) - 1;
/// The largest coefficient.
const FACTOR: i128 = 4096;
/// The largest common denominator.
const DENOMINATOR: u128 = 12;
/// The maximum number of states used.
const ROWS: usize = 80;
/// The maximum number of values in a linear equation.
const VALUES: usize = 12;
/// The maximum number of values that are multiplied with each other.
const FACTORS: usize = 5;
/// The maximum number of monomials in an equation between three values.
const SHORT: usize = 2;

impl CandidateGenerator<'_, '_> {
    /// Linear equations over values of one width that hold in all samples.
    pub(super) fn equations(
        &mut self,
        scalars: &[Term],
        evaluators: &mut [Evaluator],
        out: &mut Vec<Term>,
    ) {
        for width in [32, 64] {
            let values = self.of_width(scalars, width);
            self.equation((&values, usize::MAX), width, evaluators, out);
        }
    }

    /// Quadratic equations: squares, products of two counters, sums of the first n numbers.
    pub(super) fn products(
        &mut self,
        scalars: &[Term],
        evaluators: &mut [Evaluator],
        out: &mut Vec<Term>,
    ) {
        for width in [32, 64] {
            let values = self.of_width(scalars, width);
            let columns: Vec<Vec<u128>> =
                values.iter().map(|&t| self.values(t, evaluators)).collect();
            // A value that is a linear function of the others needs no products of its own.
            let mut factors: Vec<usize> = Vec::new();
            for (i, column) in columns.iter().enumerate() {
                if column.iter().all(|v| v == &column[0]) {
                    continue;
                }
                factors.push(i);
                let chosen: Vec<Vec<u128>> = factors.iter().map(|&i| columns[i].clone()).collect();
                if !equations(&chosen, width, self.samples.len()).is_empty() {
                    factors.pop();
                }
                if factors.len() == FACTORS {
                    break;
                }
            }
            for (n, factors) in sets(&factors).into_iter().enumerate() {
                // There are many equations among three values, and each superfluous candidate is a
                // hard query.
                let most = if n == 0 { usize::MAX } else { SHORT };
                let mut monomials = Vec::new();
                for (n, &i) in factors.iter().enumerate() {
                    for &j in &factors[n..] {
                        let product = self.graph.pool.bin(BinOp::Mul, values[i], values[j]);
                        monomials.push(product);
                    }
                }
                // Products come first, so that values are expressed by products and not the other
                // way round.
                monomials.extend(factors.iter().map(|&i| values[i]));
                self.equation((&monomials, most), width, evaluators, out);
            }
        }
    }

    fn of_width(&mut self, scalars: &[Term], width: Width) -> Vec<Term> {
        let pool = &mut self.graph.pool;
        let fits = |pool: &Pool, t: Term| {
            let w = pool.width(t);
            w == width || (width == 64 && w == 32)
        };
        let values: Vec<Term> = scalars
            .iter()
            .filter(|&&t| fits(pool, t))
            .copied()
            .take(VALUES)
            .collect();
        if values.iter().all(|&t| pool.width(t) < width) {
            return Vec::new();
        }
        values.into_iter().map(|t| pool.sext(t, width)).collect()
    }

    /// Adds the equations over these monomials that have at most `most` of them.
    fn equation(
        &mut self,
        (monomials, most): (&[Term], usize),
        width: Width,
        evaluators: &mut [Evaluator],
        out: &mut Vec<Term>,
    ) {
        if monomials.len() < 2 {
            return;
        }
        let columns: Vec<Vec<u128>> = monomials
            .iter()
            .map(|&t| self.values(t, evaluators))
            .collect();
        for equation in equations(&columns, width, self.samples.len()) {
            if equation.factors.iter().filter(|f| **f != 0).count() > most {
                continue;
            }
            let pool = &mut self.graph.pool;
            let mut sum = pool.constant(width, value::unsigned(width, equation.constant));
            for (&factor, &t) in equation.factors.iter().zip(monomials) {
                if factor != 0 {
                    let product = times_constant(pool, t, factor);
                    sum = pool.bin(BinOp::Add, sum, product);
                }
            }
            let zero = pool.constant(width, 0);
            out.push(pool.eq(sum, zero));
        }
    }
}

/// The sets of values to multiply with each other: all, and every three, each of which is first
/// once. If few values of a factor were seen, products are multiples of each other, and their order
/// decides which of them a value is expressed by: `s == i * m` is missed if `m * s` represents `i *
/// m`.
fn sets(factors: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![factors.to_vec()];
    for (a, &i) in factors.iter().enumerate() {
        for (b, &j) in factors.iter().enumerate().skip(a + 1) {
            for &k in &factors[b + 1..] {
                all.extend([vec![i, j, k], vec![j, k, i], vec![k, i, j]]);
            }
        }
    }
    all
}

/// A product that is never a shift: solvers cancel multiples in sums, but not shifted bits.
fn times_constant(pool: &mut Pool, t: Term, factor: i128) -> Term {
    let width = pool.width(t);
    let size = factor.unsigned_abs();
    if size.is_power_of_two() && size > 1 {
        let rest = times_constant(pool, t, factor - factor.signum());
        let once = times_constant(pool, t, factor.signum());
        return pool.bin(BinOp::Add, rest, once);
    }
    let factor = pool.constant(width, value::unsigned(width, factor));
    pool.bin(BinOp::Mul, factor, t)
}

/// `factors . values + constant == 0`.
struct Equation {
    factors: Vec<i128>,
    constant: i128,
}

fn times(a: u128, b: u128) -> u128 {
    a * b % PRIME
}

fn inverse(a: u128) -> u128 {
    // a^(p - 2).
    let (mut base, mut left, mut result) = (a, PRIME - 2, 1);
    while left > 0 {
        if left & 1 == 1 {
            result = times(result, base);
        }
        base = times(base, base);
        left >>= 1;
    }
    result
}

/// The linear equations that all rows satisfy and whose coefficients are small.
fn equations(columns: &[Vec<u128>], width: Width, rows: usize) -> Vec<Equation> {
    let n = columns.len();
    let distinct: BTreeSet<Vec<i128>> = (0..rows)
        .map(|row| {
            columns
                .iter()
                .map(|column| value::signed(width, column[row]))
                .collect()
        })
        // Values that wrapped around satisfy no equation over the integers.
        .filter(|row: &Vec<i128>| row.iter().all(|v| v.abs() < 1 << 40))
        .collect();
    // With fewer rows than unknowns, arbitrary equations hold.
    if distinct.len() < n + 2 {
        return Vec::new();
    }
    let mut matrix: Vec<Vec<u128>> = distinct
        .into_iter()
        .take(ROWS.max(n + 2))
        .map(|row| {
            let field = row.into_iter().chain([1]);
            field.map(|v| v.rem_euclid(PRIME as i128) as u128).collect()
        })
        .collect();
    let mut pivots: Vec<usize> = Vec::new();
    for column in 0..=n {
        let rank = pivots.len();
        let Some(found) = (rank..matrix.len()).find(|&r| matrix[r][column] != 0) else {
            continue;
        };
        matrix.swap(rank, found);
        let scale = inverse(matrix[rank][column]);
        matrix[rank].iter_mut().for_each(|v| *v = times(*v, scale));
        let pivot = matrix[rank].clone();
        for (row, values) in matrix.iter_mut().enumerate() {
            let factor = values[column];
            if row != rank && factor != 0 {
                for (mine, p) in values.iter_mut().zip(&pivot) {
                    *mine = (*mine + PRIME - times(factor, *p)) % PRIME;
                }
            }
        }
        pivots.push(column);
    }
    let mut all = Vec::new();
    for free in (0..=n).filter(|c| !pivots.contains(c)) {
        let mut factors = vec![0u128; n + 1];
        factors[free] = 1;
        for (row, &pivot) in pivots.iter().enumerate() {
            factors[pivot] = (PRIME - matrix[row][free]) % PRIME;
        }
        let whole = (1..=DENOMINATOR).find_map(|denominator| {
            let all: Vec<i128> = factors
                .iter()
                .map(|&f| {
                    let f = times(f, denominator) as i128;
                    if f > PRIME as i128 / 2 {
                        f - PRIME as i128
                    } else {
                        f
                    }
                })
                .collect();
            let is_small = all[..n].iter().all(|f| f.abs() <= FACTOR) && all[n].abs() < 1 << 32;
            is_small.then_some(all)
        });
        let Some(mut factors) = whole else { continue };
        let constant = factors.pop().unwrap_or(0);
        if factors.iter().any(|&f| f != 0) {
            all.push(Equation { factors, constant });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equations_are_found() {
        // x + y - z == 3
        let rows = [
            (1u128, 5u128, 3u128),
            (2, 2, 1),
            (7, 0, 4),
            (10, 4, 11),
            (0, 9, 6),
        ];
        let columns = vec![
            rows.iter().map(|r| r.0).collect(),
            rows.iter().map(|r| r.1).collect(),
            rows.iter().map(|r| r.2).collect(),
        ];
        let found = equations(&columns, 32, rows.len());
        assert_eq!(found.len(), 1);
        let e = &found[0];
        for r in rows {
            let sum = e.factors[0] * r.0 as i128
                + e.factors[1] * r.1 as i128
                + e.factors[2] * r.2 as i128
                + e.constant;
            assert_eq!(sum, 0);
        }
    }
}
