//! The search of `cargo cegar`: goals in; seeds, verdicts and certificates out.

pub mod abstraction;
pub mod analysis;
pub mod proof;
pub mod simulate;
pub mod solver;
pub mod strategy;
