//! What becomes of a variable in a turn, in a form that can be summed over turns.

use cegar_model::program::ir::Width;
use cegar_model::term::{Pool, Term};

/// The shape of a variable's values.
#[derive(Clone, Debug)]
pub(super) enum Form {
    /// `sum of c_k * C(n, k)`.
    Newton(Vec<Term>),
    /// Shifted by so many bits in each turn, to the left with a summand.
    Left { by: u32, plus: Term },
    /// Shifted to the right, logically or not.
    Right { by: u32, arithmetic: bool },
    /// `(v + plus * n) mod modulus`.
    Remainder { plus: Term, modulus: Term },
    /// As after the first turn, ever after.
    Settles(Term),
    /// The first after an odd number of turns, the second after an even one that is not none.
    Alternates(Term, Term),
    /// A function of the values one turn before, of these variables.
    Lagged { update: Term, on: Vec<Term> },
    /// Anything.
    Free,
}

/// That a narrow value, widened, does not wrap around in n turns; otherwise what was computed from
/// the wide one is wrong.
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
