//! The abstract state at the entry of a block: the registers of the innermost call, and all
//! objects.
//!
//! The walk keeps the registers of the enclosing calls. Beside the values, a state records from
//! which cell a register was read, so that what a comparison says of the register is known of the
//! cell, too.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::linear::{ANY, Lines, Step, UNSIGNED, Var};
use super::nul::{Ends, Nuls};
use super::num::{Num, Thresholds};
use super::owners::{Holder, Owners};
use super::recent::Fates;
use super::seen::{Reads, Tested};
use super::space::{self, Names, ObjId, Object, Objects};
use super::value::Value;
use crate::program::ir::{Reg, Width};
use crate::term::fault::ONE_ALLOCATION;

/// A memory cell.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Cell {
    /// The object, which is single.
    pub object: ObjId,
    /// The offset in the object.
    pub at: u32,
    /// The length in bytes.
    pub len: u32,
}

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub struct State {
    /// The values of registers; nothing is known of the others.
    pub registers: BTreeMap<Reg, Value>,
    /// The objects.
    pub objects: Arc<Objects>,
    /// Cells that hold the same value as a register.
    pub cells: BTreeMap<Reg, Cell>,
    /// Registers that hold an address, for which an index may have been too large to be multiplied.
    pub wrapped: BTreeSet<Reg>,
    /// Lines: linear relations between values.
    pub lines: Lines,
    /// Registers that hold the result of a comparison, in this block, of two addresses in one
    /// object.
    pub ordered: BTreeSet<Reg>,
    /// Known zero bytes of objects.
    pub nuls: Nuls,
    /// Registers that hold the value of an element of an object.
    pub reads: Reads,
    /// Elements of objects that were tested and are held by no register.
    pub tested: Tested,
    /// What has become of the last blocks of requests since the innermost call began.
    pub fates: Fates,
    /// The owners of heap blocks.
    pub owners: Arc<Owners>,
    /// The object that an argument points to, where the call is walked for each of several objects.
    /// It only keeps the states within the call apart, and says nothing of executions.
    pub handed: Option<ObjId>,
}

/// The widths of a function's registers.
pub type Widths = [Width];

fn width(widths: &Widths, reg: Reg) -> Width {
    widths.get(reg.index()).copied().unwrap_or(64)
}

impl State {
    /// Sets a register, and forgets what was known of its old value.
    pub fn set(&mut self, reg: Reg, value: Value) {
        self.cells.remove(&reg);
        self.wrapped.remove(&reg);
        self.ordered.remove(&reg);
        let own = Var::Reg(reg.0);
        self.lines.drop(|var| var == own || var == own.unsigned());
        self.forget_reads_by(reg);
        if self.owners.speaks_of(Holder::of(reg)) {
            Arc::make_mut(&mut self.owners).set(Holder::of(reg));
        }
        self.registers.insert(reg, value);
    }

    /// Returns an object, if it exists.
    pub fn object(&self, id: ObjId, names: &Names<'_>) -> Option<Object> {
        self.objects.get(&id).cloned().or_else(|| names.first(id))
    }

    /// Changes an object, if it exists.
    pub fn change(&mut self, id: ObjId, names: &Names<'_>, act: impl FnOnce(&mut Object)) {
        let Some(mut object) = self.object(id, names) else {
            return;
        };
        act(&mut object);
        Arc::make_mut(&mut self.objects).insert(id, object);
    }

    /// Forgets what is known of bytes of an object that may be written, apart from their contents.
    pub fn forget_written(
        &mut self,
        id: ObjId,
        (low, high): (u32, u32),
        ends: Ends,
        names: &Names<'_>,
    ) {
        self.may_end(id, (low, high), ends);
        if !self.owners.ends.is_empty() {
            let mut owners = Owners::clone(&self.owners);
            owners.ends_written(|field| self.may_lead(field, id, names), (low, high), None);
            self.owners = Arc::new(owners);
        }
        if self.owners.has_fields_of(id) {
            self.cut_rows(id, (low, high));
            Arc::make_mut(&mut self.owners).written(id, (low, high));
        }
        self.cells.retain(|_, cell| {
            cell.object != id || cell.at.saturating_add(cell.len) <= low || cell.at >= high
        });
        let is_same = |var| match var {
            Var::Cell(object, at, len) => {
                object != id || at.saturating_add(len & !UNSIGNED) <= low || at >= high
            }
            Var::Reg(_) | Var::Outer(..) | Var::Size(_) | Var::Nul(..) | Var::Row(..) => true,
        };
        self.lines.keep(is_same, &|_| ANY);
    }

