//! Walks the blocks of one function, each from the join of the states that arrive there.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::parts::{self, KeyPart, Parts};
use super::{Frame, Step, Walker};
use crate::deadline;
use crate::domain::linear::{Var, Which};
use crate::domain::num::Num;
use crate::domain::space::{self, Alive, ObjId, Object};
use crate::domain::state::State;
use crate::domain::value::Value;
use crate::domain::walk::guide::{Guide, Measure, Part, Stop};
use crate::program::ir::{BlockId, Edge, Loc, Operand, Pred, Reg, Terminator};

/// Blocks that are to be walked.
#[derive(Default)]
struct Pending {
    /// By place in the order, with the states that arrived.
    pub(super) blocks: BTreeMap<u32, (BlockId, Parts)>,
    /// The loop heads at which states arrived.
    pub(super) heads: FxHashMap<BlockId, Arrived>,
}

/// The states of a loop head that took in others during one walk of a function, each with whether
/// the walk has continued from it.
type Arrived = SmallVec<[(Part, bool); 2]>;

impl<'p, G: Guide> Walker<'p, G> {
    /// Walks a function's blocks from its entry states. Returns the exit states, in which the
    /// registers are the function's results.
    pub(super) fn body(&mut self, frame: &Frame, entries: Vec<State>) -> Step<Parts> {
        let mut pending = Pending::default();
        let mut exits = Parts::default();
        let first = BlockId(self.program.function(frame.function).blocks.start);
        for entry in entries {
            self.arrive(frame, None, first, entry, &mut pending)?;
        }
        while let Some((_, (block, states))) = pending.blocks.pop_first() {
            let states: Vec<State> = match pending.heads.get_mut(&block) {
                Some(arrived) => {
                    let states = self.guide.start((frame.ctx, block), arrived);
                    arrived.iter_mut().for_each(|(_, walked)| *walked = true);
                    states
                }
                None => states.states().collect(),
            };
            for state in states {
                self.blocks += 1;
                if self.blocks > self.block_limit {
                    return Err(Stop::Large);
                }
                if deadline::passed() {
                    return Err(Stop::Late);
                }
                self.guide.enters((frame.ctx, block), &state);
                let nul = |(&(id, which), at): (&(ObjId, Which), &Num)| {
                    format!("{} {at}", Var::Nul(id, which))
                };
                let held =
                    |(id, object): (&ObjId, &Object)| format!("o{} {}", id.0, object.contents);
                let shown = |(reg, value): (&Reg, &Value)| format!("r{} {value}", reg.0);
                let products = state.lines.products().iter().map(ToString::to_string);
                tracing::trace!(
                    block = %self.program.block(block).name,
                    registers = ?state.registers.iter().map(shown).collect::<Vec<_>>(),
                    lines = ?state.lines.iter().map(ToString::to_string).collect::<Vec<_>>(),
                    products = ?products.collect::<Vec<_>>(),
                    nuls = ?state.nuls.iter().map(nul).collect::<Vec<_>>(),
                    owners = %state.owners,
                    contents = ?state.objects.iter().map(held).collect::<Vec<_>>(),
                    "a block is walked"
                );
                self.found.entered.insert(block);
                self.block(frame, block, state, (&mut pending, &mut exits))?;
            }
        }
        exits.each(|exit| self.end(frame, exit));
        Ok(exits)
    }

    /// Walks a call, and returns the join of its exit states.
    pub(super) fn whole(&mut self, frame: &Frame, entry: State) -> Step<Option<State>> {
        let exits = self.body(frame, vec![entry])?;
        let widths = &self.program.function(frame.function).result;
        Ok(parts::joined(exits.states(), &self.names, widths))
    }

    /// Removes the objects of a call that is over.
    fn end(&self, frame: &Frame, exit: &mut State) {
        let names = &self.names;
        let own: Vec<_> = exit
            .objects
            .keys()
            .copied()
            .filter(|id| match names.kind(*id) {
                space::Kind::Made(made) => made.ctx == frame.ctx && !names.info(*id).heap,
                space::Kind::Global(_) | space::Kind::Function(_) | space::Kind::Gone => false,
            })
            .collect();
        if own.is_empty() {
            return;
        }
        if !frame.recursive {
            exit.remove(&own);
            return;
        }
        // The names stand for objects of other calls of the function, too, which may still be
        // alive.
        let kept = own.into_iter().filter(|id| {
            let site = names.site(*id);
            site.is_none_or(|site| self.points.is_kept(site))
        });
        for id in kept {
            exit.change(id, names, |object| object.alive = Alive::Maybe);
        }
    }

