//! The facts about a crate that are collected before the first file of its package is written, and
//! the harnesses that follow from them.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::api::single;
use super::bound::{self, Bound};
use super::{Harness, InitOptions, Initialised};
use super::{drive, from_fuzz, signatures, template, trial};
use crate::capture::{self, CaptureError, Captured};
use crate::compile::{Compiler, Unit};
use crate::config::{Config, SourcesFrom};
use crate::contracts::Contracts;
use crate::error::Error;
use crate::event::Reporter;
use crate::headers;
use crate::plan::SourceList;
use crate::project::Project;
use crate::{plan, store};

/// A library with more files than this is assumed to have a header.
const SINGLE: usize = 4;

/// Everything that is known before anything is written.
pub(super) struct Known<'a> {
    pub(super) project: &'a Project,
    pub(super) config: &'a Config,
    pub(super) compiler: Option<&'a Compiler>,
    /// The library's files.
    pub(super) units: Vec<Unit>,
    /// The files as they were just captured, to be stored in `captured.json`.
    pub(super) captured: Option<Captured>,
    /// The flags with which harnesses are compiled.
    pub(super) flags: Vec<String>,
    /// A header that was generated for a library without one: its name and its text. It is written
    /// next to the harnesses.
    pub(super) declared: Option<(String, String)>,
    /// The functions that the crate binds, once they are needed.
    bound: OnceCell<Bound>,
}

