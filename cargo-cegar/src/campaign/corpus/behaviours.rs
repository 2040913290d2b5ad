//! Records what the code does on the inputs of a corpus as tests.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::cmin::chosen;
use super::{Features, files, ready};
use crate::campaign::tests::{Tests, Where};
use crate::emit::behaviour::{add_behaviour, add_insta, add_snapshot, kept, snapshot};
use crate::emit::{Emitted, Finding};
use crate::error::Error;
use crate::event::{Event, Level, Reporter};
use crate::options::{Harness, RunOptions};
use crate::store;

/// The number of characters of an input's name that are used in a test's name.
pub(super) const NAME: usize = 8;

/// The result of `emit --behaviour` for a harness.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Behaviours {
    /// The harness.
    pub harness: String,
    /// Inputs of the corpus.
    pub inputs: usize,
    /// Tests that were written.
    pub written: Vec<String>,
    /// Tests that existed already.
    pub kept: Vec<String>,
    /// Tests among `kept` whose snapshot differs from the current behaviour.
    pub changed: Vec<String>,
    /// Inputs for which two runs differ, or that fail when built like a test.
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
        let (_alone, folder) = tests.claim()?;
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

pub(super) fn test_path(folder: &Path, harness: &str) -> PathBuf {
    crate::emit::package::test_file(folder, &crate::emit::behaviour::stem(harness))
}
