//! Translation of terms to Z3's expressions.
//!
//! A one-bit term becomes a Boolean if its operator is logical and a bit-vector of one bit if its
//! operator is arithmetic. It is converted where it is used as the other. Translations are cached
//! because paths share almost all of their terms. An operation that Z3 cannot express exactly (see
//! [`super::floats`]) becomes a free constant. So the answer "unsatisfiable" is still correct, and
//! a model that exploits the free constant fails its evaluation.

use rustc_hash::FxHashMap;
use z3::Sort;
use z3::ast::{Array as Z3Array, BV, Bool};

use super::Model;
use super::floats;
use crate::program::ir::{BinOp, Pred, UnOp};
use crate::term::{Array, ArrayNode, Item, Node, Pool, Symbol, Term};

#[derive(Clone, Debug)]
enum Value {
    Bits(BV),
    Truth(Bool),
}

/// The number of cached translations above which the cache is cleared.
const KEEP: usize = 1 << 20;

/// Cached translations of the terms of one pool.
#[derive(Debug, Default)]
pub struct Translator {
    pool: u64,
    terms: FxHashMap<Term, Value>,
    arrays: FxHashMap<Array, Z3Array>,
}

/// A bit-vector constant of any width up to 128.
pub fn bits(width: u16, value: u128) -> BV {
    if width <= 64 {
        return BV::from_u64(value as u64, u32::from(width));
    }
    let high = BV::from_u64((value >> 64) as u64, u32::from(width) - 64);
    high.concat(BV::from_u64(value as u64, 64))
}

impl Translator {
    /// The translation of a one-bit term as a Boolean.
    pub fn assertion(&mut self, pool: &Pool, t: Term) -> Bool {
        if self.pool != pool.id() || self.terms.len() > KEEP {
            *self = Translator {
                pool: pool.id(),
                ..Translator::default()
            };
        }
        let done = |item: Item| match item {
            Item::Term(t) => self.terms.contains_key(&t),
            Item::Array(a) => self.arrays.contains_key(&a),
        };
        for item in pool.order(Item::Term(t), done) {
            match item {
                Item::Term(t) => {
                    let value = self.term(pool, t);
                    self.terms.insert(t, value);
                }
                Item::Array(a) => {
                    let value = self.array(pool, a);
                    self.arrays.insert(a, value);
                }
            }
        }
        self.truth(t)
    }

    fn bv(&self, t: Term) -> BV {
        match self.terms.get(&t) {
            Some(Value::Bits(b)) => b.clone(),
            Some(Value::Truth(b)) => b.ite(&bits(1, 1), &bits(1, 0)),
            // Unreachable, because operands are translated before the terms that use them. A free
            // constant would be sound nevertheless.
            None => BV::fresh_const("missing", 1),
        }
    }

    fn truth(&self, t: Term) -> Bool {
        match self.terms.get(&t) {
            Some(Value::Truth(b)) => b.clone(),
            Some(Value::Bits(b)) => b.eq(bits(1, 1)),
            None => Bool::fresh_const("missing"),
        }
    }

    fn array(&self, pool: &Pool, a: Array) -> Z3Array {
        let domain = Sort::bitvector(64);
        match pool.array_node(a) {
            ArrayNode::Variable(v) => {
                Z3Array::new_const(format!("array{v}"), &domain, &Sort::bitvector(8))
            }
            ArrayNode::Constant(contents) => {
                let mut array = Z3Array::const_array(&domain, &bits(8, 0));
                for (i, &byte) in pool.array_bytes(contents).iter().enumerate() {
                    if byte != 0 {
                        array = array.store(&bits(64, i as u128), &bits(8, u128::from(byte)));
                    }
                }
                array
            }
            ArrayNode::Store(below, index, byte) => match self.arrays.get(&below) {
                Some(below) => below.store(&self.bv(index), &self.bv(byte)),
                None => Z3Array::fresh_const("missing", &domain, &Sort::bitvector(8)),
            },
            ArrayNode::Ite(cond, then, otherwise) => {
                match (self.arrays.get(&then), self.arrays.get(&otherwise)) {
                    (Some(then), Some(otherwise)) => self.truth(cond).ite(then, otherwise),
                    _ => Z3Array::fresh_const("missing", &domain, &Sort::bitvector(8)),
                }
            }
        }
    }

