//! Facts in the notation of C, for people.
//!
//! A certificate contains names such as `|r/22.20/24.0:6|`, which a reader knows as `from`. Names
//! are those of the debug information ([`cegar_model::program::Function::names`]), operators are
//! C's. The text is less exact than the certificate in two respects: extensions to wider types are
//! left out, and unsignedness is shown only where it decides a comparison.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::abstraction::graph::Graph;
use cegar_model::program::ir::{BinOp, FloatOp, Op, Operand, Pred, Reg, Shape};
use cegar_model::program::plain;
use cegar_model::symbolic::cuts::{Base, CutState, Part, Place, Value};
use cegar_model::symbolic::world::{CtxId, Cut, ObjId, ObjectKind, World};
use cegar_model::term::{Array, ArrayNode, Node, Pool, Term, value};

/// The maximum length of a fact's text, in bytes; the rest is cut off.
const LONGEST: usize = 240;

/// The names of a cut point's variables.
#[derive(Debug, Default)]
pub struct Words {
    variables: FxHashMap<u32, String>,
    arrays: FxHashMap<u32, String>,
}

impl Words {
    /// The names of the variables of a cut point.
    pub fn new(graph: &mut Graph<'_>, cut: Cut) -> Words {
        let mut words = Words::default();
        let Some(state) = graph.states.get(&cut).cloned() else {
            return words;
        };
        let variables = state.variables(&mut graph.pool, &graph.world);
        let arrays = state.arrays(&mut graph.pool, &graph.world);
        let names = Names::new(&graph.world, &state, cut.ctx);
        for (place, term) in variables {
            if let Node::Variable(number) = *graph.pool.node(term) {
                let name = names.place(&graph.world, &state, &place);
                words.variables.insert(number, name);
            }
        }
        for (object, array) in arrays {
            if let ArrayNode::Variable(number) = graph.pool.array_node(array) {
                let name = names.object(&graph.world, object);
                words.arrays.insert(number, name);
            }
        }
        words
    }

    /// The text of a fact.
    pub fn say(&self, pool: &Pool, fact: Term) -> String {
        let mut text = String::new();
        self.put(pool, fact, 0, &mut text);
        if text.len() > LONGEST {
            let end = (0..=LONGEST).rev().find(|&i| text.is_char_boundary(i));
            text.truncate(end.unwrap_or(0));
            text.push_str(" ...");
        }
        text
    }

