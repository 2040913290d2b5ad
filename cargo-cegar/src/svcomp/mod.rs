//! Task definitions of the Competition on Software Verification (SV-COMP), format 2.0: the files of
//! a program, the properties in question, the expected answers, and the points that an answer
//! earns.
//!
//! The conventions of the collection differ from C in some points. A task asks one property at a
//! time; `abort` only ends the run; and a data model is stated, since `long` and pointers have four
//! bytes in some tasks (ILP32). Programs are executed like on this platform (LP64), so a task with
//! the other model is accepted only if both models compile to the same program (see [`model`]).

pub mod model;

use std::fmt;
use std::path::{Path, PathBuf};

use cegar_model::program::{CheckKind, Property};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::verdict::Verdict;

/// A task definition.
#[derive(Clone, Debug)]
pub struct Task {
    /// The C files.
    pub files: Vec<PathBuf>,
    /// The questions, in the order of the file.
    pub questions: Vec<Question>,
    /// The widths of `long` and pointers.
    pub model: DataModel,
}

/// A question of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The property file's name without folder and extension: `unreach-call`.
    pub name: String,
    /// The property; `None` if it cannot be checked.
    pub goal: Option<Goal>,
    /// Whether the program satisfies the property, if the task says so.
    pub expected: Option<bool>,
}

/// The properties of the competition that can be checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Goal {
    /// `G ! call(reach_error())`.
    Unreach,
    /// `G ! overflow`: no signed arithmetic leaves the range of its type.
    Overflow,
    /// `G valid-free` and `G valid-deref`. With `leaks`, `valid-memtrack` or `valid-memcleanup` is
    /// part of it, which cannot be checked: so the property can be refuted, but not proved.
    Memory {
        /// Whether memory that is never freed counts.
        leaks: bool,
    },
}

/// The data model of a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
pub enum DataModel {
    /// `int`, `long` and pointers have 32 bits.
    #[default]
    ILP32,
    /// `long` and pointers have 64 bits.
    LP64,
}

/// An answer to a question, in the terms of the competition.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// The property holds.
    True,
    /// The property is violated.
    False,
    /// The question is not settled.
    Unknown,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Answer::True => "true",
            Answer::False => "false",
            Answer::Unknown => "unknown",
        })
    }
}

/// An answered question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answered {
    /// The property: `unreach-call`.
    pub property: String,
    /// The answer.
    pub answer: Answer,
    /// The expected answer, if the task states one.
    pub expected: Option<bool>,
    /// The points of the competition, if the task states the expected answer: 2 for a correct
    /// proof, 1 for a correct violation, -32 and -16 for wrong ones.
    pub points: Option<i32>,
}

impl Answered {
    /// The answer to a question, with its points.
    pub fn new(question: &Question, answer: Answer) -> Answered {
        let points = |expected| match (answer, expected) {
            (Answer::Unknown, _) => 0,
            (Answer::True, true) => 2,
            (Answer::False, false) => 1,
            (Answer::True, false) => -32,
            (Answer::False, true) => -16,
        };
        Answered {
            property: question.name.clone(),
            answer,
            expected: question.expected,
            points: question.expected.map(points),
        }
    }
}

impl Goal {
    /// Determines the property from its file's formula, or from its name if the file does not exist
    /// (collections are distributed without the files).
    fn read(name: &str, formula: Option<&str>) -> Option<Goal> {
        let has = |words: &str| formula.is_some_and(|text| text.contains(words));
        let is = |names: &[&str]| formula.is_none() && names.contains(&name);
        // `COVER` asks for tests instead of a verdict.
        if has("COVER(") {
            return None;
        }
        if has("call(reach_error())") || is(&["unreach-call"]) {
            return Some(Goal::Unreach);
        }
        if has("! overflow") || is(&["no-overflow"]) {
            return Some(Goal::Overflow);
        }
        let leaks = has("valid-memtrack") || has("valid-memcleanup") || is(&["valid-memsafety"]);
        (leaks || has("valid-deref") || has("valid-free")).then_some(Goal::Memory { leaks })
    }

    /// The properties to check. A failed assertion is a call of `reach_error` or ends the run, like
    /// `abort`.
    pub fn properties(self) -> Vec<Property> {
        vec![match self {
            Goal::Unreach => Property::Assertion,
            Goal::Overflow => Property::Overflow,
            Goal::Memory { .. } => Property::Memory,
        }]
    }

    /// Whether a violation of this kind violates the property. The checks of `overflow` include
    /// more than the competition asks for.
    pub fn is_violated_by(self, kind: CheckKind) -> bool {
        match self {
            Goal::Overflow => matches!(kind, CheckKind::SignedOverflow | CheckKind::Shift),
            _ => self.properties().contains(&kind.property()),
        }
    }

