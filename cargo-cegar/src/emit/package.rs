//! Creates the generated package, and adds tests to it.
//!
//! The package belongs to the user as soon as it exists. An existing file is not rewritten, a test
//! is appended to its file, and the hash of each test in `.emitted.json` shows later whether a
//! person has changed it. Files are replaced as a whole (written to a temporary file, then
//! renamed), so that a kill leaves either the old or the new file.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{EmitError, Finding, objects, test_source};
use crate::store;

/// The result of adding a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Emitted {
    /// It was added.
    Written,
    /// It existed, unchanged since this tool wrote it.
    AlreadyThere,
    /// It existed, and a person has changed or written it, so it was left alone.
    EditedByUser,
}

/// The source from which a generated package gets `cegar-harness`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dependency {
    /// A folder.
    Path(PathBuf),
    /// A Git repository, by its URL.
    Git(String),
    /// A published version.
    Version(String),
}

/// The manifest of this crate as it was built. In a crate from a registry, cargo has replaced
/// inherited fields.
const MANIFEST: &str = include_str!("../../Cargo.toml");

impl Dependency {
    /// The harness crate of this tool. A tool from a registry uses the same version from the
    /// registry. A tool that was built in a checkout uses the folder next to its sources if that
    /// still exists, or else the repository, because an unpublished version is in no registry.
    pub fn of_this_tool() -> Self {
        if !MANIFEST.contains("version.workspace") {
            return Dependency::Version(env!("CARGO_PKG_VERSION").to_owned());
        }
        let beside = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("harness");
        // `cargo install --git` builds in a folder of cargo's own, which cargo may delete.
        if beside.join("Cargo.toml").is_file() && !is_cargo_checkout(&beside) {
            Dependency::Path(beside)
        } else {
            Dependency::Git(env!("CARGO_PKG_REPOSITORY").to_owned())
        }
    }

    /// The value in `Cargo.toml`.
    fn toml(&self) -> String {
        let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
        match self {
            Dependency::Path(path) => format!("{{ path = {} }}", quoted(&path.to_string_lossy())),
            Dependency::Git(address) => format!("{{ git = {} }}", quoted(address)),
            Dependency::Version(version) => quoted(version),
        }
    }
}

/// Whether a folder lies in `$CARGO_HOME/git/checkouts`.
fn is_cargo_checkout(folder: &Path) -> bool {
    let names: Vec<_> = folder.iter().collect();
    names.windows(2).any(|two| two == ["git", "checkouts"])
}

/// The folder from which a generated package gets `cegar-harness`, if it exists on this machine
/// only; `None` if other machines find the crate, too.
pub fn only_here(package: &Path) -> Option<PathBuf> {
    let text = std::fs::read_to_string(package.join("Cargo.toml")).ok()?;
    let manifest: toml::Table = text.parse().ok()?;
    let inherited = manifest
        .get("workspace")
        .and_then(|table| table.get("dependencies"));
    // Packages that are members of a workspace specify it in their own tables.
    [
        inherited,
        manifest.get("dev-dependencies"),
        manifest.get("build-dependencies"),
    ]
    .into_iter()
    .filter_map(|table| table?.get("cegar-harness")?.get("path")?.as_str())
    .map(PathBuf::from)
    .find(|path| path.is_absolute())
}

/// The dependency that replaces such a folder.
pub fn for_everyone() -> String {
    format!("{{ git = \"{}\" }}", env!("CARGO_PKG_REPOSITORY"))
}

/// A package to be created.
#[derive(Debug, Clone)]
pub struct Package {
    /// Its name: `<crate>-cegar`.
    pub name: String,
    /// The source of `cegar-harness`.
    pub dependency: Dependency,
    /// The text of `cegar.toml`.
    pub config: String,
}

const BUILD: &str = "\
//! Builds the harnesses that the tests run.

