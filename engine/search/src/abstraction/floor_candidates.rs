//! Candidates from the floor: its claims, restated over the variables of a graph's cut points.
//!
//! The floor contains bounds of values at every loop head before anything is executed, and
//! relations that its checks needed. The solver answers queries about one fragment at a time, for
//! which the same bounds are missing. A fragment knows other objects and other contexts than the
//! floor. Therefore the bounds are only candidates: each is proved inductive again, and nothing
//! here is trusted.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};

use cegar_checker::floor::{FloorClaim, StateClaim};
use cegar_model::deadline;
use cegar_model::domain::contents::{Contents, Filling};
use cegar_model::domain::linear::{Line, Var};
use cegar_model::domain::num::Num;
use cegar_model::domain::value::Value;
use cegar_model::program::ir::{BinOp, Pred, Program, Reg};
use cegar_model::symbolic::cuts::{Cell, Part, Place};
use cegar_model::symbolic::world::{CtxId, Cut, ObjId, ObjectKind, World};
use cegar_model::term::value::{mask, signed_max, signed_min};
use cegar_model::term::{Pool, Term};

use super::asking::Facts;
use super::graph::Graph;

/// The candidates that a floor gives for these cut points.
pub fn generate(graph: &mut Graph<'_>, claim: &FloorClaim, at: &BTreeSet<Cut>) -> Facts {
    let stated = Stated::new(graph.world.program(), claim);
    let mut all = Facts::new();
    for &cut in at {
        if deadline::passed() {
            break;
        }
        let found = stated
            .at(&graph.world, cut)
            .zip(graph.states.get(&cut))
            .map(|((heads, first), state)| {
                let variables = state.variables(&mut graph.pool, &graph.world);
                let mut translator = FloorTranslator {
                    world: &graph.world,
                    pool: &mut graph.pool,
                    cut,
                    first,
                    variables: variables.into_iter().collect(),
                    facts: Vec::new(),
                };
                for head in heads {
                    translator.translate(&stated, head);
                }
                translator.facts
            });
        if let Some(facts) = found.filter(|facts| !facts.is_empty()) {
            all.insert(cut, facts);
        }
    }
    all
}

/// An operation in a context of the floor, or the call that enters a context: context, block and
/// operation.
type Made = (u32, u32, u32);

/// A floor, indexed by its places.
struct Stated<'c> {
    claim: &'c FloorClaim,
    shared: FxHashSet<u32>,
    contexts: FxHashMap<(Option<Made>, u32), u32>,
    heads: FxHashMap<(u32, u32), Vec<&'c StateClaim>>,
    /// The numbers of the objects that operations create.
    made: FxHashMap<(Made, u32), u32>,
}

