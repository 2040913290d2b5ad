//! `captured.json`: the list of what the build compiles, stored for campaigns and for the package's
//! own tests.
//!
//! A proof about flags or headers that the build no longer uses is worthless. Cargo decides whether
//! the file is current, since it knows all inputs of a build script: files, environment variables,
//! features, the lock file. So the folder of the capture is kept, and cargo builds there again; if
//! it runs the build script, the build is captured again. A stamp in that folder identifies the
//! `captured.json` that it belongs to: a file from another machine or branch is first compared with
//! a capture of this checkout.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::SystemTime;
use std::{fs, io};

use cegar_harness::build::{BUILD_SCRIPT, BuildScript, local, portable};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::compilers::Trial;
use super::generated::{self, Generated};
use super::run::{belongs, captured, folder, recorded};
use super::watched::Doing;
use super::{CaptureError, Captured, Unit, parse};
use crate::compile;
use crate::project::Project;
use crate::store::{self, FileError};

const NAME: &str = "captured.json";

/// The data that ties a capture folder to a `captured.json`.
#[derive(Serialize, Deserialize, PartialEq, Eq)]
struct Stamp {
    /// The hash of `captured.json`.
    captured: String,
    /// Whether the build had to be prevented from using installed libraries.
    bundled: bool,
    /// The additional arguments of cargo.
    cargo_args: Vec<String>,
    /// When each build script of the package last ran.
    scripts: BTreeMap<PathBuf, SystemTime>,
}

impl Stamp {
    /// The stamp of the current state, or `None` without a `captured.json`.
    fn now(project: &Project, bundled: bool) -> Option<Stamp> {
        let text = fs::read(project.cegar.join(NAME)).ok()?;
        Some(Stamp {
            captured: store::hex(&Sha256::digest(text)),
            bundled,
            cargo_args: project.cargo_args.clone(),
            scripts: scripts(project),
        })
    }

    fn path(project: &Project) -> PathBuf {
        folder(project).join("stamp.json")
    }

    fn read(project: &Project) -> Option<Stamp> {
        serde_json::from_slice(&fs::read(Stamp::path(project)).ok()?).ok()
    }
}

/// When the package's build scripts ran: cargo writes their output to a file each time. If that
/// file is not found, only the compilers' records show whether a script ran.
fn scripts(project: &Project) -> BTreeMap<PathBuf, SystemTime> {
    let target = folder(project).join("target");
    let entries = |folder: &Path| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let prefix = format!("{}-", project.name);
    // All profiles, for this machine and for targets that the configuration names.
    let folders = std::iter::once(target.clone()).chain(entries(&target));
    let profiles = folders.flat_map(|folder| entries(&folder));
    let builds = profiles.flat_map(|profile| entries(&profile.join("build")));
    builds
        .filter(|build| {
            let name = build.file_name().unwrap_or_default();
            name.to_string_lossy().starts_with(&prefix)
        })
        .filter_map(|build| {
            let output = build.join("output");
            let when = output.metadata().ok()?.modified().ok()?;
            Some((output, when))
        })
        .collect()
}

/// Whether the build of `project` compiles what its `captured.json` says. Cargo is asked to build,
/// and runs the build script if one of its inputs has changed, or each time. The script may still
/// compile the same as before. If it compiles less, since the rest exists already, the result is
/// false, and the build must be captured from the beginning.
///
/// # Errors
/// If cargo cannot be run, or the compilers' records cannot be read. A build that fails is not
/// current.
pub fn is_current(
    project: &Project,
    stop: &AtomicBool,
    doing: &mut Doing<'_>,
) -> Result<bool, CaptureError> {
    let Some(stamp) = Stamp::read(project) else {
        return Ok(false);
    };
    let as_then = || Stamp::now(project, stamp.bundled).is_some_and(|now| now == stamp);
    if !as_then() {
        return Ok(false);
    }
    let trial = match stamp.bundled {
        true => Trial::Bundled,
        false => Trial::Plain,
    };
    let (records, output) = recorded(project, stop, trial, doing)?;
    let has_called = records.iter().any(|record| belongs(record, project));
    if !has_called && as_then() {
        return Ok(output.status.success());
    }
    let Ok(again) = captured(project, &records, &output) else {
        return Ok(false);
    };
    let again = Captured {
        bundled: stamp.bundled,
        ..again
    };
    // If the stamp cannot be written, the capture reports why.
    let is_there = Kept::of(&again, project).and_then(|kept| kept.is_there());
    Ok(is_there.unwrap_or(false))
}

