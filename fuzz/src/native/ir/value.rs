//! What values, blocks and types can be asked.

use super::*;

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
