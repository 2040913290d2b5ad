//! What an earlier run had found, as guesses.
//!
//! A certificate that lies in a folder is a start and no more: its formulas are read like any other
//! guess, and what names anything but the variables of its own cut point is none. Whether they hold
//! is found out anew.

use cegar_checker::Certificate;
use cegar_model::program::ir::BlockId;
use cegar_model::symbolic::world::Cut;

use crate::abstraction::asking::Facts;
use crate::abstraction::graph::Graph;
use crate::abstraction::own::Own;

/// The formulas of a certificate by cut point, as far as they can still be read.
pub fn resumed(graph: &mut Graph<'_>, before: &Certificate) -> Facts {
    let mut guesses = Facts::new();
    for claim in &before.cuts {
        let Some(ctx) = graph.world.context_named(&claim.context) else {
            continue;
        };
        let block = BlockId(claim.block);
        let cut = Cut { ctx, block };
        if !graph.states.contains_key(&cut) {
            continue;
        }
        let own = Own::of(graph, Some(cut));
        let pool = &mut graph.pool;
        for text in &claim.facts {
            let Ok(term) = pool.read(text) else {
                continue;
            };
            if pool.width(term) == 1 && own.covers(pool, term) {
                guesses.entry(cut).or_default().push(term);
            }
        }
    }
    guesses
}
