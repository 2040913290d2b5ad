//! Derives verdicts from the settled goals: each goal gets a claim, or the reason why it is open.

use std::collections::{BTreeMap, BTreeSet};

use cegar_checker::assumptions::{self, derive, met};
use cegar_checker::continuation::code_after;
use cegar_checker::floor::FloorResult;
use cegar_checker::{Claim, Condition};
use cegar_model::program::ir::{BlockId, CheckId, FunctionKind, Loc, Program, Property};
use cegar_model::program::plain;

use super::elsewhere::elsewhere;
use super::{Claims, Verdicts};
use crate::abstraction::goals::{Failing, Settled};
use crate::abstraction::graph::Graph;
use crate::strategy::conditions::Conditions;
use crate::strategy::options::{Options, Verdict};

/// The goals that are open because they are behind a hole that may be reached, with the reason.
struct Lost {
    pub(super) checks: BTreeMap<u32, String>,
    pub(super) blocks: BTreeMap<u32, String>,
}

impl Lost {
    fn of(program: &Program, settled: &Settled, graph: &Graph<'_>) -> Lost {
        let mut lost = Lost {
            checks: BTreeMap::new(),
            blocks: BTreeMap::new(),
        };
        for (start, index) in &settled.holes {
            let hole = &graph.fragments[start].holes[*index];
            let why = format!("behind {} at {}", hole.what, program.show(hole.pos));
            let first = Loc {
                block: hole.block,
                inst: 0,
            };
            let continuation = code_after(&graph.world, hole.ctx, first);
            for (id, check) in (0u32..).zip(&program.checks) {
                if continuation.has(check.loc) {
                    lost.checks.entry(id).or_insert_with(|| why.clone());
                }
            }
            for id in 0..program.blocks.len() as u32 {
                if continuation.enters(BlockId(id)) {
                    lost.blocks.entry(id).or_insert_with(|| why.clone());
                }
            }
        }
        lost
    }
}

/// The verdicts and claims for a program that was explored.
pub(super) fn settle(
    program: &Program,
    options: &Options,
    settled: &Settled,
    graph: &Graph<'_>,
) -> (Verdicts, Claims) {
    let lost = Lost::of(program, settled, graph);
    let failing = failing(program, settled, graph);
    let floor_result = settled.floor.as_ref().map(|floor| &floor.result);
    let is_left = |id: CheckId| failing.contains_key(&id) || lost.checks.contains_key(&id.0);
    let follows = |id: CheckId| floor_result.is_some_and(|floor_result| floor_result.holds(id));
    let is_claimed = |id: CheckId| !is_left(id) || follows(id);
    let conditions = Conditions::of(graph, settled, &is_claimed);
    let is_open = |id: CheckId| !is_claimed(id);
    let mut sheet = Sheet::default();
    let left = |id: CheckId| failing.get(&id).or_else(|| lost.checks.get(&id.0));
    let checks = sheet.checks(
        (program, options),
        |id, loc| {
            let condition = left(id).is_none().then(|| conditions.check(loc));
            let by_floor = floor_result
                .filter(|floor_result| floor_result.holds(id))
                .map(|floor_result| floor_result.condition(program, loc, &is_open));
            (condition, by_floor)
        },
        |id| left(id).cloned().unwrap_or_default(),
    );
    let is_entered = |id: BlockId| settled.entered.contains(&id);
    let blocks = sheet.blocks(
        (program, options),
        |id| {
            let is_left = is_entered(id) || lost.blocks.contains_key(&id.0);
            let at = Loc { block: id, inst: 0 };
            let by_floor = floor_result
                .filter(|floor_result| floor_result.is_dead(id))
                .map(|floor_result| floor_result.condition(program, at, &is_open));
            ((!is_left).then(|| conditions.block(id)), by_floor)
        },
        |id| match is_entered(id) {
            true => "no execution came here, and nothing excludes it".to_owned(),
            false => lost.blocks.get(&id.0).cloned().unwrap_or_default(),
        },
    );
    let unsettled = program.checks.iter().zip(0u32..);
    let unsettled = unsettled.filter(|(_, id)| conditions.is_open(*id));
    let mut open = assumptions::Open::beside(
        &options.properties,
        unsettled.map(|(check, _)| check.kind.property()),
    );
    let narrowings = settled.narrowings.iter();
    let narrowings = narrowings.map(|(start, index)| &graph.fragments[start].narrowings[*index]);
    let mut met = met(program, narrowings);
    if let Some(floor_result) = floor_result.filter(|_| sheet.is_alone) {
        for (id, places) in &floor_result.narrowings {
            met.entry(id).or_default().extend(places.iter().cloned());
        }
        open.unasked
            .extend(unasked_of(program, options, floor_result, &is_open));
    }
    let verdicts = Verdicts {
        checks,
        blocks,
        elsewhere: elsewhere(program, options, settled, graph),
        assumed: derive(program, &open, &met),
    };
    (verdicts, sheet.claims)
}

