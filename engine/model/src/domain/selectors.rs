//! Selectors: registers that tell how a block was reached, and are tested soon afterwards.
//!
//! An exit from a nested scope becomes a number in C's intermediate code: each exit sets it, all
//! exits are joined where the lifetimes of the scope's variables end, and a switch separates them
//! again. The same holds for `a && b`, and for an inlined function that returns -1 for an error. By
//! the time of the switch, a joined state has lost what was known on each path. So where a register
//! gets constants along the edges into a block, and is tested in that block or in blocks after it
//! without calls, states are kept apart by its value (trace partitioning by the value of a
//! variable: Mauborgne and Rival, 2005).
//!
//! A pointer that trails behind another one is NULL until the other has taken a step, and the code
//! tests that: `if (before) before->next = next; else head = next;`. The two cases have nothing in
//! common but the loop, so they are kept apart throughout it ([`Walk::trailing`]).

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::program::ir::{Block, BlockId, Op, Operand, Program, Reg, Terminator};

/// The most blocks, from a join on, in which states are still kept apart.
const NEAR: usize = 12;
/// The most selectors of one block.
const MOST: usize = 3;
/// The initial value of a pointer that trails behind another one.
const NULL: Operand = Operand::Const(0);
/// The most registers of a block that are NULL first.
const TRAILING: usize = 2;

/// The registers by which the states that arrive at a block are kept apart.
pub(super) type Selectors = SmallVec<[Reg; MOST]>;

/// The selectors of each block from `first` on.
pub(super) fn selectors(
    program: &Program,
    (first, count): (u32, usize),
    is_head: impl Fn(BlockId) -> bool,
    is_live: impl Fn(BlockId, Reg) -> bool,
) -> Vec<Selectors> {
    let mut found = vec![Selectors::new(); count];
    let mut joins: Vec<Vec<(Reg, SmallVec<[Operand; 4]>)>> = vec![Vec::new(); count];
    for block in (first..).take(count).map(BlockId) {
        for edge in program.block(block).end.edges() {
            let into = &mut joins[(edge.to.0 - first) as usize];
            for &(reg, from) in &edge.moves {
                match into.iter_mut().find(|(known, _)| *known == reg) {
                    Some((_, all)) if !all.contains(&from) => all.push(from),
                    Some(_) => {}
                    None => into.push((reg, SmallVec::from_slice(&[from]))),
                }
            }
        }
    }
    let joins = (first..).map(BlockId).zip(joins);
    for (block, joins) in joins.filter(|(block, _)| !is_head(*block)) {
        let selects = |all: &[Operand]| {
            all.len() > 1 && all.iter().any(|from| matches!(from, Operand::Const(_)))
        };
        for (reg, _) in joins.iter().filter(|(_, all)| selects(all)) {
            for near in asked_in(program, block, *reg, (&is_head, &is_live)) {
                let marks = &mut found[(near.0 - first) as usize];
                if marks.len() < MOST {
                    marks.push(*reg);
                }
            }
        }
    }
    found
}

/// The blocks from a join on in which a register is live, if one of them tests it; no blocks
/// otherwise.
fn asked_in(
    program: &Program,
    join: BlockId,
    reg: Reg,
    (is_head, is_live): (&impl Fn(BlockId) -> bool, &impl Fn(BlockId, Reg) -> bool),
) -> Vec<BlockId> {
    let mut near = vec![join];
    let mut is_asked = false;
    let mut at = 0;
    while let Some(&block) = near.get(at) {
        at += 1;
        let block = program.block(block);
        is_asked |= tests(block, reg);
        for edge in block.end.edges() {
            let to = edge.to;
            if near.len() < NEAR
                && !near.contains(&to)
                && !is_head(to)
                && is_live(to, reg)
                && !program
                    .block(to)
                    .ops
                    .iter()
                    .any(|inst| matches!(inst.op, Op::Call(_)))
            {
                near.push(to);
            }
        }
    }
    if is_asked { near } else { Vec::new() }
}

