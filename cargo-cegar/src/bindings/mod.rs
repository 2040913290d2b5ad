//! Compares the crate's `extern` declarations with the library's definitions.
//!
//! No tool chain checks them: rustc trusts an `extern` block, the linker compares only names, and a
//! missing parameter or a structure of another version is undefined behaviour at every call. Both
//! sides can be read without running anything: the declarations from the crate's own source
//! ([`rust`]), and the definitions from the debug information of the C files that its build
//! compiles ([`c`]). Constructs that are not supported are left out and counted, so every reported
//! mismatch is certain.

mod attributes;
mod c;
mod compare;
mod conditions;
mod files;
mod names;
mod places;
mod rust;
mod shape;
mod told;
mod words;
mod writes;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

use cargo_metadata::MetadataCommand;
use serde::{Deserialize, Serialize};

use crate::compile::{Compiler, Unit, compile_unchecked};
use crate::error::Error;
use crate::findings::Identity;
use crate::findings::Site;
use crate::project::Project;

pub use shape::Line;
pub use told::Binding;

/// The stable identifier of this kind of finding.
pub const RULE: &str = "binding_mismatch";

/// A declaration that does not match the definition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mismatch {
    /// The function, structure or constant.
    pub item: String,
    /// The kind of difference: `arity`, `parameter`, `result`, `const`, `size`, `offset`, `member`,
    /// `layout`, `alignment`, `constant`.
    pub what: String,
    /// The description for users.
    pub message: String,
    /// The declaration in Rust.
    pub rust: Line,
    /// The definition in C.
    pub c: Line,
    /// The declaration in a header, if exactly one line can be one.
    pub header: Option<Line>,
}

impl Mismatch {
    /// Its identity: the line of the Rust declaration, and the description of the difference.
    pub fn identity(&self, root: &Path) -> Identity {
        let site = Site {
            rule: RULE,
            file: &self.rust.file,
            function: &self.item,
            begins: self.rust.line,
            line: self.rust.line,
            column: 0,
            part: None,
            caller: "",
        };
        let mut identity = Identity::of(root, &site);
        // A line may have two mismatches.
        identity.text = format!("{} {}", identity.text, self.message);
        identity
    }

    /// Its stable name.
    pub fn name(&self, root: &Path) -> String {
        self.identity(root).name()
    }

    /// The place of the definition in C, for users.
    pub fn c_place(&self) -> String {
        match &self.header {
            Some(header) if *header != self.c => {
                format!("{}, declared in {}", self.c.show(), header.show())
            }
            _ => self.c.show(),
        }
    }
}

/// The result of the comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename = "Checked")]
pub struct ComparisonReport {
    /// The declarations that do not match.
    pub mismatches: Vec<Mismatch>,
    /// The number of functions that the crate declares.
    pub declared: usize,
    /// The number of declared functions that the library's files define.
    pub functions: usize,
    /// The number of functions, structures, enumerations and constants that were compared.
    pub compared: usize,
    /// The items that were not compared, each with its place and the reason.
    pub left_out: Vec<(Line, String)>,
    /// Declared functions that the library's files do not define.
    pub elsewhere: Vec<String>,
}

/// Compares the declarations of a package with the library's files.
pub fn check(
    project: &Project,
    compiler: &Compiler,
    units: &[Unit],
    stop: &AtomicBool,
) -> Result<ComparisonReport, Error> {
    let mut checked = ComparisonReport::default();
    let Some(declared) = declared(project) else {
        return Ok(checked);
    };
    checked.declared = declared.functions.len();
    if declared.functions.is_empty() {
        checked.left_out = declared.left_out;
        return Ok(checked);
    }
    let mut units = units.to_vec();
    for unit in &mut units {
        unit.flags.push("-w".to_owned());
    }
    let compiled = compile_unchecked(compiler, &units, &project.scratch().join("bitcode"), stop)?;
    let mut defined = c::Defined::default();
    for (number, bitcode) in compiled.bitcode.iter().enumerate() {
        let text = printed(compiler, bitcode)?;
        defined.take(&text, number, &project.root);
    }
    let mut comparison = compare::Comparison::new(&declared, &defined);
    let symbols = rust::by_symbol(&declared.functions);
    let mut symbols: Vec<_> = symbols.into_iter().collect();
    symbols.sort_by_key(|(name, _)| *name);
    for (name, functions) in symbols {
        match (defined.functions.get(name), defined.left_out.get(name)) {
            (Some(function), _) => {
                checked.functions += 1;
                for declaration in functions {
                    comparison.function(declaration, function);
                }
            }
            (None, Some(why)) => {
                let place = functions
                    .first()
                    .map(|f| f.place.clone())
                    .unwrap_or_default();
                checked.left_out.push((place, format!("{name}: {why}")));
            }
            (None, None) => checked.elsewhere.push(name.to_owned()),
        }
    }
    comparison.types();
    checked.compared = comparison.compared;
    checked.mismatches = comparison.found;
    checked.left_out.extend(comparison.left_out);
    checked.left_out.extend(declared.left_out.iter().cloned());
    checked
        .mismatches
        .sort_by(|a, b| (&a.rust, &a.message).cmp(&(&b.rust, &b.message)));
    let headers = places::Headers::new(project, &units);
    for mismatch in &mut checked.mismatches {
        mismatch.header = headers.declares(&mismatch.item);
    }
    Ok(checked)
}

