//! Turns a crate and its configuration into harnesses that a campaign can run: determines the files
//! of each program, and the flags with which each is compiled.

mod telling;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use cegar_checker::{Assumption, LEARNT};
use cegar_harness::build::{Exclude, harness_flags, models, resolve};

use self::telling::{capturing, tell_changed};
use crate::capture;
use crate::compile::Unit;
use crate::config::{Config, HarnessConfig, PropertyName, SourcesFrom, nearest};
use crate::contracts::{self, Contracts};
use crate::error::Error;
use crate::event::{Event, Level, Reporter};
use crate::given::Given;
use crate::lists::few;
use crate::options::{Harness, configured_duration};
use crate::project::Project;
use crate::{list, lock, store};

/// The library's C files, and the source of the list.
#[derive(Clone, Debug, Default)]
pub struct Library {
    /// The files.
    pub units: Vec<Unit>,
    /// The source of the list, for users: `captured from build.rs`, `cegar.toml`.
    pub from: String,
    /// A separate list of what the crate's build compiles, if the package's own list belongs to
    /// another build and must not be changed ([`SourceList::CurrentIn`]).
    pub captured: Option<PathBuf>,
}

/// Writes the stub library's headers (and sources) below the scratch folder. Returns the include
/// folder with `crunner.h`.
pub fn stub_headers(scratch: &Path) -> Result<PathBuf, Error> {
    let folder = scratch.join("stubs");
    cegar_stubs::write_sources(&folder).map_err(|why| Error::io("write", &folder, why))?;
    Ok(folder.join("include"))
}

/// The purpose for which the list of the library's files is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceList<'a> {
    /// The stored list, which is replaced by a new one if the build compiles something else.
    Current,
    /// As [`SourceList::Current`], but a new list is written to this folder, so that the source
    /// tree is not changed.
    CurrentIn(&'a Path),
    /// A new list.
    New,
}

impl SourceList<'_> {
    /// Records the current build script, if the source tree may be changed.
    fn keep_script(self, project: &Project) -> Result<(), Error> {
        match self {
            SourceList::CurrentIn(_) => Ok(()),
            _ => Ok(capture::keep_script(project, &project.cegar)?),
        }
    }
}

/// The library's files: those that `cegar.toml` lists, and those that the crate's own build
/// compiles. The build is captured if this was not done yet, or if it now compiles something else.
pub fn library(
    project: &Project,
    config: &Config,
    wanted: SourceList<'_>,
    reporter: &mut dyn Reporter,
    stop: &AtomicBool,
) -> Result<Library, Error> {
    let listed = config.c.sources.clone().unwrap_or_default();
    let captured = config.c.sources_from == Some(SourcesFrom::Captured) || listed.is_empty();
    let mut library = Library::default();
    if captured {
        (library.units, library.captured) = build_compiles(project, wanted, reporter, stop)?;
        library.from = match &*project.cargo_args.join(" ") {
            "" => "captured from build.rs".to_owned(),
            args => format!("captured from build.rs with {args}"),
        };
    } else {
        library.from = "listed in cegar.toml".to_owned();
    }
    excluded(project, config, &mut library.units, captured, reporter)?;
    // Warnings of the library's own build are not reported.
    for unit in &mut library.units {
        unit.flags.push("-w".to_owned());
    }
    let own = own_flags(project, config);
    for unit in &mut library.units {
        unit.flags.extend(own.iter().cloned());
    }
    for source in listed {
        let source = resolve(&project.cegar, source);
        if !source.is_file() {
            return Err(Error::nothing(
                format!("there is no file `{}`", source.display()),
                "`sources` under [c] in cegar.toml are relative to the cegar/ folder",
            ));
        }
        library.units.push(Unit {
            source,
            directory: project.cegar.clone(),
            flags: own.clone(),
        });
    }
    Ok(library)
}

