//! Violations in words. Nothing here runs before something went wrong.

use std::sync::Arc;

use super::memory::{Fault, ObjectOrigin};
use super::outcome::{Outcome, Violation};
use super::step::{Run, Stop};
use crate::program::ir::{CheckId, CheckKind, FunctionKind, Global, Op, Operand};

impl<const TRACK: bool> Run<'_, TRACK> {
    /// Ends the run with a violated check.
    #[cold]
    pub(super) fn violated(&self, check: Option<CheckId>, kind: CheckKind, detail: String) -> Stop {
        let known = check.and_then(|c| self.program.checks.get(c.index()));
        let detail = match known {
            Some(check) if detail.is_empty() => check.expression.clone(),
            _ => detail,
        };
        let pos = known
            .map(|c| c.pos)
            .filter(|p| p.line > 0)
            .unwrap_or(self.pos);
        // The loader decides the kind of a numbered check: a bad `free` stays one.
        let kind = known.map_or(kind, |c| c.kind);
        let stack = self.frames.iter().filter_map(|f| f.site).collect();
        Box::new(Outcome::Violated(Violation {
            check,
            kind,
            pos,
            stack,
            detail,
            address_from: None,
        }))
    }

    /// An invalid access through an address of which more may be known, such as that it came from
    /// outside as a number. The description "16 bytes past NULL" would be true, but no help.
    #[cold]
    pub(super) fn fault_through(
        &mut self,
        operand: Operand,
        check: Option<CheckId>,
        kind: CheckKind,
        fault: Fault,
        len: u64,
    ) -> Stop {
        let address = self.get64(operand);
        self.note_fault(&[operand], Some((address, len)));
        let mut stop = self.fault(check, kind, fault, address, len);
        if !matches!(fault, Fault::Null | Fault::NotAnObject) || address == 0 {
            return stop;
        }
        if let Some(channel) = self.number_from(operand)
            && let Outcome::Violated(violation) = &mut *stop
        {
            let verb = if kind == CheckKind::Write {
                "write"
            } else {
                "read"
            };
            let plural = if len == 1 { "" } else { "s" };
            violation.detail = format!(
                "{verb} of {len} byte{plural} at {address:#x}, an address made from the number \
                 that `{channel}` gave"
            );
            violation.address_from = Some(channel);
        }
        stop
    }

    /// The channel of the 8 bytes that an address was computed from, unless the address is an
    /// offset from an object.
    fn number_from(&self, operand: Operand) -> Option<Arc<str>> {
        let pool = self.pool.as_deref()?;
        let term = self.shade(operand).term?;
        if pool.eval(term, &|_| 0) >> 32 != 0 {
            return None;
        }
        let input = *pool.inputs(term).first()? as usize;
        let choice = self
            .choices
            .iter()
            .find(|choice| choice.len == 8 && (choice.at..choice.at + 8).contains(&input))?;
        Some(choice.channel.clone())
    }

    /// An invalid access.
    #[cold]
    pub(super) fn fault(
        &self,
        check: Option<CheckId>,
        kind: CheckKind,
        fault: Fault,
        address: u64,
        len: u64,
    ) -> Stop {
        // The length of the array is a guess: an access past its end is not a fault of the program
        // and shows nothing, so the run is rejected.
        if fault == Fault::PastGuess {
            return Box::new(Outcome::Rejected);
        }
        let verb = if kind == CheckKind::Write {
            "write"
        } else {
            "read"
        };
        let plural = if len == 1 { "" } else { "s" };
        // An address slightly before an object's start is at the end of the range of the
        // neighbouring number.
        let after = address.wrapping_add(1 << 31) & !0xffff_ffff;
        let before = address.wrapping_sub(after) as i64;
        let what = match fault {
            _ if before < 0 && self.memory.about(after).is_some() => {
                format!("at offset {before} of {}", self.object(after, ""))
            }
            Fault::Null if address == 0 => "at NULL".to_owned(),
            Fault::Null => format!("at offset {} of NULL", address),
            Fault::NotAnObject => format!("at {address:#x}, which is no object"),
            Fault::Function => "of a function's code".to_owned(),
            Fault::Gone => format!("of {}", self.object(address, "is gone")),
            Fault::OutOfScope => format!("of {}", self.object(address, "is out of scope")),
            Fault::Constant => format!("of {}", self.object(address, "is constant")),
            Fault::Bounds | Fault::PastGuess => format!(
                "at offset {} of {}",
                address & 0xffff_ffff,
                self.object(address, "")
            ),
        };
        self.violated(check, kind, format!("{verb} of {len} byte{plural} {what}"))
    }

    /// Describes an object in words.
    pub(super) fn object(&self, address: u64, state: &str) -> String {
        let Some((size, site)) = self.memory.about(address) else {
            return "no object".to_owned();
        };
        let (name, place) = match site {
            ObjectOrigin::Global(id) => {
                let global = self.program.globals.get(id.index());
                let name = global.map_or_else(|| "a global".to_owned(), Global::described);
                (name, "global".to_owned())
            }
            ObjectOrigin::Stack { at } => {
                let block = self.program.blocks.get(at.block.index());
                let inst = block.and_then(|b| b.ops.get(at.inst as usize));
                let name = match inst.map(|i| &i.op) {
                    Some(Op::Alloca { name, .. }) if !name.is_empty() => format!("`{name}`"),
                    _ => "a local object".to_owned(),
                };
                (name, "stack".to_owned())
            }
            ObjectOrigin::Heap(site) => {
                let call = site.and_then(|s| self.program.calls.get(s.index()));
                let caller = call.map(|c| (c.pos, self.program.function(c.caller)));
                match caller {
                    Some((pos, by)) if by.kind == FunctionKind::User => {
                        // Folders differ between machines, and tests store this text.
                        let path = self.program.show(pos);
                        let place = path.rsplit('/').next().unwrap_or(&path);
                        ("a block".to_owned(), format!("heap, allocated at {place}"))
                    }
                    Some((_, by)) if by.name == "cegar_entry" => {
                        ("the harness's data".to_owned(), "heap".to_owned())
                    }
                    _ => ("a block".to_owned(), "heap".to_owned()),
                }
            }
            ObjectOrigin::OutsideArray => ("an array from outside".to_owned(), "heap".to_owned()),
            ObjectOrigin::Arguments => ("an argument".to_owned(), "stack".to_owned()),
        };
        let plural = if size == 1 { "" } else { "s" };
        let state = match (state, site) {
            ("", _) => String::new(),
            ("is gone", ObjectOrigin::Heap(_) | ObjectOrigin::OutsideArray) => ", freed".to_owned(),
            ("is gone", _) => ", its function has returned".to_owned(),
            (state, _) => format!(", which {state}"),
        };
        format!("{name} ({size} byte{plural}, {place}{state})")
    }
}
