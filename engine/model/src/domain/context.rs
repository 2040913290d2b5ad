//! Call contexts: which calls of a function are walked apart.
//!
//! A function is walked anew at each call (its context is the way there), or once for all of them,
//! from what all calls have in common and with what any of them comes back with. Which functions
//! are shared in this way is decided by the walk's caller, and stands in the certificate; whatever
//! calls itself has to be.

use rustc_hash::{FxHashMap, FxHashSet};

use super::space::CtxId;
use crate::program::ir::{BlockId, FuncId};

/// A context.
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
    /// With these functions shared.
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

    /// The context of a function that is walked for itself.
    pub fn root(&mut self, function: FuncId) -> CtxId {
        self.number(Context {
            function,
            back: None,
        })
    }

    /// The context of a call.
    pub fn enter(&mut self, back: (CtxId, BlockId, u32), function: FuncId) -> CtxId {
        self.number(Context {
            function,
            back: Some(back),
        })
    }

    /// The context of a call, if there was one.
    pub fn known(&self, back: Option<(CtxId, BlockId, u32)>, function: FuncId) -> Option<CtxId> {
        self.numbers.get(&Context { function, back }).copied()
    }

    /// The function of a context.
    pub fn function(&self, ctx: CtxId) -> FuncId {
        self.all[ctx.0 as usize].function
    }

    /// The call that leads into a context, if it is one.
    pub fn back(&self, ctx: CtxId) -> Option<(CtxId, BlockId, u32)> {
        self.all[ctx.0 as usize].back
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether a function is being called in a context or around it.
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
