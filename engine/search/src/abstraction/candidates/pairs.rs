//! Candidates about two values.

use cegar_model::deadline;
use cegar_model::program::ir::{BinOp, Pred};
use cegar_model::term::{Evaluator, Term};

use super::{CandidateGenerator, PAIRED};

impl CandidateGenerator<'_, '_> {
    /// Two values: order, equality, a constant difference, equal low bits.
    pub(super) fn pairs(
        &mut self,
        scalars: &[Term],
        evaluators: &mut [Evaluator],
        out: &mut Vec<Term>,
    ) {
        let wide: Vec<Term> = scalars
            .iter()
            .filter(|&&t| matches!(self.graph.pool.width(t), 8..=64))
            .copied()
            .take(PAIRED)
            .collect();
        for (i, &x) in wide.iter().enumerate() {
            if deadline::passed() {
                return;
            }
            for &y in &wide[i + 1..] {
                for (x, y) in self.same_width(x, y) {
                    self.pair(x, y, evaluators, out);
                }
            }
        }
    }

    fn pair(&mut self, x: Term, y: Term, evaluators: &mut [Evaluator], out: &mut Vec<Term>) {
        let pool = &mut self.graph.pool;
        match self.level {
            0 => out.push(pool.eq(x, y)),
            1 => {
                for pred in [
                    Pred::Ule,
                    Pred::Uge,
                    Pred::Sle,
                    Pred::Sge,
                    Pred::Ult,
                    Pred::Ugt,
                    Pred::Slt,
                    Pred::Sgt,
                ] {
                    out.push(pool.cmp(pred, x, y));
                }
                return;
            }
            _ => {}
        }
        let difference = pool.bin(BinOp::Sub, x, y);
        let sum = pool.bin(BinOp::Add, x, y);
        for combined in [difference, sum] {
            let seen = self.values(combined, evaluators);
            let pool = &mut self.graph.pool;
            let width = pool.width(combined);
            let Some(&first) = seen.first() else { continue };
            let constant = seen.iter().all(|&v| v == first);
            match self.level {
                0 if constant => {
                    let c = pool.constant(width, first);
                    out.push(pool.eq(combined, c));
                }
                2 if !constant => {
                    for bits in [1, 2] {
                        let low = pool.extract(combined, 0, bits);
                        let c = pool.constant(bits, first);
                        out.push(pool.eq(low, c));
                    }
                }
                3 if !constant => {
                    for c in self.vocabulary.constants(width) {
                        let pool = &mut self.graph.pool;
                        let c = pool.constant(width, c);
                        out.push(pool.cmp(Pred::Ule, combined, c));
                        out.push(pool.cmp(Pred::Sle, combined, c));
                        out.push(pool.cmp(Pred::Sge, combined, c));
                    }
                }
                _ => {}
            }
        }
    }

    /// Both values at the same width: unchanged, or the narrower one extended in both ways.
    fn same_width(&mut self, x: Term, y: Term) -> Vec<(Term, Term)> {
        let pool = &mut self.graph.pool;
        let (w, v) = (pool.width(x), pool.width(y));
        if w == v {
            return vec![(x, y)];
        }
        let wide = w.max(v);
        vec![
            (pool.zext(x, wide), pool.zext(y, wide)),
            (pool.sext(x, wide), pool.sext(y, wide)),
        ]
    }
}
