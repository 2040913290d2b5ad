//! `cargo cegar check FILE...`: checks one program, without a project.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use cegar_model::assumption::{self, LiftError};
use cegar_model::program::Property;
use cegar_search::strategy::Strategy;

use super::args::{BudgetArgs, CheckArgs, GlobalArgs};
use super::{conclude, note, outputs, reporter, svcomp};
use crate::compile::{Compiler, Unit};
use crate::config::{Config, PropertyName, RunConfig, nearest};
use crate::emit::Identity;
use crate::error::Error;
use crate::event::{Fan, Level, Reporter};
use crate::exit::ExitCode;
use crate::given::Given;
use crate::options::{CheckOptions, Harness, Settings, Sides, configured_duration};
use crate::report::{JunitReporter, SarifReporter};
use crate::svcomp::{DataModel, Goal, Question};
use crate::{campaign, plan, store, witness};

const DEFAULT_TIME: Duration = Duration::from_secs(60);

/// Runs the command.
pub(super) fn check(
    global_args: &GlobalArgs,
    args: &CheckArgs,
    stop: &AtomicBool,
) -> Result<ExitCode, Error> {
    if let Some(task) = &args.svcomp {
        return svcomp::check(global_args, args, task, stop);
    }
    let properties = match args.property.as_slice() {
        [] => None,
        names => Some(PropertyName::expand(names)),
    };
    let asked = Asked {
        files: &args.files,
        properties,
        question: None,
    };
    program(global_args, args, &asked, stop)
}

/// The program to check, and the properties.
pub(super) struct Asked<'a> {
    /// Its C files.
    pub files: &'a [PathBuf],
    /// The properties; `None` for the default.
    pub properties: Option<Vec<Property>>,
    /// The question of an SV-COMP task that the verdict answers, and the task's data model.
    pub question: Option<(&'a Question, Goal, DataModel)>,
}

/// Checks one program.
pub(super) fn program(
    global_args: &GlobalArgs,
    args: &CheckArgs,
    asked: &Asked<'_>,
    stop: &AtomicBool,
) -> Result<ExitCode, Error> {
    let here = std::env::current_dir().map_err(|why| Error::io("read", ".", why))?;
    let units = units(args, asked.files, &here)?;
    let mut harness = Harness::new(name_of(asked.files), units);
    harness.entry.clone_from(&args.entry);
    harness.argv = 3;
    if let Some(properties) = &asked.properties {
        harness.properties.clone_from(properties);
    }
    if let Some(rules) = &args.rules {
        harness.rules = Config::read(rules)?.external;
    }
    if let Some(max_len) = args.max_len {
        harness.max_len = max_len;
    }
    Given::read(&args.budget.dict, &args.budget.seeds)?.give(&mut harness);
    let compiler = Compiler::find()?;
    let mut settings = settings(&args.budget, &RunConfig::default(), compiler)?;
    (settings.keep, settings.first_only) = (args.keep, true);
    // A witness states its invariants in C, and the states of the floor cannot be expressed in C.
    settings.floor &= args.witness.is_none();
    if settings.max_time.is_none() && settings.runs.is_none() {
        settings.max_time = Some(DEFAULT_TIME);
    }
    let emit_dirs = match args.budget.no_emit {
        true => Vec::new(),
        false => tests_folders(args.emit_dir.as_deref(), &harness, &here)?,
    };
    if let Some(dir) = emit_dirs.first() {
        store::could_write(dir)?;
    }
    store::temporary_files()?;
    let (scratch, _removed_at_the_end) = scratch(global_args, args, &here)?;
    let stubs = plan::stub_headers(&scratch)?;
    for unit in &mut harness.units {
        unit.flags.push(format!("-I{}", stubs.display()));
    }
    if let Some((_, _, DataModel::ILP32)) = asked.question {
        svcomp::require_one_model(&settings.compiler, &harness.units, &scratch)?;
    }

    let mut fan = reporter(global_args, settings.stats, &here);
    extra_reports(&mut fan, &args.budget, &here)?;
    if args.keep {
        note(
            &mut fan,
            Level::Info,
            format!("scratch is kept in {}", scratch.display()),
        );
    }
    let require_proof = settings.require_proof;
    let options = CheckOptions {
        harness,
        settings,
        scratch,
        emit_dirs,
        certificate: args.certificate.as_ref().map(|dir| here.join(dir)),
    };
    let witness = args.witness.as_ref().map(|file| witness::Request {
        file: here.join(file),
        scratch: options.scratch.clone(),
        inputs: asked
            .files
            .iter()
            .map(|f| witness::named(f, &here))
            .collect(),
        entry: args.entry.clone().unwrap_or_else(|| "main".to_owned()),
    });
    let mut write = |verdict, reporter: &mut dyn Reporter| {
        if let Some((question, goal, _)) = asked.question {
            svcomp::tell(question, goal, verdict, &options.scratch, reporter)?;
        }
        match &witness {
            Some(request) => witness::write(request, verdict, reporter),
            None => Ok(()),
        }
    };
    let outcome = campaign::check(&options, &mut fan, stop, &mut write);
    conclude(outcome, fan, require_proof, stop)
}

