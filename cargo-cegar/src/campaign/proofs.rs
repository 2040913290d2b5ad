//! Runs the prover in parallel to the search.
//!
//! The prover works on a separate thread, on the goals that are not covered yet, while the search
//! and the fuzzer continue; goals that it proves leave their lists. Its results alone do not count
//! as proofs: the checker must accept the certificate first, and an execution that contradicts a
//! proof withdraws all proofs, with a warning.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use cegar_checker::{AskZ3, Certificate, Checked, Condition, Rejected};
use cegar_model::deadline::{self, Deadline};
use cegar_model::program::Program;
use cegar_model::solver::Limits;
use cegar_search::strategy::{Coverage, Options, Outcome, Seed, Verdict};

use super::alternate::subject::Subject;
use crate::error::Error;
use crate::store;
use crate::verdict::ProverStats;

/// The stack size of the threads: deep call chains and formulas are processed by recursion.
const STACK: usize = 512 << 20;
/// The checker's time for one question: longer than that of the search, since the question is known
/// to have an answer.
const QUESTION: Duration = Duration::from_secs(20);
/// How long a prover may take to finish its last question after being stopped, without a limit.
const GRACE: Duration = Duration::from_secs(5);
/// How long the checker may take after that, without a limit. Unchecked proofs do not count.
const CHECKING: Duration = Duration::from_secs(60);
/// A search is overtaken after using up one part in this many of the checker's time.
const OVERTAKING: u32 = 4;
/// The prover's limit if the campaign has none.
const TIME: Duration = Duration::from_secs(120);
/// The prover's limit with `--runs`: a user who asks for a few hundred executions does not expect
/// minutes of proving.
const COUNTED: Duration = Duration::from_secs(60);

/// The limits of one of the checker's questions.
pub fn question() -> Limits {
    Limits {
        time: Some(QUESTION),
        ..Limits::default()
    }
}

/// The result of the prover.
#[derive(Debug)]
pub struct Proofs {
    /// The proved goals, and why the others are not proved.
    pub outcome: Outcome,
    /// The result of the checker; `Err` says why it rejected the certificate.
    pub checked: Result<Checked, Rejected>,
    /// The total time, in seconds.
    pub seconds: f64,
    /// The checker's part of the time, in seconds.
    pub check: f64,
}

/// Lowers the priority of the calling thread, so that the fuzzer takes precedence on a busy
/// processor. With idle cores nothing changes.
pub fn give_way() {
    // If this is refused, the priorities stay equal.
    let _ = rustix::process::nice(10);
}

/// A prover that was started.
#[derive(Debug)]
pub struct Prover {
    receiver: Receiver<Proofs>,
    seeds: Receiver<Seed>,
    flags: Flags,
    /// `None` if no clock ends the search, and after the rescue was used.
    rescue: Option<Rescue>,
}

/// The data for checking the proofs that a prover has handed over so far, if it hangs in a solver
/// call.
#[derive(Debug)]
struct Rescue {
    program: Arc<Program>,
    digest: String,
    /// When the search began.
    began: Instant,
    /// When the search and the checker must end.
    ends: (Instant, Instant),
    sender: Sender<Proofs>,
    so_far: Receiver<Outcome>,
    /// The outcome that follows from the floor alone.
    below: Option<Outcome>,
    latest: Option<Outcome>,
}

/// Shared state of the campaign's and the prover's threads.
#[derive(Clone, Debug, Default)]
struct Flags {
    /// Set to end the search; its proofs are still checked.
    stop: Arc<AtomicBool>,
    /// Set when the search has ended and the checker is running.
    checking: Arc<AtomicBool>,
    /// Set when the result is no longer needed, so that the checker ends, too.
    abandoned: Arc<AtomicBool>,
    /// The proofs that follow from the floor alone, once they are checked. They are the result if
    /// the rest does not finish in time.
    accepted: Arc<Mutex<Option<Box<Proofs>>>>,
}

impl Flags {
    fn accepted(&self) -> Option<Box<Proofs>> {
        let mut accepted = self.accepted.lock().unwrap_or_else(PoisonError::into_inner);
        accepted.take()
    }

    fn accept(&self, proofs: Proofs) {
        let mut accepted = self.accepted.lock().unwrap_or_else(PoisonError::into_inner);
        *accepted = Some(Box::new(proofs));
    }
}

