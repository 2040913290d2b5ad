//! Values (functions, globals, constants and instructions) and basic blocks.
//!
//! In the C interface all values have one type, and most of its functions are defined for some
//! kinds of values only. Each function here checks the kind of the value first. Where callers may
//! reasonably pass other kinds, the result for them is `None`, an empty list or 0. Otherwise the
//! value must be of the kind that the first sentence of the documentation names (a call, a global
//! variable, an operand of this number), and the function panics if it is not. A value that was
//! removed must not be used again. No type enforces that; see [`Value::delete`].

mod attributes;
mod change;
mod constant;
mod instruction;
mod make;

use std::marker::PhantomData;

use llvm_sys::prelude::{LLVMBasicBlockRef, LLVMContextRef, LLVMValueRef};
use llvm_sys::{LLVMLinkage, LLVMValueKind};

pub use attributes::{AttributeKind, Place};

use crate::raw::{given, holds, lent, lent_to_nul, llvm};
use crate::types::Type;

/// A value of a module.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Value<'m>(pub(crate) LLVMValueRef, PhantomData<&'m ()>);

/// A basic block.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct BasicBlock<'m>(pub(crate) LLVMBasicBlockRef, PhantomData<&'m ()>);

/// A function together with the type by which it is called.
#[derive(Clone, Copy)]
pub struct Callee<'m> {
    /// The function, or a pointer to one.
    pub function: Value<'m>,
    /// The type of the function.
    pub ty: Type<'m>,
}

/// A position in the source code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// The working directory of the compiler.
    pub directory: String,
    /// The file as given to the compiler. Empty if unknown.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, or 0 if unknown.
    pub column: u32,
}

/// All elements of one of LLVM's linked lists from `first` on.
pub(crate) fn walk<R, T>(
    first: *mut R,
    next: impl Fn(*mut R) -> *mut R,
    handle: impl Fn(*mut R) -> T,
) -> Vec<T> {
    let mut all = Vec::new();
    let mut at = first;
    while !at.is_null() {
        all.push(handle(at));
        at = next(at);
    }
    all
}

impl<'m> BasicBlock<'m> {
    pub(crate) fn new(raw: LLVMBasicBlockRef) -> BasicBlock<'m> {
        BasicBlock(raw, PhantomData)
    }

    /// The name of the block. Empty if it has none.
    pub fn name(self) -> String {
        lent_to_nul(llvm!(LLVMGetBasicBlockName(self.0))).unwrap_or_default()
    }

    /// The instructions of the block, in order.
    pub fn instructions(self) -> Vec<Value<'m>> {
        walk(
            llvm!(LLVMGetFirstInstruction(self.0)),
            |at| llvm!(LLVMGetNextInstruction(at)),
            Value::new,
        )
    }
}

