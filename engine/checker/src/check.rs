//! The pass over a certificate.
//!
//! The fragment of each cut point is encoded once, from the claims about it. For each of its
//! transitions the checker asks whether it ends in a state that the target's claims allow and
//! whether it preserves the target's formulas. For each claimed goal it asks whether some state of
//! the claims violates it. Nothing is propagated, widened or guessed, and an unanswered question
//! rejects the certificate. The entry starts without claims. So by induction over the steps of an
//! execution, the claims hold in every state that it reaches.
//!
//! A check that is not claimed may be violated, and the model does not follow an execution after a
//! violation: after an invalid write memory may hold anything, and after an overflow a compiler may
//! have assumed that there was none. A goal that may be executed after such a check is claimed with
//! that check as its condition, or not at all. A failed assertion ends the execution, so no goal
//! lies behind it.
//!
//! Under a [deadline] the formulas are checked first, since every goal rests on them. Goals for
//! which there is no time left are reported ([`Checked::late_checks`], [`Checked::late_blocks`])
//! and are not proved.

mod executed;
mod finish;
mod floor_claims;
mod goals;
mod questions;

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use cegar_model::deadline;
use cegar_model::program::ir::{BlockId, CheckId, FunctionKind, Loc, Program, Property};
use cegar_model::program::outside::points::Points;
use cegar_model::solver::Limits;
use cegar_model::symbolic::encode::{Budget, Encoder, Exceeded, Fragment, Obligation};
use cegar_model::symbolic::every;
use cegar_model::symbolic::summary::related;
use cegar_model::symbolic::world::{CtxId, Cut, Grain};
use cegar_model::term::Term;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::arrive::arrival;
use crate::asked::{About, QuestionSolver};
use crate::assumptions::{Assumption, Met};
use crate::certificate::{Certificate, Claim, FORMAT};
use crate::claims::Claims;
use crate::continuation::{Continuation, code_after};
use crate::floor::FloorResult;
use crate::rejected::Rejected;

use self::floor_claims::FloorClaims;

/// The result of checking a certificate.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Checked {
    /// The number of transitions.
    pub transitions: u64,
    /// The number of questions to the solver, all of which were unsatisfiable.
    pub questions: u64,
    /// The numbers of claimed checks for which there was no time.
    pub late_checks: BTreeSet<u32>,
    /// The numbers of claimed blocks for which there was no time.
    pub late_blocks: BTreeSet<u32>,
    /// The assumptions that the claims rest on.
    pub assumptions: Vec<Assumption>,
}

impl Checked {
    /// Whether every goal that the certificate claims was checked.
    pub fn is_whole(&self) -> bool {
        self.late_checks.is_empty() && self.late_blocks.is_empty()
    }
}

const NOT: &str = "";
const UNANSWERED: &str = ": the solver gave no answer";

/// Checks a certificate against a program. `bitcode` is the SHA-256 hash of the program's bitcode,
/// and `limits` are those of one question.
pub fn check(
    program: &Program,
    bitcode: &str,
    certificate: &Certificate,
    limits: Limits,
    asked: &mut dyn QuestionSolver,
) -> Result<Checked, Rejected> {
    fits(program, bitcode, certificate)?;
    // A certificate without claims needs no justification. A strategy that only executes produces
    // such certificates, for instance.
    if certificate.checks.is_empty() && certificate.blocks.is_empty() {
        return Ok(Checked::default());
    }
    if certificate.executed {
        return executed::accepted(program, certificate);
    }
    let claimed = Claimed::of(certificate);
    let floor_result = match &certificate.floor {
        Some(floor) => {
            let floor_result = FloorResult::of(program, Arc::new(Points::of(program)), floor)?;
            let none = BTreeSet::new();
            let floor_claims =
                FloorClaims::of(program, certificate, &claimed, (&floor_result, &none));
            if floor_claims.is_whole(certificate) {
                match floor_claims::accepted(program, certificate, &claimed, &floor_result) {
                    // The walks may meet more rules than executions do. The fragments are more
                    // precise.
                    Err(Rejected::Assumption(_)) if !certificate.cuts.is_empty() => {}
                    result => return result,
                }
            }
            Some(floor_result)
        }
        None => None,
    };
    let claims = Claims::read(program, certificate).map_err(Rejected::Malformed)?;
    let mut checker = Checker {
        program,
        certificate,
        claims,
        limits,
        asked,
        unknowns: 0,
        checked: Checked::default(),
        claimed,
        floor_result,
        open: Vec::new(),
        holes: Vec::new(),
        late: Vec::new(),
        met: Met::new(),
        continuation: FxHashMap::default(),
        seen: FxHashSet::default(),
    };
    let starts: Vec<Option<Cut>> = std::iter::once(None)
        .chain(checker.claims.cuts.keys().copied().map(Some))
        .collect();
    for start in starts {
        // No transition starts at the end of a function that is encoded alone: the fragments of its
        // callers continue after the calls.
        let ended = start.and_then(|cut| checker.claims.world.ended(cut));
        if ended.is_some() {
            continue;
        }
        checker.fragment(start)?;
    }
    checker.reject_undeclared()?;
    checker.finish()?;
    Ok(checker.checked)
}

