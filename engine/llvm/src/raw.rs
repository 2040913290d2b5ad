//! Calls of the C interface, and strings that are passed through it.
//!
//! Every call goes through [`llvm!`], so that there is one place that justifies the safety of
//! calls. The other modules ensure its preconditions: a handle borrows the module that it belongs
//! to, and a function checks the kind of a value, a type or a piece of metadata before it calls a
//! function that is defined for one kind only.

use std::ffi::{CStr, CString, c_char};

/// All functions of the C interface that are called.
pub(crate) mod interface {
    pub(crate) use llvm_sys::analysis::*;
    pub(crate) use llvm_sys::bit_reader::*;
    pub(crate) use llvm_sys::bit_writer::*;
    pub(crate) use llvm_sys::core::*;
    pub(crate) use llvm_sys::debuginfo::*;
    pub(crate) use llvm_sys::error::*;
    pub(crate) use llvm_sys::ir_reader::*;
    pub(crate) use llvm_sys::linker::*;
    pub(crate) use llvm_sys::support::*;
    pub(crate) use llvm_sys::target::*;
    pub(crate) use llvm_sys::target_machine::*;
    pub(crate) use llvm_sys::transforms::pass_builder::*;
}

/// Calls a function of the C interface.
macro_rules! llvm {
    ($name:ident($($argument:expr),* $(,)?)) => {{
        // SAFETY: all handles that are passed belong to a live module, and the caller has checked
        // their kinds, or its documentation states what its own caller has to ensure. Pointers to
        // strings and arrays are passed with their lengths, or the strings end with NUL.
        #[allow(unused_unsafe, reason = "an argument may be a call, too")]
        unsafe { $crate::raw::interface::$name($($argument),*) }
    }};
}
pub(crate) use llvm;

/// Bytes that LLVM owns, by address and length.
pub(crate) fn lent_bytes<'m>(data: *const c_char, len: usize) -> &'m [u8] {
    if data.is_null() || len == 0 {
        return &[];
    }
    // SAFETY: LLVM returned `data` together with its length. The callers choose a lifetime that
    // ends with that of the owner.
    unsafe { std::slice::from_raw_parts(data.cast::<u8>(), len) }
}

/// A copy of a string that LLVM owns, by address and length.
pub(crate) fn lent(data: *const c_char, len: usize) -> String {
    String::from_utf8_lossy(lent_bytes(data, len)).into_owned()
}

/// A copy of a string that LLVM owns and that ends with NUL.
pub(crate) fn lent_to_nul(text: *const c_char) -> Option<String> {
    // SAFETY: LLVM's strings without a length end with NUL, and their owners are alive while this
    // runs.
    let text = (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) })?;
    Some(text.to_string_lossy().into_owned())
}

/// A copy of a message that the caller owns. The message is freed here.
pub(crate) fn given(message: *mut c_char) -> String {
    let text = lent_to_nul(message).unwrap_or_default();
    if !message.is_null() {
        llvm!(LLVMDisposeMessage(message));
    }
    text
}

/// A text as a C string. NULs in it are left out.
pub(crate) fn terminated(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

/// Converts LLVM's truth value.
pub(crate) fn holds(answer: llvm_sys::prelude::LLVMBool) -> bool {
    answer != 0
}
