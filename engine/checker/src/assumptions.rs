//! What every proof of a program rests on, read off the program itself.
//!
//! A certificate repeats these sentences for its readers; the checker does not believe it, but derives them again, and rejects a certificate
//! that keeps one back. Each has an identifier that never changes. A certificate may state more than that (what the user said of a
//! function that nobody defines, for instance), never less.

use std::collections::BTreeSet;

use cegar_model::program::ir::{
    BinOp, CheckKind, FuncId, FunctionKind, HeapFn, Intrinsic, Op, Program, Property,
};
use serde::{Deserialize, Serialize};

/// A sentence that is not proved and that proofs rest on.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assumption {
    /// Its identifier.
    pub id: String,
    /// The sentence.
    pub says: String,
}

/// The identifier of what is stated beyond what the checker derives.
pub const STATED: &str = "stated";

/// What is open although claims may lie behind it.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Open {
    /// Properties that nobody asked for and of which not all checks hold.
    pub unasked: BTreeSet<Property>,
}

impl Open {
    /// Whatever can be open.
    pub fn everything() -> Open {
        Open {
            unasked: [Property::Assertion, Property::Memory, Property::Overflow].into(),
        }
    }
}

/// Names in a sentence, before the rest is only counted.
const NAMES: usize = 40;

/// What proofs of the program rest on.
pub fn derive(program: &Program, open: &Open) -> Vec<Assumption> {
    let mut all = Vec::new();
    let mut add = |id: &str, says: String| {
        let id = id.to_owned();
        all.push(Assumption { id, says });
    };
    add(
        "threads",
        "there is one thread, and no signal handler".to_owned(),
    );
    add(
        "addresses",
        "addresses are compared and subtracted within one object only".to_owned(),
    );
    let mocked = names(program, |kind| kind == FunctionKind::Mock);
    if let Some(mocked) = mocked {
        add(
            "externals",
            format!(
                "what nobody defines does no more than the body that takes its place: {mocked}"
            ),
        );
    }
    let library = names(program, |kind| {
        matches!(kind, FunctionKind::Stub | FunctionKind::EngineOnly)
    });
    if library.is_some() {
        add(
            "library",
            "the C library and the operating system do what the stub library does".to_owned(),
        );
    }
    if names(program, is_allocation).is_some() {
        add(
            "memory",
            "a request for memory fails if it is for more than 64 MB, and only then".to_owned(),
        );
    }
    for property in &open.unasked {
        let (id, says) = unasked(*property);
        add(id, says.to_owned());
    }
    if wraps(program) {
        add(
            "wrapping",
            "signed arithmetic that overflows wraps around, as with -fwrapv".to_owned(),
        );
    }
    all
}

/// Whether the user's code computes, and nothing in it looks for overflows: it was compiled to wrap around.
fn wraps(program: &Program) -> bool {
    let is_user = |id: FuncId| program.function(id).kind == FunctionKind::User;
    let mut checks = program.checks.iter();
    if checks.any(|check| check.kind == CheckKind::SignedOverflow && is_user(check.function)) {
        return false;
    }
    let blocks = program.blocks.iter();
    let mut ops = blocks
        .filter(|block| is_user(block.function))
        .flat_map(|block| &block.ops);
    ops.any(|inst| {
        matches!(
            inst.op,
            Op::Bin {
                op: BinOp::Add | BinOp::Sub | BinOp::Mul,
                ..
            }
        )
    })
}

fn unasked(property: Property) -> (&'static str, &'static str) {
    match property {
        Property::Memory => (
            "unasked-memory",
            "every access to memory is valid: not asked, and not all of it is proved",
        ),
        Property::Overflow => (
            "unasked-overflow",
            "no arithmetic overflows: not asked, and not all of it is proved",
        ),
        Property::Assertion => (
            "unasked-assertion",
            "no assertion fails: not asked, and not all of it is proved",
        ),
    }
}

fn is_allocation(kind: FunctionKind) -> bool {
    let FunctionKind::Intrinsic(Intrinsic::Heap(function)) = kind else {
        return false;
    };
    match function {
        HeapFn::Malloc
        | HeapFn::Calloc
        | HeapFn::Realloc
        | HeapFn::ReallocArray
        | HeapFn::AlignedAlloc
        | HeapFn::PosixMemalign
        | HeapFn::Valloc => true,
        HeapFn::Row | HeapFn::Free | HeapFn::UsableSize => false,
    }
}

/// The functions of a kind, for a sentence; none if there are none.
fn names(program: &Program, wanted: impl Fn(FunctionKind) -> bool) -> Option<String> {
    let functions = program.functions.iter();
    let mut names: Vec<&str> = functions
        .filter(|function| wanted(function.kind))
        .map(|function| function.name.as_str())
        .collect();
    names.sort_unstable();
    names.dedup();
    let more = names.len().saturating_sub(NAMES);
    names.truncate(NAMES);
    let more = (more > 0).then(|| format!(" and {more} more"));
    (!names.is_empty()).then(|| names.join(", ") + &more.unwrap_or_default())
}
