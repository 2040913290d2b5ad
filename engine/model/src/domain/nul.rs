//! Where strings end: zero bytes of objects, by their offsets.
//!
//! A loop that runs up to a zero byte compares its index with nothing. It is bounded because there
//! is such a byte, so a state names one: the offset of a zero byte is a variable of
//! [lines](super::linear). If a byte that is read is not zero, its index differs from that offset,
//! and is less if it was not greater before (a string's length as a number beside its contents:
//! Dor, Rodeh and Sagiv, *CSSV: Towards a realistic tool for statically detecting all buffer
//! overflows in C*, PLDI 2003). An object has two of them ([`Which`]): a string that is split into
//! tokens ends far after its first token. Only single objects have any.
//!
//! A zero byte is known until it may be overwritten with something else. One that contents imply
//! ([`Contents::last_zero`]) counts, too, so that a state that names it can be compared with a
//! state that does not name it yet.

use std::collections::BTreeMap;

use super::contents::Contents;
use super::linear::{ANY, Lines, NEW_OFFSET_CTX, Step, Sum, Var, Which};
use super::num::{Num, Thresholds};
use super::space::{Names, ObjId};
use super::state::State;

/// The known zero bytes, with the ranges of their offsets.
pub type Nuls = BTreeMap<(ObjId, Which), Num>;

/// What a write means for zero bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ends {
    /// Those among the written bytes are to be forgotten.
    Forgotten,
    /// Those that may be overwritten have been forgotten already.
    Settled,
}

/// The most addresses in strings that are compared with the strings' ends at a join.
const TEXTS: usize = 8;

/// The name of a new offset while lines still mention the old one.
fn next(which: Which) -> Var {
    Var::Outer(NEW_OFFSET_CTX, which as u32)
}

impl State {
    /// The range of a zero byte's offset in an object, if there is one.
    pub fn nul(&self, id: ObjId, which: Which, names: &Names<'_>) -> Option<Num> {
        let known = self.nuls.get(&(id, which)).copied();
        known.or_else(|| self.nul_of_contents(id, names))
    }

    /// The zero byte of an object that its contents imply.
    pub fn nul_of_contents(&self, id: ObjId, names: &Names<'_>) -> Option<Num> {
        if !names.info(id).is_unique {
            return None;
        }
        let object = self.object(id, names)?;
        let last = object.contents.last_zero(names)?;
        Some(Num::exactly(64, last.into()))
    }

    /// Sets a zero byte of an object to an offset, which may mention the old offset.
    pub fn put_nul(&mut self, of: (ObjId, Which), (at, range): (&Sum, Num)) {
        self.announce_nul(of, at);
        self.put_announced(of, range);
    }

    /// Gives an offset a temporary name, before the variables that it mentions change.
    pub fn announce_nul(&mut self, (_, which): (ObjId, Which), at: &Sum) {
        if at.vars().next().is_some() {
            self.lines.zero(Sum::of(next(which)).plus(at, -1));
        }
    }

    /// Sets a zero byte of an object to the offset that was announced.
    pub fn put_announced(&mut self, of: (ObjId, Which), range: Num) {
        self.drop_nul(of);
        let (announced, var) = (next(of.1), Var::Nul(of.0, of.1));
        if self.lines.has(announced) {
            self.lines = self.lines.rename(|known| match known {
                known if known == announced => Some(var),
                known => Some(known),
            });
        }
        self.nuls.insert(of, range);
    }

    /// Forgets a zero byte, and keeps what its lines imply for other variables.
    pub fn drop_nul(&mut self, (id, which): (ObjId, Which)) {
        let gone = Var::Nul(id, which);
        let at = self.nuls.remove(&(id, which));
        if self.lines.has(gone) {
            let range = at.map_or(ANY, |at| (at.least.into(), at.most.into()));
            let ranges = |var| if var == gone { range } else { ANY };
            self.lines.keep(|var| var != gone, &ranges);
        }
    }