/// Removes the files that match `exclude`. A pattern without a match is reported, since it is most
/// likely misspelt.
fn excluded(
    project: &Project,
    config: &Config,
    units: &mut Vec<Unit>,
    captured: bool,
    reporter: &mut dyn Reporter,
) -> Result<(), Error> {
    let patterns = config.c.exclude.clone().unwrap_or_default();
    let mut exclude = Exclude::new(&patterns).map_err(|why| {
        Error::usage(
            why,
            "patterns are those of a shell, about the end of a path: `tests/*.c`, `**/contrib/**`",
        )
    })?;
    let count = units.len();
    units.retain(|unit| !exclude.matches(&unit.source));
    let unused: Vec<String> = exclude.unused().map(|p| format!("`{p}`")).collect();
    if !unused.is_empty() {
        let unused = unused.join(", ");
        reporter.event(&Event::Note {
            level: Level::Warning,
            message: match captured {
                true => format!(
                    "{unused} under [c] exclude matches none of the {count} files that the build \
                     of `{}` compiles",
                    project.name
                ),
                false => format!(
                    "{unused} under [c] exclude is of no use: the files are those that `sources` \
                     lists"
                ),
            },
        });
    }
    Ok(())
}

/// The files that the crate's build compiles, and the path of a separate list if the package's list
/// is not used.
fn build_compiles(
    project: &Project,
    wanted: SourceList<'_>,
    reporter: &mut dyn Reporter,
    stop: &AtomicBool,
) -> Result<(Vec<Unit>, Option<PathBuf>), Error> {
    store::writable_dir(&project.scratch())?;
    let what = format!("the build of `{}`", project.name);
    let _held = lock::during(&project.scratch(), "capture", &what, reporter, stop.into())?;
    let kept = match wanted {
        SourceList::New => None,
        _ => capture::load(&project.cegar)?,
    };
    if let Some(units) = &kept {
        // Usually cargo has nothing to do, so progress is reported only after its first message.
        let mut tell = capturing(project, reporter);
        let mut is_told = false;
        let mut doing = |seconds: u64, doing: &str| {
            is_told |= !doing.is_empty();
            if is_told {
                tell(seconds, doing);
            }
        };
        if capture::is_current(project, stop, &mut doing)? {
            wanted.keep_script(project)?;
            return Ok((units.clone(), None));
        }
    }
    let captured = captured(project, reporter, stop)?;
    // Without the package, the capture is not stored: a dependency can be captured only to inspect
    // it.
    if !project.cegar.is_dir() {
        return Ok((units(captured), None));
    }
    let now = capture::Kept::of(&captured, project)?;
    let is_changed = !now.is_there()?;
    if is_changed && kept.is_some() {
        tell_changed(project, wanted, reporter);
    }
    if let (true, SourceList::CurrentIn(folder)) = (is_changed, wanted) {
        now.save_in(folder)?;
        let list = project.scratch().join("captured.json");
        let text = serde_json::to_vec_pretty(&captured.units)
            .map_err(|why| Error::engine("writing the list of sources", why))?;
        store::write(&list, &text)?;
        return Ok((units(captured), Some(list)));
    }
    match is_changed {
        true => now.save()?,
        false => wanted.keep_script(project)?,
    }
    let units = capture::load(&project.cegar)?.unwrap_or_default();
    Ok((units, None))
}

/// Captures the crate's build, and reports the files that are left out.
pub fn captured(
    project: &Project,
    reporter: &mut dyn Reporter,
    stop: &AtomicBool,
) -> Result<capture::Captured, Error> {
    let captured = {
        let mut doing = capturing(project, reporter);
        capture::capture(project, stop, &mut doing)?
    };
    let mut note = |level, message| reporter.event(&Event::Note { level, message });
    if captured.bundled {
        note(
            Level::Info,
            format!(
                "the build of `{}` takes the library that is installed; looked at are the sources \
                 that the crate bundles",
                project.name
            ),
        );
    }
    for file in &captured.as_c {
        let file = file.strip_prefix(&project.root).unwrap_or(file);
        note(
            Level::Info,
            format!(
                "{} is compiled as C++ by the build, and taken as the C that it is as well",
                file.display()
            ),
        );
    }
    if let Some(why) = &captured.failed {
        note(
            Level::Warning,
            format!(
                "`{}` does not build, only its C code was captured; cargo says\n{why}",
                project.name
            ),
        );
    }
    for left in &captured.left_out {
        let file = left.file.strip_prefix(&project.root).unwrap_or(&left.file);
        let file = file.display().to_string();
        reporter.event(&Event::LeftOut {
            file,
            why: left.why.clone(),
        });
    }
    Ok(captured)
}

