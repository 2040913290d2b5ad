//! Finds out what the program does with a pointer that came from outside.
//!
//! LLVM's pointers have no pointee type, so the size of the object behind a mocked pointer is
//! derived from its uses: the largest type by which it is indexed or accessed. The same walk
//! determines whether the program computes with the address itself, which makes raw addresses worth
//! trying (Executable Counterexamples, section 5).

use cegar_llvm::{LLVMOpcode, LLVMValueKind, Layout, Type, Value};

use std::collections::HashSet;

/// What the uses of a pointer reveal.
#[derive(Clone, Default, Debug, PartialEq, Eq)]
pub(super) struct Uses {
    /// The size in bytes of the largest type that is accessed through it; 0 if there is none.
    pub pointee: u64,
    /// Whether it is converted to an integer or compared with something other than NULL.
    pub computes: bool,
    /// The name of the largest structure by which it is indexed.
    pub structure: Option<String>,
}

/// Follows the results of all calls of `function`.
pub(super) fn of_results<'m>(layout: Layout<'m>, function: Value<'m>) -> Uses {
    let mut walk = Walk {
        layout,
        seen: HashSet::new(),
        work: Vec::new(),
        uses: Uses::default(),
    };
    for user in function.users() {
        if user.is_call() && user.callee() == function {
            walk.follow(user);
        }
    }
    while let Some(pointer) = walk.work.pop() {
        for user in pointer.users() {
            walk.use_of(pointer, user);
        }
    }
    walk.uses
}

struct Walk<'m> {
    layout: Layout<'m>,
    seen: HashSet<Value<'m>>,
    work: Vec<Value<'m>>,
    uses: Uses,
}

impl<'m> Walk<'m> {
    fn follow(&mut self, pointer: Value<'m>) {
        if self.seen.insert(pointer) {
            self.work.push(pointer);
        }
    }

    fn accessed(&mut self, size: u64) {
        self.uses.pointee = self.uses.pointee.max(size);
    }

    fn use_of(&mut self, pointer: Value<'m>, user: Value<'m>) {
        match user.opcode() {
            // The number may be aligned or shifted and converted back to a pointer, which is
            // followed too.
            Some(LLVMOpcode::LLVMPtrToInt) => {
                self.uses.computes = true;
                self.follow(user);
            }
            Some(
                LLVMOpcode::LLVMIntToPtr
                | LLVMOpcode::LLVMAdd
                | LLVMOpcode::LLVMSub
                | LLVMOpcode::LLVMAnd
                | LLVMOpcode::LLVMOr,
            ) => self.follow(user),
            Some(LLVMOpcode::LLVMICmp) => {
                let both = [user.operand(0), user.operand(1)];
                self.uses.computes |= !both.iter().any(|v| v.is_null());
            }
            Some(LLVMOpcode::LLVMPHI | LLVMOpcode::LLVMSelect | LLVMOpcode::LLVMFreeze) => {
                self.follow(user)
            }
            _ if !pointer.ty().is_pointer() => self.number(user),
            Some(LLVMOpcode::LLVMGetElementPtr) if user.operand(0) == pointer => {
                let source = user.gep_source();
                let size = self.layout.size(source);
                if size >= self.uses.pointee
                    && let Some(name) = tag(source)
                {
                    self.uses.structure = Some(name);
                }
                self.accessed(size);
            }
            Some(LLVMOpcode::LLVMLoad) => self.accessed(self.layout.size(user.ty())),
            Some(LLVMOpcode::LLVMStore) if user.operand(1) == pointer => {
                self.accessed(self.layout.size(user.operand(0).ty()));
            }
            Some(LLVMOpcode::LLVMStore) => self.stored(user.operand(1)),
            Some(LLVMOpcode::LLVMCall) => self.passed(pointer, user),
            _ => {}
        }
    }

    /// Handles a use of an address as a number.
    fn number(&mut self, user: Value<'m>) {
        if user.opcode() == Some(LLVMOpcode::LLVMStore) {
            self.stored(user.operand(1));
        }
    }

    /// The pointer is stored into a variable: follows what is loaded from there.
    fn stored(&mut self, variable: Value<'m>) {
        let is_variable =
            variable.is_global_variable() || variable.opcode() == Some(LLVMOpcode::LLVMAlloca);
        if is_variable {
            for user in variable.users() {
                if user.opcode() == Some(LLVMOpcode::LLVMLoad) {
                    self.follow(user);
                }
            }
        }
    }

    /// The pointer is passed to a call: follows the parameter of a function with a body.
    fn passed(&mut self, pointer: Value<'m>, call: Value<'m>) {
        let callee = call.callee();
        if callee.kind() != LLVMValueKind::LLVMFunctionValueKind {
            return;
        }
        if callee.is_declaration() {
            let name = callee.name();
            let is_block = ["llvm.memcpy", "llvm.memmove", "llvm.memset"]
                .iter()
                .any(|prefix| name.starts_with(prefix));
            if is_block && let Some(len) = call.operand(2).const_int() {
                self.accessed(len);
            }
            return;
        }
        for (parameter, argument) in callee.params().into_iter().zip(call.arguments()) {
            if argument == pointer {
                self.follow(parameter);
            }
        }
    }
}

/// The tag of a structure in C, if it has one: `struct.device.3` is `device`.
pub(in crate::program) fn tag(ty: Type<'_>) -> Option<String> {
    let name = ty.struct_name()?;
    let name = name.strip_prefix("struct.")?;
    let plain = match name.rsplit_once('.') {
        Some((plain, number)) if number.bytes().all(|b| b.is_ascii_digit()) => plain,
        _ => name,
    };
    Some(plain.to_owned())
}
