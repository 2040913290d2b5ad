//! The states of a cut point, as far as they are known without a solver.
//!
//! Before any invariant is looked for, constants and the objects that pointers point to are
//! propagated through the fragments until nothing changes: the stub library's state, file tables,
//! sizes and lifetimes are constant almost everywhere, and what is constant never becomes a
//! variable. What does vary gets one: for a register, for a cell of a small object, for the whole
//! contents of one that is accessed at varying offsets. A pointer is split into its object, which
//! is one of a few, and its offset. Of a number that varies its bounds are kept, widened when they
//! grow: that a loop's counter is not negative is what keeps an access to an array from being one
//! to everything beside it.
//!
//! What is assumed here of a cut point's states is part of the proof: a certificate states it, and
//! its checker asks about it.

mod cells;
mod values;

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::memory::{Contents, Object};
use super::range::Range;
use super::world::{CtxId, ObjId, World};
use crate::program::ir::{BinOp, Pred, Reg, Width};
use crate::term::{Array, Pool, Term};
pub use cells::{Bytes, CELLS, Cell};
pub use values::{Base, Value, is_exact};

/// What is known of an object.
#[derive(Clone, PartialEq, Debug)]
pub struct Known {
    /// Whether it is accessible: one bit.
    pub alive: Value,
    /// Its size: 64 bits.
    pub size: Value,
    /// Its contents.
    pub bytes: Bytes,
}

/// What is known of all states in which a cut point is reached.
#[derive(Clone, Debug, Default)]
pub struct CutState {
    /// Live registers of all frames.
    pub registers: BTreeMap<(CtxId, Reg), Value>,
    /// Objects. A global that is not here is as it was when the program began.
    pub objects: BTreeMap<ObjId, Known>,
    /// Variables that hold an upper half, and what it can be.
    pub bases: FxHashMap<Term, Vec<Base>>,
    /// Variables that not every number of their width can be.
    pub bounds: FxHashMap<Term, Range>,
    /// The number of each object that has no fixed one.
    pub numbers: BTreeMap<ObjId, Term>,
    /// Upper half and rest of the pointers that may be NULL or a function's address, and the upper
    /// half of those: the rest is 0.
    pub exact: Vec<(Term, Term, u32)>,
}

/// A variable of a cut point: something that varies there.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Part {
    /// All of a value.
    Whole,
    /// Of a pointer, the upper half of its object's address.
    Base,
    /// Of a pointer, the rest.
    Offset,
}

/// Where a variable's value is found in a state.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Place {
    /// A register.
    Register(CtxId, Reg, Part),
    /// A cell of an object.
    Cell(ObjId, Cell, Part),
    /// Whether an object is accessible.
    Alive(ObjId),
    /// An object's size.
    Size(ObjId),
    /// An object's number.
    Number(ObjId),
    /// Where an object has a zero byte, perhaps.
    Witness(ObjId),
}

impl CutState {
    /// The number of an object that has no fixed one, as this cut point's variable.
    pub fn number_term(&self, id: ObjId) -> Option<Term> {
        self.numbers.get(&id).copied()
    }

    fn part(pool: &mut Pool, key: &str, part: &Part, width: Width) -> Term {
        match part {
            Part::Whole => pool.variable(key, width),
            Part::Base => pool.variable(&format!("{key}^"), 32),
            Part::Offset => pool.variable(&format!("{key}+"), 64),
        }
    }

    fn value(
        &self,
        pool: &mut Pool,
        world: &World<'_>,
        key: &str,
        width: Width,
        value: &Value,
    ) -> Term {
        match value {
            Value::Const(c) => pool.constant(width, *c),
            Value::Within(..) | Value::Any => Self::part(pool, key, &Part::Whole, width),
            Value::Pointer(bases, offset) => {
                let offset = match offset {
                    Some(offset) => pool.constant(64, u128::from(*offset)),
                    None => Self::part(pool, key, &Part::Offset, 64),
                };
                let high = match bases.iter().next() {
                    Some(&base) if bases.len() == 1 => self.base(pool, world, base),
                    _ => Self::part(pool, key, &Part::Base, 32),
                };
                let zero = pool.constant(32, 0);
                let address = pool.concat(high, zero);
                pool.bin(BinOp::Add, address, offset)
            }
        }
    }

    /// The term of an upper half.
    pub fn base(&self, pool: &mut Pool, world: &World<'_>, base: Base) -> Term {
        match base {
            Base::Number(number) => pool.constant(32, u128::from(number)),
            Base::Of(id) => number(pool, world, id),
        }
    }

