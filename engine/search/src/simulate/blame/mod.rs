//! Decides whether the library, an input byte or the harness chose the value that faults.
//!
//! A harness that was written from a header chooses values that the header does not specify: NULL,
//! zeros in a structure, a mode, the size of an output buffer. If the library uses such a choice
//! unchecked, the fault is not a bug but an undocumented precondition. If the fault depends on any
//! byte of data, or on nothing from outside, it is a bug of the library. The run's symbolic shadow
//! decides, in which the harness's choices are variables (`cegar_model::machine::crossing`): either
//! through the operands of the faulting operation or, where reaching a place is the fault, through
//! the branch that led there.
//!
//! In doubt the library is blamed: a wrong precondition hides bugs.

mod condition;
mod refusal;
mod room;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use cegar_model::machine::crossing::{Chosen, ChosenPlace, Harness, Noted, Owned, depends_on_data};
use cegar_model::machine::{Event, Execution, Machine, PathEvent, Violation};
use cegar_model::program::{
    BinOp, CallSite, CheckKind, FuncId, FunctionKind, Pred, Program, Terminator,
};
use cegar_model::symbolic::world::successors;
use cegar_model::term::{Pool, Symbol, Term, fault};

pub use condition::{Condition, Interval, Relation};

/// Where the faulting value comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Blame {
    /// The library computed it.
    Library,
    /// A byte of data from outside: contents, a string, or a size that was passed with its buffer.
    Input,
    /// The harness chose it, and the library used it unchecked.
    Harness(Vec<Missing>),
}

/// A precondition that the harness violated.
#[derive(Clone, Debug, PartialEq)]
pub struct Missing {
    /// The choice of the harness.
    pub subject: Subject,
    /// The value that was chosen.
    pub value: u128,
    /// Whether the tape chose the value. Otherwise it is fixed in the harness, and no assumption
    /// helps.
    pub varies: bool,
    /// The weakest condition that was found.
    pub condition: Condition,
}

/// A choice of the harness.
#[derive(Clone, Debug, PartialEq)]
pub enum Subject {
    /// An argument.
    Argument {
        /// The call.
        site: CallSite,
        /// The function called.
        callee: FuncId,
        /// The index of the argument among the flattened ones.
        number: usize,
    },
    /// A variable of the harness, or a member of it.
    Member {
        /// The variable.
        variable: String,
        /// How C selects the member; empty for the variable itself.
        selector: String,
        /// The call before which it has to be valid.
        site: CallSite,
        /// The function called.
        callee: FuncId,
    },
    /// The size of an object that is not passed to the library.
    Room {
        /// The variable; `None` for memory from the heap.
        variable: Option<String>,
        /// The harness's call that allocated it, if it is from the heap.
        made_by: Option<CallSite>,
    },
}

impl Subject {
    /// The argument by which an object was passed to the library; see [`Owned::passed`].
    fn argument((site, callee, number): (CallSite, FuncId, usize)) -> Subject {
        Subject::Argument {
            site,
            callee,
            number,
        }
    }
}

/// Blames the violation that a tape leads to. Returns `None` if the machine does not see the
/// violation, or if it is in the harness itself.
pub fn blame(
    machine: &Machine<'_>,
    tape: &[u8],
    violation: &Violation,
    harness: &Harness,
) -> Option<Blame> {
    let mut pool = Pool::new();
    let (run, noted) = machine.run_crossing(tape, &mut pool, harness);
    let same = |seen: &Violation| seen.kind == violation.kind && seen.pos == violation.pos;
    if !run.violation().is_some_and(same) || noted.entered.is_none() {
        return None;
    }
    let is_library = |id: &FuncId| {
        let function = machine.program().function(*id);
        function.kind == FunctionKind::User && !harness.functions.contains(id)
    };
    if !run.stack_at_end.iter().any(|(id, _)| is_library(id)) {
        return None;
    }
    Some(
        BlameAnalysis {
            program: machine.program(),
            run: &run,
            noted: &noted,
            harness,
            tape,
            pool: &mut pool,
        }
        .decide(violation),
    )
}

