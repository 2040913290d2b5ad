//! Finds the parameters of an external function that point to variables for it to fill.
//!
//! `struct info i; get_info(&i);` and `struct device *d; ... register(d);` have the same prototype.
//! The second call passes an object of the program with pointers that no register function
//! replaces; the first call passes an object to be written, including its pointers. (Executable
//! Counterexamples, section 3, has external functions write nothing at all.) The calls show the
//! difference: the first passes a local variable into which the program itself stores no pointer.

use cegar_llvm::{LLVMOpcode, LLVMValueKind, Place, Value};

use std::collections::HashSet;

/// The parameters, from 0, that are such a variable at every call of `function`. Empty if LLVM's
/// parameters may not be those of C (structures passed or returned through memory).
pub(super) fn of(function: Value<'_>) -> Vec<usize> {
    let calls: Vec<Value<'_>> = function
        .users()
        .into_iter()
        .filter(|user| user.is_call() && user.callee() == function)
        .collect();
    let through_memory = |i: u32| {
        let place = Place::Parameter(i);
        ["sret", "byval"]
            .iter()
            .any(|name| function.has_attribute(place, name))
    };
    let count = function.value_type().params().len();
    if calls.is_empty() || (0..count as u32).any(through_memory) {
        return Vec::new();
    }
    (0..count)
        .filter(|&i| {
            calls.iter().all(|call| {
                call.arguments()
                    .get(i)
                    .is_some_and(|argument| is_variable_to_fill(*argument, function))
            })
        })
        .collect()
}

fn is_variable_to_fill<'m>(variable: Value<'m>, by: Value<'m>) -> bool {
    if variable.opcode() != Some(LLVMOpcode::LLVMAlloca) {
        return false;
    }
    let mut walk = Walk {
        by,
        seen: HashSet::from([variable]),
        work: vec![variable],
    };
    while let Some(pointer) = walk.work.pop() {
        if pointer
            .users()
            .into_iter()
            .any(|user| walk.fills(pointer, user))
        {
            return false;
        }
    }
    true
}

struct Walk<'m> {
    /// The function that may fill the variable.
    by: Value<'m>,
    seen: HashSet<Value<'m>>,
    work: Vec<Value<'m>>,
}

impl<'m> Walk<'m> {
    fn follow(&mut self, pointer: Value<'m>) {
        if self.seen.insert(pointer) {
            self.work.push(pointer);
        }
    }

    /// Whether a use stores a pointer into the variable, or lets its address escape to where that
    /// might happen unseen.
    fn fills(&mut self, pointer: Value<'m>, user: Value<'m>) -> bool {
        match user.opcode() {
            Some(LLVMOpcode::LLVMStore) if user.operand(1) == pointer => {
                let value = user.operand(0);
                value.ty().is_pointer() && !value.is_null()
            }
            Some(LLVMOpcode::LLVMStore) => {
                let place = user.operand(1);
                if place.opcode() != Some(LLVMOpcode::LLVMAlloca) {
                    return true;
                }
                for user in place.users() {
                    if user.opcode() == Some(LLVMOpcode::LLVMLoad) {
                        self.follow(user);
                    }
                }
                false
            }
            Some(
                LLVMOpcode::LLVMGetElementPtr
                | LLVMOpcode::LLVMPHI
                | LLVMOpcode::LLVMSelect
                | LLVMOpcode::LLVMFreeze,
            ) => {
                self.follow(user);
                false
            }
            Some(LLVMOpcode::LLVMCall) => self.handed_over(pointer, user),
            _ => false,
        }
    }

    fn handed_over(&mut self, pointer: Value<'m>, call: Value<'m>) -> bool {
        let callee = call.callee();
        if callee == self.by {
            return false;
        }
        if callee.kind() != LLVMValueKind::LLVMFunctionValueKind {
            return true;
        }
        if callee.is_declaration() {
            let name = callee.name();
            let copies = name.starts_with("llvm.memcpy") || name.starts_with("llvm.memmove");
            let copied = copies && call.operand(0) == pointer;
            return copied && !is_zeros(call.operand(1));
        }
        let parameters = callee.params();
        for (parameter, argument) in parameters.into_iter().zip(call.arguments()) {
            if argument == pointer {
                self.follow(parameter);
            }
        }
        false
    }
}

fn is_zeros(source: Value<'_>) -> bool {
    source.is_global_variable()
        && source.is_global_constant()
        && source.initializer().is_some_and(Value::is_null)
}
