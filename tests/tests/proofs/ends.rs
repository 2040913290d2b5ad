//! Compares the zero bytes of a floor's states ([`cegar_model::domain::nul`]) with those of an
//! execution.
//!
//! A state claims that zero bytes with certain properties exist, not where they are. So it is wrong
//! only if no zero bytes of the object satisfy all its claims.

use cegar_model::domain::linear::{Line, Var, Which};
use cegar_model::domain::space::ObjId;
use cegar_model::domain::state::State;

/// The maximum number of zero bytes of each kind that are tried in pairs.
const PAIRS: usize = 128;
/// The size of the largest object whose zero bytes are compared.
pub const OBJECT: usize = 1 << 12;

/// A line about an object's zero bytes after its other variables have been replaced by their
/// values: the factor of the far zero byte's offset, the factor of the near one's, the constant,
/// and whether the line is exact.
type Said = (i128, i128, i128, bool);

/// The line's claim about an object's zero bytes; `None` if it does not mention them, or if the
/// value of another variable is unknown.
fn said(line: &Line, id: ObjId, value: &impl Fn(Var) -> Option<i128>) -> Option<Said> {
    let (mut far, mut near, mut rest) = (0, 0, line.constant());
    for (var, factor) in line.terms() {
        match var {
            Var::Nul(of, Which::Far) if of == id => far = factor,
            Var::Nul(of, Which::Near) if of == id => near = factor,
            var => rest += factor * value(var)?,
        }
    }
    (far != 0 || near != 0).then_some((far, near, rest, line.is_exact()))
}

/// Whether an object has zero bytes that satisfy all lines of the state.
pub fn has_ends(
    state: &State,
    id: ObjId,
    bytes: &[u8],
    value: impl Fn(Var) -> Option<i128>,
) -> bool {
    let lines = state.lines.iter();
    let all: Vec<Said> = lines.filter_map(|line| said(line, id, &value)).collect();
    let holds = |far: i128, near: i128, one: &Said| {
        let sum = one.0 * far + one.1 * near + one.2;
        sum == 0 || sum < 0 && !one.3
    };
    let alone: Vec<&Said> = all.iter().filter(|one| one.0 == 0 || one.1 == 0).collect();
    let both: Vec<&Said> = all.iter().filter(|one| one.0 != 0 && one.1 != 0).collect();
    let places = |which: Which| -> Vec<i128> {
        let Some(known) = state.nuls.get(&(id, which)) else {
            return vec![0];
        };
        let zeros = (0..bytes.len()).filter(|at| bytes[*at] == 0 && known.has(64, *at as u128));
        let fits = |at: &i128| {
            alone.iter().all(|one| match which {
                Which::Far => one.0 == 0 || holds(*at, 0, one),
                Which::Near => one.1 == 0 || holds(0, *at, one),
            })
        };
        zeros
            .map(|at| at as i128)
            .filter(fits)
            .take(PAIRS)
            .collect()
    };
    let (far, near) = (places(Which::Far), places(Which::Near));
    let may_be_more = far.len() == PAIRS || near.len() == PAIRS;
    let mut pairs = far
        .iter()
        .flat_map(|far| near.iter().map(move |near| (*far, *near)));
    pairs.any(|(far, near)| both.iter().all(|one| holds(far, near, one))) || may_be_more
}

#[test]
fn ends_have_to_be_where_it_is_said() {
    use cegar_model::domain::linear::Sum;
    use cegar_model::domain::num::Num;

    let id = ObjId(1);
    let all = Num::between(64, 0, 7).expect("a range");
    let mut state = State::default();
    state.put_nul((id, Which::Far), (&Sum::number(0), all));
    state.put_nul((id, Which::Near), (&Sum::of(Var::Reg(2)), all));
    let has = |bytes: &[u8], register: i128| {
        has_ends(&state, id, bytes, |var| {
            (var == Var::Reg(2)).then_some(register)
        })
    };
    assert!(has(b"ab\0c\0xxx", 2) && has(b"ab\0c\0xxx", 4));
    assert!(!has(b"ab\0c\0xxx", 3), "there is another byte");
    assert!(!has(b"abcdefgh", 2), "there is no end at all");
}
