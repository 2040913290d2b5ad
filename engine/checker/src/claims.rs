//! Translates the statements of a certificate to terms.
//!
//! Nothing is trusted: it is an error if the certificate names something that the program does not
//! have, states something twice, or states something without a meaning. The result is a set of
//! states for each cut point, about which the checker can ask questions.

use std::collections::{BTreeMap, BTreeSet};

use cegar_model::program::ir::{BlockId, FuncId, GlobalId, Program, Reg, Width};
use cegar_model::symbolic::cuts::{Base, Bytes, Cell, CutState, Known, Value};
use cegar_model::symbolic::every;
use cegar_model::symbolic::memory::{self, Contents};
use cegar_model::symbolic::spans::Span;
use cegar_model::symbolic::summary;
use cegar_model::symbolic::world::{Cut, Declaration, Grain, ObjId, ObjectKind, Side, World};
use cegar_model::term::{Pool, Symbol, Term};
use rustc_hash::FxHashSet;

use crate::certificate::{
    BaseClaim, BytesClaim, Certificate, CutClaim, KindClaim, KnownClaim, ObjectClaim, ValueClaim,
};

/// A description for people of what is wrong with a statement.
pub type Malformed = String;

/// The claims about a cut point.
#[derive(Debug)]
pub struct Claimed {
    /// The set of states.
    pub state: CutState,
    /// The facts that hold in all of these states.
    pub facts: Vec<Term>,
}

/// The statements of a certificate, as terms.
#[derive(Debug)]
pub struct Claims<'p> {
    /// The objects and contexts.
    pub world: World<'p>,
    /// The pool of the terms.
    pub pool: Pool,
    /// The cut points with their claims.
    pub cuts: BTreeMap<Cut, Claimed>,
}

impl<'p> Claims<'p> {
    /// Reads the claims of a certificate.
    pub fn read(program: &'p Program, certificate: &Certificate) -> Result<Claims<'p>, Malformed> {
        let mut world = World::new(program, certificate.grain);
        world.encode_alone(&alone(program, certificate)?);
        let mut objects = Vec::new();
        for claim in &certificate.objects {
            objects.push(object(&mut world, claim)?);
        }
        let mut reader = Reader {
            certificate,
            world,
            pool: Pool::new(),
            objects,
        };
        let mut cuts = BTreeMap::new();
        for claim in &certificate.cuts {
            let (cut, claimed) = reader.cut(claim)?;
            if cuts.insert(cut, claimed).is_some() {
                return Err(format!(
                    "cut point {}:{} stands twice",
                    claim.context, claim.block
                ));
            }
        }
        reader.world.end_declarations();
        Ok(Claims {
            world: reader.world,
            pool: reader.pool,
            cuts,
        })
    }
}

/// The functions that are encoded alone. Each must be stated once, and all must be sealed.
pub fn alone(program: &Program, certificate: &Certificate) -> Result<BTreeSet<FuncId>, Malformed> {
    let mut all = BTreeSet::new();
    for &id in &certificate.alone {
        if id as usize >= program.functions.len() {
            return Err(format!("the program has no function {id}"));
        }
        if !all.insert(FuncId(id)) {
            return Err(format!("function {id} is stated twice"));
        }
    }
    let is_loops = certificate.grain == Grain::Loops;
    match all.is_empty() || is_loops && summary::are_sealed(program, &all) {
        true => Ok(all),
        false => Err("a function that is not sealed is stated as encoded alone".to_owned()),
    }
}

/// Declares a stated object.
fn object(world: &mut World<'_>, claim: &ObjectClaim) -> Result<ObjId, Malformed> {
    let kind = match &claim.kind {
        KindClaim::Global(id) => ObjectKind::Global(GlobalId(*id)),
        KindClaim::Made {
            context,
            block,
            op,
            part,
        } => ObjectKind::Made {
            ctx: world
                .context_at(context)
                .ok_or_else(|| format!("the program has no call path `{context}`"))?,
            block: BlockId(*block),
            op: *op,
            part: *part,
        },
    };
    let mut indexed = Vec::new();
    for &(low, high) in &claim.indexed {
        if low >= high {
            return Err(format!("an object is indexed from {low} to {high}"));
        }
        indexed.push(Span { low, high });
    }
    let declared = Declaration {
        kind,
        number: claim.number,
        heap: claim.heap,
        guessed: claim.guessed,
        indexed,
    };
    world.declare(declared).ok_or_else(|| {
        format!("object {kind:?} stands twice, does not exist, or cannot have its number")
    })
}

struct Reader<'c, 'p> {
    certificate: &'c Certificate,
    world: World<'p>,
    pool: Pool,
    /// The objects, by their indices in the certificate.
    objects: Vec<ObjId>,
}

impl Reader<'_, '_> {
    fn cut(&mut self, claim: &CutClaim) -> Result<(Cut, Claimed), Malformed> {
        let place = format!("cut point {}:{}", claim.context, claim.block);
        let wrong = |what: String| format!("{place}: {what}");
        let ctx = self.world.context_at(&claim.context);
        let ctx = ctx.ok_or_else(|| wrong("the program has no such call path".to_owned()))?;
        let block = BlockId(claim.block);
        let function = self.world.context(ctx).function;
        let cut = Cut { ctx, block };
        let has_end = |(begin, end)| cut == begin || cut == end;
        let ends_alone = self.world.ends_of(function).is_some_and(has_end);
        let is_end = self.world.context(ctx).side == Some(Side::End);
        let is_inside = !is_end && self.world.flow(function).cuts.contains(&block);
        if !ends_alone && !is_inside {
            return Err(wrong("there is no cut point".to_owned()));
        }
        let mut state = CutState::default();
        self.registers(ctx, claim, &mut state).map_err(wrong)?;
        for &(object, known) in &claim.objects {
            let id = self.objects.get(object as usize).copied();
            let known = self.certificate.known.get(known as usize);
            let (Some(id), Some(known)) = (id, known) else {
                return Err(wrong(format!("nothing is stated of object {object}")));
            };
            let known = self.known(id, known).map_err(wrong)?;
            if state.objects.insert(id, known).is_some() {
                return Err(wrong(format!("object {object} stands twice")));
            }
        }
        self.exist(&state).map_err(wrong)?;
        state.finish(&mut self.pool, &self.world);
        let own = self.own(&state);
        let facts: Result<Vec<Term>, Malformed> = claim
            .facts
            .iter()
            .map(|text| {
                formula(&mut self.pool, &own, text)
                    .map_err(|why| wrong(format!("the formula `{text}` cannot be used: {why}")))
            })
            .collect();
        let facts = facts?;
        let claimed = Claimed { state, facts };
        Ok((cut, claimed))
    }

