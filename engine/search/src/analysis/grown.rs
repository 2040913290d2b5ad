//! How one state grows: what it takes in, when it is widened, and when parts of it are forgotten.
//!
//! The first iterations of a loop are joined, so that relations between values that change together
//! are found. Then bounds are widened to the constants that the function compares with, then to the
//! ends of types and the small numbers that it stores. A block of the heap is enlarged only long
//! after the first iterations, so its relations to other numbers are found at that time.

use std::sync::Arc;

use cegar_model::domain::contents::{Contents, Run};
use cegar_model::domain::space::{ObjId, Object, Objects};
use cegar_model::domain::state::State;
use cegar_model::domain::walk::Measure;
use rustc_hash::FxHashMap;

use super::thresholds::{Bounds, ENDS, with_constants};

/// How often a state takes in others before it is widened.
const JOINS: u32 = 3;
/// How often it is joined or widened to constants of the program before it is widened further.
const STEPS: u32 = 12;
/// How often it is joined or widened to the ends of types before it is widened further.
const WIDE: u32 = 32;
/// After how often the bytes of objects that still change are forgotten.
const FORGET: u32 = 40;
/// After how often an object that still changes is forgotten as a whole.
const FORGET_ALL: u32 = 60;

/// A state that grows.
#[derive(Debug, Default)]
pub(super) struct Grown {
    /// The current state.
    pub state: State,
    /// How often it took in a state that arrived along a back edge, or at a function's entry or
    /// exit.
    times: u32,
    /// How often it took in a state that entered the loop.
    pub entered: u32,
    /// The join of the states that entered the loop, as long as the loop is restarted with it.
    entry: State,
}

impl Grown {
    /// A state that begins to grow.
    pub fn of(state: State) -> Grown {
        Grown {
            entry: state.clone(),
            state,
            times: 0,
            entered: 0,
        }
    }
}

/// Takes in a state that enters a loop. Returns whether it is new. The loop is restarted with it,
/// so that relations between values in its first iterations are found for the new state as well
/// (Bourdoncle, 1993, iterates inner loops from their entry states each time).
pub(super) fn join_entry(
    known: &mut Grown,
    state: &State,
    by: Measure<'_, '_>,
    (anew, relations): (u32, bool),
) -> bool {
    let begins_anew = known.entered < anew;
    if begins_anew && !state.is_within(&known.entry, by.names, by.widths) {
        known.entry = known.entry.join_with_hull(state, by.names, by.widths);
    }
    if state.is_within(&known.state, by.names, by.widths) {
        return false;
    }
    known.entered += 1;
    if begins_anew {
        known.state = known.entry.clone();
        known.times = 0;
        return true;
    }
    known.state = match relations {
        true => known.state.join_with_hull(state, by.names, by.widths),
        false => known.state.join(state, by.names, by.widths),
    };
    true
}

/// Takes in a state that arrives. Returns whether it is new.
pub(super) fn join_or_widen(
    known: &mut Grown,
    state: State,
    by: Measure<'_, '_>,
    (thresholds, relations): (&Bounds, bool),
) -> bool {
    if state.is_within(&known.state, by.names, by.widths) {
        return false;
    }
    known.times += 1;
    let times = known.times;
    // A block is enlarged for the first time when its room is used up, long after the first
    // iterations.
    let grows = relations && (JOINS..=WIDE).contains(&times) && known.state.grows(&state, by.names);
    let before = (times > FORGET).then(|| Arc::clone(&known.state.objects));
    known.state = match times {
        _ if grows => known.state.join_of_turns(&state, by.names, by.widths),
        0..=JOINS if relations => known.state.join_of_turns(&state, by.names, by.widths),
        0..=JOINS => known.state.join(&state, by.names, by.widths),
        _ if times <= STEPS => {
            let all = with_constants(&thresholds.all, &known.state, &state);
            let mut stored = [&all[..], &thresholds.stored].concat();
            stored.sort_unstable();
            known
                .state
                .widen(&state, by.names, by.widths, (&all, &stored))
        }
        _ if times <= WIDE => {
            let both = (&ENDS[..], &thresholds.stored[..]);
            known.state.widen(&state, by.names, by.widths, both)
        }
        _ => known.state.widen(&state, by.names, by.widths, (&[], &[])),
    };
    if let Some(before) = before {
        forget(&mut known.state, &before, times > FORGET_ALL);
    }
    true
}

/// Forgets the bytes of objects that changed, or all bytes of these objects. Forgotten bytes may
/// have any value, so this is an over-approximation.
fn forget(state: &mut State, before: &Objects, whole: bool) {
    let changed = |id: &ObjId, object: &Object| match before.get(id) {
        Some(known) => known.contents != object.contents,
        None => false,
    };
    let ids = state
        .objects
        .iter()
        .filter(|(id, object)| changed(id, object));
    let ids: Vec<ObjId> = ids.map(|(id, _)| *id).collect();
    if ids.is_empty() {
        return;
    }
    let objects = Arc::make_mut(&mut state.objects);
    for id in ids {
        let (Some(object), Some(known)) = (objects.get_mut(&id), before.get(&id)) else {
            continue;
        };
        if whole {
            object.contents = Arc::new(Contents::any());
            continue;
        }
        let contents = Arc::make_mut(&mut object.contents);
        let same: FxHashMap<u32, Run> =
            contents.runs().map(|(at, run)| (at, run.clone())).collect();
        for (start, run) in known.contents.runs() {
            if same.get(&start) != Some(run) {
                contents.forget(start, run.end);
            }
        }
    }
}
