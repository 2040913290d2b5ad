//! Metadata: what debug information says of variables and types.
//!
//! The C interface shows a node's operands by position only. Which position means what is the order in which LLVM's classes
//! list their operands; the constants here name the few that are read.

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::marker::PhantomData;

use llvm_sys::debuginfo as di;
use llvm_sys::debuginfo::LLVMMetadataKind;
use llvm_sys::prelude::LLVMMetadataRef;

use super::{Module, Value, lent, llvm};

/// Where a module says which rules are lifted.
const LIFTED: &CStr = c"cegar.lifted";

/// The name of a type or a function.
pub(crate) const NAME: usize = 2;
/// A variable's name.
pub(crate) const VARIABLE_NAME: usize = 1;
/// A variable's type.
pub(crate) const VARIABLE_TYPE: usize = 3;
/// What a derived type, or an array, is made from.
pub(crate) const BASE: usize = 3;
/// The members of a composite type, or the ranges of an array.
pub(crate) const ELEMENTS: usize = 4;
/// The scope around a block of code.
const PARENT: usize = 1;
/// The type of a function; its own operand 3 lists the result's type and the parameters'.
pub(crate) const FUNCTION_TYPE: usize = 4;
/// See [`FUNCTION_TYPE`].
pub(crate) const SIGNATURE: usize = 3;

/// The tags of DWARF that are read.
pub(crate) mod tag {
    pub(crate) const ARRAY: u16 = 0x01;
    pub(crate) const ENUMERATION: u16 = 0x04;
    pub(crate) const MEMBER: u16 = 0x0d;
    pub(crate) const POINTER: u16 = 0x0f;
    pub(crate) const STRUCTURE: u16 = 0x13;
    pub(crate) const TYPEDEF: u16 = 0x16;
    pub(crate) const UNION: u16 = 0x17;
    pub(crate) const CONST: u16 = 0x26;
    pub(crate) const VOLATILE: u16 = 0x35;
    pub(crate) const RESTRICT: u16 = 0x37;
    pub(crate) const ATOMIC: u16 = 0x47;
}

/// A node, a string or a value as metadata.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Metadata<'m>(LLVMMetadataRef, PhantomData<&'m ()>);

/// Calls a function of `llvm_sys::debuginfo`.
macro_rules! debuginfo {
    ($name:ident($($arg:expr),*)) => {{
        // SAFETY: the node is part of a live module, and callers asked for its kind first.
        unsafe { di::$name($($arg),*) }
    }};
}

