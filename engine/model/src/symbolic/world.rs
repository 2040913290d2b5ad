//! The entities of the abstraction: call contexts, cut points and objects, interned when they are
//! first met.
//!
//! Synergy (section 3) works on one control-flow graph. Here that graph is expanded over call
//! contexts, and only as far as an exploration goes: a context that nobody asked for does not
//! exist. Of a function's blocks only the *cut points* matter to the abstraction. They are the
//! targets of retreating edges. Between two of them control flow has no cycle, so the code between
//! them is one formula (see [`super::encode`]), and the 2^24 paths of Synergy's figure 8 are one
//! step.
//!
//! An object is a global, an allocation of a context, or a context's copy of an argument. If its
//! context is executed at most once, the object has a fixed number, as globals have. If the context
//! may be executed again, each new object gets a number of which only one fact is known: no other
//! object has it.

mod alone;
mod flow;
mod named;

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

pub use self::alone::Side;
pub use self::flow::{Flow, successors};
use super::spans::{Span, Spans};
use crate::program::ir::numbers::PLACES;
pub use crate::program::ir::numbers::UNFIXED;
use crate::program::ir::{
    BlockId, CallSite, DYNAMIC_OBJECTS, FuncId, GLOBAL_OBJECTS, GlobalId, Program, Reg, number_of,
    place_of,
};

/// The number of a call context; see [`Context`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CtxId(pub u32);

/// The context of the entry function.
pub const ROOT: CtxId = CtxId(0);

/// The number of an object; see [`ObjectInfo`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ObjId(pub u32);

/// The grain: how far apart cut points are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Grain {
    /// Loop heads only: the code between two of them is one formula.
    #[default]
    Loops,
    /// Every block of the user's functions that is the target of an edge, so that a transition is
    /// one edge of the control flow together with the calls in the block. In the functions of the
    /// stub library, still only the loop heads.
    Blocks,
}

/// A cut point: a loop head in a context, or any block ([`Grain`]).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Cut {
    /// The context.
    pub ctx: CtxId,
    /// The block.
    pub block: BlockId,
}

/// The place where execution continues when a call returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Back {
    /// The caller.
    pub ctx: CtxId,
    /// The block of the call.
    pub block: BlockId,
    /// The index of the operation after the call.
    pub op: usize,
    /// The first register of the result.
    pub dst: Reg,
}

/// A function in a call context.
#[derive(Clone, Debug)]
pub struct Context {
    /// The function.
    pub function: FuncId,
    /// The place of the caller. `None` for the entry function and for functions encoded alone.
    pub back: Option<Back>,
    /// The number of calls in progress.
    pub depth: u32,
    /// The number of calls of the same function in progress.
    pub recursion: u32,
    /// Whether one execution may enter the context more than once.
    pub repeated: bool,
    /// Set if the context is the beginning or the end of a function that is encoded alone.
    pub side: Option<Side>,
    /// The name of the context in certificates: call sites and callees from the entry function on.
    pub key: String,
}

/// The kind of an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ObjectKind {
    /// A global variable.
    Global(GlobalId),
    /// Made by an operation of a context: a local variable, a heap block, an area of a variable
    /// argument list (`part` distinguishes the two areas), or the copy of an argument (`part` is
    /// the number of the argument).
    Made {
        /// The context that executes the operation.
        ctx: CtxId,
        /// The block of the operation.
        block: BlockId,
        /// The index of the operation in the block.
        op: u32,
        /// Distinguishes several objects of one operation.
        part: u32,
    },
}

/// An object that can exist.
#[derive(Clone, Debug)]
pub struct ObjectInfo {
    /// The kind of the object.
    pub kind: ObjectKind,
    /// The number of the object in addresses. `None` if each new object gets a different one.
    pub number: Option<u32>,
    /// Whether the object is a heap block.
    pub heap: bool,
    /// Whether the object may be written.
    pub writable: bool,
    /// The bytes that are accessed at offsets that are not constant. They are represented as one
    /// array.
    pub indexed: Spans,
    /// The number of times that `indexed` has grown.
    pub indexed_growths: u32,
    /// Whether the size is a guess: nothing is claimed about accesses past the end.
    pub guessed: bool,
    /// The name of the object in certificates and in the names of variables.
    pub key: String,
}

/// The number of times that `indexed` of one object may grow. Each time, the exploration starts
/// again. After that, the whole object counts as indexed.
const INDEXED_GROWTHS: u32 = 16;

