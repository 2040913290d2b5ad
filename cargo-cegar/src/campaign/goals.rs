//! How each goal stands at the end, in words.
//!
//! "Open" alone helps nobody: a reader wants to know whether anything was seen, why there is no proof, and what to turn. The
//! same list is told to the reporters and kept in the scratch folder, for `cargo cegar explain`.

use std::path::{Path, PathBuf};

use cegar_model::program::sources::Sources;
use cegar_model::program::{CheckId, FunctionKind, Pos, Program, Property};
use serde::{Deserialize, Serialize};

use super::alternate::Alternation;
use super::assumptions;
use super::findings::readable;
use super::vacuous::Known;
use crate::error::Error;
use crate::event::Event;
use crate::store;
use crate::verdict::End;
use crate::verdict::Stats;
use crate::verdict::Vacuous;
use crate::verdict::{Finding, Goal, GoalKind, GoalStatus};

/// The format that this version writes and reads.
pub const FORMAT: u32 = 1;

/// The goals of one program, as they are kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Kept {
    /// [`FORMAT`].
    pub format: u32,
    /// SHA-256 of the bitcode that it is about.
    pub bitcode: String,
    /// What the places are relative to.
    pub root: PathBuf,
    /// What was asked for.
    pub properties: Vec<Property>,
    /// Why the campaign ended.
    pub end: End,
    /// Each goal.
    pub goals: Vec<Goal>,
    /// The violations, with the check that each violates where it is known.
    pub findings: Vec<(Option<u32>, Finding)>,
    /// What may go wrong where no check of the user's stands.
    pub elsewhere: Vec<String>,
    /// What every proof rests on.
    pub assumptions: Vec<cegar_checker::Assumption>,
    /// What it cost.
    pub stats: Stats,
    /// What blocks the way, if most of the checks are unreachable from the harness.
    #[serde(default)]
    pub vacuous: Option<Vacuous>,
}

/// Tells how each goal of the user's code stands.
pub fn tell(alternation: &mut Alternation<'_, '_>, end: End) -> Kept {
    let goals = goals(alternation, end);
    for goal in &goals {
        alternation.reporter.event(&Event::Goal(goal.clone()));
    }
    let vacuous = vacuous(alternation, &goals);
    if let Some(vacuous) = &vacuous {
        alternation.reporter.event(&Event::Vacuous(vacuous.clone()));
    }
    let proofs = alternation.proofs.as_ref();
    let elsewhere = proofs.map_or(&[][..], |proofs| &proofs.outcome.elsewhere);
    let root = alternation.judge.root();
    let readable = |what: &String| readable(alternation.program, root, what);
    Kept {
        format: FORMAT,
        bitcode: alternation.digest.clone(),
        root: alternation.judge.root().to_owned(),
        properties: alternation.harness.properties.clone(),
        end,
        goals,
        findings: alternation.judge.findings.clone(),
        elsewhere: elsewhere.iter().map(readable).collect(),
        assumptions: assumptions(alternation),
        stats: alternation.stats.clone(),
        vacuous,
    }
}

/// What there is to say if most checks are unreachable.
fn vacuous(alternation: &Alternation<'_, '_>, goals: &[Goal]) -> Option<Vacuous> {
    let checks = goals.iter().filter(|goal| goal.kind == GoalKind::Check);
    let unreachable = checks.filter(|goal| goal.status == GoalStatus::Unreachable);
    let unreachable: Vec<u32> = unreachable.map(|goal| goal.id).collect();
    let table = alternation.goals().checks;
    if !table.is_vacuous() {
        return None;
    }
    let blocks = 0..alternation.program.blocks.len();
    let known = Known {
        program: alternation.program,
        covered: alternation.search.covered().to_vec(),
        dead: blocks.map(|block| alternation.is_dead(block)).collect(),
        root: alternation.judge.root(),
    };
    Some(Vacuous {
        harness: alternation.harness.name.clone(),
        checks: table.total(),
        unreachable: table.unreachable,
        blocked: known.blocked(&unreachable),
    })
}

