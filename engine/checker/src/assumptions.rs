//! The assumptions that every proof of a program rests on.
//!
//! A certificate repeats these sentences for its readers. The checker does not trust it: it derives
//! the assumptions again, and rejects a certificate that omits one. Where the model is narrower
//! than the world, the fragments that the checker encodes say so (`Narrowing`), so a proof does not
//! rest on a rule whose places no claimed state reaches. A certificate may state more assumptions
//! than the checker derives (for example, what the user said about an external function), but not
//! fewer.

use std::collections::{BTreeMap, BTreeSet};

use cegar_model::assumption::{Asked, RULES, Rule};
use cegar_model::program::ir::{
    BinOp, Callee, CheckKind, FloatCast, FuncId, Function, FunctionKind, Op, Program, Property,
};
use cegar_model::program::outside::Access;
use cegar_model::program::{plain, stack};
use cegar_model::symbolic::encode::Narrowing;
use serde::{Deserialize, Serialize};

/// A statement that is not proved and that proofs rest on.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assumption {
    /// The identifier of the assumption.
    pub id: String,
    /// The statement as a sentence.
    pub says: String,
    /// The option that lifts the assumption. `None` if nothing does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lift: Option<String>,
    /// The places where it is used. Empty if it is about the whole program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<String>,
}

/// The number of places that a sentence lists. Further places are only counted.
const PLACES: usize = 3;

impl Assumption {
    /// An assumption that is not a rule of the model.
    pub fn stated(says: String) -> Assumption {
        Assumption {
            id: STATED.to_owned(),
            says,
            lift: None,
            places: Vec::new(),
        }
    }

    /// An assumption about external functions.
    pub fn external(says: String) -> Assumption {
        Assumption {
            id: "external-rules".to_owned(),
            ..Assumption::stated(says)
        }
    }

    /// The assumption that callers keep the preconditions that a harness keeps. Each condition is
    /// `FUNCTION: CONDITION`, or only the condition if it is not about one call.
    pub fn preconditions(is_confirmed: bool, conditions: Vec<String>) -> Assumption {
        let (id, says) = match is_confirmed {
            true => (
                "contracts",
                "callers keep the confirmed preconditions of contracts.toml",
            ),
            false => (
                LEARNT,
                "callers keep the preconditions of contracts.toml that nobody has confirmed",
            ),
        };
        Assumption {
            id: id.to_owned(),
            places: conditions,
            ..Assumption::stated(says.to_owned())
        }
    }

    fn of(rule: &Rule) -> Assumption {
        Assumption {
            id: rule.id.to_owned(),
            says: rule.says.to_owned(),
            lift: rule.switch(),
            places: Vec::new(),
        }
    }

    /// The assumption as one sentence: the statement, the option that lifts it, and some places.
    pub fn sentence(&self) -> String {
        let mut text = self.says.clone();
        if let Some(lift) = &self.lift {
            text += &format!("; lift it with {lift}");
        }
        if !self.places.is_empty() {
            let more = match self.places.len().saturating_sub(PLACES) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let shown = self.places.len().min(PLACES);
            text += &format!(" ({}{more})", self.places[..shown].join(", "));
        }
        text
    }

    /// Merges the assumptions of several programs: each occurs once, with the places of all
    /// programs.
    pub fn merged(all: impl IntoIterator<Item = Assumption>) -> Vec<Assumption> {
        let mut merged: Vec<Assumption> = Vec::new();
        for assumption in all {
            let same = |a: &&mut Assumption| {
                a.id == assumption.id && a.says == assumption.says && a.lift == assumption.lift
            };
            match merged.iter_mut().find(same) {
                Some(known) => {
                    for place in assumption.places {
                        if !known.places.contains(&place) {
                            known.places.push(place);
                        }
                    }
                }
                None => merged.push(assumption),
            }
        }
        merged
    }

    /// Whether this assumption includes another one.
    pub fn covers(&self, other: &Assumption) -> bool {
        let same = self.id == other.id && self.says == other.says && self.lift == other.lift;
        same && other.places.iter().all(|place| self.places.contains(place))
    }
}

