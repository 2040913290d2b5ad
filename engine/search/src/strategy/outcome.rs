//! The outcome of a strategy: verdicts, their conditions and assumptions, and the evidence.
//!
//! Every strategy ends in the same way, with facts at the cut points of its graph and the goals
//! that these settle, so that one checker is enough for all of them.

mod elsewhere;
mod floor_proof;
mod settle;

use std::collections::BTreeMap;
use std::sync::Arc;

use cegar_checker::assumptions::Assumption;

use cegar_checker::{Certificate, Checked, Claim, Condition};
use cegar_model::domain::check_notes::OpenCheckNote;
use cegar_model::program::ir::{CheckId, Program, Property};

use cegar_model::symbolic::encode::Exceeded;

pub use self::elsewhere::Elsewhere;
pub use self::floor_proof::FloorProof;
use self::settle::settle;
use super::executed::Executed;
use super::options::{Options, Stats, Verdict};
use crate::abstraction::asking::Facts;
use crate::abstraction::goals::Settled;
use crate::abstraction::graph::Graph;
use crate::analysis::Floor;
use crate::proof::write;

/// The proofs for one program.
#[derive(Debug)]
pub struct Proof<'p> {
    /// The verdict of each check; `None` for checks that were not asked for.
    pub checks: Vec<Option<Verdict>>,
    /// The verdict of each block; `None` for blocks that were not asked about: those of stubs, and
    /// covered ones.
    pub blocks: Vec<Option<Verdict>>,
    /// Possible violations at places without a check of the user's code.
    pub elsewhere: Vec<Elsewhere>,
    /// The assumptions of the proofs.
    pub assumed: Vec<Assumption>,
    /// The effort.
    pub stats: Stats,
    /// The invariants; `None` if exploring the program did not end.
    pub evidence: Option<Evidence<'p>>,
    /// What follows from the floor alone, if there is one.
    pub floor_proof: Option<FloorProof>,
    /// What follows from the program's only execution, if it has only one.
    pub executed: Option<Executed>,
}

/// The graph and the facts at its cut points.
#[derive(Debug)]
pub struct Evidence<'p> {
    /// The graph.
    pub graph: Graph<'p>,
    /// The invariants, inductive together.
    pub facts: Facts,
    /// The claims that follow from them.
    pub claims: Claims,
}

/// The claims of a certificate, and their conditions.
#[derive(Clone, Debug, Default)]
pub struct Claims {
    checks: Vec<Claim>,
    blocks: Vec<Claim>,
    conditions: Vec<Condition>,
}

/// The result of a proof without terms, which can be sent to another thread and written to a file.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// As in [`Proof`].
    pub checks: Vec<Option<Verdict>>,
    /// As in [`Proof`].
    pub blocks: Vec<Option<Verdict>>,
    /// As in [`Proof`].
    pub elsewhere: Vec<Elsewhere>,
    /// As in [`Proof`].
    pub assumed: Vec<Assumption>,
    /// As in [`Proof`].
    pub stats: Stats,
    /// The evidence for the checker.
    pub certificate: Certificate,
    /// What the floor lacks for the checks that it leaves open.
    pub check_notes: Arc<BTreeMap<CheckId, OpenCheckNote>>,
    /// What follows from the floor alone, if more is claimed: the fallback if the certificate is
    /// not accepted.
    pub floor_proof: Option<Box<Outcome>>,
}

impl Proof<'_> {
    /// The outcome, with the certificate for what is proved of the program with this bitcode.
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
                check_notes: Arc::default(),
                floor_proof: None,
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
        let Some(floor_proof) = self.floor_proof else {
            return verdicts.outcome(about, evidence, None, self.stats);
        };
        let floor = Arc::clone(&floor_proof.floor);
        let below = floor_proof.outcome(about, self.stats);
        match evidence {
            None => below,
            Some(_) => Outcome {
                floor_proof: Some(Box::new(below)),
                ..verdicts.outcome(about, evidence, Some(&floor), self.stats)
            },
        }
    }
}

/// The verdicts on all goals.
#[derive(Clone, Debug)]
struct Verdicts {
    checks: Vec<Option<Verdict>>,
    blocks: Vec<Option<Verdict>>,
    elsewhere: Vec<Elsewhere>,
    assumed: Vec<Assumption>,
}