impl<'c> Stated<'c> {
    fn new(program: &Program, claim: &'c FloorClaim) -> Stated<'c> {
        let first = (program.globals.len() + program.functions.len()) as u32;
        let contexts = (0u32..).zip(&claim.contexts);
        let made = (first..).zip(&claim.made);
        let mut heads: FxHashMap<_, Vec<&StateClaim>> = FxHashMap::default();
        for head in &claim.heads {
            let all = heads.entry((head.context, head.block)).or_default();
            all.push(&head.state);
        }
        Stated {
            claim,
            shared: claim.shared.iter().copied().collect(),
            contexts: contexts.map(|(i, c)| ((c.back, c.function), i)).collect(),
            heads,
            made: made
                .map(|(i, made)| (((made.ctx.0, made.block, made.op), made.part), i))
                .collect(),
        }
    }

    /// The context of the floor in which a context of the graph was walked.
    fn context(&self, world: &World<'_>, ctx: CtxId) -> Option<u32> {
        let mut at: Option<u32> = None;
        for ctx in world.chain(ctx) {
            let context = world.context(ctx);
            let function = context.function.0;
            let back = match (context.back, at) {
                (Some(back), Some(caller)) if !self.shared.contains(&function) => {
                    Some((caller, back.block.0, (back.op as u32).checked_sub(1)?))
                }
                _ => None,
            };
            at = Some(*self.contexts.get(&(back, function))?);
        }
        at
    }

    /// The floor's states at a cut point, and the register that corresponds to the states' first
    /// register: at a function's end the state is about the results.
    fn at(&self, world: &World<'_>, cut: Cut) -> Option<(Vec<&'c StateClaim>, u32)> {
        let (begun, ended) = (world.begun(cut), world.ended(cut));
        let Some(function) = begun.or(ended) else {
            return Some((self.head(world, cut)?, 0));
        };
        let mut all = self.claim.functions.iter();
        let stated = all.find(|claim| claim.function == function.0)?;
        match ended {
            None => Some((vec![&stated.entry], 0)),
            Some(_) => {
                let registers = world.program().function(function).registers.len();
                Some((vec![stated.exit.as_ref()?], registers as u32))
            }
        }
    }

    fn head(&self, world: &World<'_>, cut: Cut) -> Option<Vec<&'c StateClaim>> {
        let context = self.context(world, cut.ctx)?;
        self.heads.get(&(context, cut.block.0)).cloned()
    }

    /// The number of an object of the graph in the floor.
    fn object(&self, world: &World<'_>, object: ObjId) -> Option<u32> {
        match world.object(object).kind {
            ObjectKind::Global(global) => Some(global.0),
            ObjectKind::Made {
                ctx,
                block,
                op,
                part,
            } => {
                let ctx = self.context(world, ctx)?;
                self.made.get(&((ctx, block.0, op), part)).copied()
            }
        }
    }
}

/// Restates the floor's states at one cut point.
struct FloorTranslator<'a, 'p> {
    world: &'a World<'p>,
    pool: &'a mut Pool,
    cut: Cut,
    /// The register that corresponds to the states' first register.
    first: u32,
    /// The variables of the cut point.
    variables: BTreeMap<Place, Term>,
    facts: Vec<Term>,
}

impl FloorTranslator<'_, '_> {
    fn translate(&mut self, stated: &Stated<'_>, head: &StateClaim) {
        let ctx = self.cut.ctx;
        for (reg, value) in &head.registers {
            let reg = Reg(self.first + reg);
            self.value(|part| Place::Register(ctx, reg, part), value);
        }
        let known: BTreeMap<u32, (&Num, &Contents)> = head
            .objects
            .iter()
            .filter_map(|(id, _, size, at)| {
                let contents = stated.claim.contents.get(*at as usize)?;
                Some((id.0, (size, contents)))
            })
            .collect();
        let places: Vec<Place> = self.variables.keys().cloned().collect();
        let mut cells: BTreeMap<(u32, Cell), ObjId> = BTreeMap::new();
        for place in places {
            let (object, cell) = match place {
                Place::Cell(object, cell, _) => (object, Some(cell)),
                Place::Size(object) => (object, None),
                Place::Register(..) | Place::Alive(_) | Place::Number(_) | Place::Witness(_) => {
                    continue;
                }
            };
            let Some(number) = stated.object(self.world, object) else {
                continue;
            };
            let Some(&(size, contents)) = known.get(&number) else {
                continue;
            };
            match cell {
                None => self.number(&Place::Size(object), size),
                Some(cell) => {
                    if cells.insert((number, cell), object).is_none()
                        && let Some(value) = element(contents, cell)
                    {
                        self.value(|part| Place::Cell(object, cell, part), value);
                    }
                }
            }
        }
        for line in &head.lines {
            if let Some(fact) = self.line(line, &cells) {
                self.facts.push(fact);
            }
        }
    }

    /// Adds the bounds of a number, or of the offset of an address.
    fn value(&mut self, place: impl Fn(Part) -> Place, value: &Value) {
        if let Some(num) = value.plain() {
            self.number(&place(Part::Whole), num);
        } else if let Some((_, offset)) = value.single_target() {
            self.number(&place(Part::Offset), offset);
        }
    }

    fn number(&mut self, place: &Place, num: &Num) {
        let Some(&term) = self.variables.get(place) else {
            return;
        };
        let pool = &mut *self.pool;
        let width = pool.width(term);
        if !(1..=64).contains(&width) {
            return;
        }
        let all = mask(width);
        let (low, high) = (u128::from(num.low), u128::from(num.high));
        let mut bound = |pred, number: i128| {
            let number = pool.constant(width, number as u128 & all);
            let fact = pool.cmp(pred, term, number);
            self.facts.push(fact);
        };
        if low == high {
            bound(Pred::Eq, low as i128);
            return;
        }
        if high < all {
            bound(Pred::Ult, high as i128 + 1);
        }
        if low > 0 {
            bound(Pred::Uge, low as i128);
        }
        if i128::from(num.most) < signed_max(width) {
            bound(Pred::Slt, i128::from(num.most) + 1);
        }
        if i128::from(num.least) > signed_min(width) {
            bound(Pred::Sge, num.least.into());
        }
        let bits = num.step.trailing_zeros().min(3) as u16;
        if num.step > 0 && (1..width).contains(&bits) {
            let low = pool.extract(term, 0, bits);
            let rest = pool.constant(bits, num.rest as u128 & mask(bits));
            self.facts.push(pool.eq(low, rest));
        }
    }

    /// The cut point's term for a variable of a line, if there is one.
    fn variable(&self, var: Var, cells: &BTreeMap<(u32, Cell), ObjId>) -> Option<Term> {
        let place: Box<dyn Fn(Part) -> Place> = match var {
            Var::Reg(reg) => {
                let (ctx, reg) = (self.cut.ctx, Reg(self.first + reg));
                Box::new(move |part| Place::Register(ctx, reg, part))
            }
            Var::Cell(id, offset, len) if len <= 8 => {
                let width = (len * 8) as u16;
                let cell = Cell { offset, width };
                let object = *cells.get(&(id.0, cell))?;
                Box::new(move |part| Place::Cell(object, cell, part))
            }
            Var::Cell(..) | Var::Outer(..) | Var::Size(_) | Var::Nul(..) | Var::Row(..) => {
                return None;
            }
        };
        let whole = self.variables.get(&place(Part::Whole));
        let found = whole.or_else(|| self.variables.get(&place(Part::Offset)));
        found.copied().filter(|&term| self.pool.width(term) <= 64)
    }

    /// A line as a relation between two sums: the added terms and the subtracted terms.
    fn line(&mut self, line: &Line, cells: &BTreeMap<(u32, Cell), ObjId>) -> Option<Term> {
        let mut terms = Vec::new();
        for (var, factor) in line.terms() {
            terms.push((self.variable(var, cells)?, factor));
        }
        let pool = &mut *self.pool;
        let constant = line.constant();
        let (equal, strict) = (line.is_exact(), constant == 1);
        if let [(x, f), (y, g)] = terms[..]
            && f * g == -1
            && pool.width(x) == pool.width(y)
            && (constant == 0 || strict && !equal)
        {
            let (less, more) = if f == 1 { (x, y) } else { (y, x) };
            return Some(match (equal, strict) {
                (true, _) => pool.eq(less, more),
                (false, true) => pool.cmp(Pred::Slt, less, more),
                (false, false) => pool.cmp(Pred::Sle, less, more),
            });
        }
        let mut sides = [constant.max(0), (-constant).max(0)].map(|c| pool.constant(64, c as u128));
        for (term, factor) in terms {
            let wide = pool.sext(term, 64);
            let times = pool.constant(64, factor.unsigned_abs());
            let product = pool.bin(BinOp::Mul, wide, times);
            let side = usize::from(factor < 0);
            sides[side] = pool.bin(BinOp::Add, sides[side], product);
        }
        Some(match equal {
            true => pool.eq(sides[0], sides[1]),
            false => pool.cmp(Pred::Sle, sides[0], sides[1]),
        })
    }
}

/// The value of a cell, if it is an element of a run.
fn element(contents: &Contents, cell: Cell) -> Option<&Value> {
    let len = u32::from(cell.width) / 8;
    let mut runs = contents.runs();
    let (start, run) = runs.find(|(start, run)| *start <= cell.offset && cell.offset < run.end)?;
    match &run.filling {
        Filling::Each(each, value) => {
            let fits = *each == len && (cell.offset - start).is_multiple_of(*each);
            fits.then_some(value)
        }
        Filling::Image(..) => None,
    }
}
