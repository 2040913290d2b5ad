//! Compares the floor with the machine.
//!
//! For each block in each call context, a floor states which states may enter it. Each state in
//! which the machine enters a block has to be one of them: its registers, the bytes of its
//! variables and of heap blocks, and their liveness. Uninitialised bytes are not compared.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cegar_checker::floor::States;
use cegar_model::deadline::Deadline;
use cegar_model::domain::contents::Filling;
use cegar_model::domain::linear::{UNSIGNED, Var};
use cegar_model::domain::num::Num;
use cegar_model::domain::space::{Alive, CtxId, Kind, Made, ObjId};
use cegar_model::domain::state::State;
use cegar_model::domain::value::Value;
use cegar_model::machine::{Limits, Machine, Outcome, View};
use cegar_model::program::Program;
use cegar_model::program::ir::{
    DYNAMIC_OBJECTS, FUNCTION_OBJECTS, FuncId, GLOBAL_OBJECTS, GlobalId, Reg, place_of,
};
use cegar_model::program::outside::points::Points;
use cegar_model::term::value::signed;
use cegar_search::analysis;

use super::ends;
use super::fragments::SPECIAL_CASES;
use super::requests::{self, Requests};
use super::{EVERYTHING, compiled, owned, random};

/// The maximum number of blocks that the analysis walks to find a floor.
const PATIENCE: u64 = 300_000;
/// The maximum number of blocks of one execution that are compared.
const LONGEST: usize = 4000;
/// The maximum number of elements of an array that are compared.
const ELEMENTS: u32 = 64;

/// The numbers of comparisons.
#[derive(Clone, Copy, Debug, Default)]
pub struct Compared {
    /// Blocks that the machine entered.
    pub blocks: usize,
    /// Values that both sides know.
    pub values: usize,
    /// Lines whose variables all have known values.
    pub lines: usize,
    /// Owners of blocks with known values.
    pub owners: usize,
    /// Programs without a floor.
    pub none: usize,
}

/// Compares one execution with the floor's states.
struct Follower<'s, 'p> {
    program: &'p Program,
    states: &'s States<'p>,
    told: Vec<String>,
    compared: Compared,
    requests: Requests,
}

impl Follower<'_, '_> {
    /// The contexts of the frames, outermost first.
    fn contexts(&self, view: &View<'_>) -> Option<Vec<CtxId>> {
        let contexts = &self.states.contexts;
        let mut all: Vec<CtxId> = Vec::new();
        for frame in 0..view.depth() {
            let (function, site) = view.frame(frame)?;
            let back = match (site, all.last()) {
                (Some(site), Some(&caller)) if !contexts.shared.contains(&function) => {
                    let (block, op) = requests::call(self.program, site)?;
                    Some((caller, block, op))
                }
                _ => None,
            };
            all.push(contexts.known(back, function)?);
        }
        Some(all)
    }

    fn look(&mut self, view: &View<'_>) {
        // After a hole, the floor claims nothing about states.
        let is_told = self.states.has_holes || !self.told.is_empty();
        if is_told || self.compared.blocks > LONGEST {
            return;
        }
        self.compared.blocks += 1;
        let block = view.block();
        let function = &self
            .program
            .function(self.program.block(block).function)
            .name;
        let place = format!("b{} of {function}", block.0);
        let Some(contexts) = self.contexts(view) else {
            return self
                .told
                .push(format!("{place}: nobody said that it is called so"));
        };
        let entered = contexts.last().map(|ctx| (*ctx, block));
        self.requests.note(self.program, view, entered);
        let all = &self.states.states;
        let Some(states) = contexts.last().and_then(|ctx| all.get(&(*ctx, block))) else {
            return self
                .told
                .push(format!("{place}: nobody said that it is entered"));
        };
        let mut objects: BTreeMap<u32, ObjId> = BTreeMap::new();
        for (frame, ctx) in contexts.iter().enumerate() {
            for (number, loc) in view.locals(frame) {
                let made = Made {
                    ctx: *ctx,
                    block: loc.block.0,
                    op: loc.inst,
                    part: 0,
                };
                if let Some(id) = self.states.names.known(made) {
                    objects.insert(number, id);
                }
            }
        }
        objects.extend(self.requests.named(&self.states.names));
        // The machine's state has to be in one of the states with which the block is walked.
        let mut all = Vec::new();
        for state in states {
            self.registers(view, state, &objects, &place);
            self.memory(view, state, &objects, &place);
            self.lines(view, state, &objects, &place);
            let value = |var| self.value(view, state, &objects, var);
            let names = &self.states.names;
            let (differs, compared) = owned::compare(view, (state, names), &objects, &value);
            self.compared.owners += compared;
            self.told
                .extend(differs.map(|what| format!("{place}: {what}")));
            if self.told.is_empty() {
                return;
            }
            all.extend(self.told.drain(..).next());
        }
        self.told.push(all.join("; or "));
    }

