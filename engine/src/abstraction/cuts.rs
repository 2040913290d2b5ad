//! The states of a cut point, as far as they are known without a solver.
//!
//! Before any invariant is looked for, constants and the objects that pointers point to are propagated through the fragments
//! until nothing changes: the stub library's state, file tables, sizes and lifetimes are constant almost everywhere, and what is
//! constant never becomes a variable. What does vary gets one: for a register, for a cell of a small object, for the
//! whole contents of one that is accessed at varying offsets. A pointer is split into its object, which is one of a
//! few, and its offset. Of a number that varies its bounds are kept, widened when they grow: that a loop's counter is not
//! negative is what keeps an access to an array from being one to everything beside it.
//!
//! What is assumed here of a cut point's states is part of the proof (see [`crate::proof`]): `claims` are
//! the facts that a certificate's checker derives again.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::encode::pointer::{Root, Splitter, excluded, object_and_offset};
use super::encode::range::{Range, Ranges};
use super::memory::{Contents, Object, Spans};
use super::state::{Guard, Reached};
use super::world::{CtxId, Grain, ObjId, World};
use crate::program::ir::{BinOp, DYNAMIC_OBJECTS, FUNCTION_OBJECTS, Pred, Reg, Width};
use crate::term::{Array, Pool, Term};

/// The upper half of an address.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Base {
    /// This number; 0 for NULL.
    Number(u32),
    /// The present object of this allocation.
    Of(ObjId),
}

/// What is known of a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// It is this.
    Const(u128),
    /// It is this offset from one of these; an offset that varies if there is none.
    Pointer(BTreeSet<Base>, Option<u64>),
    /// It lies between these, both inclusive, as a number without a sign.
    Within(u64, u64),
    /// Nothing.
    Any,
}

/// More objects than that, and a pointer is not followed.
const BASES: usize = 12;

/// Objects up to this size are kept cell by cell where they are not indexed.
pub(super) const CELLS: u64 = 512;
/// Of larger objects, and of those whose size is not known, at most that many values are kept beside the array.
const FIELDS: usize = 64;

/// A piece of an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Cell {
    /// Its offset in bytes.
    pub offset: u32,
    /// Its width in bits.
    pub width: Width,
}

/// What is known of an object's bytes.
#[derive(Clone, PartialEq, Debug)]
pub enum Bytes {
    /// They are these, which contain no variable.
    Fixed(Contents),
    /// Cell by cell, all of them.
    Cells(BTreeMap<Cell, Value>),
    /// These cells, and nothing of the other bytes, which are one array.
    Mixed(BTreeMap<Cell, Value>),
}

impl Bytes {
    /// Nothing.
    pub const ANY: Bytes = Bytes::Mixed(BTreeMap::new());

