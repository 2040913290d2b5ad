//! Flattening: every first-class type is a sequence of scalars ("leaves") of at most 128 bits.

use std::rc::Rc;

use cegar_llvm::{LLVMTypeKind, Layout, Type};
use rustc_hash::FxHashMap;

use crate::program::ir::Width;

/// One scalar of a flattened type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Leaf {
    /// The width in a register, in bits.
    pub width: Width,
    /// The offset from the start of the whole in memory, in bytes.
    pub offset: u64,
}

/// The largest number of leaves of a type. Larger values would take too many registers and are not
/// modelled.
const MOST_LEAVES: u64 = 4096;

/// The leaves of the types met so far.
pub(crate) struct Types<'m> {
    layout: Layout<'m>,
    known: FxHashMap<Type<'m>, Result<Rc<[Leaf]>, String>>,
}

impl<'m> Types<'m> {
    pub(crate) fn new(layout: Layout<'m>) -> Types<'m> {
        Types {
            layout,
            known: FxHashMap::default(),
        }
    }

    /// The leaves of a type. The error names what is not modelled.
    pub(crate) fn leaves(&mut self, ty: Type<'m>) -> Result<Rc<[Leaf]>, String> {
        if let Some(known) = self.known.get(&ty) {
            return known.clone();
        }
        let mut leaves = Vec::new();
        let result = self.flatten(ty, 0, &mut leaves).map(|()| Rc::from(leaves));
        self.known.insert(ty, result.clone());
        result
    }

    /// The number of registers that a value of this type takes.
    pub(crate) fn count(&mut self, ty: Type<'m>) -> Result<u32, String> {
        self.leaves(ty).map(|l| l.len() as u32)
    }

    fn flatten(&mut self, ty: Type<'m>, offset: u64, into: &mut Vec<Leaf>) -> Result<(), String> {
        let mut push = |width: Width| {
            into.push(Leaf { width, offset });
            Ok(())
        };
        match ty.kind() {
            LLVMTypeKind::LLVMVoidTypeKind => Ok(()),
            LLVMTypeKind::LLVMIntegerTypeKind => match ty.int_width().unwrap_or(0) {
                width @ 1..=128 => push(width as Width),
                width => Err(format!("integer of {width} bits")),
            },
            LLVMTypeKind::LLVMPointerTypeKind => push(64),
            LLVMTypeKind::LLVMHalfTypeKind | LLVMTypeKind::LLVMBFloatTypeKind => push(16),
            LLVMTypeKind::LLVMFloatTypeKind => push(32),
            LLVMTypeKind::LLVMDoubleTypeKind => push(64),
            LLVMTypeKind::LLVMX86_FP80TypeKind => push(80),
            LLVMTypeKind::LLVMFP128TypeKind => push(128),
            LLVMTypeKind::LLVMStructTypeKind => {
                for (i, field) in ty.fields().into_iter().enumerate() {
                    let at = self.layout.field_offset(ty, i as u32);
                    self.flatten(field, offset + at, into)?;
                }
                Ok(())
            }
            LLVMTypeKind::LLVMArrayTypeKind => self.repeat(
                ty.element(),
                ty.array_len(),
                self.layout.size(ty.element()),
                offset,
                into,
            ),
            LLVMTypeKind::LLVMVectorTypeKind => {
                let stride = self.layout.bits(ty.element()) / 8;
                self.repeat(
                    ty.element(),
                    u64::from(ty.vector_len()),
                    stride,
                    offset,
                    into,
                )
            }
            _ => Err(format!("type {}", ty.text())),
        }
    }

    fn repeat(
        &mut self,
        element: Type<'m>,
        count: u64,
        stride: u64,
        offset: u64,
        into: &mut Vec<Leaf>,
    ) -> Result<(), String> {
        let each = self.leaves(element)?;
        if (each.len() as u64).saturating_mul(count) + into.len() as u64 > MOST_LEAVES {
            return Err(format!("value of {count} x {}", element.text()));
        }
        for i in 0..count {
            into.extend(each.iter().map(|l| Leaf {
                offset: offset + i * stride + l.offset,
                ..*l
            }));
        }
        Ok(())
    }
}
