//! Calls: direct, indirect, variable arguments, and functions whose call is a violation.

use cegar_llvm::{LLVMTypeKind, Place, Type, Value};

use super::body::Body;
use super::names;
use crate::program::convention::INSTEAD;
use crate::program::ir::*;

impl<'m> Body<'_, 'm> {
    pub(super) fn call(&mut self, value: Value<'m>) -> Result<(), String> {
        let callee = value.callee();
        if let Some((code, constraints)) = callee.assembly() {
            return self.inline_assembly(value, &code, &constraints);
        }
        let name = callee.name();
        if callee.is_function() && name.starts_with("llvm.") {
            return self.llvm_intrinsic(value, &name);
        }
        if callee.is_function() && name == crate::program::convention::UNINIT {
            let (address, len) = (
                self.scalar(value.operand(0))?,
                self.scalar(value.operand(1))?,
            );
            self.emit(Op::Uninit { address, len });
            return Ok(());
        }
        let target = match self.scalar(callee)? {
            Operand::Const(address) => match self.loader.program.function_at(address) {
                Some(id) => Callee::Direct(id),
                None => Callee::Indirect(Operand::Const(address)),
            },
            pointer => Callee::Indirect(pointer),
        };
        let ty = value.callee_type();
        let mut declared = ty.params().len();
        let instead = instead(value).and_then(|name| self.loader.program.function_named(&name));
        let target = match instead {
            // The replacement takes all arguments as fixed ones.
            Some(id) => {
                declared = usize::MAX;
                Callee::Direct(id)
            }
            None => target,
        };
        let check = self.call_check(value, target)?;
        let mut args = Vec::new();
        let mut fixed = 0;
        for (i, argument) in value.arguments().into_iter().enumerate() {
            self.argument(value, i as u32, argument, i >= declared, &mut args)?;
            if i < declared {
                fixed = args.len() as u32;
            }
        }
        let result: Vec<Width> = self
            .loader
            .types
            .leaves(ty.result())?
            .iter()
            .map(|l| l.width)
            .collect();
        let dst = if result.is_empty() {
            Reg::default()
        } else {
            self.result(value)?
        };
        let calls = &mut self.loader.program.calls;
        let site = CallSite(calls.len() as u32);
        let loc = Loc {
            block: self.block,
            inst: self.at,
        };
        calls.push(CallInfo {
            caller: self.id,
            loc,
            pos: self.pos,
        });
        self.emit(Op::Call(Box::new(Call {
            dst,
            callee: target,
            args,
            fixed,
            result,
            site,
            check,
        })));
        Ok(())
    }

    /// The check that a call carries, if there is one. The error names a callee that is not
    /// modelled.
    fn call_check(&mut self, value: Value<'m>, target: Callee) -> Result<Option<CheckId>, String> {
        let Callee::Direct(id) = target else {
            let expression = self.describe_pointer(value.callee());
            return Ok(Some(self.check(CheckKind::Call, expression)));
        };
        let function = self.loader.program.function(id);
        let (name, kind) = (function.name.clone(), function.kind);
        if !self.reports_failure
            && let Some((kind, text)) = names::failing(&name)
        {
            let arguments = value.arguments();
            let text = text.and_then(|i| arguments.get(i)).copied();
            let text = text.and_then(string).unwrap_or_default();
            return Ok(Some(self.check(kind, text)));
        }
        match kind {
            FunctionKind::Missing => Err(name),
            FunctionKind::Intrinsic(Intrinsic::Math(_))
                if value.arguments().iter().any(|a| self.width(a.ty()) > 64) =>
            {
                Err(name)
            }
            FunctionKind::Intrinsic(Intrinsic::Heap(
                HeapFn::Free | HeapFn::Realloc | HeapFn::ReallocArray | HeapFn::UsableSize,
            )) => {
                let expression = match value.arguments().first() {
                    Some(pointer) => self.describe_pointer(*pointer),
                    None => String::new(),
                };
                Ok(Some(self.check(CheckKind::Free, expression)))
            }
            FunctionKind::Intrinsic(Intrinsic::Heap(HeapFn::PosixMemalign)) => {
                let into = value.arguments().first().copied();
                Ok(into.map(|into| self.access(CheckKind::Write, into, 8)))
            }
            FunctionKind::Intrinsic(Intrinsic::Choose) => {
                let into = value.arguments().get(1).copied();
                Ok(into.map(|into| self.access(CheckKind::Write, into, u64::MAX)))
            }
            FunctionKind::Intrinsic(Intrinsic::Output) => {
                let from = value.arguments().get(1).copied();
                Ok(from.map(|from| self.access(CheckKind::Read, from, u64::MAX)))
            }
            FunctionKind::Intrinsic(
                Intrinsic::Heap(
                    HeapFn::Malloc
                    | HeapFn::Calloc
                    | HeapFn::Row
                    | HeapFn::AlignedAlloc
                    | HeapFn::Valloc,
                )
                | Intrinsic::Remaining
                | Intrinsic::Assume
                | Intrinsic::Assumed
                | Intrinsic::Unmodelled
                | Intrinsic::Stop
                | Intrinsic::Violation
                | Intrinsic::ObjectSize
                | Intrinsic::Math(_)
                | Intrinsic::FormatFloat
                | Intrinsic::ParseFloat,
            )
            | FunctionKind::User
            | FunctionKind::Stub
            | FunctionKind::EngineOnly
            | FunctionKind::Mock => Ok(None),
        }
    }

    fn argument(
        &mut self,
        call: Value<'m>,
        index: u32,
        value: Value<'m>,
        variable: bool,
        args: &mut Vec<Arg>,
    ) -> Result<(), String> {
        let ty = value.ty();
        let operands = self.operands(value)?;
        if let Some(pointee) = call.attribute_type(Place::Parameter(index), "byval") {
            let size = self.layout.size(pointee) as u32;
            let align = call
                .attribute_number(Place::Parameter(index), "align")
                .map(|align| align as u32)
                .unwrap_or_else(|| self.layout.align(pointee));
            args.push(Arg {
                value: operands[0],
                width: 64,
                class: ArgClass::ByVal { size, align },
            });
            return Ok(());
        }
        if variable && ty.is_vector() {
            // `va_arg` reads a vector as one block of bits from one register.
            let (from, bits) = (self.lane_width(ty), self.width(ty));
            let value = self.join(&operands, from, bits);
            args.push(Arg {
                value,
                width: bits,
                class: ArgClass::Sse,
            });
            return Ok(());
        }
        let leaves = self.loader.types.leaves(ty)?;
        let class = class(ty);
        for (value, leaf) in operands.into_iter().zip(leaves.iter()) {
            args.push(Arg {
                value,
                width: leaf.width,
                class,
            });
        }
        Ok(())
    }
}

/// How the System V ABI passes a value of this type.
fn class(ty: Type<'_>) -> ArgClass {
    match ty.kind() {
        LLVMTypeKind::LLVMX86_FP80TypeKind => ArgClass::X87,
        LLVMTypeKind::LLVMVectorTypeKind => ArgClass::Sse,
        _ if ty.is_float() => ArgClass::Sse,
        _ => ArgClass::Integer,
    }
}

/// The function that the engine calls instead of a call's callee, if there is one.
fn instead(call: Value<'_>) -> Option<String> {
    match call.metadata(INSTEAD)?.operands()[..] {
        [Some(text)] => text.string(),
        _ => None,
    }
}

/// The text of a constant string.
pub(crate) fn string(pointer: Value<'_>) -> Option<String> {
    let text = String::from_utf8_lossy(pointer.initializer()?.bytes()?);
    Some(text.trim_end_matches('\0').to_owned())
}
