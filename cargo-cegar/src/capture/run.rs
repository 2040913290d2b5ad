//! Running the crate's build under the recording compiler, and keeping what it told.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{fs, io};

use super::compilers::{self, Installed};
use super::watched::{self, Doing};
use super::{CaptureError, Captured, Record, Unit, archives, as_c, parse, programs};
use crate::compile;
use crate::project::Project;
use crate::store::{self, FileError};

/// Lines of a failed build's output that are shown.
const SHOWN: usize = 60;

/// Runs the build of `project` and gives the C files that it compiles. The build works in a folder
/// of its own (`target/cegar/capture`); only what its build script needs is compiled. `doing` hears
/// what cargo is at.
///
/// A build script that finds the library installed compiles nothing: then it is run once more
/// without what tells it so, and [`Captured::bundled`] says it.
pub fn capture(
    project: &Project,
    stop: &AtomicBool,
    doing: &mut Doing<'_>,
) -> Result<Captured, CaptureError> {
    let first = capture_once(project, stop, Installed::Found, doing);
    let Err(CaptureError::NothingCaptured {
        may_be_installed: true,
        ..
    }) = first
    else {
        return first;
    };
    match capture_once(project, stop, Installed::Hidden, doing) {
        Ok(captured) => Ok(Captured {
            bundled: true,
            ..captured
        }),
        Err(CaptureError::Interrupted) => Err(CaptureError::Interrupted),
        // What went wrong now is not the user's concern: the build as it is works.
        Err(why) => {
            tracing::info!("without pkg-config: {why}");
            first
        }
    }
}

fn capture_once(
    project: &Project,
    stop: &AtomicBool,
    installed: Installed,
    doing: &mut Doing<'_>,
) -> Result<Captured, CaptureError> {
    let folder = project.scratch().join("capture");
    fs::create_dir_all(&folder).map_err(CaptureError::io("create", &folder))?;
    let log = folder.join("calls.jsonl");
    // The file is there from the start: an empty record then means that nothing was compiled.
    fs::write(&log, "").map_err(CaptureError::io("write", &log))?;

    clean(project, &folder);
    let mut build = cargo(project, "check", &folder);
    compilers::record(&mut build, &folder.join("bin"), &log, installed)?;
    let output = watched::run(&mut build, doing).map_err(CaptureError::io("run", "cargo"))?;
    if stop.load(Ordering::Relaxed) {
        return Err(CaptureError::Interrupted);
    }
    let records = read_log(&log)?;
    let mine: Vec<Record> = records
        .iter()
        .filter(|r| belongs(r, project))
        .cloned()
        .collect();
    let mut captured = parse::parse(&mine);
    let compiler = mine
        .iter()
        .map(|r| r.compiler.as_str())
        .find(|c| !c.ends_with("++") && !c.ends_with("ar"));
    let compiler = compiler.unwrap_or("cc");
    let candidates = std::mem::take(&mut captured.maybe_c);
    as_c::take(&mut captured, candidates, compiler);
    programs::leave_out(&mut captured, compiler);
    archives::sort(&mut captured, &mine);
    // What matters is the build script: the Rust code of the crate may need more than is here.
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
        return Err(nothing(project, &records, &captured));
    }
    Ok(captured)
}

fn cargo(project: &Project, command: &str, folder: &Path) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut run = Command::new(cargo);
    // From the workspace: for a dependency's own manifest, cargo would not know the lock file and
    // the features.
    run.current_dir(&project.workspace)
        .arg(command)
        .arg("--package")
        .arg(format!("{}@{}", project.name, project.version))
        .arg("--target-dir")
        .arg(folder.join("target"));
    run
}

