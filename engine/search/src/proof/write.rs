//! Writes the results of the search into a certificate.
//!
//! The complete states of the graph's cut points are written, so that the checker does not have to
//! search. Objects have the same abstract value at many cut points, so each value is written once.
//! Soundness does not depend on this module: a certificate that claims too little or too much is
//! rejected.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use cegar_checker::certificate::{
    BaseClaim, BytesClaim, Certificate, CutClaim, KindClaim, KnownClaim, ObjectClaim, ValueClaim,
};
use cegar_model::symbolic::cuts::{Base, Bytes, CutState, Known, Value};
use cegar_model::symbolic::memory::{self, Contents};
use cegar_model::symbolic::world::{Cut, ObjId, ObjectKind, World};
use cegar_model::term::{Array, ArrayNode, Pool, Term};
use rustc_hash::FxHashMap;

use crate::abstraction::asking::Facts;
use crate::abstraction::graph::Graph;

/// Writes the states of a graph's cut points and the facts into a certificate.
pub fn state(certificate: &mut Certificate, graph: &Graph<'_>, facts: &Facts) {
    certificate.grain = graph.world.grain();
    certificate.alone = graph.world.alone().map(|id| id.0).collect();
    certificate.objects = graph
        .world
        .objects()
        .map(|id| object(&graph.world, id))
        .collect();
    let mut writer = Writer {
        graph,
        known: Vec::new(),
        places: FxHashMap::default(),
    };
    for (&cut, state) in &graph.states {
        // A formula without a text is left out; the checker then reports what does not follow.
        let facts = facts.get(&cut).into_iter().flatten();
        let texts = facts.filter_map(|&t| graph.pool.write(t).ok()).collect();
        let claim = writer.cut(cut, state, texts);
        certificate.cuts.push(claim);
    }
    certificate.known = writer.known;
}

/// Removes facts that cannot be written.
pub fn writable(pool: &Pool, facts: &mut Vec<Term>) {
    facts.retain(|&t| pool.write(t).is_ok());
}

fn object(world: &World<'_>, id: ObjId) -> ObjectClaim {
    let info = world.object(id);
    let (kind, number) = match info.kind {
        ObjectKind::Global(global) => (KindClaim::Global(global.0), None),
        ObjectKind::Made {
            ctx,
            block,
            op,
            part,
        } => {
            let context = world.context(ctx).key.clone();
            let block = block.0;
            let made = KindClaim::Made {
                context,
                block,
                op,
                part,
            };
            (made, info.number)
        }
    };
    ObjectClaim {
        kind,
        number,
        heap: info.heap,
        guessed: info.guessed,
        indexed: info.indexed.iter().map(|s| (s.low, s.high)).collect(),
    }
}

struct Writer<'a, 'p> {
    graph: &'a Graph<'p>,
    known: Vec<KnownClaim>,
    places: FxHashMap<KnownClaim, u32>,
}

impl Writer<'_, '_> {
    fn cut(&mut self, cut: Cut, state: &CutState, facts: Vec<String>) -> CutClaim {
        let chain = self.graph.world.chain(cut.ctx);
        let registers = state.registers.iter().filter_map(|(&(ctx, reg), known)| {
            let frame = chain.iter().position(|&c| c == ctx)?;
            Some((frame as u32, reg.0, value(known)))
        });
        CutClaim {
            context: self.graph.world.context(cut.ctx).key.clone(),
            block: cut.block.0,
            registers: registers.collect(),
            objects: state
                .objects
                .iter()
                .map(|(&id, known)| (id.0, self.known(id, known)))
                .collect(),
            facts,
        }
    }

