//! Native runs: the program, compiled by the platform's compiler and linked with the hostile world.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use cegar_tests::Project;

use super::list::{Listed, Native, World};

/// How a run ended.
#[derive(Clone)]
struct Run {
    /// Whether the property was violated.
    failed: bool,
    /// The signal that ended the run, if any.
    signal: Option<i32>,
    stderr: String,
}

/// Why a native run contradicts the program's declaration, if it does.
pub fn contradiction(program: &Listed) -> Option<String> {
    let run = run(program)?;
    let name = &program.name;
    match (program.world, run.failed) {
        (World::Breaks, false) => Some(format!("{name} does not fail natively\n{}", run.stderr)),
        (World::Holds, true) => Some(format!("{name} fails natively\n{}", run.stderr)),
        // Signals that are failures for every property: SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV.
        (World::Holds, false) if run.signal.is_some_and(|s| [4, 6, 7, 8, 11].contains(&s)) => Some(
            format!("{name} ends with signal {:?}\n{}", run.signal, run.stderr),
        ),
        _ => None,
    }
}

/// The line at which the program fails in the hostile world: the first one that the report names.
pub fn failing_line(program: &Listed) -> Option<u64> {
    if program.world == World::Holds {
        return None;
    }
    let run = run(program).filter(|run| run.failed)?;
    let file = format!("{}.c:", program.name);
    let (_, rest) = run.stderr.split_once(&file)?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// The result of a native run; `None` for a program that cannot be confirmed. Results are cached,
/// since two tests need them.
fn run(program: &Listed) -> Option<Run> {
    static KNOWN: Mutex<BTreeMap<PathBuf, Option<Run>>> = Mutex::new(BTreeMap::new());
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let before = known().get(&program.path).cloned();
    before.unwrap_or_else(|| {
        let run = built_and_run(program);
        known().insert(program.path.clone(), run.clone());
        run
    })
}

/// Builds and runs a program natively.
fn built_and_run(program: &Listed) -> Option<Run> {
    let project = Project::empty();
    let executable = project.at("program");
    build(program, &executable)?;
    let asserts = program.property == "assertion";
    // Standard error goes to a file, because a program may leave children behind that would keep a
    // pipe open.
    let log = project.at("stderr");
    let file = fs::File::create(&log).unwrap_or_else(|why| panic!("{}: {why}", log.display()));
    let status = Command::new("timeout")
        .args(["--signal=USR2", "20"])
        .arg(&executable)
        .current_dir(project.path())
        .env("ASAN_OPTIONS", "detect_leaks=0:allocator_may_return_null=1")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(file)
        .status()
        .unwrap_or_else(|why| panic!("{}: {why}", program.name));
    let stderr = String::from_utf8_lossy(&fs::read(&log).unwrap_or_default()).into_owned();
    assert_ne!(
        status.code(),
        Some(124),
        "{}: it does not end",
        program.name
    );
    // `timeout` ends as its child does: with an exit code or by the signal itself.
    let signal = status
        .signal()
        .or(status.code().filter(|c| *c > 128).map(|c| c - 128));
    let failed = match asserts {
        true => signal == Some(6) && stderr.contains("Assertion `"),
        false => stderr.contains("runtime error: ") || stderr.contains("ERROR: AddressSanitizer"),
    };
    Some(Run {
        failed,
        signal,
        stderr,
    })
}

fn build(program: &Listed, executable: &PathBuf) -> Option<()> {
    let mut command = Command::new("gcc");
    // Without built-in functions, each call is a real call, which the hostile file can answer.
    command.args(["-std=gnu11", "-O0", "-g", "-w", "-fno-builtin"]);
    if program.property != "assertion" {
        command.args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]);
    }
    command.args(&program.gcc).arg(&program.path);
    match &program.native {
        Native::None(_) => return None,
        Native::Alone => {}
        Native::Linked { wrapped } => {
            command.arg(program.ext());
            command.args(wrapped.iter().map(|name| format!("-Wl,--wrap={name}")));
        }
    }
    command.arg("-o").arg(executable).args(["-lm", "-lpthread"]);
    let output = command
        .output()
        .unwrap_or_else(|why| panic!("cannot start gcc: {why}"));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{} does not build\n{told}",
        program.name
    );
    Some(())
}
