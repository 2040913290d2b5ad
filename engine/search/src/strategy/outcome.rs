//! What a strategy comes to: verdicts, what they rest on, and why they are so.
//!
//! Every strategy ends in the same way, with facts at the cut points of its graph and what these settle, so that one checker is
//! enough for all of them.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::options::{Options, Stats, Verdict};
use crate::abstraction::asking::Facts;
use crate::abstraction::goals::{self, Settled};
use crate::abstraction::graph::Graph;
use crate::proof::{Certificate, Checked, FORMAT};
use cegar_model::program::ir::{BlockId, CheckId, FunctionKind, Program, Property};
use cegar_model::symbolic::encode::Exceeded;

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
    pub assumed: Vec<String>,
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
    pub assumed: Vec<String>,
    /// As in [`Proof`].
    pub stats: Stats,
    /// Why it is so, for the checker.
    pub certificate: Certificate,
}

impl Proof<'_> {
    /// The outcome, and the certificate for what is proved of the program with this bitcode.
    pub fn outcome(self, bitcode: &str, properties: &[Property]) -> Outcome {
        let evidence = self.evidence.as_ref().map(|e| (&e.graph, &e.facts));
        let verdicts = Verdicts {
            checks: self.checks,
            blocks: self.blocks,
            elsewhere: self.elsewhere,
            assumed: self.assumed,
        };
        verdicts.outcome((bitcode, properties), evidence, self.stats)
    }
}

/// How all goals stand.
struct Verdicts {
    checks: Vec<Option<Verdict>>,
    blocks: Vec<Option<Verdict>>,
    elsewhere: Vec<String>,
    assumed: Vec<String>,
}

impl Verdicts {
    /// With the certificate for what is proved.
    fn outcome(
        self,
        (bitcode, properties): (&str, &[Property]),
        evidence: Option<(&Graph<'_>, &Facts)>,
        stats: Stats,
    ) -> Outcome {
        let proved = |verdicts: &[Option<Verdict>]| -> Vec<u32> {
            let numbered = verdicts.iter().enumerate();
            numbered
                .filter(|(_, verdict)| **verdict == Some(Verdict::Proved))
                .map(|(number, _)| number as u32)
                .collect()
        };
        let (grain, cuts) = match evidence {
            Some((graph, facts)) => (graph.world.grain(), Certificate::regions(graph, facts)),
            None => Default::default(),
        };
        Outcome {
            certificate: Certificate {
                format: FORMAT,
                bitcode: bitcode.to_owned(),
                properties: properties.to_vec(),
                checks: proved(&self.checks),
                blocks: proved(&self.blocks),
                assumptions: self.assumed.clone(),
                grain,
                cuts,
            },
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
        evidence: (&Graph<'_>, &Facts),
        stats: Stats,
    ) -> Outcome {
        let mut verdicts = Verdicts::settled(program, options, settled, evidence.0);
        let why = "there was no time to ask about it";
        for verdict in verdicts.blocks.iter_mut().flatten() {
            *verdict = Verdict::Open(why.to_owned());
        }
        verdicts.outcome(("", &options.properties), Some(evidence), stats)
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
            .retain(|id| !checked.late_checks.contains(id));
        claimed
            .blocks
            .retain(|id| !checked.late_blocks.contains(id));
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

impl Verdicts {
    /// What was settled of a program that was explored.
    fn settled(
        program: &Program,
        options: &Options,
        settled: &Settled,
        graph: &Graph<'_>,
    ) -> Verdicts {
        let wanted = |property: Property| options.properties.contains(&property);
        // What can be reached through a hole is open.
        let mut lost: FxHashMap<BlockId, String> = FxHashMap::default();
        for (start, index) in &settled.holes {
            let hole = &graph.fragments[start].holes[*index];
            let why = format!("behind {} at {}", hole.what, program.show(hole.pos));
            for block in goals::behind(graph, hole) {
                lost.entry(block).or_insert_with(|| why.clone());
            }
        }
        let mut checks: Vec<Option<Verdict>> = program
            .checks
            .iter()
            .map(|check| {
                wanted(check.kind.property()).then(|| match lost.get(&check.loc.block) {
                    Some(why) => Verdict::Open(why.clone()),
                    None => Verdict::Proved,
                })
            })
            .collect();
        let mut elsewhere = BTreeSet::new();
        let mut assumed = BTreeSet::new();
        for failing in settled.failing.values() {
            let obligation = &graph.fragments[&failing.start].obligations[failing.index];
            let why = if obligation.vague {
                "it is not known where the pointer points".to_owned()
            } else if failing.reason.is_some() {
                "the solver gave no answer in time".to_owned()
            } else {
                "no invariant was found that excludes it".to_owned()
            };
            if !wanted(obligation.kind.property()) {
                assumed.insert(obligation.kind.property());
                continue;
            }
            let user = |id: CheckId| {
                let function = program.checks[id.index()].function;
                program.function(function).kind == FunctionKind::User
            };
            if let Some(id) = obligation.check {
                checks[id.index()] = Some(Verdict::Open(why.clone()));
            }
            match obligation.check {
                Some(id) if user(id) => {}
                _ => {
                    elsewhere.insert(format!(
                        "{:?} at {}: {why}",
                        obligation.kind,
                        program.show(obligation.pos)
                    ));
                }
            }
        }
        let blocks = program
            .blocks
            .iter()
            .enumerate()
            .map(|(number, block)| {
                let id = BlockId(number as u32);
                if options.covered.has(id)
                    || program.function(block.function).kind != FunctionKind::User
                {
                    return None;
                }
                Some(if settled.entered.contains(&id) {
                    Verdict::Open("no execution came here, and nothing excludes it".to_owned())
                } else if let Some(why) = lost.get(&id) {
                    Verdict::Open(why.clone())
                } else {
                    Verdict::Proved
                })
            })
            .collect();
        let assumed = assumed
            .into_iter()
            .map(|property| match property {
                Property::Memory => {
                    "every access to memory is valid: not asked, and not all of it is proved"
                }
                Property::Overflow => {
                    "no arithmetic overflows: not asked, and not all of it is proved"
                }
                Property::Assertion => "no assertion fails: not asked, and not all of it is proved",
            })
            .map(str::to_owned)
            .collect();
        Verdicts {
            checks,
            blocks,
            elsewhere: elsewhere.into_iter().collect(),
            assumed,
        }
    }
}

impl<'p> Proof<'p> {
    /// What was settled of a program that was explored.
    pub fn settled(
        program: &'p Program,
        options: &Options,
        settled: Settled,
        evidence: Evidence<'p>,
        stats: Stats,
    ) -> Proof<'p> {
        let verdicts = Verdicts::settled(program, options, &settled, &evidence.graph);
        Proof {
            checks: verdicts.checks,
            blocks: verdicts.blocks,
            elsewhere: verdicts.elsewhere,
            assumed: verdicts.assumed,
            stats,
            evidence: Some(evidence),
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
