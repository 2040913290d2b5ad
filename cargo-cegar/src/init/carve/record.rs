//! Runs the crate's tests with the library's functions recorded.
//!
//! The linker redirects the calls: with `--wrap=NAME` each call of `NAME` from another file becomes
//! a call of `__wrap_NAME`. The recording compiler, which also runs as the linker, adds these
//! options and an archive of wrappers. So recording works for every way of building the library,
//! and the crate is not changed. Each test runs in a process of its own with a time limit, so that
//! one which aborts or hangs does not affect the others.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::super::api::{Api, Declared};
use super::trace::{self, Run};
use super::wrappers::{Wrapped, wrappers};
use crate::capture::recording;
use crate::compile::Compiler;
use crate::error::Error;
use crate::project::Project;
use crate::store;

/// The time limit of one test.
const ONE: Duration = Duration::from_secs(10);
/// The time limit of all tests together.
const ALL: Duration = Duration::from_secs(120);
/// The interval at which a running test is polled.
const TICK: Duration = Duration::from_millis(5);

/// The result of recording.
#[derive(Debug, Default)]
pub(super) struct Recorded {
    pub runs: Vec<Run>,
    /// Notes for the user about what was not or not fully recorded.
    pub left_out: Vec<String>,
    /// The number of tests and examples that were run.
    pub ran: usize,
}

/// Builds the tests of the workspace and runs them with the given functions recorded.
pub(super) fn record(
    project: &Project,
    compiler: &Compiler,
    api: &Api,
    functions: &[&Declared],
    (include, flags): (&str, &[String]),
    stop: &AtomicBool,
) -> Result<Recorded, Error> {
    let folder = project.scratch().join("record").join(&project.name);
    // Old traces would be mistaken for new ones.
    let _ = std::fs::remove_dir_all(folder.join("traces"));
    store::writable_dir(&folder.join("traces"))?;
    let mut recorded = Recorded::default();
    let wrapped = wrappers(
        &folder,
        compiler,
        api,
        functions,
        (include, flags),
        &mut recorded,
    )?;
    let programs = build(project, &folder, &wrapped)?;
    let until = Instant::now() + ALL;
    let mut late = 0;
    for program in &programs {
        for test in program.tests(project, &folder) {
            if stop.load(Ordering::Relaxed) {
                return Ok(recorded);
            }
            if Instant::now() >= until {
                late += 1;
                continue;
            }
            let traces = folder.join("traces").join(recorded.ran.to_string());
            store::writable_dir(&traces)?;
            recorded.ran += 1;
            let name = test.clone().unwrap_or_else(|| program.name.clone());
            if let Some(why) = program.run(project, test.as_deref(), &traces) {
                recorded
                    .left_out
                    .push(format!("{}: {why}", program.called(test.as_deref())));
            }
            let (runs, full) = trace::read(&traces, &name);
            if full {
                let text = format!(
                    "{}: it calls too often, and only the beginning was recorded",
                    program.called(test.as_deref())
                );
                recorded.left_out.push(text);
            }
            if runs.len() > 1 {
                let text = format!(
                    "{}: {} threads call the library; each is taken as a use of its own",
                    program.called(test.as_deref()),
                    runs.len()
                );
                recorded.left_out.push(text);
            }
            recorded.runs.extend(runs);
        }
    }
    if late > 0 {
        let text = format!("{late} tests were not run: {} s were over", ALL.as_secs());
        recorded.left_out.push(text);
    }
    Ok(recorded)
}

/// A test program or an example.
struct Program {
    name: String,
    path: PathBuf,
    /// The folder of its package, in which cargo would run it.
    folder: PathBuf,
    /// Whether it is an example, which has no `#[test]` functions.
    plain: bool,
}

