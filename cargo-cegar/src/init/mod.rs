//! Writes the `cegar/` package (`cargo cegar init`).
//!
//! The package is a workspace of its own: the crate gains no dependency, and if `cegar-harness` is
//! not available, the user's other packages still build. Existing files are never overwritten,
//! because they belong to the user as soon as they are written.
//!
//! Harnesses are written from the library's header (`signatures`), taken over from fuzz targets
//! (`from_fuzz`), carved from the crate's tests (`carve`), or, if there is nothing to start from,
//! written as a template to fill in (`template`). Everything is determined before the first file is
//! written.

mod api;
mod bound;
mod carve;
mod carved;
pub mod ci;
mod ctype;
mod drive;
pub mod from_fuzz;
mod known;
mod macros;
mod offered;
mod orders;
mod pairs;
mod ranking;
mod signatures;
mod table;
mod template;
mod trial;
mod workspace;
mod write;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::compile::Compiler;
use crate::config::Config;
use crate::contracts::{Contracts, Precondition};
use crate::error::Error;
use crate::event::Reporter;
use crate::project::Project;
use crate::store;
use known::Known;
pub use signatures::Wanted;
pub use table::{Row, table};
use write::write;

/// Which harnesses to write, and how.
#[derive(Clone, Debug, Default)]
pub struct InitOptions {
    /// The header that declares the functions. Default: the library's evident one.
    pub header: Option<PathBuf>,
    /// The functions for which harnesses are written.
    pub wanted: Wanted,
    /// The maximum number of harnesses.
    pub most: usize,
    /// The name of the first harness. Default: the function's name, or else the package's.
    pub name: Option<String>,
    /// A file or folder with fuzz targets and corpora to take over.
    pub from_fuzz: Option<PathBuf>,
    /// Whether harnesses are carved from the calls that the crate's own tests make.
    pub from_tests: bool,
    /// The time of one trial run of a harness; `None` to skip trials.
    pub try_for: Option<Duration>,
    /// The time budget of all trials together.
    pub try_all: Duration,
}

/// A harness that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Its name.
    pub name: String,
    /// Its file.
    pub file: PathBuf,
    /// The call that it makes, or the file that it comes from.
    pub what: String,
}

/// The result of [`init`].
#[derive(Clone, Debug, Default)]
pub struct Initialised {
    /// The files that were written.
    pub written: Vec<PathBuf>,
    /// The files that existed already and were kept.
    pub kept: Vec<PathBuf>,
    /// The workspace manifest, if it was extended.
    pub workspace: Option<PathBuf>,
    /// The harnesses.
    pub harnesses: Vec<Written>,
    /// The header that the harnesses call.
    pub header: Option<PathBuf>,
    /// Functions without a harness, and why.
    pub skipped: Vec<(String, String)>,
    /// The results of the trials, one row for each harness.
    pub tried: Vec<Row>,
    /// The preconditions that the trials found and the harnesses keep.
    pub learnt: Vec<Precondition>,
    /// For each harness, the inputs that revealed a fault of the library during its trial.
    shown: Vec<(String, Vec<Vec<u8>>)>,
    /// Whether the crate does not build, so that only the header was used.
    pub build_failed: bool,
    /// Further remarks for the user.
    pub notes: Vec<String>,
    /// The next step for the user, if any.
    pub to_do: Option<String>,
}

/// A harness to be written, or one whose file exists already.
struct Harness {
    name: String,
    /// The file, for `cegar.toml`: relative to the package where it is in the workspace.
    file: PathBuf,
    /// The text to be written; `None` for a file of the user's.
    text: Option<String>,
    /// The function that it was written for.
    drives: Option<String>,
    /// The macros with which the file of the driven function is compiled and the library's other
    /// files are not.
    defines: Vec<String>,
    /// The longest input in bytes, if usual inputs are too short for its function.
    max_len: Option<u64>,
    what: String,
}

impl Harness {
    /// Whether its text includes a header of this name.
    fn includes(&self, header: &str) -> bool {
        let directive = format!("#include \"{header}\"");
        self.text
            .as_ref()
            .is_some_and(|text| text.contains(&directive))
    }
}

