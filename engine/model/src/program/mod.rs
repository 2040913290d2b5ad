//! From bitcode to a numbered [`Program`].

mod caller_members;
pub mod convention;
pub mod ir;
mod library_code;
mod memory_sizes;

pub mod load;
pub mod normalise;
pub mod outside;
mod sanity;
mod show;
pub mod sources;
pub mod stack;

pub use caller_members::{CallerMembers, SetMembers};
pub use cegar_llvm::ModuleError;
pub use ir::*;
pub use library_code::LibraryCode;
pub use load::LoadError;
pub use memory_sizes::MemorySizes;
pub use show::Summary;

/// The name that a function has in the source. Normalisation renames `main` and the functions of
/// the outside world (`CRUNNER_getchar`), and the linker appends `.` and a number to the name of a
/// `static` function that another file has as well; no name in C has a dot.
pub fn plain(name: &str) -> &str {
    let name = match name {
        "cegar_user_main" => "main",
        _ => name.strip_prefix("CRUNNER_").unwrap_or(name),
    };
    match name.split_once('.') {
        Some((plain, number)) if number.bytes().all(|b| b.is_ascii_digit() || b == b'.') => plain,
        _ => name,
    }
}
