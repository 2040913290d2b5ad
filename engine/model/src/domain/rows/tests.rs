//! Tests of rows that are filled, read, released and joined.

use std::sync::Arc;

use crate::domain::contents::Contents;
use crate::domain::linear::{Edge, Sum, Var};
use crate::domain::nul::Ends;
use crate::domain::num::Num;
use crate::domain::owners::{Apart, Holder, MayHold, Row, Stored};
use crate::domain::space::{Alive, Names, ObjId, Object};
use crate::domain::state::State;
use crate::domain::value::Value;
use crate::program::Program;
use crate::program::ir::Reg;

const ARRAY: ObjId = ObjId(3);
const NAME: (ObjId, u32) = (ARRAY, 0);

fn held(reg: u32) -> Holder {
    Holder::Reg(reg)
}

fn at(offset: i128) -> Sum {
    Sum::number(offset)
}

/// A state with a row without elements in an array of unknown contents.
fn begun() -> State {
    let mut state = State::default();
    let object = Object {
        alive: Alive::Yes,
        size: Num::exactly(64, 64),
        contents: Arc::new(Contents::any()),
    };
    Arc::make_mut(&mut state.objects).insert(ARRAY, object);
    Arc::make_mut(&mut state.owners).put_row(Row::empty(ARRAY, 0, 8));
    state
}

/// Requests a block and stores it.
fn store(state: &mut State, (reg, offset): (u32, &Sum), names: &Names<'_>) {
    Arc::make_mut(&mut state.owners).given(held(reg));
    state.element_stored((NAME, offset), Stored::Held(held(reg)), names);
}

fn release(state: &mut State, reg: u32) {
    Arc::make_mut(&mut state.owners).released(
        Some(held(reg)),
        &MayHold {
            field: &|_| true,
            row: &|_| true,
            kept: &|_| true,
            holder: &|_| true,
        },
    );
}

fn ends_of(state: &State) -> Option<(u64, u64)> {
    let row = state.owners.row(NAME)?;
    Some((row.from.as_constant()?, row.to.as_constant()?))
}

#[test]
fn a_store_behind_the_last_element_moves_the_end() {
    let program = Program::default();
    let names = Names::new(&program);
    let mut state = begun();
    store(&mut state, (1, &at(0)), &names);
    store(&mut state, (2, &at(8)), &names);
    assert_eq!(ends_of(&state), Some((0, 16)));
    // An owner that is stored farther away is not in the row.
    store(&mut state, (3, &at(32)), &names);
    assert_eq!(ends_of(&state), Some((0, 16)));
    // An element without a known owner is spent, until it is overwritten with NULL.
    state.element_stored((NAME, &at(8)), Stored::Unknown, &names);
    assert_eq!(state.owners.apart(NAME), Some(Apart::Unowned));
    state.element_stored((NAME, &at(8)), Stored::Null, &names);
    assert_eq!(state.owners.apart(NAME), None);
}

#[test]
fn a_released_element_is_read_no_more() {
    let program = Program::default();
    let names = Names::new(&program);
    let mut state = begun();
    store(&mut state, (1, &at(0)), &names);
    store(&mut state, (2, &at(8)), &names);
    state.element_read(held(5), (NAME, &at(0)), &names);
    assert!(state.owners.lives(held(5)));
    release(&mut state, 5);
    state.element_read(held(6), (NAME, &at(0)), &names);
    assert!(!state.owners.lives(held(6)));
    // An element that may be the released one is not known to be alive.
    let unknown = Sum::of(Var::Reg(9));
    state.element_read(held(7), (NAME, &unknown), &names);
    assert!(!state.owners.lives(held(7)));
    // The other element is alive, and the row begins with it.
    state.element_read(held(8), (NAME, &at(8)), &names);
    assert!(state.owners.lives(held(8)));
    assert_eq!(ends_of(&state), Some((8, 16)));
}

#[test]
fn one_value_in_two_elements_is_no_row() {
    let program = Program::default();
    let names = Names::new(&program);
    let mut state = begun();
    store(&mut state, (1, &at(0)), &names);
    state.element_stored((NAME, &at(8)), Stored::Held(held(1)), &names);
    assert!(state.owners.row(NAME).is_none());
    // Nor is there one once an owner was stored at an unknown offset.
    let mut state = begun();
    store(&mut state, (1, &at(0)), &names);
    store(&mut state, (2, &Sum::of(Var::Reg(9))), &names);
    assert!(state.owners.row(NAME).is_none());
}

#[test]
fn a_row_ends_before_an_element_of_which_a_byte_is_written() {
    let row = Row {
        stride: 24,
        ..Row::empty(ARRAY, 8, 8)
    };
    // Elements are at 8, 32 and 56; the bytes from 16 to 32 are other members.
    let ends = [8, 15, 16, 31, 32, 39, 40].map(|byte| row.end_before(byte));
    let expected = [8, 8, 32, 32, 32, 32, 56].map(Some);
    assert_eq!(ends, expected);
    assert_eq!(row.end_before(7), None);
    let program = Program::default();
    let names = Names::new(&program);
    let mut state = begun();
    for (reg, offset) in [(1, 0), (2, 8), (3, 16)] {
        store(&mut state, (reg, &at(offset)), &names);
    }
    state.forget_written(ARRAY, (13, 14), Ends::Settled, &names);
    assert_eq!(ends_of(&state), Some((0, 8)));
    // Writes to other members have no effect.
    let whole = Row {
        to: row.whole(),
        ..row
    };
    let mut state = State::default();
    Arc::make_mut(&mut state.owners).put_row(whole.clone());
    state.forget_written(ARRAY, (16, 24), Ends::Settled, &names);
    assert_eq!(state.owners.rows, [whole]);
    state.forget_written(ARRAY, (40, 57), Ends::Settled, &names);
    assert!(state.owners.rows.is_empty());
}

#[test]
fn what_counts_the_elements_says_where_they_end() {
    let program = Program::default();
    let names = Names::new(&program);
    let widths = [64; 2];
    let count = |number| Value::exactly(64, number);
    let mut none = begun();
    none.registers.insert(Reg(0), count(0));
    let mut one = begun();
    store(&mut one, (1, &at(0)), &names);
    one.registers.insert(Reg(0), count(1));
    let both = none.join(&one, &names, &widths);
    let end = Sum::of(Var::Row(ARRAY, 0, Edge::To));
    let by_count = Sum::of(Var::Reg(0)).times(8).expect("a sum");
    assert!(both.is_equal(&end, &by_count, &names));
    assert!(none.is_within(&both, &names, &widths));
    assert!(one.is_within(&both, &names, &widths));
    let row = both.owners.row(NAME).expect("a row");
    assert_eq!(row.from, Num::exactly(64, 0));
}
