//! Allocations of the user's code ask the environment first.
//!
//! A stub in malloc's place would hide from the engine whose block it is, and whose fault a bad `realloc`. So the calls stay what they
//! are, and before each of them the library is asked whether the environment refuses (`allocation.c`); what it refuses is asked for in the
//! largest number there is, which no heap can meet. Where the answer is known already (a small constant size, allocations assumed to
//! succeed), what is left of that is the note that it was assumed. What takes the address of such a function gets the stub.

use llvm_sys::LLVMIntPredicate;
use llvm_sys::prelude::{LLVMBuilderRef, LLVMTypeRef, LLVMValueRef};

use super::{LinkRequest, assumed, link};
use crate::program::ir::{HeapFn, Intrinsic};
use crate::program::llvm::{Module, Value, llvm};
use crate::program::load::intrinsic;

/// Up to so many bytes, what is assumed says that they are granted; as in `allocation.c`.
const LARGE: u64 = 64 << 20;
/// The rule.
const RULE: &str = "alloc";

/// What is asked, once for all calls.
struct Asking<'m> {
    builder: LLVMBuilderRef,
    int: LLVMTypeRef,
    word: LLVMTypeRef,
    /// `crunner_refuses` and `crunner_refuses_elements`.
    refuses: [Value<'m>; 2],
    assumed: (LLVMTypeRef, LLVMValueRef),
    /// The rule's identifier as a string, once it is needed.
    rule: Option<LLVMValueRef>,
    is_lifted: bool,
}

/// The library's functions that are asked.
pub(super) const NEEDED: [&str; 2] = ["crunner_refuses", "crunner_refuses_elements"];

/// Puts the questions before the calls. Does nothing where the library has no such function.
pub(super) fn ask(module: &Module, request: &LinkRequest) {
    let [Some(one), Some(several)] = NEEDED.map(|name| module.function(name)) else {
        return;
    };
    let context = module.context;
    let int = llvm!(LLVMInt32TypeInContext(context));
    let mut asking = Asking {
        builder: llvm!(LLVMCreateBuilderInContext(context)),
        int,
        word: llvm!(LLVMInt64TypeInContext(context)),
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
                call.set_operand(call.operand_count() - 1, function);
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
    llvm!(LLVMDisposeBuilder(asking.builder));
}

impl<'m> Asking<'m> {
    /// Asks before a call, if its arguments are what they should be.
    fn before(&mut self, call: Value<'m>, heap: HeapFn) {
        let arguments = call.arguments();
        let Some(given) = arguments.get(heap.sizes()) else {
            return;
        };
        if given.iter().any(|value| !value.ty().is_integer()) {
            return;
        }
        llvm!(LLVMPositionBuilderBefore(self.builder, call.0));
        let mut known = given.iter().map(|value| value.const_int());
        let known = known.try_fold(1u64, |all, n| all.checked_mul(n?));
        if known.is_some_and(|all| all <= LARGE) && !self.is_lifted {
            self.note();
            return;
        }
        let mut words: Vec<LLVMValueRef> = given
            .iter()
            .map(|value| {
                let name = c"".as_ptr();
                llvm!(LLVMBuildIntCast2(self.builder, value.0, self.word, 0, name))
            })
            .collect();
        let asked = self.refuses[usize::from(given.len() > 1)];
        let refused = llvm!(LLVMBuildCall2(
            self.builder,
            asked.function_type().0,
            asked.0,
            words.as_mut_ptr(),
            words.len() as u32,
            c"refused".as_ptr()
        ));
        let refused = llvm!(LLVMBuildICmp(
            self.builder,
            LLVMIntPredicate::LLVMIntNE,
            refused,
            llvm!(LLVMConstInt(self.int, 0, 0)),
            c"".as_ptr()
        ));
        for (at, value) in heap.sizes().zip(given) {
            let most = llvm!(LLVMConstAllOnes(value.ty().0));
            let name = c"".as_ptr();
            let size = llvm!(LLVMBuildSelect(self.builder, refused, most, value.0, name));
            call.set_operand(at as u32, Value::new(size));
        }
    }

    /// Notes that it is assumed that a request is granted.
    fn note(&mut self) {
        let builder = self.builder;
        let rule = *self
            .rule
            .get_or_insert_with(|| assumed::literal(builder, c"alloc"));
        assumed::tell(builder, self.assumed, rule);
    }
}
