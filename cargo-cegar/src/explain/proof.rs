//! Explains a proof by the loop invariants that the goal needs.

use std::time::Duration;

use cegar_checker::{Certificate, Rejected};
use cegar_model::program::{FunctionKind, Program};
use cegar_model::solver::Limits;
use cegar_model::symbolic::world::Cut;
use cegar_search::proof::{self, Needed, Reason, Words};
use serde::Serialize;

use super::StoredCampaign;
use crate::campaign::findings::{plain, readable};
use crate::error::Error;
use crate::verdict::Blocked;
use crate::verdict::{Goal, GoalKind};

/// The time limit of one solver query. The results are known, but an unsatisfiable core must be
/// found.
const QUESTION: Duration = Duration::from_secs(10);

/// The explanation of a proof.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Proved {
    /// Whether an execution reached the goal.
    pub reached: bool,
    /// The place where the path to it is blocked, if it is an unreachable check.
    pub blocked: Option<Blocked>,
    /// The loops whose invariants are needed, in the order of the program.
    pub loops: Vec<Invariant>,
    /// The number of facts in these invariants.
    pub facts: usize,
    /// The number of facts of the whole proof.
    pub of: usize,
    /// Whether the goal follows from the states of the floor, so that no facts are needed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub by_floor: bool,
    /// Whether the goal follows from the program's only execution.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub by_execution: bool,
    /// Unproved checks on which the proof rests.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub given: Vec<String>,
    /// The assumptions on which every proof rests.
    pub assumptions: Vec<cegar_checker::Assumption>,
}

/// The facts that hold whenever execution reaches the head of a loop, or the beginning or end of a
/// function that is encoded alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Invariant {
    /// The place of the loop or the function.
    pub place: String,
    /// The side of the function, if it is not a loop: `beginning` or `end`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<&'static str>,
    /// The name of the function.
    pub function: String,
    /// The calls that lead there, innermost first, if the function is not the user's.
    pub called_from: Vec<String>,
    /// The facts.
    pub facts: Vec<String>,
}

fn needed<'p>(
    left: &'p StoredCampaign,
    certificate: &Certificate,
    goal: &Goal,
) -> Result<Reason<'p>, Error> {
    let meant = number(goal);
    let limits = Limits {
        time: Some(QUESTION),
        ..Limits::default()
    };
    proof::needed(&left.program, &left.digest, certificate, meant, limits).map_err(rejected)
}

fn rejected(why: Rejected) -> Error {
    Error::engine("explaining the proof", why)
}

fn number(goal: &Goal) -> proof::Goal {
    match goal.kind {
        GoalKind::Check => proof::Goal::Check(goal.id),
        GoalKind::Edge => proof::Goal::Block(goal.id),
    }
}

/// Explains why a goal holds.
pub fn proved(
    left: &StoredCampaign,
    certificate: &Certificate,
    goal: &Goal,
) -> Result<Proved, Error> {
    let mut proved = Proved {
        reached: false,
        blocked: None,
        loops: Vec::new(),
        facts: 0,
        of: 0,
        by_floor: false,
        by_execution: false,
        given: Vec::new(),
        assumptions: left.kept.assumptions.clone(),
    };
    let mut needed = match needed(left, certificate, goal)? {
        Reason::Facts(needed) => needed,
        Reason::Floor => {
            proved.by_floor = true;
            return Ok(proved);
        }
        Reason::Execution => {
            proved.by_execution = true;
            return Ok(proved);
        }
    };
    let facts = std::mem::take(&mut needed.facts);
    proved.of = needed.of;
    proved.facts = facts.values().map(Vec::len).sum();
    for (cut, facts) in facts {
        let words = Words::new(&mut needed.graph, cut);
        let pool = &needed.graph.pool;
        let said = facts.iter().map(|&fact| words.say(pool, fact));
        proved.loops.push(Invariant {
            facts: said.collect(),
            ..place(left, &needed, cut)
        });
    }
    Ok(proved)
}

/// The certificate for one goal, with only the facts that it needs.
pub fn pruned(
    left: &StoredCampaign,
    certificate: &Certificate,
    goal: &Goal,
) -> Result<Certificate, Error> {
    let reason = needed(left, certificate, goal)?;
    let meant = number(goal);
    proof::pruned(&left.program, certificate, &reason, meant).map_err(rejected)
}

fn place(left: &StoredCampaign, needed: &Needed<'_>, cut: Cut) -> Invariant {
    let program: &Program = &left.program;
    let show = |pos| readable(program, &left.kept.root, &program.show(pos));
    let block = program.block(cut.block);
    let function = program.function(block.function);
    let mut called_from = Vec::new();
    let mut at = cut.ctx;
    let mut inner = block.function;
    while program.function(inner).kind != FunctionKind::User {
        let Some(back) = needed.graph.world.context(at).back else {
            break;
        };
        let call = back.op.checked_sub(1);
        let call = call.and_then(|op| program.block(back.block).ops.get(op));
        inner = program.block(back.block).function;
        let caller = plain(&program.function(inner).name);
        called_from.push(match call {
            Some(inst) => format!("{} in {caller}", show(inst.pos)),
            None => caller,
        });
        at = back.ctx;
    }
    let world = &needed.graph.world;
    let side = match (world.begun(cut), world.ended(cut)) {
        (Some(_), _) => Some("beginning"),
        (_, Some(_)) => Some("end"),
        (None, None) => None,
    };
    Invariant {
        place: show(if side.is_some() {
            function.pos
        } else {
            block.pos
        }),
        side,
        function: plain(&function.name),
        called_from,
        facts: Vec::new(),
    }
}
