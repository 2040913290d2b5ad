//! A partition of the states by predicates, and the abstract program over it.
//!
//! Synergy and Lee and Yannakakis's algorithm (Synergy, figures 2 and 5) refine the same structure:
//! for each cut point a tree of splits, whose leaves are the regions. There is an edge between two
//! regions if some state of the first leads to some state of the second. Edges are computed lazily:
//! an edge is assumed to exist until a strategy asks about it, and when a region is split, its
//! parts inherit the edges that are known not to exist.

mod split;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use rustc_hash::{FxHashMap, FxHashSet};

use cegar_model::solver::{Answer, Z3};
use cegar_model::symbolic::encode::Fragment;
use cegar_model::symbolic::world::Cut;
use cegar_model::term::{Evaluator, Rewriter, Term};
use cegar_search::abstraction::asking::{Cancellation, Cost, Facts, ask};
use cegar_search::abstraction::forest::{Sample, Walker};
use cegar_search::abstraction::graph::Graph;
use cegar_search::abstraction::state_symbols::conjuncts;

/// The time limit of one query.
const QUESTION: Duration = Duration::from_millis(1500);
/// The time limit for finding out that a predicate is redundant.
const SIMPLE: Duration = Duration::from_millis(50);

/// A region, by number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RegionId(u32);

/// The states of a cut point that satisfy a conjunction.
#[derive(Clone, Debug)]
pub struct Region {
    /// The cut point; `None`: the start of the program.
    pub cut: Option<Cut>,
    /// The conjuncts.
    pub terms: Vec<Term>,
    parts: Option<(Term, RegionId, RegionId)>,
}

/// A goal of a strategy: a violation, or a hole.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Goal {
    /// The violation of a check: the obligation with this index in its fragment.
    Obligation(Option<Cut>, usize),
    /// The hole with this index in its fragment.
    Hole(Option<Cut>, usize),
}

impl Goal {
    /// The start of the fragment that contains it.
    pub fn start(self) -> Option<Cut> {
        match self {
            Goal::Obligation(start, _) | Goal::Hole(start, _) => start,
        }
    }

    /// The condition under which it is reached, and the number of the fragment's assumptions before
    /// it.
    pub fn terms(self, graph: &Graph<'_>) -> (Vec<Term>, usize) {
        let fragment = &graph.fragments[&self.start()];
        match self {
            Goal::Obligation(_, index) => {
                let obligation = &fragment.obligations[index];
                (obligation.goal(), obligation.assumptions_before)
            }
            Goal::Hole(_, index) => {
                let hole = &fragment.holes[index];
                (hole.guard.0.clone(), hole.assumptions_before)
            }
        }
    }
}

/// The end of an edge.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Target {
    /// This region, by this transition of the fragment.
    Region(usize, RegionId),
    /// A goal.
    Goal(Goal),
}

/// What is known of an edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Edge {
    /// Some state makes the step.
    Present,
    /// No state makes the step.
    Missing,
    /// Some state may make the step, but no query decides it.
    GivenUp,
}

/// The context of queries.
pub struct Asking<'a, 'p> {
    /// The graph.
    pub graph: &'a mut Graph<'p>,
    /// The graph's transitions, prepared for execution.
    pub walker: &'a Walker,
    /// The solver.
    pub solver: &'a mut Z3,
    /// When to give up.
    pub cancellation: Cancellation<'a>,
    /// The cost of queries.
    pub cost: &'a mut Cost,
}

/// A partition into regions; see the [module](self).
#[derive(Debug)]
pub struct Regions {
    regions: Vec<Region>,
    roots: BTreeMap<Option<Cut>, RegionId>,
    edges: FxHashMap<RegionId, FxHashMap<Target, Edge>>,
    /// For each region, the regions with a known edge to it.
    into: FxHashMap<RegionId, FxHashSet<RegionId>>,
    preimages: FxHashMap<(Option<Cut>, usize), Rewriter>,
    /// Facts at the cut points that were proved by other means.
    pub facts: Facts,
    evaluator: Evaluator,
    /// The number of splits.
    pub splits: u64,
}

impl Regions {
    /// The partition with one region for each cut point.
    pub fn new(graph: &Graph<'_>) -> Regions {
        let mut all = Regions {
            regions: Vec::new(),
            roots: BTreeMap::new(),
            edges: FxHashMap::default(),
            into: FxHashMap::default(),
            preimages: FxHashMap::default(),
            facts: Facts::new(),
            evaluator: Evaluator::new(),
            splits: 0,
        };
        for &cut in graph.fragments.keys() {
            let id = all.add(cut, Vec::new());
            all.roots.insert(cut, id);
        }
        all
    }

