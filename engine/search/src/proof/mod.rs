//! Proofs written down, taken up again, and said in words.

mod in_c;
mod needed;
mod resume;
mod words;
pub mod write;

pub use in_c::{InC, LoopFacts, in_c};
pub use needed::{Goal, Needed, Reason, needed, pruned};
pub use resume::resumed;
pub use words::Words;
