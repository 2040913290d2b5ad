//! Metadata: debug information about variables and types, and nodes that are attached to
//! instructions.
//!
//! The C interface gives access to the operands of a node by position only. The meaning of a
//! position is given by the order in which LLVM's classes list their operands; the constants here
//! name those that are used. Most functions of the interface are defined for some classes of nodes
//! only, so each function here checks the class first.

mod change;

use std::marker::PhantomData;

use llvm_sys::debuginfo::LLVMMetadataKind;
use llvm_sys::prelude::{LLVMContextRef, LLVMMetadataRef};

use crate::raw::{lent, llvm};
use crate::value::Value;

/// The named metadata from which all debug information is reached: the compile units.
pub const COMPILE_UNITS: &str = "llvm.dbg.cu";

/// The name of a type or a function.
pub const NAME: u32 = 2;
/// The name of a variable.
pub const VARIABLE_NAME: u32 = 1;
/// The scope of a variable.
pub const VARIABLE_SCOPE: u32 = 0;
/// The type of a variable.
pub const VARIABLE_TYPE: u32 = 3;
/// The base type of a derived type, or the element type of an array.
pub const BASE: u32 = 3;
/// The members of a composite type, or the ranges of an array.
pub const ELEMENTS: u32 = 4;
/// The enclosing scope of a block of code.
const PARENT: u32 = 1;
/// The type of a function. Its operand [`SIGNATURE`] lists the types of the result and of the
/// parameters.
pub const FUNCTION_TYPE: u32 = 4;
/// See [`FUNCTION_TYPE`].
pub const SIGNATURE: u32 = 3;

/// The tags of DWARF that are used.
#[allow(missing_docs, reason = "the standard's names")]
pub mod tag {
    pub const ARRAY: u16 = 0x01;
    pub const ENUMERATION: u16 = 0x04;
    pub const MEMBER: u16 = 0x0d;
    pub const POINTER: u16 = 0x0f;
    pub const STRUCTURE: u16 = 0x13;
    pub const TYPEDEF: u16 = 0x16;
    pub const UNION: u16 = 0x17;
    pub const CONST: u16 = 0x26;
    pub const VOLATILE: u16 = 0x35;
    pub const RESTRICT: u16 = 0x37;
    pub const ATOMIC: u16 = 0x47;
}

/// LLVM's number for a kind of attached metadata, in one context.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MetadataKind(u32);

impl MetadataKind {
    pub(crate) fn named(context: LLVMContextRef, name: &str) -> MetadataKind {
        let (data, len) = (name.as_ptr().cast(), name.len() as u32);
        MetadataKind(llvm!(LLVMGetMDKindIDInContext(context, data, len)))
    }
}

/// A node, a string or a value as metadata.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Metadata<'m> {
    pub(crate) raw: LLVMMetadataRef,
    context: LLVMContextRef,
    module: PhantomData<&'m ()>,
}

