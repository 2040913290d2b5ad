//! The engine of `cargo cegar`: goals in; seeds, verdicts and certificates out.

pub mod abstraction;
pub mod deadline;
pub mod machine;
pub mod program;
pub mod proof;
pub mod simulate;
pub mod solver;
pub mod strategy;
pub mod term;