    /// The index of an object's abstract value, which is written if it is new.
    fn known(&mut self, id: ObjId, known: &Known) -> u32 {
        let cells = |cells: &BTreeMap<_, Value>| {
            let all = cells
                .iter()
                .map(|(cell, known): (&cegar_model::symbolic::cuts::Cell, _)| {
                    (cell.offset, cell.width, value(known))
                });
            all.collect()
        };
        let claim = KnownClaim {
            alive: value(&known.alive),
            size: value(&known.size),
            bytes: match &known.bytes {
                Bytes::Fixed(contents) => self.fixed(id, contents),
                Bytes::Cells(all) => BytesClaim::Cells(cells(all)),
                Bytes::Mixed(all) => BytesClaim::Mixed(cells(all)),
            },
        };
        if let Some(&place) = self.places.get(&claim) {
            return place;
        }
        let place = self.known.len() as u32;
        self.known.push(claim.clone());
        self.places.insert(claim, place);
        place
    }

    /// Bytes that contain no variable: a table, and the bytes stored over it.
    fn fixed(&self, id: ObjId, contents: &Contents) -> BytesClaim {
        let pool = &self.graph.pool;
        let mut patch: BTreeMap<u32, u8> = BTreeMap::new();
        let below = flatten(pool, contents.base, &mut patch).unwrap_or_default();
        for (&offset, &byte) in contents.overlay.iter() {
            if let Some(byte) = pool.as_const(byte) {
                patch.insert(offset, byte as u8);
            }
        }
        let global = match self.graph.world.object(id).kind {
            ObjectKind::Global(global) => {
                // A separate pool, since the graph's pool must not change.
                let mut scratch = Pool::new();
                let initial = memory::initial(&mut scratch, &self.graph.world, id);
                let initial = initial.and_then(|object| bytes_of(&scratch, object.contents.base));
                (initial.as_deref() == Some(&below[..])).then_some(global.0)
            }
            ObjectKind::Made { .. } => None,
        };
        if global.is_none() {
            for (at, &byte) in (0u32..).zip(&below) {
                if byte != 0 {
                    patch.entry(at).or_insert(byte);
                }
            }
        }
        BytesClaim::Fixed {
            below: global,
            runs: runs(&patch),
        }
    }
}

/// Joins adjacent bytes to runs.
fn runs(patch: &BTreeMap<u32, u8>) -> Vec<(u32, String)> {
    let mut runs: Vec<(u32, String)> = Vec::new();
    for (&at, byte) in patch {
        match runs.last_mut() {
            Some((start, digits)) if *start + (digits.len() / 2) as u32 == at => {
                // Writing to a string cannot fail.
                let _ = write!(digits, "{byte:02x}");
            }
            _ => runs.push((at, format!("{byte:02x}"))),
        }
    }
    runs
}

fn bytes_of(pool: &Pool, array: Array) -> Option<Vec<u8>> {
    match pool.array_node(array) {
        ArrayNode::Constant(bytes) => Some(pool.array_bytes(bytes).to_vec()),
        _ => None,
    }
}

/// The table below stores of constants, which are added to `patch`; `None` if there are other
/// operations.
fn flatten(pool: &Pool, array: Array, patch: &mut BTreeMap<u32, u8>) -> Option<Vec<u8>> {
    let mut array = array;
    while let ArrayNode::Store(below, index, byte) = pool.array_node(array) {
        let (index, byte) = (pool.as_const(index)?, pool.as_const(byte)?);
        let index = u32::try_from(index).ok()?;
        patch.entry(index).or_insert(byte as u8);
        array = below;
    }
    bytes_of(pool, array)
}

fn value(known: &Value) -> ValueClaim {
    match known {
        Value::Any => ValueClaim::Any,
        Value::Const(value) => ValueClaim::Is(format!("{value:x}")),
        &Value::Within(low, high) => ValueClaim::Within(low, high),
        Value::Pointer(bases, offset) => {
            let bases = bases.iter().map(|base| match *base {
                Base::Number(number) => BaseClaim::Number(number),
                Base::Of(id) => BaseClaim::Object(id.0),
            });
            ValueClaim::Points(bases.collect(), *offset)
        }
    }
}
