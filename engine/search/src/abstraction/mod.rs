//! The abstraction: what is found out about all executions.
//!
//! [`graph`] propagates what needs no solver through the fragments between cut points; the rest
//! finds invariants.

pub mod abstractor;
pub mod asking;
pub mod candidates;
pub mod forest;
pub mod frontier;
pub mod goals;
pub mod graph;
pub mod houdini;
mod join;
mod live;
pub mod loops;
pub mod own;
pub mod relevance;
pub mod said;
