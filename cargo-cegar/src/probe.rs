//! Tests whether LLVM can read a file without crashing.
//!
//! LLVM reads bitcode as a compiler's own intermediate file, not as input from untrusted sources:
//! one in seven damaged files ends the process. The tool's own files are protected by hashes. But a
//! certificate's bitcode may come from anywhere, with a matching hash, so it is first read in a
//! separate process, whose exit status tells whether it can be read here.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use cegar_model::program::Program;

use crate::error::Error;

/// The argument that makes this executable read a file and exit.
pub const WORD: &str = "__probe";

/// Reads `bitcode` in a separate process. The running executable must be `cargo-cegar`.
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

/// The body of the separate process.
pub fn child(bitcode: &Path) -> ExitCode {
    match Program::load(bitcode) {
        Ok(_) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}
