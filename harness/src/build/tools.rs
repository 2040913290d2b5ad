//! The programs that a build needs beside the compiler, and what this compiler can do.
//!
//! Only what a C compiler brings along: `nm` and `objcopy` of binutils, or LLVM's under whichever
//! name they are installed. Whether sanitizers work is found out by trying, since a compiler that
//! accepts the option often lacks the runtime.

use std::collections::HashSet;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::BuildError;
use super::cache::Cache;

/// Runs a command to its end; a command that fails is an error with what it printed.
pub(crate) fn run(command: &mut Command) -> Result<Output, BuildError> {
    let shown = shown(command);
    let output = command.output().map_err(|why| BuildError::Start {
        command: shown.clone(),
        why,
    })?;
    if output.status.success() {
        return Ok(output);
    }
    Err(BuildError::Failed {
        command: shown,
        output: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

/// A command for people: without its environment, which may hold passwords.
fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}

/// Set when what is built is no longer needed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stop(pub Option<Arc<AtomicBool>>);

impl Stop {
    fn is_set(&self) -> bool {
        self.0
            .as_ref()
            .is_some_and(|stop| stop.load(Ordering::Relaxed))
    }
}

/// How often a compiler is looked at.
const GLANCE: Duration = Duration::from_millis(10);

/// As [`run`], for what takes long: a program whose result is no longer needed is killed with all
/// that it started.
pub(crate) fn run_until(command: &mut Command, stop: &Stop) -> Result<(), BuildError> {
    if stop.0.is_none() {
        return run(command).map(drop);
    }
    if stop.is_set() {
        return Err(BuildError::Interrupted);
    }
    let shown = shown(command);
    let start = |why| BuildError::Start {
        command: shown.clone(),
        why,
    };
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .process_group(0);
    let child = command.spawn().map_err(start)?;
    let group = i32::try_from(child.id()).ok();
    // Its words are read beside the wait: the pipe may fill up.
    let ended = std::thread::spawn(move || child.wait_with_output());
    let mut killed = false;
    while !ended.is_finished() {
        if !killed
            && stop.is_set()
            && let Some(group) = group
        {
            // SAFETY: a signal to the group that the child leads. It was not waited for a moment
            // ago; were its number given to another process since, that one would have to lead a
            // group.
            unsafe { libc::killpg(group, libc::SIGKILL) };
            killed = true;
        }
        std::thread::sleep(GLANCE);
    }
    let output = match ended.join() {
        Ok(output) => output.map_err(start)?,
        Err(panic) => std::panic::resume_unwind(panic),
    };
    if killed {
        return Err(BuildError::Interrupted);
    }
    if output.status.success() {
        return Ok(());
    }
    Err(BuildError::Failed {
        command: shown,
        output: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

/// The first of some programs that is installed.
fn first_of(what: &'static str, names: &[&str]) -> Result<PathBuf, BuildError> {
    let works = |name: &&&str| {
        Command::new(name)
            .arg("--version")
            .output()
            .is_ok_and(|out| out.status.success())
    };
    match names.iter().find(works) {
        Some(name) => Ok(PathBuf::from(name)),
        None => Err(BuildError::NoTool {
            what,
            tried: names.join(", "),
        }),
    }
}

/// Renames symbols within an object file: pairs of the old name and the new.
pub(crate) fn redefine(
    from: &Path,
    to: &Path,
    pairs: &[(String, String)],
) -> Result<(), BuildError> {
    let objcopy = first_of("objcopy", &["objcopy", "llvm-objcopy", "llvm-objcopy-19"])?;
    let (mut from, mut rest) = (from, pairs.to_vec());
    loop {
        // GNU objcopy refuses two old names for one new name, so the second has to wait for another
        // turn.
        let mut targets = HashSet::new();
        let (now, later): (Vec<_>, Vec<_>) = rest
            .into_iter()
            .partition(|(_, new)| targets.insert(new.clone()));
        let mut command = Command::new(&objcopy);
        for (old, new) in &now {
            command.arg(format!("--redefine-sym={old}={new}"));
        }
        run(command.arg(from).arg(to))?;
        if later.is_empty() {
            return Ok(());
        }
        (from, rest) = (to, later);
    }
}

/// Lets another file's definition of a symbol take precedence.
pub(crate) fn weaken(object: &Path, symbol: &str) -> Result<(), BuildError> {
    let objcopy = first_of("objcopy", &["objcopy", "llvm-objcopy", "llvm-objcopy-19"])?;
    run(Command::new(objcopy)
        .arg(format!("--weaken-symbol={symbol}"))
        .arg(object))?;
    Ok(())
}

/// The global symbols of an object file.
#[derive(Debug, Default)]
pub(crate) struct Symbols {
    /// Those that it defines.
    pub defined: HashSet<String>,
    /// Those of them that no other file may define.
    pub strong: HashSet<String>,
    /// Those that it wants from elsewhere.
    pub wanted: HashSet<String>,
}

/// Reads an object file's global symbols.
pub(crate) fn symbols(object: &Path) -> Result<Symbols, BuildError> {
    let nm = first_of("nm", &["nm", "llvm-nm", "llvm-nm-19"])?;
    let output = run(Command::new(nm).args(["-P", "-g"]).arg(object))?;
    let mut symbols = Symbols::default();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let mut words = line.split_whitespace();
        if let (Some(name), Some(sort)) = (words.next(), words.next()) {
            // A common symbol, a weak one and a unique one may stand in several files.
            if !matches!(sort, "U" | "w" | "v" | "W" | "V" | "C" | "c" | "u") {
                symbols.strong.insert(name.to_owned());
            }
            let set = if matches!(sort, "U" | "w" | "v") {
                &mut symbols.wanted
            } else {
                &mut symbols.defined
            };
            set.insert(name.to_owned());
        }
    }
    Ok(symbols)
}

/// Of some groups of sanitizers, those with which this compiler builds a program that runs.
pub(crate) fn working_sanitizers<'a>(
    compiler: &cc::Tool,
    groups: &[&'a str],
    folder: &Path,
    cache: &Cache,
) -> Result<Vec<&'a str>, BuildError> {
    let (source, program) = (folder.join("probe.c"), folder.join("probe"));
    let io = |why| BuildError::Io {
        path: source.clone(),
        why,
    };
    std::fs::write(
        &source,
        "int main(int argc, char **argv) { int a[2] = {0, argc}; return a[argc - 1] + !argv; }\n",
    )
    .map_err(io)?;
    let works = |group: &str| {
        let built = compiler
            .to_command()
            .arg(format!("-fsanitize={group}"))
            .arg("-fno-sanitize-recover=all")
            .arg(&source)
            .arg("-o")
            .arg(&program)
            .output()
            .is_ok_and(|out| out.status.success());
        built
            && Command::new(&program)
                .output()
                .is_ok_and(|out| out.status.success())
    };
    Ok(groups
        .iter()
        .copied()
        .filter(|group| cache.can(compiler, &format!("sanitize {group}"), || works(group)))
        .collect())
}
