//! The abstraction: what is known of all executions.
//!
//! [`graph`] computes the abstract states of the cut points and the fragments between them without
//! a solver; the other modules find invariants.

pub mod abstractor;
pub mod asking;
pub mod candidates;
pub mod floor_candidates;
pub mod forest;
pub mod frontier;
pub mod goals;
pub mod graph;
pub mod houdini;
mod join;
mod live;
pub mod loops;
pub mod relevance;
pub mod state_symbols;
