//! Changes of a module: additions, linking and output. They are not used where a program is only
//! read.

use std::ptr;
use std::rc::Rc;

use llvm_sys::LLVMTypeKind;

use super::{LAST, LlvmError, Module};
use crate::metadata::Metadata;
use crate::raw::{given, holds, lent_bytes, llvm, terminated};
use crate::types::Type;
use crate::value::{Callee, Value};

impl Module {
    /// The integer type of this width, from 1 to 2^23 bits.
    pub fn int(&self, width: u32) -> Type<'_> {
        Type::new(llvm!(LLVMIntTypeInContext(self.context(), width)))
    }

    /// The type `void`.
    pub fn void(&self) -> Type<'_> {
        Type::new(llvm!(LLVMVoidTypeInContext(self.context())))
    }

    /// The type of pointers.
    pub fn pointer(&self) -> Type<'_> {
        Type::new(llvm!(LLVMPointerTypeInContext(self.context(), 0)))
    }

    /// The type `double`.
    pub fn double(&self) -> Type<'_> {
        Type::new(llvm!(LLVMDoubleTypeInContext(self.context())))
    }

    /// The type of a structure of these fields.
    pub fn structure<'m>(&'m self, fields: &[Type<'m>]) -> Type<'m> {
        let mut raw: Vec<_> = fields.iter().map(|ty| ty.0).collect();
        let (context, first, count) = (self.context(), raw.as_mut_ptr(), raw.len() as u32);
        Type::new(llvm!(LLVMStructTypeInContext(context, first, count, 0)))
    }

    /// A constant array of these bytes, without a terminating NUL.
    pub fn constant_bytes(&self, bytes: &[u8]) -> Value<'_> {
        let (context, data, len) = (self.context(), bytes.as_ptr().cast(), bytes.len());
        Value::new(llvm!(LLVMConstStringInContext2(context, data, len, 1)))
    }

    /// Adds a function without a body. LLVM adds a number to a name that is in use.
    pub fn add_function<'m>(&'m self, name: &str, ty: Type<'m>) -> Value<'m> {
        let is_function = ty.kind() == LLVMTypeKind::LLVMFunctionTypeKind;
        assert!(is_function, "no type of a function");
        let name = terminated(name);
        Value::new(llvm!(LLVMAddFunction(self.raw, name.as_ptr(), ty.0)))
    }

    /// The function called `name`, to be called with this type. It is declared if it does not
    /// exist.
    pub fn declare<'m>(&'m self, name: &str, result: Type<'m>, params: &[Type<'m>]) -> Callee<'m> {
        let ty = result.function(params);
        let known = self.function(name);
        let function = known.unwrap_or_else(|| self.add_function(name, ty));
        Callee { function, ty }
    }

    /// Adds a global variable that is defined elsewhere. LLVM adds a number to a name that is in
    /// use.
    pub fn add_global<'m>(&'m self, name: &str, ty: Type<'m>) -> Value<'m> {
        assert!(ty.is_sized(), "no size");
        let name = terminated(name);
        Value::new(llvm!(LLVMAddGlobal(self.raw, ty.0, name.as_ptr())))
    }

    /// The global variable called `name`. It is declared if it does not exist.
    pub fn declare_global<'m>(&'m self, name: &str, ty: Type<'m>) -> Value<'m> {
        let known = self.global(name);
        known.unwrap_or_else(|| self.add_global(name, ty))
    }

    /// Adds a node that contains a text to a named metadata list.
    pub fn add_named_text(&self, name: &str, text: &str) {
        let text = Metadata::new_string(self.context(), text);
        let node = text.and_then(|text| Metadata::new_node(self.context(), &[text]));
        if let Some(node) = node {
            let (name, node) = (terminated(name), node.wrapped().0);
            llvm!(LLVMAddNamedMetadataOperand(self.raw, name.as_ptr(), node));
        }
    }

    /// The module as bitcode. LLVM's function that writes a file ends the process if the disk is
    /// full, so it is not used.
    pub fn bitcode(&self) -> Vec<u8> {
        let buffer = llvm!(LLVMWriteBitcodeToMemoryBuffer(self.raw));
        let (start, len) = (
            llvm!(LLVMGetBufferStart(buffer)),
            llvm!(LLVMGetBufferSize(buffer)),
        );
        let bytes = lent_bytes(start, len).to_vec();
        llvm!(LLVMDisposeMemoryBuffer(buffer));
        bytes
    }

    /// The module in LLVM's assembly language.
    pub fn text(&self) -> String {
        given(llvm!(LLVMPrintModuleToString(self.raw)))
    }

    /// Links another module of the same context into this one.
    pub fn link(&self, mut other: Module) -> Result<(), LlvmError> {
        if !Rc::ptr_eq(&self.context, &other.context) {
            return Err(LlvmError("a module of another context".to_owned()));
        }
        // The linker takes ownership of the other module.
        let raw = std::mem::replace(&mut other.raw, ptr::null_mut());
        match holds(llvm!(LLVMLinkModules2(self.raw, raw))) {
            true => Err(LlvmError(LAST.with_borrow(Clone::clone))),
            false => Ok(()),
        }
    }
}