    /// Forgets what is known by bytes of an object that may have been written.
    pub(super) fn may_end(&mut self, id: ObjId, (low, high): (u32, u32), ends: Ends) {
        self.forget_reads(|of| of == id);
        if ends == Ends::Settled {
            return;
        }
        let may_end = |(_, at): &(&(ObjId, Which), &Num)| {
            at.most >= i64::from(low) && at.least < i64::from(high)
        };
        let own = self.nuls.range((id, Which::Far)..=(id, Which::Near));
        let gone: Vec<_> = own.filter(may_end).map(|(of, _)| *of).collect();
        gone.into_iter().for_each(|of| self.drop_nul(of));
    }

    /// Forgets the zero bytes of objects.
    pub fn without_nuls(&mut self, is_gone: impl Fn(ObjId) -> bool) {
        self.nuls.retain(|(id, _), _| !is_gone(*id));
        self.forget_reads(is_gone);
        self.lines_of_nuls();
    }

    /// Removes the lines with zero bytes that are not known.
    pub(super) fn lines_of_nuls(&mut self) {
        let nuls = &self.nuls;
        self.lines.drop(|var| match var {
            Var::Nul(id, which) => !nuls.contains_key(&(id, which)),
            Var::Reg(_) | Var::Outer(..) | Var::Cell(..) | Var::Size(_) | Var::Row(..) => false,
        });
    }

    /// The zero bytes of both states. When widening, only those that this state names.
    pub(super) fn nuls_of_both(
        &self,
        other: &State,
        names: &Names<'_>,
        thresholds: Option<&Thresholds>,
    ) -> Nuls {
        let both = |of: &(ObjId, Which)| {
            let (a, b) = (self.nul(of.0, of.1, names)?, other.nul(of.0, of.1, names)?);
            let at = match thresholds {
                Some(thresholds) => a.widen(64, &b, thresholds),
                None => a.join(64, &b),
            };
            Some((*of, at))
        };
        let others = other.nuls.keys().filter(|_| thresholds.is_none());
        self.nuls.keys().chain(others).filter_map(both).collect()
    }

    /// Adds which addresses lie no farther than a zero byte, where each state implies it by other
    /// lines: a cursor is at its string's beginning here, and one byte further there.
    pub(super) fn texts_of_both(&self, other: &State, names: &Names<'_>, lines: &mut Lines) {
        for (var, id) in self.texts(other, names) {
            self.ends_before(other, names, (&Sum::of(var), id), lines);
        }
    }

    /// As [`State::texts_of_both`], for sums of an address and an index that counts up.
    pub(super) fn cursors_of_both(
        &self,
        other: &State,
        names: &Names<'_>,
        steps: &[Step],
        lines: &mut Lines,
    ) {
        let indices = steps.iter().filter(|step| {
            let is_number = !step.address && matches!(step.var, Var::Reg(_));
            is_number && step.by() == 1
        });
        let texts = self.texts(other, names);
        for index in indices {
            for (var, id) in &texts {
                let cursor = Sum::of(*var).plus(&Sum::of(index.var), 1);
                if let Some(cursor) = cursor {
                    self.ends_before(other, names, (&cursor, *id), lines);
                }
            }
        }
    }

    /// Some of the addresses in strings that both states have.
    fn texts(&self, other: &State, names: &Names<'_>) -> Vec<(Var, ObjId)> {
        if self.nuls.is_empty() {
            return Vec::new();
        }
        let registers = self.registers.iter().filter_map(|(reg, value)| {
            let ((id, _), (there, _)) = (
                value.single_target()?,
                other.registers.get(reg)?.single_target()?,
            );
            (id == there).then_some((Var::Reg(reg.0), id))
        });
        let cells = self.changed(other, names).flat_map(|(of, object, _)| {
            let cells = object.contents.cells();
            cells.filter_map(move |(at, len, value)| {
                let (id, _) = value.single_target()?;
                Some((Var::Cell(of, at, len), id))
            })
        });
        let in_texts = registers
            .chain(cells)
            .filter(|(_, id)| self.nuls.contains_key(&(*id, Which::Far)));
        in_texts.take(TEXTS).collect()
    }