    fn registers(
        &mut self,
        view: &View<'_>,
        state: &State,
        objects: &BTreeMap<u32, ObjId>,
        place: &str,
    ) {
        let top = view.depth() - 1;
        let Some((function, _)) = view.frame(top) else {
            return;
        };
        for (reg, value) in &state.registers {
            let width = self.program.function(function).registers[reg.index()];
            let Some(number) = view.register(top, *reg) else {
                continue;
            };
            self.compared.values += 1;
            if !self.may_be(view, objects, (value, width), number) {
                self.told.push(format!(
                    "{place}: r{} is {number:#x}, not in {value:?}",
                    reg.0
                ));
            }
        }
    }

    fn memory(
        &mut self,
        view: &View<'_>,
        state: &State,
        objects: &BTreeMap<u32, ObjId>,
        place: &str,
    ) {
        let mut all: Vec<(u32, ObjId)> = objects.iter().map(|(n, id)| (*n, *id)).collect();
        for id in state.objects.keys() {
            if let Kind::Global(global) = self.states.names.kind(*id) {
                let number = cegar_model::program::ir::number_of(GLOBAL_OBJECTS + global.0);
                all.push((number, *id));
            }
        }
        for (number, id) in all {
            let Some(object) = state.objects.get(&id) else {
                continue;
            };
            let Some(seen) = view.object(number) else {
                if object.alive == Alive::Yes {
                    self.told.push(format!("{place}: {id:?} was released"));
                }
                continue;
            };
            let alive = if seen.alive { Alive::Yes } else { Alive::No };
            if object.alive != alive && object.alive != Alive::Maybe {
                self.told.push(format!("{place}: {id:?} lives otherwise"));
            }
            if !object.size.has(64, seen.bytes.len() as u128) {
                self.told.push(format!("{place}: {id:?} has another size"));
            }
            for (start, run) in object.contents.runs() {
                let Filling::Each(unit, value) = &run.filling else {
                    continue;
                };
                let count = ((run.end - start) / unit).min(ELEMENTS);
                for at in (0..count).map(|i| (start + i * unit) as usize) {
                    let end = at + *unit as usize;
                    if end > seen.bytes.len() || view.is_undefined(number, at, *unit as usize) {
                        continue;
                    }
                    let bytes = seen.bytes[at..end].iter().rev();
                    let number = bytes.fold(0u128, |all, byte| all << 8 | u128::from(*byte));
                    self.compared.values += 1;
                    if !self.may_be(view, objects, (value, (*unit * 8) as u16), number) {
                        self.told.push(format!(
                            "{place}: {id:?}+{at} is {number:#x}, not in {value:?}"
                        ));
                    }
                }
            }
        }
    }

    fn number_of(&self, id: ObjId, objects: &BTreeMap<u32, ObjId>) -> Option<u32> {
        match self.states.names.kind(id) {
            Kind::Global(global) => Some(cegar_model::program::ir::number_of(
                GLOBAL_OBJECTS + global.0,
            )),
            _ => objects
                .iter()
                .find(|(_, known)| **known == id)
                .map(|(number, _)| *number),
        }
    }

