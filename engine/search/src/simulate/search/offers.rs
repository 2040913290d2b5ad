//! The departures that an execution offers: from its path, to longer tapes, and around its loops.
//!
//! Everything that may be worth a query is queued here, in the class that fits its promise;
//! [`Search::slice`] asks.

use std::hash::{Hash, Hasher};
use std::rc::Rc;

use super::*;

impl Search<'_> {
    /// Queues what a new execution offers.
    pub(super) fn offer(&mut self, tape: &[u8], run: &Execution, changed: &[u32]) {
        let tape: Rc<[u8]> = tape.into();
        let exhausted =
            run.exhausted.is_some() || run.choices.iter().any(|choice| choice.len == tape.len());
        if exhausted && let Some(&to) = LENGTHS.iter().find(|&&to| to > tape.len()) {
            let work = Work::Longer {
                tape: tape.clone(),
                to,
            };
            self.push(class::LONGER, to as u64, work);
        }
        let last = run
            .choices
            .iter()
            .find(|choice| choice.at + choice.len == tape.len());
        if let Some(last) = last {
            let swept = self.swept.entry(last.site).or_default();
            *swept += 1;
            if *swept <= LENGTH_SWEEPS {
                let work = Work::Lengths {
                    tape: tape.clone(),
                    from: last.at,
                    length: 0,
                };
                self.push(class::REST, 0, work);
            }
        }
        for stretch in pump::stretches(&run.choices, run.consumed, changed) {
            let mut hasher = FxHasher::default();
            tape[stretch.start.min(tape.len())..stretch.end.min(tape.len())].hash(&mut hasher);
            run.choices
                .iter()
                .find(|choice| choice.at == stretch.end)
                .map(|choice| choice.site)
                .hash(&mut hasher);
            if self.replayed.insert(hasher.finish()) {
                let cost = (stretch.end - stretch.start) as u64;
                let work = Work::Replay {
                    tape: tape.clone(),
                    stretch,
                    rung: 0,
                    before: None,
                };
                self.push(class::REPLAY, cost, work);
            }
        }
        if tape.len() <= self.config.max_recorded {
            self.record(tape);
        }
    }

    /// Runs again with a symbolic shadow and queues every departure.
    fn record(&mut self, tape: Rc<[u8]>) {
        let machine = self.machine.limited(RECORDED);
        let mut run = machine.run_symbolic(&tape, &mut self.pool, 0..tape.len());
        self.stats.recorded += 1;
        self.stats.steps += run.steps;
        let index = PathIndex::new(&mut self.pool, &run.path);
        // Departures are offered only from events that the index contains.
        run.path.truncate(index.len());
        run.path.shrink_to_fit();
        let recorded = Rc::new(Recorded {
            tape,
            choices: run.choices,
            path: run.path,
            trace: run.trace,
            index,
        });
        let mut checks: FxHashMap<CheckId, u64> = FxHashMap::default();
        for at in 0..recorded.path.len() {
            let of = recorded.clone();
            match recorded.path[at].event {
                Event::Branch { from, other, .. } => {
                    if self.covered[other.index()] {
                        self.later(&of, at, from, other);
                    } else {
                        let tried = self.tried.get(&(from.0, other.0)).copied().unwrap_or(0);
                        self.push(
                            class::UNCOVERED,
                            tried << 20 | at as u64,
                            Work::Flip { of, at },
                        );
                    }
                }
                Event::Check { check: None, .. } => {}
                Event::Check {
                    check: Some(check), ..
                } => {
                    let kind = self.program.checks[check.index()].kind;
                    if !self.wanted(kind) || self.violated.contains(&check) {
                        continue;
                    }
                    let times = checks.entry(check).or_default();
                    *times += 1;
                    let class = if *times <= 3 {
                        class::VIOLATE
                    } else {
                        class::REST
                    };
                    self.push(class, *times << 24 | at as u64, Work::Violate { of, at });
                }
                Event::Assume { .. } => {
                    self.push(class::UNCOVERED, at as u64, Work::Flip { of, at });
                }
                Event::Concretised { .. } => {
                    self.push(class::REST, at as u64, Work::Flip { of, at });
                }
            }
        }
    }

    /// Queues a departure towards a covered block by its context.
    pub(super) fn later(&mut self, of: &Rc<Recorded>, at: usize, from: BlockId, other: BlockId) {
        let context = context::after(&of.trace, of.path[at].trace_at);
        let class = if self.contexts.insert((from.0, other.0, context)) {
            class::CONTEXT
        } else {
            class::REST
        };
        // Earlier departures come first.
        let cost = at as u64;
        self.push(class, cost, Work::Flip { of: of.clone(), at });
    }

    pub(super) fn push(&mut self, class: usize, cost: u64, work: Work) {
        if class != class::REST || self.queue.len() <= QUEUE_LIMIT {
            self.queue.push(class, cost, work);
        }
    }
}