/// All contexts and objects met so far.
#[derive(Debug)]
pub struct World<'p> {
    program: &'p Program,
    grain: Grain,
    contexts: Vec<Context>,
    context_ids: FxHashMap<(CtxId, CallSite, FuncId), CtxId>,
    objects: Vec<ObjectInfo>,
    object_ids: BTreeMap<ObjectKind, ObjId>,
    numbers: FxHashMap<u32, ObjId>,
    flows: FxHashMap<FuncId, Flow>,
    /// For each function that is encoded alone, the contexts of its beginning and its end.
    alone: BTreeMap<FuncId, (CtxId, CtxId)>,
    /// Whether some object's `indexed` has grown since the flag was last reset.
    pub changed: bool,
    /// A message about the first object that was met but not declared, or differs from its
    /// declaration, after the declarations ended.
    pub undeclared: Option<String>,
    is_declared: bool,
    /// The objects whose size was guessed.
    guesses: FxHashSet<ObjId>,
}

/// What is stated about an object before it is met.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// The kind of the object.
    pub kind: ObjectKind,
    /// The number of the object in addresses. `None` if each new object gets a different one, and
    /// for globals, whose numbers are fixed.
    pub number: Option<u32>,
    /// Whether the object is a heap block.
    pub heap: bool,
    /// Whether the size is a guess.
    pub guessed: bool,
    /// The bytes that are accessed at offsets that are not constant.
    pub indexed: Vec<Span>,
}

impl<'p> World<'p> {
    /// Creates a world with the entry function only.
    pub fn new(program: &'p Program, grain: Grain) -> World<'p> {
        let entry = Context {
            function: program.entry,
            back: None,
            depth: 0,
            recursion: 0,
            repeated: false,
            side: None,
            key: String::new(),
        };
        World {
            program,
            grain,
            contexts: vec![entry],
            context_ids: FxHashMap::default(),
            objects: Vec::new(),
            object_ids: BTreeMap::new(),
            numbers: FxHashMap::default(),
            flows: FxHashMap::default(),
            alone: BTreeMap::new(),
            changed: false,
            undeclared: None,
            is_declared: false,
            guesses: FxHashSet::default(),
        }
    }

    /// Adds an object that is going to be met. Returns `None` if the object exists already or is
    /// not a global of the program, or if its number is not valid for such an object.
    pub fn declare(&mut self, declared: Declaration) -> Option<ObjId> {
        if self.object_ids.contains_key(&declared.kind) {
            return None;
        }
        let id = match declared.kind {
            ObjectKind::Global(global) => {
                if global.index() >= self.program.globals.len()
                    || declared.number.is_some()
                    || declared.heap
                {
                    return None;
                }
                self.global(global)
            }
            ObjectKind::Made { .. } => {
                let key = self.key(declared.kind);
                if let Some(number) = declared.number
                    && (!(DYNAMIC_OBJECTS + 1..PLACES).contains(&place_of(number))
                        || self.numbers.contains_key(&number))
                {
                    return None;
                }
                self.add(ObjectInfo {
                    kind: declared.kind,
                    number: declared.number,
                    heap: declared.heap,
                    writable: true,
                    indexed: Spans::default(),
                    indexed_growths: 0,
                    guessed: false,
                    key,
                })
            }
        };
        let info = &mut self.objects[id.0 as usize];
        info.guessed = declared.guessed;
        for span in declared.indexed {
            info.indexed.add(span);
        }
        Some(id)
    }

    /// Ends the declarations: from now on, every object that differs from its declaration or has
    /// none is recorded in `undeclared`.
    pub fn end_declarations(&mut self) {
        self.is_declared = true;
    }

    /// The objects whose size was declared to be a guess but has not been guessed.
    pub fn unguessed(&self) -> impl Iterator<Item = ObjId> + '_ {
        self.objects()
            .filter(|id| self.object(*id).guessed && !self.guesses.contains(id))
    }

    fn note_undeclared(&mut self, what: &str, key: &str) {
        if self.is_declared && self.undeclared.is_none() {
            self.undeclared = Some(format!("object {key} {what}"));
        }
    }

    /// The program.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// The grain of the cut points.
    pub fn grain(&self) -> Grain {
        self.grain
    }

    /// A context.
    pub fn context(&self, ctx: CtxId) -> &Context {
        &self.contexts[ctx.0 as usize]
    }

    /// The number of contexts.
    pub fn contexts(&self) -> usize {
        self.contexts.len()
    }

    /// The contexts from the entry function to this one.
    pub fn chain(&self, ctx: CtxId) -> Vec<CtxId> {
        let mut chain = vec![ctx];
        let mut at = ctx;
        while let Some(back) = self.context(at).back {
            at = back.ctx;
            chain.push(at);
        }
        chain.reverse();
        chain
    }

    /// Whether a context is `outer` or is entered from it by calls, directly or indirectly.
    pub fn is_within(&self, ctx: CtxId, outer: CtxId) -> bool {
        let mut at = ctx;
        while at != outer {
            match self.context(at).back {
                Some(back) => at = back.ctx,
                None => return false,
            }
        }
        true
    }

