//! The forms of recurrences that have a solution.

use cegar_model::program::ir::Width;
use cegar_model::term::{Pool, Term};

/// The form of a variable's values after n iterations.
#[derive(Clone, Debug)]
pub(super) enum Form {
    /// `sum of c_k * C(n, k)`.
    Newton(Vec<Term>),
    /// Shifted to the left by `by` bits in each iteration, plus a constant.
    Left { by: u32, plus: Term },
    /// Shifted to the right in each iteration.
    Right { by: u32, arithmetic: bool },
    /// `(v + plus * n) mod modulus`.
    Remainder { plus: Term, modulus: Term },
    /// The value after the first iteration, from then on.
    Settles(Term),
    /// The first after an odd number of iterations, the second after an even, positive one.
    Alternates(Term, Term),
    /// A function of the values of the variables `on` one iteration before.
    Lagged { update: Term, on: Vec<Term> },
    /// Any value.
    Free,
}

/// The condition that the extension of a narrow value equals the wide polynomial after n
/// iterations, i.e. that the narrow value does not wrap around. Values computed from the wide
/// polynomial depend on it.
#[derive(Clone, Debug)]
pub(super) struct Straight {
    pub narrow: Vec<Term>,
    pub wide: Vec<Term>,
    pub signed: bool,
}

pub(super) fn fit(pool: &mut Pool, t: Term, width: Width) -> Term {
    if pool.width(t) > width {
        pool.extract(t, 0, width)
    } else {
        pool.zext(t, width)
    }
}