/// The captured files, as units to compile.
pub fn units(captured: capture::Captured) -> Vec<Unit> {
    let unit = |unit: capture::Unit| Unit {
        source: unit.file,
        directory: unit.directory,
        flags: unit.args,
    };
    captured.units.into_iter().map(unit).collect()
}

/// The flags that `[c]` adds to every file.
pub fn own_flags(project: &Project, config: &Config) -> Vec<String> {
    let c = &config.c;
    let includes = c.includes.iter().flatten();
    let mut flags: Vec<String> = includes
        .map(|folder| format!("-I{}", resolve(&project.cegar, folder).display()))
        .collect();
    let defines = c
        .defines
        .as_ref()
        .map(|defines| defines.list())
        .unwrap_or_default();
    flags.extend(defines.into_iter().map(|define| format!("-D{define}")));
    flags.extend(c.flags.iter().flatten().cloned());
    flags
}

/// Removes conditions from harnesses that the list of preconditions no longer contains; with
/// `beside`, in copies in that folder.
pub fn settle_contracts(
    project: &Project,
    config: &Config,
    beside: Option<&Path>,
) -> Result<Vec<contracts::Settled>, Error> {
    let harnesses = list::harnesses(project, config)?;
    contracts::settle(&project.cegar, &harnesses, beside)
}

/// Makes the harnesses use their settled copies, which the package's list does not contain.
pub fn use_settled(harnesses: &mut [Harness], settled: &[contracts::Settled]) {
    for one in settled {
        let named = harnesses
            .iter_mut()
            .find(|harness| harness.name == one.harness);
        let Some(harness) = named else { continue };
        harness.rejected.extend(one.conditions.iter().cloned());
        let Some(unit) = harness.units.first_mut() else {
            continue;
        };
        // The includes are relative to the original file.
        if let Some(folder) = unit.source.parent() {
            unit.flags.push(format!("-iquote{}", folder.display()));
        }
        unit.source.clone_from(&one.file);
    }
}

/// Describes how many preconditions each harness assumes.
pub fn preconditions(harnesses: &[Harness]) -> Vec<String> {
    let told = |harness: &Harness| {
        let count = |wanted: &dyn Fn(&Assumption) -> bool| -> usize {
            let counted = harness.preconditions.iter().filter(|one| wanted(one));
            counted.map(|one| one.places.len()).sum()
        };
        let noun = match count(&|_| true) {
            0 => return None,
            1 => "1 precondition".to_owned(),
            all => format!("{all} preconditions"),
        };
        let confirmed = count(&|one| one.id != LEARNT);
        Some(format!(
            "{noun} assumed for {}, {confirmed} confirmed (contracts.toml)",
            harness.name
        ))
    };
    harnesses.iter().filter_map(told).collect()
}

/// The harnesses that `selected` names (or all, if it is empty), each with its program.
pub fn harnesses(
    project: &Project,
    config: &Config,
    selected: &[String],
    library: &Library,
    stubs: &Path,
) -> Result<Vec<Harness>, Error> {
    let known = select(project, config, selected)?;
    let contracts = Contracts::load(&project.cegar)?;
    let files = library.units.iter();
    let mut flags = harness_flags(files.map(|unit| (&*unit.directory, &*unit.flags)));
    flags.extend(own_flags(project, config));
    flags.push(format!("-I{}", stubs.display()));
    let mut harnesses = Vec::new();
    for (name, file) in known {
        if !file.is_file() {
            return Err(Error::nothing(
                format!("harness `{name}` has no file `{}`", file.display()),
                format!("write it, or set `file` under [harness.{name}] in cegar.toml"),
            ));
        }
        let own = config.harness.get(&name).cloned().unwrap_or_default();
        let here = |source| Unit {
            source,
            directory: project.cegar.clone(),
            flags: flags.clone(),
        };
        let mut units = vec![here(file)];
        let defines = own.defines.iter().flat_map(|defines| defines.list());
        let defines = defines.map(|define| format!("-D{define}"));
        units[0].flags.extend(defines);
        units.extend(library.units.iter().cloned());
        // The user's own definitions of otherwise undefined functions.
        units.extend(models(&project.cegar).into_iter().map(here));
        let mut harness = configured(Harness::new(name, units), &own)?;
        harness.library = 1..1 + library.units.len();
        harness.rules.clone_from(&config.external);
        harness.rejected = contracts.rejected(&harness.name);
        // Without `drives`, the harness counts as the user's own, including its assumptions.
        if harness.drives.is_some() {
            harness.preconditions = contracts.assumed(&harness.name);
        }
        Given::configured(&own, &project.cegar)?.give(&mut harness);
        harnesses.push(harness);
    }
    Ok(harnesses)
}

