//! The build that `cegar.toml` and the other files of a package describe.

use std::path::{Path, PathBuf};

use super::config::Checks;
use super::config::Unit;
use super::error::BuildError;
use super::exclude::Exclude;
use super::flags::harness_flags;
use super::paths::resolve;
use super::script;
use super::{Build, Harness, models};
use super::{compile, config};

/// The environment variable that names a list of captured sources.
pub const CAPTURED: &str = "CEGAR_CAPTURED";

impl Build {
    /// The build that a package's files describe (see [`harnesses`](super::harnesses)). If the
    /// environment variable `CEGAR_CAPTURED` names a file, that file is the list of captured
    /// sources instead of the package's own.
    ///
    /// # Errors
    /// If a file cannot be read or is invalid.
    pub fn from_package(root: &Path, folder: &str) -> Result<Self, BuildError> {
        let list = std::env::var_os(CAPTURED).map(PathBuf::from);
        Self::from_package_with(root, folder, list.as_deref())
    }

    /// As [`Build::from_package`], with this list of captured sources instead of the package's own.
    ///
    /// # Errors
    /// If a file cannot be read or is invalid.
    pub fn from_package_with(
        root: &Path,
        folder: &str,
        list: Option<&Path>,
    ) -> Result<Self, BuildError> {
        let path = root.join("cegar.toml");
        let file = config::read(&path)?;
        let mut build = Build::new();
        build.root = root.to_owned();
        build.inputs.push(path);
        for define in file
            .c
            .defines
            .map(config::Defines::list)
            .unwrap_or_default()
        {
            build = build.define(&define);
        }
        build = build.includes(file.c.includes).sources(file.c.sources);
        build.args.extend(file.c.flags);
        build.link = file.c.link;
        if file.c.sources_from.is_some() || build.units.is_empty() {
            let captured = list.map_or_else(|| root.join("captured.json"), Path::to_owned);
            let mut units = config::read_list::<Unit>(&captured, file.c.sources_from.is_some())?;
            let mut exclude = Exclude::new(&file.c.exclude).map_err(|why| BuildError::Config {
                path: root.join("cegar.toml"),
                why,
            })?;
            units.retain(|unit| !exclude.matches(&resolve(root, &unit.directory).join(&unit.file)));
            let unused = exclude.unused().map(|pattern| {
                format!("cegar.toml: `{pattern}` under [c] exclude matches no captured file")
            });
            build.notes.extend(unused);
            build.units.extend(units);
            build.inputs.push(captured);
            if let (None, Some(script)) = (list, script::kept(root)) {
                build.notes.extend(script.note(root));
                build.inputs.push(root.join(script::BUILD_SCRIPT));
                build.inputs.push(root.join(&script.file));
            }
        }
        // To try a variant of the C code: CEGAR_DEFINES=FIXED cargo test
        for define in std::env::var("CEGAR_DEFINES")
            .unwrap_or_default()
            .split(',')
            .filter(|define| !define.is_empty())
        {
            build = build.define(define);
        }
        let mocked = root.join("mocks.json");
        build.mocked = config::read_list(&mocked, false)?;
        build.inputs.push(mocked);
        let folders: Vec<PathBuf> = build
            .units
            .iter()
            .map(|unit| resolve(root, &unit.directory))
            .collect();
        let library = folders.iter().zip(&build.units);
        let args = harness_flags(library.map(|(folder, unit)| (&**folder, &*unit.args)));
        for file in models(root) {
            build.inputs.push(file.clone());
            build.units.push(Unit {
                file,
                args: args.clone(),
                directory: PathBuf::new(),
            });
        }
        for (name, table) in file.harness {
            build.harnesses.push(harness(root, folder, name, table)?);
        }
        if build.harnesses.is_empty() {
            build.inputs.push(root.join(folder));
            for file in compile::c_files(&root.join(folder))? {
                let name = file
                    .file_stem()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned();
                build = build.harness(&name).file(file);
            }
        }
        Ok(build)
    }
}

/// A harness as `cegar.toml` describes it.
fn harness(
    root: &Path,
    folder: &str,
    name: String,
    table: config::HarnessTable,
) -> Result<Harness, BuildError> {
    let default = Path::new(folder).join(format!("{name}.c"));
    let exists = root.join(&default).is_file();
    let checks = match table.property {
        None => Checks::read(&["memory"])?,
        Some(config::OneOrMany::One(name)) => Checks::read(&[name])?,
        Some(config::OneOrMany::Many(names)) => Checks::read(&names)?,
    };
    let argv = match table.argv {
        Some(toml::Value::Integer(n)) => usize::try_from(n).unwrap_or(0),
        Some(toml::Value::Array(list)) => list.len(),
        _ => 0,
    };
    Ok(Harness {
        file: table.file.or(exists.then_some(default)),
        entry: table.entry,
        drives: table.drives,
        checks,
        argv,
        bindings: table.bindings,
        defines: table.defines.map(config::Defines::list).unwrap_or_default(),
        name,
    })
}
