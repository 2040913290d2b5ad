//! What a state becomes on the way through a function.
//!
//! Blocks are walked in an order in which all that leads forward comes before what it leads to, so that each block is walked once from the join of
//! what arrives there. Where edges lead back, and at functions that are shared by all their calls, the [`Guide`] says from which state
//! to go on.

mod assume;
mod calls;
mod compare;
mod copies;
mod granted;
mod heap;
mod intrinsics;
mod memory;
mod narrow;
mod ops;
mod relate;
mod renamed;
mod variadic;

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::context::Contexts;
use super::flow::Flow;
use super::found::Found;
use super::num::Num;
use super::space::{CtxId, Info, Kind, Made, Names};
use super::state::{State, Widths};
use super::value::Value;
use crate::deadline;
use crate::program::ir::{
    BlockId, Callee, CastKind, CheckId, Edge, FuncId, FunctionKind, HeapFn, Intrinsic, Loc, Op,
    Operand, Pos, Pred, Program, Reg, Terminator, Width,
};
use crate::program::outside::COPY;
use crate::program::outside::points::Points;

/// Why a walk ends before its end.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Stop {
    /// The deadline passed.
    #[error("the time was up")]
    Late,
    /// More blocks than anybody has the patience for.
    #[error("there are too many ways through the program's calls")]
    Large,
    /// A function that calls itself has to be shared.
    #[error("`{0}` calls itself and is not said to be shared")]
    Recursion(String),
    /// The guide does not accept a state.
    #[error("{0}")]
    Refused(String),
}

/// What a guide has to know of states.
#[derive(Clone, Copy)]
pub struct Measure<'a, 'p> {
    /// The objects' names.
    pub names: &'a Names<'p>,
    /// The widths of the registers.
    pub widths: &'a Widths,
}

/// Who says from which states a walk goes on.
pub trait Guide {
    /// A state arrives where edges lead back. Whether the walk has to go on from there once more.
    fn arrive(
        &mut self,
        place: (CtxId, BlockId),
        state: State,
        by: Measure<'_, '_>,
    ) -> Result<bool, Stop>;
    /// The state from which the walk goes on there.
    fn start(&mut self, place: (CtxId, BlockId)) -> Option<State>;
    /// A shared function is called. Whether it has to be walked now.
    fn enter(&mut self, function: FuncId, state: State, by: Measure<'_, '_>) -> Result<bool, Stop>;
    /// The state from which it is walked.
    fn entry(&mut self, function: FuncId) -> Option<State>;
    /// A walk of a shared function has come to its end, or never does. Whether it has to be walked again.
    fn leave(
        &mut self,
        function: FuncId,
        state: Option<State>,
        by: Measure<'_, '_>,
    ) -> Result<bool, Stop>;
    /// What a shared function comes back with; registers are its results.
    fn exit(&mut self, function: FuncId) -> Option<State>;
    /// A block is entered with a state: for whoever compares.
    fn enters(&mut self, _place: (CtxId, BlockId), _state: &State) {}
}

/// A call in progress.
pub(super) struct Frame {
    ctx: CtxId,
    function: FuncId,
    flow: Arc<Flow>,
    variadic: Option<Arc<variadic::Variadic>>,
    /// Whether there may be several at a time.
    recursive: bool,
}

/// See the [module](self).
pub struct Walker<'p, G> {
    program: &'p Program,
    points: Arc<Points>,
    /// The objects' names.
    pub names: Names<'p>,
    /// The contexts.
    pub contexts: Contexts,
    /// Who says how to go on.
    pub guide: G,
    /// What was come by.
    pub found: Found,
    flows: FxHashMap<FuncId, Arc<Flow>>,
    recursive: FxHashMap<FuncId, bool>,
    walking: FxHashSet<FuncId>,
    at: Loc,
    pos: Pos,
    blocks: u64,
    /// Blocks that may be walked.
    pub patience: u64,
    /// Whether what values say of each other is followed ([`super::linear`]). Where it is not, a walk takes a part of the time.
    pub relations: bool,
}

/// Blocks that are to be walked.
#[derive(Default)]
struct Pending {
    /// By place, with what arrived.
    blocks: BTreeMap<u32, (BlockId, State)>,
    /// Heads at which something arrived, and whether they were walked.
    heads: FxHashMap<BlockId, bool>,
}

type Step<T = bool> = Result<T, Stop>;

