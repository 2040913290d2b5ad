//! Compares the machine's state at a cut point with the graph's.

use cegar_model::machine::View;
use cegar_model::program::ir::{DYNAMIC_OBJECTS, Loc, place_of};
use cegar_model::symbolic::cuts::{CutState, Part, Place};
use cegar_model::symbolic::world::{CtxId, ObjId, ObjectKind};
use cegar_model::term::{Rewriter, Term};

use super::{Follower, Known, LARGEST};

/// Splits an address into the number of the nearest object and the offset from it, as the graph
/// represents addresses.
fn split(value: u128) -> (u32, u64) {
    let address = value as u64;
    let number = (address.wrapping_add(1 << 31) >> 32) as u32;
    (number, address.wrapping_sub(u64::from(number) << 32))
}

impl Follower<'_, '_> {
    /// Whether the machine's object has the number `said` in the graph. If the object has no number
    /// there yet, it gets `said`, provided that this is the number of a dynamic object and not
    /// taken.
    fn is_same(&mut self, machine: u32, said: u32) -> bool {
        if place_of(machine) < DYNAMIC_OBJECTS {
            return machine == said;
        }
        if let Some(&known) = self.numbers.get(&machine) {
            return known == said;
        }
        if place_of(said) < DYNAMIC_OBJECTS || self.numbers.values().any(|&other| other == said) {
            return false;
        }
        self.numbers.insert(machine, said);
        true
    }

    /// Whether a value of the machine equals the graph's; 64-bit values may be addresses.
    fn agrees(&mut self, view: &View<'_>, machine: u128, said: u128, width: u16) -> bool {
        if width == 64 {
            let ((number, offset), (other, at)) = (split(machine), split(said));
            if place_of(number) >= DYNAMIC_OBJECTS && view.existed(number) {
                return offset == at && self.is_same(number, other);
            }
        }
        machine == said
    }

    /// The machine's value with object numbers of the graph; `None` if the number is not known.
    fn translated(&self, view: &View<'_>, machine: u128, width: u16) -> Option<u128> {
        let (number, offset) = split(machine);
        if width < 64 || place_of(number) < DYNAMIC_OBJECTS || !view.existed(number) {
            return Some(machine);
        }
        let number = *self.numbers.get(&number)?;
        Some(u128::from((u64::from(number) << 32).wrapping_add(offset)))
    }

    fn compare(&mut self, view: &View<'_>, what: &str, machine: u128, said: Term) {
        let width = self.graph.pool.width(said);
        match self.graph.pool.as_const(said) {
            None => self.compared.open += 1,
            Some(value) if self.agrees(view, machine, value, width) => self.compared.values += 1,
            Some(value) => {
                let block = view.block().0;
                self.tell(format!(
                    "{what} at b{block} is {machine:#x}, not {value:#x}"
                ));
            }
        }
    }

    /// Matches the machine's local variables with the graph's by the operations that created them.
    pub(super) fn match_locals(
        &mut self,
        target: &CutState,
        next: &mut Rewriter,
        frames: &[CtxId],
        view: &View<'_>,
    ) {
        for &id in target.objects.keys() {
            let info = self.graph.world.object(id).clone();
            let ObjectKind::Made {
                ctx,
                block,
                op,
                part: 0,
            } = info.kind
            else {
                continue;
            };
            let Some(frame) = frames.iter().position(|&c| c == ctx).filter(|_| !info.heap) else {
                continue;
            };
            let locals = view.locals(frame);
            let here = |at: &Loc| at.block == block && at.inst == op;
            let Some(&(machine, _)) = locals.iter().rev().find(|(_, at)| here(at)) else {
                continue;
            };
            let number = target
                .object(&mut self.graph.pool, &self.graph.world, id)
                .number;
            let number = next.apply(&mut self.graph.pool, number);
            if let Some(said) = self.graph.pool.as_const(number)
                && !self.is_same(machine, said as u32)
            {
                self.tell(format!(
                    "{} is object {machine:#x}, not {said:#x}",
                    info.key
                ));
            }
        }
    }

    pub(super) fn same_registers(
        &mut self,
        target: &CutState,
        next: &mut Rewriter,
        frames: &[CtxId],
        view: &View<'_>,
    ) {
        for &(ctx, reg) in target.registers.keys() {
            let said = target.register(&mut self.graph.pool, &self.graph.world, ctx, reg);
            let said = next.apply(&mut self.graph.pool, said);
            let frame = frames.iter().position(|&c| c == ctx);
            if let Some(machine) = frame.and_then(|frame| view.register(frame, reg)) {
                let what = format!("r{} of {}", reg.0, self.graph.world.context(ctx).key);
                self.compare(view, &what, machine, said);
            }
        }
    }

    /// The machine's number of an object in the graph, if it is known.
    fn number_of(&self, said: u32) -> Option<u32> {
        if place_of(said) < DYNAMIC_OBJECTS {
            return Some(said);
        }
        let found = self.numbers.iter().find(|(_, known)| **known == said);
        found.map(|(&machine, _)| machine)
    }

