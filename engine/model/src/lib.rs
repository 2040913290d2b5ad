//! What a program means.
//!
//! Bitcode becomes a [`program`], which the [`machine`] executes with concrete values and which
//! [`symbolic`] turns into [`term`]s, from one cut point to the next ones. A [`solver`] answers
//! questions about terms. Nothing here searches: the search and the checker of certificates stand
//! on this crate, and what both of them trust is here and nowhere else.
//!
//! | module | what it does |
//! |---|---|
//! | [`program`] | reads bitcode: functions, blocks, operations, and the numbered checks |
//! | [`operator`] | the names of operators and of faults, below programs and terms |
//! | [`machine`] | executes a program on a tape, and keeps terms over the tape beside the values if asked to |
//! | [`term`] | expressions that are shared and simplified as they are made; [`term::fault`] says when an operation is a fault |
//! | [`symbolic`] | fragments: the code between cut points as terms |
//! | [`solver`] | questions to Z3, or to another solver as text |
//! | [`domain`] | sets of states, and what the code makes of them without a solver |
//! | [`assumption`] | the rules by which the model is narrower than the world |
//! | [`deadline`] | the time at which all of them stop |
//!
//! Can a 32-bit number be smaller after one was added to it?
//!
//! ```
//! use cegar_model::operator::{BinOp, Pred};
//! use cegar_model::solver::{Answer, Limits, Solver, Z3};
//! use cegar_model::term::Pool;
//!
//! let mut pool = Pool::new();
//! let x = pool.variable("x", 32);
//! let one = pool.constant(32, 1);
//! let next = pool.bin(BinOp::Add, x, one);
//! let smaller = pool.cmp(Pred::Ult, next, x);
//! let answer = Z3::new().check(&mut pool, &[smaller], &Limits::default());
//! assert!(matches!(answer, Answer::Sat(_)), "the largest number wraps around");
//! ```

pub mod assumption;
pub mod deadline;
pub mod domain;
pub mod machine;
pub mod operator;
pub mod program;
pub mod solver;
pub mod symbolic;
pub mod term;

/// Of many cases of a test every so many-th is looked at, and each one where the tests are to be
/// thorough (`CEGAR_TESTS=all`).
#[cfg(test)]
pub(crate) fn one_in(part: usize) -> usize {
    match std::env::var("CEGAR_TESTS") {
        Ok(which) if which == "all" => 1,
        _ => part,
    }
}