/// The identifier of preconditions that were learnt and that nobody has confirmed.
pub const LEARNT: &str = "learnt";

/// The identifier of assumptions that are stated beyond those that the checker derives.
pub const STATED: &str = "stated";

/// Properties with open checks behind which claims may lie.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Open {
    /// Properties that the user did not ask for and that have open checks.
    pub unasked: BTreeSet<Property>,
}

impl Open {
    /// The properties in `open`, whose checks are open somewhere, without those that the user asked
    /// for. `abort` is included if the user did not ask about it: behind its call only handlers of
    /// its signal are executed, so no proof says whether the call is open.
    pub fn beside(asked: &[Property], open: impl IntoIterator<Item = Property>) -> Open {
        let open = open.into_iter().chain([Property::Abort]);
        Open {
            unasked: open.filter(|property| !asked.contains(property)).collect(),
        }
    }

    /// All properties that can be open.
    pub fn everything() -> Open {
        Open {
            unasked: [
                Property::Assertion,
                Property::Abort,
                Property::Memory,
                Property::Overflow,
            ]
            .into(),
        }
    }
}

/// The places where the model is narrower than the world, by the identifiers of the rules.
pub type Met = BTreeMap<&'static str, BTreeSet<String>>;

/// The places of these narrowings, by rule.
pub fn met<'n>(program: &Program, narrowings: impl IntoIterator<Item = &'n Narrowing>) -> Met {
    let mut met = Met::new();
    for narrowing in narrowings {
        let places = met.entry(narrowing.id).or_default();
        places.insert(narrowing.place(program));
    }
    met
}

/// The number of names that a sentence lists. Further names are only counted.
const NAMES: usize = 40;

/// The assumptions that proofs of the program rest on, given what is open and which rules were met.
pub fn derive(program: &Program, open: &Open, met: &Met) -> Vec<Assumption> {
    let mut all = Vec::new();
    for rule in RULES {
        let mut assumption = Assumption::of(rule);
        let matters = match rule.asked {
            Asked::Always => !program.lifted.contains(rule.id),
            Asked::Code | Asked::Encoder => match met.get(rule.id) {
                Some(places) => {
                    assumption.places = places.iter().cloned().collect();
                    true
                }
                None => false,
            },
            Asked::Checker => by_program(program, open, &mut assumption),
        };
        if matters {
            all.push(assumption);
        }
    }
    all
}

/// Whether a rule about the program as a whole, or about what is open, matters. May make the
/// statement of the assumption more specific.
fn by_program(program: &Program, open: &Open, assumption: &mut Assumption) -> bool {
    match assumption.id.as_str() {
        "external-rules" => {
            let ruled = names(program, |function| function.effects.ruled);
            let says =
                ruled.map(|names| format!("what was said of {names} under [external] holds"));
            completed(assumption, says)
        }
        "external-bounds" => {
            let named = names(program, accesses_outside);
            let says = named.map(|names| format!("{}: {names}", assumption.says));
            completed(assumption, says)
        }
        "environment" => !program.lifted.contains("environment") && program.lists_environment(),
        "library" => asks_library(program),
        "wrapping" => wraps(program),
        "conversions" => converts(program),
        "stack" => !program.lifted.contains("stack") && stack::may_be_deep(program),
        "unasked-memory" => open.unasked.contains(&Property::Memory),
        "unasked-overflow" => open.unasked.contains(&Property::Overflow),
        "unasked-abort" => open.unasked.contains(&Property::Abort) && handles_signals(program),
        "unasked-assertion" => open.unasked.contains(&Property::Assertion),
        // A rule without a condition above is printed always, so that none is forgotten.
        _ => true,
    }
}

/// Replaces the statement of an assumption by a more specific one. Returns false if there is none.
fn completed(assumption: &mut Assumption, says: Option<String>) -> bool {
    let matters = says.is_some();
    assumption.says = says.unwrap_or_default();
    matters
}

/// Whether the program may install a handler of a signal.
fn handles_signals(program: &Program) -> bool {
    let installs = ["CRUNNER_signal", "CRUNNER_sigaction"];
    let mut functions = program.functions.iter();
    functions.any(|function| installs.contains(&function.name.as_str()))
        && program
            .checks
            .iter()
            .any(|check| check.kind == CheckKind::Abort)
}

