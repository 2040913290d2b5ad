//! The recording compiler: this very program, called by another name.
//!
//! A build script is told that its C compiler is `cegar-cc`, a link to this binary, and finds more
//! such links under the names of the machine's compilers ([`super::compilers`]). The link writes
//! down how it was called and then *becomes* the real compiler, so that the build sees no
//! difference: same output, same exit status, same signals. A record is one line, written with one
//! `write` to a file opened for appending, so that compilers running in parallel do not mix their
//! lines. If the record cannot be written the build still goes on: a capture that lacks a file says
//! so later, a build that breaks says nothing useful.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use super::Record;
use super::compilers::{self, Tool};

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

/// The variable that names the folder of links: a compiler in it is not a real one.
pub const BIN: &str = "CEGAR_CAPTURE_BIN";

/// The variable that names the file of arguments which are added where something is linked.
pub const LINK: &str = "CEGAR_CAPTURE_LINK";

/// Programs that are put before a compiler, and are none.
const LAUNCHERS: &[&str] = &["ccache", "sccache", "distcc", "icecc"];

/// If this process was called as a compiler: be one, and do not come back unless it cannot be
/// started.
pub fn dispatch() -> Option<ExitCode> {
    let mut args = std::env::args_os();
    let called = PathBuf::from(args.next()?);
    let name = called.file_name()?.to_str()?;
    let chosen = |variable: &str, usual: &str| {
        let set = std::env::var(variable).ok();
        set.filter(|set| !set.trim().is_empty())
            .unwrap_or_else(|| usual.to_owned())
    };
    let real = match name {
        NAME => chosen(REAL_CC, "cc"),
        NAME_CXX => chosen(REAL_CXX, "c++"),
        // Under a compiler's own name only during a capture.
        _ => match std::env::var_os(BIN).and(compilers::tool(name))? {
            // "Not installed".
            Tool::PkgConfig => return Some(ExitCode::FAILURE),
            Tool::C | Tool::Cxx | Tool::Archiver => name.to_owned(),
        },
    };
    // A compiler may be given with a launcher or with flags, as in `CC="ccache gcc -m64"`; or lie
    // in a folder with a blank.
    let words = match Path::new(&real).is_file() {
        true => vec![real],
        false => real.split_whitespace().map(str::to_owned).collect(),
    };
    let args: Vec<OsString> = args.collect();
    let launchers = words
        .iter()
        .take_while(|word| LAUNCHERS.contains(&word.as_str()))
        .count();
    let (compiler, flags) = words[launchers..].split_first()?;
    record(compiler, flags, &args);
    let (program, before) = words.split_first()?;
    let mut command = Command::new(program);
    command.args(before);
    match linked_with(&args) {
        // A linker that goes through archives once needs the group.
        Some(more) => {
            let group = |word: &str| OsString::from(format!("-Wl,--{word}-group"));
            command
                .arg(group("start"))
                .args(&args)
                .args(more)
                .arg(group("end"))
        }
        None => command.args(&args),
    };
    if let (Some(path), Some(bin)) = (std::env::var_os("PATH"), std::env::var_os(BIN)) {
        command.env("PATH", compilers::without(&path, &bin));
    }
    // Not returning is the point: the compiler takes this process's place.
    let why = command.exec();
    eprintln!("cegar-cc: cannot run `{program}`: {why}");
    Some(ExitCode::from(127))
}

/// Arguments that are added to a call that links a program.
fn linked_with(args: &[OsString]) -> Option<Vec<String>> {
    let file = std::env::var_os(LINK)?;
    let is_other = |arg: &OsString| {
        [
            "-c",
            "-E",
            "-S",
            "-M",
            "-MM",
            "-r",
            "-fsyntax-only",
            "--version",
            "-v",
            "-",
        ]
        .iter()
        .any(|other| arg == other)
    };
    let has_output = args.iter().any(|arg| arg == "-o");
    if !has_output || args.iter().any(is_other) {
        return None;
    }
    let text = std::fs::read_to_string(file).ok()?;
    Some(text.lines().map(str::to_owned).collect())
}

fn record(compiler: &str, flags: &[String], args: &[OsString]) {
    let Some(log) = std::env::var_os(LOG) else {
        return;
    };
    let text = |part: &OsString| part.to_string_lossy().into_owned();
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let record = Record {
        cwd: std::env::current_dir().unwrap_or_default(),
        args: flags.iter().cloned().chain(args.iter().map(text)).collect(),
        compiler: compiler.to_owned(),
        package: variable("CARGO_PKG_NAME"),
        out_dir: variable("OUT_DIR").map(PathBuf::from),
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