    pub(super) fn same_objects(&mut self, target: &CutState, next: &mut Rewriter, view: &View<'_>) {
        for &id in target.objects.keys() {
            let object = target.object(&mut self.graph.pool, &self.graph.world, id);
            let key = self.graph.world.object(id).key.clone();
            let number = next.apply(&mut self.graph.pool, object.number);
            let number = self.graph.pool.as_const(number);
            let Some(machine) = number.and_then(|number| self.number_of(number as u32)) else {
                continue;
            };
            let seen = view.object(machine);
            let is_alive = seen.is_some_and(|seen| seen.alive);
            let alive = next.apply(&mut self.graph.pool, object.alive);
            self.compare(view, &format!("life of {key}"), u128::from(is_alive), alive);
            let Some(seen) = seen.filter(|_| is_alive) else {
                continue;
            };
            let len = seen.bytes.len();
            let size = next.apply(&mut self.graph.pool, object.size);
            self.compare(view, &format!("size of {key}"), len as u128, size);
            if len > LARGEST {
                continue;
            }
            let mut at = 0;
            while at < len {
                let word = seen.bytes.get(at..at + 8).filter(|_| at % 8 == 0);
                let word = word.map(|word| {
                    let bytes = <[u8; 8]>::try_from(word).unwrap_or_default();
                    u128::from(u64::from_le_bytes(bytes))
                });
                let (value, bytes) = match word {
                    Some(word) if view.existed(split(word).0) => (word, 8),
                    _ => (u128::from(seen.bytes[at]), 1),
                };
                if !view.is_undefined(machine, at, bytes) {
                    let said =
                        object
                            .contents
                            .read_at(&mut self.graph.pool, at as u32, bytes as u32);
                    let said = next.apply(&mut self.graph.pool, said);
                    self.compare(view, &format!("byte {at} of {key}"), value, said);
                }
                at += bytes;
            }
        }
    }

    /// The values at the start of the next fragment: those that the previous fragment determines,
    /// otherwise the machine's.
    pub(super) fn values(
        &mut self,
        target: &CutState,
        said: Known,
        frames: &[CtxId],
        view: &View<'_>,
    ) -> Known {
        let mut known = Known::default();
        let places = target.variables(&mut self.graph.pool, &self.graph.world);
        for ((place, variable), (_, value)) in places.into_iter().zip(said.terms) {
            let width = self.graph.pool.width(variable);
            let value = match self.graph.pool.as_const(value) {
                Some(value) => Some(value),
                None => self.machines(&place, width, frames, view),
            };
            if let Some(value) = value {
                let value = self.pool().constant(width, value);
                known.terms.push((variable, value));
            }
        }
        let arrays = target.arrays(&mut self.graph.pool, &self.graph.world);
        for (id, array) in arrays {
            if let Some(bytes) = self.machines_bytes(target, id, &known, view) {
                let bytes = self.pool().array_constant(&bytes);
                known.arrays.push((array, bytes));
            }
        }
        known
    }

    /// The machine's value of a variable, if it has one.
    fn machines(
        &mut self,
        place: &Place,
        width: u16,
        frames: &[CtxId],
        view: &View<'_>,
    ) -> Option<u128> {
        let (value, part) = match place {
            Place::Register(ctx, reg, part) => {
                let frame = frames.iter().position(|c| c == ctx)?;
                let width = if *part == Part::Whole { width } else { 64 };
                let value = view.register(frame, *reg)?;
                (self.translated(view, value, width)?, part)
            }
            Place::Witness(_) => return Some(0),
            Place::Cell(..) | Place::Alive(_) | Place::Size(_) | Place::Number(_) => return None,
        };
        let (number, offset) = split(value);
        Some(match part {
            Part::Whole => value,
            Part::Base => u128::from(number),
            Part::Offset => u128::from(offset),
        })
    }

    /// The machine's bytes of an object, if the object is known and all addresses in it can be
    /// translated.
    fn machines_bytes(
        &mut self,
        target: &CutState,
        id: ObjId,
        known: &Known,
        view: &View<'_>,
    ) -> Option<Vec<u8>> {
        let number = target
            .object(&mut self.graph.pool, &self.graph.world, id)
            .number;
        let given = known
            .terms
            .iter()
            .find(|&&(variable, _)| variable == number);
        let number = given.map_or(number, |&(_, value)| value);
        let machine = self.number_of(self.graph.pool.as_const(number)? as u32)?;
        // Bytes that were never written may have any value, including the machine's.
        let mut bytes = view.object(machine)?.bytes.to_vec();
        for word in bytes.chunks_exact_mut(8) {
            let value = u64::from_le_bytes(<[u8; 8]>::try_from(&*word).unwrap_or_default());
            let value = self.translated(view, u128::from(value), 64)? as u64;
            word.copy_from_slice(&value.to_le_bytes());
        }
        Some(bytes)
    }
}