fn configured(mut harness: Harness, own: &HarnessConfig) -> Result<Harness, Error> {
    harness.entry.clone_from(&own.entry);
    harness.drives.clone_from(&own.drives);
    if let Some(properties) = &own.property {
        harness.properties = PropertyName::expand(properties.names());
    }
    if let Some(max_len) = own.max_len {
        harness.max_len = max_len;
    }
    if let Some(argv) = &own.argv {
        harness.argv = argv.count();
    }
    if let Some(timeout) = &own.timeout {
        let key = format!("`timeout` of the harness `{}`", harness.name);
        harness.timeout = configured_duration(&key, timeout)?;
    }
    harness.possible()
}

/// Returns an error if `selected` names a harness that does not exist, or if there are none. This
/// is checked before the crate is built.
pub fn check_selection(
    project: &Project,
    config: &Config,
    selected: &[String],
) -> Result<(), Error> {
    select(project, config, selected).map(drop)
}

/// The warning for files in `harnesses/` that `cegar.toml` does not list, if there are any, since
/// their author expects them to run.
pub fn left_out(project: &Project, config: &Config) -> Result<Option<String>, Error> {
    let files = list::left_out(project, config)?;
    let names: Vec<String> = files.iter().filter_map(|file| stem(file)).collect();
    let Some(first) = names.first() else {
        return Ok(None);
    };
    let files: Vec<String> = names.iter().map(|name| format!("{name}.c")).collect();
    let shown = few(&files, 3);
    Ok(Some(format!(
        "not in cegar.toml, so left out: harnesses/{shown}; a line `[harness.{first}]` there takes \
         it in"
    )))
}

/// The warning for a `cegar.toml` beside the crate's manifest, which is not read.
pub fn misplaced(project: &Project) -> Option<String> {
    let file = project.root.join("cegar.toml");
    file.is_file().then(|| {
        let read = project.cegar.join("cegar.toml");
        format!("{} is not read: {} is", file.display(), read.display())
    })
}

fn stem(file: &Path) -> Option<String> {
    Some(file.file_stem()?.to_string_lossy().into_owned())
}

fn select(
    project: &Project,
    config: &Config,
    selected: &[String],
) -> Result<Vec<(String, PathBuf)>, Error> {
    let known = list::harnesses(project, config)?;
    if known.is_empty() {
        return Err(Error::nothing(
            format!("`{}` has no harness", project.name),
            match project.dependencies_set_up().as_slice() {
                [] => "`cargo cegar init` writes a first one".to_owned(),
                [one] => format!("there are harnesses for a dependency: add -p {one}"),
                several => format!(
                    "there are harnesses for dependencies: choose with -p: {}",
                    several.join(", ")
                ),
            },
        ));
    }
    for name in selected {
        if !known.iter().any(|(known, _)| known == name) {
            let names = || known.iter().map(|(name, _)| name.as_str());
            let left_out = list::left_out(project, config)?;
            if left_out
                .iter()
                .any(|file| stem(file).as_ref() == Some(name))
            {
                return Err(Error::nothing(
                    format!("harnesses/{name}.c is there, but cegar.toml has no harness `{name}`"),
                    format!("add a line `[harness.{name}]` to cegar.toml"),
                ));
            }
            let help = match nearest(name, names()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are: {}", names().collect::<Vec<_>>().join(", ")),
            };
            return Err(Error::nothing(
                format!("there is no harness `{name}`"),
                help,
            ));
        }
    }
    Ok(known
        .into_iter()
        .filter(|(name, _)| selected.is_empty() || selected.contains(name))
        .collect())
}
