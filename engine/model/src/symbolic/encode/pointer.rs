//! The objects that a pointer may point to.
//!
//! A pointer consists of an object's number in the upper half and an offset in the lower half. Once
//! the pointer is a term, the number has to be found again: through sums, choices, and variables of
//! a cut point that are known to be addresses of one of a few objects. An access has to stay in the
//! object that its pointer was made from, whatever the sum of the two halves is. C demands that,
//! and it is stronger than the machine's check.

use super::super::cuts::Base;
use super::super::state::{Guard, Reached, State};
use super::super::world::ObjId;
use super::Encoder;
use crate::program::ir::numbers::object_and_offset;
use crate::program::ir::{BinOp, Width};
use crate::term::{Node, Pool, Term};

/// The object that a pointer points to in one case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Root {
    /// An address with this upper half. The upper half is 0 for small integers, and so for a
    /// literal NULL.
    Number(u32),
    /// A pointer that is NULL.
    Null,
    /// The present object of this allocation.
    Of(ObjId),
    /// It is not known where the pointer points.
    Unknown,
}

/// One case of a pointer.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The condition of the case.
    pub cond: Term,
    /// The object.
    pub root: Root,
    /// The pointer minus the address of the object, in 64 bits.
    pub offset: Term,
}

/// The number of cases above which a pointer is one unknown case.
const CASES: usize = 24;
const DEPTH: u32 = 200;
/// The depth up to which choices are extracted from the bytes of one pointer.
const JOINS: u32 = 8;

/// The context in which pointers are split into cases.
pub struct Splitter<'a> {
    /// The pool of the terms.
    pub pool: &'a mut Pool,
    /// The possible values of a variable that is the upper half of an address.
    pub bases: &'a dyn Fn(Term) -> Option<Vec<Base>>,
    /// The object whose number a term is.
    pub of: &'a dyn Fn(Term) -> Option<ObjId>,
    /// The term of an object's number.
    pub number: &'a dyn Fn(ObjId) -> Option<Term>,
    /// Base and offset of pointers, and a value of the base for which the offset is 0 (see
    /// [`super::super::cuts::CutState`]).
    pub exact: &'a [(Term, Term, u32)],
}

