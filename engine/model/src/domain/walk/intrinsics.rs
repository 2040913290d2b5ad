//! The tape, the transcript and the host's functions.

use super::memory::Purpose;
use super::{Frame, Guide, Walker};
use crate::domain::contents::END;
use crate::domain::nul::Ends;
use crate::domain::num::Num;
use crate::domain::space::Kind;
use crate::domain::state::State;
use crate::domain::value::Value;
use crate::program::ir::{Call, CheckId, FuncId, Intrinsic, Operand, Pred};
use crate::program::load;

/// The longest decimal number, with a precision that the stub library limits.
const LONGEST: u64 = 1 << 24;

impl<G: Guide> Walker<'_, G> {
    /// Executes an intrinsic. Returns false if no execution continues.
    pub(super) fn tape_or_host(
        &mut self,
        frame: &Frame,
        state: &mut State,
        (intrinsic, _): (Intrinsic, FuncId),
        call: &Call,
        check: Option<CheckId>,
    ) -> bool {
        let operand = |i: usize| call.args.get(i).map_or(Operand::Const(0), |arg| arg.value);
        let number =
            |walker: &Self, state: &State, i: usize| walker.number(frame, state, operand(i), 64);
        let reading = Purpose {
            check,
            write: false,
            len: None,
        };
        let writing = Purpose {
            check,
            write: true,
            len: None,
        };
        match intrinsic {
            Intrinsic::Choose => {
                let len = number(self, state, 2);
                let writing = Purpose {
                    len: Some(operand(2)),
                    ..writing
                };
                return self.choose(frame, state, (operand(1), &len), writing);
            }
            Intrinsic::Remaining => self.give_any(state, call),
            Intrinsic::Assume => {
                let zero = Value::exactly(32, 0);
                return self.compare(frame, state, (Pred::Ne, 32), operand(0), &zero);
            }
            Intrinsic::Assumed => {
                if !self.assumed(frame, call) {
                    return false;
                }
                self.give(state, call, Value::exactly(32, 1));
            }
            Intrinsic::Unmodelled => {
                let what = self.literal(call);
                self.hole(&what.unwrap_or_else(|| "something that is not modelled".to_owned()));
                return false;
            }
            Intrinsic::Stop => return false,
            Intrinsic::Violation => {
                let kind = self.number(frame, state, operand(0), 32).as_constant();
                self.found
                    .report(load::violation(kind.unwrap_or(0) as u32), frame.ctx);
                return false;
            }
            Intrinsic::Output => {
                let len = number(self, state, 2);
                if len.high > 0 {
                    let reading = Purpose {
                        len: Some(operand(2)),
                        ..reading
                    };
                    return self
                        .access(frame, state, operand(1), &len, reading)
                        .is_some();
                }
            }
            Intrinsic::ObjectSize => {
                let size = self.object_size(frame, state, operand(0));
                self.give(state, call, size);
            }
            Intrinsic::Math(_) => self.give_any(state, call),
            Intrinsic::FormatFloat => {
                let room = number(self, state, 1);
                if room.high > 0 {
                    let writing = Purpose {
                        len: Some(operand(1)),
                        ..writing
                    };
                    let Some(access) = self.access(frame, state, operand(0), &room, writing) else {
                        return false;
                    };
                    if !self.goes(&access) {
                        return false;
                    }
                    self.forget(state, &access, (&room, END), Ends::Forgotten);
                }
                let length = Num::between(32, 0, LONGEST).unwrap_or(Num::all(32));
                self.give(state, call, Value::number(length));
            }
            Intrinsic::ParseFloat => {
                let len = number(self, state, 1);
                let reading = Purpose {
                    len: Some(operand(1)),
                    ..reading
                };
                if len.high > 0
                    && self
                        .access(frame, state, operand(0), &len, reading)
                        .is_none()
                {
                    return false;
                }
                self.give_any(state, call);
            }
            Intrinsic::Heap(_) => {
                self.hole("a heap function");
                return false;
            }
        }
        true
    }

    fn give_any(&self, state: &mut State, call: &Call) {
        if let Some(&width) = call.result.first() {
            self.give(state, call, Value::all(width));
        }
    }

    fn choose(
        &mut self,
        frame: &Frame,
        state: &mut State,
        (into, len): (Operand, &Num),
        purpose: Purpose,
    ) -> bool {
        if len.high == 0 {
            return true;
        }
        let Some(access) = self.access(frame, state, into, len, purpose) else {
            return false;
        };
        if !self.goes(&access) {
            return false;
        }
        let extent = purpose.len;
        self.overwrites(frame, state, &access, (into, extent, len.high));
        let end = self.end_of(frame, state, &access, (into, extent));
        self.forget(state, &access, (len, end), Ends::Settled);
        true
    }

    /// The number of bytes from a pointer to its object's end; 0 if it points to no object.
    fn object_size(&mut self, frame: &Frame, state: &State, at: Operand) -> Value {
        let value = self.get(frame, state, at, 64);
        let (led, _) = self.targets_of(frame, state, at, &value);
        let mut most = 0;
        for (id, _) in &led {
            if let Kind::Global(_) | Kind::Made(_) = self.names.kind(*id) {
                let object = state.object(*id, &self.names);
                most = most.max(object.map_or(0, |object| object.size.high));
            }
        }
        // A single address in an object about which everything is known.
        if let Some((id, offset)) = value.single_target()
            && let Some(object) = state.object(id, &self.names)
            && object.alive == crate::domain::space::Alive::Yes
            && let (Some(size), Some(offset)) = (object.size.as_constant(), offset.as_constant())
            && offset <= size
        {
            return Value::exactly(64, (size - offset).into());
        }
        Value::number(Num::between(64, 0, most).unwrap_or(Num::all(64)))
    }
}
