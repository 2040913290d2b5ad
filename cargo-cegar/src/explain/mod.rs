//! Explains the status of a goal.
//!
//! A verdict is a single word, and users need the reasons for it: for a violation, the lines that
//! an execution entered and the values that it chose; for a proof, the few invariants that it rests
//! on; for an open goal, what was tried and which option may help. All of this follows from what a
//! campaign leaves in its folder (the program, the list of goals, the certificate), so nothing is
//! searched here.

mod open;
mod path;
mod proof;
mod text;

use std::path::{Path, PathBuf};

use cegar_checker::Certificate;
use cegar_model::program::{Program, Property};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::campaign::goals::{FORMAT, StoredGoals};
use crate::campaign::reach::{Backwards, Reach};
use crate::campaign::vacuous::Known;
use crate::error::Error;
use crate::store;
use crate::verdict::Blocked;
use crate::verdict::{Finding, Goal, GoalKind, GoalStatus, Place};

pub use open::Open;
pub use path::{Path as Way, Step};
pub use proof::{Invariant, Proved};
pub use text::show;

/// The results that a campaign left in its folder.
pub struct StoredCampaign {
    /// The list of goals.
    pub kept: StoredGoals,
    folder: PathBuf,
    program: Program,
    digest: String,
    certificate: Option<Certificate>,
}

/// A goal with the explanation of its status.
#[derive(Clone, Debug, Serialize)]
pub struct Explained {
    /// The goal; `None` for a violation that belongs to no check of the program.
    pub goal: Option<Goal>,
    /// The explanation.
    #[serde(flatten)]
    pub explanation: Explanation,
}

/// The explanation of a status; see [`Explained`].
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "verdict", rename_all = "lowercase")]
pub enum Explanation {
    /// An execution violates the check.
    Violated {
        /// The finding.
        finding: Box<Finding>,
        /// The path of an execution to the violation.
        path: Way,
    },
    /// No execution violates the check or enters the block.
    Proved(Proved),
    /// Some execution entered the block.
    Covered,
    /// The goal is not settled.
    Open(Open),
}

impl StoredCampaign {
    /// The folder of the package, by its name: the folder of scratch data has the same.
    pub fn package(&self) -> String {
        let package = self.folder.parent().and_then(Path::file_name);
        package.map_or_else(
            || "cegar".to_owned(),
            |name| name.to_string_lossy().into_owned(),
        )
    }

    /// Reads the results from the folder.
    pub fn read(folder: &Path) -> Result<StoredCampaign, Error> {
        let list = folder.join("goals.json");
        let kept: StoredGoals =
            serde_json::from_slice(&read(&list)?).map_err(|why| damaged(&list, &why))?;
        if kept.format != FORMAT {
            let why = format!(
                "it has format {}, and this version reads {FORMAT}",
                kept.format
            );
            return Err(damaged(&list, &why));
        }
        let bitcode = folder.join("program.bc");
        let digest = store::hex(&Sha256::digest(read(&bitcode)?));
        if digest != kept.bitcode {
            return Err(damaged(&bitcode, &"goals.json is about another program"));
        }
        let program = Program::load(&bitcode).map_err(|why| damaged(&bitcode, &why))?;
        let file = folder.join("certificate.json");
        let certificate = match file.exists() {
            true => {
                let found: Certificate =
                    serde_json::from_slice(&read(&file)?).map_err(|why| damaged(&file, &why))?;
                // A certificate of an earlier campaign is for another program.
                (found.bitcode == digest).then_some(found)
            }
            false => None,
        };
        Ok(StoredCampaign {
            kept,
            folder: folder.to_owned(),
            program,
            digest,
            certificate,
        })
    }

    /// Explains a finding.
    pub fn explain_finding(&self, finding: &Finding) -> Explained {
        let mut known = self.kept.findings.iter();
        let check = known.find(|(_, known)| known.name == finding.name);
        self.violated(check.and_then(|(check, _)| *check), finding)
    }