    fn registers(
        &mut self,
        ctx: cegar_model::symbolic::world::CtxId,
        claim: &CutClaim,
        state: &mut CutState,
    ) -> Result<(), Malformed> {
        let chain = self.world.chain(ctx);
        for (frame, reg, value) in &claim.registers {
            let owner = chain.get(*frame as usize).copied();
            let owner = owner.ok_or_else(|| format!("there is no frame {frame}"))?;
            if *reg as usize >= self.world.slots(owner) {
                return Err(format!("frame {frame} has no register {reg}"));
            }
            let width = self.world.width(owner, Reg(*reg));
            let value = self.value(value, width)?;
            if state.registers.insert((owner, Reg(*reg)), value).is_some() {
                return Err(format!("register {reg} of frame {frame} stands twice"));
            }
        }
        Ok(())
    }

    /// Checks that every object that a pointer may point to belongs to the state. Other objects
    /// have no number there.
    fn exist(&self, state: &CutState) -> Result<(), Malformed> {
        let cells = state
            .objects
            .values()
            .filter_map(|known| known.bytes.by_cell());
        let cells = cells.flat_map(BTreeMap::values);
        for value in state.registers.values().chain(cells) {
            let Value::Pointer(bases, _) = value else {
                continue;
            };
            for base in bases {
                if let Base::Of(id) = base
                    && self.world.object(*id).number.is_none()
                    && !state.objects.contains_key(id)
                {
                    return Err(format!(
                        "a pointer leads to object {}, of which nothing is stated",
                        self.world.object(*id).key
                    ));
                }
            }
        }
        Ok(())
    }

    /// The symbols that a formula of a cut point may contain, including the universally quantified
    /// variable.
    fn own(&mut self, state: &CutState) -> FxHashSet<Symbol> {
        let variables = state.variables(&mut self.pool, &self.world);
        let arrays = state.arrays(&mut self.pool, &self.world);
        let pool = &mut self.pool;
        let index = pool.constant(64, 0);
        let elements: Vec<Term> = arrays
            .into_iter()
            .map(|(_, array)| pool.select(array, index))
            .collect();
        let any = every::every(pool);
        let terms = variables.into_iter().map(|(_, term)| term).chain(elements);
        let terms = terms.chain([any]);
        terms.flat_map(|t| pool.symbols(t)).collect()
    }

    fn value(&self, claim: &ValueClaim, width: Width) -> Result<Value, Malformed> {
        let bad = || format!("{claim:?} is no value of {width} bits");
        let most = match width {
            0..64 => (1u64 << width) - 1,
            _ => u64::MAX,
        };
        Ok(match claim {
            ValueClaim::Any => Value::Any,
            ValueClaim::Is(digits) => {
                let value = u128::from_str_radix(digits, 16).map_err(|_| bad())?;
                if width < 128 && value >> width != 0 {
                    return Err(bad());
                }
                Value::Const(value)
            }
            &ValueClaim::Within(low, high) => {
                if width > 64 || low > high || high > most {
                    return Err(bad());
                }
                Value::Within(low, high)
            }
            ValueClaim::Points(bases, offset) => {
                let mut all = std::collections::BTreeSet::new();
                for base in bases {
                    let base = match *base {
                        BaseClaim::Number(number) => Base::Number(number),
                        BaseClaim::Object(at) => {
                            Base::Of(*self.objects.get(at as usize).ok_or_else(bad)?)
                        }
                    };
                    if !all.insert(base) {
                        return Err(bad());
                    }
                }
                if width != 64 || all.is_empty() {
                    return Err(bad());
                }
                Value::Pointer(all, *offset)
            }
        })
    }

