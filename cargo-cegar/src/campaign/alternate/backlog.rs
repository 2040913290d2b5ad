//! Inputs that the machine has not executed yet.
//!
//! A native run takes microseconds; the machine needs a tenth of a second for the same tape if the
//! program is large. A fuzzer that counts every turn of a loop reports hundreds of new inputs in
//! its first second, so the machine cannot keep up. If each input were executed when it is
//! reported, the fuzzer's crashes would wait behind them. So inputs are queued here in this order:
//! given inputs first, since the search begins from them; then inputs that enter new code; then
//! inputs that only raise counts, newest first, because their counts are the highest. At most
//! [`ROOM`] of the last kind wait; the fuzzer's queue on disk has all of them.

use std::collections::{BTreeSet, VecDeque};

use cegar_search::simulate::search::Origin;

/// The largest number of waiting inputs that enter no new code.
const ROOM: usize = 1024;

/// The largest number of inputs without new coverage that wait for a run under AddressSanitizer.
const SAMPLES: usize = 64;

/// An input that waits.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::campaign) struct Waiting {
    pub tape: Vec<u8>,
    /// Blocks that no input of the fuzzer had entered before.
    pub blocks: Vec<u32>,
    pub origin: Origin,
}

/// See the module.
#[derive(Debug, Default)]
pub(in crate::campaign) struct Backlog {
    given: VecDeque<Vec<u8>>,
    fresh: VecDeque<(Vec<u8>, Vec<u32>)>,
    rest: VecDeque<Vec<u8>>,
    /// Inputs that no native run under AddressSanitizer has executed.
    unswept: VecDeque<Vec<u8>>,
    /// Inputs without new coverage of which the fuzzer reported a sample.
    samples: VecDeque<Vec<u8>>,
    /// The blocks that the waiting inputs in `fresh` enter.
    entered: BTreeSet<u32>,
    dropped: u64,
}

impl Backlog {
    /// Adds inputs that the user gave or an earlier campaign left.
    pub fn give(&mut self, tapes: Vec<Vec<u8>>) {
        self.unswept.extend(tapes.iter().take(ROOM).cloned());
        self.given.extend(tapes);
    }

    /// Adds an input that the fuzzer found, with the blocks that it entered first.
    pub fn push(&mut self, tape: Vec<u8>, blocks: Vec<u32>) {
        self.unswept.push_back(tape.clone());
        if self.unswept.len() > ROOM {
            self.unswept.pop_front();
        }
        if blocks.is_empty() {
            self.rest.push_back(tape);
            if self.rest.len() > ROOM {
                self.rest.pop_front();
                self.dropped += 1;
            }
        } else {
            self.entered.extend(&blocks);
            self.fresh.push_back((tape, blocks));
        }
    }

    /// Adds a sample of the inputs that the fuzzer ran without new coverage. The machine does not
    /// execute it.
    pub fn sample(&mut self, tape: Vec<u8>) {
        self.samples.push_back(tape);
        if self.samples.len() > SAMPLES {
            self.samples.pop_front();
        }
    }

    /// Removes and returns the next input to execute.
    pub fn pop(&mut self) -> Option<Waiting> {
        if let Some(tape) = self.given.pop_front() {
            return Some(Waiting {
                tape,
                blocks: Vec::new(),
                origin: Origin::Given,
            });
        }
        let (tape, blocks) = match self.fresh.pop_front() {
            Some(fresh) => fresh,
            None => (self.rest.pop_back()?, Vec::new()),
        };
        if self.fresh.is_empty() {
            self.entered.clear();
            if self.rest.is_empty() {
                // The machine, which detects more than a sanitizer, has caught up.
                self.unswept.clear();
            }
        }
        Some(Waiting {
            tape,
            blocks,
            origin: Origin::Fuzzer,
        })
    }

    /// Removes and returns up to `count` inputs for a run under AddressSanitizer, oldest first.
    /// Returns none if fewer are waiting, unless `all` is set.
    pub fn sweep(&mut self, count: usize, all: bool) -> Vec<Vec<u8>> {
        let waiting = self.unswept.len() + self.samples.len();
        if waiting < count && !all {
            return Vec::new();
        }
        let new = count.min(self.unswept.len());
        let samples = (count - new).min(self.samples.len());
        let new = self.unswept.drain(..new);
        new.chain(self.samples.drain(..samples)).collect()
    }

    /// Whether a given input waits.
    pub fn has_given(&self) -> bool {
        !self.given.is_empty()
    }

    /// Whether no input waits for the machine.
    pub fn is_empty(&self) -> bool {
        self.given.is_empty() && self.fresh.is_empty() && self.rest.is_empty()
    }

    /// Whether a waiting input enters this block.
    pub fn enters(&self, block: u32) -> bool {
        self.entered.contains(&block)
    }

    /// All blocks that a waiting input enters.
    pub fn entered(&self) -> impl Iterator<Item = u32> {
        self.entered.iter().copied()
    }

    /// The number of inputs that the machine has not executed, including those dropped.
    pub fn count(&self) -> u64 {
        (self.given.len() + self.fresh.len() + self.rest.len()) as u64 + self.dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(backlog: &mut Backlog) -> Vec<u8> {
        std::iter::from_fn(|| backlog.pop())
            .map(|waiting| waiting.tape[0])
            .collect()
    }

    #[test]
    fn given_before_new_code_before_counts_the_newest_of_those_first() {
        let mut backlog = Backlog::default();
        backlog.push(vec![1], vec![]);
        backlog.push(vec![2], vec![7]);
        backlog.push(vec![3], vec![]);
        backlog.push(vec![4], vec![8]);
        backlog.give(vec![vec![5], vec![6]]);
        assert!(backlog.has_given() && backlog.enters(7) && !backlog.enters(1));
        assert_eq!(backlog.entered().collect::<Vec<_>>(), [7, 8]);
        assert_eq!(backlog.count(), 6);
        assert_eq!(order(&mut backlog), [5, 6, 2, 4, 3, 1]);
        assert!(backlog.is_empty() && !backlog.enters(7));
    }

    #[test]
    fn the_oldest_make_room_and_are_counted() {
        let mut backlog = Backlog::default();
        for _ in 0..ROOM {
            backlog.push(vec![1], vec![]);
        }
        backlog.push(vec![2], vec![]);
        assert_eq!(backlog.count(), ROOM as u64 + 1);
        let order = order(&mut backlog);
        assert_eq!((order.len(), order[0]), (ROOM, 2));
    }

    #[test]
    fn each_is_swept_once_and_in_batches() {
        let mut backlog = Backlog::default();
        for tape in 0..3 {
            backlog.push(vec![tape], vec![]);
        }
        assert_eq!(backlog.sweep(2, false), [[0], [1]]);
        assert!(backlog.sweep(2, false).is_empty());
        assert_eq!(backlog.sweep(2, true), [[2]]);
        assert!(backlog.sweep(2, true).is_empty());
        backlog.sample(vec![7]);
        backlog.push(vec![8], Vec::new());
        assert_eq!(backlog.sweep(2, false), [[8], [7]]);
        assert_eq!(backlog.count(), 4);
    }

    #[test]
    fn what_the_machine_has_seen_is_not_swept() {
        let mut backlog = Backlog::default();
        backlog.push(vec![1], vec![]);
        backlog.push(vec![2], vec![3]);
        assert_eq!(order(&mut backlog), [2, 1]);
        assert!(backlog.sweep(2, true).is_empty());
    }
}
