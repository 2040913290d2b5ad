//! Compares the owners in a floor's states ([`cegar_model::domain::owners`]) with the blocks of an
//! execution.

use std::collections::{BTreeMap, BTreeSet};

use cegar_model::domain::linear::{Edge, Var};
use cegar_model::domain::owners::{Field, Holder, Owners, Place, Row, Slot};
use cegar_model::domain::space::{Kind, Names, ObjId};
use cegar_model::domain::state::State;
use cegar_model::machine::View;
use cegar_model::program::ir::{DYNAMIC_OBJECTS, GLOBAL_OBJECTS, Reg, number_of, place_of};

/// The first claim of a state about owners that does not hold in an execution, and the number of
/// comparisons.
///
/// `value` gives the values of the lines' variables, as far as they are known.
pub fn compare(
    view: &View<'_>,
    (state, names): (&State, &Names<'_>),
    objects: &BTreeMap<u32, ObjId>,
    value: &dyn Fn(Var) -> Option<i128>,
) -> (Option<String>, usize) {
    let fields = state.owners.fields.iter().map(|(id, _)| *id);
    let rows = state.owners.rows.iter().map(|row| row.of);
    let globals = fields.chain(rows).filter_map(|id| match names.kind(id) {
        Kind::Global(global) => Some((number_of(GLOBAL_OBJECTS + global.0), id)),
        _ => None,
    });
    let objects: BTreeMap<u32, ObjId> = globals.chain(objects.clone()).collect();
    let mut seen = Seen {
        view,
        objects: &objects,
        state,
        value,
        compared: 0,
    };
    let differs = seen.differs(&state.owners);
    (differs, seen.compared)
}

/// The state of an execution, and the state of the floor that it is compared with.
struct Seen<'v, 'a> {
    /// The machine.
    view: &'a View<'v>,
    /// Objects with their names.
    objects: &'a BTreeMap<u32, ObjId>,
    /// The floor's state.
    state: &'a State,
    /// The values of the lines' variables.
    value: &'a dyn Fn(Var) -> Option<i128>,
    /// The number of comparisons.
    compared: usize,
}

/// A field of one object: the object's number and the offset.
type Spot = (u32, u32);

impl Seen<'_, '_> {
    fn register(&self, holder: Holder) -> Option<u64> {
        let Holder::Reg(reg) = holder else {
            return None;
        };
        let number = self.view.register(self.view.depth() - 1, Reg(reg))?;
        Some(number as u64)
    }

    /// The content of a field; `None` if it was not written.
    fn content(&self, (number, at): Spot) -> Option<u64> {
        let seen = self.view.object(number).filter(|seen| seen.alive)?;
        let bytes = seen.bytes.get(at as usize..at as usize + 8)?;
        if self.view.is_undefined(number, at as usize, 8) {
            return None;
        }
        <[u8; 8]>::try_from(bytes).ok().map(u64::from_le_bytes)
    }

    /// Whether an address is NULL or the beginning of a live block.
    fn is_block(&self, address: u64) -> bool {
        let number = (address >> 32) as u32;
        address == 0
            || address as u32 == 0
                && self.view.object(number).is_some_and(|seen| seen.alive)
                && place_of(number) >= DYNAMIC_OBJECTS
    }

    /// The field that a slot denotes, if it is an owning field.
    fn spot(&self, owners: &Owners, slot: &Slot) -> Option<Spot> {
        let address = self.register(slot.base)?;
        let number = (address >> 32) as u32;
        let id = self.objects.get(&number)?;
        let is_owning = address as u32 == 0 && owners.fields.contains(&(*id, slot.at));
        is_owning.then_some((number, slot.at))
    }

    /// The value of a row's offset, from its range or from an exact line.
    fn edge(&self, row: &Row, edge: Edge) -> Option<i128> {
        if let Some(at) = row.range(edge).as_constant() {
            return Some(at.into());
        }
        let var = row.var(edge);
        self.state.lines.iter().find_map(|line| {
            let factor = line.terms().find(|(of, _)| *of == var)?.1;
            let mut others = line.terms().filter(|(of, _)| *of != var);
            let rest = others.try_fold(line.constant(), |sum, (of, by)| {
                Some(sum + by * (self.value)(of)?)
            })?;
            (line.is_exact() && factor.abs() == 1).then_some(-rest * factor)
        })
    }

    /// The owning elements of a row, and the element that is set apart; `None` if the row's offsets
    /// are not known.
    fn elements(&self, owners: &Owners, row: &Row) -> Option<(Vec<Spot>, Option<Spot>)> {
        let (from, to) = (self.edge(row, Edge::From)?, self.edge(row, Edge::To)?);
        let mut named = self.objects.iter().filter(|(_, known)| **known == row.of);
        let (number, _) = named.next()?;
        let size = self.view.object(*number)?.bytes.len() as i128;
        let is_element = |at: i128| at >= from && at < to && at + 8 <= size;
        let all = (0..).map(|i| i128::from(row.start) + i * i128::from(row.stride));
        let all = all.take_while(|at| *at < size).filter(|at| is_element(*at));
        let spots = all.map(|at| (*number, at as u32)).collect();
        let apart = match owners.apart(row.name()) {
            Some(_) => Some((*number, u32::try_from(self.edge(row, Edge::At)?).ok()?)),
            None => None,
        };
        Some((spots, apart))
    }

    fn spots_of(&self, (id, at): Field) -> impl Iterator<Item = Spot> + '_ {
        let named = self.objects.iter().filter(move |(_, known)| **known == id);
        named.map(move |(number, _)| (*number, at))
    }

    /// A field that contradicts the claims about ends of lists, or that holds the same address as a
    /// register although they must differ.
    fn tail(&mut self, owners: &Owners) -> Option<String> {
        let held = |seen: &Self, field: Field| -> Vec<u64> {
            let spots: Vec<Spot> = seen.spots_of(field).collect();
            let held = spots.into_iter().filter_map(|spot| seen.content(spot));
            held.filter(|value| *value != 0).collect()
        };
        for (field, at) in &owners.ends {
            for block in held(self, *field) {
                self.compared += 1;
                let link = self.content(((block >> 32) as u32, *at));
                if link.is_some_and(|link| link != 0) {
                    return Some(format!("{block:#x} does not end at {at} in {owners}"));
                }
            }
        }
        for (field, holder) in &owners.unlike {
            let register = self.register(*holder);
            for block in held(self, *field) {
                self.compared += 1;
                if Some(block) == register {
                    return Some(format!("{holder} holds {block:#x} in {owners}"));
                }
            }
        }
        None
    }

    /// A cycle of links, if the state excludes cycles.
    fn circle(&mut self, owners: &Owners, excluded: &BTreeSet<Spot>) -> Option<String> {
        if owners.cyclic {
            return None;
        }
        let mut links: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let fields = owners.fields.iter();
        let spots: Vec<Spot> = fields.flat_map(|field| self.spots_of(*field)).collect();
        for spot in spots {
            let content = self.content(spot).filter(|value| *value != 0);
            if let Some(value) = content.filter(|_| !excluded.contains(&spot)) {
                self.compared += 1;
                links.entry(spot.0).or_default().push((value >> 32) as u32);
            }
        }
        // Removes blocks without links until only cycles and the blocks that lead to them are left
        // (Kahn, 1962). Linear time matters, since lists are long and each state of an execution is
        // compared.
        let mut from: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let mut open: BTreeMap<u32, usize> = BTreeMap::new();
        for (&block, to) in &links {
            let known = to.iter().filter(|to| links.contains_key(to));
            let count = known.map(|to| from.entry(*to).or_default().push(block));
            open.insert(block, count.count());
        }
        let without = open.iter().filter(|(_, count)| **count == 0);
        let mut without: Vec<u32> = without.map(|(block, _)| *block).collect();
        while let Some(block) = without.pop() {
            links.remove(&block);
            for from in from.remove(&block).unwrap_or_default() {
                let Some(count) = open.get_mut(&from) else {
                    continue;
                };
                *count -= 1;
                if *count == 0 {
                    without.push(from);
                }
            }
        }
        (!links.is_empty()).then(|| format!("links lead in a circle: {links:?} in {owners}"))
    }

    /// The first claim about owners that does not hold.
    fn differs(&mut self, owners: &Owners) -> Option<String> {
        let mut values: BTreeMap<u64, String> = BTreeMap::new();
        let mut named: BTreeSet<Spot> = BTreeSet::new();
        for owner in &owners.named {
            let held = owner.holders.iter().filter_map(|h| self.register(*h));
            let mut all: BTreeSet<u64> = held.collect();
            for place in &owner.places {
                let spots: Vec<Spot> = match place {
                    Place::Cell(id, at) if owners.fields.contains(&(*id, *at)) => {
                        self.spots_of((*id, *at)).collect()
                    }
                    Place::Cell(..) => Vec::new(),
                    Place::Slot(slot) => self.spot(owners, slot).into_iter().collect(),
                    Place::Element(id, start) => {
                        let row = owners.row((*id, *start));
                        let elements = row.and_then(|row| self.elements(owners, row));
                        let apart = elements.and_then(|(all, at)| at.filter(|at| all.contains(at)));
                        apart.into_iter().collect()
                    }
                };
                for spot in spots {
                    all.extend(self.content(spot));
                    named.insert(spot);
                }
            }
            self.compared += all.len();
            if all.len() > 1 {
                return Some(format!("an owner has several values: {all:x?} in {owners}"));
            }
            for value in all.into_iter().filter(|value| *value != 0) {
                if !self.is_block(value) {
                    return Some(format!(
                        "an owner leads to no block: {value:#x} in {owners}"
                    ));
                }
                if values.insert(value, "an owner".to_owned()).is_some() {
                    return Some(format!("two owners have one value: {value:#x} in {owners}"));
                }
            }
        }
        let excluded = owners.excluded.iter();
        let excluded: BTreeSet<Spot> = excluded
            .filter_map(|slot| self.spot(owners, slot))
            .collect();
        for holder in &owners.alive {
            if let Some(value) = self.register(*holder) {
                self.compared += 1;
                if !self.is_block(value) {
                    return Some(format!("{holder} does not lead to a block: {value:#x}"));
                }
            }
        }
        for (one, other) in &owners.different {
            if let (Some(a), Some(b)) = (self.register(*one), self.register(*other)) {
                self.compared += 1;
                if a == b && a != 0 {
                    return Some(format!("{one} and {other} hold {a:#x} in {owners}"));
                }
            }
        }
        if let Some(tail) = self.tail(owners) {
            return Some(tail);
        }
        // The registers of enclosing calls are not known here, so it is unknown which fields they
        // denote.
        let slots = owners.named.iter().flat_map(|owner| &owner.places);
        let slots = slots.filter_map(|place| match place {
            Place::Slot(slot) => Some(slot),
            Place::Cell(..) | Place::Element(..) => None,
        });
        let mut slots = slots.chain(&owners.excluded);
        if slots.any(|slot| matches!(slot.base, Holder::Outer(..))) {
            return None;
        }
        if let Some(circle) = self.circle(owners, &excluded) {
            return Some(circle);
        }
        let mut all: Vec<Vec<Spot>> = Vec::new();
        for field in &owners.fields {
            all.push(self.spots_of(*field).collect());
        }
        for row in &owners.rows {
            if let Some((spots, apart)) = self.elements(owners, row) {
                let others = spots.into_iter().filter(|spot| Some(*spot) != apart);
                all.push(others.collect());
            }
        }
        for spots in all {
            for spot in spots {
                let Some(value) = self.content(spot).filter(|value| *value != 0) else {
                    continue;
                };
                if named.contains(&spot) || excluded.contains(&spot) {
                    continue;
                }
                self.compared += 1;
                if !self.is_block(value) {
                    return Some(format!(
                        "{spot:?} leads to no block: {value:#x} in {owners}"
                    ));
                }
                if let Some(other) = values.insert(value, format!("{spot:?}")) {
                    return Some(format!(
                        "{spot:?} and {other} lead to {value:#x} in {owners}"
                    ));
                }
            }
        }
        None
    }
}
