//! What a program means.
//!
//! Bitcode becomes a [`program`], which the [`machine`] executes with concrete values and which [`symbolic`] turns into [`term`]s, from one cut
//! point to the next ones. A [`solver`] answers questions about terms. Nothing here searches: the search and the checker of
//! certificates stand on this crate, and what both of them trust is here and nowhere else.

pub mod assumption;
pub mod deadline;
pub mod domain;
pub mod machine;
pub mod operator;
pub mod program;
pub mod solver;
pub mod symbolic;
pub mod term;
