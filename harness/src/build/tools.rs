//! The programs that a build needs besides the compiler, and what this compiler can do.
//!
//! Only programs that come with a C compiler are needed: `nm` and `objcopy` of binutils, or LLVM's
//! under any of their usual names. Whether sanitizers work is tested by running a program, since a
//! compiler that accepts the option often lacks the runtime.

use std::collections::HashSet;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::BuildError;
use super::cache::Cache;

/// Runs a command to its end. If it fails, the error has what it printed.
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

/// A command for messages, without its environment, which may hold passwords.
fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}

/// A flag that is set when the result of the build is no longer needed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stop(pub Option<Arc<AtomicBool>>);

impl Stop {
    fn is_set(&self) -> bool {
        self.0
            .as_ref()
            .is_some_and(|stop| stop.load(Ordering::Relaxed))
    }
}

/// The polling interval while a compiler runs.
const GLANCE: Duration = Duration::from_millis(10);

/// As [`run`], for long commands: when `stop` is set, the program and all its children are killed.
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
    // The output is read on another thread, since a full pipe would block the program.
    let ended = std::thread::spawn(move || child.wait_with_output());
    let mut killed = false;
    while !ended.is_finished() {
        if !killed
            && stop.is_set()
            && let Some(group) = group
        {
            // SAFETY: this sends a signal to the process group of the child. The child was not yet
            // reaped a moment ago. If its number had been reused since, it would have to belong to
            // another process that leads a group.
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

/// The first of these programs that is installed.
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

/// Renames symbols within an object file. A pair has the old name and the new name.
pub(crate) fn redefine(
    from: &Path,
    to: &Path,
    pairs: &[(String, String)],
) -> Result<(), BuildError> {
    let objcopy = first_of("objcopy", &["objcopy", "llvm-objcopy", "llvm-objcopy-19"])?;
    let (mut from, mut rest) = (from, pairs.to_vec());
    loop {
        // GNU objcopy rejects two renames to the same name, so the second has to wait for another
        // round.
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

/// Makes a symbol of an object weak, so that the definition in another file takes precedence.
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
    /// The symbols that it defines.
    pub defined: HashSet<String>,
    /// The defined symbols that no other file may define.
    pub strong: HashSet<String>,
    /// The symbols that it uses and does not define.
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
            // Several files may define a common, weak or unique symbol.
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

/// The groups of sanitizers with which this compiler builds a program that runs.
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
