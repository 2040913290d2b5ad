//! What can be done with a corpus: keep the least of it, shorten one input, write down what the inputs make the code do.
//!
//! All of it goes by native runs of the inputs, as `replay` does it, and searches nothing. The least corpus is found greedily
//! (Chvatal's bound for set cover says how near that comes): again and again the input that adds most to what is covered,
//! of equals the shorter one.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use cegar_fuzz::native::{Kind, Run};
use cegar_model::machine::{Machine, Outcome};
use cegar_model::program::FunctionKind;
use cegar_search::simulate::minimise::{Budget, Judged, minimise};

use super::findings;
use super::native::{Native, fault};
use super::prepare::{Prepared, prepare};
use super::single::{limits, start_native};
use super::tests::{Tests, Where};
use crate::emit::behaviour::{add_behaviour, add_insta, add_snapshot, kept, snapshot};
use crate::emit::{Emitted, Finding};
use crate::error::Error;
use crate::event::{Event, Level, Reporter};
use crate::options::{Harness, RunOptions};
use crate::store;

/// Inputs per call of a runner.
const BATCH: usize = 64;
/// Characters of an input's name in a test's.
const NAME: usize = 8;

/// A harness that is ready to run inputs.
struct Ready<'s> {
    prepared: Prepared,
    native: Native<'s>,
    scratch: PathBuf,
}

fn ready<'s>(
    options: &RunOptions,
    harness: &Harness,
    reporter: &mut dyn Reporter,
    stop: &'s AtomicBool,
) -> Result<Ready<'s>, Error> {
    let scratch = options.scratch.join(&harness.name);
    let prepared = prepare(harness, &options.settings, &scratch, reporter, stop)?;
    let native = start_native(
        &prepared,
        harness,
        &options.settings,
        (&scratch, &options.scratch),
        (false, false),
        (stop, None),
    );
    Ok(Ready {
        prepared,
        native,
        scratch,
    })
}

/// An input and what it does.
struct Input {
    path: PathBuf,
    tape: Vec<u8>,
    /// What it covers.
    features: Vec<u64>,
    run: Run,
}

/// What to count as covered.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Features {
    /// Blocks.
    Blocks,
    /// Blocks, and about how often each is entered.
    Counts,
}

impl Ready<'_> {
    /// Runs all inputs. Second: the files of those that go wrong, which cover nothing.
    fn measure(
        &self,
        paths: &[PathBuf],
        features: Features,
        stop: &AtomicBool,
    ) -> Result<(Vec<Input>, Vec<PathBuf>), Error> {
        let user: Vec<bool> = {
            let program = &self.prepared.program;
            let blocks = program.blocks.iter();
            blocks
                .map(|block| program.function(block.function).kind == FunctionKind::User)
                .collect()
        };
        let (mut inputs, mut bad) = (Vec::new(), Vec::new());
        for batch in paths.chunks(BATCH) {
            if stop.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            let checked = self.native.batch(Kind::RunnerAsan, batch)?;
            let counted = self.native.batch(Kind::Runner, batch)?;
            for (path, (checked, run)) in batch.iter().zip(checked.into_iter().zip(counted)) {
                use cegar_fuzz::native::Outcome::{Exited, Rejected, Returned};
                let fine = matches!(run.outcome, Returned | Exited(_) | Rejected);
                if !fine || fault(&checked.outcome).is_some() {
                    bad.push(path.clone());
                    continue;
                }
                let entered = run
                    .blocks
                    .iter()
                    .filter(|(block, _)| user.get(*block as usize).copied().unwrap_or(false));
                let features = entered.map(|(block, count)| match features {
                    Features::Blocks => u64::from(*block),
                    Features::Counts => u64::from(*block) << 8 | u64::from(bucket(*count)),
                });
                inputs.push(Input {
                    path: path.clone(),
                    tape: std::fs::read(path).map_err(|why| Error::io("read", path, why))?,
                    features: features.collect(),
                    run,
                });
            }
        }
        Ok((inputs, bad))
    }
}

