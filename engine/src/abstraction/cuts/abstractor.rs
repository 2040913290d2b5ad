//! From the states at the ends of fragments to what is known of the cut points that they lead to.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::super::encode::pointer::{Case, Root, Splitter, excluded};
use super::super::encode::range::{Range, Ranges};
use super::super::memory::{Contents, Object, Spans};
use super::super::state::{Guard, Reached};
use super::super::world::{CtxId, Grain, ObjId, World};
use super::cells::{FIELDS, halves, is_dense, layout};
use super::values::{is_exact, pointer};
use super::{Base, Bytes, Cell, CutState, Known, Value};
use crate::program::ir::Reg;
use crate::term::{Pool, Symbol, Term};

/// Turns a state at the end of a fragment into what is known of it. `from` is what was known where the fragment
/// started.
pub struct Abstractor<'a, 'p> {
    /// The terms.
    pub pool: &'a mut Pool,
    /// The contexts and objects.
    pub world: &'a World<'p>,
    /// Where the fragment started.
    pub from: Option<&'a CutState>,
    /// The state's objects with no fixed number, by the number's term.
    pub numbers: FxHashMap<Term, ObjId>,
    /// When the state is reached.
    pub guard: Guard,
}

impl<'a, 'p> Abstractor<'a, 'p> {
    /// For one state.
    pub fn new(
        pool: &'a mut Pool,
        world: &'a World<'p>,
        from: Option<&'a CutState>,
        reached: &Reached,
    ) -> Abstractor<'a, 'p> {
        let numbers = reached
            .state
            .objects
            .iter()
            .filter(|(id, _)| world.object(**id).number.is_none())
            .map(|(&id, object)| (object.number, id))
            .collect();
        Abstractor {
            pool,
            world,
            from,
            numbers,
            guard: reached.guard.clone(),
        }
    }

    /// All cases of a 64-bit value as a pointer.
    pub(in crate::abstraction) fn split(&mut self, value: Term) -> Vec<Case> {
        let from = self.from;
        let numbers = &self.numbers;
        let reverse: FxHashMap<ObjId, Term> = numbers.iter().map(|(&t, &id)| (id, t)).collect();
        let mut splitter = Splitter {
            pool: self.pool,
            bases: &|t| from?.bases.get(&t).cloned(),
            of: &|t| numbers.get(&t).copied(),
            // What was an object's number at the start counts only if it still is.
            number: &|id| {
                let number = from?.number_term(id)?;
                (reverse.get(&id) == Some(&number)).then_some(number)
            },
        };
        let mut cases = splitter.split(value);
        if cases.len() > 1 {
            cases.retain(|case| !excluded(self.pool, &self.guard, case.cond));
        }
        cases
    }

    /// Whether the offset of a pointer to nothing but itself is still what it was at the cut point, which is 0.
    fn is_unchanged(&self, offset: Term) -> bool {
        self.pool.as_const(offset) == Some(0)
            || self
                .from
                .is_some_and(|from| from.exact.iter().any(|&(_, of, _)| of == offset))
    }

    /// What is known of a value.
    pub fn value(&mut self, value: Term) -> Value {
        if let Some(c) = self.pool.as_const(value) {
            return Value::Const(c);
        }
        if self.pool.width(value) != 64 {
            return self.within(value);
        }
        let mut bases = BTreeSet::new();
        // None yet, or the one that all cases have, or several.
        let mut offset: Option<Option<u64>> = None;
        for case in self.split(value) {
            let mut here = self.pool.as_const(case.offset).map(|c| c as u64);
            if case.root == Root::Null {
                here = Some(0);
            }
            offset = match offset {
                Some(before) if before != here => Some(None),
                _ => Some(here),
            };
            match case.root {
                Root::Unknown => return Value::Any,
                // Only NULL itself is NULL, and only a function's address a function: what was computed from them may be
                // anything. The offset as it was at the cut point is 0.
                Root::Null => {
                    if !self.is_unchanged(case.offset) {
                        return Value::Any;
                    }
                    bases.insert(Base::Number(0));
                }
                Root::Number(number) if is_exact(number) => {
                    if self.pool.as_const(case.offset) != Some(0)
                        && (number == 0 || !self.is_unchanged(case.offset))
                    {
                        return Value::Any;
                    }
                    bases.insert(Base::Number(number));
                }
                Root::Number(number) => {
                    bases.insert(Base::Number(number));
                }
                Root::Of(id) => {
                    bases.insert(Base::Of(id));
                }
            }
        }
        match bases.first() {
            Some(&Base::Number(number)) if bases.len() == 1 && is_exact(number) => {
                Value::Const(u128::from(number) << 32)
            }
            _ => pointer(bases, offset.flatten()),
        }
    }

    /// The bounds of a number of at most 64 bits.
    fn within(&self, value: Term) -> Value {
        let bounds = self.from.map(|from| &from.bounds);
        let width = self.pool.width(value);
        if width > 64 || !is_bounded(self.world) {
            return Value::Any;
        }
        let range = Ranges::new(self.pool, &self.guard, bounds).of(value);
        match range == Range::all(width) {
            true => Value::Any,
            false => Value::Within(range.low, range.high),
        }
    }

    /// What is known of a register's value: also of one as wide as a pointer that is none.
    fn register(&mut self, value: Term) -> Value {
        match self.value(value) {
            Value::Any => self.within(value),
            known => known,
        }
    }

