//! Certificates, and proofs in words.

mod certificate;
mod check;
mod in_c;
mod needed;
mod words;

pub use certificate::{Certificate, CutFacts, FORMAT, formula};
pub use check::{Checked, Rejected, check};
pub use in_c::{InC, LoopFacts, in_c};
pub use needed::{Goal, Needed, needed};
pub use words::Words;
