//! Control flow between blocks: terminators and the parallel moves of phi nodes.

use super::outcome::{Event, Outcome};
use super::shadow::Shade;
use super::step::{Run, Step};
use crate::program::ir::{Block, CheckKind, Edge, Operand, Pred, Terminator};

impl<const TRACK: bool> Run<'_, TRACK> {
    /// Leaves the block. Returns the status if the run is over.
    #[inline]
    pub(super) fn terminator(&mut self, block: &Block) -> Step<Option<i64>> {
        match &block.end {
            Terminator::Jump(edge) => self.follow(edge),
            Terminator::Branch {
                cond,
                then,
                otherwise,
            } => {
                let value = self.get(*cond, 1) & 1 == 1;
                let (taken, other) = if value {
                    (then, otherwise)
                } else {
                    (otherwise, then)
                };
                if TRACK {
                    self.pos = block.end_pos;
                    self.branched(*cond, value, taken.to, other.to);
                }
                self.follow(taken);
            }
            Terminator::Switch {
                value,
                width,
                cases,
                default,
            } => {
                let v = self.get(*value, *width);
                let hit = cases
                    .iter()
                    .find(|(case, _)| *case == v)
                    .map(|(_, edge)| edge);
                if TRACK {
                    self.pos = block.end_pos;
                    self.switched(*value, *width, v, cases, default);
                }
                self.follow(hit.unwrap_or(default));
            }
            Terminator::Return { values } => {
                self.pos = block.end_pos;
                return self.leave(values);
            }
            Terminator::Unreachable { check } => {
                self.pos = block.end_pos;
                let kind = check.and_then(|c| self.program.checks.get(c.index()));
                let kind = kind.map_or(CheckKind::Unreachable, |c| c.kind);
                return Err(self.violated(*check, kind, String::new()));
            }
            Terminator::IndirectBranch { address, targets } => {
                self.pos = block.end_pos;
                let to = self.concretise(*address, 64) as u64;
                match targets.iter().find(|(target, _)| *target == to) {
                    Some((_, edge)) => self.follow(edge),
                    None => return Err(Box::new(Outcome::Unmodelled(u32::MAX))),
                }
            }
        }
        Ok(None)
    }

    /// Records a switch as a branch for each case: the value differs from the other cases and
    /// equals the one that is taken.
    fn switched(
        &mut self,
        operand: Operand,
        width: u16,
        value: u128,
        cases: &[(u128, Edge)],
        default: &Edge,
    ) {
        let shade = self.shade(operand);
        if shade.undefined {
            self.undefined_decision();
        }
        let Some(term) = shade.term else { return };
        let taken = cases
            .iter()
            .find(|(case, _)| *case == value)
            .map_or(default, |(_, edge)| edge);
        for (case, edge) in cases {
            let hit = *case == value;
            let other = if hit { default.to } else { edge.to };
            let cond = self.make(|pool| {
                let case = pool.constant(width, *case);
                pool.cmp(if hit { Pred::Eq } else { Pred::Ne }, term, case)
            });
            if let Some(cond) = cond {
                self.record(Event::Branch {
                    from: self.block,
                    taken: taken.to,
                    other,
                    cond,
                });
            }
        }
    }

    /// Takes an edge. All of its values are read before any register is written.
    #[inline(always)]
    fn follow(&mut self, edge: &Edge) {
        match &*edge.moves {
            [] => {}
            [(reg, from)] => {
                let (value, shade) = self.moved(*from, *reg);
                self.set_shaded(*reg, value, shade);
            }
            moves => {
                let mut scratch = std::mem::take(&mut self.scratch);
                scratch.clear();
                scratch.extend(moves.iter().map(|(reg, from)| self.moved(*from, *reg)));
                for ((reg, _), (value, shade)) in moves.iter().zip(&scratch) {
                    self.set_shaded(*reg, *value, *shade);
                }
                self.scratch = scratch;
            }
        }
        self.block = edge.to;
        self.at = 0;
    }

    #[inline(always)]
    pub(super) fn moved(&self, from: Operand, to: crate::program::ir::Reg) -> (u128, Shade) {
        let width = if from == Operand::Undef {
            self.width_of(to)
        } else {
            64
        };
        (self.get(from, width), self.shade(from))
    }
}
