//! Congruences of sums: the modulus and the remainder of their values.
//!
//! A cursor that moves by three towards an end that is a multiple of three either has reached the
//! end or is at least three before it. Lines alone say: at least one before it. So where a line is
//! added, or a sum is compared with zero, the congruences of its variables tighten the bound to the
//! greatest number up to it that has the sum's remainder. Philippe Granger's congruences (*Static
//! analysis of arithmetical congruences*, 1989) tighten intervals in this way; here they tighten
//! linear inequalities, as a cutting plane does.

use super::{Sum, Var, gcd};

/// Returns the modulus and the remainder of a variable's values: 0 and the value for a constant, 1
/// and 0 if nothing is known.
pub type Strides<'a> = &'a dyn Fn(Var) -> (i128, i128);

impl Sum {
    /// The greatest number up to a bound that the congruences of the variables allow.
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

    /// For a sum that is at most zero: the sum plus the greatest constant with which it still is.
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
