//! The queue of a search: a heap for each class of work, and a share of the effort for each class.

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

/// Something to do.
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
        /// What the rung before did, if anything.
        before: Option<u64>,
    },
    /// The number of repetitions at which the program begins to do something else.
    Between {
        tape: Rc<[u8]>,
        stretch: pump::Stretch,
        low: usize,
        high: usize,
        /// What the lower number does.
        like: u64,
    },
    Longer {
        tape: Rc<[u8]>,
        to: usize,
    },
    /// The tape with another length of what is read last, and then the lengths after that.
    Lengths {
        tape: Rc<[u8]>,
        /// Where that begins.
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
    /// What the solver's limits were too small for, with larger ones.
    pub const AGAIN: usize = 6;
    /// How many classes there are.
    pub const ALL: usize = 7;
    /// How much of the effort each gets while it has work: a class that waits forever is a class
    /// that does not exist, and one long replay costs as much as ten thousand questions.
    pub const SHARE: [u64; ALL] = [8, 8, 4, 2, 4, 1, 1];
}

/// Work and its place in the queue.
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

/// The queue: a heap per class, and what each class has cost, in executed steps or what is worth as
/// much.
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
            // A queue that comes back after a pause starts at the others' virtual time.
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

    /// The next job, of the class that had the least for its share.
    pub fn pop(&mut self) -> Option<(usize, Job)> {
        let class = (0..class::ALL)
            .filter(|&class| !self.heaps[class].is_empty())
            .min_by_key(|&class| (self.spent[class] / class::SHARE[class], class))?;
        self.heaps[class].pop().map(|job| (class, job))
    }
}
