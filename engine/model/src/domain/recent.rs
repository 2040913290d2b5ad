//! Blocks that one request gives repeatedly: the last one is kept apart from earlier ones.
//!
//! A name that stands for several blocks is never known to be overwritten or freed. So a request
//! that is executed repeatedly has two names: one for the block of its last execution, which is
//! single, and [`OLDER`] for the blocks of all earlier executions (Balakrishnan and Reps,
//! *Recency-abstraction for heap-allocated storage*, SAS 2006). With each request, the last block
//! becomes an older one wherever a pointer points to it: at once in registers and in memory, and in
//! the registers of enclosing calls when they continue. For these, a state keeps what has
//! [become](Fate) of the blocks that were the last ones when the innermost call began.
//!
//! States are kept apart by which [last blocks](State::lasts) exist. Before the first request, a
//! growing array is NULL, or another object, with a capacity of zero; after it, each cell with the
//! capacity is about the last block. A join of the two knows neither where the array is nor how
//! large.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::contents::Contents;
use super::linear::Var;
use super::num::Num;
use super::owners::Owners;
use super::space::{Alive, GONE, Names, ObjId};
use super::state::State;
use super::value::Value;

/// The part ([`super::space::Made`]) that stands for the blocks of earlier requests.
pub const OLDER: u32 = u32::MAX;

/// The last blocks that exist, sorted.
pub type Lasts = SmallVec<[ObjId; 2]>;

/// What may have become of the last block of a request since a call began.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fate {
    /// It may still be the last one.
    pub stays: bool,
    /// It may be an older one.
    pub older: bool,
    /// It may have ended before it became an older one.
    pub gone: bool,
}

impl Fate {
    /// Nothing happened.
    const STAYS: Fate = Fate {
        stays: true,
        older: false,
        gone: false,
    };

    /// Either of two fates.
    fn or(self, other: Fate) -> Fate {
        Fate {
            stays: self.stays || other.stays,
            older: self.older || other.older,
            gone: self.gone || other.gone,
        }
    }

    /// One fate after the other.
    fn then(self, next: Fate) -> Fate {
        let stays = Fate {
            stays: false,
            ..self
        };
        if self.stays { stays.or(next) } else { self }
    }

    fn is_within(self, other: Fate) -> bool {
        self.or(other) == other
    }
}

/// What has become of last blocks; those without an entry stay.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Fates(BTreeMap<ObjId, Fate>);

impl FromIterator<(ObjId, Fate)> for Fates {
    fn from_iter<I: IntoIterator<Item = (ObjId, Fate)>>(all: I) -> Fates {
        Fates(all.into_iter().collect())
    }
}

impl Fates {
    /// The last blocks with an entry, and what has become of them.
    pub fn iter(&self) -> impl Iterator<Item = (ObjId, Fate)> + '_ {
        self.0.iter().map(|(&id, &fate)| (id, fate))
    }

    fn get(&self, id: ObjId) -> Fate {
        self.0.get(&id).copied().unwrap_or(Fate::STAYS)
    }

    /// What may have become of the blocks in either state.
    pub fn join(&self, other: &Fates) -> Fates {
        let all = self.0.keys().chain(other.0.keys());
        all.map(|&id| (id, self.get(id).or(other.get(id))))
            .collect()
    }

    /// Whether everything that may have become of the blocks here may have there, too.
    pub fn is_within(&self, other: &Fates) -> bool {
        let mut all = self.0.keys().chain(other.0.keys());
        all.all(|&id| self.get(id).is_within(other.get(id)))
    }

    /// These fates, followed by others.
    fn then(&self, next: &Fates) -> Fates {
        let all = self.0.keys().chain(next.0.keys());
        all.map(|&id| (id, self.get(id).then(next.get(id))))
            .collect()
    }

    /// A value from before these fates as it is after them; `None` if it stays the same.
    pub fn aged(&self, value: &Value, names: &Names<'_>) -> Option<Value> {
        let mut aged = None;
        for (id, fate) in self.iter().filter(|(_, fate)| *fate != Fate::STAYS) {
            let known = aged.as_ref().unwrap_or(value);
            if let Some(next) = turned(known, id, fate, names) {
                aged = Some(next);
            }
        }
        aged
    }
}

/// A value whose addresses in a block point to where the block may be now; `None` if it has none.
fn turned(value: &Value, id: ObjId, fate: Fate, names: &Names<'_>) -> Option<Value> {
    let offset = *value.offset(id)?;
    let mut turned = value.clone();
    turned.ptr.retain(|(known, _)| *known != id);
    if fate.stays {
        turned = turned.join(&Value::address(id, offset), 64);
    }
    if fate.older {
        let older = names.older(id);
        let older = older.map_or(Value::all(64), |older| Value::address(older, offset));
        turned = turned.join(&older, 64);
    }
    if fate.gone {
        turned = turned.join(&Value::address(GONE, Num::all(64)), 64);
    }
    Some(turned)
}

impl State {
    /// The last blocks that exist, alive or not: a request that was executed once has one from then
    /// on.
    pub fn lasts(&self, names: &Names<'_>) -> Lasts {
        let ids = self.objects.keys().copied();
        ids.filter(|id| names.info(*id).is_unique && names.older(*id).is_some())
            .collect()
    }

    /// Applies what became of last blocks during a call to the caller's registers and fates.
    pub fn age(&mut self, inside: &Fates, names: &Names<'_>) {
        for value in self.registers.values_mut() {
            if let Some(aged) = inside.aged(value, names) {
                *value = aged;
            }
        }
        let is_last = |id| inside.get(id) == Fate::STAYS;
        self.cells.retain(|_, cell| is_last(cell.object));
        self.fates = self.fates.then(inside);
    }

    /// Turns the last block of a request into an older one, also in the contents of the new block,
    /// since there is another request.
    pub fn renew(&mut self, id: ObjId, contents: &mut Contents, names: &Names<'_>) {
        let last = self.objects.get(&id).map(|last| last.alive);
        let ended = last == Some(Alive::No);
        let fate = Fate {
            stays: false,
            older: !ended,
            gone: ended,
        };
        self.fates.0.insert(id, self.fates.get(id).then(fate));
        if last.is_none() {
            return;
        }
        let mut lines = std::mem::take(&mut self.lines);
        let is_kept = |var| match var {
            Var::Cell(of, ..) | Var::Size(of) | Var::Nul(of, _) | Var::Row(of, ..) => of != id,
            Var::Reg(_) | Var::Outer(..) => true,
        };
        lines.keep(is_kept, &|var| self.range(var, names));
        self.lines = lines;
        self.without_nuls(|of| of == id);
        self.cells.retain(|_, cell| cell.object != id);
        let mut owners = Owners::clone(&self.owners);
        let older = names.older(id).filter(|_| !ended);
        owners.renewed((id, older), |owners, field| {
            self.is_owning(owners, field, names)
        });
        self.owners = Arc::new(owners);
        let turn = |value: &Value| turned(value, id, fate, names);
        self.turn(&turn);
        contents.change(&mut |value, _| turn(value));
        let objects = Arc::make_mut(&mut self.objects);
        if let Some(last) = objects.remove(&id)
            && let Some(older) = names.older(id).filter(|_| !ended)
        {
            let all = match objects.get(&older) {
                Some(before) => before.join(&last, names),
                None => last,
            };
            objects.insert(older, all);
        }
    }
}
