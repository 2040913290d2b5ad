//! Terms as text that can be read back: the notation of formulas in certificates.
//!
//! The syntax is that of SMT-LIB, with operators named as in the Program: `(ule |r:5| #32:1f4)`
//! means "register 5 is at most 500". Constants carry their width, and tables their bytes in
//! hexadecimal digits. Floating-point operators have no notation, because no invariant contains
//! them.

use thiserror::Error;

use super::node::{Array, ArrayNode, Node, Term};
use super::pool::Pool;
use crate::operator::{BinOp, Pred, UnOp, Width};

/// Why a text is not a valid term, or a term has no text.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum TextError {
    /// The text ends too early.
    #[error("the formula ends too early")]
    End,
    /// A token is not expected at its place.
    #[error("`{0}` is not expected there")]
    Unexpected(String),
    /// The operands have different widths, or a width is not valid.
    #[error("the operands of `{0}` do not fit together")]
    Width(String),
    /// The term has an operator without a notation, or is nested too deeply.
    #[error("the formula has an operator that cannot be written down")]
    Unwritable,
}

const BINARY: [(BinOp, &str); 13] = [
    (BinOp::Add, "add"),
    (BinOp::Sub, "sub"),
    (BinOp::Mul, "mul"),
    (BinOp::UDiv, "udiv"),
    (BinOp::SDiv, "sdiv"),
    (BinOp::URem, "urem"),
    (BinOp::SRem, "srem"),
    (BinOp::Shl, "shl"),
    (BinOp::LShr, "lshr"),
    (BinOp::AShr, "ashr"),
    (BinOp::And, "and"),
    (BinOp::Or, "or"),
    (BinOp::Xor, "xor"),
];
const ORDER: [(Pred, &str); 5] = [
    (Pred::Eq, "="),
    (Pred::Ult, "ult"),
    (Pred::Ule, "ule"),
    (Pred::Slt, "slt"),
    (Pred::Sle, "sle"),
];
const UNARY: [(UnOp, &str); 4] = [
    (UnOp::CtPop, "ctpop"),
    (UnOp::CtLz, "ctlz"),
    (UnOp::CtTz, "cttz"),
    (UnOp::BitReverse, "bitreverse"),
];
/// The nesting depth up to which terms are written and read. Invariants are not deeper.
const DEPTH: usize = 2_000;

impl Pool {
    /// The term as text.
    pub fn write(&self, t: Term) -> Result<String, TextError> {
        let mut out = String::new();
        self.write_term(t, &mut out, 0)?;
        Ok(out)
    }

    fn write_term(&self, t: Term, out: &mut String, depth: usize) -> Result<(), TextError> {
        if depth > DEPTH {
            return Err(TextError::Unwritable);
        }
        let w = self.width(t);
        if let Some(c) = self.as_const(t) {
            out.push_str(&format!("#{w}:{c:x}"));
            return Ok(());
        }
        let (head, children): (String, Vec<Term>) = match *self.node(t) {
            Node::Variable(v) => {
                out.push_str(&format!("|{}|:{w}", self.variable_name(v)));
                return Ok(());
            }
            Node::Select(array, index) => {
                out.push_str("(select ");
                self.write_array(array, out, depth + 1)?;
                out.push(' ');
                self.write_term(index, out, depth + 1)?;
                out.push(')');
                return Ok(());
            }
            Node::Not(a) => ("not".to_owned(), vec![a]),
            Node::Un(op, a) => (name(&UNARY, op)?.to_owned(), vec![a]),
            Node::Bin(op, a, b) => (name(&BINARY, op)?.to_owned(), vec![a, b]),
            Node::Cmp(pred, a, b) => (name(&ORDER, pred)?.to_owned(), vec![a, b]),
            Node::Ite(c, a, b) => ("ite".to_owned(), vec![c, a, b]),
            Node::Concat(a, b) => ("concat".to_owned(), vec![a, b]),
            Node::Extract(a, low) => (format!("extract:{low}:{w}"), vec![a]),
            Node::Funnel(left, a, b, c) => {
                let side = if left { "left" } else { "right" };
                (format!("funnel:{side}"), vec![a, b, c])
            }
            Node::ZExt(a) => (format!("zext:{w}"), vec![a]),
            Node::SExt(a) => (format!("sext:{w}"), vec![a]),
            Node::Overflow(op, signed, a, b) => {
                let sign = if signed { "s" } else { "u" };
                (
                    format!("overflow:{sign}:{}", name(&BINARY, op)?),
                    vec![a, b],
                )
            }
            Node::Const(_)
            | Node::Wide(_)
            | Node::Input(_)
            | Node::FloatBin(..)
            | Node::FloatCmp(..)
            | Node::FloatCast(..)
            | Node::FloatFn(..) => return Err(TextError::Unwritable),
        };
        out.push('(');
        out.push_str(&head);
        for child in children {
            out.push(' ');
            self.write_term(child, out, depth + 1)?;
        }
        out.push(')');
        Ok(())
    }

