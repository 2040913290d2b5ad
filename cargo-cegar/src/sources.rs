//! The source files of a campaign's program, and whether they have changed since.
//!
//! The results of a campaign (`goals.json`, `state.json`) refer to lines. A user who edits the C
//! code and calls `explain`, `coverage` or `list` before the next campaign gets answers about lines
//! that no longer exist, so each answer says which files have changed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cegar_model::program::Program;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::lists::few;
use crate::store;

/// The number of harnesses that a warning names.
const NAMED: usize = 4;

/// Files, each with the SHA-256 of its contents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digests(BTreeMap<PathBuf, String>);

impl Digests {
    /// The existing files of a program. Relative names are relative to `root`.
    pub fn of(program: &Program, root: &Path) -> Digests {
        let files = program.files.iter().map(|file| root.join(file));
        let known = files.filter_map(|file| Some((file.clone(), digest(&file)?)));
        Digests(known.collect())
    }

    /// Whether a file has changed or was removed; false for an unknown file.
    pub fn is_changed(&self, file: &Path) -> bool {
        let known = self.0.get(file);
        known.is_some_and(|known| digest(file).as_ref() != Some(known))
    }

    /// The files that have changed or were removed, relative to `root`.
    pub fn changed(&self, root: &Path) -> Vec<String> {
        let changed = self.0.keys().filter(|file| self.is_changed(file));
        let shown = changed.map(|file| file.strip_prefix(root).unwrap_or(file));
        shown.map(|file| file.display().to_string()).collect()
    }
}

/// The warning about files that have changed; `None` if there are none.
pub fn warning(changed: &[String]) -> Option<String> {
    warning_of(changed, &[])
}

/// The warning about files that have changed since the campaigns of these harnesses, which are not
/// named if there are none.
pub fn warning_of(changed: &[String], harnesses: &[String]) -> Option<String> {
    let files = match changed {
        [] => return None,
        [one] => format!("{one} has changed"),
        several => format!("{} have changed", several.join(", ")),
    };
    let whose = match harnesses {
        [] => String::new(),
        some => format!(" of {}", few(some, NAMED)),
    };
    Some(format!(
        "{files} since the last campaign{whose}: this is about the files as they were then"
    ))
}

fn digest(file: &Path) -> Option<String> {
    let bytes = std::fs::read(file).ok()?;
    Some(store::hex(&Sha256::digest(bytes)))
}
