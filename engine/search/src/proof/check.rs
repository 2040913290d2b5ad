//! The checker.
//!
//! It reads the bitcode, builds the graph of cut points anew, and asks for each transition and each formula whether the formula
//! holds behind it, and for each check that is claimed whether some state of the formulas violates it. Nothing of the search takes
//! part: no forest, no guesses, no Houdini, and each question is asked of a fresh solver. What it shares with the search
//! is the meaning of the Program (`encode`) and the propagation of constants, bounds and pointers (`graph`), which it does itself;
//! the bounds are asked about as if they were formulas of the certificate.
//!
//! Under a [deadline](cegar_model::deadline) the formulas come first, since every goal rests on them; the goals that there is no time for are
//! told ([`Checked::late_checks`], [`Checked::late_blocks`]) and are not proved.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;
use thiserror::Error;

use super::certificate::{Certificate, FORMAT, formula};
use crate::abstraction::asking::Facts;
use crate::abstraction::goals;
use crate::abstraction::graph::Graph;
use cegar_model::deadline;
use cegar_model::program::ir::{BlockId, CheckId, Program};
use cegar_model::solver::{Answer, Limits, Solver, Z3};
use cegar_model::symbolic::encode::{Budget, Exceeded, Fragment};
use cegar_model::symbolic::world::{Cut, Grain};
use cegar_model::term::Term;

/// What was checked.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Checked {
    /// Transitions.
    pub transitions: u64,
    /// Questions to the solver, all of them unsatisfiable.
    pub questions: u64,
    /// Claimed checks that there was no time for, by number.
    pub late_checks: BTreeSet<u32>,
    /// Claimed blocks that there was no time for, by number.
    pub late_blocks: BTreeSet<u32>,
}

impl Checked {
    /// Whether every goal that the certificate claims was checked.
    pub fn is_whole(&self) -> bool {
        self.late_checks.is_empty() && self.late_blocks.is_empty()
    }
}

/// Why a certificate is not accepted.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum Rejected {
    /// Another format.
    #[error("the certificate has format {found}, and this version reads {FORMAT}")]
    Format {
        /// What it has.
        found: u32,
    },
    /// It is about another program.
    #[error("the certificate is about other bitcode: about SHA-256 {expected}, not {found}")]
    Bitcode {
        /// What it is about.
        expected: String,
        /// What is there.
        found: String,
    },
    /// It speaks of a check or block that the program does not have.
    #[error("the program has no {what} {number}")]
    Missing {
        /// `check` or `block`.
        what: &'static str,
        /// Its number.
        number: u32,
    },
    /// A formula cannot be read.
    #[error("the formula `{formula}` of {cut} cannot be read: {why}")]
    Formula {
        /// Where.
        cut: String,
        /// It.
        formula: String,
        /// Why.
        why: String,
    },
    /// The deadline passed before all formulas were checked, on which every goal rests.
    #[error("the time was up before the formulas were checked")]
    Late,
    /// The program cannot be explored within the budget.
    #[error("the program cannot be explored as a whole")]
    Unexplored,
    /// It is a proof, but the solver gave no answer where the facts were looked for that one goal needs.
    #[error("the solver gave no answer when asked which facts are needed")]
    Unexplained,
    /// A transition does not preserve a formula.
    #[error("the edge from {from} to {to} does not preserve `{formula}`{how}")]
    Edge {
        /// Where it starts.
        from: String,
        /// Where it leads.
        to: String,
        /// The formula.
        formula: String,
        /// Whether a counterexample was found or no answer.
        how: &'static str,
    },
    /// A check is violated by a state that the formulas allow.
    #[error("check {check} at {place} does not follow{how}")]
    Check {
        /// Its number.
        check: u32,
        /// Where it stands.
        place: String,
        /// Whether a counterexample was found or no answer.
        how: &'static str,
    },
    /// A block is entered by a state that the formulas allow.
    #[error("block {block} at {place} may be entered")]
    Block {
        /// Its number.
        block: u32,
        /// Where it stands.
        place: String,
    },
    /// Something that is not modelled is reached, and a claimed goal lies behind it.
    #[error("{what} at {place} may be reached, and check or block {goal} lies behind it")]
    Hole {
        /// What.
        what: String,
        /// Where.
        place: String,
        /// Which goal.
        goal: u32,
    },
}

const NOT: &str = "";
const UNANSWERED: &str = ": the solver gave no answer";

/// Checks a certificate against the program. `bitcode` is its SHA-256; `limits` are those of one question.
pub fn check(
    program: &Program,
    bitcode: &str,
    certificate: &Certificate,
    limits: Limits,
) -> Result<Checked, Rejected> {
    let mut checker = Checker::open(program, bitcode, certificate, limits)?;
    let starts: Vec<Option<Cut>> = checker.graph.fragments.keys().copied().collect();
    for &start in &starts {
        let fragment = checker.graph.fragments[&start].clone();
        checker.edges(start, &fragment)?;
    }
    for start in starts {
        let fragment = checker.graph.fragments[&start].clone();
        checker.goals(start, &fragment, certificate)?;
    }
    Ok(checker.checked)
}

