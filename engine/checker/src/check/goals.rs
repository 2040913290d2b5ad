//! Checks the claims of one fragment, and records its narrowings and holes.

use cegar_model::deadline;
use cegar_model::program::ir::{CheckId, Loc};
use cegar_model::symbolic::encode::Fragment;
use cegar_model::term::Term;

use super::{Checker, UNANSWERED};
use crate::asked::About;
use crate::continuation::code_after;
use crate::floor::FloorResult;
use crate::rejected::Rejected;

impl<'p> Checker<'_, 'p> {
    pub(super) fn goals(&mut self, fragment: &Fragment, known: &[Term]) -> Result<(), Rejected> {
        for obligation in &fragment.obligations {
            let Some(CheckId(id)) = obligation.check else {
                continue;
            };
            let by_floor = |floor_result: &FloorResult| floor_result.holds(CheckId(id));
            if !self.claimed.checks.contains_key(&id)
                || self.floor_result.as_ref().is_some_and(by_floor)
            {
                continue;
            }
            let place = self.program.show(obligation.pos);
            let about = About::Check {
                check: id,
                place: place.clone(),
            };
            let mut condition = obligation.guard.0.clone();
            condition.push(obligation.violated);
            let way = (&condition[..], obligation.assumptions_before);
            match self.follows(fragment, way, known, &about) {
                None => {}
                Some(UNANSWERED) if deadline::passed() => {
                    let loc = crate::check::place(self.program, obligation);
                    self.late
                        .push(code_after(&self.claims.world, obligation.ctx, loc));
                    self.checked.late_checks.insert(id);
                }
                Some(how) => {
                    return Err(Rejected::Check {
                        check: id,
                        place,
                        how,
                    });
                }
            }
        }
        for entered in &fragment.entered {
            let id = entered.block.0;
            let by_floor = |floor_result: &FloorResult| floor_result.is_dead(entered.block);
            if !self.claimed.blocks.contains_key(&id)
                || self.floor_result.as_ref().is_some_and(by_floor)
            {
                continue;
            }
            if self.checked.late_blocks.contains(&id) {
                continue;
            }
            let place = self.program.show(self.program.block(entered.block).pos);
            let about = About::Block {
                block: id,
                place: place.clone(),
            };
            let way = (&entered.guard.0[..], entered.assumptions_before);
            match self.follows(fragment, way, known, &about) {
                None => {}
                Some(UNANSWERED) if deadline::passed() => {
                    self.checked.late_blocks.insert(id);
                }
                Some(how) => {
                    return Err(Rejected::Block {
                        block: id,
                        place,
                        how,
                    });
                }
            }
        }
        self.find_holes(fragment, known);
        self.narrowings(fragment, known)
    }

    /// Asks whether the terms in `way` can hold together with what is known. Returns `None` if they
    /// are shown to be unsatisfiable, else the reason why not.
    pub(super) fn follows(
        &mut self,
        fragment: &Fragment,
        (way, assumptions_before): (&[Term], usize),
        known: &[Term],
        about: &About,
    ) -> Option<&'static str> {
        let mut terms = known.to_vec();
        terms.extend(way);
        for (&assumption, of) in fragment.assumptions[..assumptions_before]
            .iter()
            .zip(&fragment.obligation_of)
        {
            // The assumption that a claimed check holds follows from the other terms. The question
            // without it is smaller and equivalent.
            let claimed = of
                .and_then(|at| fragment.obligations[at].check)
                .is_some_and(|CheckId(id)| self.claimed.checks.contains_key(&id));
            if !claimed {
                terms.push(assumption);
            }
        }
        self.refuted(&terms, about)
    }

    /// Records the narrowings of a fragment. Those that the certificate states need no question.
    /// The others are recorded unless they are shown to be unreachable.
    fn narrowings(&mut self, fragment: &Fragment, known: &[Term]) -> Result<(), Rejected> {
        for narrowing in &fragment.narrowings {
            let place = narrowing.place(self.program);
            let met = self.met.get(narrowing.id);
            if met.is_some_and(|places| places.contains(&place)) {
                continue;
            }
            let mut stated = self.certificate.assumptions.iter();
            let is_stated = stated.any(|a| a.id == narrowing.id && a.places.contains(&place));
            if !is_stated {
                let about = About::Hole {
                    what: format!("what assumes `{}`", narrowing.id),
                    place: place.clone(),
                };
                let way = (&narrowing.guard.0[..], narrowing.assumptions_before);
                match self.follows(fragment, way, known, &about) {
                    None => continue,
                    Some(UNANSWERED) if deadline::passed() => return Err(Rejected::Late),
                    Some(_) => {}
                }
            }
            self.met.entry(narrowing.id).or_default().insert(place);
        }
        Ok(())
    }

    /// Records the holes that may be reached.
    fn find_holes(&mut self, fragment: &Fragment, known: &[Term]) {
        for hole in &fragment.holes {
            let place = self.program.show(hole.pos);
            let about = About::Hole {
                what: hole.what.clone(),
                place: place.clone(),
            };
            let way = (&hole.guard.0[..], hole.assumptions_before);
            if self.follows(fragment, way, known, &about).is_some() {
                let first = Loc {
                    block: hole.block,
                    inst: 0,
                };
                let blocks = code_after(&self.claims.world, hole.ctx, first);
                self.holes.push((hole.what.clone(), place, blocks));
            }
        }
    }
}
