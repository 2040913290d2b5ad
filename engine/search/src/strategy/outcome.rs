//! What a strategy comes to: verdicts, what they rest on, and why they are so.
//!
//! Every strategy ends in the same way, with facts at the cut points of its graph and what these settle, so that one checker is
//! enough for all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cegar_checker::assumptions::{self, Assumption, derive, met};
use cegar_checker::behind::behind;
use cegar_checker::floor::{FloorClaim, Ground};
use cegar_checker::{Certificate, Checked, Claim, Condition};
use cegar_model::program::ir::{BlockId, CheckId, FunctionKind, Loc, Program, Property};
use cegar_model::program::plain;
use cegar_model::symbolic::encode::Exceeded;

use super::conditions::Conditions;
use super::executed::Executed;
use super::options::{Options, Stats, Verdict};
use crate::abstraction::asking::Facts;
use crate::abstraction::goals::{Failing, Settled};
use crate::abstraction::graph::Graph;
use crate::analysis::Floor;
use crate::proof::write;

/// What was proved of one program.
#[derive(Debug)]
pub struct Proof<'p> {
    /// By check; none for checks that were not asked for.
    pub checks: Vec<Option<Verdict>>,
    /// By block; none for blocks that were not asked about: stubs, and what is covered.
    pub blocks: Vec<Option<Verdict>>,
    /// What may go wrong where no check of the user's stands (in a string function, say), for people.
    pub elsewhere: Vec<String>,
    /// What the proofs rest on.
    pub assumed: Vec<Assumption>,
    /// What it cost.
    pub stats: Stats,
    /// The invariants; none if not even exploring ended.
    pub evidence: Option<Evidence<'p>>,
    /// What follows from the floor alone, if there is one.
    pub grounded: Option<Grounded>,
    /// What follows from the program's only execution, if it has only one.
    pub executed: Option<Executed>,
}

/// What follows from the floor alone.
#[derive(Debug)]
pub struct Grounded {
    /// The floor.
    pub floor: Arc<Floor>,
    verdicts: Verdicts,
    claims: Claims,
}

/// The graph and what holds at its cut points.
#[derive(Debug)]
pub struct Evidence<'p> {
    /// The graph.
    pub graph: Graph<'p>,
    /// The invariants, inductive together.
    pub facts: Facts,
    /// What is claimed because of them.
    pub claims: Claims,
}

/// What a certificate is to claim, and why.
#[derive(Clone, Debug, Default)]
pub struct Claims {
    checks: Vec<Claim>,
    blocks: Vec<Claim>,
    conditions: Vec<Condition>,
}

/// What a proof comes to, without the terms: for another thread, and for a file.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// As in [`Proof`].
    pub checks: Vec<Option<Verdict>>,
    /// As in [`Proof`].
    pub blocks: Vec<Option<Verdict>>,
    /// As in [`Proof`].
    pub elsewhere: Vec<String>,
    /// As in [`Proof`].
    pub assumed: Vec<Assumption>,
    /// As in [`Proof`].
    pub stats: Stats,
    /// Why it is so, for the checker.
    pub certificate: Certificate,
    /// What follows from the floor alone, where more is claimed: it is what is left if the rest is not accepted.
    pub grounded: Option<Box<Outcome>>,
}

impl Proof<'_> {
    /// The outcome, and the certificate for what is proved of the program with this bitcode.
    pub fn outcome(self, bitcode: &str, properties: &[Property]) -> Outcome {
        if let Some(executed) = &self.executed {
            let mut certificate = executed.certificate(bitcode, properties);
            certificate.assumptions.clone_from(&self.assumed);
            return Outcome {
                checks: self.checks,
                blocks: self.blocks,
                elsewhere: self.elsewhere,
                assumed: self.assumed,
                stats: self.stats,
                certificate,
                grounded: None,
            };
        }
        let verdicts = Verdicts {
            checks: self.checks,
            blocks: self.blocks,
            elsewhere: self.elsewhere,
            assumed: self.assumed,
        };
        let evidence = self
            .evidence
            .as_ref()
            .map(|e| (&e.graph, &e.facts, &e.claims));
        let about = (bitcode, properties);
        let Some(grounded) = self.grounded else {
            return verdicts.outcome(about, evidence, None, self.stats);
        };
        let floor = Arc::clone(&grounded.floor);
        let below = grounded.outcome(about, self.stats);
        match evidence {
            None => below,
            Some(_) => Outcome {
                grounded: Some(Box::new(below)),
                ..verdicts.outcome(about, evidence, Some(&floor.claim), self.stats)
            },
        }
    }
}

