//! Runs the crate's build with the recording compiler.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};

use super::compilers::{self, Trial};
use super::watched::{self, Doing};
use super::{CaptureError, Captured, Record, archives, as_c, parse, programs};
use crate::project::Project;

/// The number of lines of a failed build's output that are shown.
const SHOWN: usize = 60;

/// Runs the build of `project` and returns the C files that it compiles. The build uses a separate
/// folder (`target/cegar/capture`); only what its build script needs is compiled. `doing` is told
/// the progress of cargo.
///
/// A build that works in the source folder compiles less the second time, or nothing. Then it is
/// repeated with `make` told to make everything. A build script that finds an installed library
/// compiles nothing either. Then it is repeated with this library hidden, and [`Captured::bundled`]
/// is set.
pub fn capture(
    project: &Project,
    stop: &AtomicBool,
    doing: &mut Doing<'_>,
) -> Result<Captured, CaptureError> {
    let first = capture_once(project, stop, Trial::Plain, doing);
    let (others, known): (&[Trial], usize) = match &first {
        Err(CaptureError::NothingCaptured {
            may_be_installed: true,
            ..
        }) => (&[Trial::Anew, Trial::Bundled], 0),
        Err(CaptureError::NothingCaptured {
            is_partial: true, ..
        }) => (&[Trial::Anew], 0),
        Ok(captured) if captured.is_partial => (&[Trial::Anew], captured.units.len()),
        _ => return first,
    };
    for trial in others {
        match capture_once(project, stop, *trial, doing) {
            Ok(captured) if captured.units.len() > known => {
                return Ok(Captured {
                    bundled: *trial == Trial::Bundled,
                    ..captured
                });
            }
            Ok(_) => {}
            Err(CaptureError::Interrupted) => return Err(CaptureError::Interrupted),
            // Errors of a further trial do not concern the user: the unchanged build works.
            Err(why) => tracing::info!("{trial:?}: {why}"),
        }
    }
    first
}

fn capture_once(
    project: &Project,
    stop: &AtomicBool,
    trial: Trial,
    doing: &mut Doing<'_>,
) -> Result<Captured, CaptureError> {
    clean(project, &folder(project));
    let (records, output) = recorded(project, stop, trial, doing)?;
    captured(project, &records, &output)
}

/// What a build compiled, given the compilers' records and cargo's output.
pub(super) fn captured(
    project: &Project,
    records: &[Record],
    output: &Output,
) -> Result<Captured, CaptureError> {
    let own = records.iter().filter(|record| belongs(record, project));
    let mine: Vec<Record> = own.cloned().collect();
    let mut captured = parse::parse(&mine);
    let compiler = mine
        .iter()
        .map(|r| r.compiler.as_str())
        .find(|c| !c.ends_with("++") && !c.ends_with("ar"));
    let compiler = compiler.unwrap_or("cc");
    captured.compiler = compiler.to_owned();
    let candidates = std::mem::take(&mut captured.maybe_c);
    as_c::take(&mut captured, candidates, compiler);
    programs::leave_out(&mut captured, compiler);
    archives::sort(&mut captured, &mine);
    // Only the build script matters: the crate's Rust code may need more than is installed here.
    let script_failed = String::from_utf8_lossy(&output.stderr).contains("custom build command");
    if !output.status.success() && (captured.units.is_empty() || script_failed) {
        return Err(CaptureError::BuildFailed {
            package: project.name.clone(),
            status: output.status.to_string(),
            output: last_lines(&String::from_utf8_lossy(&output.stderr), SHOWN),
        });
    }
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        captured.failed = Some(last_lines(&said, SHOWN));
    }
    if captured.units.is_empty() {
        return Err(nothing(project, records, &captured));
    }
    Ok(captured)
}

/// The folder in which the build of `project` is captured.
pub(super) fn folder(project: &Project) -> PathBuf {
    project.scratch().join("capture")
}

