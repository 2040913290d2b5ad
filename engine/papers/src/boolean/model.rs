//! The Boolean program of a graph, and which parts are recomputed when predicates are added.
//!
//! A place is a cut point, with an additional one for the start of the program. An error is an
//! obligation that is a goal, or a hole: nothing may be claimed about code after a hole. Relations
//! are computed when a search first needs them, and again when predicates were added at one of
//! their ends. Cubes that were excluded from a relation stay excluded, since predicates keep their
//! numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::diagrams::{Diagrams, Full, Set};
use super::existential::{self, Code, Tables};
use super::predicates::Predicates;
use super::program::{AbstractPath, Bit, BooleanProgram, Cube, Edge, Relation, Target};
use super::reach::{Reached, Relations, reach};
use crate::regions::Goal;
use cegar_model::solver::Answer;
use cegar_model::symbolic::encode::Transition;
use cegar_model::symbolic::world::Cut;
use cegar_model::term::{Pool, Rewriter, Term};
use cegar_search::abstraction::asking::{Cancellation, Cost, Facts};
use cegar_search::abstraction::graph::Graph;
use cegar_search::solver::Session;

/// The time limit of the query about one step.
const QUESTION: Duration = Duration::from_millis(500);

/// A piece of code in a fragment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EdgeCode {
    /// A transition of the fragment.
    Transition(usize),
    /// The path to an error.
    Error(Goal),
}

/// The predicate abstraction of a graph; see the [module](self).
#[derive(Debug)]
pub struct Abstraction {
    /// The predicates. Add them through [`Abstraction::add`].
    predicates: Predicates,
    program: BooleanProgram,
    /// The cut points by place.
    pub cuts: Vec<Option<Cut>>,
    places: BTreeMap<Option<Cut>, usize>,
    edge_codes: Vec<EdgeCode>,
    goals: Vec<Goal>,
    pulled: Vec<Rewriter>,
    stale: BTreeSet<usize>,
    diagrams: Diagrams,
    relations: Relations,
    tables: Tables,
}

impl Abstraction {
    /// The coarsest abstraction: no predicates.
    pub fn new(graph: &mut Graph<'_>, goals: &[Goal]) -> Abstraction {
        let mut cuts: Vec<Option<Cut>> = vec![None];
        cuts.extend(graph.fragments.keys().copied().flatten().map(Some));
        let places: BTreeMap<Option<Cut>, usize> = cuts
            .iter()
            .enumerate()
            .map(|(place, &cut)| (cut, place))
            .collect();
        let mut program = BooleanProgram {
            places: vec![0; cuts.len()],
            ..BooleanProgram::default()
        };
        let mut edge_codes = Vec::new();
        let mut pulled = Vec::new();
        for (from, &start) in cuts.iter().enumerate() {
            let transitions: Vec<Transition> = graph
                .fragments
                .get(&start)
                .map_or_else(Vec::new, |fragment| fragment.transitions.clone());
            for (number, transition) in transitions.iter().enumerate() {
                let Some(&to) = places.get(&Some(transition.to)) else {
                    continue;
                };
                program.edges.push(Edge {
                    from,
                    to: Target::Place(to),
                    relation: Relation::default(),
                });
                edge_codes.push(EdgeCode::Transition(number));
                pulled.push(graph.update(start, transition).preimage());
            }
        }
        for (number, goal) in goals.iter().enumerate() {
            let Some(&from) = places.get(&goal.start()) else {
                continue;
            };
            program.edges.push(Edge {
                from,
                to: Target::Error(number),
                relation: Relation::default(),
            });
            edge_codes.push(EdgeCode::Error(*goal));
            pulled.push(Rewriter::new());
        }
        let stale = (0..edge_codes.len()).collect();
        Abstraction {
            predicates: Predicates::default(),
            program,
            cuts,
            places,
            edge_codes,
            goals: goals.to_vec(),
            pulled,
            stale,
            diagrams: Diagrams::new(),
            relations: Relations::default(),
            tables: Tables::default(),
        }
    }

    /// The goal with a number.
    pub fn goal(&self, error: usize) -> Goal {
        self.goals[error]
    }

    /// The predicates.
    pub fn predicates(&self) -> &Predicates {
        &self.predicates
    }

    /// The code of an edge, and where it begins.
    pub fn edge_code(&self, edge: usize) -> (Option<Cut>, EdgeCode) {
        (
            self.cuts[self.program.edges[edge].from],
            self.edge_codes[edge],
        )
    }

