//! A thin, borrowing face over LLVM's C interface.
//!
//! Reading a module instruction by instruction needs what the typed wrappers of the ecosystem leave out
//! (x87 constants, constant expressions, debug locations of instructions, call-site attributes), so
//! `load` and `normalise` work on the C interface through these few types. All handles borrow the
//! [`Module`] that they came from. The C interface does not check that a value is of the kind that a
//! query is meant for; callers look at [`Value::opcode`], [`Type::kind`] or the `is_` functions first.

pub(crate) mod metadata;
mod module;
mod types;
mod value;

pub(crate) use metadata::Metadata;
pub use module::ModuleError;
pub(crate) use module::{Module, last_message, parse, parse_lazily};
pub(crate) use types::{Layout, Type};
pub(crate) use value::{BasicBlock, Value, attribute_kind};

/// Calls a function of `llvm_sys::core`.
macro_rules! llvm {
    ($name:ident($($arg:expr),* $(,)?)) => {{
        // SAFETY: all handles passed borrow a live module (see the module's paragraph), and the caller
        // has established that the value is of the kind that the query is defined for.
        #[allow(unused_unsafe)]
        unsafe { llvm_sys::core::$name($($arg),*) }
    }};
}
pub(crate) use llvm;

/// A string that LLVM lends: pointer and length.
pub(crate) fn lent(data: *const libc::c_char, len: usize) -> String {
    if data.is_null() || len == 0 {
        return String::new();
    }
    // SAFETY: LLVM returned `data` together with its length, and it lives as long as its owner.
    let bytes = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), len) };
    String::from_utf8_lossy(bytes).into_owned()
}

/// A string that LLVM gives away, freed here.
pub(crate) fn given(message: *mut libc::c_char) -> String {
    if message.is_null() {
        return String::new();
    }
    // SAFETY: LLVM's messages are NUL-terminated and owned by the caller.
    let text = unsafe { std::ffi::CStr::from_ptr(message) }
        .to_string_lossy()
        .into_owned();
    llvm!(LLVMDisposeMessage(message));
    text
}