impl<'p, G: Guide> Walker<'p, G> {
    /// Through a program, with these functions shared.
    pub fn new(
        program: &'p Program,
        points: Arc<Points>,
        shared: FxHashSet<FuncId>,
        guide: G,
    ) -> Walker<'p, G> {
        Walker {
            program,
            points,
            names: Names::new(program),
            contexts: Contexts::new(shared),
            guide,
            found: Found::default(),
            flows: FxHashMap::default(),
            recursive: FxHashMap::default(),
            walking: FxHashSet::default(),
            at: Loc {
                block: BlockId(0),
                inst: 0,
            },
            pos: Pos::default(),
            blocks: 0,
            patience: u64::MAX,
            relations: true,
        }
    }

    /// Walks the program from its entry.
    pub fn program(&mut self) -> Step<()> {
        let program = self.program;
        let entry = program.entry;
        let Some(function) = program
            .functions
            .get(entry.index())
            .filter(|f| f.is_defined())
        else {
            return Ok(());
        };
        self.at = Loc {
            block: BlockId(function.blocks.start),
            inst: 0,
        };
        if program.lists_environment() && program.lifted.contains("environment") {
            self.hole("a list of environment variables that is not empty");
            return Ok(());
        }
        if self.contexts.shared.contains(&entry) {
            self.shared(entry, State::default())?;
            return Ok(());
        }
        let ctx = self.contexts.root(entry);
        let frame = self.frame(ctx, entry, None);
        self.body(&frame, State::default())?;
        Ok(())
    }

    /// Walks a shared function from where the guide says; what it comes back with goes to the guide.
    pub fn function(&mut self, function: FuncId) -> Step<()> {
        let program = self.program;
        let widths = &program.function(function).result;
        loop {
            let Some(entry) = self.guide.entry(function) else {
                return Ok(());
            };
            let ctx = self.contexts.root(function);
            let frame = self.frame(ctx, function, None);
            let exit = self.body(&frame, entry)?;
            let by = Measure {
                names: &self.names,
                widths,
            };
            if !self.guide.leave(function, exit, by)? {
                return Ok(());
            }
        }
    }

    /// Calls a shared function: what it comes back with.
    fn shared(&mut self, function: FuncId, entry: State) -> Step<Option<State>> {
        let program = self.program;
        let by = Measure {
            names: &self.names,
            widths: &program.function(function).registers,
        };
        let walks = self.guide.enter(function, entry, by)?;
        if walks && self.walking.insert(function) {
            let (at, pos) = (self.at, self.pos);
            let walked = self.function(function);
            self.walking.remove(&function);
            walked?;
            (self.at, self.pos) = (at, pos);
        }
        Ok(self.guide.exit(function))
    }

    fn frame(
        &mut self,
        ctx: CtxId,
        function: FuncId,
        variadic: Option<Arc<variadic::Variadic>>,
    ) -> Frame {
        let flow = self.flow(function);
        Frame {
            ctx,
            function,
            flow,
            variadic,
            recursive: self.is_recursive(function),
        }
    }

    fn flow(&mut self, function: FuncId) -> Arc<Flow> {
        let program = self.program;
        let flow = self.flows.entry(function);
        Arc::clone(flow.or_insert_with(|| Arc::new(Flow::of(program, function))))
    }

    /// What is known once and for all of an object that an operation makes.
    pub fn info(&mut self, made: Made) -> Info {
        let function = self.contexts.function(made.ctx);
        let block = BlockId(made.block);
        let flow = self.flow(function);
        let cyclic = made.op != COPY && flow.is_cyclic(block);
        let op = self.program.block(block).ops.get(made.op as usize);
        match op.map(|inst| &inst.op).filter(|_| made.op != COPY) {
            Some(Op::Call(call)) => Info {
                heap: true,
                single: !cyclic && self.is_once(made.ctx),
                guessed: match call.callee {
                    Callee::Direct(id) => {
                        let row = FunctionKind::Intrinsic(Intrinsic::Heap(HeapFn::Row));
                        self.program.function(id).kind == row
                    }
                    Callee::Indirect(_) => false,
                },
            },
            _ => Info {
                heap: false,
                single: !cyclic && !self.is_recursive(function),
                guessed: false,
            },
        }
    }

    /// Whether a context is entered once at most.
    fn is_once(&mut self, ctx: CtxId) -> bool {
        let mut at = ctx;
        while let Some((caller, block, _)) = self.contexts.back(at) {
            let flow = self.flow(self.contexts.function(caller));
            if flow.is_cyclic(block) {
                return false;
            }
            at = caller;
        }
        let root = self.contexts.function(at);
        root == self.program.entry && !self.contexts.shared.contains(&root)
    }

    /// Whether a function may be called while it is being called.
    fn is_recursive(&mut self, function: FuncId) -> bool {
        if let Some(&known) = self.recursive.get(&function) {
            return known;
        }
        let mut seen = FxHashSet::default();
        let mut open: Vec<FuncId> = self.points.called(function).to_vec();
        while let Some(next) = open.pop() {
            if seen.insert(next) {
                open.extend(self.points.called(next));
            }
        }
        let result = seen.contains(&function);
        self.recursive.insert(function, result);
        result
    }

    fn widths(&self, frame: &Frame) -> &'p [Width] {
        let program: &'p Program = self.program;
        &program.function(frame.function).registers
    }

    /// Walks a function's blocks; what it comes back with, and its results as registers.
    fn body(&mut self, frame: &Frame, entry: State) -> Step<Option<State>> {
        let mut pending = Pending::default();
        let mut exit: Option<State> = None;
        let first = BlockId(self.program.function(frame.function).blocks.start);
        self.arrive(frame, None, first, entry, &mut pending)?;
        while let Some((_, (block, state))) = pending.blocks.pop_first() {
            self.blocks += 1;
            if self.blocks > self.patience {
                return Err(Stop::Large);
            }
            if deadline::passed() {
                return Err(Stop::Late);
            }
            if let Some(known) = pending.heads.get_mut(&block) {
                *known = true;
            }
            let state = match frame.flow.is_head(block) {
                true => self.guide.start((frame.ctx, block)),
                false => Some(state),
            };
            let Some(state) = state else { continue };
            self.guide.enters((frame.ctx, block), &state);
            self.found.entered.insert(block);
            self.block(frame, block, state, &mut pending, &mut exit)?;
        }
        if let Some(exit) = &mut exit {
            self.end(frame, exit);
        }
        Ok(exit)
    }

    /// The objects of a call are gone when it is over.
    fn end(&mut self, frame: &Frame, exit: &mut State) {
        let names = &self.names;
        let own: Vec<_> = exit
            .objects
            .keys()
            .copied()
            .filter(|id| match names.kind(*id) {
                Kind::Made(made) => made.ctx == frame.ctx && !names.info(*id).heap,
                Kind::Global(_) | Kind::Function(_) | Kind::Gone => false,
            })
            .collect();
        if own.is_empty() {
            return;
        }
        if !frame.recursive {
            exit.remove(&own);
            return;
        }
        for id in own {
            exit.change(id, names, |object| {
                object.alive = super::space::Alive::Maybe
            });
        }
    }

    fn arrive(
        &mut self,
        frame: &Frame,
        from: Option<BlockId>,
        to: BlockId,
        mut state: State,
        pending: &mut Pending,
    ) -> Step<()> {
        let flow = &frame.flow;
        state.keep(&self.names, |reg| flow.is_live(to, reg));
        state.ordered.clear();
        let place = flow.place(to);
        let back = from.is_some_and(|from| flow.place(from) >= place);
        let widths = self.widths(frame);
        if flow.is_head(to) {
            let by = Measure {
                names: &self.names,
                widths,
            };
            let again = self.guide.arrive((frame.ctx, to), state, by)?;
            // A loop may be entered elsewhere, so that only its own edges lead to its head.
            let walked = *pending.heads.entry(to).or_default();
            if again || !back || !walked {
                pending.blocks.insert(place, (to, State::default()));
            }
            return Ok(());
        }
        let joined = match pending.blocks.remove(&place) {
            Some((_, before)) => before.join(&state, &self.names, widths),
            None => state,
        };
        pending.blocks.insert(place, (to, joined));
        Ok(())
    }

    fn block(
        &mut self,
        frame: &Frame,
        id: BlockId,
        mut state: State,
        pending: &mut Pending,
        exit: &mut Option<State>,
    ) -> Step<()> {
        let block = self.program.block(id);
        for (op, inst) in block.ops.iter().enumerate() {
            self.at = Loc {
                block: id,
                inst: inst.at,
            };
            self.pos = inst.pos;
            if !self.operation(frame, &mut state, op as u32, &inst.op)? {
                return Ok(());
            }
        }
        self.at = Loc {
            block: id,
            inst: block.end_at,
        };
        self.pos = block.end_pos;
        match &block.end {
            Terminator::Jump(edge) => self.follow(frame, id, edge, state, pending)?,
            Terminator::Branch {
                cond,
                then,
                otherwise,
            } => {
                let mut other = state.clone();
                if self.assume(frame, &mut state, *cond, true) {
                    self.follow(frame, id, then, state, pending)?;
                }
                if self.assume(frame, &mut other, *cond, false) {
                    self.follow(frame, id, otherwise, other, pending)?;
                }
            }
            Terminator::Switch {
                value,
                width,
                cases,
                default,
            } => {
                for (case, edge) in cases {
                    let mut taken = state.clone();
                    let case = self.names.constant(*width, *case);
                    if self.compare(frame, &mut taken, (Pred::Eq, *width), *value, &case) {
                        self.follow(frame, id, edge, taken, pending)?;
                    }
                    if !self.compare(frame, &mut state, (Pred::Ne, *width), *value, &case) {
                        return Ok(());
                    }
                }
                self.follow(frame, id, default, state, pending)?;
            }
            Terminator::IndirectBranch { address, targets } => {
                for (target, edge) in targets {
                    let mut taken = state.clone();
                    let target = self.names.constant(64, (*target).into());
                    if self.compare(frame, &mut taken, (Pred::Eq, 64), *address, &target) {
                        self.follow(frame, id, edge, taken, pending)?;
                    }
                    if !self.compare(frame, &mut state, (Pred::Ne, 64), *address, &target) {
                        return Ok(());
                    }
                }
                self.hole("a computed jump to an unknown place");
            }
            Terminator::Return { values } => {
                let widths = &self.program.function(frame.function).result;
                let lines = self.returned(frame, &state, (values, widths));
                let values: Vec<Value> = values
                    .iter()
                    .zip(widths)
                    .map(|(value, width)| self.get(frame, &state, *value, *width))
                    .collect();
                let registers = (0u32..).map(Reg).zip(values).collect();
                let returned = State {
                    registers,
                    lines,
                    objects: state.objects,
                    ..State::default()
                };
                *exit = Some(match exit.take() {
                    Some(before) => before.join(&returned, &self.names, widths),
                    None => returned,
                });
            }
            Terminator::Unreachable { check } => {
                self.violates(*check);
            }
        }
        Ok(())
    }

    fn follow(
        &mut self,
        frame: &Frame,
        from: BlockId,
        edge: &Edge,
        mut state: State,
        pending: &mut Pending,
    ) -> Step<()> {
        let widths = self.widths(frame);
        let moves: Vec<(Reg, Value, Option<Reg>)> = edge
            .moves
            .iter()
            .filter(|(reg, _)| frame.flow.is_live(edge.to, *reg))
            .map(|(reg, operand)| {
                let width = widths.get(reg.index()).copied().unwrap_or(64);
                let from = match operand {
                    Operand::Reg(from) => Some(*from),
                    _ => None,
                };
                (*reg, self.get(frame, &state, *operand, width), from)
            })
            .collect();
        let lines = self.moved(frame, &state, &edge.moves);
        let before = (state.cells.clone(), state.wrapped.clone());
        for (reg, value, from) in moves {
            state.set(reg, value);
            if let Some(from) = from {
                if let Some(cell) = before.0.get(&from) {
                    state.cells.insert(reg, *cell);
                }
                if before.1.contains(&from) {
                    state.wrapped.insert(reg);
                }
            }
        }
        state.lines = lines;
        self.arrive(frame, Some(from), edge.to, state, pending)
    }

    /// The value of an operand.
    fn get(&self, frame: &Frame, state: &State, operand: Operand, width: Width) -> Value {
        match operand {
            Operand::Reg(reg) => {
                let own = self
                    .widths(frame)
                    .get(reg.index())
                    .copied()
                    .unwrap_or(width);
                let value = state.registers.get(&reg);
                match value {
                    None => Value::all(width),
                    Some(value) if own == width => value.clone(),
                    Some(value) if own > width => value.cast(CastKind::Trunc, own, width),
                    Some(value) => value.cast(CastKind::ZExt, own, width),
                }
            }
            Operand::Const(number) => self.names.constant(width, number.into()),
            Operand::Wide(number) => self.names.constant(width, *number),
            Operand::Undef => Value::all(width),
        }
    }

    /// The numbers of an operand; any where it may be an address.
    fn number(&self, frame: &Frame, state: &State, operand: Operand, width: Width) -> Num {
        let value = self.get(frame, state, operand, width);
        value.plain().copied().unwrap_or(Num::all(width))
    }

    /// A check may be violated here, or something that has no number.
    fn violates(&mut self, check: Option<CheckId>) {
        match check {
            Some(check) => {
                self.found.open.insert(check);
            }
            None => {
                self.found.elsewhere.insert(self.at);
            }
        }
    }

    /// Something that cannot be passed.
    fn hole(&mut self, what: &str) {
        tracing::trace!(at = %self.program.show(self.pos), what, "a hole");
        let hole = self.found.holes.entry(self.at);
        hole.or_insert_with(|| what.to_owned());
    }

    /// What all reported violations violate is noted: at the end of a walk.
    pub fn settle(&mut self) {
        self.found.settle(self.program, &self.contexts);
    }
}
