//! The functions that the machine itself executes: the tape, the heap, the transcript, the host's
//! mathematics.
//!
//! The runtime's table in the architecture document defines their meaning; natively the same
//! functions are C. Values that a host function needs are made concrete, and the path records that.

use std::ffi::CString;
use std::sync::Arc;

use super::outcome::{Choice, Exhausted, Outcome};
use super::shadow::{Shade, ShadowByte};
use super::step::{Run, Step};
use crate::program::ir::{
    Call, CheckId, CheckKind, FloatKind, FuncId, FunctionKind, Intrinsic, MathFn, Operand, Pred,
    Reg, Width,
};
use crate::term::{float, value};

/// The number of requests that may find the tape empty or too short. After one more, the run ends
/// as by `exit(0)`. `CRUNNER_ASKED_IN_VAIN` in `crunner_rt.h` is the same number.
const ASKED_IN_VAIN: u32 = 16384;

impl<const TRACK: bool> Run<'_, TRACK> {
    pub(super) fn intrinsic(
        &mut self,
        intrinsic: Intrinsic,
        id: FuncId,
        call: &Call,
        check: Option<CheckId>,
    ) -> Step {
        let arg = |i: usize| call.args.get(i).map_or(Operand::Const(0), |a| a.value);
        match intrinsic {
            Intrinsic::Choose => self.choose(call, check),
            Intrinsic::Remaining => {
                let left = self.tape.len().saturating_sub(self.position);
                if left == 0 {
                    self.found_empty()?;
                }
                self.give(call, left as u128)
            }
            Intrinsic::Assume => self.assume(arg(0)),
            Intrinsic::Assumed => self.give(call, 1),
            Intrinsic::Unmodelled => Err(Box::new(Outcome::Unmodelled(u32::MAX))),
            Intrinsic::Stop => {
                let status = self.concretise(arg(0), 32);
                Err(Box::new(Outcome::Exited(status as u32 as i32)))
            }
            Intrinsic::Violation => Err(self.reported(call)),
            Intrinsic::Output => {
                let stream = self.concretise(arg(0), 32) as u32 as i32;
                let len = self.concretise(arg(2), 64) as u64;
                let at = self.concretise(arg(1), 64) as u64;
                self.write_out(stream, at, len, check)
            }
            Intrinsic::Heap(function) => self.heap_function(function, call, check),
            Intrinsic::ObjectSize => {
                let at = self.concretise(arg(0), 64) as u64;
                let size = match self.memory.readable(at, 0) {
                    Ok((object, offset)) => object.bytes.len() - offset,
                    Err(_) => 0,
                };
                self.fix_size(at);
                self.give(call, size as u128)
            }
            Intrinsic::Math(function) => {
                let kind = match self.program.function(id).params.first() {
                    Some(32) => FloatKind::F32,
                    _ => FloatKind::F64,
                };
                let args: Vec<Operand> = call.args.iter().map(|a| a.value).collect();
                self.float_function(call.dst, function, kind, &args)
            }
            Intrinsic::FormatFloat => self.format_float(call, check),
            Intrinsic::ParseFloat => self.parse_float(call, check),
        }
    }

    /// Sets the call's result, if the caller takes one.
    pub(super) fn give(&mut self, call: &Call, value: u128) -> Step {
        if let Some(width) = call.result.first() {
            self.set(call.dst, value & value::mask(*width));
        }
        Ok(())
    }

    /// Handles a request that finds the tape empty or too short. Too many of them end the run,
    /// because a program that asks in an endless loop would spin forever on zeros.
    fn found_empty(&mut self) -> Step {
        let (choice, path_at, step) = (self.choices.len(), self.path.len(), self.steps);
        self.exhausted.get_or_insert(Exhausted {
            choice,
            path_at,
            step,
        });
        self.asked_in_vain += 1;
        match self.asked_in_vain > ASKED_IN_VAIN {
            true => Err(Box::new(Outcome::Exited(0))),
            false => Ok(()),
        }
    }

    /// `crunner_choose(channel, into, n)`.
    fn choose(&mut self, call: &Call, check: Option<CheckId>) -> Step {
        let arg = |i: usize| call.args.get(i).map_or(Operand::Const(0), |a| a.value);
        let name = self.get64(arg(0));
        let into = self.concretise(arg(1), 64) as u64;
        let n = self.concretise(arg(2), 64) as u64;
        if n > 0
            && let Err(fault) = self.memory.check_write(into, n)
        {
            return Err(self.fault(check, CheckKind::Write, fault, into, n));
        }
        self.within(into, n, check);
        let name = match self.string(name) {
            Ok(name) => name,
            Err(fault) => return Err(self.fault(None, CheckKind::Read, fault, name, 1)),
        };
        let channel = match self.channels.get(&name) {
            Some(known) => Arc::clone(known),
            None => {
                let channel: Arc<str> = String::from_utf8_lossy(&name).into();
                self.channels.insert(name, Arc::clone(&channel));
                channel
            }
        };
        let (len, at) = (n as usize, self.position);
        if at + len > self.tape.len() && len > 0 {
            self.found_empty()?;
        }
        let above = self.frames.last().map_or(0, |f| f.hash);
        let site = super::frame::extend_hash(above, call.site);
        self.choices.push(Choice {
            channel,
            at,
            len,
            site,
            path_at: self.path.len(),
        });
        self.position += len;
        if len == 0 {
            return Ok(());
        }
        let from = self.tape.get(at.min(self.tape.len())..).unwrap_or_default();
        let taken = &from[..len.min(from.len())];
        if let Ok((object, offset)) = self.memory.writable(into, n) {
            let (head, tail) = object.bytes[offset..offset + len].split_at_mut(taken.len());
            head.copy_from_slice(taken);
            tail.fill(0);
            object.written(offset, len);
        }
        if TRACK {
            self.name_inputs(into, at, len);
        }
        Ok(())
    }

    /// Makes the bytes that were just taken from the tape inputs, if they are to be symbolic.
    fn name_inputs(&mut self, into: u64, at: usize, len: usize) {
        let past = self.tape.len()..self.tape.len() + self.limits.extend;
        let Some(pool) = self.pool.as_deref_mut() else {
            return;
        };
        let Some(object) = self.memory.unchecked(into) else {
            return;
        };
        let offset = (into & 0xffff_ffff) as usize;
        for i in 0..len {
            let index = at + i;
            if self.symbolic.contains(&index) || past.contains(&index) {
                let term = pool.input(index as u32);
                object.set_shadow(offset + i, ShadowByte::byte(term));
            }
        }
    }

    fn assume(&mut self, operand: Operand) -> Step {
        let holds = self.get(operand, 32) != 0;
        let shade = self.shade(operand);
        if shade.undefined {
            self.undefined_decision();
        }
        if let Some(term) = shade.term {
            let cond = self.make(|p| {
                let zero = p.constant(p.width(term), 0);
                p.cmp(if holds { Pred::Ne } else { Pred::Eq }, term, zero)
            });
            self.assumed(cond);
        }
        if holds {
            Ok(())
        } else {
            Err(Box::new(Outcome::Rejected))
        }
    }

    /// `crunner_violation(kind, what, file, line)`: the violation is reported at the place where
    /// user code called into the stubs.
    fn reported(&mut self, call: &Call) -> super::step::Stop {
        let arg = |i: usize| call.args.get(i).map_or(Operand::Const(0), |a| a.value);
        let kind = crate::program::load::violation(self.get(arg(0), 32) as u32);
        let what = self.string(self.get64(arg(1))).unwrap_or_default();
        let detail = String::from_utf8_lossy(&what).into_owned();
        let program = self.program;
        let user = |f: FuncId| program.function(f).kind == FunctionKind::User;
        let outer = self.frames.iter().rposition(|f| user(f.function));
        let Some(frame) = outer.and_then(|i| self.frames.get(i + 1)) else {
            return self.violated(None, kind, detail);
        };
        let info = frame.site.and_then(|s| program.calls.get(s.index()));
        let Some(info) = info else {
            return self.violated(None, kind, detail);
        };
        self.pos = info.pos;
        let at = |c: &crate::program::ir::Check| c.loc == info.loc && c.kind == kind;
        let check = program
            .checks
            .iter()
            .position(at)
            .map(|i| CheckId(i as u32));
        self.violated(check, kind, detail)
    }

    fn write_out(&mut self, stream: i32, at: u64, len: u64, check: Option<CheckId>) -> Step {
        // Writing is not a decision, so symbolic bytes stay symbolic.
        if len > 0 {
            let (object, offset) = match self.memory.readable(at, len) {
                Ok(found) => found,
                Err(fault) => return Err(self.fault(check, CheckKind::Read, fault, at, len)),
            };
            let bytes = &object.bytes[offset..offset + len as usize];
            match self.output.last_mut() {
                Some((last, joined)) if *last == stream => joined.extend_from_slice(bytes),
                _ => self.output.push((stream, bytes.to_vec())),
            }
            self.within(at, len, check);
        }
        Ok(())
    }

    /// A function of `<math.h>`. If the solver supports it, the result has a term; otherwise the
    /// arguments are made concrete.
    pub(super) fn float_function(
        &mut self,
        dst: Reg,
        function: MathFn,
        kind: FloatKind,
        args: &[Operand],
    ) -> Step {
        let width = |i: usize| -> Width {
            if function == MathFn::Ldexp && i == 1 {
                32
            } else {
                kind.width()
            }
        };
        let values: Vec<u128> = args
            .iter()
            .enumerate()
            .map(|(i, a)| self.get(*a, width(i)))
            .collect();
        let Some(result) = float::function(function, kind, &values) else {
            return Err(Box::new(Outcome::Unmodelled(u32::MAX)));
        };
        let mut shade = Shade::default();
        if TRACK {
            if function.is_exact() {
                let from: Vec<(Operand, Width)> = args
                    .iter()
                    .enumerate()
                    .map(|(i, a)| (*a, width(i)))
                    .collect();
                shade = self.shade_of(&from, |p, t| p.float_fn(function, kind, t));
            } else {
                for (i, a) in args.iter().enumerate() {
                    shade.undefined |= self.shade(*a).undefined;
                    if let Some(term) = self.shade(*a).term {
                        self.fixed(term, width(i), values[i]);
                    }
                }
            }
        }
        self.set_shaded(dst, result, shade);
        Ok(())
    }

    /// `crunner_format_float(to, cap, spec, value)`.
    fn format_float(&mut self, call: &Call, check: Option<CheckId>) -> Step {
        let arg = |i: usize| call.args.get(i).map_or(Operand::Const(0), |a| a.value);
        let (to, cap) = (
            self.concretise(arg(0), 64) as u64,
            self.concretise(arg(1), 64) as u64,
        );
        let at = self.concretise(arg(2), 64) as u64;
        let number = f64::from_bits(self.concretise(arg(3), 64) as u64);
        let spec = match self.string(at) {
            Ok(spec) => spec,
            Err(fault) => return Err(self.fault(check, CheckKind::Read, fault, at, 1)),
        };
        let spec = self.bytes(at, spec.len() as u64, check)?;
        let text = host_format(&spec, number).unwrap_or_default();
        let kept = text.len().min(cap.saturating_sub(1) as usize);
        if cap > 0 {
            let n = kept as u64 + 1;
            match self.memory.writable(to, n) {
                Ok((object, offset)) => {
                    object.bytes[offset..offset + kept].copy_from_slice(&text[..kept]);
                    object.bytes[offset + kept] = 0;
                    object.written(offset, kept + 1);
                    self.within(to, n, check);
                }
                Err(fault) => return Err(self.fault(check, CheckKind::Write, fault, to, n)),
            }
        }
        self.give(call, text.len() as u128)
    }

    /// `crunner_parse_float(from, len)`.
    fn parse_float(&mut self, call: &Call, check: Option<CheckId>) -> Step {
        let arg = |i: usize| call.args.get(i).map_or(Operand::Const(0), |a| a.value);
        let (from, len) = (
            self.concretise(arg(0), 64) as u64,
            self.concretise(arg(1), 64) as u64,
        );
        let mut text = self.bytes(from, len, check)?;
        text.retain(|b| *b != 0);
        let value = CString::new(text).map_or(0.0, |text| {
            // SAFETY: `text` ends with NUL, and a null end pointer is allowed.
            unsafe { libc::strtod(text.as_ptr(), std::ptr::null_mut()) }
        });
        self.give(call, u128::from(value.to_bits()))
    }
}