    fn arrive(
        &mut self,
        frame: &Frame,
        from: Option<BlockId>,
        to: BlockId,
        mut state: State,
        pending: &mut Pending,
    ) -> Step<()> {
        let flow = &frame.flow;
        state.keep(&self.names, |reg| flow.is_live(to, reg));
        state.ordered.clear();
        if flow.is_head(to) {
            state.forget_reads(|_| true);
            if self.relations {
                state.reduce(&self.names);
            }
        }
        let place = flow.place(to);
        let back = from.is_some_and(|from| flow.place(from) >= place);
        let widths = self.widths(frame);
        if flow.is_head(to) {
            let (null, length) = (self.null(frame, to, &state), self.length(frame, to, &state));
            let by = Measure {
                names: &self.names,
                widths,
                null,
                length,
            };
            let (again, part) = self.guide.arrive((frame.ctx, to), back, state, by)?;
            // A loop may be entered at another block, so that only its back edges lead to the head.
            let arrived = pending.heads.entry(to).or_default();
            if !arrived.iter().any(|(known, _)| *known == part) {
                arrived.push((part, false));
            }
            let walked = arrived.iter().all(|(_, walked)| *walked);
            if again || !back || !walked {
                pending.blocks.insert(place, (to, Parts::default()));
            }
            return Ok(());
        }
        let key = self.key(frame, to, &state);
        let (_, states) = pending
            .blocks
            .entry(place)
            .or_insert_with(|| (to, Parts::default()));
        states.add(key, state, (&self.names, widths), self.relations);
        Ok(())
    }

    fn block(
        &mut self,
        frame: &Frame,
        id: BlockId,
        state: State,
        (pending, exits): (&mut Pending, &mut Parts),
    ) -> Step<()> {
        let block = self.program.block(id);
        let mut states = vec![state];
        for (op, inst) in block.ops.iter().enumerate() {
            self.at = Loc {
                block: id,
                inst: inst.at,
            };
            self.pos = inst.pos;
            states = self.in_parts(frame, states, &inst.op, |walker, state| {
                walker.operation(frame, state, op as u32, &inst.op)
            })?;
        }
        self.at = Loc {
            block: id,
            inst: block.end_at,
        };
        self.pos = block.end_pos;
        for state in states {
            self.terminator(frame, id, state, (pending, exits))?;
        }
        Ok(())
    }

