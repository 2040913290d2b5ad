//! The final state of each goal, in words.
//!
//! "Open" alone is of little use: a reader wants to know whether an execution reached the goal, why
//! there is no proof, and which option to change. The same list is sent to the reporters and stored
//! in the scratch folder for `cargo cegar explain`.

use std::path::{Path, PathBuf};

use cegar_model::program::normalise::Unreached;
use cegar_model::program::sources::Sources;
use cegar_model::program::{Block, Check, CheckId, Function, FunctionKind, Pos, Program, Property};
use serde::{Deserialize, Serialize};

use super::alternate::Alternation;
use super::alternate::overview::Overview;
use super::alternate::subject::Subject;
use super::findings::readable;
use super::library;
use super::single::assumptions;
use super::vacuous::Known;
use crate::error::Error;
use crate::event::Event;
use crate::lack::lack;
use crate::sources::Digests;
use crate::store;
use crate::verdict::End;
use crate::verdict::Lack;
use crate::verdict::Stats;
use crate::verdict::Vacuous;
use crate::verdict::{Finding, Goal, GoalKind, GoalStatus};

/// The version of the file format that this program writes and reads.
pub const FORMAT: u32 = 1;

/// The stored goals of one program.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename = "Kept")]
pub struct StoredGoals {
    /// [`FORMAT`].
    pub format: u32,
    /// SHA-256 of the program's bitcode.
    pub bitcode: String,
    /// The folder to which the places are relative.
    pub root: PathBuf,
    /// The properties that were asked for.
    pub properties: Vec<Property>,
    /// Why the campaign ended.
    pub end: End,
    /// All goals.
    pub goals: Vec<Goal>,
    /// The violations, each with the check that it violates if that is known.
    pub findings: Vec<(Option<u32>, Finding)>,
    /// What may fail outside the checks of the user's code.
    pub elsewhere: Vec<String>,
    /// The assumptions on which all proofs rest.
    pub assumptions: Vec<cegar_checker::Assumption>,
    /// The statistics of the campaign.
    pub stats: Stats,
    /// What prevents executions from going on, if most of the checks are unreachable from the
    /// harness.
    #[serde(default)]
    pub vacuous: Option<Vacuous>,
    /// The digests of the files that contain the places.
    #[serde(default)]
    pub sources: Digests,
    /// The user's functions that the harness does not reach, which have no goals.
    #[serde(default)]
    pub unreached: Vec<Unreached>,
}

/// Reports the state of each goal of the user's code, and returns what is to be stored.
pub(super) fn tell(alternation: &mut Alternation<'_, '_>, end: End) -> StoredGoals {
    let goals = goals(alternation, end);
    for goal in &goals {
        alternation.reporting.event(&Event::Goal(goal.clone()));
    }
    let vacuous = vacuous(alternation, &goals);
    if let Some(vacuous) = &vacuous {
        alternation
            .reporting
            .event(&Event::Vacuous(vacuous.clone()));
    }
    let proofs = alternation.proving.proofs.as_ref();
    let elsewhere = proofs.map_or(&[][..], |proofs| &proofs.outcome.elsewhere);
    let root = alternation.confirming.judge.root();
    StoredGoals {
        format: FORMAT,
        bitcode: alternation.subject.digest.clone(),
        root: root.to_owned(),
        properties: alternation.subject.harness.properties.clone(),
        end,
        goals,
        findings: alternation.confirming.judge.findings.clone(),
        elsewhere: library::told(alternation.subject.program, root, elsewhere),
        assumptions: assumptions(alternation),
        stats: alternation.stats.clone(),
        vacuous,
        sources: Digests::of(alternation.subject.program, root),
        unreached: alternation.subject.unreached.to_vec(),
    }
}

