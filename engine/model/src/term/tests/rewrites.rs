//! Proofs that every rewrite of the constructors is correct for all values.
//!
//! A checked proof is a proof about terms, so a constructor that simplifies wrongly could prove
//! anything. Here each constructor is applied to operands of every shape that some rewrite looks
//! for. The result is compared with the meaning of the operation, which is written directly as
//! SMT-LIB from the meanings of the operands and does not involve a constructor. Z3 has to show
//! that no values exist for which they differ. A result that is the plain operation on its operands
//! needs no proof of its own, and its operands are compared, too.

mod arrays;
mod shapes;

use rustc_hash::FxHashSet;
use z3::SatResult;

use crate::operator::{BinOp, CastKind, Pred, UnOp, Width};
use crate::solver::smtlib;
use crate::term::{Node, Pool, Term};

/// A value in two representations: built by constructors, and as a bit-vector in SMT-LIB.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Both {
    term: Term,
    text: String,
}

/// The number of differences in one question.
const BATCH: usize = 40;

#[derive(Default)]
struct Workshop {
    pool: Pool,
    symbols: Vec<Term>,
    seen: FxHashSet<Both>,
    open: Vec<Both>,
    proved: usize,
    failed: Vec<String>,
}

impl Workshop {
    fn width(&self, a: &Both) -> Width {
        self.pool.width(a.term)
    }

    fn is_const(&self, a: &Both) -> bool {
        self.pool.as_const(a.term).is_some()
    }

    fn variable(&mut self, name: &str, w: Width) -> Both {
        let term = self.pool.variable(name, w);
        if !self.symbols.contains(&term) {
            self.symbols.push(term);
        }
        let text = smtlib::symbol(&self.pool, term);
        Both { term, text }
    }

    fn constant(&mut self, w: Width, value: u128) -> Both {
        let term = self.pool.constant(w, value);
        let text = smtlib::literal(w, value);
        Both { term, text }
    }

    /// Records the result of a constructor for comparison, unless it is one of the nodes `plain`,
    /// which are the unsimplified forms of the operation.
    fn made(&mut self, term: Term, text: String, plain: &[Node]) -> Both {
        let both = Both { term, text };
        if !plain.contains(self.pool.node(term)) && self.seen.insert(both.clone()) {
            self.open.push(both.clone());
            if self.open.len() >= BATCH {
                self.prove();
            }
        }
        both
    }

    /// Proves the recorded comparisons.
    fn prove(&mut self) {
        let open = std::mem::take(&mut self.open);
        if self.differ(&open) != SatResult::Unsat {
            // They are tried one by one to find those that fail.
            for both in &open {
                let answer = self.differ(std::slice::from_ref(both));
                if answer != SatResult::Unsat {
                    let term = self.pool.show(both.term);
                    self.failed
                        .push(format!("{answer:?}: {term}  is not  {}", both.text));
                }
            }
        }
        self.proved += open.len();
    }

    fn differ(&self, open: &[Both]) -> SatResult {
        let pairs: Vec<(Term, &str)> = open.iter().map(|both| (both.term, &*both.text)).collect();
        let script = smtlib::difference(&self.pool, &self.symbols, &pairs);
        let solver = z3::Solver::new_for_logic(if script.contains("Array") {
            "QF_ABV"
        } else {
            "QF_BV"
        })
        .unwrap_or_default();
        let mut params = z3::Params::new();
        params.set_u32("rlimit", 50_000_000);
        solver.set_params(&params);
        solver.from_string(script.as_str());
        assert_eq!(solver.get_assertions().len(), 1, "unreadable: {script}");
        solver.check()
    }

    /// Proves the remaining comparisons and reports those that failed.
    fn end(mut self, least: usize) {
        self.prove();
        let some: Vec<String> = self.failed.iter().take(20).cloned().collect();
        assert!(
            some.is_empty(),
            "{} of {}:\n{}",
            self.failed.len(),
            self.proved,
            some.join("\n")
        );
        assert!(
            self.proved >= least,
            "only {} rewrites came up",
            self.proved
        );
    }

