//! Proofs written down, taken up again, and said in words.

mod needed;
mod resume;
mod words;
pub mod write;

pub use needed::{Goal, Needed, needed, pruned};
pub use resume::resumed;
pub use words::Words;
