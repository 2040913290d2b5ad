//! A thin, typed view of LLVM's C interface, holding just what instrumentation needs.
//!
//! `inkwell` reads, runs passes over and writes the module, but it cannot tell `undef` from other
//! constants, walks metadata operands into a panic and hides debug locations. Here every handle borrows
//! the module it belongs to, so that a handle cannot outlive it; nothing else is promised: a handle to
//! an instruction that was erased must not be used again, and the passes in this folder do not.

use std::ffi::{CStr, CString};
use std::marker::PhantomData;

use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::target::{LLVMABISizeOfType, LLVMGetModuleDataLayout};
use llvm_sys::{LLVMAttributeFunctionIndex, LLVMOpcode, LLVMTypeKind, LLVMVisibility};

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

    /// A zeroed array of bytes.
    pub fn zero_bytes(self, len: u64) -> Value<'m> {
        // SAFETY: the types belong to this context.
        self.value(unsafe { LLVMConstNull(LLVMArrayType2(self.int(8).0, len)) })
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

impl<'m> Value<'m> {
    /// Its name; empty if it has none.
    pub fn name(self) -> String {
        let mut len = 0;
        // SAFETY: LLVM gives pointer and length of the name.
        unsafe {
            let text = LLVMGetValueName2(self.0, &mut len);
            String::from_utf8_lossy(std::slice::from_raw_parts(text.cast::<u8>(), len)).into_owned()
        }
    }

