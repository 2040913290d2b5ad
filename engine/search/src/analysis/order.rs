//! In which order shared functions are walked where some of them call each other.
//!
//! Walked at each call at which its entry grew, a function in such a circle is walked as often as
//! there are calls and ways through the circle. So its walk is put off: all calls of a round are
//! taken in together, and a function is walked again only when its entry grew, or the end of one
//! that it calls. Callees come first (Bourdoncle, *Efficient chaotic iteration strategies with
//! widenings*, 1993, has the same for blocks), so that what a function comes back with is known to
//! its callers in the same round.

use cegar_model::program::ir::{FuncId, Program};
use cegar_model::program::outside::points::Points;
use rustc_hash::{FxHashMap, FxHashSet};

/// A walk: of a shared function, or of the program's entry with all that is walked within it.
pub type Walk = Option<FuncId>;

/// What has to be walked again.
#[derive(Debug, Default)]
pub struct Schedule {
    /// Whether functions of the program call themselves: otherwise each is walked where it is
    /// called.
    circular: bool,
    /// Callees before callers.
    places: FxHashMap<FuncId, u32>,
    /// By function: whose walks went on from what it comes back with.
    users: FxHashMap<FuncId, FxHashSet<Walk>>,
    due: FxHashSet<Walk>,
    /// The walks in progress, innermost last; the program's is not among them.
    current: Vec<FuncId>,
}

impl Schedule {
    /// Of a program.
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
                        // It was come by and is not done: it is called within itself.
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

    /// Whether walks are put off.
    pub fn puts_off(&self) -> bool {
        self.circular
    }

    /// A function is called by the walk in progress.
    pub fn called(&mut self, function: FuncId) {
        let user = self.current.last().copied();
        self.users.entry(function).or_default().insert(user);
    }

    /// A function's walk begins, with all that is known of its entry.
    pub fn begins(&mut self, function: FuncId) {
        self.due.remove(&Some(function));
        self.current.push(function);
    }

    /// A function's walk is over; whether what it comes back with grew.
    pub fn ends(&mut self, function: FuncId, grew: bool) {
        self.current.pop();
        if grew && let Some(users) = self.users.get(&function) {
            self.due.extend(users);
        }
    }

    /// Something has to be walked again.
    pub fn put(&mut self, walk: Walk) {
        self.due.insert(walk);
    }

    /// The program's walk begins.
    pub fn starts(&mut self) {
        self.current.clear();
        self.due.remove(&None);
    }

    /// What is due now, callees first and the program last.
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
