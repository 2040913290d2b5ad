//! Remainders of sums: of which number a sum is a multiple, and a remainder more.
//!
//! A cursor that moves by three and an end that is a multiple of three meet, and where they do not
//! the cursor is three before the end at least. Lines say less: that it is one before. So where a
//! line is put down, or a sum is compared with zero, the multiples that its variables are make the
//! bound smaller: of the numbers up to a bound the greatest that has the sum's remainder is one.
//! Philippe Granger's congruences (*Static analysis of arithmetical congruences*, 1989) reduce
//! intervals in this way; here they reduce linear inequalities, as a cutting plane does.

use super::{Sum, Var, gcd};

/// What a variable's values are multiples of, and a remainder more: 0 and the value where there is
/// one, 1 and 0 where nothing is known.
pub type Strides<'a> = &'a dyn Fn(Var) -> (i128, i128);

impl Sum {
    /// The greatest number up to a bound that the sum may be, as the multiples of its variables
    /// say.
    pub fn at_most(&self, bound: i128, strides: Strides<'_>) -> i128 {
        let start = Some((0, self.constant));
        let found = self.terms.iter().fold(start, |sum, &(var, factor)| {
            let (modulus, rest) = sum?;
            let (step, own) = strides(var);
            let step = step.checked_mul(factor)?.checked_abs()?;
            Some((
                gcd(modulus, step),
                rest.checked_add(own.checked_mul(factor)?)?,
            ))
        });
        match found {
            Some((modulus, rest)) if modulus > 1 => {
                let over = bound.checked_sub(rest).map(|over| over.rem_euclid(modulus));
                over.map_or(bound, |over| bound.saturating_sub(over))
            }
            _ => bound,
        }
    }

    /// The sum is zero at most: a greater sum that is, too.
    pub fn tightened(&self, strides: Strides<'_>) -> Option<Sum> {
        let most = self.at_most(0, strides);
        self.plus(&Sum::number(most), -1)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    const P: Var = Var::Reg(0);
    const END: Var = Var::Reg(1);

    fn strides(var: Var) -> (i128, i128) {
        match var {
            P => (3, 0),
            END => (6, 3),
            _ => (1, 0),
        }
    }

    #[test]
    fn what_does_not_meet_the_end_is_a_step_before_it() {
        let before = Sum::of(P).plus(&Sum::of(END), -1).unwrap();
        let strictly = before.plus(&Sum::number(1), 1).unwrap();
        let step = before.plus(&Sum::number(3), 1).unwrap();
        assert_eq!(strictly.tightened(&strides).unwrap(), step);
        assert_eq!(before.tightened(&strides).unwrap(), before);
        assert_eq!(before.at_most(5, &strides), 3);
        assert_eq!(before.at_most(-1, &strides), -3);
    }

    #[test]
    fn nothing_follows_of_what_may_be_anything() {
        let sum = Sum::of(P).plus(&Sum::of(Var::Reg(7)), 1).unwrap();
        assert_eq!(sum.at_most(5, &strides), 5);
        let doubled = sum.times(2).unwrap();
        assert_eq!(doubled.at_most(5, &strides), 4);
        assert_eq!(Sum::number(4).at_most(5, &strides), 5);
    }
}