    /// The value of a line's variable in the execution, if it is known.
    fn value(
        &self,
        view: &View<'_>,
        state: &State,
        objects: &BTreeMap<u32, ObjId>,
        var: Var,
    ) -> Option<i128> {
        let top = view.depth() - 1;
        let (function, _) = view.frame(top)?;
        let widths = &self.program.function(function).registers;
        let meant = |value: &Value, width: u16, is_unsigned: bool, number: u128| {
            let near = (number as u64).wrapping_add(1 << 31) >> 32;
            match (value.plain(), value.single_target()) {
                (Some(_), _) if is_unsigned => Some(number as i128),
                (Some(_), _) => Some(signed(width, number)),
                (None, Some(_)) if !is_unsigned => {
                    Some(i128::from((number as u64).wrapping_sub(near << 32) as i64))
                }
                _ => None,
            }
        };
        let number_of_object = |id| self.number_of(id, objects);
        match var {
            Var::Reg(reg) => {
                let own = Reg(reg & !UNSIGNED);
                let number = view.register(top, own)?;
                let known = state.registers.get(&own)?;
                meant(known, widths[own.index()], reg != own.0, number)
            }
            Var::Cell(id, at, len) => {
                let bytes = len & !UNSIGNED;
                let known = state.object(id, &self.states.names)?;
                let place = Num::exactly(64, at.into());
                let known = known.contents.load(&place, bytes, &self.states.names);
                let number = number_of_object(id)?;
                let (at, end) = (at as usize, (at + bytes) as usize);
                let seen = view.object(number)?;
                if end > seen.bytes.len() || view.is_undefined(number, at, bytes as usize) {
                    return None;
                }
                let all = seen.bytes[at..end].iter().rev();
                let number = all.fold(0u128, |all, byte| all << 8 | u128::from(*byte));
                meant(&known, (bytes * 8) as u16, len != bytes, number)
            }
            Var::Size(id) => {
                let seen = view.object(number_of_object(id)?)?;
                i128::try_from(seen.bytes.len()).ok()
            }
            Var::Outer(..) | Var::Nul(..) | Var::Row(..) => None,
        }
    }

    /// Checks the lines, products and zero bytes of a state.
    fn lines(
        &mut self,
        view: &View<'_>,
        state: &State,
        objects: &BTreeMap<u32, ObjId>,
        place: &str,
    ) {
        let value = |var| self.value(view, state, objects, var);
        let number_of_object = |id| self.number_of(id, objects);
        let mut lines = 0;
        let mut told = Vec::new();
        for line in state.lines.iter() {
            let holds = line.holds(value);
            lines += usize::from(holds.is_some());
            if holds == Some(false) {
                let values: Vec<_> = line.vars().map(value).collect();
                told.push(format!("{place}: {line} does not hold of {values:?}"));
            }
        }
        for product in state.lines.products() {
            let holds = product.holds(value);
            lines += usize::from(holds.is_some());
            if holds == Some(false) {
                told.push(format!("{place}: {product:?} does not hold"));
            }
        }
        let ids: BTreeSet<ObjId> = state.nuls.keys().map(|(id, _)| *id).collect();
        for id in ids {
            let Some(seen) = number_of_object(id).and_then(|number| view.object(number)) else {
                continue;
            };
            if seen.bytes.len() > ends::OBJECT {
                continue;
            }
            lines += 1;
            if !ends::has_ends(state, id, seen.bytes, value) {
                told.push(format!(
                    "{place}: no zero bytes of {id:?} are where it is said"
                ));
            }
        }
        self.compared.lines += lines;
        self.told.extend(told);
    }

    fn may_be(
        &self,
        view: &View<'_>,
        objects: &BTreeMap<u32, ObjId>,
        (value, width): (&Value, u16),
        number: u128,
    ) -> bool {
        if value
            .num
            .is_some_and(|num| num == Num::all(width) || num.has(width, number))
        {
            return true;
        }
        if width != 64 {
            return false;
        }
        let address = number as u64;
        value.ptr.iter().any(|(id, offset)| {
            let first =
                |number: u32| offset.has(64, address.wrapping_sub(u64::from(number) << 32).into());
            match self.states.names.kind(*id) {
                Kind::Global(GlobalId(g)) => {
                    first(cegar_model::program::ir::number_of(GLOBAL_OBJECTS + g))
                }
                Kind::Function(FuncId(f)) => {
                    first(cegar_model::program::ir::number_of(FUNCTION_OBJECTS + f))
                }
                Kind::Gone => true,
                Kind::Made(made) => {
                    let mut known = objects.iter().filter(|(_, known)| *known == id);
                    let heap = self.states.names.info(*id).heap || made.part != 0;
                    let near = (address.wrapping_add(1 << 31) >> 32) as u32;
                    let is_unnamed =
                        !objects.contains_key(&near) && place_of(near) >= DYNAMIC_OBJECTS;
                    let is_near = objects.get(&near) == Some(id) && first(near);
                    // With such an offset the pointer may be far from its object: then all objects
                    // of the name are tried.
                    let is_far = offset.least < -(1 << 31) || offset.most >= 1 << 31;
                    is_near
                        || is_far && known.any(|(number, _)| first(*number))
                        // Of an object whose lifetime has ended only the address is left.
                        || view.existed(near) && view.object(near).is_none()
                        || is_unnamed && heap && view.existed(near)
                        || made.op == cegar_model::program::outside::COPY
                }
            }
        })
    }
}

