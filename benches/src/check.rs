//! Runs one `cargo cegar check` as a process: its verdict, its counts, and its wall-clock time.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use serde_json::Value;

use crate::Result;

/// The result of a check.
#[derive(Debug)]
pub struct Check {
    /// The seconds from the start of the process to its end.
    pub wall: f64,
    finished: Value,
}

impl Check {
    /// Checks a program in an empty folder, for at most `limit` seconds; `more` are arguments of
    /// `cargo cegar check`.
    pub fn of(tool: &Path, source: &Path, limit: u64, more: &[&str]) -> Result<Check> {
        let folder = tempfile::tempdir()?;
        let start = Instant::now();
        let output = Command::new(tool)
            .args(["cegar", "check", "--no-emit", "--message-format", "json"])
            .args(["--max-time", &format!("{limit}s")])
            .args(more)
            .arg(source)
            .current_dir(folder.path())
            .output()?;
        let wall = start.elapsed().as_secs_f64();
        let finished = String::from_utf8_lossy(&output.stdout)
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .find(|message| message["reason"] == "finished")
            .ok_or_else(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
        Ok(Check { wall, finished })
    }

    /// `violated`, `proved` or `open`.
    pub fn verdict(&self) -> &str {
        self.finished["verdict"].as_str().unwrap_or("?")
    }

    /// A count in the last message, by its JSON pointer below `stats`; 0 if it is missing.
    pub fn count(&self, at: &str) -> u64 {
        self.stat(at).and_then(Value::as_u64).unwrap_or(0)
    }

    /// A time in seconds in the last message, found like a count.
    pub fn seconds(&self, at: &str) -> f64 {
        self.stat(at).and_then(Value::as_f64).unwrap_or(0.0)
    }

    fn stat(&self, at: &str) -> Option<&Value> {
        self.finished.pointer(&format!("/stats/{at}"))
    }
}

/// The C files in a folder, sorted; none if there is no such folder.
pub fn programs(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .collect();
    found.sort();
    found
}

/// A file's name without folder and extension.
pub fn name(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}
