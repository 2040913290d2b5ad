//! The search of `cargo cegar`: takes goals and returns seeds, verdicts and certificates.
//!
//! | module | what it does |
//! |---|---|
//! | [`strategy`] | the prover's own strategy ([`strategy::auto`]), its options and its outcome |
//! | [`analysis`] | the floor: states of the whole program, found without a solver |
//! | [`abstraction`] | facts at cut points: guessing them, refuting them, proving them inductive |
//! | [`proof`] | certificates, and the reasons why a goal holds, in words and in C |
//! | [`simulate`] | executions, and inputs that depart from a known execution towards a goal |
//! | [`solver`] | the layers in front of Z3: caches, slicing, enumeration, circuits |
//!
//! To prove as many checks as possible of a program that was normalised to bitcode:
//!
//! ```no_run
//! use std::path::Path;
//! use std::sync::atomic::AtomicBool;
//!
//! use cegar_model::program::Program;
//! use cegar_search::strategy::{Options, auto};
//!
//! let program = Program::load(Path::new("program.bc"))?;
//! let options = Options::default();
//! let proof = auto::prove(&program, &options, &AtomicBool::new(false));
//! let outcome = proof.outcome("the hash of program.bc", &options.properties);
//! for (check, verdict) in program.checks.iter().zip(&outcome.checks) {
//!     println!("{}: {verdict:?}", program.show(check.pos));
//! }
//! # Ok::<(), cegar_model::program::LoadError>(())
//! ```

pub mod abstraction;
pub mod analysis;
pub mod proof;
pub mod simulate;
pub mod solver;
pub mod strategy;
