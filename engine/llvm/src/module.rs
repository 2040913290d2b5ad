//! A module and the context that owns its types.
//!
//! Modules that are linked share a context, which lives as long as the last of them. A diagnostic
//! handler of the context remembers the last message on this thread. Without a handler, LLVM prints
//! warnings and ends the process on an error.

mod change;

use std::cell::RefCell;
use std::ffi::{CString, c_void};
use std::path::{Path, PathBuf};
use std::ptr;
use std::rc::Rc;

use llvm_sys::analysis::LLVMVerifierFailureAction;
use llvm_sys::prelude::{
    LLVMContextRef, LLVMDiagnosticInfoRef, LLVMMemoryBufferRef, LLVMModuleRef,
};

use crate::metadata::{Metadata, MetadataKind};
use crate::raw::{given, holds, lent, llvm, terminated};
use crate::types::Layout;
use crate::value::{Value, walk};

/// Why a module could not be read or checked.
#[derive(Debug, thiserror::Error)]
pub enum ModuleError {
    /// The file could not be read.
    #[error("cannot read {}: {message}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The message of LLVM or the system.
        message: String,
    },
    /// The file is not bitcode of LLVM 19.
    #[error("{} is not LLVM 19 bitcode: {message}", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// LLVM's message.
        message: String,
    },
    /// The module is not well-formed.
    #[error("{what} is not well-formed LLVM: {message}")]
    Verify {
        /// The file or the stage of the module.
        what: String,
        /// The message of LLVM's verifier.
        message: String,
    },
}

impl ModuleError {
    /// The message of LLVM or the system.
    pub fn message(self) -> String {
        match self {
            ModuleError::Read { message, .. }
            | ModuleError::Parse { message, .. }
            | ModuleError::Verify { message, .. } => message,
        }
    }
}

/// LLVM's message after a refusal to link or to change a module.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LlvmError(pub String);

/// A context, which is freed when the last module in it is.
struct Context(LLVMContextRef);

impl Drop for Context {
    fn drop(&mut self) {
        llvm!(LLVMContextDispose(self.0));
    }
}

