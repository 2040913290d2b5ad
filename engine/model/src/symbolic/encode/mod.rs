//! Fragments: the code from one cut point to the next ones, as terms.
//!
//! Between cut points control flow has no cycle, so one pass over the blocks in reverse postorder is enough: a
//! block is executed once, on the choice of all states that reach it, and calls are executed where they stand. What comes out is a
//! [`Fragment`]: under which conditions each check is violated, each block is entered and each next cut point is reached, over the
//! variables of the cut point where it starts and the fragment's own *unknowns*: bytes of the tape and everything
//! that is undefined or not modelled exactly. It is the large-block form of the transition relation that Synergy (section 3)
//! and CRunner (section 3.1) take edge by edge.
//!
//! Semantics are the machine's. Where the machine computes with one concrete value and the term would be
//! too large or has no equivalent, an unknown takes its place: that only adds behaviours. Where not even that is possible
//! (a write through a pointer that could point anywhere, a construct that the Program does not model) there is a
//! [`Hole`], and nothing that can be reached from it is proved.

mod access;
mod calls;
mod heap;
mod intrinsics;
mod low;
mod narrow;
mod numbers;
mod ops;
mod outside;
pub mod pointer;
mod sums;
mod turns;
mod variadic;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::Instant;

use rustc_hash::{FxHashMap, FxHashSet};

pub use narrow::Narrowing;
use turns::Ways;

use super::cuts::CutState;
use super::memory::{self, Contents, Object};
use super::state::{Frame, Guard, Reached, State, Surroundings};
use super::world::{CtxId, Cut, ObjId, ObjectKind, ROOT, World};
use crate::deadline;
use crate::program::ir::{
    BlockId, CheckId, CheckKind, Edge, FuncId, FunctionKind, Operand, Pos, Pred, Reg, Terminator,
    Width,
};
use crate::term::{Array, Pool, Term};

/// A check on some paths of a fragment.
#[derive(Clone, Debug)]
pub struct Obligation {
    /// The check; none where an intrinsic was called without one.
    pub check: Option<CheckId>,
    /// What would be violated.
    pub kind: CheckKind,
    /// In which context.
    pub ctx: CtxId,
    /// In which block.
    pub block: BlockId,
    /// Where.
    pub pos: Pos,
    /// When it is reached.
    pub guard: Guard,
    /// When it is violated, given that it is reached.
    pub violated: Term,
    /// Assumptions of the fragment that were made before.
    pub prefix: usize,
    /// Whether the engine cannot tell where a pointer points: the violation is then only its ignorance.
    pub vague: bool,
}

impl Obligation {
    /// That it is reached and violated.
    pub fn goal(&self) -> Vec<Term> {
        self.guard
            .0
            .iter()
            .copied()
            .chain([self.violated])
            .collect()
    }
}

/// A block that is entered.
#[derive(Clone, Debug)]
pub struct Entered {
    /// The block.
    pub block: BlockId,
    /// When.
    pub guard: Guard,
    /// Assumptions made before.
    pub prefix: usize,
}

/// A way to a cut point.
#[derive(Clone, Debug)]
pub struct Transition {
    /// Where to.
    pub to: Cut,
    /// When, and with which state.
    pub reached: Reached,
    /// Assumptions made before.
    pub prefix: usize,
}

/// A place that cannot be passed.
#[derive(Clone, Debug)]
pub struct Hole {
    /// What is not modelled.
    pub what: String,
    /// In which context.
    pub ctx: CtxId,
    /// In which block.
    pub block: BlockId,
    /// Where.
    pub pos: Pos,
    /// When.
    pub guard: Guard,
    /// Assumptions made before.
    pub prefix: usize,
}