fn build(project: &Project, folder: &Path, wrapped: &Wrapped) -> Result<Vec<Program>, Error> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    // Cargo does not know the added linker arguments, and would consider programs with outdated
    // wrappers up to date. So the target folder's name includes the hash of the wrappers.
    let target = folder.join(format!("target-{}", wrapped.hash));
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("target-") && entry.path() != target {
            // A folder that cannot be removed only wastes space.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
    let mut command = Command::new(cargo);
    command
        .current_dir(&project.workspace)
        .args([
            "test",
            "--workspace",
            "--no-run",
            "--message-format",
            "json-render-diagnostics",
        ])
        .arg("--target-dir")
        .arg(&target);
    if project.member && project.root == project.workspace {
        // For the root package of a workspace, excludes the harness package, in case it is a
        // member.
        command.arg("--exclude").arg(project.cegar_name());
    }
    let mut link: Vec<String> = wrapped
        .names
        .iter()
        .map(|name| format!("-Wl,--wrap={name}"))
        .collect();
    link.push(wrapped.archive.display().to_string());
    let file = folder.join("link.txt");
    store::write(&file, link.join("\n").as_bytes())?;
    recording(&mut command, folder, &file)?;
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .map_err(|why| Error::io("run", "cargo test", why))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let last: Vec<&str> = said.lines().rev().take(30).collect();
        let last: Vec<&str> = last.into_iter().rev().collect();
        return Err(Error::nothing(
            format!(
                "the crate's tests could not be built with recording\n{}",
                last.join("\n")
            ),
            "`cargo test --no-run` must work first",
        ));
    }
    let mut programs = Vec::new();
    for message in cargo_metadata::Message::parse_stream(&output.stdout[..]).flatten() {
        let cargo_metadata::Message::CompilerArtifact(artifact) = message else {
            continue;
        };
        let Some(path) = artifact.executable else {
            continue;
        };
        let is_example = artifact
            .target
            .kind
            .contains(&cargo_metadata::TargetKind::Example);
        if !artifact.profile.test && !is_example {
            continue;
        }
        let manifest = artifact.manifest_path.into_std_path_buf();
        programs.push(Program {
            name: artifact.target.name,
            path: path.into_std_path_buf(),
            folder: manifest.parent().map(Path::to_owned).unwrap_or_default(),
            plain: is_example && !artifact.profile.test,
        });
    }
    Ok(programs)
}

impl Program {
    /// The name under which notes mention a test.
    fn called(&self, test: Option<&str>) -> String {
        match test {
            Some(test) => format!("{} {test}", self.name),
            None => self.name.clone(),
        }
    }

    /// Its tests, each of which runs in a process of its own. A single `None` means to run the
    /// program without arguments.
    fn tests(&self, project: &Project, folder: &Path) -> Vec<Option<String>> {
        if self.plain {
            return vec![None];
        }
        let mut command = self.command(project);
        let file = folder.join("list.txt");
        let Ok(list) = std::fs::File::create(&file) else {
            return Vec::new();
        };
        command.args(["--list", "--format", "terse"]).stdout(list);
        let Ok(Some(status)) = limited(&mut command) else {
            return Vec::new();
        };
        let text = std::fs::read(&file).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        let tests = text.lines().filter_map(|line| line.strip_suffix(": test"));
        let tests: Vec<Option<String>> = tests.map(|test| Some(test.to_owned())).collect();
        match tests.is_empty() && !status.success() {
            // A test with its own `main` does not support these arguments.
            true => vec![None],
            false => tests,
        }
    }

    fn command(&self, project: &Project) -> Command {
        let mut command = Command::new(&self.path);
        command
            .current_dir(&self.folder)
            .env("CARGO_MANIFEST_DIR", &self.folder)
            .env("CARGO_PKG_NAME", &project.name)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// Runs one test. Returns a description of its failure, if it failed.
    fn run(&self, project: &Project, test: Option<&str>, traces: &Path) -> Option<String> {
        use std::os::unix::process::ExitStatusExt as _;
        let mut command = self.command(project);
        if let Some(test) = test {
            command.args(["--exact", "--test-threads", "1", test]);
        }
        command.env("CEGAR_RECORD", traces);
        let status = match limited(&mut command) {
            Ok(Some(status)) => status,
            Ok(None) => {
                return Some(format!(
                    "it did not end within {} s; what it called until then was recorded",
                    ONE.as_secs()
                ));
            }
            Err(why) => return Some(format!("it could not be started: {why}")),
        };
        match (status.signal(), status.success()) {
            (Some(signal), _) => Some(format!(
                "it was ended by signal {signal}; what it called until then was recorded"
            )),
            (None, false) => Some("it failed; what it called was recorded".to_owned()),
            (None, true) => None,
        }
    }
}

/// Runs a program with a time limit. `None` if it had to be killed.
fn limited(command: &mut Command) -> std::io::Result<Option<std::process::ExitStatus>> {
    use std::os::unix::process::CommandExt as _;
    let mut child = command.process_group(0).spawn()?;
    let group = Pid::from_raw(child.id() as i32);
    let until = Instant::now() + ONE;
    loop {
        match child.try_wait()? {
            Some(status) => {
                // Also kills processes that it left behind.
                let _ = killpg(group, Signal::SIGKILL);
                return Ok(Some(status));
            }
            None if Instant::now() < until => std::thread::sleep(TICK),
            None => {
                let _ = killpg(group, Signal::SIGKILL);
                child.wait()?;
                return Ok(None);
            }
        }
    }
}
