//! Types and their layout in memory.
//!
//! Some functions of the C interface are defined for one kind of type only, and read invalid memory
//! for others. So each function here checks the kind first, and returns `None`, an empty list or 0
//! for types to which it does not apply. [`Type::element`], [`Type::result`], [`Type::array`] and
//! [`Layout::field_offset`] panic instead.

use std::marker::PhantomData;

use llvm_sys::LLVMTypeKind;
use llvm_sys::prelude::{LLVMContextRef, LLVMTypeRef};
use llvm_sys::target::LLVMTargetDataRef;

use crate::raw::{given, holds, lent_to_nul, llvm};

/// A type of a module's context.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Type<'m>(pub(crate) LLVMTypeRef, PhantomData<&'m ()>);

impl<'m> Type<'m> {
    pub(crate) fn new(raw: LLVMTypeRef) -> Type<'m> {
        Type(raw, PhantomData)
    }

    pub(crate) fn context(self) -> LLVMContextRef {
        llvm!(LLVMGetTypeContext(self.0))
    }

    /// The kind of the type.
    pub fn kind(self) -> LLVMTypeKind {
        llvm!(LLVMGetTypeKind(self.0))
    }

    /// Whether it is `void`.
    pub fn is_void(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMVoidTypeKind
    }

    /// Whether it is the type of pointers.
    pub fn is_pointer(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMPointerTypeKind
    }

    /// Whether it is the type of addresses relative to the start of a segment (`__seg_fs`).
    pub fn is_in_segment(self) -> bool {
        self.is_pointer() && llvm!(LLVMGetPointerAddressSpace(self.0)) != 0
    }

    /// Whether it is a structure.
    pub fn is_struct(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMStructTypeKind
    }

    /// Whether it is an array.
    pub fn is_array(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMArrayTypeKind
    }

    /// Whether it is a vector of a fixed number of elements.
    pub fn is_vector(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMVectorTypeKind
    }

    /// Whether it is a floating-point type that a C compiler for x86-64 uses, other than `__bf16`.
    pub fn is_float(self) -> bool {
        use LLVMTypeKind::*;
        matches!(
            self.kind(),
            LLVMHalfTypeKind
                | LLVMFloatTypeKind
                | LLVMDoubleTypeKind
                | LLVMX86_FP80TypeKind
                | LLVMFP128TypeKind
        )
    }

    /// Whether it is an integer type.
    pub fn is_integer(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMIntegerTypeKind
    }

    fn is_function(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMFunctionTypeKind
    }

    /// The width of an integer type in bits.
    pub fn int_width(self) -> Option<u32> {
        self.is_integer()
            .then(|| llvm!(LLVMGetIntTypeWidth(self.0)))
    }

    /// Whether the type has a size. Opaque structures and functions have none.
    pub fn is_sized(self) -> bool {
        holds(llvm!(LLVMTypeIsSized(self.0)))
    }

    fn if_sized<T>(self, ask: impl FnOnce() -> T, otherwise: T) -> T {
        if self.is_sized() { ask() } else { otherwise }
    }

    /// The name of a structure as in bitcode: `struct.node`, `union.value.3`.
    pub fn struct_name(self) -> Option<String> {
        let name = self.is_struct().then(|| llvm!(LLVMGetStructName(self.0)))?;
        lent_to_nul(name)
    }

    /// Whether it is a structure without a name, which is identified by its fields.
    pub(crate) fn is_literal_struct(self) -> bool {
        self.is_struct() && holds(llvm!(LLVMIsLiteralStruct(self.0)))
    }

    /// Whether a structure has no padding.
    pub(crate) fn is_packed(self) -> bool {
        self.is_struct() && holds(llvm!(LLVMIsPackedStruct(self.0)))
    }

    /// The element type of an array or a vector.
    pub fn element(self) -> Type<'m> {
        let has_elements = self.is_array()
            || self.is_vector()
            || self.kind() == LLVMTypeKind::LLVMScalableVectorTypeKind;
        assert!(has_elements, "no elements");
        Type::new(llvm!(LLVMGetElementType(self.0)))
    }

    /// The number of elements of an array, or 0 for other types.
    pub fn array_len(self) -> u64 {
        match self.is_array() {
            true => llvm!(LLVMGetArrayLength2(self.0)),
            false => 0,
        }
    }

    /// The number of elements of a vector, or 0 for other types.
    pub fn vector_len(self) -> u32 {
        match self.is_vector() {
            true => llvm!(LLVMGetVectorSize(self.0)),
            false => 0,
        }
    }

    /// The types of a structure's fields. Empty for other types.
    pub fn fields(self) -> Vec<Type<'m>> {
        let count = match self.is_struct() {
            true => llvm!(LLVMCountStructElementTypes(self.0)),
            false => 0,
        };
        (0..count)
            .map(|i| Type::new(llvm!(LLVMStructGetTypeAtIndex(self.0, i))))
            .collect()
    }

    /// The type of a function's result.
    pub fn result(self) -> Type<'m> {
        assert!(self.is_function(), "no result");
        Type::new(llvm!(LLVMGetReturnType(self.0)))
    }

    /// Whether it is the type of a function with variable arguments.
    pub fn is_vararg(self) -> bool {
        self.is_function() && holds(llvm!(LLVMIsFunctionVarArg(self.0)))
    }

    /// The types of a function's parameters. Empty for other types.
    pub fn params(self) -> Vec<Type<'m>> {
        if !self.is_function() {
            return Vec::new();
        }
        let count = llvm!(LLVMCountParamTypes(self.0)) as usize;
        let mut raw = vec![std::ptr::null_mut(); count];
        llvm!(LLVMGetParamTypes(self.0, raw.as_mut_ptr()));
        raw.into_iter().map(Type::new).collect()
    }

    /// The integer type of this width, from 1 to 2^23 bits, in the same context.
    pub fn int_beside(self, width: u32) -> Type<'m> {
        Type::new(llvm!(LLVMIntTypeInContext(self.context(), width)))
    }

    /// The type in LLVM's assembly language.
    pub fn text(self) -> String {
        given(llvm!(LLVMPrintTypeToString(self.0)))
    }

    /// The type of an array of `len` elements of this type, which must have a size.
    pub fn array(self, len: u64) -> Type<'m> {
        assert!(self.is_sized(), "elements have a size");
        Type::new(llvm!(LLVMArrayType2(self.0, len)))
    }

    /// The type of a function, without variable arguments, that returns a value of this type.
    pub fn function(self, params: &[Type<'m>]) -> Type<'m> {
        let mut raw: Vec<LLVMTypeRef> = params.iter().map(|ty| ty.0).collect();
        let (first, count) = (raw.as_mut_ptr(), raw.len() as u32);
        Type::new(llvm!(LLVMFunctionType(self.0, first, count, 0)))
    }
}

/// Sizes and offsets according to the target's data layout.
#[derive(Clone, Copy)]
pub struct Layout<'m>(LLVMTargetDataRef, PhantomData<&'m ()>);

