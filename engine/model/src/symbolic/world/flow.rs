//! The control flow of one function: its cut points, and the order in which its blocks are
//! executed.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Grain;
use crate::program::ir::{BlockId, FuncId, FunctionKind, Program, Terminator};

/// The control flow of one function.
#[derive(Debug)]
pub struct Flow {
    /// The position of each reachable block in reverse postorder.
    pub order: FxHashMap<BlockId, u32>,
    /// The reachable blocks in reverse postorder.
    pub blocks: Vec<BlockId>,
    /// The cut points: the targets of retreating edges, or with [`Grain::Blocks`] of all edges.
    pub cuts: FxHashSet<BlockId>,
    /// The blocks on a cycle.
    pub cyclic: FxHashSet<BlockId>,
}

/// The successors of a block.
pub fn successors(end: &Terminator) -> Vec<BlockId> {
    end.edges().into_iter().map(|edge| edge.to).collect()
}

impl Flow {
    pub(super) fn new(program: &Program, function: FuncId, grain: Grain) -> Flow {
        let range = program.function(function).blocks.clone();
        let mut post = Vec::new();
        let mut seen = FxHashSet::default();
        let mut stack = Vec::new();
        if !range.is_empty() {
            let first = BlockId(range.start);
            seen.insert(first);
            stack.push((first, successors(&program.block(first).end), 0));
        }
        while let Some((block, next, at)) = stack.last_mut() {
            if let Some(&to) = next.get(*at) {
                *at += 1;
                if seen.insert(to) {
                    stack.push((to, successors(&program.block(to).end), 0));
                }
            } else {
                post.push(*block);
                stack.pop();
            }
        }
        post.reverse();
        let order: FxHashMap<BlockId, u32> = post
            .iter()
            .enumerate()
            .map(|(place, &block)| (block, place as u32))
            .collect();
        let mut cuts = FxHashSet::default();
        for &block in &post {
            for to in successors(&program.block(block).end) {
                if order.get(&to) <= order.get(&block) {
                    cuts.insert(to);
                }
            }
        }
        let cyclic = cyclic(program, &post, &order, &cuts);
        if grain == Grain::Blocks && program.function(function).kind == FunctionKind::User {
            for &block in &post {
                cuts.extend(successors(&program.block(block).end));
            }
        }
        Flow {
            order,
            blocks: post,
            cuts,
            cyclic,
        }
    }
}

/// The blocks that can reach themselves. Every cycle contains a cut point, so it suffices to find,
/// for each cut point, the blocks that it reaches and that reach it.
pub(super) fn cyclic(
    program: &Program,
    blocks: &[BlockId],
    order: &FxHashMap<BlockId, u32>,
    cuts: &FxHashSet<BlockId>,
) -> FxHashSet<BlockId> {
    let mut before: FxHashMap<BlockId, Vec<BlockId>> = FxHashMap::default();
    for &block in blocks {
        for to in successors(&program.block(block).end) {
            before.entry(to).or_default().push(block);
        }
    }
    let mut all = FxHashSet::default();
    for &cut in cuts {
        let walk = |next: &dyn Fn(BlockId) -> Vec<BlockId>| {
            let mut seen = FxHashSet::default();
            let mut open = next(cut);
            while let Some(block) = open.pop() {
                if order.contains_key(&block) && seen.insert(block) {
                    open.extend(next(block));
                }
            }
            seen
        };
        let forward = walk(&|block| successors(&program.block(block).end));
        let backward = walk(&|block| before.get(&block).cloned().unwrap_or_default());
        all.extend(forward.intersection(&backward).copied());
    }
    all
}