    fn term(&self, pool: &Pool, t: Term) -> Value {
        let w = pool.width(t);
        let width = u32::from(w);
        let v = |t: Term| self.bv(t);
        let logical = w == 1;
        let b = |t: Term| self.truth(t);
        let node = *pool.node(t);
        let result = match node {
            Node::Const(_) | Node::Wide(_) => {
                let c = pool.as_const(t).unwrap_or(0);
                if logical {
                    return Value::Truth(Bool::from_bool(c == 1));
                }
                bits(w, c)
            }
            Node::Input(i) => BV::new_const(format!("in{i}"), 8),
            Node::Variable(i) => BV::new_const(format!("var{i}"), width),
            Node::Not(a) if logical => return Value::Truth(b(a).not()),
            Node::Not(a) => v(a).bvnot(),
            Node::Bin(BinOp::And, x, y) if logical => {
                return Value::Truth(Bool::and(&[b(x), b(y)]));
            }
            Node::Bin(BinOp::Or, x, y) if logical => return Value::Truth(Bool::or(&[b(x), b(y)])),
            Node::Bin(BinOp::Xor, x, y) if logical => return Value::Truth(b(x).xor(b(y))),
            Node::Ite(c, x, y) if logical => return Value::Truth(b(c).ite(&b(x), &b(y))),
            Node::Ite(c, x, y) => b(c).ite(&v(x), &v(y)),
            Node::Un(op, a) => unary(op, w, &v(a)),
            Node::Bin(op, x, y) => binary(op, &v(x), &v(y)),
            Node::Cmp(pred, x, y) => return Value::Truth(compare(pred, &v(x), &v(y))),
            Node::Concat(x, y) => v(x).concat(v(y)),
            Node::Extract(a, low) => v(a).extract(u32::from(low) + width - 1, u32::from(low)),
            Node::ZExt(a) if pool.width(a) == 1 => b(a).ite(&bits(w, 1), &bits(w, 0)),
            Node::ZExt(a) => v(a).zero_ext(width - u32::from(pool.width(a))),
            Node::SExt(a) if pool.width(a) == 1 => b(a).ite(&bits(w, u128::MAX), &bits(w, 0)),
            Node::SExt(a) => v(a).sign_ext(width - u32::from(pool.width(a))),
            Node::Funnel(left, x, y, by) => {
                let both = v(x).concat(v(y));
                let by = v(by).bvurem(bits(w, u128::from(w))).zero_ext(width);
                if left {
                    both.bvshl(by).extract(2 * width - 1, width)
                } else {
                    both.bvlshr(by).extract(width - 1, 0)
                }
            }
            Node::Overflow(op, signed, x, y) => {
                return Value::Truth(overflow(op, signed, &v(x), &v(y)));
            }
            Node::FloatCmp(pred, kind, x, y) => {
                let free = || Bool::fresh_const("fcmp");
                return Value::Truth(
                    floats::compare(pred, kind, &v(x), &v(y)).unwrap_or_else(free),
                );
            }
            Node::FloatBin(op, kind, x, y) => floats::binary(op, kind, &v(x), &v(y))
                .unwrap_or_else(|| BV::fresh_const("float", width)),
            Node::FloatCast(cast, a) => {
                floats::cast(cast, &v(a)).unwrap_or_else(|| BV::fresh_const("float", width))
            }
            Node::FloatFn(function, kind, args) => {
                let args: Vec<BV> = args.into_iter().flatten().map(v).collect();
                floats::function(function, kind, &args)
                    .unwrap_or_else(|| BV::fresh_const("float", width))
            }
            Node::Select(a, index) => match self.arrays.get(&a) {
                Some(array) => array
                    .select(&v(index))
                    .as_bv()
                    .unwrap_or_else(|| BV::fresh_const("read", width)),
                None => BV::fresh_const("read", width),
            },
        };
        Value::Bits(result)
    }

    /// The values that Z3's model gives to the symbols of these assertions.
    pub fn model(&self, pool: &Pool, assertions: &[Term], found: &z3::Model) -> Model {
        let mut model = Model::default();
        let mut reads = false;
        for symbol in assertions.iter().flat_map(|&t| pool.symbols(t)) {
            match symbol {
                Symbol::Input(i) => {
                    if model.inputs.contains_key(&i) {
                        continue;
                    }
                    let constant = BV::new_const(format!("in{i}"), 8);
                    if let Some(v) = found.get_const_interp(&constant).and_then(|v| v.as_u64()) {
                        model.inputs.insert(i, v as u8);
                    }
                }
                Symbol::Variable(_) => {}
                Symbol::Array(_) => reads = true,
            }
        }
        // Variables are looked up by their terms, and reads of arrays by traversing the terms. Both
        // are rare if the assertions are about a tape only.
        let others = |t: Term| pool.symbols(t).any(|s| !matches!(s, Symbol::Input(_)));
        let mut seen = rustc_hash::FxHashSet::default();
        for &root in assertions.iter().filter(|&&t| others(t)) {
            for item in pool.order(Item::Term(root), |item| seen.contains(&item)) {
                seen.insert(item);
                let Item::Term(t) = item else { continue };
                match *pool.node(t) {
                    Node::Variable(_) => {
                        if let Some(v) = evaluate(found, &self.bv(t)) {
                            model.set_variable(pool, t, v);
                        }
                    }
                    Node::Select(a, index) if reads => self.read(pool, found, a, index, &mut model),
                    _ => {}
                }
            }
        }
        model
    }