    fn add(&mut self, cut: Option<Cut>, terms: Vec<Term>) -> RegionId {
        let id = RegionId(self.regions.len() as u32);
        self.regions.push(Region {
            cut,
            terms,
            parts: None,
        });
        id
    }

    /// A region by its number.
    pub fn region(&self, id: RegionId) -> &Region {
        &self.regions[id.0 as usize]
    }

    /// The region of the start of the program.
    pub fn first(&self) -> Option<RegionId> {
        self.roots.get(&None).copied()
    }

    /// All regions that are not split.
    pub fn all(&self) -> Vec<RegionId> {
        let all = (0..self.regions.len() as u32).map(RegionId);
        all.filter(|&id| self.region(id).parts.is_none()).collect()
    }

    /// The regions of a cut point.
    pub fn at(&self, cut: Option<Cut>) -> Vec<RegionId> {
        let mut open: Vec<RegionId> = self.roots.get(&cut).copied().into_iter().collect();
        let mut all = Vec::new();
        while let Some(id) = open.pop() {
            match self.region(id).parts {
                Some((_, yes, no)) => open.extend([no, yes]),
                None => all.push(id),
            }
        }
        all
    }

    /// The region that contains a state.
    pub fn locate(
        &mut self,
        graph: &Graph<'_>,
        cut: Option<Cut>,
        state: &Sample,
    ) -> Option<RegionId> {
        let root = *self.roots.get(&cut)?;
        Some(self.within(graph, root, state))
    }

    /// The part of a region that contains one of its states.
    pub fn within(&mut self, graph: &Graph<'_>, region: RegionId, state: &Sample) -> RegionId {
        let mut id = region;
        self.evaluator.reset();
        while let Some((by, yes, no)) = self.regions[id.0 as usize].parts {
            let holds = state.eval(&graph.pool, &mut self.evaluator, by) == 1;
            id = if holds { yes } else { no };
        }
        id
    }

    /// Whether a state satisfies all of these terms.
    pub fn holds(&mut self, graph: &Graph<'_>, state: &Sample, terms: &[Term]) -> bool {
        self.evaluator.reset();
        terms
            .iter()
            .all(|&t| state.eval(&graph.pool, &mut self.evaluator, t) == 1)
    }

    /// The regions and goals that a region may lead to.
    pub fn next(&self, graph: &Graph<'_>, from: RegionId, goals: &[Goal]) -> Vec<Target> {
        let cut = self.region(from).cut;
        let Some(fragment) = graph.fragments.get(&cut) else {
            return Vec::new();
        };
        let mut all: Vec<Target> = goals
            .iter()
            .filter(|goal| goal.start() == cut)
            .map(|&goal| Target::Goal(goal))
            .collect();
        for (index, transition) in fragment.transitions.iter().enumerate() {
            let to = self.at(Some(transition.to));
            all.extend(to.into_iter().map(|id| Target::Region(index, id)));
        }
        all.retain(|target| self.edge(from, *target) != Some(Edge::Missing));
        all
    }

    fn edge(&self, from: RegionId, to: Target) -> Option<Edge> {
        self.edges.get(&from)?.get(&to).copied()
    }

    fn note(&mut self, from: RegionId, to: Target, edge: Edge) {
        self.edges.entry(from).or_default().insert(to, edge);
        if let Target::Region(_, to) = to {
            self.into.entry(to).or_default().insert(from);
        }
    }

    /// Notes that no query decides an edge.
    pub fn give_up(&mut self, from: RegionId, to: Target) {
        self.note(from, to, Edge::GivenUp);
    }

    /// Whether it is noted that no query decides an edge.
    pub fn is_given_up(&self, from: RegionId, to: Target) -> bool {
        self.edge(from, to) == Some(Edge::GivenUp)
    }

    /// The condition of a step to the target, over the variables of the cut point where it begins
    /// and the fragment's unknowns, and the number of the fragment's assumptions that hold then.
    pub fn condition(
        &mut self,
        all: &mut Asking<'_, '_>,
        from: RegionId,
        to: Target,
    ) -> (Vec<Term>, usize) {
        match to {
            Target::Goal(goal) => goal.terms(all.graph),
            Target::Region(index, region) => {
                let start = self.region(from).cut;
                let fragment: &Fragment = &all.graph.fragments[&start];
                let transition = &fragment.transitions[index];
                let mut terms = transition.reached.guard.0.clone();
                let assumptions_before = transition.assumptions_before;
                let rewriter = self.preimages.entry((start, index)).or_insert_with(|| {
                    let update = all.walker.update(start, index);
                    update
                        .map(cegar_model::symbolic::update::Update::preimage)
                        .unwrap_or_default()
                });
                let wanted = &self.regions[region.0 as usize].terms;
                for &t in wanted {
                    terms.push(rewriter.apply(&mut all.graph.pool, t));
                }
                (terms, assumptions_before)
            }
        }
    }