    /// Adds that an offset is at most that of a zero byte, if both states imply it.
    fn ends_before(
        &self,
        other: &State,
        names: &Names<'_>,
        (at, id): (&Sum, ObjId),
        lines: &mut Lines,
    ) {
        let (here, there) = (|var| self.range(var, names), |var| other.range(var, names));
        for which in [Which::Far, Which::Near] {
            if !self.nuls.contains_key(&(id, which)) || other.nul(id, which, names).is_none() {
                continue;
            }
            let past = at.plus(&Sum::of(Var::Nul(id, which)), -1);
            let holds =
                |past: &Sum| self.lines.proves(past, &here) && other.lines.proves(past, &there);
            lines.at_most_zero(past.filter(holds));
        }
    }

    /// Whether this state knows all zero bytes of another one.
    pub(super) fn has_nuls(&self, other: &State, names: &Names<'_>) -> bool {
        let mut nuls = other.nuls.iter();
        nuls.all(|(&(id, which), there)| {
            let here = self.nul(id, which, names);
            here.is_some_and(|here| here.is_within(there))
        })
    }

    /// Narrows the offset of a zero byte to the bounds that lines give.
    pub(super) fn bound_nul(&mut self, of: (ObjId, Which), (least, most): (i128, i128)) {
        if let Some(known) = self.nuls.get_mut(&of)
            && let Some(all) = Num::bounded(least, most)
            && let Some(met) = known.meet(64, &all)
        {
            *known = met;
        }
    }
}

impl Contents {
    /// The offset of the last byte that is known to be zero.
    pub fn last_zero(&self, names: &Names<'_>) -> Option<u32> {
        let mut runs = self.runs().rev();
        runs.find_map(|(start, run)| run.last_zero(start, names))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::value::Value;
    use crate::program::Program;

    const OBJECT: ObjId = ObjId(3);
    const FAR: (ObjId, Which) = (OBJECT, Which::Far);

    fn reg(number: u32) -> Sum {
        Sum::of(Var::Reg(number))
    }

    fn between(low: u64, high: u64) -> Num {
        Num::between(64, low, high).expect("a range")
    }

    #[test]
    fn contents_end_with_their_last_zero() {
        let program = Program::default();
        let names = Names::new(&program);
        let mut contents = Contents::zeros(8);
        assert_eq!(contents.last_zero(&names), Some(7));
        contents.set(6, 2, Value::exactly(16, 0x0161));
        assert_eq!(contents.last_zero(&names), Some(5));
        contents.set(0, 4, Value::exactly(32, 0x6100_6161));
        contents.forget(4, 8);
        assert_eq!(contents.last_zero(&names), Some(2));
        contents.forget(0, 8);
        assert_eq!(contents.last_zero(&names), None);
    }

    #[test]
    fn what_was_said_by_an_end_outlives_it() {
        let mut state = State::default();
        state.put_nul(FAR, (&Sum::number(9), Num::exactly(64, 9)));
        let far = Sum::of(Var::Nul(OBJECT, Which::Far));
        state.lines.at_most_zero(reg(1).plus(&far, -1));
        state.may_end(OBJECT, (9, 10), Ends::Settled);
        assert!(state.nuls.contains_key(&FAR));
        state.may_end(OBJECT, (0, 9), Ends::Forgotten);
        assert!(state.nuls.contains_key(&FAR));
        state.may_end(OBJECT, (9, 10), Ends::Forgotten);
        assert!(state.nuls.is_empty());
        // What is left is `r1 <= 9`.
        let any = |_| ANY;
        assert_eq!(state.lines.upper(&reg(1), &any), 9);
    }

    #[test]
    fn a_new_end_may_be_said_by_the_old_one() {
        let mut state = State::default();
        state.put_nul(FAR, (&reg(1), between(0, 9)));
        let moved = Sum::of(Var::Nul(OBJECT, Which::Far)).plus(&Sum::number(2), 1);
        state.put_nul(FAR, (&moved.expect("a sum"), between(2, 11)));
        // The new one is two after the register.
        let far = Sum::of(Var::Nul(OBJECT, Which::Far));
        let past = far.plus(&reg(1), -1).expect("a sum");
        let any = |_| ANY;
        assert_eq!(state.lines.upper(&past, &any), 2);
        assert_eq!(state.lines.upper(&past.times(-1).expect("a sum"), &any), -2);
    }
}
