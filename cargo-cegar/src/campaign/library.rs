//! Unproved checks in library functions, described by the calls in the user's code.
//!
//! The requirements of a call of `strlen` are checked in the `strlen` of the stub library. Its
//! files are not the user's, so an open check there is described by the call that leads to it: the
//! call of its context if that is known, otherwise all calls that can lead there.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;

use cegar_model::program::{Callee, FuncId, FunctionKind, Op, Pos, Program};
use cegar_search::strategy::outcome::Elsewhere;

use super::findings::{plain, readable};
use crate::verdict::rule_id;

/// The number of calls that are named.
const NAMED: usize = 2;

/// A function, and the position of a call of it or in it.
type Call = (FuncId, Pos);

/// Describes what is not proved in library functions, in one sentence for each function and reason.
pub(super) fn told(program: &Program, root: &Path, elsewhere: &[Elsewhere]) -> Vec<String> {
    let callers = Callers::of(program);
    // A library of many files has thousands of them, most of them alike.
    let mut known = HashSet::new();
    let mut sentences: Vec<String> = elsewhere
        .iter()
        .flat_map(|one| callers.sentences(one))
        .collect();
    sentences.retain(|text| known.insert(text.clone()));
    let sentences = sentences.iter();
    sentences
        .map(|text| readable(program, root, text))
        .collect()
}

/// The number of library functions, as called from the user's code, in which something is not
/// proved.
pub(super) fn count(program: &Program, elsewhere: &[Elsewhere]) -> u64 {
    let callers = Callers::of(program);
    let functions = elsewhere.iter().flat_map(|one| {
        let calls = callers.calls(one);
        let at = one.at.filter(|_| calls.is_empty());
        let called = calls.into_iter().map(|(function, _)| function);
        called.chain(at.map(|(function, _)| function))
    });
    functions.collect::<BTreeSet<FuncId>>().len() as u64
}

/// The callers of each function, by direct calls.
struct Callers<'p> {
    program: &'p Program,
    of: HashMap<FuncId, Vec<Call>>,
}

impl<'p> Callers<'p> {
    fn of(program: &'p Program) -> Callers<'p> {
        let mut of: HashMap<FuncId, Vec<Call>> = HashMap::new();
        for block in &program.blocks {
            for inst in &block.ops {
                if let Op::Call(call) = &inst.op
                    && let Callee::Direct(called) = call.callee
                {
                    of.entry(called)
                        .or_default()
                        .push((block.function, inst.pos));
                }
            }
        }
        Callers { program, of }
    }

    /// The calls in the user's code that lead to an unproved check, each with the called function:
    /// the call of its context if known, otherwise all calls that can lead there.
    fn calls(&self, one: &Elsewhere) -> BTreeSet<Call> {
        match (one.call, one.at) {
            (Some(call), _) => BTreeSet::from([call]),
            (None, Some((function, _))) => self.calls_of(function),
            (None, None) => BTreeSet::new(),
        }
    }

    /// The calls in the user's code of a library function, or of a library function that calls it
    /// directly or indirectly.
    fn calls_of(&self, function: FuncId) -> BTreeSet<Call> {
        let is_user = |id: FuncId| self.program.function(id).kind == FunctionKind::User;
        let mut found = BTreeSet::new();
        let mut seen = BTreeSet::from([function]);
        let mut next = vec![function];
        while let Some(called) = next.pop() {
            for &(caller, pos) in self.of.get(&called).into_iter().flatten() {
                if is_user(caller) {
                    found.insert((called, pos));
                } else if seen.insert(caller) {
                    next.push(caller);
                }
            }
        }
        found
    }

    fn sentences(&self, one: &Elsewhere) -> Vec<String> {
        let program = self.program;
        let Some((function, pos)) = one.at else {
            return vec![one.why.clone()];
        };
        let what = one.kind.map_or("an access", rule_id);
        let name = |function: FuncId| plain(&program.function(function).name);
        let mut places: BTreeMap<FuncId, Vec<Pos>> = BTreeMap::new();
        for (called, pos) in self.calls(one) {
            places.entry(called).or_default().push(pos);
        }
        if places.is_empty() {
            let (name, place) = (name(function), program.show(pos));
            return vec![format!("{what} in `{name}` at {place}: {}", one.why)];
        }
        let sentence = |(called, places): (FuncId, Vec<Pos>)| {
            let named = places.iter().take(NAMED).map(|pos| program.show(*pos));
            let mut at = named.collect::<Vec<String>>().join(", ");
            match places.len().saturating_sub(NAMED) {
                0 => {}
                1 => at += " and in 1 more place",
                more => at += &format!(" and in {more} more places"),
            }
            let name = name(called);
            format!("{what} in `{name}`, called at {at}: {}", one.why)
        };
        places.into_iter().map(sentence).collect()
    }
}