/// How all goals stand.
#[derive(Clone, Debug)]
struct Verdicts {
    checks: Vec<Option<Verdict>>,
    blocks: Vec<Option<Verdict>>,
    elsewhere: Vec<String>,
    assumed: Vec<Assumption>,
}

impl Verdicts {
    /// With the certificate for what is proved.
    fn outcome(
        self,
        (bitcode, properties): (&str, &[Property]),
        evidence: Option<(&Graph<'_>, &Facts, &Claims)>,
        floor: Option<&FloorClaim>,
        stats: Stats,
    ) -> Outcome {
        let mut certificate = Certificate::empty(bitcode, properties);
        certificate.assumptions.clone_from(&self.assumed);
        if let Some((graph, facts, claims)) = evidence {
            certificate.checks.clone_from(&claims.checks);
            certificate.blocks.clone_from(&claims.blocks);
            certificate.conditions.clone_from(&claims.conditions);
            write::state(&mut certificate, graph, facts);
        }
        certificate.floor = floor.cloned();
        Outcome {
            certificate,
            grounded: None,
            checks: self.checks,
            blocks: self.blocks,
            elsewhere: self.elsewhere,
            assumed: self.assumed,
            stats,
        }
    }
}

impl Outcome {
    /// What is settled while the search goes on, for a program whose bitcode the caller knows. Nothing is said of blocks, which are asked
    /// about at the end.
    pub fn so_far(
        program: &Program,
        options: &Options,
        settled: &Settled,
        (graph, facts): (&Graph<'_>, &Facts),
        stats: Stats,
    ) -> Outcome {
        let (mut verdicts, mut claims) = settle(program, options, settled, graph);
        let why = "there was no time to ask about it";
        for verdict in verdicts.blocks.iter_mut().flatten() {
            *verdict = Verdict::Open(why.to_owned());
        }
        claims.blocks.clear();
        verdicts.outcome(
            ("", &options.properties),
            Some((graph, facts, &claims)),
            settled.ground.as_ref().map(|floor| &floor.claim),
            stats,
        )
    }

    /// Withdraws everything: nothing is proved.
    pub fn withdraw(&mut self, why: &str) {
        for verdict in self.checks.iter_mut().chain(&mut self.blocks).flatten() {
            *verdict = Verdict::Open(why.to_owned());
        }
        self.certificate.checks.clear();
        self.certificate.blocks.clear();
        self.elsewhere.push(why.to_owned());
    }

    /// Withdraws the goals that the checker had no time for.
    pub fn withdraw_late(&mut self, checked: &Checked) {
        let why = "its proof was not checked before the time was up";
        let claims = [
            (&mut self.checks, &checked.late_checks),
            (&mut self.blocks, &checked.late_blocks),
        ];
        for (verdicts, late) in claims {
            for &id in late {
                if let Some(Some(verdict)) = verdicts.get_mut(id as usize) {
                    *verdict = Verdict::Open(why.to_owned());
                }
            }
        }
        let claimed = &mut self.certificate;
        claimed
            .checks
            .retain(|claim| !checked.late_checks.contains(&claim.id));
        claimed
            .blocks
            .retain(|claim| !checked.late_blocks.contains(&claim.id));
    }

    /// Whether every check that was asked for holds, and nothing can go wrong elsewhere.
    pub fn is_complete(&self) -> bool {
        is_complete(&self.checks, &self.elsewhere)
    }
}

fn is_complete(checks: &[Option<Verdict>], elsewhere: &[String]) -> bool {
    let mut asked = checks.iter().flatten();
    elsewhere.is_empty() && asked.all(|verdict| *verdict == Verdict::Proved)
}

impl Proof<'_> {
    /// Whether every check that was asked for holds, and nothing can go wrong elsewhere.
    pub fn is_complete(&self) -> bool {
        is_complete(&self.checks, &self.elsewhere)
    }
}

/// Where something lies that is not modelled, and that may be reached: what lies behind it is open.
struct Lost {
    checks: BTreeMap<u32, String>,
    blocks: BTreeMap<u32, String>,
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
            let behind = behind(&graph.world, hole.ctx, first);
            for (id, check) in (0u32..).zip(&program.checks) {
                if behind.has(check.loc) {
                    lost.checks.entry(id).or_insert_with(|| why.clone());
                }
            }
            for id in 0..program.blocks.len() as u32 {
                if behind.enters(BlockId(id)) {
                    lost.blocks.entry(id).or_insert_with(|| why.clone());
                }
            }
        }
        lost
    }
}