    /// Stops searching a goal that is settled.
    pub fn close(&mut self, error: usize) {
        for (number, edge) in self.program.edges.iter_mut().enumerate() {
            if edge.to == Target::Error(error) {
                edge.relation = Relation {
                    impossible: true,
                    ..Relation::default()
                };
                self.stale.remove(&number);
                self.relations.forget(number);
            }
        }
    }

    /// Postpones these goals until the others are settled.
    pub fn hide(&mut self, errors: Vec<usize>) {
        self.program.hidden = errors;
    }

    /// Searches all goals again; false if none was postponed.
    pub fn show_all(&mut self) -> bool {
        !std::mem::take(&mut self.program.hidden).is_empty()
    }

    /// Starts at a cut point from now on, where these predicates have known values.
    pub fn start_at(&mut self, cut: Option<Cut>, known: Vec<(usize, bool)>) {
        self.program.start = self.places.get(&cut).copied().unwrap_or(0);
        self.program.initial = known;
    }

    /// Notes that no error is reachable from these states of a cut point.
    pub fn note_safe(&mut self, cut: Option<Cut>, known: Vec<(usize, bool)>) {
        if let Some(&place) = self.places.get(&cut) {
            self.program.safe.push((place, known));
        }
    }

    /// Forgets the states noted as safe.
    pub fn forget_safe(&mut self) {
        self.program.safe.clear();
    }

    /// Whether a state of a cut point is noted as safe.
    pub fn is_safe(&self, cut: Option<Cut>, state: &[bool]) -> bool {
        let holds = |&(bit, value): &(usize, bool)| state.get(bit) == Some(&value);
        let place = self.places.get(&cut);
        let mut here = self.program.safe.iter().filter(|(at, _)| Some(at) == place);
        here.any(|(_, known)| known.iter().all(holds))
    }

    /// Adds a predicate; false if it is not new.
    pub fn add(&mut self, pool: &mut Pool, cut: Cut, predicate: Term) -> bool {
        if !self.places.contains_key(&Some(cut)) || !self.predicates.add(pool, cut, predicate) {
            return false;
        }
        let place = self.places[&Some(cut)];
        self.program.places[place] += 1;
        for (number, edge) in self.program.edges.iter().enumerate() {
            let is_closed = matches!(edge.to, Target::Error(_)) && edge.relation.impossible;
            if (edge.from == place || edge.to == Target::Place(place)) && !is_closed {
                self.stale.insert(number);
            }
        }
        true
    }

    /// The conditions of an edge, over the variables at its start.
    fn conditions(&self, graph: &mut Graph<'_>, edge: usize) -> Vec<Term> {
        let (start, way) = self.edge_code(edge);
        let mut all = graph.axioms(start);
        all.extend(condition(graph, start, way));
        all
    }

    fn code(&mut self, graph: &mut Graph<'_>, edge: usize) -> Code {
        let conditions = self.conditions(graph, edge);
        let (start, _) = self.edge_code(edge);
        let mut next = Vec::new();
        if let Target::Place(to) = self.program.edges[edge].to {
            for &predicate in self.predicates.at(self.cuts[to]) {
                next.push(self.pulled[edge].apply(&mut graph.pool, predicate));
            }
        }
        Code {
            conditions,
            now: self.predicates.at(start).to_vec(),
            next,
        }
    }

    /// Searches the shortest abstract path to a goal.
    pub fn search(
        &mut self,
        graph: &mut Graph<'_>,
        cancellation: Cancellation<'_>,
        cost: &mut Cost,
    ) -> Result<Reached, Full> {
        for edge in std::mem::take(&mut self.stale) {
            if cancellation.is_over() {
                self.stale.insert(edge);
                continue;
            }
            let code = self.code(graph, edge);
            let mut relation =
                existential::relation(&mut graph.pool, &mut self.tables, &code, cancellation, cost);
            let slot = &mut self.program.edges[edge].relation;
            relation.excluded = std::mem::take(&mut slot.excluded);
            *slot = relation;
            self.relations.forget(edge);
        }
        if !self.stale.is_empty() {
            return Ok(Reached::Stopped);
        }
        reach(
            &mut self.diagrams,
            &mut self.relations,
            &self.program,
            &|| cancellation.is_over(),
        )
    }

