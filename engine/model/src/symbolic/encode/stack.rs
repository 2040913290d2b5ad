//! Objects on the stack: their creation and their lifetime.

use std::rc::Rc;

use crate::program::ir::Operand;
use crate::symbolic::encode::pointer::Root;
use crate::symbolic::encode::{Encoder, Step};
use crate::symbolic::memory::{Contents, Object, constant};
use crate::symbolic::state::{Reached, Surroundings};
use crate::symbolic::world::{CtxId, ObjId, ObjectKind};
use crate::term::Term;

impl Encoder<'_, '_> {
    /// Creates an object and returns its address.
    pub(super) fn allocate(
        &mut self,
        ctx: CtxId,
        now: &mut Reached,
        (op, part): (usize, u32),
        size: Term,
        contents: Contents,
        heap: bool,
    ) -> Term {
        let function = self.world.context(ctx).function;
        let block = self.block;
        let cyclic = self.world.flow(function).cyclic.contains(&block);
        let once = !cyclic && !self.world.context(ctx).repeated;
        let kind = ObjectKind::Made {
            ctx,
            block,
            op: op as u32,
            part,
        };
        let id = self.world.made(kind, heap, once);
        let number = match self.world.object(id).number {
            Some(number) => self.pool.constant(32, u128::from(number)),
            None => {
                let number = self.unknown(32);
                self.numbers.insert(number, id);
                number
            }
        };
        let object = Object {
            alive: self.pool.bit(true),
            size,
            number,
            contents,
        };
        now.state.objects.insert(id, Rc::new(object));
        if !heap {
            let objects = Rc::make_mut(&mut now.state.frame().objects);
            if !objects.contains(&id) {
                objects.push(id);
            }
        }
        let zero = self.pool.constant(32, 0);
        self.pool.concat(number, zero)
    }

    /// The objects that a pointer may point to, each with its condition and offset. Execution does
    /// not continue where they are not known.
    fn marked(
        &mut self,
        ctx: CtxId,
        now: &mut Reached,
        address: Term,
    ) -> Step<Vec<(Term, ObjId, Term)>> {
        let mut all = Vec::new();
        let mut vague = false;
        for case in self.split(now, address) {
            let found = match case.root {
                Root::Number(number) => self.world.object_at(number),
                Root::Of(id) => Some(id),
                Root::Null => None,
                Root::Unknown => {
                    vague = true;
                    None
                }
            };
            all.extend(found.map(|id| (case.cond, id, case.offset)));
        }
        // Ignoring this case would treat an object whose lifetime has ended as alive.
        self.go_only(ctx, now, vague, address)?;
        Ok(all)
    }

    pub(super) fn lifetime(
        &mut self,
        ctx: CtxId,
        now: &mut Reached,
        start: bool,
        address: Operand,
    ) -> Step {
        let address = self.get(&mut now.state, address, 64);
        for (cond, id, _) in self.marked(ctx, now, address)? {
            let Some(before) = now.state.objects.get(&id).cloned() else {
                continue;
            };
            let mut object = Object::clone(&before);
            object.alive = self.pool.bit(start);
            if start {
                object.contents = self.unknown_contents();
            }
            let object = object.merge(self.pool, cond, &before);
            now.state.objects.insert(id, Rc::new(object));
        }
        Ok(())
    }

    pub(super) fn uninit(
        &mut self,
        ctx: CtxId,
        now: &mut Reached,
        address: Operand,
        len: Operand,
    ) -> Step {
        let address = self.get(&mut now.state, address, 64);
        let len = self.get(&mut now.state, len, 64);
        for (cond, id, offset) in self.marked(ctx, now, address)? {
            let Some(before) = self.object(&now.state, id) else {
                continue;
            };
            let mut object = Object::clone(&before);
            let at = constant(self.pool, offset);
            let n = self.pool.as_const(len).map(|n| n as u64);
            match (at, n) {
                (Some(at), Some(n)) if n <= 64 => {
                    for i in 0..n as u32 {
                        let byte = self.unknown(8);
                        object
                            .contents
                            .write_at(self.pool, at.wrapping_add(i), byte);
                    }
                }
                _ => object.contents = self.unknown_contents(),
            }
            let object = object.merge(self.pool, cond, &before);
            now.state.objects.insert(id, Rc::new(object));
        }
        Ok(())
    }

    /// Restores the stack, which ends the lifetime of variable-length arrays. Which arrays end is
    /// not tracked, so for those of the frame it becomes unknown whether they are alive. If all of
    /// them ended, an access to one that is still alive would seem impossible, and with it
    /// everything after the access.
    pub(super) fn stack_restore(&mut self, ctx: CtxId, now: &mut Reached) {
        let function = self.world.context(ctx).function;
        let first = self.world.program().function(function).blocks.start;
        let late = |id: &super::super::world::ObjId| match self.world.object(*id).kind {
            ObjectKind::Made { block, .. } => block.0 != first,
            ObjectKind::Global(_) => false,
        };
        let all = &now.state.frame().objects;
        let unsure: Vec<_> = all.iter().filter(|id| late(id)).copied().collect();
        for id in unsure {
            let Some(object) = now.state.objects.get(&id) else {
                continue;
            };
            let mut object = Object::clone(object);
            let lives = self.unknown(1);
            object.alive = self.pool.and(object.alive, lives);
            now.state.objects.insert(id, Rc::new(object));
        }
    }
}