    /// The numbers, or offsets, that a variable may have.
    pub fn range(&self, var: Var, names: &Names<'_>) -> (i128, i128) {
        let bare = match var {
            Var::Reg(reg) => Var::Reg(reg & !UNSIGNED),
            Var::Cell(id, at, len) => Var::Cell(id, at, len & !UNSIGNED),
            var => var,
        };
        let unknown = if bare == var {
            ANY
        } else {
            (0, u64::MAX.into())
        };
        let value = |value: &Value| match (value.plain(), value.single_target()) {
            (Some(num), _) if bare != var => (num.low.into(), num.high.into()),
            (Some(num), _) => (num.least.into(), num.most.into()),
            (None, Some((_, offset))) if bare == var => (offset.least.into(), offset.most.into()),
            (None, _) => unknown,
        };
        match bare {
            Var::Reg(reg) => self.registers.get(&Reg(reg)).map_or(unknown, value),
            Var::Cell(id, at, len) if names.info(id).is_unique && (1..=8).contains(&len) => {
                let at = Num::exactly(64, at.into());
                let object = self.object(id, names);
                object.map_or(unknown, |o| value(&o.contents.load(&at, len, names)))
            }
            Var::Size(id) if names.info(id).is_unique => match self.object(id, names) {
                // From the limit on, the size may be that of a refused request, which may have
                // asked for more than any object has.
                Some(object) if object.size.high < ONE_ALLOCATION => {
                    (object.size.low.into(), object.size.high.into())
                }
                Some(object) => (object.size.low.into(), u64::MAX.into()),
                None => (0, u64::MAX.into()),
            },
            Var::Outer(_, reg) if reg & UNSIGNED != 0 => (0, u64::MAX.into()),
            Var::Outer(..) => ANY,
            Var::Size(_) => (0, u64::MAX.into()),
            Var::Nul(id, which) => match self.nul(id, which, names) {
                Some(at) => (at.least.into(), at.most.into()),
                None => ANY,
            },
            Var::Row(id, start, edge) => match self.owners.row((id, start)) {
                Some(row) => (row.range(edge).least.into(), row.range(edge).most.into()),
                None => ANY,
            },
            Var::Cell(..) => unknown,
        }
    }

    /// The congruence of a variable's values: modulus and remainder
    /// ([`Strides`](super::linear::Strides)).
    pub fn stride(&self, var: Var, names: &Names<'_>) -> (i128, i128) {
        let of = |value: &Value| match (value.plain(), value.single_target()) {
            (Some(num), _) => Some(*num),
            (None, Some((_, offset))) => Some(*offset),
            (None, None) => None,
        };
        // A negative number has another value if it is read as unsigned.
        let num = match var {
            Var::Reg(reg) => {
                let num = self.registers.get(&Reg(reg & !UNSIGNED)).and_then(of);
                num.filter(|num| reg & UNSIGNED == 0 || num.least >= 0)
            }
            // A refused request may have asked for more than a signed number can be.
            Var::Size(id) if names.info(id).is_unique => {
                let size = self.object(id, names).map(|object| object.size);
                size.filter(|size| size.least >= 0)
            }
            _ => None,
        };
        num.map_or((1, 0), |num| (num.step.into(), num.rest.into()))
    }

    /// The value of a register within the bounds that lines give, if it is narrower than the known
    /// value.
    pub fn bounded(&self, reg: Reg, (least, most): (i128, i128)) -> Option<Value> {
        let value = self.registers.get(&reg)?;
        let all = Num::bounded(least, most)?;
        let new = match (&value.num, &value.ptr[..]) {
            (None, [(id, offset)]) => Value::address(*id, offset.meet(64, &all)?),
            // A number that is never negative has the same bounds at any width.
            (Some(num), []) if num.least >= 0 && num.high == num.most as u64 => {
                Value::number(num.meet(64, &all)?)
            }
            _ => return None,
        };
        (new != *value).then_some(new)
    }

