//! The harness, and what a run notes about its choices.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::program::ir::{CallSite, FuncId, FunctionKind, Global, Loc, Program};
use crate::term::Term;

/// The parts of the program that belong to the harness. All other functions of the user's code are
/// the library.
#[derive(Clone, Debug, Default)]
pub struct Harness {
    /// The functions.
    pub functions: BTreeSet<FuncId>,
    /// Channels whose bytes are data (contents of buffers, strings), and not numbers that the
    /// harness chooses.
    pub data: BTreeSet<Arc<str>>,
    /// Its static variables, as indices into the program's globals.
    pub variables: BTreeSet<u32>,
}

impl Harness {
    /// The harness that consists of the definitions of one source file of the program.
    pub fn in_file(program: &Program, file: &str) -> Harness {
        let is_here = |id: &FuncId| {
            let function = program.function(*id);
            function.kind == FunctionKind::User
                && function.is_defined()
                && program
                    .files
                    .get(function.pos.file as usize)
                    .is_some_and(|name| name == file)
        };
        let is_own = |global: &Global| {
            let name = program.files.get(global.pos.file as usize);
            !global.external && !global.constant && name.is_some_and(|name| name == file)
        };
        let all = (0..program.functions.len() as u32).map(FuncId);
        let variables = (0..).zip(&program.globals);
        Harness {
            functions: all.filter(is_here).collect(),
            variables: variables
                .filter(|(_, global)| is_own(global))
                .map(|(number, _)| number)
                .collect(),
            data: ["bytes", "data", "string"].map(Arc::from).into(),
        }
    }
}

/// A value that the harness chose, by its place in the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChosenPlace {
    /// An argument of a call into the library, by its number among the flattened ones.
    Argument {
        /// The call.
        site: CallSite,
        /// The callee.
        callee: FuncId,
        /// The number of the argument.
        number: usize,
    },
    /// A member of one of the harness's variables.
    Member {
        /// The variable's name.
        variable: String,
        /// The operation that makes the variable.
        at: Loc,
        /// The C expression that selects the member: `.count`, `[3].name`; empty for the whole
        /// variable.
        selector: String,
        /// The call into the library before which the member was noted.
        site: CallSite,
        /// The callee.
        callee: FuncId,
    },
}

/// A value that the harness chose, as a variable.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The variable.
    pub term: Term,
    /// What it stands for.
    pub what: ChosenPlace,
    /// Its value in this run.
    pub value: u128,
    /// Its term over the tape before it became a variable; `None` if the harness has it fixed.
    pub before: Option<Term>,
}

/// An object that the harness made.
#[derive(Clone, Debug)]
pub struct Owned {
    /// Its number.
    pub object: u32,
    /// Its size in bytes.
    pub size: u64,
    /// Its size as a term over the tape, if it depends on the tape.
    pub size_term: Option<Term>,
    /// Its name, if it is a variable.
    pub variable: Option<String>,
    /// The harness's call that made it and the callee, if it is on the heap.
    pub made_by: Option<(CallSite, FuncId)>,
    /// Whether the library was told its size.
    pub size_is_told: bool,
    /// The argument by which the library first got it: the call, the callee, and the number of the
    /// argument.
    pub passed: Option<(CallSite, FuncId, usize)>,
    /// The byte of the tape that its first byte depended on when it was passed, if there is one.
    pub first_input: Option<u32>,
}

/// What was noted in a run.
#[derive(Clone, Debug, Default)]
pub struct Noted {
    /// The values that the harness chose.
    pub chosen: Vec<Chosen>,
    /// The objects that the harness made.
    pub owned: Vec<Owned>,
    /// The sizes of objects that depend on the tape or on chosen values, by the object's number.
    pub sizes: FxHashMap<u32, Term>,
    /// The terms of the faulting operation's operands that are symbolic.
    pub culprits: Vec<Term>,
    /// The condition that holds here and is the fault, if an operation on numbers faults.
    pub condition: Option<Term>,
    /// The address and the length of the faulting access.
    pub access: Option<(u64, u64)>,
    /// The object that the faulting address points to if all choices are 0, if there is one: its
    /// number and its size.
    pub target: Option<(u32, u64)>,
    /// The number of path events before the library was first entered.
    pub entered: Option<usize>,
}

/// The harness's objects among the arguments of a call.
pub(super) struct Passed {
    /// The number of the argument, the object, and the object's size.
    objects: Vec<(usize, u32, u64)>,
    /// The arguments that are numbers.
    numbers: Vec<u128>,
}

impl Passed {
    pub(super) fn among(values: &[(u128, Option<Term>)], owned: &[Owned]) -> Passed {
        let object = |value: u128| {
            let mut all = owned.iter();
            all.find(|owned| u128::from(owned.object) == value >> 32)
        };
        let mut passed = Passed {
            objects: Vec::new(),
            numbers: Vec::new(),
        };
        for (at, (value, term)) in values.iter().enumerate() {
            match object(*value).filter(|_| term.is_none()) {
                Some(owned) => passed.objects.push((at, owned.object, owned.size)),
                None => passed.numbers.push(*value),
            }
        }
        passed
    }

    /// Whether an object is among them.
    pub(super) fn has(&self, object: u32) -> bool {
        self.objects.iter().any(|passed| passed.1 == object)
    }

    /// Their sizes, in bytes.
    pub(super) fn sizes(&self) -> impl Iterator<Item = u64> {
        self.objects.iter().map(|passed| passed.2)
    }

    /// Whether a numeric argument is the exact size of an object other than `object`. If fewer
    /// arguments than objects have this value, it counts as the size of the nearest object.
    pub(super) fn is_of_another(&self, at: usize, value: u128, object: u32) -> bool {
        let exact = |size: u64| u128::from(size) == value;
        let of_size: Vec<&(usize, u32, u64)> = self.objects.iter().filter(|o| exact(o.2)).collect();
        let numbers = self
            .numbers
            .iter()
            .filter(|number| **number == value)
            .count();
        if of_size.iter().any(|o| o.1 == object) && numbers >= of_size.len() {
            return false;
        }
        let nearest = of_size.iter().min_by_key(|o| (o.0.abs_diff(at), o.0 > at));
        nearest.is_some_and(|o| o.1 != object)
    }
}
