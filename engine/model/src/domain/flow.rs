//! The order in which a function's blocks are walked, the live registers of each block, and the
//! operations that set and use registers.
//!
//! The order is a weak topological order (Bourdoncle, *Efficient chaotic iteration strategies with
//! widenings*, 1993): each back edge leads to the head of a component that contains it, and the
//! blocks of a component are contiguous.

use rustc_hash::FxHashMap;

use super::selectors::{Selectors, Walk, selectors};
use crate::program::ir::{BlockId, FuncId, Op, Operand, Program, Reg, Terminator};
use crate::symbolic::world::successors;

/// The most operations of a block that does little but return.
const ENDING: usize = 16;
/// The most registers that tell paths to a return apart.
const MARKS: usize = 3;

/// See the [module](self).
#[derive(Debug)]
pub struct Flow {
    first: u32,
    /// By block: its place in the order.
    places: Vec<u32>,
    heads: Vec<bool>,
    cyclic: Vec<bool>,
    /// By block: a bit for each register that is live at its entry.
    live: Vec<Vec<u64>>,
    /// By block: the registers that tell paths to the return apart; `None` if more is done than to
    /// return.
    ends: Vec<Option<Vec<Reg>>>,
    /// By block: the registers by which states are kept apart there ([`super::selectors`]).
    selectors: Vec<Selectors>,
    /// By block: the registers that trail behind others in a loop, and are NULL first.
    trailing: Vec<Selectors>,
    /// By block: the register that shrinks with each iteration of a loop.
    shrinking: Vec<Option<Reg>>,
    /// By register: the operation that sets it; `None` for parameters and for what edges set.
    made: Vec<Option<(BlockId, u32)>>,
    /// By register: the operations that compute another register from it.
    users: Vec<Vec<(BlockId, u32)>>,
}

impl Flow {
    /// Computes the flow of a function.
    pub fn of(program: &Program, id: FuncId) -> Flow {
        let function = program.function(id);
        let first = function.blocks.start;
        let count = function.blocks.len();
        let next: Vec<Vec<u32>> = function
            .blocks
            .clone()
            .map(|block| {
                let to = successors(&program.block(BlockId(block)).end);
                to.into_iter().map(|block| block.0 - first).collect()
            })
            .collect();
        let mut flow = Flow {
            first,
            places: vec![u32::MAX; count],
            heads: vec![false; count],
            cyclic: vec![false; count],
            live: Vec::new(),
            ends: Vec::new(),
            selectors: Vec::new(),
            trailing: Vec::new(),
            shrinking: Vec::new(),
            made: vec![None; function.registers.len()],
            users: vec![Vec::new(); function.registers.len()],
        };
        flow.order(&next);
        flow.live(program, function.registers.len(), &next);
        flow.ends = flow.ending(program, &next);
        let is_head = |block| flow.is_head(block);
        let is_live = |block, reg| flow.is_live(block, reg);
        flow.selectors = selectors(program, (first, count), is_head, is_live);
        for block in function.blocks.clone().map(BlockId) {
            for (op, inst) in program.block(block).ops.iter().enumerate() {
                for reg in inst.op.sets() {
                    if let Some(made) = flow.made.get_mut(reg.index()) {
                        *made = Some((block, op as u32));
                    }
                }
                let computes = matches!(
                    inst.op,
                    Op::Bin { .. } | Op::Cast { .. } | Op::Copy { .. } | Op::Address { .. }
                );
                inst.op.reads(&mut |operand| {
                    if let Operand::Reg(reg) = operand
                        && computes
                        && let Some(users) = flow.users.get_mut(reg.index())
                    {
                        users.push((block, op as u32));
                    }
                });
            }
        }
        let walk = Walk {
            program,
            blocks: (first, count),
            made: &|reg| flow.made(program, reg),
            is_head: &|block| flow.is_head(block),
            is_cyclic: &|block| flow.is_cyclic(block),
            is_live: &|block, reg| flow.is_live(block, reg),
        };
        (flow.trailing, flow.shrinking) = (walk.trailing(), walk.shrinking());
        flow
    }

    fn at(&self, block: BlockId) -> usize {
        (block.0 - self.first) as usize
    }

