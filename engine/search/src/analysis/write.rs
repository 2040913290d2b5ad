//! Writes the states into a claim for the checker.

use std::collections::BTreeMap;
use std::sync::Arc;

use cegar_checker::floor::{ContextClaim, FloorClaim, FunctionClaim, HeadClaim, StateClaim};
use cegar_model::domain::contents::Contents;
use cegar_model::domain::context::Contexts;
use cegar_model::domain::owners::Owners;
use cegar_model::domain::space::{CtxId, Names};
use cegar_model::domain::state::State;
use rustc_hash::FxHashMap;

use super::grow::Growing;

/// The claim of the states.
pub fn claim(
    states: &Growing,
    contexts: &Contexts,
    names: &Names<'_>,
    relations: bool,
) -> FloorClaim {
    let mut writer = Writer::default();
    let mut shared: Vec<u32> = contexts.shared.iter().map(|function| function.0).collect();
    shared.sort_unstable();
    let all = (0..contexts.len() as u32).map(CtxId);
    let contexts = all.map(|ctx| ContextClaim {
        function: contexts.function(ctx).0,
        back: contexts
            .back(ctx)
            .map(|(ctx, block, op)| (ctx.0, block.0, op)),
    });
    let heads: BTreeMap<_, _> = states.heads().collect();
    let functions: BTreeMap<_, _> = states
        .functions()
        .map(|(function, entry, exit)| (function, (entry, exit)))
        .collect();
    let heads = heads
        .into_iter()
        .map(|(((ctx, block), _), state)| HeadClaim {
            context: ctx.0,
            block: block.0,
            state: writer.state(state),
        });
    let heads: Vec<HeadClaim> = heads.collect();
    let functions = functions
        .into_iter()
        .map(|(function, (entry, exit))| FunctionClaim {
            function: function.0,
            entry: writer.state(entry),
            exit: exit.map(|exit| writer.state(exit)),
        });
    let functions: Vec<FunctionClaim> = functions.collect();
    FloorClaim {
        relations,
        shared,
        contexts: contexts.collect(),
        made: names.made().copied().collect(),
        contents: writer.contents,
        heads,
        functions,
    }
}

#[derive(Default)]
struct Writer {
    contents: Vec<Contents>,
    places: FxHashMap<usize, u32>,
}

impl Writer {
    fn contents(&mut self, contents: &Arc<Contents>) -> u32 {
        // The states keep the contents alive, so that an address identifies them while the writer
        // exists.
        let key = Arc::as_ptr(contents) as usize;
        if let Some(&known) = self.places.get(&key) {
            return known;
        }
        let place = self.contents.len() as u32;
        self.contents.push(Contents::clone(contents));
        self.places.insert(key, place);
        place
    }

    fn state(&mut self, state: &State) -> StateClaim {
        let objects = state.objects.iter().map(|(id, object)| {
            (
                *id,
                object.alive,
                object.size,
                self.contents(&object.contents),
            )
        });
        StateClaim {
            objects: objects.collect(),
            registers: state
                .registers
                .iter()
                .map(|(reg, value)| (reg.0, value.clone()))
                .collect(),
            cells: state
                .cells
                .iter()
                .map(|(reg, cell)| (reg.0, cell.object, cell.at, cell.len))
                .collect(),
            wrapped: state.wrapped.iter().map(|reg| reg.0).collect(),
            lines: state.lines.iter().cloned().collect(),
            products: state.lines.products().to_vec(),
            nuls: state
                .nuls
                .iter()
                .map(|(&(id, which), &at)| (id, which, at))
                .collect(),
            fates: state.fates.iter().collect(),
            owners: Owners::clone(&state.owners),
            handed: state.handed,
        }
    }
}
