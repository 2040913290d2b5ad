//! The fuzzing processes that work on one program in parallel.
//!
//! Each process is a worker with its own corpus and its own random seed. An input that enters code
//! which no worker has entered is handed to the other workers, so that all of them continue from
//! it. An input that only raises a count stays with its worker, since otherwise the inputs of all
//! other workers' loops would flood each of them. The campaign acts as the broker: it receives all
//! events anyway, and workers share no memory, which their C code could overwrite. (For other
//! machines, see `peers`.)

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use cegar_fuzz::worker::{Command, Worker, WorkerConfig, WorkerError, WorkerEvent};

/// See the module.
#[derive(Default)]
pub struct Crew {
    members: Vec<Member>,
    /// Executions of processes that have ended.
    gone: u64,
    /// The index of the process that is polled first in the next wait.
    turn: usize,
}

struct Member {
    worker: Worker,
    executions: u64,
    per_second: f64,
    corpus: u64,
}

impl Member {
    fn hear(&mut self, wait: Duration) -> Vec<WorkerEvent> {
        let events = self.worker.poll(wait);
        for event in &events {
            match event {
                WorkerEvent::Stats {
                    executions,
                    corpus,
                    per_second,
                    ..
                } => {
                    self.executions = *executions;
                    self.per_second = *per_second;
                    self.corpus = *corpus as u64;
                }
                WorkerEvent::NewInput { execs, .. } => {
                    self.executions = self.executions.max(*execs);
                }
                WorkerEvent::Crash { .. } | WorkerEvent::Timeout { .. } => {
                    self.executions = self.executions.max(1);
                }
                _ => {}
            }
        }
        events
    }
}

impl Crew {
    /// Starts `count` processes, each with its own seed.
    pub fn start(
        executable: &std::path::Path,
        config: &WorkerConfig,
        count: usize,
    ) -> Result<Crew, WorkerError> {
        let mut crew = Crew::default();
        for number in 0..count.max(1) as u64 {
            let mut config = config.clone();
            config.seed = config.seed.wrapping_add(number.wrapping_mul(SEED_STEP));
            crew.members.push(Member {
                worker: Worker::spawn(executable, config)?,
                executions: 0,
                per_second: 0.0,
                corpus: 0,
            });
        }
        Ok(crew)
    }

    /// Whether no process was started.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Flags that are set while a failure of the corresponding process waits to be polled.
    pub fn failures(&self) -> Vec<Arc<AtomicBool>> {
        let members = self.members.iter();
        members.map(|m| Arc::clone(m.worker.failed())).collect()
    }

    /// Whether a process is still at work.
    pub fn works(&self) -> bool {
        self.members.iter().any(|m| !m.worker.has_ended())
    }

    /// Returns the processes' events, each with the number of its process. Waits up to `wait` for
    /// the first.
    pub fn poll(&mut self, wait: Duration) -> Vec<(usize, WorkerEvent)> {
        let mut heard = Vec::new();
        for (number, member) in self.members.iter_mut().enumerate() {
            let events = member.hear(Duration::ZERO);
            heard.extend(events.into_iter().map(|event| (number, event)));
        }
        if heard.is_empty() && !wait.is_zero() && !self.members.is_empty() {
            self.turn = (self.turn + 1) % self.members.len();
            let share = wait / self.members.len() as u32;
            let (turn, count) = (self.turn, self.members.len());
            for number in (0..count).map(|step| (turn + step) % count) {
                let events = self.members[number].hear(share);
                heard.extend(events.into_iter().map(|event| (number, event)));
            }
        }
        heard
    }

    /// Makes all processes log comparisons, with a target that did not exist when they were
    /// started.
    pub fn compare(&mut self, so: &std::path::Path) {
        for member in &mut self.members {
            // A process that has died is told when it is restarted.
            let _ = member.worker.compare(so);
        }
    }

    /// Hands a tape to all processes except one. A process that has died reads it from the queue
    /// when it is restarted.
    pub fn seed(&mut self, tape: &[u8], except: Option<usize>) {
        for (number, member) in self.members.iter_mut().enumerate() {
            if except != Some(number) {
                let tape = tape.to_vec();
                let _ = member.worker.send(&Command::AddSeed { tape });
            }
        }
    }

    /// Makes all processes run a tape from another machine. A process for which it covers something
    /// new keeps and reports it.
    pub fn offer(&mut self, tape: &[u8]) {
        for member in &mut self.members {
            let tape = tape.to_vec();
            // A process that has died receives it from the others if one of them keeps it.
            let _ = member.worker.send(&Command::Offer { tape });
        }
    }

    /// Restarts a process that has died after `runs` runs, if that is `wanted`. It will not run the
    /// tape in `avoid`, the one that it died of. Returns whether the process was restarted.
    pub fn again(
        &mut self,
        number: usize,
        wanted: bool,
        runs: u64,
        avoid: Option<Vec<u8>>,
    ) -> bool {
        let Some(member) = self.members.get_mut(number) else {
            return false;
        };
        self.gone += std::mem::take(&mut member.executions).max(runs);
        wanted && member.worker.respawn(avoid).is_ok()
    }

    /// Executions so far, executions per second, and the largest corpus.
    pub fn sum(&self) -> (u64, f64, u64) {
        let executions = self.members.iter().map(|m| m.executions).sum::<u64>();
        let per_second = self.members.iter().map(|m| m.per_second).sum();
        let corpus = self.members.iter().map(|m| m.corpus).max();
        (self.gone + executions, per_second, corpus.unwrap_or(0))
    }

    /// Asks the processes to end. They are killed when this is dropped.
    pub fn stop(&mut self) {
        for member in &mut self.members {
            // A process that has died need not be told.
            let _ = member.worker.send(&Command::Stop);
        }
    }

    /// The total number of executions, once all processes that were asked to end have reported
    /// theirs, or after `wait`.
    pub fn last_count(&mut self, wait: Duration) -> u64 {
        let end = Instant::now() + wait;
        while self.works() && Instant::now() < end {
            self.poll(wait / 10);
        }
        self.sum().0
    }
}

/// The distance between the seeds of two workers. It is large so that a worker that is restarted
/// with the next seed does not repeat what another worker does.
const SEED_STEP: u64 = 0x9e37_79b9_7f4a_7c15;
