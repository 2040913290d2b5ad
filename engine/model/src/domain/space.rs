//! Objects: their names, whether they are alive, how large they are, and what they hold.
//!
//! One name stands for all objects that an operation makes in a context. If there may be several at
//! a time, none of them is ever known to be overwritten, and after a release each of them may be
//! the released one. The last heap block of a request has a name of its own ([`super::recent`]).

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::contents::{Contents, END};
use super::num::{Num, Thresholds};
use super::recent::OLDER;
use super::value::Value;
use crate::program::ir::numbers::object_and_offset;
use crate::program::ir::{
    BlockId, FUNCTION_OBJECTS, FuncId, GLOBAL_OBJECTS, GlobalId, Program, Width, place_of,
};
use crate::program::outside::Site;

/// The name of an object: a global, a function, or what an operation makes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ObjId(pub u32);

/// The object of pointers whose object no longer exists. It is never alive.
pub const GONE: ObjId = ObjId(u32::MAX);

/// A call context: a function, and how it was called.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CtxId(pub u32);

/// The identity of an object that an operation makes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Made {
    /// The context of the operation.
    pub ctx: CtxId,
    /// The block of the operation.
    pub block: u32,
    /// The operation's index in the block.
    pub op: u32,
    /// The index among the objects that the operation makes.
    pub part: u32,
}

impl Made {
    /// The identity of the blocks that a request gave before its last one ([`super::recent`]).
    pub fn older(self) -> Made {
        Made {
            part: OLDER,
            ..self
        }
    }
}

/// What is known of an object independently of the state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Info {
    /// Whether it is a block of the heap.
    pub heap: bool,
    /// Whether there is at most one such object at a time: it is a single object.
    pub is_unique: bool,
    /// Whether its size is a guess.
    pub guessed: bool,
}

/// The names of objects, and what the program says about them.
#[derive(Clone, Debug)]
pub struct Names<'p> {
    program: &'p Program,
    made: Vec<(Made, Info)>,
    numbers: FxHashMap<Made, ObjId>,
    /// Cached joins of table elements: joining thousands of numbers takes long.
    tables: RefCell<FxHashMap<Elements, Value>>,
    /// Cached offsets of the last zero byte in a part of a global's initial bytes: loops over
    /// tables ask for them repeatedly.
    zeros: RefCell<FxHashMap<(GlobalId, u32, u32), Option<u32>>>,
}

/// Elements of the initial bytes of a global.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Elements {
    /// The global.
    pub global: GlobalId,
    /// The offset of the first one.
    pub first: u32,
    /// The largest offset that the last one may have.
    pub last: u32,
    /// The distance from the beginning of an element to that of the next one.
    pub step: u32,
    /// The size of each, in bytes.
    pub len: u32,
}

/// The most elements that are read one by one.
const ELEMENTS: u32 = 1 << 17;

/// What an object is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A global.
    Global(GlobalId),
    /// A function.
    Function(FuncId),
    /// An object that an operation makes.
    Made(Made),
    /// An object that no longer exists.
    Gone,
}

