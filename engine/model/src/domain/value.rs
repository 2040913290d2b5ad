//! What a register or a cell of memory may hold: numbers, and addresses in objects.
//!
//! An address is an object with a set of offsets. A number of which nothing is known may be an
//! address, too: a pointer that was taken to pieces, or that was read from overwritten memory. To
//! follow a number that is not known to be small, the walk asks [`crate::program::outside::points`]
//! where it may lead.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::num::{self, Num, Thresholds};
use super::space::ObjId;
use crate::program::ir::numbers::LOWEST;
use crate::program::ir::{BinOp, CastKind, Pred, Width};

/// The most objects in a set. A value with more of them becomes any number.
const OBJECTS: usize = 24;

/// See the [module](self).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Value {
    /// The numbers that it may be; `None` if it cannot be a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub num: Option<Num>,
    /// The objects that it may point into, with the offsets; sorted, and each object once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ptr: Vec<(ObjId, Num)>,
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers = self.num.iter().map(ToString::to_string);
        let addresses = self.ptr.iter().map(|(id, at)| format!("o{}+{at}", id.0));
        let all: Vec<String> = numbers.chain(addresses).collect();
        f.write_str(&all.join("|"))
    }
}

impl Value {
    /// Any value of a width.
    pub fn all(width: Width) -> Value {
        Value::number(Num::all(width))
    }

    /// One of some numbers.
    pub fn number(num: Num) -> Value {
        Value {
            num: Some(num),
            ptr: Vec::new(),
        }
    }

    /// A single number.
    pub fn exactly(width: Width, number: u128) -> Value {
        Value::number(Num::exactly(width, number))
    }

    /// An address in an object.
    pub fn address(object: ObjId, offset: Num) -> Value {
        Value {
            num: None,
            ptr: vec![(object, offset)],
        }
    }

    /// Whether no execution has such a value.
    pub fn is_nothing(&self) -> bool {
        self.num.is_none() && self.ptr.is_empty()
    }

    /// The numbers of a value that is no address.
    pub fn plain(&self) -> Option<&Num> {
        self.num.as_ref().filter(|_| self.ptr.is_empty())
    }

    /// The number, if the value is exactly one number.
    pub fn as_constant(&self) -> Option<u64> {
        self.plain()?.as_constant()
    }

    /// The object and the offsets, if the value is an address in exactly one object.
    pub fn single_target(&self) -> Option<(ObjId, &Num)> {
        match (&self.num, &self.ptr[..]) {
            (None, [(object, offset)]) => Some((*object, offset)),
            _ => None,
        }
    }

    /// Whether it may be a number that is large enough to be an address.
    pub fn is_vague(&self) -> bool {
        self.num.is_some_and(|num| num.high >= LOWEST)
    }

    /// Returns a set that contains both sets.
    pub fn join(&self, other: &Value, width: Width) -> Value {
        let num = match (&self.num, &other.num) {
            (Some(a), Some(b)) => Some(a.join(width, b)),
            (a, b) => a.or(*b),
        };
        merged(num, &self.ptr, &other.ptr, width, |a, b| a.join(64, b))
    }

    /// See [`Num::widen`].
    pub fn widen(&self, new: &Value, width: Width, thresholds: &Thresholds) -> Value {
        let num = match (&self.num, &new.num) {
            (Some(a), Some(b)) => Some(a.widen(width, b, thresholds)),
            (a, b) => a.or(*b),
        };
        merged(num, &self.ptr, &new.ptr, width, |a, b| {
            a.widen(64, b, thresholds)
        })
    }

    /// Whether every value of this set is known to be in the other.
    pub fn is_within(&self, other: &Value, width: Width) -> bool {
        if other.num == Some(Num::all(width)) {
            return true;
        }
        let number = match (&self.num, &other.num) {
            (None, _) => true,
            (Some(a), Some(b)) => a.is_within(b),
            (Some(_), None) => false,
        };
        number
            && self.ptr.iter().all(|(object, offset)| {
                let there = other.offset(*object);
                there.is_some_and(|there| offset.is_within(there))
            })
    }

    /// The offsets in an object, if the value may point into it.
    pub fn offset(&self, object: ObjId) -> Option<&Num> {
        let at = self.ptr.iter().position(|(other, _)| *other == object)?;
        Some(&self.ptr[at].1)
    }

    /// The addresses with all offsets moved by a number.
    fn moved(&self, by: &Num, op: BinOp) -> Vec<(ObjId, Num)> {
        let all = self.ptr.iter();
        all.map(|(object, offset)| (*object, offset.bin(op, 64, by)))
            .collect()
    }

