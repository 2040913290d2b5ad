//! Scores `cargo cegar check --svcomp` on a folder of SV-COMP's task definitions as the competition
//! does: 2 points for a proof, 1 for a violation, -32 for a wrong proof and -16 for a wrong
//! violation.
//!
//!     cargo build --release -p cargo-cegar
//!     cargo bench -p cegar-benches --bench svcomp -- DIR [DIR ...] [--seconds N] [--half 0|1] \
//!         [--property NAME] [-I DIR] [--list]
//!
//! `--half` selects one half of the tasks by a hash of their names, so that one half can be used
//! for development and the other kept for the final evaluation. Each task is checked by a process
//! of its own on one core. `--list` prints one line per task.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use cargo_cegar::svcomp::{Answer, Answered, Task};
use cegar_benches::{Result, tool};
use serde_json::Value;

/// The options of the command line.
struct Asked {
    folders: Vec<PathBuf>,
    includes: Vec<String>,
    seconds: u64,
    half: Option<u64>,
    property: String,
    list: bool,
}

impl Asked {
    fn read() -> Result<Asked> {
        let mut asked = Asked {
            folders: Vec::new(),
            includes: Vec::new(),
            seconds: 60,
            half: None,
            property: "unreach-call".to_owned(),
            list: false,
        };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            match word.as_str() {
                "--bench" => {}
                "--list" => asked.list = true,
                "--seconds" => asked.seconds = value()?.parse()?,
                "--half" => asked.half = Some(value()?.parse()?),
                "--property" => asked.property = value()?,
                "-I" => asked.includes.push(value()?),
                _ => asked.folders.push(PathBuf::from(word)),
            }
        }
        match asked.folders.is_empty() {
            true => Err("name a folder of task definitions".into()),
            false => Ok(asked),
        }
    }
}

/// The totals of a category.
#[derive(Default)]
struct Sums {
    tasks: u32,
    proved: u32,
    violated: u32,
    wrong: u32,
    refused: u32,
    points: i32,
    most: i32,
    seconds: f64,
}

impl Sums {
    fn add(&mut self, expected: bool, end: &End) {
        self.tasks += 1;
        self.most += if expected { 2 } else { 1 };
        self.seconds += end.seconds;
        self.refused += u32::from(end.answered.is_none());
        let Some(answered) = &end.answered else {
            return;
        };
        let points = answered.points.unwrap_or(0);
        self.points += points;
        match answered.answer {
            _ if points < 0 => self.wrong += 1,
            Answer::True => self.proved += 1,
            Answer::False => self.violated += 1,
            Answer::Unknown => {}
        }
    }
}

/// The result of one task.
struct End {
    seconds: f64,
    answered: Option<Answered>,
    said: String,
}

fn main() -> Result<()> {
    let asked = Asked::read()?;
    let tool = tool()?;
    let mut categories: BTreeMap<String, Sums> = BTreeMap::new();
    for folder in &asked.folders {
        let category = folder.file_name().unwrap_or_default();
        let sums = categories
            .entry(category.to_string_lossy().into_owned())
            .or_default();
        for file in tasks(folder)? {
            let Some(expected) = expected(&file, &asked) else {
                continue;
            };
            let end = check(&tool, &file, &asked)?;
            if asked.list {
                let name = file.file_name().unwrap_or_default().to_string_lossy();
                let answer = match &end.answered {
                    Some(answered) if answered.points < Some(0) => {
                        format!("WRONG {}", answered.answer)
                    }
                    Some(answered) => answered.answer.to_string(),
                    None => format!("refused: {}", end.said),
                };
                println!("{:6.1}  {name}  expected {expected}  {answer}", end.seconds);
            }
            sums.add(expected, &end);
        }
    }
    println!(
        "category                tasks  proved  violated  wrong  refused  points  of     seconds"
    );
    for (name, sums) in &categories {
        println!(
            "{name:22}  {:5}  {:6}  {:8}  {:5}  {:7}  {:6}  {:5}  {:7.0}",
            sums.tasks,
            sums.proved,
            sums.violated,
            sums.wrong,
            sums.refused,
            sums.points,
            sums.most,
            sums.seconds
        );
    }
    Ok(())
}

/// The task definitions in a folder, sorted.
fn tasks(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder)?.collect::<std::result::Result<Vec<_>, _>>()?;
    let mut found: Vec<PathBuf> = entries.iter().map(|entry| entry.path()).collect();
    found.retain(|path| path.extension().is_some_and(|extension| extension == "yml"));
    found.sort();
    Ok(found)
}

/// The expected answer of a task for the property; `None` if the task does not ask for it or
/// belongs to the other half.
fn expected(file: &Path, asked: &Asked) -> Option<bool> {
    let mut hasher = DefaultHasher::new();
    file.file_name().hash(&mut hasher);
    if asked.half.is_some_and(|half| hasher.finish() % 2 != half) {
        return None;
    }
    let task = Task::read(file).ok()?;
    let mut questions = task.questions.iter();
    questions
        .find(|question| question.name == asked.property)?
        .expected
}

fn check(tool: &Path, file: &Path, asked: &Asked) -> Result<End> {
    let folder = tempfile::tempdir()?;
    let start = Instant::now();
    let mut command = Command::new("taskset");
    command
        .args(["-c", "0"])
        .arg(tool)
        .args(["cegar", "check", "--no-emit", "--message-format", "json"])
        .args(["--max-time", &format!("{}s", asked.seconds)])
        .arg("--svcomp")
        .arg(std::fs::canonicalize(file)?)
        .args(["--only", &asked.property])
        .current_dir(folder.path());
    for include in &asked.includes {
        command.arg("-I").arg(std::fs::canonicalize(include)?);
    }
    let output = command.output()?;
    let seconds = start.elapsed().as_secs_f64();
    let messages = String::from_utf8_lossy(&output.stdout);
    let mut messages = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let answered = messages.find(|message| message["reason"] == "answered");
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said
        .lines()
        .map(str::trim)
        .find(|line| line.starts_with('×'));
    Ok(End {
        seconds,
        answered: answered.map(serde_json::from_value).transpose()?,
        said: said.unwrap_or("no answer").to_owned(),
    })
}
