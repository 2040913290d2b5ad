//! The heap, with the semantics of [`crate::symbolic`].

use std::sync::Arc;

use super::memory::Purpose;
use super::sized::Asked;
use super::{Frame, Guide, Walker};
use crate::domain::contents::{Contents, END};
use crate::domain::linear::{Sum, Var};
use crate::domain::nul::Ends;
use crate::domain::num::Num;
use crate::domain::owners::Holder;
use crate::domain::space::{Alive, Made, ObjId, Object};
use crate::domain::state::State;
use crate::domain::value::Value;
use crate::program::ir::Reg;
use crate::program::ir::{BinOp, Call, CheckId, HeapFn, Operand};
use crate::term::fault::{COARSEST, ONE_ALLOCATION};

const ENOMEM: u128 = 12;
const EINVAL: u128 = 22;

/// What may come of a request for memory.
struct Request {
    /// The size of the block that is given; `None` if the request is always refused.
    size: Option<Num>,
    /// Whether the request may be refused.
    refused: bool,
}

impl Request {
    fn of(size: &Num) -> Request {
        let most = Num::between(64, 0, ONE_ALLOCATION);
        Request {
            size: most.and_then(|most| size.meet(64, &most)),
            refused: size.high > ONE_ALLOCATION,
        }
    }
}

