//! The recording compiler: this program, called by another name.
//!
//! The C compiler of a build script is set to `cegar-cc`, a link to this binary, and more such
//! links have the names of the machine's compilers ([`super::compilers`]). The link records how it
//! was called and then *becomes* the real compiler, so that the build sees no difference in output,
//! exit status or signals. A record is one line, written with one `write` to a file opened for
//! appending, so that parallel compilers do not mix their lines. If the record cannot be written,
//! the build continues: a capture with a missing file is reported later, while a failed build would
//! give no useful message.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use super::Record;
use super::compilers::{self, Tool};

/// The name under which this program acts as a C compiler.
pub const NAME: &str = "cegar-cc";
/// The name under which this program acts as a C++ compiler, whose files are reported as left out.
pub const NAME_CXX: &str = "cegar-cxx";
/// The variable with the path of the log of records.
pub const LOG: &str = "CEGAR_CAPTURE_LOG";
/// The variable with the real C compiler.
pub const REAL_CC: &str = "CEGAR_REAL_CC";
/// The variable with the real C++ compiler.
pub const REAL_CXX: &str = "CEGAR_REAL_CXX";

/// The variable with the folder of links: a compiler in this folder is not a real one.
pub const BIN: &str = "CEGAR_CAPTURE_BIN";

/// The variable with the path of a file of arguments to add to each link command.
pub const LINK: &str = "CEGAR_CAPTURE_LINK";

/// Programs that launch a compiler given as their argument.
const LAUNCHERS: &[&str] = &["ccache", "sccache", "distcc", "icecc"];

/// If this process was called as a compiler, replaces it with the real one. Returns only if that
/// cannot be started, or if this process was not called as a compiler.
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
        // Other names are compilers only during a capture.
        _ => match std::env::var_os(BIN).and(compilers::tool(name))? {
            // Report that the library is not installed.
            Tool::PkgConfig => return Some(ExitCode::FAILURE),
            Tool::C | Tool::Cxx | Tool::Archiver => name.to_owned(),
        },
    };
    // The compiler may be set with a launcher or flags, as in `CC="ccache gcc -m64"`, or its path
    // may contain a space.
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
        // A linker that reads archives only once needs the group.
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
    // On success `exec` does not return: the compiler replaces this process.
    let why = command.exec();
    eprintln!("cegar-cc: cannot run `{program}`: {why}");
    Some(ExitCode::from(127))
}

/// The arguments to add to a call that links a program; `None` for other calls.
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
