//! States within a fragment, and the join of two states.
//!
//! Where control flow joins, the states are joined, too: every register and every byte that differs
//! becomes a choice between the two values. The condition of the choice is the part of the path
//! condition that the two states do not share, so that a diamond in the control flow costs one
//! condition and not its whole history.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::memory::Object;
use super::world::{CtxId, ObjId};
use crate::program::ir::{ArgClass, Width};
use crate::term::{Pool, Term};

/// The condition under which a place is reached: the conjunction of these terms.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Guard(pub Vec<Term>);

impl Guard {
    /// The conjunction of this condition and another term.
    pub fn and(&self, pool: &Pool, cond: Term) -> Guard {
        let mut guard = self.clone();
        if pool.as_const(cond) != Some(1) && !guard.0.contains(&cond) {
            guard.0.push(cond);
        }
        guard
    }

    /// The condition as one term.
    pub fn term(&self, pool: &mut Pool) -> Term {
        pool.all(&self.0)
    }

    /// Whether the condition is unsatisfiable, as far as this is evident without a solver.
    pub fn is_false(&self, pool: &mut Pool) -> bool {
        self.0.iter().any(|&t| pool.as_const(t) == Some(0)) || {
            self.0.iter().any(|&t| {
                let not = pool.not(t);
                self.0.contains(&not)
            })
        }
    }
}

/// A variable argument of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Extra {
    /// Its value.
    pub value: Term,
    /// Its width.
    pub width: Width,
    /// The class by which it was passed.
    pub class: ArgClass,
}

/// The variable arguments of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Variadic {
    /// The arguments.
    pub extra: Vec<Extra>,
    /// The numbers of general and SSE registers that the fixed arguments occupy.
    pub fixed: (u32, u32),
}

/// The frame of a call.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The context of the frame.
    pub ctx: CtxId,
    /// The values of the registers. `None` if a register was not written on this path, or was dead
    /// where the fragment starts.
    pub registers: Rc<Vec<Option<Term>>>,
    /// The variable arguments, if the call is part of the fragment.
    pub variadic: Option<Rc<Variadic>>,
    /// The objects whose lifetime ends with the frame.
    pub objects: Rc<Vec<ObjId>>,
}

/// The state of the program, as far as later operations can observe it.
#[derive(Clone, Debug)]
pub struct State {
    /// The frames, from the entry function on.
    pub frames: Vec<Frame>,
    /// The objects that exist. A global that is absent has its initial value.
    pub objects: BTreeMap<ObjId, Rc<Object>>,
}

/// A state, with the condition under which it is reached.
#[derive(Clone, Debug)]
pub struct Reached {
    /// The condition.
    pub guard: Guard,
    /// The state.
    pub state: State,
}

/// What a merge of states needs from its caller.
pub trait Surroundings {
    /// The pool of the terms.
    fn pool(&mut self) -> &mut Pool;
    /// The initial object of a global.
    fn initial(&mut self, object: ObjId) -> Option<Object>;
    /// A new variable of which nothing is known.
    fn unknown(&mut self, width: Width) -> Term;
}

impl Reached {
    /// Joins two states whose conditions exclude each other.
    pub fn join(self, other: Reached, env: &mut dyn Surroundings) -> Reached {
        let common = self
            .guard
            .0
            .iter()
            .zip(&other.guard.0)
            .take_while(|(a, b)| a == b)
            .count();
        let pool = env.pool();
        let (left, right) = (&self.guard.0[common..], &other.guard.0[common..]);
        let mine = pool.all(left);
        let mut guard = Guard(self.guard.0[..common].to_vec());
        if let Some(either) = either(pool, left, right) {
            guard = guard.and(pool, either);
        }
        Reached {
            guard,
            state: self.state.merge(mine, other.state, env),
        }
    }
}

/// The disjunction of two conjunctions; `None` if it is a tautology.
fn either(pool: &mut Pool, left: &[Term], right: &[Term]) -> Option<Term> {
    // Where control flow splits and joins again, one condition is the complement of the other.
    let mut without = |these: &[Term], those: &[Term]| -> Vec<Term> {
        let all = pool.all(those);
        these
            .iter()
            .filter(|&&t| {
                let not = pool.not(t);
                all != not
            })
            .copied()
            .collect()
    };
    let (left, right) = (without(left, right), without(right, left));
    if left.is_empty() || right.is_empty() {
        return None;
    }
    let mut complement = |these: &[Term]| {
        let not: Vec<Term> = these.iter().map(|&t| pool.not(t)).collect();
        pool.any(&not)
    };
    let (not_left, not_right) = (complement(&left), complement(&right));
    let (left, right) = (pool.all(&left), pool.all(&right));
    (left != not_right && right != not_left).then(|| pool.or(left, right))
}

impl State {
    /// This state if `cond`, else the other one. Both are in the same context.
    fn merge(mut self, cond: Term, other: State, env: &mut dyn Surroundings) -> State {
        for (frame, theirs) in self.frames.iter_mut().zip(other.frames) {
            frame.merge(cond, &theirs, env);
        }
        let mut objects = std::mem::take(&mut self.objects);
        for (id, theirs) in &other.objects {
            let mine = match objects.get(id) {
                Some(mine) => Some(Rc::clone(mine)),
                None => env.initial(*id).map(Rc::new),
            };
            let merged = match mine {
                Some(mine) if *mine == **theirs => mine,
                Some(mine) => Rc::new(mine.merge(env.pool(), cond, theirs)),
                // The object exists on one side only.
                None => {
                    let mut object = Object::clone(theirs);
                    let not = env.pool().not(cond);
                    object.alive = env.pool().and(not, object.alive);
                    Rc::new(object)
                }
            };
            objects.insert(*id, merged);
        }
        for (id, mine) in &mut objects {
            if other.objects.contains_key(id) {
                continue;
            }
            match env.initial(*id) {
                Some(theirs) if theirs == **mine => {}
                Some(theirs) => *mine = Rc::new(mine.merge(env.pool(), cond, &theirs)),
                None => {
                    let mut object = Object::clone(mine);
                    object.alive = env.pool().and(cond, object.alive);
                    *mine = Rc::new(object);
                }
            }
        }
        self.objects = objects;
        self
    }

    /// The innermost frame.
    pub fn frame(&mut self) -> &mut Frame {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }
}

impl Frame {
    fn merge(&mut self, cond: Term, other: &Frame, env: &mut dyn Surroundings) {
        if !Rc::ptr_eq(&self.registers, &other.registers) {
            let registers = Rc::make_mut(&mut self.registers);
            for (mine, theirs) in registers.iter_mut().zip(other.registers.iter()) {
                *mine = match (*mine, *theirs) {
                    (Some(a), Some(b)) => Some(env.pool().ite(cond, a, b)),
                    (None, None) => None,
                    // The register was written on one side only, so nothing after the join should
                    // use it. If it is used nevertheless, its value may be anything.
                    (Some(one), None) | (None, Some(one)) => {
                        let width = env.pool().width(one);
                        Some(env.unknown(width))
                    }
                };
            }
        }
        if self.variadic != other.variadic {
            self.variadic = None;
        }
        if self.objects != other.objects {
            let missing: Vec<ObjId> = other
                .objects
                .iter()
                .filter(|o| !self.objects.contains(o))
                .copied()
                .collect();
            Rc::make_mut(&mut self.objects).extend(missing);
        }
    }
}