impl Splitter<'_> {
    /// All cases of a pointer (64 bits). Their conditions exclude each other and cover all values.
    pub fn split(&mut self, pointer: Term) -> Vec<Case> {
        let cond = self.pool.bit(true);
        let cases = self.cases(pointer, cond, 0);
        if cases.len() > CASES {
            return vec![self.unknown(pointer, cond)];
        }
        cases
    }

    fn unknown(&self, pointer: Term, cond: Term) -> Case {
        Case {
            cond,
            root: Root::Unknown,
            offset: pointer,
        }
    }

    /// Adds a case, or extends the condition of a case that points to the same place.
    fn add(&mut self, all: &mut Vec<Case>, case: Case) {
        let same = |known: &&mut Case| known.root == case.root && known.offset == case.offset;
        match all.iter_mut().find(same) {
            Some(known) => known.cond = self.pool.or(known.cond, case.cond),
            None => all.push(case),
        }
    }

    fn cases(&mut self, p: Term, cond: Term, depth: u32) -> Vec<Case> {
        if depth > DEPTH {
            return vec![self.unknown(p, cond)];
        }
        if let Some(value) = self.pool.as_const(p) {
            let (number, offset) = object_and_offset(value as u64);
            let (root, offset) = (Root::Number(number), u128::from(offset));
            let offset = self.pool.constant(64, offset);
            return vec![Case { cond, root, offset }];
        }
        match *self.pool.node(p) {
            Node::ZExt(a) if self.pool.width(a) <= 32 => vec![Case {
                cond,
                root: Root::Number(0),
                offset: p,
            }],
            Node::Concat(high, low) if self.pool.width(high) == 32 => {
                let offset = self.pool.zext(low, 64);
                self.number_cases(high, offset, p, cond, 0)
            }
            // Bytes from memory that are concatenated.
            Node::Concat(..) | Node::ZExt(_) => {
                let high = self.pool.extract(p, 32, 32);
                let low = self.pool.extract(p, 0, 32);
                let offset = self.pool.zext(low, 64);
                self.number_cases(high, offset, p, cond, 0)
            }
            Node::Ite(c, a, b) => {
                let yes = self.pool.and(cond, c);
                let not = self.pool.not(c);
                let no = self.pool.and(cond, not);
                let mut all = Vec::new();
                for (side, cond) in [(a, yes), (b, no)] {
                    if self.pool.as_const(cond) != Some(0) {
                        for case in self.cases(side, cond, depth + 1) {
                            self.add(&mut all, case);
                        }
                    }
                    if all.len() > CASES {
                        break;
                    }
                }
                all
            }
            Node::Bin(BinOp::Add, a, b) => {
                let left = self.cases(a, cond, depth + 1);
                if left.len() > CASES {
                    return vec![self.unknown(p, cond)];
                }
                let mut all = Vec::new();
                for x in left {
                    for y in self.cases(b, x.cond, depth + 1) {
                        let both = self.pool.bin(BinOp::Add, x.offset, y.offset);
                        let (root, offset) = match (x.root, y.root) {
                            (Root::Number(0), Root::Number(0)) => (Root::Number(0), both),
                            (Root::Number(0) | Root::Unknown, Root::Unknown)
                            | (Root::Unknown, Root::Number(0)) => (Root::Unknown, both),
                            (Root::Null, Root::Number(0) | Root::Unknown)
                                if self.stays_null(a, y.offset) =>
                            {
                                (Root::Null, both)
                            }
                            (Root::Number(0) | Root::Unknown, Root::Null)
                                if self.stays_null(b, x.offset) =>
                            {
                                (Root::Null, both)
                            }
                            // NULL plus an offset is neither NULL nor the address of an object.
                            (Root::Null, Root::Number(0) | Root::Unknown | Root::Null)
                            | (Root::Number(0) | Root::Unknown, Root::Null) => {
                                (Root::Number(0), both)
                            }
                            (Root::Number(0) | Root::Unknown, root)
                            | (root, Root::Number(0) | Root::Unknown) => (root, both),
                            // The sum of two addresses is not an address.
                            _ => (Root::Unknown, p),
                        };
                        all.push(Case {
                            cond: y.cond,
                            root,
                            offset,
                        });
                    }
                    if all.len() > CASES {
                        return vec![self.unknown(p, cond)];
                    }
                }
                all
            }
            Node::Bin(BinOp::Sub, a, b) => {
                let left = self.cases(a, cond, depth + 1);
                left.into_iter()
                    .map(|x| match x.root {
                        Root::Unknown => self.unknown(p, x.cond),
                        Root::Null => Case {
                            cond: x.cond,
                            root: Root::Number(0),
                            offset: self.pool.bin(BinOp::Sub, x.offset, b),
                        },
                        root => Case {
                            cond: x.cond,
                            root,
                            offset: self.pool.bin(BinOp::Sub, x.offset, b),
                        },
                    })
                    .collect()
            }
            Node::Bin(BinOp::And, a, b) => {
                // Alignment: the mask does not change the object's number.
                let (a, mask) = if self.pool.as_const(b).is_some() {
                    (a, b)
                } else {
                    (b, a)
                };
                let keeps = self
                    .pool
                    .as_const(mask)
                    .is_some_and(|m| (m >> 32) as u32 == u32::MAX);
                if !keeps {
                    return vec![self.unknown(p, cond)];
                }
                let left = self.cases(a, cond, depth + 1);
                left.into_iter()
                    .map(|x| {
                        let Some(address) = self.address(x.root) else {
                            return self.unknown(p, x.cond);
                        };
                        Case {
                            offset: self.pool.bin(BinOp::Sub, p, address),
                            ..x
                        }
                    })
                    .collect()
            }
            _ => vec![self.unknown(p, cond)],
        }
    }

    /// Whether `address + offset` is NULL if `address` is NULL: the offset is 0, or it is the
    /// pointer's own offset, which is 0 where the pointer is NULL.
    fn stays_null(&self, address: Term, offset: Term) -> bool {
        if self.pool.as_const(offset) == Some(0) {
            return true;
        }
        let Node::Concat(high, _) = *self.pool.node(address) else {
            return false;
        };
        let own = (high, offset, 0);
        self.exact.contains(&own)
    }

    /// The cases of an address whose upper half is `high`.
    fn number_cases(
        &mut self,
        high: Term,
        offset: Term,
        p: Term,
        cond: Term,
        depth: u32,
    ) -> Vec<Case> {
        if let Some(number) = self.pool.as_const(high) {
            let root = Root::Number(number as u32);
            return vec![Case { cond, root, offset }];
        }
        if let Some(id) = (self.of)(high) {
            let root = Root::Of(id);
            return vec![Case { cond, root, offset }];
        }
        if let Node::Ite(c, a, b) = *self.pool.node(high) {
            let yes = self.pool.and(cond, c);
            let not = self.pool.not(c);
            let no = self.pool.and(cond, not);
            let mut all = self.number_cases(a, offset, p, yes, depth);
            all.extend(self.number_cases(b, offset, p, no, depth));
            return all;
        }
        // Where two paths join, memory is merged byte by byte, and bytes that are equal on both
        // paths are no choices. So the choice is extracted from the other bytes.
        if depth < JOINS
            && let Some(c) = self.choice(high)
        {
            let mut all = Vec::new();
            let not = self.pool.not(c);
            for (holds, side) in [(true, c), (false, not)] {
                let cond = self.pool.and(cond, side);
                if self.pool.as_const(cond) != Some(0) {
                    let high = self.given(high, c, holds);
                    all.extend(self.number_cases(high, offset, p, cond, depth + 1));
                }
            }
            return all;
        }
        let Some(bases) = (self.bases)(high) else {
            return vec![self.unknown(p, cond)];
        };
        let mut all = Vec::new();
        for base in bases {
            let (root, number) = match base {
                Base::Number(number) => {
                    let term = self.pool.constant(32, u128::from(number));
                    let root = if number == 0 && self.pool.as_const(offset) == Some(0) {
                        Root::Null
                    } else {
                        Root::Number(number)
                    };
                    (root, Some(term))
                }
                Base::Of(id) => (Root::Of(id), (self.number)(id)),
            };
            let Some(number) = number else {
                return vec![self.unknown(p, cond)];
            };
            let hit = self.pool.eq(high, number);
            let cond = self.pool.and(cond, hit);
            all.push(Case { cond, root, offset });
        }
        all
    }

    /// The condition of the first choice among the bytes that a term consists of.
    fn choice(&self, term: Term) -> Option<Term> {
        match *self.pool.node(term) {
            Node::Ite(c, ..) => Some(c),
            Node::Concat(a, b) => self.choice(a).or_else(|| self.choice(b)),
            // A bit that is extended is a choice between 1 and 0.
            Node::ZExt(bit) if self.pool.width(bit) == 1 => match *self.pool.node(bit) {
                Node::Not(c) => Some(c),
                _ => Some(bit),
            },
            Node::ZExt(a) => self.choice(a),
            Node::Extract(a, _) => self.choice(a).or_else(|| self.bit(term)),
            _ => self.bit(term),
        }
    }

    /// The term itself if it is a single bit, which is a choice between 1 and 0.
    fn bit(&self, term: Term) -> Option<Term> {
        (self.pool.width(term) == 1 && self.pool.as_const(term).is_none()).then_some(term)
    }

    /// The term under the assumption that the condition `c` holds, or does not hold.
    fn given(&mut self, term: Term, c: Term, holds: bool) -> Term {
        if term == c {
            return self.pool.constant(1, u128::from(holds));
        }
        match *self.pool.node(term) {
            Node::Ite(other, a, b) if other == c => self.given(if holds { a } else { b }, c, holds),
            Node::Ite(other, a, b) => {
                let (a, b) = (self.given(a, c, holds), self.given(b, c, holds));
                self.pool.ite(other, a, b)
            }
            Node::Concat(a, b) => {
                let (a, b) = (self.given(a, c, holds), self.given(b, c, holds));
                self.pool.concat(a, b)
            }
            Node::ZExt(bit) if self.pool.width(bit) == 1 => {
                let not = *self.pool.node(bit) == Node::Not(c);
                if bit != c && !not {
                    return term;
                }
                let width = self.pool.width(term);
                self.pool.constant(width, u128::from(holds != not))
            }
            Node::ZExt(a) => {
                let (a, width) = (self.given(a, c, holds), self.pool.width(term));
                self.pool.zext(a, width)
            }
            Node::Extract(a, low) => {
                let (a, width) = (self.given(a, c, holds), self.pool.width(term));
                self.pool.extract(a, low, width)
            }
            _ => term,
        }
    }

    /// The address of an object's first byte.
    pub fn address(&mut self, root: Root) -> Option<Term> {
        let number = match root {
            Root::Number(number) => self.pool.constant(32, u128::from(number)),
            Root::Of(id) => (self.number)(id)?,
            Root::Null => self.pool.constant(32, 0),
            Root::Unknown => return None,
        };
        let zero = self.pool.constant(32, 0);
        Some(self.pool.concat(number, zero))
    }
}