    fn terminator(
        &mut self,
        frame: &Frame,
        id: BlockId,
        mut state: State,
        (pending, exits): (&mut Pending, &mut Parts),
    ) -> Step<()> {
        match &self.program.block(id).end {
            Terminator::Jump(edge) => self.follow(frame, id, edge, state, pending)?,
            Terminator::Branch {
                cond,
                then,
                otherwise,
            } => {
                let mut other = state.clone();
                self.note_branch(frame, &state, *cond, (then.to, otherwise.to));
                if self.assume(frame, &mut state, *cond, true) {
                    self.follow(frame, id, then, state, pending)?;
                }
                if self.assume(frame, &mut other, *cond, false) {
                    self.follow(frame, id, otherwise, other, pending)?;
                }
            }
            Terminator::Switch {
                value,
                width,
                cases,
                default,
            } => {
                for (case, edge) in cases {
                    let mut taken = state.clone();
                    let case = self.names.constant(*width, *case);
                    if self.compare(frame, &mut taken, (Pred::Eq, *width), *value, &case) {
                        self.follow(frame, id, edge, taken, pending)?;
                    }
                    if !self.compare(frame, &mut state, (Pred::Ne, *width), *value, &case) {
                        return Ok(());
                    }
                }
                self.follow(frame, id, default, state, pending)?;
            }
            Terminator::IndirectBranch { address, targets } => {
                for (target, edge) in targets {
                    let mut taken = state.clone();
                    let target = self.names.constant(64, (*target).into());
                    if self.compare(frame, &mut taken, (Pred::Eq, 64), *address, &target) {
                        self.follow(frame, id, edge, taken, pending)?;
                    }
                    if !self.compare(frame, &mut state, (Pred::Ne, 64), *address, &target) {
                        return Ok(());
                    }
                }
                self.hole("a computed jump to an unknown place");
            }
            Terminator::Return { values } => {
                let widths = &self.program.function(frame.function).result;
                let lines = self.returned(frame, &state, (values, widths));
                let owners = self.owners_returned(frame, &state, (values, widths));
                let values: Vec<Value> = values
                    .iter()
                    .zip(widths)
                    .map(|(value, width)| self.get(frame, &state, *value, *width))
                    .collect();
                let registers = (0u32..).map(Reg).zip(values).collect();
                let returned = State {
                    registers,
                    lines,
                    objects: state.objects,
                    nuls: state.nuls,
                    fates: state.fates,
                    owners,
                    ..State::default()
                };
                let kind = KeyPart::of(returned.registers.get(&Reg(0)));
                let key = std::iter::once(kind).chain(self.lasts(&returned));
                let by = (&self.names, &widths[..]);
                exits.add(key.collect(), returned, by, self.relations);
            }
            Terminator::Unreachable { check } => {
                self.violates(*check);
            }
        }
        Ok(())
    }

    /// Follows an edge. If it carries a condition that is tested after it, as `a && b` in a loop
    /// head does, follows it once with the condition true and once with it false: after the edge,
    /// it is not known any more how the condition was computed.
    fn follow(
        &mut self,
        frame: &Frame,
        from: BlockId,
        edge: &Edge,
        state: State,
        pending: &mut Pending,
    ) -> Step<()> {
        let Some(cond) = self.carried(frame, edge, &state) else {
            return self.follow_whole(frame, from, edge, state, pending);
        };
        for holds in [true, false] {
            let mut taken = state.clone();
            if self.assume(frame, &mut taken, cond, holds) {
                self.follow_whole(frame, from, edge, taken, pending)?;
            }
        }
        Ok(())
    }

    /// A condition that may be true or false, and that an edge moves to a selector of its target.
    fn carried(&self, frame: &Frame, edge: &Edge, state: &State) -> Option<Operand> {
        let selectors = frame.flow.selectors(edge.to);
        let mut carried = edge.moves.iter().filter(|(to, from)| {
            let is_open = || self.get(frame, state, *from, 1).as_constant().is_none();
            self.width(frame, *to) == 1
                && matches!(from, Operand::Reg(_))
                && selectors.contains(to)
                && is_open()
        });
        carried.next().map(|(_, from)| *from)
    }

    fn follow_whole(
        &mut self,
        frame: &Frame,
        from: BlockId,
        edge: &Edge,
        mut state: State,
        pending: &mut Pending,
    ) -> Step<()> {
        let widths = self.widths(frame);
        let moves: Vec<(Reg, Value, Option<Reg>)> = edge
            .moves
            .iter()
            .filter(|(reg, _)| frame.flow.is_live(edge.to, *reg))
            .map(|(reg, operand)| {
                let width = widths.get(reg.index()).copied().unwrap_or(64);
                let from = match operand {
                    Operand::Reg(from) => Some(*from),
                    _ => None,
                };
                (*reg, self.get(frame, &state, *operand, width), from)
            })
            .collect();
        let lines = self.moved(frame, &state, &edge.moves);
        let owners = self.owners_moved(frame, &state, &edge.moves);
        let before = (state.cells.clone(), state.wrapped.clone());
        for (reg, value, from) in moves {
            state.set(reg, value);
            if let Some(from) = from {
                if let Some(cell) = before.0.get(&from) {
                    state.cells.insert(reg, *cell);
                }
                if before.1.contains(&from) {
                    state.wrapped.insert(reg);
                }
            }
        }
        state.lines = lines;
        state.owners = owners;
        self.arrive(frame, Some(from), edge.to, state, pending)
    }
}