    /// A block's place in the order.
    pub fn place(&self, block: BlockId) -> u32 {
        self.places[self.at(block)]
    }

    /// Whether a block is a loop head: back edges lead to it.
    pub fn is_head(&self, block: BlockId) -> bool {
        self.heads[self.at(block)]
    }

    /// Whether a block may be entered several times in one call.
    pub fn is_cyclic(&self, block: BlockId) -> bool {
        self.cyclic[self.at(block)]
    }

    /// For a block after which nothing is done but to return: the registers that tell paths there
    /// apart.
    pub fn ends(&self, block: BlockId) -> Option<&[Reg]> {
        self.ends[self.at(block)].as_deref()
    }

    /// The registers by which states that arrive at a block are kept apart.
    pub fn selectors(&self, block: BlockId) -> &[Reg] {
        &self.selectors[self.at(block)]
    }

    /// The registers, NULL when a loop begins, by which states are kept apart.
    pub fn trailing(&self, block: BlockId) -> &[Reg] {
        &self.trailing[self.at(block)]
    }

    /// The register by whose length states that arrive at a block are kept apart: it shrinks with
    /// each iteration of a loop.
    pub fn shrinking(&self, block: BlockId) -> Option<Reg> {
        self.shrinking[self.at(block)]
    }

    /// The quiet blocks from which the return can be reached through quiet blocks alone, with the
    /// registers that tell the paths there apart.
    fn ending(&self, program: &Program, next: &[Vec<u32>]) -> Vec<Option<Vec<Reg>>> {
        let block = |at: usize| program.block(BlockId(self.first + at as u32));
        let is_quiet = |at: usize| {
            let ops = &block(at).ops;
            ops.len() <= ENDING && ops.iter().all(|inst| is_quiet(&inst.op))
        };
        let count = next.len();
        let quiet: Vec<bool> = (0..count).map(is_quiet).collect();
        let mut ends: Vec<bool> = (0..count)
            .map(|at| quiet[at] && matches!(block(at).end, Terminator::Return { .. }))
            .collect();
        loop {
            let leads = |at: usize| next[at].iter().any(|to| ends[*to as usize]);
            let new: Vec<usize> = (0..count)
                .filter(|&at| !ends[at] && quiet[at] && !self.cyclic[at] && leads(at))
                .collect();
            if new.is_empty() {
                break;
            }
            new.into_iter().for_each(|at| ends[at] = true);
        }
        let mut marks: Vec<Reg> = (0..count)
            .flat_map(|at| block(at).end.edges())
            .filter(|edge| ends[self.at(edge.to)])
            .flat_map(|edge| edge.moves.iter().map(|(reg, _)| *reg))
            .collect();
        marks.sort_unstable();
        marks.dedup();
        let marks_at = |at: usize| {
            let live = marks.iter().filter(|reg| has(&self.live[at], **reg));
            live.copied().take(MARKS).collect()
        };
        (0..count)
            .map(|at| ends[at].then(|| marks_at(at)))
            .collect()
    }

    /// Whether a register is live at the entry of a block.
    pub fn is_live(&self, block: BlockId, reg: Reg) -> bool {
        has(&self.live[self.at(block)], reg)
    }