struct BlameAnalysis<'l> {
    program: &'l Program,
    run: &'l Execution,
    noted: &'l Noted,
    harness: &'l Harness,
    tape: &'l [u8],
    pool: &'l mut Pool,
}

/// The fault as a predicate on this run.
struct Fault {
    /// The condition under which the fault happens; true in this run.
    condition: Option<Term>,
    /// The terms that the fault depends on.
    on: Vec<Term>,
}

impl BlameAnalysis<'_> {
    fn decide(&mut self, violation: &Violation) -> Blame {
        if let Some(room) = self.too_small(violation.kind) {
            return Blame::Harness(vec![room]);
        }
        if let Some(room) = self.unread_length(violation.kind) {
            return Blame::Harness(vec![room]);
        }
        if let Some(short) = self.too_short(violation.kind) {
            return Blame::Harness(vec![short]);
        }
        let fault = match self.noted.access.is_some() || !self.noted.culprits.is_empty() {
            true => self.access(),
            false => self.decision(),
        };
        let is_told = |fault: &Fault| fault.on.iter().any(|term| !self.is_refusal(*term));
        let fault = fault.filter(is_told);
        let fault = fault.or_else(|| self.steered()).or_else(|| self.refused());
        let Some(fault) = fault else {
            return Blame::Library;
        };
        if let Some(missing) = self.null(&fault) {
            return Blame::Harness(vec![missing]);
        }
        if self.is_librarys_null(&fault) {
            return Blame::Library;
        }
        if violation.kind == CheckKind::Assertion
            && let Some(missing) = self.asserted(&fault)
        {
            return Blame::Harness(missing);
        }
        let is_data = |term: &Term| {
            let inputs = self
                .pool
                .symbols(*term)
                .any(|s| !matches!(s, Symbol::Variable(_)));
            inputs || depends_on_data(self.pool, *term, &self.run.choices, self.harness)
        };
        if fault.on.iter().any(is_data) {
            return match self.unchecked_elements() {
                Some(missing) => Blame::Harness(vec![missing]),
                None => Blame::Input,
            };
        }
        let chosen = self.chosen_in(&fault.on);
        // A size that the tape chose for the buffer passed with it is data.
        if chosen.is_empty() || chosen.iter().any(|chosen| self.is_size(chosen)) {
            return Blame::Input;
        }
        Blame::Harness(self.missing(&chosen, fault.condition))
    }

    /// The conditions of an assertion that depends only on the arguments of the function that
    /// contains it, if the harness called that function: it states the function's precondition,
    /// even if it is about a size that was passed with its buffer. If it only refuses 0, it may
    /// stand in a function that is called in turn.
    fn asserted(&mut self, fault: &Fault) -> Option<Vec<Missing>> {
        let chosen = self.chosen_in(&fault.on);
        let known: BTreeSet<Symbol> = chosen
            .iter()
            .flat_map(|one| self.pool.symbols(one.term))
            .collect();
        let symbols = fault.on.iter().flat_map(|term| self.pool.symbols(*term));
        let symbols: BTreeSet<Symbol> = symbols.collect();
        let is_user = |id: &&FuncId| self.program.function(**id).kind == FunctionKind::User;
        let mut stack = self.run.stack_at_end.iter().map(|(id, _)| id);
        let asserting = *stack.rfind(is_user)?;
        let is_own = |one: &Chosen| match one.what {
            ChosenPlace::Argument { callee, .. } => callee == asserting,
            _ => false,
        };
        if chosen.is_empty() || !symbols.is_subset(&known) {
            return None;
        }
        let is_own = chosen.iter().all(is_own);
        let is_zero = |one: &Missing| match &one.condition {
            Condition::Outside { unsigned, .. } => (unsigned.low, unsigned.high) == (0, 0),
            _ => false,
        };
        let is_argument = |one: &Chosen| matches!(one.what, ChosenPlace::Argument { .. });
        let is_of_arguments = chosen.iter().all(is_argument);
        let missing = self.missing(&chosen, fault.condition);
        (is_own || is_of_arguments && missing.iter().all(is_zero)).then_some(missing)
    }

    /// The harness's NULL that an access went through. The offset from NULL may depend on data,
    /// since adding an index does not make a pointer NULL.
    fn null(&mut self, fault: &Fault) -> Option<Missing> {
        if !self.is_through_null() {
            return None;
        }
        let mut pointers = self.chosen_in(&fault.on);
        pointers.retain(|chosen| chosen.value == 0 && self.pool.width(chosen.term) == 64);
        let condition = fault.condition;
        pointers.into_iter().find_map(|pointer| {
            let missing = self.missing(std::slice::from_ref(&pointer), condition);
            // A choice that is a multiplied index leaves the page of NULL for smaller values.
            let is_base = |one: &Missing| match &one.condition {
                Condition::Outside { unsigned, .. } => unsigned.high >= 1 << 31,
                _ => false,
            };
            missing.into_iter().find(is_base)
        })
    }

    /// Whether an access went through a NULL that is not the harness's. Only a choice of 64 bits
    /// can be the pointer; one of 32 bits is at most an index added to it.
    fn is_librarys_null(&self, fault: &Fault) -> bool {
        let chosen = self.chosen_in(&fault.on);
        let is_pointer = |chosen: &Chosen| self.pool.width(chosen.term) == 64;
        self.is_through_null() && !chosen.iter().any(is_pointer)
    }

    /// Whether the fault is an access at any offset from NULL.
    fn is_through_null(&self) -> bool {
        self.noted.access.is_some_and(|(at, _)| at >> 32 == 0)
    }

    /// Whether the bytes of the tape that determined this choice also determined the size of an
    /// object.
    fn is_size(&self, chosen: &Chosen) -> bool {
        let Some(before) = chosen.before else {
            // A constant that equals the size of a buffer is not a choice either.
            let size = |owned: &Owned| owned.size > 0 && u128::from(owned.size) == chosen.value;
            return self.noted.owned.iter().any(size);
        };
        let inputs: BTreeSet<u32> = self.pool.inputs(before).iter().copied().collect();
        let sizes = self.noted.owned.iter().filter_map(|owned| owned.size_term);
        let mut sizes = sizes.flat_map(|term| self.pool.inputs(term).iter());
        sizes.any(|input| inputs.contains(input))
    }

    fn chosen_in(&self, terms: &[Term]) -> Vec<Chosen> {
        let symbols: BTreeSet<Symbol> = terms
            .iter()
            .flat_map(|term| self.pool.symbols(*term))
            .collect();
        let all = self.noted.chosen.iter();
        all.filter(|chosen| {
            let own = self.pool.symbols(chosen.term).next();
            own.is_some_and(|symbol| symbols.contains(&symbol))
        })
        .cloned()
        .collect()
    }

    /// The fault of an access, or of an operation on numbers.
    fn access(&mut self) -> Option<Fault> {
        let noted = self.noted;
        let mut on = noted.culprits.clone();
        let Some((address, len)) = noted.access else {
            return Some(Fault {
                condition: noted.condition,
                on,
            });
        };
        let object = (address >> 32) as u32;
        if object == 0 {
            // The number of bytes copied from NULL does not matter.
            on.truncate(1);
        }
        let size = noted.sizes.get(&object).copied();
        on.extend(size);
        let first = noted.culprits.first().copied();
        let address_term = first.filter(|term| self.pool.width(*term) == 64);
        let condition = match address_term {
            Some(term) if object == 0 => {
                let end = self.pool.constant(64, 1 << 32);
                Some(self.pool.cmp(Pred::Ult, term, end))
            }
            _ => self.outside(address, len, (address_term, size)),
        };
        Some(Fault { condition, on })
    }

    /// The condition that an access is outside the object that its address points into when all
    /// choices are 0.
    fn outside(
        &mut self,
        address: u64,
        len: u64,
        (term, size): (Option<Term>, Option<Term>),
    ) -> Option<Term> {
        let (object, bytes) = self.noted.target?;
        let base = u64::from(object) << 32;
        let known = self.noted.sizes.get(&object).copied().or(size);
        if term.is_none() && known.is_none() {
            return None;
        }
        let address = term.unwrap_or_else(|| self.pool.constant(64, u128::from(address)));
        let base_term = self.pool.constant(64, u128::from(base));
        let offset = self.pool.bin(BinOp::Sub, address, base_term);
        let len = self.pool.constant(64, u128::from(len));
        let size = known.unwrap_or_else(|| self.pool.constant(64, u128::from(bytes)));
        Some(fault::beyond(self.pool, offset, len, size))
    }

    /// The branch that led past the end of one of the harness's structures, where the library
    /// counts up to a number that the harness chose, as in `i < m->len` before `m->body[i]`. A
    /// branch on data says nothing about the harness.
    fn steered(&mut self) -> Option<Fault> {
        let (owned, _) = self.passed_end()?;
        if owned.variable.is_none() || !self.noted.culprits.is_empty() {
            return None;
        }
        let fault = self.decision()?;
        let is_chosen = |term: &Term| {
            let mut symbols = self.pool.symbols(*term);
            symbols.all(|symbol| matches!(symbol, Symbol::Variable(_)))
                && !depends_on_data(self.pool, *term, &self.run.choices, self.harness)
        };
        let is_steered = !fault.on.is_empty() && fault.on.iter().all(is_chosen);
        is_steered.then_some(fault)
    }

    /// The last branch before the place whose reaching is the fault.
    fn decision(&mut self) -> Option<Fault> {
        let trace = &self.run.trace;
        let last = trace.len().checked_sub(1)?;
        let function = self.program.block(trace[last]).function;
        for i in (0..last).rev() {
            let block = self.program.block(trace[i]);
            // A call on the way decided nothing here.
            if block.function != function || !successors(&block.end).contains(&trace[i + 1]) {
                continue;
            }
            if matches!(block.end, Terminator::Jump(_)) {
                continue;
            }
            let is_it = |event: &&PathEvent| {
                event.trace_at == i + 1
                    && matches!(event.event, Event::Branch { from, .. } if from == trace[i])
            };
            let events = self.run.path.iter().filter(is_it);
            let on: Vec<Term> = events.map(|event| event.event.condition().0).collect();
            let condition = on
                .iter()
                .copied()
                .reduce(|a, b| self.pool.bin(BinOp::And, a, b));
            return Some(Fault { condition, on });
        }
        None
    }

    /// The weakest conditions on the choices. If one choice causes the fault whatever the others
    /// are, the condition is about that choice alone.
    fn missing(&mut self, chosen: &[Chosen], fault: Option<Term>) -> Vec<Missing> {
        let entered = self.noted.entered.unwrap_or(0);
        let mut path: Vec<(Term, bool)> = self.run.path[entered.min(self.run.path.len())..]
            .iter()
            .map(|event| event.event.condition())
            .collect();
        path.extend(fault.map(|term| (term, true)));
        let weakest = condition::Weakest {
            pool: self.pool,
            tape: self.tape,
            all: &self.noted.chosen,
            path: &path,
        };
        let fault = fault.map(|term| (term, true));
        let mut all = Vec::new();
        for one in chosen {
            if let Some(condition) = fault.and_then(|fault| weakest.alone(one, chosen, fault)) {
                all.push(missing(one, condition));
            }
        }
        if all.is_empty()
            && let [a, b] = chosen
            && let Some(condition) = fault.and_then(|fault| weakest.between(a, b, fault))
        {
            all.push(missing(a, condition));
        }
        if all.is_empty() {
            let unknown = chosen.iter().map(|one| missing(one, Condition::Unknown));
            all.extend(unknown);
        }
        all.truncate(MOST);
        all
    }
}

/// The maximum number of conditions reported for one fault.
const MOST: usize = 4;

fn missing(chosen: &Chosen, condition: Condition) -> Missing {
    Missing {
        subject: subject(&chosen.what),
        value: chosen.value,
        varies: chosen.before.is_some(),
        condition,
    }
}

fn subject(what: &ChosenPlace) -> Subject {
    match what {
        ChosenPlace::Argument {
            site,
            callee,
            number,
        } => Subject::Argument {
            site: *site,
            callee: *callee,
            number: *number,
        },
        ChosenPlace::Member {
            variable,
            selector,
            site,
            callee,
            ..
        } => Subject::Member {
            variable: variable.clone(),
            selector: selector.clone(),
            site: *site,
            callee: *callee,
        },
    }
}