    fn bin(&mut self, op: BinOp, a: &Both, b: &Both) -> Both {
        let w = self.width(a);
        let term = self.pool.bin(op, a.term, b.term);
        let text = smtlib::binary(op, w, &a.text, &b.text);
        let mut plain = vec![Node::Bin(op, a.term, b.term)];
        if matches!(
            op,
            BinOp::Add | BinOp::Mul | BinOp::And | BinOp::Or | BinOp::Xor
        ) {
            plain.push(Node::Bin(op, b.term, a.term));
        }
        self.made(term, text, &plain)
    }

    fn un(&mut self, op: UnOp, a: &Both) -> Both {
        let term = self.pool.un(op, a.term);
        let text = smtlib::unary(op, self.width(a), &a.text);
        self.made(term, text, &[Node::Un(op, a.term)])
    }

    fn cmp(&mut self, pred: Pred, a: &Both, b: &Both) -> Both {
        let term = self.pool.cmp(pred, a.term, b.term);
        let text = format!("(ite {} #b1 #b0)", smtlib::compare(pred, &a.text, &b.text));
        let mut plain = vec![Node::Cmp(pred, a.term, b.term)];
        if pred == Pred::Eq {
            plain.push(Node::Cmp(pred, b.term, a.term));
        }
        self.made(term, text, &plain)
    }

    fn overflow(&mut self, op: BinOp, is_signed: bool, a: &Both, b: &Both) -> Both {
        let w = self.width(a);
        let term = self.pool.overflow(op, is_signed, a.term, b.term);
        let text = smtlib::overflow(op, is_signed, w, &a.text, &b.text);
        let plain = [
            Node::Overflow(op, is_signed, a.term, b.term),
            // Sums and products are commutative.
            Node::Overflow(op, is_signed, b.term, a.term),
        ];
        let plain = if op == BinOp::Sub {
            &plain[..1]
        } else {
            &plain
        };
        self.made(term, format!("(ite {text} #b1 #b0)"), plain)
    }

    fn not(&mut self, a: &Both) -> Both {
        let term = self.pool.not(a.term);
        self.made(term, format!("(bvnot {})", a.text), &[Node::Not(a.term)])
    }

    fn ite(&mut self, c: &Both, a: &Both, b: &Both) -> Both {
        let term = self.pool.ite(c.term, a.term, b.term);
        let text = format!("(ite (= {} #b1) {} {})", c.text, a.text, b.text);
        self.made(term, text, &[Node::Ite(c.term, a.term, b.term)])
    }

    fn concat(&mut self, a: &Both, b: &Both) -> Both {
        let term = self.pool.concat(a.term, b.term);
        let text = format!("(concat {} {})", a.text, b.text);
        self.made(term, text, &[Node::Concat(a.term, b.term)])
    }

    fn extract(&mut self, a: &Both, low: u16, w: Width) -> Both {
        let term = self.pool.extract(a.term, low, w);
        let text = format!("((_ extract {} {low}) {})", low + w - 1, a.text);
        self.made(term, text, &[Node::Extract(a.term, low)])
    }

    /// Truncation or extension, depending on the widths.
    fn cast(&mut self, kind: CastKind, a: &Both, w: Width) -> Both {
        let from = self.width(a);
        let term = self.pool.cast(kind, a.term, w);
        let (text, plain) = match kind {
            _ if w <= from => (
                format!("((_ extract {} 0) {})", w - 1, a.text),
                Node::Extract(a.term, 0),
            ),
            CastKind::SExt => (
                format!("((_ sign_extend {}) {})", w - from, a.text),
                Node::SExt(a.term),
            ),
            _ => (
                format!("((_ zero_extend {}) {})", w - from, a.text),
                Node::ZExt(a.term),
            ),
        };
        self.made(term, text, &[plain])
    }

    fn funnel(&mut self, left: bool, a: &Both, b: &Both, by: &Both) -> Both {
        let term = self.pool.funnel(left, a.term, b.term, by.term);
        let text = smtlib::funnel(left, self.width(a), &a.text, &b.text, &by.text);
        self.made(term, text, &[Node::Funnel(left, a.term, b.term, by.term)])
    }
}