    /// The operation that sets a register.
    pub fn made<'p>(&self, program: &'p Program, reg: Reg) -> Option<&'p Op> {
        let (block, op) = (*self.made.get(reg.index())?)?;
        Some(&program.block(block).ops.get(op as usize)?.op)
    }

    /// Whether an operation in a loop sets a register. False for what edges set.
    pub fn varies(&self, reg: Reg) -> bool {
        let made = self.made.get(reg.index()).copied().flatten();
        made.is_some_and(|(block, _)| self.is_cyclic(block))
    }

    /// The operations that compute another register from a register.
    pub fn users<'p>(&self, program: &'p Program, reg: Reg) -> impl Iterator<Item = &'p Op> {
        let users = self.users.get(reg.index()).into_iter().flatten();
        users.filter_map(|(block, op)| Some(&program.block(*block).ops.get(*op as usize)?.op))
    }

    fn order(&mut self, next: &[Vec<u32>]) {
        let mut place = 0;
        // Parts of the graph that are still to be put in order, the next one last, without the
        // heads of the components that contain them.
        let mut open: Vec<(Vec<u32>, bool)> = vec![((0..next.len() as u32).collect(), false)];
        let mut part = vec![0u32; next.len()];
        let mut parts = 0;
        while let Some((nodes, single)) = open.pop() {
            if single {
                for node in nodes {
                    self.places[node as usize] = place;
                    place += 1;
                }
                continue;
            }
            parts += 1;
            for &node in &nodes {
                part[node as usize] = parts;
            }
            let inside = |node: u32| part[node as usize] == parts;
            let components = components(&nodes, next, &inside);
            // Components come in reverse topological order, so the first one is pushed last.
            for component in components {
                let loops =
                    component.len() > 1 || next[component[0] as usize].contains(&component[0]);
                if !loops {
                    open.push((component, true));
                    continue;
                }
                let head = self.head(&component, next);
                self.heads[head as usize] = true;
                for &node in &component {
                    self.cyclic[node as usize] = true;
                }
                let rest: Vec<u32> = component.into_iter().filter(|&n| n != head).collect();
                if !rest.is_empty() {
                    open.push((rest, false));
                }
                open.push((vec![head], true));
            }
        }
    }

    /// The head of a component: the function's first block, or the one that most edges enter from
    /// outside.
    fn head(&self, component: &[u32], next: &[Vec<u32>]) -> u32 {
        let mut inside = vec![false; next.len()];
        for &node in component {
            inside[node as usize] = true;
        }
        if inside[0] {
            return 0;
        }
        let mut entered = vec![0u32; next.len()];
        for (node, to) in next.iter().enumerate() {
            for &to in to {
                if !inside[node] && inside[to as usize] {
                    entered[to as usize] += 1;
                }
            }
        }
        let by_edges = |&&node: &&u32| (entered[node as usize], std::cmp::Reverse(node));
        component.iter().max_by_key(by_edges).copied().unwrap_or(0)
    }

    fn live(&mut self, program: &Program, registers: usize, next: &[Vec<u32>]) {
        let words = registers.div_ceil(64);
        self.live = vec![vec![0; words]; next.len()];
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); next.len()];
        for (node, to) in next.iter().enumerate() {
            to.iter()
                .for_each(|&to| before[to as usize].push(node as u32));
        }
        let mut open: Vec<u32> = (0..next.len() as u32).collect();
        while let Some(node) = open.pop() {
            let block = program.block(BlockId(self.first + node));
            let mut live = vec![0u64; words];
            for edge in block.end.edges() {
                let mut there = self.live[self.at(edge.to)].clone();
                let moved: Vec<bool> = edge.moves.iter().map(|(to, _)| has(&there, *to)).collect();
                edge.moves
                    .iter()
                    .for_each(|(to, _)| put(&mut there, *to, false));
                for ((_, from), moved) in edge.moves.iter().zip(moved) {
                    if moved {
                        read(&mut there, *from);
                    }
                }
                live.iter_mut().zip(&there).for_each(|(a, b)| *a |= b);
            }
            let asked = block.end.reads().iter();
            asked.for_each(|operand| read(&mut live, *operand));
            for inst in block.ops.iter().rev() {
                inst.op.sets().for_each(|reg| put(&mut live, reg, false));
                inst.op.reads(&mut |operand| read(&mut live, operand));
            }
            if live != self.live[node as usize] {
                self.live[node as usize] = live;
                open.extend(&before[node as usize]);
            }
        }
    }
}

fn has(set: &[u64], reg: Reg) -> bool {
    set.get(reg.index() / 64)
        .is_some_and(|word| word >> (reg.0 % 64) & 1 == 1)
}

fn put(set: &mut [u64], reg: Reg, value: bool) {
    if let Some(word) = set.get_mut(reg.index() / 64) {
        let bit = 1 << (reg.0 % 64);
        *word = if value { *word | bit } else { *word & !bit };
    }
}

fn read(set: &mut [u64], operand: Operand) {
    if let Operand::Reg(reg) = operand {
        put(set, reg, true);
    }
}

