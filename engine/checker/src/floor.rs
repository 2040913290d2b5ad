//! The floor of a certificate: states of the whole program that are checked without a solver.
//!
//! For each loop head in each call context, and for the beginning and the end of each function that
//! is shared by its calls, the certificate states one or more sets of states
//! ([`cegar_model::domain`]). Each part of the program between such places is walked once, from the
//! states that are stated where it begins, and the states that arrive at a place must be within one
//! of the sets stated there. What the walks did not meet is then proved: checks that no walk
//! violates, blocks that no walk enters.

mod continuations;
mod error;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cegar_model::domain::check_notes::OpenCheckNote;
use cegar_model::domain::contents::Contents;
use cegar_model::domain::context::Contexts;
use cegar_model::domain::found::Found;
use cegar_model::domain::linear::{Line, Lines, Product, Var};
use cegar_model::domain::space::{CtxId, GONE, Names, ObjId, Object};
use cegar_model::domain::state::{Cell, State};
use cegar_model::domain::value::Value;
use cegar_model::domain::walk::{Guide, Measure, Part, Stop, Walker};
use cegar_model::program::ir::{
    BlockId, CheckId, FuncId, FunctionKind, Loc, Op, Program, Property, Reg, Width,
};
use cegar_model::program::outside::COPY;
use cegar_model::program::outside::points::Points;
use rustc_hash::{FxHashMap, FxHashSet};

use self::continuations::Continuations;
pub use self::error::FloorError;
use crate::certificate::Condition;
pub use crate::certificate::floor::{
    ContextClaim, FloorClaim, FunctionClaim, HeadClaim, StateClaim,
};

/// The number of blocks that are walked at most, which only crafted certificates exceed.
const BLOCK_LIMIT: u64 = 1_000_000;

/// What follows from a floor.
#[derive(Debug)]
pub struct FloorResult {
    found: Found,
    continuations: Continuations,
    /// The places where the model is narrower than the world, by rule.
    pub narrowings: BTreeMap<&'static str, BTreeSet<String>>,
    /// For each check and each block: the hole that lies before it.
    lost: (Vec<Option<String>>, Vec<Option<String>>),
    is_user: Vec<bool>,
    asserts: BTreeSet<CheckId>,
}

impl FloorResult {
    /// Walks a program once from the states that are stated.
    pub fn of(
        program: &Program,
        points: Arc<Points>,
        claim: &FloorClaim,
    ) -> Result<FloorResult, FloorError> {
        let mut walker = reader(program, points, claim, Claimed::default())?;
        read(&mut walker, program, claim)?;
        walker.block_limit = BLOCK_LIMIT;
        walker.notes = true;
        walker.program()?;
        for function in &claim.functions {
            walker.function(FuncId(function.function))?;
        }
        walker.settle();
        let narrowings = walker.found.narrowings(program, &walker.contexts);
        let found = walker.found;
        let is_user = program
            .blocks
            .iter()
            .map(|block| program.function(block.function).kind == FunctionKind::User);
        let asserts = (0u32..).map(CheckId).zip(&program.checks);
        let continuations = Continuations::of(program, &found);
        let lost = |at: Loc| lost(program, &found, &continuations, at);
        let checks = program.checks.iter().map(|check| lost(check.loc)).collect();
        let all = (0..program.blocks.len() as u32).map(BlockId);
        let blocks = all.map(|block| lost(Loc { block, inst: 0 })).collect();
        Ok(FloorResult {
            lost: (checks, blocks),
            continuations,
            narrowings,
            is_user: is_user.collect(),
            asserts: asserts
                .filter(|(_, check)| check.kind.property() == Property::Assertion)
                .map(|(id, _)| id)
                .collect(),
            found,
        })
    }

    /// Whether no execution without an earlier violation violates a check.
    pub fn holds(&self, check: CheckId) -> bool {
        let lost = self.lost.0.get(check.index());
        lost == Some(&None) && !self.found.open.contains(&check)
    }

    /// Whether no such execution enters a block. False for blocks that are not the user's.
    pub fn is_dead(&self, block: BlockId) -> bool {
        let lost = self.lost.1.get(block.index());
        self.is_user.get(block.index()) == Some(&true)
            && lost == Some(&None)
            && !self.found.entered.contains(&block)
    }