impl<'p> Names<'p> {
    /// Creates the names of a program's globals and functions.
    pub fn new(program: &'p Program) -> Names<'p> {
        Names {
            program,
            made: Vec::new(),
            numbers: FxHashMap::default(),
            tables: RefCell::default(),
            zeros: RefCell::default(),
        }
    }

    fn fixed(&self) -> u32 {
        (self.program.globals.len() + self.program.functions.len()) as u32
    }

    /// The objects that operations make, as far as they have a name.
    pub fn made(&self) -> impl Iterator<Item = &Made> {
        self.made.iter().map(|(made, _)| made)
    }

    /// The object of a global.
    pub fn global(&self, global: GlobalId) -> ObjId {
        ObjId(global.0)
    }

    /// The object of a function.
    pub fn function(&self, function: FuncId) -> ObjId {
        ObjId(self.program.globals.len() as u32 + function.0)
    }

    /// Returns the name of what an operation makes, which is created if necessary. `info` replaces
    /// what was known of it.
    pub fn name(&mut self, made: Made, info: Info) -> ObjId {
        if let Some(&known) = self.numbers.get(&made) {
            let at = (known.0 - self.fixed()) as usize;
            self.made[at].1 = info;
            return known;
        }
        let id = ObjId(self.fixed() + self.made.len() as u32);
        self.made.push((made, info));
        self.numbers.insert(made, id);
        id
    }

    /// The name of what an operation makes, if it has one.
    pub fn known(&self, made: Made) -> Option<ObjId> {
        self.numbers.get(&made).copied()
    }

    /// The name of a request's earlier blocks, from the name of its last block ([`super::recent`]).
    pub fn older(&self, id: ObjId) -> Option<ObjId> {
        match self.kind(id) {
            Kind::Made(made) => self.known(made.older()),
            Kind::Global(_) | Kind::Function(_) | Kind::Gone => None,
        }
    }

    /// What an object is.
    pub fn kind(&self, id: ObjId) -> Kind {
        let globals = self.program.globals.len() as u32;
        if id.0 < globals {
            return Kind::Global(GlobalId(id.0));
        }
        if id.0 < self.fixed() {
            return Kind::Function(FuncId(id.0 - globals));
        }
        match self.made.get((id.0 - self.fixed()) as usize) {
            Some((made, _)) => Kind::Made(*made),
            None => Kind::Gone,
        }
    }

    /// What is known of an object. [`GONE`] may have been any of several objects.
    pub fn info(&self, id: ObjId) -> Info {
        let at = id.0.checked_sub(self.fixed());
        match at.and_then(|at| self.made.get(at as usize)) {
            Some((_, info)) => *info,
            None => Info {
                is_unique: id != GONE,
                ..Info::default()
            },
        }
    }

    /// The site where it is made, in any context.
    pub fn site(&self, id: ObjId) -> Option<Site> {
        match self.kind(id) {
            Kind::Global(global) => Some(Site::Global(global)),
            Kind::Made(made) => Some(Site::Made(BlockId(made.block), made.op)),
            Kind::Function(_) | Kind::Gone => None,
        }
    }

    /// Whether it can be written.
    pub fn is_writable(&self, id: ObjId) -> bool {
        match self.kind(id) {
            Kind::Global(global) => !self.program.globals[global.index()].constant,
            Kind::Made(_) => true,
            Kind::Function(_) | Kind::Gone => false,
        }
    }

    /// A constant as a value: an address, if the constant is the encoding of one.
    pub fn constant(&self, width: Width, number: u128) -> Value {
        if width != 64 || number >> 64 != 0 {
            return Value::exactly(width, number);
        }
        let (object, offset) = object_and_offset(number as u64);
        let place = place_of(object);
        let function = place.checked_sub(FUNCTION_OBJECTS);
        let global = place.checked_sub(GLOBAL_OBJECTS);
        let id = match (function, global) {
            (Some(f), _) if (f as usize) < self.program.functions.len() => self.function(FuncId(f)),
            (_, Some(g)) if (g as usize) < self.program.globals.len() => self.global(GlobalId(g)),
            _ => return Value::exactly(width, number),
        };
        Value::address(id, Num::exactly(64, offset.into()))
    }

    /// The number of bytes that a global begins with, if they are known.
    pub fn initial_size(&self, global: GlobalId) -> Option<u64> {
        let global = self.program.globals.get(global.index())?;
        (!global.external).then_some(global.init.len() as u64)
    }

    /// The value of `len` initial bytes of a global at an offset.
    pub fn initial(&self, global: GlobalId, at: u32, len: u32) -> Value {
        let width = (len * 8) as Width;
        let Some(global) = self.program.globals.get(global.index()) else {
            return Value::all(width);
        };
        let (first, end) = (at as usize, at as usize + len as usize);
        if global.external || len > 8 || end > global.init.len() {
            return Value::all(width);
        }
        if global.zeros {
            return Value::exactly(width, 0);
        }
        let word = |at: usize| -> Option<Value> {
            let bytes = global.init.get(at..at + 8)?;
            let number = <[u8; 8]>::try_from(bytes).map_or(0, u64::from_le_bytes);
            Some(self.constant(64, number.into())).filter(|value| value.num.is_none())
        };
        if let Some(address) = word(first).filter(|_| len == 8) {
            return address;
        }
        // The value of a part of an address is unknown.
        let near = first.saturating_sub(7)..end;
        if near.into_iter().any(|at| word(at).is_some()) {
            return Value::all(width);
        }
        let bytes = global.init[first..end].iter().rev();
        let number = bytes.fold(0u128, |number, &byte| number << 8 | u128::from(byte));
        Value::exactly(width, number)
    }

    /// The offset of the last initial byte between two offsets that is zero.
    pub fn last_zero(&self, global: GlobalId, (first, end): (u32, u32)) -> Option<u32> {
        let known = self.zeros.borrow().get(&(global, first, end)).copied();
        known.unwrap_or_else(|| {
            let is_zero = |at: &u32| self.initial(global, *at, 1).as_constant() == Some(0);
            let last = (first..end).rev().find(is_zero);
            self.zeros.borrow_mut().insert((global, first, end), last);
            last
        })
    }

    /// The join of some elements of a global's initial bytes. `None` if there are none, or too
    /// many.
    pub fn initials(&self, of: Elements) -> Option<Value> {
        if of.step == 0 || of.last < of.first || (of.last - of.first) / of.step > ELEMENTS {
            return None;
        }
        if let Some(known) = self.tables.borrow().get(&of) {
            return Some(known.clone());
        }
        let places = (of.first..=of.last).step_by(of.step as usize);
        let values = places.map(|at| self.initial(of.global, at, of.len));
        let width = (of.len * 8) as Width;
        let value = values.reduce(|all, one| all.join(&one, width))?;
        self.tables.borrow_mut().insert(of, value.clone());
        Some(value)
    }

    /// The object of a global when the program begins; `None` for objects that do not exist then.
    pub fn first(&self, id: ObjId) -> Option<Object> {
        let Kind::Global(global) = self.kind(id) else {
            return None;
        };
        let info = self.program.globals.get(global.index())?;
        let size = info.init.len() as u64;
        let known = u32::try_from(size).unwrap_or(END);
        let contents = match (info.external, info.zeros) {
            (true, _) => Contents::any(),
            (false, true) => Contents::zeros(known),
            (false, false) => Contents::image(global, known),
        };
        Some(Object {
            alive: Alive::Yes,
            size: Num::exactly(64, size.into()),
            contents: Arc::new(contents),
        })
    }
}

/// Whether an object is alive, so that it can be accessed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Alive {
    /// It is alive.
    Yes,
    /// It is not alive.
    No,
    /// It may be alive.
    Maybe,
}