    /// Appends the text of a term. `binds` is how tightly the context binds: 0 nothing, 1 `||`, 2
    /// `&&`, 3 comparisons, 4 arithmetic, 5 operands.
    fn put(&self, pool: &Pool, t: Term, binds: u32, out: &mut String) {
        if out.len() > LONGEST {
            return;
        }
        let width = pool.width(t);
        match *pool.node(t) {
            Node::Const(_) | Node::Wide(_) => {
                out.push_str(&constant(width, pool.as_const(t).unwrap_or(0)));
            }
            Node::Variable(number) => match self.variables.get(&number) {
                Some(name) => out.push_str(name),
                None => out.push_str("<value>"),
            },
            Node::Not(inner) if width == 1 => match *pool.node(inner) {
                Node::Cmp(pred, a, b) => self.compare(pool, (pred, true), a, b, binds, out),
                _ => {
                    out.push('!');
                    self.put(pool, inner, 5, out);
                }
            },
            Node::Cmp(pred, a, b) => self.compare(pool, (pred, false), a, b, binds, out),
            Node::Bin(op, a, b) => {
                let (symbol, own) = symbol(op, width);
                self.open(binds > own || (binds == own && own >= 3), out, |out| {
                    self.put(pool, a, own, out);
                    match pool.as_const(b).filter(|_| op == BinOp::Add && width > 1) {
                        Some(c) if value::signed(width, c) < 0 => {
                            let less = c.wrapping_neg() & value::mask(width);
                            let _ = write!(out, " - {}", constant(width, less));
                        }
                        _ => {
                            out.push_str(symbol);
                            self.put(pool, b, own, out);
                        }
                    }
                });
            }
            Node::ZExt(inner) | Node::SExt(inner) => self.put(pool, inner, binds, out),
            Node::Extract(inner, 0) if width <= 8 && width < pool.width(inner) => {
                self.open(binds > 3, out, |out| {
                    self.put(pool, inner, 5, out);
                    let _ = write!(out, " % {}", 1u32 << width);
                });
            }
            Node::Extract(inner, low) => {
                let _ = write!(out, "bits({low}..{}, ", low + width);
                self.put(pool, inner, 0, out);
                out.push(')');
            }
            Node::Ite(cond, then, otherwise) => self.open(binds > 0, out, |out| {
                self.put(pool, cond, 1, out);
                out.push_str(" ? ");
                self.put(pool, then, 1, out);
                out.push_str(" : ");
                self.put(pool, otherwise, 1, out);
            }),
            Node::Select(array, index) => {
                self.array(pool, array, out);
                out.push('[');
                self.put(pool, index, 0, out);
                out.push(']');
            }
            Node::Not(inner) => {
                out.push('~');
                self.put(pool, inner, 5, out);
            }
            Node::FloatBin(op, _, a, b) => self.open(binds > 3, out, |out| {
                self.put(pool, a, 4, out);
                let _ = write!(out, " {} ", float_symbol(op));
                self.put(pool, b, 4, out);
            }),
            Node::FloatCast(_, inner) => self.put(pool, inner, binds, out),
            // The remaining operations have no operator in C.
            Node::Un(op, a) => self.call(pool, &format!("{op:?}"), &[a], out),
            Node::Concat(a, b) => self.call(pool, "join", &[a, b], out),
            Node::Funnel(_, a, b, by) => self.call(pool, "funnel", &[a, b, by], out),
            Node::Overflow(op, _, a, b) => {
                let name = format!("overflow of{}", symbol(op, width).0.trim_end());
                self.call(pool, &name, &[a, b], out);
            }
            Node::FloatCmp(pred, _, a, b) => self.call(pool, &format!("{pred:?}"), &[a, b], out),
            Node::FloatFn(function, _, arguments) => {
                let arguments: Vec<Term> = arguments.into_iter().flatten().collect();
                self.call(pool, &format!("{function:?}"), &arguments, out);
            }
            Node::Input(at) => {
                let _ = write!(out, "input[{at}]");
            }
        }
    }

    /// Appends `name(a, b)`.
    fn call(&self, pool: &Pool, name: &str, arguments: &[Term], out: &mut String) {
        out.push_str(&name.to_lowercase());
        out.push('(');
        for (i, &argument) in arguments.iter().enumerate() {
            if i > 0 {
                out.push_str(", ");
            }
            self.put(pool, argument, 0, out);
        }
        out.push(')');
    }

    fn compare(
        &self,
        pool: &Pool,
        (pred, negated): (Pred, bool),
        a: Term,
        b: Term,
        binds: u32,
        out: &mut String,
    ) {
        // `!(a < b)` is written as `b <= a`, and constants are on the right.
        let (mut a, mut b, mut strict) = (a, b, matches!(pred, Pred::Ult | Pred::Slt));
        let equal = pred == Pred::Eq;
        if negated && !equal {
            (a, b, strict) = (b, a, !strict);
        }
        let mut turned = false;
        if pool.as_const(a).is_some() && pool.as_const(b).is_none() {
            (a, b) = (b, a);
            turned = true;
        }
        let relation = match (equal, negated, turned, strict) {
            (true, false, ..) => " == ",
            (true, true, ..) => " != ",
            (false, _, false, true) => " < ",
            (false, _, false, false) => " <= ",
            (false, _, true, true) => " > ",
            (false, _, true, false) => " >= ",
        };
        self.open(binds > 2, out, |out| {
            self.put(pool, a, 3, out);
            out.push_str(relation);
            match pool.as_const(b) {
                Some(c) if matches!(pred, Pred::Ult | Pred::Ule) => {
                    let _ = write!(out, "{c}u");
                }
                _ if matches!(pred, Pred::Ult | Pred::Ule) => {
                    out.push_str("(unsigned)");
                    self.put(pool, b, 5, out);
                }
                _ => self.put(pool, b, 3, out),
            }
        });
    }

