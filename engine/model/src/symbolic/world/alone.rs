//! Functions that are encoded alone, once for all their calls.
//!
//! Such a function has two contexts without a caller, and a cut point in each: its beginning, over
//! its parameters, and its end, over its parameters and results. The parameters' variables have one
//! name at both, since no operation changes a parameter. See [`crate::symbolic::summary`].

use std::collections::BTreeSet;

use super::{Context, CtxId, Cut, World};
use crate::program::ir::{BlockId, FuncId, Reg, Width};

/// One of the two cut points that frame a function that is encoded alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The cut point at the function's beginning.
    Begin,
    /// The cut point at the function's end.
    End,
}

/// The suffix of the name of an end's context.
const END: &str = ".end";

impl World<'_> {
    /// Declares that these functions are encoded alone. Must be called before any context is
    /// entered.
    pub fn encode_alone(&mut self, functions: &BTreeSet<FuncId>) {
        for &function in functions {
            let [begin, end] = [Side::Begin, Side::End].map(|side| {
                let id = CtxId(self.contexts.len() as u32);
                self.contexts.push(Context {
                    function,
                    back: None,
                    depth: 0,
                    recursion: 0,
                    repeated: true,
                    side: Some(side),
                    key: match side {
                        Side::Begin => format!("f{}", function.0),
                        Side::End => format!("f{}{END}", function.0),
                    },
                });
                id
            });
            self.alone.insert(function, (begin, end));
        }
    }

    /// The functions that are encoded alone.
    pub fn alone(&self) -> impl Iterator<Item = FuncId> + '_ {
        self.alone.keys().copied()
    }

    /// The cut points where a function begins and where it ends, if it is encoded alone.
    pub fn ends_of(&self, function: FuncId) -> Option<(Cut, Cut)> {
        let &(begin, end) = self.alone.get(&function)?;
        let block = BlockId(self.program.function(function).blocks.start);
        Some((Cut { ctx: begin, block }, Cut { ctx: end, block }))
    }

    /// The function whose end a cut point is. No transition starts at such a cut point.
    pub fn ended(&self, cut: Cut) -> Option<FuncId> {
        let context = self.context(cut.ctx);
        (context.side == Some(Side::End)).then_some(context.function)
    }

    /// The function whose beginning a cut point is. Only calls lead to such a cut point.
    pub fn begun(&self, cut: Cut) -> Option<FuncId> {
        let context = self.context(cut.ctx);
        let first = self.program.function(context.function).blocks.start;
        (context.side == Some(Side::Begin) && cut.block.0 == first).then_some(context.function)
    }

    /// The function that is encoded alone and in which a context lies.
    pub fn lies_in(&self, ctx: CtxId) -> Option<FuncId> {
        let root = self.chain(ctx).first().copied()?;
        let context = self.context(root);
        context.side.map(|_| context.function)
    }

    /// The registers of the cut point at a function's beginning or end, with their widths: the
    /// parameters, and at the end also the results, whose numbers follow those of all registers.
    pub fn interface_registers(&self, function: FuncId, side: Side) -> Vec<(Reg, Width)> {
        let function = self.program.function(function);
        let params = (0u32..).map(Reg).zip(function.params.iter().copied());
        let first = function.registers.len() as u32;
        let results = (first..).map(Reg).zip(function.result.iter().copied());
        match side {
            Side::Begin => params.collect(),
            Side::End => params.chain(results).collect(),
        }
    }

    /// The width of a register of a context, or of a result at the end of a function.
    pub fn width(&self, ctx: CtxId, reg: Reg) -> Width {
        let function = self.program.function(self.context(ctx).function);
        let own = function.registers.len();
        match reg.index().checked_sub(own) {
            None => function.registers[reg.index()],
            Some(result) => function.result[result],
        }
    }

    /// The number of registers that a cut point of a context may have.
    pub fn slots(&self, ctx: CtxId) -> usize {
        let context = self.context(ctx);
        let function = self.program.function(context.function);
        match context.side {
            Some(Side::End) => function.registers.len() + function.result.len(),
            _ => function.registers.len(),
        }
    }

    /// The prefix of the names of a context's variables.
    pub fn variables_key(&self, ctx: CtxId) -> &str {
        let key = &self.context(ctx).key;
        key.strip_suffix(END).unwrap_or(key)
    }

    /// The context with this name at the beginning or end of a function that is encoded alone.
    pub(super) fn alone_named(&self, key: &str) -> Option<CtxId> {
        let mut all = self.alone.values().flat_map(|&(begin, end)| [begin, end]);
        all.find(|&ctx| self.context(ctx).key == key)
    }
}
