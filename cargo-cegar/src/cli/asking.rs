//! The solver of `check-proof`, which is Z3 or one that the user names, and the recording of its
//! questions.
//!
//! The checker only handles answers. An error that prevents another solver from answering at all
//! (it is not installed, it crashes) is stored here until the checker has returned, and is then
//! reported as the command's error.

use std::path::Path;

use cegar_checker::{About, QuestionSolver};
use cegar_model::solver::{
    Answer, AskError, Asker, External, ExternalError, FreshZ3, Limits, Model, Reason, Recorder,
    Verdict,
};
use cegar_model::term::{Pool, Term};

use crate::error::Error;

/// Answers the checker's questions.
pub(super) struct Asking {
    asker: Box<dyn Asker>,
    failed: Option<AskError>,
}

impl Asking {
    /// Uses the solver `solver` or Z3's library, and records the questions in the folder `smt2` if
    /// there is one.
    pub(super) fn new(solver: Option<&Path>, smt2: Option<&Path>) -> Result<Asking, Error> {
        let asker: Box<dyn Asker> = match solver {
            Some(command) => {
                let solver = External::new(command);
                // The solver is tested first: a program without loops has few questions, or none.
                solver.run(PROBE).map_err(|why| error(why.into()))?;
                Box::new(solver)
            }
            None => Box::new(FreshZ3),
        };
        let asker: Box<dyn Asker> = match smt2 {
            Some(folder) => Box::new(Recorder::new(asker, folder).map_err(error)?),
            None => asker,
        };
        Ok(Asking {
            asker,
            failed: None,
        })
    }

    /// Returns the solver's error, regardless of the checker's result.
    pub(super) fn end(self) -> Result<(), Error> {
        self.failed.map_or(Ok(()), |why| Err(error(why)))
    }
}

/// A question that every solver answers.
const PROBE: &str = "(set-logic QF_BV)\n(check-sat)\n(exit)\n";

impl QuestionSolver for Asking {
    fn ask(&mut self, pool: &mut Pool, terms: &[Term], limits: &Limits, about: &About) -> Answer {
        if self.failed.is_none() {
            match self.asker.ask(pool, terms, limits, about) {
                Ok(Verdict::Sat) => return Answer::Sat(Model::default()),
                Ok(Verdict::Unsat) => {
                    return Answer::Unsat {
                        core: (0..terms.len()).collect(),
                    };
                }
                Ok(Verdict::Unknown(reason)) => return Answer::Unknown(reason),
                Err(why) => self.failed = Some(why),
            }
        }
        Answer::Unknown(Reason::Other("nobody can be asked".to_owned()))
    }
}

fn error(why: AskError) -> Error {
    let message = why.to_string();
    match why {
        AskError::External(
            ref why @ (ExternalError::NotFound { .. } | ExternalError::Start { .. }),
        ) => Error::ToolMissing {
            message,
            help: why.help(),
        },
        AskError::External(why) => Error::Solver {
            message,
            help: why.help(),
        },
        AskError::Record { path, source } => Error::io("write", path, source),
        AskError::Unwritable(_) => Error::Solver {
            message,
            help: "without --solver and --smt2 Z3 is asked, which needs no text".to_owned(),
        },
    }
}
