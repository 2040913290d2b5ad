//! Questions as SMT-LIB 2.6 text, for any solver that reads it.
//!
//! A second solver is useful only as far as it is independent of the first one. So the script is
//! written from the [`Pool`] and not by Z3's printer, and involves neither Z3's API nor the
//! translation for it. Every term becomes one definition that names its operands. So the length of
//! a script is linear in the number of terms, and no parser meets an expression deeper than one
//! operator. One-bit terms are Booleans throughout. The only extension of the standard in use is
//! the constant array (`as const`), which Z3, cvc5 and Bitwuzla read alike.
//!
//! An operation without a counterpart in SMT-LIB (x87's format, most of `<math.h>`) is a free
//! constant. The answer "unsatisfiable" is still correct, but "satisfiable" may not be, as
//! [`Script::is_exact`] says.

mod floats;
mod ops;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use rustc_hash::FxHashMap;
use thiserror::Error;

use crate::program::ir::Width;
use crate::term::{Array, ArrayNode, Item, Node, Pool, Term};

pub(crate) use self::ops::{binary, compare, funnel, literal, overflow, unary};

/// Why a question cannot be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum Unwritable {
    /// Only one-bit terms can be asserted.
    #[error("an assertion is {0} bits wide, and not one")]
    Assertion(Width),
}

/// The answer that a script claims for itself (`:status`). Z3 and cvc5 report an error if they find
/// another one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// The assertions are claimed to be unsatisfiable.
    Unsat,
    /// No answer is claimed.
    Unknown,
}

/// A question as SMT-LIB text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Script {
    /// The contents of the script.
    pub text: String,
    /// Whether the script expresses the terms exactly. If not, some values are free, and
    /// "satisfiable" may be wrong.
    pub is_exact: bool,
}

/// Writes the question whether all terms (of one bit each) can hold together. `about` becomes a
/// comment for people and may have any number of lines.
pub fn script(
    pool: &Pool,
    terms: &[Term],
    about: &str,
    status: Status,
) -> Result<Script, Unwritable> {
    if let Some(&wide) = terms.iter().find(|&&t| pool.width(t) != 1) {
        return Err(Unwritable::Assertion(pool.width(wide)));
    }
    let mut writer = Writer::new(pool);
    for &t in terms {
        writer.define(t);
    }
    for &t in terms {
        let name = writer.name(t);
        let _ = writeln!(writer.body, "(assert {name})");
    }
    let mut text = String::with_capacity(writer.body.len() + 256);
    for line in about.lines() {
        let printable: String = line
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        let _ = writeln!(text, "; {}", printable.trim_end());
    }
    let status = match status {
        Status::Unsat => "unsat",
        Status::Unknown => "unknown",
    };
    let _ = writeln!(text, "(set-info :smt-lib-version 2.6)");
    let _ = writeln!(text, "(set-logic {})", writer.logic());
    let _ = writeln!(text, "(set-info :status {status})");
    text.push_str(&writer.body);
    text.push_str("(check-sat)\n(exit)\n");
    Ok(Script {
        text,
        is_exact: writer.is_exact,
    })
}

/// A variable or an input as a bit-vector.
#[cfg(test)]
pub(crate) fn symbol(pool: &Pool, leaf: Term) -> String {
    let mut writer = Writer::new(pool);
    writer.define(leaf);
    writer.bits(leaf)
}

/// An array of unknown contents.
#[cfg(test)]
pub(crate) fn array_symbol(pool: &Pool, array: Array) -> String {
    Writer::new(pool).array(array)
}

/// The question whether one of these terms can differ from the bit-vector next to it, which is an
/// expression over `symbols`.
#[cfg(test)]
pub(crate) fn difference(pool: &Pool, symbols: &[Term], pairs: &[(Term, &str)]) -> String {
    let mut writer = Writer::new(pool);
    for &t in symbols.iter().chain(pairs.iter().map(|(t, _)| t)) {
        writer.define(t);
    }
    writer.body.push_str("(assert (or false");
    for &(t, text) in pairs {
        let _ = write!(writer.body, " (distinct {} {text})", writer.bits(t));
    }
    writer.body.push_str("))\n");
    writer.body
}

const ARRAY: &str = "(Array (_ BitVec 64) (_ BitVec 8))";

struct Writer<'p> {
    pool: &'p Pool,
    body: String,
    /// The name of each term that was written: its definition, its symbol or its literal.
    terms: FxHashMap<Term, String>,
    arrays: FxHashMap<Array, String>,
    has_arrays: bool,
    has_floats: bool,
    is_exact: bool,
}