/// The declarations in the package's Rust code; `None` if it has no library or binary target.
fn declared(project: &Project) -> Option<rust::Declared> {
    let mut command = MetadataCommand::new();
    command.manifest_path(&project.manifest);
    // Only a resolution tells the enabled features; without one, the default features are assumed.
    let mut resolved = MetadataCommand::new();
    resolved.manifest_path(project.workspace.join("Cargo.toml"));
    let metadata = resolved.exec().or_else(|_| command.no_deps().exec()).ok()?;
    let package = metadata
        .packages
        .iter()
        .find(|package| *package.name == project.name)?;
    let features: Vec<String> = match &metadata.resolve {
        Some(resolve) => {
            let node = resolve.nodes.iter().find(|node| node.id == package.id)?;
            node.features
                .iter()
                .map(|feature| feature.to_string())
                .collect()
        }
        None => vec!["default".to_owned()],
    };
    let is_root = |kind: &cargo_metadata::TargetKind| {
        use cargo_metadata::TargetKind as Kind;
        matches!(
            kind,
            Kind::Lib | Kind::RLib | Kind::CDyLib | Kind::StaticLib | Kind::DyLib | Kind::Bin
        )
    };
    let mut targets: Vec<_> = package
        .targets
        .iter()
        .filter(|target| target.kind.iter().any(is_root))
        .collect();
    targets.sort_by_key(|target| target.kind.contains(&cargo_metadata::TargetKind::Bin));
    let root = targets.first()?.src_path.clone().into_std_path_buf();
    let (out_dirs, script) = built(project);
    let conditions = conditions::Conditions::new(&features, script.as_deref());
    let tree = files::Reader::new(&project.root, out_dirs, &conditions).read(&root);
    Some(rust::declared(tree, &conditions))
}

/// The output folders of the package's build script, newest first, and the file with what it
/// printed.
fn built(project: &Project) -> (Vec<PathBuf>, Option<PathBuf>) {
    let prefix = format!("{}-", project.name);
    let mut found = Vec::new();
    for target in [
        project.scratch().join("capture/target"),
        project.target.clone(),
    ] {
        for entry in std::fs::read_dir(target.join("debug/build"))
            .into_iter()
            .flatten()
            .flatten()
        {
            let output = entry.path().join("output");
            if entry.file_name().to_string_lossy().starts_with(&prefix)
                && let Ok(when) = output.metadata().and_then(|data| data.modified())
            {
                found.push((when, entry.path()));
            }
        }
        // Prefers the captured build, because its flags belong to the files that are compared.
        if !found.is_empty() {
            break;
        }
    }
    found.sort();
    found.reverse();
    let script = found.first().map(|(_, path)| path.join("output"));
    (
        found
            .into_iter()
            .map(|(_, path)| path.join("out"))
            .collect(),
        script,
    )
}

/// A module as LLVM's textual IR.
fn printed(compiler: &Compiler, bitcode: &Path) -> Result<String, Error> {
    let output = Command::new(&compiler.path)
        .args([
            "-S",
            "-emit-llvm",
            "-Xclang",
            "-disable-llvm-passes",
            "-w",
            "-x",
            "ir",
            "-o",
            "-",
        ])
        .arg(bitcode)
        .output()
        .map_err(|why| Error::io("run", &compiler.path, why))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(Error::engine(
            "printing a module",
            std::io::Error::other(said),
        ));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether the package seems to have an `extern` block, according to a quick text search.
pub fn has_declarations(project: &Project) -> bool {
    fn below(folder: &Path, depth: u32) -> bool {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.into_iter().any(|entry| {
            let path = entry.path();
            if path.is_dir() {
                return depth > 0 && below(&path, depth - 1);
            }
            let is_rust = path.extension().is_some_and(|extension| extension == "rs");
            is_rust && {
                let text = std::fs::read(&path).unwrap_or_default();
                let text = String::from_utf8_lossy(&text);
                text.contains("extern \"") || text.contains("extern {") || text.contains("OUT_DIR")
            }
        })
    }
    below(&project.root.join("src"), 4)
}
