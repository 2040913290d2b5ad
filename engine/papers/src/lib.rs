//! The published algorithms, as their authors describe them, on the same program, solver and machine as the tool's own.
//!
//! A difference between two of them is thus the algorithms'. All end as the tool's own does ([`Proof`]): with facts at the cut points
//! of a graph, what these settle, and a certificate that one checker checks. Only `--strategy` uses them.

#![warn(clippy::too_many_lines)]

mod base;
pub mod boolean;
pub mod crunner;
pub mod dart;
mod ground;
pub mod lee_yannakakis;
pub mod project;
pub mod regions;
pub mod satabs;
pub mod slam;
pub mod synergy;
pub mod tree;

use std::sync::atomic::AtomicBool;

use cegar_model::program::ir::Program;
use cegar_search::strategy::{Options, Proof, Strategy, auto};

/// Tries to settle everything that is asked, as [`Options::strategy`] says.
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
