//! The program as terms: one step from a cut point to the next ones.
//!
//! [`world`] names contexts, cut points and objects. [`cuts`] describes what all states of a cut
//! point have in common. [`encode`] translates the code between cut points to terms. [`update`]
//! gives the values that a transition assigns to the variables of its target. No solver is
//! involved.

pub mod cuts;
pub mod encode;
pub mod every;
pub mod memory;
pub mod range;
pub mod spans;
pub mod state;
pub mod summary;
pub mod update;
pub mod world;
