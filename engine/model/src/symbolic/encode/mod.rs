//! Fragments: the code from one cut point to the next ones, as terms.
//!
//! Between cut points control flow has no cycle, so one pass over the blocks in reverse postorder
//! suffices. A block is executed once, on the join of all states that reach it, and calls are
//! executed inline. The result is a [`Fragment`]: the conditions under which each check is
//! violated, each block is entered and each next cut point is reached. The conditions are over the
//! variables of the cut point where the fragment starts and over the fragment's own *unknowns*:
//! bytes of the tape, and everything that is undefined or not modelled exactly. This is the
//! large-block form of the transition relation that Synergy (section 3) and CRunner (section 3.1)
//! take edge by edge.
//!
//! The semantics are those of the machine. Where the machine computes a concrete value and the
//! corresponding term would be too large or does not exist, the value becomes an unknown, which
//! only adds behaviours. Where not even that is possible (a write through a pointer that could
//! point anywhere, or a construct that the Program does not model), there is a [`Hole`], and
//! nothing that is reachable from it is proved.

mod access;
mod alone;
mod calls;
mod flow;
mod fragment;
mod heap;
mod intrinsics;
mod low;
mod moves;
mod narrow;
mod numbers;
mod ops;
mod outside;
pub mod pointer;
mod stack;
mod sums;
mod turns;
mod variadic;
mod words;

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

pub use narrow::Narrowing;

use super::cuts::CutState;
use super::memory::{self, Contents, Object};
use super::state::{Frame, Guard, Reached, State, Surroundings};
use super::world::{CtxId, Cut, ObjId, ObjectKind, ROOT, World};

pub use self::fragment::{
    Budget, Called, Entered, Exceeded, Fragment, Hole, Input, Obligation, Transition,
};
use crate::program::ir::{BlockId, CheckId, CheckKind, Operand, Pos, Reg, Width};
use crate::program::stack::beyond_the_model;
use crate::term::{Array, Pool, Term};

/// Encodes fragments.
#[derive(Debug)]
pub struct Encoder<'a, 'p> {
    world: &'a mut World<'p>,
    pool: &'a mut Pool,
    budget: Budget,
    out: Fragment,
    start: Option<&'a CutState>,
    /// The objects without a fixed number, by the terms of their numbers.
    numbers: FxHashMap<Term, ObjId>,
    /// For computed addresses, the condition under which the product of an index and an element's
    /// size overflows.
    wrapped: FxHashMap<Term, Term>,
    name: String,
    unknowns: u32,
    pos: Pos,
    block: BlockId,
    /// The bodies of loops, by their heads.
    bodies: FxHashMap<BlockId, Rc<FxHashSet<BlockId>>>,
    /// The number of executed operations at which the current unrolling of a loop is given up.
    unroll_limit: Option<u64>,
    /// The number of operations in unrollings that were given up.
    wasted: u64,
}

/// Why execution of a path does not continue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stop {
    /// The path ended.
    Ended,
    /// The unrolling of a loop takes too many operations. The loop is cut at its head instead.
    Turns,
    /// The budget is exhausted.
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
    /// Encodes the fragment that starts at `start`, in a state over that cut point's variables. If
    /// `start` is `None`, the fragment starts at the start of the program.
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
            unroll_limit: None,
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
        if let Some(what) = beyond_the_model(program) {
            self.block = first;
            self.hole(ROOT, &reached, what.to_owned());
            return Ok(());
        }
        // The first block may be the head of a loop.
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
        // The results are kept behind the registers until the frame ends.
        let slots = function.registers.len() + function.result.len();
        Frame {
            ctx,
            registers: Rc::new(vec![None; slots]),
            variadic: None,
            objects: Rc::default(),
        }
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
                    // The register was not set on this path, or was dead where the fragment starts.
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

    /// Executes a check: records the condition of its violation and continues where it holds.
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

    /// Records a check that the encoder cannot decide. It stays open, and nothing is assumed.
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

    /// Records an obligation.
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
            assumptions_before: self.out.assumptions.len(),
            vague,
        });
    }

    /// Executes an assumption of the program.
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
        // The guard gets the condition as well, because the cases of pointers are excluded by it.
        now.guard = now.guard.and(self.pool, cond);
        Ok(())
    }

    /// Records a place from which execution cannot continue.
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
            assumptions_before: self.out.assumptions.len(),
        });
    }

    /// Contents of which nothing is known.
    fn unknown_contents(&mut self) -> Contents {
        Contents::new(self.unknown_array())
    }

    /// An array of which nothing is known.
    fn unknown_array(&mut self) -> Array {
        self.unknowns += 1;
        let name = format!("?{}.{}", self.name, self.unknowns);
        self.pool.array_variable(&name)
    }

    /// The object in a state. A global that is absent has its initial value.
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