/// A function, with what is known of its blocks and registers.
pub(super) struct Walk<'a> {
    pub program: &'a Program,
    /// The first block, and the number of blocks.
    pub blocks: (u32, usize),
    /// The operation that sets a register.
    pub made: &'a dyn Fn(Reg) -> Option<&'a Op>,
    /// Whether a block is a loop head.
    pub is_head: &'a dyn Fn(BlockId) -> bool,
    /// Whether a block is part of a loop.
    pub is_cyclic: &'a dyn Fn(BlockId) -> bool,
    /// Whether a register is live at the entry of a block.
    pub is_live: &'a dyn Fn(BlockId, Reg) -> bool,
}

impl Walk<'_> {
    /// The function's blocks.
    pub(super) fn blocks(&self) -> impl Iterator<Item = BlockId> + use<> {
        let (first, count) = self.blocks;
        (first..).take(count).map(BlockId)
    }

    /// By block: the live registers that are NULL when a loop begins, later get the value of
    /// another register, and are compared with NULL.
    pub fn trailing(&self) -> Vec<Selectors> {
        let mut moved: FxHashMap<Reg, Vec<Operand>> = FxHashMap::default();
        let mut begins: Vec<Reg> = Vec::new();
        for block in self.blocks() {
            for edge in self.program.block(block).end.edges() {
                for &(reg, from) in &edge.moves {
                    moved.entry(reg).or_default().push(from);
                    let is_begun = from == NULL && (self.is_head)(edge.to);
                    begins.extend(is_begun.then_some(reg));
                }
            }
        }
        if begins.is_empty() {
            return vec![Selectors::new(); self.blocks.1];
        }
        let compared = self.compared();
        begins.retain(|reg| compared.contains(reg));
        let groups = begins.into_iter().map(|reg| group(reg, &moved));
        let all: Vec<Reg> = groups
            .filter(|group| group.iter().all(|reg| self.is_pointer(&moved[reg])))
            .flatten()
            .collect();
        let at = |block: BlockId| {
            let live = all.iter().copied();
            let mut live: Selectors = live.filter(|reg| (self.is_live)(block, *reg)).collect();
            live.sort_unstable();
            live.dedup();
            live.truncate(TRAILING);
            live
        };
        self.blocks()
            .map(|block| match (self.is_cyclic)(block) {
                true => at(block),
                false => Selectors::new(),
            })
            .collect()
    }

    /// Whether a register with these sources does not count.
    fn is_pointer(&self, sources: &[Operand]) -> bool {
        sources.iter().all(|from| match from {
            Operand::Reg(from) => !self.is_computed(*from),
            from => *from == NULL,
        })
    }

    /// Whether a register holds the result of arithmetic or of a conversion.
    fn is_computed(&self, reg: Reg) -> bool {
        let made = (self.made)(reg);
        made.is_some_and(|op| matches!(op, Op::Bin { .. } | Op::Cast { .. }))
    }

    /// The registers that are compared with NULL.
    fn compared(&self) -> FxHashSet<Reg> {
        let mut all = FxHashSet::default();
        let ops = self
            .blocks()
            .flat_map(|block| &self.program.block(block).ops);
        for inst in ops {
            if let Op::Cmp { a, b, .. } = &inst.op
                && let (Operand::Reg(reg), other) | (other, Operand::Reg(reg)) = (a, b)
                && *other == NULL
            {
                all.insert(*reg);
            }
        }
        all
    }
}

/// A register that edges set, and all registers set by edges that its values come from.
fn group(reg: Reg, moved: &FxHashMap<Reg, Vec<Operand>>) -> Vec<Reg> {
    let mut group = vec![reg];
    let mut at = 0;
    while let Some(reg) = group.get(at) {
        at += 1;
        for from in &moved[reg] {
            if let Operand::Reg(from) = from
                && moved.contains_key(from)
                && !group.contains(from)
            {
                group.push(*from);
            }
        }
    }
    group
}

/// Whether a block's terminator depends on a register, or on its comparison with a constant.
fn tests(block: &Block, reg: Reg) -> bool {
    let (Terminator::Branch { cond: asked, .. } | Terminator::Switch { value: asked, .. }) =
        &block.end
    else {
        return false;
    };
    let is = |operand: &Operand| *operand == Operand::Reg(reg);
    is(asked)
        || block.ops.iter().any(|inst| match &inst.op {
            Op::Cmp { dst, a, b, .. } => {
                *asked == Operand::Reg(*dst)
                    && (is(a) && matches!(b, Operand::Const(_))
                        || is(b) && matches!(a, Operand::Const(_)))
            }
            _ => false,
        })
}
