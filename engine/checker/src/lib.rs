//! Certificates: proofs in a form that is checked without the search that found them.
//!
//! A [`certificate`] states the facts at each cut point. [`claims`] interprets these statements or
//! says why they have no meaning, [`arrive`] derives the conditions that a transition has to
//! fulfil, and [`check()`] asks whether they hold. The code behind a place ([`continuation`]) that
//! is not proved, and the [`assumptions`] that every proof of a program rests on, are derived here
//! and never read from the file. This crate depends on the model alone.
//!
//! | module | what it does |
//! |---|---|
//! | [`certificate`] | the file: facts at cut points, the floor's states, and the claims |
//! | [`claims`] | the statements of a certificate, as terms over a program |
//! | [`mod@check`] | the pass: each fragment once, each claim once |
//! | [`arrive`] | whether a transition ends in a state that its target's claims allow |
//! | [`floor`] | the claims that follow from states of the whole program, without a solver |
//! | [`continuation`] | the code that may be executed after a place |
//! | [`assumptions`] | the rules that a proof rests on, derived from the program |
//! | [`mod@implied_equations`] | equations that the comparisons in a question imply |
//! | [`asked`] | the questions, what each one is about, and the solver that answers them |
//!
//! A certificate is about one bitcode, and is rejected for every other:
//!
//! ```
//! use cegar_checker::{AskZ3, Certificate, Rejected, check};
//! use cegar_model::program::Program;
//! use cegar_model::solver::Limits;
//!
//! let program = Program::default();
//! let certificate = Certificate::empty("the hash of the bitcode", &[]);
//! let ask = |bitcode| check(&program, bitcode, &certificate, Limits::default(), &mut AskZ3);
//! assert!(ask("the hash of the bitcode").is_ok());
//! assert!(matches!(ask("another hash"), Err(Rejected::Bitcode { .. })));
//! ```

#![warn(clippy::too_many_lines)]

pub mod arrive;
pub mod asked;
pub mod assumptions;
pub mod certificate;
pub mod check;
pub mod claims;
pub mod continuation;
pub mod floor;
pub mod implied_equations;
mod rejected;

pub use asked::{About, AskZ3, QuestionSolver};
pub use assumptions::{Assumption, LEARNT};
pub use certificate::{Certificate, Claim, Condition, FORMAT};
pub use check::{Checked, check};
pub use rejected::Rejected;
