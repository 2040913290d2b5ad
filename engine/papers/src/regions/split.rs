//! Splits regions by preimages.

use cegar_model::solver::Answer;
use cegar_model::term::Term;
use cegar_search::abstraction::asking::ask;
use cegar_search::abstraction::forest::Sample;
use cegar_search::abstraction::state_symbols::{StateSymbols, conjuncts};

use super::{Asking, Edge, QUESTION, RegionId, Regions, SIMPLE, Target};
use crate::projection::{Projected, project};

impl Regions {
    /// The conditions on states of a region that make this step, without those that hold in all of
    /// the region: the preimage, or a consequence of it. `states` are some states of the region.
    pub fn preimage(
        &mut self,
        all: &mut Asking<'_, '_>,
        (from, to): (RegionId, Target),
        states: &[&Sample],
    ) -> Projected {
        let terms = self.whole(all, from, to);
        let own = StateSymbols::of(all.graph, self.region(from).cut);
        let limits = all.cancellation.within(QUESTION);
        let mut asked = 0;
        let mut result = project(
            &mut all.graph.pool,
            all.solver,
            &terms,
            &own,
            &limits,
            &mut asked,
        );
        all.cost.solver_calls += asked;
        // Preimages of preimages grow, so conditions that hold in all of the region are left out.
        let known = self.known(all, from);
        let known = conjuncts(&mut all.graph.pool, &known);
        result.terms.retain(|t| !known.contains(t));
        if result.terms.len() > 1 {
            let (open, follows): (Vec<_>, Vec<_>) =
                (result.terms.iter().copied()).partition(|&t| {
                    states
                        .iter()
                        .any(|state| !self.holds(all.graph, state, &[t]))
                });
            result.terms = without(all, &known, &follows);
            result.terms.extend(open);
        }
        result
    }

    /// Whether all states of a region satisfy these.
    pub fn implies(
        &mut self,
        all: &mut Asking<'_, '_>,
        region: RegionId,
        terms: &[Term],
    ) -> Option<bool> {
        let known = self.known(all, region);
        let pool = &mut all.graph.pool;
        let together = pool.all(terms);
        let not = pool.not(together);
        if pool.as_const(not) == Some(0) {
            return Some(true);
        }
        let limits = all.cancellation.within(QUESTION);
        match ask(all.solver, all.graph, &known, &[not], &limits, all.cost) {
            Answer::Unsat { .. } => Some(true),
            Answer::Sat(_) => Some(false),
            Answer::Unknown(_) => None,
        }
    }

    /// Splits a region by a conjunction; returns the part where it holds, and the other part.
    fn split(
        &mut self,
        all: &mut Asking<'_, '_>,
        region: RegionId,
        by: &[Term],
    ) -> (RegionId, RegionId) {
        self.splits += 1;
        let pool = &mut all.graph.pool;
        let predicate = pool.all(by);
        let not = pool.not(predicate);
        let by = conjuncts(pool, by);
        let cut = self.region(region).cut;
        let old = self.region(region).terms.clone();
        let mut yes = without(all, &by, &old);
        yes.extend(by);
        let mut no = old;
        no.push(not);
        let (yes, no) = (self.add(cut, yes), self.add(cut, no));
        self.regions[region.0 as usize].parts = Some((predicate, yes, no));
        // Steps that the whole region cannot make, its parts cannot make either.
        for (to, edge) in self.edges.remove(&region).unwrap_or_default() {
            if edge != Edge::Present {
                let targets = match to {
                    Target::Region(way, to) if to == region => {
                        vec![Target::Region(way, yes), Target::Region(way, no)]
                    }
                    other => vec![other],
                };
                for to in targets {
                    self.note(yes, to, edge);
                    self.note(no, to, edge);
                }
            }
        }
        for from in self.into.remove(&region).unwrap_or_default() {
            let Some(of) = self.edges.get_mut(&from) else {
                continue;
            };
            let old: Vec<(Target, Edge)> = of
                .iter()
                .filter(|(to, _)| matches!(to, Target::Region(_, to) if *to == region))
                .map(|(&to, &edge)| (to, edge))
                .collect();
            of.retain(|to, _| !matches!(to, Target::Region(_, to) if *to == region));
            for (to, edge) in old {
                if let Target::Region(way, _) = to
                    && edge != Edge::Present
                {
                    self.note(from, Target::Region(way, yes), edge);
                    self.note(from, Target::Region(way, no), edge);
                }
            }
        }
        (yes, no)
    }

    /// Splits a region by the preimage of a step, or by a consequence of it: outside of it, no
    /// state makes the step.
    pub fn split_from(
        &mut self,
        all: &mut Asking<'_, '_>,
        from: RegionId,
        to: Target,
        preimage: &[Term],
    ) -> (RegionId, RegionId) {
        let (yes, no) = self.split(all, from, preimage);
        match to {
            // The target of the step is the region that was split.
            Target::Region(way, region) if region == from => {
                self.note(no, Target::Region(way, yes), Edge::Missing);
                self.note(no, Target::Region(way, no), Edge::Missing);
            }
            to => self.note(no, to, Edge::Missing),
        }
        (yes, no)
    }
}

/// The terms that do not follow from `known`.
fn without(all: &mut Asking<'_, '_>, known: &[Term], terms: &[Term]) -> Vec<Term> {
    let mut kept = Vec::new();
    for &t in terms {
        let not = all.graph.pool.not(t);
        let limits = all.cancellation.within(SIMPLE);
        let answer = ask(all.solver, all.graph, known, &[not], &limits, all.cost);
        if !matches!(answer, Answer::Unsat { .. }) {
            kept.push(t);
        }
    }
    kept
}
