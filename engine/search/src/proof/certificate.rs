//! What a certificate says.
//!
//! A proof is a formula for each cut point that holds whenever execution comes there ("the regions"), such that each
//! transition between cut points preserves them ("every missing edge has an unsatisfiable query") and none of the proved checks can be
//! violated in between. The formulas are all that had to be found, so they are all that is written down: cut points by
//! call path and block, formulas in the syntax of [`cegar_model::term::Pool::write`].

use serde::{Deserialize, Serialize};

use super::needed::Goal;
use crate::abstraction::asking::Facts;
use crate::abstraction::graph::Graph;
use cegar_model::program::ir::{BlockId, Property};
use cegar_model::symbolic::world::{Cut, Grain};
use cegar_model::term::{Pool, Term};

/// The format that this version writes and reads.
pub const FORMAT: u32 = 1;

/// What holds at one cut point.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CutFacts {
    /// The call path: call sites and callees from the entry function on.
    pub context: String,
    /// The block.
    pub block: u32,
    /// The formulas.
    pub facts: Vec<String>,
}

/// See the module.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Certificate {
    /// [`FORMAT`].
    pub format: u32,
    /// SHA-256 of the bitcode that it is about.
    pub bitcode: String,
    /// The properties that were asked for.
    pub properties: Vec<Property>,
    /// The checks that are proved, by number.
    pub checks: Vec<u32>,
    /// The blocks that are proved unreachable, by number.
    pub blocks: Vec<u32>,
    /// What the proofs rest on, for people.
    pub assumptions: Vec<String>,
    /// Which cut points there are: the regions are about those.
    #[serde(default)]
    pub grain: Grain,
    /// The regions.
    pub cuts: Vec<CutFacts>,
}

impl Certificate {
    /// The same, about one goal only.
    #[must_use]
    pub fn about(&self, goal: Goal) -> Certificate {
        let (checks, blocks) = match goal {
            Goal::Check(id) => (vec![id], Vec::new()),
            Goal::Block(id) => (Vec::new(), vec![id]),
        };
        Certificate {
            checks,
            blocks,
            ..self.clone()
        }
    }

    /// The formulas by cut point. A cut point that does not exist claims nothing.
    pub fn regions_in(&self, graph: &Graph<'_>) -> Vec<(Cut, &[String])> {
        let found = self.cuts.iter().filter_map(|cut| {
            let here = Cut {
                ctx: graph.world.context_named(&cut.context)?,
                block: BlockId(cut.block),
            };
            let exists = graph.states.contains_key(&here);
            exists.then_some((here, &cut.facts[..]))
        });
        found.collect()
    }

    /// The regions in writing. A formula that has no text is left out; the checker then says what does not follow.
    pub fn regions(graph: &Graph<'_>, facts: &Facts) -> Vec<CutFacts> {
        facts
            .iter()
            .filter(|(_, facts)| !facts.is_empty())
            .map(|(cut, facts)| CutFacts {
                context: graph.world.context(cut.ctx).key.clone(),
                block: cut.block.0,
                facts: facts
                    .iter()
                    .filter_map(|&t| graph.pool.write(t).ok())
                    .collect(),
            })
            .collect()
    }
}

/// Reads a formula, or says why it is none.
pub fn formula(pool: &mut Pool, text: &str) -> Result<Term, String> {
    let term = pool.read(text).map_err(|why| why.to_string())?;
    match pool.width(term) {
        1 => Ok(term),
        _ => Err("it is not one bit wide".to_owned()),
    }
}