    /// What is known of the states of a region.
    fn known(&self, all: &mut Asking<'_, '_>, region: RegionId) -> Vec<Term> {
        let region = self.region(region);
        let mut known = all.graph.axioms(region.cut);
        known.extend(
            region
                .cut
                .and_then(|cut| self.facts.get(&cut))
                .into_iter()
                .flatten(),
        );
        known.extend(&region.terms);
        known
    }

    /// The condition of a step, with the assumptions.
    fn whole(&mut self, all: &mut Asking<'_, '_>, from: RegionId, to: Target) -> Vec<Term> {
        let (mut terms, assumptions_before) = self.condition(all, from, to);
        let fragment = &all.graph.fragments[&self.region(from).cut];
        terms.extend(&fragment.assumptions[..assumptions_before]);
        terms
    }

    /// Whether some state of a region makes this step; true if the solver gives no answer.
    pub fn exists(&mut self, all: &mut Asking<'_, '_>, from: RegionId, to: Target) -> bool {
        match self.edge(from, to) {
            Some(Edge::Missing) => return false,
            Some(_) => return true,
            None => {}
        }
        let known = self.known(all, from);
        let terms = self.whole(all, from, to);
        let terms = conjuncts(&mut all.graph.pool, &terms);
        let never = terms.iter().any(|&t| all.graph.pool.as_const(t) == Some(0));
        let missing = never || {
            let limits = all.cancellation.within(QUESTION);
            let answer = ask(all.solver, all.graph, &known, &terms, &limits, all.cost);
            matches!(answer, Answer::Unsat { .. })
        };
        let edge = if missing {
            Edge::Missing
        } else {
            Edge::Present
        };
        self.note(from, to, edge);
        !missing
    }

    /// Adds facts that were proved by other means. Edges that were not missing are asked about
    /// again.
    pub fn learn(&mut self, facts: Facts) {
        for (cut, new) in facts {
            let known = self.facts.entry(cut).or_default();
            for fact in new {
                if !known.contains(&fact) {
                    known.push(fact);
                }
            }
        }
        for of in self.edges.values_mut() {
            of.retain(|_, edge| *edge == Edge::Missing);
        }
    }

    /// The shortest abstract path from the start of the program to a goal, along edges that may
    /// exist and are not given up.
    pub fn path(&self, graph: &Graph<'_>, goals: &[Goal]) -> Option<Vec<(RegionId, Target)>> {
        let first = self.first()?;
        let mut from: FxHashMap<RegionId, Option<(RegionId, Target)>> = FxHashMap::default();
        from.insert(first, None);
        let mut queue = VecDeque::from([first]);
        while let Some(region) = queue.pop_front() {
            for target in self.next(graph, region, goals) {
                if self.is_given_up(region, target) {
                    continue;
                }
                match target {
                    Target::Goal(_) => {
                        let mut path = vec![(region, target)];
                        let mut at = region;
                        while let Some(Some((before, by))) = from.get(&at) {
                            path.push((*before, *by));
                            at = *before;
                        }
                        path.reverse();
                        return Some(path);
                    }
                    Target::Region(_, to) => {
                        from.entry(to).or_insert_with(|| {
                            queue.push_back(to);
                            Some((region, target))
                        });
                    }
                }
            }
        }
        None
    }

    /// The regions that may be reachable.
    pub fn reachable(&self, graph: &Graph<'_>) -> FxHashSet<RegionId> {
        let mut all: FxHashSet<RegionId> = self.first().into_iter().collect();
        let mut open: Vec<RegionId> = all.iter().copied().collect();
        while let Some(region) = open.pop() {
            for target in self.next(graph, region, &[]) {
                if let Target::Region(_, to) = target
                    && all.insert(to)
                {
                    open.push(to);
                }
            }
        }
        all
    }

    /// The facts at the cut points: no state is in an unreachable region.
    pub fn facts(&self, graph: &mut Graph<'_>) -> Facts {
        let reached = self.reachable(graph);
        let mut facts = self.facts.clone();
        for id in self.all() {
            let region = self.region(id);
            if let Some(cut) = region.cut.filter(|_| !reached.contains(&id)) {
                let pool = &mut graph.pool;
                let here = pool.all(&region.terms);
                let fact = pool.not(here);
                let of_cut = facts.entry(cut).or_default();
                if !of_cut.contains(&fact) {
                    of_cut.push(fact);
                }
            }
        }
        facts
    }
}