/// What was settled of a program that was explored, in verdicts and in claims.
fn settle(
    program: &Program,
    options: &Options,
    settled: &Settled,
    graph: &Graph<'_>,
) -> (Verdicts, Claims) {
    let lost = Lost::of(program, settled, graph);
    let failing = failing(program, settled, graph);
    let ground = settled.ground.as_ref().map(|floor| &floor.ground);
    let is_left = |id: CheckId| failing.contains_key(&id) || lost.checks.contains_key(&id.0);
    let follows = |id: CheckId| ground.is_some_and(|ground| ground.holds(id));
    let is_claimed = |id: CheckId| !is_left(id) || follows(id);
    let conditions = Conditions::of(graph, settled, &is_claimed);
    let is_open = |id: CheckId| !is_claimed(id);
    let mut sheet = Sheet::default();
    let wanted = |property: Property| options.properties.contains(&property);
    let mut checks = Vec::new();
    for (id, check) in (0u32..).zip(&program.checks) {
        let left = failing.get(&CheckId(id)).or_else(|| lost.checks.get(&id));
        let condition = left.is_none().then(|| conditions.check(check.loc));
        let by_floor = ground
            .filter(|ground| ground.holds(CheckId(id)))
            .map(|ground| ground.condition(program, check.loc, &is_open));
        let verdict = match sheet.claim(id, condition, by_floor) {
            Some((claim, verdict)) => {
                sheet.claims.checks.push(claim);
                verdict
            }
            None => Verdict::Open(left.cloned().unwrap_or_default()),
        };
        checks.push(wanted(check.kind.property()).then_some(verdict));
    }
    let mut blocks = Vec::new();
    for (number, block) in (0u32..).zip(&program.blocks) {
        let id = BlockId(number);
        let is_user = program.function(block.function).kind == FunctionKind::User;
        if options.covered.has(id) || !is_user {
            blocks.push(None);
            continue;
        }
        let came = "no execution came here, and nothing excludes it".to_owned();
        let entered = settled.entered.contains(&id).then_some(came);
        let left = entered.or_else(|| lost.blocks.get(&number).cloned());
        let condition = left.is_none().then(|| conditions.block(id));
        let at = Loc { block: id, inst: 0 };
        let by_floor = ground
            .filter(|ground| ground.is_dead(id))
            .map(|ground| ground.condition(program, at, &is_open));
        blocks.push(Some(match sheet.claim(number, condition, by_floor) {
            Some((claim, verdict)) => {
                sheet.claims.blocks.push(claim);
                verdict
            }
            None => Verdict::Open(left.unwrap_or_default()),
        }));
    }
    let unsettled = program.checks.iter().zip(0u32..);
    let unsettled = unsettled.filter(|(_, id)| conditions.is_open(*id));
    let mut open = assumptions::Open::beside(
        &options.properties,
        unsettled.map(|(check, _)| check.kind.property()),
    );
    let narrowings = settled.narrowings.iter();
    let narrowings = narrowings.map(|(start, index)| &graph.fragments[start].narrowings[*index]);
    let mut met = met(program, narrowings);
    if let Some(ground) = ground.filter(|_| sheet.is_alone) {
        for (id, places) in &ground.narrowings {
            met.entry(id).or_default().extend(places.iter().cloned());
        }
        open.unasked
            .extend(unasked_of(program, options, ground, &is_open));
    }
    let verdicts = Verdicts {
        checks,
        blocks,
        elsewhere: elsewhere(program, options, settled, graph),
        assumed: derive(program, &open, &met),
    };
    (verdicts, sheet.claims)
}

