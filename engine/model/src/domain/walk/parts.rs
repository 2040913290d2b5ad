//! Partitions: states of one place that are kept apart.
//!
//! The result of a function tells its caller what happened: a negative number that there was an
//! error, NULL that there is no memory. Joined with the others, an error state loses what it knows
//! of everything else, and the caller's test of the result does not restore that. So the states
//! that arrive at a function's return, or at the ends of lifetimes before it, are kept apart by the
//! result up to the end of the calling block (trace partitioning: Mauborgne and Rival, *Trace
//! partitioning in abstract interpretation based static analyzers*, ESOP 2005). There are four
//! kinds of results, and a place has few states. Within a function, states are kept apart by
//! [selectors](crate::domain::selectors), and everywhere by which requests for memory were executed
//! ([`crate::domain::recent`]).

use smallvec::SmallVec;

use super::{Frame, Guide, Step, Walker};
use crate::domain::num::Num;
use crate::domain::recent::Lasts;
use crate::domain::space::{Names, ObjId};
use crate::domain::state::{State, Widths};
use crate::domain::value::Value;
use crate::program::ir::{BlockId, Callee, FunctionKind, Op, Reg};

/// The most states of one place. Further ones are joined with that of the next key, or the last
/// one.
const STATES: usize = 6;
/// The most states of one place in a loop whose iterations are kept apart: the length of a number
/// is 0 to 64 bits. Further ones are joined with that of the next key, or the last one.
pub const TURNS: usize = 66;
/// The most objects that an argument may point to if a call is walked for each of them.
const HANDED: usize = 4;
/// The most groups of states that are kept apart at a call. If there are more, all states are
/// joined.
const GROUPS: usize = 4;

/// What states are kept apart by: mainly the kinds of values in a few registers.
pub(super) type Key = SmallVec<[KeyPart; 4]>;

/// What a key says of a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum KeyPart {
    /// A negative number.
    Negative,
    /// Zero, or NULL.
    Zero,
    /// A positive number, or an address.
    Positive,
    /// This number, in a selector.
    Is(u64),
    /// A number that shrinks in a loop has at most this many bits.
    Length(u8),
    /// Several of these, or no value.
    Any,
    /// This last block exists, or this object was handed over.
    Has(ObjId),
}

impl KeyPart {
    /// The kind of a value.
    pub(super) fn of(value: Option<&Value>) -> KeyPart {
        let Some(value) = value else {
            return KeyPart::Any;
        };
        match (&value.num, value.ptr.is_empty()) {
            (None, false) => KeyPart::Positive,
            (Some(num), true) if num.most < 0 => KeyPart::Negative,
            (Some(num), true) if num.as_constant() == Some(0) => KeyPart::Zero,
            (Some(num), true) if num.least > 0 => KeyPart::Positive,
            _ => KeyPart::Any,
        }
    }

    /// The kind of a pointer: NULL, an address, or either.
    fn of_pointer(value: Option<&Value>) -> KeyPart {
        match KeyPart::of(value) {
            kind @ (KeyPart::Zero | KeyPart::Positive) => kind,
            _ => KeyPart::Any,
        }
    }

    /// The kind of a selector's value.
    fn of_selector(value: Option<&Value>) -> KeyPart {
        let number = value.and_then(Value::as_constant);
        number.map_or(KeyPart::Any, KeyPart::Is)
    }
}

/// States by their keys, in order.
#[derive(Default, Debug)]
pub(super) struct Parts(Vec<(Key, State)>);

impl Parts {
    /// A single state.
    pub(super) fn one(state: State) -> Parts {
        Parts(vec![(Key::new(), state)])
    }

    /// Adds a state, which is joined with the one of its key if there is one.
    pub(super) fn add(
        &mut self,
        key: Key,
        state: State,
        (names, widths): (&Names<'_>, &Widths),
        relations: bool,
    ) {
        let in_turns = key.iter().any(|kind| matches!(kind, KeyPart::Length(_)));
        let most = if in_turns { TURNS } else { STATES };
        let at = match self.0.binary_search_by(|(known, _)| known.cmp(&key)) {
            Err(at) if self.0.len() < most => return self.0.insert(at, (key, state)),
            Err(at) => at.min(self.0.len() - 1),
            Ok(at) => at,
        };
        let known = &mut self.0[at].1;
        *known = match relations {
            true => known.join_in_step(&state, names, widths),
            false => known.join(&state, names, widths),
        };
    }

    /// The states.
    pub(super) fn states(self) -> impl Iterator<Item = State> {
        self.0.into_iter().map(|(_, state)| state)
    }

    /// Changes all states.
    pub(super) fn each(&mut self, mut act: impl FnMut(&mut State)) {
        self.0.iter_mut().for_each(|(_, state)| act(state));
    }
}

/// The join of some states.
pub(super) fn joined(
    states: impl IntoIterator<Item = State>,
    names: &Names<'_>,
    widths: &Widths,
) -> Option<State> {
    let together = |all: State, state: State| all.join(&state, names, widths);
    states.into_iter().reduce(together)
}

impl<G: Guide> Walker<'_, G> {
    /// The key of a state that arrives at a block.
    pub(super) fn key(&self, frame: &Frame, block: BlockId, state: &State) -> Key {
        let marks = frame.flow.ends(block).unwrap_or_default();
        let kinds = marks
            .iter()
            .map(|reg| KeyPart::of(state.registers.get(reg)));
        let selectors = frame.flow.selectors(block).iter();
        let selected = selectors.map(|reg| KeyPart::of_selector(state.registers.get(reg)));
        let handed = state.handed.map(KeyPart::Has);
        kinds
            .chain(selected)
            .chain(self.trailing(frame, block, state))
            .chain(self.length(frame, block, state).map(KeyPart::Length))
            .chain(handed)
            .chain(self.lasts(state))
            .collect()
    }