impl Alive {
    fn join(self, other: Alive) -> Alive {
        if self == other { self } else { Alive::Maybe }
    }
}

/// What a state knows of an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Object {
    /// Whether it is alive.
    pub alive: Alive,
    /// Its size in bytes.
    pub size: Num,
    /// Its bytes.
    pub contents: Arc<Contents>,
}

impl Object {
    pub(super) fn join(&self, other: &Object, names: &Names<'_>) -> Object {
        let contents = match Arc::ptr_eq(&self.contents, &other.contents) {
            true => Arc::clone(&self.contents),
            false => Arc::new(self.contents.join(&other.contents, names)),
        };
        Object {
            alive: self.alive.join(other.alive),
            size: self.size.join(64, &other.size),
            contents,
        }
    }

    fn widen(&self, new: &Object, names: &Names<'_>, thresholds: &Thresholds) -> Object {
        let contents = match Arc::ptr_eq(&self.contents, &new.contents) {
            true => Arc::clone(&self.contents),
            false => Arc::new(self.contents.widen(&new.contents, names, thresholds)),
        };
        Object {
            alive: self.alive.join(new.alive),
            size: self.size.widen(64, &new.size, thresholds),
            contents,
        }
    }

    fn is_within(&self, other: &Object, names: &Names<'_>) -> bool {
        (self.alive == other.alive || other.alive == Alive::Maybe)
            && self.size.is_within(&other.size)
            && (Arc::ptr_eq(&self.contents, &other.contents)
                || self.contents.is_within(&other.contents, names))
    }
}

/// The objects of a state. A global that is missing is as it was when the program began; an object
/// of an operation that is missing does not exist.
pub type Objects = BTreeMap<ObjId, Object>;

/// Merges the objects of two states: widens them if there are `thresholds`, and joins them
/// otherwise.
pub fn merged(
    a: &Arc<Objects>,
    b: &Arc<Objects>,
    names: &Names<'_>,
    thresholds: Option<&Thresholds>,
) -> Arc<Objects> {
    if Arc::ptr_eq(a, b) {
        return Arc::clone(a);
    }
    let mut all = Objects::clone(a);
    let put = |x: &Object, y: &Object| match thresholds {
        Some(thresholds) => x.widen(y, names, thresholds),
        None => x.join(y, names),
    };
    for (&id, object) in &**b {
        let known = all.get(&id).cloned().or_else(|| names.first(id));
        let new = known.map_or_else(|| object.clone(), |known| put(&known, object));
        all.insert(id, new);
    }
    for (id, object) in &**a {
        if !b.contains_key(id)
            && let Some(first) = names.first(*id)
        {
            all.insert(*id, put(object, &first));
        }
    }
    Arc::new(all)
}

/// Whether every state of the first objects is one of the second.
pub fn is_within(a: &Arc<Objects>, b: &Arc<Objects>, names: &Names<'_>) -> bool {
    if Arc::ptr_eq(a, b) {
        return true;
    }
    let known = b.iter().all(|(id, object)| match a.get(id) {
        Some(own) => own.is_within(object, names),
        None => names
            .first(*id)
            .is_none_or(|first| first.is_within(object, names)),
    });
    known
        && a.iter().all(|(id, object)| {
            b.contains_key(id)
                || names
                    .first(*id)
                    .is_some_and(|first| object.is_within(&first, names))
        })
}