/// Builds `project` and returns the records of the compilers and cargo's output. What cargo
/// considers up to date is not built.
pub(super) fn recorded(
    project: &Project,
    stop: &AtomicBool,
    trial: Trial,
    doing: &mut Doing<'_>,
) -> Result<(Vec<Record>, Output), CaptureError> {
    let folder = folder(project);
    fs::create_dir_all(&folder).map_err(CaptureError::io("create", &folder))?;
    let log = folder.join("calls.jsonl");
    // The file exists from the start, so an empty file means that nothing was compiled.
    fs::write(&log, "").map_err(CaptureError::io("write", &log))?;
    let mut build = cargo(project, "check", &folder);
    compilers::record(&mut build, &folder.join("bin"), &log, trial)?;
    let output = watched::run(&mut build, doing).map_err(CaptureError::io("run", "cargo"))?;
    if stop.load(Ordering::Relaxed) {
        return Err(CaptureError::Interrupted);
    }
    Ok((read_log(&log)?, output))
}

fn cargo(project: &Project, command: &str, folder: &Path) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut run = Command::new(cargo);
    // Run from the workspace: with a dependency's own manifest, cargo would not use the lock file
    // and the features of the workspace.
    run.current_dir(&project.workspace)
        .arg(command)
        .arg("--package")
        .arg(format!("{}@{}", project.name, project.version))
        .arg("--target-dir")
        .arg(folder.join("target"));
    if command == "check" {
        run.args(&project.cargo_args);
    }
    run
}

/// Deletes an earlier capture of the package, so that its build script runs again. Its dependencies
/// stay built.
fn clean(project: &Project, folder: &Path) {
    if folder.join("target").exists() {
        // If this fails, the build script may not run, and the capture reports that nothing was
        // compiled.
        if let Err(why) = cargo(project, "clean", folder).output() {
            tracing::warn!("cargo clean: {why}");
        }
    }
}

fn read_log(log: &Path) -> Result<Vec<Record>, CaptureError> {
    let text = fs::read_to_string(log).map_err(CaptureError::io("read", log))?;
    let damaged = |why: serde_json::Error| CaptureError::Damaged {
        path: log.to_owned(),
        why: why.to_string(),
    };
    text.lines()
        .map(|line| serde_json::from_str(line).map_err(damaged))
        .collect()
}

/// Whether the package's own build script made the call. Also true if the package is unknown, since
/// some build systems clear the environment.
pub(super) fn belongs(record: &Record, project: &Project) -> bool {
    record
        .package
        .as_ref()
        .is_none_or(|package| *package == project.name)
}

fn nothing(project: &Project, records: &[Record], captured: &Captured) -> CaptureError {
    // The linker is called for every build script, so only calls that compile C count.
    let compiled = |package: &&str| {
        let of_it = |r: &&Record| r.package.as_deref() == Some(package);
        let calls: Vec<Record> = records.iter().filter(of_it).cloned().collect();
        !parse::parse(&calls).units.is_empty()
    };
    let others: BTreeSet<&str> = records
        .iter()
        .filter_map(|r| r.package.as_deref())
        .collect();
    let others: Vec<&str> = others.into_iter().filter(compiled).collect();
    let mut may_be_installed = false;
    let help = if !captured.left_out.is_empty() {
        let files: Vec<String> = captured
            .left_out
            .iter()
            .map(|left| format!("{}: {}", left.file.display(), left.why))
            .collect();
        // A program that tests an installed library.
        may_be_installed = captured
            .left_out
            .iter()
            .all(|left| left.why == parse::STRAIGHT);
        let advice = match may_be_installed {
            true => {
                "; if the library that is installed was taken, choose the vendored or static \
                 feature"
            }
            false => "",
        };
        format!("left out: {}{advice}", files.join("; "))
    } else if !others.is_empty() {
        format!("C was compiled by {}: choose with -p", others.join(", "))
    } else {
        may_be_installed = true;
        "a build script that finds the library installed compiles nothing: choose its vendored or \
         static feature; one that calls a compiler by its absolute path is not seen: list the C \
         files as `sources` under [c] in cegar.toml"
            .to_owned()
    };
    CaptureError::NothingCaptured {
        package: project.name.clone(),
        may_be_installed,
        is_partial: captured.is_partial,
        help,
    }
}

fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}
