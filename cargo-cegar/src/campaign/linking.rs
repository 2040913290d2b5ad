//! Linking, normalising and reading a program, on a thread of its own.
//!
//! LLVM's passes over a very large program take longer than a short budget, and nothing can
//! interrupt them. So the campaign does not do this work itself: it waits for it, until the time is
//! up or the user has had enough, and leaves a thread behind that does not come back.

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

/// How often the end of waiting is looked at.
const GLANCE: Duration = Duration::from_millis(20);
/// Deep expressions are walked by recursion.
const STACK: usize = 256 << 20;

/// What is linked, and with what.
pub(super) struct Linking {
    /// The modules.
    pub request: LinkRequest,
    /// Where the normalised module goes.
    pub bitcode: PathBuf,
    /// The program's files.
    pub units: Vec<Unit>,
    /// The modules that they were compiled to, also those that are left out.
    pub compiled: Vec<PathBuf>,
    /// The compiler.
    pub compiler: Compiler,
    /// The harness's scratch folder.
    pub scratch: PathBuf,
    /// What the user says about undefined functions.
    pub rules: BTreeMap<String, Rules>,
}

/// What comes of it.
pub(super) struct Linked {
    /// What the linking had to invent.
    pub normalised: Normalised,
    /// What is known of the undefined functions.
    pub externals: Externals,
    /// The program.
    pub program: Program,
}

impl Linking {
    /// Links, and waits for it no longer than a little past the end of the budget, or until `stop`
    /// is set.
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
