//! Operations on a corpus: reducing it, shortening one input, and recording what the inputs make
//! the code do.
//!
//! All of them use native runs of the inputs, as `replay` does, and search nothing.

mod behaviours;
mod cmin;
mod tmin;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use cegar_fuzz::native::{Kind, Run};
use cegar_model::program::FunctionKind;

use super::native::{Native, fault};
use super::prepare::{Prepared, prepare};
use super::single::start_native;
use crate::error::Error;
use crate::event::Reporter;
use crate::options::{Harness, RunOptions};
pub use behaviours::{Behaviours, behaviours};
pub use cmin::{Minimised, cmin};
pub use tmin::{Shortened, tmin};

/// The number of inputs per call of a runner.
const BATCH: usize = 64;

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

/// An input and the effects of its run.
struct Input {
    path: PathBuf,
    tape: Vec<u8>,
    /// The features that it covers.
    features: Vec<u64>,
    run: Run,
}

/// The features that count as covered.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Features {
    /// Blocks.
    Blocks,
    /// Blocks, and roughly how often each is entered.
    Counts,
}

impl Ready<'_> {
    /// Runs all inputs. The second result contains the files of the failing inputs, whose coverage
    /// is not counted.
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

/// Groups similar counts into buckets, as fuzzers do.
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

/// The files of a harness's corpus: the corpus in the package, and the fuzzer's queue.
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