    /// The context that a call enters.
    pub fn enter(&mut self, back: Back, site: CallSite, function: FuncId) -> CtxId {
        let key = (back.ctx, site, function);
        if let Some(&known) = self.context_ids.get(&key) {
            return known;
        }
        let caller_function = self.context(back.ctx).function;
        let cyclic = self.flow(caller_function).cyclic.contains(&back.block);
        let mut recursion = 0;
        for ctx in self.chain(back.ctx) {
            recursion += u32::from(self.context(ctx).function == function);
        }
        let caller = self.context(back.ctx);
        let context = Context {
            function,
            back: Some(back),
            depth: caller.depth + 1,
            recursion,
            repeated: caller.repeated || cyclic,
            side: None,
            key: format!("{}/{}.{}", caller.key, site.0, function.0),
        };
        let id = CtxId(self.contexts.len() as u32);
        self.contexts.push(context);
        self.context_ids.insert(key, id);
        id
    }

    /// An object.
    pub fn object(&self, object: ObjId) -> &ObjectInfo {
        &self.objects[object.0 as usize]
    }

    /// All objects met so far.
    pub fn objects(&self) -> impl Iterator<Item = ObjId> + use<> {
        (0..self.objects.len() as u32).map(ObjId)
    }

    /// The object with this number in addresses.
    pub fn object_at(&mut self, number: u32) -> Option<ObjId> {
        if let Some(&known) = self.numbers.get(&number) {
            return Some(known);
        }
        let index = place_of(number).checked_sub(GLOBAL_OBJECTS)?;
        ((index as usize) < self.program.globals.len()).then(|| self.global(GlobalId(index)))
    }

    /// The object of a global.
    pub fn global(&mut self, global: GlobalId) -> ObjId {
        let kind = ObjectKind::Global(global);
        if let Some(&known) = self.object_ids.get(&kind) {
            return known;
        }
        let writable = !self.program.globals[global.index()].constant;
        self.add(ObjectInfo {
            kind,
            number: Some(number_of(GLOBAL_OBJECTS + global.0)),
            heap: false,
            writable,
            indexed: Spans::default(),
            indexed_growths: 0,
            guessed: false,
            key: format!("g{}", global.0),
        })
    }

    /// The object that an operation makes. `once` says whether it is made at most once.
    pub fn made(&mut self, kind: ObjectKind, heap: bool, once: bool) -> ObjId {
        if let Some(&known) = self.object_ids.get(&kind) {
            let info = self.object(known);
            if info.heap != heap || info.number.is_some() != once {
                let key = info.key.clone();
                self.note_undeclared("is made otherwise than declared", &key);
            }
            return known;
        }
        let key = self.key(kind);
        self.note_undeclared("is not declared", &key);
        let number = once.then(|| self.free_number());
        self.add(ObjectInfo {
            kind,
            number,
            heap,
            writable: true,
            indexed: Spans::default(),
            indexed_growths: 0,
            guessed: false,
            key,
        })
    }

    fn key(&self, kind: ObjectKind) -> String {
        match kind {
            ObjectKind::Global(global) => format!("g{}", global.0),
            ObjectKind::Made {
                ctx,
                block,
                op,
                part,
            } => format!("{}@{}.{op}.{part}", self.context(ctx).key, block.0),
        }
    }

    fn free_number(&self) -> u32 {
        let mut place = DYNAMIC_OBJECTS + 1 + self.objects.len() as u32;
        while self.numbers.contains_key(&number_of(place)) {
            place += 1;
        }
        number_of(place)
    }

    fn add(&mut self, info: ObjectInfo) -> ObjId {
        let id = ObjId(self.objects.len() as u32);
        if let Some(number) = info.number {
            self.numbers.insert(number, id);
        }
        self.object_ids.insert(info.kind, id);
        self.objects.push(info);
        id
    }

    /// Records that an object's size is a guess.
    pub fn guess(&mut self, object: ObjId) {
        let info = &mut self.objects[object.0 as usize];
        let declared = std::mem::replace(&mut info.guessed, true);
        if !declared {
            let key = info.key.clone();
            self.note_undeclared("has a size that is a guess, which is not declared", &key);
        }
        self.guesses.insert(object);
    }

    /// Records that bytes of an object are accessed at offsets that are not constant.
    pub fn mark_indexed(&mut self, object: ObjId, span: Span) {
        let info = &mut self.objects[object.0 as usize];
        if info.indexed.add(span) {
            info.indexed_growths += 1;
            if info.indexed_growths > INDEXED_GROWTHS {
                info.indexed.add(Span::ALL);
            }
            self.changed = true;
            let key = info.key.clone();
            self.note_undeclared("is indexed where that is not declared", &key);
        }
    }

    /// The control flow of a function.
    pub fn flow(&mut self, function: FuncId) -> &Flow {
        let (program, grain) = (self.program, self.grain);
        self.flows
            .entry(function)
            .or_insert_with(|| Flow::new(program, function, grain))
    }
}