impl<'m> Metadata<'m> {
    fn some(raw: LLVMMetadataRef, context: LLVMContextRef) -> Option<Metadata<'m>> {
        (!raw.is_null()).then_some(Metadata {
            raw,
            context,
            module: PhantomData,
        })
    }

    fn beside(self, raw: LLVMMetadataRef) -> Option<Metadata<'m>> {
        Metadata::some(raw, self.context)
    }

    /// The metadata that an operand of a debug intrinsic wraps. For another value, the value as
    /// metadata.
    pub fn of(value: Value<'m>) -> Option<Metadata<'m>> {
        Metadata::some(llvm!(LLVMValueAsMetadata(value.0)), value.context())
    }

    /// The debug information of a function.
    pub fn of_function(function: Value<'m>) -> Option<Metadata<'m>> {
        let found = function
            .is_function()
            .then(|| llvm!(LLVMGetSubprogram(function.0)))?;
        Metadata::some(found, function.context())
    }

    /// The debug information of a global variable.
    pub fn of_global(global: Value<'m>) -> Vec<Metadata<'m>> {
        // A `DIGlobalVariableExpression` contains the variable, and where in it the global's bytes
        // belong.
        let all = noted_at_global(global).into_iter();
        all.filter_map(|(_, node)| node.operand(0))
            .filter(|m| matches!(m.kind(), LLVMMetadataKind::LLVMDIGlobalVariableMetadataKind))
            .collect()
    }

    /// The debug location of an instruction.
    pub fn of_place(instruction: Value<'m>) -> Option<Metadata<'m>> {
        let place = instruction
            .is_instruction()
            .then(|| llvm!(LLVMInstructionGetDebugLoc(instruction.0)))?;
        Metadata::some(place, instruction.context())
    }

    /// The line and the column of a `DILocation`.
    pub fn location(self) -> Option<(u32, u32)> {
        if !matches!(self.kind(), LLVMMetadataKind::LLVMDILocationMetadataKind) {
            return None;
        }
        let line = llvm!(LLVMDILocationGetLine(self.raw));
        Some((line, llvm!(LLVMDILocationGetColumn(self.raw))))
    }

    /// The scope of a `DILocation`, a variable or a block of code. `None` for a function.
    pub fn scope(self) -> Option<Metadata<'m>> {
        use LLVMMetadataKind::*;
        match self.kind() {
            LLVMDILocationMetadataKind => self.beside(llvm!(LLVMDILocationGetScope(self.raw))),
            _ if self.is_variable() => self.beside(llvm!(LLVMDIVariableGetScope(self.raw))),
            LLVMDILexicalBlockMetadataKind | LLVMDILexicalBlockFileMetadataKind => {
                self.operand(PARENT)
            }
            _ => None,
        }
    }

    fn is_variable(self) -> bool {
        use LLVMMetadataKind::*;
        matches!(
            self.kind(),
            LLVMDILocalVariableMetadataKind | LLVMDIGlobalVariableMetadataKind
        )
    }

    /// The line in which a variable is declared, or 0 for other nodes.
    pub fn declared_in(self) -> u32 {
        match self.is_variable() {
            true => llvm!(LLVMDIVariableGetLine(self.raw)),
            false => 0,
        }
    }

    /// The directory and the name of the file of a scope or a variable.
    pub fn file(self) -> Option<(String, String)> {
        use LLVMMetadataKind::*;
        let file = match self.kind() {
            _ if self.is_variable() => llvm!(LLVMDIVariableGetFile(self.raw)),
            LLVMDILexicalBlockMetadataKind
            | LLVMDILexicalBlockFileMetadataKind
            | LLVMDISubprogramMetadataKind => llvm!(LLVMDIScopeGetFile(self.raw)),
            _ => return None,
        };
        let file = self.beside(file)?.raw;
        let mut len = 0;
        let directory = llvm!(LLVMDIFileGetDirectory(file, &mut len));
        let directory = lent(directory, len as usize);
        let name = llvm!(LLVMDIFileGetFilename(file, &mut len));
        Some((directory, lent(name, len as usize)))
    }

    /// The class of the node.
    pub fn kind(self) -> LLVMMetadataKind {
        llvm!(LLVMGetMetadataKind(self.raw))
    }

    /// Whether the metadata is a node, which has operands.
    pub fn is_node(self) -> bool {
        use LLVMMetadataKind::*;
        !self.is_value()
            && !matches!(
                self.kind(),
                LLVMMDStringMetadataKind
                    | LLVMDistinctMDOperandPlaceholderMetadataKind
                    | LLVMDIArgListMetadataKind
            )
    }

    fn is_value(self) -> bool {
        use LLVMMetadataKind::*;
        matches!(
            self.kind(),
            LLVMConstantAsMetadataMetadataKind | LLVMLocalAsMetadataMetadataKind
        )
    }

    /// Whether it describes a type.
    pub fn is_type(self) -> bool {
        use LLVMMetadataKind::*;
        matches!(
            self.kind(),
            LLVMDIBasicTypeMetadataKind
                | LLVMDIDerivedTypeMetadataKind
                | LLVMDICompositeTypeMetadataKind
                | LLVMDISubroutineTypeMetadataKind
        )
    }

    /// The metadata in LLVM's assembly language.
    pub fn text(self) -> String {
        self.wrapped().text()
    }

    /// The metadata as a value, so that it can be an operand of an instruction.
    pub(crate) fn wrapped(self) -> Value<'m> {
        Value::new(llvm!(LLVMMetadataAsValue(self.context, self.raw)))
    }

    /// The value that the metadata wraps.
    pub fn value(self) -> Option<Value<'m>> {
        if !self.is_value() {
            return None;
        }
        let mut value = std::ptr::null_mut();
        llvm!(LLVMGetMDNodeOperands(self.wrapped().0, &mut value));
        Value::some(value)
    }

    /// The operands of a node, by position.
    pub fn operands(self) -> Vec<Option<Metadata<'m>>> {
        if !self.is_node() {
            return Vec::new();
        }
        let node = self.wrapped().0;
        let mut all = vec![std::ptr::null_mut(); llvm!(LLVMGetMDNodeNumOperands(node)) as usize];
        llvm!(LLVMGetMDNodeOperands(node, all.as_mut_ptr()));
        let each = all.into_iter().map(Value::some);
        each.map(|value| value.and_then(Metadata::of)).collect()
    }

    /// One operand of a node.
    pub fn operand(self, at: u32) -> Option<Metadata<'m>> {
        self.operands().get(at as usize).copied().flatten()
    }

    /// The text of a metadata string.
    pub fn string(self) -> Option<String> {
        if !matches!(self.kind(), LLVMMetadataKind::LLVMMDStringMetadataKind) {
            return None;
        }
        let mut len = 0;
        let data = llvm!(LLVMGetMDString(self.wrapped().0, &mut len));
        Some(lent(data, len as usize))
    }

    /// The operand at this position as text, or an empty text if there is none.
    pub fn string_at(self, at: u32) -> String {
        let operand = self.operand(at);
        operand.and_then(Metadata::string).unwrap_or_default()
    }

    /// The DWARF tag of a type, or 0 for other nodes.
    pub fn tag(self) -> u16 {
        match self.is_type() {
            true => llvm!(LLVMGetDINodeTag(self.raw)),
            false => 0,
        }
    }

    /// The size of a type in bits, or 0 for other nodes.
    pub fn bits(self) -> u64 {
        match self.is_type() {
            true => llvm!(LLVMDITypeGetSizeInBits(self.raw)),
            false => 0,
        }
    }

    /// The offset of a member in bits, or 0 for other nodes.
    pub fn offset_in_bits(self) -> u64 {
        match self.is_type() {
            true => llvm!(LLVMDITypeGetOffsetInBits(self.raw)),
            false => 0,
        }
    }
}

