//! The thresholds of widening: numbers that a program compares with, and the ends of types.

use std::collections::BTreeSet;
use std::sync::Arc;

use cegar_model::domain::contents::Contents;
use cegar_model::domain::state::State;
use cegar_model::program::ir::{
    BinOp, BlockId, FuncId, FunctionKind, Op, Operand, Program, Reg, Terminator,
};
use cegar_model::term::fault::ONE_ALLOCATION;

/// The ends of types, and the sizes of large blocks.
pub const ENDS: [i64; 15] = [
    i32::MIN as i64,
    i16::MIN as i64,
    i8::MIN as i64,
    -1,
    0,
    1,
    i8::MAX as i64,
    u8::MAX as i64,
    i16::MAX as i64,
    u16::MAX as i64,
    i32::MAX as i64,
    u32::MAX as i64,
    // The maximum sizes of blocks, for large elements and for bytes: larger requests are refused.
    1 << 40,
    1 << 48,
    ONE_ALLOCATION as i64,
];

/// A function's thresholds.
#[derive(Debug)]
pub struct Bounds {
    /// The numbers that it compares with, their neighbours, and the ends of types.
    pub all: Vec<i64>,
    /// The thresholds for the contents of objects: the ends of types, and the small numbers that it
    /// stores, selects, returns or masks with. An array that a loop fills with these changes after
    /// many iterations, when the bounds of its index are beyond all numbers that are compared with.
    pub stored: Vec<i64>,
}

/// The ends of types alone.
impl Default for Bounds {
    fn default() -> Bounds {
        Bounds {
            all: ENDS.to_vec(),
            stored: ENDS.to_vec(),
        }
    }
}

/// The maximum number of constants that contents of memory are compared with.
const COMPARED: usize = 24;

/// The constants that the user's functions compare loaded values with, smallest first, and the
/// numbers below them: a counter in memory may be compared in one function and incremented in a
/// loop of another one.
pub fn compared_in_memory(program: &Program) -> Vec<i64> {
    let functions = program.functions.iter();
    let own = functions.filter(|function| function.kind == FunctionKind::User);
    let mut all = BTreeSet::new();
    for block in own.flat_map(|function| function.blocks.clone().map(BlockId)) {
        let ops = &program.block(block).ops;
        let loads = ops.iter().filter_map(|inst| match inst.op {
            Op::Load { dst, .. } => Some(dst),
            _ => None,
        });
        let loaded: BTreeSet<Reg> = loads.collect();
        for inst in ops {
            if let Op::Cmp { a, b, width, .. } = &inst.op
                && let (Operand::Reg(reg), Operand::Const(number)) = (a, b)
                && *width <= 64
                && loaded.contains(reg)
            {
                let number = cegar_model::term::value::signed(*width, (*number).into()) as i64;
                all.extend((number > 1).then_some(number));
            }
        }
    }
    let few = all.into_iter().take(COMPARED);
    few.flat_map(|number| [number - 1, number]).collect()
}

/// The thresholds of a function; `compared` are additional thresholds for the contents of objects.
pub fn thresholds(program: &Program, id: FuncId, compared: &[i64]) -> Bounds {
    let (mut all, mut stored) = (Vec::new(), [&ENDS, compared].concat());
    for block in program.function(id).blocks.clone().map(BlockId) {
        let block = program.block(block);
        for inst in &block.ops {
            let (width, operands) = match &inst.op {
                Op::Cmp { a, b, width, .. } => (*width, [*a, *b]),
                Op::Alloca { size, .. } => (64, [*size, *size]),
                Op::Store { value, .. } => {
                    stored.extend(small(*value));
                    continue;
                }
                Op::Select { a, b, .. } => {
                    stored.extend([*a, *b].into_iter().filter_map(small));
                    continue;
                }
                Op::Bin { op, a, b, .. } => {
                    match op {
                        BinOp::And => stored.extend([*a, *b].into_iter().filter_map(small)),
                        BinOp::URem => stored.extend(small(*b).map(|size| size - 1)),
                        _ => {}
                    }
                    continue;
                }
                _ => continue,
            };
            for operand in operands {
                if let Operand::Const(number) = operand
                    && width <= 64
                {
                    let number = cegar_model::term::value::signed(width, number.into()) as i64;
                    all.extend([number.saturating_sub(1), number, number.saturating_add(1)]);
                }
            }
        }
        let moved = (block.end.edges().into_iter()).flat_map(|edge| &edge.moves);
        stored.extend(moved.filter_map(|(_, value)| small(*value)));
        if let Terminator::Return { values } = &block.end {
            stored.extend(values.iter().filter_map(|value| small(*value)));
        }
    }
    all.extend(ENDS);
    for numbers in [&mut all, &mut stored] {
        numbers.sort_unstable();
        numbers.dedup();
    }
    Bounds { all, stored }
}

/// A constant of at most 127, which is not negative at any width.
fn small(value: Operand) -> Option<i64> {
    match value {
        Operand::Const(number) => i8::try_from(number).ok().map(i64::from),
        _ => None,
    }
}

/// The maximum number of memory cells whose values are thresholds.
const CELLS: usize = 16;

/// Adds to the thresholds the numbers that registers hold in both states: an argument of a caller
/// is compared with like a constant. The same holds for the size of a block until it is enlarged,
/// and for a member of a structure that stays constant while others change: it may be the capacity
/// for elements.
pub fn with_constants(thresholds: &[i64], known: &State, new: &State) -> Vec<i64> {
    let single = |state: &State, reg: &Reg| {
        let num = *state.registers.get(reg)?.plain()?;
        num.as_constant().is_some().then_some(num.least)
    };
    let both = known.registers.keys().filter_map(|reg| {
        let number = single(known, reg)?;
        (single(new, reg) == Some(number)).then_some(number)
    });
    let sizes = known.objects.iter().filter_map(|(id, object)| {
        let size = object.size.as_constant()?;
        let same = new.objects.get(id)?.size.as_constant() == Some(size);
        i64::try_from(size).ok().filter(|_| same && size > 1)
    });
    let near = both
        .chain(sizes)
        .chain(kept_in_memory(known, new).take(CELLS))
        .flat_map(|n| [n.saturating_sub(1), n, n.saturating_add(1)]);
    let mut all: Vec<i64> = thresholds.iter().copied().chain(near).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Numbers above one in cells of both states, of objects whose contents changed.
fn kept_in_memory(known: &State, new: &State) -> impl Iterator<Item = i64> {
    let changed = known.objects.iter().filter_map(|(id, object)| {
        let there = new.objects.get(id)?;
        let is_same = Arc::ptr_eq(&object.contents, &there.contents);
        (!is_same).then_some((&object.contents, &there.contents))
    });
    let numbers = |contents: &Contents| -> BTreeSet<(u32, u32, i64)> {
        let cells = contents.cells().filter_map(|(at, len, value)| {
            let num = value.plain()?;
            (num.as_constant().is_some() && num.least > 1).then_some((at, len, num.least))
        });
        cells.collect()
    };
    let both = changed.map(move |(here, there)| &numbers(here) & &numbers(there));
    both.flatten().map(|(_, _, number)| number)
}
