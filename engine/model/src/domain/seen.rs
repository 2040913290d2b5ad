//! Registers that were read from elements of objects, at offsets that are not constants.
//!
//! `*s && *s != ','` and `if (slots[i]) slots[i]->uses++` read an element twice: the second read
//! yields what the first one was found to be, unless the object was written in between. A state
//! records where registers were read from ([`Reads`]), and what registers that are no longer used
//! were found to be ([`Tested`]). Offsets are expressed by registers, which have one value each. An
//! element with a constant offset is a cell of its own ([`Cell`](super::state::Cell)), unless its
//! object is not single: `node->next` is an element of what a register points to.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use super::linear::{Lines, Sum, Var};
use super::num::Num;
use super::space::{Names, ObjId};
use super::state::State;
use super::value::Value;
use crate::program::ir::{Reg, Width};

/// The object of a read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Whose {
    /// A single object.
    Object(ObjId),
    /// The object to whose beginning a register points, by the names that it may have.
    Behind(Reg, SmallVec<[ObjId; 2]>),
}

impl Whose {
    /// Whether the object may have a name for which `is_it` holds.
    fn may_be(&self, is_it: impl Fn(ObjId) -> bool) -> bool {
        match self {
            Whose::Object(id) => is_it(*id),
            Whose::Behind(_, names) => names.iter().any(|id| is_it(*id)),
        }
    }

    /// Whether the object can be denoted by the registers that are kept.
    fn is_said(&self, is_kept: impl Fn(Reg) -> bool) -> bool {
        match self {
            Whose::Object(_) => true,
            Whose::Behind(base, _) => is_kept(*base),
        }
    }
}

/// A read of an element of an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Read {
    /// The object.
    pub of: Whose,
    /// The offset.
    pub at: Sum,
    /// The width in bits.
    pub width: Width,
}

/// What an element was found to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seen {
    /// One of these numbers.
    Number(Num),
    /// Not NULL.
    Address,
}

/// Registers that hold the value of an element.
pub type Reads = BTreeMap<Reg, Read>;
/// Elements that were tested and that no register holds any more.
pub type Tested = SmallVec<[(Read, Seen); TESTED]>;

/// The most tests of elements that are kept.
const TESTED: usize = 2;

impl State {
    /// Forgets which registers hold elements of objects, and what tests of elements said.
    pub fn forget_reads(&mut self, is_gone: impl Fn(ObjId) -> bool) {
        self.reads.retain(|_, read| !read.of.may_be(&is_gone));
        self.tested.retain(|(read, _)| !read.of.may_be(&is_gone));
    }

    /// Forgets the reads that involve a register, which gets another value.
    pub(super) fn forget_reads_by(&mut self, reg: Reg) {
        let own = Var::Reg(reg.0);
        let is_said_without = |read: &Read| {
            let mut vars = read.at.vars();
            vars.all(|var| var != own && var != own.unsigned())
                && read.of.is_said(|base| base != reg)
        };
        self.reads
            .retain(|held, read| *held != reg && is_said_without(read));
        self.tested.retain(|(read, _)| is_said_without(read));
    }

    /// The reads and the tests that both states know.
    pub(super) fn reads_of_both(&self, other: &State) -> (Reads, Tested) {
        let held = self.reads.iter();
        let held = held.filter(|(reg, read)| other.reads.get(reg) == Some(read));
        let tested = self.tested.iter();
        let tested = tested.filter(|test| other.tested.contains(test));
        let held = held.map(|(reg, read)| (*reg, read.clone()));
        (held.collect(), tested.cloned().collect())
    }

    /// Whether this state knows the reads and the tests of another one.
    pub(super) fn has_reads(&self, other: &State) -> bool {
        let mut reads = other.reads.iter();
        let mut tested = other.tested.iter();
        reads.all(|(reg, read)| self.reads.get(reg) == Some(read))
            && tested.all(|test| self.tested.contains(test))
    }

    /// Expresses reads without the registers that do not matter. A register that does not matter
    /// leaves a test if it is known not to be zero.
    pub(super) fn keep_reads(&mut self, matters: impl Fn(Reg) -> bool) {
        let lines = &self.lines;
        // Registers stay as they are; cells and string ends may change.
        let is_kept = |var| match var {
            Var::Reg(reg) => matters(Reg(reg)),
            Var::Outer(..) => true,
            Var::Cell(..) | Var::Size(_) | Var::Nul(..) | Var::Row(..) => false,
        };
        let said = |read: Read| {
            if !read.of.is_said(&matters) {
                return None;
            }
            let at = said_without(lines, read.at, is_kept)?;
            Some(Read { at, ..read })
        };
        let mut tested = Tested::new();
        let mut kept = Reads::new();
        for (reg, read) in std::mem::take(&mut self.reads) {
            let Some(read) = said(read) else { continue };
            if matters(reg) {
                kept.insert(reg, read);
            } else if let Some(seen) = self.registers.get(&reg).and_then(|v| seen(v, read.width)) {
                tested.push((read, seen));
            }
        }
        for (read, seen) in std::mem::take(&mut self.tested) {
            tested.extend(said(read).map(|read| (read, seen)));
        }
        tested.truncate(TESTED);
        (self.reads, self.tested) = (kept, tested);
    }

    /// Records that a register is read from an element. Returns what the element was found to be.
    pub fn read_again(&mut self, reg: Reg, read: Read, names: &Names<'_>) -> Option<Seen> {
        let seen = self.tested(&read, names);
        self.reads.insert(reg, read);
        seen
    }

    /// What an element was found to be by a test.
    fn tested(&self, read: &Read, names: &Names<'_>) -> Option<Seen> {
        let is_same = |known: &Read| {
            (&known.of, known.width) == (&read.of, read.width)
                && (known.at == read.at
                    || read.width != 8 && self.is_equal(&known.at, &read.at, names))
        };
        let mut tested = self.tested.iter();
        let known = tested.find(|(known, _)| is_same(known));
        known.map(|(_, seen)| *seen)
    }
}

/// What is kept of a value, if it is known not to be zero.
fn seen(value: &Value, width: Width) -> Option<Seen> {
    match value.plain() {
        Some(num) => (!num.has(width, 0)).then_some(Seen::Number(*num)),
        None => value.num.is_none().then_some(Seen::Address),
    }
}

/// A sum in which only kept variables are left, by the equations of lines.
fn said_without(lines: &Lines, sum: Sum, is_kept: impl Fn(Var) -> bool) -> Option<Sum> {
    let mut sum = sum;
    loop {
        let Some(gone) = sum.vars().find(|var| !is_kept(*var)) else {
            return Some(sum);
        };
        sum = lines.replaced(&sum, gone, &is_kept)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OBJECT: ObjId = ObjId(3);

    fn read(reg: u32) -> Read {
        Read {
            of: Whose::Object(OBJECT),
            at: Sum::of(Var::Reg(reg)),
            width: 8,
        }
    }

    #[test]
    fn elements_are_said_by_registers_that_stay() {
        let mut state = State::default();
        let next = read(2).at.plus(&read(1).at, -1);
        state
            .lines
            .zero(next.and_then(|sum| sum.plus(&Sum::number(-1), 1)));
        state.reads.insert(Reg(5), read(1));
        state.reads.insert(Reg(6), read(7));
        state.keep_reads(|reg| reg != Reg(1) && reg != Reg(7));
        let at = read(2).at.plus(&Sum::number(-1), 1).expect("a sum");
        assert_eq!(
            state.reads.into_iter().collect::<Vec<_>>(),
            [(Reg(5), Read { at, ..read(2) })]
        );
    }
}
