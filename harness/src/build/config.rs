//! What is to be built: `cegar.toml`, `cegar/captured.json` and `cegar/mocks.json`.
//!
//! The tool and the generated package read the same `cegar.toml`; the build takes from it what concerns compiling and
//! leaves the rest (limits, options of the campaign) alone. The two JSON files hold what the tool found out and a
//! C compiler alone cannot: which files the crate's own build script compiles, and what undefined functions return.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::BuildError;
use crate::channel::Shape;
use crate::external::{Holds, Inner, ObjectType, Pointee, Signature, Types};
use crate::rules::{Rules, Writes};

/// One C file and its own arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unit {
    /// The file; relative to `directory`.
    pub file: PathBuf,
    /// Include paths, defines and other flags.
    #[serde(default)]
    pub args: Vec<String>,
    /// The folder that relative paths mean; relative to the package. Default: the package's.
    #[serde(default)]
    pub directory: PathBuf,
}

/// A function that nobody defines, and what a call of it gives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MockedFunction {
    /// Its name.
    pub name: String,
    /// What it returns.
    #[serde(rename = "return")]
    pub returns: Shape,
    /// The channel of its choices; its name by default.
    #[serde(default)]
    pub channel: Option<String>,
    /// Whether a pointer may be any address.
    #[serde(default)]
    pub raw_allowed: bool,
    /// Its type, where debug information told it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
    /// Where its result leads, if the user says that this number is an address ([`Rules::address_of`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<Pointee>,
    /// The parameters, from 0, that lead to variables for it to fill: it may write pointers there too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<usize>,
    /// The types that the signature refers to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<ObjectType>,
    /// What the user knows about it.
    #[serde(default, skip_serializing_if = "Rules::is_none")]
    pub rules: Rules,
}

impl MockedFunction {
    /// A function of which no more is known than what it returns.
    pub fn returning(name: &str, returns: Shape) -> Self {
        MockedFunction {
            name: name.to_owned(),
            returns,
            channel: None,
            raw_allowed: false,
            signature: None,
            address: None,
            outputs: Vec::new(),
            types: Vec::new(),
            rules: Rules::default(),
        }
    }

    /// The functions that objects from outside point to, each as a function of its own: `ops.open`.
    pub fn members(&self) -> Vec<MockedFunction> {
        let types = Types(&self.types);
        let mut all = Vec::new();
        for object in &self.types {
            for (offset, inner) in types.plan(object).pointers {
                let Inner::Code(signature) = inner else {
                    continue;
                };
                let name = format!("{}.{}", object.name, types.path(object, offset));
                let returns = match &signature.returns {
                    None => Shape::Void,
                    Some(Holds::Int { size, signed }) => Shape::Int {
                        size: *size,
                        signed: *signed,
                    },
                    Some(Holds::Bool) => Shape::Bool,
                    Some(Holds::Float { size }) => Shape::Float { size: *size },
                    Some(holds) => Shape::Struct {
                        size: types.size(holds),
                    },
                };
                all.push(MockedFunction {
                    signature: Some(signature.clone()),
                    types: self.types.clone(),
                    ..MockedFunction::returning(&name, returns)
                });
            }
        }
        all
    }

    /// Whether it may write pointers to what its parameter number `i` (from 0) leads to.
    pub fn is_output(&self, i: usize) -> bool {
        self.outputs.contains(&i) || self.rules.writes == Some(Writes::Any(true))
    }

    /// Whether it may write several elements to what its parameter number `i` (from 0) leads to.
    pub fn writes_rows(&self, i: usize) -> bool {
        match self.rules.written() {
            Ok(Some(extents)) => extents.iter().any(|extent| extent.param == i),
            _ => self
                .signature
                .as_ref()
                .is_some_and(|s| s.count_of(i).is_some()),
        }
    }

    /// Whether its result leads into what a parameter points to.
    pub fn returns_into(&self) -> bool {
        self.rules
            .returned()
            .is_ok_and(|returned| returned.inside.is_some())
    }

    /// What its result holds: an address where the user says so.
    pub fn result(&self) -> Option<Holds> {
        match &self.address {
            Some(pointee) => Some(Holds::Pointer(pointee.clone())),
            None => self.signature.as_ref()?.returns.clone(),
        }
    }

    /// The channel of its results.
    pub fn channel(&self) -> &str {
        self.channel.as_deref().unwrap_or(&self.name)
    }
}

/// `[harness.NAME]`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct HarnessTable {
    pub file: Option<PathBuf>,
    pub entry: Option<String>,
    pub property: Option<OneOrMany>,
    pub argv: Option<toml::Value>,
    pub bindings: Option<PathBuf>,
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

/// Reads `cegar.toml`; an absent one is empty.
pub(crate) fn read(path: &Path) -> Result<File, BuildError> {
    match std::fs::read_to_string(path) {
        Ok(text) => toml::from_str(&text).map_err(|why| BuildError::Config {
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

/// Reads a JSON list that the tool wrote; an absent one is empty unless it is needed.
pub(crate) fn read_list<T: for<'de> Deserialize<'de>>(
    path: &Path,
    needed: bool,
) -> Result<Vec<T>, BuildError> {
    match std::fs::read_to_string(path) {
        Ok(text) => serde_json::from_str(&text).map_err(|why| BuildError::Config {
            path: path.to_owned(),
            why: why.to_string(),
        }),
        Err(why) if why.kind() == std::io::ErrorKind::NotFound && !needed => Ok(Vec::new()),
        Err(why) => Err(BuildError::Io {
            path: path.to_owned(),
            why,
        }),
    }
}

/// The properties that are checked, each `assertion`, `unreach`, `memory`, `overflow` or `all`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Checks {
    /// Whether a call of `abort` is a violation: unless `unreach` stands there without `assertion` and `all`.
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

    /// The groups of sanitizers that make these checks.
    pub fn sanitizers(self) -> Vec<&'static str> {
        let mut groups = Vec::new();
        if self.memory {
            groups.extend(["address", "bounds"]);
        }
        if self.overflow {
            groups.push("signed-integer-overflow,shift,integer-divide-by-zero,unreachable");
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
    fn mocks_are_read_as_the_tool_writes_them() {
        let text = r#"[{"name":"f","return":{"kind":"void","size":0}},
            {"name":"g","return":{"kind":"int","size":2},"channel":"g"},
            {"name":"h","return":{"kind":"pointer","size":24},"raw_allowed":true}]"#;
        let list: Vec<MockedFunction> = serde_json::from_str(text).expect("json");
        assert_eq!(list[0].returns, Shape::Void);
        assert_eq!(
            list[1].returns,
            Shape::Int {
                size: 2,
                signed: true
            }
        );
        assert_eq!(list[2].returns, Shape::Pointer { size: 24 });
        let back = serde_json::to_string(&list).expect("json");
        assert_eq!(
            serde_json::from_str::<Vec<MockedFunction>>(&back).expect("json"),
            list
        );
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