    /// Explains a goal.
    pub fn explain_goal(&self, goal: &Goal) -> Result<Explained, Error> {
        self.goal(goal)
    }

    /// Explains an open goal. Other goals need more than the list of goals, so they yield `None`.
    pub fn explain_open(&self, goal: &Goal) -> Option<Explained> {
        let GoalStatus::Open { why } = &goal.status else {
            return None;
        };
        Some(Explained {
            goal: Some(goal.clone()),
            explanation: Explanation::Open(open::open(self, goal, why)),
        })
    }

    /// Whether any execution entered the user's code.
    pub fn is_executed(&self) -> bool {
        let mut goals = self.kept.goals.iter();
        goals.any(|goal| goal.kind == GoalKind::Edge && goal.status == GoalStatus::Covered)
    }

    /// The program of the campaign.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The certificate with the proofs, if there is one.
    pub fn certificate(&self) -> Option<&Certificate> {
        self.certificate.as_ref()
    }

    /// Explains everything that `what` may denote: the number of a check, the name of a test, or a
    /// place.
    pub fn explain(&self, what: &str) -> Result<Vec<Explained>, Error> {
        let mut told = Vec::new();
        let findings = &self.kept.findings;
        for (check, finding) in findings {
            if finding.name == what || is_at(&finding.place, what) {
                told.push(self.violated(*check, finding));
            }
        }
        if !told.is_empty() {
            return Ok(told);
        }
        let number: Option<u32> = what.parse().ok();
        let meant: Vec<&Goal> = match number {
            Some(number) => {
                let is_it = |g: &&Goal| g.kind == GoalKind::Check && g.id == number;
                self.kept.goals.iter().filter(is_it).collect()
            }
            None => self.at(what),
        };
        for goal in meant {
            told.push(self.goal(goal)?);
        }
        Ok(told)
    }

    /// The checks at a place, or the branches if there are no checks.
    fn at(&self, place: &str) -> Vec<&Goal> {
        let here = |kind: GoalKind| {
            let goals = self.kept.goals.iter();
            goals.filter(move |goal| goal.kind == kind && is_at(&goal.place, place))
        };
        let checks: Vec<&Goal> = here(GoalKind::Check).collect();
        match checks.is_empty() {
            true => here(GoalKind::Edge).collect(),
            false => checks,
        }
    }

    fn goal(&self, goal: &Goal) -> Result<Explained, Error> {
        let explanation = match &goal.status {
            GoalStatus::Violated => {
                let mut findings = self.kept.findings.iter();
                let found = findings.find(|(check, _)| *check == Some(goal.id));
                return Ok(match found {
                    Some((check, finding)) => self.violated(*check, finding),
                    None => Explained {
                        goal: Some(goal.clone()),
                        explanation: Explanation::Open(open::open(
                            self,
                            goal,
                            "its input was not kept",
                        )),
                    },
                });
            }
            GoalStatus::Proved { .. } | GoalStatus::Unreachable => match &self.certificate {
                Some(certificate) => Explanation::Proved(Proved {
                    reached: matches!(goal.status, GoalStatus::Proved { reached: true, .. }),
                    given: match &goal.status {
                        GoalStatus::Proved { given, .. } => given.clone(),
                        _ => Vec::new(),
                    },
                    blocked: self.blocked(goal),
                    ..proof::proved(self, certificate, goal)?
                }),
                None => Explanation::Open(open::open(
                    self,
                    goal,
                    "it was proved, but the certificate is gone",
                )),
            },
            GoalStatus::Covered => Explanation::Covered,
            GoalStatus::Open { why } => Explanation::Open(open::open(self, goal, why)),
        };
        Ok(Explained {
            goal: Some(goal.clone()),
            explanation,
        })
    }

