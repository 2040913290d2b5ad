//! Ranges of bytes: copied, filled, made uninitialised; and the beginnings and ends of lifetimes.

use std::sync::Arc;

use super::memory::{Access, Purpose};
use super::relate::Term;
use super::{Frame, Guide, Walker};
use crate::domain::contents::{END, span, spans};
use crate::domain::flow::is_quiet;
use crate::domain::linear::Sum;
use crate::domain::nul::Ends;
use crate::domain::num::Num;
use crate::domain::space::{Alive, Kind};
use crate::domain::state::State;
use crate::domain::value::Value;
use crate::program::ir::{CheckId, Operand, Terminator};

/// The most blocks that a call may still pass through at its end.
const ENDING: usize = 4;

impl<G: Guide> Walker<'_, G> {
    /// Executes `memcpy` or `memmove`. Returns false if no execution continues.
    pub(super) fn copy(
        &mut self,
        frame: &Frame,
        state: &mut State,
        (to, from, len): (Operand, Operand, &Num),
        (read, write): (Option<CheckId>, Option<CheckId>),
        (overlap, extent): (bool, Option<Operand>),
    ) -> bool {
        if len.high == 0 {
            return true;
        }
        let reading = Purpose {
            check: read,
            write: false,
            len: extent,
        };
        let Some(sources) = self.access(frame, state, from, len, reading) else {
            return false;
        };
        let writing = Purpose {
            check: write,
            write: true,
            len: extent,
        };
        let Some(targets) = self.access(frame, state, to, len, writing) else {
            return false;
        };
        if !self.goes(&targets) {
            return false;
        }
        if !overlap
            && self.may_overlap(&sources, &targets, len)
            && !self.are_apart(frame, state, (to, from), len)
        {
            self.violates(write);
        }
        let count = len.as_constant().and_then(|len| u32::try_from(len).ok());
        let ends = extent.map(|extent| self.ends_copied(frame, state, (to, from, extent)));
        self.overwrites(frame, state, &targets, (to, extent, len.high));
        let source = match &sources.targets[..] {
            [(id, offset)] if !sources.unknown => {
                let at = offset.as_constant().and_then(|at| u32::try_from(at).ok());
                at.and_then(|at| Some((state.object(*id, &self.names)?, at)))
            }
            _ => None,
        };
        match (source, targets.place(), count) {
            (Some((object, from)), Some((id, at)), Some(count)) => {
                let runs = object.contents.cut(from, count);
                state.change(id, &self.names, |object| {
                    Arc::make_mut(&mut object.contents).paste(at, count, &runs);
                });
                state.forget_written(
                    id,
                    (at, at.saturating_add(count)),
                    Ends::Settled,
                    &self.names,
                );
            }
            _ => {
                let end = self.end_of(frame, state, &targets, (to, extent));
                self.forget(state, &targets, (len, end), Ends::Settled);
            }
        }
        for (of, range) in ends.into_iter().flatten() {
            state.put_announced(of, range);
        }
        true
    }

    /// Whether the source and the target may overlap without being the same.
    fn may_overlap(&self, sources: &Access, targets: &Access, len: &Num) -> bool {
        sources.targets.iter().any(|(source, from)| {
            targets.targets.iter().any(|(target, to)| {
                let len = i128::from(len.high);
                let apart = i128::from(from.most) + len <= to.least.into()
                    || i128::from(to.most) + len <= from.least.into();
                let single = self.names.info(*source).is_unique;
                let same = single
                    && from.as_constant().is_some()
                    && from.as_constant() == to.as_constant();
                // They are different elements of one array, or the same element.
                let grid = |offset: &Num| len > 0 && i128::from(offset.step) % len == 0;
                let rests = (i128::from(from.rest) - i128::from(to.rest)) % len.max(1) == 0;
                let elements = grid(from) && grid(to) && rests;
                source == target && !apart && !same && !elements
            })
        })
    }

    /// Whether lines prove that ranges of `len` bytes in one object do not overlap.
    fn are_apart(
        &self,
        frame: &Frame,
        state: &State,
        (to, from): (Operand, Operand),
        len: &Num,
    ) -> bool {
        let term = |operand| self.term(frame, state, operand, 64);
        let (Some(to), Some(from)) = (term(to), term(from)) else {
            return false;
        };
        let is_single = |id| self.names.info(id).is_unique;
        let len = Sum::number(len.high.into());
        let ends_before = |a: &Term, b: &Term| {
            let end = a.sum.plus(&len, 1);
            self.proves(state, end.and_then(|end| end.plus(&b.sum, -1)))
        };
        self.relations
            && to.object == from.object
            && to.object.is_some_and(is_single)
            && (ends_before(&to, &from) || ends_before(&from, &to))
    }

    /// Executes `memset`. Returns false if no execution continues.
    pub(super) fn fill(
        &mut self,
        frame: &Frame,
        state: &mut State,
        (to, byte, len): (Operand, Value, &Num),
        (check, extent): (Option<CheckId>, Option<Operand>),
    ) -> bool {
        if len.high == 0 {
            return true;
        }
        let purpose = Purpose {
            check,
            write: true,
            len: extent,
        };
        let Some(access) = self.access(frame, state, to, len, purpose) else {
            return false;
        };
        if !self.goes(&access) {
            return false;
        }
        let zero = byte.as_constant() == Some(0);
        if !zero {
            self.overwrites(frame, state, &access, (to, extent, len.high));
        }
        let end = self.end_of(frame, state, &access, (to, extent));
        for (id, offset) in &access.targets {
            let names = &self.names;
            let sure = access.strong.then(|| offset.as_constant()).flatten();
            state.change(*id, names, |object| {
                let size = u32::try_from(object.size.high).unwrap_or(END);
                let contents = Arc::make_mut(&mut object.contents);
                let mut written = spans(offset, len.high);
                if let Some(at) = sure.and_then(|at| u32::try_from(at).ok()) {
                    let count = u32::try_from(len.low).unwrap_or(END);
                    let high = span(offset, len.high).1.min(size).min(end);
                    let filled = at.saturating_add(count).min(high);
                    contents.fill(at, filled, byte.clone());
                    written = vec![(filled, high)];
                }
                for (low, high) in written {
                    let high = high.min(size).min(end);
                    if low >= high {
                        continue;
                    }
                    match Num::between(64, low.into(), u64::from(high) - 1) {
                        Some(all) => contents.store(&all, 1, &byte, names),
                        None => contents.forget(low, high),
                    }
                }
            });
            let (low, high) = span(offset, len.high);
            state.forget_written(
                *id,
                (low, high.min(end).max(low)),
                Ends::Settled,
                &self.names,
            );
        }
        if let Some(extent) = extent.filter(|_| zero) {
            self.zeros_written(frame, state, (to, extent));
        }
        true
    }

    /// Begins or ends the lifetime of an object.
    pub(super) fn lifetime(
        &mut self,
        frame: &Frame,
        state: &mut State,
        start: bool,
        address: Operand,
    ) -> bool {
        if !start && frame.recursive && self.ends_call() {
            return true;
        }
        let value = self.get(frame, state, address, 64);
        let (led, vague) = self.targets_of(frame, state, address, &value);
        if vague && led.is_empty() {
            self.hole("a lifetime of which it is not known whose it is");
            return false;
        }
        let single = value
            .single_target()
            .is_some_and(|(id, _)| self.names.info(id).is_unique);
        for (id, _) in led {
            if !matches!(self.names.kind(id), Kind::Made(_)) {
                continue;
            }
            state.change(id, &self.names, |object| {
                let new = if start { Alive::Yes } else { Alive::No };
                if object.alive != new {
                    object.alive = if single { new } else { Alive::Maybe };
                }
                if start {
                    object.contents = Arc::default();
                }
            });
            state.forget_written(id, (0, END), Ends::Forgotten, &self.names);
        }
        true
    }

    /// Whether only the end of the call follows. It ends the lifetimes of the call's objects, and
    /// considers other calls of the same function.
    fn ends_call(&self) -> bool {
        let mut block = self.program.block(self.at.block);
        let mut from = block.ops.iter().position(|inst| inst.at > self.at.inst);
        for _ in 0..ENDING {
            let rest = from.map_or(&[][..], |from| &block.ops[from..]);
            if !rest.iter().all(|inst| is_quiet(&inst.op)) {
                return false;
            }
            match &block.end {
                Terminator::Return { .. } => return true,
                Terminator::Jump(edge) => {
                    block = self.program.block(edge.to);
                    from = Some(0);
                }
                _ => return false,
            }
        }
        false
    }

    /// Makes bytes uninitialised.
    pub(super) fn uninit(
        &mut self,
        frame: &Frame,
        state: &mut State,
        address: Operand,
        len: &Num,
    ) -> bool {
        let value = self.get(frame, state, address, 64);
        let (led, vague) = self.targets_of(frame, state, address, &value);
        if vague && led.is_empty() {
            self.hole("bytes of which it is not known whose they are");
            return false;
        }
        for (id, offset) in led {
            let (low, high) = span(&offset, len.high);
            state.change(id, &self.names, |object| {
                Arc::make_mut(&mut object.contents).forget(low, high);
            });
            state.forget_written(id, (low, high), Ends::Forgotten, &self.names);
        }
        true
    }
}