impl<'m> Layout<'m> {
    pub(crate) fn new(raw: LLVMTargetDataRef) -> Layout<'m> {
        Layout(raw, PhantomData)
    }

    /// The distance in bytes between elements of an array, or 0 for types without a size.
    pub fn size(self, ty: Type<'m>) -> u64 {
        ty.if_sized(|| llvm!(LLVMABISizeOfType(self.0, ty.0)), 0)
    }

    /// The number of bytes that a store writes, or 0 for types without a size.
    pub fn store_size(self, ty: Type<'m>) -> u64 {
        ty.if_sized(|| llvm!(LLVMStoreSizeOfType(self.0, ty.0)), 0)
    }

    /// The number of bits of a value, or 0 for types without a size.
    pub fn bits(self, ty: Type<'m>) -> u64 {
        ty.if_sized(|| llvm!(LLVMSizeOfTypeInBits(self.0, ty.0)), 0)
    }

    /// The alignment in bytes, or 1 for types without a size.
    pub fn align(self, ty: Type<'m>) -> u32 {
        ty.if_sized(|| llvm!(LLVMABIAlignmentOfType(self.0, ty.0)), 1)
    }

    /// The offset of a structure's field, in bytes.
    pub fn field_offset(self, ty: Type<'m>, field: u32) -> u64 {
        let has_field =
            ty.is_struct() && ty.is_sized() && field < llvm!(LLVMCountStructElementTypes(ty.0));
        assert!(has_field, "no such field");
        llvm!(LLVMOffsetOfElement(self.0, ty.0, field))
    }
}