/// Something that the tape decides, in the order in which it is read.
#[derive(Clone, Debug)]
pub enum Input {
    /// Bytes that are taken, lowest first.
    Bytes(Term),
    /// How many are left.
    Remaining(Term),
}

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub struct Fragment {
    /// Where it starts; none: where the program does.
    pub start: Option<Cut>,
    /// The checks.
    pub obligations: Vec<Obligation>,
    /// The blocks of the user's functions.
    pub entered: Vec<Entered>,
    /// The ways out.
    pub transitions: Vec<Transition>,
    /// Where it could not go on.
    pub holes: Vec<Hole>,
    /// Where it is narrower than the world.
    pub narrowings: Vec<Narrowing>,
    /// What is known to hold on every path that went on. `obligation_of` says which are held checks.
    pub assumptions: Vec<Term>,
    /// For each assumption, the obligation that it follows from; none for the program's own assumptions.
    pub obligation_of: Vec<Option<usize>>,
    /// What the tape decides, and when.
    pub inputs: Vec<(Guard, Input)>,
    /// For each call of an external function that may write what it can reach: whether it does more than the body in its place, and
    /// the function. No tape makes it so.
    pub deviations: Vec<(Term, FuncId)>,
    /// Cut points that are passed: the loops that begin there are walked turn by turn where the fragment enters them.
    pub walked: BTreeSet<Cut>,
    /// How often something was replaced by an unknown that the machine computes exactly.
    pub approximations: u32,
    /// Operations executed.
    pub operations: u64,
}

impl Fragment {
    /// That no external function does more than the body in its place: what holds of all executions that a tape describes.
    pub fn faithful(&self, pool: &mut Pool) -> Vec<Term> {
        let deviations = self.deviations.iter();
        deviations.map(|&(bit, _)| pool.not(bit)).collect()
    }
}

/// Why encoding stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exceeded {
    /// Too many operations or contexts.
    Size,
    /// The deadline.
    Time,
}

/// How much one fragment may cost.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Operations of one fragment. Default: 300,000.
    pub operations: u64,
    /// Contexts in all. Default: 20,000.
    pub contexts: usize,
    /// Calls of one function that may be in progress at once. Default: 12.
    pub recursion: u32,
    /// Bytes of a block move that are moved one by one. Default: 4,096.
    pub moved: u64,
    /// When to give up.
    pub deadline: Option<Instant>,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget {
            operations: 300_000,
            contexts: 20_000,
            recursion: 12,
            moved: 4_096,
            deadline: None,
        }
    }
}

/// Makes fragments.
#[derive(Debug)]
pub struct Encoder<'a, 'p> {
    world: &'a mut World<'p>,
    pool: &'a mut Pool,
    budget: Budget,
    out: Fragment,
    start: Option<&'a CutState>,
    /// Terms of object numbers that are not fixed.
    numbers: FxHashMap<Term, ObjId>,
    /// Addresses whose index may be too large to be multiplied, and when it is.
    wrapped: FxHashMap<Term, Term>,
    name: String,
    unknowns: u32,
    pos: Pos,
    block: BlockId,
    /// Bodies of loops, by their heads.
    bodies: FxHashMap<BlockId, Rc<FxHashSet<BlockId>>>,
    /// The number of operations at which the walk that is under way is given up.
    walk_ends: Option<u64>,
    /// Operations of walks that were given up.
    wasted: u64,
}

/// A path that does not go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stop {
    /// It ended.
    Ended,
    /// The walk along a loop takes too long: the loop is cut.
    Turns,
    /// No more.
    Exceeded(Exceeded),
}

type Step<T = ()> = Result<T, Stop>;

impl Surroundings for Encoder<'_, '_> {
    fn pool(&mut self) -> &mut Pool {
        self.pool
    }

    fn initial(&mut self, object: ObjId) -> Option<Object> {
        memory::initial(self.pool, self.world, object)
    }

    fn unknown(&mut self, width: Width) -> Term {
        self.unknowns += 1;
        let name = format!("?{}.{}", self.name, self.unknowns);
        self.pool.variable(&name, width)
    }
}

