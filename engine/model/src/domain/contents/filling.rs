//! What a run of bytes is filled with.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::domain::space::{Elements, Names};
use crate::domain::value::Value;
use crate::program::ir::{GlobalId, Width};

/// What a run is made of.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Filling {
    /// Elements of this many bytes, each of which is one of these values.
    Each(u32, Value),
    /// The bytes that a global begins with, from an offset on.
    Image(GlobalId, u32),
}

/// A run of bytes of an object; its first offset is stored beside it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// The offset after its last byte.
    pub end: u32,
    /// What it is made of.
    pub filling: Filling,
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.filling {
            Filling::Each(unit, value) => write!(f, "..{} {unit}*({value})", self.end),
            Filling::Image(global, at) => write!(f, "..{} g{}[{at}..]", self.end, global.0),
        }
    }
}

/// The most initial bytes of a global that are searched for the last zero.
const LOOKED_AT: u32 = 4096;

impl Run {
    /// Whether it has more than one element.
    pub(super) fn is_array(&self, start: u32) -> bool {
        let unit = self.filling.unit();
        unit.is_some_and(|unit| self.end - start >= 2 * unit)
    }

    /// The offset of the last byte of the run that is known to be zero.
    pub fn last_zero(&self, start: u32, names: &Names<'_>) -> Option<u32> {
        match &self.filling {
            Filling::Each(unit, value) => {
                let number = value.as_constant().filter(|_| *unit <= 8)?;
                let is_zero = |byte: &u32| (number >> (8 * byte)) & 0xff == 0;
                let byte = (0..*unit).rev().find(is_zero)?;
                (self.end - start >= *unit).then(|| self.end - *unit + byte)
            }
            Filling::Image(global, at) => {
                let first = start.max(self.end.saturating_sub(LOOKED_AT));
                let [first, end] = [first, self.end].map(|place| at + (place - start));
                let last = names.last_zero(*global, (first, end))?;
                Some(start + (last - at))
            }
        }
    }
}

/// The number of bits of `len` bytes.
pub(super) fn bits(len: u32) -> Width {
    (len * 8) as Width
}

/// A byte that is repeated `len` times.
pub(super) fn repeated(byte: u64, len: u32) -> Option<Value> {
    if len > 8 {
        return (byte == 0).then(|| Value::all(bits(len)));
    }
    let all = (0..len).fold(0u64, |all, _| all << 8 | byte & 0xff);
    Some(Value::exactly(bits(len), all.into()))
}

impl Filling {
    /// The join of the elements of `unit` bytes that begin at multiples of `unit` from `anchor` on
    /// and lie between two offsets within the run; `None` if it is not known.
    pub(super) fn seen(
        &self,
        start: u32,
        (low, high): (u32, u32),
        (unit, anchor): (u32, u32),
        names: &Names<'_>,
    ) -> Option<Value> {
        match self {
            Filling::Each(own, value) => {
                if *own == unit && start.abs_diff(anchor) % unit == 0 {
                    return Some(value.clone());
                }
                match value.as_constant() {
                    Some(0) if unit <= 8 => repeated(0, unit),
                    Some(byte) if *own == 1 => repeated(byte, unit),
                    _ => None,
                }
            }
            Filling::Image(global, at) => {
                let first = low + (anchor % unit + unit - low % unit) % unit;
                let within = |offset: u32| at + (offset - start);
                let last = high.checked_sub(unit).filter(|last| *last >= first)?;
                names.initials(Elements {
                    global: *global,
                    first: within(first),
                    last: within(last),
                    step: unit,
                    len: unit,
                })
            }
        }
    }

    /// The join of what `len` bytes hold at the offsets from the first to the last one in steps, if
    /// the run holds initial bytes of a global.
    pub(super) fn stepped(
        &self,
        start: u32,
        (first, last): (u32, u32),
        (step, len): (u64, u32),
        names: &Names<'_>,
    ) -> Option<Value> {
        let Filling::Image(global, at) = self else {
            return None;
        };
        names.initials(Elements {
            global: *global,
            first: at + (first - start),
            last: at + (last - start),
            step: u32::try_from(step).ok()?,
            len,
        })
    }

    /// The filling of the part of the run that begins at an offset.
    pub(super) fn from(&self, start: u32, at: u32) -> Filling {
        match self {
            Filling::Each(..) => self.clone(),
            Filling::Image(global, first) => Filling::Image(*global, first + (at - start)),
        }
    }

    /// Whether a cut at an offset leaves whole elements.
    pub(super) fn divides(&self, start: u32, at: u32) -> bool {
        match self {
            Filling::Each(unit, value) => {
                (at - start).is_multiple_of(*unit) || value.as_constant() == Some(0)
            }
            Filling::Image(..) => true,
        }
    }

    /// The size of elements; `None` where it does not matter.
    pub(super) fn unit(&self) -> Option<u32> {
        match self {
            Filling::Each(_, value) if value.as_constant() == Some(0) => None,
            Filling::Each(unit, _) => Some(*unit),
            Filling::Image(..) => None,
        }
    }
}
