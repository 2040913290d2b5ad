//! The flags that the target needs, asked for once.
//!
//! To find them the `cc` crate starts the compiler four times, which takes longer than compiling a
//! small file. They depend on the compiler and on the environment variables that `cc` reads, so
//! both are in the name under which they are remembered: for this process, and in a folder for the
//! next one.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::{CompileError, Compiler};
use crate::store;

struct Memory {
    folder: Option<PathBuf>,
    flags: Option<HashMap<String, Vec<String>>>,
}

static MEMORY: Mutex<Memory> = Mutex::new(Memory {
    folder: None,
    flags: None,
});

/// From now on flags are remembered in this folder too. That is a convenience: a folder that cannot
/// be written changes nothing.
pub fn remember_in(folder: &Path) {
    let mut memory = MEMORY.lock().unwrap_or_else(PoisonError::into_inner);
    memory.folder = Some(folder.to_owned());
}

/// What the flags depend on, as a name.
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

/// The flags that are remembered for this compiler, or those that `find` finds.
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
                // The next process asks again if this fails.
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
