//! External solvers: programs that read SMT-LIB.
//!
//! Each question is answered by a new process, which reads the script from its standard input. The
//! process leads its own process group, so that it can be killed together with all processes that
//! it started when the time is up. An answer is exactly one word. If a solver prints more, for
//! example an error message and then `unsat` all the same, its answer is not accepted.

use std::io::{Read, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use thiserror::Error;

use super::ask::{AskError, Asker, Verdict};
use super::smtlib::{self, Status};
use super::{Limits, Reason};
use crate::deadline;
use crate::term::{Pool, Term};

/// Why a solver gave no valid answer.
#[derive(Debug, Error)]
pub enum ExternalError {
    /// There is no such program.
    #[error("there is no solver `{}`", command.display())]
    NotFound {
        /// The command that was looked for.
        command: PathBuf,
    },
    /// The program cannot be run.
    #[error("the solver `{}` cannot be run", command.display())]
    Start {
        /// The command that was started.
        command: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The process ended before it answered.
    #[error("the solver `{}` ended without an answer \
        ({status}){}", command.display(), said(stderr))]
    Crashed {
        /// The command that was started.
        command: PathBuf,
        /// The exit status.
        status: ExitStatus,
        /// The beginning of its standard error.
        stderr: String,
    },
    /// The output is not a valid answer.
    #[error("the solver `{}` said what is no answer: {output}", command.display())]
    Strange {
        /// The command that was started.
        command: PathBuf,
        /// Its standard output, followed by its standard error.
        output: String,
    },
}

fn said(stderr: &str) -> String {
    match stderr.trim() {
        "" => String::new(),
        text => format!(": {text}"),
    }
}

impl ExternalError {
    /// Advice on how to resolve the error.
    pub fn help(&self) -> String {
        match self {
            ExternalError::NotFound { command } if is(command, "cvc5") => {
                "install it: `apt-get install cvc5`".to_owned()
            }
            ExternalError::NotFound { .. } | ExternalError::Start { .. } => {
                "name a program in PATH, or a path to one, that reads SMT-LIB 2.6 from its \
                 standard input: cvc5 (`apt-get install cvc5`), bitwuzla, z3"
                    .to_owned()
            }
            ExternalError::Crashed { .. } | ExternalError::Strange { .. } => {
                "`--smt2 DIR` keeps the questions, so that it can be asked by hand".to_owned()
            }
        }
    }
}

/// A solver that runs as an external program.
#[derive(Clone, Debug)]
pub struct External {
    /// Its name in `PATH`, or a path.
    pub command: PathBuf,
    /// The arguments of the command. The script is passed on standard input.
    pub arguments: Vec<String>,
    /// The time for one question, at most. An earlier deadline of the calling thread shortens it.
    pub time: Duration,
}

/// The default time for one question. Running times of solvers differ by a factor of ten in both
/// directions, so an external solver gets more time than the solver that the search used.
const TIME: Duration = Duration::from_secs(120);
/// The number of bytes kept of each output stream of a solver.
const KEPT: u64 = 4096;
/// The initial and the longest pause between two checks whether a running solver has ended.
const GLANCE: Duration = Duration::from_millis(1);
const PATIENCE: Duration = Duration::from_millis(20);

impl External {
    /// A solver with this name or path, with the arguments that known solvers need.
    pub fn new(command: impl Into<PathBuf>) -> External {
        let command = command.into();
        let arguments: &[&str] = if is(&command, "cvc5") {
            // Half and quadruple precision are experimental in cvc5. Its internal bit-blasting SAT
            // solver answers questions about tables on which the default does not terminate in
            // time.
            &["--lang=smt2.6", "--fp-exp", "--bv-solver=bitblast-internal"]
        } else if is(&command, "z3") {
            &["-in", "-smt2"]
        } else if is(&command, "bitwuzla") {
            &["--lang=smt2"]
        } else {
            &[]
        };
        External {
            command,
            arguments: arguments.iter().map(|&word| word.to_owned()).collect(),
            time: TIME,
        }
    }

    /// Runs the solver on a script and returns its answer.
    pub fn run(&self, script: &str) -> Result<Verdict, ExternalError> {
        let time = deadline::left().map_or(self.time, |left| left.min(self.time));
        let mut child = self.start()?;
        let stdin = child.stdin.take();
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let (ended, output, errors) = std::thread::scope(|scope| {
            scope.spawn(move || {
                if let Some(mut stdin) = stdin {
                    // Writing fails if the solver ends early. Its output and status then say why.
                    let _ = stdin.write_all(script.as_bytes());
                }
            });
            let output = scope.spawn(move || kept(stdout));
            let errors = scope.spawn(move || kept(stderr));
            let ended = wait(&mut child, Instant::now() + time);
            let text = |thread: std::thread::ScopedJoinHandle<'_, String>| {
                thread.join().unwrap_or_default()
            };
            (ended, text(output), text(errors))
        });
        let ended = ended.map_err(|source| self.failed(source))?;
        let said = if errors.trim().is_empty() {
            output.clone()
        } else {
            format!("{output}\n{errors}")
        };
        match (output.trim(), ended) {
            ("unsat", Some(status)) if errors.trim().is_empty() && status.signal().is_none() => {
                Ok(Verdict::Unsat)
            }
            ("sat", Some(status)) if errors.trim().is_empty() && status.signal().is_none() => {
                Ok(Verdict::Sat)
            }
            ("unknown", Some(_)) => Ok(Verdict::Unknown(Reason::Other("unknown".to_owned()))),
            (_, None) => Ok(Verdict::Unknown(Reason::Time)),
            ("", Some(status)) => Err(ExternalError::Crashed {
                command: self.command.clone(),
                status,
                stderr: errors,
            }),
            (_, Some(_)) => Err(ExternalError::Strange {
                command: self.command.clone(),
                output: said.trim().to_owned(),
            }),
        }
    }

    fn start(&self) -> Result<Child, ExternalError> {
        let mut command = Command::new(&self.command);
        command
            .args(&self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        // SAFETY: the closure makes one system call between fork and exec, and allocates no memory.
        unsafe {
            command.pre_exec(|| {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                Ok(())
            });
        }
        command.spawn().map_err(|source| self.failed(source))
    }

    fn failed(&self, source: std::io::Error) -> ExternalError {
        let command = self.command.clone();
        match source.kind() {
            std::io::ErrorKind::NotFound => ExternalError::NotFound { command },
            _ => ExternalError::Start { command, source },
        }
    }
}

impl Asker for External {
    fn ask(
        &mut self,
        pool: &mut Pool,
        terms: &[Term],
        _limits: &Limits,
        about: &dyn std::fmt::Display,
    ) -> Result<Verdict, AskError> {
        let script = smtlib::script(pool, terms, &about.to_string(), Status::Unknown)?;
        Ok(match self.run(&script.text)? {
            // If some values are left free, a model need not satisfy the terms.
            Verdict::Sat if !script.is_exact => Verdict::Unknown(Reason::Unfaithful),
            verdict => verdict,
        })
    }
}

/// Whether the command is the program `name`: compares the file name up to the first `-`, so that
/// versions such as `cvc5-1.2` count too.
fn is(command: &Path, name: &str) -> bool {
    let file = command
        .file_name()
        .and_then(|file| file.to_str())
        .unwrap_or_default();
    file.split('-').next() == Some(name)
}

/// Reads a pipe to its end and returns its first [`KEPT`] bytes.
fn kept(pipe: Option<impl Read>) -> String {
    let Some(mut pipe) = pipe else {
        return String::new();
    };
    let mut text = Vec::new();
    // A read error counts as the end of the output.
    let _ = pipe.by_ref().take(KEPT).read_to_end(&mut text);
    let _ = std::io::copy(&mut pipe, &mut std::io::sink());
    String::from_utf8_lossy(&text).into_owned()
}

/// Waits until a solver ends. Returns `None` if `end` or the thread's deadline passed before. All
/// processes of its group are killed in either case, so that none of them keeps the pipes open.
fn wait(child: &mut Child, end: Instant) -> std::io::Result<Option<ExitStatus>> {
    let pid = Pid::from_child(child);
    // `NOWAIT` leaves the process unreaped, so that its number still identifies its group below.
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let mut pause = GLANCE;
    let in_time = loop {
        if waitid(WaitId::Pid(pid), look)?.is_some() {
            break true;
        }
        if Instant::now() >= end || deadline::passed() {
            break false;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(PATIENCE);
    };
    match kill_process_group(pid, Signal::KILL) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => {}
        Err(why) => return Err(why.into()),
    }
    let status = child.wait()?;
    Ok(in_time.then_some(status))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A solver that is a shell script.
    fn shell(script: &str) -> External {
        External {
            command: PathBuf::from("sh"),
            arguments: vec!["-c".to_owned(), script.to_owned()],
            time: Duration::from_secs(60),
        }
    }

    const QUESTION: &str = "(check-sat)\n";

    #[test]
    fn answers() {
        let answer = |script: &str| shell(script).run(QUESTION).map_err(|why| why.to_string());
        assert_eq!(answer("cat >/dev/null; echo unsat"), Ok(Verdict::Unsat));
        assert_eq!(answer("echo sat"), Ok(Verdict::Sat));
        assert!(matches!(answer("echo unknown"), Ok(Verdict::Unknown(_))));
    }

    #[test]
    fn an_error_and_an_answer_is_no_answer() {
        for script in [
            "echo '(error \"unknown symbol\")'; echo unsat",
            "echo unsat; echo unsat",
            "echo unsat; echo careful >&2",
            "echo UNSAT",
            "echo unsat; kill -SEGV $$",
        ] {
            let said = shell(script).run(QUESTION);
            assert!(
                matches!(said, Err(ExternalError::Strange { .. })),
                "{script}: {said:?}"
            );
        }
    }

    #[test]
    fn a_crash_is_told_with_the_last_words() {
        let said = shell("echo no memory >&2; exit 3").run(QUESTION);
        let Err(ExternalError::Crashed { status, stderr, .. }) = said else {
            panic!("{said:?}");
        };
        assert_eq!((status.code(), stderr.as_str()), (Some(3), "no memory\n"));
    }

    #[test]
    fn a_solver_that_is_not_there() {
        let missing = External::new("no-such-solver").run(QUESTION);
        assert!(
            matches!(missing, Err(ExternalError::NotFound { .. })),
            "{missing:?}"
        );
        let folder = External::new("/").run(QUESTION);
        assert!(
            matches!(folder, Err(ExternalError::Start { .. })),
            "{folder:?}"
        );
    }

    /// Both processes hold the pipes, so the pipes close only when both have ended.
    #[test]
    fn who_takes_too_long_is_killed_with_what_it_started() {
        let mut slow = shell("sleep 600 & sleep 600");
        slow.time = Duration::from_millis(50);
        assert!(matches!(
            slow.run(QUESTION),
            Ok(Verdict::Unknown(Reason::Time))
        ));
        let left = shell("sleep 600 & echo unsat").run(QUESTION);
        assert!(matches!(left, Ok(Verdict::Unsat)), "{left:?}");
    }

    /// The question is longer than the buffer of a pipe, and the solver does not read it.
    #[test]
    fn a_long_question_that_nobody_reads() {
        let question = "; nothing\n".repeat(100_000);
        assert!(matches!(
            shell("echo unsat").run(&question),
            Ok(Verdict::Unsat)
        ));
    }
}
