//! Synergy, as published.
//!
//! Gulavani, Henzinger, Kannan, Nori and Rajamani, *SYNERGY: a new algorithm for property checking*
//! (2006), figure 2. A forest of tests and a partition of the states grow in turn. Each iteration
//! takes an abstract error path, follows it as far as tests reach, and asks for a test that goes
//! one region further, along the path of an existing test. If there is one, it is added to the
//! forest; otherwise the last region that tests reach is split by the preimage of the next one,
//! which removes the path. The algorithm ends with a test that fails, or when no abstract path
//! leads to an error.
//!
//! Differences: a region belongs to a basic block, in the paper to a statement. Edges are queried
//! only on paths that were found, which results in the same abstract program. A preimage that
//! mentions inputs is projected to the state ([`crate::projection`]). If the projection does not
//! separate the test's state from the others, the edge stays, and the goals behind it stay open. If
//! splitting does not terminate, the paper generalises (section 5) with the procedure of another
//! paper. Here, generalisation tries the candidates of `auto`, level by level; from time to time,
//! these may add facts that all regions of a cut point then share.

use std::sync::atomic::AtomicBool;

use rustc_hash::FxHashMap;

use super::base::{Base, FIRST_TEST, run_strategy};
use crate::executions::{Further, Tree};
use crate::regions::{Goal, RegionId, Regions, Target};
use cegar_model::program::ir::Program;
use cegar_model::symbolic::world::Grain;
use cegar_search::abstraction::asking::Facts;
use cegar_search::abstraction::forest::Sample;
use cegar_search::strategy::options::Options;
use cegar_search::strategy::outcome::Proof;

/// The maximum number of states of a region from which a test that goes further is searched.
const STATES: usize = 6;
/// The number of iterations before the first generalisation.
const LONG: u64 = 20;
/// The number of iterations between two generalisations.
const APART: u64 = 5;

/// Runs Synergy.
pub fn prove<'p>(program: &'p Program, options: &Options, stop: &AtomicBool) -> Proof<'p> {
    run_strategy(program, options, stop, Grain::Blocks, &mut |base| {
        let mut synergy = Synergy {
            regions: Regions::new(&base.graph),
            tree: Tree::new(&base.graph),
            visited: FxHashMap::default(),
            tried: FxHashMap::default(),
        };
        synergy.run(base)
    })
}

struct Synergy {
    regions: Regions,
    tree: Tree,
    /// The states of the forest in each region, in the order in which they were added.
    visited: FxHashMap<RegionId, Vec<usize>>,
    /// The number of states of a region from which a step was tried in vain.
    tried: FxHashMap<(RegionId, Target), usize>,
}

impl Synergy {
    fn run(&mut self, base: &mut Base<'_, '_>) -> Facts {
        if !base.begin_iteration() {
            return Facts::new();
        }
        // No region is visited yet, so any test is suitable.
        self.test(base, FIRST_TEST);
        let mut level = 0;
        while base.begin_iteration() {
            let Some((from, to)) = self.frontier(base) else {
                break;
            };
            self.extend(base, from, to);
            let turns = base.stats.iterations;
            if turns >= LONG && turns.is_multiple_of(APART) {
                let facts = base.generalise(level);
                level += 1;
                if !facts.is_empty() {
                    self.regions.learn(facts);
                    self.tried.clear();
                }
            }
        }
        base.stats.splits = self.regions.splits;
        self.regions.facts(&mut base.graph)
    }

    /// The edge at which an ordered abstract error path leaves the forest; `None` if there is no
    /// such path.
    fn frontier(&mut self, base: &mut Base<'_, '_>) -> Option<(RegionId, Target)> {
        'again: loop {
            let path = self.regions.path(&base.graph, &base.goals)?;
            // Some test follows the path up to here.
            let last = path
                .iter()
                .rposition(|(region, _)| self.visited.contains_key(region))?;
            for &(from, to) in &path[last..] {
                if base.cancellation.is_over() {
                    return None;
                }
                if !self.regions.exists(&mut base.asking(), from, to) {
                    continue 'again;
                }
            }
            return Some(path[last]);
        }
    }

    /// Searches a test that goes on from a region, or splits the region.
    fn extend(&mut self, base: &mut Base<'_, '_>, from: RegionId, to: Target) {
        let tried = self.tried.entry((from, to)).or_default();
        let states = self.visited.get(&from);
        let state = states.and_then(|states| states.get(*tried)).copied();
        let Some(state) = state.filter(|_| *tried < STATES) else {
            return self.give_up(base, from, to);
        };
        *tried += 1;
        let condition = self.regions.condition(&mut base.asking(), from, to);
        let condition = (&condition.0[..], condition.1);
        match self.tree.further(&mut base.asking(), state, condition) {
            Further::Tape(tape) => {
                self.test(base, &tape);
            }
            Further::None => self.refine(base, from, to, state),
            Further::Unknown => {}
        }
    }

    fn give_up(&mut self, base: &mut Base<'_, '_>, from: RegionId, to: Target) {
        self.regions.give_up(from, to);
        if let Target::Goal(goal @ Goal::Hole(..)) = to {
            // What is behind the hole is open, and there is nothing more to find out.
            base.goals.retain(|other| *other != goal);
        }
    }

    /// Runs a test and adds its states to the forest.
    fn test(&mut self, base: &mut Base<'_, '_>, tape: &[u8]) {
        base.test(tape);
        let is_first = self.tree.nodes.len() == 1;
        let mut added = self.tree.run(&base.graph, &base.walker, tape);
        if is_first {
            // The start state, which all tests share.
            added.start = 0;
        }
        for node in added {
            let state = &self.tree.nodes[node];
            let region = self.regions.locate(&base.graph, state.at, &state.sample);
            if let Some(region) = region {
                self.visited.entry(region).or_default().push(node);
            }
        }
    }

    /// Splits a region by the preimage of a step that no test makes.
    fn refine(&mut self, base: &mut Base<'_, '_>, from: RegionId, to: Target, state: usize) {
        let visited = self.visited.get(&from).map_or(&[][..], Vec::as_slice);
        let states = visited.iter().take(STATES);
        let states: Vec<&Sample> = states.map(|&node| &self.tree.nodes[node].sample).collect();
        let step = (from, to);
        let preimage = (self.regions).preimage(&mut base.asking(), step, &states);
        let preimage = preimage.terms;
        let sample = &self.tree.nodes[state].sample;
        if self.regions.holds(&base.graph, sample, &preimage) {
            // The preimage does not separate this state from those that make the step; another
            // state may be better.
            return;
        }
        self.regions
            .split_from(&mut base.asking(), from, to, &preimage);
        for node in self.visited.remove(&from).unwrap_or_default() {
            let sample = &self.tree.nodes[node].sample;
            let region = self.regions.within(&base.graph, from, sample);
            self.visited.entry(region).or_default().push(node);
        }
    }
}
