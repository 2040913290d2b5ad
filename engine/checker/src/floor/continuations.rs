//! The code that may be executed after a place, according to the calls that the walks met and those
//! in the code.
//!
//! In contrast to [`crate::continuation`], contexts are not distinguished: after a function's last
//! instruction, execution continues after any of its calls.

use std::collections::BTreeMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex};

use cegar_model::domain::found::Found;
use cegar_model::program::ir::{BlockId, Callee, FuncId, Loc, Op, Program};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::continuation::{decides, spread};

/// A set of instructions: complete blocks, and the rests of other blocks from an instruction on.
#[derive(Debug, Default)]
struct After {
    blocks: FxHashSet<BlockId>,
    rest: Vec<Loc>,
}

impl After {
    fn has(&self, at: Loc) -> bool {
        let follows = |from: &Loc| from.block == at.block && at.inst >= from.inst;
        self.blocks.contains(&at.block) || self.rest.iter().any(follows)
    }
}

/// A cache.
#[derive(Debug)]
struct Known<K, V>(Mutex<FxHashMap<K, Arc<V>>>);

impl<K, V> Default for Known<K, V> {
    fn default() -> Known<K, V> {
        Known(Mutex::default())
    }
}

impl<K: Copy + Eq + Hash, V> Known<K, V> {
    fn get(&self, key: K, find: impl FnOnce() -> V) -> Arc<V> {
        let lock = || {
            self.0
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner)
        };
        if let Some(known) = lock().get(&key) {
            return Arc::clone(known);
        }
        let found = Arc::new(find());
        lock().insert(key, Arc::clone(&found));
        found
    }
}

/// The code behind places; see the [module](self).
#[derive(Debug)]
pub struct Continuations {
    /// The callees of each call, by block and operation.
    callees: BTreeMap<(BlockId, u32), Vec<FuncId>>,
    callers: FxHashMap<FuncId, Vec<(BlockId, u32)>>,
    ends: Known<FuncId, After>,
    places: Known<Loc, After>,
    decided: Known<BlockId, Vec<(BlockId, u32)>>,
}

impl Continuations {
    /// Uses the calls that the walks met for callers, and the calls in the code for callees.
    pub fn of(program: &Program, found: &Found) -> Continuations {
        let mut callers: FxHashMap<FuncId, Vec<(BlockId, u32)>> = FxHashMap::default();
        for &(block, op, callee) in &found.calls {
            callers.entry(callee).or_default().push((block, op));
        }
        let all = (0u32..).map(FuncId).zip(&program.functions);
        let addressed: Vec<FuncId> = all
            .filter(|(_, function)| function.addressed)
            .map(|(id, _)| id)
            .collect();
        // The code behind a hole was not walked, so its calls are taken from the code.
        let mut callees: BTreeMap<(BlockId, u32), Vec<FuncId>> = BTreeMap::new();
        for (block, code) in (0u32..).map(BlockId).zip(&program.blocks) {
            for (op, inst) in (0u32..).zip(&code.ops) {
                let Op::Call(call) = &inst.op else { continue };
                let to = match call.callee {
                    Callee::Direct(id) => vec![id],
                    Callee::Indirect(_) => addressed.clone(),
                };
                callees.insert((block, op), to);
            }
        }
        Continuations {
            callees,
            callers,
            ends: Known::default(),
            places: Known::default(),
            decided: Known::default(),
        }
    }

    /// Whether `at` may be executed after `from` has begun.
    pub fn has(&self, program: &Program, from: Loc, at: Loc) -> bool {
        let deciding = self
            .decided
            .get(from.block, || decides(program, from.block));
        if deciding.is_empty() {
            return self.follows(program, from, at);
        }
        // Where the compiler's own test finds a violation, the real program continues after the
        // test.
        let mut places = deciding.iter();
        places.any(|&(block, inst)| self.follows(program, Loc { block, inst }, at))
    }

    fn follows(&self, program: &Program, from: Loc, at: Loc) -> bool {
        let function = program.block(from.block).function;
        self.places.get(from, || self.after(program, from)).has(at)
            || self
                .ends
                .get(function, || self.end(program, function))
                .has(at)
    }

    /// The code that follows in the function itself, with all functions that this code calls.
    fn after(&self, program: &Program, from: Loc) -> After {
        let mut after = After {
            rest: vec![from],
            ..After::default()
        };
        spread(program, from.block, &mut after.blocks);
        self.called(program, &mut after);
        after
    }

    /// The code that follows when a function returns.
    fn end(&self, program: &Program, function: FuncId) -> After {
        let mut after = After::default();
        let mut seen: FxHashSet<FuncId> = FxHashSet::default();
        let mut open = vec![function];
        while let Some(function) = open.pop() {
            if !seen.insert(function) {
                continue;
            }
            for &(id, op) in self.callers.get(&function).into_iter().flatten() {
                let block = program.block(id);
                let inst = block
                    .ops
                    .get(op as usize + 1)
                    .map_or(u32::MAX, |inst| inst.at);
                let inst = inst.min(block.end_at);
                after.rest.push(Loc { block: id, inst });
                spread(program, id, &mut after.blocks);
                open.push(block.function);
            }
        }
        self.called(program, &mut after);
        after
    }

    /// Adds the blocks of all functions that are called, directly or indirectly.
    fn called(&self, program: &Program, after: &mut After) {
        let mut open: Vec<Loc> = after
            .blocks
            .iter()
            .map(|&block| Loc { block, inst: 0 })
            .collect();
        open.extend(&after.rest);
        let mut entered: FxHashSet<FuncId> = FxHashSet::default();
        while let Some(from) = open.pop() {
            let calls = self.callees.range((from.block, 0)..=(from.block, u32::MAX));
            let ops = &program.block(from.block).ops;
            let later = calls.filter(|((_, op), _)| {
                ops.get(*op as usize)
                    .is_some_and(|inst| inst.at >= from.inst)
            });
            for &callee in later.flat_map(|(_, callees)| callees) {
                if !entered.insert(callee) {
                    continue;
                }
                for block in program.function(callee).blocks.clone().map(BlockId) {
                    if after.blocks.insert(block) {
                        open.push(Loc { block, inst: 0 });
                    }
                }
            }
        }
    }
}
