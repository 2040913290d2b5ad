//! A module and the context that owns its types.

use std::cell::RefCell;
use std::ffi::CString;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::ptr;

use llvm_sys::prelude::{LLVMContextRef, LLVMMemoryBufferRef, LLVMModuleRef};

use super::{Layout, Value, given, llvm};

/// Why a module could not be read, checked, transformed or written.
#[derive(Debug, thiserror::Error)]
pub enum ModuleError {
    /// The file could not be read.
    #[error("cannot read {}: {message}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What LLVM or the system said.
        message: String,
    },
    /// The file is not bitcode of LLVM 19.
    #[error("{} is not LLVM 19 bitcode: {message}", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// What LLVM said.
        message: String,
    },
    /// The module is not well-formed.
    #[error("{what} is not well-formed LLVM: {message}")]
    Verify {
        /// The file or the stage.
        what: String,
        /// What LLVM's verifier said.
        message: String,
    },
}

/// A context with one module in it; linking takes further modules into the same context.
pub(crate) struct Module {
    pub(crate) context: LLVMContextRef,
    pub(crate) module: LLVMModuleRef,
}

impl Drop for Module {
    fn drop(&mut self) {
        llvm!(LLVMDisposeModule(self.module));
        llvm!(LLVMContextDispose(self.context));
    }
}

thread_local! {
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

/// What LLVM said last on this thread.
pub(crate) fn last_message() -> String {
    LAST.with_borrow(Clone::clone)
}

extern "C" fn remember(info: llvm_sys::prelude::LLVMDiagnosticInfoRef, _: *mut libc::c_void) {
    let text = given(llvm!(LLVMGetDiagInfoDescription(info)));
    LAST.with_borrow_mut(|last| *last = text);
}

impl Module {
    /// An empty module in a new context.
    pub(crate) fn empty(name: &str) -> Module {
        let name = CString::new(name).unwrap_or_default();
        let context = llvm!(LLVMContextCreate());
        // Without a handler LLVM prints warnings, and on an error ends the process.
        llvm!(LLVMContextSetDiagnosticHandler(
            context,
            Some(remember),
            ptr::null_mut()
        ));
        Module {
            context,
            module: llvm!(LLVMModuleCreateWithNameInContext(name.as_ptr(), context)),
        }
    }

    /// Reads bitcode into a new context.
    pub(crate) fn read(path: &Path) -> Result<Module, ModuleError> {
        let context = llvm!(LLVMContextCreate());
        llvm!(LLVMContextSetDiagnosticHandler(
            context,
            Some(remember),
            ptr::null_mut()
        ));
        match parse(context, path) {
            Ok(module) => Ok(Module { context, module }),
            Err(error) => {
                llvm!(LLVMContextDispose(context));
                Err(error)
            }
        }
    }

    /// Functions in module order, declarations and LLVM's intrinsics included.
    pub(crate) fn functions(&self) -> Vec<Value<'_>> {
        let mut all = Vec::new();
        let mut at = llvm!(LLVMGetFirstFunction(self.module));
        while !at.is_null() {
            all.push(Value::new(at));
            at = llvm!(LLVMGetNextFunction(at));
        }
        all
    }

    /// Global variables in module order.
    pub(crate) fn globals(&self) -> Vec<Value<'_>> {
        let mut all = Vec::new();
        let mut at = llvm!(LLVMGetFirstGlobal(self.module));
        while !at.is_null() {
            all.push(Value::new(at));
            at = llvm!(LLVMGetNextGlobal(at));
        }
        all
    }

    /// The function called `name`.
    pub(crate) fn function(&self, name: &str) -> Option<Value<'_>> {
        let name = CString::new(name).ok()?;
        Value::some(llvm!(LLVMGetNamedFunction(self.module, name.as_ptr())))
    }

    /// Sizes and offsets on the module's target.
    /// The variable called `name`.
    pub(crate) fn global(&self, name: &str) -> Option<Value<'_>> {
        let name = CString::new(name).ok()?;
        Value::some(llvm!(LLVMGetNamedGlobal(self.module, name.as_ptr())))
    }

    pub(crate) fn layout(&self) -> Layout<'_> {
        // SAFETY: the module is live; the layout is lent by it.
        Layout(
            unsafe { llvm_sys::target::LLVMGetModuleDataLayout(self.module) },
            PhantomData,
        )
    }

    /// Runs LLVM's verifier.
    pub(crate) fn verify(&self, what: &str) -> Result<(), ModuleError> {
        let mut message = ptr::null_mut();
        // SAFETY: the module is live and `message` receives an owned string.
        let broken = unsafe {
            llvm_sys::analysis::LLVMVerifyModule(
                self.module,
                llvm_sys::analysis::LLVMVerifierFailureAction::LLVMReturnStatusAction,
                &mut message,
            )
        };
        let message = given(message);
        if broken == 0 {
            Ok(())
        } else {
            Err(ModuleError::Verify {
                what: what.to_owned(),
                message,
            })
        }
    }
}

/// Reads bitcode into `context`. A function's body is read when the linker takes the function, or never.
pub(crate) fn parse_lazily(
    context: LLVMContextRef,
    path: &Path,
) -> Result<LLVMModuleRef, ModuleError> {
    read_with(context, path, |context, buffer, module| {
        // SAFETY: context and buffer are live. The module owns the buffer; one that is rejected is lost, which is
        // the end of the campaign.
        unsafe { llvm_sys::bit_reader::LLVMGetBitcodeModuleInContext2(context, buffer, module) }
    })
}

/// Reads bitcode into `context`.
pub(crate) fn parse(context: LLVMContextRef, path: &Path) -> Result<LLVMModuleRef, ModuleError> {
    read_with(context, path, |context, buffer, module| {
        // SAFETY: context and buffer are live. The parser copies what it keeps.
        let failed =
            unsafe { llvm_sys::bit_reader::LLVMParseBitcodeInContext2(context, buffer, module) };
        llvm!(LLVMDisposeMemoryBuffer(buffer));
        failed
    })
}

/// Has a file read by one of LLVM's functions, whose result is 0 where it succeeds.
fn read_with(
    context: LLVMContextRef,
    path: &Path,
    parse: impl FnOnce(LLVMContextRef, LLVMMemoryBufferRef, *mut LLVMModuleRef) -> i32,
) -> Result<LLVMModuleRef, ModuleError> {
    let read = |message: String| ModuleError::Read {
        path: path.to_owned(),
        message,
    };
    let bytes = std::fs::read(path).map_err(|e| read(e.to_string()))?;
    let bad = |message: &str| ModuleError::Parse {
        path: path.to_owned(),
        message: message.to_owned(),
    };
    if !(bytes.starts_with(b"BC\xC0\xDE") || bytes.starts_with(&0x0B17_C0DEu32.to_le_bytes())) {
        return Err(bad("no bitcode signature"));
    }
    let buffer = llvm!(LLVMCreateMemoryBufferWithMemoryRangeCopy(
        bytes.as_ptr().cast(),
        bytes.len(),
        c"bitcode".as_ptr()
    ));
    let mut module = ptr::null_mut();
    let failed = parse(context, buffer, &raw mut module);
    if failed != 0 || module.is_null() {
        return Err(bad("the reader rejected it"));
    }
    Ok(module)
}
