//! Writing the `cegar/` package.
//!
//! It is a package and a workspace of its own: the crate depends on nothing new, and where `cegar-harness` is not to be had,
//! no other package of the user's fails to build. What exists is never overwritten: the files are the user's from the moment
//! they are written.
//!
//! Harnesses are written from the library's header (`signatures`), taken over from fuzz targets (`from_fuzz`), or, where
//! there is neither, left to be filled in (`template`). All is found out before the first file is written.

mod api;
mod bound;
mod carve;
mod carved;
pub mod ci;
mod ctype;
mod drive;
pub mod from_fuzz;
mod macros;
mod orders;
mod pairs;
mod signatures;
mod template;
mod trial;
mod workspace;

pub use trial::{Row, table};

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use toml_edit::{Array, DocumentMut, Item, Table, value};

use crate::capture::{self, CaptureError, Captured};
use crate::compile::{Compiler, Unit};
use crate::config::{Config, SourcesFrom};
use crate::contracts::{Contracts, Precondition};
use crate::emit::package::Package;
use crate::emit::{Dependency, for_everyone, only_here};
use crate::error::Error;
use crate::event::Reporter;
use crate::headers;
use crate::project::Project;
use crate::{plan, store};

/// What is to be written.
#[derive(Clone, Debug, Default)]
pub struct InitOptions {
    /// The header that declares the functions. Default: the library's evident one.
    pub header: Option<PathBuf>,
    /// The functions that get a harness, by name, with `*` for any letters. Default: the most promising ones.
    pub function: Option<String>,
    /// At most so many harnesses.
    pub most: usize,
    /// The first harness's name; default: the function's, else the package's.
    pub name: Option<String>,
    /// Fuzz targets and corpora to take over: a file or a folder.
    pub from_fuzz: Option<PathBuf>,
    /// Whether harnesses are carved from what the crate's own tests do.
    pub from_tests: bool,
    /// How long each harness is tried at a time; none where none is tried.
    pub try_for: Option<Duration>,
    /// How long all trials together may take.
    pub try_all: Duration,
}

/// A harness that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Its name.
    pub name: String,
    /// Its file.
    pub file: PathBuf,
    /// What it calls, or where it comes from.
    pub what: String,
}

/// What was done.
#[derive(Clone, Debug, Default)]
pub struct Initialised {
    /// Files that were written.
    pub written: Vec<PathBuf>,
    /// Files that were there already.
    pub kept: Vec<PathBuf>,
    /// The workspace manifest, if it was extended.
    pub workspace: Option<PathBuf>,
    /// The harnesses.
    pub harnesses: Vec<Written>,
    /// The header that they are from.
    pub header: Option<PathBuf>,
    /// Functions without a harness, and why.
    pub skipped: Vec<(String, String)>,
    /// What trying the harnesses showed, a row each.
    pub tried: Vec<Row>,
    /// The conditions that they keep.
    pub learnt: Vec<Precondition>,
    /// What else there is to say.
    pub notes: Vec<String>,
    /// What the user has to do next, if anything.
    pub to_do: Option<String>,
}

/// A harness that is to be written, or whose file is there.
struct Harness {
    name: String,
    /// The file, for `cegar.toml`: relative to the package where it is in the workspace.
    file: PathBuf,
    /// Its text, unless it is somebody else's file.
    text: Option<String>,
    /// The function that it was written for.
    drives: Option<String>,
    what: String,
}

