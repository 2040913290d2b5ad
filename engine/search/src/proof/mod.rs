//! Proofs: written as certificates, resumed from them, and explained in words and in C.

mod in_c;
mod needed;
mod resume;
mod words;
pub mod write;

pub use in_c::{InC, LoopFacts, in_c};
pub use needed::{Goal, Needed, Reason, needed, pruned};
pub use resume::resumed;
pub use words::Words;