/// Counts that are nearly the same, as fuzzers group them.
fn bucket(count: u8) -> u8 {
    match count {
        0..=3 => count,
        4..=7 => 4,
        8..=15 => 5,
        16..=31 => 6,
        32..=127 => 7,
        128.. => 8,
    }
}

/// The files of a harness's corpus: the package's, and the fuzzer's queue.
fn files(options: &RunOptions, harness: &str) -> Result<Vec<PathBuf>, Error> {
    let queue = options.scratch.join(harness).join("queue");
    let mut files = Vec::new();
    for folder in [options.corpus(harness), queue] {
        if !folder.is_dir() {
            continue;
        }
        let entries = std::fs::read_dir(&folder).map_err(|why| Error::io("read", &folder, why))?;
        for entry in entries {
            let path = entry.map_err(|why| Error::io("read", &folder, why))?.path();
            let hidden = path
                .file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with('.'));
            if path.is_file() && !hidden {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// The least set of inputs that covers what all of them cover: their numbers, in the order of what they add.
fn cover(inputs: &[(usize, &[u64])]) -> Vec<usize> {
    let mut missing: BTreeSet<u64> = inputs.iter().flat_map(|(_, f)| f.iter().copied()).collect();
    let mut chosen = Vec::new();
    while !missing.is_empty() {
        let gains = inputs
            .iter()
            .enumerate()
            .map(|(number, (length, features))| {
                let gain = features.iter().filter(|f| missing.contains(f)).count();
                (gain, std::cmp::Reverse(*length), std::cmp::Reverse(number))
            });
        // Every feature that is missing belongs to some input.
        let Some((_, _, std::cmp::Reverse(best))) = gains.max() else {
            break;
        };
        for feature in inputs[best].1 {
            missing.remove(feature);
        }
        chosen.push(best);
    }
    chosen
}

fn chosen(inputs: &[Input]) -> Vec<usize> {
    let sets: Vec<(usize, &[u64])> = inputs
        .iter()
        .map(|input| (input.tape.len(), input.features.as_slice()))
        .collect();
    cover(&sets)
}

/// What `cmin` did.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Minimised {
    /// The harness.
    pub harness: String,
    /// Inputs before, those of the fuzzer's queue included.
    pub before: usize,
    /// Inputs that are kept in the corpus.
    pub kept: usize,
    /// Files that were removed (or would be).
    pub removed: Vec<PathBuf>,
    /// Inputs that go wrong; they are left where they are.
    pub failing: Vec<PathBuf>,
}

/// Keeps the least corpus (`cargo cegar cmin`). Files whose name is not a content hash are a user's own, and stay.
pub fn cmin(
    options: &RunOptions,
    harness: &Harness,
    dry: bool,
    reporter: &mut dyn Reporter,
    stop: &AtomicBool,
) -> Result<Minimised, Error> {
    let ready = ready(options, harness, reporter, stop)?;
    let files = files(options, &harness.name)?;
    let (inputs, failing) = ready.measure(&files, Features::Counts, stop)?;
    let chosen: BTreeSet<&[u8]> = chosen(&inputs)
        .into_iter()
        .map(|number| inputs[number].tape.as_slice())
        .collect();
    let corpus = options.corpus(&harness.name);
    let mut removed = Vec::new();
    // First what is new, then what is not needed: a kill in between loses nothing.
    for tape in &chosen {
        let there = |i: &Input| i.tape == *tape && i.path.starts_with(&corpus);
        if !dry && !inputs.iter().any(there) {
            store::add_entry(&corpus, tape)?;
        }
    }
    for input in &inputs {
        let own = input
            .path
            .file_name()
            .is_none_or(|name| name.to_string_lossy() != store::entry_name(&input.tape));
        if own || chosen.contains(input.tape.as_slice()) {
            continue;
        }
        if !dry {
            std::fs::remove_file(&input.path)
                .map_err(|why| Error::io("remove", &input.path, why))?;
        }
        removed.push(input.path.clone());
    }
    Ok(Minimised {
        harness: harness.name.clone(),
        before: inputs
            .iter()
            .map(|input| input.tape.as_slice())
            .collect::<BTreeSet<_>>()
            .len(),
        kept: chosen.len(),
        removed,
        failing,
    })
}

/// What `tmin` did.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Shortened {
    /// The shorter input.
    #[serde(skip)]
    pub tape: Vec<u8>,
    /// Bytes before.
    pub before: usize,
    /// Bytes after.
    pub after: usize,
    /// How both end.
    pub outcome: String,
}

/// Shortens one input (`cargo cegar tmin`): it ends in the same way, at the same check if it goes wrong, and else enters the
/// same blocks of the user's code.
pub fn tmin(
    options: &RunOptions,
    harness: &Harness,
    tape: &[u8],
    reporter: &mut dyn Reporter,
    stop: &AtomicBool,
) -> Result<Shortened, Error> {
    let ready = ready(options, harness, reporter, stop)?;
    let program = &ready.prepared.program;
    let machine = Machine::new(program, limits(harness));
    let seen = ready.native.confirm(tape)?;
    let first = machine.run(tape);
    // A fault that only native code sees is judged natively, which takes a process for each candidate.
    let native_only =
        fault(&seen.outcome).is_some() && !matches!(first.outcome, Outcome::Violated(_));
    let blocks = |trace: &[cegar_model::program::BlockId]| -> BTreeSet<u32> {
        let user = |b: &&cegar_model::program::BlockId| {
            program.function(program.block(**b).function).kind == FunctionKind::User
        };
        trace.iter().filter(user).map(|block| block.0).collect()
    };
    let entered = blocks(&first.trace);
    let same = |outcome: &Outcome, trace: &[cegar_model::program::BlockId]| match (
        outcome,
        &first.outcome,
    ) {
        (Outcome::Violated(now), Outcome::Violated(then)) => {
            (now.check, now.kind, now.pos) == (then.check, then.kind, then.pos)
        }
        (now, then) => {
            std::mem::discriminant(now) == std::mem::discriminant(then) && blocks(trace) == entered
        }
    };
    let mut failed = None;
    let budget = match native_only {
        true => Budget {
            tries: 400,
            ..Budget::default()
        },
        false => Budget::default(),
    };
    let text = |at: usize| tape.get(at).is_some_and(|byte| byte.is_ascii_graphic());
    let shorter = minimise(
        tape,
        budget,
        |candidate| {
            if stop.load(Ordering::Relaxed) {
                return Judged {
                    same: false,
                    consumed: 0,
                    steps: u64::MAX,
                };
            }
            if native_only {
                let run = match ready.native.confirm(candidate) {
                    Ok(run) => run,
                    Err(why) => {
                        failed.get_or_insert(why);
                        return Judged {
                            same: false,
                            consumed: 0,
                            steps: u64::MAX,
                        };
                    }
                };
                let place = |run: &Run| run.stack.first().map(|f| (f.file.clone(), f.line));
                return Judged {
                    same: fault(&run.outcome) == fault(&seen.outcome)
                        && place(&run) == place(&seen),
                    consumed: run.consumed as usize,
                    steps: 1,
                };
            }
            let run = machine.run(candidate);
            Judged {
                same: same(&run.outcome, &run.trace),
                consumed: candidate.len(),
                steps: run.steps,
            }
        },
        |at| if text(at) { b'a' } else { 0 },
    );
    if let Some(why) = failed {
        return Err(why);
    }
    // The last word is the native run's.
    let ended = ready.native.confirm(&shorter)?;
    let (before, shorter) = match fault(&ended.outcome) == fault(&seen.outcome) {
        true => (tape.len(), shorter),
        false => (tape.len(), tape.to_vec()),
    };
    Ok(Shortened {
        before,
        after: shorter.len(),
        outcome: findings::told(&seen.outcome),
        tape: shorter,
    })
}

/// What `emit --behaviour` did for a harness.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Behaviours {
    /// The harness.
    pub harness: String,
    /// Inputs of the corpus.
    pub inputs: usize,
    /// Tests that were written.
    pub written: Vec<String>,
    /// Tests that were there.
    pub kept: Vec<String>,
    /// Of these, whose snapshot is not what the code does now.
    pub changed: Vec<String>,
    /// Inputs of which two runs differ, or that go wrong when built as a test builds them.
    pub left_out: Vec<String>,
}

