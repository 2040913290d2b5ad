//! The place of a fault in the user's code, and the calls that led there.

use cegar_fuzz::native::Frame;
use cegar_model::machine::Violation;
use cegar_model::program::{CallInfo, FuncId, FunctionKind, Pos};

use super::Judge;
use super::words::plain;
use crate::verdict::Place;

impl Judge<'_> {
    /// Converts a position into the place that is reported.
    pub fn at(&self, pos: Pos, function: &str) -> Place {
        let function = &plain(function);
        Place {
            file: self
                .program
                .files
                .get(pos.file as usize)
                .filter(|_| pos.line > 0)
                .map(|file| self.relative(file))
                .unwrap_or_default(),
            line: pos.line,
            column: pos.column,
            function: function.to_owned(),
        }
    }

    /// The place of the violated check.
    pub(super) fn check_place(&self, violation: &Violation) -> Place {
        let function = self.function(violation).map(|id| self.program.function(id));
        let function = function.map(|function| function.name.as_str());
        self.at(violation.pos, function.unwrap_or_default())
    }

    /// The function that contains the violated check.
    pub(super) fn function(&self, violation: &Violation) -> Option<FuncId> {
        let check = self.program.checks.get(violation.check?.index())?;
        Some(check.function)
    }

    /// If the violated check is outside the user's code, the innermost call from the user's code
    /// and its callee: for example, an excessive length passed to `write` is the caller's fault.
    pub(super) fn call_into_stubs(&self, violation: &Violation) -> Option<(&CallInfo, FuncId)> {
        let is_users = |id: FuncId| self.program.function(id).kind == FunctionKind::User;
        let mut callee = self.function(violation).filter(|&id| !is_users(id))?;
        for site in violation.stack.iter().rev() {
            let call = self.program.calls.get(site.index())?;
            if is_users(call.caller) {
                return (call.pos.line > 0).then_some((call, callee));
            }
            callee = call.caller;
        }
        None
    }

    /// The number of checks before the violated one at the same place, or of calls before the call
    /// that leads to it: all parts of a macro's body have the same place. `None` if there is only
    /// one, and if the place is in an inlined function, whose copies come from the same source.
    pub(super) fn part(&self, violation: &Violation, call: Option<&CallInfo>) -> Option<u32> {
        let program = self.program;
        let is_inlined = |function: FuncId, pos: Pos| {
            let begins = program.function(function).pos;
            pos.file != begins.file || pos.line < begins.line
        };
        if let Some(call) = call {
            if is_inlined(call.caller, call.pos) {
                return None;
            }
            let here = program
                .calls
                .iter()
                .filter(|other| other.caller == call.caller && other.pos == call.pos);
            return number(here.map(|other| std::ptr::eq(other, call)));
        }
        let check = program.checks.get(violation.check?.index())?;
        if is_inlined(check.function, check.pos) {
            return None;
        }
        let here = program.checks.iter().filter(|other| {
            !other.trivial
                && other.kind == check.kind
                && other.function == check.function
                && other.pos == check.pos
        });
        number(here.map(|other| std::ptr::eq(other, check)))
    }

    /// Whether a native function belongs to the user's code, and not to the stub library or the
    /// sanitizer.
    pub(super) fn is_users(&self, function: &str) -> bool {
        let mut all = self.program.functions.iter();
        all.find(|known| plain(&known.name) == plain(function))
            .is_some_and(|known| known.kind == FunctionKind::User)
    }

    /// The active calls, innermost first.
    pub(super) fn stack(&self, violation: &Violation) -> Vec<Place> {
        violation
            .stack
            .iter()
            .rev()
            .filter_map(|site| self.program.calls.get(site.index()))
            .map(|call| self.at(call.pos, &self.program.function(call.caller).name))
            .filter(|place| place.line > 0)
            .collect()
    }

    pub(super) fn frame(&self, frame: &Frame) -> Place {
        Place {
            file: self.relative(&frame.file),
            line: frame.line,
            column: frame.column,
            function: plain(&frame.function),
        }
    }
}

/// The zero-based position of the marked item, or `None` if there is only one item.
fn number(is_meant: impl Iterator<Item = bool>) -> Option<u32> {
    let all: Vec<bool> = is_meant.collect();
    let before = all.iter().position(|is_it| *is_it)?;
    (all.len() > 1).then_some(before as u32)
}