    /// The hole that lies before a check.
    pub fn lost(&self, check: CheckId) -> Option<&str> {
        self.lost.0.get(check.index())?.as_deref()
    }

    /// The hole that lies before a block.
    pub fn lost_block(&self, block: BlockId) -> Option<&str> {
        self.lost.1.get(block.index())?.as_deref()
    }

    /// The condition of a claim about an instruction: the checks before it that the floor leaves
    /// open and for which `is_open` holds, too.
    pub fn condition(
        &self,
        program: &Program,
        at: Loc,
        is_open: &dyn Fn(CheckId) -> bool,
    ) -> Condition {
        let before = |loc: Loc| self.continuations.has(program, loc, at);
        let checks = self.found.open.iter().filter(|id| {
            !self.asserts.contains(id) && is_open(**id) && before(program.checks[id.index()].loc)
        });
        Condition {
            checks: checks.map(|id| id.0).collect(),
            elsewhere: self.found.elsewhere.iter().any(|loc| before(*loc)),
        }
    }

    /// What was known at open checks. It is reported to people, and nothing follows from it.
    pub fn check_notes(&self) -> &BTreeMap<CheckId, OpenCheckNote> {
        &self.found.check_notes
    }

    /// The checks that the floor leaves open.
    pub fn open(&self) -> impl Iterator<Item = CheckId> + '_ {
        self.found.open.iter().copied()
    }

    /// The places where a violation without a check may occur.
    pub fn elsewhere(&self) -> impl Iterator<Item = Loc> + '_ {
        self.found.elsewhere.iter().copied()
    }
}

/// The states in which each block is walked, for tests that compare them with executions.
pub struct States<'p> {
    /// The contexts.
    pub contexts: Contexts,
    /// The names of the objects.
    pub names: Names<'p>,
    /// The states; several if a loop is entered at several places.
    pub states: FxHashMap<(CtxId, BlockId), Vec<State>>,
    /// Whether there are holes; nothing is stated about the code behind them.
    pub has_holes: bool,
}

impl<'p> States<'p> {
    /// Walks a program from the states that are stated.
    pub fn of(
        program: &'p Program,
        points: Arc<Points>,
        claim: &FloorClaim,
    ) -> Result<States<'p>, FloorError> {
        let mut walker = reader(program, points, claim, Claimed::default())?;
        read(&mut walker, program, claim)?;
        walker.guide.seen = Some(FxHashMap::default());
        walker.program()?;
        for function in &claim.functions {
            walker.function(FuncId(function.function))?;
        }
        Ok(States {
            has_holes: !walker.found.holes.is_empty(),
            contexts: walker.contexts,
            names: walker.names,
            states: walker.guide.seen.unwrap_or_default(),
        })
    }
}

/// The hole that lies before an instruction.
fn lost(
    program: &Program,
    found: &Found,
    continuations: &Continuations,
    at: Loc,
) -> Option<String> {
    let mut holes = found.holes.iter();
    let (hole, what) = holes.find(|(hole, _)| continuations.has(program, **hole, at))?;
    let place = program.show(program.position(*hole));
    Some(format!("behind {what} at {place}"))
}

/// The claimed states.
#[derive(Debug, Default)]
pub struct Claimed {
    heads: FxHashMap<(CtxId, BlockId), Vec<State>>,
    functions: FxHashMap<FuncId, (State, Option<State>)>,
    /// The states in which blocks were walked, for [`States`].
    seen: Option<FxHashMap<(CtxId, BlockId), Vec<State>>>,
}

fn refused(what: &str, number: u32) -> Stop {
    Stop::Refused(format!(
        "a state that is not stated arrives at {what} {number}"
    ))
}

impl Guide for Claimed {
    fn arrive(
        &mut self,
        place: (CtxId, BlockId),
        _back: bool,
        state: State,
        by: Measure<'_, '_>,
    ) -> Result<(bool, Part), Stop> {
        let mut stated = self.heads.get(&place).into_iter().flatten();
        match stated.position(|stated| state.is_within(stated, by.names, by.widths)) {
            Some(part) => Ok((false, part)),
            None => Err(refused("block", place.1.0)),
        }
    }