/// Whether a function is external and may access memory through its arguments.
fn accesses_outside(function: &Function) -> bool {
    let mut params = function.params.iter().enumerate();
    let accesses =
        |(i, &width): (usize, &u16)| width == 64 && function.effects.param(i) != Access::Untouched;
    function.kind == FunctionKind::Mock && params.any(accesses)
}

/// Whether a certificate of this program may state the assumption.
pub fn is_known(program: &Program, assumption: &Assumption) -> bool {
    if assumption.id == STATED {
        return true;
    }
    let met = RULES.iter().map(|rule| (rule.id, BTreeSet::new()));
    let all = derive(program, &Open::everything(), &met.collect());
    let plain = Assumption {
        places: Vec::new(),
        ..assumption.clone()
    };
    all.contains(&plain)
}

/// Whether the user's code depends on the library: it calls a library function, calls through a
/// pointer, or takes the arguments of `main`. A program that only calls functions that report a
/// failed check does not depend on the library.
fn asks_library(program: &Program) -> bool {
    let is_user = |id: FuncId| program.function(id).kind == FunctionKind::User;
    let takes_arguments = program
        .functions
        .iter()
        .any(|f| f.kind == FunctionKind::User && plain(&f.name) == "main" && !f.params.is_empty());
    let blocks = program.blocks.iter();
    let mut ops = blocks
        .filter(|block| is_user(block.function))
        .flat_map(|block| &block.ops);
    takes_arguments
        || ops.any(|inst| {
            let Op::Call(call) = &inst.op else {
                return false;
            };
            let check = call.check.and_then(|id| program.checks.get(id.index()));
            let reports = check.is_some_and(|check| check.kind.is_reached());
            match call.callee {
                Callee::Indirect(_) => true,
                Callee::Direct(id) => {
                    let kind = program.function(id).kind;
                    !reports && matches!(kind, FunctionKind::Stub | FunctionKind::EngineOnly)
                }
            }
        })
}

/// Whether the user's code contains arithmetic but no overflow checks, so that it was compiled to
/// wrap around.
fn wraps(program: &Program) -> bool {
    let computes = |op: &Op| {
        matches!(
            op,
            Op::Bin {
                op: BinOp::Add | BinOp::Sub | BinOp::Mul,
                ..
            }
        )
    };
    is_unguarded(program, CheckKind::SignedOverflow, computes)
}

/// Whether the user's code converts floating-point values to integers without checking that they
/// fit.
fn converts(program: &Program) -> bool {
    let converts = |op: &Op| {
        matches!(
            op,
            Op::FloatCast {
                cast: FloatCast::ToSigned(..) | FloatCast::ToUnsigned(..),
                ..
            }
        )
    };
    is_unguarded(program, CheckKind::FloatConversion, converts)
}

/// Whether the user's code contains such an operation, and no check of this kind.
fn is_unguarded(program: &Program, kind: CheckKind, is_it: impl Fn(&Op) -> bool) -> bool {
    let is_user = |id: FuncId| program.function(id).kind == FunctionKind::User;
    let mut checks = program.checks.iter();
    if checks.any(|check| check.kind == kind && is_user(check.function)) {
        return false;
    }
    let blocks = program.blocks.iter();
    let mut ops = blocks
        .filter(|block| is_user(block.function))
        .flat_map(|block| &block.ops);
    ops.any(|inst| is_it(&inst.op))
}

/// The names of the functions that are `wanted`, for a sentence. `None` if there are none.
fn names(program: &Program, wanted: impl Fn(&Function) -> bool) -> Option<String> {
    let functions = program.functions.iter();
    let mut names: Vec<&str> = functions
        .filter(|function| wanted(function))
        .map(|function| function.name.as_str())
        .collect();
    names.sort_unstable();
    names.dedup();
    let more = names.len().saturating_sub(NAMES);
    names.truncate(NAMES);
    let more = (more > 0).then(|| format!(" and {more} more"));
    (!names.is_empty()).then(|| names.join(", ") + &more.unwrap_or_default())
}