/// Forgets an earlier capture of the package, so that its build script runs again; its dependencies
/// stay built.
fn clean(project: &Project, folder: &Path) {
    if folder.join("target").exists() {
        // Where it fails the build script may not run, and the capture says that it found nothing.
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

/// Whether the package's own build script made the call. A build system that clears the environment
/// is given the benefit of the doubt.
fn belongs(record: &Record, project: &Project) -> bool {
    record
        .package
        .as_ref()
        .is_none_or(|package| *package == project.name)
}

fn nothing(project: &Project, records: &[Record], captured: &Captured) -> CaptureError {
    // The linker is called for every build script.
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
        format!("left out: {}", files.join("; "))
    } else if !others.is_empty() {
        format!("C was compiled by {}: choose with -p", others.join(", "))
    } else {
        may_be_installed = true;
        "a build script that finds the library installed compiles nothing: choose its vendored or static feature; one \
         that calls a compiler by its absolute path is not seen: list the C files as `sources` under [c] in cegar.toml"
            .to_owned()
    };
    CaptureError::NothingCaptured {
        package: project.name.clone(),
        may_be_installed,
        help,
    }
}

fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

/// Writes `captured.json` into the `cegar/` package. The file is committed and must mean the same
/// on another machine and after `cargo clean`: every path is made relative to the crate where it
/// lies inside the workspace, and no path starts in a folder that only the build had.
pub fn save(captured: &Captured, project: &Project) -> Result<(), FileError> {
    let path = project.cegar.join("captured.json");
    let here = |path: &Path| relative(path, &project.root, &project.workspace);
    let unit = |unit: &Unit| Unit {
        file: here(&unit.file),
        args: parse::rebase(&unit.args, &unit.directory, &here),
        directory: relative(&project.root, &project.cegar, &project.workspace),
    };
    let units: Vec<Unit> = captured.units.iter().map(unit).collect();
    let mut text = serde_json::to_string_pretty(&units)
        .map_err(|why| FileError::new("write", &path, why.into()))?;
    text.push('\n');
    store::write(&path, text.as_bytes())
}

/// What `captured.json` says, as files to compile; `None` where there is no such file.
pub fn load(cegar: &Path) -> Result<Option<Vec<compile::Unit>>, CaptureError> {
    let path = cegar.join("captured.json");
    let text = match fs::read_to_string(&path) {
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(CaptureError::io("read", &path))?,
    };
    let units: Vec<Unit> = serde_json::from_str(&text).map_err(|why| CaptureError::Damaged {
        path: path.clone(),
        why: why.to_string(),
    })?;
    let unit = |unit: Unit| {
        let directory = normal_join(cegar, &unit.directory);
        let source = normal_join(&directory, &unit.file);
        compile::Unit {
            source,
            directory,
            flags: unit.args,
        }
    };
    Ok(Some(units.into_iter().map(unit).collect()))
}

fn normal_join(base: &Path, path: &Path) -> PathBuf {
    parse::normal(&base.join(path))
}

/// `path` as seen from `from`, if both are in `within`; else as it is.
pub(crate) fn relative(path: &Path, from: &Path, within: &Path) -> PathBuf {
    if !path.starts_with(within) || !from.starts_with(within) {
        return path.to_owned();
    }
    let (mut path_parts, mut from_parts) = (path.components(), from.components());
    loop {
        let (here, there) = (from_parts.clone().next(), path_parts.clone().next());
        if here.is_none() || here != there {
            break;
        }
        from_parts.next();
        path_parts.next();
    }
    let mut relative: PathBuf = from_parts.map(|_| "..").collect();
    relative.extend(path_parts);
    if relative.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        relative
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_inside_the_workspace_only() {
        let see = |path: &str, from: &str| relative(path.as_ref(), from.as_ref(), "/w".as_ref());
        assert_eq!(see("/w/a/src/x.c", "/w/a/cegar"), Path::new("../src/x.c"));
        assert_eq!(see("/w/a", "/w/a/cegar"), Path::new(".."));
        assert_eq!(see("/w/a", "/w/a"), Path::new("."));
        assert_eq!(see("/registry/x.c", "/w/a"), Path::new("/registry/x.c"));
    }
}