/// Why nothing is proved, where the prover came to no end.
pub fn no_proof(alternation: &Alternation<'_, '_>, end: End) -> &'static str {
    match end {
        _ if !alternation.settings.sides.engine() => "--fuzz-only attempts no proof",
        End::Found => "the search ended at the first violation",
        End::Budget => "the time was up before the prover was done",
        End::Interrupted => "it was interrupted before the prover was done",
        End::Settled | End::Stalled => "the prover was not done",
    }
}

fn goals(alternation: &Alternation<'_, '_>, end: End) -> Vec<Goal> {
    let program = alternation.program;
    let covered = alternation.search.covered();
    let proofs = alternation.proofs.as_ref();
    let unfinished = no_proof(alternation, end);
    let readable = |why: &str| readable(program, alternation.judge.root(), why);
    let harness = &alternation.harness.name;
    let mut all = Vec::new();
    for (number, check) in program.checks.iter().enumerate() {
        if !alternation.is_goal(check) {
            continue;
        }
        let status = if alternation.judge.violated(number as u32) {
            GoalStatus::Violated
        } else if alternation.holds(number) {
            alternation.proved(number)
        } else {
            let deciding = alternation.reach.deciding(CheckId(number as u32));
            let seen = match deciding.iter().any(|block| covered[block.index()]) {
                true => "no execution violated it",
                false => "no execution came here",
            };
            let why = proofs.and_then(|proofs| proofs.why_check(number));
            let unkept = alternation.judge.unkept(number as u32);
            GoalStatus::Open {
                why: match why {
                    _ if let Some(unkept) = &unkept => format!(
                        "violated by what the harness chose, not by the library: missing precondition {unkept}"
                    ),
                    Some(why) => format!("{seen}; not proved: {}", readable(why)),
                    None => format!("{seen}; not proved: {unfinished}"),
                },
            }
        };
        let function = &program.function(check.function).name;
        all.push(Goal {
            harness: harness.clone(),
            kind: GoalKind::Check,
            id: number as u32,
            check: Some(check.kind),
            place: alternation.judge.at(check.pos, function),
            expression: check.expression.clone(),
            status,
        });
    }
    let mut sources = Sources::default();
    for (number, block) in program.blocks.iter().enumerate() {
        let function = program.function(block.function);
        if function.kind != FunctionKind::User {
            continue;
        }
        let status = if covered[number] {
            GoalStatus::Covered
        } else if alternation.is_dead(number) {
            let given = alternation.dead_given(number);
            match given.is_empty() {
                true => GoalStatus::Unreachable,
                false => GoalStatus::Open {
                    why: format!(
                        "no execution in which other checks hold comes here, and these are not proved: {}",
                        given.join(", ")
                    ),
                },
            }
        } else {
            let why = proofs.and_then(|proofs| proofs.why_block(number));
            GoalStatus::Open {
                why: match why {
                    Some(why) => readable(why),
                    None => format!("no execution came here; not proved: {unfinished}"),
                },
            }
        };
        all.push(Goal {
            harness: harness.clone(),
            kind: GoalKind::Edge,
            id: number as u32,
            check: None,
            place: alternation.judge.at(block.pos, &function.name),
            expression: quoted(program, &mut sources, block.pos),
            status,
        });
    }
    all
}

/// What stands where a block begins: C has no names for blocks.
fn quoted(program: &Program, sources: &mut Sources, pos: Pos) -> String {
    let file = program.files.get(pos.file as usize);
    let quote = file.and_then(|file| sources.quote(file, pos.line, pos.column));
    quote.unwrap_or_default()
}

/// Writes what `explain` reads.
pub fn keep(kept: &Kept, folder: &Path) -> Result<(), Error> {
    let text =
        serde_json::to_vec(kept).map_err(|why| Error::engine("writing the list of goals", why))?;
    Ok(store::write(&folder.join("goals.json"), &text)?)
}