    fn write_array(&self, a: Array, out: &mut String, depth: usize) -> Result<(), TextError> {
        match self.array_node(a) {
            ArrayNode::Variable(v) => out.push_str(&format!("|{}|", self.array_name(v))),
            ArrayNode::Store(below, index, byte) if depth < DEPTH => {
                out.push_str("(store ");
                self.write_array(below, out, depth + 1)?;
                out.push(' ');
                self.write_term(index, out, depth + 1)?;
                out.push(' ');
                self.write_term(byte, out, depth + 1)?;
                out.push(')');
            }
            ArrayNode::Constant(bytes) => {
                out.push_str("(table ");
                out.push('x');
                for byte in self.array_bytes(bytes) {
                    out.push_str(&format!("{byte:02x}"));
                }
                out.push(')');
            }
            ArrayNode::Ite(cond, then, otherwise) if depth < DEPTH => {
                out.push_str("(ite ");
                self.write_term(cond, out, depth + 1)?;
                out.push(' ');
                self.write_array(then, out, depth + 1)?;
                out.push(' ');
                self.write_array(otherwise, out, depth + 1)?;
                out.push(')');
            }
            ArrayNode::Store(..) | ArrayNode::Ite(..) => return Err(TextError::Unwritable),
        }
        Ok(())
    }

    /// Reads a term from a text.
    pub fn read(&mut self, text: &str) -> Result<Term, TextError> {
        let tokens = tokens(text);
        let mut reader = Reader {
            pool: self,
            tokens: &tokens,
            at: 0,
        };
        let term = reader.term(0)?;
        match tokens.get(reader.at) {
            None => Ok(term),
            Some(rest) => Err(TextError::Unexpected((*rest).to_owned())),
        }
    }
}

fn name<T: PartialEq + Copy>(
    table: &[(T, &'static str)],
    op: T,
) -> Result<&'static str, TextError> {
    let found = table.iter().find(|(known, _)| *known == op);
    found.map(|(_, name)| *name).ok_or(TextError::Unwritable)
}

fn op<T: Copy>(table: &[(T, &'static str)], name: &str) -> Option<T> {
    let found = table.iter().find(|(_, known)| *known == name);
    found.map(|(op, _)| *op)
}

/// Splits a text into parentheses, quoted names with their suffixes, and words.
fn tokens(text: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '(' | ')' => 1,
            '|' => {
                let closing = rest[1..].find('|').map_or(rest.len(), |i| i + 2);
                let tail = rest[closing..].find([' ', ')', '(']);
                tail.map_or(rest.len(), |i| closing + i)
            }
            _ => rest.find([' ', ')', '(']).unwrap_or(rest.len()),
        };
        all.push(&rest[..end]);
        rest = rest[end..].trim_start();
    }
    all
}

struct Reader<'a, 't> {
    pool: &'a mut Pool,
    tokens: &'a [&'t str],
    at: usize,
}