    /// Forgets the registers that do not matter, but keeps what lines say of other variables by
    /// them.
    pub fn keep(&mut self, names: &Names<'_>, matters: impl Fn(Reg) -> bool) {
        self.keep_reads(&matters);
        if self.owners.has_other_than(&matters) {
            Arc::make_mut(&mut self.owners).keep(&matters);
        }
        let mut lines = std::mem::take(&mut self.lines);
        let is_kept = |var| match var {
            Var::Reg(reg) => matters(Reg(reg & !UNSIGNED)),
            Var::Row(id, start, edge) => self.owners.has_edge((id, start), edge),
            Var::Outer(..) | Var::Cell(..) | Var::Size(_) | Var::Nul(..) => true,
        };
        lines.keep(is_kept, &|var| self.range(var, names));
        for (var, least, most) in lines.bounds() {
            match var {
                Var::Reg(reg) if reg & UNSIGNED == 0 => {
                    if let Some(value) = self.bounded(Reg(reg), (least, most)) {
                        self.registers.insert(Reg(reg), value);
                    }
                }
                Var::Nul(id, which) => self.bound_nul((id, which), (least, most)),
                Var::Row(id, start, edge) => self.bound_row((id, start), edge, (least, most)),
                Var::Reg(_) | Var::Outer(..) | Var::Cell(..) | Var::Size(_) => {}
            }
        }
        lines.forget_trivial_texts(&|var| self.range(var, names));
        self.lines = lines;
        self.registers.retain(|&reg, _| matters(reg));
        self.cells.retain(|&reg, _| matters(reg));
        self.wrapped.retain(|&reg| matters(reg));
    }

    /// Returns a state that contains both states.
    pub fn join(&self, other: &State, names: &Names<'_>, widths: &Widths) -> State {
        self.met(other, names, |one, two| {
            // The end of a row is a multiple of the number of its elements. No line says so where
            // both are constants, but the hull does.
            let counts = one.owners.rows.iter().any(|row| {
                let there = two.owners.row(row.name());
                there.is_some_and(|there| (there.from, there.to) != (row.from, row.to))
            });
            match counts {
                true => one.joined_with_hull(two, names, widths),
                false => one.merged(two, names, widths, None),
            }
        })
    }

    /// The join after a branch. Registers with a single number in each state are related to each
    /// other, as two counters are if each iteration of a loop increments one or the other.
    pub fn join_in_step(&self, other: &State, names: &Names<'_>, widths: &Widths) -> State {
        let mut joined = self.join(other, names, widths);
        self.numbers_of_both(other, &mut joined.lines);
        joined
    }

    /// The join at a loop head, with the equations that hold in both states.
    pub fn join_with_hull(&self, other: &State, names: &Names<'_>, widths: &Widths) -> State {
        self.met(other, names, |one, two| {
            one.joined_with_hull(two, names, widths)
        })
    }

    fn joined_with_hull(&self, other: &State, names: &Names<'_>, widths: &Widths) -> State {
        let (steps, _) = self.steps(other, names);
        self.joined_by_steps(other, names, widths, &steps)
    }

    fn joined_by_steps(
        &self,
        other: &State,
        names: &Names<'_>,
        widths: &Widths,
        steps: &[Step],
    ) -> State {
        let mut joined = self.merged(other, names, widths, None);
        let (here, there) = (|var| self.range(var, names), |var| other.range(var, names));
        let moving = steps.iter().map(|step| step.var);
        let lines = &mut joined.lines;
        self.lines
            .hull(&here, (&other.lines, &there), moving, lines);
        joined.lines_of_nuls();
        joined
    }

    /// The join of the first iterations of a loop, with the lines that follow from variables that
    /// move in step with others.
    pub fn join_of_turns(&self, other: &State, names: &Names<'_>, widths: &Widths) -> State {
        self.met(other, names, |one, two| {
            one.joined_turns(two, names, widths)
        })
    }

    fn joined_turns(&self, other: &State, names: &Names<'_>, widths: &Widths) -> State {
        let (steps, drifts) = self.steps(other, names);
        let mut joined = self.joined_by_steps(other, names, widths, &steps);
        joined.lines.balanced(&drifts);
        if !steps.is_empty() {
            let (here, there) = (|var| self.range(var, names), |var| other.range(var, names));
            let lines = &mut joined.lines;
            self.lines.slopes((&other.lines, &there), &steps, lines);
            let back: Vec<Step> = steps.iter().map(|step| step.turned()).collect();
            other.lines.slopes((&self.lines, &here), &back, lines);
            lines.drifting(&drifts, &steps);
            self.cursors_of_both(other, names, &steps, lines);
        }
        joined.lines_of_nuls();
        joined
    }

    /// See [`Num::widen`]. `stored` are the thresholds for the contents of objects.
    pub fn widen(
        &self,
        new: &State,
        names: &Names<'_>,
        widths: &Widths,
        (thresholds, stored): (&Thresholds, &Thresholds),
    ) -> State {
        let both = Some((thresholds, stored));
        self.met(new, names, |one, two| one.merged(two, names, widths, both))
    }

