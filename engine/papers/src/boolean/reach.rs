//! The shortest path of a Boolean program to an error.
//!
//! Forward, by breadth-first search: the states that are new at a place after `n` steps are kept,
//! so that a path can be reconstructed state by state when an error is reached. Sets of states are
//! kept by place.

use rustc_hash::FxHashMap;

use super::diagrams::{Diagrams, Full, Set};
use super::program::{AbstractPath, Bit, BooleanProgram, Edge, Step, Target};

/// The result of a search.
#[derive(Debug)]
pub enum Reached {
    /// A path to an error.
    Error(AbstractPath),
    /// No error is reachable; these are the reachable states, by place.
    Nothing(Vec<Set>),
    /// The search was told to stop.
    Stopped,
}

/// Diagrams of relations, cached as long as these do not change.
#[derive(Debug, Default)]
pub struct Relations {
    known: Vec<Option<Set>>,
}

impl Relations {
    /// Drops the diagram of a relation that has changed.
    pub fn forget(&mut self, edge: usize) {
        if let Some(known) = self.known.get_mut(edge) {
            *known = None;
        }
    }

    fn get(&mut self, diagrams: &Diagrams, number: usize, edge: &Edge) -> Result<Set, Full> {
        if self.known.len() <= number {
            self.known.resize(number + 1, None);
        }
        if let Some(known) = &self.known[number] {
            return Ok(known.clone());
        }
        let relation = diagrams.relation(&edge.relation)?;
        self.known[number] = Some(relation.clone());
        Ok(relation)
    }
}

/// Searches an error. `stop` is called before each layer.
pub fn reach(
    diagrams: &mut Diagrams,
    relations: &mut Relations,
    program: &BooleanProgram,
    stop: &dyn Fn() -> bool,
) -> Result<Reached, Full> {
    let bits = program.places.iter().copied().max().unwrap_or(0);
    diagrams.grow(bits)?;
    let diagrams = &*diagrams;
    let mut leaving: Vec<Vec<usize>> = vec![Vec::new(); program.places.len()];
    for (number, edge) in program.edges.iter().enumerate() {
        if !edge.relation.impossible {
            leaving[edge.from].push(number);
        }
    }
    let mut unsafe_only = FxHashMap::default();
    for (place, cube) in &program.safe {
        let cube = diagrams.cube(cube.iter().map(|&(bit, value)| (Bit::Now(bit), value)))?;
        let known: &mut Set = unsafe_only
            .entry(*place)
            .or_insert_with(|| diagrams.everything());
        *known = known.without(&cube)?;
    }
    let initial = program.initial.iter();
    let mut first = diagrams.cube(initial.map(|&(bit, value)| (Bit::Now(bit), value)))?;
    if let Some(left) = unsafe_only.get(&program.start) {
        first = first.and(left)?;
    }
    let nothing = diagrams.nothing();
    let mut seen = vec![nothing.clone(); program.places.len()];
    seen[program.start] = first.clone();
    let mut layers: Vec<Vec<(usize, Set)>> = vec![vec![(program.start, first)]];
    loop {
        if stop() {
            return Ok(Reached::Stopped);
        }
        let layer = &layers[layers.len() - 1];
        // Errors are searched first, so that the path is the shortest.
        for (place, states) in layer {
            for &number in &leaving[*place] {
                let edge = &program.edges[number];
                let Target::Error(error) = edge.to else {
                    continue;
                };
                if program.hidden.contains(&error) {
                    continue;
                }
                let relation = relations.get(diagrams, number, edge)?;
                let at = states.and(&relation)?;
                if let Some(last) = diagrams.pick(&at, program.places[*place]) {
                    let steps = back(diagrams, relations, program, &layers, (number, last))?;
                    return Ok(Reached::Error(AbstractPath { steps, error }));
                }
            }
        }
        let mut fresh: Vec<(usize, Set)> = Vec::new();
        for (place, states) in layer {
            for &number in &leaving[*place] {
                let edge = &program.edges[number];
                let Target::Place(to) = edge.to else {
                    continue;
                };
                let relation = relations.get(diagrams, number, edge)?;
                let mut after = diagrams.image(states, &relation)?.without(&seen[to])?;
                if let Some(left) = unsafe_only.get(&to) {
                    after = after.and(left)?;
                }
                if after.is_empty() {
                    continue;
                }
                seen[to] = seen[to].or(&after)?;
                match fresh.iter_mut().find(|(place, _)| *place == to) {
                    Some((_, known)) => *known = known.or(&after)?,
                    None => fresh.push((to, after)),
                }
            }
        }
        if fresh.is_empty() {
            return Ok(Reached::Nothing(seen));
        }
        layers.push(fresh);
    }
}

/// The steps to a state of the last layer, and the edge to the error.
fn back(
    diagrams: &Diagrams,
    relations: &mut Relations,
    program: &BooleanProgram,
    layers: &[Vec<(usize, Set)>],
    (last, state): (usize, Vec<bool>),
) -> Result<Vec<Step>, Full> {
    let mut place = program.edges[last].from;
    let mut steps = vec![Step {
        edge: last,
        before: state.clone(),
    }];
    let mut state = state;
    for layer in layers[..layers.len() - 1].iter().rev() {
        'search: for (from, states) in layer {
            for (number, edge) in program.edges.iter().enumerate() {
                if edge.from != *from || edge.to != Target::Place(place) || edge.relation.impossible
                {
                    continue;
                }
                let relation = relations.get(diagrams, number, edge)?;
                let before = diagrams.before(states, &relation, &state)?;
                if let Some(before) = diagrams.pick(&before, program.places[*from]) {
                    steps.push(Step {
                        edge: number,
                        before: before.clone(),
                    });
                    (place, state) = (*from, before);
                    break 'search;
                }
            }
        }
    }
    steps.reverse();
    Ok(steps)
}
