//! New instructions.
//!
//! A builder stands before an instruction or at the end of a block, and puts instructions there one
//! after the other. LLVM builds a broken instruction without a word, or reads what is not there; so
//! what an instruction asks of the types of its operands is checked. Instructions get no name;
//! [`Value::named`] gives one.

use std::marker::PhantomData;

use llvm_sys::LLVMIntPredicate;
use llvm_sys::prelude::{LLVMBuilderRef, LLVMValueRef};

use crate::metadata::Metadata;
use crate::module::Module;
use crate::raw::{llvm, terminated};
use crate::types::Type;
use crate::value::{BasicBlock, Callee, Value};

/// Inserts instructions at one place.
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

/// What is built stands where the builder does, which was put somewhere first. Functions panic
/// where operands have the wrong types.
impl<'m> Builder<'m> {
    /// A builder that stands nowhere yet.
    pub fn new(module: &'m Module) -> Builder<'m> {
        Builder {
            raw: llvm!(LLVMCreateBuilderInContext(module.context())),
            module: PhantomData,
        }
    }

    /// A builder that stands before an instruction, whose place in the source the new ones get.
    pub fn before(at: Value<'m>) -> Builder<'m> {
        let raw = llvm!(LLVMCreateBuilderInContext(at.context()));
        let module = PhantomData;
        let builder = Builder { raw, module };
        builder.move_before(at);
        builder
    }

    /// Goes before an instruction, whose place in the source the new ones get.
    pub fn move_before(&self, at: Value<'m>) {
        assert!(at.block().is_some(), "no instruction in a block");
        llvm!(LLVMPositionBuilderBefore(self.raw, at.0));
    }

    /// Goes to the end of a block.
    pub fn move_to_end(&self, block: BasicBlock<'m>) {
        llvm!(LLVMPositionBuilderAtEnd(self.raw, block.0));
    }

    /// Sets the place in the source that new instructions get.
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

    /// A variable of this type.
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

    /// A call. Where the arguments are others than the function has parameters, the verifier says
    /// so.
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

    /// Sets so many bytes, at any address, to one.
    pub fn memset(&self, to: Value<'m>, byte: u8, len: Value<'m>) -> Value<'m> {
        assert!(to.ty().is_pointer() && len.ty().is_integer(), "types");
        let byte = to.ty().int_beside(8).number(byte.into());
        self.built(|| llvm!(LLVMBuildMemSet(self.raw, to.0, byte.0, len.0, 1)))
    }

    /// Copies so many bytes between addresses of this alignment.
    pub fn memcpy(&self, to: Value<'m>, from: Value<'m>, align: u32, len: Value<'m>) -> Value<'m> {
        let fits = from.ty().is_pointer() && len.ty().is_integer();
        assert!(to.ty().is_pointer() && fits, "types");
        assert!(align.is_power_of_two(), "no alignment");
        self.built(|| llvm!(LLVMBuildMemCpy(self.raw, to.0, align, from.0, align, len.0)))
    }

    /// A sum of integers.
    pub fn add(&self, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        assert!(a.ty().is_integer() && a.ty() == b.ty(), "types");
        self.built(|| llvm!(LLVMBuildAdd(self.raw, a.0, b.0, NO_NAME)))
    }

    /// A product of integers.
    pub fn mul(&self, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        assert!(a.ty().is_integer() && a.ty() == b.ty(), "types");
        self.built(|| llvm!(LLVMBuildMul(self.raw, a.0, b.0, NO_NAME)))
    }

    /// An integer with another width: truncated, or extended, by its sign if it is `signed`.
    pub fn resize(&self, value: Value<'m>, ty: Type<'m>, signed: bool) -> Value<'m> {
        assert!(value.ty().is_integer() && ty.is_integer(), "types");
        let (value, ty, signed) = (value.0, ty.0, i32::from(signed));
        self.built(|| llvm!(LLVMBuildIntCast2(self.raw, value, ty, signed, NO_NAME)))
    }

    /// The bits of a value as a value of another type, which has as many.
    pub fn bitcast(&self, value: Value<'m>, ty: Type<'m>) -> Value<'m> {
        self.built(|| llvm!(LLVMBuildBitCast(self.raw, value.0, ty.0, NO_NAME)))
    }

    /// A comparison of integers or pointers.
    pub fn compare(&self, how: LLVMIntPredicate, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        let is_comparable = a.ty().is_integer() || a.ty().is_pointer();
        assert!(is_comparable && a.ty() == b.ty(), "types");
        self.built(|| llvm!(LLVMBuildICmp(self.raw, how, a.0, b.0, NO_NAME)))
    }

    /// One of two values.
    pub fn select(&self, condition: Value<'m>, yes: Value<'m>, no: Value<'m>) -> Value<'m> {
        let is_condition = condition.ty().int_width() == Some(1);
        assert!(is_condition && yes.ty() == no.ty(), "types");
        self.built(|| llvm!(LLVMBuildSelect(self.raw, condition.0, yes.0, no.0, NO_NAME)))
    }

    /// Some value that stays the same, where this one is undefined.
    pub fn freeze(&self, value: Value<'m>) -> Value<'m> {
        self.built(|| llvm!(LLVMBuildFreeze(self.raw, value.0, NO_NAME)))
    }

    /// The address of an element, within an object, of a row of elements of this type.
    pub fn element(&self, ty: Type<'m>, of: Value<'m>, index: Value<'m>) -> Value<'m> {
        let fits = of.ty().is_pointer() && index.ty().is_integer();
        assert!(ty.is_sized() && fits, "types");
        let (ty, of, mut index) = (ty.0, of.0, [index.0]);
        let first = index.as_mut_ptr();
        self.built(|| llvm!(LLVMBuildInBoundsGEP2(self.raw, ty, of, first, 1, NO_NAME)))
    }

    /// The address of a structure's field.
    pub fn field(&self, ty: Type<'m>, of: Value<'m>, field: u32) -> Value<'m> {
        let has_field = (field as usize) < ty.fields().len();
        assert!(of.ty().is_pointer() && has_field, "types");
        self.built(|| llvm!(LLVMBuildStructGEP2(self.raw, ty.0, of.0, field, NO_NAME)))
    }

    /// The address of a new constant that holds a text and a NUL.
    pub fn text(&self, text: &str, name: &str) -> Value<'m> {
        let (text, name) = (terminated(text), terminated(name));
        let (text, name) = (text.as_ptr(), name.as_ptr());
        self.built(|| llvm!(LLVMBuildGlobalStringPtr(self.raw, text, name)))
    }

    /// A jump.
    pub fn jump(&self, to: BasicBlock<'m>) -> Value<'m> {
        self.built(|| llvm!(LLVMBuildBr(self.raw, to.0)))
    }

    /// A branch.
    pub fn branch(
        &self,
        condition: Value<'m>,
        yes: BasicBlock<'m>,
        no: BasicBlock<'m>,
    ) -> Value<'m> {
        assert!(condition.ty().int_width() == Some(1), "types");
        self.built(|| llvm!(LLVMBuildCondBr(self.raw, condition.0, yes.0, no.0)))
    }

    /// A return with a value, or without one.
    pub fn ret(&self, value: Option<Value<'m>>) -> Value<'m> {
        self.built(|| match value {
            Some(value) => llvm!(LLVMBuildRet(self.raw, value.0)),
            None => llvm!(LLVMBuildRetVoid(self.raw)),
        })
    }

    /// An end that is never reached.
    pub fn unreachable(&self) -> Value<'m> {
        self.built(|| llvm!(LLVMBuildUnreachable(self.raw)))
    }
}