/// The properties that nobody asked for, of which the floor leaves checks open that nothing else settles.
fn unasked_of(
    program: &Program,
    options: &Options,
    ground: &Ground,
    is_open: &dyn Fn(CheckId) -> bool,
) -> BTreeSet<Property> {
    let open = ground.open().filter(|id| is_open(*id));
    let kinds = open.filter_map(|id| Some(program.checks.get(id.index())?.kind.property()));
    kinds
        .filter(|property| !options.properties.contains(property))
        .collect()
}

/// Claims that are written down.
#[derive(Default)]
struct Sheet {
    claims: Claims,
    places: BTreeMap<Condition, u32>,
    /// Whether something is claimed that rests on the floor alone.
    is_alone: bool,
}

impl Sheet {
    /// A claim with the lesser of two conditions: as the fragments have it, and as the floor has it.
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

impl Grounded {
    /// What follows from a floor alone. `why` says why nothing else does.
    pub fn of(program: &Program, options: &Options, floor: &Arc<Floor>, why: &str) -> Grounded {
        let ground = &floor.ground;
        let wanted = |property: Property| options.properties.contains(&property);
        let is_open = |id: CheckId| !ground.holds(id);
        let mut sheet = Sheet::default();
        let mut checks = Vec::new();
        for (id, check) in (0u32..).zip(&program.checks) {
            let id = CheckId(id);
            let holds = ground.holds(id);
            let condition = holds.then(|| ground.condition(program, check.loc, &is_open));
            let verdict = match sheet.claim(id.0, None, condition) {
                Some((claim, verdict)) => {
                    sheet.claims.checks.push(claim);
                    verdict
                }
                None => Verdict::Open(ground.lost(id).unwrap_or(why).to_owned()),
            };
            checks.push(wanted(check.kind.property()).then_some(verdict));
        }
        let mut blocks = Vec::new();
        for (number, block) in (0u32..).zip(&program.blocks) {
            let id = BlockId(number);
            let is_user = program.function(block.function).kind == FunctionKind::User;
            if options.covered.has(id) || !is_user {
                blocks.push(None);
                continue;
            }
            let at = Loc { block: id, inst: 0 };
            let dead = ground.is_dead(id);
            let condition = dead.then(|| ground.condition(program, at, &is_open));
            blocks.push(Some(match sheet.claim(number, None, condition) {
                Some((claim, verdict)) => {
                    sheet.claims.blocks.push(claim);
                    verdict
                }
                None => Verdict::Open(ground.lost_block(id).unwrap_or(why).to_owned()),
            }));
        }
        let unsettled = unasked_of(program, options, ground, &is_open);
        let open = assumptions::Open::beside(&options.properties, unsettled);
        let library = ground
            .elsewhere()
            .map(|loc| program.show(place_of(program, loc)));
        let verdicts = Verdicts {
            checks,
            blocks,
            elsewhere: library
                .map(|place| format!("an access at {place}: {why}"))
                .collect(),
            assumed: derive(program, &open, &ground.narrowings),
        };
        Grounded {
            floor: Arc::clone(floor),
            verdicts,
            claims: sheet.claims,
        }
    }

    fn outcome(self, (bitcode, properties): (&str, &[Property]), stats: Stats) -> Outcome {
        let floor = Some(&self.floor.claim);
        let mut outcome = self
            .verdicts
            .outcome((bitcode, properties), None, floor, stats);
        outcome.certificate.checks = self.claims.checks;
        outcome.certificate.blocks = self.claims.blocks;
        outcome.certificate.conditions = self.claims.conditions;
        outcome
    }

    /// The outcome for whoever listens while the search goes on.
    pub fn so_far(self, options: &Options, stats: Stats) -> Outcome {
        self.outcome(("", &options.properties), stats)
    }
}

/// Where an instruction stands in the source.
fn place_of(program: &Program, loc: Loc) -> cegar_model::program::ir::Pos {
    let block = program.block(loc.block);
    let inst = block.ops.iter().find(|inst| inst.at >= loc.inst);
    inst.map_or(block.pos, |inst| inst.pos)
}

/// Why an obligation is open.
fn why(failing: &Failing, program: &Program, graph: &Graph<'_>) -> String {
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
                "the external `{name}` may write what it can reach; if it does not, say so under [external.{name}]: `writes = false`, or \
                 what it writes, such as `writes = \"p2 elements of p1\"`"
            )
        }
        None => "no invariant was found that excludes it".to_owned(),
    }
}