impl<'t> Reader<'_, 't> {
    fn next(&mut self) -> Result<&'t str, TextError> {
        let token = self.tokens.get(self.at).copied().ok_or(TextError::End)?;
        self.at += 1;
        Ok(token)
    }

    fn expect(&mut self, wanted: &str) -> Result<(), TextError> {
        match self.next()? {
            found if found == wanted => Ok(()),
            found => Err(TextError::Unexpected(found.to_owned())),
        }
    }

    fn term(&mut self, depth: usize) -> Result<Term, TextError> {
        if depth > DEPTH {
            return Err(TextError::Unwritable);
        }
        let token = self.next()?;
        let bad = || TextError::Unexpected(token.to_owned());
        if let Some(constant) = token.strip_prefix('#') {
            let (width, value) = constant.split_once(':').ok_or_else(bad)?;
            let width = self.width(width, token)?;
            let value = u128::from_str_radix(value, 16).map_err(|_| bad())?;
            return Ok(self.pool.constant(width, value));
        }
        if let Some(quoted) = token.strip_prefix('|') {
            let (name, width) = quoted.rsplit_once("|:").ok_or_else(bad)?;
            let width = self.width(width, token)?;
            return Ok(self.pool.variable(name, width));
        }
        if token != "(" {
            return Err(bad());
        }
        let head = self.next()?;
        if head == "select" {
            let array = self.array(depth + 1)?;
            let index = self.term(depth + 1)?;
            self.expect(")")?;
            self.same(head, index, 64)?;
            return Ok(self.pool.select(array, index));
        }
        let mut children = Vec::new();
        while self.tokens.get(self.at).is_some_and(|t| *t != ")") {
            children.push(self.term(depth + 1)?);
        }
        self.expect(")")?;
        self.apply(head, &children)
    }

    fn apply(&mut self, head: &str, children: &[Term]) -> Result<Term, TextError> {
        let bad = || TextError::Unexpected(head.to_owned());
        let misfit = || TextError::Width(head.to_owned());
        let mut words = head.split(':');
        let word = words.next().unwrap_or_default();
        let rest: Vec<&str> = words.collect();
        let pool = &mut *self.pool;
        match *children {
            [a] => {
                let w = pool.width(a);
                let number = |i: usize| rest.get(i).and_then(|n| n.parse::<Width>().ok());
                if word == "not" && rest.is_empty() {
                    return Ok(pool.not(a));
                }
                if let Some(op) = op(&UNARY, word).filter(|_| rest.is_empty()) {
                    return Ok(pool.un(op, a));
                }
                let expected = match word {
                    "extract" => 2,
                    "zext" | "sext" => 1,
                    _ => return Err(bad()),
                };
                if rest.len() != expected {
                    return Err(bad());
                }
                match (word, number(0), number(1)) {
                    ("extract", Some(low), Some(width))
                        if width > 0 && low.checked_add(width).is_some_and(|top| top <= w) =>
                    {
                        Ok(pool.extract(a, low, width))
                    }
                    ("zext", Some(width), _) if (w..=128).contains(&width) => {
                        Ok(pool.zext(a, width))
                    }
                    ("sext", Some(width), _) if (w..=128).contains(&width) => {
                        Ok(pool.sext(a, width))
                    }
                    ("extract" | "zext" | "sext", ..) => Err(misfit()),
                    _ => Err(bad()),
                }
            }
            [a, b] => {
                let (w, v) = (pool.width(a), pool.width(b));
                if word == "concat" && rest.is_empty() {
                    return if w + v <= 128 {
                        Ok(pool.concat(a, b))
                    } else {
                        Err(misfit())
                    };
                }
                if w != v {
                    return Err(misfit());
                }
                if let Some(op) = op(&BINARY, word).filter(|_| rest.is_empty()) {
                    return Ok(pool.bin(op, a, b));
                }
                if let Some(pred) = op(&ORDER, word).filter(|_| rest.is_empty()) {
                    return Ok(pool.cmp(pred, a, b));
                }
                match rest[..] {
                    [sign @ ("s" | "u"), name] if word == "overflow" => {
                        let op = op(&BINARY[..3], name).ok_or_else(bad)?;
                        Ok(pool.overflow(op, sign == "s", a, b))
                    }
                    _ => Err(bad()),
                }
            }
            [a, b, by] if word == "funnel" => {
                let left = match rest[..] {
                    ["left"] => true,
                    ["right"] => false,
                    _ => return Err(bad()),
                };
                let (w, v, u) = (pool.width(a), pool.width(b), pool.width(by));
                if w != v || w != u {
                    return Err(misfit());
                }
                Ok(pool.funnel(left, a, b, by))
            }
            [c, a, b] if word == "ite" && rest.is_empty() => {
                if pool.width(c) != 1 || pool.width(a) != pool.width(b) {
                    return Err(misfit());
                }
                Ok(pool.ite(c, a, b))
            }
            _ => Err(bad()),
        }
    }

    fn array(&mut self, depth: usize) -> Result<Array, TextError> {
        if depth > DEPTH {
            return Err(TextError::Unwritable);
        }
        let token = self.next()?;
        if let Some(name) = token.strip_prefix('|').and_then(|t| t.strip_suffix('|')) {
            return Ok(self.pool.array_variable(name));
        }
        if token != "(" {
            return Err(TextError::Unexpected(token.to_owned()));
        }
        let head = self.next()?;
        match head {
            "store" => {}
            "table" => {
                let bytes = self.table()?;
                self.expect(")")?;
                return Ok(self.pool.array_constant(&bytes));
            }
            "ite" => {
                let cond = self.term(depth + 1)?;
                let (then, otherwise) = (self.array(depth + 1)?, self.array(depth + 1)?);
                self.expect(")")?;
                self.same(head, cond, 1)?;
                return Ok(self.pool.array_ite(cond, then, otherwise));
            }
            _ => return Err(TextError::Unexpected(head.to_owned())),
        }
        let below = self.array(depth + 1)?;
        let index = self.term(depth + 1)?;
        let byte = self.term(depth + 1)?;
        self.expect(")")?;
        self.same("store", index, 64)?;
        self.same("store", byte, 8)?;
        Ok(self.pool.array_store(below, index, byte))
    }

    /// Reads the bytes of a table.
    fn table(&mut self) -> Result<Vec<u8>, TextError> {
        let token = self.next()?;
        let bad = || TextError::Unexpected(token.to_owned());
        let digits = token.strip_prefix('x').ok_or_else(bad)?;
        if !digits.len().is_multiple_of(2) || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(bad());
        }
        let pairs = (0..digits.len()).step_by(2);
        pairs
            .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).map_err(|_| bad()))
            .collect()
    }

    fn width(&self, text: &str, token: &str) -> Result<Width, TextError> {
        match text.parse::<Width>() {
            Ok(width) if (1..=128).contains(&width) => Ok(width),
            _ => Err(TextError::Width(token.to_owned())),
        }
    }

    fn same(&self, head: &str, t: Term, width: Width) -> Result<(), TextError> {
        if self.pool.width(t) == width {
            Ok(())
        } else {
            Err(TextError::Width(head.to_owned()))
        }
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let mut p = Pool::new();
        let x = p.variable("r/1.2:5", 32);
        let c = p.constant(32, 500);
        let a = p.array_variable("ag3");
        let wide = p.zext(x, 64);
        let byte = p.select(a, wide);
        let zero = p.constant(8, 0);
        let small = p.cmp(Pred::Ule, x, c);
        let nul = p.eq(byte, zero);
        let both = p.and(small, nul);
        let text = p.write(both).expect("writable");
        assert_eq!(p.read(&text), Ok(both));
        let mut q = Pool::new();
        let again = q.read(&text).expect("readable");
        assert_eq!(q.write(again), Ok(text));
    }

    #[test]
    fn damage_is_told() {
        let mut p = Pool::new();
        assert_eq!(p.read("(ule |x|:32"), Err(TextError::End));
        assert!(p.read("(ule |x|:32 #16:1)").is_err());
        assert!(p.read("(frob |x|:32)").is_err());
        assert!(p.read("#0:1").is_err());
        assert!(p.read("#32:1 #32:1").is_err());
    }
}
