//! Makes allocations of the user's code ask the environment first.
//!
//! A stub in place of malloc would hide from the engine whose block it is, and who is to blame for
//! a bad `realloc`. So the calls stay as they are, and before each of them the library is asked
//! whether the environment refuses the request (`allocation.c`). The size of a refused request is
//! replaced by the largest number, for which every heap fails. If the answer is already known (a
//! small constant size, while allocations are assumed to succeed), only a note remains that this
//! was assumed. Code that takes the address of such a function gets the stub.

use cegar_llvm::{Builder, Callee, LLVMIntPredicate, Module, Type, Value};

use super::{LinkRequest, assumed, link};
use crate::program::ir::{HeapFn, Intrinsic};
use crate::program::load::intrinsic;

/// Requests of at most this many bytes are granted if allocations are assumed to succeed; the same
/// limit as in `allocation.c`.
const LARGE: u64 = 64 << 20;
/// The identifier of the rule.
const RULE: &str = "alloc";

/// What the inserted calls share.
struct Asking<'m> {
    builder: Builder<'m>,
    int: Type<'m>,
    word: Type<'m>,
    /// `crunner_refuses` and `crunner_refuses_elements`.
    refuses: [Value<'m>; 2],
    assumed: Callee<'m>,
    /// The rule's identifier as a string, once it is needed.
    rule: Option<Value<'m>>,
    is_lifted: bool,
}

/// The functions of the library that are asked.
pub(super) const NEEDED: [&str; 2] = ["crunner_refuses", "crunner_refuses_elements"];

/// Inserts the questions before the calls. Does nothing if the library lacks the functions.
pub(super) fn ask(module: &Module, request: &LinkRequest) {
    let [Some(one), Some(several)] = NEEDED.map(|name| module.function(name)) else {
        return;
    };
    let mut asking = Asking {
        builder: Builder::new(module),
        int: module.int(32),
        word: module.int(64),
        refuses: [one, several],
        assumed: assumed::function(module),
        rule: None,
        is_lifted: request.lifted.contains(RULE),
    };
    for allocator in cegar_stubs::allocators() {
        let Some(function) = module.function(allocator.symbol) else {
            continue;
        };
        if !function.is_declaration() {
            continue;
        }
        let is_direct = |user: &Value<'_>| {
            let uses = user.operands().iter().filter(|o| **o == function).count();
            user.is_call() && user.callee() == function && uses == 1
        };
        let calls: Vec<Value<'_>> = function.users().into_iter().filter(is_direct).collect();
        if let Some(stub) = module.function(allocator.replacement) {
            function.replace_all_uses(stub);
            for call in &calls {
                call.set_callee(function);
            }
        }
        let Some(Intrinsic::Heap(heap)) = intrinsic(allocator.symbol) else {
            continue;
        };
        for call in calls
            .into_iter()
            .filter(|call| link::is_users(call.parent_function()))
        {
            asking.before(call, heap);
        }
    }
}

impl<'m> Asking<'m> {
    /// Inserts the question before a call, if the call's arguments have the expected types.
    fn before(&mut self, call: Value<'m>, heap: HeapFn) {
        let arguments = call.arguments();
        let Some(given) = arguments.get(heap.sizes()) else {
            return;
        };
        if given.iter().any(|value| !value.ty().is_integer()) {
            return;
        }
        self.builder.move_before(call);
        let mut known = given.iter().map(|value| value.const_int());
        let known = known.try_fold(1u64, |all, n| all.checked_mul(n?));
        if known.is_some_and(|all| all <= LARGE) && !self.is_lifted {
            self.note();
            return;
        }
        let word = |value: &Value<'m>| self.builder.resize(*value, self.word, false);
        let words: Vec<Value<'m>> = given.iter().map(word).collect();
        let asked = self.refuses[usize::from(given.len() > 1)];
        let refused = self.builder.call(asked.callable(), &words);
        let (refused, zero) = (refused.named("refused"), self.int.zero());
        let different = LLVMIntPredicate::LLVMIntNE;
        let refused = self.builder.compare(different, refused, zero);
        for (at, value) in heap.sizes().zip(given) {
            let size = self.builder.select(refused, value.ty().ones(), *value);
            call.set_operand(at as u32, size);
        }
    }

    /// Inserts the note that a request is assumed to be granted.
    fn note(&mut self) {
        let literal = || assumed::literal(&self.builder, RULE);
        let rule = *self.rule.get_or_insert_with(literal);
        self.builder.call(self.assumed, &[rule]);
    }
}