    /// Blocks of a function, in order; none for a declaration.
    pub fn blocks(self) -> Vec<Block<'m>> {
        let mut all = Vec::new();
        // SAFETY: walks the function's own list.
        unsafe {
            let mut at = LLVMGetFirstBasicBlock(self.0);
            while !at.is_null() {
                all.push(Block(at, PhantomData));
                at = LLVMGetNextBasicBlock(at);
            }
        }
        all
    }

    /// The value of a function's string attribute.
    pub fn attribute(self, name: &str) -> Option<String> {
        // SAFETY: `self` is a function; pointer and length go together.
        unsafe {
            let found = LLVMGetStringAttributeAtIndex(
                self.0,
                LLVMAttributeFunctionIndex,
                name.as_ptr().cast(),
                name.len() as u32,
            );
            if found.is_null() {
                return None;
            }
            let mut len = 0;
            let text = LLVMGetStringAttributeValue(found, &mut len);
            let bytes = std::slice::from_raw_parts(text.cast::<u8>(), len as usize);
            Some(String::from_utf8_lossy(bytes).into_owned())
        }
    }

    /// Whether a global has a body or an initial value here.
    pub fn is_defined(self) -> bool {
        // SAFETY: `self` is a global value.
        unsafe { LLVMIsDeclaration(self.0) == 0 }
    }

    /// Hides a definition from the dynamic linker, so that the host process cannot pre-empt it.
    pub fn hide(self) {
        // SAFETY: `self` is a global value; local linkage must keep default visibility.
        unsafe {
            use llvm_sys::LLVMLinkage::*;
            if !matches!(
                LLVMGetLinkage(self.0),
                LLVMInternalLinkage | LLVMPrivateLinkage
            ) {
                LLVMSetVisibility(self.0, LLVMVisibility::LLVMHiddenVisibility);
            }
        }
    }

    /// The instruction's opcode; None if this is no instruction.
    pub fn opcode(self) -> Option<LLVMOpcode> {
        // SAFETY: checked to be an instruction before it is asked.
        unsafe { (!LLVMIsAInstruction(self.0).is_null()).then(|| LLVMGetInstructionOpcode(self.0)) }
    }

    /// How many operands.
    pub fn operand_count(self) -> u32 {
        // SAFETY: asked of users only (instructions and constants).
        unsafe { LLVMGetNumOperands(self.0).max(0) as u32 }
    }

    /// One operand.
    pub fn operand(self, i: u32) -> Value<'m> {
        // SAFETY: `i` is below `operand_count`.
        Value(unsafe { LLVMGetOperand(self.0, i) }, PhantomData)
    }

    /// Replaces one operand.
    pub fn set_operand(self, i: u32, value: Value<'m>) {
        // SAFETY: `i` is below `operand_count`; the types agree.
        unsafe { LLVMSetOperand(self.0, i, value.0) }
    }

    /// Its type.
    pub fn ty(self) -> Type<'m> {
        // SAFETY: every value has a type.
        Type(unsafe { LLVMTypeOf(self.0) }, PhantomData)
    }

    /// Whether it is `undef` or `poison`.
    pub fn is_undef(self) -> bool {
        // SAFETY: any value may be asked.
        unsafe { LLVMIsUndef(self.0) != 0 }
    }

    /// Whether it is a constant.
    pub fn is_constant(self) -> bool {
        // SAFETY: any value may be asked.
        unsafe { LLVMIsConstant(self.0) != 0 }
    }

    /// The value of a constant integer of at most 64 bits.
    pub fn constant_int(self) -> Option<u64> {
        // SAFETY: asked only once it is known to be a narrow constant integer.
        unsafe {
            (!LLVMIsAConstantInt(self.0).is_null() && LLVMGetIntTypeWidth(LLVMTypeOf(self.0)) <= 64)
                .then(|| LLVMConstIntGetZExtValue(self.0))
        }
    }

    /// The bytes of a constant string that this points at (without its NUL).
    pub fn constant_string(self) -> Option<Vec<u8>> {
        // SAFETY: each step is checked before the next.
        unsafe {
            if LLVMIsAGlobalVariable(self.0).is_null() || LLVMIsGlobalConstant(self.0) == 0 {
                return None;
            }
            let init = LLVMGetInitializer(self.0);
            if init.is_null()
                || LLVMIsAConstantDataArray(init).is_null()
                || LLVMIsConstantString(init) == 0
            {
                return None;
            }
            let mut len = 0;
            let text = LLVMGetAsString(init, &mut len);
            let bytes = std::slice::from_raw_parts(text.cast::<u8>(), len);
            let end = bytes.iter().position(|&b| b == 0).unwrap_or(len);
            Some(bytes[..end].to_vec())
        }
    }

    /// For a call: the function called directly.
    pub fn callee(self) -> Option<Value<'m>> {
        // SAFETY: `self` is a call; a function is asked whether it is one.
        unsafe {
            let callee = LLVMGetCalledValue(self.0);
            (!callee.is_null() && !LLVMIsAFunction(callee).is_null())
                .then_some(Value(callee, PhantomData))
        }
    }

    /// For a call: its number of arguments.
    pub fn argument_count(self) -> u32 {
        // SAFETY: `self` is a call.
        unsafe { LLVMGetNumArgOperands(self.0) }
    }

    /// For an alloca: the type it holds.
    pub fn allocated(self) -> Type<'m> {
        // SAFETY: `self` is an alloca.
        Type(unsafe { LLVMGetAllocatedType(self.0) }, PhantomData)
    }

    /// The instruction after this one.
    pub fn next(self) -> Option<Value<'m>> {
        // SAFETY: `self` is an instruction in a block.
        let next = unsafe { LLVMGetNextInstruction(self.0) };
        (!next.is_null()).then_some(Value(next, PhantomData))
    }

    /// Removes an instruction without uses. The handle is dead afterwards.
    pub fn erase(self) {
        // SAFETY: `self` is an instruction nobody uses.
        unsafe { LLVMInstructionEraseFromParent(self.0) }
    }

    /// Makes a load or store volatile, so that it happens where it stands.
    pub fn make_volatile(self) {
        // SAFETY: `self` is a load or a store.
        unsafe { LLVMSetVolatile(self.0, 1) }
    }

    /// Where the instruction stands in the C sources.
    pub fn position(self) -> Option<Position> {
        // SAFETY: pointers come with their lengths; checked for NULL.
        unsafe {
            let line = LLVMGetDebugLocLine(self.0);
            if line == 0 {
                return None;
            }
            let text = |p: *const i8, len: u32| {
                if p.is_null() {
                    return String::new();
                }
                String::from_utf8_lossy(std::slice::from_raw_parts(p.cast::<u8>(), len as usize))
                    .into_owned()
            };
            let mut len = 0;
            let file = LLVMGetDebugLocFilename(self.0, &mut len);
            Some(Position {
                file: text(file, len),
                line,
                column: LLVMGetDebugLocColumn(self.0),
            })
        }
    }
}

