//! A package for `cargo cegar check file.c`, where there is no project.
//!
//! It stands anywhere, so it is a workspace of its own, and it names the C files where they are:
//! mending the file and running the test again is the point. The options of the check are kept, so
//! that the test sees the same program.

use std::path::{Path, PathBuf};

use cegar_harness::build::{MockedFunction, Unit};

use super::package::{self, Dependency, Package};
use super::{EmitError, slug};

/// What was checked.
#[derive(Debug, Clone)]
pub struct Checked {
    /// Its name; the harness's name as well.
    pub name: String,
    /// The C files, absolute, with `-I`, `-D` and other options.
    pub units: Vec<Unit>,
    /// The function it starts in, if it was given.
    pub entry: Option<String>,
    /// The properties: `assertion`, `unreach`, `memory`, `overflow` or `all`.
    pub properties: Vec<String>,
    /// How many arguments `main` may get.
    pub argv: usize,
    /// What is known of the undefined functions.
    pub mocked: Vec<MockedFunction>,
}

/// Creates the package, or brings an existing one's list of sources up to date. Tests are added
/// with [`add_test`](super::add_test).
///
/// # Errors
/// When a file cannot be written.
pub fn write(
    folder: &Path,
    checked: &Checked,
    dependency: Dependency,
) -> Result<PathBuf, EmitError> {
    let package = Package {
        name: format!("{}-cegar", slug(&checked.name).replace('_', "-")),
        dependency,
        config: config(checked),
    };
    package::create(folder, &package)?;
    let json = |name: &str, text: Result<String, serde_json::Error>| {
        let path = folder.join(name);
        let text = text.map_err(|why| EmitError::Record {
            path: path.clone(),
            why,
        })?;
        package::write(&path, &(text + "\n"))
    };
    json(
        "captured.json",
        serde_json::to_string_pretty(&checked.units),
    )?;
    json("mocks.json", serde_json::to_string_pretty(&checked.mocked))?;
    Ok(folder.to_owned())
}

fn config(checked: &Checked) -> String {
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
