//! Lines ([`crate::domain::linear`]) on edges and at calls: registers get new values all at once,
//! or other names until a call is over.
//!
//! Before a variable is removed, its lines are restated with the variables that it was computed
//! from.

use super::relate::Term;
use super::{Frame, Guide, Walker};
use crate::domain::linear::{ANY, Lines, PARAMETER_CTX, Sum, TEMPORARY_CTX, UNSIGNED, Var};
use crate::domain::state::State;
use crate::domain::value::Value;
use crate::program::ir::{ArgClass, Call, FuncId, Operand, Reg, Width};

impl<G: Guide> Walker<'_, G> {
    /// The lines after an edge on which registers get new values, all at once.
    pub(super) fn moved(&self, frame: &Frame, state: &State, moves: &[(Reg, Operand)]) -> Lines {
        if !self.relations {
            return Lines::default();
        }
        let mut lines = state.lines.clone();
        if moves.is_empty() {
            return lines;
        }
        for &(to, from) in moves {
            let width = self.width(frame, to);
            if let Some(term) = self.term(frame, state, from, width) {
                let new = Var::Outer(TEMPORARY_CTX, to.0);
                // If lines mention a register with a single value, they apply to what it is moved
                // to.
                let named = self.by_name(frame, state, &term, (from, width));
                let known = named.filter(|sum| sum.vars().all(|var| lines.has(var)));
                lines.zero(Sum::of(new).plus(&known.unwrap_or(term.sum), -1));
                unsigned(&mut lines, from, new);
            }
        }
        let ranges = |var| match var {
            Var::Outer(TEMPORARY_CTX, to) if to & UNSIGNED == 0 => {
                let from = moves.iter().find(|(reg, _)| reg.0 == to);
                let from = from.map(|(_, from)| *from);
                let term =
                    from.and_then(|from| self.term(frame, state, from, self.width(frame, Reg(to))));
                term.map_or(ANY, |term| (term.low, term.high))
            }
            var => state.range(var, &self.names),
        };
        let is_old = |var| match var {
            Var::Reg(reg) => moves.iter().any(|(to, _)| to.0 == reg & !UNSIGNED),
            Var::Outer(..) | Var::Cell(..) | Var::Size(_) | Var::Nul(..) | Var::Row(..) => false,
        };
        lines.keep(|var| !is_old(var), &ranges);
        lines.rename(|var| match var {
            Var::Outer(TEMPORARY_CTX, to) => Some(Var::Reg(to)),
            var => Some(var),
        })
    }

    /// A term as its register instead of its single value, if the register is set in a loop.
    pub(super) fn by_name(
        &self,
        frame: &Frame,
        state: &State,
        term: &Term,
        (operand, width): (Operand, Width),
    ) -> Option<Sum> {
        let Operand::Reg(reg) = operand else {
            return None;
        };
        let own = Var::Reg(reg.0);
        let is_it = frame.flow.varies(reg)
            && term.low == term.high
            && self.width(frame, reg) == width
            && state.range(own, &self.names) == (term.low, term.high);
        is_it.then(|| Sum::of(own))
    }

    /// The lines at the end of a call, where the registers are its results.
    pub(super) fn returned(
        &self,
        frame: &Frame,
        state: &State,
        (values, widths): (&[Operand], &[Width]),
    ) -> Lines {
        if !self.relations {
            return Lines::default();
        }
        let mut lines = state.lines.clone();
        for ((to, value), width) in (0u32..).zip(values).zip(widths) {
            if let Some(term) = self.term(frame, state, *value, *width) {
                let new = Var::Outer(TEMPORARY_CTX, to);
                lines.zero(Sum::of(new).plus(&term.sum, -1));
                unsigned(&mut lines, *value, new);
            }
        }
        let is_own = |var| matches!(var, Var::Reg(_));
        lines.keep(|var| !is_own(var), &|var| state.range(var, &self.names));
        lines.rename(|var| match var {
            Var::Outer(TEMPORARY_CTX, to) => Some(Var::Reg(to)),
            var => Some(var),
        })
    }

    /// Records the values of a shared function's parameters at its beginning, so that lines can
    /// relate its results to them. This is only done for recursive functions without pointers:
    /// elsewhere the lines took the room of others and proved nothing more of any library.
    pub(super) fn begins(&self, frame: &Frame, entry: &mut State) {
        let has_address = |value: &Value| !value.ptr.is_empty();
        if !self.relations || !frame.recursive || entry.registers.values().any(has_address) {
            return;
        }
        let params = &self.program.function(frame.function).params;
        for (i, &width) in (0u32..).zip(params) {
            let name = Var::Outer(PARAMETER_CTX, i);
            self.named(frame, entry, name, (Operand::Reg(Reg(i)), width));
        }
    }

    /// The lines of a caller, where the arguments have the names under which the lines at the end
    /// of the shared callee mention its parameters.
    fn with_arguments(
        &self,
        frame: &Frame,
        state: &State,
        (call, id): (&Call, FuncId),
        behind: &Lines,
    ) -> Lines {
        let mut lines = state.lines.clone();
        let params = &self.program.function(id).params;
        for ((i, arg), &width) in (0u32..).zip(&call.args).zip(params) {
            if arg.class != ArgClass::Integer || arg.width != width {
                continue;
            }
            let name = Var::Outer(TEMPORARY_CTX, i);
            let terms = [
                (name, self.term(frame, state, arg.value, width)),
                (name.unsigned(), self.bits(frame, state, arg.value, width)),
            ];
            for (name, term) in terms {
                if let Some(term) = term.filter(|_| behind.has(name)) {
                    lines.zero(Sum::of(name).plus(&term.sum, -1));
                }
            }
        }
        lines
    }

    /// The lines with which a callee begins.
    pub(super) fn lines_inside(
        &self,
        frame: &Frame,
        state: &State,
        (inner, call, fixed): (&Frame, &Call, usize),
    ) -> Lines {
        if !self.relations {
            return Lines::default();
        }
        let ctx = frame.ctx.0;
        let mut lines = state.lines.rename(|var| match var {
            Var::Reg(reg) => Some(Var::Outer(ctx, reg)),
            var => Some(var),
        });
        let params = &self.program.function(inner.function).params;
        for ((i, arg), &width) in (0u32..).zip(&call.args[..fixed]).zip(params) {
            if let Operand::Reg(reg) = arg.value
                && arg.class == ArgClass::Integer
                && arg.width == width
                && self.term(frame, state, arg.value, width).is_some()
                && self.width(frame, reg) == width
            {
                let (param, own) = (Var::Reg(i), Var::Outer(ctx, reg.0));
                lines.zero(Sum::of(param).plus(&Sum::of(own), -1));
                if lines.has(own.unsigned()) {
                    let own = Sum::of(own.unsigned());
                    lines.zero(Sum::of(param.unsigned()).plus(&own, -1));
                }
            }
        }
        for sum in self.with_numbers(state, (ctx, &lines)) {
            lines.at_most_zero(Some(sum));
        }
        // In the first iteration of a caller's loop a register is a constant, which only a line can
        // say in the callee.
        for (reg, value) in &state.registers {
            if let Some((id, at)) = value.single_target()
                && let Some(at) = at.as_constant()
                && state.owners.has_rows_of(id)
            {
                let at = Sum::number(at.into());
                lines.zero(Sum::of(Var::Outer(ctx, reg.0)).plus(&at, -1));
            }
        }
        if self.contexts.shared.contains(&inner.function) {
            let ranges = |var| match var {
                Var::Outer(of, reg) if of == ctx => state.range(Var::Reg(reg), &self.names),
                var => state.range(var, &self.names),
            };
            let is_inside = |var| !matches!(var, Var::Outer(..));
            lines.keep(is_inside, &ranges);
        }
        lines
    }

    /// The inequalities of a callee's lines with the caller's registers replaced by their
    /// constants, since a caller's register has no interval in the callee. Example: `pos + len <=
    /// size` where `len == 4`.
    fn with_numbers(&self, state: &State, (ctx, lines): (u32, &Lines)) -> Vec<Sum> {
        let number = |var| match var {
            Var::Outer(of, reg) if of == ctx => {
                let (low, high) = state.range(Var::Reg(reg), &self.names);
                (low == high).then_some(low)
            }
            _ => None,
        };
        let inequalities = lines.iter().filter(|line| !line.is_exact());
        let with = inequalities.filter(|line| line.vars().any(|var| number(var).is_some()));
        let sums = with.filter_map(|line| {
            line.terms().try_fold(
                Sum::number(line.constant()),
                |sum, (var, times)| match number(var) {
                    Some(number) => sum.plus(&Sum::number(number), times),
                    None => sum.plus(&Sum::of(var), times),
                },
            )
        });
        sums.collect()
    }

    /// The range of a variable after a call.
    fn behind_range(
        &self,
        state: &State,
        exit: &State,
        (call, given): (&Call, &[Width]),
        var: Var,
    ) -> (i128, i128) {
        match var {
            Var::Reg(reg) => {
                let own = reg & !UNSIGNED;
                let result = own.checked_sub(call.dst.0);
                match result.filter(|i| (*i as usize) < call.result.len()) {
                    Some(i) if call.result.get(i as usize) == given.get(i as usize) => {
                        exit.range(Var::Reg(i | reg & UNSIGNED), &self.names)
                    }
                    Some(_) => ANY,
                    None => state.range(var, &self.names),
                }
            }
            var => exit.range(var, &self.names),
        }
    }

    /// The caller's lines after a call.
    pub(super) fn lines_behind(
        &self,
        frame: &Frame,
        state: &State,
        exit: &State,
        (call, id): (&Call, FuncId),
    ) -> Lines {
        if !self.relations {
            return Lines::default();
        }
        let ctx = frame.ctx.0;
        let results = call.dst.0..call.dst.0 + call.result.len() as u32;
        let given = &self.program.function(id).result;
        let is_shared = self.contexts.shared.contains(&id);
        let behind = exit.lines.rename(|var| match var {
            Var::Reg(reg) => {
                let (i, mark) = (reg & !UNSIGNED, reg & UNSIGNED);
                let same = call.result.get(i as usize) == given.get(i as usize);
                let is_taken = same && (i as usize) < call.result.len();
                is_taken.then_some(Var::Reg((call.dst.0 + i) | mark))
            }
            Var::Outer(of, reg) if of == ctx => {
                (!results.contains(&(reg & !UNSIGNED))).then_some(Var::Reg(reg))
            }
            Var::Row(..) if is_shared => None,
            Var::Outer(PARAMETER_CTX, param) if is_shared => Some(Var::Outer(TEMPORARY_CTX, param)),
            var => Some(var),
        });
        if !is_shared {
            return behind;
        }
        let touched = self.points.touched(id);
        let mut lines = self.with_arguments(frame, state, (call, id), &behind);
        let is_same = |var| match var {
            Var::Cell(object, ..) => {
                let site = self.names.site(object);
                site.is_some_and(|site| !touched.written.contains(&site))
            }
            Var::Reg(reg) => !results.contains(&(reg & !UNSIGNED)),
            Var::Nul(object, _) => !self.accesses(id, object),
            Var::Row(object, ..) => !self.accesses(id, object),
            Var::Outer(..) | Var::Size(_) => true,
        };
        lines.keep(is_same, &|var| state.range(var, &self.names));
        let all = lines.iter().chain(behind.iter()).cloned();
        let products = lines.products().iter().chain(behind.products()).cloned();
        let mut lines = Lines::from_parts(all, products);
        let is_known = |var| !matches!(var, Var::Outer(TEMPORARY_CTX, _));
        lines.keep(is_known, &|var| {
            self.behind_range(state, exit, (call, given), var)
        });
        lines
    }
}

/// Carries what lines say of an operand read as unsigned over to its new name.
fn unsigned(lines: &mut Lines, from: Operand, to: Var) {
    if let Operand::Reg(from) = from
        && let from = Var::Reg(from.0).unsigned()
        && lines.has(from)
    {
        lines.zero(Sum::of(to.unsigned()).plus(&Sum::of(from), -1));
    }
}
