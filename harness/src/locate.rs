//! Finds the executable of a harness.
//!
//! The build script publishes each harness twice: its path in the environment variable
//! `CEGAR_RUNNER_<NAME>`, which cargo also sets when tests run, and a copy in
//! `cegar-runners/<package>/` beside the profile's other products. The copy is found by walking up
//! from the test's own executable. It is for tests that are started by hand, under a debugger, or
//! by a runner that does not pass the variable on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::channel::Shape;
use crate::external::Holds;
use crate::mocked::MockedFunction;

/// The executable of a harness and what is known about it.
#[derive(Debug, Clone)]
pub(crate) struct Runner {
    pub path: PathBuf,
    pub sanitized: bool,
    pub channels: BTreeMap<String, Shape>,
    pub functions: Vec<MockedFunction>,
    pub parameters: BTreeMap<String, Vec<Holds>>,
}

/// The content of `<executable>.json`, which the build writes beside an executable.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct About {
    pub sanitized: bool,
    pub channels: BTreeMap<String, Shape>,
    pub functions: Vec<MockedFunction>,
    /// The parameter types of the external functions, by channel, as far as they are known. They
    /// are used to print calls.
    pub parameters: BTreeMap<String, Vec<Holds>>,
}

/// The environment variable of a harness: `CEGAR_RUNNER_PARSE_HEADER` for `parse-header`.
pub(crate) fn variable(harness: &str) -> String {
    let name: String = harness
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_uppercase()
            } else {
                '_'
            }
        })
        .collect();
    format!("CEGAR_RUNNER_{name}")
}

/// The extension of the file that says why a harness was not built.
pub(crate) const BROKEN: &str = "broken";

/// Why a harness was not built, if the build recorded that at one of these paths.
pub(crate) fn why_broken(looked: &[PathBuf]) -> Option<String> {
    let word = |path: &&PathBuf| path.extension().is_some_and(|e| e == BROKEN);
    std::fs::read_to_string(looked.iter().find(word)?).ok()
}

/// The folder of copies within a profile's folder.
pub(crate) const FOLDER: &str = "cegar-runners";

/// Finds the executable of a harness. On failure, returns the paths that were tried.
pub(crate) fn find(harness: &str) -> Result<Runner, Vec<PathBuf>> {
    let mut looked = Vec::new();
    if let Some(path) = std::env::var_os(variable(harness)).map(PathBuf::from) {
        let is_broken = path.extension().is_some_and(|e| e == BROKEN);
        match open(&path).filter(|_| !is_broken) {
            Some(runner) => return Ok(runner),
            None => looked.push(path),
        }
        if is_broken {
            return Err(looked);
        }
    }
    let own = std::env::current_exe().unwrap_or_default();
    for folder in own
        .ancestors()
        .skip(1)
        .map(|folder| folder.join(FOLDER))
        .take(6)
    {
        let packages = std::fs::read_dir(&folder)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path());
        let mut found: Vec<Runner> = packages
            .filter_map(|package| open(&package.join(harness)))
            .collect();
        if found.len() == 1 {
            return Ok(found.remove(0));
        }
        looked.push(folder.join("*").join(harness));
    }
    Err(looked)
}

/// The executable at a path, if it is one.
pub(crate) fn open(path: &Path) -> Option<Runner> {
    if !path.is_file() {
        return None;
    }
    let about = std::fs::read(about_path(path))
        .ok()
        .and_then(|text| serde_json::from_slice::<About>(&text).ok());
    let about = about.unwrap_or_default();
    Some(Runner {
        path: path.to_owned(),
        sanitized: about.sanitized,
        channels: about.channels,
        functions: about.functions,
        parameters: about.parameters,
    })
}

/// The path of the file that describes an executable.
pub(crate) fn about_path(runner: &Path) -> PathBuf {
    let mut name = runner.as_os_str().to_owned();
    name.push(".json");
    PathBuf::from(name)
}
