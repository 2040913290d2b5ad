//! Merges registers that are computed in the same way and therefore hold the same value.
//!
//! C code computes an address twice, once to compare it and once to use it (`if (op + length > end)
//! ...; op += length;`), and an unoptimised module has two registers then. A fact about one
//! register does not apply to the other until an analysis finds out that they are equal. LLVM's own
//! passes for this also remove loads, which carry checks, and fold branches, which are goals.
//!
//! This is global value numbering over the dominator tree (Briggs, Cooper and Simpson, *Value
//! numbering*, 1997), where sums are compared as linear forms modulo two to the width. In static
//! single assignment form, a register that dominates another one and is computed from the same
//! operands holds the same value wherever the other one may be read. Operations stay where they
//! are, so that their locations do not change; the later register is merely not read any more.

use petgraph::algo::dominators::simple_fast;
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::program::ir::{BinOp, Block, CastKind, Function, Op, Operand, Program, Reg, Width};
use crate::term::value::mask;

/// The largest number of registers in a form.
const TERMS: usize = 6;

/// A sum of multiples of registers and a constant, modulo two to the width.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Form {
    /// In ascending order of registers; no factor is zero.
    terms: SmallVec<[(Reg, u64); 3]>,
    constant: u64,
}

/// A computation; operations with equal keys compute the same value.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Sum(Width, Form),
    /// A sum, and indices with the sizes of their elements.
    Indexed(Form, Vec<(Form, i64)>),
    Bits(BinOp, Width, Form, Form),
    Cast(CastKind, Width, Width, Form),
}

/// The value numbering of one function.
struct Numbering<'p> {
    widths: &'p [Width],
    /// For each register, the one that is read instead.
    leaders: Vec<Reg>,
    forms: FxHashMap<Reg, Form>,
    /// For each value, the blocks and the registers in which it was computed.
    known: FxHashMap<Key, Vec<(u32, Reg)>>,
}

/// Makes all operands of a function refer to the first register that holds their value.
pub(super) fn number(program: &mut Program, function: usize) {
    let Function {
        blocks, registers, ..
    } = &program.functions[function];
    let range = blocks.start as usize..blocks.end as usize;
    let tree = Dominators::of(&program.blocks[range.clone()], range.start as u32);
    let mut numbering = Numbering {
        widths: registers,
        leaders: (0..registers.len() as u32).map(Reg).collect(),
        forms: FxHashMap::default(),
        known: FxHashMap::default(),
    };
    for &block in &tree.order {
        for inst in &program.blocks[range.start + block as usize].ops {
            numbering.operation(&tree, block, &inst.op);
        }
    }
    let leaders = numbering.leaders;
    let mut lead = |operand: &mut Operand| {
        if let Operand::Reg(reg) = operand {
            *reg = leaders.get(reg.index()).copied().unwrap_or(*reg);
        }
    };
    for block in &mut program.blocks[range] {
        block
            .ops
            .iter_mut()
            .for_each(|inst| inst.op.reads_mut(&mut lead));
        block.end.reads_mut(&mut lead);
    }
    let names = &mut program.functions[function].names;
    for (reg, leader) in leaders.iter().enumerate() {
        if names[leader.index()].is_empty() && !names[reg].is_empty() {
            names[leader.index()] = names[reg].clone();
        }
    }
}

