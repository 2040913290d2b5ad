//! The values that a transition assigns to the variables of its target.
//!
//! The state at the end of a transition is an instance of what is known of its target: each
//! variable of the target has a value there, in terms of the variables of the fragment's start and
//! the fragment's unknowns. Substituting these values turns a formula over the target into its
//! weakest precondition.

use rustc_hash::FxHashMap;

use super::cuts::{Cell, CutState, Part, Place};
use super::encode::Transition;
use super::encode::pointer::{Case, Root, Splitter, excluded};
use super::memory::{self, Object};
use super::range::Range;
use super::state::{Guard, Reached};
use super::world::{ObjId, World};
use crate::program::ir::{DYNAMIC_OBJECTS, Width, place_of};
use crate::term::{Array, Node, Pool, Rewriter, Term};

/// The values that a transition assigns to the variables of its target, in terms of the variables
/// of its start and the fragment's unknowns.
#[derive(Clone, Debug, Default)]
pub struct Update {
    /// Variables and their new values.
    pub terms: Vec<(Term, Term)>,
    /// Arrays and their new contents.
    pub arrays: Vec<(Array, Array)>,
    /// Variables whose values are addresses although the target does not know them to be pointers.
    /// The number of an object is arbitrary, so nothing may be known of these values, and they are
    /// replaced by unknowns.
    pub hidden: Vec<Term>,
}

impl Update {
    /// The substitution that turns formulas over the target's variables into their weakest
    /// preconditions.
    pub fn preimage(&self) -> Rewriter {
        let mut rewriter = Rewriter::new();
        for &(variable, value) in &self.terms {
            rewriter.replace(variable, value);
        }
        for &(array, value) in &self.arrays {
            rewriter.replace_array(array, value);
        }
        rewriter
    }
}

impl Update {
    /// The update of a transition. It is empty for a target of which nothing is known. `unknowns`
    /// is the counter for the names of new unknowns.
    pub fn of(
        pool: &mut Pool,
        world: &World<'_>,
        (from, target): (Option<&CutState>, &CutState),
        transition: &Transition,
        unknowns: &mut u32,
    ) -> Update {
        let variables = target.variables(pool, world);
        let arrays = target.arrays(pool, world);
        let mut after = EndValues {
            world,
            from,
            transition,
            unknowns,
        };
        let mut update = Update::default();
        for (place, variable) in variables {
            let width = pool.width(variable);
            let bounds = target.bounds.get(&variable).copied();
            let mut value = after.place(pool, &place, width, bounds);
            // Known bounds have to hold for the value itself, so such a value is not hidden.
            if bounds.is_none() && after.hides(pool, &place, value) {
                value = after.unknown(pool, width);
                update.hidden.push(variable);
            }
            update.terms.push((variable, value));
        }
        for (object, array) in arrays {
            let value = after.array(pool, object);
            update.arrays.push((array, value));
        }
        update
    }
}

/// Splits pointers in a state at the end of a fragment.
pub struct PointerSplitter<'a, 'p> {
    /// The pool of the terms.
    pub pool: &'a mut Pool,
    /// The contexts and objects.
    pub world: &'a World<'p>,
    /// What was known at the start of the fragment.
    pub from: Option<&'a CutState>,
    /// The objects of the state without a fixed number, by the terms of their numbers.
    pub numbers: FxHashMap<Term, ObjId>,
    /// The condition under which the state is reached.
    pub guard: Guard,
}

impl<'a, 'p> PointerSplitter<'a, 'p> {
    /// Creates a splitter for one state.
    pub fn new(
        pool: &'a mut Pool,
        world: &'a World<'p>,
        from: Option<&'a CutState>,
        reached: &Reached,
    ) -> PointerSplitter<'a, 'p> {
        let numbers = reached
            .state
            .objects
            .iter()
            .filter(|(id, _)| world.object(**id).number.is_none())
            .map(|(&id, object)| (object.number, id))
            .collect();
        PointerSplitter {
            pool,
            world,
            from,
            numbers,
            guard: reached.guard.clone(),
        }
    }

    /// All cases of a 64-bit value as a pointer.
    pub fn split(&mut self, value: Term) -> Vec<Case> {
        let from = self.from;
        let numbers = &self.numbers;
        let reverse: FxHashMap<ObjId, Term> = numbers.iter().map(|(&t, &id)| (id, t)).collect();
        let mut splitter = Splitter {
            pool: self.pool,
            bases: &|t| from?.bases.get(&t).cloned(),
            of: &|t| numbers.get(&t).copied(),
            // The number that an object had at the start counts only if the object still has it.
            number: &|id| {
                let number = from?.number_term(id)?;
                (reverse.get(&id) == Some(&number)).then_some(number)
            },
            exact: from.map_or(&[], |from| &from.exact),
        };
        let mut cases = splitter.split(value);
        if cases.len() > 1 {
            cases.retain(|case| !excluded(self.pool, &self.guard, case.cond));
        }
        cases
    }
}

/// Values at the end of a transition.
struct EndValues<'a, 'p> {
    world: &'a World<'p>,
    from: Option<&'a CutState>,
    transition: &'a Transition,
    unknowns: &'a mut u32,
}

