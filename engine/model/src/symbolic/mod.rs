//! The program as terms: one step from a cut point to the next ones.
//!
//! [`world`] names contexts, cut points and objects; [`cuts`] says what a cut point's states have
//! in common; [`encode`] turns the code between cut points into terms; [`update`] says what a
//! transition makes of its target's variables. No solver takes part.

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