    fn open(&self, parenthesised: bool, out: &mut String, inner: impl FnOnce(&mut String)) {
        if parenthesised {
            out.push('(');
        }
        inner(out);
        if parenthesised {
            out.push(')');
        }
    }

    fn array(&self, pool: &Pool, array: Array, out: &mut String) {
        match pool.array_node(array) {
            ArrayNode::Variable(number) => match self.arrays.get(&number) {
                Some(name) => out.push_str(name),
                None => out.push_str("<object>"),
            },
            _ => out.push_str("<table>"),
        }
    }
}

fn constant(width: u16, c: u128) -> String {
    match value::signed(width, c) {
        n if width > 1 && (-1_000_000_000_000..=1_000_000_000_000).contains(&n) => n.to_string(),
        _ if width == 1 => c.to_string(),
        _ => format!("{c:#x}"),
    }
}

fn symbol(op: BinOp, width: u16) -> (&'static str, u32) {
    match op {
        BinOp::Or if width == 1 => (" || ", 1),
        BinOp::And if width == 1 => (" && ", 2),
        BinOp::Xor if width == 1 => (" != ", 3),
        BinOp::Add => (" + ", 3),
        BinOp::Sub => (" - ", 3),
        BinOp::Mul => (" * ", 4),
        BinOp::UDiv | BinOp::SDiv => (" / ", 4),
        BinOp::URem | BinOp::SRem => (" % ", 4),
        BinOp::Shl => (" << ", 3),
        BinOp::LShr | BinOp::AShr => (" >> ", 3),
        BinOp::And => (" & ", 3),
        BinOp::Or => (" | ", 3),
        BinOp::Xor => (" ^ ", 3),
        _ => (" ? ", 3),
    }
}

fn float_symbol(op: FloatOp) -> &'static str {
    match op {
        FloatOp::Add => "+",
        FloatOp::Sub => "-",
        FloatOp::Mul => "*",
        FloatOp::Div => "/",
        FloatOp::Rem => "%",
    }
}

/// The names of the parts of a cut point's state.
struct Names {
    registers: BTreeMap<(CtxId, Reg), String>,
    /// Names that several objects have.
    shared: FxHashSet<String>,
}

impl Names {
    fn new(world: &World<'_>, state: &CutState, here: CtxId) -> Names {
        let mut objects: FxHashMap<String, FxHashSet<ObjId>> = FxHashMap::default();
        for &id in state.objects.keys() {
            let name = object_name(world, id);
            objects.entry(name).or_default().insert(id);
        }
        let shared = objects.into_iter().filter(|(_, ids)| ids.len() > 1);
        Names {
            registers: registers(world, state, here),
            shared: shared.map(|(name, _)| name).collect(),
        }
    }

    fn object(&self, world: &World<'_>, id: ObjId) -> String {
        let name = object_name(world, id);
        match line_of(world, id) {
            Some(line) if self.shared.contains(&name) && !name.starts_with('<') => {
                format!("{name}@{line}")
            }
            _ => name,
        }
    }

    fn place(&self, world: &World<'_>, state: &CutState, place: &Place) -> String {
        let (name, part, known) = match place {
            Place::Register(ctx, reg, part) => {
                let name = self.registers.get(&(*ctx, *reg)).cloned();
                let known = state.registers.get(&(*ctx, *reg));
                (name.unwrap_or_default(), part, known)
            }
            Place::Cell(id, cell, part) => {
                let (from, bits) = (u64::from(cell.offset), u64::from(cell.width));
                let object = self.object(world, *id);
                let name = match selector(world, *id, from * 8, bits) {
                    Some(selector) => format!("{object}{selector}"),
                    None => format!("<bytes {from}..{} of {object}>", from + bits / 8),
                };
                (name, part, None)
            }
            Place::Alive(id) => return format!("alive({})", self.object(world, *id)),
            Place::Size(id) => return format!("size({})", self.object(world, *id)),
            Place::Number(id) => return format!("object({})", self.object(world, *id)),
            Place::Witness(id) => return format!("end({})", self.object(world, *id)),
        };
        match part {
            Part::Whole => name,
            Part::Base => format!("object({name})"),
            Part::Offset => match known {
                Some(Value::Pointer(bases, _)) if bases.len() == 1 => match bases.first() {
                    Some(Base::Of(id)) => format!("({name} - {})", self.object(world, *id)),
                    _ => format!("offset({name})"),
                },
                _ => format!("offset({name})"),
            },
        }
    }
}

