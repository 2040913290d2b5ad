//! `cargo cegar bindings`: compares the crate's declarations with the library.

use std::sync::atomic::AtomicBool;

use super::args::{BindingsArgs, GlobalArgs};
use super::run::{compiler, open};
use super::{note, outputs, reporter};
use crate::bindings::Binding;
use crate::bindings::{self, ComparisonReport};
use crate::compile::Unit;
use crate::config::Config;
use crate::error::Error;
use crate::event::{Event, Fan, Level, Reporter as _};
use crate::exit::ExitCode;
use crate::options::RunOptions;
use crate::plan::SourceList;
use crate::project::Project;
use crate::report::{JunitReporter, SarifReporter};
use crate::{plan, store};

/// Runs the command.
pub(super) fn bindings(
    global_args: &GlobalArgs,
    args: &BindingsArgs,
    stop: &AtomicBool,
) -> Result<ExitCode, Error> {
    let (project, config) = open(global_args)?;
    outputs::distinct(&[("--sarif", &args.sarif), ("--junit", &args.junit)])?;
    let mut fan = reporter(global_args, false, &project.root);
    if let Some(path) = &args.sarif {
        fan.add(SarifReporter::new(path.clone(), project.root.clone()));
    }
    if let Some(path) = &args.junit {
        fan.add(JunitReporter::new(path.clone()));
    }
    store::writable_dir(&project.scratch())?;
    let library = plan::library(&project, &config, SourceList::Current, &mut fan, stop)?;
    let checked = checked(&project, &config, &library.units, stop)?;
    if checked.declared == 0 {
        let mut text =
            "the crate's Rust code declares no foreign function that could be read".to_owned();
        for (place, why) in &checked.left_out {
            text += &format!("\n  {}: {why}", place.show());
        }
        note(&mut fan, Level::Warning, text);
    }
    for mismatch in &checked.mismatches {
        fan.event(&Event::BindingMismatch(Binding::new(
            mismatch,
            &project.root,
        )));
    }
    fan.event(&Event::BindingsChecked(checked));
    let mismatched = fan.mismatched;
    fan.finish()
        .map_err(|why| Error::io("write", "the report", why))?;
    Ok(match mismatched {
        true => ExitCode::Violation,
        false => ExitCode::Clean,
    })
}

fn checked(
    project: &Project,
    config: &Config,
    library: &[Unit],
    stop: &AtomicBool,
) -> Result<ComparisonReport, Error> {
    let clang = compiler(config)?;
    bindings::check(project, &clang, library, stop)
}

/// The mismatches that `run` and `ci` find at their beginning; also reports how the comparison
/// went. If the comparison fails, the command continues without it.
pub(super) fn found(
    project: &Project,
    config: &Config,
    options: &RunOptions,
    fan: &mut Fan,
    stop: &AtomicBool,
) -> Result<Vec<Binding>, Error> {
    if config.bindings.check == Some(false) || !bindings::has_declarations(project) {
        return Ok(Vec::new());
    }
    // All harnesses of a package have the same library.
    let first = options.harnesses.first();
    let library = first.map_or(&[][..], |first| &first.units[first.library.clone()]);
    let checked = match checked(project, config, library, stop) {
        Ok(checked) => checked,
        Err(why) => {
            let text = why.to_string();
            let first = text.lines().next().unwrap_or_default();
            let text =
                format!("the crate's declarations were not compared with the library: {first}");
            note(fan, Level::Warning, text);
            return Ok(Vec::new());
        }
    };
    let all = checked.mismatches.iter();
    let all = all
        .map(|mismatch| Binding::new(mismatch, &project.root))
        .collect();
    fan.event(&Event::BindingsChecked(checked));
    Ok(all)
}