impl Prover {
    /// Starts the prover with the tapes from which its forest grows and the certificate of an
    /// earlier campaign. `covered` lists the blocks that need no proof of reachability, and grows
    /// meanwhile. With `--runs`, steps are counted and no clock is used.
    pub fn start(
        subject: &Subject<'_>,
        covered: &Arc<Coverage>,
        tapes: Vec<Vec<u8>>,
        before: Option<Certificate>,
    ) -> Result<Prover, Error> {
        let (settings, first_only) = (subject.settings, subject.settings.first_only);
        let (program, digest) = (Arc::clone(subject.program), subject.digest.clone());
        let budget = (!subject.is_counted()).then_some(subject.budget);
        let ends = budget.and_then(|budget| Some((budget.proving_ends()?, budget.end()?)));
        let gives_way = subject.gives_way();
        let (seed_sender, seeds) = channel();
        let (told, so_far) = channel();
        let time = ends.map(|(search, _)| search.saturating_duration_since(Instant::now()));
        let unlimited = if subject.is_counted() { COUNTED } else { TIME };
        let options = Options {
            strategy: settings.strategy,
            properties: subject.harness.properties.clone(),
            covered: Arc::clone(covered),
            // Whether a check asks for more than a first violation or the absence of violations.
            all_blocks: !first_only,
            first_only,
            tapes,
            loops: settings.loops,
            floor: settings.floor,
            executes: settings.floor,
            seeds: Some(seed_sender),
            so_far: Some(told),
            time: time.unwrap_or(unlimited),
            counted: subject.is_counted(),
            iterations: settings.runs,
            before,
            ..Options::default()
        };
        let flags = Flags::default();
        let theirs = flags.clone();
        let (sender, receiver) = channel();
        let rescue = ends.map(|ends| Rescue {
            program: Arc::clone(&program),
            digest: digest.clone(),
            began: Instant::now(),
            ends,
            sender: sender.clone(),
            so_far,
            below: None,
            latest: None,
        });
        spawn("prover", move || {
            if gives_way {
                give_way();
            }
            let proofs = prove(&program, &digest, &options, ends, &theirs);
            // The receiver is gone when the campaign has ended.
            let _ = sender.send(proofs);
        })?;
        Ok(Prover {
            receiver,
            seeds,
            flags,
            rescue,
        })
    }

    /// The tapes that reached something new since the last call.
    pub fn seeds(&self) -> Vec<Seed> {
        self.seeds.try_iter().collect()
    }