/// The number of folders to try, since other checks may claim some before this one writes its test.
const FOLDERS: usize = 64;

/// The folders for the tests in order of preference: the requested one, or else `cegar-tests` and
/// folders with this program's name, beginning with the first that contains no tests of another
/// program.
fn tests_folders(
    asked: Option<&Path>,
    harness: &Harness,
    here: &Path,
) -> Result<Vec<PathBuf>, Error> {
    let files = harness
        .units
        .iter()
        .map(|unit| (&*unit.source, &*unit.flags));
    let program = Identity::new(&harness.name, harness.entry.as_deref(), files);
    if let Some(asked) = asked {
        let folder = here.join(asked);
        return match program.fits(&folder) {
            true => Ok(vec![folder]),
            false => Err(Error::usage(
                format!("`{}` holds the tests of another program", asked.display()),
                "name another folder with --emit-dir",
            )),
        };
    }
    let own = format!("cegar-tests-{}", harness.name);
    let numbered = (2..).map(|number| format!("{own}-{number}"));
    let names = ["cegar-tests".to_owned(), own.clone()].into_iter();
    let folders = names.chain(numbered).map(|name| here.join(name));
    let from_first = folders.skip_while(|folder| !program.fits(folder));
    Ok(from_first.take(FOLDERS).collect())
}

/// A name for the program: the name of its first file, converted to an identifier.
fn name_of(files: &[PathBuf]) -> String {
    let stem = files
        .first()
        .and_then(|f| f.file_stem())
        .unwrap_or_default()
        .to_string_lossy();
    let mut name: String = stem
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert_str(0, "c_");
    }
    name
}

fn units(args: &CheckArgs, files: &[PathBuf], here: &Path) -> Result<Vec<Unit>, Error> {
    let mut flags: Vec<String> = args
        .defines
        .iter()
        .map(|define| format!("-D{define}"))
        .collect();
    flags.extend(
        args.includes
            .iter()
            .map(|dir| format!("-I{}", dir.display())),
    );
    flags.extend(args.flags.iter().cloned());
    let unit = |file: &PathBuf| {
        let source = here.join(file);
        // Opening the file also detects folders and missing permissions.
        match std::fs::File::open(&source).and_then(|file| file.metadata()) {
            Ok(metadata) if metadata.is_dir() => Err(Error::usage(
                format!("`{}` is a folder", file.display()),
                "name the C files, or use `cargo cegar run` for a crate",
            )),
            Ok(_) => Ok(Unit {
                source,
                directory: here.to_owned(),
                flags: flags.clone(),
            }),
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => Err(Error::nothing(
                format!("there is no file `{}`", file.display()),
                "paths are relative to the current folder",
            )),
            Err(why) => Err(Error::io("read", file, why)),
        }
    };
    files.iter().map(unit).collect()
}

