//! Linking, normalising and reading a program, on a separate thread.
//!
//! LLVM's passes over a very large program take longer than a short budget, and nothing can
//! interrupt them. So the campaign does this work on another thread and waits for it until the time
//! is up or the user interrupts; then the thread is abandoned.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use cegar_harness::rules::Rules;
use cegar_model::program::Program;
use cegar_model::program::normalise::{self, LinkRequest, Normalised};

use super::budget::{Budget, LATE};
use super::prepare::timed;
use super::refused;
use crate::compile::{Compiler, Unit};
use crate::error::Error;
use crate::externals::{self, Externals};

/// How often the deadline is checked while waiting.
const GLANCE: Duration = Duration::from_millis(20);
/// The stack size of the thread. It is large, since deep expressions are processed by recursion.
const STACK: usize = 256 << 20;

/// What is linked, and the settings for it.
pub(super) struct Linking {
    /// The modules to link.
    pub request: LinkRequest,
    /// The path of the normalised module.
    pub bitcode: PathBuf,
    /// The program's files.
    pub units: Vec<Unit>,
    /// The modules compiled from them, including those that are left out.
    pub compiled: Vec<PathBuf>,
    /// The compiler.
    pub compiler: Compiler,
    /// The harness's scratch folder.
    pub scratch: PathBuf,
    /// The user's rules for undefined functions.
    pub rules: BTreeMap<String, Rules>,
}

/// The result of linking.
pub(super) struct Linked {
    /// The normalisation result, including the functions that had to be mocked.
    pub normalised: Normalised,
    /// Descriptions of the undefined functions.
    pub externals: Externals,
    /// The program.
    pub program: Program,
}

impl Linking {
    /// Links, waiting until a little past the end of the budget at most, or until `stop` is set.
    pub fn within(self, budget: Budget, stop: &AtomicBool) -> Result<Linked, Error> {
        let given_up = Arc::new(AtomicBool::new(false));
        let theirs = Arc::clone(&given_up);
        let (sender, receiver) = channel();
        std::thread::Builder::new()
            .name("linker".to_owned())
            .stack_size(STACK)
            .spawn(move || {
                // The receiver is gone if the campaign has given up.
                let _ = sender.send(self.link(&theirs));
            })
            .map_err(|why| Error::engine("starting the linker", why))?;
        loop {
            match receiver.recv_timeout(GLANCE) {
                Ok(linked) => return linked,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    let why = "its thread ended without a result";
                    return Err(Error::engine("linking the program", why));
                }
            }
            let is_late = (budget.end()).is_some_and(|end| Instant::now() >= end + LATE);
            let is_stopped = stop.load(Ordering::Relaxed);
            if is_late || is_stopped {
                given_up.store(true, Ordering::Relaxed);
                return Err(match is_stopped {
                    true => Error::Interrupted,
                    false => Error::NotInTime {
                        what: "the linked program",
                    },
                });
            }
        }
    }

    fn link(&self, stop: &AtomicBool) -> Result<Linked, Error> {
        let mut externals = Externals::default();
        let mut denied = None;
        let search = externals::Search {
            units: &self.units,
            compiler: &self.compiler,
            scratch: &self.scratch,
            rules: &self.rules,
            lifted: &self.request.lifted,
            stop,
        };
        let normalised = timed("linking the program", || {
            normalise::normalise_with(&self.request, &self.bitcode, &mut |missing| {
                externals.provide(missing, &search).map_err(|why| {
                    let text = why.to_string();
                    denied = Some(why);
                    text
                })
            })
        });
        let normalised = match (normalised, denied) {
            (Ok(normalised), _) => normalised,
            (Err(_), Some(why)) => return Err(why),
            (Err(why), None) => return Err(refused::link_error(why, &self.units, &self.compiled)),
        };
        let program = timed("reading the program", || Program::load(&self.bitcode))
            .map_err(|why| Error::engine("reading the program", why))?;
        Ok(Linked {
            normalised,
            externals,
            program,
        })
    }
}