    /// The answer for a verdict. `violated` contains the kinds of the violated checks.
    pub fn answer(self, verdict: Verdict, violated: &[CheckKind]) -> Answer {
        match verdict {
            Verdict::Violated if violated.iter().any(|&kind| self.is_violated_by(kind)) => {
                Answer::False
            }
            Verdict::Proved if self != (Goal::Memory { leaks: true }) => Answer::True,
            Verdict::Proved | Verdict::Violated | Verdict::Open => Answer::Unknown,
        }
    }
}

/// The contents of the file.
#[derive(Deserialize)]
struct File {
    format_version: String,
    input_files: OneOrMany,
    #[serde(default)]
    properties: Vec<Asked>,
    #[serde(default)]
    options: Options,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

#[derive(Deserialize)]
struct Asked {
    property_file: String,
    expected_verdict: Option<bool>,
}

#[derive(Deserialize, Default)]
struct Options {
    language: Option<String>,
    #[serde(default)]
    data_model: DataModel,
}

impl Task {
    /// Reads a task definition. Paths in it are relative to its folder.
    pub fn read(path: &Path) -> Result<Task, Error> {
        let text = std::fs::read_to_string(path).map_err(|why| Error::io("read", path, why))?;
        let wrong = |why: String| {
            Error::usage(
                format!("`{}` is no task definition: {why}", path.display()),
                "the format is version 2.0 of SV-COMP's task definitions, in YAML",
            )
        };
        let file: File = serde_saphyr::from_str(&text).map_err(|why| wrong(why.to_string()))?;
        if !file.format_version.starts_with("2.") {
            return Err(wrong(format!("its format is {}", file.format_version)));
        }
        if let Some(other) = file.options.language.filter(|language| language != "C") {
            return Err(wrong(format!("its language is {other}")));
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        let files = match file.input_files {
            OneOrMany::One(name) => vec![name],
            OneOrMany::Many(names) => names,
        };
        let questions = file.properties.iter().map(|asked| {
            let property = folder.join(&asked.property_file);
            let name = property.file_stem().unwrap_or_default().to_string_lossy();
            let formula = std::fs::read_to_string(&property).ok();
            Question {
                name: name.clone().into_owned(),
                goal: Goal::read(&name, formula.as_deref()),
                expected: asked.expected_verdict,
            }
        });
        Ok(Task {
            questions: questions.collect(),
            files: files.iter().map(|name| folder.join(name)).collect(),
            model: file.options.data_model,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(goal: Goal, expected: bool) -> Question {
        Question {
            name: "p".to_owned(),
            goal: Some(goal),
            expected: Some(expected),
        }
    }

    #[test]
    fn a_task_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        std::fs::write(
            at("memory.prp"),
            "CHECK( init(main()), LTL(G valid-free) )\n\
             CHECK( init(main()), LTL(G valid-memtrack) )\n",
        )
        .expect("written");
        std::fs::write(
            at("t.yml"),
            "format_version: '2.0'\ninput_files: 't.c'\nproperties:\n\
             - property_file: ../properties/unreach-call.prp\n  expected_verdict: false\n\
             - property_file: memory.prp\n\
             - property_file: ../properties/termination.prp\n  expected_verdict: true\n\
             options:\n  language: C\n  data_model: LP64\n",
        )
        .expect("written");
        let task = Task::read(&at("t.yml")).expect("a task");
        assert_eq!(task.files, [at("t.c")]);
        assert_eq!(task.model, DataModel::LP64);
        let all: Vec<_> = task
            .questions
            .iter()
            .map(|q| (q.goal, q.expected))
            .collect();
        let leaks = Goal::Memory { leaks: true };
        let wanted = [
            (Some(Goal::Unreach), Some(false)),
            (Some(leaks), None),
            (None, Some(true)),
        ];
        assert_eq!(all, wanted);
        std::fs::write(at("t.yml"), "input_files: [").expect("written");
        let why = Task::read(&at("t.yml")).expect_err("broken").to_string();
        assert!(why.contains("is no task definition"), "{why}");
    }

    #[test]
    fn only_what_is_asked_is_answered() {
        let overflow = Goal::Overflow;
        let by = |kinds: &[CheckKind]| overflow.answer(Verdict::Violated, kinds);
        assert_eq!(by(&[CheckKind::SignedOverflow]), Answer::False);
        assert_eq!(by(&[CheckKind::DivisionByZero]), Answer::Unknown);
        let memory = Goal::Memory { leaks: true };
        assert_eq!(memory.answer(Verdict::Proved, &[]), Answer::Unknown);
        assert_eq!(Goal::Unreach.answer(Verdict::Proved, &[]), Answer::True);
    }

    #[test]
    fn wrong_answers_cost_more_than_right_ones_earn() {
        let points = |expected, answer| {
            let question = question(Goal::Unreach, expected);
            Answered::new(&question, answer).points
        };
        assert_eq!(points(true, Answer::True), Some(2));
        assert_eq!(points(false, Answer::False), Some(1));
        assert_eq!(points(false, Answer::True), Some(-32));
        assert_eq!(points(true, Answer::False), Some(-16));
        assert_eq!(points(true, Answer::Unknown), Some(0));
    }
}