impl<'m> Block<'m> {
    /// Its instructions, in order.
    pub fn instructions(self) -> Vec<Value<'m>> {
        let mut all = Vec::new();
        // SAFETY: walks the block's own list.
        unsafe {
            let mut at = LLVMGetFirstInstruction(self.0);
            while !at.is_null() {
                all.push(Value(at, PhantomData));
                at = LLVMGetNextInstruction(at);
            }
        }
        all
    }
}

impl<'m> Type<'m> {
    /// Width of an integer type.
    pub fn int_width(self) -> Option<u32> {
        // SAFETY: the kind is checked first.
        unsafe {
            (LLVMGetTypeKind(self.0) == LLVMTypeKind::LLVMIntegerTypeKind)
                .then(|| LLVMGetIntTypeWidth(self.0))
        }
    }

    /// Its kind.
    pub fn kind(self) -> LLVMTypeKind {
        // SAFETY: any type may be asked.
        unsafe { LLVMGetTypeKind(self.0) }
    }
}

/// Inserts instructions at one place.
pub(crate) struct Builder<'m> {
    raw: LLVMBuilderRef,
    ir: Ir<'m>,
}

impl Drop for Builder<'_> {
    fn drop(&mut self) {
        // SAFETY: created by LLVMCreateBuilderInContext, disposed once.
        unsafe { LLVMDisposeBuilder(self.raw) }
    }
}

const NO_NAME: *const std::ffi::c_char = CStr::as_ptr(c"");

// SAFETY (of every block below): operands are live values of the builder's module, of the types that the
// built instruction wants; the callers in this folder see to it.
#[allow(
    clippy::undocumented_unsafe_blocks,
    reason = "one reason for all, above"
)]
impl<'m> Builder<'m> {
    fn wrap(&self, raw: LLVMValueRef) -> Value<'m> {
        self.ir.value(raw)
    }

    pub fn load(&self, ty: Type<'m>, from: Value<'m>) -> Value<'m> {
        self.wrap(unsafe { LLVMBuildLoad2(self.raw, ty.0, from.0, NO_NAME) })
    }

    pub fn store(&self, value: Value<'m>, to: Value<'m>) -> Value<'m> {
        self.wrap(unsafe { LLVMBuildStore(self.raw, value.0, to.0) })
    }

    pub fn call(&self, (f, ty): (Value<'m>, Type<'m>), args: &[Value<'m>]) -> Value<'m> {
        let mut raw: Vec<LLVMValueRef> = args.iter().map(|a| a.0).collect();
        self.wrap(unsafe {
            LLVMBuildCall2(
                self.raw,
                ty.0,
                f.0,
                raw.as_mut_ptr(),
                raw.len() as u32,
                NO_NAME,
            )
        })
    }

    pub fn memset(&self, to: Value<'m>, byte: u8, len: Value<'m>) {
        let byte = self.ir.constant(8, u64::from(byte));
        unsafe { LLVMBuildMemSet(self.raw, to.0, byte.0, len.0, 1) };
    }

    pub fn mul(&self, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        self.wrap(unsafe { LLVMBuildMul(self.raw, a.0, b.0, NO_NAME) })
    }

    /// Zero-extends or truncates an integer.
    pub fn resize(&self, a: Value<'m>, width: u32, signed: bool) -> Value<'m> {
        self.wrap(unsafe {
            LLVMBuildIntCast2(
                self.raw,
                a.0,
                self.ir.int(width).0,
                i32::from(signed),
                NO_NAME,
            )
        })
    }

    pub fn bitcast(&self, a: Value<'m>, ty: Type<'m>) -> Value<'m> {
        self.wrap(unsafe { LLVMBuildBitCast(self.raw, a.0, ty.0, NO_NAME) })
    }
}