    /// The cells, if there are any.
    fn by_cell(&self) -> Option<&BTreeMap<Cell, Value>> {
        match self {
            Bytes::Fixed(_) => None,
            Bytes::Cells(cells) | Bytes::Mixed(cells) => Some(cells),
        }
    }
}

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
    pub(crate) bounds: FxHashMap<Term, Range>,
    /// The number of each object that has no fixed one.
    numbers: BTreeMap<ObjId, Term>,
    /// Upper half and rest of the pointers that may be NULL or a function's address, and the upper half of those: the rest is 0.
    exact: Vec<(Term, Term, u32)>,
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
        let function = world.context(ctx).function;
        let width = world.program().function(function).registers[reg.index()];
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
                // If it is cells only, every byte of the object lies in one; what lies beyond is never read.
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
            let function = world.context(ctx).function;
            let width = world.program().function(function).registers[reg.index()];
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

    /// What holds of this cut point's variables by construction: an upper half is one of its bases, and the numbers of
    /// two objects differ.
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

    /// The same, and nobody knows the bounds any more.
    pub fn take_bounds(&mut self, pool: &mut Pool) -> Vec<Term> {
        let all = self.bounded(pool);
        self.bounds.clear();
        all
    }

    /// Recomputes what is derived from the rest.
    fn finish(&mut self, pool: &mut Pool, world: &World<'_>) {
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
            let function = world.context(ctx).function;
            let width = world.program().function(function).registers[reg.index()];
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

fn register_key(world: &World<'_>, ctx: CtxId, reg: Reg) -> String {
    format!("r{}:{}", world.context(ctx).key, reg.0)
}

fn cell_key(world: &World<'_>, id: ObjId, cell: Cell) -> String {
    format!("m{}:{}:{}", world.object(id).key, cell.offset, cell.width)
}

fn array_key(world: &World<'_>, id: ObjId) -> String {
    format!("a{}", world.object(id).key)
}

/// How the part of an object that is not indexed is divided: aligned words of eight bytes, and smaller ones where those do not
/// fit. None if there is too much of it, or if nobody knows how much.
fn layout(size: &Value, indexed: &Spans) -> Option<Vec<Cell>> {
    let &Value::Const(size) = size else {
        return None;
    };
    let size = u32::try_from(size).ok()?;
    // A small object is one value, and not worth an array.
    let none = Spans::default();
    let spans = if size > 8 { indexed } else { &none };
    if u64::from(size - spans.bytes(size)) > CELLS {
        return None;
    }
    let mut cells = Vec::new();
    let mut at = 0u32;
    while at < size {
        if let Some(end) = spans.end(at) {
            at = end;
            continue;
        }
        let mut bytes = 8;
        while !at.is_multiple_of(bytes) || at + bytes > size || spans.overlaps(at, bytes) {
            bytes /= 2;
        }
        cells.push(Cell {
            offset: at,
            width: bytes as Width * 8,
        });
        at += bytes;
    }
    Some(cells)
}

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
    pub(super) fn split(&mut self, value: Term) -> Vec<super::encode::pointer::Case> {
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
                .all(|s| matches!(s, crate::term::Symbol::Variable(_)));
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

/// Whether all bytes of an object are kept cell by cell.
fn is_dense(size: &Value, indexed: &Spans) -> bool {
    match size {
        Value::Const(size) if *size <= 8 => true,
        Value::Const(size) => indexed.is_empty() && *size <= u128::from(CELLS),
        _ => false,
    }
}

fn halves(cell: Cell) -> [Cell; 2] {
    [0, 4].map(|by| Cell {
        offset: cell.offset + by,
        width: 32,
    })
}

/// Whether an upper half is one of addresses that have no others beside them: NULL and the functions'.
fn is_exact(number: u32) -> bool {
    number == 0 || (FUNCTION_OBJECTS..DYNAMIC_OBJECTS).contains(&number)
}

fn pointer(bases: BTreeSet<Base>, offset: Option<u64>) -> Value {
    let integer = bases.len() == 1 && bases.contains(&Base::Number(0));
    if integer || bases.is_empty() || bases.len() > BASES {
        return Value::Any;
    }
    // NULL and functions have no other addresses beside them.
    let exact = |base: &Base| matches!(base, Base::Number(number) if is_exact(*number));
    let offset = offset.filter(|&offset| offset == 0 || !bases.iter().any(exact));
    Value::Pointer(bases, offset)
}

impl Value {
    /// What is known if one of the two is so.
    pub fn join(&self, other: &Value, width: Width) -> Value {
        if self == other {
            return self.clone();
        }
        match (self.bases(width), other.bases(width)) {
            (Some((a, m)), Some((b, n))) => {
                let offset = m.filter(|_| m == n);
                pointer(a.union(&b).copied().collect(), offset)
            }
            _ => Value::Any,
        }
    }

    /// The same with bounds, which grow by leaps from what was known before, so that this comes to an end.
    fn widen(&self, new: &Value, width: Width) -> Value {
        let joined = self.join(new, width);
        let (Value::Any, Some(before), Some(now)) =
            (&joined, self.bounds(width), new.bounds(width))
        else {
            return joined;
        };
        let all = Range::all(width);
        let mut low = before.low.min(now.low);
        let mut high = before.high.max(now.high);
        // One of two numbers is as it was: a flag, or where a loop begins.
        if matches!(self, Value::Within(..)) {
            if low < before.low {
                low = 0;
            }
            if high > before.high {
                high = if high <= all.high / 2 {
                    all.high / 2
                } else {
                    all.high
                };
            }
        }
        match (Range { low, high }) == all {
            true => Value::Any,
            false => Value::Within(low, high),
        }
    }

    /// The same for a piece of memory. A word of which nothing is known is two halves, of which more may be known than of the word's
    /// bounds.
    fn join_cell(&self, new: &Value, width: Width, bounded: bool) -> Value {
        match bounded && width < 64 {
            true => self.widen(new, width),
            false => self.join(new, width),
        }
    }

    fn bounds(&self, width: Width) -> Option<Range> {
        match *self {
            Value::Const(c) if width <= 64 => {
                let c = c as u64;
                Some(Range { low: c, high: c })
            }
            Value::Within(low, high) => Some(Range { low, high }),
            _ => None,
        }
    }

    fn bases(&self, width: Width) -> Option<(BTreeSet<Base>, Option<u64>)> {
        match self {
            Value::Within(..) | Value::Any => None,
            Value::Pointer(bases, offset) => Some((bases.clone(), *offset)),
            Value::Const(c) if width == 64 => {
                let (number, offset) = object_and_offset(*c as u64);
                // Of the small numbers only NULL is a pointer.
                let pointer = !is_exact(number) || offset == 0;
                pointer.then(|| (BTreeSet::from([Base::Number(number)]), Some(offset)))
            }
            Value::Const(_) => None,
        }
    }
}

impl Bytes {
    fn join(
        self,
        other: Bytes,
        pool: &mut Pool,
        size: &Value,
        (indexed, bounded): (&Spans, bool),
    ) -> Bytes {
        if self == other && (!matches!(self, Bytes::Cells(_)) || is_dense(size, indexed)) {
            return self;
        }
        if let Some(layout) = layout(size, indexed) {
            let (a, b) = (self.as_cells(pool, &layout), other.as_cells(pool, &layout));
            let cells = join_cells(a, b, bounded);
            return if is_dense(size, indexed) {
                Bytes::Cells(cells)
            } else {
                Bytes::Mixed(cells)
            };
        }
        // What both sides keep.
        let keys: Vec<Cell> = match (&self, &other) {
            (Bytes::Fixed(_), Bytes::Fixed(_)) => Vec::new(),
            (Bytes::Fixed(_), cells) | (cells, _) => {
                let cells = cells.by_cell().into_iter().flatten();
                cells.map(|(cell, _)| *cell).collect()
            }
        };
        let mut cells = BTreeMap::new();
        for cell in keys {
            let bytes = u32::from(cell.width / 8);
            if indexed.overlaps(cell.offset, bytes) {
                continue;
            }
            if let (Some(a), Some(b)) = (self.cell(pool, cell), other.cell(pool, cell)) {
                cells.insert(cell, a.join_cell(&b, cell.width, bounded));
            }
        }
        Bytes::Mixed(cells)
    }

    /// What is known of a cell, if it is kept.
    fn cell(&self, pool: &mut Pool, cell: Cell) -> Option<Value> {
        match self {
            Bytes::Fixed(contents) => {
                let bytes = u32::from(cell.width / 8);
                let term = contents.read_at(pool, cell.offset, bytes);
                Some(pool.as_const(term).map_or(Value::Any, Value::Const))
            }
            Bytes::Cells(cells) | Bytes::Mixed(cells) => cells.get(&cell).cloned(),
        }
    }

    fn as_cells(&self, pool: &mut Pool, layout: &[Cell]) -> BTreeMap<Cell, Value> {
        let mut all = BTreeMap::new();
        for &cell in layout {
            match self {
                Bytes::Fixed(_) => {
                    let value = self.cell(pool, cell).unwrap_or(Value::Any);
                    all.insert(cell, value);
                }
                Bytes::Cells(cells) | Bytes::Mixed(cells) => {
                    for part in [cell].into_iter().chain(halves(cell)) {
                        if let Some(value) = cells.get(&part) {
                            all.insert(part, value.clone());
                        }
                    }
                }
            }
        }
        all
    }
}

/// Cell by cell; a word is divided where either side has it divided, or where nothing is known of it as a whole. What one side
/// lacks can be anything.
fn join_cells(
    a: BTreeMap<Cell, Value>,
    b: BTreeMap<Cell, Value>,
    bounded: bool,
) -> BTreeMap<Cell, Value> {
    let mut all = BTreeMap::new();
    let divide = |cells: &BTreeMap<Cell, Value>, word: Cell| -> [(Cell, Value); 2] {
        halves(word).map(|half| {
            let value = cells
                .get(&half)
                .cloned()
                .unwrap_or_else(|| match cells.get(&word) {
                    Some(Value::Const(c)) => {
                        let shift = (half.offset - word.offset) * 8;
                        Value::Const((*c >> shift) & 0xffff_ffff)
                    }
                    _ => Value::Any,
                });
            (half, value)
        })
    };
    let has = |cell: Cell| a.contains_key(&cell) || b.contains_key(&cell);
    let words: BTreeSet<Cell> = a
        .keys()
        .chain(b.keys())
        .map(|&cell| {
            let word = Cell {
                offset: cell.offset / 8 * 8,
                width: 64,
            };
            let is_half = cell.width == 32 && (has(word) || halves(word).into_iter().all(has));
            if is_half { word } else { cell }
        })
        .collect();
    for word in words {
        let whole = match (a.get(&word), b.get(&word)) {
            (Some(x), Some(y)) => Some(x.join_cell(y, word.width, bounded)),
            _ => None,
        };
        match whole {
            Some(value) if value != Value::Any || word.width != 64 => {
                all.insert(word, value);
            }
            _ if word.width == 64 => {
                let (x, y) = (divide(&a, word), divide(&b, word));
                for ((half, x), (_, y)) in x.into_iter().zip(y) {
                    all.insert(half, x.join_cell(&y, 32, bounded));
                }
            }
            _ => {
                all.insert(word, Value::Any);
            }
        }
    }
    all
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