    fn start(&mut self, place: (CtxId, BlockId), parts: &[(Part, bool)]) -> Vec<State> {
        let stated = self.heads.get(&place);
        let open = parts.iter().filter(|(_, walked)| !walked);
        let open = open.filter_map(|(part, _)| stated?.get(*part));
        open.cloned().collect()
    }

    fn enter(&mut self, function: FuncId, state: State, by: Measure<'_, '_>) -> Result<bool, Stop> {
        let stated = self.functions.get(&function);
        let fits = stated.is_some_and(|(entry, _)| state.is_within(entry, by.names, by.widths));
        match fits {
            true => Ok(false),
            false => Err(refused("the beginning of function", function.0)),
        }
    }

    fn entry(&mut self, function: FuncId) -> Option<State> {
        self.functions
            .get(&function)
            .map(|(entry, _)| entry.clone())
    }

    fn leave(
        &mut self,
        function: FuncId,
        state: Option<State>,
        by: Measure<'_, '_>,
    ) -> Result<bool, Stop> {
        let Some(state) = state else {
            return Ok(false);
        };
        let stated = self
            .functions
            .get(&function)
            .and_then(|(_, exit)| exit.as_ref());
        let fits = stated.is_some_and(|exit| state.is_within(exit, by.names, by.widths));
        match fits {
            true => Ok(false),
            false => Err(refused("the end of function", function.0)),
        }
    }

    fn exit(&mut self, function: FuncId) -> Option<State> {
        self.functions.get(&function)?.1.clone()
    }

    fn enters(&mut self, place: (CtxId, BlockId), state: &State) {
        if let Some(seen) = &mut self.seen {
            seen.entry(place).or_default().push(state.clone());
        }
    }
}

fn malformed<T>(what: &str) -> Result<T, FloorError> {
    Err(FloorError::Malformed(what.to_owned()))
}

/// Creates a walker with the contexts and the objects of a claim, in their order.
fn reader<'p, G: Guide>(
    program: &'p Program,
    points: Arc<Points>,
    claim: &FloorClaim,
    guide: G,
) -> Result<Walker<'p, G>, FloorError> {
    let is_function = |id: u32| {
        let function = program.functions.get(id as usize);
        function.is_some_and(|function| function.is_defined())
    };
    if !claim.shared.iter().all(|&id| is_function(id)) {
        return malformed("a shared function does not exist");
    }
    let shared: FxHashSet<FuncId> = claim.shared.iter().map(|&id| FuncId(id)).collect();
    let mut walker = Walker::new(program, points, shared, guide);
    walker.relations = claim.relations;
    for (place, context) in (0u32..).zip(&claim.contexts) {
        let fits = is_function(context.function)
            && context.back.is_none_or(|(caller, block, op)| {
                let of = claim
                    .contexts
                    .get(caller as usize)
                    .map(|caller| caller.function);
                let block = program.blocks.get(block as usize);
                let calls = |block: &cegar_model::program::ir::Block| {
                    let op = block.ops.get(op as usize);
                    op.is_some_and(|inst| matches!(inst.op, Op::Call(_)))
                        && of == Some(block.function.0)
                };
                caller < place && block.is_some_and(calls)
            });
        if !fits {
            return malformed("a context is none");
        }
        let function = FuncId(context.function);
        let id = match context.back {
            Some((caller, block, op)) => walker
                .contexts
                .enter((CtxId(caller), BlockId(block), op), function),
            None => walker.contexts.root(function),
        };
        if id != CtxId(place) {
            return malformed("a context stands twice");
        }
    }
    let first = (program.globals.len() + program.functions.len()) as u32;
    for (place, made) in (0u32..).zip(&claim.made) {
        let of = claim
            .contexts
            .get(made.ctx.0 as usize)
            .map(|context| context.function);
        let block = program.blocks.get(made.block as usize);
        let fits = block.is_some_and(|block| {
            let exists = made.op == COPY || (made.op as usize) < block.ops.len();
            of == Some(block.function.0) && exists
        });
        if !fits {
            return malformed("an object is made by nothing");
        }
        let info = walker.info(*made);
        if walker.names.name(*made, info) != ObjId(first + place) {
            return malformed("an object stands twice");
        }
    }
    Ok(walker)
}