/// The part of a capture that is stored in the package. It is computed once, since the compiler is
/// asked what each file reads.
pub struct Kept<'a> {
    project: &'a Project,
    bundled: bool,
    /// The text of `captured.json`.
    text: String,
    /// The generated files from which the units are compiled, by their paths relative to the folder
    /// of copies.
    copies: BTreeMap<PathBuf, PathBuf>,
}

impl<'a> Kept<'a> {
    /// Computes what is to be stored of `captured`.
    ///
    /// # Errors
    /// If it cannot be written as JSON.
    pub fn of(captured: &Captured, project: &'a Project) -> Result<Self, FileError> {
        let generated = Generated::new(&folder(project), &project.cegar);
        Ok(Kept {
            project,
            bundled: captured.bundled,
            text: text(captured, project, &generated)?,
            copies: generated.files(captured),
        })
    }

    /// Whether the package contains these files already. If so, the folder of the capture is tied
    /// to its `captured.json`.
    ///
    /// # Errors
    /// If the stamp cannot be written.
    pub fn is_there(&self) -> Result<bool, FileError> {
        let cegar = &self.project.cegar;
        let there = fs::read(cegar.join(NAME)).unwrap_or_default();
        let same = there == self.text.as_bytes() && generated::are_copied(&self.copies, cegar);
        if same {
            self.stamp()?;
        }
        Ok(same)
    }

    /// Writes the files into the package.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn save(&self) -> Result<(), FileError> {
        self.save_in(&self.project.cegar)?;
        self.stamp()
    }

    /// As [`Kept::save`], but into a folder with the structure of the package.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn save_in(&self, package: &Path) -> Result<(), FileError> {
        generated::copy(&self.copies, package)?;
        keep_script(self.project, package)?;
        store::write(&package.join(NAME), self.text.as_bytes())
    }

    fn stamp(&self) -> Result<(), FileError> {
        let path = Stamp::path(self.project);
        let Some(stamp) = Stamp::now(self.project, self.bundled) else {
            return Ok(());
        };
        let text =
            serde_json::to_vec(&stamp).map_err(|why| FileError::new("write", &path, why.into()))?;
        store::write(&path, &text)
    }
}

/// Records the current build script in `package`, if it is a file of the workspace. This is for a
/// list that the script still compiles: it is no longer compared with the script for which it was
/// made.
///
/// # Errors
/// If the file cannot be written.
pub fn keep_script(project: &Project, package: &Path) -> Result<(), FileError> {
    let script = project.build_script.as_deref();
    let Some(script) = script.filter(|script| script.starts_with(&project.workspace)) else {
        return Ok(());
    };
    let Ok(text) = fs::read(script) else {
        return Ok(());
    };
    let file = relative(script, &project.cegar, &project.workspace);
    let path = package.join(BUILD_SCRIPT);
    let json = serde_json::to_string(&BuildScript::of(file, &text))
        .map_err(|why| FileError::new("write", &path, why.into()))?
        + "\n";
    match fs::read(&path).is_ok_and(|known| known == json.as_bytes()) {
        true => Ok(()),
        false => store::write(&path, json.as_bytes()),
    }
}

/// The text of `captured.json`. The file is committed and must mean the same on another machine and
/// after `cargo clean`: paths inside the workspace are made relative to the crate, cargo's own
/// folder is replaced by a placeholder, and generated files are taken from their copies.
fn text(
    captured: &Captured,
    project: &Project,
    generated: &Generated<'_>,
) -> Result<String, FileError> {
    let here = |path: &Path| relative(&generated.place(path), &project.root, &project.workspace);
    let unit = |unit: &Unit| Unit {
        file: here(&unit.file),
        args: parse::rebase(&unit.args, &unit.directory, &here),
        directory: relative(&project.root, &project.cegar, &project.workspace),
    };
    let units: Vec<Unit> = captured.units.iter().map(unit).collect();
    let text = serde_json::to_string_pretty(&units)
        .map_err(|why| FileError::new("write", project.cegar.join(NAME), why.into()))?;
    Ok(portable(&text, &project.cegar) + "\n")
}

/// Reads the files to compile from `captured.json`; `None` if there is no such file.
///
/// # Errors
/// If the file cannot be read or is damaged.
pub fn load(cegar: &Path) -> Result<Option<Vec<compile::Unit>>, CaptureError> {
    let path = cegar.join(NAME);
    let text = match fs::read_to_string(&path) {
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(CaptureError::io("read", &path))?,
    };
    let text = local(&text, cegar);
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

/// `path` relative to `from`, if both are in `within`; otherwise unchanged.
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
