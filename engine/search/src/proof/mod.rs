//! Certificates, and proofs in words.

mod certificate;
mod check;
mod needed;
mod words;

pub use certificate::{Certificate, CutFacts, FORMAT, formula};
pub use check::{About, AskZ3, Asked, Checked, Rejected, check, check_with};
pub use needed::{Goal, Needed, needed};
pub use words::Words;