    /// The result, once the prover has finished; `Err` if it failed.
    pub fn poll(&self) -> Option<Result<Proofs, Error>> {
        match self.receiver.try_recv() {
            Ok(proofs) => Some(Ok(proofs)),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Err(Error::engine(
                "the prover",
                "it ended without a result",
            ))),
        }
    }

    /// If the search continues past its end, checks what it has handed over so far on another
    /// thread. The result replaces the prover's own one.
    pub fn overtake(&mut self) -> Result<(), Error> {
        let Some(rescue) = &mut self.rescue else {
            return Ok(());
        };
        for outcome in rescue.so_far.try_iter() {
            // The floor is sent first and alone; later outcomes contain it.
            if rescue.latest.is_none() && outcome.certificate.floor.is_some() {
                rescue.below = Some(outcome.clone());
            }
            rescue.latest = Some(outcome);
        }
        let (search, check) = rescue.ends;
        let late = search + check.saturating_duration_since(search) / OVERTAKING;
        if Instant::now() < late || self.flags.checking.load(Ordering::Relaxed) {
            return Ok(());
        }
        let Some(Rescue {
            program,
            digest,
            began,
            sender,
            below,
            latest: Some(mut outcome),
            ..
        }) = self.rescue.take()
        else {
            return Ok(());
        };
        outcome.certificate.bitcode.clone_from(&digest);
        if let Some(mut below) = below.filter(|_| outcome.floor_proof.is_none()) {
            below.certificate.bitcode.clone_from(&digest);
            outcome.floor_proof = Some(Box::new(below));
        }
        let flags = self.flags.clone();
        spawn("checker", move || {
            let checking = (question(), Some(check));
            let proofs = checked(&program, &digest, outcome, checking, (&flags, began));
            let _ = sender.send(proofs);
        })
    }

    /// Stops the prover and waits for its results so far: until `limit` if there is one, otherwise
    /// for a short time or, if `patient`, until they are checked. A prover that does not respond is
    /// abandoned: its thread ends when it checks its deadline, or with the process.
    pub fn give_up(&self, patient: bool, limit: Option<Instant>) -> Option<Result<Proofs, Error>> {
        self.flags.stop.store(true, Ordering::Relaxed);
        let start = Instant::now();
        let ended = self.wait(|| {
            let checking = patient && self.flags.checking.load(Ordering::Relaxed);
            start.elapsed() > if checking { CHECKING } else { GRACE }
                || limit.is_some_and(|limit| Instant::now() >= limit)
        });
        ended.or_else(|| self.flags.accepted().map(|proofs| Ok(*proofs)))
    }

    /// Waits until the prover has finished, or until `is_over`.
    pub fn wait(&self, is_over: impl Fn() -> bool) -> Option<Result<Proofs, Error>> {
        loop {
            let result = self.poll();
            if result.is_some() || is_over() {
                return result;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Prover {
    fn drop(&mut self) {
        self.flags.stop.store(true, Ordering::Relaxed);
        self.flags.abandoned.store(true, Ordering::Relaxed);
    }
}

/// Starts a thread with a stack for deep recursion.
fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), Error> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .stack_size(STACK)
        .spawn(work)
        .map(drop)
        .map_err(|why| Error::engine(format!("starting the {name}"), why))
}

fn prove(
    program: &Program,
    digest: &str,
    options: &Options,
    ends: Option<(Instant, Instant)>,
    flags: &Flags,
) -> Proofs {
    let clock = Instant::now();
    let searching = Deadline {
        at: ends.map(|(search, _)| search),
        stop: Some(Arc::clone(&flags.stop)),
    };
    let proof = deadline::within(searching, || {
        cegar_papers::prove(program, options, &flags.stop)
    });
    let outcome = proof.outcome(digest, &options.properties);
    let limits = match options.counted {
        true => question().counted(),
        false => question(),
    };
    let checking = (limits, ends.map(|(_, check)| check));
    checked(program, digest, outcome, checking, (flags, clock))
}

/// Runs the checker on the outcome of a search that began at the given time.
fn checked(
    program: &Program,
    digest: &str,
    mut outcome: Outcome,
    (limits, end): (Limits, Option<Instant>),
    (flags, began): (&Flags, Instant),
) -> Proofs {
    flags.checking.store(true, Ordering::Relaxed);
    let clock = Instant::now();
    let deadline = Deadline {
        at: end,
        stop: Some(Arc::clone(&flags.abandoned)),
    };
    let check = |certificate: &Certificate| {
        deadline::within(deadline.clone(), || {
            cegar_checker::check(program, digest, certificate, limits, &mut AskZ3)
        })
    };
    let proofs = |outcome, checked| Proofs {
        outcome,
        checked,
        check: clock.elapsed().as_secs_f64(),
        seconds: began.elapsed().as_secs_f64(),
    };
    // What follows from the floor alone is checked quickly. It is the result if the rest is
    // rejected or not checked in time.
    if let Some(mut below) = outcome.floor_proof.take()
        && let Ok(floor) = check(&below.certificate)
    {
        below.withdraw_late(&floor);
        flags.accept(proofs(*below, Ok(floor)));
    }
    let checked = check(&outcome.certificate);
    if let Err(why) = &checked
        && let Some(floor) = flags.accepted()
    {
        tracing::debug!(%why, "only the floor is accepted");
        return proofs(floor.outcome, floor.checked);
    }
    match &checked {
        Err(why) if why.is_late() => {
            outcome.withdraw("its proof was not checked before the time was up");
        }
        Err(why) => outcome.withdraw(&format!("the certificate was not accepted: {why}")),
        Ok(checked) => outcome.withdraw_late(checked),
    }
    proofs(outcome, checked)
}

impl Proofs {
    /// The statistics of the prover and the checker.
    pub fn stats(&self) -> ProverStats {
        let stats = &self.outcome.stats;
        let questions = self.checked.as_ref().map_or(0, |checked| checked.questions);
        ProverStats {
            iterations: stats.iterations,
            splits: stats.splits,
            executions: stats.executions,
            loop_paths: stats.loop_paths,
            loop_seeds: stats.loop_seeds,
            loops: stats.loops,
            guesses: stats.guesses,
            facts: stats.facts,
            solver_calls: stats.solver_calls + questions,
            unknown: stats.unknown,
            explore: stats.explore,
            forest: stats.forest,
            guess: stats.guess,
            houdini: stats.houdini,
            floor: stats.floor,
            floor_first: stats.floor_first,
            floor_first_checks: stats.floor_first_checks,
            beyond_floor_checks: stats.beyond_floor_checks,
            floor_checks: stats.floor_checks,
            floor_blocks: stats.floor_blocks,
            settle: stats.settle,
            check: self.check,
        }
    }

    /// Whether this check is proved, with or without a condition.
    pub fn holds(&self, check: usize) -> bool {
        is_proved(&self.outcome.checks, check)
    }

    /// Whether this block is proved unreachable, with or without a condition.
    pub fn is_dead(&self, block: usize) -> bool {
        is_proved(&self.outcome.blocks, block)
    }

    /// The condition under which a check is proved, or `None` if it is unconditional.
    pub fn check_given(&self, check: usize) -> Option<&Condition> {
        given(&self.outcome.checks, check)
    }

    /// The condition under which a block is proved unreachable, or `None` if it is unconditional.
    pub fn block_given(&self, block: usize) -> Option<&Condition> {
        given(&self.outcome.blocks, block)
    }

    /// Why a check is open.
    pub fn why_check(&self, check: usize) -> Option<&str> {
        why(&self.outcome.checks, check)
    }

    /// Why a block is open.
    pub fn why_block(&self, block: usize) -> Option<&str> {
        why(&self.outcome.blocks, block)
    }

    /// Describes an execution that does something proved impossible, if there is one: then the
    /// engine is wrong, and none of its proofs counts.
    pub fn contradiction(
        &self,
        violated: &dyn Fn(usize) -> bool,
        covered: &[bool],
    ) -> Option<String> {
        // A conditional proof may be violated where its condition is violated.
        let is_certain = |n: usize| self.holds(n) && self.check_given(n).is_none();
        let check = (0..self.outcome.checks.len()).find(|&n| is_certain(n) && violated(n));
        if let Some(check) = check {
            return Some(format!(
                "check {check} was proved and then violated: this is a fault of the engine; please \
                 report it"
            ));
        }
        let is_certain = |n: usize| self.is_dead(n) && self.block_given(n).is_none();
        let block = (0..covered.len()).find(|&n| is_certain(n) && covered[n])?;
        Some(format!(
            "block {block} was proved unreachable and then entered: this is a fault of the engine; \
             please report it"
        ))
    }
}

fn is_proved(verdicts: &[Option<Verdict>], number: usize) -> bool {
    matches!(verdicts.get(number), Some(Some(verdict)) if verdict.is_proved())
}

fn given(verdicts: &[Option<Verdict>], number: usize) -> Option<&Condition> {
    match verdicts.get(number) {
        Some(Some(Verdict::ProvedIf(condition))) => Some(condition),
        _ => None,
    }
}

fn why(verdicts: &[Option<Verdict>], number: usize) -> Option<&str> {
    match verdicts.get(number) {
        Some(Some(Verdict::Open(why))) => Some(why),
        _ => None,
    }
}

/// Copies the bitcode into a folder.
pub fn beside(folder: &Path, bitcode: &Path) -> Result<(), Error> {
    store::writable_dir(folder)?;
    let beside = folder.join("program.bc");
    if beside != bitcode {
        let bytes = std::fs::read(bitcode).map_err(|why| Error::io("read", bitcode, why))?;
        store::write(&beside, &bytes)?;
    }
    Ok(())
}

/// The certificate that an earlier campaign left in its scratch folder, if it is readable. It is
/// only a starting point.
pub fn before(folder: &Path) -> Option<Certificate> {
    let text = std::fs::read(folder.join("certificate.json")).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Writes a certificate and the bitcode that it is about into a folder, and returns its path.
pub fn write(certificate: &Certificate, folder: &Path, bitcode: &Path) -> Result<PathBuf, Error> {
    beside(folder, bitcode)?;
    let path = folder.join("certificate.json");
    let text = serde_json::to_vec_pretty(certificate)
        .map_err(|why| Error::engine("writing the certificate", why))?;
    store::write(&path, &text)?;
    Ok(path)
}
