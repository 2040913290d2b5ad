//! The published algorithms, as their authors describe them, on the same program, solver and
//! machine as the tool's own strategy.
//!
//! Thus a difference between two strategies is a difference between two algorithms. All strategies
//! end as the tool's own does ([`Proof`]): with facts at the cut points of a graph, the goals that
//! these facts settle, and a certificate that one checker checks. Only `--strategy` uses them.
//!
//! | module | what it does |
//! |---|---|
//! | [`synergy`], [`lee_yannakakis`] | tests and a partition of states that refine each other |
//! | [`regions`], [`projection`] | shared by these two: the partition, preimages without inputs |
//! | [`executions`] | shared by these two: a tree of executions |
//! | [`slam`], [`satabs`] | predicate abstraction from the program's start, plain and with loops |
//! | [`crunner`] | predicate abstraction from the current input |
//! | [`boolean`] | shared by these three: predicates, Boolean programs, diagrams, refinement |
//! | [`dart`] | one path after the other, without an abstraction |
//!
//! ```no_run
//! use std::path::Path;
//! use std::sync::atomic::AtomicBool;
//!
//! use cegar_model::program::Program;
//! use cegar_search::strategy::{Options, Strategy};
//!
//! let program = Program::load(Path::new("program.bc"))?;
//! let options = Options {
//!     strategy: Strategy::Slam,
//!     ..Options::default()
//! };
//! let proof = cegar_papers::prove(&program, &options, &AtomicBool::new(false));
//! println!("complete: {}", proof.is_complete());
//! # Ok::<(), cegar_model::program::LoadError>(())
//! ```

#![warn(clippy::too_many_lines)]

mod base;
pub mod boolean;
pub mod crunner;
pub mod dart;
pub mod executions;
pub mod lee_yannakakis;
mod predicate_loop;
pub mod projection;
pub mod regions;
pub mod satabs;
pub mod slam;
pub mod synergy;

use std::sync::atomic::AtomicBool;

use cegar_model::program::ir::Program;
use cegar_search::strategy::{Options, Proof, Strategy, auto};

/// Tries to settle everything that is asked for, with the strategy [`Options::strategy`].
pub fn prove<'p>(program: &'p Program, options: &Options, stop: &AtomicBool) -> Proof<'p> {
    match options.strategy {
        Strategy::Auto => auto::prove(program, options, stop),
        Strategy::Synergy => synergy::prove(program, options, stop),
        Strategy::LeeYannakakis => lee_yannakakis::prove(program, options, stop),
        Strategy::Dart => dart::prove(program, options, stop),
        Strategy::Crunner => crunner::prove(program, options, stop),
        Strategy::Slam => slam::prove(program, options, stop),
        Strategy::Satabs => satabs::prove(program, options, stop),
    }
}