/// The metadata attached to a global variable, by kind.
fn noted_at_global(global: Value<'_>) -> Vec<(MetadataKind, Metadata<'_>)> {
    if !global.is_global_variable() {
        return Vec::new();
    }
    let mut count = 0;
    let entries = llvm!(LLVMGlobalCopyAllMetadata(global.0, &mut count));
    let entry = |i| {
        let kind = MetadataKind(llvm!(LLVMValueMetadataEntriesGetKind(entries, i)));
        let raw = llvm!(LLVMValueMetadataEntriesGetMetadata(entries, i));
        Some((kind, Metadata::some(raw, global.context())?))
    };
    let all = (0..count as u32).filter_map(entry).collect();
    llvm!(LLVMDisposeValueMetadataEntries(entries));
    all
}

/// Metadata attached to instructions and global variables.
impl<'m> Value<'m> {
    /// The node of this kind that is attached to an instruction.
    pub fn metadata(self, name: &str) -> Option<Metadata<'m>> {
        if !self.is_instruction() {
            return None;
        }
        let MetadataKind(kind) = MetadataKind::named(self.context(), name);
        Value::some(llvm!(LLVMGetMetadata(self.0, kind))).and_then(Metadata::of)
    }

    /// Whether a node of this kind is attached to a global variable.
    pub fn is_marked(self, name: &str) -> bool {
        let kind = MetadataKind::named(self.context(), name);
        noted_at_global(self)
            .iter()
            .any(|(noted, _)| *noted == kind)
    }
}