fn main() {
    cegar_harness::build::harnesses(\"harnesses\");
}
";

const IGNORE: &str = "/target/\n";

impl Package {
    /// The paths and texts of the package's files, without harnesses and tests.
    pub fn files(&self) -> [(&'static str, String); 5] {
        let Package {
            name,
            dependency,
            config,
        } = self;
        let source = match dependency {
            Dependency::Path(_) => format!(
                "# This is the checkout that `cargo cegar` was built from, on this machine. For \
                 others:\n# cegar-harness = {}\n",
                for_everyone()
            ),
            Dependency::Git(_) | Dependency::Version(_) => String::new(),
        };
        let dependency = dependency.toml();
        let manifest = format!(
            "[package]\nname = \"{name}\"\ndescription = \"What cargo cegar found, as tests\"\n\
             version = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n\
             # A workspace of its own: whatever is wrong with this package, everything around it \
             still builds.\n[workspace]\n\n\
             # Where `cegar-harness` comes from: the only line to change.\n\
             {source}[workspace.dependencies]\ncegar-harness = {dependency}\n\n\
             [build-dependencies]\ncegar-harness.workspace = true\n\n[dev-dependencies]\n\
             cegar-harness.workspace = true\n"
        );
        let lib = "//! Nothing but tests: `tests/` holds what `cargo cegar` found.\n".to_owned();
        [
            ("Cargo.toml", manifest),
            ("build.rs", BUILD.to_owned()),
            ("src/lib.rs", lib),
            ("cegar.toml", config.clone()),
            (".gitignore", IGNORE.to_owned()),
        ]
    }
}

/// Creates the missing files of a package and returns the files that were written.
///
/// # Errors
/// When a file cannot be written.
pub fn create(folder: &Path, package: &Package) -> Result<Vec<PathBuf>, EmitError> {
    let mut written = Vec::new();
    for (name, text) in package.files() {
        let path = folder.join(name);
        if !path.exists() {
            write(&path, &text)?;
            written.push(path);
        }
    }
    Ok(written)
}

/// The file with the tests of a harness.
pub fn test_file(folder: &Path, harness: &str) -> PathBuf {
    folder.join("tests").join(format!("{harness}.rs"))
}

/// Adds a finding's test to a package.
///
/// # Errors
/// When a file cannot be read or written.
pub fn add_test(folder: &Path, finding: &Finding) -> Result<Emitted, EmitError> {
    let heading = format!(
        "//! What `cargo cegar` found in `{}`.\n\n{IMPORTS}\n",
        finding.harness
    );
    add(
        folder,
        &finding.harness,
        &heading,
        &test_source(finding),
        finding,
    )
}

/// Adds a test with this `source` to the file `tests/STEM.rs`, which begins with `heading`.
pub(super) fn add(
    folder: &Path,
    stem: &str,
    heading: &str,
    source: &str,
    finding: &Finding,
) -> Result<Emitted, EmitError> {
    let path = test_file(folder, stem);
    let record_path = folder.join(".emitted.json");
    let mut record = Record::read(&record_path)?;
    let key = format!("{stem}::{}", finding.test);
    let old = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(why) => return Err(EmitError::Io { path, why }),
    };
    if let Some(text) = function(&old, &finding.test) {
        let ours = record
            .tests
            .get(&key)
            .is_some_and(|known| *known == hash(text));
        return Ok(if ours {
            Emitted::AlreadyThere
        } else {
            Emitted::EditedByUser
        });
    }
    let mut text = if old.is_empty() {
        heading.to_owned()
    } else {
        old
    };
    if !text.ends_with('\n') {
        text.push('\n');
    }
    // A file of the user's may have other imports.
    let has_imports = text.lines().any(|line| line.trim() == IMPORTS);
    let own = format!("() {{\n    #[allow(unused_imports)]\n    {IMPORTS}\n");
    let with_imports = source.replacen("() {\n", &own, 1);
    let source = if has_imports { source } else { &with_imports };
    let structures = objects::definitions(&finding.mocked, source, &text);
    if !structures.is_empty() {
        let path = if has_imports { "" } else { "cegar_harness::" };
        text += &format!("\n{path}{structures}");
    }
    text += &format!("\n{source}\n");
    let kept = function(&text, &finding.test).map_or_else(|| hash(source), hash);
    // Writes the test before the record: with the opposite order, an interruption would leave a
    // record that claims a later test of the user's with the same name.
    write(&path, &text)?;
    record.tests.insert(key, kept);
    write(
        &record_path,
        &(serde_json::to_string_pretty(&record).unwrap_or_default() + "\n"),
    )?;
    Ok(Emitted::Written)
}

/// The import that the tests need.
const IMPORTS: &str = "use cegar_harness::*;";

/// Whether a test is unchanged since this tool wrote it; `None` if there is no test with this name.
///
/// # Errors
/// When the file exists and cannot be read.
pub fn is_as_written(folder: &Path, stem: &str, test: &str) -> Result<Option<bool>, EmitError> {
    let Some((text, record)) = written(folder, stem)? else {
        return Ok(None);
    };
    Ok(record.has_written(&text, stem, test))
}

/// The text of a test file, and the record of emitted tests; `None` if the file does not exist.
fn written(folder: &Path, stem: &str) -> Result<Option<(String, Record)>, EmitError> {
    let path = test_file(folder, stem);
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Some((text, Record::read(&folder.join(".emitted.json"))?))),
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(why) => Err(EmitError::Io { path, why }),
    }
}

/// Whether a test file contains only items that this tool wrote. A file that cannot be parsed, or
/// that contains other items, may not compile, which only cargo can tell.
///
/// # Errors
/// When the file exists and cannot be read.
pub fn is_ours(folder: &Path, stem: &str) -> Result<bool, EmitError> {
    let Some((text, record)) = written(folder, stem)? else {
        return Ok(true);
    };
    let Ok(file) = syn::parse_file(&text) else {
        return Ok(false);
    };
    Ok(file.items.iter().all(|item| match item {
        syn::Item::Fn(test) => {
            record.has_written(&text, stem, &test.sig.ident.to_string()) == Some(true)
        }
        syn::Item::Use(of) => {
            matches!(&of.tree, syn::UseTree::Path(path) if path.ident == "cegar_harness")
        }
        syn::Item::Macro(of) => {
            let last = of.mac.path.segments.last();
            last.is_some_and(|last| last.ident == "c_structs")
        }
        _ => false,
    }))
}