/// The host's printf of one double. `None` if `spec` is not exactly one conversion of a double.
fn host_format(spec: &[u8], value: f64) -> Option<Vec<u8>> {
    let (last, rest) = spec.split_last()?;
    let (first, flags) = rest.split_first()?;
    let plain = flags.iter().all(|b| b"+-# 0123456789.".contains(b));
    if *first != b'%' || !plain || !b"aAeEfFgG".contains(last) || flags.len() > 12 {
        return None;
    }
    let spec = CString::new(spec).ok()?;
    let mut text = vec![0u8; 512];
    loop {
        // SAFETY: the buffer has `text.len()` bytes, and `spec` is one conversion that takes a
        // double.
        let n =
            unsafe { libc::snprintf(text.as_mut_ptr().cast(), text.len(), spec.as_ptr(), value) };
        let n = usize::try_from(n).ok()?;
        if n < text.len() {
            text.truncate(n);
            return Some(text);
        }
        if n > 1 << 24 {
            return None;
        }
        text.resize(n + 1, 0);
    }
}

#[cfg(test)]
mod unit {
    use super::host_format;

    #[test]
    fn formats_are_single_conversions_of_doubles() {
        assert_eq!(host_format(b"%.3f", 1.5).as_deref(), Some(&b"1.500"[..]));
        assert_eq!(
            host_format(b"%08.2e", 12.0).as_deref(),
            Some(&b"1.20e+01"[..])
        );
        assert_eq!(host_format(b"%s", 1.5), None);
        assert_eq!(host_format(b"%f%n", 1.5), None);
        assert_eq!(host_format(b"%", 1.5), None);
    }
}