/// Writes tests of what the code does (`cargo cegar emit --behaviour`).
pub fn behaviours(
    options: &RunOptions,
    harness: &Harness,
    reporter: &mut dyn Reporter,
    stop: &AtomicBool,
) -> Result<Behaviours, Error> {
    let ready = ready(options, harness, reporter, stop)?;
    let files = files(options, &harness.name)?;
    let (inputs, _) = ready.measure(&files, Features::Blocks, stop)?;
    let mut done = Behaviours {
        harness: harness.name.clone(),
        inputs: inputs.len(),
        written: Vec::new(),
        kept: Vec::new(),
        changed: Vec::new(),
        left_out: Vec::new(),
    };
    if inputs.is_empty() {
        return Ok(done);
    }
    let mut tests = Tests::new(
        Where::Package(&options.package),
        harness,
        &options.settings,
        &ready.prepared,
        &ready.scratch,
    );
    let runner = tests
        .runner()
        .map_err(|why| Error::engine("building the tests' executable", why))?;
    let failed = |why| Error::engine("writing the test", why);
    for number in chosen(&inputs) {
        if stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let input = &inputs[number];
        let mut name = store::entry_name(&input.tape);
        name.truncate(NAME);
        let test = format!("input_{name}");
        let finding = Finding {
            harness: harness.name.clone(),
            test: test.clone(),
            what: String::new(),
            file: String::new(),
            line: 0,
            found_by: String::new(),
            explanation: String::new(),
            events: input.run.events.clone(),
            mocked: ready.prepared.externals.functions.clone(),
        };
        let run = finding.replay(&runner);
        let text = run.behaviour();
        if !run.outcome().is_safe() || finding.replay(&runner).behaviour() != text {
            done.left_out.push(test);
            continue;
        }
        let _alone = tests.alone()?;
        let folder = tests.package()?;
        add_insta(&folder).map_err(failed)?;
        let path = snapshot(&folder, &harness.name, &test);
        let before = kept(&path);
        add_snapshot(&folder, &harness.name, &test, &text).map_err(failed)?;
        match add_behaviour(&folder, &finding).map_err(failed)? {
            Emitted::Written => {
                reporter.event(&Event::TestWritten {
                    file: test_path(&folder, &harness.name),
                    name: test.clone(),
                });
                done.written.push(test);
            }
            Emitted::AlreadyThere | Emitted::EditedByUser => {
                if before.is_some_and(|before| before != text) {
                    reporter.event(&Event::Note {
                        level: Level::Warning,
                        message: format!(
                            "{test} of {} does something else now; its snapshot is left as it is",
                            harness.name
                        ),
                    });
                    done.changed.push(test.clone());
                }
                done.kept.push(test);
            }
        }
    }
    Ok(done)
}

fn test_path(folder: &Path, harness: &str) -> PathBuf {
    crate::emit::package::test_file(folder, &crate::emit::behaviour::stem(harness))
}

#[cfg(test)]
mod tests_of_this {
    use super::*;

    #[test]
    fn the_least_set_covers_all() {
        let inputs: [(usize, &[u64]); 5] = [
            (9, &[1, 2, 3]),
            (4, &[1, 2]),
            (2, &[3, 4]),
            (2, &[5]),
            (1, &[5]),
        ];
        assert_eq!(cover(&inputs), [0, 4, 2]);
        assert!(cover(&[]).is_empty());
        assert_eq!(cover(&[(3, &[7]), (3, &[7])]), [0]);
    }
}
