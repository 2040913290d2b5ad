//! A thin, typed view of LLVM's C interface, holding just what instrumentation needs.
//!
//! `inkwell` reads, runs passes over and writes the module, but it cannot tell `undef` from other
//! constants, walks metadata operands into a panic and hides debug locations. Here every handle borrows
//! the module it belongs to, so that a handle cannot outlive it; nothing else is promised: a handle to
//! an instruction that was erased must not be used again, and the passes in this folder do not.

mod build;
mod value;

use std::ffi::{CStr, CString};
use std::marker::PhantomData;

use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::target::{LLVMABISizeOfType, LLVMGetModuleDataLayout};
use llvm_sys::{LLVMAttributeFunctionIndex, LLVMOpcode, LLVMTypeKind, LLVMVisibility};

pub(crate) use build::Builder;

/// A value: a function, an instruction, a constant.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Value<'m>(pub LLVMValueRef, PhantomData<&'m ()>);

/// A basic block.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Block<'m>(LLVMBasicBlockRef, PhantomData<&'m ()>);

/// A type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Type<'m>(pub LLVMTypeRef, PhantomData<&'m ()>);

/// A position in the C sources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Position {
    pub file: String,
    pub line: u32,
    pub column: u32,
}

/// A module, borrowed from `inkwell`.
#[derive(Clone, Copy)]
pub(crate) struct Ir<'m> {
    module: LLVMModuleRef,
    context: LLVMContextRef,
    lifetime: PhantomData<&'m ()>,
}

