//! Construction of new instructions.
//!
//! A builder is positioned before an instruction or at the end of a block, and inserts instructions
//! there one after the other. LLVM builds an invalid instruction without an error, or reads invalid
//! memory, so the types of operands are checked here. Instructions get no name; [`Value::named`]
//! gives them one.

use std::marker::PhantomData;

use llvm_sys::LLVMIntPredicate;
use llvm_sys::prelude::{LLVMBuilderRef, LLVMValueRef};

use crate::metadata::Metadata;
use crate::module::Module;
use crate::raw::{llvm, terminated};
use crate::types::Type;
use crate::value::{BasicBlock, Callee, Value};

/// Inserts instructions at one position.
pub struct Builder<'m> {
    raw: LLVMBuilderRef,
    module: PhantomData<&'m Module>,
}

impl Drop for Builder<'_> {
    fn drop(&mut self) {
        llvm!(LLVMDisposeBuilder(self.raw));
    }
}

const NO_NAME: *const std::ffi::c_char = c"".as_ptr();

/// Functions insert instructions at the builder's position, which must have been set before. They
/// panic if operands have the wrong types.
impl<'m> Builder<'m> {
    /// Creates a builder without a position.
    pub fn new(module: &'m Module) -> Builder<'m> {
        Builder {
            raw: llvm!(LLVMCreateBuilderInContext(module.context())),
            module: PhantomData,
        }
    }

    /// Creates a builder before an instruction. New instructions get its debug location.
    pub fn before(at: Value<'m>) -> Builder<'m> {
        let raw = llvm!(LLVMCreateBuilderInContext(at.context()));
        let module = PhantomData;
        let builder = Builder { raw, module };
        builder.move_before(at);
        builder
    }

    /// Moves before an instruction. New instructions get its debug location.
    pub fn move_before(&self, at: Value<'m>) {
        assert!(at.block().is_some(), "no instruction in a block");
        llvm!(LLVMPositionBuilderBefore(self.raw, at.0));
    }

    /// Moves to the end of a block.
    pub fn move_to_end(&self, block: BasicBlock<'m>) {
        llvm!(LLVMPositionBuilderAtEnd(self.raw, block.0));
    }

    /// Sets the debug location of new instructions.
    pub fn set_place(&self, place: Option<Metadata<'m>>) {
        let raw = place.map_or(std::ptr::null_mut(), |place| place.raw);
        llvm!(LLVMSetCurrentDebugLocation2(self.raw, raw));
    }

    fn is_placed(&self) -> bool {
        !llvm!(LLVMGetInsertBlock(self.raw)).is_null()
    }

    fn built(&self, build: impl FnOnce() -> LLVMValueRef) -> Value<'m> {
        assert!(self.is_placed(), "the builder stands nowhere");
        Value::new(build())
    }

    /// An `alloca` of a variable of this type.
    pub fn alloca(&self, ty: Type<'m>) -> Value<'m> {
        assert!(ty.is_sized(), "no size");
        self.built(|| llvm!(LLVMBuildAlloca(self.raw, ty.0, NO_NAME)))
    }

    /// A load.
    pub fn load(&self, ty: Type<'m>, from: Value<'m>) -> Value<'m> {
        assert!(from.ty().is_pointer() && ty.is_sized(), "types");
        self.built(|| llvm!(LLVMBuildLoad2(self.raw, ty.0, from.0, NO_NAME)))
    }

    /// A store.
    pub fn store(&self, value: Value<'m>, to: Value<'m>) -> Value<'m> {
        assert!(to.ty().is_pointer() && value.ty().is_sized(), "types");
        self.built(|| llvm!(LLVMBuildStore(self.raw, value.0, to.0)))
    }