    /// Checks whether the program can take each step of a path by itself, and excludes the steps
    /// that it cannot take, with as few bits as the proof needs. Returns their number.
    pub fn exclude_spurious(
        &mut self,
        graph: &mut Graph<'_>,
        path: &AbstractPath,
        cancellation: Cancellation<'_>,
        cost: &mut Cost,
    ) -> usize {
        let mut found = 0;
        for (number, step) in path.steps.iter().enumerate() {
            if cancellation.is_over() {
                break;
            }
            let next = path.steps.get(number + 1).map(|step| &step.before[..]);
            let code = self.code(graph, step.edge);
            let mut literals: Vec<(Bit, bool, Term)> = Vec::new();
            let mut add = |pool: &mut Pool, bit: Bit, t: Term, value: bool| {
                let literal = if value { t } else { pool.not(t) };
                literals.push((bit, value, literal));
            };
            for (bit, (&t, &value)) in code.now.iter().zip(&step.before).enumerate() {
                add(&mut graph.pool, Bit::Now(bit), t, value);
            }
            for (bit, (&t, &value)) in code.next.iter().zip(next.unwrap_or(&[])).enumerate() {
                add(&mut graph.pool, Bit::Next(bit), t, value);
            }
            let mut session = Session::new();
            for &t in &code.conditions {
                session.assert(&graph.pool, t);
            }
            let assumptions: Vec<Term> = literals.iter().map(|&(_, _, t)| t).collect();
            cost.solver_calls += 1;
            let limits = cancellation.within(QUESTION);
            let answer = session.check(&graph.pool, &assumptions, &limits);
            cancellation.note(session.spent);
            match answer {
                Answer::Unsat { core } => {
                    let cube: Cube = core
                        .iter()
                        .map(|&i| (literals[i].0, literals[i].1))
                        .collect();
                    self.program.edges[step.edge].relation.excluded.push(cube);
                    self.relations.forget(step.edge);
                    found += 1;
                }
                Answer::Unknown(_) => cost.unknown += 1,
                Answer::Sat(_) => {}
            }
        }
        found
    }

    /// The reachable states, as a fact of each cut point.
    pub fn facts(&self, pool: &mut Pool, reached: &[Set]) -> Facts {
        let mut facts = Facts::new();
        for (place, states) in reached.iter().enumerate() {
            if let Some(cut) = self.cuts[place] {
                let fact = self.term(pool, self.predicates.at(Some(cut)), states);
                facts.insert(cut, vec![fact]);
            }
        }
        facts
    }

    /// A set of states as a term over the predicates.
    #[expect(
        clippy::mutable_key_type,
        reason = "what changes inside is how often a node is referred to, which is no part of its \
            order"
    )]
    fn term(&self, pool: &mut Pool, predicates: &[Term], states: &Set) -> Term {
        let mut known: BTreeMap<Set, Term> = BTreeMap::new();
        let mut open = vec![states.clone()];
        while let Some(top) = open.last().cloned() {
            let Some((bit, high, low)) = self.diagrams.split(&top) else {
                let value = pool.bit(top == self.diagrams.everything());
                known.insert(top, value);
                open.pop();
                continue;
            };
            match (known.get(&high).copied(), known.get(&low).copied()) {
                (Some(then), Some(otherwise)) => {
                    let predicate = predicates.get(bit).copied();
                    let term = match predicate {
                        Some(t) => pool.ite(t, then, otherwise),
                        None => pool.bit(true),
                    };
                    known.insert(top, term);
                    open.pop();
                }
                (then, otherwise) => {
                    if then.is_none() {
                        open.push(high);
                    }
                    if otherwise.is_none() {
                        open.push(low);
                    }
                }
            }
        }
        known.remove(states).unwrap_or_else(|| pool.bit(true))
    }
}

/// The condition of a piece of code in a fragment.
pub fn condition(graph: &Graph<'_>, start: Option<Cut>, way: EdgeCode) -> Vec<Term> {
    let fragment = &graph.fragments[&start];
    let (mut all, assumptions_before) = match way {
        EdgeCode::Transition(i) => {
            let transition = &fragment.transitions[i];
            (
                transition.reached.guard.0.clone(),
                transition.assumptions_before,
            )
        }
        EdgeCode::Error(goal) => goal.terms(graph),
    };
    all.extend(&fragment.assumptions[..assumptions_before]);
    all
}
