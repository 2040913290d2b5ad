//! Proofs beside the search.
//!
//! The prover works in a thread of its own, on what is not covered yet, while the search and the
//! fuzzer go on; what it proves leaves their lists. Nothing is called proved on the search's word:
//! the certificate goes through the checker first, and an execution that does what is said to be
//! impossible withdraws all of it, loudly.

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

/// Deep call chains and deep formulas are walked by recursion.
const STACK: usize = 512 << 20;
/// How long the checker may take for one question: longer than the search, since the answer is
/// known.
const QUESTION: Duration = Duration::from_secs(20);
/// How long a prover that is to stop may take to end its last question, where no limit says so.
const GRACE: Duration = Duration::from_secs(5);
/// How long the checker may take after that, where no limit forbids it: what it did not check does
/// not count.
const CHECKING: Duration = Duration::from_secs(60);
/// A search is overtaken when it has used up this part of the checker's time.
const OVERTAKING: u32 = 4;
/// Without a limit for the campaign.
const TIME: Duration = Duration::from_secs(120);
/// The prover's limit where executions are counted: a user who asks for a few hundred does not
/// expect minutes of proving.
const COUNTED: Duration = Duration::from_secs(60);

/// The limits of one of the checker's questions.
pub fn question() -> Limits {
    Limits {
        time: Some(QUESTION),
        ..Limits::default()
    }
}

/// What the prover came to.
#[derive(Debug)]
pub struct Proofs {
    /// What is proved, and why the rest is not.
    pub outcome: Outcome,
    /// What the checker did; `Err`: why it did not accept the certificate.
    pub checked: Result<Checked, Rejected>,
    /// How long it took.
    pub seconds: f64,
    /// How long the checker took of that.
    pub check: f64,
}

/// Has the calling thread leave the processor to the fuzzer where both want it; with cores to spare
/// nothing changes.
pub fn give_way() {
    // It may be refused, and then everybody is as important as before.
    let _ = rustix::process::nice(10);
}

/// The prover at work.
#[derive(Debug)]
pub struct Prover {
    receiver: Receiver<Proofs>,
    seeds: Receiver<Seed>,
    flags: Flags,
    /// None where no clock ends the search, and after its use.
    rescue: Option<Rescue>,
}

/// What is needed to check the proofs that a prover has handed over so far, if it hangs in a solver
/// call.
#[derive(Debug)]
struct Rescue {
    program: Arc<Program>,
    digest: String,
    /// When the search began.
    began: Instant,
    /// When the search and the checker have to end.
    ends: (Instant, Instant),
    sender: Sender<Proofs>,
    so_far: Receiver<Outcome>,
    /// What follows from the floor alone.
    below: Option<Outcome>,
    latest: Option<Outcome>,
}

/// What the campaign's thread and the prover's tell each other.
#[derive(Clone, Debug, Default)]
struct Flags {
    /// The search is to end; what it has proved is checked.
    stop: Arc<AtomicBool>,
    /// Set when the search is over and the checker is at work.
    checking: Arc<AtomicBool>,
    /// The result is no longer needed: the checker is to end, too.
    abandoned: Arc<AtomicBool>,
    /// What follows from the floor alone, once it is checked: what there is if the rest does not
    /// end in time.
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
    /// Starts it, with the tapes that its forest grows from and what an earlier campaign had
    /// proved. `covered` says which blocks need no proof that they can be reached, and grows
    /// meanwhile. Under `--runs`, steps are counted and no clock is read.
    pub fn start(
        subject: &Subject<'_>,
        covered: &Arc<Coverage>,
        tapes: Vec<Vec<u8>>,
        before: Option<Certificate>,
    ) -> Result<Prover, Error> {
        let (settings, first_only) = (subject.settings, subject.first_only);
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
            // Whether more than a first violation, or that there is none, is asked for.
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
            // The receiver is gone when the campaign is over.
            let _ = sender.send(proofs);
        })?;
        Ok(Prover {
            receiver,
            seeds,
            flags,
            rescue,
        })
    }

    /// The tapes with which it reached something, since the last time.
    pub fn seeds(&self) -> Vec<Seed> {
        self.seeds.try_iter().collect()
    }

    /// What it came to, once it is done; `Err` if it failed.
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

    /// Has what was told so far checked beside a search that goes on when it should have ended.
    /// What comes of that takes the place of the prover's own result.
    pub fn overtake(&mut self) -> Result<(), Error> {
        let Some(rescue) = &mut self.rescue else {
            return Ok(());
        };
        for outcome in rescue.so_far.try_iter() {
            // The floor comes first, and what else is told has it only as a part.
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
        if let Some(mut below) = below.filter(|_| outcome.grounded.is_none()) {
            below.certificate.bitcode.clone_from(&digest);
            outcome.grounded = Some(Box::new(below));
        }
        let flags = self.flags.clone();
        spawn("checker", move || {
            let checking = (question(), Some(check));
            let proofs = checked(&program, &digest, outcome, checking, (&flags, began));
            let _ = sender.send(proofs);
        })
    }

    /// Has it stop, and waits for what it has come to so far: until `limit` if there is one, else a
    /// little, or where `patient`, until that is checked. A prover that does not answer is
    /// abandoned: its thread ends when it looks at its deadline, or with the process.
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

    /// Waits for the end, or until `is_over`.
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

/// Starts a thread that may walk deep.
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

/// Has the checker look at what a search that began then has proved.
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
    // What follows from the floor alone is checked in no time, and is what is left if the rest is
    // not accepted, or not in time.
    if let Some(mut below) = outcome.grounded.take()
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
    /// What it cost.
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

    /// The condition under which a check is proved; none if it is unconditional.
    pub fn check_given(&self, check: usize) -> Option<&Condition> {
        given(&self.outcome.checks, check)
    }

    /// The condition under which a block is proved unreachable; none if it is unconditional.
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

    /// Says what an execution did that is proved impossible, if it did: then the engine is wrong,
    /// and nothing it says counts.
    pub fn contradiction(
        &self,
        violated: &dyn Fn(usize) -> bool,
        covered: &[bool],
    ) -> Option<String> {
        // What has a condition may well be violated, where the condition is.
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

/// Puts a copy of the bitcode into a folder.
pub fn beside(folder: &Path, bitcode: &Path) -> Result<(), Error> {
    store::writable_dir(folder)?;
    let beside = folder.join("program.bc");
    if beside != bitcode {
        let bytes = std::fs::read(bitcode).map_err(|why| Error::io("read", bitcode, why))?;
        store::write(&beside, &bytes)?;
    }
    Ok(())
}

/// What an earlier campaign left in its scratch folder, if it can still be read: a start, and no
/// more than that.
pub fn before(folder: &Path) -> Option<Certificate> {
    let text = std::fs::read(folder.join("certificate.json")).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Writes a certificate beside the bitcode that it is about; where it is then.
pub fn write(certificate: &Certificate, folder: &Path, bitcode: &Path) -> Result<PathBuf, Error> {
    beside(folder, bitcode)?;
    let path = folder.join("certificate.json");
    let text = serde_json::to_vec_pretty(certificate)
        .map_err(|why| Error::engine("writing the certificate", why))?;
    store::write(&path, &text)?;
    Ok(path)
}