impl<'a> Known<'a> {
    /// Collects the facts about the library. If its build cannot be captured, only the header is
    /// used.
    pub(super) fn find(
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
            declared: None,
            bound: OnceCell::new(),
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
                    done.build_failed =
                        matches!(&why, Error::Capture(CaptureError::BuildFailed { .. }));
                    let help = why
                        .help()
                        .map(|help| format!(" ({help})"))
                        .unwrap_or_default();
                    // The user has to fix the crate's own error, so all of its lines are shown.
                    done.notes
                        .push(format!("no C code was captured: {why}{help}"));
                }
            }
        } else {
            known.units =
                plan::library(project, config, SourceList::Current, reporter, stop)?.units;
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

    /// The functions that the crate binds.
    fn bound(&self) -> &Bound {
        self.bound.get_or_init(|| Bound::of(self.project))
    }

    /// The folders from which the library's headers are included.
    fn includes(&self) -> Vec<PathBuf> {
        let stubs = self.project.scratch().join("stubs");
        let folders = self.flags.iter().filter_map(|flag| flag.strip_prefix("-I"));
        folders
            .map(PathBuf::from)
            .filter(|folder| !folder.starts_with(&stubs))
            .collect()
    }

    /// The library's own header. If it is not evident, the only header that declares the first
    /// requested function, or the one that declares most of the functions that the crate binds.
    /// Adds a note with the alternatives.
    pub(super) fn own_header(
        &self,
        functions: &[String],
        done: &mut Initialised,
    ) -> Option<PathBuf> {
        let bound = self.bound();
        let candidates = match headers::find(self.project, &self.includes()) {
            headers::Found::Evident(header, others) => {
                if bound.is_for_users(&header, &others) {
                    return Some(header);
                }
                others
            }
            headers::Found::Candidates(candidates) => candidates,
        };
        if let Some(first) = functions.first()
            && let [only] = &bound::declaring(&candidates, first)[..]
        {
            return Some(only.clone());
        }
        let shown = |paths: &mut dyn Iterator<Item = &PathBuf>| {
            let lines: Vec<String> = paths
                .take(headers::LISTED)
                .map(|path| format!("  {}", path.display()))
                .collect();
            lines.join("\n")
        };
        let note = if candidates.is_empty() {
            "no header of the library was found, in the crate or where its build includes from; \
             name it with --header"
                .to_owned()
        } else if let Some(best) = bound.best(&candidates) {
            return Some(best);
        } else {
            format!(
                "which header is the library's own is not evident; choose with --header:\n{}",
                shown(&mut candidates.iter())
            )
        };
        done.notes.push(note);
        None
    }

    /// A note with the headers that declare further functions which the crate binds, if there are
    /// such headers.
    fn elsewhere(&self, header: &Path, chosen: &signatures::Chosen) -> Option<String> {
        let bound = self.bound();
        let is_known = |name: &String| chosen.api.all_functions().any(|one| one.name == *name);
        let is_usable = |name: &String| chosen.usable.contains(name);
        let candidates = headers::find(self.project, &self.includes()).all();
        let mut seen = BTreeSet::new();
        let mut lines = Vec::new();
        for other in candidates.iter().filter(|other| *other != header) {
            let names = bound.declared(other).into_iter();
            let names: Vec<String> = names
                .filter(|name| is_usable(name) && !is_known(name) && seen.insert(name.clone()))
                .collect();
            if !names.is_empty() && lines.len() < headers::LISTED {
                lines.push(format!("  {}: {}", other.display(), names.join(", ")));
            }
        }
        (!lines.is_empty()).then(|| {
            format!(
                "the crate also binds functions of other headers, which get harnesses with \
                 --header:\n{}",
                lines.join("\n")
            )
        })
    }

    /// Generates the header of a library without one, with the functions that one of its files
    /// defines and the crate's Rust code binds.
    fn declare(&mut self, done: &mut Initialised) -> Result<Option<PathBuf>, Error> {
        let Some(compiler) = self.compiler.filter(|_| self.units.len() <= SINGLE) else {
            return Ok(None);
        };
        let bound = self.bound().names.clone();
        let header = |unit, users| single::header(compiler, unit, users);
        let of_rust = self.units.iter().filter_map(|unit| {
            let text = header(unit, single::Users::Rust(&bound))?;
            Some((unit, text))
        });
        let mut of_rust: Vec<(&Unit, String)> = of_rust.collect();
        // A header whose functions take arguments is of more use. The file of the bound functions
        // may have a table of functions in other files instead, which it declares.
        let is_useful = |text: &String| single::takes_arguments(text);
        let at = of_rust.iter().position(|(_, text)| is_useful(text));
        if of_rust.is_empty() {
            return Ok(None);
        }
        let (unit, mut text) = of_rust.swap_remove(at.unwrap_or(0));
        if at.is_none()
            && let Some(of_table) = header(unit, single::Users::OtherFiles).filter(is_useful)
        {
            text = of_table;
        }
        if text.lines().any(single::is_unnamed) {
            let others = self.units.iter();
            let others = others.filter_map(|unit| header(unit, single::Users::OtherFiles));
            text = single::with_names(&text, &others.collect::<Vec<String>>());
        }
        let source = unit.directory.join(&unit.source);
        let stem = source.file_stem().unwrap_or_default().to_string_lossy();
        // A header with the file's name, which the file includes, may exist next to it.
        let name = match source.with_extension("h").exists() {
            true => format!("{stem}_declared.h"),
            false => format!("{stem}.h"),
        };
        let folder = self.project.scratch().join("declared");
        store::writable_dir(&folder)?;
        let header = folder.join(&name);
        store::write(&header, text.as_bytes())?;
        self.flags.push(format!("-I{}", folder.display()));
        // Replaces the note that no header was found.
        done.notes.pop();
        done.notes.push(format!(
            "the library has no header: harnesses/{name} declares what {} has for its users",
            source
                .strip_prefix(&self.project.root)
                .unwrap_or(&source)
                .display()
        ));
        self.declared = Some((name, text));
        Ok(Some(header))
    }

    /// The harnesses for the functions of a header.
    pub(super) fn driven(
        &mut self,
        header: Option<PathBuf>,
        options: &InitOptions,
        done: &mut Initialised,
        (reporter, stop): (&mut dyn Reporter, &AtomicBool),
    ) -> Result<Vec<Harness>, Error> {
        let is_guess = header.is_none() && options.wanted.is_any();
        let is_named = header.is_some();
        let header = match header.or_else(|| self.own_header(&options.wanted.0, done)) {
            Some(header) => Some(header),
            None => self.declare(done)?,
        };
        let Some(header) = header else {
            return Ok(Vec::new());
        };
        let Some(compiler) = self.compiler else {
            done.notes
                .push("without clang 19 no header can be read".to_owned());
            return Ok(Vec::new());
        };
        done.header = Some(header.clone());
        let include = self.include(&header);
        let mut library = self.library(compiler, (&header, &include), stop);
        if !is_named {
            library.bound.clone_from(&self.bound().names);
        }
        let mut chosen = match signatures::choose(&library, &options.wanted, options.most) {
            Ok(chosen) => chosen,
            // The header is a guess, and a package without harnesses from it is still useful.
            Err(why) if is_guess => {
                done.notes.push(why.to_string());
                done.header = None;
                return Ok(Vec::new());
            }
            Err(why) => return Err(why),
        };
        done.skipped = std::mem::take(&mut chosen.skipped);
        done.notes.append(&mut chosen.notes);
        if !is_named {
            done.notes.extend(self.elsewhere(&header, &chosen));
        }
        if let Some(time) = options.try_for.filter(|_| !self.units.is_empty()) {
            let rejected = Contracts::load(&self.project.cegar)?;
            let trial = trial::Trial {
                known: self,
                library: &library,
                api: (&chosen.api, &chosen.usable),
                defines: &chosen.defines,
                time,
                until: Instant::now() + options.try_all,
                rejected: &rejected,
            };
            chosen.harnesses = trial.all(&chosen, options, done, reporter)?;
        }
        done.notes.extend(chosen.told_further(&done.skipped));
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
            let shown = done.shown.iter_mut().filter(|(of, _)| *of == function);
            shown.for_each(|(of, _)| of.clone_from(&name));
            harnesses.push(Harness {
                file: PathBuf::from(format!("harnesses/{name}.c")),
                max_len: drive::longest_input(&chosen.api, &harness.drives),
                text: Some(harness.text),
                what: match harness.drives == function {
                    true => format!("{function}({})", harness.passed),
                    false => harness.passed,
                },
                defines: chosen
                    .defines
                    .get(&harness.drives)
                    .cloned()
                    .unwrap_or_default(),
                drives: Some(harness.drives),
                name,
            });
        }
        Ok(harnesses)
    }

    /// The facts about the library that harnesses are written and compiled with.
    pub(super) fn library<'l>(
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
            callers: self.project.callers.clone(),
            bound: BTreeSet::new(),
            stop,
        }
    }

    /// The path with which a harness includes the header. Adds the header's folder to the include
    /// paths if none of them leads to it.
    pub(super) fn include(&mut self, header: &Path) -> String {
        if let Some(include) = self.included_as(header) {
            return include;
        }
        let folder = header.parent().unwrap_or(Path::new("/"));
        self.flags.insert(0, format!("-I{}", folder.display()));
        let name = header.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// The path with which a known include folder leads to the header, provided that no earlier
    /// folder has another file of that path.
    fn included_as(&self, header: &Path) -> Option<String> {
        let header = header.canonicalize().ok()?;
        let folders = self.includes().into_iter();
        let folders: Vec<PathBuf> = folders.filter_map(|one| one.canonicalize().ok()).collect();
        let is_first = |rest: &&Path| {
            let mut found = folders.iter().map(|folder| folder.join(rest));
            let first = found.find(|file| file.is_file());
            first.is_some_and(|file| file.canonicalize().is_ok_and(|file| file == header))
        };
        let inside = folders
            .iter()
            .filter_map(|one| header.strip_prefix(one).ok());
        let name = inside
            .filter(is_first)
            .min_by_key(|rest| rest.as_os_str().len());
        name.map(|rest| rest.to_string_lossy().into_owned())
    }

    /// The path with which the template includes the header, or the reason why it cannot be
    /// included.
    pub(super) fn template_include(
        &mut self,
        header: &Path,
        stop: &AtomicBool,
    ) -> Result<String, String> {
        let include = self.include(header);
        let text = template::template(Some(&include));
        let refused = self.compiler.and_then(|compiler| {
            self.library(compiler, (header, &include), stop)
                .compiles("template", &text)
        });
        match refused {
            None => Ok(include),
            Some(why) => Err(format!(
                "`{include}` does not compile by itself, so the template does not include it: {why}"
            )),
        }
    }

    /// The fuzz targets, whose files stay where they are, and their inputs.
    #[allow(clippy::type_complexity, reason = "a name and its files, once")]
    pub(super) fn taken_over(
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
                defines: Vec::new(),
                max_len: None,
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