impl<'a, 'p> Encoder<'a, 'p> {
    /// Encodes the fragment that starts at `start`, whose state is over that cut point's variables, or
    /// where the program does.
    pub fn encode(
        world: &'a mut World<'p>,
        pool: &'a mut Pool,
        start: Option<(Cut, &'a CutState)>,
        budget: Budget,
    ) -> Result<Fragment, Exceeded> {
        let name = match start {
            Some((cut, _)) => format!("{}:{}", world.context(cut.ctx).key, cut.block.0),
            None => String::new(),
        };
        let mut encoder = Encoder {
            world,
            pool,
            budget,
            out: Fragment::default(),
            start: start.map(|(_, state)| state),
            numbers: FxHashMap::default(),
            wrapped: FxHashMap::default(),
            name,
            unknowns: 0,
            pos: Pos::default(),
            block: BlockId(0),
            bodies: FxHashMap::default(),
            walk_ends: None,
            wasted: 0,
        };
        let result = match start {
            Some((cut, state)) => {
                encoder.out.start = Some(cut);
                encoder.start_at_cut(cut, state)
            }
            None => encoder.start_at_entry(),
        };
        match result {
            Err(Stop::Exceeded(why)) => Err(why),
            Ok(()) | Err(Stop::Ended | Stop::Turns) => Ok(encoder.out),
        }
    }

    fn start_at_entry(&mut self) -> Step {
        let program = self.world.program();
        let function = program.function(program.entry);
        if !function.is_defined() {
            return Ok(());
        }
        let first = BlockId(function.blocks.start);
        let frame = self.new_frame(ROOT);
        let state = State {
            frames: vec![frame],
            objects: BTreeMap::new(),
        };
        let reached = Reached {
            guard: Guard::default(),
            state,
        };
        if program.lists_environment() && program.lifted.contains("environment") {
            let what = "a list of environment variables that is not empty".to_owned();
            self.block = first;
            self.hole(ROOT, &reached, what);
            return Ok(());
        }
        // A loop may begin at the very first block.
        if self.world.flow(program.entry).cuts.contains(&first) {
            self.transition(
                Cut {
                    ctx: ROOT,
                    block: first,
                },
                reached,
            );
            return Ok(());
        }
        self.go_on(ROOT, first, 0, reached)
    }

    fn start_at_cut(&mut self, cut: Cut, from: &CutState) -> Step {
        let mut state = State {
            frames: Vec::new(),
            objects: BTreeMap::new(),
        };
        for &id in from.objects.keys() {
            let object = from.object(self.pool, self.world, id);
            if self.world.object(id).number.is_none() {
                self.numbers.insert(object.number, id);
            }
            state.objects.insert(id, Rc::new(object));
        }
        for ctx in self.world.chain(cut.ctx) {
            let mut frame = self.new_frame(ctx);
            let registers = Rc::make_mut(&mut frame.registers);
            for (&(owner, reg), _) in from.registers.range((ctx, Reg(0))..=(ctx, Reg(u32::MAX))) {
                let value = from.register(self.pool, self.world, owner, reg);
                if let Some(slot) = registers.get_mut(reg.index()) {
                    *slot = Some(value);
                }
            }
            let of_frame = |&&id: &&ObjId| {
                let info = self.world.object(id);
                !info.heap && matches!(info.kind, ObjectKind::Made { ctx: c, .. } if c == ctx)
            };
            frame.objects = Rc::new(from.objects.keys().filter(of_frame).copied().collect());
            state.frames.push(frame);
        }
        let reached = Reached {
            guard: Guard::default(),
            state,
        };
        self.go_on(cut.ctx, cut.block, 0, reached)
    }

    fn new_frame(&self, ctx: CtxId) -> Frame {
        let program = self.world.program();
        let function = program.function(self.world.context(ctx).function);
        // The results are kept behind the registers until the call is over.
        let slots = function.registers.len() + function.result.len();
        Frame {
            ctx,
            registers: Rc::new(vec![None; slots]),
            variadic: None,
            objects: Rc::default(),
        }
    }

    /// Executes from a place to the end of the program, or as far as there are no cut points.
    fn go_on(&mut self, ctx: CtxId, block: BlockId, op: usize, from: Reached) -> Step {
        let (mut ctx, mut block, mut op) = (ctx, block, op);
        let mut reached = from;
        loop {
            let Some(returned) = self.run(ctx, block, op, reached)? else {
                return Ok(());
            };
            let Some(back) = self.world.context(ctx).back else {
                return Ok(());
            };
            reached = self.leave(ctx, returned)?;
            (ctx, block, op) = (back.ctx, back.block, back.op);
        }
    }

    /// Executes a function from a place to its returns, which are joined.
    fn run(
        &mut self,
        ctx: CtxId,
        block: BlockId,
        op: usize,
        from: Reached,
    ) -> Step<Option<Reached>> {
        let mut ways = Ways::default();
        self.run_on(ctx, (block, op), from, &mut ways)?;
        Ok(ways.returned)
    }

    /// The same, with what is already under way.
    fn run_on(
        &mut self,
        ctx: CtxId,
        (block, op): (BlockId, usize),
        from: Reached,
        ways: &mut Ways,
    ) -> Step {
        let program = self.world.program();
        let function = self.world.context(ctx).function;
        let (mut block, mut op, mut now) = (block, op, from);
        loop {
            let was = (self.block, self.pos);
            self.block = block;
            if op == 0 && program.function(function).kind == FunctionKind::User {
                self.out.entered.push(Entered {
                    block,
                    guard: now.guard.clone(),
                    prefix: self.out.assumptions.len(),
                });
            }
            match self.operations(ctx, block, op, now) {
                Ok(Some(after)) => self.terminator(ctx, block, after, ways),
                Ok(None) | Err(Stop::Ended) => {}
                Err(stop) => return Err(stop),
            }
            (self.block, self.pos) = was;
            self.walk_heads(ctx, ways)?;
            let Some((_, (next, reached))) = ways.pending.pop_first() else {
                return Ok(());
            };
            (block, op, now) = (next, 0, reached);
        }
    }

    /// Executes a block's operations from one on.
    fn operations(
        &mut self,
        ctx: CtxId,
        block: BlockId,
        from: usize,
        mut now: Reached,
    ) -> Step<Option<Reached>> {
        let program = self.world.program();
        for (index, inst) in program.block(block).ops.iter().enumerate().skip(from) {
            self.out.operations += 1;
            if self.out.operations > self.budget.operations
                || self.world.contexts() > self.budget.contexts
            {
                return Err(Stop::Exceeded(Exceeded::Size));
            }
            let is_late = || {
                deadline::passed() || self.budget.deadline.is_some_and(|end| Instant::now() > end)
            };
            if self.out.operations.is_multiple_of(64) && is_late() {
                return Err(Stop::Exceeded(Exceeded::Time));
            }
            if self.walk_ends.is_some_and(|end| self.out.operations > end) {
                return Err(Stop::Turns);
            }
            self.pos = inst.pos;
            self.block = block;
            match self.operation(ctx, inst, index, &mut now) {
                Ok(()) => {}
                Err(Stop::Ended) => return Ok(None),
                Err(stop) => return Err(stop),
            }
        }
        Ok(Some(now))
    }

    fn terminator(&mut self, ctx: CtxId, block: BlockId, mut now: Reached, ways: &mut Ways) {
        let program = self.world.program();
        let block_info = program.block(block);
        self.pos = block_info.end_pos;
        match &block_info.end {
            Terminator::Jump(edge) => self.follow(ctx, (block, edge), now, ways),
            Terminator::Branch {
                cond,
                then,
                otherwise,
            } => {
                let cond = self.get(&mut now.state, *cond, 1);
                let not = self.pool.not(cond);
                let mut other = now.clone();
                now.guard = now.guard.and(self.pool, cond);
                other.guard = other.guard.and(self.pool, not);
                self.follow(ctx, (block, then), now, ways);
                self.follow(ctx, (block, otherwise), other, ways);
            }
            Terminator::Switch {
                value,
                width,
                cases,
                default,
            } => {
                let value = self.get(&mut now.state, *value, *width);
                for (case, edge) in cases {
                    let case = self.pool.constant(*width, *case);
                    let hit = self.pool.eq(value, case);
                    let miss = self.pool.not(hit);
                    let mut taken = now.clone();
                    taken.guard = taken.guard.and(self.pool, hit);
                    now.guard = now.guard.and(self.pool, miss);
                    self.follow(ctx, (block, edge), taken, ways);
                }
                self.follow(ctx, (block, default), now, ways);
            }
            Terminator::IndirectBranch { address, targets } => {
                let address = self.get(&mut now.state, *address, 64);
                for (target, edge) in targets {
                    let target = self.pool.constant(64, u128::from(*target));
                    let hit = self.pool.cmp(Pred::Eq, address, target);
                    let miss = self.pool.not(hit);
                    let mut taken = now.clone();
                    taken.guard = taken.guard.and(self.pool, hit);
                    now.guard = now.guard.and(self.pool, miss);
                    self.follow(ctx, (block, edge), taken, ways);
                }
                self.hole(ctx, &now, "a computed jump to an unknown place".to_owned());
            }
            Terminator::Return { values } => {
                let function = program.function(self.world.context(ctx).function);
                let first = function.registers.len();
                let results: Vec<Term> = values
                    .iter()
                    .zip(&function.result)
                    .map(|(value, width)| self.get(&mut now.state, *value, *width))
                    .collect();
                let registers = Rc::make_mut(&mut now.state.frame().registers);
                for (i, result) in results.into_iter().enumerate() {
                    registers[first + i] = Some(result);
                }
                ways.returned = Some(match ways.returned.take() {
                    Some(before) => before.join(now, self),
                    None => now,
                });
            }
            Terminator::Unreachable { check } => {
                let kind = check.and_then(|c| program.checks.get(c.index()));
                let kind = kind.map_or(CheckKind::Unreachable, |c| c.kind);
                let violated = self.pool.bit(true);
                // What is behind is never reached, so whether it goes on does not matter.
                let _ = self.oblige(ctx, &now, *check, kind, violated);
            }
        }
    }

    fn follow(
        &mut self,
        ctx: CtxId,
        (from, edge): (BlockId, &Edge),
        mut now: Reached,
        ways: &mut Ways,
    ) {
        if now.guard.is_false(self.pool) {
            return;
        }
        let program = self.world.program();
        let function = self.world.context(ctx).function;
        let moves: Vec<(Reg, Term)> = edge
            .moves
            .iter()
            .map(|(reg, from)| {
                let width = program.function(function).registers[reg.index()];
                (*reg, self.get(&mut now.state, *from, width))
            })
            .collect();
        for (reg, value) in moves {
            set(&mut now.state, reg, value);
        }
        self.take(ctx, (from, edge.to), now, ways);
    }

    fn transition(&mut self, to: Cut, reached: Reached) {
        let prefix = self.out.assumptions.len();
        self.out.transitions.push(Transition {
            to,
            reached,
            prefix,
        });
    }

    /// Ends a frame: what is left is the caller's state with the results in place.
    fn leave(&mut self, ctx: CtxId, mut returned: Reached) -> Step<Reached> {
        self.deviate(ctx, &mut returned)?;
        self.given(ctx, &mut returned)?;
        let program = self.world.program();
        let function = program.function(self.world.context(ctx).function);
        let first = function.registers.len();
        let Some(frame) = returned.state.frames.pop() else {
            return Ok(returned);
        };
        for object in frame.objects.iter() {
            returned.state.objects.remove(object);
        }
        if let Some(back) = self.world.context(ctx).back {
            // Through a pointer of the wrong type it may give more than is taken, less, or wider.
            let given = function.result.len();
            for (i, &width) in program.taken(back.block, back.op).iter().enumerate() {
                let result = frame.registers[first..first + given].get(i).copied();
                let result = match result.flatten() {
                    Some(result) if self.pool.width(result) >= width => {
                        self.pool.extract(result, 0, width)
                    }
                    _ => self.unknown(width),
                };
                set(&mut returned.state, Reg(back.dst.0 + i as u32), result);
            }
        }
        Ok(returned)
    }

    /// The value of an operand.
    fn get(&mut self, state: &mut State, operand: Operand, width: Width) -> Term {
        match operand {
            Operand::Reg(reg) => {
                let known = state.frame().registers.get(reg.index()).copied().flatten();
                match known {
                    Some(value) if self.pool.width(value) == width => value,
                    Some(value) if self.pool.width(value) > width => {
                        self.pool.extract(value, 0, width)
                    }
                    Some(value) => self.pool.zext(value, width),
                    // Never set on this way, or dead where the fragment began.
                    None => {
                        let value = self.unknown(width);
                        set(state, reg, value);
                        value
                    }
                }
            }
            Operand::Const(value) => self.pool.constant(width, u128::from(value)),
            Operand::Wide(value) => self.pool.constant(width, *value),
            Operand::Undef => self.unknown(width),
        }
    }

    /// A check: notes when it is violated, and goes on where it is not.
    fn oblige(
        &mut self,
        ctx: CtxId,
        now: &Reached,
        check: Option<CheckId>,
        kind: CheckKind,
        violated: Term,
    ) -> Step {
        if self.pool.as_const(violated) == Some(0) {
            return Ok(());
        }
        self.note(ctx, now, (check, kind), violated, false);
        if self.pool.as_const(violated) == Some(1) {
            return Err(Stop::Ended);
        }
        let reached = now.guard.term(self.pool);
        let both = self.pool.and(reached, violated);
        let held = self.pool.not(both);
        self.out.assumptions.push(held);
        self.out
            .obligation_of
            .push(Some(self.out.obligations.len() - 1));
        Ok(())
    }

    /// A check that the engine cannot decide: it stays open, and nothing is assumed.
    fn vague(
        &mut self,
        ctx: CtxId,
        now: &Reached,
        check: Option<CheckId>,
        kind: CheckKind,
        cond: Term,
    ) {
        self.note(ctx, now, (check, kind), cond, true);
    }

    /// Notes an obligation.
    fn note(
        &mut self,
        ctx: CtxId,
        now: &Reached,
        (check, kind): (Option<CheckId>, CheckKind),
        violated: Term,
        vague: bool,
    ) {
        self.out.obligations.push(Obligation {
            check,
            kind,
            ctx,
            block: self.block,
            pos: self.pos,
            guard: now.guard.clone(),
            violated,
            prefix: self.out.assumptions.len(),
            vague,
        });
    }

    /// The program's own assumption.
    fn assume(&mut self, now: &mut Reached, cond: Term) -> Step {
        match self.pool.as_const(cond) {
            Some(1) => return Ok(()),
            Some(_) => return Err(Stop::Ended),
            None => {}
        }
        let reached = now.guard.term(self.pool);
        let not = self.pool.not(cond);
        let both = self.pool.and(reached, not);
        let held = self.pool.not(both);
        self.out.assumptions.push(held);
        self.out.obligation_of.push(None);
        // The path knows it, too: pointers are told from NULL by it.
        now.guard = now.guard.and(self.pool, cond);
        Ok(())
    }

    /// A place that cannot be passed.
    fn hole(&mut self, ctx: CtxId, now: &Reached, what: String) {
        let mut guard = now.guard.clone();
        if guard.is_false(self.pool) {
            return;
        }
        guard.0.dedup();
        self.out.holes.push(Hole {
            what,
            ctx,
            block: self.block,
            pos: self.pos,
            guard,
            prefix: self.out.assumptions.len(),
        });
    }

    /// An array that nothing is known about.
    fn unknown_contents(&mut self) -> Contents {
        Contents::new(self.unknown_array())
    }

    /// Bytes that nothing is known about.
    fn unknown_array(&mut self) -> Array {
        self.unknowns += 1;
        let name = format!("?{}.{}", self.name, self.unknowns);
        self.pool.array_variable(&name)
    }

    /// An object of a state.
    fn object(&mut self, state: &State, id: ObjId) -> Option<Rc<Object>> {
        if let Some(object) = state.objects.get(&id) {
            return Some(Rc::clone(object));
        }
        memory::initial(self.pool, self.world, id).map(Rc::new)
    }
}

/// Sets a register of the innermost frame.
fn set(state: &mut State, reg: Reg, value: Term) {
    let registers = Rc::make_mut(&mut state.frame().registers);
    if let Some(slot) = registers.get_mut(reg.index()) {
        *slot = Some(value);
    }
}
