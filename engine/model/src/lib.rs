//! The semantics of programs.
//!
//! A [`program`] is loaded from bitcode. The [`machine`] executes it with concrete values, and
//! [`symbolic`] turns it into [`term`]s, from one cut point to the next ones. A [`solver`] answers
//! queries about terms. Nothing in this crate searches: the search and the checker of certificates
//! both build on it, and all code that both of them trust is here.
//!
//! | module | what it does |
//! |---|---|
//! | [`program`] | reads bitcode: functions, blocks, operations, and the numbered checks |
//! | [`operator`] | the names of operators and of faults, which programs and terms share |
//! | [`machine`] | executes a program on a tape and, if asked to, keeps a term over the tape for each value |
//! | [`term`] | expressions that are shared and simplified as they are made; [`term::fault`] says when an operation is a fault |
//! | [`symbolic`] | fragments: the code between cut points as terms |
//! | [`solver`] | queries to Z3, or to another solver in text form |
//! | [`domain`] | sets of states, and the effect of the code on them, computed without a solver |
//! | [`assumption`] | the rules by which the model is narrower than the world |
//! | [`deadline`] | the time at which all of them have to stop |
//!
//! For example, can a 32-bit number become smaller when one is added to it?
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

/// The stride with which a test samples its many cases: `part`, or 1 (every case) if the tests are
/// to be thorough (`CEGAR_TESTS=all`).
#[cfg(test)]
pub(crate) fn one_in(part: usize) -> usize {
    match std::env::var("CEGAR_TESTS") {
        Ok(which) if which == "all" => 1,
        _ => part,
    }
}