/// All that is known before anything is written.
struct Known<'a> {
    project: &'a Project,
    config: &'a Config,
    compiler: Option<&'a Compiler>,
    /// The library's files.
    units: Vec<Unit>,
    /// The same as they were captured just now, to be kept.
    captured: Option<Captured>,
    /// Flags for a harness.
    flags: Vec<String>,
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
    // A damaged file is found out before the long part.
    Contracts::load(&project.cegar)?;
    let mut known = Known::find(project, config, compiler, &mut done, reporter, stop)?;
    let mut harnesses = Vec::new();
    let mut inputs = Vec::new();
    let mut seeds = Vec::new();
    if let Some(found) = &found {
        (harnesses, inputs) = known.taken_over(found, &mut done)?;
    } else if options.from_tests {
        (harnesses, seeds) = known.carved(header, options, &mut done, stop)?;
    } else if options.name.is_none() || options.function.is_some() || header.is_some() {
        harnesses = known.driven(header, options, &mut done, (reporter, stop))?;
    }
    if harnesses.is_empty() && found.is_none() && !options.from_tests {
        harnesses.push(first(project, options, &mut done)?);
    }
    write(&known, &harnesses, &mut done)?;
    carved::put_seeds(project, config, seeds, &mut done)?;
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

/// The template, where there is nothing better.
fn first(
    project: &Project,
    options: &InitOptions,
    done: &mut Initialised,
) -> Result<Harness, Error> {
    let name = match &options.name {
        Some(name) => name.clone(),
        None => project.name.replace('-', "_"),
    };
    check_name(&name)?;
    let include = done.header.as_deref().and_then(Path::file_name);
    let include = include.map(|name| name.to_string_lossy().into_owned());
    done.to_do = Some(format!("call the library in harnesses/{name}.c"));
    Ok(Harness {
        file: PathBuf::from(format!("harnesses/{name}.c")),
        text: Some(template::template(include.as_deref())),
        drives: None,
        what: "to be filled in".to_owned(),
        name,
    })
}

