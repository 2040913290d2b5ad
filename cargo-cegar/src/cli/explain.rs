//! `cargo cegar explain GOAL`: why a goal stands as it does.

use std::path::PathBuf;

use super::args::{ExplainArgs, Manners, MessageFormat};
use super::crate_commands::{open, print};
use crate::error::Error;
use crate::exit::ExitCode;
use crate::explain::{self, Explained, Left, Story};
use crate::probe;

/// Runs the command.
pub(super) fn explain(manners: &Manners, args: &ExplainArgs) -> Result<ExitCode, Error> {
    let mut text = String::new();
    let mut known = Vec::new();
    for folder in folders(manners, args)? {
        if args.from.is_some() && folder.join("program.bc").is_file() {
            // It may be from anywhere.
            probe::readable(&folder.join("program.bc"))?;
        }
        let left = Left::read(&folder)?;
        for explained in left.explain(&args.goal)? {
            if let (Some(folder), Story::Proved(_), Some(goal)) =
                (&args.certificate, &explained.story, &explained.goal)
            {
                left.write_certificate(goal, folder)?;
            }
            text.push_str(&line(manners, &explained)?);
        }
        known.extend(left.kept.goals.iter().map(|goal| goal.place.show()));
    }
    if text.is_empty() {
        let name = args.goal.rsplit_once(':').map_or("", |(file, _)| file);
        let mut near: Vec<&String> = known.iter().filter(|place| place.contains(name)).collect();
        near.dedup();
        let near: Vec<&str> = near.into_iter().take(8).map(String::as_str).collect();
        return Err(Error::nothing(
            format!("there is no goal `{}`", args.goal),
            format!(
                "give FILE:LINE, a test's name, or a check's number as --message-format json has it; there is {}",
                near.join(", ")
            ),
        ));
    }
    print(&text)
}

fn line(manners: &Manners, explained: &Explained) -> Result<String, Error> {
    if manners.message_format == MessageFormat::Human {
        return Ok(explain::show(explained));
    }
    let mut line = serde_json::to_value(explained)
        .map_err(|why| Error::io("write", "the explanation", why.into()))?;
    line["reason"] = "explained".into();
    Ok(format!("{line}\n"))
}

/// Where campaigns left something: the folder that was named, or those of the package's harnesses.
fn folders(manners: &Manners, args: &ExplainArgs) -> Result<Vec<PathBuf>, Error> {
    if let Some(folder) = &args.from {
        return Ok(vec![folder.clone()]);
    }
    let here = std::env::current_dir().map_err(|why| Error::io("read", ".", why))?;
    let mut above = here.ancestors();
    if manners.manifest_path.is_none() && !above.any(|dir| dir.join("Cargo.toml").is_file()) {
        return Err(Error::nothing(
            "there is no package here",
            "name the folder of `cargo cegar check --certificate DIR` with --from DIR",
        ));
    }
    let (project, _) = open(manners)?;
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
            "`cargo cegar run` comes first; or name the folder of `check --certificate DIR` with --from DIR",
        ));
    }
    Ok(folders)
}
