//! The abstraction: what is known of all executions.
//!
//! [`world`] names contexts, cut points and objects; [`encode`] turns the code between cut points into
//! terms; [`graph`] propagates what needs no solver; the rest finds invariants.

pub mod boolean;
pub mod candidates;
pub mod cuts;
pub mod encode;
pub mod forest;
pub mod frontier;
pub mod goals;
pub mod graph;
pub mod houdini;
mod live;
pub mod loops;
pub mod memory;
pub mod own;
pub mod project;
pub mod regions;
pub mod relevance;
pub mod state;
pub mod tree;
pub mod world;