/// Checks that the record of emitted tests is readable if it exists.
///
/// # Errors
/// When it cannot be read or understood.
pub fn readable_record(folder: &Path) -> Result<(), EmitError> {
    Record::read(&folder.join(".emitted.json")).map(drop)
}

/// The content of `.emitted.json`.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Record {
    /// For each `harness::test`, the SHA-256 of its text.
    tests: BTreeMap<String, String>,
}

impl Record {
    /// Whether a test in a file with this text is unchanged; `None` if there is no such test.
    fn has_written(&self, text: &str, stem: &str, test: &str) -> Option<bool> {
        let known = self.tests.get(&format!("{stem}::{test}"));
        let text = function(text, test)?;
        Some(known.is_some_and(|known| *known == hash(text)))
    }

    fn read(path: &Path) -> Result<Self, EmitError> {
        match std::fs::read(path) {
            Ok(text) => serde_json::from_slice(&text).map_err(|why| EmitError::Record {
                path: path.to_owned(),
                why,
            }),
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(why) => Err(EmitError::Io {
                path: path.to_owned(),
                why,
            }),
        }
    }
}

/// The hash of a test without white space, because formatting a file is not an edit.
fn hash(text: &str) -> String {
    let words: String = text.split_whitespace().collect();
    store::hex(&Sha256::digest(words.as_bytes()))
}

/// The text of a function, from its comment and attributes to its closing brace.
pub fn function<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut offset = 0;
    let mut start = None;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start();
        let attached =
            trimmed.starts_with("//") && !trimmed.starts_with("//!") || trimmed.starts_with("#[");
        let named = trimmed
            .strip_prefix("pub ")
            .unwrap_or(trimmed)
            .strip_prefix("fn ")
            .and_then(|rest| rest.strip_prefix(name));
        if named.is_some_and(|rest| rest.trim_start().starts_with('(')) {
            let start = start.unwrap_or(offset);
            return Some(&text[start..offset + closing(&text[offset..])]);
        }
        start = attached.then(|| start.unwrap_or(offset));
        offset += line.len();
    }
    None
}

/// The length up to the end of the first block in braces. Strings, characters and comments are
/// skipped.
fn closing(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut depth, mut at) = (0usize, 0);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at += 1;
                while bytes.get(at).is_some_and(|byte| *byte != b'"') {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            b'r' if !is_word_before(bytes, at) => at = raw_string(text, at).unwrap_or(at),
            // A character literal, not a lifetime: 'x' or '\...'.
            b'\'' if bytes.get(at + 1) == Some(&b'\\') => {
                let escape = bytes[at..].iter().skip(3).position(|byte| *byte == b'\'');
                at += 3 + escape.unwrap_or(0);
            }
            b'\'' if bytes.get(at + 2) == Some(&b'\'') => at += 2,
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                at += bytes[at..]
                    .iter()
                    .position(|byte| *byte == b'\n')
                    .unwrap_or(bytes.len() - at);
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                at = text[at..].find("*/").map_or(at, |length| at + length + 1);
            }
            b'{' => depth += 1,
            b'}' if depth <= 1 => return at + 1,
            b'}' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    text.len()
}

/// Whether a byte continues a word: `for"x"` is no raw string.
fn is_word_before(bytes: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| bytes.get(before));
    before.is_some_and(|byte| *byte != b'b' && (byte.is_ascii_alphanumeric() || *byte == b'_'))
}

/// The last byte of a raw string that begins with the `r` at this place, if one does.
fn raw_string(text: &str, at: usize) -> Option<usize> {
    let behind = text.get(at + 1..)?;
    let hashes = behind.len() - behind.trim_start_matches('#').len();
    let body = behind[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let length = body.find(&end)?;
    Some(at + 1 + hashes + length + end.len())
}

/// Replaces a file atomically.
pub(super) fn write(path: &Path, text: &str) -> Result<(), EmitError> {
    let io = |why| EmitError::Io {
        path: path.to_owned(),
        why,
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(io)?;
    let mut file = tempfile::Builder::new()
        .permissions(permissions())
        .tempfile_in(folder)
        .map_err(io)?;
    file.write_all(text.as_bytes()).map_err(io)?;
    file.as_file().sync_all().map_err(io)?;
    file.persist(path).map_err(|why| io(why.error))?;
    Ok(())
}

/// The permissions of a new file before the process's umask is applied.
fn permissions() -> std::fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(0o666)
}

#[cfg(test)]
mod tests {
    use super::closing;

    #[test]
    fn braces_in_literals_and_comments_close_nothing() {
        for body in [
            r"{ let c = '\u{7d}'; }",
            r"{ let c = ['}', '\'', '{', '\\']; }",
            r#"{ let s = "}\"}"; }"#,
            r##"{ let s = r#"}"}"#; }"##,
            r#"{ let s = br"}\"; }"#,
            "{ /* } */ f(); // }\n }",
            "{ fn f<'a>(x: &'a str) -> &'a str { x } }",
        ] {
            let text = format!("{body} fn next() {{}}");
            assert_eq!(&text[..closing(&text)], body);
        }
    }
}
