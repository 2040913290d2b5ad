//! The order in which shared functions are walked if some of them are recursive.
//!
//! If a function on a cycle of calls were walked at each call at which its entry state grew, it
//! would be walked as often as there are calls and paths through the cycle. Therefore its walk is
//! postponed: the entry takes in all calls of a round, and a function is walked again only if its
//! entry grew, or the exit of one of its callees. Callees come first (as for blocks in
//! Bourdoncle, *Efficient chaotic iteration strategies with widenings*, 1993), so that their exits
//! are known to the callers in the same round.

use cegar_model::program::ir::{FuncId, Program};
use cegar_model::program::outside::points::Points;
use rustc_hash::{FxHashMap, FxHashSet};

/// A walk: of a shared function, or of the program's entry with everything that is walked within
/// it.
pub type Walk = Option<FuncId>;

/// The walks that are due.
#[derive(Debug, Default)]
pub struct Schedule {
    /// Whether functions of the program are recursive. Otherwise each is walked where it is called.
    circular: bool,
    /// The position of each function in the order: callees before callers.
    places: FxHashMap<FuncId, u32>,
    /// For each function, the walks that used its exit state.
    users: FxHashMap<FuncId, FxHashSet<Walk>>,
    due: FxHashSet<Walk>,
    /// The walks in progress, innermost last, without the program's walk.
    current: Vec<FuncId>,
}

impl Schedule {
    /// The schedule of a program, with nothing due.
    pub fn of(program: &Program, points: &Points) -> Schedule {
        let mut schedule = Schedule::default();
        let mut seen = FxHashSet::from_iter([program.entry]);
        let mut stack = vec![(program.entry, 0)];
        while let Some((function, at)) = stack.pop() {
            match points.called(function).get(at) {
                Some(&next) => {
                    stack.push((function, at + 1));
                    if seen.insert(next) {
                        stack.push((next, 0));
                    } else if !schedule.places.contains_key(&next) {
                        // It was visited and is not done: it is called within itself.
                        schedule.circular = true;
                    }
                }
                None => {
                    let place = schedule.places.len() as u32;
                    schedule.places.insert(function, place);
                }
            }
        }
        schedule
    }

    /// Whether walks are postponed.
    pub fn puts_off(&self) -> bool {
        self.circular
    }

    /// Notes that the walk in progress calls a function.
    pub fn called(&mut self, function: FuncId) {
        let user = self.current.last().copied();
        self.users.entry(function).or_default().insert(user);
    }

    /// Notes that a function's walk begins, from the current entry state.
    pub fn begins(&mut self, function: FuncId) {
        self.due.remove(&Some(function));
        self.current.push(function);
    }

    /// Notes that a function's walk has ended, and whether its exit state grew.
    pub fn ends(&mut self, function: FuncId, grew: bool) {
        self.current.pop();
        if grew && let Some(users) = self.users.get(&function) {
            self.due.extend(users);
        }
    }

    /// Notes that a walk is due.
    pub fn put(&mut self, walk: Walk) {
        self.due.insert(walk);
    }

    /// Notes that the program's walk begins.
    pub fn starts(&mut self) {
        self.current.clear();
        self.due.remove(&None);
    }

    /// The walks that are due now, callees first and the program last.
    pub fn round(&self) -> Vec<Walk> {
        let mut all: Vec<Walk> = self.due.iter().copied().collect();
        all.sort_by_key(|walk| match walk {
            Some(function) => self.places.get(function).copied().unwrap_or(u32::MAX - 1),
            None => u32::MAX,
        });
        all
    }

    /// Whether a walk is due.
    pub fn is_due(&self, walk: Walk) -> bool {
        self.due.contains(&walk)
    }
}
