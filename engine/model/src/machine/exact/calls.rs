//! Examines calls and returns.

use rustc_hash::FxHashSet;

use super::super::memory::ObjectOrigin;
use super::super::shadow::Shade;
use super::super::step::Run;
use super::{Examination, Examined};
use crate::assumption::Rule;
use crate::program::ir::{
    ArgClass, Call, Callee, FuncId, Function, FunctionKind, HeapFn, Intrinsic, Operand, Pred,
    Program,
};
use crate::program::plain;

const INPUT: &str = "it asks for input";
const TYPES: &str = "a function is called with another type than its own";

/// The functions that give the result of a comparison of strings or bytes (`engine_of_sign`), one
/// in each file of the library that has it.
pub(super) fn signs(program: &Program) -> FxHashSet<FuncId> {
    let of_library = |function: &Function| {
        function.kind == FunctionKind::EngineOnly
            && function.params[..] == [32]
            && function.result[..] == [32]
            && plain(&function.name) == "engine_of_sign"
    };
    let functions = (0u32..).map(FuncId).zip(&program.functions);
    functions
        .filter(|(_, function)| of_library(function))
        .map(|(id, _)| id)
        .collect()
}

impl<const TRACK: bool> Run<'_, TRACK> {
    pub(super) fn called(&self, examination: &mut Examination, call: &Call) -> Examined {
        let id = match call.callee {
            Callee::Direct(id) => id,
            // The machine reports a pointer that leads to no function.
            Callee::Indirect(pointer) => match self.program.function_at(self.get64(pointer)) {
                Some(id) => id,
                None => return Ok(()),
            },
        };
        let function = self.program.function(id);
        match function.kind {
            FunctionKind::Intrinsic(intrinsic) => self.asked_of(examination, intrinsic, id, call),
            FunctionKind::User | FunctionKind::Stub | FunctionKind::EngineOnly => {
                let fixed = (call.fixed as usize).min(call.args.len());
                let given = call.args[..fixed].iter().map(|arg| arg.width);
                if !given.eq(function.params.iter().copied()) {
                    return Err(TYPES);
                }
                let mut copies = 0;
                for arg in &call.args[..fixed] {
                    let ArgClass::ByVal { size, .. } = arg.class else {
                        continue;
                    };
                    if self.shade(arg.value).undefined {
                        return Err("the address of an argument was never written");
                    }
                    let from = self.get64(arg.value);
                    self.refuse_unknown_object(from)?;
                    self.refuse_cut_address(examination, from, u64::from(size), true)?;
                    // The copy is made next.
                    if examination.holders.contains(&((from >> 32) as u32)) {
                        examination.holders.insert(self.memory.next_number(copies));
                    }
                    copies += 1;
                }
                Ok(())
            }
            FunctionKind::Mock | FunctionKind::Missing => {
                Err("it calls a function that nobody defines")
            }
        }
    }

    /// Executes a function whose result may be any number with the sign of its argument, if the run
    /// is examined. Only the sign of the result is known then; the result 0 is exact, because it is
    /// the only number without a sign.
    pub(in super::super) fn gives_sign(&mut self, id: FuncId, call: &Call) -> bool {
        let examination = self.examination.as_ref();
        let (true, Some(arg)) = (
            examination.is_some_and(|examination| examination.signs.contains(&id)),
            call.args.first(),
        ) else {
            return false;
        };
        let (value, given) = (self.get(arg.value, arg.width), self.shade(arg.value));
        let shade = Shade {
            undefined: given.undefined || value != 0,
            signed: given.signed || !given.undefined,
            ..Shade::default()
        };
        if !call.result.is_empty() {
            self.set_shaded(call.dst, value, shade);
        }
        true
    }

    /// Whether a comparison depends only on a sign that is known.
    #[inline]
    pub(in super::super) fn asks_sign(&self, pred: Pred, a: Operand, b: Operand) -> bool {
        let with_zero = match (a, b) {
            (sign, Operand::Const(0)) | (Operand::Const(0), sign) => self.shade(sign).signed,
            _ => false,
        };
        let of_signs = matches!(
            pred,
            Pred::Eq | Pred::Ne | Pred::Slt | Pred::Sle | Pred::Sgt | Pred::Sge
        );
        with_zero && of_signs
    }

    /// Examines a call of a function that the machine itself executes.
    fn asked_of(
        &self,
        examination: &mut Examination,
        intrinsic: Intrinsic,
        id: FuncId,
        call: &Call,
    ) -> Examined {
        let arg = |i: usize| call.args.get(i).map_or(Operand::Const(0), |a| a.value);
        match intrinsic {
            Intrinsic::Choose | Intrinsic::Remaining => Err(INPUT),
            Intrinsic::Assumed => {
                let name = self.string(self.get64(arg(0))).unwrap_or_default();
                let name = String::from_utf8_lossy(&name).into_owned();
                let rule = Rule::find(&name).ok_or("an assumption that is not known")?;
                let place = self.user_place();
                examination
                    .narrowings
                    .entry(rule.id)
                    .or_default()
                    .insert(place);
                Ok(())
            }
            Intrinsic::Assume
            | Intrinsic::Unmodelled
            | Intrinsic::Stop
            | Intrinsic::Violation
            | Intrinsic::Output
            | Intrinsic::ObjectSize => Ok(()),
            Intrinsic::Heap(function) => self.heap_seen(examination, function, call),
            Intrinsic::Math(function) => match function.is_exact() {
                true => {
                    let widths = self.program.function(id).params.iter().copied();
                    let values: Vec<_> = call.args.iter().map(|a| a.value).zip(widths).collect();
                    self.refuse_addresses(examination, &values)
                }
                false => Err("a function is rounded by each library in its own way"),
            },
            Intrinsic::FormatFloat => {
                self.refuse_addresses(examination, &[(arg(3), 64)])?;
                self.refuse_cut_address(examination, self.get64(arg(0)), self.get64(arg(1)), true)
            }
            Intrinsic::ParseFloat => {
                let (from, len) = (self.get64(arg(0)), self.get64(arg(1)));
                let offset = (from & 0xffff_ffff) as usize;
                let size = self.memory.about(from).map_or(0, |(size, _)| size as usize);
                let len = (len as usize).min(size.saturating_sub(offset));
                if self.memory.is_undefined(from, offset, len) {
                    return Err("a number is read from what was never written");
                }
                self.refuse_cut_address(examination, from, len as u64, false)
            }
        }
    }

    fn heap_seen(&self, examination: &mut Examination, function: HeapFn, call: &Call) -> Examined {
        let arg = |i: usize| call.args.get(i).map_or(Operand::Const(0), |a| a.value);
        for size in function.sizes() {
            self.refuse_addresses(examination, &[(arg(size), 64)])?;
        }
        match function {
            HeapFn::Malloc
            | HeapFn::Calloc
            | HeapFn::Valloc
            | HeapFn::AlignedAlloc
            | HeapFn::Free => Ok(()),
            HeapFn::Realloc | HeapFn::ReallocArray => {
                let old = self.get64(arg(0));
                if examination.holders.contains(&((old >> 32) as u32)) {
                    let (one, many) = (self.get64(arg(1)), self.get64(arg(2)));
                    let new = match function {
                        HeapFn::Realloc => one,
                        _ => one.saturating_mul(many),
                    };
                    let size = self.memory.about(old).map_or(0, |(size, _)| size);
                    self.refuse_cut_address(examination, old, size.min(new), true)?;
                    // The new block is made next.
                    examination.holders.insert(self.memory.next_number(0));
                }
                Ok(())
            }
            HeapFn::PosixMemalign => {
                let into = self.get64(arg(0));
                self.refuse_cut_address(examination, into, 8, true)?;
                examination.holders.insert((into >> 32) as u32);
                Ok(())
            }
            HeapFn::Row => Err("an object from outside is asked for"),
            HeapFn::UsableSize => Err("it asks how large a block came out"),
        }
    }

    /// Examines `va_start`: the areas that it makes contain the arguments.
    pub(super) fn variable_arguments(
        &self,
        examination: &mut Examination,
        list: Operand,
    ) -> Examined {
        let at = self.get64(list);
        self.refuse_cut_address(examination, at, 24, true)?;
        examination.holders.insert((at >> 32) as u32);
        for area in 0..2 {
            let number = self.memory.next_number(area);
            examination.holders.insert(number);
            examination.lasting.insert(number);
        }
        let extra = self
            .frames
            .last()
            .map(|frame| &frame.variable_arguments[..]);
        for argument in extra.unwrap_or_default() {
            if let ArgClass::ByVal { size, .. } = argument.class {
                let from = argument.value as u64;
                if argument.shade.undefined {
                    return Err("the address of an argument was never written");
                }
                self.refuse_unknown_object(from)?;
                self.refuse_cut_address(examination, from, u64::from(size), true)?;
            } else if argument.width == 64
                && let Some(root) = self.root(examination, argument.value as u64)
            {
                examination.lasting.insert(root);
            }
        }
        Ok(())
    }

    /// Examines a return: the caller has to take what the function returns. Addresses of objects
    /// that end with the function may outlast them.
    pub(super) fn returned_seen(
        &self,
        examination: &mut Examination,
        values: &[Operand],
    ) -> Examined {
        let Some(frame) = self.frames.last() else {
            return Ok(());
        };
        let result = &self.program.function(frame.function).result;
        if self.frames.len() > 1 {
            let taken = self.program.expected_results(frame.back.0, frame.back.1);
            if taken.len() > result.len() || taken.iter().zip(result).any(|(a, b)| a != b) {
                return Err(TYPES);
            }
        }
        for (value, width) in values.iter().zip(result) {
            if *width == 64
                && let Some(root) = self.root(examination, self.get64(*value))
                && let Some((_, ObjectOrigin::Stack { .. } | ObjectOrigin::Arguments)) =
                    self.memory.about(u64::from(root) << 32)
            {
                examination.lasting.insert(root);
            }
        }
        Ok(())
    }
}
