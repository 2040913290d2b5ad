//! The queue of a search: one heap and one share of the effort per class of work.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

use crate::simulate::partial::PathIndex;
use crate::simulate::pump;
use cegar_model::machine::{Choice, PathEvent};
use cegar_model::program::BlockId;

/// An execution with its symbolic shadow.
pub(super) struct Recorded {
    pub tape: Rc<[u8]>,
    pub choices: Vec<Choice>,
    pub path: Vec<PathEvent>,
    pub trace: Vec<BlockId>,
    pub index: PathIndex,
}

/// A job of the search.
pub(super) enum Work {
    Flip {
        of: Rc<Recorded>,
        at: usize,
    },
    Violate {
        of: Rc<Recorded>,
        at: usize,
    },
    Replay {
        tape: Rc<[u8]>,
        stretch: pump::Stretch,
        rung: usize,
        /// A hash of the blocks that the run on the previous rung entered, if there was one.
        before: Option<u64>,
    },
    /// Bisects for the number of repetitions at which the program begins to behave differently.
    Between {
        tape: Rc<[u8]>,
        stretch: pump::Stretch,
        low: usize,
        high: usize,
        /// A hash of the blocks that the run with `low` repetitions entered.
        like: u64,
    },
    Longer {
        tape: Rc<[u8]>,
        to: usize,
    },
    /// The tape with another length of the last choice; the greater lengths follow.
    Lengths {
        tape: Rc<[u8]>,
        /// Where the last choice begins.
        from: usize,
        length: usize,
    },
}

/// Classes of work.
pub(super) mod class {
    pub const VIOLATE: usize = 0;
    pub const UNCOVERED: usize = 1;
    pub const REPLAY: usize = 2;
    pub const LONGER: usize = 3;
    pub const CONTEXT: usize = 4;
    pub const REST: usize = 5;
    /// Queries that reached the solver's limits, to be asked with larger ones.
    pub const AGAIN: usize = 6;
    /// The number of classes.
    pub const ALL: usize = 7;
    /// The share of the effort that each class gets while it has work: no class may starve, and one
    /// long replay costs as much as ten thousand queries.
    pub const SHARE: [u64; ALL] = [8, 8, 4, 2, 4, 1, 1];
}

/// Work with its priority.
pub(super) struct Job {
    key: Reverse<(u64, u64)>,
    pub work: Work,
}

impl PartialEq for Job {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}
impl Eq for Job {}
impl PartialOrd for Job {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Job {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

/// The queue: one heap per class, and the cost of each class so far, in executed steps or their
/// equivalent.
#[derive(Default)]
pub(super) struct Queue {
    heaps: [BinaryHeap<Job>; class::ALL],
    pub spent: [u64; class::ALL],
    serial: u64,
}

impl Queue {
    pub fn len(&self) -> usize {
        self.heaps.iter().map(BinaryHeap::len).sum()
    }

    pub fn push(&mut self, class: usize, cost: u64, work: Work) {
        if self.heaps[class].is_empty() {
            // A class that was empty starts at the virtual time of the others, so that it does not
            // catch up on its unused share.
            let busy = (0..class::ALL).filter(|&c| !self.heaps[c].is_empty());
            if let Some(floor) = busy.map(|c| self.spent[c] / class::SHARE[c]).min() {
                self.spent[class] = self.spent[class].max(floor * class::SHARE[class]);
            }
        }
        self.serial += 1;
        self.heaps[class].push(Job {
            key: Reverse((cost, self.serial)),
            work,
        });
    }

    /// The next job, from the class that spent least relative to its share.
    pub fn pop(&mut self) -> Option<(usize, Job)> {
        let class = (0..class::ALL)
            .filter(|&class| !self.heaps[class].is_empty())
            .min_by_key(|&class| (self.spent[class] / class::SHARE[class], class))?;
        self.heaps[class].pop().map(|job| (class, job))
    }
}
