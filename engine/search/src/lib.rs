//! The search of `cargo cegar`: goals in; seeds, verdicts and certificates out.
//!
//! | module | what it does |
//! |---|---|
//! | [`strategy`] | the prover's own strategy ([`strategy::auto`]), its options, and how it ends |
//! | [`analysis`] | the floor: states of the whole program, found without a solver |
//! | [`abstraction`] | facts at cut points: guesses, what refutes them, what is inductive |
//! | [`proof`] | certificates, and why a goal holds, in words and in C |
//! | [`simulate`] | executions of the machine, and inputs that leave a known execution towards a goal |
//! | [`solver`] | what stands before Z3: caches, slices, enumeration, circuits |
//!
//! To prove what can be proved of a program that was normalised to bitcode:
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
