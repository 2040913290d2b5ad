//! Calls and returns.

use smallvec::SmallVec;

use super::frame::{Frame, VariableArgument, extend_hash};
use super::memory::ObjectOrigin;
use super::outcome::{Answer, Outcome};
use super::shadow::Shade;
use super::step::{Next, Run, Step};
use crate::program::ir::{
    ArgClass, BlockId, Call, Callee, CastKind, CheckKind, FuncId, FunctionKind, Operand, Reg, Width,
};

impl<const TRACK: bool> Run<'_, TRACK> {
    /// Pushes the entry function's frame.
    pub(super) fn enter_entry(&mut self) -> Step {
        let entry = self.program.entry;
        match self.program.functions.get(entry.index()) {
            Some(function) if function.is_defined() => {
                self.base = 0;
                self.push(entry, None, 0, (BlockId(0), 0), Reg(0))
            }
            _ => Err(Box::new(Outcome::Unmodelled(u32::MAX))),
        }
    }

    /// Makes room for a frame at `base` and jumps to the function's first block.
    #[inline]
    fn push(
        &mut self,
        id: FuncId,
        site: Option<crate::program::ir::CallSite>,
        base: usize,
        back: (BlockId, usize),
        dst: Reg,
    ) -> Step {
        if self.frames.len() >= self.limits.call_depth {
            return Err(Box::new(Outcome::StackOverflow));
        }
        let function = self.program.function(id);
        let end = base + function.registers.len();
        if self.registers.len() < end {
            self.registers.resize(end.next_power_of_two(), 0);
            if TRACK {
                self.shades
                    .resize(end.next_power_of_two(), Shade::default());
            }
        }
        let above = self.frames.last().map_or(0, |f| f.hash);
        self.frames.push(Frame {
            function: id,
            site,
            base,
            objects: self.objects.len(),
            back,
            dst,
            hash: site.map_or(above, |site| extend_hash(above, site)),
            variable_arguments: Vec::new(),
            fixed: (0, 0),
        });
        self.base = base;
        (self.block, self.at) = (BlockId(function.blocks.start), 0);
        Ok(())
    }

    /// Executes a call; `index` is the operation's number in its block.
    pub(super) fn call(&mut self, call: &Call, index: usize) -> Step<Next> {
        let id = match call.callee {
            Callee::Direct(id) => {
                self.failing(call)?;
                id
            }
            Callee::Indirect(operand) => {
                let address = self.concretise(operand, 64) as u64;
                match self.program.function_at(address) {
                    Some(id) => id,
                    None => {
                        self.note_fault(&[operand], Some((address, 0)));
                        let detail = match address {
                            0 => "call of NULL".to_owned(),
                            _ => format!("call of {address:#x}, which is no function"),
                        };
                        return Err(self.violated(call.check, CheckKind::Call, detail));
                    }
                }
            }
        };
        let function = self.program.function(id);
        if let FunctionKind::Intrinsic(intrinsic) = function.kind {
            let check = if matches!(call.callee, Callee::Direct(_)) {
                call.check
            } else {
                None
            };
            self.intrinsic(intrinsic, id, call, check)?;
            return Ok(Next::Go);
        }
        if !function.is_defined() {
            return Err(Box::new(Outcome::Unmodelled(u32::MAX)));
        }
        if TRACK && self.gives_sign(id, call) {
            return Ok(Next::Go);
        }
        // In C, a call through a pointer of the wrong type is undefined; the ABI passes the
        // arguments that fit. A missing argument is zero here, and may be anything in a proof.
        let parameters = function.params.len();
        let caller = self.frames.last().map_or(0, |f| f.function.index());
        let base = self.base + self.program.functions[caller].registers.len();
        let fixed = (call.fixed as usize).min(call.args.len());
        let mut values: SmallVec<[(u128, Width, Shade); 8]> = SmallVec::new();
        let mut copies: SmallVec<[u64; 2]> = SmallVec::new();
        for arg in &call.args[..fixed] {
            let mut value = (
                self.get(arg.value, arg.width),
                arg.width,
                self.shade(arg.value),
            );
            if let ArgClass::ByVal { size, .. } = arg.class {
                let copy = self.argument_copy(value.0 as u64, u64::from(size))?;
                copies.push(copy);
                value = (u128::from(copy), 64, Shade::default());
            }
            values.push(value);
        }
        let extra = if function.varargs {
            self.extra(call, fixed)
        } else {
            Vec::new()
        };
        self.push(id, Some(call.site), base, (self.block, index + 1), call.dst)?;
        let from = FuncId(caller as u32);
        for i in 0..parameters {
            let (value, given, shade) = values.get(i).copied().unwrap_or_default();
            let width = function.params[i];
            let shade = self.fitted(shade, given, width);
            let value = value & crate::term::value::mask(width);
            self.set_shaded(Reg(i as u32), value, shade);
        }
        // The copies belong to the callee.
        self.objects.extend_from_slice(&copies);
        if TRACK && self.crossing.is_some() {
            self.note_entry(call.site, from, id);
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.variable_arguments = extra;
            if function.varargs {
                let count = |class: ArgClass| {
                    call.args[..fixed]
                        .iter()
                        .filter(|a| a.class == class)
                        .count() as u32
                };
                frame.fixed = (count(ArgClass::Integer), count(ArgClass::Sse));
            }
        }
        Ok(Next::Enter)
    }

    /// Ends the run at the call of a failing function: reaching it is the violation.
    #[inline]
    fn failing(&mut self, call: &Call) -> Step {
        let Some(id) = call.check else { return Ok(()) };
        let Some(check) = self.program.checks.get(id.index()) else {
            return Ok(());
        };
        match check.kind.is_reached() {
            true => Err(self.violated(Some(id), check.kind, String::new())),
            false => Ok(()),
        }
    }

    /// The callee's copy of a struct passed by value.
    fn argument_copy(&mut self, from: u64, size: u64) -> Step<u64> {
        if let Err(fault) = self.memory.readable(from, size) {
            return Err(self.fault(None, CheckKind::Read, fault, from, size));
        }
        self.room_for(size)?;
        let copy = self.memory.allocate(size, ObjectOrigin::Arguments);
        self.within(from, size, None);
        self.copy_bytes(copy, from, size);
        Ok(copy)
    }

    fn extra(&mut self, call: &Call, fixed: usize) -> Vec<VariableArgument> {
        let variable = call.args[fixed..].iter();
        variable
            .map(|arg| VariableArgument {
                value: self.get(arg.value, arg.width),
                shade: self.shade(arg.value),
                width: arg.width,
                class: arg.class,
            })
            .collect()
    }

    /// Returns from a function. The result is the run's status if this was the entry function.
    pub(super) fn leave(&mut self, values: &[Operand]) -> Step<Option<i64>> {
        let Some(frame) = self.frames.last() else {
            return Ok(Some(0));
        };
        let (objects, back, dst, function) = (frame.objects, frame.back, frame.dst, frame.function);
        let result = &self.program.function(function).result;
        let results: SmallVec<[(u128, Width, Shade); 2]> = values
            .iter()
            .zip(result)
            .map(|(value, width)| (self.get(*value, *width), *width, self.shade(*value)))
            .collect();
        self.drop_objects(objects);
        if self.frames.len() == 1 {
            // The frame stays, because the report of where the run ended needs it.
            let width = result.first().copied().unwrap_or(64);
            let status = results.first().map_or(0, |(value, ..)| *value);
            return Ok(Some(crate::term::value::signed(width, status) as i64));
        }
        if TRACK {
            self.answered(&results);
        }
        self.frames.pop();
        self.base = self.frames.last().map_or(0, |f| f.base);
        (self.block, self.at) = back;
        // A function called through a pointer of the wrong type may return more results than are
        // taken, fewer, or wider ones.
        let undefined = (
            self.get(Operand::Undef, 128),
            128,
            self.shade(Operand::Undef),
        );
        for (i, width) in self
            .program
            .expected_results(back.0, back.1)
            .iter()
            .enumerate()
        {
            let (value, given, shade) = results.get(i).copied().unwrap_or(undefined);
            let shade = self.fitted(shade, given, *width);
            let value = value & crate::term::value::mask(*width);
            self.set_shaded(Reg(dst.0 + i as u32), value, shade);
        }
        Ok(None)
    }

    /// The shadow of a value that is passed with one width and taken with another: through a
    /// pointer of the wrong type, or by a declaration that does not fit the definition.
    fn fitted(&mut self, shade: Shade, given: Width, taken: Width) -> Shade {
        let Some(term) = shade.term.filter(|_| given != taken) else {
            return shade;
        };
        let kind = match taken > given {
            true => CastKind::ZExt,
            false => CastKind::Trunc,
        };
        Shade {
            term: self.make(|pool| pool.cast(kind, term, taken)),
            ..shade
        }
    }

    /// Records the result of the frame that ends, if the environment returns it to the user's code.
    fn answered(&mut self, results: &[(u128, Width, Shade)]) {
        let [.., caller, callee] = &self.frames[..] else {
            return;
        };
        let kind = |id: FuncId| self.program.function(id).kind;
        if kind(caller.function) != FunctionKind::User
            || kind(callee.function) == FunctionKind::User
        {
            return;
        }
        let Some(site) = callee
            .site
            .filter(|_| self.answers.len() < self.limits.trace)
        else {
            return;
        };
        let function = callee.function;
        let value = match (results, &self.program.function(function).result[..]) {
            (&[(value, width, _)], [_]) => Some((value, width)),
            _ => None,
        };
        self.answers.push(Answer {
            site,
            function,
            value,
            choices: self.choices.len(),
        });
    }

    /// Ends the lifetimes of the youngest stack objects until `keep` are left.
    pub(super) fn drop_objects(&mut self, keep: usize) {
        while self.objects.len() > keep
            && let Some(address) = self.objects.pop()
        {
            self.memory.remove(address);
        }
    }

    /// Ends the run if `size` more bytes exceed the limits.
    pub(super) fn room_for(&mut self, size: u64) -> Step {
        if size > u64::from(u32::MAX >> 1) || self.memory.live + size > self.limits.live_bytes {
            return Err(Box::new(Outcome::OutOfMemory));
        }
        Ok(())
    }
}