    /// The kinds of registers that trail behind others, as parts of a key: which are NULL. There
    /// are none if lines are not tracked.
    pub(super) fn trailing(&self, frame: &Frame, block: BlockId, state: &State) -> Key {
        let trailing = frame.flow.trailing(block).iter();
        trailing
            .filter(|_| self.relations)
            .map(|reg| KeyPart::of_pointer(state.registers.get(reg)))
            .collect()
    }

    /// Which of the pointers that trail behind others are NULL, as a number for a guide
    /// ([`Measure::null`](super::Measure)).
    pub(super) fn null(&self, frame: &Frame, block: BlockId, state: &State) -> u8 {
        let kinds = self.trailing(frame, block, state);
        kinds.iter().fold(0, |all, kind| {
            let bits = match kind {
                KeyPart::Zero => 1,
                KeyPart::Positive => 2,
                _ => 0,
            };
            all << 2 | bits
        })
    }

    /// The length in bits of a number that shrinks in a loop, at most
    /// ([`Measure::length`](super::Measure)).
    pub(super) fn length(&self, frame: &Frame, block: BlockId, state: &State) -> Option<u8> {
        let reg = frame.flow.shrinking(block).filter(|_| self.relations)?;
        let num = state.registers.get(&reg).and_then(Value::plain);
        let high = num.map_or(u64::MAX, |num| num.high);
        Some((u64::BITS - high.leading_zeros()) as u8)
    }

    /// The last blocks that exist, as parts of a key. There are none if lines are not tracked.
    pub(super) fn lasts(&self, state: &State) -> impl Iterator<Item = KeyPart> + use<G> {
        let lasts = match self.relations {
            true => state.lasts(&self.names),
            false => Lasts::new(),
        };
        lasts.into_iter().map(KeyPart::Has)
    }

    /// The entry states of a callee: one for each object that an argument may point to, if these
    /// are few, since the length of a string and the size of a structure differ from object to
    /// object.
    pub(super) fn divided(&self, inner: &Frame, entry: State) -> Vec<State> {
        let count = self.program.function(inner.function).params.len();
        let mut values = (0..count).filter_map(|i| {
            let reg = Reg(i as u32);
            let value = entry.registers.get(&reg)?;
            let is_one = |(id, at): &(ObjId, Num)| {
                at.as_constant().is_some() && self.names.info(*id).is_unique
            };
            let few = (2..=HANDED).contains(&value.ptr.len()) && value.num.is_none();
            (few && value.ptr.iter().all(is_one)).then(|| (reg, value.clone()))
        });
        let Some((reg, value)) = values.next().filter(|_| self.relations) else {
            return vec![entry];
        };
        let each = value.ptr.iter().map(|to| {
            let mut state = entry.clone();
            state.registers.insert(reg, Value::address(to.0, to.1));
            state.handed = Some(to.0);
            state
        });
        each.collect()
    }

    /// Joins states before an operation that walks other blocks. Only states that differ in their
    /// last blocks, or in which pointers are NULL, are still kept apart.
    fn grouped(&self, frame: &Frame, states: Vec<State>) -> Vec<State> {
        let widths = self.widths(frame);
        let mut groups: Vec<(Key, State)> = Vec::new();
        for state in states {
            let trailing = self.trailing(frame, self.at.block, &state).into_iter();
            let key: Key = trailing.chain(self.lasts(&state)).collect();
            match groups.iter_mut().find(|(known, _)| *known == key) {
                Some((_, known)) => *known = known.join(&state, &self.names, widths),
                None => groups.push((key, state)),
            }
        }
        let together = groups.len() > GROUPS;
        let states = groups.into_iter().map(|(_, state)| state);
        match together {
            true => joined(states, &self.names, widths).into_iter().collect(),
            false => states.collect(),
        }
    }

    /// Whether an operation walks other blocks and may yield several states: then most states
    /// before it are joined.
    pub(super) fn parts(&self, op: &Op) -> bool {
        match op {
            Op::Call(call) => match call.callee {
                Callee::Direct(id) => {
                    let function = self.program.function(id);
                    function.is_defined()
                        && !matches!(function.kind, FunctionKind::Intrinsic(_))
                        && !self.contexts.shared.contains(&id)
                }
                Callee::Indirect(_) => true,
            },
            _ => false,
        }
    }

    /// Executes an operation in several states, and returns the states after it.
    pub(super) fn in_parts(
        &mut self,
        frame: &Frame,
        states: Vec<State>,
        op: &Op,
        mut act: impl FnMut(&mut Self, &mut State) -> Step,
    ) -> Step<Vec<State>> {
        let states = match self.parts(op) && states.len() > 1 {
            true => self.grouped(frame, states),
            false => states,
        };
        let mut behind = Vec::with_capacity(states.len());
        for mut state in states {
            if act(self, &mut state)? {
                behind.push(state);
            }
            behind.append(&mut self.further_states);
        }
        Ok(behind)
    }
}
