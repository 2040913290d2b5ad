//! Finds functions that other crates' C code defines.
//!
//! C code of one crate may call a library that another crate of the same build compiles (`links`,
//! `DEP_Z_INCLUDE`). Only the one crate is captured, so such calls are calls of unknown functions,
//! which may do anything that their types allow. The name of the other crate can be determined: the
//! archives of its build script are in the folder of the captured build.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::run::folder;
use crate::project::Project;

/// The maximum depth of archives below a build script's output folder.
const DEPTH: usize = 4;

/// The functions in the archives of other packages' build scripts, with the package of each.
/// Unreadable files are ignored, since the result is only used for advice.
pub fn elsewhere(project: &Project) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let builds = folder(project).join("target/debug/build");
    for build in entries(&builds) {
        let name = build.file_name().unwrap_or_default().to_string_lossy();
        let Some((package, _)) = name.rsplit_once('-') else {
            continue;
        };
        if package == project.name {
            continue;
        }
        let mut archives = Vec::new();
        archives_below(&build.join("out"), DEPTH, &mut archives);
        for function in archives.iter().flat_map(|archive| functions(archive)) {
            found.entry(function).or_insert_with(|| package.to_owned());
        }
    }
    found
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let all = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut all: Vec<PathBuf> = all.map(|entry| entry.path()).collect();
    all.sort();
    all
}

fn archives_below(folder: &Path, depth: usize, into: &mut Vec<PathBuf>) {
    for path in entries(folder) {
        if path.extension().is_some_and(|extension| extension == "a") {
            into.push(path);
        } else if path.is_dir() && depth > 0 {
            archives_below(&path, depth - 1, into);
        }
    }
}

/// The global functions that an archive defines, according to `nm`.
fn functions(archive: &Path) -> Vec<String> {
    let Ok(output) = Command::new("nm").args(["-P", "-g"]).arg(archive).output() else {
        return Vec::new();
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let function = |line: &str| {
        let mut words = line.split_whitespace();
        let (name, sort) = (words.next()?, words.next()?);
        matches!(sort, "T" | "W").then(|| name.to_owned())
    };
    text.lines().filter_map(function).collect()
}
