//! Determines which blocks an execution must enter to try a check.
//!
//! "Proved" says more about a check that executions reach than about one that no execution reaches.
//! A read is tried when its block is entered. A failure (`abort`, what `assert` calls, a trap of
//! the compiler) is never entered if it is proved; it is tried where the code decides against it.
//! So blocks that lead only to a failure are followed backwards, through the callers of functions
//! that always fail, to the blocks that have another way out: these *decide* the check.

use std::collections::BTreeSet;

use cegar_model::program::{
    BlockId, Callee, Check, CheckId, CheckKind, FuncId, Op, Program, Terminator,
};

use crate::verdict::GoalStatus;

/// The control flow of the whole program, backwards.
pub struct Backwards {
    /// For each block, the blocks with an edge to it.
    edges: Vec<Vec<BlockId>>,
    /// For each function, the blocks that call it directly.
    callers: Vec<Vec<BlockId>>,
}

impl Backwards {
    /// Computes the backward edges of a program.
    pub fn of(program: &Program) -> Backwards {
        let mut edges = vec![Vec::new(); program.blocks.len()];
        let mut callers = vec![Vec::new(); program.functions.len()];
        for (number, block) in program.blocks.iter().enumerate() {
            let from = BlockId(number as u32);
            for edge in block.end.edges() {
                edges[edge.to.index()].push(from);
            }
            for callee in callees(program, from) {
                callers[callee.index()].push(from);
            }
        }
        Backwards { edges, callers }
    }

    /// The direct predecessors of a block: blocks with an edge to it and, for a function's first
    /// block, blocks that call the function.
    pub fn before(&self, program: &Program, block: BlockId) -> impl Iterator<Item = BlockId> {
        let function = program.block(block).function;
        let first = program.function(function).blocks.start == block.0;
        let callers: &[BlockId] = match first {
            true => &self.callers[function.index()],
            false => &[],
        };
        self.edges[block.index()].iter().chain(callers).copied()
    }
}

/// The functions with a body that a block calls directly.
pub fn callees(program: &Program, block: BlockId) -> impl Iterator<Item = FuncId> {
    let ops = program.block(block).ops.iter();
    ops.filter_map(|inst| match &inst.op {
        Op::Call(call) => match call.callee {
            Callee::Direct(id) => Some(id),
            Callee::Indirect(_) => None,
        },
        _ => None,
    })
    .filter(|id| program.function(*id).is_defined())
}

/// The blocks that decide each check.
pub struct Reach {
    deciding: Vec<Vec<BlockId>>,
}

impl Reach {
    /// Computes the deciding blocks of a program's checks.
    pub fn of(program: &Program) -> Reach {
        let backwards = Backwards::of(program);
        let failing = failing(program, &backwards);
        let checks = program.checks.iter().enumerate();
        let deciding = checks
            .map(
                |(number, check)| match is_failure(program, check, CheckId(number as u32)) {
                    true => decide(program, &backwards, &failing, check.loc.block),
                    false => vec![check.loc.block],
                },
            )
            .collect();
        Reach { deciding }
    }

    /// The blocks that decide a check: an execution that enters one of them tries the check.
    pub fn deciding(&self, check: CheckId) -> &[BlockId] {
        self.deciding.get(check.index()).map_or(&[], Vec::as_slice)
    }

    /// The status of a check that is proved.
    pub fn proved(
        &self,
        check: usize,
        covered: &[bool],
        is_dead: impl Fn(usize) -> bool,
    ) -> GoalStatus {
        let deciding = self.deciding(CheckId(check as u32));
        if deciding.iter().any(|block| covered[block.index()]) {
            GoalStatus::Proved {
                reached: true,
                given: Vec::new(),
            }
        } else if deciding.iter().all(|block| is_dead(block.index())) {
            GoalStatus::Unreachable
        } else {
            GoalStatus::Proved {
                reached: false,
                given: Vec::new(),
            }
        }
    }
}

/// Whether reaching this check means violating it: the C code has already detected an error there,
/// as in `assert` and the compiler's traps.
fn is_failure(program: &Program, check: &Check, id: CheckId) -> bool {
    if let CheckKind::Read | CheckKind::Write | CheckKind::Free | CheckKind::Call = check.kind {
        return false;
    }
    let block = program.block(check.loc.block);
    let trap = matches!(block.end, Terminator::Unreachable { check: Some(end) } if end == id);
    let call = block.ops.iter().any(|inst| match &inst.op {
        Op::Call(call) => call.check == Some(id) && matches!(call.callee, Callee::Direct(_)),
        _ => false,
    });
    trap || call
}

/// The blocks from which every path leads to a failure.
fn failing(program: &Program, backwards: &Backwards) -> Vec<bool> {
    let mut failing = vec![false; program.blocks.len()];
    let mut work: Vec<BlockId> = Vec::new();
    for (number, check) in program.checks.iter().enumerate() {
        if is_failure(program, check, CheckId(number as u32)) {
            work.push(check.loc.block);
        }
    }
    while let Some(block) = work.pop() {
        if std::mem::replace(&mut failing[block.index()], true) {
            continue;
        }
        let function = program.function(program.block(block).function);
        if function.blocks.start == block.0 {
            let callers = &backwards.callers[program.block(block).function.index()];
            work.extend(callers.iter().copied());
        }
        for &before in &backwards.edges[block.index()] {
            let edges = program.block(before).end.edges();
            if edges.iter().all(|edge| failing[edge.to.index()]) {
                work.push(before);
            }
        }
    }
    failing
}

fn decide(
    program: &Program,
    backwards: &Backwards,
    failing: &[bool],
    block: BlockId,
) -> Vec<BlockId> {
    let mut seen = BTreeSet::from([block]);
    let mut work = vec![block];
    let mut deciding = Vec::new();
    while let Some(at) = work.pop() {
        for before in backwards.before(program, at) {
            if !seen.insert(before) {
                continue;
            }
            match failing[before.index()] {
                true => work.push(before),
                false => deciding.push(before),
            }
        }
    }
    // No block decides about code that is called through a pointer, or with which the program
    // begins.
    if deciding.is_empty() {
        deciding.push(block);
    }
    deciding
}
