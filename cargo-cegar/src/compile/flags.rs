//! The flags of one file, and the flags that the target needs, which are determined once.
//!
//! To determine them, the `cc` crate starts the compiler four times, which takes longer than
//! compiling a small file. They depend on the compiler and on the environment variables that `cc`
//! reads, so both are part of the key under which they are stored, in this process and in a folder
//! for later ones.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use cegar_harness::build::{is_c_by_name, is_wrapping};

use super::{CompileError, Compiler, Unit};
use crate::store;

struct Memory {
    folder: Option<PathBuf>,
    flags: Option<HashMap<String, Vec<String>>>,
}

static MEMORY: Mutex<Memory> = Mutex::new(Memory {
    folder: None,
    flags: None,
});

/// Also stores flags in this folder from now on. Errors are ignored, since this only saves time.
pub fn remember_in(folder: &Path) {
    let mut memory = MEMORY.lock().unwrap_or_else(PoisonError::into_inner);
    memory.folder = Some(folder.to_owned());
}

/// A key for everything on which the flags depend.
fn key(compiler: &Compiler) -> String {
    let mut text = format!("{}\0{}", compiler.path.display(), compiler.version);
    let mut variables: Vec<(String, String)> = std::env::vars_os()
        .map(|(name, value)| {
            let text = |s: std::ffi::OsString| s.to_string_lossy().into_owned();
            (text(name), text(value))
        })
        .filter(|(name, _)| {
            name.contains("CFLAGS") || name.starts_with("CC") || name.starts_with("CRATE_CC")
        })
        .collect();
    variables.sort();
    for (name, value) in variables {
        text.push_str(&format!("\0{name}={value}"));
    }
    store::entry_name(text.as_bytes())
}

/// The stored flags for this compiler, or those that `find` determines.
pub(super) fn known(
    compiler: &Compiler,
    find: impl FnOnce() -> Result<Vec<String>, CompileError>,
) -> Result<Vec<String>, CompileError> {
    let key = key(compiler);
    let mut memory = MEMORY.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(flags) = memory.flags.as_ref().and_then(|all| all.get(&key)) {
        return Ok(flags.clone());
    }
    let file = memory
        .folder
        .as_ref()
        .map(|folder| folder.join(format!("flags-{key}.json")));
    let remembered = file
        .as_ref()
        .and_then(|file| serde_json::from_slice(&std::fs::read(file).ok()?).ok());
    let flags: Vec<String> = match remembered {
        Some(flags) => flags,
        None => {
            let flags = find()?;
            if let (Some(file), Ok(text)) = (&file, serde_json::to_vec(&flags)) {
                // If this fails, the next process determines the flags again.
                let _ = store::write(file, &text);
            }
            flags
        }
    };
    memory
        .flags
        .get_or_insert_default()
        .insert(key, flags.clone());
    Ok(flags)
}

/// Unsupported flags that change the meaning of code, with the flags that undo them.
/// `-fshort-wchar` conflicts with the stub library, whose wide characters have 32 bits; clang
/// ignores the others.
const UNSUPPORTED: [(&[&str], &[&str]); 3] = [
    (&["-fshort-wchar"], &["-fno-short-wchar"]),
    (
        &["-funsigned-bitfields", "-fno-signed-bitfields"],
        &["-fsigned-bitfields", "-fno-unsigned-bitfields"],
    ),
    (
        &["-fsingle-precision-constant"],
        &["-fno-single-precision-constant"],
    ),
];

/// The first effective flag that is not supported, if there is one.
pub(super) fn unsupported(flags: &[String]) -> Option<&String> {
    UNSUPPORTED.iter().find_map(|(options, undo)| {
        let is_one_of = |all: &[&str], flag: &String| all.contains(&flag.as_str());
        let mut from_the_end = flags.iter().rev();
        let last = from_the_end.find(|flag| is_one_of(options, flag) || is_one_of(undo, flag));
        last.filter(|flag| is_one_of(options, flag))
    })
}

/// Warnings of gcc before version 14 that clang treats as errors. They are tolerated, since the
/// crate's compiler decides what is compiled.
const TOLERATED: [&str; 5] = [
    "-Wno-error=int-conversion",
    "-Wno-error=incompatible-function-pointer-types",
    "-Wno-error=implicit-function-declaration",
    "-Wno-error=implicit-int",
    "-Wno-error=return-mismatch",
];

/// The complete flags of one file: those of the target, its own, and those that insert checks.
pub(super) fn of(unit: &Unit, base: &[String], flags: &[&str]) -> Vec<String> {
    let mut args = base.to_vec();
    args.extend(TOLERATED.map(str::to_owned));
    args.extend(unit.flags.iter().cloned());
    args.extend(flags.iter().map(|&flag| flag.to_owned()));
    if is_wrapping(&unit.flags) {
        args.push("-fno-sanitize=signed-integer-overflow".to_owned());
        args.push("-fwrapv".to_owned());
    }
    if !is_c_by_name(&unit.source) {
        args.extend(["-x", "c"].map(str::to_owned));
    }
    args
}
