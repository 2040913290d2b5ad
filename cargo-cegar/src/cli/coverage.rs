//! `cargo cegar coverage`: shows which lines the campaigns executed, which are unreachable, and
//! which are open.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::args::{CoverageArgs, GlobalArgs, MessageFormat};
use super::print;
use super::run::open;
use super::{note, outputs, reporter};
use crate::coverage::{self, Count, Coverage};
use crate::error::Error;
use crate::event::{Fan, Level};
use crate::exit::ExitCode;
use crate::explain::StoredCampaign;
use crate::report::html::{Chapter, PROOFS, page, why_missing};
use crate::{plan, sources, store};

/// Runs the command.
pub(super) fn coverage(global_args: &GlobalArgs, args: &CoverageArgs) -> Result<ExitCode, Error> {
    outputs::distinct(&[("--lcov", &args.lcov), ("--html", &args.html)])?;
    let (project, config) = open(global_args)?;
    plan::check_selection(&project, &config, &args.harnesses)?;
    let names: Vec<String> = crate::list::harnesses(&project, &config)?
        .into_iter()
        .map(|(name, _)| name)
        .filter(|name| args.harnesses.is_empty() || args.harnesses.contains(name))
        .collect();
    let scratch = project.scratch();
    let folders: Vec<PathBuf> = names.iter().map(|name| scratch.join(name)).collect();
    let Found {
        all,
        missing,
        idle,
        changed,
    } = coverage_of(&folders);
    // Of selected harnesses, only the code that they reach is of interest.
    let all = match args.harnesses.is_empty() {
        true => all.complete(),
        false => all,
    };
    if missing.len() == folders.len() {
        // The reasons are usually the same, so the first one is reported.
        return Err(missing.into_iter().next().map_or_else(
            || {
                Error::nothing(
                    "there is no harness",
                    "`cargo cegar init` writes a first one",
                )
            },
            |(_, why)| why,
        ));
    }
    let left_out = missing.iter().map(|(folder, why)| {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        (name.into_owned(), why_missing(folder, why))
    });
    let left_out: Vec<(String, String)> = left_out.collect();
    let mut fan = reporter(global_args, false, &project.root);
    let never = |name: &str| !scratch.join(name).join("goals.json").exists();
    let waiting: Vec<&str> = names
        .iter()
        .map(String::as_str)
        .filter(|n| never(n))
        .collect();
    if !waiting.is_empty() {
        let text = format!(
            "left out, since they have not run yet: {}",
            waiting.join(", ")
        );
        note(&mut fan, Level::Warning, text);
    }
    let damaged = left_out.iter().filter(|(name, _)| !never(name));
    tell_gaps(damaged, &idle, changed, &mut fan);
    if all.count().lines == 0 {
        let text = "no line of C belongs to the harnesses: there is nothing to be covered";
        note(&mut fan, Level::Warning, text.to_owned());
    }
    if let Some(path) = &args.lcov {
        store::write(path, coverage::lcov(&all).as_bytes())?;
    }
    if let Some(path) = &args.html {
        let package: &Path = &project.cegar;
        let chapters: Vec<Chapter> = names
            .iter()
            .filter_map(|name| Chapter::read(name, &scratch.join(name), &[package]).ok())
            .map(|mut chapter| {
                chapter.explain(PROOFS);
                chapter
            })
            .collect();
        store::write(path, page(&project.name, &chapters, &left_out).as_bytes())?;
    }
    match global_args.message_format {
        MessageFormat::Human => print(&coverage::table(&all)),
        MessageFormat::Json => print(&lines(&all)),
    }
}

/// Reports the harnesses without known coverage, and the files that have changed since the
/// campaigns.
fn tell_gaps<'a>(
    damaged: impl Iterator<Item = &'a (String, String)>,
    idle: &[String],
    changed: BTreeSet<String>,
    fan: &mut Fan,
) {
    for (name, why) in damaged {
        note(fan, Level::Warning, format!("{name} is left out: {why}"));
    }
    if !idle.is_empty() {
        let text = format!(
            "no execution was seen of {}: what it covers is not known, and what is open there was \
             not tried",
            idle.join(", ")
        );
        note(fan, Level::Warning, text);
    }
    if let Some(text) = sources::warning(&Vec::from_iter(changed)) {
        note(fan, Level::Warning, text);
    }
}

/// The coverage data in the folders of campaigns.
#[derive(Default)]
pub(super) struct Found {
    /// The coverage.
    pub all: Coverage,
    /// The folders without coverage data, and why.
    missing: Vec<(PathBuf, Error)>,
    /// The harnesses of which no execution was recorded.
    idle: Vec<String>,
    /// The source files that have changed since the campaigns.
    changed: BTreeSet<String>,
}

/// The coverage that campaigns left in these folders.
pub(super) fn coverage_of(folders: &[PathBuf]) -> Found {
    let mut found = Found::default();
    for folder in folders {
        match StoredCampaign::read(folder) {
            Ok(left) => {
                if !left.is_executed() {
                    let name = folder.file_name().unwrap_or_default();
                    found.idle.push(name.to_string_lossy().into_owned());
                }
                found.all.merge(Coverage::of(&left));
                let kept = &left.kept;
                found.changed.extend(kept.sources.changed(&kept.root));
            }
            Err(why) => found.missing.push((folder.clone(), why)),
        }
    }
    found
}

/// One JSON line for each file.
fn lines(all: &Coverage) -> String {
    let line = |(path, file): (&String, &coverage::File)| {
        let functions = file.functions.iter().map(|(name, function)| {
            let lines: Vec<_> = file.within(function).map(|(_, state)| state).collect();
            serde_json::json!({
                "name": name,
                "line": function.line,
                "linked": function.is_linked,
                "lines": Count::of(&lines),
            })
        });
        let message = serde_json::json!({
            "reason": "coverage",
            "file": path,
            "lines": Count::of(file.lines.values()),
            "states": file.lines,
            "functions": functions.collect::<Vec<_>>(),
        });
        format!("{message}\n")
    };
    all.files.iter().map(line).collect()
}
