//! Deviations: what external functions may do besides what the bodies in their places do.
//!
//! A body takes the values of a call from the tape, so that every run of it can be repeated
//! natively. That makes the body plausible but not complete: the real function may write every
//! object that it can reach ([`crate::program::outside`]). So after each call, and before each call
//! back into the program, every byte of those objects is either what the body left there or
//! anything. A *deviation*, one bit per call, decides which. A proof has to hold for both. A
//! question for a tape excludes the deviations, because no tape makes them happen.
//!
//! Addresses keep their values: that external functions change no pointers in objects of the
//! program is a separate assumption.

use std::rc::Rc;

use super::super::cuts::CELLS;
use super::super::memory::Object;
use super::super::state::{Reached, Surroundings};
use super::super::world::{CtxId, ObjId, ObjectKind};
use super::{Encoder, Step};
use crate::program::ir::{FuncId, FunctionKind};
use crate::program::outside::{Reached as Outreach, Site};
use crate::term::Term;

/// The rule that external functions change no pointers.
const POINTERS: &str = "external-pointers";
/// The rule that the results of external functions do not lead into the program's objects.
const RESULTS: &str = "external-results";
/// The rule that external functions free nothing.
const FREES: &str = "external-frees";

impl Encoder<'_, '_> {
    /// Applies the effects that the external function of this context may have had so far.
    pub(super) fn deviate(&mut self, ctx: CtxId, now: &mut Reached) -> Step {
        let function = self.world.context(ctx).function;
        let program = self.world.program();
        if program.function(function).kind != FunctionKind::Mock {
            return Ok(());
        }
        let Some(reached) = program.outside.reachable_by(function) else {
            return Ok(());
        };
        if program.function(function).effects.pure {
            return Ok(());
        }
        let always = self.pool.bit(true);
        if reached.spares {
            self.narrow(ctx, now, "const", always)?;
        }
        // This holds whatever the function was given, because any file can call `main`.
        self.narrow(ctx, now, "external-calls", always)?;
        if program.outside.registers_exit_handlers {
            self.narrow(ctx, now, "external-exits", always)?;
        }
        if program.outside.uses_library_state {
            self.narrow(ctx, now, "external-library", always)?;
        }
        let written = self.written(ctx, now, reached);
        if written.is_empty() {
            return Ok(());
        }
        let deviates = self.deviation(function);
        let mut kept = false;
        let mut heap = false;
        for id in written {
            kept |= self.rewrite(now, id, deviates);
            heap |= self.world.object(id).heap;
        }
        if kept {
            self.narrow(ctx, now, POINTERS, always)?;
        }
        if heap && !self.is_lifted(FREES) {
            self.narrow(ctx, now, FREES, always)?;
        }
        Ok(())
    }

    /// Notes the assumption that the results of an external function do not lead into the program's
    /// objects.
    pub(super) fn given(&mut self, ctx: CtxId, now: &mut Reached) -> Step {
        let function = self.world.context(ctx).function;
        let function = self.world.program().function(function);
        if function.kind != FunctionKind::Mock || !function.effects.gives {
            return Ok(());
        }
        let always = self.pool.bit(true);
        self.narrow(ctx, now, RESULTS, always)
    }

    fn is_lifted(&self, id: &str) -> bool {
        self.world.program().lifted.contains(id)
    }

    /// The objects of a state that the external function of this context may write. If the call
    /// happens only once, the objects that it made itself are left out: their bytes are from the
    /// tape, and so may be anything already.
    fn written(&mut self, ctx: CtxId, now: &Reached, reached: &Outreach) -> Vec<ObjId> {
        let once = !self.world.context(ctx).repeated;
        let mut written: Vec<ObjId> = Vec::new();
        for &site in &reached.written {
            if let Site::Global(global) = site {
                written.push(self.world.global(global));
            }
        }
        let made = now.state.objects.keys().filter(|&&id| {
            let info = self.world.object(id);
            match info.kind {
                ObjectKind::Global(_) => false,
                ObjectKind::Made { ctx: by, .. } if once && self.world.is_within(by, ctx) => false,
                ObjectKind::Made { block, op, .. } => {
                    info.writable && reached.written.contains(&Site::Made(block, op))
                }
            }
        });
        written.extend(made);
        written.sort_unstable();
        written
    }

    /// A new deviation.
    fn deviation(&mut self, function: FuncId) -> Term {
        let bit = self.unknown(1);
        self.out.deviations.push((bit, function));
        bit
    }

    /// Makes all bytes of an object except for its addresses unknown if `deviates`. Returns whether
    /// there are addresses.
    fn rewrite(&mut self, now: &mut Reached, id: ObjId, deviates: Term) -> bool {
        let Some(object) = self.object(&now.state, id) else {
            return false;
        };
        let mut object = Object::clone(&object);
        let contents = &object.contents;
        let size = self.pool.as_const(object.size);
        let small = size
            .filter(|&size| size <= u128::from(CELLS))
            .map(|n| n as u32);
        let by_cell = small.filter(|_| self.world.object(id).indexed.is_empty());
        let mut pieces: Vec<(u32, Term)> = contents.wholes(self.pool, 0, u32::MAX);
        let mut free = 0;
        let mut rest = Vec::new();
        for &(at, value) in &pieces {
            let len = u32::from(self.pool.width(value) / 8);
            rest.push((free, at));
            free = free.max(at + len);
        }
        rest.push((free, by_cell.unwrap_or(0)));
        for (low, high) in rest {
            let mut at = low;
            while by_cell.is_some() && at < high {
                let mut len = 4;
                while !at.is_multiple_of(len) || at + len > high {
                    len /= 2;
                }
                pieces.push((at, contents.read_at(self.pool, at, len)));
                at += len;
            }
        }
        let single: Vec<(u32, Term)> = contents
            .overlay
            .iter()
            .filter(|(at, _)| {
                let covers = |&(start, value): &(u32, Term)| {
                    let len = u32::from(self.pool.width(value) / 8);
                    (start..start + len).contains(at)
                };
                !pieces.iter().any(covers)
            })
            .map(|(&at, &byte)| (at, byte))
            .collect();
        pieces.extend(single);
        if by_cell.is_none() {
            let anything = self.unknown_array();
            let base = object.contents.base;
            object.contents.base = self.pool.array_ite(deviates, anything, base);
        }
        let (mut kept, keeps) = (false, !self.is_lifted(POINTERS));
        for (at, value) in pieces {
            if keeps && self.is_address(now, value) {
                kept = true;
                continue;
            }
            let width = self.pool.width(value);
            let anything = self.unknown(width);
            let either = self.pool.ite(deviates, anything, value);
            object.contents.write_at(self.pool, at, either);
        }
        object.contents.witness = None;
        if self.world.object(id).heap && self.is_lifted(FREES) {
            let stays = self.unknown(1);
            let may_stay = self.pool.and(object.alive, stays);
            object.alive = self.pool.ite(deviates, may_stay, object.alive);
        }
        now.state.objects.insert(id, Rc::new(object));
        kept
    }
}
