//! The facts of an earlier run, as candidates.
//!
//! A certificate found in a folder is only a starting point: its formulas are candidates like any
//! other, and a formula with variables of anything but its own cut point is ignored. Whether they
//! hold is proved again.

use cegar_checker::Certificate;
use cegar_model::program::ir::BlockId;
use cegar_model::symbolic::world::Cut;

use crate::abstraction::asking::Facts;
use crate::abstraction::graph::Graph;
use crate::abstraction::state_symbols::StateSymbols;

/// The formulas of a certificate by cut point, as far as they can still be read.
pub fn resumed(graph: &mut Graph<'_>, before: &Certificate) -> Facts {
    let mut candidates = Facts::new();
    for claim in &before.cuts {
        let Some(ctx) = graph.world.context_named(&claim.context) else {
            continue;
        };
        let block = BlockId(claim.block);
        let cut = Cut { ctx, block };
        if !graph.states.contains_key(&cut) {
            continue;
        }
        let own = StateSymbols::of(graph, Some(cut));
        let pool = &mut graph.pool;
        for text in &claim.facts {
            let Ok(term) = pool.read(text) else {
                continue;
            };
            if pool.width(term) == 1 && own.covers(pool, term) {
                candidates.entry(cut).or_default().push(term);
            }
        }
    }
    candidates
}
