//! Whether LLVM survives a file.
//!
//! LLVM reads bitcode as a compiler's own intermediate file, not as something that strangers send:
//! of damaged files, one in seven ends the process. Our own files are protected by hashes. A
//! certificate's bitcode may come from anywhere, with a hash that fits, so it is read in a process
//! of its own first, whose end says whether it can be read here.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use cegar_model::program::Program;

use crate::error::Error;

/// The word that makes this executable read a file and end.
pub const WORD: &str = "__probe";

/// Reads `bitcode` in another process. The executable that is running must be `cargo-cegar`.
pub fn readable(bitcode: &Path) -> Result<(), Error> {
    let me = std::env::current_exe().map_err(|why| Error::io("find", "cargo-cegar", why))?;
    let output = Command::new(&me)
        .arg(WORD)
        .arg(bitcode)
        .stdin(Stdio::null())
        .output()
        .map_err(|why| Error::io("start", &me, why))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let why = match (output.status.code(), said.lines().next()) {
        (Some(_), Some(line)) => line.to_owned(),
        _ => format!("LLVM did not survive reading it ({})", output.status),
    };
    Err(Error::usage(
        format!("`{}` is no bitcode of ours: {why}", bitcode.display()),
        "give the program.bc that was written beside the certificate",
    ))
}

/// The body of the other process.
pub fn child(bitcode: &Path) -> ExitCode {
    match Program::load(bitcode) {
        Ok(_) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}