impl<'m> Metadata<'m> {
    fn some(raw: LLVMMetadataRef) -> Option<Metadata<'m>> {
        (!raw.is_null()).then_some(Metadata(raw, PhantomData))
    }

    /// The metadata that an operand of a debug intrinsic, or of a node, wraps.
    pub(crate) fn of(value: Value<'m>) -> Option<Metadata<'m>> {
        Metadata::some(llvm!(LLVMValueAsMetadata(value.0)))
    }

    /// The description of a function.
    pub(crate) fn of_function(function: Value<'m>) -> Option<Metadata<'m>> {
        Metadata::some(debuginfo!(LLVMGetSubprogram(function.0)))
    }

    /// The descriptions of a global variable.
    pub(crate) fn of_global(module: &'m Module, global: Value<'m>) -> Vec<Metadata<'m>> {
        let mut count = 0;
        let entries = llvm!(LLVMGlobalCopyAllMetadata(global.0, &mut count));
        let all = (0..count as u32)
            .filter_map(|i| Metadata::some(llvm!(LLVMValueMetadataEntriesGetMetadata(entries, i))));
        // A `DIGlobalVariableExpression` holds the variable and where in it the global's bytes belong.
        let variables = all
            .filter(|m| m.is_node())
            .filter_map(|m| m.operand(module, 0))
            .filter(|m| matches!(m.kind(), LLVMMetadataKind::LLVMDIGlobalVariableMetadataKind))
            .collect();
        llvm!(LLVMDisposeValueMetadataEntries(entries));
        variables
    }

    /// The place of an instruction.
    pub(crate) fn of_place(instruction: Value<'m>) -> Option<Metadata<'m>> {
        Metadata::some(debuginfo!(LLVMInstructionGetDebugLoc(instruction.0)))
    }

    /// Line and column of a `DILocation`.
    pub(crate) fn location(self) -> Option<(u32, u32)> {
        if !matches!(self.kind(), LLVMMetadataKind::LLVMDILocationMetadataKind) {
            return None;
        }
        let line = debuginfo!(LLVMDILocationGetLine(self.0));
        Some((line, debuginfo!(LLVMDILocationGetColumn(self.0))))
    }

    /// The scope that a `DILocation`, a variable or a block of code is in; a function is in none.
    pub(crate) fn scope(self, module: &'m Module) -> Option<Metadata<'m>> {
        use LLVMMetadataKind::*;
        match self.kind() {
            LLVMDILocationMetadataKind => {
                Metadata::some(debuginfo!(LLVMDILocationGetScope(self.0)))
            }
            LLVMDILocalVariableMetadataKind | LLVMDIGlobalVariableMetadataKind => {
                Metadata::some(debuginfo!(LLVMDIVariableGetScope(self.0)))
            }
            LLVMDILexicalBlockMetadataKind | LLVMDILexicalBlockFileMetadataKind => {
                self.operand(module, PARENT)
            }
            _ => None,
        }
    }

    /// The line in which a variable is declared.
    pub(crate) fn declared_in(self) -> u32 {
        use LLVMMetadataKind::*;
        match self.kind() {
            LLVMDILocalVariableMetadataKind | LLVMDIGlobalVariableMetadataKind => {
                debuginfo!(LLVMDIVariableGetLine(self.0))
            }
            _ => 0,
        }
    }

    /// Directory and name of the file that a scope or a variable is in.
    pub(crate) fn file(self) -> Option<(String, String)> {
        use LLVMMetadataKind::*;
        let file = match self.kind() {
            LLVMDILocalVariableMetadataKind | LLVMDIGlobalVariableMetadataKind => {
                debuginfo!(LLVMDIVariableGetFile(self.0))
            }
            LLVMDILexicalBlockMetadataKind
            | LLVMDILexicalBlockFileMetadataKind
            | LLVMDISubprogramMetadataKind => debuginfo!(LLVMDIScopeGetFile(self.0)),
            _ => return None,
        };
        let file = Metadata::some(file)?;
        let mut len = 0;
        let directory = debuginfo!(LLVMDIFileGetDirectory(file.0, &mut len));
        let directory = lent(directory, len as usize);
        let name = debuginfo!(LLVMDIFileGetFilename(file.0, &mut len));
        Some((directory, lent(name, len as usize)))
    }

    /// Which class of LLVM's it is.
    pub(crate) fn kind(self) -> LLVMMetadataKind {
        debuginfo!(LLVMGetMetadataKind(self.0))
    }

    /// Whether it has operands of its own.
    pub(crate) fn is_node(self) -> bool {
        use LLVMMetadataKind::*;
        !matches!(
            self.kind(),
            LLVMMDStringMetadataKind
                | LLVMConstantAsMetadataMetadataKind
                | LLVMLocalAsMetadataMetadataKind
                | LLVMDistinctMDOperandPlaceholderMetadataKind
                | LLVMDIArgListMetadataKind
        )
    }

    /// Whether it describes a type.
    pub(crate) fn is_type(self) -> bool {
        use LLVMMetadataKind::*;
        matches!(
            self.kind(),
            LLVMDIBasicTypeMetadataKind
                | LLVMDIDerivedTypeMetadataKind
                | LLVMDICompositeTypeMetadataKind
                | LLVMDISubroutineTypeMetadataKind
        )
    }

    /// As text, in LLVM's words.
    pub(crate) fn text(self, module: &'m Module) -> String {
        self.value(module).text()
    }

    fn value(self, module: &'m Module) -> Value<'m> {
        Value::new(llvm!(LLVMMetadataAsValue(module.context, self.0)))
    }

    /// A node's operands, by position.
    pub(crate) fn operands(self, module: &'m Module) -> Vec<Option<Metadata<'m>>> {
        if !self.is_node() {
            return Vec::new();
        }
        let node = self.value(module);
        let mut all = vec![std::ptr::null_mut(); llvm!(LLVMGetMDNodeNumOperands(node.0)) as usize];
        llvm!(LLVMGetMDNodeOperands(node.0, all.as_mut_ptr()));
        let each = all.into_iter().map(Value::some);
        each.map(|value| value.and_then(Metadata::of)).collect()
    }

    /// One operand of a node.
    pub(crate) fn operand(self, module: &'m Module, at: usize) -> Option<Metadata<'m>> {
        self.operands(module).get(at).copied().flatten()
    }

    /// The operand at this position as text; empty where there is none.
    pub(crate) fn string(self, module: &'m Module, at: usize) -> String {
        let Some(text) = self.operand(module, at) else {
            return String::new();
        };
        if !matches!(text.kind(), LLVMMetadataKind::LLVMMDStringMetadataKind) {
            return String::new();
        }
        let mut len = 0;
        let data = llvm!(LLVMGetMDString(text.value(module).0, &mut len));
        lent(data, len as usize)
    }

    /// DWARF's tag of a type.
    pub(crate) fn tag(self) -> u16 {
        match self.is_type() {
            true => debuginfo!(LLVMGetDINodeTag(self.0)),
            false => 0,
        }
    }

    /// A type's size.
    pub(crate) fn bits(self) -> u64 {
        match self.is_type() {
            true => debuginfo!(LLVMDITypeGetSizeInBits(self.0)),
            false => 0,
        }
    }

    /// Where a member begins.
    pub(crate) fn offset_in_bits(self) -> u64 {
        match self.is_type() {
            true => debuginfo!(LLVMDITypeGetOffsetInBits(self.0)),
            false => 0,
        }
    }
}

/// The kind of metadata that tells where the loop begins that a terminator goes back to: line and column. clang's own, `llvm.loop`,
/// also carries what an optimiser may do with the loop, and is dropped.
pub(crate) const LOOP: &str = "cegar.loop";

fn kind_named(module: &Module, name: &str) -> u32 {
    llvm!(LLVMGetMDKindIDInContext(
        module.context,
        name.as_ptr().cast(),
        name.len() as u32
    ))
}

/// Keeps of `llvm.loop` where the loop begins.
pub(crate) fn keep_loop_place<'m>(module: &'m Module, terminator: Value<'m>) {
    let node = llvm!(LLVMGetMetadata(
        terminator.0,
        kind_named(module, "llvm.loop")
    ));
    let Some(node) = Value::some(node).and_then(Metadata::of) else {
        return;
    };
    let parts = node.operands(module);
    let Some((line, column)) = parts.into_iter().flatten().find_map(Metadata::location) else {
        return;
    };
    let ty = llvm!(LLVMInt32TypeInContext(module.context));
    let number = |n: u32| {
        let constant = llvm!(LLVMConstInt(ty, u64::from(n), 0));
        llvm!(LLVMValueAsMetadata(constant))
    };
    let mut both = [number(line), number(column)];
    let place = llvm!(LLVMMDNodeInContext2(
        module.context,
        both.as_mut_ptr(),
        both.len()
    ));
    let place = llvm!(LLVMMetadataAsValue(module.context, place));
    llvm!(LLVMSetMetadata(
        terminator.0,
        kind_named(module, LOOP),
        place
    ));
}

/// Line and column of the loop that this terminator goes back to.
pub(crate) fn loop_place<'m>(module: &'m Module, terminator: Value<'m>) -> Option<(u32, u32)> {
    let node = Value::some(llvm!(LLVMGetMetadata(
        terminator.0,
        kind_named(module, LOOP)
    )))?;
    if llvm!(LLVMGetMDNodeNumOperands(node.0)) != 2 {
        return None;
    }
    let mut both = [std::ptr::null_mut(); 2];
    llvm!(LLVMGetMDNodeOperands(node.0, both.as_mut_ptr()));
    let number = |raw| {
        Value::some(raw)?
            .const_int()
            .and_then(|n| u32::try_from(n).ok())
    };
    Some((number(both[0])?, number(both[1])?))
}

/// `long main(int, char **)`, from a function's description.
pub(crate) fn declaration<'m>(
    module: &'m Module,
    function: Metadata<'m>,
    name: &str,
) -> Option<String> {
    let ty = function.operand(module, FUNCTION_TYPE)?;
    let all = ty.operand(module, SIGNATURE)?.operands(module);
    let mut words = all.into_iter().map(|ty| type_words(module, ty));
    let result = words.next().unwrap_or_else(|| "void".to_owned());
    let parameters: Vec<String> = words.collect();
    let parameters = match parameters.is_empty() {
        true => "void".to_owned(),
        false => parameters.join(", "),
    };
    let space = if result.ends_with('*') { "" } else { " " };
    Some(format!("{result}{space}{name}({parameters})"))
}

/// A type as C writes it, without declarators for arrays and functions.
fn type_words<'m>(module: &'m Module, ty: Option<Metadata<'m>>) -> String {
    let Some(ty) = ty else {
        return "void".to_owned();
    };
    let base = || type_words(module, ty.operand(module, BASE));
    let name = || ty.string(module, NAME);
    match ty.tag() {
        tag::POINTER => match base() {
            inner if inner.ends_with('*') => format!("{inner}*"),
            inner => format!("{inner} *"),
        },
        tag::CONST => format!("const {}", base()),
        tag::VOLATILE => format!("volatile {}", base()),
        tag::RESTRICT | tag::ATOMIC | tag::MEMBER => base(),
        tag::STRUCTURE => format!("struct {}", name()),
        tag::UNION => format!("union {}", name()),
        _ if name().is_empty() => "...".to_owned(),
        _ => name(),
    }
}

impl Module {
    /// The descriptions of the compiled files, from which all others are reached.
    pub(crate) fn compile_units(&self) -> Vec<Metadata<'_>> {
        let name = c"llvm.dbg.cu".as_ptr();
        let mut all = vec![
            std::ptr::null_mut();
            llvm!(LLVMGetNamedMetadataNumOperands(self.module, name)) as usize
        ];
        llvm!(LLVMGetNamedMetadataOperands(
            self.module,
            name,
            all.as_mut_ptr()
        ));
        let each = all.into_iter().filter_map(Value::some);
        each.filter_map(Metadata::of).collect()
    }

    /// Writes down which rules are lifted.
    pub(crate) fn set_lifted<'a>(&self, ids: impl Iterator<Item = &'a str>) {
        for id in ids {
            let text = llvm!(LLVMMDStringInContext2(
                self.context,
                id.as_ptr().cast(),
                id.len()
            ));
            let mut parts = [text];
            let node = llvm!(LLVMMDNodeInContext2(self.context, parts.as_mut_ptr(), 1));
            let node = llvm!(LLVMMetadataAsValue(self.context, node));
            llvm!(LLVMAddNamedMetadataOperand(
                self.module,
                LIFTED.as_ptr(),
                node
            ));
        }
    }

    /// Which rules are lifted.
    pub(crate) fn lifted(&self) -> BTreeSet<String> {
        let count = llvm!(LLVMGetNamedMetadataNumOperands(
            self.module,
            LIFTED.as_ptr()
        ));
        let mut all = vec![std::ptr::null_mut(); count as usize];
        llvm!(LLVMGetNamedMetadataOperands(
            self.module,
            LIFTED.as_ptr(),
            all.as_mut_ptr()
        ));
        let each = all.into_iter().filter_map(Value::some);
        let nodes = each.filter_map(Metadata::of);
        nodes.map(|node| node.string(self, 0)).collect()
    }
}
