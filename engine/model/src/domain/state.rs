//! What is known where a block is entered: the registers of the innermost call, and all objects.
//!
//! The registers of the calls around it are kept by whoever follows the call. Beside values stands where a register was read from,
//! so that what a comparison says of the register is known of the cell, too.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::num::{Num, Thresholds};
use super::space::{self, GONE, Names, ObjId, Object, Objects};
use super::value::Value;
use crate::program::ir::{Reg, Width};

/// A place in memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Cell {
    /// The object, of which there is one.
    pub object: ObjId,
    /// The offset.
    pub at: u32,
    /// Bytes.
    pub len: u32,
}

/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub struct State {
    /// What registers hold; of the others nothing is known.
    pub registers: BTreeMap<Reg, Value>,
    /// The objects.
    pub objects: Arc<Objects>,
    /// Cells that hold the same as a register.
    pub cells: BTreeMap<Reg, Cell>,
    /// Addresses that an index was part of which may have been too large to be multiplied.
    pub wrapped: BTreeSet<Reg>,
}

/// The widths of a function's registers.
pub type Widths = [Width];

fn width(widths: &Widths, reg: Reg) -> Width {
    widths.get(reg.index()).copied().unwrap_or(64)
}

impl State {
    /// Sets a register.
    pub fn set(&mut self, reg: Reg, value: Value) {
        self.cells.remove(&reg);
        self.wrapped.remove(&reg);
        self.registers.insert(reg, value);
    }

    /// An object, if it exists.
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

    /// Some bytes of an object may be written: no register is known to be the same any more.
    pub fn written(&mut self, id: ObjId, low: u32, high: u32) {
        self.cells.retain(|_, cell| {
            cell.object != id || cell.at.saturating_add(cell.len) <= low || cell.at >= high
        });
    }

    /// Forgets the registers that do not matter.
    pub fn keep(&mut self, matters: impl Fn(Reg) -> bool) {
        self.registers.retain(|&reg, _| matters(reg));
        self.cells.retain(|&reg, _| matters(reg));
        self.wrapped.retain(|&reg| matters(reg));
    }

    /// What both are in.
    pub fn join(&self, other: &State, names: &Names<'_>, widths: &Widths) -> State {
        self.merged(other, names, widths, None)
    }

    /// See [`Num::widen`].
    pub fn widen(
        &self,
        new: &State,
        names: &Names<'_>,
        widths: &Widths,
        thresholds: &Thresholds,
    ) -> State {
        self.merged(new, names, widths, Some(thresholds))
    }

    fn merged(
        &self,
        other: &State,
        names: &Names<'_>,
        widths: &Widths,
        thresholds: Option<&Thresholds>,
    ) -> State {
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
        State {
            registers,
            objects: space::merged(&self.objects, &other.objects, names, thresholds),
            cells: cells.map(|(reg, cell)| (*reg, *cell)).collect(),
            wrapped: &self.wrapped | &other.wrapped,
        }
    }

    /// Whether each execution that may be here may be there.
    pub fn is_within(&self, other: &State, names: &Names<'_>, widths: &Widths) -> bool {
        let registers = other.registers.iter().all(|(&reg, there)| {
            let width = width(widths, reg);
            match self.registers.get(&reg) {
                Some(here) => here.is_within(there, width),
                None => *there == Value::all(width),
            }
        });
        registers
            && self.wrapped.is_subset(&other.wrapped)
            && other
                .cells
                .iter()
                .all(|(reg, cell)| self.cells.get(reg) == Some(cell))
            && space::is_within(&self.objects, &other.objects, names)
    }

    /// Objects are gone: what leads to them leads nowhere.
    pub fn remove(&mut self, gone: &[ObjId]) {
        let turned = |value: &Value| -> Option<Value> {
            value.ptr.iter().any(|(id, _)| gone.contains(id)).then(|| {
                let mut value = value.clone();
                value
                    .ptr
                    .retain(|(id, _)| !gone.contains(id) && *id != GONE);
                value.ptr.push((GONE, Num::all(64)));
                value
            })
        };
        for value in self.registers.values_mut() {
            if let Some(new) = turned(value) {
                *value = new;
            }
        }
        let touched: Vec<ObjId> = self
            .objects
            .iter()
            .filter(|(_, object)| {
                let mut found = false;
                object.contents.runs().for_each(|(_, run)| {
                    if let super::contents::Filling::Each(_, value) = &run.filling {
                        found |= value.ptr.iter().any(|(id, _)| gone.contains(id));
                    }
                });
                found
            })
            .map(|(id, _)| *id)
            .collect();
        let is_there = gone.iter().any(|id| self.objects.contains_key(id));
        if touched.is_empty() && !is_there {
            return;
        }
        let objects = Arc::make_mut(&mut self.objects);
        for id in touched {
            if let Some(object) = objects.get_mut(&id) {
                Arc::make_mut(&mut object.contents).change(&mut |value, _| turned(value));
            }
        }
        for id in gone {
            objects.remove(id);
        }
        self.cells.retain(|_, cell| !gone.contains(&cell.object));
    }
}
