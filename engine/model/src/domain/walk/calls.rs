//! Calls: each callee is walked where it is called, or is shared.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::memory::Purpose;
use super::parts::{self, Parts};
use super::{Frame, Guide, Step, Stop, Walker};
use crate::domain::contents::{Contents, END, Filling};
use crate::domain::linear::{Sum, UNSIGNED, Var};
use crate::domain::nul::{Ends, Nuls};
use crate::domain::num::Num;
use crate::domain::space::{Alive, Kind, Made, ObjId, Object, Objects};
use crate::domain::state::State;
use crate::domain::value::Value;
use crate::program::ir::{
    ArgClass, Call, Callee, CastKind, CheckId, FuncId, FunctionKind, Intrinsic, Operand, Reg, Width,
};
use crate::program::outside::COPY;

impl<G: Guide> Walker<'_, G> {
    /// Executes a call. Returns false if no execution continues.
    pub(super) fn call(&mut self, frame: &Frame, state: &mut State, op: u32, call: &Call) -> Step {
        match call.callee {
            Callee::Direct(id) => {
                if let Some(check) = call.check
                    && self
                        .program
                        .checks
                        .get(check.index())
                        .is_some_and(|c| c.kind.is_reached())
                {
                    self.violates(Some(check));
                    return Ok(false);
                }
                self.call_function(frame, state, (op, call), id, call.check)
            }
            Callee::Indirect(operand) => self.call_through(frame, state, (op, call), operand),
        }
    }

    fn call_through(
        &mut self,
        frame: &Frame,
        state: &mut State,
        (op, call): (u32, &Call),
        operand: Operand,
    ) -> Step {
        let value = self.get(frame, state, operand, 64);
        let (led, vague) = self.targets_of(frame, state, operand, &value);
        let mut bad = value.num.is_some();
        let mut callees = Vec::new();
        for (id, offset) in led {
            match self.names.kind(id) {
                Kind::Function(function) if offset.has(64, 0) => {
                    bad |= offset.as_constant() != Some(0);
                    callees.push(function);
                }
                _ => bad = true,
            }
        }
        if bad {
            self.violates(call.check);
        }
        if callees.is_empty() && vague && value.ptr.is_empty() {
            self.hole("a call through a pointer of which it is not known where it points");
        }
        let mut after: Option<State> = None;
        for id in callees {
            let mut taken = state.clone();
            if self.call_function(frame, &mut taken, (op, call), id, None)? {
                let all = after.into_iter().chain([taken]);
                let all = all.chain(std::mem::take(&mut self.further_states));
                after = parts::joined(all, &self.names, self.widths(frame));
            }
        }
        match after {
            Some(after) => {
                *state = after;
                Ok(true)
            }
            None => Ok(false),
        }
    }

    fn call_function(
        &mut self,
        frame: &Frame,
        state: &mut State,
        (op, call): (u32, &Call),
        id: FuncId,
        check: Option<CheckId>,
    ) -> Step {
        let function = self.program.function(id);
        self.found.calls.insert((self.at.block, op, id));
        if let FunctionKind::Intrinsic(intrinsic) = function.kind {
            return Ok(match intrinsic {
                Intrinsic::Heap(heap) => self.heap_function(frame, state, heap, (call, op), check),
                _ => self.tape_or_host(frame, state, (intrinsic, id), call, check),
            });
        }
        if !function.is_defined() {
            self.hole(&format!(
                "a call of `{}`, which nobody provides",
                function.name
            ));
            return Ok(false);
        }
        if function.kind == FunctionKind::User && !self.deviate(frame, state, frame.function) {
            return Ok(false);
        }
        let shared = self.contexts.shared.contains(&id);
        let back = (frame.ctx, self.at.block, op);
        let ctx = match shared {
            true => self.contexts.root(id),
            false => {
                if self.contexts.calls(frame.ctx, id) {
                    return Err(Stop::Recursion(function.name.clone()));
                }
                self.contexts.enter(back, id)
            }
        };
        let fixed = (call.fixed as usize).min(call.args.len());
        let variadic = (function.varargs && !shared)
            .then(|| Arc::new(self.variadic(frame, state, call, fixed)));
        let inner = self.frame(ctx, id, variadic);
        let Some(entry) = self.entered(frame, state, (&inner, call, fixed)) else {
            return Ok(false);
        };
        let (at, pos) = (self.at, self.pos);
        let exits = match shared {
            true => {
                self.found.callers.entry(id).or_default().insert(back);
                self.call_shared(id, entry)?
                    .map_or_else(Parts::default, Parts::one)
            }
            false => {
                let entries = self.divided(&inner, entry);
                self.body(&inner, entries)?
            }
        };
        (self.at, self.pos) = (at, pos);
        let mut behind = Vec::new();
        for mut exit in exits.states() {
            if function.kind == FunctionKind::Mock {
                // The exit state does not have the caller's registers. They stay as they are: what
                // they point to may change, but not the addresses.
                if !self.deviate(&inner, &mut exit, id) || !self.given(&inner, id) {
                    return Ok(false);
                }
            }
            let mut after = state.clone();
            self.left(frame, &mut after, exit, (call, id));
            behind.push(after);
        }
        let Some(first) = behind.pop() else {
            return Ok(false);
        };
        *state = first;
        self.further_states = behind;
        Ok(true)
    }

    /// The state in which a callee begins; `None` if no execution reaches it.
    fn entered(
        &mut self,
        frame: &Frame,
        state: &mut State,
        (inner, call, fixed): (&Frame, &Call, usize),
    ) -> Option<State> {
        let function = self.program.function(inner.function);
        let mut values = Vec::new();
        let mut copies = Vec::new();
        for (i, arg) in call.args[..fixed].iter().enumerate() {
            if let ArgClass::ByVal { size, .. } = arg.class {
                let contents = self.by_value(frame, state, arg.value, size)?;
                copies.push((i, size, contents));
            }
            values.push((self.get(frame, state, arg.value, arg.width), arg.width));
        }
        let mut entry = State {
            objects: Arc::clone(&state.objects),
            nuls: state.nuls.clone(),
            owners: self.owners_inside(frame, state, (inner, call, fixed)),
            handed: state.handed,
            ..State::default()
        };
        for (i, size, contents) in copies {
            let made = Made {
                ctx: inner.ctx,
                block: function.blocks.start,
                op: COPY,
                part: i as u32,
            };
            let object = Object {
                alive: Alive::Yes,
                size: Num::exactly(64, size.into()),
                contents: Arc::new(contents),
            };
            values[i] = (self.make(&mut entry, made, object), 64);
        }
        for (i, &width) in function.params.iter().enumerate() {
            let value = match values.get(i) {
                Some((value, own)) if *own == width => value.clone(),
                Some((value, own)) if *own > width => value.cast(CastKind::Trunc, *own, width),
                // Called through a pointer of the wrong type, or by a declaration without
                // parameters: the rest of the register is undefined.
                _ => Value::all(width),
            };
            entry.registers.insert(Reg(i as u32), value);
        }
        entry.lines = self.lines_inside(frame, state, (inner, call, fixed));
        Some(entry)
    }

    /// The bytes of a structure that is passed by value; `None` if no execution continues.
    fn by_value(
        &mut self,
        frame: &Frame,
        state: &mut State,
        from: Operand,
        size: u32,
    ) -> Option<Contents> {
        let purpose = Purpose {
            check: None,
            write: false,
            len: None,
        };
        let len = Num::exactly(64, size.into());
        let access = self.access(frame, state, from, &len, purpose)?;
        if access.unknown {
            self.hole("a structure argument from an unknown place");
            return None;
        }
        let mut contents = Contents::any();
        if let [(id, offset)] = &access.targets[..]
            && let Some(at) = offset.as_constant().and_then(|at| u32::try_from(at).ok())
            && let Some(object) = state.object(*id, &self.names)
        {
            contents.paste(0, size, &object.contents.cut(at, size));
        }
        Some(contents)
    }

    /// Calls a shared function with the objects that it may access. Objects that it cannot write
    /// stay as they were.
    fn call_shared(&mut self, id: FuncId, entry: State) -> Step<Option<State>> {
        let touched = Arc::clone(self.points.touched(id));
        let before = Arc::clone(&entry.objects);
        let sees = |walker: &Self, object: ObjId| walker.accesses(id, object);
        let objects: Objects = before
            .iter()
            .filter(|(id, _)| sees(self, **id))
            .map(|(id, object)| (*id, object.clone()))
            .collect();
        // A global that the callee does not access holds its initial value in the callee's states:
        // no line may relate it.
        let mut lines = entry.lines.clone();
        let is_seen = |var| match var {
            Var::Cell(id, ..) => sees(self, id),
            Var::Reg(_) | Var::Outer(..) | Var::Size(_) | Var::Nul(..) => true,
            Var::Row(..) => false,
        };
        lines.keep(is_seen, &|var| entry.range(var, &self.names));
        let mut entry = State {
            objects: Arc::new(objects),
            lines,
            ..entry
        };
        entry.without_nuls(|id| !sees(self, id));
        self.bound_arguments(&mut entry);
        let Some(exit) = self.shared(id, entry)? else {
            return Ok(None);
        };
        let mut objects = Objects::clone(&before);
        for (id, object) in exit.objects.iter() {
            let site = self.names.site(*id);
            let written = site.is_some_and(|site| touched.written.contains(&site));
            if written || !before.contains_key(id) && self.names.first(*id).is_none() {
                objects.insert(*id, object.clone());
            }
        }
        Ok(Some(State {
            objects: Arc::new(objects),
            ..exit
        }))
    }

    /// Narrows the arguments by what lines say, since the entry state of a shared function is
    /// widened by intervals only. For example, lines bound the middle of a range, and its own
    /// interval does not.
    fn bound_arguments(&self, entry: &mut State) {
        let bounds = entry.registers.keys().copied().map(|reg| {
            let var = Sum::of(Var::Reg(reg.0));
            let ranges = |var| entry.range(var, &self.names);
            let most = entry.lines.upper(&var, &ranges);
            let least = var.times(-1).map(|var| -entry.lines.upper(&var, &ranges));
            (reg, (least.unwrap_or(i128::MIN), most))
        });
        for (reg, bounds) in bounds.collect::<Vec<_>>() {
            if let Some(value) = entry.bounded(reg, bounds) {
                entry.registers.insert(reg, value);
            }
        }
    }

    /// Computes the caller's state after a call.
    fn left(&self, frame: &Frame, state: &mut State, exit: State, (call, id): (&Call, FuncId)) {
        // Contents that look the same may have been written: only what cannot be written is the
        // same.
        let touched = Arc::clone(self.points.touched(id));
        let same = |id: ObjId| {
            let site = self.names.site(id);
            site.is_some_and(|site| !touched.written.contains(&site))
        };
        state.cells.retain(|_, cell| same(cell.object));
        state.forget_reads(|id| !same(id));
        // The lines about a cell that may have been written are about its old value.
        let lines = self.lines_behind(frame, state, &exit, (call, id));
        let owners = self.owners_behind(frame, state, &exit, (call, id));
        state.nuls = self.nuls_behind(state, &exit, id);
        state.objects = Arc::clone(&exit.objects);
        state.age(&exit.fates, &self.names);
        // A call through a pointer of the wrong type may take more or fewer results than there are,
        // or wider ones.
        let given = &self.program.function(id).result;
        for (i, &width) in call.result.iter().enumerate() {
            let value = exit.registers.get(&Reg(i as u32)).zip(given.get(i));
            let value = match value {
                Some((value, own)) if *own == width => value.clone(),
                Some((value, own)) if *own > width => value.cast(CastKind::Trunc, *own, width),
                _ => Value::all(width),
            };
            state.set(Reg(call.dst.0 + i as u32), value);
        }
        state.lines = lines;
        state.owners = owners;
        state.lines_of_nuls();
        // What the callee found out about an argument, such as the class of a character.
        for (var, least, most) in state.lines.bounds() {
            if let Var::Reg(reg) = var
                && reg & UNSIGNED == 0
                && let Some(value) = state.bounded(Reg(reg), (least, most))
            {
                let width = self.width(frame, Reg(reg));
                self.learn(frame, state, Operand::Reg(Reg(reg)), width, value);
            }
        }
    }

    /// The known zero bytes after a call. A shared function does not know those of objects that it
    /// does not access.
    fn nuls_behind(&self, state: &State, exit: &State, id: FuncId) -> Nuls {
        let mut nuls = exit.nuls.clone();
        if self.contexts.shared.contains(&id) {
            let others = state
                .nuls
                .iter()
                .filter(|((of, _), _)| !self.accesses(id, *of));
            nuls.extend(others);
        }
        nuls
    }

    /// Whether a function, or what it calls, may access an object.
    pub(super) fn accesses(&self, id: FuncId, object: ObjId) -> bool {
        let site = self.names.site(object);
        site.is_none_or(|site| self.points.touched(id).accessed.contains(&site))
    }

    /// Applies the deviations of an external function: what it may do besides its body. Returns
    /// false where the walk cannot continue.
    fn deviate(&mut self, frame: &Frame, state: &mut State, id: FuncId) -> bool {
        let program = self.program;
        let function = program.function(id);
        let reached = match program.outside.reachable_by(id) {
            Some(reached) if function.kind == FunctionKind::Mock && !function.effects.pure => {
                reached
            }
            _ => return true,
        };
        if reached.spares && !self.narrow(frame, "const")
            || !self.narrow(frame, "external-calls")
            || program.outside.registers_exit_handlers && !self.narrow(frame, "external-exits")
            || program.outside.uses_library_state && !self.narrow(frame, "external-library")
        {
            return false;
        }
        let is_lifted = |id: &str| program.lifted.contains(id);
        let is_written = |walker: &Self, id: ObjId| {
            walker.names.is_writable(id)
                && walker
                    .names
                    .site(id)
                    .is_some_and(|site| reached.written.contains(&site))
        };
        let globals = reached.written.iter().filter_map(|site| match site {
            crate::program::outside::Site::Global(global) => Some(self.names.global(*global)),
            crate::program::outside::Site::Made(..) => None,
        });
        let made = state
            .objects
            .keys()
            .copied()
            .filter(|id| is_written(self, *id));
        let mut written: Vec<ObjId> = globals.chain(made).collect();
        written.sort_unstable();
        written.dedup();
        let (mut kept, mut heap) = (false, false);
        for id in written {
            let frees = self.names.info(id).heap && is_lifted("external-frees");
            heap |= self.names.info(id).heap && !frees;
            if frees {
                state.owners = Arc::default();
            }
            let Some(object) = state.object(id, &self.names) else {
                continue;
            };
            let contents = rewritten(&object.contents);
            // The initial bytes of a global may include pointers, although none of them is kept.
            let images = object
                .contents
                .runs()
                .any(|(_, run)| matches!(run.filling, Filling::Image(..)));
            kept |= images || contents.runs().next().is_some();
            state.change(id, &self.names, |object| {
                object.contents = Arc::new(contents);
                if frees && object.alive == Alive::Yes {
                    object.alive = Alive::Maybe;
                }
            });
            state.forget_written(id, (0, END), Ends::Forgotten, &self.names);
        }
        let pointers = !kept || self.narrow(frame, "external-pointers");
        pointers && (!heap || self.narrow(frame, "external-frees"))
    }

    /// Applies the rule for results of external functions that may be pointers to anything. Returns
    /// false where the walk cannot continue.
    fn given(&mut self, frame: &Frame, id: FuncId) -> bool {
        !self.program.function(id).effects.gives || self.narrow(frame, "external-results")
    }
}

/// Contents that may have been overwritten: only addresses are kept, which may be any number, too.
fn rewritten(contents: &Contents) -> Contents {
    let mut all = Contents::any();
    let mut values: BTreeMap<u32, (u32, Value)> = BTreeMap::new();
    for (start, run) in contents.runs() {
        if let Filling::Each(8, value) = &run.filling
            && !value.ptr.is_empty()
        {
            let value = Value {
                num: Some(Num::all(64 as Width)),
                ptr: value.ptr.clone(),
            };
            values.insert(start, (run.end, value));
        }
    }
    for (start, (end, value)) in values {
        let mut at = start;
        while at + 8 <= end {
            all.set(at, 8, value.clone());
            at += 8;
        }
    }
    all
}