/// The properties that were not asked for and whose checks the floor leaves open: nothing else
/// settles these checks.
pub(super) fn unasked_of(
    program: &Program,
    options: &Options,
    floor_result: &FloorResult,
    is_open: &dyn Fn(CheckId) -> bool,
) -> BTreeSet<Property> {
    let open = floor_result.open().filter(|id| is_open(*id));
    let kinds = open.filter_map(|id| Some(program.checks.get(id.index())?.kind.property()));
    kinds
        .filter(|property| !options.properties.contains(property))
        .collect()
}

/// The claims written so far.
#[derive(Default)]
pub(super) struct Sheet {
    pub(super) claims: Claims,
    pub(super) places: BTreeMap<Condition, u32>,
    /// Whether a claim follows from the floor alone.
    pub(super) is_alone: bool,
}

/// The condition under which a goal follows, by the fragments and by the floor; `None` where it
/// does not follow.
type Conditional = (Option<Option<Condition>>, Option<Condition>);

impl Sheet {
    /// Claims the checks that follow. The others are open, for the reason `why`.
    pub(super) fn checks(
        &mut self,
        (program, options): (&Program, &Options),
        follows: impl Fn(CheckId, Loc) -> Conditional,
        why: impl Fn(CheckId) -> String,
    ) -> Vec<Option<Verdict>> {
        let checks = (0u32..).zip(&program.checks);
        let verdicts = checks.map(|(id, check)| {
            let (condition, by_floor) = follows(CheckId(id), check.loc);
            let verdict = match self.claim(id, condition, by_floor) {
                Some((claim, verdict)) => {
                    self.claims.checks.push(claim);
                    verdict
                }
                None => Verdict::Open(why(CheckId(id))),
            };
            let wanted = options.properties.contains(&check.kind.property());
            wanted.then_some(verdict)
        });
        verdicts.collect()
    }

    /// Claims that blocks of the user's code are never entered, where that follows and no execution
    /// has covered the block.
    pub(super) fn blocks(
        &mut self,
        (program, options): (&Program, &Options),
        follows: impl Fn(BlockId) -> Conditional,
        why: impl Fn(BlockId) -> String,
    ) -> Vec<Option<Verdict>> {
        let blocks = (0u32..).zip(&program.blocks);
        let verdicts = blocks.map(|(number, block)| {
            let id = BlockId(number);
            let is_user = program.function(block.function).kind == FunctionKind::User;
            if options.covered.has(id) || !is_user {
                return None;
            }
            let (condition, by_floor) = follows(id);
            Some(match self.claim(number, condition, by_floor) {
                Some((claim, verdict)) => {
                    self.claims.blocks.push(claim);
                    verdict
                }
                None => Verdict::Open(why(id)),
            })
        });
        verdicts.collect()
    }

    /// A claim under the weaker of the two conditions, by the fragments and by the floor.
    fn claim(
        &mut self,
        id: u32,
        condition: Option<Option<Condition>>,
        by_floor: Option<Condition>,
    ) -> Option<(Claim, Verdict)> {
        let size =
            |condition: &Condition| condition.checks.len() + usize::from(condition.elsewhere);
        let by_floor = by_floor.map(|condition| Some(condition).filter(|c| size(c) > 0));
        let (condition, is_alone) = match (condition, by_floor) {
            (None, None) => return None,
            (Some(condition), None) => (condition, false),
            (None, Some(condition)) => (condition, true),
            (Some(a), Some(b)) => {
                let less = b.as_ref().map_or(0, size) < a.as_ref().map_or(0, size);
                if less { (b, true) } else { (a, false) }
            }
        };
        self.is_alone |= is_alone;
        let given = condition.as_ref().map(|condition| {
            let all = &mut self.claims.conditions;
            *self.places.entry(condition.clone()).or_insert_with(|| {
                all.push(condition.clone());
                all.len() as u32 - 1
            })
        });
        let verdict = condition.map_or(Verdict::Proved, Verdict::ProvedIf);
        Some((Claim { id, given }, verdict))
    }
}

/// The reason why an obligation is open.
pub(super) fn why(failing: &Failing, program: &Program, graph: &Graph<'_>) -> String {
    let fragment = &graph.fragments[&failing.start];
    if fragment.obligations[failing.index].vague {
        return "it is not known where the pointer points".to_owned();
    }
    if failing.reason.is_some() {
        return "the solver gave no answer in time".to_owned();
    }
    let deviating = failing.model.as_ref().and_then(|model| {
        let mut all = fragment.deviations.iter();
        all.find(|(bit, _)| model.satisfies(&graph.pool, &[*bit]))
    });
    match deviating {
        Some(&(_, function)) => {
            let name = plain(&program.function(function).name);
            format!(
                "the external `{name}` may write what it can reach; if it does not, say so under \
                 [external.{name}]: `writes = false`, or what it writes, such as `writes = \"p2 \
                 elements of p1\"`"
            )
        }
        None => "no invariant was found that excludes it".to_owned(),
    }
}

/// The checks that do not follow, with the reasons.
fn failing(program: &Program, settled: &Settled, graph: &Graph<'_>) -> BTreeMap<CheckId, String> {
    let all = settled.failing.values().filter_map(|failing| {
        let obligation = &graph.fragments[&failing.start].obligations[failing.index];
        Some((obligation.check?, why(failing, program, graph)))
    });
    all.collect()
}