    /// A value that is a constant or unknown.
    fn plain(&self, claim: &ValueClaim, width: Width) -> Result<Value, Malformed> {
        match self.value(claim, width)? {
            value @ (Value::Any | Value::Const(_)) => Ok(value),
            _ => Err(format!("{claim:?} where a number or nothing is expected")),
        }
    }

    fn known(&mut self, id: ObjId, claim: &KnownClaim) -> Result<Known, Malformed> {
        let alive = self.plain(&claim.alive, 1)?;
        let size = self.plain(&claim.size, 64)?;
        let bytes = match &claim.bytes {
            BytesClaim::Fixed { below, runs } => Bytes::Fixed(self.fixed(*below, runs)?),
            BytesClaim::Mixed(cells) => Bytes::Mixed(self.cells(cells)?),
            BytesClaim::Cells(cells) => {
                let cells = self.cells(cells)?;
                // Bytes outside of all cells would be zero without justification.
                let end = cells.keys().last().map_or(0, end);
                let covered: u64 = cells.keys().map(|cell| u64::from(cell.width / 8)).sum();
                if size != Value::Const(u128::from(end)) || covered != end {
                    let key = &self.world.object(id).key;
                    return Err(format!("the cells of object {key} do not cover it"));
                }
                Bytes::Cells(cells)
            }
        };
        Ok(Known { alive, size, bytes })
    }

    /// Reads cells, which must be in order and must not overlap.
    fn cells(&self, claims: &[(u32, u16, ValueClaim)]) -> Result<BTreeMap<Cell, Value>, Malformed> {
        let mut cells = BTreeMap::new();
        let mut free = 0;
        for (offset, width, value) in claims {
            let cell = Cell {
                offset: *offset,
                width: *width,
            };
            if *width == 0 || !width.is_multiple_of(8) || *width > 64 || u64::from(*offset) < free {
                return Err(format!("there is no cell of {width} bits at {offset}"));
            }
            free = end(&cell);
            cells.insert(cell, self.value(value, *width)?);
        }
        Ok(cells)
    }

    fn fixed(&mut self, below: Option<u32>, runs: &[(u32, String)]) -> Result<Contents, Malformed> {
        let base = match below {
            None => self.pool.array_constant(&[]),
            Some(global) => {
                let at = global as usize;
                let info = self.world.program().globals.get(at);
                if info.is_none_or(|info| info.external) {
                    return Err(format!("global {global} has no initial bytes"));
                }
                let id = self.world.global(GlobalId(global));
                let object = memory::initial(&mut self.pool, &self.world, id);
                let object = object.ok_or_else(|| format!("global {global} has no bytes"))?;
                object.contents.base
            }
        };
        let mut contents = Contents::new(base);
        for (offset, digits) in runs {
            for (i, byte) in bytes(digits)?.into_iter().enumerate() {
                let at = u32::try_from(i).ok().and_then(|i| offset.checked_add(i));
                let at = at.ok_or_else(|| "bytes behind the end of memory".to_owned())?;
                let byte = self.pool.constant(8, u128::from(byte));
                contents.write_at(&mut self.pool, at, byte);
            }
        }
        Ok(contents.unwitnessed())
    }
}

/// The first offset after a cell.
fn end(cell: &Cell) -> u64 {
    u64::from(cell.offset) + u64::from(cell.width / 8)
}

/// Converts hexadecimal digits to bytes.
fn bytes(digits: &str) -> Result<Vec<u8>, Malformed> {
    let bad = || format!("`{digits}` are no bytes");
    if !digits.len().is_multiple_of(2) || !digits.is_ascii() {
        return Err(bad());
    }
    let pairs = (0..digits.len()).step_by(2);
    pairs
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).map_err(|_| bad()))
        .collect()
}

/// Reads a formula over the variables of its own cut point.
fn formula(pool: &mut Pool, own: &FxHashSet<Symbol>, text: &str) -> Result<Term, String> {
    let term = pool.read(text).map_err(|why| why.to_string())?;
    if pool.width(term) != 1 {
        return Err("it is not one bit wide".to_owned());
    }
    let foreign = pool.symbols(term).any(|symbol| !own.contains(&symbol));
    match foreign {
        true => Err("it names something that is no variable of this cut point".to_owned()),
        false => Ok(term),
    }
}
