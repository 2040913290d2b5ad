//! Lee and Yannakakis's algorithm: the reachable part of the bisimulation quotient.
//!
//! Lee and Yannakakis, *On-line minimization of transition systems* (1992), as Gulavani et al.
//! compare Synergy with it (2006, figure 5). Each region that is known to be reachable has one
//! witness, a concrete state. Each iteration searches a witness of another region, one step from
//! the known witnesses. If there is none, it splits a region with a witness that is not stable:
//! some of its states lead to another region and some do not. The algorithm ends when all regions
//! with witnesses are stable, or when an error has a witness. It is not directed at errors, which
//! is what Synergy changes.
//!
//! Differences: regions are those of basic blocks. Whether a region is stable is decided by the
//! projection of the preimage to the state ([`crate::projection`]); where the projection is weaker
//! than the preimage, the region may be regarded as stable. Then the step is assumed to exist, and
//! the goals behind it stay open.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};

use super::base::{Base, run_strategy};
use crate::executions::Tree;
use crate::regions::{Goal, RegionId, Regions, Target};
use cegar_model::program::ir::Program;
use cegar_model::symbolic::world::Grain;
use cegar_search::abstraction::asking::Facts;
use cegar_search::abstraction::frontier::{Forward, forward};
use cegar_search::strategy::options::Options;
use cegar_search::strategy::outcome::Proof;

/// The time limit of the query for one witness.
const WITNESS: Duration = Duration::from_secs(2);

/// Runs the algorithm.
pub fn prove<'p>(program: &'p Program, options: &Options, stop: &AtomicBool) -> Proof<'p> {
    run_strategy(program, options, stop, Grain::Blocks, &mut |base| {
        let mut search = Search {
            regions: Regions::new(&base.graph),
            tree: Tree::new(&base.graph),
            witnesses: FxHashMap::default(),
            tried: FxHashSet::default(),
            stable: FxHashSet::default(),
        };
        search.run(base)
    })
}

struct Search {
    regions: Regions,
    tree: Tree,
    /// The witness of each region that has one.
    witnesses: FxHashMap<RegionId, usize>,
    /// Steps that a witness cannot make.
    tried: FxHashSet<(usize, Target)>,
    /// Pairs of regions that are stable.
    stable: FxHashSet<(RegionId, Target)>,
}

impl Search {
    fn run(&mut self, base: &mut Base<'_, '_>) -> Facts {
        if let Some(first) = self.regions.first() {
            self.witnesses.insert(first, 0);
        }
        while base.begin_iteration() {
            if !self.search(base) && !self.stabilise(base) {
                break;
            }
        }
        base.stats.splits = self.regions.splits;
        self.regions.facts(&mut base.graph)
    }

    /// The regions with witnesses, oldest witness first.
    fn witnessed(&self) -> Vec<(RegionId, usize)> {
        let mut all: Vec<_> = self.witnesses.iter().map(|(&r, &w)| (r, w)).collect();
        all.sort_unstable_by_key(|&(_, witness)| witness);
        all
    }

    /// Searches a step from a witness to a region without one, or to an error.
    fn search(&mut self, base: &mut Base<'_, '_>) -> bool {
        for (region, witness) in self.witnessed() {
            for target in self.regions.next(&base.graph, region, &base.goals) {
                let is_known = match target {
                    Target::Region(_, to) => self.witnesses.contains_key(&to),
                    Target::Goal(_) => false,
                };
                if is_known || self.tried.contains(&(witness, target)) {
                    continue;
                }
                if base.cancellation.is_over() || self.tree.is_full() {
                    return false;
                }
                if self.step(base, region, witness, target) {
                    return true;
                }
                self.tried.insert((witness, target));
            }
        }
        false
    }

    /// Makes the step, if the witness can.
    fn step(
        &mut self,
        base: &mut Base<'_, '_>,
        region: RegionId,
        witness: usize,
        target: Target,
    ) -> bool {
        let condition = self.regions.condition(&mut base.asking(), region, target);
        let at = self.regions.region(region).cut;
        let sample = &self.tree.nodes[witness].sample;
        let limits = base.cancellation.within(WITNESS);
        let tape = self.tree.tape(witness);
        let found = forward(
            (&mut base.solver, &limits, &mut base.cost),
            &mut base.graph,
            (at, sample, tape),
            (&condition.0, condition.1),
        );
        let tape = match found {
            Forward::Tape(tape) => tape,
            Forward::None | Forward::Unknown => return false,
        };
        match target {
            Target::Goal(goal) => {
                let violated = base.test(&tape);
                if let Goal::Hole(..) = goal {
                    base.goals.retain(|other| *other != goal);
                    self.regions.give_up(region, target);
                }
                violated
            }
            Target::Region(_, wanted) => {
                base.stats.executions += 1;
                let node = self.tree.step(&base.graph, &base.walker, witness, &tape);
                let Some(node) = node else {
                    return false;
                };
                let state = &self.tree.nodes[node];
                let reached = self.regions.locate(&base.graph, state.at, &state.sample);
                let Some(reached) = reached else {
                    return false;
                };
                self.witnesses.entry(reached).or_insert(node);
                reached == wanted
            }
        }
    }

    /// Splits a region that has a witness and is not stable with respect to another one.
    fn stabilise(&mut self, base: &mut Base<'_, '_>) -> bool {
        for (region, witness) in self.witnessed() {
            for target in self.regions.next(&base.graph, region, &base.goals) {
                if self.stable.contains(&(region, target)) {
                    continue;
                }
                if base.cancellation.is_over() {
                    return false;
                }
                if !self.regions.exists(&mut base.asking(), region, target) {
                    continue;
                }
                let preimage = self.regions.preimage(
                    &mut base.asking(),
                    (region, target),
                    &[&self.tree.nodes[witness].sample],
                );
                let all = self
                    .regions
                    .implies(&mut base.asking(), region, &preimage.terms);
                if all != Some(false) {
                    self.stable.insert((region, target));
                    continue;
                }
                self.regions
                    .split_from(&mut base.asking(), region, target, &preimage.terms);
                self.witnesses.remove(&region);
                let sample = &self.tree.nodes[witness].sample;
                let part = self.regions.within(&base.graph, region, sample);
                self.witnesses.insert(part, witness);
                return true;
            }
        }
        false
    }
}