/// The warning for a harness from which most checks are unreachable, or `None` if it does not
/// apply.
fn vacuous(alternation: &Alternation<'_, '_>, goals: &[Goal]) -> Option<Vacuous> {
    let checks = goals.iter().filter(|goal| goal.kind == GoalKind::Check);
    let unreachable = checks.filter(|goal| goal.status == GoalStatus::Unreachable);
    let unreachable: Vec<u32> = unreachable.map(|goal| goal.id).collect();
    let table = alternation.overview().table().checks;
    let calls_nothing = calls_nothing(&alternation.subject);
    if !table.is_vacuous() && !calls_nothing {
        return None;
    }
    let blocks = 0..alternation.subject.program.blocks.len();
    let known = Known {
        program: alternation.subject.program,
        covered: alternation.searching.search.covered().to_vec(),
        dead: blocks
            .map(|block| alternation.proving.is_dead(block))
            .collect(),
        root: alternation.confirming.judge.root(),
    };
    Some(Vacuous {
        harness: alternation.subject.harness.name.clone(),
        checks: table.total(),
        unreachable: table.unreachable,
        calls_nothing,
        blocked: known.blocked(&unreachable),
    })
}

/// Whether the program of a harness with C sources contains no code of these sources.
fn calls_nothing(subject: &Subject<'_>) -> bool {
    let harness = subject.harness;
    let own: Vec<PathBuf> = harness
        .units
        .iter()
        .enumerate()
        .filter(|(i, _)| !harness.library.contains(i))
        .filter_map(|(_, unit)| unit.source.canonicalize().ok())
        .collect();
    let program = subject.program;
    let is_own = |file: &String| {
        let real = Path::new(file).canonicalize();
        real.is_ok_and(|real| own.contains(&real))
    };
    let others: Vec<bool> = program.files.iter().map(|file| !is_own(file)).collect();
    let is_other = |file: u32| others.get(file as usize).copied().unwrap_or(false);
    let is_users = |function: &Function| function.kind == FunctionKind::User;
    let mut functions = program.functions.iter();
    let any_function = functions.any(|function| {
        let file = function.pos.file as usize;
        let known = others.get(file).copied();
        is_users(function) && function.is_defined() && known.unwrap_or(true)
    });
    // Code that a header defines may be inlined into the harness.
    let any_operation = || {
        let blocks = program.blocks.iter();
        let mut users = blocks.filter(|block| is_users(program.function(block.function)));
        users.any(|block| block.ops.iter().any(|inst| is_other(inst.pos.file)))
    };
    !harness.library.is_empty() && !any_function && !any_operation()
}

/// Why nothing is proved, if the prover did not finish.
pub(super) fn no_proof(alternation: &Alternation<'_, '_>, end: End) -> &'static str {
    match end {
        _ if !alternation.subject.settings.sides.engine() => "--fuzz-only attempts no proof",
        End::Found => "the search ended at the first violation",
        End::Budget => "the time was up before the prover was done",
        End::Interrupted => "it was interrupted before the prover was done",
        End::Settled | End::Stalled => "the prover was not done",
    }
}

fn goals(alternation: &Alternation<'_, '_>, end: End) -> Vec<Goal> {
    let listing = Listing {
        overview: alternation.overview(),
        unfinished: no_proof(alternation, end),
    };
    let mut all = listing.checks();
    all.extend(listing.edges());
    all
}

/// The context for describing the state of each goal.
struct Listing<'l, 'a, 'p> {
    overview: Overview<'l, 'a, 'p>,
    /// Why nothing is proved, if the prover did not finish.
    unfinished: &'static str,
}