/// Checks that the certificate is about this program, has a known format, and states nothing twice.
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
    for (what, claims, count) in [
        ("check", &certificate.checks, program.checks.len()),
        ("block", &certificate.blocks, program.blocks.len()),
    ] {
        let mut seen = FxHashSet::default();
        for claim in claims {
            let number = claim.id;
            if number as usize >= count {
                return Err(Rejected::Missing { what, number });
            }
            // Claims are about the user's blocks only: see `Fragment::entered`.
            let block = (what == "block").then(|| program.block(BlockId(number)).function);
            if block.is_some_and(|id| program.function(id).kind != FunctionKind::User) {
                let other = format!("block {number} is not the user's");
                return Err(Rejected::Malformed(other));
            }
            if !seen.insert(number) {
                let twice = format!("{what} {number} stands twice");
                return Err(Rejected::Malformed(twice));
            }
            let condition = claim
                .given
                .map(|at| certificate.conditions.get(at as usize));
            if condition == Some(None) {
                let none = format!("{what} {number} has a condition that does not exist");
                return Err(Rejected::Malformed(none));
            }
        }
    }
    let conditions = certificate.conditions.iter();
    let mut rested = conditions.flat_map(|condition| &condition.checks);
    if let Some(&number) = rested.find(|&&id| id as usize >= program.checks.len()) {
        let what = "check";
        return Err(Rejected::Missing { what, number });
    }
    let properties: BTreeSet<Property> = certificate.properties.iter().copied().collect();
    if properties.len() != certificate.properties.len() {
        let twice = "a property stands twice".to_owned();
        return Err(Rejected::Malformed(twice));
    }
    Ok(())
}

/// The claims, by number.
struct Claimed {
    checks: FxHashMap<u32, Claim>,
    blocks: FxHashMap<u32, Claim>,
}

impl Claimed {
    fn of(certificate: &Certificate) -> Claimed {
        let by_id = |claims: &[Claim]| claims.iter().map(|claim| (claim.id, *claim)).collect();
        Claimed {
            checks: by_id(&certificate.checks),
            blocks: by_id(&certificate.blocks),
        }
    }
}

/// A check that is not proved, so that claims behind it hold only under a condition.
struct Unsettled {
    /// The number of the check. `None` for a violation without a check in a library function.
    check: Option<u32>,
    /// The place of the check.
    place: String,
    /// The code behind the check.
    continuation: Rc<Continuation>,
}

/// The state of the pass over a certificate.
struct Checker<'c, 'p> {
    program: &'p Program,
    certificate: &'c Certificate,
    claims: Claims<'p>,
    limits: Limits,
    asked: &'c mut dyn QuestionSolver,
    unknowns: u32,
    checked: Checked,
    claimed: Claimed,
    /// What follows from the floor.
    floor_result: Option<FloorResult>,
    open: Vec<Unsettled>,
    /// The holes that may be reached: what is not modelled, the place, and the code behind it.
    holes: Vec<(String, String, Continuation)>,
    /// The code behind claimed checks for which there was no time.
    late: Vec<Continuation>,
    /// The places where the model is narrower than the world, by rule.
    met: Met,
    /// The code behind places, as a cache.
    continuation: FxHashMap<(CtxId, Loc), Rc<Continuation>>,
    seen: FxHashSet<(Option<u32>, CtxId, Loc)>,
}

