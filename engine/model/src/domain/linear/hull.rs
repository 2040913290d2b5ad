//! Equations that hold in two states: the affine hull of both.
//!
//! Two pointers that walk through two buffers keep the same distance from their starts, but no line
//! of a loop's first iteration says so: there each pointer is at its start. It follows from the
//! states of two iterations. An equation holds in both states if it is a combination of the
//! equations of each, so the two spaces of equations are intersected (Karr, *Affine relationships
//! among variables of a program*, Acta Informatica 6, 1976; the algorithm is Zassenhaus's). The
//! equations are added where states grow. Whether they hold in all iterations is tested as for any
//! line.

use std::collections::BTreeSet;

use super::lines::Lines;
use super::{Ranges, Sum, Var, gcd};

/// The most variables of the equations; with more, the hull is not computed.
const VARIABLES: usize = 24;
/// Factors stay below this limit; otherwise the hull is not computed.
const LARGE: i128 = 1 << 40;

/// The factors of an equation by variable, with the constant last.
type Equation = Vec<i128>;

impl Lines {
    /// Adds the equations that hold in both states, also of `moving` variables, to `to`.
    pub fn hull(
        &self,
        here: Ranges<'_>,
        (other, there): (&Lines, Ranges<'_>),
        moving: impl IntoIterator<Item = Var>,
        to: &mut Lines,
    ) {
        let only = |all: &Lines, others: &Lines| -> Vec<Sum> {
            let exact = all.iter().filter(|line| line.is_exact());
            let only = exact.filter(|line| others.all.binary_search(line).is_err());
            only.map(|line| line.sum.clone()).collect()
        };
        let (own, others) = (only(self, other), only(other, self));
        let sums = own.iter().chain(&others);
        let of_sums = sums.flat_map(Sum::vars);
        let vars: BTreeSet<Var> = of_sums.chain(moving).collect();
        if vars.is_empty() || vars.len() > VARIABLES {
            return;
        }
        let vars: Vec<Var> = vars.into_iter().collect();
        let (own, others) = (
            equations(&own, &vars, here),
            equations(&others, &vars, there),
        );
        for row in both(&own, &others, vars.len() + 1).unwrap_or_default() {
            let start = row.last().copied().map(Sum::number);
            let sum = vars.iter().zip(&row).fold(start, |sum, (var, factor)| {
                sum?.plus(&Sum::of(*var), *factor)
            });
            to.zero(sum);
        }
    }
}

/// Equations as rows, with an equation for each variable that has a single value.
fn equations(sums: &[Sum], vars: &[Var], ranges: Ranges<'_>) -> Vec<Equation> {
    let of = |sum: &Sum| -> Equation {
        let factors = vars.iter().map(|var| sum.factor(*var));
        factors.chain([sum.constant]).collect()
    };
    let singles = vars.iter().filter_map(|var| {
        let (low, high) = ranges(*var);
        let is_single = low == high && low.abs() < LARGE;
        is_single.then(|| Sum::of(*var).plus(&Sum::number(low), -1))?
    });
    sums.iter()
        .map(of)
        .chain(singles.map(|sum| of(&sum)))
        .collect()
}

/// The rows that are combinations of both sets of rows; `None` if numbers get too large.
fn both(own: &[Equation], others: &[Equation], width: usize) -> Option<Vec<Equation>> {
    let doubled = own.iter().map(|row| [&row[..], &row[..]].concat());
    let single = others
        .iter()
        .map(|row| [&row[..], &vec![0; width]].concat());
    let mut all: Vec<Equation> = doubled.chain(single).collect();
    let mut done = 0;
    for column in 0..2 * width {
        let Some(found) = (done..all.len()).find(|&row| all[row][column] != 0) else {
            continue;
        };
        all.swap(done, found);
        let pivot = all[done].clone();
        for (at, row) in all.iter_mut().enumerate() {
            // Rows below are cleared in all columns, rows above only in those of the results.
            if at > done || at < done && column >= width {
                clear(row, &pivot, column)?;
            }
        }
        done += 1;
    }
    let is_result = |row: &&Equation| row[..width].iter().all(|factor| *factor == 0);
    let results = all
        .iter()
        .filter(is_result)
        .map(|row| row[width..].to_vec());
    let says = |row: &Equation| row[..width - 1].iter().any(|factor| *factor != 0);
    Some(results.filter(says).collect())
}

/// Clears a column of a row by subtracting a multiple of the pivot.
fn clear(row: &mut Equation, pivot: &Equation, column: usize) -> Option<()> {
    let (own, by) = (row[column], pivot[column]);
    if own == 0 {
        return Some(());
    }
    let common = gcd(own, by).abs();
    let (times, less) = (by / common, own / common);
    for (number, other) in row.iter_mut().zip(pivot) {
        *number = number
            .checked_mul(times)?
            .checked_sub(other.checked_mul(less)?)?;
    }
    let all = row
        .iter()
        .fold(0, |all, number| gcd(all, number.abs()))
        .abs();
    if all > 1 {
        row.iter_mut().for_each(|number| *number /= all);
    }
    row.iter().all(|number| number.abs() < LARGE).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equations_of_both_are_found() {
        // x = 0, y = 5 and x = 2, y = 9: y = 2x + 5.
        let own = [vec![1, 0, 0], vec![0, 1, -5]];
        let others = [vec![1, 0, -2], vec![0, 1, -9]];
        let found = both(&own, &others, 3).expect("small");
        assert_eq!(found.len(), 1);
        let holds = |x: i128, y: i128| found[0][0] * x + found[0][1] * y + found[0][2] == 0;
        assert!(holds(0, 5) && holds(2, 9) && holds(4, 13) && !holds(4, 14));
    }

    #[test]
    fn what_holds_in_one_only_is_not() {
        let own = [vec![1, -1, 0]];
        let others = [vec![1, 0, -3]];
        assert_eq!(both(&own, &others, 3), Some(Vec::new()));
    }
}
