//! Candidates: an object that a pointer points to is alive, as long as the object that holds the
//! pointer is.
//!
//! Programs that free what they allocate maintain this everywhere except between the two calls of
//! `free`, and nothing simpler expresses that each element of a list is freed once.

use std::collections::BTreeMap;

use super::CandidateGenerator;
use cegar_model::symbolic::cuts::{Base, CutState, Part, Place};
use cegar_model::symbolic::world::ObjId;
use cegar_model::term::Term;

impl CandidateGenerator<'_, '_> {
    /// Candidates about the pointers among these variables.
    pub(super) fn living(
        &mut self,
        state: &CutState,
        variables: &[(Place, Term)],
        out: &mut Vec<Term>,
    ) {
        let alive: BTreeMap<ObjId, Term> = variables
            .iter()
            .filter_map(|(place, t)| match place {
                Place::Alive(id) => Some((*id, *t)),
                _ => None,
            })
            .collect();
        let world = &self.graph.world;
        let numbered: BTreeMap<u32, ObjId> = alive
            .keys()
            .filter_map(|&id| Some((world.object(id).number?, id)))
            .collect();
        for (place, pointer) in variables {
            let holder = match place {
                Place::Cell(id, _, Part::Base) => alive.get(id),
                Place::Register(_, _, Part::Base) => None,
                _ => continue,
            };
            for &base in state.bases.get(pointer).into_iter().flatten() {
                let pointee = match base {
                    Base::Number(number) => numbered.get(&number).copied(),
                    Base::Of(id) => Some(id),
                };
                let Some(&lives) = pointee.and_then(|id| alive.get(&id)) else {
                    continue;
                };
                let graph = &mut *self.graph;
                let number = state.base(&mut graph.pool, &graph.world, base);
                let there = graph.pool.eq(*pointer, number);
                let elsewhere = graph.pool.not(there);
                let sound = graph.pool.or(elsewhere, lives);
                out.push(sound);
                if let Some(&holder) = holder {
                    let gone = graph.pool.not(holder);
                    out.push(graph.pool.or(gone, sound));
                }
            }
        }
    }
}