impl Numbering<'_> {
    /// An operand of a width as a form. `None` unless it is a register of that width or a plain
    /// constant, of at most 64 bits.
    fn form(&self, operand: Operand, width: Width) -> Option<Form> {
        match operand {
            Operand::Const(constant) if width <= 64 => Some(Form {
                constant: constant & mask(width) as u64,
                ..Form::default()
            }),
            Operand::Reg(reg) if self.widths.get(reg.index()) == Some(&width) && width <= 64 => {
                let leader = self.leaders[reg.index()];
                Some(
                    self.forms
                        .get(&leader)
                        .cloned()
                        .unwrap_or_else(|| Form::of(leader)),
                )
            }
            _ => None,
        }
    }

    fn operation(&mut self, tree: &Dominators, block: u32, op: &Op) {
        let Some((dst, key)) = self.key(op) else {
            return;
        };
        if let Key::Sum(width, form) = &key {
            if let ([(reg, 1)], 0) = (&form.terms[..], form.constant)
                && self.widths.get(reg.index()) == Some(width)
            {
                self.leaders[dst.index()] = *reg;
                return;
            }
            self.forms.insert(dst, form.clone());
        }
        let is_cast = matches!(key, Key::Cast(..));
        let known = self.known.entry(key).or_default();
        match known.iter().find(|(at, _)| tree.dominates(*at, block)) {
            // A repeated cast keeps its own register, because readers know the variable that is
            // converted again and facts should be about it. Only forms equate it with the leader.
            Some((_, leader)) if is_cast => {
                self.forms.insert(dst, Form::of(*leader));
            }
            Some((_, leader)) => self.leaders[dst.index()] = *leader,
            None => known.push((block, dst)),
        }
    }

    /// The register that an operation sets and the key of its value. `None` if the value does not
    /// depend on the operands alone.
    fn key(&self, op: &Op) -> Option<(Reg, Key)> {
        Some(match op {
            Op::Bin {
                dst,
                op,
                width,
                a,
                b,
                ..
            } => (*dst, self.bin((*op, *width), *a, *b)?),
            Op::Overflow {
                value,
                op,
                width,
                a,
                b,
                ..
            } => (*value, self.bin((*op, *width), *a, *b)?),
            Op::Copy { dst, a } => {
                let width = *self.widths.get(dst.index())?;
                (*dst, Key::Sum(width, self.form(*a, width)?))
            }
            Op::Address {
                dst,
                base,
                offset,
                indices,
                ..
            } => {
                let mut sum = self.form(*base, 64)?;
                sum.constant = sum.constant.wrapping_add(*offset as u64);
                let mut scaled = Vec::new();
                for (index, width, scale) in indices {
                    // The sign extension of a narrower index is not a linear form, unless the index
                    // is constant.
                    let index = self
                        .form(*index, *width)
                        .filter(|index| *width == 64 || index.terms.is_empty())?;
                    let index = index.extended(*width);
                    // An index that is too large to be multiplied is a fault of this operation
                    // alone, so the result is not that of other arithmetic.
                    match scale.unsigned_abs() > 1 && !index.terms.is_empty() {
                        true => scaled.push((index, *scale)),
                        false => sum = sum.plus(&index, *scale as u64, 64)?,
                    }
                }
                match scaled.is_empty() {
                    true => (*dst, Key::Sum(64, sum)),
                    false => (*dst, Key::Indexed(sum, scaled)),
                }
            }
            Op::Cast {
                dst,
                kind,
                from,
                to,
                a,
            } if *to <= 64 => (*dst, Key::Cast(*kind, *from, *to, self.form(*a, *from)?)),
            _ => return None,
        })
    }

    fn bin(&self, (op, width): (BinOp, Width), a: Operand, b: Operand) -> Option<Key> {
        let (x, y) = (self.form(a, width)?, self.form(b, width)?);
        let all = mask(width) as u64;
        let sum = match op {
            BinOp::Add => x.plus(&y, 1, width),
            BinOp::Sub => x.plus(&y, all, width),
            BinOp::Mul if y.terms.is_empty() => Form::default().plus(&x, y.constant, width),
            BinOp::Mul if x.terms.is_empty() => Form::default().plus(&y, x.constant, width),
            BinOp::Shl if y.terms.is_empty() && y.constant < u64::from(width) => {
                Form::default().plus(&x, 1 << y.constant, width)
            }
            // An oversized shift yields an arbitrary value, which may be another one each time.
            BinOp::Shl | BinOp::LShr | BinOp::AShr
                if !y.terms.is_empty() || y.constant >= u64::from(width) =>
            {
                return None;
            }
            _ => return Some(Key::Bits(op, width, x, y)),
        };
        sum.map(|sum| Key::Sum(width, sum))
    }
}

impl Form {
    fn of(reg: Reg) -> Form {
        Form {
            terms: SmallVec::from_slice(&[(reg, 1)]),
            constant: 0,
        }
    }

    /// This form plus a multiple of another one; `None` if that has too many terms.
    fn plus(&self, other: &Form, by: u64, width: Width) -> Option<Form> {
        let all = mask(width) as u64;
        let mut sum = self.clone();
        sum.constant = sum.constant.wrapping_add(other.constant.wrapping_mul(by)) & all;
        for &(reg, factor) in &other.terms {
            let factor = factor.wrapping_mul(by) & all;
            match sum.terms.binary_search_by_key(&reg, |(reg, _)| *reg) {
                Ok(at) => sum.terms[at].1 = sum.terms[at].1.wrapping_add(factor) & all,
                Err(at) => sum.terms.insert(at, (reg, factor)),
            }
        }
        sum.terms.retain(|(_, factor)| *factor != 0);
        (sum.terms.len() <= TERMS).then_some(sum)
    }

    /// Sign-extends a constant of `width` bits to 64. Leaves other forms unchanged.
    fn extended(mut self, width: Width) -> Form {
        if self.terms.is_empty() {
            self.constant = crate::term::value::signed(width, self.constant.into()) as u64;
        }
        self
    }
}

/// The dominator tree of a function's blocks. Blocks are numbered from the first one of the
/// function.
struct Dominators {
    /// The reachable blocks in preorder: each one after its immediate dominator.
    order: Vec<u32>,
    /// For each block, the first and the last place in `order` of the blocks that it dominates.
    spans: Vec<(u32, u32)>,
}

impl Dominators {
    fn of(blocks: &[Block], first: u32) -> Dominators {
        let mut graph = DiGraph::<(), ()>::new();
        let nodes: Vec<NodeIndex> = blocks.iter().map(|_| graph.add_node(())).collect();
        for (block, &from) in blocks.iter().zip(&nodes) {
            for edge in block.end.edges() {
                graph.add_edge(from, nodes[(edge.to.0 - first) as usize], ());
            }
        }
        let mut tree = Dominators {
            order: Vec::new(),
            // An unreachable block dominates nothing.
            spans: vec![(1, 0); blocks.len()],
        };
        let Some(&entry) = nodes.first() else {
            return tree;
        };
        let dominators = simple_fast(&graph, entry);
        let mut below: Vec<Vec<NodeIndex>> = vec![Vec::new(); blocks.len()];
        for &node in &nodes {
            if let Some(above) = dominators.immediate_dominator(node) {
                below[above.index()].push(node);
            }
        }
        let mut open = vec![(entry, false)];
        while let Some((node, is_done)) = open.pop() {
            let at = tree.order.len() as u32;
            let span = &mut tree.spans[node.index()];
            if is_done {
                span.1 = at - 1;
                continue;
            }
            span.0 = at;
            tree.order.push(node.index() as u32);
            open.push((node, true));
            open.extend(below[node.index()].iter().map(|&node| (node, false)));
        }
        tree
    }

    fn dominates(&self, above: u32, below: u32) -> bool {
        let (start, end) = self.spans[above as usize];
        (start..=end).contains(&self.spans[below as usize].0)
    }
}