    /// A call. The verifier reports arguments that do not match the parameters of the function.
    pub fn call(&self, callee: Callee<'m>, arguments: &[Value<'m>]) -> Value<'m> {
        let (ty, function) = (callee.ty.0, callee.function.0);
        let mut raw: Vec<LLVMValueRef> = arguments.iter().map(|a| a.0).collect();
        let (first, count) = (raw.as_mut_ptr(), raw.len() as u32);
        self.built(|| {
            llvm!(LLVMBuildCall2(
                self.raw, ty, function, first, count, NO_NAME
            ))
        })
    }

    /// Sets `len` bytes to `byte`. The address has no particular alignment.
    pub fn memset(&self, to: Value<'m>, byte: u8, len: Value<'m>) -> Value<'m> {
        assert!(to.ty().is_pointer() && len.ty().is_integer(), "types");
        let byte = to.ty().int_beside(8).number(byte.into());
        self.built(|| llvm!(LLVMBuildMemSet(self.raw, to.0, byte.0, len.0, 1)))
    }

    /// Copies `len` bytes between addresses of this alignment.
    pub fn memcpy(&self, to: Value<'m>, from: Value<'m>, align: u32, len: Value<'m>) -> Value<'m> {
        let fits = from.ty().is_pointer() && len.ty().is_integer();
        assert!(to.ty().is_pointer() && fits, "types");
        assert!(align.is_power_of_two(), "no alignment");
        self.built(|| llvm!(LLVMBuildMemCpy(self.raw, to.0, align, from.0, align, len.0)))
    }

    /// The sum of two integers.
    pub fn add(&self, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        assert!(a.ty().is_integer() && a.ty() == b.ty(), "types");
        self.built(|| llvm!(LLVMBuildAdd(self.raw, a.0, b.0, NO_NAME)))
    }

    /// The product of two integers.
    pub fn mul(&self, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        assert!(a.ty().is_integer() && a.ty() == b.ty(), "types");
        self.built(|| llvm!(LLVMBuildMul(self.raw, a.0, b.0, NO_NAME)))
    }

    /// An integer with another width: truncated, or extended, with the sign bit if it is `signed`.
    pub fn resize(&self, value: Value<'m>, ty: Type<'m>, signed: bool) -> Value<'m> {
        assert!(value.ty().is_integer() && ty.is_integer(), "types");
        let (value, ty, signed) = (value.0, ty.0, i32::from(signed));
        self.built(|| llvm!(LLVMBuildIntCast2(self.raw, value, ty, signed, NO_NAME)))
    }

    /// The bits of a value as a value of another type of the same size.
    pub fn bitcast(&self, value: Value<'m>, ty: Type<'m>) -> Value<'m> {
        self.built(|| llvm!(LLVMBuildBitCast(self.raw, value.0, ty.0, NO_NAME)))
    }

    /// A comparison of integers or pointers.
    pub fn compare(&self, how: LLVMIntPredicate, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        let is_comparable = a.ty().is_integer() || a.ty().is_pointer();
        assert!(is_comparable && a.ty() == b.ty(), "types");
        self.built(|| llvm!(LLVMBuildICmp(self.raw, how, a.0, b.0, NO_NAME)))
    }

    /// `yes` if `condition` is set, else `no`.
    pub fn select(&self, condition: Value<'m>, yes: Value<'m>, no: Value<'m>) -> Value<'m> {
        let is_condition = condition.ty().int_width() == Some(1);
        assert!(is_condition && yes.ty() == no.ty(), "types");
        self.built(|| llvm!(LLVMBuildSelect(self.raw, condition.0, yes.0, no.0, NO_NAME)))
    }

    /// The value itself, or an arbitrary but fixed value if it is undefined.
    pub fn freeze(&self, value: Value<'m>) -> Value<'m> {
        self.built(|| llvm!(LLVMBuildFreeze(self.raw, value.0, NO_NAME)))
    }

    /// The address of an element in an array of elements of this type. It must lie within an
    /// object.
    pub fn element(&self, ty: Type<'m>, of: Value<'m>, index: Value<'m>) -> Value<'m> {
        let fits = of.ty().is_pointer() && index.ty().is_integer();
        assert!(ty.is_sized() && fits, "types");
        let (ty, of, mut index) = (ty.0, of.0, [index.0]);
        let first = index.as_mut_ptr();
        self.built(|| llvm!(LLVMBuildInBoundsGEP2(self.raw, ty, of, first, 1, NO_NAME)))
    }

    /// The address of a field of a structure.
    pub fn field(&self, ty: Type<'m>, of: Value<'m>, field: u32) -> Value<'m> {
        let has_field = (field as usize) < ty.fields().len();
        assert!(of.ty().is_pointer() && has_field, "types");
        self.built(|| llvm!(LLVMBuildStructGEP2(self.raw, ty.0, of.0, field, NO_NAME)))
    }

    /// The address of a new constant that holds a text and a terminating NUL.
    pub fn text(&self, text: &str, name: &str) -> Value<'m> {
        let (text, name) = (terminated(text), terminated(name));
        let (text, name) = (text.as_ptr(), name.as_ptr());
        self.built(|| llvm!(LLVMBuildGlobalStringPtr(self.raw, text, name)))
    }

    /// An unconditional branch.
    pub fn jump(&self, to: BasicBlock<'m>) -> Value<'m> {
        self.built(|| llvm!(LLVMBuildBr(self.raw, to.0)))
    }

    /// A conditional branch.
    pub fn branch(
        &self,
        condition: Value<'m>,
        yes: BasicBlock<'m>,
        no: BasicBlock<'m>,
    ) -> Value<'m> {
        assert!(condition.ty().int_width() == Some(1), "types");
        self.built(|| llvm!(LLVMBuildCondBr(self.raw, condition.0, yes.0, no.0)))
    }

    /// A return, with a value or without one.
    pub fn ret(&self, value: Option<Value<'m>>) -> Value<'m> {
        self.built(|| match value {
            Some(value) => llvm!(LLVMBuildRet(self.raw, value.0)),
            None => llvm!(LLVMBuildRetVoid(self.raw)),
        })
    }

    /// The instruction `unreachable`.
    pub fn unreachable(&self) -> Value<'m> {
        self.built(|| llvm!(LLVMBuildUnreachable(self.raw)))
    }
}