impl Encoder<'_, '_> {
    /// All cases of a pointer that the path condition does not exclude.
    pub(super) fn split(&mut self, now: &Reached, pointer: Term) -> Vec<Case> {
        let mut cases = self.split_in(&now.state, pointer);
        if cases.len() > 1 {
            cases.retain(|case| !excluded(self.pool, &now.guard, case.cond));
        }
        cases
    }

    /// The condition `pointer == NULL`, if it is known where the pointer points.
    pub(super) fn is_null(&mut self, now: &Reached, pointer: Term) -> Option<Term> {
        let mut null = self.pool.bit(false);
        let mut object = false;
        for case in self.split(now, pointer) {
            match case.root {
                Root::Unknown => return None,
                Root::Null => null = self.pool.or(null, case.cond),
                Root::Number(0) => {
                    let zero = self.c64(0);
                    let here = self.pool.eq(case.offset, zero);
                    let here = self.pool.and(case.cond, here);
                    null = self.pool.or(null, here);
                }
                Root::Number(_) | Root::Of(_) => object = true,
            }
        }
        object.then_some(null)
    }

    fn split_in(&mut self, state: &State, pointer: Term) -> Vec<Case> {
        let start = self.start;
        let numbers = &self.numbers;
        // A number identifies an object only as long as the object has it.
        let present = |id: ObjId, number: Term| {
            state
                .objects
                .get(&id)
                .is_some_and(|object| object.number == number)
        };
        let mut splitter = Splitter {
            pool: self.pool,
            bases: &|t| start?.bases.get(&t).cloned(),
            of: &|t| {
                let id = numbers.get(&t).copied()?;
                present(id, t).then_some(id)
            },
            number: &|id| {
                let number = start?.number_term(id)?;
                present(id, number).then_some(number)
            },
            exact: start.map_or(&[], |start| &start.exact),
        };
        splitter.split(pointer)
    }

    /// A 64-bit constant.
    pub(super) fn c64(&mut self, value: u64) -> Term {
        self.pool.constant(64, u128::from(value))
    }

    /// A constant.
    pub(super) fn constant(&mut self, width: Width, value: u64) -> Term {
        self.pool.constant(width, u128::from(value))
    }
}

/// Whether the path condition excludes a case, as far as this is evident without a solver.
pub fn excluded(pool: &mut Pool, guard: &Guard, cond: Term) -> bool {
    let mut open = vec![cond];
    while let Some(t) = open.pop() {
        if let Node::Bin(BinOp::And, a, b) = *pool.node(t)
            && pool.width(t) == 1
        {
            open.extend([a, b]);
            continue;
        }
        let not = pool.not(t);
        if pool.as_const(t) == Some(0) || guard.0.contains(&not) {
            return true;
        }
    }
    false
}