impl<'a> Known<'a> {
    /// Looks at the library. Where its build cannot be captured, the header alone has to do.
    fn find(
        project: &'a Project,
        config: &'a Config,
        compiler: Option<&'a Compiler>,
        done: &mut Initialised,
        reporter: &mut dyn Reporter,
        stop: &AtomicBool,
    ) -> Result<Known<'a>, Error> {
        let mut known = Known {
            project,
            config,
            compiler,
            units: Vec::new(),
            captured: None,
            flags: Vec::new(),
        };
        let listed = config.c.sources.clone().unwrap_or_default();
        let from_build = config.c.sources_from == Some(SourcesFrom::Captured) || listed.is_empty();
        if from_build && !project.cegar.join("captured.json").is_file() {
            match plan::captured(project, reporter, stop) {
                Ok(captured) => {
                    known.units = plan::units(captured.clone());
                    known.captured = Some(captured);
                }
                Err(why @ Error::Capture(CaptureError::Interrupted)) => return Err(why),
                Err(why) => {
                    use miette::Diagnostic as _;
                    let help = why
                        .help()
                        .map(|help| format!(" ({help})"))
                        .unwrap_or_default();
                    // The crate's own error is what has to be mended, and it takes more than one line.
                    done.notes
                        .push(format!("no C code was captured: {why}{help}"));
                }
            }
        } else {
            known.units = plan::library(project, config, false, reporter, stop)?.units;
        }
        let scratch = project.scratch();
        store::writable_dir(&scratch)?;
        known.flags = plan::own_flags(project, config);
        let files = known.units.iter();
        known.flags.extend(cegar_harness::build::harness_flags(
            files.map(|unit| (&*unit.directory, &*unit.flags)),
        ));
        let stubs = plan::stub_headers(&scratch)?;
        known.flags.push(format!("-I{}", stubs.display()));
        Ok(known)
    }

    /// The folders that the library's headers are included from.
    fn includes(&self) -> Vec<PathBuf> {
        let stubs = self.project.scratch().join("stubs");
        let folders = self.flags.iter().filter_map(|flag| flag.strip_prefix("-I"));
        folders
            .map(PathBuf::from)
            .filter(|folder| !folder.starts_with(&stubs))
            .collect()
    }

    /// The library's own header; where it is not evident, the one that declares most of what the crate binds. Notes what there is
    /// to choose from.
    fn own_header(&self, done: &mut Initialised) -> Option<PathBuf> {
        let candidates = match headers::find(self.project, &self.includes()) {
            headers::Found::Evident(header) => return Some(header),
            headers::Found::Candidates(candidates) => candidates,
        };
        let shown = |paths: &mut dyn Iterator<Item = &PathBuf>| {
            let lines: Vec<String> = paths
                .take(headers::LISTED)
                .map(|path| format!("  {}", path.display()))
                .collect();
            lines.join("\n")
        };
        let note = if candidates.is_empty() {
            "no header of the library was found, in the crate or where its build includes from; name it with --header"
                .to_owned()
        } else if let Some(ranked) = bound::ranked(self.project, &candidates) {
            let (count, best) = ranked.first()?;
            let others = ranked.iter().skip(1).filter(|(count, _)| *count > 0);
            let others = shown(&mut others.map(|(_, path)| path));
            if !others.is_empty() {
                done.notes.push(format!(
                    "of the functions that the crate binds, {count} are in this header; choose another with --header:\n{others}"
                ));
            }
            return Some(best.clone());
        } else {
            format!(
                "which header is the library's own is not evident; choose with --header:\n{}",
                shown(&mut candidates.iter())
            )
        };
        done.notes.push(note);
        None
    }

    /// Harnesses for the functions of a header.
    fn driven(
        &mut self,
        header: Option<PathBuf>,
        options: &InitOptions,
        done: &mut Initialised,
        (reporter, stop): (&mut dyn Reporter, &AtomicBool),
    ) -> Result<Vec<Harness>, Error> {
        let is_guess = header.is_none() && options.function.is_none();
        let header = match header {
            Some(header) => header,
            None => match self.own_header(done) {
                Some(header) => header,
                None => return Ok(Vec::new()),
            },
        };
        let Some(compiler) = self.compiler else {
            done.notes
                .push("without clang 19 no header can be read".to_owned());
            return Ok(Vec::new());
        };
        done.header = Some(header.clone());
        let include = self.include(&header);
        let library = self.library(compiler, (&header, &include), stop);
        let wanted = options.function.as_deref();
        let mut chosen = match signatures::choose(&library, wanted, options.most) {
            Ok(chosen) => chosen,
            // Nobody named this header: a package without harnesses from it is still of use.
            Err(why) if is_guess => {
                done.notes.push(why.to_string());
                done.header = None;
                return Ok(Vec::new());
            }
            Err(why) => return Err(why),
        };
        done.skipped = std::mem::take(&mut chosen.skipped);
        done.notes.append(&mut chosen.notes);
        if let Some(time) = options.try_for.filter(|_| !self.units.is_empty()) {
            let rejected = Contracts::load(&self.project.cegar)?;
            let trial = trial::Trial {
                known: self,
                library: &library,
                api: (&chosen.api, &chosen.usable),
                time,
                until: Instant::now() + options.try_all,
                rejected: &rejected,
            };
            chosen.harnesses = trial.all(&chosen, options, done, reporter)?;
        }
        let mut harnesses = Vec::new();
        let alone = chosen.harnesses.len() == 1;
        for (function, harness) in chosen.harnesses {
            let name = match &options.name {
                Some(name) if alone => name.clone(),
                _ => function.clone(),
            };
            let learnt = done.learnt.iter_mut();
            learnt
                .filter(|one| one.harness == function)
                .for_each(|one| one.harness.clone_from(&name));
            harnesses.push(Harness {
                file: PathBuf::from(format!("harnesses/{name}.c")),
                text: Some(harness.text),
                what: match harness.drives == function {
                    true => format!("{function}({})", harness.passed),
                    false => harness.passed,
                },
                drives: Some(harness.drives),
                name,
            });
        }
        Ok(harnesses)
    }

    /// The library, as its harnesses are written and compiled.
    fn library<'l>(
        &'l self,
        compiler: &'l Compiler,
        (header, include): (&'l Path, &'l str),
        stop: &'l AtomicBool,
    ) -> signatures::Library<'l> {
        signatures::Library {
            compiler,
            header,
            include,
            flags: &self.flags,
            units: &self.units,
            scratch: self.project.scratch(),
            root: self.project.root.clone(),
            stop,
        }
    }

    /// How a harness includes the header; its folder is added where no folder that is known leads there.
    fn include(&mut self, header: &Path) -> String {
        if let Some(include) = self.included_as(header) {
            return include;
        }
        let folder = header.parent().unwrap_or(Path::new("/"));
        self.flags.insert(0, format!("-I{}", folder.display()));
        let name = header.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// How the header is included by the folders that are known.
    fn included_as(&self, header: &Path) -> Option<String> {
        let header = header.canonicalize().ok()?;
        let inside = self.includes().into_iter().filter_map(|folder| {
            let folder = folder.canonicalize().ok()?;
            let rest = header.strip_prefix(&folder).ok()?;
            Some(rest.to_string_lossy().into_owned())
        });
        inside.min_by_key(String::len)
    }

    /// Fuzz targets where they are, and their inputs.
    #[allow(clippy::type_complexity, reason = "a name and its files, once")]
    fn taken_over(
        &self,
        found: &from_fuzz::Found,
        done: &mut Initialised,
    ) -> Result<(Vec<Harness>, Vec<(String, Vec<PathBuf>)>), Error> {
        let (mut harnesses, mut inputs): (Vec<Harness>, Vec<_>) = (Vec::new(), Vec::new());
        for (path, why) in &found.left_out {
            done.skipped
                .push((path.display().to_string(), (*why).to_owned()));
        }
        for target in &found.targets {
            let file = target
                .file
                .canonicalize()
                .unwrap_or_else(|_| target.file.clone());
            if let Some(compiler) = self.compiler
                && let Some(why) = signatures::refused(compiler, &file, &self.flags)
            {
                done.skipped.push((
                    target.file.display().to_string(),
                    format!("it does not compile: {why}"),
                ));
                continue;
            }
            let mut name = target.name.clone();
            while harnesses.iter().any(|harness| harness.name == name) {
                name.push('_');
            }
            inputs.push((name.clone(), found.inputs(target)?));
            harnesses.push(Harness {
                file: capture::relative(&file, &self.project.cegar, &self.project.workspace),
                text: None,
                drives: None,
                what: target.file.display().to_string(),
                name,
            });
        }
        inputs.retain(|(_, files)| !files.is_empty());
        if harnesses.is_empty() {
            let reasons: Vec<String> = done
                .skipped
                .iter()
                .map(|(path, why)| format!("{path}: {why}"))
                .collect();
            return Err(Error::nothing(
                "no fuzz target can be taken over",
                if reasons.is_empty() {
                    "a target is a C file that defines LLVMFuzzerTestOneInput".to_owned()
                } else {
                    reasons.join("\n")
                },
            ));
        }
        Ok((harnesses, inputs))
    }
}