impl<'p> Writer<'p> {
    fn new(pool: &'p Pool) -> Writer<'p> {
        Writer {
            pool,
            body: String::new(),
            terms: FxHashMap::default(),
            arrays: FxHashMap::default(),
            has_arrays: false,
            has_floats: false,
            is_exact: true,
        }
    }

    /// The smallest logic for what was written.
    fn logic(&self) -> &'static str {
        match (self.has_arrays, self.has_floats) {
            (false, false) => "QF_BV",
            (true, false) => "QF_ABV",
            (false, true) => "QF_BVFP",
            (true, true) => "QF_ABVFP",
        }
    }

    /// Writes a term with all its operands.
    fn define(&mut self, t: Term) {
        let done = |item: Item| match item {
            Item::Term(t) => self.terms.contains_key(&t),
            Item::Array(a) => self.arrays.contains_key(&a),
        };
        for item in self.pool.order(Item::Term(t), done) {
            match item {
                Item::Term(t) => {
                    let name = self.term(t);
                    self.terms.insert(t, name);
                }
                Item::Array(a) => {
                    let name = self.array(a);
                    self.arrays.insert(a, name);
                }
            }
        }
    }

    /// The name of a term that was written. It is a Boolean if the term has one bit.
    fn name(&self, t: Term) -> String {
        self.terms[&t].clone()
    }

    /// The name of a term that was written, as a bit-vector.
    fn bits(&self, t: Term) -> String {
        match (self.pool.width(t), &self.terms[&t]) {
            (1, name) => format!("(ite {name} #b1 #b0)"),
            (_, name) => name.clone(),
        }
    }

    /// Writes one term, whose operands are written already, and returns its name.
    fn term(&mut self, t: Term) -> String {
        let (pool, w) = (self.pool, self.pool.width(t));
        let name = format!("t{}", t.index());
        let expression = match *pool.node(t) {
            Node::Const(_) | Node::Wide(_) => {
                let value = pool.as_const(t).unwrap_or(0);
                return match (w, value) {
                    (1, 0) => "false".to_owned(),
                    (1, _) => "true".to_owned(),
                    _ => literal(w, value),
                };
            }
            Node::Input(i) => return self.declare(format!("in{i}"), w),
            Node::Variable(v) => {
                let symbol = quoted('v', v, pool.variable_name(v));
                return self.declare(symbol, w);
            }
            Node::Ite(c, a, b) => {
                format!("(ite {} {} {})", self.name(c), self.name(a), self.name(b))
            }
            Node::Not(a) if w == 1 => format!("(not {})", self.name(a)),
            Node::Cmp(pred, a, b) => compare(pred, &self.bits(a), &self.bits(b)),
            Node::Overflow(op, signed, a, b) => {
                overflow(op, signed, pool.width(a), &self.bits(a), &self.bits(b))
            }
            Node::FloatCmp(pred, kind, a, b) => {
                self.has_floats = true;
                match floats::compare(pred, kind, &self.bits(a), &self.bits(b)) {
                    Some(expression) => expression,
                    None => return self.free(name, w),
                }
            }
            Node::FloatBin(..) | Node::FloatCast(..) | Node::FloatFn(..) => {
                return self.float(t, name);
            }
            node => {
                let bits = self.bits_of(t, node);
                match w {
                    1 => format!("(= {bits} #b1)"),
                    _ => bits,
                }
            }
        };
        let sort = sort(w);
        let _ = writeln!(self.body, "(define-fun {name} () {sort} {expression})");
        name
    }

    /// Operators that are written as bit-vectors at every width.
    fn bits_of(&self, t: Term, node: Node) -> String {
        let w = self.pool.width(t);
        let more = |a: Term| w - self.pool.width(a);
        match node {
            Node::Not(a) => format!("(bvnot {})", self.bits(a)),
            Node::Un(op, a) => unary(op, w, &self.bits(a)),
            Node::Bin(op, a, b) => binary(op, w, &self.bits(a), &self.bits(b)),
            Node::Concat(a, b) => format!("(concat {} {})", self.bits(a), self.bits(b)),
            Node::Extract(a, low) => {
                format!("((_ extract {} {low}) {})", low + w - 1, self.bits(a))
            }
            Node::ZExt(a) => format!("((_ zero_extend {}) {})", more(a), self.bits(a)),
            Node::SExt(a) => format!("((_ sign_extend {}) {})", more(a), self.bits(a)),
            Node::Funnel(left, a, b, by) => {
                funnel(left, w, &self.bits(a), &self.bits(b), &self.bits(by))
            }
            Node::Select(array, index) => {
                format!("(select {} {})", self.arrays[&array], self.bits(index))
            }
            // `term` writes these as Booleans or with their own definitions.
            Node::Const(_)
            | Node::Wide(_)
            | Node::Input(_)
            | Node::Variable(_)
            | Node::Cmp(..)
            | Node::Ite(..)
            | Node::Overflow(..)
            | Node::FloatBin(..)
            | Node::FloatCmp(..)
            | Node::FloatCast(..)
            | Node::FloatFn(..) => unreachable!("{node:?} is written elsewhere"),
        }
    }

