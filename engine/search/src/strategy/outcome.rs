//! What a strategy comes to: verdicts, what they rest on, and why they are so.
//!
//! Every strategy ends in the same way, with facts at the cut points of its graph and what these settle, so that one checker is
//! enough for all of them.

use std::collections::{BTreeMap, BTreeSet};

use cegar_checker::assumptions::{self, Assumption, derive, met};
use cegar_checker::behind::behind;
use cegar_checker::{Certificate, Checked, Claim, Condition};
use cegar_model::program::ir::{BlockId, CheckId, FunctionKind, Loc, Program, Property};
use cegar_model::program::plain;
use cegar_model::symbolic::encode::Exceeded;

use super::conditions::Conditions;
use super::options::{Options, Stats, Verdict};
use crate::abstraction::asking::Facts;
use crate::abstraction::goals::{Failing, Settled};
use crate::abstraction::graph::Graph;
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
#[derive(Debug, Default)]
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
}

impl Proof<'_> {
    /// The outcome, and the certificate for what is proved of the program with this bitcode.
    pub fn outcome(self, bitcode: &str, properties: &[Property]) -> Outcome {
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
        verdicts.outcome((bitcode, properties), evidence, self.stats)
    }
}

/// How all goals stand.
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
        Outcome {
            certificate,
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
    let is_claimed = |id: CheckId| !failing.contains_key(&id) && !lost.checks.contains_key(&id.0);
    let conditions = Conditions::of(graph, settled, &is_claimed);
    let mut claims = Claims::default();
    let mut places: BTreeMap<Condition, u32> = BTreeMap::new();
    let mut claim = |id: u32, condition: &Option<Condition>, all: &mut Vec<Condition>| Claim {
        id,
        given: condition.as_ref().map(|condition| {
            *places.entry(condition.clone()).or_insert_with(|| {
                all.push(condition.clone());
                all.len() as u32 - 1
            })
        }),
    };
    let wanted = |property: Property| options.properties.contains(&property);
    let mut checks = Vec::new();
    for (id, check) in (0u32..).zip(&program.checks) {
        let verdict = if let Some(why) = failing.get(&CheckId(id)) {
            Verdict::Open(why.clone())
        } else if let Some(why) = lost.checks.get(&id) {
            Verdict::Open(why.clone())
        } else {
            let condition = conditions.check(check.loc);
            let new = claim(id, &condition, &mut claims.conditions);
            claims.checks.push(new);
            condition.map_or(Verdict::Proved, Verdict::ProvedIf)
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
        blocks.push(Some(if settled.entered.contains(&id) {
            Verdict::Open("no execution came here, and nothing excludes it".to_owned())
        } else if let Some(why) = lost.blocks.get(&number) {
            Verdict::Open(why.clone())
        } else {
            let condition = conditions.block(id);
            let new = claim(number, &condition, &mut claims.conditions);
            claims.blocks.push(new);
            condition.map_or(Verdict::Proved, Verdict::ProvedIf)
        }));
    }
    let open = assumptions::Open {
        unasked: program
            .checks
            .iter()
            .zip(0u32..)
            .filter(|(_, id)| conditions.is_open(*id))
            .map(|(check, _)| check.kind.property())
            .filter(|property| !wanted(*property))
            .collect(),
    };
    let narrowings = settled.narrowings.iter();
    let narrowings = narrowings.map(|(start, index)| &graph.fragments[start].narrowings[*index]);
    let verdicts = Verdicts {
        checks,
        blocks,
        elsewhere: elsewhere(program, options, settled, graph),
        assumed: derive(program, &open, &met(program, narrowings)),
    };
    (verdicts, claims)
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
        Proof {
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
        }
    }
}
