//! Call contexts: which calls of a function are walked separately.
//!
//! A function is either walked anew at each call, and its context is the stack of call sites, or it
//! is shared: walked once for all calls, from the join of all entry states, and every call
//! continues with the join of all exit states. The walk's caller decides which functions are
//! shared, and the certificate lists them. Recursive functions must be shared.

use rustc_hash::{FxHashMap, FxHashSet};

use super::space::CtxId;
use crate::program::ir::{BlockId, FuncId};

/// A context: a function, and the call that leads into it unless the function is walked on its own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Context {
    function: FuncId,
    back: Option<(CtxId, BlockId, u32)>,
}

/// The contexts of a walk.
#[derive(Clone, Debug, Default)]
pub struct Contexts {
    all: Vec<Context>,
    numbers: FxHashMap<Context, CtxId>,
    /// The functions that are walked once for all calls.
    pub shared: FxHashSet<FuncId>,
}

impl Contexts {
    /// Creates the contexts of a walk that shares these functions.
    pub fn new(shared: FxHashSet<FuncId>) -> Contexts {
        Contexts {
            shared,
            ..Contexts::default()
        }
    }

    fn number(&mut self, context: Context) -> CtxId {
        if let Some(&known) = self.numbers.get(&context) {
            return known;
        }
        let id = CtxId(self.all.len() as u32);
        self.all.push(context);
        self.numbers.insert(context, id);
        id
    }

    /// Returns the context of a function that is not entered by a particular call: the entry
    /// function or a shared one.
    pub fn root(&mut self, function: FuncId) -> CtxId {
        self.number(Context {
            function,
            back: None,
        })
    }

    /// Returns the context of a call.
    pub fn enter(&mut self, back: (CtxId, BlockId, u32), function: FuncId) -> CtxId {
        self.number(Context {
            function,
            back: Some(back),
        })
    }

    /// Returns the context of a call, or of a function that is walked on its own, if it exists
    /// already.
    pub fn known(&self, back: Option<(CtxId, BlockId, u32)>, function: FuncId) -> Option<CtxId> {
        self.numbers.get(&Context { function, back }).copied()
    }

    /// The function of a context.
    pub fn function(&self, ctx: CtxId) -> FuncId {
        self.all[ctx.0 as usize].function
    }

    /// The call that leads into a context; `None` if the function is walked on its own.
    pub fn back(&self, ctx: CtxId) -> Option<(CtxId, BlockId, u32)> {
        self.all[ctx.0 as usize].back
    }

    /// The number of contexts.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there are no contexts.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether a function is on the call stack of a context, including the context's own function.
    pub fn calls(&self, ctx: CtxId, function: FuncId) -> bool {
        let mut at = Some(ctx);
        while let Some(ctx) = at {
            if self.function(ctx) == function {
                return true;
            }
            at = self.back(ctx).map(|(ctx, ..)| ctx);
        }
        false
    }
}
