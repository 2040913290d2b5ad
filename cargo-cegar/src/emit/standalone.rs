//! The package that `cargo cegar check file.c` generates outside of a project.
//!
//! It may be anywhere, so it is a workspace of its own, and it refers to the C files by their
//! original paths, so that users can fix a file and run the test again. The options of the check
//! are stored, so that the test sees the same program. For that reason a package contains the tests
//! of one program only: tests of a second program would be built from the files of the first one,
//! or replace its tests.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cegar_harness::build::{MockedFunction, Unit};
use toml_edit::{Array, DocumentMut, Item};

use super::package::{self, Dependency, Package};
use super::{EmitError, slug};

/// The program that was checked.
#[derive(Debug, Clone)]
pub struct CheckedProgram {
    /// Its name, which is also the name of the harness.
    pub name: String,
    /// The C files with absolute paths, each with `-I`, `-D` and other options.
    pub units: Vec<Unit>,
    /// The entry function, if it was given.
    pub entry: Option<String>,
    /// The properties: `assertion`, `unreach`, `memory`, `overflow` or `all`.
    pub properties: Vec<String>,
    /// The maximum number of arguments of `main`.
    pub argv: usize,
    /// The facts about the undefined functions.
    pub mocked: Vec<MockedFunction>,
}

/// The properties by which checked programs are distinguished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity<'a> {
    /// The harness's name.
    name: &'a str,
    /// The entry function, if it was given.
    entry: Option<&'a str>,
    /// The C files with absolute paths, each with the options that the user gave.
    files: BTreeSet<(&'a Path, Vec<&'a str>)>,
}

impl<'a> Identity<'a> {
    /// The identity of a harness with this name and entry function, and with these C files
    /// (absolute paths) and options.
    pub fn new(
        name: &'a str,
        entry: Option<&'a str>,
        files: impl Iterator<Item = (&'a Path, &'a [String])>,
    ) -> Self {
        Identity {
            name,
            entry,
            files: files.map(|(file, args)| (file, users(args))).collect(),
        }
    }

    /// Whether the tests of this program can be written to `folder`: it contains no package, or the
    /// package of this program.
    pub fn fits(&self, folder: &Path) -> bool {
        let Ok(config) = std::fs::read_to_string(folder.join(CONFIG)) else {
            // A package without this file belongs to somebody else.
            return !folder.join("Cargo.toml").exists();
        };
        let Ok(config) = config.parse::<DocumentMut>() else {
            // An error in the file is reported when it is read.
            return true;
        };
        let harness = config.get("harness").and_then(|all| all.get(self.name));
        let Some(harness) = harness else {
            return false;
        };
        if harness.get("entry").and_then(Item::as_str) != self.entry {
            return false;
        }
        let units = std::fs::read(folder.join(CAPTURED)).ok();
        let units = units.and_then(|text| serde_json::from_slice::<Vec<Unit>>(&text).ok());
        units.is_none_or(|units| {
            let files = units.iter().map(|unit| (&*unit.file, users(&unit.args)));
            files.collect::<BTreeSet<_>>() == self.files
        })
    }
}

/// The options that the user gave. The include folder of the stub library is excluded, because its
/// path differs between checks.
fn users(args: &[String]) -> Vec<&str> {
    let users = args.iter().filter(|arg| !arg.ends_with("/stubs/include"));
    users.map(String::as_str).collect()
}

const CONFIG: &str = "cegar.toml";
const CAPTURED: &str = "captured.json";

/// Creates the package, or updates the sources, properties and number of arguments of an existing
/// one. Tests are added with [`add_test`](super::add_test).
///
/// # Errors
/// When a file cannot be written, or the folder contains the package of another program.
pub fn write(
    folder: &Path,
    checked: &CheckedProgram,
    dependency: Dependency,
) -> Result<PathBuf, EmitError> {
    let files = checked.units.iter().map(|unit| (&*unit.file, &*unit.args));
    if !Identity::new(&checked.name, checked.entry.as_deref(), files).fits(folder) {
        return Err(EmitError::OtherProgram {
            folder: folder.to_owned(),
        });
    }
    let package = Package {
        name: format!("{}-cegar", slug(&checked.name).replace('_', "-")),
        dependency,
        config: config(checked),
    };
    package::create(folder, &package)?;
    widen(&folder.join(CONFIG), checked)?;
    let json = |name: &str, text: Result<String, serde_json::Error>| {
        let path = folder.join(name);
        let text = text.map_err(|why| EmitError::Record {
            path: path.clone(),
            why,
        })?;
        package::write(&path, &(text + "\n"))
    };
    json(CAPTURED, serde_json::to_string_pretty(&checked.units))?;
    json("mocks.json", serde_json::to_string_pretty(&checked.mocked))?;
    Ok(folder.to_owned())
}

fn config(checked: &CheckedProgram) -> String {
    let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
    let properties: Vec<String> = checked.properties.iter().map(|name| quoted(name)).collect();
    let mut text = format!(
        "[c]\nsources_from = \"captured\"\n\n[harness.{}]\nproperty = [{}]\n",
        quoted(&checked.name),
        properties.join(", ")
    );
    if let Some(entry) = &checked.entry {
        text += &format!("entry = {}\n", quoted(entry));
    }
    if checked.argv > 0 {
        text += &format!("argv = {}\n", checked.argv);
    }
    text
}

/// Extends the configuration of an earlier check so that it covers this one, too. Otherwise a test
/// of a property that its executable does not check would pass.
fn widen(path: &Path, checked: &CheckedProgram) -> Result<(), EmitError> {
    let io = |why| EmitError::Io {
        path: path.to_owned(),
        why,
    };
    let text = std::fs::read_to_string(path).map_err(io)?;
    let mut config: DocumentMut = text
        .parse()
        .map_err(|why: toml_edit::TomlError| io(std::io::Error::other(why)))?;
    let harness = (config.get_mut("harness")).and_then(|all| all.get_mut(&checked.name));
    let Some(harness) = harness.and_then(Item::as_table_like_mut) else {
        return Ok(());
    };
    let listed = harness.get("property").and_then(Item::as_array);
    let known: Vec<&str> = (listed.iter())
        .flat_map(|array| array.iter())
        .filter_map(|name| name.as_str())
        .collect();
    let is_new = |name: &&String| !known.contains(&name.as_str());
    let covered = listed.is_none() || known.contains(&"all");
    if !covered && checked.properties.iter().any(|name| is_new(&name)) {
        let new = checked.properties.iter().filter(is_new);
        let all: Array = known
            .iter()
            .copied()
            .chain(new.map(String::as_str))
            .collect();
        harness.insert("property", toml_edit::value(all));
    }
    let arguments = harness.get("argv").and_then(Item::as_integer).unwrap_or(0);
    let wanted = i64::try_from(checked.argv).unwrap_or(i64::MAX);
    if arguments < wanted {
        harness.insert("argv", toml_edit::value(wanted));
    }
    let widened = config.to_string();
    match widened == text {
        true => Ok(()),
        false => package::write(path, &widened),
    }
}
