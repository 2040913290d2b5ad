//! The configuration of a build: `cegar.toml`, `captured.json` and `mocks.json`.
//!
//! The tool and the generated package read the same `cegar.toml`. The build uses the options that
//! concern compiling and ignores the rest (limits, options of the campaign). The two JSON files
//! hold what the tool found out and a C compiler alone cannot: which files the crate's own build
//! script compiles, and what undefined functions return.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::BuildError;
use super::home::local;
pub use crate::mocked::MockedFunction;

/// One C file and its own arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unit {
    /// The file; relative to `directory`.
    pub file: PathBuf,
    /// Include paths, defines and other flags.
    #[serde(default)]
    pub args: Vec<String>,
    /// The folder that relative paths are relative to; itself relative to the package. Default: the
    /// package's.
    #[serde(default)]
    pub directory: PathBuf,
}

/// `[harness.NAME]`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct HarnessTable {
    pub file: Option<PathBuf>,
    pub entry: Option<String>,
    pub drives: Option<String>,
    pub property: Option<OneOrMany>,
    pub argv: Option<toml::Value>,
    pub bindings: Option<PathBuf>,
    pub defines: Option<Defines>,
}

/// `[c]`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct CTable {
    pub sources: Vec<PathBuf>,
    pub sources_from: Option<String>,
    pub includes: Vec<PathBuf>,
    pub defines: Option<Defines>,
    pub flags: Vec<String>,
    pub exclude: Vec<String>,
    pub link: Vec<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct File {
    pub c: CTable,
    pub harness: BTreeMap<String, HarnessTable>,
}

/// `"memory"` or `["memory", "overflow"]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

/// `["N=10", "FAST"]` or `{ N = 10, FAST = true }`.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum Defines {
    List(Vec<String>),
    Table(BTreeMap<String, toml::Value>),
}

impl Defines {
    pub fn list(self) -> Vec<String> {
        match self {
            Defines::List(list) => list,
            Defines::Table(table) => table
                .into_iter()
                .filter_map(|(name, value)| match value {
                    toml::Value::Boolean(false) => None,
                    toml::Value::Boolean(true) => Some(name),
                    toml::Value::String(text) => Some(format!("{name}={text}")),
                    other => Some(format!("{name}={other}")),
                })
                .collect(),
        }
    }
}

/// Reads `cegar.toml`. An absent file counts as empty.
pub(crate) fn read(path: &Path) -> Result<File, BuildError> {
    let package = path.parent().unwrap_or(path);
    match std::fs::read_to_string(path) {
        Ok(text) => toml::from_str(&local(&text, package)).map_err(|why| BuildError::Config {
            path: path.to_owned(),
            why: why.to_string(),
        }),
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => Ok(File::default()),
        Err(why) => Err(BuildError::Io {
            path: path.to_owned(),
            why,
        }),
    }
}

/// Reads a JSON list that the tool wrote. An absent file counts as empty, unless it is needed.
pub(crate) fn read_list<T: for<'de> Deserialize<'de>>(
    path: &Path,
    needed: bool,
) -> Result<Vec<T>, BuildError> {
    let package = path.parent().unwrap_or(path);
    match std::fs::read_to_string(path) {
        Ok(text) => {
            serde_json::from_str(&local(&text, package)).map_err(|why| BuildError::Config {
                path: path.to_owned(),
                why: why.to_string(),
            })
        }
        Err(why) if why.kind() == std::io::ErrorKind::NotFound && !needed => Ok(Vec::new()),
        Err(why) => Err(BuildError::Io {
            path: path.to_owned(),
            why,
        }),
    }
}

/// The properties that are checked, from the names `assertion`, `unreach`, `memory`, `overflow` and
/// `all`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Checks {
    /// Whether a call of `abort` is a violation: yes, unless `unreach` is listed without
    /// `assertion` and `all`.
    pub abort: bool,
    pub memory: bool,
    pub overflow: bool,
}

impl Default for Checks {
    fn default() -> Self {
        Checks {
            abort: true,
            memory: true,
            overflow: false,
        }
    }
}

impl Checks {
    pub fn read<S: AsRef<str>>(names: &[S]) -> Result<Self, BuildError> {
        let all: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
        const KNOWN: [&str; 5] = ["assertion", "unreach", "memory", "overflow", "all"];
        if let Some(other) = all.iter().find(|name| !KNOWN.contains(name)) {
            return Err(BuildError::Property((*other).to_owned()));
        }
        let has = |name| all.contains(&name) || all.contains(&"all");
        Ok(Checks {
            abort: !all.contains(&"unreach") || has("assertion"),
            memory: has("memory"),
            overflow: has("overflow"),
        })
    }

    /// The groups of sanitizers that check these properties.
    pub fn sanitizers(self) -> Vec<&'static str> {
        let mut groups = Vec::new();
        if self.memory {
            groups.extend(["address", "bounds"]);
        }
        if self.overflow {
            groups.push(
                "signed-integer-overflow,shift,integer-divide-by-zero,unreachable,\
                 float-cast-overflow",
            );
        }
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_to_define() {
        let file: File =
            toml::from_str("[c]\ndefines = { N = 10, FAST = true, SLOW = false, S = \"x\" }")
                .expect("toml");
        assert_eq!(
            file.c.defines.map(Defines::list),
            Some(vec!["FAST".into(), "N=10".into(), "S=x".into()])
        );
        let file: File =
            toml::from_str("[c]\ndefines = [\"N=10\"]\n[harness.a]\nproperty = \"all\"")
                .expect("toml");
        assert_eq!(file.c.defines.map(Defines::list), Some(vec!["N=10".into()]));
    }

    #[test]
    fn unknown_properties_are_errors() {
        assert!(Checks::read(&["everything"]).is_err());
        assert_eq!(
            Checks::read(&["assertion", "memory"]).ok(),
            Some(Checks {
                abort: true,
                memory: true,
                overflow: false
            })
        );
        let aborts = |names: &[&str]| Checks::read(names).expect("known").abort;
        assert!(!aborts(&["unreach", "memory"]) && aborts(&["unreach", "all"]));
    }
}