fn owned(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

impl<'m> Ir<'m> {
    /// The view of `module`.
    pub fn new(module: &'m inkwell::module::Module<'_>) -> Self {
        let module = module.as_mut_ptr();
        // SAFETY: the module is alive for 'm, and so is its context.
        let context = unsafe { LLVMGetModuleContext(module) };
        Ir {
            module,
            context,
            lifetime: PhantomData,
        }
    }

    fn value(self, raw: LLVMValueRef) -> Value<'m> {
        Value(raw, PhantomData)
    }

    /// All functions, in module order.
    pub fn functions(self) -> Vec<Value<'m>> {
        let mut all = Vec::new();
        // SAFETY: walking the module's own list, which nothing changes meanwhile.
        unsafe {
            let mut at = LLVMGetFirstFunction(self.module);
            while !at.is_null() {
                all.push(self.value(at));
                at = LLVMGetNextFunction(at);
            }
        }
        all
    }

    /// All global variables.
    pub fn globals(self) -> Vec<Value<'m>> {
        let mut all = Vec::new();
        // SAFETY: as above.
        unsafe {
            let mut at = LLVMGetFirstGlobal(self.module);
            while !at.is_null() {
                all.push(self.value(at));
                at = LLVMGetNextGlobal(at);
            }
        }
        all
    }

    /// The function called `name`, declared with this type if it is not there.
    pub fn function(
        self,
        name: &str,
        result: Type<'m>,
        params: &[Type<'m>],
    ) -> (Value<'m>, Type<'m>) {
        let mut raw: Vec<LLVMTypeRef> = params.iter().map(|t| t.0).collect();
        let name = owned(name);
        // SAFETY: the types belong to this context; the name is NUL-terminated.
        unsafe {
            let ty = LLVMFunctionType(result.0, raw.as_mut_ptr(), raw.len() as u32, 0);
            let mut f = LLVMGetNamedFunction(self.module, name.as_ptr());
            if f.is_null() {
                f = LLVMAddFunction(self.module, name.as_ptr(), ty);
            }
            (self.value(f), Type(ty, PhantomData))
        }
    }

    /// Adds a global variable with an initial value.
    pub fn add_global(self, name: &str, init: Value<'m>) -> Value<'m> {
        let name = owned(name);
        // SAFETY: value and type belong to this module's context.
        unsafe {
            let g = LLVMAddGlobal(self.module, LLVMTypeOf(init.0), name.as_ptr());
            LLVMSetInitializer(g, init.0);
            self.value(g)
        }
    }

    /// Declares a global variable that the runtime defines.
    pub fn extern_global(self, name: &str, ty: Type<'m>) -> Value<'m> {
        let name = owned(name);
        // SAFETY: the type belongs to this context.
        unsafe {
            let mut g = LLVMGetNamedGlobal(self.module, name.as_ptr());
            if g.is_null() {
                g = LLVMAddGlobal(self.module, ty.0, name.as_ptr());
            }
            self.value(g)
        }
    }

    /// Gives a global a section and an alignment.
    pub fn place(self, global: Value<'m>, section: &str, align: u32) {
        let section = owned(section);
        // SAFETY: `global` is a global variable of this module.
        unsafe {
            LLVMSetSection(global.0, section.as_ptr());
            LLVMSetAlignment(global.0, align);
        }
    }

    /// Integer type of this width.
    pub fn int(self, width: u32) -> Type<'m> {
        // SAFETY: the context is alive.
        Type(
            unsafe { LLVMIntTypeInContext(self.context, width) },
            PhantomData,
        )
    }

    /// `void`.
    pub fn void(self) -> Type<'m> {
        // SAFETY: the context is alive.
        Type(unsafe { LLVMVoidTypeInContext(self.context) }, PhantomData)
    }

    /// `ptr`.
    pub fn ptr(self) -> Type<'m> {
        // SAFETY: the context is alive.
        Type(
            unsafe { LLVMPointerTypeInContext(self.context, 0) },
            PhantomData,
        )
    }

    /// A constant integer.
    pub fn constant(self, width: u32, value: u64) -> Value<'m> {
        // SAFETY: the type was just made.
        self.value(unsafe { LLVMConstInt(self.int(width).0, value, 0) })
    }

    /// An array of bytes.
    pub fn bytes(self, len: u64) -> Type<'m> {
        // SAFETY: the type belongs to this context.
        Type(unsafe { LLVMArrayType2(self.int(8).0, len) }, PhantomData)
    }

    /// A zeroed array of bytes.
    pub fn zero_bytes(self, len: u64) -> Value<'m> {
        // SAFETY: the type belongs to this context.
        self.value(unsafe { LLVMConstNull(self.bytes(len).0) })
    }

    /// The address of byte `at` of a global, as a constant.
    pub fn byte_of(self, global: Value<'m>, at: u64) -> Value<'m> {
        let mut index = [self.constant(64, at).0];
        // SAFETY: a constant GEP over bytes; `global` is a pointer constant.
        self.value(unsafe { LLVMConstInBoundsGEP2(self.int(8).0, global.0, index.as_mut_ptr(), 1) })
    }

    /// Bytes of a value of this type in memory.
    pub fn size_of(self, ty: Type<'m>) -> u64 {
        // SAFETY: the data layout belongs to the module; the type is sized where this is called.
        unsafe { LLVMABISizeOfType(LLVMGetModuleDataLayout(self.module), ty.0) }
    }

    /// The constant whose every byte is `byte`, for types that have one.
    pub fn pattern(self, ty: Type<'m>, byte: u8) -> Option<Value<'m>> {
        use LLVMTypeKind::*;
        let word = u64::from_ne_bytes([byte; 8]);
        // SAFETY: only constants of types of this context are made.
        unsafe {
            let of_width = |width: u32| {
                let words = vec![word; width.div_ceil(64) as usize];
                LLVMConstIntOfArbitraryPrecision(
                    self.int(width).0,
                    words.len() as u32,
                    words.as_ptr(),
                )
            };
            let many =
                |len: u32, element: &dyn Fn(u32) -> LLVMTypeRef| -> Option<Vec<LLVMValueRef>> {
                    (0..len)
                        .map(|i| Some(self.pattern(Type(element(i), PhantomData), byte)?.0))
                        .collect()
                };
            Some(self.value(match LLVMGetTypeKind(ty.0) {
                LLVMIntegerTypeKind => of_width(LLVMGetIntTypeWidth(ty.0)),
                LLVMPointerTypeKind => LLVMConstIntToPtr(of_width(64), ty.0),
                LLVMHalfTypeKind | LLVMBFloatTypeKind => LLVMConstBitCast(of_width(16), ty.0),
                LLVMFloatTypeKind => LLVMConstBitCast(of_width(32), ty.0),
                LLVMDoubleTypeKind => LLVMConstBitCast(of_width(64), ty.0),
                LLVMX86_FP80TypeKind => LLVMConstBitCast(of_width(80), ty.0),
                LLVMFP128TypeKind => LLVMConstBitCast(of_width(128), ty.0),
                LLVMArrayTypeKind => {
                    let element = LLVMGetElementType(ty.0);
                    let mut v = many(LLVMGetArrayLength2(ty.0) as u32, &|_| element)?;
                    LLVMConstArray2(element, v.as_mut_ptr(), v.len() as u64)
                }
                LLVMVectorTypeKind => {
                    let element = LLVMGetElementType(ty.0);
                    let mut v = many(LLVMGetVectorSize(ty.0), &|_| element)?;
                    LLVMConstVector(v.as_mut_ptr(), v.len() as u32)
                }
                LLVMStructTypeKind => {
                    let mut v = many(LLVMCountStructElementTypes(ty.0), &|i| {
                        LLVMStructGetTypeAtIndex(ty.0, i)
                    })?;
                    self.structure(ty, v.as_mut_ptr(), v.len() as u32)
                }
                _ => return None,
            }))
        }
    }

    /// A constant with its undefined parts filled with `byte`; None if it has none.
    pub fn filled(self, value: Value<'m>, byte: u8) -> Option<Value<'m>> {
        use LLVMTypeKind::*;
        if value.is_undef() {
            return self.pattern(value.ty(), byte);
        }
        let ty = value.ty();
        // SAFETY: only constants, whose elements are constants of this context, are asked and made.
        unsafe {
            if LLVMIsConstant(value.0) == 0 || LLVMIsNull(value.0) != 0 {
                return None;
            }
            let len = match LLVMGetTypeKind(ty.0) {
                LLVMArrayTypeKind => LLVMGetArrayLength2(ty.0) as u32,
                LLVMVectorTypeKind => LLVMGetVectorSize(ty.0),
                LLVMStructTypeKind => LLVMCountStructElementTypes(ty.0),
                _ => return None,
            };
            let mut changed = false;
            let mut parts = Vec::with_capacity(len as usize);
            for i in 0..len {
                let part = LLVMGetAggregateElement(value.0, i);
                if part.is_null() {
                    return None;
                }
                let filled = self.filled(self.value(part), byte);
                changed |= filled.is_some();
                parts.push(filled.map_or(part, |f| f.0));
            }
            let (first, parts) = (parts.as_mut_ptr(), len);
            changed.then(|| {
                self.value(match LLVMGetTypeKind(ty.0) {
                    LLVMArrayTypeKind => {
                        LLVMConstArray2(LLVMGetElementType(ty.0), first, u64::from(parts))
                    }
                    LLVMVectorTypeKind => LLVMConstVector(first, parts),
                    _ => self.structure(ty, first, parts),
                })
            })
        }
    }

    /// A constant of a structure type.
    ///
    /// # Safety
    /// `fields` holds `count` constants of the types of the structure's fields.
    unsafe fn structure(self, ty: Type<'m>, fields: *mut LLVMValueRef, count: u32) -> LLVMValueRef {
        // SAFETY: the caller's promise; the type belongs to this context.
        unsafe {
            if LLVMGetStructName(ty.0).is_null() {
                let packed = LLVMIsPackedStruct(ty.0);
                LLVMConstStructInContext(self.context, fields, count, packed)
            } else {
                LLVMConstNamedStruct(ty.0, fields, count)
            }
        }
    }

    /// Makes every use of a declared function one of the function called `name`.
    pub fn redirect(self, function: Value<'m>, name: &str) {
        let name = owned(name);
        // SAFETY: `function` is a function of this module; nothing uses the old declaration afterwards.
        unsafe {
            let existing = LLVMGetNamedFunction(self.module, name.as_ptr());
            if existing.is_null() {
                LLVMSetValueName2(function.0, name.as_ptr(), name.as_bytes().len());
            } else {
                LLVMReplaceAllUsesWith(function.0, existing);
                LLVMDeleteFunction(function.0);
            }
        }
    }

    /// Adds (or, with None, removes) an attribute on a function.
    pub fn enum_attribute(self, function: Value<'m>, name: &str, add: bool) {
        // SAFETY: `function` is a function; the kind is looked up by name.
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            if kind == 0 {
                return;
            }
            if add {
                let attribute = LLVMCreateEnumAttribute(self.context, kind, 0);
                LLVMAddAttributeAtIndex(function.0, LLVMAttributeFunctionIndex, attribute);
            } else {
                LLVMRemoveEnumAttributeAtIndex(function.0, LLVMAttributeFunctionIndex, kind);
            }
        }
    }

    /// Turns a definition into a declaration of the same name. The handle is dead afterwards.
    pub fn drop_body(self, function: Value<'m>) {
        let name = function.name();
        let fresh = owned(&name);
        // SAFETY: all uses move to the new declaration before the old function goes.
        unsafe {
            let ty = LLVMGlobalGetValueType(function.0);
            LLVMSetValueName2(function.0, c"".as_ptr(), 0);
            let declared = LLVMAddFunction(self.module, fresh.as_ptr(), ty);
            LLVMReplaceAllUsesWith(function.0, declared);
            LLVMDeleteFunction(function.0);
        }
    }

    /// A builder that inserts before `at`, with its debug location.
    pub fn before(self, at: Value<'m>) -> Builder<'m> {
        // SAFETY: `at` is an instruction in a block.
        let raw = unsafe {
            let raw = LLVMCreateBuilderInContext(self.context);
            LLVMPositionBuilderBefore(raw, at.0);
            raw
        };
        Builder { raw, ir: self }
    }

    /// Marks an instruction as none of a sanitizer's business.
    pub fn no_sanitize(self, instruction: Value<'m>) {
        let name = "nosanitize";
        // SAFETY: attaches an empty node of this context to an instruction.
        unsafe {
            let kind =
                LLVMGetMDKindIDInContext(self.context, name.as_ptr().cast(), name.len() as u32);
            let node = LLVMMDNodeInContext2(self.context, std::ptr::null_mut(), 0);
            LLVMSetMetadata(instruction.0, kind, LLVMMetadataAsValue(self.context, node));
        }
    }
}