impl<'m> Value<'m> {
    pub(crate) fn new(raw: LLVMValueRef) -> Value<'m> {
        Value(raw, PhantomData)
    }

    pub(crate) fn some(raw: LLVMValueRef) -> Option<Value<'m>> {
        (!raw.is_null()).then(|| Value::new(raw))
    }

    pub(crate) fn context(self) -> LLVMContextRef {
        self.ty().context()
    }

    /// The type of the value.
    pub fn ty(self) -> Type<'m> {
        Type::new(llvm!(LLVMTypeOf(self.0)))
    }

    /// The kind of the value.
    pub fn kind(self) -> LLVMValueKind {
        llvm!(LLVMGetValueKind(self.0))
    }

    /// The name of the value. Empty if it has none.
    pub fn name(self) -> String {
        let mut len = 0;
        let data = llvm!(LLVMGetValueName2(self.0, &mut len));
        lent(data, len)
    }

    /// The value in LLVM's assembly language.
    pub fn text(self) -> String {
        given(llvm!(LLVMPrintValueToString(self.0)))
    }

    /// Whether it is a constant. Functions and global variables are constants.
    pub fn is_constant(self) -> bool {
        holds(llvm!(LLVMIsConstant(self.0)))
    }

    /// Whether it is `undef` or `poison`.
    pub fn is_undef(self) -> bool {
        holds(llvm!(LLVMIsUndef(self.0)))
    }

    /// Whether it is a constant whose bits are all zero.
    pub fn is_null(self) -> bool {
        holds(llvm!(LLVMIsNull(self.0)))
    }

    /// Whether it is an instruction.
    pub fn is_instruction(self) -> bool {
        self.kind() == LLVMValueKind::LLVMInstructionValueKind
    }

    /// Whether it is a function.
    pub fn is_function(self) -> bool {
        self.kind() == LLVMValueKind::LLVMFunctionValueKind
    }

    /// Whether it is a global variable.
    pub fn is_global_variable(self) -> bool {
        self.kind() == LLVMValueKind::LLVMGlobalVariableValueKind
    }

    /// Whether it is a function or a global variable.
    pub(crate) fn is_global_object(self) -> bool {
        self.is_function() || self.is_global_variable()
    }

    fn is_global_value(self) -> bool {
        !llvm!(LLVMIsAGlobalValue(self.0)).is_null()
    }

    // Operands and uses.

    /// The number of operands, or 0 for values that have none.
    pub fn operand_count(self) -> u32 {
        match llvm!(LLVMIsAUser(self.0)).is_null() {
            true => 0,
            false => llvm!(LLVMGetNumOperands(self.0)).max(0) as u32,
        }
    }

    /// The operand with this index.
    pub fn operand(self, index: u32) -> Value<'m> {
        let operand = match index < self.operand_count() {
            true => Value::some(llvm!(LLVMGetOperand(self.0, index))),
            false => None,
        };
        operand.expect("an operand of this number")
    }

    /// All operands.
    pub fn operands(self) -> Vec<Value<'m>> {
        (0..self.operand_count())
            .filter_map(|i| Value::some(llvm!(LLVMGetOperand(self.0, i))))
            .collect()
    }

    /// The users of the value, once for each operand that is the value.
    pub fn users(self) -> Vec<Value<'m>> {
        walk(
            llvm!(LLVMGetFirstUse(self.0)),
            |at| llvm!(LLVMGetNextUse(at)),
            |at| Value::new(llvm!(LLVMGetUser(at))),
        )
    }

    // Functions and globals.

    /// The type of a function, or of the memory that a global variable names.
    pub fn value_type(self) -> Type<'m> {
        assert!(self.is_global_value(), "nothing global");
        Type::new(llvm!(LLVMGlobalGetValueType(self.0)))
    }

    /// A function, to be called with its own type.
    pub fn callable(self) -> Callee<'m> {
        let ty = self.value_type();
        Callee { function: self, ty }
    }

    /// Whether it is a function or global variable that is defined elsewhere.
    pub fn is_declaration(self) -> bool {
        self.is_global_value() && holds(llvm!(LLVMIsDeclaration(self.0)))
    }

    /// The linkage of a global value.
    pub fn linkage(self) -> LLVMLinkage {
        assert!(self.is_global_value(), "nothing global");
        llvm!(LLVMGetLinkage(self.0))
    }

    /// The section of a variable or a function.
    pub fn section(self) -> Option<String> {
        let section = self
            .is_global_object()
            .then(|| llvm!(LLVMGetSection(self.0)))?;
        lent_to_nul(section)
    }

    /// The parameters of a function. Empty for other values.
    pub fn params(self) -> Vec<Value<'m>> {
        let count = match self.is_function() {
            true => llvm!(LLVMCountParams(self.0)),
            false => 0,
        };
        (0..count)
            .map(|i| Value::new(llvm!(LLVMGetParam(self.0, i))))
            .collect()
    }

    /// The blocks of a function, in order. Empty for other values.
    pub fn blocks(self) -> Vec<BasicBlock<'m>> {
        if !self.is_function() {
            return Vec::new();
        }
        walk(
            llvm!(LLVMGetFirstBasicBlock(self.0)),
            |at| llvm!(LLVMGetNextBasicBlock(at)),
            BasicBlock::new,
        )
    }

    /// The number of a function's calling convention.
    pub fn convention(self) -> Option<u32> {
        self.is_function()
            .then(|| llvm!(LLVMGetFunctionCallConv(self.0)))
    }

    /// Whether it is a global variable that is declared as constant.
    pub fn is_global_constant(self) -> bool {
        self.is_global_variable() && holds(llvm!(LLVMIsGlobalConstant(self.0)))
    }

    /// The initial value of a global variable.
    pub fn initializer(self) -> Option<Value<'m>> {
        let value = self
            .is_global_variable()
            .then(|| llvm!(LLVMGetInitializer(self.0)))?;
        Value::some(value)
    }

    /// The position of an instruction, a function or a global variable in the source code.
    pub fn position(self) -> Option<Position> {
        let has_place = self.is_instruction() || self.is_global_object();
        let line = match has_place {
            true => llvm!(LLVMGetDebugLocLine(self.0)),
            false => 0,
        };
        if line == 0 {
            return None;
        }
        let mut len = 0;
        let directory = llvm!(LLVMGetDebugLocDirectory(self.0, &mut len));
        let directory = lent(directory, len as usize);
        let file = llvm!(LLVMGetDebugLocFilename(self.0, &mut len));
        Some(Position {
            directory,
            file: lent(file, len as usize),
            line,
            column: match self.is_instruction() {
                true => llvm!(LLVMGetDebugLocColumn(self.0)),
                false => 0,
            },
        })
    }
}
