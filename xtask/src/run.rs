//! Starts other programs. Each command is printed before it starts, in a form that can be typed, so
//! that a log of `xtask` can be repeated by hand from any point.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, IsTerminal, Write};
use std::process::{Command, ExitStatus, Stdio};

use crate::error::Error;
use crate::error::Result;

/// Prints what is being done: a verb, right-aligned as in cargo's output, and its object.
pub(crate) fn status(verb: &str, what: &str) {
    let mut out = io::stderr().lock();
    // If stderr is closed, the error cannot be reported.
    let _ = if colour() {
        writeln!(out, "\x1b[1;32m{verb:>12}\x1b[0m {what}")
    } else {
        writeln!(out, "{verb:>12} {what}")
    };
}

/// Prints the error of a failed command.
pub(crate) fn failed(what: &str) {
    let mut out = io::stderr().lock();
    let _ = if colour() {
        writeln!(out, "\x1b[1;31merror\x1b[0m: {what}")
    } else {
        writeln!(out, "error: {what}")
    };
}

fn colour() -> bool {
    io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// The command as it would be typed.
pub(crate) fn shown(command: &Command) -> String {
    let quoted = |word: &OsStr| {
        let word = word.to_string_lossy();
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            word.into_owned()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    let program = quoted(command.get_program());
    let program = program.rsplit('/').next().unwrap_or(&program).to_owned();
    std::iter::once(program)
        .chain(command.get_args().map(quoted))
        .collect::<Vec<_>>()
        .join(" ")
}

/// Prints the command, runs it with this process's own output, and returns how it ended.
pub(crate) fn ends(command: &mut Command) -> Result<ExitStatus> {
    status("Running", &shown(command));
    command.status().map_err(|source| Error::Start {
        command: shown(command),
        source,
    })
}

/// Runs the command; fails unless it succeeds.
pub(crate) fn succeeds(command: &mut Command) -> Result<()> {
    let status = ends(command)?;
    success(command, status)
}

/// Runs the command, and both prints and returns its standard output.
pub(crate) fn shows(command: &mut Command) -> Result<(ExitStatus, String)> {
    let name = shown(command);
    status("Running", &name);
    let start = |source| Error::Start {
        command: name.clone(),
        source,
    };
    let mut child = command.stdout(Stdio::piped()).spawn().map_err(start)?;
    let mut kept = String::new();
    if let Some(stdout) = child.stdout.take() {
        let mut lines = BufReader::new(stdout);
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line).map_err(start)? != 0 {
            let _ = io::stdout().lock().write_all(&line);
            kept.push_str(&String::from_utf8_lossy(&line));
            line.clear();
        }
    }
    let status = child.wait().map_err(start)?;
    Ok((status, kept))
}

/// Runs the command silently and returns its standard output; `None` if it cannot be started or
/// fails.
pub(crate) fn asks(command: &mut Command) -> Option<String> {
    let output = command.stderr(Stdio::null()).output().ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Returns an error that names the command, unless it succeeded.
pub(crate) fn success(command: &Command, status: ExitStatus) -> Result<()> {
    if status.success() {
        Ok(())
    } else {
        Err(Error::Failed {
            command: shown(command),
            status: status.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_one_would_type_it() {
        let mut command = Command::new("/usr/bin/cargo");
        command.args(["test", "it's", "", "a b"]);
        assert_eq!(shown(&command), r"cargo test 'it'\''s' '' 'a b'");
    }

    #[test]
    fn output_is_kept_and_failure_is_told() -> Result<()> {
        let (status, kept) = shows(Command::new("sh").args(["-c", "echo one; echo two; exit 3"]))?;
        assert_eq!((status.code(), kept.as_str()), (Some(3), "one\ntwo\n"));
        assert!(asks(Command::new("sh").args(["-c", "exit 1"])).is_none());
        assert!(asks(&mut Command::new("/no/such/program")).is_none());
        Ok(())
    }
}
