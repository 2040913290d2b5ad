//! Abstracts the states at the ends of fragments to states of the cut points that they lead to.

use std::collections::{BTreeMap, BTreeSet};

use cegar_model::program::ir::Reg;
use cegar_model::symbolic::cuts::{Base, Bytes, Cell, CutState, Known, Value, is_exact};
use cegar_model::symbolic::encode::pointer::Root;
use cegar_model::symbolic::memory::{Contents, Object};
use cegar_model::symbolic::range::{Range, Ranges};
use cegar_model::symbolic::spans::Spans;
use cegar_model::symbolic::state::Reached;
use cegar_model::symbolic::update::PointerSplitter;
use cegar_model::symbolic::world::{CtxId, Grain, ObjId, World};
use cegar_model::term::{Pool, Symbol, Term};

use super::join::{FIELDS, JoinBytes, JoinValue, halves, is_dense, layout, pointer};

/// Abstracts one state at the end of a fragment.
struct Abstractor<'a, 'p> {
    pointers: PointerSplitter<'a, 'p>,
}

impl<'a, 'p> Abstractor<'a, 'p> {
    /// Whether the offset from a base that is valid only at offset 0 (NULL, a function) is
    /// unchanged since the cut point, and therefore 0.
    fn is_unchanged(&self, offset: Term) -> bool {
        self.pointers.pool.as_const(offset) == Some(0)
            || self
                .pointers
                .from
                .is_some_and(|from| from.exact.iter().any(|&(_, of, _)| of == offset))
    }

    /// The abstract value of a term.
    pub fn value(&mut self, value: Term) -> Value {
        if let Some(c) = self.pointers.pool.as_const(value) {
            return Value::Const(c);
        }
        if self.pointers.pool.width(value) != 64 {
            return self.within(value);
        }
        let mut bases = BTreeSet::new();
        // `None`: no case yet; `Some(Some(_))`: the common offset of all cases; `Some(None)`: the
        // cases differ.
        let mut offset: Option<Option<u64>> = None;
        for case in self.pointers.split(value) {
            let mut here = self.pointers.pool.as_const(case.offset).map(|c| c as u64);
            if case.root == Root::Null {
                here = Some(0);
            }
            offset = match offset {
                Some(before) if before != here => Some(None),
                _ => Some(here),
            };
            match case.root {
                Root::Unknown => return Value::Any,
                // Only offset 0 is NULL or the address of a function; a pointer computed from them
                // with another offset may be anything.
                Root::Null => {
                    if !self.is_unchanged(case.offset) {
                        return Value::Any;
                    }
                    bases.insert(Base::Number(0));
                }
                Root::Number(number) if is_exact(number) => {
                    if self.pointers.pool.as_const(case.offset) != Some(0)
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
        let bounds = self.pointers.from.map(|from| &from.bounds);
        let width = self.pointers.pool.width(value);
        if width > 64 || !is_bounded(self.pointers.world) {
            return Value::Any;
        }
        let range = Ranges::new(self.pointers.pool, &self.pointers.guard, bounds).of(value);
        match range == Range::all(width) {
            true => Value::Any,
            false => Value::Within(range.low, range.high),
        }
    }

    /// The abstract value of a register. Unlike [`Abstractor::value`], also bounds numbers that are
    /// as wide as pointers.
    fn register(&mut self, value: Term) -> Value {
        match self.value(value) {
            Value::Any => self.within(value),
            known => known,
        }
    }

    /// The abstraction of an object. Its indexed parts are one array.
    pub fn object(&mut self, id: ObjId, object: &Object) -> Known {
        let alive = self.value_plain(object.alive);
        let size = self.value_plain(object.size);
        let array = object.contents.array(self.pointers.pool);
        let fixed = {
            let index = self.pointers.pool.variable("index", 64);
            let probe = self.pointers.pool.select(array, index);
            let closed = self
                .pointers
                .pool
                .symbols(probe)
                .all(|s| matches!(s, Symbol::Variable(_)));
            closed && self.pointers.pool.symbols(probe).count() <= 1
        };
        let bytes = if fixed {
            Bytes::Fixed(object.contents.clone().unwitnessed())
        } else {
            self.cells(id, &size, object)
        };
        Known { alive, size, bytes }
    }

    fn value_plain(&self, value: Term) -> Value {
        match self.pointers.pool.as_const(value) {
            Some(c) => Value::Const(c),
            None => Value::Any,
        }
    }

    fn cells(&mut self, id: ObjId, size: &Value, object: &Object) -> Bytes {
        let world = self.pointers.world;
        let indexed = &world.object(id).indexed;
        let contents = &object.contents;
        let Some(layout) = layout(size, indexed) else {
            return self.fields(indexed, contents);
        };
        let mut cells = BTreeMap::new();
        for cell in layout {
            let bytes = u32::from(cell.width / 8);
            let term = contents.read_at(self.pointers.pool, cell.offset, bytes);
            let value = self.value(term);
            if cell.width == 64 && value == Value::Any {
                for half in halves(cell) {
                    let term = contents.read_at(self.pointers.pool, half.offset, 4);
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

    /// The values that were stored as wholes in the parts of an object that are not indexed.
    fn fields(&mut self, indexed: &Spans, contents: &Contents) -> Bytes {
        let mut cells = BTreeMap::new();
        for (offset, term) in contents.wholes(self.pointers.pool, 0, u32::MAX) {
            let width = self.pointers.pool.width(term);
            let bytes = u32::from(width / 8);
            let is_indexed = indexed.overlaps(offset, bytes);
            if width <= 64 && !is_indexed && cells.len() < FIELDS {
                cells.insert(Cell { offset, width }, self.value(term));
            }
        }
        Bytes::Mixed(cells)
    }
}

/// Whether bounds are kept. The published strategies use only what their authors had: constants,
/// pointers and predicates.
fn is_bounded(world: &World<'_>) -> bool {
    world.grain() == Grain::Loops
}

/// The abstraction of a state: the registers that are live at the cut point, and all objects.
pub fn abstracted(
    pool: &mut Pool,
    world: &World<'_>,
    from: Option<&CutState>,
    reached: &Reached,
    live: &[(CtxId, Reg)],
) -> CutState {
    let mut result = CutState::default();
    let pointers = PointerSplitter::new(pool, world, from, reached);
    let mut abstractor = Abstractor { pointers };
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

/// Joins the state at the end of another transition into the state of a cut point; true if it
/// changed.
pub fn join(
    known: &mut CutState,
    pool: &mut Pool,
    world: &World<'_>,
    other: CutState,
    initial: &mut dyn FnMut(&mut Pool, ObjId) -> Option<Known>,
) -> bool {
    let mut changed = false;
    let bounded = is_bounded(world);
    for ((ctx, reg), theirs) in other.registers {
        let width = world.width(ctx, reg);
        let mine = known
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
    let ids: BTreeSet<ObjId> = known
        .objects
        .keys()
        .chain(other.objects.keys())
        .copied()
        .collect();
    for id in ids {
        let mine = known.objects.get(&id).cloned();
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
            // The object exists on one side only.
            (Some(one), None) | (None, Some(one)) => Known {
                alive: one.alive.join(&Value::Const(0), 1),
                ..one
            },
            (None, None) => continue,
        };
        if before.as_ref() != Some(&joined) {
            known.objects.insert(id, joined);
            changed = true;
        }
    }
    known.finish(pool, world);
    changed
}