impl Verdicts {
    /// The outcome, with the certificate for what is proved.
    fn outcome(
        self,
        (bitcode, properties): (&str, &[Property]),
        evidence: Option<(&Graph<'_>, &Facts, &Claims)>,
        floor: Option<&Floor>,
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
        certificate.floor = floor.map(|floor| floor.claim.clone());
        let check_notes = floor.map(|floor| floor.result.check_notes().clone());
        Outcome {
            certificate,
            check_notes: Arc::new(check_notes.unwrap_or_default()),
            floor_proof: None,
            checks: self.checks,
            blocks: self.blocks,
            elsewhere: self.elsewhere,
            assumed: self.assumed,
            stats,
        }
    }
}

impl Outcome {
    /// What is settled while the search goes on, for a program whose bitcode the caller knows. All
    /// blocks are open, since they are asked about at the end.
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
            settled.floor.as_deref(),
            stats,
        )
    }

    /// Withdraws all verdicts: nothing is proved.
    pub fn withdraw(&mut self, why: &str) {
        for verdict in self.checks.iter_mut().chain(&mut self.blocks).flatten() {
            *verdict = Verdict::Open(why.to_owned());
        }
        self.certificate.checks.clear();
        self.certificate.blocks.clear();
        self.elsewhere.push(Elsewhere::whole(why));
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

fn is_complete(checks: &[Option<Verdict>], elsewhere: &[Elsewhere]) -> bool {
    let mut asked = checks.iter().flatten();
    elsewhere.is_empty() && asked.all(|verdict| *verdict == Verdict::Proved)
}

impl Proof<'_> {
    /// Whether every check that was asked for holds, and nothing can go wrong elsewhere.
    pub fn is_complete(&self) -> bool {
        is_complete(&self.checks, &self.elsewhere)
    }
}

impl<'p> Proof<'p> {
    /// The proof for a program that was explored.
    pub fn settled(
        program: &'p Program,
        options: &Options,
        settled: &Settled,
        (graph, facts): (Graph<'p>, Facts),
        stats: Stats,
    ) -> Proof<'p> {
        let (verdicts, claims) = settle(program, options, settled, &graph);
        let floor_result = settled.floor.as_ref().map(|floor| &floor.result);
        let is_beyond = |(id, verdict): &(u32, &Option<Verdict>)| {
            let proved = matches!(verdict, Some(Verdict::Proved | Verdict::ProvedIf(_)));
            proved && !floor_result.is_some_and(|floor_result| floor_result.holds(CheckId(*id)))
        };
        let beyond = (0u32..).zip(&verdicts.checks).filter(is_beyond).count();
        let mut stats = stats;
        stats.beyond_floor_checks = beyond as u64;
        let why = "no invariant was found that excludes it";
        let floor_proof = settled
            .floor
            .as_ref()
            .map(|floor| FloorProof::of(program, options, floor, why));
        Proof {
            floor_proof,
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

    /// The proof for a program that could not be explored: nothing is settled.
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

    /// A proof in which all goals are open for the same reason.
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
            elsewhere: vec![Elsewhere::whole(why)],
            assumed: Vec::new(),
            stats,
            evidence: None,
            floor_proof: None,
            executed: None,
        }
    }

    /// What follows from the floor, if that settles everything that is asked for.
    pub fn alone(program: &'p Program, options: &Options, floor: &Arc<Floor>) -> Option<Proof<'p>> {
        let why = "the floor says nothing of it";
        let mut nothing = Proof::open(program, options, why, Stats::default());
        nothing.elsewhere.clear();
        let proof = nothing.on(program, options, floor);
        proof.is_complete().then_some(proof)
    }

    /// Adds what the floor settles to a proof for a program that could not be explored.
    pub fn on(mut self, program: &'p Program, options: &Options, floor: &Arc<Floor>) -> Proof<'p> {
        let why = self.elsewhere.first();
        let why = why.map_or(String::new(), |first| first.why.clone());
        let floor_proof = FloorProof::of(program, options, floor, &why);
        self.checks.clone_from(&floor_proof.verdicts.checks);
        self.blocks.clone_from(&floor_proof.verdicts.blocks);
        self.assumed.clone_from(&floor_proof.verdicts.assumed);
        self.elsewhere
            .extend(floor_proof.verdicts.elsewhere.iter().cloned());
        self.floor_proof = Some(floor_proof);
        self
    }
}