/// Writes all files, and extends those that are there.
fn write(known: &Known<'_>, harnesses: &[Harness], done: &mut Initialised) -> Result<(), Error> {
    let project = known.project;
    for folder in ["harnesses", "tests", "src"] {
        store::writable_dir(&project.cegar.join(folder))?;
    }
    let package = Package {
        name: project.cegar_name(),
        dependency: Dependency::of_this_tool(),
        config: configuration(project),
    };
    let mut put = |path: PathBuf, bytes: &[u8]| -> Result<bool, Error> {
        let new = store::write_new(&path, bytes)?;
        if new {
            done.written.push(path)
        } else {
            done.kept.push(path)
        }
        Ok(new)
    };
    for (file, text) in package.files() {
        put(project.cegar.join(file), text.as_bytes())?;
    }
    for harness in harnesses {
        let path = project.cegar.join(&harness.file);
        if let Some(text) = &harness.text {
            put(path, text.as_bytes())?;
        }
    }
    let manifest = project.cegar.join("Cargo.toml");
    if done.written.contains(&manifest)
        && let Some(folder) = only_here(&project.cegar)
    {
        done.notes.push(format!(
            "{} takes cegar-harness from {}; before others build the package, change that one line to cegar-harness = {}",
            manifest.display(),
            folder.display(),
            for_everyone()
        ));
    }
    for harness in harnesses {
        done.harnesses.push(Written {
            name: harness.name.clone(),
            file: project.cegar.join(&harness.file),
            what: harness.what.clone(),
        });
    }
    let header = done.header.as_deref().filter(|header| {
        let folder = header
            .parent()
            .map(|folder| format!("-I{}", folder.display()));
        // The folder that was put first was not among the library's own.
        folder.as_deref() == known.flags.first().map(String::as_str)
    });
    let folder = header.and_then(Path::parent);
    let folder = folder.map(|folder| capture::relative(folder, &project.cegar, &project.workspace));
    extend(
        &project.cegar.join("cegar.toml"),
        harnesses,
        folder.as_deref(),
        known.config,
    )?;
    let mut contracts = Contracts::load(&project.cegar)?;
    contracts.add(done.learnt.iter().cloned());
    if !done.learnt.is_empty() {
        contracts.save(&project.cegar)?;
    }
    if let Some(captured) = &known.captured {
        capture::save(captured, project)?;
    }
    done.workspace = workspace::keep_apart(&project.workspace, &project.cegar)?;
    Ok(())
}