    fn merged(
        &self,
        other: &State,
        names: &Names<'_>,
        widths: &Widths,
        both: Option<(&Thresholds, &Thresholds)>,
    ) -> State {
        let (thresholds, stored) = (both.map(|both| both.0), both.map(|both| both.1));
        let mut registers = BTreeMap::new();
        for (&reg, a) in &self.registers {
            let Some(b) = other.registers.get(&reg) else {
                continue;
            };
            let width = width(widths, reg);
            let value = match thresholds {
                _ if a == b => a.clone(),
                Some(thresholds) => a.widen(b, width, thresholds),
                None => a.join(b, width),
            };
            registers.insert(reg, value);
        }
        let cells = self
            .cells
            .iter()
            .filter(|(reg, cell)| other.cells.get(reg) == Some(cell));
        let joins = thresholds.is_none();
        let mut lines = self.lines_of_both(other, names, joins);
        if joins {
            self.ends_of_both(other, names, &mut lines);
            self.texts_of_both(other, names, &mut lines);
            self.sizes_of_both(other, names, &mut lines);
            self.sizes_of_several(other, names, &mut lines);
        } else {
            self.limits_of_sizes(other, names, &mut lines);
        }
        let (reads, tested) = self.reads_of_both(other);
        let mut state = State {
            registers,
            objects: space::merged(&self.objects, &other.objects, names, stored),
            cells: cells.map(|(reg, cell)| (*reg, *cell)).collect(),
            wrapped: &self.wrapped | &other.wrapped,
            lines: Lines::default(),
            ordered: BTreeSet::new(),
            nuls: self.nuls_of_both(other, names, thresholds),
            reads,
            tested,
            fates: self.fates.join(&other.fates),
            owners: self.owners_of_both(other, names, thresholds),
            handed: self.handed.filter(|_| self.handed == other.handed),
        };
        lines.forget_trivial(&|var| state.range(var, names));
        state.lines = lines;
        state.lines_of_nuls();
        state
    }

    /// Computes a join of both states by `ask`, once they have the same rows. Drops the lines with
    /// variables that do not mean the same in the join as in both states.
    fn met(
        &self,
        other: &State,
        names: &Names<'_>,
        ask: impl FnOnce(&State, &State) -> State,
    ) -> State {
        let mut both = self.with_rows(other, names, ask);
        let mut lines = std::mem::take(&mut both.lines);
        lines.drop(|var| {
            let mut sides = [self, other].into_iter();
            sides.any(|side| side.meant_otherwise(var, &both, names))
        });
        both.lines = lines;
        both
    }

    /// Whether a variable of lines is the offset of an address here and a number in another state,
    /// which does not know any more that it is an address.
    fn meant_otherwise(&self, var: Var, other: &State, names: &Names<'_>) -> bool {
        let is_address = |value: &Value| !value.ptr.is_empty();
        let may_be_any = |value: &Value| value.is_vague() && value.ptr.is_empty();
        match var {
            Var::Reg(reg) => {
                let reg = Reg(reg & !UNSIGNED);
                self.registers.get(&reg).is_some_and(is_address)
                    && other.registers.get(&reg).is_none_or(may_be_any)
            }
            Var::Cell(id, at, len) if len & !UNSIGNED == 8 => {
                let at = Num::exactly(64, at.into());
                let value = |state: &State| {
                    let object = state.object(id, names)?;
                    Some(object.contents.load(&at, 8, names))
                };
                value(self).as_ref().is_some_and(is_address)
                    && value(other).as_ref().is_none_or(may_be_any)
            }
            Var::Cell(..) | Var::Outer(..) | Var::Size(_) | Var::Nul(..) | Var::Row(..) => false,
        }
    }

    /// Whether every concrete state of this is one of the other.
    pub fn is_within(&self, other: &State, names: &Names<'_>, widths: &Widths) -> bool {
        match self.aligned_to(other, names) {
            Some(aligned) => aligned.is_contained(other, names, widths),
            None => self.is_contained(other, names, widths),
        }
    }

    fn is_contained(&self, other: &State, names: &Names<'_>, widths: &Widths) -> bool {
        let registers = other.registers.iter().all(|(&reg, there)| {
            let width = width(widths, reg);
            match self.registers.get(&reg) {
                Some(here) => here.is_within(there, width),
                None => *there == Value::all(width),
            }
        });
        registers
            && self.wrapped.is_subset(&other.wrapped)
            && self.fates.is_within(&other.fates)
            && other
                .cells
                .iter()
                .all(|(reg, cell)| self.cells.get(reg) == Some(cell))
            && self.has_reads(other)
            && self.has_nuls(other, names)
            && self.has_owners(other, names)
            && space::is_within(&self.objects, &other.objects, names)
            && !other
                .lines
                .speaks_of(|var| self.meant_otherwise(var, other, names))
            && (self.lines).proves_all(&other.lines, &|var| self.range(var, names))
    }
}
