//! Turns the variables at loop heads from LLVM's values into registers and globals.

use cegar_llvm::Value;

use super::Bound;
use crate::program::ir::{
    FunctionKind, GlobalId, Holder, LoopHead, Named, Operand, Pos, Reg, Width,
};
use crate::program::load::body::Body;

impl<'m> Body<'_, 'm> {
    /// Records the heads of the function's loops.
    pub(in crate::program::load) fn loops(&mut self, function: Value<'m>) {
        if self.loader.program.function(self.id).kind != FunctionKind::User {
            return;
        }
        for block in function.blocks() {
            let Some(head) = self.loader.heads.remove(&block) else {
                continue;
            };
            let named = head.variables.into_iter().filter_map(|v| self.named(v));
            let variables = named.collect();
            let (directory, name) = head.file;
            let pos = Pos {
                file: self.loader.file(directory, name),
                line: head.line,
                column: head.column,
            };
            let block = self.loader.blocks[&block];
            self.loader.program.loops.push(LoopHead {
                block,
                pos,
                variables,
            });
        }
    }

    fn named(&mut self, bound: Bound<'m>) -> Option<Named> {
        let holder = match bound.memory {
            true if bound.value.is_global_variable() => {
                let globals = self.loader.module.globals();
                let at = globals.iter().position(|global| *global == bound.value)?;
                Holder::Global(GlobalId(at as u32))
            }
            true => Holder::Local(self.result(bound.value).ok()?),
            false => match self.scalar(bound.value).ok()? {
                Operand::Const(c) => Holder::Constant(c),
                Operand::Reg(reg) if self.is_wide(reg, bound.bits) => Holder::Register(reg),
                Operand::Reg(_) | Operand::Wide(_) | Operand::Undef => return None,
            },
        };
        Some(Named {
            name: bound.name,
            bits: bound.bits,
            signed: bound.signed,
            holder,
        })
    }

    fn is_wide(&self, reg: Reg, bits: Width) -> bool {
        self.registers.get(reg.index()) == Some(&bits)
    }
}