    /// What is known of an object. `indexed` objects are one array.
    pub fn object(&mut self, id: ObjId, object: &Object) -> Known {
        let alive = self.value_plain(object.alive);
        let size = self.value_plain(object.size);
        let array = object.contents.array(self.pool);
        let fixed = {
            let index = self.pool.variable("index", 64);
            let probe = self.pool.select(array, index);
            let closed = self
                .pool
                .symbols(probe)
                .all(|s| matches!(s, Symbol::Variable(_)));
            closed && self.pool.symbols(probe).count() <= 1
        };
        let bytes = if fixed {
            Bytes::Fixed(object.contents.clone().unwitnessed())
        } else {
            self.cells(id, &size, object)
        };
        Known { alive, size, bytes }
    }

    fn value_plain(&self, value: Term) -> Value {
        match self.pool.as_const(value) {
            Some(c) => Value::Const(c),
            None => Value::Any,
        }
    }

    fn cells(&mut self, id: ObjId, size: &Value, object: &Object) -> Bytes {
        let world = self.world;
        let indexed = &world.object(id).indexed;
        let contents = &object.contents;
        let Some(layout) = layout(size, indexed) else {
            return self.fields(indexed, contents);
        };
        let mut cells = BTreeMap::new();
        for cell in layout {
            let bytes = u32::from(cell.width / 8);
            let term = contents.read_at(self.pool, cell.offset, bytes);
            let value = self.value(term);
            if cell.width == 64 && value == Value::Any {
                for half in halves(cell) {
                    let term = contents.read_at(self.pool, half.offset, 4);
                    cells.insert(half, self.value(term));
                }
            } else {
                cells.insert(cell, value);
            }
        }
        if is_dense(size, indexed) {
            Bytes::Cells(cells)
        } else {
            Bytes::Mixed(cells)
        }
    }

    /// The values that lie in an object as they were stored, but not where it is indexed.
    fn fields(&mut self, indexed: &Spans, contents: &Contents) -> Bytes {
        let mut cells = BTreeMap::new();
        for (offset, term) in contents.wholes(self.pool, 0, u32::MAX) {
            let width = self.pool.width(term);
            let bytes = u32::from(width / 8);
            let is_indexed = indexed.overlaps(offset, bytes);
            if width <= 64 && !is_indexed && cells.len() < FIELDS {
                cells.insert(Cell { offset, width }, self.value(term));
            }
        }
        Bytes::Mixed(cells)
    }
}

/// Whether bounds are kept. The published strategies work on what their authors had: constants, pointers and predicates.
fn is_bounded(world: &World<'_>) -> bool {
    world.grain() == Grain::Loops
}

/// A state as what is known of it: the registers that are live at the cut point, and all objects.
pub fn abstracted(
    pool: &mut Pool,
    world: &World<'_>,
    from: Option<&CutState>,
    reached: &Reached,
    live: &[(CtxId, Reg)],
) -> CutState {
    let mut result = CutState::default();
    let mut abstractor = Abstractor::new(pool, world, from, reached);
    for &(ctx, reg) in live {
        let frame = reached.state.frames.iter().find(|f| f.ctx == ctx);
        let term = frame.and_then(|f| f.registers.get(reg.index()).copied().flatten());
        // A register that was never set can be anything.
        let value = term.map_or(Value::Any, |term| abstractor.register(term));
        result.registers.insert((ctx, reg), value);
    }
    for (&id, object) in &reached.state.objects {
        let known = abstractor.object(id, object);
        result.objects.insert(id, known);
    }
    result.finish(pool, world);
    result
}

impl CutState {
    /// Adds what another way brings; true if something changed.
    pub fn join(
        &mut self,
        pool: &mut Pool,
        world: &World<'_>,
        other: CutState,
        initial: &mut dyn FnMut(&mut Pool, ObjId) -> Option<Known>,
    ) -> bool {
        let mut changed = false;
        let bounded = is_bounded(world);
        for ((ctx, reg), theirs) in other.registers {
            let function = world.context(ctx).function;
            let width = world.program().function(function).registers[reg.index()];
            let mine = self
                .registers
                .entry((ctx, reg))
                .or_insert_with(|| theirs.clone());
            let joined = match bounded {
                true => mine.widen(&theirs, width),
                false => mine.join(&theirs, width),
            };
            if joined != *mine {
                *mine = joined;
                changed = true;
            }
        }
        let ids: BTreeSet<ObjId> = self
            .objects
            .keys()
            .chain(other.objects.keys())
            .copied()
            .collect();
        for id in ids {
            let mine = self.objects.get(&id).cloned();
            let theirs = other.objects.get(&id).cloned();
            let before = mine.clone();
            let mine = mine.or_else(|| initial(pool, id));
            let theirs = theirs.or_else(|| initial(pool, id));
            let joined = match (mine, theirs) {
                (Some(mine), Some(theirs)) => {
                    let size = mine.size.join(&theirs.size, 1);
                    let indexed = &world.object(id).indexed;
                    let rules = (indexed, bounded);
                    let bytes = mine.bytes.join(theirs.bytes, pool, &size, rules);
                    Known {
                        alive: mine.alive.join(&theirs.alive, 1),
                        size,
                        bytes,
                    }
                }
                // It exists on one side only.
                (Some(one), None) | (None, Some(one)) => Known {
                    alive: one.alive.join(&Value::Const(0), 1),
                    ..one
                },
                (None, None) => continue,
            };
            if before.as_ref() != Some(&joined) {
                self.objects.insert(id, joined);
                changed = true;
            }
        }
        self.finish(pool, world);
        changed
    }
}