    /// The term of a register.
    pub fn register(&self, pool: &mut Pool, world: &World<'_>, ctx: CtxId, reg: Reg) -> Term {
        let width = world.width(ctx, reg);
        let key = register_key(world, ctx, reg);
        let value = self.registers.get(&(ctx, reg)).unwrap_or(&Value::Any);
        self.value(pool, world, &key, width, value)
    }

    /// The terms of an object.
    pub fn object(&self, pool: &mut Pool, world: &World<'_>, id: ObjId) -> Object {
        let info = world.object(id);
        let any = Known {
            alive: Value::Any,
            size: Value::Any,
            bytes: Bytes::ANY,
        };
        let known = self.objects.get(&id).unwrap_or(&any);
        let contents = match &known.bytes {
            Bytes::Fixed(contents) => contents.clone(),
            Bytes::Cells(cells) | Bytes::Mixed(cells) => {
                // If it is cells only, every byte of the object lies in one; what lies beyond is
                // never read.
                let base = match &known.bytes {
                    Bytes::Mixed(_) => pool.array_variable(&array_key(world, id)),
                    _ => pool.array_constant(&[]),
                };
                let mut contents = Contents::new(base);
                for (cell, value) in cells {
                    let key = cell_key(world, id, *cell);
                    let value = self.value(pool, world, &key, cell.width, value);
                    contents.write_at(pool, cell.offset, value);
                }
                contents.witness = match &known.bytes {
                    Bytes::Mixed(_) => Some(witness(pool, world, id)),
                    _ => None,
                };
                contents
            }
        };
        Object {
            alive: self.value(pool, world, &format!("l{}", info.key), 1, &known.alive),
            size: self.value(pool, world, &format!("s{}", info.key), 64, &known.size),
            number: number(pool, world, id),
            contents,
        }
    }

    /// Everything that varies here, with its term.
    pub fn variables(&self, pool: &mut Pool, world: &World<'_>) -> Vec<(Place, Term)> {
        let mut all = Vec::new();
        for (&(ctx, reg), value) in &self.registers {
            let width = world.width(ctx, reg);
            let key = register_key(world, ctx, reg);
            for part in parts(value) {
                let term = Self::part(pool, &key, &part, width);
                all.push((Place::Register(ctx, reg, part), term));
            }
        }
        for (&id, known) in &self.objects {
            let info = world.object(id);
            if known.alive == Value::Any {
                all.push((
                    Place::Alive(id),
                    pool.variable(&format!("l{}", info.key), 1),
                ));
            }
            if known.size == Value::Any {
                all.push((
                    Place::Size(id),
                    pool.variable(&format!("s{}", info.key), 64),
                ));
            }
            if info.number.is_none() {
                all.push((Place::Number(id), number(pool, world, id)));
            }
            if matches!(known.bytes, Bytes::Mixed(_)) {
                all.push((Place::Witness(id), witness(pool, world, id)));
            }
            if let Some(cells) = known.bytes.by_cell() {
                for (cell, value) in cells {
                    let key = cell_key(world, id, *cell);
                    for part in parts(value) {
                        let term = Self::part(pool, &key, &part, cell.width);
                        all.push((Place::Cell(id, *cell, part), term));
                    }
                }
            }
        }
        all
    }

    /// That there is a zero byte at an object's witness.
    pub fn ends(&self, pool: &mut Pool, world: &World<'_>, id: ObjId) -> Term {
        let at = witness(pool, world, id);
        let array = pool.array_variable(&array_key(world, id));
        let byte = pool.select(array, at);
        let nul = pool.constant(8, 0);
        pool.eq(byte, nul)
    }

    /// The objects whose contents vary as a whole, with their arrays.
    pub fn arrays(&self, pool: &mut Pool, world: &World<'_>) -> Vec<(ObjId, Array)> {
        self.objects
            .iter()
            .filter(|(_, known)| matches!(known.bytes, Bytes::Mixed(_)))
            .map(|(&id, _)| (id, pool.array_variable(&array_key(world, id))))
            .collect()
    }

    /// What holds of this cut point's variables by construction: an upper half is one of its bases,
    /// and the numbers of two objects differ.
    pub fn axioms(&self, pool: &mut Pool, world: &World<'_>) -> Vec<Term> {
        let mut all = Vec::new();
        let mut bases: Vec<(&Term, &Vec<Base>)> = self.bases.iter().collect();
        bases.sort();
        for (&variable, bases) in bases {
            let hits: Vec<Term> = bases
                .iter()
                .map(|&base| {
                    let number = self.base(pool, world, base);
                    pool.eq(variable, number)
                })
                .collect();
            all.push(pool.any(&hits));
        }
        for &(base, offset, number) in &self.exact {
            let number = pool.constant(32, u128::from(number));
            let zero = pool.constant(64, 0);
            let object = pool.eq(base, number);
            let object = pool.not(object);
            let nothing = pool.eq(offset, zero);
            all.push(pool.or(object, nothing));
        }
        let numbers: Vec<Term> = self.numbers.values().copied().collect();
        all.extend(apart(pool, &numbers));
        all.extend(self.bounded(pool));
        all
    }