/// Writes the package.
pub fn init(
    project: &Project,
    config: &Config,
    compiler: Option<&Compiler>,
    options: &InitOptions,
    reporter: &mut dyn Reporter,
    stop: &AtomicBool,
) -> Result<Initialised, Error> {
    let mut done = Initialised::default();
    let header = options
        .header
        .as_deref()
        .map(|path| find_header(project, path))
        .transpose()?;
    let found = options
        .from_fuzz
        .as_deref()
        .map(from_fuzz::find)
        .transpose()?;
    if let Some(name) = &options.name {
        check_name(name)?;
    }
    // Reports a damaged contracts file before the long part begins.
    Contracts::load(&project.cegar)?;
    let mut known = Known::find(project, config, compiler, &mut done, reporter, stop)?;
    let mut harnesses = Vec::new();
    let mut inputs = Vec::new();
    let mut seeds = Vec::new();
    if let Some(found) = &found {
        (harnesses, inputs) = known.taken_over(found, &mut done)?;
    } else if options.from_tests {
        (harnesses, seeds) = known.carved(header, options, &mut done, stop)?;
    } else if options.name.is_none() || !options.wanted.is_any() || header.is_some() {
        harnesses = known.driven(header, options, &mut done, (reporter, stop))?;
    }
    if harnesses.is_empty() && found.is_none() && !options.from_tests {
        harnesses.push(first(&mut known, options, &mut done, stop)?);
    }
    write(&known, &harnesses, &mut done)?;
    let shown = std::mem::take(&mut done.shown).into_iter();
    seeds.extend(shown.map(|(harness, tapes)| carved::Seeds::Of(harness, tapes)));
    carved::put_seeds(project, config, seeds, &mut done)?;
    done.notes.extend(offered::offer(&project.root));
    for (name, files) in inputs {
        let corpus = project.cegar.join("corpus").join(&name);
        store::writable_dir(&corpus)?;
        let (new, large) = from_fuzz::copy(&files, &corpus)?;
        let mut note = format!("corpus of {name}: {new} new inputs of {}", files.len());
        if large > 0 {
            note += &format!(", {large} left out, larger than 1 MiB");
        }
        done.notes.push(note);
    }
    Ok(done)
}

/// The template, used if no harness could be written otherwise.
fn first(
    known: &mut Known<'_>,
    options: &InitOptions,
    done: &mut Initialised,
    stop: &AtomicBool,
) -> Result<Harness, Error> {
    let name = match &options.name {
        Some(name) => name.clone(),
        None => known.project.name.replace('-', "_"),
    };
    check_name(&name)?;
    let header = done.header.clone();
    let include = match header.map(|header| known.template_include(&header, stop)) {
        Some(Ok(include)) => Some(include),
        Some(Err(why)) => {
            done.notes.push(why);
            None
        }
        None => None,
    };
    done.to_do = Some(format!("call the library in harnesses/{name}.c"));
    Ok(Harness {
        file: PathBuf::from(format!("harnesses/{name}.c")),
        text: Some(template::template(include.as_deref())),
        drives: None,
        defines: Vec::new(),
        max_len: None,
        what: "to be filled in".to_owned(),
        name,
    })
}

fn check_name(name: &str) -> Result<(), Error> {
    let first = name
        .chars()
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    if first && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        Ok(())
    } else {
        Err(Error::usage(
            format!("`{name}` cannot be a harness's name"),
            "a name is letters, digits and underscores, as in C; choose one with --name",
        ))
    }
}

fn find_header(project: &Project, header: &Path) -> Result<PathBuf, Error> {
    let here = std::path::absolute(header).map_err(|why| Error::io("read", header, why))?;
    [here, project.root.join(header)]
        .into_iter()
        .find(|path| path.is_file())
        .ok_or_else(|| {
            Error::nothing(
                format!("there is no header `{}`", header.display()),
                "its path is relative to the current folder or to the crate",
            )
        })
}
