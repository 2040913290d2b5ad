//! The fuzzing processes that work on one program, side by side.
//!
//! Each is a worker of its own with its own corpus and its own chance decisions. An input that
//! enters code which no worker has entered is handed to the others, so that all of them go on from
//! there; what only raises a count stays where it was found, or each would drown in what the
//! others' loops did. The campaign is the broker: it hears everything anyway, and no worker shares
//! memory with another, which its C code could write to. (Other machines: see `peers`.)

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use cegar_fuzz::worker::{Command, Worker, WorkerConfig, WorkerError, WorkerEvent};

/// See the module.
#[derive(Default)]
pub struct Crew {
    members: Vec<Member>,
    /// Executions of processes that are gone.
    gone: u64,
    /// Whose turn it is to be waited for.
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
    /// Starts `count` processes; each gets a seed of its own.
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

    /// Set while a failure of a process waits to be heard of.
    pub fn failures(&self) -> Vec<Arc<AtomicBool>> {
        let members = self.members.iter();
        members.map(|m| Arc::clone(m.worker.failed())).collect()
    }

    /// Whether a process is still at work.
    pub fn works(&self) -> bool {
        self.members.iter().any(|m| !m.worker.has_ended())
    }

    /// The processes' events, each with its process's number. Waits up to `wait` for the first.
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

    /// Has all of them log comparisons, with a target that was not there when they were started.
    pub fn compare(&mut self, so: &std::path::Path) {
        for member in &mut self.members {
            // A process that has died is told when it is started again.
            let _ = member.worker.compare(so);
        }
    }

    /// Hands a tape to all processes but one. A process that has died reads it from the queue when
    /// it is started again.
    pub fn seed(&mut self, tape: &[u8], except: Option<usize>) {
        for (number, member) in self.members.iter_mut().enumerate() {
            if except != Some(number) {
                let tape = tape.to_vec();
                let _ = member.worker.send(&Command::AddSeed { tape });
            }
        }
    }

    /// Has all processes run a tape from another machine. A process that finds something new in it
    /// keeps it, and reports it.
    pub fn offer(&mut self, tape: &[u8]) {
        for member in &mut self.members {
            let tape = tape.to_vec();
            // A process that has died gets it from the others, if it is kept.
            let _ = member.worker.send(&Command::Offer { tape });
        }
    }

    /// Starts one that has died after so many runs again; false if that cannot be, or is not to be:
    /// then it is struck off. A tape that it died of is run no more.
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

    /// Asks them to end. They are gone when this is dropped.
    pub fn stop(&mut self) {
        for member in &mut self.members {
            // A process that has died needs no telling.
            let _ = member.worker.send(&Command::Stop);
        }
    }

    /// How many executions there were in all, once those that were asked to end have told so, or
    /// after so long.
    pub fn last_count(&mut self, wait: Duration) -> u64 {
        let end = Instant::now() + wait;
        while self.works() && Instant::now() < end {
            self.poll(wait / 10);
        }
        self.sum().0
    }
}

/// From one worker's seed to the next, far enough that a worker that is started again with the next
/// seed is not another's twin.
const SEED_STEP: u64 = 0x9e37_79b9_7f4a_7c15;