/// Reads the states of a claim.
fn read(
    walker: &mut Walker<'_, Claimed>,
    program: &Program,
    claim: &FloorClaim,
) -> Result<(), FloorError> {
    let reader = Reader {
        objects: (program.globals.len() + program.functions.len() + claim.made.len()) as u32,
        contents: claim.contents.iter().cloned().map(Arc::new).collect(),
    };
    let is_value = |value: &Value, width: Width| reader.is_value(value, width);
    if !claim
        .contents
        .iter()
        .all(|contents| contents.is_sound(is_value, &walker.names))
    {
        return malformed("an object's contents make no sense");
    }
    let mut all = Claimed::default();
    for head in &claim.heads {
        let function = claim
            .contexts
            .get(head.context as usize)
            .map(|context| context.function);
        let block = program.blocks.get(head.block as usize);
        let Some(block) = block.filter(|block| function == Some(block.function.0)) else {
            return malformed("a state is at no block of its context");
        };
        let widths = &program.function(block.function).registers;
        let state = reader.state(&head.state, widths)?;
        let place = (CtxId(head.context), BlockId(head.block));
        all.heads.entry(place).or_default().push(state);
    }
    for function in &claim.functions {
        let id = FuncId(function.function);
        if !walker.contexts.shared.contains(&id) {
            return malformed("a function is not shared");
        }
        let program = program.function(id);
        let entry = reader.state(&function.entry, &program.registers)?;
        let exit = function
            .exit
            .as_ref()
            .map(|exit| reader.state(exit, &program.result));
        if all
            .functions
            .insert(id, (entry, exit.transpose()?))
            .is_some()
        {
            return malformed("a function stands twice");
        }
    }
    walker.guide = all;
    Ok(())
}

struct Reader {
    objects: u32,
    contents: Vec<Arc<Contents>>,
}

impl Reader {
    fn is_object(&self, id: ObjId) -> bool {
        id == GONE || id.0 < self.objects
    }

    fn is_value(&self, value: &Value, width: Width) -> bool {
        let sorted = value.ptr.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let number = value.num.is_none_or(|num| num.reduced(width).is_some());
        sorted
            && number
            && value
                .ptr
                .iter()
                .all(|(id, offset)| self.is_object(*id) && offset.reduced(64).is_some())
    }

    fn state(&self, claim: &StateClaim, widths: &[Width]) -> Result<State, FloorError> {
        let mut state = State::default();
        for (reg, value) in &claim.registers {
            let width = widths.get(*reg as usize).copied();
            if !width.is_some_and(|width| self.is_value(value, width)) {
                return malformed("a register's value makes no sense");
            }
            state.registers.insert(Reg(*reg), value.clone());
        }
        let mut objects = cegar_model::domain::space::Objects::new();
        for (id, alive, size, place) in &claim.objects {
            let contents = self.contents.get(*place as usize);
            let Some(contents) = contents.filter(|_| *id != GONE && self.is_object(*id)) else {
                return malformed("an object or its contents do not exist");
            };
            let object = Object {
                alive: *alive,
                size: *size,
                contents: Arc::clone(contents),
            };
            objects.insert(*id, object);
        }
        state.objects = Arc::new(objects);
        for &(reg, object, at, len) in &claim.cells {
            state.cells.insert(Reg(reg), Cell { object, at, len });
        }
        state.wrapped = claim.wrapped.iter().map(|&reg| Reg(reg)).collect();
        state.lines = Lines::from_parts(claim.lines.clone(), claim.products.clone());
        for &(id, which, at) in &claim.nuls {
            if !self.is_object(id) || at.reduced(64).is_none() {
                return malformed("a zero byte makes no sense");
            }
            state.nuls.insert((id, which), at);
        }
        let is_there = |var| match var {
            Var::Nul(id, which) => state.nuls.contains_key(&(id, which)),
            _ => true,
        };
        let lines = state.lines.iter().flat_map(Line::vars);
        let products = state.lines.products().iter().flat_map(Product::vars);
        if !lines.chain(products).all(is_there) {
            return malformed("a line speaks of a zero byte that is not claimed");
        }
        state.fates = claim.fates.iter().copied().collect();
        if !claim.owners.objects().all(|id| self.is_object(id)) {
            return malformed("an owner's object does not exist");
        }
        if !claim.owners.is_sound() {
            return malformed("a row of elements makes no sense");
        }
        state.owners = Arc::new(claim.owners.clone());
        state.handed = claim.handed;
        Ok(state)
    }
}