    /// Anything that may be computed from the addresses of these values: a number, or an address in
    /// one of their objects at any offset.
    fn mixed(&self, other: &Value, width: Width) -> Value {
        let any = |value: &Value| -> Vec<(ObjId, Num)> {
            let all = value.ptr.iter();
            all.map(|(object, _)| (*object, Num::all(64))).collect()
        };
        match width {
            64 => merged(Some(Num::all(64)), &any(self), &any(other), 64, |a, b| {
                a.join(64, b)
            }),
            _ => Value::all(width),
        }
    }

    /// The object that both addresses point into, and the distance from the other offset to this
    /// one. It is the difference of the addresses only if the name stands for a single object.
    pub fn distance(&self, other: &Value) -> Option<(ObjId, Num)> {
        let ((a, x), (b, y)) = (self.single_target()?, other.single_target()?);
        (a == b).then(|| (a, x.bin(BinOp::Sub, 64, y)))
    }

    /// `self op other`, with the assumptions of [`Num::bin`]. The difference of two addresses is
    /// any number here; see [`Value::distance`].
    pub fn bin(&self, op: BinOp, width: Width, other: &Value) -> Value {
        if let (Some(a), Some(b)) = (self.plain(), other.plain()) {
            return Value::number(a.bin(op, width, b));
        }
        if width != 64 || self.is_nothing() || other.is_nothing() {
            return self.mixed(other, width);
        }
        match op {
            BinOp::Add if other.ptr.is_empty() => self.displaced(other, op),
            BinOp::Add if self.ptr.is_empty() => other.displaced(self, op),
            BinOp::Sub if other.ptr.is_empty() => self.displaced(other, op),
            BinOp::And => match (self.as_constant(), other.as_constant()) {
                (Some(mask), _) => other.masked(mask),
                (_, Some(mask)) => self.masked(mask),
                _ => self.mixed(other, width),
            },
            _ => self.mixed(other, width),
        }
    }

    /// An address that is displaced by a number.
    fn displaced(&self, by: &Value, op: BinOp) -> Value {
        let Some(by) = by.plain() else {
            return self.mixed(by, 64);
        };
        Value {
            num: self.num.map(|num| num.bin(op, 64, by)),
            ptr: self.moved(by, op),
        }
    }

    /// An address with some bits cleared. The platform decides which of its lower bits are set.
    fn masked(&self, mask: u64) -> Value {
        let number = |num: Num| num.bin(BinOp::And, 64, &Num::exactly(64, mask.into()));
        if (mask >> 32) as u32 == u32::MAX {
            let most = (!mask).min(i64::MAX as u64);
            let cleared = Num::between(64, 0, most).unwrap_or(Num::all(64));
            return Value {
                num: self.num.map(number),
                ptr: self.moved(&cleared, BinOp::Sub),
            };
        }
        if mask >> 32 == 0 {
            let low = Num::between(64, 0, mask).unwrap_or(Num::all(64));
            return Value::number(self.num.map_or(low, |num| number(num).join(64, &low)));
        }
        self.mixed(self, 64)
    }

    /// A conversion.
    pub fn cast(&self, kind: CastKind, from: Width, to: Width) -> Value {
        match (self.plain(), &self.num) {
            (Some(num), _) => Value::number(num.cast(kind, from, to)),
            _ if from == to => self.clone(),
            _ => Value::all(to),
        }
    }
}

/// The union of two sets of objects; both are sorted, and so is the result.
fn merged(
    num: Option<Num>,
    a: &[(ObjId, Num)],
    b: &[(ObjId, Num)],
    width: Width,
    both: impl Fn(&Num, &Num) -> Num,
) -> Value {
    if a.is_empty() && b.is_empty() {
        return Value {
            num,
            ptr: Vec::new(),
        };
    }
    let mut ptr = a.to_vec();
    for (object, offset) in b {
        match ptr.binary_search_by_key(object, |(known, _)| *known) {
            Ok(at) => ptr[at].1 = both(&ptr[at].1, offset),
            Err(at) => ptr.insert(at, (*object, *offset)),
        }
    }
    if ptr.len() > OBJECTS {
        return Value::all(width);
    }
    Value { num, ptr }
}

/// `a pred b` for numbers, if the result is the same for all of them.
pub fn decided(pred: Pred, width: Width, a: &Value, b: &Value) -> Option<bool> {
    num::decided(pred, width, a.plain()?, b.plain()?)
}
