//! The prover's results for a harness.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use cegar_benches::Result;
use serde_json::Value;

use super::list::{Library, fetched};
use super::process::{Ended, run};

/// The seconds that a check may take beyond its time before it is killed.
const PATIENCE: u64 = 120;

/// The phases of the prover after the floor.
const SOLVER: [&str; 6] = ["explore", "forest", "loops", "guess", "houdini", "settle"];

/// The columns of a table.
pub const HEAD: &str = "| library | checks | reached | proved | proved if | open | violated | \
    floor without relations | floor | beyond the floor | seconds (of the processor) | peak MB | \
    certificate |";

/// The result of checking a harness.
pub struct Checked {
    finished: Value,
    /// Whether the certificate was accepted.
    is_accepted: bool,
    /// The number of checks that some execution reached.
    reached: usize,
    ended: Ended,
}

impl Checked {
    /// Checks a harness for the given number of seconds.
    pub fn of(tool: &Path, library: &Library, seconds: u64) -> Result<Checked> {
        let folder = tempfile::tempdir()?;
        let sources = fetched(library, folder.path())?;
        let harness = folder.path().join("harness.c");
        fs::write(&harness, library.harness)?;
        let mut command = Command::new(tool);
        command
            .args(["cegar", "check", "--no-emit", "--message-format", "json"])
            .args(["--property", "memory", "--engine-only"])
            .args(["--max-time", &format!("{seconds}s")])
            .arg("-I")
            .arg(sources.join(library.include))
            .args(library.defines.iter().flat_map(|define| ["-D", *define]))
            .arg(&harness)
            .args(library.files.iter().map(|file| sources.join(file)))
            .current_dir(folder.path());
        let limit = Duration::from_secs(seconds + PATIENCE);
        let ended = run(command, folder.path(), limit)?;
        let lines = ended.stdout.lines();
        let messages: Vec<Value> = lines
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        let finished = messages.iter().find(|m| m["reason"] == "finished");
        let refused = messages.iter().any(|message| {
            let said = message["message"].as_str().unwrap_or_default();
            said.starts_with("the checker did not accept")
        });
        let reached = messages.iter().filter(|message| is_reached(message));
        Ok(Checked {
            finished: finished.cloned().ok_or_else(|| ended.stderr.clone())?,
            is_accepted: !refused,
            reached: reached.count(),
            ended,
        })
    }

    fn checks(&self, name: &str) -> u64 {
        let of = &self.finished["goals"]["checks"][name];
        of.as_u64().unwrap_or(0)
    }

    /// The number of checks that are proved without a condition.
    pub fn proved(&self) -> u64 {
        let names = ["proved", "proved_not_reached", "unreachable"];
        names.iter().map(|name| self.checks(name)).sum()
    }

    /// The number of checks that are proved on condition that other checks hold.
    pub fn proved_if(&self) -> u64 {
        self.checks("proved_if")
    }

    fn count(&self, name: &str) -> u64 {
        let of = &self.finished["stats"]["prover"][name];
        of.as_u64().unwrap_or(0)
    }

    fn seconds(&self, name: &str) -> f64 {
        let of = &self.finished["stats"]["prover"][name];
        of.as_f64().unwrap_or(0.0)
    }

    /// A row of the table.
    pub fn row(&self, name: &str) -> String {
        let (proved, sure_or_not) = (self.proved(), self.proved() + self.proved_if());
        let sum = sure_or_not + self.checks("open") + self.checks("violated");
        let stage = |checks: &str, seconds: &str| {
            let (checks, seconds) = (self.count(checks), self.seconds(seconds));
            format!("{checks} in {seconds:.1} s")
        };
        let seconds: f64 = SOLVER.iter().map(|name| self.seconds(name)).sum();
        let beyond = format!("{} in {seconds:.1} s", self.count("beyond_floor_checks"));
        format!(
            "| {name} | {sum} | {} | {proved} | {} | {} | {} | {} | {} | {} | {:.0} ({:.0}) | \
             {:.0} | {} |",
            self.reached,
            self.proved_if(),
            self.checks("open"),
            self.checks("violated"),
            stage("floor_first_checks", "floor_first"),
            stage("floor_checks", "floor"),
            beyond,
            self.ended.wall,
            self.ended.processor,
            self.ended.peak,
            if self.is_accepted {
                "accepted"
            } else {
                "refused"
            },
        )
    }
}

/// Whether a message is about a check that an execution reached.
fn is_reached(message: &Value) -> bool {
    let why = message["why"].as_str().unwrap_or_default();
    let came = match message["status"].as_str() {
        Some("proved") => message["reached"] == true,
        Some("violated") => true,
        Some("open") => !why.starts_with("no execution came here"),
        _ => false,
    };
    message["reason"] == "goal" && message["kind"] == "check" && came
}