    /// Writes a term whose value is the bit pattern of a float or an integer converted from a
    /// float.
    fn float(&mut self, t: Term, name: String) -> String {
        let (pool, w) = (self.pool, self.pool.width(t));
        self.has_floats = true;
        let result = match *pool.node(t) {
            Node::FloatBin(op, kind, a, b) => {
                floats::binary(op, kind, &self.bits(a), &self.bits(b)).map(|x| (x, Some(kind)))
            }
            Node::FloatCast(cast, a) => floats::cast(cast, &self.bits(a)),
            Node::FloatFn(function, kind, args) => {
                let args: Vec<String> = args.into_iter().flatten().map(|a| self.bits(a)).collect();
                floats::function(function, kind, &args).map(|x| (x, Some(kind)))
            }
            _ => None,
        };
        match result {
            None => self.free(name, w),
            Some((expression, None)) => {
                let expression = match w {
                    1 => format!("(= {expression} #b1)"),
                    _ => expression,
                };
                let _ = writeln!(self.body, "(define-fun {name} () {} {expression})", sort(w));
                name
            }
            Some((expression, Some(kind))) => {
                // If the result is a NaN, its bit pattern is free.
                self.is_exact = false;
                self.body
                    .push_str(&floats::pattern(kind, &name, &expression));
                name
            }
        }
    }

    fn array(&mut self, a: Array) -> String {
        self.has_arrays = true;
        let name = format!("a{}", a.index());
        let expression = match self.pool.array_node(a) {
            ArrayNode::Variable(v) => {
                let symbol = quoted('a', v, self.pool.array_name(v));
                let _ = writeln!(self.body, "(declare-const {symbol} {ARRAY})");
                return symbol;
            }
            ArrayNode::Constant(contents) => {
                return self.table(name, self.pool.array_bytes(contents));
            }
            ArrayNode::Store(below, index, byte) => format!(
                "(store {} {} {})",
                self.arrays[&below],
                self.bits(index),
                self.bits(byte)
            ),
            ArrayNode::Ite(cond, then, otherwise) => format!(
                "(ite {} {} {})",
                self.name(cond),
                self.arrays[&then],
                self.arrays[&otherwise]
            ),
        };
        let _ = writeln!(self.body, "(define-fun {name} () {ARRAY} {expression})");
        name
    }

    /// Writes fixed contents with one definition per byte that is not zero. Nested stores would be
    /// too deep for parsers.
    fn table(&mut self, name: String, bytes: &[u8]) -> String {
        let mut last = format!("{name}.zero");
        let _ = writeln!(
            self.body,
            "(define-fun {last} () {ARRAY} ((as const {ARRAY}) {}))",
            literal(8, 0)
        );
        for (i, &byte) in bytes.iter().enumerate().filter(|&(_, &byte)| byte != 0) {
            let (index, byte) = (literal(64, i as u128), literal(8, u128::from(byte)));
            let next = format!("{name}.{i}");
            let _ = writeln!(
                self.body,
                "(define-fun {next} () {ARRAY} (store {last} {index} {byte}))"
            );
            last = next;
        }
        last
    }

    fn declare(&mut self, symbol: String, w: Width) -> String {
        let _ = writeln!(self.body, "(declare-const {symbol} {})", sort(w));
        symbol
    }

    /// Declares a constant for a value that cannot be expressed.
    fn free(&mut self, name: String, w: Width) -> String {
        self.is_exact = false;
        self.declare(name, w)
    }
}

fn sort(w: Width) -> String {
    match w {
        1 => "Bool".to_owned(),
        _ => format!("(_ BitVec {w})"),
    }
}

/// A quoted symbol that contains the name in the program. The number makes it unique among symbols
/// of the same name, and the space distinguishes it from the names of definitions.
fn quoted(kind: char, number: u32, name: &str) -> String {
    let name: String = name
        .chars()
        .map(|c| match c {
            '|' | '\\' => '_',
            c if c.is_ascii_graphic() || c == ' ' => c,
            _ => '?',
        })
        .collect();
    format!("|{kind}{number} {name}|")
}