impl Listing<'_, '_, '_> {
    fn checks(&self) -> Vec<Goal> {
        let overview = &self.overview;
        let program = overview.program();
        let checks = program.checks.iter().enumerate();
        let asked = checks.filter(|(_, check)| overview.is_goal(check));
        let goal = |(number, check): (usize, &Check)| Goal {
            harness: overview.subject.harness.name.clone(),
            kind: GoalKind::Check,
            id: number as u32,
            check: Some(check.kind),
            place: overview
                .judge
                .at(check.pos, &program.function(check.function).name),
            expression: check.expression.clone(),
            lack: self.lack(number, check),
            status: self.check(number),
        };
        asked.map(goal).collect()
    }

    fn check(&self, number: usize) -> GoalStatus {
        let overview = &self.overview;
        if overview.judge.violated(number as u32) {
            return GoalStatus::Violated;
        }
        if overview.holds(number) {
            return overview.proved(number);
        }
        if let Some(unkept) = overview.judge.unkept(number as u32) {
            let why = format!(
                "violated by what the harness chose, not by the library: \
                 missing precondition {unkept}"
            );
            return GoalStatus::Open { why };
        }
        let covered = overview.search.covered();
        let deciding = overview.subject.reach.deciding(CheckId(number as u32));
        let seen = match deciding.iter().any(|block| covered[block.index()]) {
            true => "no execution violated it",
            false => "no execution came here",
        };
        let proofs = overview.proving.proofs.as_ref();
        let why = match proofs.and_then(|proofs| proofs.why_check(number)) {
            Some(why) => self.readable(why),
            None => self.unfinished.to_owned(),
        };
        GoalStatus::Open {
            why: format!("{seen}; not proved: {why}"),
        }
    }

    /// What is missing for a proof of the check, if it is open.
    fn lack(&self, number: usize, check: &Check) -> Option<Lack> {
        if !matches!(self.check(number), GoalStatus::Open { .. }) {
            return None;
        }
        let proofs = self.overview.proving.proofs.as_ref()?;
        let short = proofs.outcome.check_notes.get(&CheckId(number as u32))?;
        let mut lack = lack(self.overview.program(), short, &check.expression);
        let lists = [&mut lack.knows, &mut lack.needs, &mut lack.helps];
        for words in lists.into_iter().flatten() {
            *words = self.readable(words);
        }
        Some(lack)
    }

    fn edges(&self) -> Vec<Goal> {
        let overview = &self.overview;
        let program = overview.program();
        let mut sources = Sources::default();
        let blocks = program.blocks.iter().enumerate();
        let users = blocks.filter(|(_, block)| overview.subject.is_users(block.function));
        let goal = |(number, block): (usize, &Block)| Goal {
            harness: overview.subject.harness.name.clone(),
            kind: GoalKind::Edge,
            id: number as u32,
            check: None,
            place: overview
                .judge
                .at(block.pos, &program.function(block.function).name),
            expression: quoted(program, &mut sources, block.pos),
            status: self.edge(number),
            lack: None,
        };
        users.map(goal).collect()
    }

    fn edge(&self, number: usize) -> GoalStatus {
        let overview = &self.overview;
        if overview.search.covered()[number] {
            return GoalStatus::Covered;
        }
        if overview.is_dead(number) {
            let given = overview.dead_given(number);
            if given.is_empty() {
                return GoalStatus::Unreachable;
            }
            let why = format!(
                "no execution in which other checks hold comes here, and these are not proved: {}",
                given.join(", ")
            );
            return GoalStatus::Open { why };
        }
        let proofs = overview.proving.proofs.as_ref();
        let why = match proofs.and_then(|proofs| proofs.why_block(number)) {
            Some(why) => self.readable(why),
            None => format!("no execution came here; not proved: {}", self.unfinished),
        };
        GoalStatus::Open { why }
    }

    fn readable(&self, why: &str) -> String {
        readable(self.overview.program(), self.overview.judge.root(), why)
    }
}

/// The source text at the beginning of a block, since C has no names for blocks.
fn quoted(program: &Program, sources: &mut Sources, pos: Pos) -> String {
    let file = program.files.get(pos.file as usize);
    let quote = file.and_then(|file| sources.quote(file, pos.line, pos.column));
    quote.unwrap_or_default()
}

/// Stores the goals in the file that `explain` reads.
pub fn keep(kept: &StoredGoals, folder: &Path) -> Result<(), Error> {
    let text =
        serde_json::to_vec(kept).map_err(|why| Error::engine("writing the list of goals", why))?;
    Ok(store::write(&folder.join("goals.json"), &text)?)
}