/// The names of a cut point's registers: that of the variable, with the function's name if it is a
/// caller's. If two registers would have the same name, the line in which the value was set is
/// added: `i@20`.
fn registers(world: &World<'_>, state: &CutState, here: CtxId) -> BTreeMap<(CtxId, Reg), String> {
    let mut names = BTreeMap::new();
    let mut count: FxHashMap<String, u32> = FxHashMap::default();
    for &(ctx, reg) in state.registers.keys() {
        let function = world.program().function(world.context(ctx).function);
        let line = function.lines.get(reg.index()).copied().unwrap_or(0);
        let mut name = match function.names.get(reg.index()).map_or("", |name| name) {
            "" if reg.index() >= function.registers.len() => "<result>".to_owned(),
            "" if line > 0 => format!("<value of line {line}>"),
            "" => "<value>".to_owned(),
            own => own.to_owned(),
        };
        if ctx != here {
            name = format!("{name} of {}", plain(&function.name));
        }
        *count.entry(name.clone()).or_default() += 1;
        names.insert((ctx, reg), (name, line));
    }
    let mut told: FxHashMap<String, u32> = FxHashMap::default();
    let each = names.into_iter().map(|(key, (mut name, line))| {
        if count.get(&name).is_some_and(|&n| n > 1) {
            if line > 0 && !name.starts_with('<') {
                let _ = write!(name, "@{line}");
            }
            let before = told.entry(name.clone()).or_default();
            *before += 1;
            if *before > 1 {
                let _ = write!(name, ":{before}");
            }
        }
        (key, name)
    });
    each.collect()
}

/// C's selector for these bits of an object.
fn selector(world: &World<'_>, id: ObjId, at: u64, bits: u64) -> Option<String> {
    let program = world.program();
    let (shape, whole) = match world.object(id).kind {
        ObjectKind::Global(global) => {
            let global = &program.globals[global.index()];
            (global.shape, global.init.len() as u64 * 8)
        }
        ObjectKind::Made { block, op, .. } => {
            match program.block(block).ops.get(op as usize).map(|i| &i.op) {
                Some(Op::Alloca {
                    shape,
                    size: Operand::Const(size),
                    ..
                }) => (*shape, size.saturating_mul(8)),
                _ => return None,
            }
        }
    };
    Shape::selector(&program.shapes, shape, whole, at, bits)
}

/// The line that creates an object.
fn line_of(world: &World<'_>, id: ObjId) -> Option<u32> {
    let program = world.program();
    let line = match world.object(id).kind {
        ObjectKind::Global(global) => program.globals[global.index()].pos.line,
        ObjectKind::Made { block, op, .. } => program.block(block).ops.get(op as usize)?.pos.line,
    };
    (line > 0).then_some(line)
}

fn object_name(world: &World<'_>, id: ObjId) -> String {
    let program = world.program();
    match world.object(id).kind {
        ObjectKind::Global(global) => {
            let global = &program.globals[global.index()];
            match global.source_name.as_str() {
                "" => format!("<{}>", global.described()),
                name => name.to_owned(),
            }
        }
        ObjectKind::Made { block, op, .. } => {
            let inst = program.block(block).ops.get(op as usize);
            match inst.map(|inst| (&inst.op, inst.pos)) {
                Some((Op::Alloca { name, .. }, _)) if !name.is_empty() => name.clone(),
                Some((_, pos)) if pos.line > 0 => format!("<made in line {}>", pos.line),
                _ => "<object>".to_owned(),
            }
        }
    }
}
