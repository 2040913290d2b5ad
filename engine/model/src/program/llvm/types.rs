//! Types and their layout in memory.

use std::marker::PhantomData;

use llvm_sys::LLVMTypeKind;
use llvm_sys::prelude::LLVMTypeRef;
use llvm_sys::target::{
    LLVMABIAlignmentOfType, LLVMABISizeOfType, LLVMOffsetOfElement, LLVMSizeOfTypeInBits,
    LLVMStoreSizeOfType, LLVMTargetDataRef,
};

use super::{given, llvm};

/// A type of a module's context.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Type<'m>(pub LLVMTypeRef, pub PhantomData<&'m ()>);

impl<'m> Type<'m> {
    pub(crate) fn new(raw: LLVMTypeRef) -> Type<'m> {
        Type(raw, PhantomData)
    }

    pub(crate) fn kind(self) -> LLVMTypeKind {
        llvm!(LLVMGetTypeKind(self.0))
    }

    pub(crate) fn is_void(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMVoidTypeKind
    }

    pub(crate) fn is_pointer(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMPointerTypeKind
    }

    /// Whether this is the type of addresses relative to a segment's beginning (`__seg_fs`).
    pub(crate) fn is_in_segment(self) -> bool {
        self.is_pointer() && llvm!(LLVMGetPointerAddressSpace(self.0)) != 0
    }

    pub(crate) fn is_struct(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMStructTypeKind
    }

    pub(crate) fn is_vector(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMVectorTypeKind
    }

    pub(crate) fn is_float(self) -> bool {
        matches!(
            self.kind(),
            LLVMTypeKind::LLVMHalfTypeKind
                | LLVMTypeKind::LLVMFloatTypeKind
                | LLVMTypeKind::LLVMDoubleTypeKind
                | LLVMTypeKind::LLVMX86_FP80TypeKind
                | LLVMTypeKind::LLVMFP128TypeKind
        )
    }

    pub(crate) fn is_integer(self) -> bool {
        self.kind() == LLVMTypeKind::LLVMIntegerTypeKind
    }

    /// Bits of an integer type.
    pub(crate) fn int_width(self) -> u32 {
        llvm!(LLVMGetIntTypeWidth(self.0))
    }

    /// Whether the type has a size at all (opaque structs and functions have none).
    pub(crate) fn is_sized(self) -> bool {
        llvm!(LLVMTypeIsSized(self.0)) != 0
    }

    /// The tag of a structure in C, where it has one: `struct.device.3` is `device`.
    /// A structure's name as bitcode has it: `struct.node`, `union.value.3`.
    pub(crate) fn raw_struct_name(self) -> Option<String> {
        if !self.is_struct() {
            return None;
        }
        let raw = llvm!(LLVMGetStructName(self.0));
        if raw.is_null() {
            return None;
        }
        // SAFETY: a name that LLVM gave is NUL-terminated and lives as long as the type.
        let name = unsafe { std::ffi::CStr::from_ptr(raw) };
        Some(name.to_string_lossy().into_owned())
    }

    pub(crate) fn struct_name(self) -> Option<String> {
        if !self.is_struct() {
            return None;
        }
        let raw = llvm!(LLVMGetStructName(self.0));
        if raw.is_null() {
            return None;
        }
        // SAFETY: a name that LLVM gave is NUL-terminated and lives as long as the type.
        let name = unsafe { std::ffi::CStr::from_ptr(raw) }.to_string_lossy();
        let name = name.strip_prefix("struct.")?;
        let plain = match name.rsplit_once('.') {
            Some((plain, number)) if number.bytes().all(|b| b.is_ascii_digit()) => plain,
            _ => name,
        };
        Some(plain.to_owned())
    }

    /// Element type of an array or a vector.
    pub(crate) fn element(self) -> Type<'m> {
        Type::new(llvm!(LLVMGetElementType(self.0)))
    }

    pub(crate) fn array_len(self) -> u64 {
        llvm!(LLVMGetArrayLength2(self.0))
    }

    pub(crate) fn vector_len(self) -> u32 {
        llvm!(LLVMGetVectorSize(self.0))
    }

    pub(crate) fn fields(self) -> Vec<Type<'m>> {
        let n = llvm!(LLVMCountStructElementTypes(self.0));
        (0..n)
            .map(|i| Type::new(llvm!(LLVMStructGetTypeAtIndex(self.0, i))))
            .collect()
    }

    /// Result type of a function type.
    pub(crate) fn result(self) -> Type<'m> {
        Type::new(llvm!(LLVMGetReturnType(self.0)))
    }

    pub(crate) fn is_vararg(self) -> bool {
        llvm!(LLVMIsFunctionVarArg(self.0)) != 0
    }

    /// Parameter types of a function type.
    pub(crate) fn params(self) -> Vec<Type<'m>> {
        let n = llvm!(LLVMCountParamTypes(self.0)) as usize;
        let mut raw = vec![std::ptr::null_mut(); n];
        llvm!(LLVMGetParamTypes(self.0, raw.as_mut_ptr()));
        raw.into_iter().map(Type::new).collect()
    }

    pub(crate) fn text(self) -> String {
        given(llvm!(LLVMPrintTypeToString(self.0)))
    }
}

/// Sizes and offsets as the target lays things out.
#[derive(Clone, Copy)]
pub(crate) struct Layout<'m>(pub LLVMTargetDataRef, pub PhantomData<&'m ()>);

impl<'m> Layout<'m> {
    /// Bytes from one array element to the next; 0 for types without a size.
    pub(crate) fn size(self, ty: Type<'m>) -> u64 {
        if !ty.is_sized() {
            return 0;
        }
        // SAFETY: the layout and the type belong to the same live module; the type is sized.
        unsafe { LLVMABISizeOfType(self.0, ty.0) }
    }

    /// Bytes that a store writes.
    pub(crate) fn store_size(self, ty: Type<'m>) -> u64 {
        if !ty.is_sized() {
            return 0;
        }
        // SAFETY: the layout and the type belong to the same live module; the type is sized.
        unsafe { LLVMStoreSizeOfType(self.0, ty.0) }
    }

    pub(crate) fn bits(self, ty: Type<'m>) -> u64 {
        if !ty.is_sized() {
            return 0;
        }
        // SAFETY: the layout and the type belong to the same live module; the type is sized.
        unsafe { LLVMSizeOfTypeInBits(self.0, ty.0) }
    }

    pub(crate) fn align(self, ty: Type<'m>) -> u32 {
        if !ty.is_sized() {
            return 1;
        }
        // SAFETY: the layout and the type belong to the same live module; the type is sized.
        unsafe { LLVMABIAlignmentOfType(self.0, ty.0) }
    }

    /// Byte offset of a struct's field.
    pub(crate) fn field_offset(self, ty: Type<'m>, field: u32) -> u64 {
        // SAFETY: the caller passes a struct type with more than `field` fields.
        unsafe { LLVMOffsetOfElement(self.0, ty.0, field) }
    }
}
