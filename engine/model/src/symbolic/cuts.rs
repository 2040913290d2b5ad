//! The states of a cut point, as far as they are known without a solver.
//!
//! Before any invariant is looked for, constants and the objects that pointers point to are
//! propagated through the fragments until nothing changes. The stub library's state, file tables,
//! sizes and lifetimes are constant almost everywhere, and a constant never becomes a variable.
//! Everything that varies gets a variable: a register, a cell of a small object, or the whole
//! contents of an object that is accessed at varying offsets. A pointer is split into its object,
//! which is one of a few, and its offset. For a number that varies its bounds are kept, and widened
//! when they grow. For example, the bound that a loop's counter is not negative keeps an access to
//! an array from being an access to all bytes next to the array.
//!
//! What is assumed here of a cut point's states is part of the proof: a certificate states it, and
//! its checker verifies it.

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
    /// Whether the object is accessible: one bit.
    pub alive: Value,
    /// The size of the object: 64 bits.
    pub size: Value,
    /// The contents of the object.
    pub bytes: Bytes,
}

/// What is known of all states in which a cut point is reached.
#[derive(Clone, Debug, Default)]
pub struct CutState {
    /// Live registers of all frames.
    pub registers: BTreeMap<(CtxId, Reg), Value>,
    /// The objects. A global that is absent has its initial value.
    pub objects: BTreeMap<ObjId, Known>,
    /// The variables that hold the upper half of an address, with its possible values.
    pub bases: FxHashMap<Term, Vec<Base>>,
    /// The bounds of variables that do not take all values of their width.
    pub bounds: FxHashMap<Term, Range>,
    /// The terms of the numbers of objects without a fixed number.
    pub numbers: BTreeMap<ObjId, Term>,
    /// The pointers that may be NULL or the address of a function: the variables of base and
    /// offset, and a value of the base for which the offset is 0.
    pub exact: Vec<(Term, Term, u32)>,
}

/// The part of a value that a variable represents. Only values that vary have variables.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Part {
    /// The whole value.
    Whole,
    /// For a pointer, the upper half of its object's address.
    Base,
    /// For a pointer, its offset in the object.
    Offset,
}

/// The place in a state where a variable's value is found.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Place {
    /// A register.
    Register(CtxId, Reg, Part),
    /// A cell of an object.
    Cell(ObjId, Cell, Part),
    /// Whether the object is accessible.
    Alive(ObjId),
    /// The size of the object.
    Size(ObjId),
    /// The number of the object.
    Number(ObjId),
    /// The offset at which the object may have a zero byte.
    Witness(ObjId),
}

impl CutState {
    /// The number of an object without a fixed number, as a variable of this cut point.
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

    /// The upper half of an address, as a term.
    pub fn base(&self, pool: &mut Pool, world: &World<'_>, base: Base) -> Term {
        match base {
            Base::Number(number) => pool.constant(32, u128::from(number)),
            Base::Of(id) => number(pool, world, id),
        }
    }

    /// The value of a register, as a term.
    pub fn register(&self, pool: &mut Pool, world: &World<'_>, ctx: CtxId, reg: Reg) -> Term {
        let width = world.width(ctx, reg);
        let key = register_key(world, ctx, reg);
        let value = self.registers.get(&(ctx, reg)).unwrap_or(&Value::Any);
        self.value(pool, world, &key, width, value)
    }

    /// An object, as terms.
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
                // In [`Bytes::Cells`] every byte of the object lies in a cell, and bytes past the
                // end are never read.
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

    /// All variables of this cut point, with their places.
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

    /// The fact that there is a zero byte at an object's witness.
    pub fn ends(&self, pool: &mut Pool, world: &World<'_>, id: ObjId) -> Term {
        let at = witness(pool, world, id);
        let array = pool.array_variable(&array_key(world, id));
        let byte = pool.select(array, at);
        let nul = pool.constant(8, 0);
        pool.eq(byte, nul)
    }

    /// The objects whose contents are represented by one array, with their arrays.
    pub fn arrays(&self, pool: &mut Pool, world: &World<'_>) -> Vec<(ObjId, Array)> {
        self.objects
            .iter()
            .filter(|(_, known)| matches!(known.bytes, Bytes::Mixed(_)))
            .map(|(&id, _)| (id, pool.array_variable(&array_key(world, id))))
            .collect()
    }

    /// The facts about this cut point's variables that hold by construction: the upper half of an
    /// address is one of its bases, the numbers of any two objects differ, and the bounds hold.
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

    /// The facts that the variables lie within their bounds.
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

    /// Removes the bounds from the state and returns them as facts.
    pub fn take_bounds(&mut self, pool: &mut Pool) -> Vec<Term> {
        let all = self.bounded(pool);
        self.bounds.clear();
        all
    }

    /// Recomputes the fields that are derived from `registers` and `objects`.
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

/// The facts that numbers that are not fixed lie above all fixed numbers and differ from each
/// other.
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
