//! Terms as text for people, in C's notation where possible: `in[3]` is a byte of the tape,
//! `(s16)x` a sign extension, `(u32)x` a zero extension, `x[7:0]` an extraction of bits, `a:b` a
//! concatenation. Signed operators have the suffix `s`.

use std::fmt::Write;

use super::node::{Array, ArrayNode, Node, Term};
use super::pool::Pool;
use super::value;
use crate::operator::{BinOp, Pred};

/// The length above which a text is cut, because it serves messages and reports.
const LIMIT: usize = 2000;

enum Piece {
    Text(&'static str),
    Owned(String),
    Term(Term),
    Array(Array),
}

impl Pool {
    /// The term as text, cut with `...` if it is too long.
    pub fn show(&self, t: Term) -> String {
        let mut out = String::new();
        let mut stack = vec![Piece::Term(t)];
        while let Some(piece) = stack.pop() {
            if out.len() > LIMIT {
                out.push_str("...");
                break;
            }
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Owned(text) => out.push_str(&text),
                Piece::Term(t) => self.push(t, &mut out, &mut stack),
                Piece::Array(a) => match self.array_node(a) {
                    ArrayNode::Constant(c) => {
                        let _ = write!(out, "table{c}");
                    }
                    ArrayNode::Variable(v) => out.push_str(self.array_name(v)),
                    ArrayNode::Store(below, index, byte) => {
                        let parts = [Piece::Term(index), Piece::Text(" := "), Piece::Term(byte)];
                        stack.push(Piece::Text("}"));
                        stack.extend(parts.into_iter().rev());
                        stack.push(Piece::Text("{"));
                        stack.push(Piece::Array(below));
                    }
                    ArrayNode::Ite(cond, then, otherwise) => {
                        let parts = [
                            Piece::Text("("),
                            Piece::Term(cond),
                            Piece::Text(" ? "),
                            Piece::Array(then),
                            Piece::Text(" : "),
                            Piece::Array(otherwise),
                            Piece::Text(")"),
                        ];
                        stack.extend(parts.into_iter().rev());
                    }
                },
            }
        }
        out
    }

    fn push(&self, t: Term, out: &mut String, stack: &mut Vec<Piece>) {
        let w = self.width(t);
        let mut then = |parts: Vec<Piece>| stack.extend(parts.into_iter().rev());
        let infix = |a: Term, op: &'static str, b: Term| {
            vec![
                Piece::Text("("),
                Piece::Term(a),
                Piece::Text(op),
                Piece::Term(b),
                Piece::Text(")"),
            ]
        };
        let call = |name: String, args: &[Term]| {
            let mut parts = vec![Piece::Owned(name), Piece::Text("(")];
            for (i, &a) in args.iter().enumerate() {
                if i > 0 {
                    parts.push(Piece::Text(", "));
                }
                parts.push(Piece::Term(a));
            }
            parts.push(Piece::Text(")"));
            parts
        };
        match *self.node(t) {
            Node::Const(_) | Node::Wide(_) => {
                let v = self.as_const(t).unwrap_or(0);
                let n = value::signed(w, v);
                let _ = match n {
                    -4096..=0xffff if w > 1 => write!(out, "{n}"),
                    _ if w == 1 => write!(out, "{v}"),
                    _ => write!(out, "{v:#x}"),
                };
            }
            Node::Input(i) => {
                let _ = write!(out, "in[{i}]");
            }
            Node::Variable(v) => out.push_str(self.variable_name(v)),
            Node::Not(a) => match *self.node(a) {
                Node::Cmp(Pred::Eq, x, y) => then(infix(x, " != ", y)),
                _ => then(vec![
                    Piece::Text(if w == 1 { "!" } else { "~" }),
                    Piece::Term(a),
                ]),
            },
            Node::Un(op, a) => then(call(format!("{op:?}").to_lowercase(), &[a])),
            Node::Bin(op, a, b) => then(match (op, self.as_const(b)) {
                // A sum with a negative constant is easier to read as a difference.
                (BinOp::Add, Some(c)) if w > 1 && value::signed(w, c) < 0 => {
                    let c = c.wrapping_neg() & value::mask(w);
                    vec![
                        Piece::Text("("),
                        Piece::Term(a),
                        Piece::Owned(format!(" - {c})")),
                    ]
                }
                _ => infix(a, symbol(op, w), b),
            }),
            Node::Cmp(pred, a, b) => then(infix(a, relation(pred), b)),
            Node::Ite(c, a, b) => then(vec![
                Piece::Text("("),
                Piece::Term(c),
                Piece::Text(" ? "),
                Piece::Term(a),
                Piece::Text(" : "),
                Piece::Term(b),
                Piece::Text(")"),
            ]),
            Node::Concat(a, b) => then(infix(a, ":", b)),
            Node::Extract(a, low) => {
                then(vec![
                    Piece::Term(a),
                    Piece::Owned(format!("[{}:{low}]", low + w - 1)),
                ]);
            }
            Node::ZExt(a) => then(vec![Piece::Owned(format!("(u{w})")), Piece::Term(a)]),
            Node::SExt(a) => then(vec![Piece::Owned(format!("(s{w})")), Piece::Term(a)]),
            Node::Funnel(left, a, b, by) => {
                then(call(
                    if left { "fshl" } else { "fshr" }.to_owned(),
                    &[a, b, by],
                ));
            }
            Node::Overflow(op, signed, a, b) => {
                let sign = if signed { 's' } else { 'u' };
                then(call(
                    format!("{sign}{op:?}_overflows").to_lowercase(),
                    &[a, b],
                ));
            }
            Node::FloatBin(op, _, a, b) => then(call(format!("f{op:?}").to_lowercase(), &[a, b])),
            Node::FloatCmp(pred, _, a, b) => then(call(format!("f{pred:?}"), &[a, b])),
            Node::FloatCast(cast, a) => then(call(format!("{cast:?}"), &[a])),
            Node::FloatFn(function, _, args) => {
                let args: Vec<Term> = args.into_iter().flatten().collect();
                then(call(format!("{function:?}").to_lowercase(), &args));
            }
            Node::Select(a, i) => {
                then(vec![
                    Piece::Array(a),
                    Piece::Text("["),
                    Piece::Term(i),
                    Piece::Text("]"),
                ]);
            }
        }
    }
}

fn symbol(op: BinOp, width: u16) -> &'static str {
    match op {
        BinOp::Add => " + ",
        BinOp::Sub => " - ",
        BinOp::Mul => " * ",
        BinOp::UDiv => " / ",
        BinOp::SDiv => " /s ",
        BinOp::URem => " % ",
        BinOp::SRem => " %s ",
        BinOp::Shl => " << ",
        BinOp::LShr => " >> ",
        BinOp::AShr => " >>s ",
        BinOp::And if width == 1 => " && ",
        BinOp::And => " & ",
        BinOp::Or if width == 1 => " || ",
        BinOp::Or => " | ",
        BinOp::Xor => " ^ ",
        _ => " ? ",
    }
}

fn relation(pred: Pred) -> &'static str {
    match pred {
        Pred::Eq => " == ",
        Pred::Ne => " != ",
        Pred::Ult => " < ",
        Pred::Ule => " <= ",
        Pred::Ugt => " > ",
        Pred::Uge => " >= ",
        Pred::Slt => " <s ",
        Pred::Sle => " <=s ",
        Pred::Sgt => " >s ",
        Pred::Sge => " >=s ",
    }
}
