//! Tests of the owners of a list.

use super::*;
use crate::domain::space::ObjId;

const LAST: ObjId = ObjId(8);
const OLDER: ObjId = ObjId(9);
const ANYWHERE: MayHold<'_> = MayHold {
    field: &|_| true,
    row: &|_| true,
    holder: &|_| true,
    kept: &|_| true,
};

fn reg(number: u32) -> Holder {
    Holder::Reg(number)
}

/// The link of the node that a register points to.
fn link(base: u32) -> Place {
    Place::Slot(Slot {
        base: reg(base),
        at: 8,
        of: vec![LAST, OLDER],
    })
}

/// What is known of a store to that link.
fn to(base: u32) -> Link {
    Link {
        base: Some(reg(base)),
        heap: true,
        names: Some(vec![LAST, OLDER]),
        ends: Vec::new(),
    }
}

/// A list that register 0 points to, of which nothing else is known.
fn list() -> Owners {
    let mut owners = Owners::default();
    owners.fields.extend([(LAST, 8), (OLDER, 8)]);
    owners.given(reg(0));
    owners
}

fn release(owners: &mut Owners, register: u32) {
    owners.released(Some(reg(register)), &ANYWHERE);
}

fn owns(owners: &Owners, field: Field) -> bool {
    owners.fields.contains(&field)
}

#[test]
fn the_next_node_is_owned_once_its_owner_is_released() {
    let mut owners = list();
    owners.read(reg(1), &link(0), owns);
    assert_eq!(owners.to_string(), "o8+8, o9+8, r0, r1 = r0->8");
    release(&mut owners, 0);
    assert_eq!(owners.to_string(), "o8+8, o9+8, r1");
}

#[test]
fn a_node_that_is_released_and_still_linked_is_excluded() {
    let mut owners = list();
    owners.read(reg(1), &link(0), owns);
    release(&mut owners, 1);
    assert_eq!(owners.to_string(), "o8+8, o9+8, r0, not r0->8");
    // Reading the link says nothing: the block that it holds has been released.
    owners.read(reg(2), &link(0), owns);
    assert!(!owners.lives(reg(2)));
    // Once the node cannot be denoted any more, no link owns.
    let mut lost = owners.clone();
    lost.set(reg(0));
    assert!(lost.fields.is_empty() && !lost.lives(reg(0)));
    // Overwriting the link makes it a list again.
    owners.stored((&link(0), &to(0)), Stored::Null, |_| false);
    assert!(owners.excluded.is_empty());
}

#[test]
fn what_nobody_is_known_to_own_takes_all_owners_along() {
    let mut owners = list();
    owners.alive.insert(reg(5));
    owners.released(Some(reg(5)), &ANYWHERE);
    assert!(owners.is_silent(), "{owners}");
}

#[test]
fn one_value_in_two_links_is_no_owner_of_one() {
    let mut owners = list();
    owners.given(reg(1));
    owners.given(reg(2));
    owners.stored((&link(0), &to(0)), Stored::Held(reg(2)), |_| false);
    owners.stored((&link(1), &to(1)), Stored::Held(reg(2)), |_| false);
    assert!(owners.to_string().contains("r2 = r0->8 = r1->8"));
    // If one of the two nodes is forgotten, its link becomes an ordinary one of the list, and the
    // other one is excluded.
    owners.set(reg(1));
    assert_eq!(owners.to_string(), "o8+8, o9+8, r0, not r0->8, r2 lives");
}

#[test]
fn a_link_that_may_be_another_one_is_an_ordinary_one_once_it_may_be_written() {
    let mut owners = list();
    owners.read(reg(1), &link(0), owns);
    // Register 7 may point to the node of register 0.
    owners.given(reg(2));
    owners.stored((&link(7), &to(7)), Stored::Held(reg(2)), |_| false);
    assert!(owners.index(reg(1)).is_none(), "{owners}");
}

#[test]
fn a_last_block_becomes_an_older_one_with_its_link() {
    let mut owners = Owners::default();
    owners.given(reg(0));
    owners.owns((LAST, 8));
    // There is no older block yet.
    let absent = |owners: &Owners, field: Field| field.0 == OLDER || owns(owners, field);
    owners.renewed((LAST, Some(OLDER)), absent);
    assert_eq!(owners.to_string(), "o9+8, r0");
    // The link of the next block holds anything.
    owners.renewed((LAST, Some(OLDER)), owns);
    assert_eq!(owners.to_string(), "r0");
}
