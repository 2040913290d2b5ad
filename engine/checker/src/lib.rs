//! Certificates: why a proof is one, in a form that is checked without the search that found it.
//!
//! The [`certificate`] states what holds where, [`claims`] gives that a meaning or says why it has
//! none, [`arrive`] says what a transition has to fulfil, and [`check()`] asks. What lies
//! [`behind`] a place that is not proved, and which [`assumptions`] every proof of a program rests
//! on, is derived here and never read from the file. This crate depends on the model alone.
//!
//! | module | what it does |
//! |---|---|
//! | [`certificate`] | the file: facts at cut points, the floor's states, and the claims that follow from them |
//! | [`claims`] | what the certificate states, as terms over a program |
//! | [`mod@check`] | the pass: each fragment once, each claim once |
//! | [`arrive`] | whether a transition ends in a state that its target's claims allow |
//! | [`floor`] | the claims that follow from states of the whole program, without a solver |
//! | [`behind`] | the code that may be executed after a place |
//! | [`assumptions`] | the rules that a proof rests on, derived from the program |
//! | [`mod@squeezed`] | values that a question's order leaves equal |
//! | [`asked`] | who answers the questions, and what each one is about |
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
pub mod behind;
pub mod certificate;
pub mod check;
pub mod claims;
pub mod floor;
mod rejected;
pub mod squeezed;

pub use asked::{About, AskZ3, Asked};
pub use assumptions::{Assumption, LEARNT};
pub use certificate::{Certificate, Claim, Condition, FORMAT};
pub use check::{Checked, check};
pub use rejected::Rejected;
