//! The CRunner stub library: C sources in which every input of a program is a chosen byte.
//!
//! CRunner (section 2) recompiles a program so that each call of an I/O function becomes a call of
//! a replacement, which asks for a choice where the outside world would have decided something.
//! This crate contains those replacements in C, the runtimes below them, and the tables that say
//! how symbols are redirected. The sources are embedded, so that an installed tool needs no further
//! files; [`write_sources`] writes them to where a compiler finds them.
//!
//! The tables are used twice: on bitcode, where declarations are renamed before linking, and on
//! object files, through `objcopy --redefine-syms` ([`redefine_syms_file`]). In both cases, a
//! symbol that the program itself defines is not redirected.
//!
//! How to compile natively (with any C compiler):
//!
//! - stubs and the entry: with `-DCRUNNER_NATIVE`, not redirected;
//! - the program: as usual, then redirected with [`redefine_syms_file`], which includes the heap;
//! - [`Role::Runtime`], [`Role::RuntimeWatched`] and one of [`Role::RuntimeTape`] and
//!   [`Role::RuntimeMock`]: without the macro, and not redirected.
//!
//! How to compile to bitcode for the engine: stubs, engine-only sources and the entry, without
//! macros.
//!
//! ```
//! use std::collections::HashSet;
//!
//! // A program that defines `getchar` itself keeps it.
//! let defined = HashSet::from(["getchar".to_owned()]);
//! let renamed = cegar_stubs::redefine_syms_file(&defined, None);
//! assert!(renamed.contains("getenv CRUNNER_getenv\n"));
//! assert!(!renamed.contains("CRUNNER_getchar\n"));
//! ```

#![warn(clippy::too_many_lines)]

mod convention;
mod sources;
mod table;

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

pub use convention::{KIND, UNDEFINED_BYTE};
pub use sources::{Entry, Role, Source, sources};
pub use table::{
    Failing, Redirection, SymbolKind, allocators, engine_only, failing_functions, heap, math,
    redirections, runtime, unmodelled_allocators, unsupported, watched,
};

/// Options for the user's code that replace the attribute `no_sanitize`, as in
/// `__attribute__((no_sanitize("shift")))` and `[[clang::no_sanitize("shift")]]`, by the attribute
/// that disables stack protectors, which are not used anyway. Undefined behaviour in a function
/// with that attribute is then found like elsewhere, by the engine and in tests. A program that
/// uses the word `no_sanitize` in another way does not compile with these options.
pub const UNSANITIZED: [&str; 2] = [
    "-Dno_sanitize(...)=no_stack_protector",
    "-D__no_sanitize__(...)=no_stack_protector",
];

/// Writes every source below `folder` and returns their paths, in the order of [`sources`]. Files
/// that already have the same content are not written, so that build systems see no change.
///
/// # Errors
/// If a folder or file cannot be written.
pub fn write_sources(folder: &Path) -> io::Result<Vec<(Role, PathBuf)>> {
    let mut written = Vec::with_capacity(sources().len());
    for source in sources() {
        let path = folder.join(source.name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        if std::fs::read(&path).ok().as_deref() != Some(source.text.as_bytes()) {
            std::fs::write(&path, source.text)?;
        }
        written.push((source.role, path));
    }
    Ok(written)
}

/// The input file for `objcopy --redefine-syms`: the redirections, the native heap, the watched
/// functions and the renaming of the entry, without the symbols in `excluding` (those that the
/// program's own objects define). `main` and the entry function are renamed although the program
/// defines them, since the driver has to call them under another name.
pub fn redefine_syms_file(excluding: &HashSet<String>, entry: Option<(&str, Entry)>) -> String {
    let mut text = String::new();
    for r in redirections().iter().chain(heap()).chain(watched()) {
        if !excluding.contains(r.symbol) {
            let granted = allocators().iter().find(|a| a.symbol == r.symbol);
            let replacement = granted.unwrap_or(r).replacement;
            let _ = writeln!(text, "{} {replacement}", r.symbol);
        }
    }
    match entry {
        Some((_, Entry::Main)) => text.push_str("main cegar_user_main\n"),
        Some((name, Entry::Function)) => {
            let _ = writeln!(text, "{name} cegar_user_entry");
        }
        Some((_, Entry::Fuzzer)) | None => {}
    }
    text
}
