//! Decides which functions are shared by their calls.
//!
//! A function that is walked separately for each call is analysed as it is used there, so that, for
//! example, `memcpy` is analysed precisely at each call. This is impossible for recursive
//! functions, and too expensive for functions with too many calls. Of the latter, those that save
//! the most are shared first.

use cegar_model::program::ir::{FuncId, Program};
use cegar_model::program::outside::points::Points;
use rustc_hash::{FxHashMap, FxHashSet};

/// The maximum number of blocks in all contexts together, for a program that is not larger itself.
const BLOCKS: u64 = 10_000;
/// A larger program may have this fraction of its blocks in further contexts.
const PART: u64 = 8;

/// For each function, its callees with the number of call sites.
type Calls = FxHashMap<FuncId, Vec<(FuncId, u64)>>;

/// The functions to share.
pub fn shared(program: &Program, points: &Points) -> FxHashSet<FuncId> {
    let order = order(program, points);
    let blocks = |function: FuncId| program.function(function).blocks.len() as u64;
    let all: Calls = order
        .iter()
        .map(|&function| (function, calls(program, points, function)))
        .collect();
    let own: u64 = order.iter().map(|&function| blocks(function)).sum();
    let most = BLOCKS.max(own + own / PART);
    let mut shared: FxHashSet<FuncId> = order
        .iter()
        .copied()
        .filter(|&function| calls_itself(points, function))
        .collect();
    loop {
        let copies = copies(program, &all, &order, &shared);
        let total = copies.iter().fold(0u64, |total, (&function, &copies)| {
            total.saturating_add(copies.saturating_mul(blocks(function)))
        });
        if total <= most {
            return shared;
        }
        let candidates = copies
            .iter()
            .filter(|(function, copies)| **copies > 1 && !shared.contains(function));
        let saved = candidates.max_by_key(|(function, copies)| {
            (
                (**copies - 1).saturating_mul(below(program, points, **function, &shared)),
                function.0,
            )
        });
        let Some((&function, _)) = saved else {
            return shared;
        };
        let name = &program.function(function).name;
        tracing::debug!(name, copies = copies[&function], total, "is shared");
        shared.insert(function);
    }
}

/// The number of blocks of a function and of the functions that are walked within it.
fn below(program: &Program, points: &Points, function: FuncId, shared: &FxHashSet<FuncId>) -> u64 {
    let mut seen = FxHashSet::default();
    let mut open = vec![function];
    let mut blocks = 0;
    while let Some(next) = open.pop() {
        if seen.insert(next) && (next == function || !shared.contains(&next)) {
            blocks += program.function(next).blocks.len() as u64;
            open.extend(points.called(next));
        }
    }
    blocks
}

fn calls_itself(points: &Points, function: FuncId) -> bool {
    let mut seen = FxHashSet::default();
    let mut open = points.called(function).to_vec();
    while let Some(next) = open.pop() {
        if next == function {
            return true;
        }
        if seen.insert(next) {
            open.extend(points.called(next));
        }
    }
    false
}

/// The functions that the entry may call, callers first, except in cycles.
fn order(program: &Program, points: &Points) -> Vec<FuncId> {
    let mut post = Vec::new();
    let mut seen = FxHashSet::default();
    let mut stack = vec![(program.entry, 0)];
    seen.insert(program.entry);
    while let Some((function, at)) = stack.pop() {
        match points.called(function).get(at) {
            Some(&next) => {
                stack.push((function, at + 1));
                if seen.insert(next) {
                    stack.push((next, 0));
                }
            }
            None => post.push(function),
        }
    }
    post.reverse();
    post.retain(|&function| program.function(function).is_defined());
    post
}

/// How often each function is walked.
fn copies(
    program: &Program,
    all: &Calls,
    order: &[FuncId],
    shared: &FxHashSet<FuncId>,
) -> FxHashMap<FuncId, u64> {
    let mut copies: FxHashMap<FuncId, u64> = FxHashMap::default();
    copies.insert(program.entry, 1);
    for &function in order {
        let own = match shared.contains(&function) {
            true => 1,
            false => copies.get(&function).copied().unwrap_or(0),
        };
        copies.insert(function, own);
        for &(callee, times) in all.get(&function).into_iter().flatten() {
            if callee != function {
                let known = copies.entry(callee).or_default();
                *known = known.saturating_add(own.saturating_mul(times));
            }
        }
    }
    copies.retain(|function, _| program.function(*function).is_defined());
    copies
}

/// The callees of a function, with the number of call sites.
fn calls(program: &Program, points: &Points, function: FuncId) -> Vec<(FuncId, u64)> {
    use cegar_model::program::ir::{BlockId, Op};
    let mut all: FxHashMap<FuncId, u64> = FxHashMap::default();
    for block in program.function(function).blocks.clone().map(BlockId) {
        for inst in &program.block(block).ops {
            let Op::Call(call) = &inst.op else { continue };
            for id in points.callees(program, function, call) {
                *all.entry(id).or_default() += 1;
            }
        }
    }
    all.into_iter().collect()
}