    /// That the variables lie within their bounds.
    pub fn bounded(&self, pool: &mut Pool) -> Vec<Term> {
        let mut bounds: Vec<(Term, Range)> = self.bounds.iter().map(|(&t, &r)| (t, r)).collect();
        bounds.sort_by_key(|(term, _)| *term);
        let mut all = Vec::new();
        for (term, range) in bounds {
            let width = pool.width(term);
            let (low, high) = (u128::from(range.low), u128::from(range.high));
            let (low, high) = (pool.constant(width, low), pool.constant(width, high));
            all.push(pool.cmp(Pred::Ule, low, term));
            all.push(pool.cmp(Pred::Ule, term, high));
        }
        all.retain(|&t| pool.as_const(t) != Some(1));
        all
    }

    /// The bounds as conditions; the state forgets them.
    pub fn take_bounds(&mut self, pool: &mut Pool) -> Vec<Term> {
        let all = self.bounded(pool);
        self.bounds.clear();
        all
    }

    /// Recomputes what is derived from the rest.
    pub fn finish(&mut self, pool: &mut Pool, world: &World<'_>) {
        self.numbers = self
            .objects
            .keys()
            .filter(|&&id| world.object(id).number.is_none())
            .map(|&id| (id, number(pool, world, id)))
            .collect();
        let mut bases = FxHashMap::default();
        let mut bounds = FxHashMap::default();
        let mut exact = Vec::new();
        let mut add = |pool: &mut Pool, key: &str, width: Width, value: &Value| {
            if let &Value::Within(low, high) = value {
                let term = Self::part(pool, key, &Part::Whole, width);
                bounds.insert(term, Range { low, high });
            }
            if let Value::Pointer(of, offset) = value
                && of.len() > 1
            {
                let term = Self::part(pool, key, &Part::Base, 32);
                for &base in of {
                    if let Base::Number(number) = base
                        && is_exact(number)
                        && offset.is_none()
                    {
                        let offset = Self::part(pool, key, &Part::Offset, 64);
                        exact.push((term, offset, number));
                    }
                }
                bases.insert(term, of.iter().copied().collect());
            }
        };
        for (&(ctx, reg), value) in &self.registers {
            let width = world.width(ctx, reg);
            add(pool, &register_key(world, ctx, reg), width, value);
        }
        for (&id, known) in &self.objects {
            if let Some(cells) = known.bytes.by_cell() {
                for (cell, value) in cells {
                    add(pool, &cell_key(world, id, *cell), cell.width, value);
                }
            }
        }
        self.bases = bases;
        self.bounds = bounds;
        self.exact = exact;
    }
}

/// Numbers that are not fixed lie above all fixed ones, and differ.
pub fn apart(pool: &mut Pool, numbers: &[Term]) -> Vec<Term> {
    let mut all = Vec::new();
    for (i, &a) in numbers.iter().enumerate() {
        let least = pool.constant(32, u128::from(super::world::UNFIXED));
        all.push(pool.cmp(Pred::Uge, a, least));
        for &b in &numbers[..i] {
            let same = pool.eq(a, b);
            all.push(pool.not(same));
        }
    }
    all
}

fn parts(value: &Value) -> Vec<Part> {
    match value {
        Value::Const(_) => Vec::new(),
        Value::Within(..) | Value::Any => vec![Part::Whole],
        Value::Pointer(bases, offset) => {
            let base = (bases.len() > 1).then_some(Part::Base);
            let offset = offset.is_none().then_some(Part::Offset);
            base.into_iter().chain(offset).collect()
        }
    }
}

fn number(pool: &mut Pool, world: &World<'_>, id: ObjId) -> Term {
    let info = world.object(id);
    match info.number {
        Some(number) => pool.constant(32, u128::from(number)),
        None => pool.variable(&format!("n{}", info.key), 32),
    }
}

fn witness(pool: &mut Pool, world: &World<'_>, id: ObjId) -> Term {
    pool.variable(&format!("z{}", world.object(id).key), 64)
}

/// The name of a register's variable.
pub fn register_key(world: &World<'_>, ctx: CtxId, reg: Reg) -> String {
    format!("r{}:{}", world.variables_key(ctx), reg.0)
}

fn cell_key(world: &World<'_>, id: ObjId, cell: Cell) -> String {
    format!("m{}:{}:{}", world.object(id).key, cell.offset, cell.width)
}

fn array_key(world: &World<'_>, id: ObjId) -> String {
    format!("a{}", world.object(id).key)
}