thread_local! {
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Remembers LLVM's message for this thread.
extern "C" fn remember(info: LLVMDiagnosticInfoRef, _: *mut c_void) {
    let text = given(llvm!(LLVMGetDiagInfoDescription(info)));
    LAST.with_borrow_mut(|last| *last = text);
}

impl Context {
    fn new() -> Rc<Context> {
        let context = llvm!(LLVMContextCreate());
        llvm!(LLVMContextSetDiagnosticHandler(
            context,
            Some(remember),
            ptr::null_mut()
        ));
        Rc::new(Context(context))
    }
}

/// A module. Handles to its parts borrow it.
pub struct Module {
    /// NULL after the module was linked into another one.
    raw: LLVMModuleRef,
    // Dropped after the module itself.
    context: Rc<Context>,
}

impl Drop for Module {
    fn drop(&mut self) {
        if !self.raw.is_null() {
            llvm!(LLVMDisposeModule(self.raw));
        }
    }
}

impl Module {
    /// An empty module in a new context.
    pub fn empty(name: &str) -> Module {
        let context = Context::new();
        let name = terminated(name);
        let raw = llvm!(LLVMModuleCreateWithNameInContext(name.as_ptr(), context.0));
        Module { raw, context }
    }

    /// Reads bitcode into a new context.
    pub fn read(path: &Path) -> Result<Module, ModuleError> {
        read_into(Context::new(), path, false)
    }

    /// Reads bitcode into the context of this module, to be linked with it.
    pub fn read_beside(&self, path: &Path) -> Result<Module, ModuleError> {
        read_into(Rc::clone(&self.context), path, false)
    }

    /// As [`Module::read_beside`], but reads a function's body only when the linker needs the
    /// function.
    pub fn read_beside_lazily(&self, path: &Path) -> Result<Module, ModuleError> {
        read_into(Rc::clone(&self.context), path, true)
    }

    /// Reads LLVM's assembly language into a new context.
    pub fn parse(text: &str) -> Result<Module, LlvmError> {
        let context = Context::new();
        let buffer = copied(text.as_bytes(), "text");
        let (mut raw, mut message) = (ptr::null_mut(), ptr::null_mut());
        // The parser takes ownership of the buffer.
        let failed = llvm!(LLVMParseIRInContext(
            context.0,
            buffer,
            &raw mut raw,
            &raw mut message
        ));
        let message = given(message);
        match holds(failed) || raw.is_null() {
            true => Err(LlvmError(message)),
            false => Ok(Module { raw, context }),
        }
    }

    pub(crate) fn raw(&self) -> LLVMModuleRef {
        self.raw
    }

    pub(crate) fn context(&self) -> LLVMContextRef {
        self.context.0
    }

    /// The functions in module order, including declarations and LLVM's intrinsics.
    pub fn functions(&self) -> Vec<Value<'_>> {
        walk(
            llvm!(LLVMGetFirstFunction(self.raw)),
            |at| llvm!(LLVMGetNextFunction(at)),
            Value::new,
        )
    }

    /// The global variables in module order.
    pub fn globals(&self) -> Vec<Value<'_>> {
        walk(
            llvm!(LLVMGetFirstGlobal(self.raw)),
            |at| llvm!(LLVMGetNextGlobal(at)),
            Value::new,
        )
    }

    /// The functions, then the global variables.
    pub fn functions_and_globals(&self) -> impl Iterator<Item = Value<'_>> {
        self.functions().into_iter().chain(self.globals())
    }

    /// The function called `name`.
    pub fn function(&self, name: &str) -> Option<Value<'_>> {
        let name = CString::new(name).ok()?;
        Value::some(llvm!(LLVMGetNamedFunction(self.raw, name.as_ptr())))
    }

    /// The function called `name`, if it has a body.
    pub fn defined_function(&self, name: &str) -> Option<Value<'_>> {
        self.function(name).filter(|f| !f.is_declaration())
    }

    /// The global variable called `name`.
    pub fn global(&self, name: &str) -> Option<Value<'_>> {
        let name = CString::new(name).ok()?;
        Value::some(llvm!(LLVMGetNamedGlobal(self.raw, name.as_ptr())))
    }

    /// Whether the module has functions whose implementation is chosen when the program is loaded.
    pub fn has_ifuncs(&self) -> bool {
        !llvm!(LLVMGetFirstGlobalIFunc(self.raw)).is_null()
    }

    /// The module-level assembly.
    pub fn assembly(&self) -> String {
        let mut len = 0;
        let text = llvm!(LLVMGetModuleInlineAsm(self.raw, &mut len));
        lent(text, len)
    }

    /// The data layout of the module's target.
    pub fn layout(&self) -> Layout<'_> {
        Layout::new(llvm!(LLVMGetModuleDataLayout(self.raw)))
    }

    /// The nodes of a named metadata list, in order.
    pub fn named_nodes(&self, name: &str) -> Vec<Metadata<'_>> {
        let name = terminated(name);
        let count = llvm!(LLVMGetNamedMetadataNumOperands(self.raw, name.as_ptr()));
        let mut all = vec![ptr::null_mut(); count as usize];
        let (name, first) = (name.as_ptr(), all.as_mut_ptr());
        llvm!(LLVMGetNamedMetadataOperands(self.raw, name, first));
        let each = all.into_iter().filter_map(Value::some);
        each.filter_map(Metadata::of).collect()
    }

    /// The kind of metadata with this name.
    pub fn metadata_kind(&self, name: &str) -> MetadataKind {
        MetadataKind::named(self.context(), name)
    }

    /// Calls `read` while debug information about variables is represented by calls among the
    /// instructions. This version of LLVM gives C callers access to it in this older form only.
    /// Handles to such calls are invalid afterwards.
    pub fn with_debug_calls(&self, read: impl FnOnce()) {
        let has_records = holds(llvm!(LLVMIsNewDbgInfoFormat(self.raw)));
        if has_records {
            llvm!(LLVMSetIsNewDbgInfoFormat(self.raw, 0));
        }
        read();
        if has_records {
            llvm!(LLVMSetIsNewDbgInfoFormat(self.raw, 1));
        }
    }

    /// Runs LLVM's verifier; `what` names the module in the error.
    pub fn verify(&self, what: &str) -> Result<(), ModuleError> {
        let mut message = ptr::null_mut();
        let action = LLVMVerifierFailureAction::LLVMReturnStatusAction;
        let broken = llvm!(LLVMVerifyModule(self.raw, action, &mut message));
        let message = given(message);
        match holds(broken) {
            false => Ok(()),
            true => Err(ModuleError::Verify {
                what: what.to_owned(),
                message,
            }),
        }
    }
}

/// A copy of bytes for one of LLVM's readers. The module gets the name of the buffer.
fn copied(bytes: &[u8], name: &str) -> LLVMMemoryBufferRef {
    let (data, len, name) = (bytes.as_ptr().cast(), bytes.len(), terminated(name));
    llvm!(LLVMCreateMemoryBufferWithMemoryRangeCopy(
        data,
        len,
        name.as_ptr()
    ))
}

/// Reads bitcode into a context.
fn read_into(context: Rc<Context>, path: &Path, lazily: bool) -> Result<Module, ModuleError> {
    let bytes = std::fs::read(path).map_err(|e| ModuleError::Read {
        path: path.to_owned(),
        message: e.to_string(),
    })?;
    let bad = |message: &str| ModuleError::Parse {
        path: path.to_owned(),
        message: message.to_owned(),
    };
    if !(bytes.starts_with(b"BC\xC0\xDE") || bytes.starts_with(&0x0B17_C0DEu32.to_le_bytes())) {
        return Err(bad("no bitcode signature"));
    }
    let (buffer, mut raw) = (copied(&bytes, &path.to_string_lossy()), ptr::null_mut());
    let failed = match lazily {
        // The module takes ownership of the buffer. If the reader rejects it, the buffer leaks.
        // That does not matter, since the campaign ends then.
        true => llvm!(LLVMGetBitcodeModuleInContext2(
            context.0,
            buffer,
            &raw mut raw
        )),
        // The parser copies the data that it keeps.
        false => {
            let failed = llvm!(LLVMParseBitcodeInContext2(context.0, buffer, &raw mut raw));
            llvm!(LLVMDisposeMemoryBuffer(buffer));
            failed
        }
    };
    match holds(failed) || raw.is_null() {
        true => Err(bad("the reader rejected it")),
        false => Ok(Module { raw, context }),
    }
}