/// Whether the certificate is about this program, in a format that is known.
fn fits(program: &Program, bitcode: &str, certificate: &Certificate) -> Result<(), Rejected> {
    if certificate.format != FORMAT {
        return Err(Rejected::Format {
            found: certificate.format,
        });
    }
    if certificate.bitcode != bitcode {
        return Err(Rejected::Bitcode {
            expected: certificate.bitcode.clone(),
            found: bitcode.to_owned(),
        });
    }
    let missing = |what, ids: &[u32], count: usize| {
        let number = ids.iter().copied().find(|&id| id as usize >= count)?;
        Some(Rejected::Missing { what, number })
    };
    let checks = missing("check", &certificate.checks, program.checks.len());
    let blocks = missing("block", &certificate.blocks, program.blocks.len());
    checks.or(blocks).map_or(Ok(()), Err)
}

/// The program explored anew, with a certificate's formulas.
pub(super) struct Checker<'p> {
    program: &'p Program,
    pub(super) graph: Graph<'p>,
    pub(super) facts: Facts,
    limits: Limits,
    pub(super) checked: Checked,
}

impl<'p> Checker<'p> {
    /// Explores the program and reads the formulas. They are not checked yet.
    pub(super) fn open(
        program: &'p Program,
        bitcode: &str,
        certificate: &Certificate,
        limits: Limits,
    ) -> Result<Checker<'p>, Rejected> {
        fits(program, bitcode, certificate)?;
        let graph = Graph::explore(program, certificate.grain, Budget::default()).map_err(
            |why| match why {
                Exceeded::Size => Rejected::Unexplored,
                Exceeded::Time => Rejected::Late,
            },
        )?;
        let mut checker = Checker {
            program,
            graph,
            facts: Facts::new(),
            limits,
            checked: Checked::default(),
        };
        checker.read(certificate)?;
        Ok(checker)
    }

    fn read(&mut self, certificate: &Certificate) -> Result<(), Rejected> {
        for (cut, formulas) in certificate.regions_in(&self.graph) {
            let place = self.name(Some(cut));
            for text in formulas {
                let term = formula(&mut self.graph.pool, text);
                let term = term.map_err(|why| Rejected::Formula {
                    cut: place.clone(),
                    formula: text.clone(),
                    why,
                })?;
                self.facts.entry(cut).or_default().push(term);
            }
        }
        Ok(())
    }

    /// Makes formulas of the bounds that the propagation found, which are assumed otherwise.
    pub(super) fn claim_bounds(&mut self) {
        let Graph { states, pool, .. } = &mut self.graph;
        for (&cut, state) in states {
            for bound in state.take_bounds(pool) {
                let facts = self.facts.entry(cut).or_default();
                if !facts.contains(&bound) {
                    facts.push(bound);
                }
            }
        }
    }

    /// What may be assumed where a fragment starts.
    pub(super) fn known(&mut self, start: Option<Cut>) -> Vec<Term> {
        let mut known = self.graph.axioms(start);
        known.extend(
            start
                .and_then(|cut| self.facts.get(&cut))
                .into_iter()
                .flatten(),
        );
        known
    }

    pub(super) fn name(&self, cut: Option<Cut>) -> String {
        match cut {
            None => "the entry".to_owned(),
            Some(cut) => {
                let block = self.program.block(cut.block);
                let function = &self.program.function(block.function).name;
                let what = match self.graph.world.grain() {
                    Grain::Loops => "loop",
                    Grain::Blocks => "code",
                };
                format!(
                    "the {what} at {} in `{function}`",
                    self.program.show(block.pos)
                )
            }
        }
    }

    /// Some of these that cannot hold together already; none if all can, as far as the solver knows.
    pub(super) fn core(&mut self, terms: &[Term]) -> Option<Vec<Term>> {
        if let Some(&never) = terms
            .iter()
            .find(|&&t| self.graph.pool.as_const(t) == Some(0))
        {
            return Some(vec![never]);
        }
        self.checked.questions += 1;
        let limits = Limits {
            core: true,
            ..self.limits
        };
        match Z3::new().check(&mut self.graph.pool, terms, &limits) {
            Answer::Unsat { core } => Some(core.into_iter().map(|i| terms[i]).collect()),
            _ => None,
        }
    }

    /// None if these cannot hold together, else how that failed.
    pub(super) fn refuted(&mut self, terms: &[Term]) -> Option<&'static str> {
        if terms
            .iter()
            .any(|&t| self.graph.pool.as_const(t) == Some(0))
        {
            return None;
        }
        self.checked.questions += 1;
        match Z3::new().check(&mut self.graph.pool, terms, &self.limits) {
            Answer::Unsat { .. } => None,
            Answer::Sat(_) => Some(NOT),
            Answer::Unknown(_) => Some(UNANSWERED),
        }
    }

    fn edges(&mut self, start: Option<Cut>, fragment: &Fragment) -> Result<(), Rejected> {
        let known = self.known(start);
        for transition in &fragment.transitions {
            if deadline::passed() {
                return Err(Rejected::Late);
            }
            self.checked.transitions += 1;
            let mut facts = self.facts.get(&transition.to).cloned().unwrap_or_default();
            let claimed = facts.len();
            // What the propagation says of numbers is asked about, too.
            if let Some(state) = self.graph.states.get(&transition.to) {
                facts.extend(state.bounded(&mut self.graph.pool));
            }
            if facts.is_empty() {
                continue;
            }
            let mut preimage = self.graph.update(start, transition).preimage();
            let mut along = known.clone();
            along.extend(&transition.reached.guard.0);
            along.extend(&fragment.assumptions[..transition.prefix]);
            let after: Vec<Term> = facts
                .iter()
                .map(|&fact| preimage.apply(&mut self.graph.pool, fact))
                .collect();
            let open: Vec<Term> = after
                .iter()
                .filter(|t| !known.contains(t))
                .map(|&t| self.graph.pool.not(t))
                .collect();
            let some = self.graph.pool.any(&open);
            along.push(some);
            if self.refuted(&along).is_none() {
                continue;
            }
            along.pop();
            // One of them fails, or all together are too hard.
            for (at, (fact, after)) in facts.iter().zip(after).enumerate() {
                let not = self.graph.pool.not(after);
                along.push(not);
                let how = self.refuted(&along);
                along.pop();
                // Bounds are derived; that they are too hard for the solver says nothing against them.
                let is_hard = at >= claimed && how == Some(UNANSWERED);
                if let Some(how) = how.filter(|_| !is_hard) {
                    if how == UNANSWERED && deadline::passed() {
                        return Err(Rejected::Late);
                    }
                    let formula = self.graph.pool.write(*fact).unwrap_or_default();
                    return Err(Rejected::Edge {
                        from: self.name(start),
                        to: self.name(Some(transition.to)),
                        formula,
                        how,
                    });
                }
            }
        }
        Ok(())
    }

    fn goals(
        &mut self,
        start: Option<Cut>,
        fragment: &Fragment,
        certificate: &Certificate,
    ) -> Result<(), Rejected> {
        let known = self.known(start);
        let with = |prefix: usize, guard: &[Term]| -> Vec<Term> {
            let mut terms = known.clone();
            terms.extend(guard);
            terms.extend(&fragment.assumptions[..prefix]);
            terms
        };
        for obligation in &fragment.obligations {
            let Some(CheckId(id)) = obligation.check else {
                continue;
            };
            if !certificate.checks.contains(&id) {
                continue;
            }
            if self.checked.late_checks.contains(&id) {
                continue;
            }
            let mut terms = with(obligation.prefix, &obligation.guard.0);
            terms.push(obligation.violated);
            if let Some(how) = self.refuted(&terms) {
                if how == UNANSWERED && deadline::passed() {
                    self.checked.late_checks.insert(id);
                    continue;
                }
                return Err(Rejected::Check {
                    check: id,
                    place: self.program.show(obligation.pos),
                    how,
                });
            }
        }
        for entered in &fragment.entered {
            let id = entered.block.0;
            if !certificate.blocks.contains(&id) || self.checked.late_blocks.contains(&id) {
                continue;
            }
            let Some(how) = self.refuted(&with(entered.prefix, &entered.guard.0)) else {
                continue;
            };
            if how == UNANSWERED && deadline::passed() {
                self.checked.late_blocks.insert(id);
                continue;
            }
            return Err(Rejected::Block {
                block: id,
                place: self.program.show(self.program.block(entered.block).pos),
            });
        }
        for hole in &fragment.holes {
            let Some(how) = self.refuted(&with(hole.prefix, &hole.guard.0)) else {
                continue;
            };
            let behind: FxHashSet<BlockId> = goals::behind(&self.graph, hole);
            let checks = certificate.checks.iter().copied().filter(|&id| {
                let check = self.program.checks.get(id as usize);
                check.is_none_or(|check| behind.contains(&check.loc.block))
            });
            let blocks = certificate.blocks.iter().copied();
            let blocks = blocks.filter(|&id| behind.contains(&BlockId(id)));
            if how == UNANSWERED && deadline::passed() {
                self.checked.late_checks.extend(checks);
                self.checked.late_blocks.extend(blocks);
                continue;
            }
            let mut lost = checks.chain(blocks);
            if let Some(goal) = lost.next() {
                return Err(Rejected::Hole {
                    what: hole.what.clone(),
                    place: self.program.show(hole.pos),
                    goal,
                });
            }
        }
        Ok(())
    }
}
