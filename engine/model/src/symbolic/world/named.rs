//! Look-up of contexts by their names in certificates.

use super::{Back, CtxId, ROOT, World};
use crate::program::ir::{BlockId, CallSite, Callee, FuncId, Function, Op};

impl World<'_> {
    /// The context with this name, if it has been met.
    pub fn context_named(&self, key: &str) -> Option<CtxId> {
        let at = self.contexts.iter().position(|c| c.key == key)?;
        Some(CtxId(at as u32))
    }

    /// The context with this name. Enters it if the program has the calls that the name consists
    /// of.
    pub fn context_at(&mut self, key: &str) -> Option<CtxId> {
        let mut steps = key.split('/');
        let mut ctx = match steps.next()? {
            "" => ROOT,
            root => self.alone_named(root)?,
        };
        for step in steps {
            let (site, callee) = step.split_once('.')?;
            let (site, callee) = (CallSite(site.parse().ok()?), FuncId(callee.parse().ok()?));
            let program = self.program;
            let is_defined = |id: FuncId| {
                let function = program.functions.get(id.index());
                function.is_some_and(Function::is_defined)
            };
            let blocks = program.function(self.context(ctx).function).blocks.clone();
            let (block, op, call) = blocks.map(BlockId).find_map(|block| {
                let mut ops = program.block(block).ops.iter().enumerate();
                ops.find_map(|(op, inst)| match &inst.op {
                    Op::Call(call) if call.site == site => Some((block, op, call)),
                    _ => None,
                })
            })?;
            let fits = match call.callee {
                Callee::Direct(id) => id == callee,
                Callee::Indirect(_) => true,
            };
            if !fits || !is_defined(callee) {
                return None;
            }
            let back = Back {
                ctx,
                block,
                op: op + 1,
                dst: call.dst,
            };
            ctx = self.enter(back, site, callee);
        }
        // Each context has only one valid spelling of its name.
        (self.context(ctx).key == key).then_some(ctx)
    }
}
