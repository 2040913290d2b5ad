//! What a library's code shows to somebody who writes harnesses for it.
//!
//! A header does not say which functions a build defines, which members callers set, and how large
//! the library's memory is. Each bitcode file is read once for all of these.

use std::collections::BTreeSet;
use std::path::PathBuf;

use cegar_llvm::Module;

use super::caller_members::{Accesses, CallerMembers};
use super::memory_sizes::MemorySizes;

/// The facts about a library's code.
#[derive(Clone, Debug, Default)]
pub struct LibraryCode {
    /// The functions that each bitcode file defines. Empty for a file that cannot be read.
    pub functions: Vec<BTreeSet<String>>,
    /// The members of structures that callers set. Empty if a file cannot be read, because that
    /// file may set them.
    pub caller_members: CallerMembers,
    /// The sizes of the memory that functions work on.
    pub sizes: MemorySizes,
}

impl LibraryCode {
    /// Reads the code of some bitcode files.
    pub fn read(paths: &[PathBuf]) -> LibraryCode {
        let mut code = LibraryCode::default();
        let mut accesses = Accesses::default();
        let mut is_whole = true;
        for path in paths {
            let Ok(module) = Module::read(path) else {
                code.functions.push(BTreeSet::new());
                is_whole = false;
                continue;
            };
            let defined = module.functions().into_iter();
            let defined = defined.filter(|function| !function.is_declaration());
            let mut names = BTreeSet::new();
            for function in defined {
                names.insert(function.name());
                accesses.take(function);
                code.sizes.take(function);
            }
            code.functions.push(names);
        }
        if is_whole {
            code.caller_members = accesses.set_by_callers();
        }
        code
    }
}
