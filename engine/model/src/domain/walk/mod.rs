//! The abstract walk: how a state changes on the way through a function.
//!
//! Blocks are walked in an order in which each forward edge leads to a later block, so that each
//! block is walked once, from the join of the states that arrive there. At loop heads, and at
//! functions that are shared by all their calls, the [`Guide`] says from which states to continue.

mod assume;
mod back;
mod blocks;
mod calls;
mod check_notes;
mod compare;
mod copies;
mod define;
mod ends;
mod granted;
mod guide;
mod heap;
mod intrinsics;
mod links;
mod memory;
mod narrow;
mod ops;
mod own;
mod parts;
mod relate;
mod renamed;
mod sized;
mod tables;
mod variadic;

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::context::Contexts;
use super::flow::Flow;
use super::found::Found;
use super::num::Num;
use super::recent::OLDER;
use super::space::{CtxId, Info, Made, Names};
use super::state::State;
use super::value::Value;

pub use self::guide::{Guide, Measure, Part, Stop};
pub use self::parts::TURNS;
use crate::program::ir::{
    BlockId, Callee, CastKind, CheckId, FuncId, FunctionKind, HeapFn, Intrinsic, Loc, Op, Operand,
    Pos, Program, Width,
};
use crate::program::outside::COPY;
use crate::program::outside::points::Points;
use crate::program::stack::beyond_the_model;

/// A call in progress.
pub(super) struct Frame {
    ctx: CtxId,
    function: FuncId,
    flow: Arc<Flow>,
    variadic: Option<Arc<variadic::Variadic>>,
    /// Whether several calls of the function may be in progress at a time.
    recursive: bool,
}

/// See the [module](self).
pub struct Walker<'p, G> {
    program: &'p Program,
    points: Arc<Points>,
    /// The names of objects.
    pub names: Names<'p>,
    /// The call contexts.
    pub contexts: Contexts,
    /// Decides from which states the walk continues.
    pub guide: G,
    /// The results.
    pub found: Found,
    flows: FxHashMap<FuncId, Arc<Flow>>,
    recursive: FxHashMap<FuncId, bool>,
    walking: FxHashSet<FuncId>,
    /// Further states after the operation that was executed last, which are kept apart.
    further_states: Vec<State>,
    at: Loc,
    pos: Pos,
    blocks: u64,
    /// The most blocks that may be walked.
    pub block_limit: u64,
    /// Whether lines are tracked ([`super::linear`]). A walk without them takes a fraction of the
    /// time.
    pub relations: bool,
    /// Whether to note what was known at checks that may be violated ([`Found::check_notes`]).
    pub notes: bool,
}

type Step<T = bool> = Result<T, Stop>;

impl<'p, G: Guide> Walker<'p, G> {
    /// Creates a walker of a program in which these functions are shared.
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
            further_states: Vec::new(),
            at: Loc {
                block: BlockId(0),
                inst: 0,
            },
            pos: Pos::default(),
            blocks: 0,
            block_limit: u64::MAX,
            relations: true,
            notes: false,
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
        if let Some(what) = beyond_the_model(program) {
            self.hole(what);
            return Ok(());
        }
        if self.contexts.shared.contains(&entry) {
            self.shared(entry, State::default())?;
            return Ok(());
        }
        let ctx = self.contexts.root(entry);
        let frame = self.frame(ctx, entry, None);
        self.whole(&frame, State::default())?;
        Ok(())
    }

    /// Walks a shared function from the state that the guide gives, hands the exit state to the
    /// guide, and repeats this as long as the guide asks for it.
    pub fn function(&mut self, function: FuncId) -> Step<()> {
        let program = self.program;
        let widths = &program.function(function).result;
        loop {
            let Some(mut entry) = self.guide.entry(function) else {
                return Ok(());
            };
            let ctx = self.contexts.root(function);
            let frame = self.frame(ctx, function, None);
            self.begins(&frame, &mut entry);
            let exit = self.whole(&frame, entry)?;
            let by = Measure {
                names: &self.names,
                widths,
                null: 0,
                length: None,
            };
            if !self.guide.leave(function, exit, by)? {
                return Ok(());
            }
        }
    }

    /// Calls a shared function, and returns its exit state.
    fn shared(&mut self, function: FuncId, entry: State) -> Step<Option<State>> {
        let program = self.program;
        let by = Measure {
            names: &self.names,
            widths: &program.function(function).registers,
            null: 0,
            length: None,
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

    /// What is known of an object that an operation makes, independently of the state.
    pub fn info(&mut self, made: Made) -> Info {
        let function = self.contexts.function(made.ctx);
        let block = BlockId(made.block);
        let flow = self.flow(function);
        let cyclic = made.op != COPY && flow.is_cyclic(block);
        let op = self.program.block(block).ops.get(made.op as usize);
        match op.map(|inst| &inst.op).filter(|_| made.op != COPY) {
            Some(Op::Call(call)) => Info {
                heap: true,
                is_unique: made.part != OLDER
                    && (self.is_renewed(made) || !cyclic && self.is_once(made.ctx)),
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
                is_unique: !cyclic && !self.is_recursive(function),
                guessed: false,
            },
        }
    }

    /// Whether the last block of a request has a name of its own ([`crate::domain::recent`]): if
    /// the request may be executed again, and no enclosing call is shared, so that the registers of
    /// all of them are known.
    fn is_renewed(&mut self, made: Made) -> bool {
        let mut root = made.ctx;
        while let Some((caller, ..)) = self.contexts.back(root) {
            root = caller;
        }
        let root = self.contexts.function(root);
        if root != self.program.entry || self.contexts.shared.contains(&root) {
            return false;
        }
        let flow = self.flow(self.contexts.function(made.ctx));
        flow.is_cyclic(BlockId(made.block)) || !self.is_once(made.ctx)
    }

    /// Whether a context is entered at most once.
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

    /// Whether a function may be called while a call of it is in progress.
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

    /// The numbers of an operand; all numbers if it may be an address.
    fn number(&self, frame: &Frame, state: &State, operand: Operand, width: Width) -> Num {
        let value = self.get(frame, state, operand, width);
        value.plain().copied().unwrap_or(Num::all(width))
    }

    /// Records that a check may be violated here, or something that has no check.
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

    /// Records a hole.
    fn hole(&mut self, what: &str) {
        tracing::trace!(at = %self.program.show(self.pos), what, "a hole");
        let hole = self.found.holes.entry(self.at);
        hole.or_insert_with(|| what.to_owned());
    }

    /// Turns reported violations into open checks, at the end of a walk.
    pub fn settle(&mut self) {
        self.found.settle(self.program, &self.contexts);
    }
}
