//! Replaces undefined constants by constants with a fill pattern.
//!
//! `undef` may have a different value each time it is read, and an optimiser chooses whichever
//! suits it. The engine's machine has a single value for it, a repeated byte, so the native side
//! gets that value explicitly.

use cegar_llvm::{LLVMTypeKind, Type, Value};

/// The constant of this type whose every byte is `byte`; none if the type has no such constant.
fn pattern(ty: Type<'_>, byte: u8) -> Option<Value<'_>> {
    use LLVMTypeKind::*;
    let of_width = |width: u32| {
        let words = vec![u64::from_ne_bytes([byte; 8]); width.div_ceil(64) as usize];
        ty.int_beside(width).number_of_words(&words)
    };
    let bits = |width| Some(of_width(width).constant_bits(ty));
    let elements = |count: u64| -> Option<Vec<Value<'_>>> {
        match count {
            0 => Some(Vec::new()),
            _ => Some(vec![pattern(ty.element(), byte)?; count as usize]),
        }
    };
    match ty.kind() {
        LLVMIntegerTypeKind => ty.int_width().map(of_width),
        LLVMHalfTypeKind | LLVMBFloatTypeKind => bits(16),
        LLVMFloatTypeKind => bits(32),
        LLVMPointerTypeKind | LLVMDoubleTypeKind => bits(64),
        LLVMX86_FP80TypeKind => bits(80),
        LLVMFP128TypeKind => bits(128),
        LLVMArrayTypeKind | LLVMVectorTypeKind => Some(aggregate(ty, &elements(length(ty)?)?)),
        LLVMStructTypeKind => {
            let fields = ty.fields().into_iter();
            let fields: Option<Vec<_>> = fields.map(|field| pattern(field, byte)).collect();
            Some(aggregate(ty, &fields?))
        }
        _ => None,
    }
}

/// The constant with its undefined parts replaced by `byte`; none if it has no undefined parts.
pub(super) fn filled(value: Value<'_>, byte: u8) -> Option<Value<'_>> {
    let ty = value.ty();
    if value.is_undef() {
        return pattern(ty, byte);
    }
    if !value.is_constant() || value.is_null() {
        return None;
    }
    let mut changed = false;
    let mut parts = Vec::new();
    for i in 0..length(ty)? {
        let part = value.element(i as u32)?;
        let filled = filled(part, byte);
        changed |= filled.is_some();
        parts.push(filled.unwrap_or(part));
    }
    changed.then(|| aggregate(ty, &parts))
}

/// The number of parts of an array, a vector or a structure.
fn length(ty: Type<'_>) -> Option<u64> {
    use LLVMTypeKind::*;
    match ty.kind() {
        LLVMArrayTypeKind => Some(ty.array_len()),
        LLVMVectorTypeKind => Some(ty.vector_len().into()),
        LLVMStructTypeKind => Some(ty.fields().len() as u64),
        _ => None,
    }
}

/// An array, a vector or a structure of these parts.
fn aggregate<'m>(ty: Type<'m>, parts: &[Value<'m>]) -> Value<'m> {
    use LLVMTypeKind::*;
    match ty.kind() {
        LLVMArrayTypeKind => ty.element().constant_array(parts),
        LLVMVectorTypeKind => ty.element().constant_vector(parts),
        _ => ty.constant_struct(parts),
    }
}
