//! The questions to the solver, and how they are split.
//!
//! An answer that does not arrive in time is as good as none. So a hard question is split into
//! smaller ones: the formulas of an edge are asked about one by one, and one formula is split by
//! the cases of a condition in it.

use cegar_model::deadline;
use cegar_model::solver::{Answer, Limits};
use cegar_model::term::{Item, Pool, Term, sides};
use rustc_hash::FxHashSet;

use super::{Checker, NOT, UNANSWERED};
use crate::asked::About;
use crate::implied_equations::{Substitutions, implied_equations};
use crate::rejected::Rejected;

/// The divisor of the limits for a question about all formulas of an edge.
const TOGETHER: u32 = 4;
/// The number of formulas about arrays in one question, if the question about all is too hard.
const FEW: usize = 8;
/// The divisor of the limits for a question about a formula before it is split.
const CASE: u32 = 10;
/// The number of nested conditions by which a formula is split.
const DEPTH: u32 = 2;

impl Checker<'_, '_> {
    /// Returns `None` if the terms are shown to be unsatisfiable, else the reason why not.
    pub(super) fn refuted(&mut self, terms: &[Term], about: &About) -> Option<&'static str> {
        self.refuted_within(terms, about, self.limits)
    }

    fn refuted_within(
        &mut self,
        terms: &[Term],
        about: &About,
        limits: Limits,
    ) -> Option<&'static str> {
        let pool = &mut self.claims.pool;
        if terms.iter().any(|&t| pool.as_const(t) == Some(0)) {
            return None;
        }
        self.checked.questions += 1;
        let mut terms = terms.to_vec();
        terms.extend(implied_equations(pool, &terms));
        match self.asked.ask(pool, &terms, &limits, about) {
            Answer::Unsat { .. } => None,
            Answer::Sat(_) => Some(NOT),
            Answer::Unknown(_) => Some(UNANSWERED),
        }
    }

    /// Whether `last` contradicts the other terms. Hard questions are first asked in parts, then as
    /// a whole.
    fn refuted_by_cases(
        &mut self,
        terms: &[Term],
        last: Term,
        about: &About,
    ) -> Option<&'static str> {
        match self.refuted_in_parts(terms, last, (about, DEPTH)) {
            Some(UNANSWERED) => {
                let whole: Vec<Term> = terms.iter().copied().chain([last]).collect();
                self.refuted(&whole, about)
            }
            how => how,
        }
    }

    fn refuted_in_parts(
        &mut self,
        terms: &[Term],
        last: Term,
        (about, depth): (&About, u32),
    ) -> Option<&'static str> {
        let whole: Vec<Term> = terms.iter().copied().chain([last]).collect();
        let how = self.refuted_within(&whole, about, self.limits.part(CASE));
        if depth == 0 || how != Some(UNANSWERED) {
            return how;
        }
        let Some(sides) = sides(&mut self.claims.pool, last) else {
            return how;
        };
        // The terms are refuted if both cases are.
        sides.into_iter().find_map(|(known, last)| {
            let terms: Vec<Term> = terms.iter().copied().chain([known]).collect();
            self.refuted_in_parts(&terms, last, (about, depth - 1))
        })
    }

    /// Checks that all wanted formulas hold where an edge is taken.
    pub(super) fn kept(
        &mut self,
        (from, to): (&str, &str),
        terms: &[Term],
        wanted: Vec<(Term, String)>,
    ) -> Result<(), Rejected> {
        let mut seen: FxHashSet<Term> = terms.iter().copied().collect();
        let pool = &mut self.claims.pool;
        let trivial = pool.bit(true);
        seen.insert(trivial);
        // Formulas that substitution proves are left out, because they would make the question
        // about the rest harder.
        let substitutions = Substitutions::of(pool, terms);
        let mut is_open = |t: Term| {
            let not = pool.not(t);
            seen.insert(t) && !substitutions.refute(pool, not)
        };
        let open: Vec<(Term, String)> = wanted.into_iter().filter(|(t, _)| is_open(*t)).collect();
        if open.is_empty() {
            return Ok(());
        }
        let edge = (from, to);
        let all = open.len();
        if all > 1 && self.are_kept_together(edge, terms, &open) {
            return Ok(());
        }
        // Formulas about numbers are easy without those about arrays, and those about arrays are
        // easier one by one.
        let pool = &self.claims.pool;
        let (plain, reading): (Vec<_>, Vec<_>) =
            (open.into_iter()).partition(|(t, _)| !reads_arrays(pool, *t));
        for few in std::iter::once(&plain[..]).chain(reading.chunks(FEW)) {
            // The question about all of them has been asked already.
            let is_part = few.len() > 1 && few.len() < all;
            if !(is_part && self.are_kept_together(edge, terms, few)) {
                self.are_kept(edge, terms, few)?;
            }
        }
        Ok(())
    }

    /// Whether one question shows that all of these formulas hold.
    fn are_kept_together(
        &mut self,
        (from, to): (&str, &str),
        terms: &[Term],
        wanted: &[(Term, String)],
    ) -> bool {
        let pool = &mut self.claims.pool;
        let not: Vec<Term> = wanted.iter().map(|(t, _)| pool.not(*t)).collect();
        let some = pool.any(&not);
        let all: Vec<Term> = terms.iter().copied().chain([some]).collect();
        let about = About::Edge {
            from: from.to_owned(),
            to: to.to_owned(),
            part: None,
        };
        self.refuted_within(&all, &about, self.limits.part(TOGETHER))
            .is_none()
    }

    /// Checks that each of these formulas holds, one by one.
    fn are_kept(
        &mut self,
        (from, to): (&str, &str),
        terms: &[Term],
        wanted: &[(Term, String)],
    ) -> Result<(), Rejected> {
        for (formula, what) in wanted {
            if deadline::passed() {
                return Err(Rejected::Late);
            }
            let about = About::Edge {
                from: from.to_owned(),
                to: to.to_owned(),
                part: Some(what.clone()),
            };
            let not = self.claims.pool.not(*formula);
            if let Some(how) = self.refuted_by_cases(terms, not, &about) {
                if how == UNANSWERED && deadline::passed() {
                    return Err(Rejected::Late);
                }
                return Err(Rejected::Edge {
                    from: from.to_owned(),
                    to: to.to_owned(),
                    formula: what.clone(),
                    how,
                });
            }
        }
        Ok(())
    }
}

/// Whether a term depends on the contents of an array.
fn reads_arrays(pool: &Pool, term: Term) -> bool {
    let order = pool.order(Item::Term(term), |_| false);
    order.iter().any(|item| matches!(item, Item::Array(_)))
}