/// Compares executions of a program with its floor.
pub fn compare_with_floor(
    program: &Program,
    tapes: &[Vec<u8>],
    limits: impl Fn() -> Limits,
) -> (Vec<String>, Compared) {
    let mut compared = Compared::default();
    let Some(floor) = analysis::floor(program, PATIENCE, &Deadline::default()) else {
        compared.none = 1;
        return (Vec::new(), compared);
    };
    let points = Arc::new(Points::of(program));
    let states = match States::of(program, points, &floor.claim) {
        Ok(states) => states,
        Err(why) => return (vec![why.to_string()], compared),
    };
    for tape in tapes {
        let mut follower = Follower {
            program,
            states: &states,
            told: Vec::new(),
            compared: Compared::default(),
            requests: Requests::default(),
        };
        let machine = Machine::new(program, limits());
        let run = machine.run_watched(tape, &mut |view| follower.look(view));
        if let Outcome::Violated(violation) = &run.outcome
            && violation
                .check
                .is_some_and(|check| floor.result.holds(check))
        {
            let what = format!("{} is said to hold", violation.detail);
            follower.told.push(what);
        }
        compared.blocks += follower.compared.blocks;
        compared.values += follower.compared.values;
        compared.lines += follower.compared.lines;
        compared.owners += follower.compared.owners;
        if let Some(what) = follower.told.first() {
            return (vec![format!("tape {tape:?}: {what}")], compared);
        }
    }
    (Vec::new(), compared)
}

pub fn add(total: &mut Compared, one: Compared) {
    total.blocks += one.blocks;
    total.values += one.values;
    total.lines += one.lines;
    total.owners += one.owners;
    total.none += one.none;
}

/// The limits of the executions that are compared.
pub fn short() -> Limits {
    Limits {
        steps: 20_000,
        call_depth: 200,
        ..Limits::default()
    }
}

/// Compares `files` files of random programs.
pub fn compare(files: usize, seed: u64) -> (Vec<String>, Compared) {
    let mut total = Compared::default();
    let told = random::each(files, seed, |program, _, runner| {
        let (differs, compared) = compare_with_floor(program, &random::tapes(runner), short);
        add(&mut total, compared);
        differs.into_iter().next()
    });
    (told, total)
}

/// Compares [`SPECIAL_CASES`], on all short tapes.
pub fn special_cases() -> (Vec<String>, Compared) {
    let (mut told, mut total) = (Vec::new(), Compared::default());
    let all = SPECIAL_CASES.iter().enumerate();
    let texts: Vec<String> = all
        .map(|(i, text)| text.replace('@', &compiled::suffix(i)))
        .collect();
    let mut files = vec![format!("#include <errno.h>\n{}", texts.join("\n"))];
    files.extend((1..texts.len()).map(|_| String::new()));
    let mut program = compiled::together(&files, EVERYTHING).unwrap_or_else(|why| panic!("{why}"));
    for (i, text) in texts.iter().enumerate() {
        compiled::start_in(&mut program, i);
        let tapes: Vec<Vec<u8>> = (0..16u8)
            .map(|tape| vec![tape & 3, tape >> 2, tape & 1])
            .collect();
        let (differs, compared) = compare_with_floor(&program, &tapes, Limits::default);
        add(&mut total, compared);
        told.extend(differs.first().map(|what| format!("{what}\n{text}")));
    }
    (told, total)
}