impl<'p> Checker<'_, 'p> {
    fn fragment(&mut self, start: Option<Cut>) -> Result<(), Rejected> {
        if deadline::passed() {
            return Err(Rejected::Late);
        }
        let Claims { world, pool, cuts } = &mut self.claims;
        let from = start.and_then(|cut| Some((cut, &cuts.get(&cut)?.state)));
        let fragment = Encoder::encode(world, pool, from, Budget::default());
        let fragment = fragment.map_err(|why| match why {
            Exceeded::Size => Rejected::Unexplored(self.name(start)),
            Exceeded::Time => Rejected::Late,
        })?;
        self.reject_undeclared()?;
        let known = self.known(start, &fragment);
        self.unsettled(&fragment, &known);
        for at in 0..fragment.transitions.len() {
            self.edge(start, &fragment, at, &known)?;
        }
        self.goals(&fragment, &known)
    }

    /// The facts that are known in a fragment: axioms and formulas of its start, and the summaries
    /// of its calls.
    fn known(&mut self, start: Option<Cut>, fragment: &Fragment) -> Vec<Term> {
        let Claims { world, pool, cuts } = &mut self.claims;
        let mut known = Vec::new();
        for called in &fragment.calls {
            let ends = world.ends_of(called.function);
            if let Some(claimed) = ends.and_then(|(_, end)| cuts.get(&end)) {
                let related = related(pool, world, called, &claimed.facts);
                known.extend(related.into_iter().map(|(_, here)| here));
            }
        }
        let Some(claimed) = start.and_then(|cut| cuts.get(&cut)) else {
            return known;
        };
        known.extend(claimed.state.axioms(pool, world));
        known.extend(&claimed.facts);
        known.extend(every::instances(pool, &claimed.facts, &asked(fragment)));
        known
    }

    /// Rejects a certificate that declares objects differently from how the program makes them.
    fn reject_undeclared(&self) -> Result<(), Rejected> {
        match &self.claims.world.undeclared {
            Some(what) => Err(Rejected::Objects(what.clone())),
            None => Ok(()),
        }
    }

    /// Records the obligations of a fragment that no claim covers.
    fn unsettled(&mut self, fragment: &Fragment, known: &[Term]) {
        for obligation in &fragment.obligations {
            let check = obligation.check.map(|CheckId(id)| id);
            let holds = match check {
                Some(id) => self.claimed.checks.contains_key(&id),
                None => self.holds(fragment, obligation, known),
            };
            if holds || ends(obligation) {
                continue;
            }
            let loc = place(self.program, obligation);
            if !self.seen.insert((check, obligation.ctx, loc)) {
                continue;
            }
            let continuation = self
                .continuation
                .entry((obligation.ctx, loc))
                .or_insert_with(|| Rc::new(code_after(&self.claims.world, obligation.ctx, loc)));
            self.open.push(Unsettled {
                check,
                place: self.program.show(obligation.pos),
                continuation: Rc::clone(continuation),
            });
        }
    }

    /// Whether an obligation without a check number always holds.
    fn holds(&mut self, fragment: &Fragment, obligation: &Obligation, known: &[Term]) -> bool {
        let about = About::Library {
            place: self.program.show(obligation.pos),
        };
        let way = (&obligation.goal()[..], obligation.assumptions_before);
        self.follows(fragment, way, known, &about).is_none()
    }

    fn name(&self, cut: Option<Cut>) -> String {
        match cut {
            None => "the entry".to_owned(),
            Some(cut) => {
                let block = self.program.block(cut.block);
                let function = &self.program.function(block.function).name;
                let world = &self.claims.world;
                if world.begun(cut).is_some() {
                    return format!("the beginning of `{function}`");
                }
                if world.ended(cut).is_some() {
                    return format!("the end of `{function}`");
                }
                let what = match self.certificate.grain {
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

    fn edge(
        &mut self,
        start: Option<Cut>,
        fragment: &Fragment,
        at: usize,
        known: &[Term],
    ) -> Result<(), Rejected> {
        if deadline::passed() {
            return Err(Rejected::Late);
        }
        self.checked.transitions += 1;
        let transition = &fragment.transitions[at];
        let (from, to) = (self.name(start), self.name(Some(transition.to)));
        let Claims { world, pool, cuts } = &mut self.claims;
        let Some(target) = cuts.get(&transition.to) else {
            return Err(Rejected::Cut { from, to });
        };
        let origin = start.and_then(|cut| cuts.get(&cut)).map(|c| &c.state);
        let states = (origin, &target.state);
        let arrived = arrival(pool, world, states, transition, &mut self.unknowns);
        let mut arrival = arrived.map_err(|what| Rejected::Edge {
            from: from.clone(),
            to: to.clone(),
            formula: what,
            how: NOT,
        })?;
        for &fact in &target.facts {
            let text = pool.write(fact).unwrap_or_default();
            let after = arrival.preimage.apply(pool, fact);
            arrival.wanted.push((after, text));
        }
        let mut terms = arrival.apart;
        // The wanted formulas may read arrays at offsets at which the fragment does not.
        let facts = start.and_then(|cut| cuts.get(&cut));
        let facts = facts.map_or(&[][..], |claimed| &claimed.facts);
        let wanted: Vec<Term> = arrival.wanted.iter().map(|(t, _)| *t).collect();
        terms.extend(every::instances(pool, facts, &wanted));
        terms.extend(known);
        terms.extend(&transition.reached.guard.0);
        terms.extend(&fragment.assumptions[..transition.assumptions_before]);
        self.kept((&from, &to), &terms, arrival.wanted)
    }
}

/// The terms in the questions about a fragment: those of its checks, its transitions and its
/// assumptions.
fn asked(fragment: &Fragment) -> Vec<Term> {
    let obligations = fragment.obligations.iter();
    let mut all: Vec<Term> = obligations.flat_map(Obligation::goal).collect();
    let transitions = fragment.transitions.iter();
    all.extend(transitions.flat_map(|transition| &transition.reached.guard.0));
    all.extend(&fragment.assumptions);
    all
}

/// The instruction of an obligation, or the first one of its block if it is not known.
pub fn place(program: &Program, obligation: &Obligation) -> Loc {
    let check = obligation
        .check
        .and_then(|id| program.checks.get(id.index()));
    let first = Loc {
        block: obligation.block,
        inst: 0,
    };
    let loc = check.map(|check| check.loc);
    loc.filter(|loc| loc.block == obligation.block)
        .unwrap_or(first)
}

/// Whether a violation ends the execution, as that of an assertion does, so that no code lies
/// behind it.
pub fn ends(obligation: &Obligation) -> bool {
    obligation.kind.is_reached()
}