impl EndValues<'_, '_> {
    fn unknown(&mut self, pool: &mut Pool, width: Width) -> Term {
        *self.unknowns += 1;
        pool.variable(&format!("?after.{}", self.unknowns), width)
    }

    /// Whether a value, or a word that contains it, is the address of an object with a fixed
    /// number, and the target does not know the value to be a pointer. Fixed numbers are an
    /// arbitrary choice.
    fn hides(&self, pool: &mut Pool, place: &Place, value: Term) -> bool {
        match place {
            Place::Register(_, _, Part::Whole) => self.leads(pool, value),
            Place::Cell(_, cell, Part::Whole) if cell.width == 64 && cell.offset % 8 == 0 => {
                self.leads(pool, value)
            }
            Place::Cell(id, cell, Part::Whole) => {
                let last = cell.offset + u32::from(cell.width / 8).max(1) - 1;
                let Some(object) = self.object(pool, *id) else {
                    return false;
                };
                (cell.offset / 8..=last / 8).any(|word| {
                    let whole = object.contents.wholes(pool, word * 8, 8);
                    whole.into_iter().any(|(_, word)| self.leads(pool, word))
                })
            }
            _ => false,
        }
    }

    /// Whether a value may be the address of an object that the program makes at most once.
    fn leads(&self, pool: &mut Pool, value: Term) -> bool {
        let may_be = pool.as_const(value).is_some()
            || matches!(
                pool.node(value),
                Node::Concat(..) | Node::Ite(..) | Node::Bin(..)
            );
        if !may_be || pool.width(value) != 64 {
            return false;
        }
        let mut pointers =
            PointerSplitter::new(pool, self.world, self.from, &self.transition.reached);
        let cases = pointers.split(value);
        cases.into_iter().any(|case| {
            let Root::Number(number) = case.root else {
                return false;
            };
            let mut all = self.world.objects();
            place_of(number) > DYNAMIC_OBJECTS
                && all.any(|id| self.world.object(id).number == Some(number))
        })
    }

    fn object(&self, pool: &mut Pool, id: ObjId) -> Option<Object> {
        match self.transition.reached.state.objects.get(&id) {
            Some(object) => Some(Object::clone(object)),
            None => memory::initial(pool, self.world, id),
        }
    }

    /// The value of a variable of the target, whose bounds are `bounds`.
    fn place(
        &mut self,
        pool: &mut Pool,
        place: &Place,
        width: Width,
        bounds: Option<Range>,
    ) -> Term {
        match place {
            Place::Register(ctx, reg, part) => {
                let frames = &self.transition.reached.state.frames;
                let frame = frames.iter().find(|frame| frame.ctx == *ctx);
                let value = frame.and_then(|f| f.registers.get(reg.index()).copied().flatten());
                match value {
                    Some(value) => self.part(pool, value, part, width),
                    None => self.unknown(pool, width),
                }
            }
            Place::Cell(id, Cell { offset, width: w }, part) => match self.object(pool, *id) {
                Some(object) => {
                    let bytes = u32::from(w / 8);
                    let value = object.contents.read_at(pool, *offset, bytes);
                    self.part(pool, value, part, width)
                }
                // Bytes of an object that does not exist are never read, so they may have any value
                // that is within the target's bounds.
                None => match bounds {
                    Some(bounds) => pool.constant(width, u128::from(bounds.low)),
                    None => self.unknown(pool, width),
                },
            },
            Place::Alive(id) => match self.object(pool, *id) {
                Some(object) => object.alive,
                None => pool.bit(false),
            },
            Place::Size(id) => match self.object(pool, *id) {
                Some(object) => object.size,
                None => self.unknown(pool, width),
            },
            Place::Witness(id) => {
                let object = self.object(pool, *id);
                match object.and_then(|object| object.contents.witness) {
                    Some(witness) => witness,
                    // Any witness is valid.
                    None => pool.constant(64, 0),
                }
            }
            Place::Number(id) => match self.object(pool, *id) {
                Some(object) => object.number,
                None => self.unknown(pool, width),
            },
        }
    }

    fn part(&mut self, pool: &mut Pool, value: Term, part: &Part, width: Width) -> Term {
        if *part == Part::Whole {
            return value;
        }
        let mut pointers =
            PointerSplitter::new(pool, self.world, self.from, &self.transition.reached);
        let cases = pointers.split(value);
        let mut result: Option<Term> = None;
        for case in cases.into_iter().rev() {
            let here = match part {
                Part::Base => match case.root {
                    Root::Null => Some(pool.constant(32, 0)),
                    Root::Number(number) => Some(pool.constant(32, u128::from(number))),
                    Root::Of(id) => self.object(pool, id).map(|object| object.number),
                    Root::Unknown => None,
                },
                _ => Some(case.offset),
            };
            let here = match here {
                Some(term) => term,
                None => self.unknown(pool, width),
            };
            result = Some(match result {
                None => here,
                Some(other) => pool.ite(case.cond, here, other),
            });
        }
        match result {
            Some(term) => term,
            None => self.unknown(pool, width),
        }
    }

    fn array(&mut self, pool: &mut Pool, id: ObjId) -> Array {
        match self.object(pool, id) {
            Some(object) => object.contents.array(pool),
            None => {
                *self.unknowns += 1;
                pool.array_variable(&format!("?after.{}", self.unknowns))
            }
        }
    }
}
