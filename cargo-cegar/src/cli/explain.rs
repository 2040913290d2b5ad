//! `cargo cegar explain GOAL`: explains the state of a goal.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::args::{ExplainArgs, GlobalArgs, MessageFormat};
use super::run::open;
use super::{note, print, reporter};
use crate::error::Error;
use crate::event::Level;
use crate::exit::ExitCode;
use crate::explain::{self, Explained, Explanation, StoredCampaign};
use crate::verdict::Place;
use crate::{list, probe, sources};

/// Runs the command.
pub(super) fn explain(global_args: &GlobalArgs, args: &ExplainArgs) -> Result<ExitCode, Error> {
    let mut text = String::new();
    let mut known = Vec::new();
    let mut changed = BTreeSet::new();
    for folder in folders(global_args, args)? {
        if args.from.is_some() && folder.join("program.bc").is_file() {
            // The file may come from anywhere, so its readability is tested first.
            probe::readable(&folder.join("program.bc"))?;
        }
        let left = StoredCampaign::read(&folder)?;
        for explained in left.explain(&args.goal)? {
            if let (Some(folder), Explanation::Proved(_), Some(goal)) =
                (&args.certificate, &explained.explanation, &explained.goal)
            {
                left.write_certificate(goal, folder)?;
            }
            text.push_str(&line(global_args, &explained)?);
        }
        let harness = folder.file_name().unwrap_or_default().to_string_lossy();
        for file in left.kept.sources.changed(&left.kept.root) {
            changed.insert((file, harness.clone().into_owned()));
        }
        known.extend(left.kept.goals.iter().map(|goal| goal.place.clone()));
    }
    tell_changed(&changed, global_args);
    if text.is_empty() && args.from.is_none() && is_mended(global_args, &args.goal)? {
        return print(&format!(
            "{}: its test passes now: the fault was mended, or the harness changed. `cargo cegar \
             list` shows all tests\n",
            args.goal
        ));
    }
    if text.is_empty() {
        return Err(Error::nothing(
            format!("there is no goal `{}`", args.goal),
            format!(
                "give FILE:LINE, a test's name, or a check's number as --message-format json has \
                 it; {}",
                near(&args.goal, &known)
            ),
        ));
    }
    print(&text)
}

/// Reports the files that have changed since the campaigns of some harnesses.
fn tell_changed(changed: &BTreeSet<(String, String)>, global_args: &GlobalArgs) {
    let unique = |names: BTreeSet<&String>| names.into_iter().cloned().collect::<Vec<String>>();
    let files = unique(changed.iter().map(|(file, _)| file).collect());
    let harnesses = unique(changed.iter().map(|(_, harness)| harness).collect());
    if let Some(warning) = sources::warning_of(&files, &harnesses) {
        let mut fan = reporter(global_args, false, std::path::Path::new("."));
        note(&mut fan, Level::Warning, warning);
    }
}

/// Whether this is the name of an earlier finding whose input no longer fails.
fn is_mended(global_args: &GlobalArgs, name: &str) -> Result<bool, Error> {
    let (project, config) = open(global_args)?;
    let listed = list::list(&project, &config)?;
    let mut findings = listed.iter().flat_map(|harness| &harness.findings);
    Ok(findings.any(|finding| finding.name == name && !finding.failing))
}

/// Lists goals near a goal that does not exist: lines of its file, or else files.
fn near(goal: &str, known: &[Place]) -> String {
    let mut words = goal.split(':');
    let file = words.next().unwrap_or_default();
    let line: u32 = words.next().and_then(|line| line.parse().ok()).unwrap_or(0);
    let mut lines: Vec<u32> = known
        .iter()
        .filter(|place| goal.contains(':') && place.file.ends_with(file))
        .map(|place| place.line)
        .collect();
    if lines.is_empty() {
        // A goal without a place in a file has no name.
        let files = known.iter().map(|place| place.file.as_str());
        let files: BTreeSet<&str> = files.filter(|file| !file.is_empty()).collect();
        let files: Vec<&str> = files.into_iter().take(8).collect();
        return format!("there are goals in {}", files.join(", "));
    }
    lines.sort_by_key(|&one| (one.abs_diff(line), one));
    lines.dedup();
    lines.truncate(8);
    lines.sort_unstable();
    let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
    format!("near it there are goals in the lines {}", lines.join(", "))
}

fn line(global_args: &GlobalArgs, explained: &Explained) -> Result<String, Error> {
    if global_args.message_format == MessageFormat::Human {
        return Ok(explain::show(explained));
    }
    let mut line = serde_json::to_value(explained)
        .map_err(|why| Error::io("write", "the explanation", why.into()))?;
    line["reason"] = "explained".into();
    Ok(format!("{line}\n"))
}

/// The folders of campaigns: the given one, or those of the package's harnesses.
fn folders(global_args: &GlobalArgs, args: &ExplainArgs) -> Result<Vec<PathBuf>, Error> {
    if let Some(folder) = &args.from {
        return Ok(vec![folder.clone()]);
    }
    let here = std::env::current_dir().map_err(|why| Error::io("read", ".", why))?;
    let mut above = here.ancestors();
    if global_args.manifest_path.is_none() && !above.any(|dir| dir.join("Cargo.toml").is_file()) {
        return Err(Error::nothing(
            "there is no package here",
            "name the folder of `cargo cegar check --certificate DIR` with --from DIR",
        ));
    }
    let (project, _) = open(global_args)?;
    let scratch = project.scratch();
    let mut folders: Vec<PathBuf> = std::fs::read_dir(&scratch)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.join("goals.json").is_file())
        .filter(|path| {
            let name = path.file_name().unwrap_or_default();
            args.harness
                .as_ref()
                .is_none_or(|wanted| name == wanted.as_str())
        })
        .collect();
    folders.sort();
    if folders.is_empty() {
        return Err(Error::nothing(
            format!("there is nothing to explain in {}", scratch.display()),
            "`cargo cegar run` comes first; or name the folder of `check --certificate DIR` with \
             --from DIR",
        ));
    }
    Ok(folders)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_near_is_named_once_and_in_order() {
        let place = |file: &str, line| Place {
            file: file.to_owned(),
            line,
            column: 1,
            function: String::new(),
        };
        let mut known: Vec<Place> = (1..20).rev().map(|line| place("c/a.c", line)).collect();
        known.push(place("c/a.c", 7));
        known.push(place("c/b.c", 3));
        assert_eq!(
            near("a.c:99", &known),
            "near it there are goals in the lines 12, 13, 14, 15, 16, 17, 18, 19"
        );
        assert_eq!(near("x.c:3", &known), "there are goals in c/a.c, c/b.c");
        assert_eq!(
            near("no_such_test", &known),
            "there are goals in c/a.c, c/b.c"
        );
    }
}