impl<G: Guide> Walker<'_, G> {
    /// Makes a new object and returns its address. If its name is not single, the object is joined
    /// with those that were made before.
    pub(super) fn make(&mut self, state: &mut State, made: Made, object: Object) -> Value {
        let info = self.info(made);
        let id = self.names.name(made, info);
        let object = match state.objects.get(&id).filter(|_| !info.is_unique) {
            Some(before) => Object {
                alive: if before.alive == Alive::Yes {
                    Alive::Yes
                } else {
                    Alive::Maybe
                },
                size: before.size.join(64, &object.size),
                contents: Arc::new(before.contents.join(&object.contents, &self.names)),
            },
            None => object,
        };
        Arc::make_mut(&mut state.objects).insert(id, object);
        state.forget_written(id, (0, END), Ends::Forgotten, &self.names);
        state.lines.drop(|var| var == Var::Size(id));
        Value::address(id, Num::exactly(64, 0))
    }

    /// Makes a new block of the heap and returns its address.
    fn block_of(
        &mut self,
        frame: &Frame,
        state: &mut State,
        op: u32,
        size: Num,
        mut contents: Contents,
    ) -> Value {
        let made = Made {
            ctx: frame.ctx,
            block: self.at.block.0,
            op,
            part: 0,
        };
        if self.is_renewed(made) {
            let [last, _] = [made, made.older()].map(|made| {
                let info = self.info(made);
                self.names.name(made, info)
            });
            state.renew(last, &mut contents, &self.names);
        }
        let object = Object {
            alive: Alive::Yes,
            size,
            contents: Arc::new(contents),
        };
        self.make(state, made, object)
    }

    /// The address of a requested block, or NULL if the request may be refused.
    fn request(
        &mut self,
        frame: &Frame,
        state: &mut State,
        op: u32,
        request: &Request,
        contents: Contents,
    ) -> Value {
        let mut value = Value {
            num: None,
            ptr: Vec::new(),
        };
        if let Some(size) = request.size {
            value = self.block_of(frame, state, op, size, contents);
        }
        if request.refused {
            self.fails(state, ENOMEM);
            value.num = Some(Num::exactly(64, 0));
        }
        value
    }

    /// Sets errno, as a request that fails does. The request may also succeed.
    fn fails(&mut self, state: &mut State, error: u128) {
        let Some(errno) = self.program.errno() else {
            return;
        };
        let id = self.names.global(errno);
        let names = &self.names;
        state.change(id, names, |object| {
            let place = Num::exactly(64, 0);
            let error = Value::exactly(32, error);
            Arc::make_mut(&mut object.contents).store(&place, 4, &error, names);
        });
        state.forget_written(id, (0, 4), Ends::Forgotten, &self.names);
    }

    /// Executes a heap function. Returns false if no execution continues.
    pub(super) fn heap_function(
        &mut self,
        frame: &Frame,
        state: &mut State,
        function: HeapFn,
        (call, op): (&Call, u32),
        check: Option<CheckId>,
    ) -> bool {
        let operand = |i: usize| call.args.get(i).map_or(Operand::Const(0), |arg| arg.value);
        let number =
            |walker: &Self, state: &State, i: usize| walker.number(frame, state, operand(i), 64);
        let result = match function {
            HeapFn::Malloc | HeapFn::Valloc => {
                let size = number(self, state, 0);
                self.request(frame, state, op, &Request::of(&size), Contents::any())
            }
            HeapFn::AlignedAlloc => {
                let (alignment, size) = (number(self, state, 0), number(self, state, 1));
                let mut value =
                    self.request(frame, state, op, &Request::of(&size), Contents::any());
                if !is_straight(&alignment, 1) {
                    self.fails(state, EINVAL);
                    value.num = Some(Num::exactly(64, 0));
                }
                value
            }
            HeapFn::Calloc => {
                let (n, size) = (number(self, state, 0), number(self, state, 1));
                let request = elements(&n, &size);
                let most = request.size.map_or(0, |size| size.high);
                let zeros = Contents::zeros(u32::try_from(most).unwrap_or(END));
                self.request(frame, state, op, &request, zeros)
            }
            HeapFn::Row => {
                let size = number(self, state, 0);
                let zeros = Contents::zeros(u32::try_from(size.high).unwrap_or(END));
                self.block_of(frame, state, op, size, zeros)
            }
            HeapFn::Realloc => {
                let size = number(self, state, 1);
                let request = (Request::of(&size), size.low == 0);
                match self.realloc(frame, state, (call, op), request, check) {
                    Some(value) => value,
                    None => return false,
                }
            }
            HeapFn::ReallocArray => {
                let (n, size) = (number(self, state, 1), number(self, state, 2));
                let request = (elements(&n, &size), n.low == 0 || size.low == 0);
                match self.realloc(frame, state, (call, op), request, check) {
                    Some(value) => value,
                    None => return false,
                }
            }
            HeapFn::Free => {
                return self
                    .release(frame, state, operand(0), check, true)
                    .is_some();
            }
            HeapFn::UsableSize => match self.release(frame, state, operand(0), check, false) {
                Some(blocks) => {
                    let sizes = blocks
                        .iter()
                        .filter_map(|id| state.object(*id, &self.names));
                    let zero = Num::exactly(64, 0);
                    Value::number(sizes.fold(zero, |all, object| all.join(64, &object.size)))
                }
                None => return false,
            },
            HeapFn::PosixMemalign => return self.posix_memalign(frame, state, (call, op), check),
        };
        let sized = self.sized(frame, state, function, call, &result);
        let never_null = result.num.is_none();
        self.give(state, call, result);
        if function != HeapFn::UsableSize {
            self.owner_given(state, call);
        }
        if let Some((id, asked)) = sized {
            let size = Sum::of(Var::Size(id));
            match asked {
                Asked::Sum(asked) => state.lines.zero(asked.plus(&size, -1)),
                Asked::Product(factors) => self.multiply(state, factors, size),
            }
            if never_null {
                self.granted(frame, state, id);
            }
        }
        true
    }

    /// The blocks that start where an operand points to. Releases them if `ends`. Returns `None` if
    /// no execution continues.
    fn release(
        &mut self,
        frame: &Frame,
        state: &mut State,
        operand: Operand,
        check: Option<CheckId>,
        ends: bool,
    ) -> Option<Vec<ObjId>> {
        let value = self.get(frame, state, operand, 64);
        let (led, vague) = self.targets_of(frame, state, operand, &value);
        let null = value.num.is_some_and(|num| num.has(64, 0));
        let lives = match operand {
            Operand::Reg(reg) => state.owners.lives(Holder::of(reg)),
            _ => false,
        };
        let mut bad = !lives && value.num.is_some_and(|num| num.as_constant() != Some(0));
        let mut blocks = Vec::new();
        for (id, offset) in led {
            let object = state
                .object(id, &self.names)
                .filter(|_| self.names.info(id).heap);
            let Some(object) = object.filter(|o| o.alive != Alive::No && offset.has(64, 0)) else {
                bad |= !lives;
                continue;
            };
            bad |= !lives && (object.alive != Alive::Yes || offset.as_constant() != Some(0));
            blocks.push(id);
        }
        if bad {
            self.note_release(frame, state, (operand, &value), check);
            self.violates(check);
        }
        if blocks.is_empty() && vague && value.ptr.is_empty() {
            self.hole("a release of which it is not known what it releases");
            return None;
        }
        if blocks.is_empty() && !null {
            return None;
        }
        if ends {
            let sure = blocks.len() == 1 && !null && !vague && self.names.info(blocks[0]).is_unique;
            tracing::trace!(at = %self.program.show(self.pos), ?blocks, sure, "a release");
            self.over(state, (operand, &blocks), sure);
        }
        Some(blocks)
    }

    /// Releases blocks; unless it is `sure`, they may also stay.
    fn over(&mut self, state: &mut State, (operand, blocks): (Operand, &[ObjId]), sure: bool) {
        if sure {
            let owners = Arc::make_mut(&mut state.owners);
            blocks.iter().for_each(|id| owners.ended(*id));
        }
        self.owners_released(state, operand, blocks);
        for &id in blocks {
            state.change(id, &self.names, |object| {
                object.alive = if sure { Alive::No } else { Alive::Maybe };
            });
        }
    }

    /// Replaces a block by a new one, whose address it returns. If the request may be refused, a
    /// further state, in which the old block stays, is kept apart. Returns `None` if no execution
    /// continues. If the requested size may be zero (`nothing`), the request may only release the
    /// old block and return NULL.
    fn realloc(
        &mut self,
        frame: &Frame,
        state: &mut State,
        (call, op): (&Call, u32),
        (mut request, nothing): (Request, bool),
        check: Option<CheckId>,
    ) -> Option<Value> {
        let old = call.args.first().map_or(Operand::Const(0), |arg| arg.value);
        let refused = std::mem::take(&mut request.refused) || request.size.is_none();
        let before = refused.then(|| state.clone());
        let value = self.get(frame, state, old, 64);
        let blocks = self.release(frame, state, old, check, false)?;
        let kept = match blocks[..] {
            [id] if value.single_target().is_some() => state.object(id, &self.names),
            _ => None,
        };
        let contents = kept.map_or(Contents::any(), |object| {
            let count = u32::try_from(object.size.low).unwrap_or(END);
            let mut contents = Contents::any();
            contents.paste(0, count, &object.contents.cut(0, count));
            contents
        });
        // The old block stays alive only if the request was refused.
        let moves = request.size.is_some();
        let mut moved = None;
        if moves && !blocks.is_empty() {
            let null = value.num.is_some();
            let sure = blocks.len() == 1 && !null && self.names.info(blocks[0]).is_unique;
            // Only its owner points to an owned block, and none of the block's own elements does.
            let owned = match old {
                Operand::Reg(reg) => state.owners.index(Holder::of(reg)).is_some(),
                _ => false,
            };
            if sure && owned {
                moved = state.row_to_move(blocks[0], &self.names);
            }
            self.over(state, (old, &blocks), sure);
        }
        if let Some(mut before) = before {
            self.fails(&mut before, ENOMEM);
            self.give(&mut before, call, Value::exactly(64, 0));
            if !moves {
                *state = before;
                return Some(Value::exactly(64, 0));
            }
            self.further_states.push(before);
        }
        let mut result = self.request(frame, state, op, &request, contents);
        if let Some(moved) = moved {
            state.move_row(moved, result.single_target().map(|(to, _)| to));
        }
        if nothing && !blocks.is_empty() {
            let null = Num::exactly(64, 0);
            result.num = Some(result.num.map_or(null, |num| num.join(64, &null)));
        }
        Some(result)
    }

    fn posix_memalign(
        &mut self,
        frame: &Frame,
        state: &mut State,
        (call, op): (&Call, u32),
        check: Option<CheckId>,
    ) -> bool {
        let operand = |i: usize| call.args.get(i).map_or(Operand::Const(0), |arg| arg.value);
        let (alignment, size) = (
            self.number(frame, state, operand(1), 64),
            self.number(frame, state, operand(2), 64),
        );
        let request = Request::of(&size);
        let mut error = Value::exactly(32, 0);
        if request.refused {
            error = error.join(&Value::exactly(32, ENOMEM), 32);
        }
        if !is_straight(&alignment, 8) {
            error = error.join(&Value::exactly(32, EINVAL), 32);
        }
        let fails = error.as_constant() != Some(0);
        if let Some(size) = request.size {
            let address = self.block_of(frame, state, op, size, Contents::any());
            let purpose = Purpose {
                check,
                write: true,
                len: None,
            };
            let bytes = Num::exactly(64, 8);
            match self.access(frame, state, operand(0), &bytes, purpose) {
                Some(access) if !self.goes(&access) => return false,
                Some(access) => {
                    for (id, offset) in &access.targets {
                        let names = &self.names;
                        let sure = access.place().filter(|_| !fails);
                        state.change(*id, names, |object| {
                            let contents = Arc::make_mut(&mut object.contents);
                            match sure {
                                Some((_, at)) => contents.set(at, 8, address.clone()),
                                None => contents.store(offset, 8, &address, names),
                            }
                        });
                        let bytes = crate::domain::contents::span(offset, 8);
                        state.forget_written(*id, bytes, Ends::Forgotten, &self.names);
                    }
                }
                None if !fails => return false,
                None => {}
            }
        }
        self.give(state, call, error);
        true
    }

    /// Sets the result of a call.
    pub(super) fn give(&self, state: &mut State, call: &Call, value: Value) {
        if let Some(&width) = call.result.first() {
            let fits = width == 64 || value.ptr.is_empty();
            let value = if fits { value } else { Value::all(width) };
            state.set(Reg(call.dst.0), value);
        }
    }
}

/// Whether an alignment is known to be accepted.
fn is_straight(alignment: &Num, least: u64) -> bool {
    let single = alignment.as_constant();
    single.is_some_and(|n| n.is_power_of_two() && (least..=COARSEST).contains(&n))
}

/// The request for `n` elements of a size. It is refused where their product overflows.
fn elements(n: &Num, size: &Num) -> Request {
    let most = u128::from(n.high) * u128::from(size.high);
    let product = match u64::try_from(most) {
        Ok(_) => n.bin(BinOp::Mul, 64, size),
        Err(_) => Num::all(64),
    };
    let request = Request::of(&product);
    Request {
        refused: request.refused || most > u128::from(u64::MAX),
        ..request
    }
}