/// Creates the scratch folder of this check. Each check has its own, so that several can run at a
/// time.
fn scratch(
    global_args: &GlobalArgs,
    args: &CheckArgs,
    here: &Path,
) -> Result<(PathBuf, Option<tempfile::TempDir>), Error> {
    if let Some(target) = &global_args.target_dir {
        let base = here.join(target).join("cegar");
        store::writable_dir(&base)?;
        let dir = tempfile::Builder::new()
            .prefix("check-")
            .tempdir_in(&base)
            .map_err(|why| Error::io("write to", &base, why))?;
        return Ok(kept(dir, args.keep));
    }
    let dir = tempfile::Builder::new()
        .prefix("cegar-check-")
        .tempdir()
        .map_err(|why| Error::io("write to", std::env::temp_dir(), why))?;
    Ok(kept(dir, args.keep))
}

fn kept(dir: tempfile::TempDir, keep: bool) -> (PathBuf, Option<tempfile::TempDir>) {
    if keep {
        (dir.keep(), None)
    } else {
        (dir.path().to_owned(), Some(dir))
    }
}

/// Combines the settings of the command line and the environment, which clap has merged, with those
/// of the file. The former take precedence.
pub(super) fn settings(
    budget: &BudgetArgs,
    file: &RunConfig,
    compiler: Compiler,
) -> Result<Settings, Error> {
    let max_time = max_time(budget, file)?;
    let strategy = budget.strategy.or(file.strategy).unwrap_or_default();
    if strategy != Strategy::Auto && budget.fuzz_only {
        return Err(Error::usage(
            format!("--fuzz-only leaves nothing to do for the strategy `{strategy}`"),
            "leave out one of the two, or say --strategy auto",
        ));
    }
    Ok(Settings {
        max_time,
        runs: budget.runs.or(file.runs),
        seed: budget.seed.or(file.seed).unwrap_or(0),
        workers: 1,
        join: None,
        first_only: false,
        sides: match (budget.engine_only, budget.fuzz_only) {
            (true, _) => Sides::Engine,
            (_, true) => Sides::Fuzz,
            _ => Sides::Both,
        },
        strategy,
        loops: !budget.no_loop_acceleration,
        floor: !budget.no_floor && file.floor.unwrap_or(true),
        lifted: lifted(budget, file)?,
        require_proof: budget.require_proof,
        stats: budget.stats,
        keep: true,
        compiler,
    })
}

/// The time limit of the command line, or else of the file.
pub(super) fn max_time(budget: &BudgetArgs, file: &RunConfig) -> Result<Option<Duration>, Error> {
    let configured = file.max_time.as_ref();
    let configured = configured.map(|text| configured_duration("`max_time` of `[run]`", text));
    Ok(budget.max_time.or(configured.transpose()?))
}

/// The assumptions that are lifted: first by the level of faults, then by name. The command line's
/// lists replace those of the file.
fn lifted(budget: &BudgetArgs, file: &RunConfig) -> Result<BTreeSet<String>, Error> {
    let list = |given: &[String], file: &Option<Vec<String>>| match given {
        [] => file.clone().unwrap_or_default(),
        given => given.to_vec(),
    };
    let faults = budget.faults.or(file.faults).unwrap_or_default();
    let lift = list(&budget.no_assume, &file.no_assume);
    let keep = list(&budget.assume, &file.assume);
    assumption::lifted(faults, &lift, &keep).map_err(|why| {
        let help = match &why {
            LiftError::Unknown(id) => {
                match nearest(id, assumption::RULES.iter().map(|rule| rule.id)) {
                    Some(near) => format!(
                        "did you mean `{near}`? There are: {}",
                        assumption::liftable()
                    ),
                    None => format!("there are: {}", assumption::liftable()),
                }
            }
            LiftError::Fixed { .. } => format!("there are: {}", assumption::liftable()),
        };
        Error::usage(why.to_string(), help)
    })
}

/// Adds the requested report files.
pub(super) fn extra_reports(fan: &mut Fan, budget: &BudgetArgs, root: &Path) -> Result<(), Error> {
    outputs::distinct(&[("--sarif", &budget.sarif), ("--junit", &budget.junit)])?;
    if let Some(path) = &budget.sarif {
        fan.add(SarifReporter::new(path.clone(), root.to_owned()));
    }
    if let Some(path) = &budget.junit {
        fan.add(JunitReporter::new(path.clone()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_have_names_that_rust_accepts() {
        assert_eq!(name_of(&["x/my-file.c".into()]), "my_file");
        assert_eq!(name_of(&["64.c".into()]), "c_64");
    }
}