/// The checks that do not follow, and why.
fn failing(program: &Program, settled: &Settled, graph: &Graph<'_>) -> BTreeMap<CheckId, String> {
    let all = settled.failing.values().filter_map(|failing| {
        let obligation = &graph.fragments[&failing.start].obligations[failing.index];
        Some((obligation.check?, why(failing, program, graph)))
    });
    all.collect()
}

/// What may go wrong where no check of the user's stands.
fn elsewhere(
    program: &Program,
    options: &Options,
    settled: &Settled,
    graph: &Graph<'_>,
) -> Vec<String> {
    let mut all = BTreeSet::new();
    for failing in settled.failing.values() {
        let obligation = &graph.fragments[&failing.start].obligations[failing.index];
        if !options.properties.contains(&obligation.kind.property()) {
            continue;
        }
        let is_user = obligation.check.is_some_and(|id| {
            let function = program.checks[id.index()].function;
            program.function(function).kind == FunctionKind::User
        });
        if !is_user {
            let why = why(failing, program, graph);
            let place = program.show(obligation.pos);
            all.insert(format!("{:?} at {place}: {why}", obligation.kind));
        }
    }
    all.into_iter().collect()
}

impl<'p> Proof<'p> {
    /// What was settled of a program that was explored.
    pub fn settled(
        program: &'p Program,
        options: &Options,
        settled: &Settled,
        (graph, facts): (Graph<'p>, Facts),
        stats: Stats,
    ) -> Proof<'p> {
        let (verdicts, claims) = settle(program, options, settled, &graph);
        let why = "no invariant was found that excludes it";
        let grounded = settled
            .ground
            .as_ref()
            .map(|floor| Grounded::of(program, options, floor, why));
        Proof {
            grounded,
            executed: None,
            checks: verdicts.checks,
            blocks: verdicts.blocks,
            elsewhere: verdicts.elsewhere,
            assumed: verdicts.assumed,
            stats,
            evidence: Some(Evidence {
                graph,
                facts,
                claims,
            }),
        }
    }

    /// Nothing was settled of a program that could not be explored.
    pub fn unexplored(
        program: &'p Program,
        options: &Options,
        why: Exceeded,
        stats: Stats,
    ) -> Proof<'p> {
        let why = match why {
            Exceeded::Size => "the program is too large to be explored as a whole",
            Exceeded::Time => "there was no time to explore the program as a whole",
        };
        Proof::open(program, options, why, stats)
    }

    /// Nothing was settled, and why.
    pub fn open(program: &'p Program, options: &Options, why: &str, stats: Stats) -> Proof<'p> {
        let open = || Some(Verdict::Open(why.to_owned()));
        Proof {
            checks: program
                .checks
                .iter()
                .map(|check| {
                    let wanted = options.properties.contains(&check.kind.property());
                    wanted.then(open).flatten()
                })
                .collect(),
            blocks: program.blocks.iter().map(|_| open()).collect(),
            elsewhere: vec![why.to_owned()],
            assumed: Vec::new(),
            stats,
            evidence: None,
            grounded: None,
            executed: None,
        }
    }

    /// What the floor settled of a program that could not be explored is settled.
    pub fn on(mut self, program: &'p Program, options: &Options, floor: &Arc<Floor>) -> Proof<'p> {
        let why = self.elsewhere.first().cloned().unwrap_or_default();
        let grounded = Grounded::of(program, options, floor, &why);
        self.checks.clone_from(&grounded.verdicts.checks);
        self.blocks.clone_from(&grounded.verdicts.blocks);
        self.assumed.clone_from(&grounded.verdicts.assumed);
        self.elsewhere
            .extend(grounded.verdicts.elsewhere.iter().cloned());
        self.grounded = Some(grounded);
        self
    }
}