/// Adds harnesses and an include folder to `cegar.toml`, as far as they are not there.
fn extend(
    path: &Path,
    harnesses: &[Harness],
    include: Option<&Path>,
    config: &Config,
) -> Result<(), Error> {
    let text = store::read_text(path)?;
    let bad = |why: String| {
        Error::usage(
            format!("`{}` cannot be extended: {why}", path.display()),
            "mend it first",
        )
    };
    let mut document: DocumentMut = text
        .parse()
        .map_err(|why: toml_edit::TomlError| bad(why.to_string()))?;
    if let Some(include) = include {
        let include = include.to_string_lossy().into_owned();
        let known = config
            .c
            .includes
            .iter()
            .flatten()
            .any(|one| *one == include);
        if !known {
            let c = document
                .entry("c")
                .or_insert_with(|| Item::Table(Table::new()));
            let c = c
                .as_table_like_mut()
                .ok_or_else(|| bad("`c` is not a table".to_owned()))?;
            let list = c.entry("includes").or_insert_with(|| value(Array::new()));
            let list = list
                .as_array_mut()
                .ok_or_else(|| bad("`c.includes` is not a list".to_owned()))?;
            list.push(include);
        }
    }
    let tables = document.entry("harness").or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let tables = tables
        .as_table_mut()
        .ok_or_else(|| bad("`harness` is not a table".to_owned()))?;
    for harness in harnesses {
        if tables.contains_key(&harness.name) {
            continue;
        }
        let mut table = Table::new();
        table.insert("file", value(harness.file.to_string_lossy().into_owned()));
        if let Some(function) = &harness.drives {
            table.insert("drives", value(function.clone()));
        }
        tables.insert(&harness.name, Item::Table(table));
    }
    Ok(store::write(path, document.to_string().as_bytes())?)
}

fn configuration(project: &Project) -> String {
    format!(
        "# What cargo cegar looks at in {of}. Paths are relative to this folder.\n\
         #\n\
         # For a harness, besides its file:\n\
         # property = [\"memory\", \"overflow\"]   # or \"assertion\", \"all\"; assertions are always checked\n\
         # max_len = 4096                        # longest input, in bytes\n\
         # timeout = \"1s\"                        # a run that takes longer is a hang\n\
         \n\
         [c]\n\
         # The C files that the crate's own build compiles, with its defines and include paths; `cargo cegar build`\n\
         # captures them into captured.json. Or list them: sources = [\"../src/a.c\"]\n\
         # More: includes = [\"../include\"], defines = [\"NDEBUG\", \"SIZE=64\"]\n\
         sources_from = \"captured\"\n",
        of = project.name,
    )
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
