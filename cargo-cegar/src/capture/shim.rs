//! The recording compiler: this very program, called by another name.
//!
//! A build script is told that its C compiler is `cegar-cc`, a link to this binary. It writes down how it was called
//! and then *becomes* the real compiler, so that the build sees no difference: same output, same exit status, same
//! signals. A record is one line, written with one `write` to a file opened for appending, so that compilers running
//! in parallel do not mix their lines. If the record cannot be written the build still goes on: a capture that lacks a
//! file says so later, a build that breaks says nothing useful.

use std::ffi::{OsStr, OsString};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use super::Record;

/// The name that this program is called by as a compiler.
pub const NAME: &str = "cegar-cc";
/// As a C++ compiler: recorded, so that it can be named as left out.
pub const NAME_CXX: &str = "cegar-cxx";
/// The variable that names the record.
pub const LOG: &str = "CEGAR_CAPTURE_LOG";
/// The variable that names the C compiler to become.
pub const REAL_CC: &str = "CEGAR_REAL_CC";
/// The variable that names the C++ compiler to become.
pub const REAL_CXX: &str = "CEGAR_REAL_CXX";

/// If this process was called as a compiler: be one, and do not come back unless it cannot be started.
pub fn dispatch() -> Option<ExitCode> {
    let mut args = std::env::args_os();
    let called = PathBuf::from(args.next()?);
    let (variable, usual) = match called.file_stem()?.to_str()? {
        NAME => (REAL_CC, "cc"),
        NAME_CXX => (REAL_CXX, "c++"),
        _ => return None,
    };
    let args: Vec<OsString> = args.collect();
    let real = std::env::var_os(variable).filter(|real| !real.is_empty());
    let real = real.unwrap_or_else(|| OsString::from(usual));
    record(&real, &args);
    // Not returning is the point: the compiler takes this process's place.
    let why = Command::new(&real).args(&args).exec();
    eprintln!("cegar-cc: cannot run `{}`: {why}", real.to_string_lossy());
    Some(ExitCode::from(127))
}

fn record(real: &OsStr, args: &[OsString]) {
    let Some(log) = std::env::var_os(LOG) else {
        return;
    };
    let text = |part: &OsString| part.to_string_lossy().into_owned();
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let record = Record {
        cwd: std::env::current_dir().unwrap_or_default(),
        args: args.iter().map(text).collect(),
        compiler: real.to_string_lossy().into_owned(),
        package: variable("CARGO_PKG_NAME"),
        include_path: match (variable("CPATH"), variable("C_INCLUDE_PATH")) {
            (Some(a), Some(b)) => Some(format!("{a}:{b}")),
            (a, b) => a.or(b),
        },
    };
    if let Err(why) = append(Path::new(&log), &record) {
        eprintln!(
            "cegar-cc: cannot record in `{}`: {why}",
            log.to_string_lossy()
        );
    }
}

fn append(log: &Path, record: &Record) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(record)?;
    line.push(b'\n');
    OpenOptions::new()
        .append(true)
        .create(true)
        .open(log)?
        .write_all(&line)
}
