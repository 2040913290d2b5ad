//! The constraints of calls.

use super::Builder;
use crate::program::ir::{
    ArgClass, BlockId, Call, Callee, FuncId, FunctionKind, HeapFn, Intrinsic, Operand, Reg,
};
use crate::program::outside::COPY;
use crate::program::outside::solve::{CallBinding, Node};

impl<'p> Builder<'p> {
    pub(super) fn call(&mut self, function: FuncId, place: (BlockId, u32), call: &Call) {
        let args: Vec<Option<Node>> = (call.args.iter())
            .map(|arg| match arg.class {
                ArgClass::ByVal { .. } => self.by_value(function, call, arg.value),
                ArgClass::Integer | ArgClass::Sse | ArgClass::X87 => {
                    self.operand(function, arg.value)
                }
            })
            .collect();
        let results: Vec<Node> = (0..call.result.len() as u32)
            .map(|i| self.register(function, Reg(call.dst.0 + i)))
            .collect();
        let through = CallBinding { args, results };
        match call.callee {
            Callee::Direct(id) => {
                if let FunctionKind::Intrinsic(intrinsic) = self.program.function(id).kind {
                    self.intrinsic(intrinsic, place, &through);
                } else if let Some(callable) = self.constraints.callable(self.functions[id.index()])
                {
                    self.constraints.bind(&callable, &through);
                }
            }
            Callee::Indirect(operand) => {
                if let Some(address) = self.operand(function, operand) {
                    self.constraints.call(address, through);
                }
            }
        }
    }

    /// The address of a structure's copy, which has the structure's contents. If the callee is not
    /// known, the copy may be one of any function whose address is taken.
    fn by_value(&mut self, function: FuncId, call: &Call, from: Operand) -> Option<Node> {
        let from = self.operand(function, from)?;
        let node = self.constraints.node();
        self.constraints.edge(from, node);
        let callees: Vec<FuncId> = match call.callee {
            Callee::Direct(id) => vec![id],
            Callee::Indirect(_) => {
                let all = (0..).map(FuncId).zip(&self.program.functions);
                all.filter(|(_, function)| function.addressed)
                    .map(|(id, _)| id)
                    .collect()
            }
        };
        for id in callees {
            let blocks = self.program.function(id).blocks.clone();
            if !blocks.is_empty() {
                let copy = self.site(BlockId(blocks.start), COPY);
                self.constraints.add(node, copy);
                if let Some(contents) = self.constraints.contents(copy) {
                    self.constraints.load(from, contents);
                }
            }
        }
        Some(node)
    }

    fn intrinsic(
        &mut self,
        intrinsic: Intrinsic,
        (block, index): (BlockId, u32),
        through: &CallBinding,
    ) {
        let Intrinsic::Heap(function) = intrinsic else {
            return;
        };
        let is_new = match function {
            HeapFn::Malloc
            | HeapFn::Calloc
            | HeapFn::Row
            | HeapFn::Realloc
            | HeapFn::ReallocArray
            | HeapFn::AlignedAlloc
            | HeapFn::PosixMemalign
            | HeapFn::Valloc => true,
            HeapFn::Free | HeapFn::UsableSize => false,
        };
        if !is_new {
            return;
        }
        let object = self.site(block, index);
        let first = through.args.first().copied().flatten();
        match (function, first) {
            (HeapFn::PosixMemalign, Some(into)) => {
                let node = self.constraints.node();
                self.constraints.add(node, object);
                self.constraints.store(into, node);
            }
            (HeapFn::Realloc | HeapFn::ReallocArray, Some(old)) => {
                if let Some(contents) = self.constraints.contents(object) {
                    self.constraints.load(old, contents);
                }
                // The block may stay where it is.
                for &result in &through.results {
                    self.constraints.edge(old, result);
                }
            }
            _ => {}
        }
        for &result in &through.results {
            self.constraints.add(result, object);
        }
    }
}