/// The strongly connected components of a part of a graph, in reverse topological order (Tarjan).
fn components(nodes: &[u32], next: &[Vec<u32>], inside: &impl Fn(u32) -> bool) -> Vec<Vec<u32>> {
    let mut found = Tarjan {
        index: FxHashMap::default(),
        low: FxHashMap::default(),
        stack: Vec::new(),
        waiting: FxHashMap::default(),
        all: Vec::new(),
    };
    for &node in nodes {
        if !found.index.contains_key(&node) {
            found.visit(node, next, inside);
        }
    }
    found.all
}

struct Tarjan {
    index: FxHashMap<u32, u32>,
    low: FxHashMap<u32, u32>,
    stack: Vec<u32>,
    waiting: FxHashMap<u32, bool>,
    all: Vec<Vec<u32>>,
}

impl Tarjan {
    fn enter(&mut self, node: u32) {
        let number = self.index.len() as u32;
        self.index.insert(node, number);
        self.low.insert(node, number);
        self.stack.push(node);
        self.waiting.insert(node, true);
    }

    fn lower(&mut self, node: u32, to: u32) {
        if let Some(low) = self.low.get_mut(&node) {
            *low = (*low).min(to);
        }
    }

    fn visit(&mut self, root: u32, next: &[Vec<u32>], inside: &impl Fn(u32) -> bool) {
        let mut path: Vec<(u32, usize)> = vec![(root, 0)];
        self.enter(root);
        while let Some((node, at)) = path.pop() {
            if let Some(&to) = next[node as usize].get(at) {
                path.push((node, at + 1));
                if !inside(to) {
                    continue;
                }
                if !self.index.contains_key(&to) {
                    self.enter(to);
                    path.push((to, 0));
                } else if self.waiting.get(&to) == Some(&true) {
                    let index = self.index[&to];
                    self.lower(node, index);
                }
                continue;
            }
            let low = self.low[&node];
            if low == self.index[&node] {
                let mut component = Vec::new();
                while let Some(member) = self.stack.pop() {
                    self.waiting.insert(member, false);
                    component.push(member);
                    if member == node {
                        break;
                    }
                }
                self.all.push(component);
            }
            if let Some(&(above, _)) = path.last() {
                self.lower(above, low);
            }
        }
    }
}

/// Whether an operation accesses no memory, and calls nothing.
pub(super) fn is_quiet(op: &Op) -> bool {
    matches!(
        op,
        Op::Address { .. }
            | Op::Bin { .. }
            | Op::Cast { .. }
            | Op::Cmp { .. }
            | Op::Copy { .. }
            | Op::Freeze { .. }
            | Op::Lifetime { start: false, .. }
            | Op::Select { .. }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(next: &[Vec<u32>]) -> Flow {
        let count = next.len();
        let mut flow = Flow {
            first: 0,
            places: vec![u32::MAX; count],
            heads: vec![false; count],
            cyclic: vec![false; count],
            live: Vec::new(),
            ends: Vec::new(),
            selectors: Vec::new(),
            trailing: Vec::new(),
            shrinking: Vec::new(),
            made: Vec::new(),
            users: Vec::new(),
        };
        flow.order(next);
        flow
    }

    #[test]
    fn what_leads_back_leads_to_a_head() {
        let graphs = [
            vec![vec![1], vec![2, 5], vec![3], vec![2, 4], vec![1], vec![]],
            vec![vec![1, 2], vec![2], vec![1, 3], vec![]],
            vec![vec![0, 1], vec![0]],
            vec![vec![3, 1], vec![2], vec![1, 4], vec![4], vec![0, 5], vec![]],
        ];
        for next in graphs {
            let flow = flow(&next);
            let mut places = flow.places.clone();
            places.sort_unstable();
            let all: Vec<u32> = (0..next.len() as u32).collect();
            assert_eq!(places, all);
            for (node, to) in next.iter().enumerate() {
                for &to in to {
                    let back = flow.places[to as usize] <= flow.places[node];
                    assert!(
                        !back || flow.heads[to as usize],
                        "{node} to {to} of {next:?}"
                    );
                }
            }
        }
    }
}
