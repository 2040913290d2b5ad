//! `list`: shows the harnesses of a crate and the state of their goals.

use super::args::{GlobalArgs, MessageFormat};
use super::print;
use super::run::open;
use crate::error::Error;
use crate::exit::ExitCode;
use crate::list as listing;
use crate::list::Remembered;
use crate::sources;

/// `cargo cegar list`
pub(super) fn list(global_args: &GlobalArgs) -> Result<ExitCode, Error> {
    let (project, config) = open(global_args)?;
    let listed = listing::list(&project, &config)?;
    if listed.is_empty() {
        return Err(Error::nothing(
            format!("`{}` has no harness", project.name),
            "`cargo cegar init` writes a first one",
        ));
    }
    let mut text = String::new();
    for harness in &listed {
        if global_args.message_format == MessageFormat::Json {
            let mut line = serde_json::to_value(harness)
                .map_err(|why| Error::io("write", "the list", why.into()))?;
            line["reason"] = "harness".into();
            text.push_str(&format!("{line}\n"));
            continue;
        }
        let entry = harness.entry.as_deref().unwrap_or("no entry");
        text.push_str(&format!(
            "{}  {}  {entry}",
            harness.name,
            harness.file.display()
        ));
        text.push_str(&format!("  corpus {}", harness.corpus));
        if let Some(goals) = &harness.goals {
            text.push_str(&format!("  checks {}", goals.checks.words()));
            if goals.checks.is_vacuous() {
                text.push_str(" (vacuous)");
            }
        }
        text.push('\n');
        if let Some(warning) = sources::warning(&harness.changed) {
            text.push_str(&format!("    {warning}\n"));
        }
        let state = |name: &String| harness.findings.iter().find(|known| known.name == *name);
        for test in &harness.tests {
            let state = state(test).map_or(String::new(), |known| format!("  {}", known.words()));
            text.push_str(&format!("    {test}{state}\n"));
        }
        let untested = |known: &&Remembered| !harness.tests.contains(&known.name);
        for known in harness.findings.iter().filter(untested) {
            text.push_str(&format!(
                "    {}  {}, without a test\n",
                known.name,
                known.words()
            ));
        }
    }
    print(&text)
}