    /// The place where the path to an unreachable check is blocked.
    fn blocked(&self, goal: &Goal) -> Option<Blocked> {
        if goal.kind != GoalKind::Check
            || goal.status != GoalStatus::Unreachable
            || goal.id as usize >= self.program.checks.len()
        {
            return None;
        }
        let with = |wanted: GoalStatus| {
            let mut blocks = vec![false; self.program.blocks.len()];
            for goal in &self.kept.goals {
                if goal.kind == GoalKind::Edge
                    && goal.status == wanted
                    && let Some(block) = blocks.get_mut(goal.id as usize)
                {
                    *block = true;
                }
            }
            blocks
        };
        let known = Known {
            program: &self.program,
            covered: with(GoalStatus::Covered),
            dead: with(GoalStatus::Unreachable),
            root: &self.kept.root,
        };
        let backwards = Backwards::of(&self.program);
        known.blocked_one(goal.id, &Reach::of(&self.program), &backwards)
    }

    fn violated(&self, check: Option<u32>, finding: &Finding) -> Explained {
        let mut goals = self.kept.goals.iter();
        let goal = goals.find(|goal| goal.kind == GoalKind::Check && Some(goal.id) == check);
        Explained {
            goal: goal.cloned(),
            explanation: Explanation::Violated {
                finding: Box::new(finding.clone()),
                path: path::path(
                    &self.program,
                    (&self.kept.root, &self.kept.sources),
                    &finding.input,
                ),
            },
        }
    }

    /// Writes the certificate of one proved goal, with only the facts that it needs, together with
    /// the bitcode.
    pub fn write_certificate(&self, goal: &Goal, folder: &Path) -> Result<Option<PathBuf>, Error> {
        let Some(certificate) = &self.certificate else {
            return Ok(None);
        };
        let pruned = proof::pruned(self, certificate, goal)?;
        let bitcode = self.folder.join("program.bc");
        crate::campaign::proofs::write(&pruned, folder, &bitcode).map(Some)
    }

    fn asked(&self, property: Property) -> bool {
        self.kept.properties.contains(&property)
    }
}

/// Whether `FILE:LINE`, with or without folders and the column, denotes a place.
fn is_at(place: &Place, what: &str) -> bool {
    let mut parts = what.rsplitn(3, ':');
    let (last, before, rest) = (parts.next(), parts.next(), parts.next());
    let number = |text: Option<&str>| text.and_then(|text| text.parse::<u32>().ok());
    let (file, line, column) = match (rest, number(before), number(last)) {
        (Some(file), Some(line), Some(column)) => (file, line, Some(column)),
        (None, None, Some(line)) => match before {
            Some(file) => (file, line, None),
            None => return false,
        },
        _ => return false,
    };
    let same_file = place.file == file || place.file.ends_with(&format!("/{file}"));
    same_file && place.line == line && column.is_none_or(|column| column == place.column)
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|why| match why.kind() {
        std::io::ErrorKind::NotFound => Error::nothing(
            format!("there is no file `{}`", path.display()),
            "`cargo cegar run` leaves it in target/cegar/HARNESS, `cargo cegar check --certificate \
             DIR` in DIR",
        ),
        _ => Error::io("read", path, why),
    })
}

fn damaged(path: &Path, why: &dyn std::fmt::Display) -> Error {
    Error::usage(
        format!("`{}` cannot be used: {why}", path.display()),
        "run the campaign again",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_understood_with_and_without_folders_and_columns() {
        let place = Place {
            file: "c/parse.c".to_owned(),
            line: 12,
            column: 3,
            function: "parse".to_owned(),
        };
        for yes in ["parse.c:12", "c/parse.c:12", "parse.c:12:3"] {
            assert!(is_at(&place, yes), "{yes}");
        }
        for no in [
            "arse.c:12",
            "parse.c:1",
            "parse.c:12:4",
            "parse.c",
            "12",
            "",
            ":",
            "::",
        ] {
            assert!(!is_at(&place, no), "{no}");
        }
    }
}
