//! Relevance: a slice over the variables of all cut points.
//!
//! The state of a stub library, the contents of strings and the lists that hold them vary as well,
//! but most goals do not depend on them. The variables in a goal's condition are relevant, and so
//! is every variable that the value of a relevant variable, or whether it changes, depends on.
//! Candidates about other variables are not tried as long as there are candidates about relevant
//! ones.

use rustc_hash::{FxHashMap, FxHashSet};

use super::goals::{Open, Settled};
use super::graph::Graph;
use super::state_symbols::{symbol, symbol_of_array};
use cegar_model::deadline;
use cegar_model::term::{Array, Item, Pool, Symbol, Term};

/// The relevant variables and arrays. Their names are the same at all cut points.
#[derive(Debug, Default)]
pub struct Relevance {
    symbols: FxHashSet<Symbol>,
}

/// A change of a variable: the variables that it depends on.
struct Change {
    changed: Symbol,
    on: Vec<Symbol>,
}

/// All changes of all variables.
#[derive(Default)]
pub struct Changes(Vec<Change>);

impl Changes {
    /// The changes in all transitions.
    pub fn new(graph: &mut Graph<'_>) -> Changes {
        let mut all = Vec::new();
        let starts: Vec<_> = graph.fragments.keys().copied().collect();
        for start in starts {
            // A missing change makes fewer variables relevant: there are fewer candidates, but none
            // of them is wrong.
            if deadline::passed() {
                break;
            }
            for transition in graph.fragments[&start].transitions.clone() {
                let update = graph.update(start, &transition);
                let pool = &graph.pool;
                let mut guard = FxHashSet::default();
                for &t in &transition.reached.guard.0 {
                    collect(pool, Item::Term(t), &mut guard);
                }
                let changes = update
                    .terms
                    .iter()
                    .filter(|(variable, value)| variable != value)
                    .map(|&(variable, value)| (symbol(pool, variable), Item::Term(value)));
                let arrays = update
                    .arrays
                    .iter()
                    .filter(|(array, value)| array != value)
                    .map(|&(array, value)| (symbol_of_array(pool, array), Item::Array(value)));
                for (changed, value) in changes.chain(arrays) {
                    let mut on = guard.clone();
                    collect(pool, value, &mut on);
                    if let Some(changed) = changed {
                        let on = on.into_iter().collect();
                        all.push(Change { changed, on });
                    }
                }
            }
        }
        for fragment in graph.fragments.values() {
            for called in &fragment.calls {
                let Some((_, end)) = graph.world.ends_of(called.function) else {
                    continue;
                };
                // A call's results depend on the arguments and on the facts at the callee's end.
                let mut on = FxHashSet::default();
                for &param in &called.params {
                    collect(&graph.pool, Item::Term(param), &mut on);
                }
                if let Some(state) = graph.states.get(&end) {
                    for (_, t) in state.variables(&mut graph.pool, &graph.world) {
                        collect(&graph.pool, Item::Term(t), &mut on);
                    }
                }
                for &result in &called.results {
                    if let Some(changed) = symbol(&graph.pool, result) {
                        let on = on.iter().copied().collect();
                        all.push(Change { changed, on });
                    }
                }
            }
        }
        // Facts about the end of a string need no quantifier: if an array is relevant, so is its
        // witness.
        for state in graph.states.values() {
            for (id, array) in state.arrays(&mut graph.pool, &graph.world) {
                let ends = state.ends(&mut graph.pool, &graph.world, id);
                let mut on = FxHashSet::default();
                collect(&graph.pool, Item::Term(ends), &mut on);
                if let Some(changed) = symbol_of_array(&graph.pool, array) {
                    let on = on.into_iter().collect();
                    all.push(Change { changed, on });
                }
            }
        }
        Changes(all)
    }
}

impl Relevance {
    /// The variables that are relevant to the open goals.
    pub fn new(graph: &Graph<'_>, open: &Open, settled: &Settled, changes: &Changes) -> Relevance {
        let mut symbols: FxHashSet<Symbol> = FxHashSet::default();
        for &(start, index) in &open.obligations {
            let obligation = &graph.fragments[&start].obligations[index];
            if obligation.vague {
                continue;
            }
            for &t in obligation.guard.0.iter().chain([&obligation.violated]) {
                collect(&graph.pool, Item::Term(t), &mut symbols);
            }
        }
        for &(start, index) in &open.holes {
            for &t in &graph.fragments[&start].holes[index].guard.0 {
                collect(&graph.pool, Item::Term(t), &mut symbols);
            }
        }
        if open.is_complete() {
            // Only blocks are left.
            for entered in graph.fragments.values().flat_map(|f| &f.entered) {
                if settled.entered.contains(&entered.block) {
                    for &t in &entered.guard.0 {
                        collect(&graph.pool, Item::Term(t), &mut symbols);
                    }
                }
            }
        }
        let mut by_symbol: FxHashMap<Symbol, Vec<&Change>> = FxHashMap::default();
        for change in &changes.0 {
            by_symbol.entry(change.changed).or_default().push(change);
        }
        let mut next: Vec<Symbol> = symbols.iter().copied().collect();
        while let Some(symbol) = next.pop() {
            for change in by_symbol.get(&symbol).into_iter().flatten() {
                for &on in &change.on {
                    if symbols.insert(on) {
                        next.push(on);
                    }
                }
            }
        }
        Relevance { symbols }
    }

    /// Whether all variables of a term of a cut point are relevant.
    pub fn has(&self, pool: &Pool, t: Term) -> bool {
        let mut own = FxHashSet::default();
        collect(pool, Item::Term(t), &mut own);
        own.iter().all(|symbol| self.symbols.contains(symbol))
    }

    /// Whether an array variable is relevant.
    pub fn has_array(&self, pool: &Pool, array: Array) -> bool {
        symbol_of_array(pool, array).is_none_or(|symbol| self.symbols.contains(&symbol))
    }
}

fn collect(pool: &Pool, root: Item, into: &mut FxHashSet<Symbol>) {
    for item in pool.order(root, |_| false) {
        let symbol = match item {
            Item::Term(t) => symbol(pool, t),
            Item::Array(array) => symbol_of_array(pool, array),
        };
        into.extend(symbol);
    }
}
