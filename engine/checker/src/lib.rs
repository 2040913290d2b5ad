//! Certificates: why a proof is one, in a form that is checked without the search that found it.
//!
//! The [`certificate`] states what holds where, [`claims`] gives that a meaning or says why it has none, [`arrive`] says what a transition has
//! to come to, and [`check()`] asks. What lies [`behind`] a place that is not proved, and which [`assumptions`] every proof of a program
//! rests on, is derived here and never read from the file. This crate depends on the model alone.

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

pub use asked::{About, AskZ3, Asked};
pub use assumptions::Assumption;
pub use certificate::{Certificate, Claim, Condition, FORMAT};
pub use check::{Checked, check};
pub use rejected::Rejected;