    /// Records the bytes of the array variables that this read may see.
    fn read(&self, pool: &Pool, found: &z3::Model, a: Array, index: Term, model: &mut Model) {
        let index = self.bv(index);
        let Some(at) = evaluate(found, &index) else {
            return;
        };
        let mut open = vec![a];
        let mut seen = rustc_hash::FxHashSet::default();
        while let Some(below) = open.pop() {
            if !seen.insert(below) {
                continue;
            }
            match pool.array_node(below) {
                ArrayNode::Constant(_) => {}
                ArrayNode::Store(next, ..) => open.push(next),
                ArrayNode::Ite(_, then, otherwise) => open.extend([then, otherwise]),
                ArrayNode::Variable(v) => {
                    let array = self.arrays.get(&below);
                    let byte = array.and_then(|array| array.select(&index).as_bv());
                    if let Some(byte) = byte.and_then(|b| evaluate(found, &b)) {
                        model.elements.insert((v, at as u64), byte as u8);
                    }
                }
            }
        }
    }
}

fn evaluate(found: &z3::Model, bv: &BV) -> Option<u128> {
    let width = bv.get_size();
    if width <= 64 {
        return found.eval(bv, true)?.as_u64().map(u128::from);
    }
    let high = found.eval(&bv.extract(width - 1, 64), true)?.as_u64()?;
    let low = found.eval(&bv.extract(63, 0), true)?.as_u64()?;
    Some(u128::from(high) << 64 | u128::from(low))
}

fn compare(pred: Pred, x: &BV, y: &BV) -> Bool {
    match pred {
        Pred::Eq => x.eq(y),
        Pred::Ne => x.eq(y).not(),
        Pred::Ult => x.bvult(y),
        Pred::Ule => x.bvule(y),
        Pred::Ugt => x.bvugt(y),
        Pred::Uge => x.bvuge(y),
        Pred::Slt => x.bvslt(y),
        Pred::Sle => x.bvsle(y),
        Pred::Sgt => x.bvsgt(y),
        Pred::Sge => x.bvsge(y),
    }
}

fn binary(op: BinOp, x: &BV, y: &BV) -> BV {
    match op {
        BinOp::Add => x.bvadd(y),
        BinOp::Sub => x.bvsub(y),
        BinOp::Mul => x.bvmul(y),
        BinOp::UDiv => x.bvudiv(y),
        BinOp::SDiv => x.bvsdiv(y),
        BinOp::URem => x.bvurem(y),
        BinOp::SRem => x.bvsrem(y),
        BinOp::Shl => x.bvshl(y),
        BinOp::LShr => x.bvlshr(y),
        BinOp::AShr => x.bvashr(y),
        BinOp::And => x.bvand(y),
        BinOp::Or => x.bvor(y),
        BinOp::Xor => x.bvxor(y),
        BinOp::UMin => x.bvult(y).ite(x, y),
        BinOp::UMax => x.bvult(y).ite(y, x),
        BinOp::SMin => x.bvslt(y).ite(x, y),
        BinOp::SMax => x.bvslt(y).ite(y, x),
        // The constructors of terms expand these operators to choices, so they do not occur here. A
        // free constant would be sound nevertheless.
        BinOp::UAddSat | BinOp::SAddSat | BinOp::USubSat | BinOp::SSubSat => {
            BV::fresh_const("saturated", x.get_size())
        }
    }
}

fn overflow(op: BinOp, signed: bool, x: &BV, y: &BV) -> Bool {
    let fits = match (op, signed) {
        (BinOp::Add, true) => Bool::and(&[x.bvadd_no_overflow(y, true), x.bvadd_no_underflow(y)]),
        (BinOp::Add, false) => x.bvadd_no_overflow(y, false),
        (BinOp::Sub, true) => Bool::and(&[x.bvsub_no_overflow(y), x.bvsub_no_underflow(y, true)]),
        (BinOp::Sub, false) => x.bvuge(y),
        (BinOp::Mul, true) => Bool::and(&[x.bvmul_no_overflow(y, true), x.bvmul_no_underflow(y)]),
        (BinOp::Mul, false) => x.bvmul_no_overflow(y, false),
        _ => Bool::from_bool(true),
    };
    fits.not()
}

fn unary(op: UnOp, w: u16, a: &BV) -> BV {
    let width = u32::from(w);
    let bit = |i: u32| a.extract(i, i);
    let count = |i: u32| bits(w, u128::from(i));
    match op {
        UnOp::CtPop if width == 1 => a.clone(),
        UnOp::CtPop => (0..width)
            .map(|i| bit(i).zero_ext(width - 1))
            .fold(count(0), |sum, b| sum.bvadd(b)),
        UnOp::CtLz => (0..width).fold(count(width), |rest, i| {
            bit(i).eq(bits(1, 1)).ite(&count(width - 1 - i), &rest)
        }),
        UnOp::CtTz => (0..width).rev().fold(count(width), |rest, i| {
            bit(i).eq(bits(1, 1)).ite(&count(i), &rest)
        }),
        UnOp::BitReverse => (1..width).fold(bit(0), |high, i| high.concat(bit(i))),
        UnOp::BSwap => (1..width / 8).fold(a.extract(7, 0), |high, i| {
            high.concat(a.extract(8 * i + 7, 8 * i))
        }),
        UnOp::Abs => a.bvslt(bits(w, 0)).ite(&a.bvneg(), a),
    }
}
