//! Abstract interpretation of a whole program: what holds in all executions, without a solver.
//!
//! An abstract state stands for a set of concrete states (Cousot and Cousot, *Abstract
//! interpretation*, 1977): it has, for each register and memory cell, the numbers and addresses
//! that it may hold ([`num`], [`value`]), object by object ([`contents`], [`space`]). A [`walk`]
//! computes how a state changes along a function's blocks, each of which it visits once. At loop
//! heads, and at functions that are shared by all their calls, it asks a [`walk::Guide`] from which
//! state to continue. The search's guide lets states grow until they no longer change; the
//! checker's guide tests whether the states of a certificate are large enough. Both use the same
//! walk, so only the walk and the checker's test are trusted.
//!
//! The walk has the semantics of the encoding of a step ([`crate::symbolic`]), lifted to sets.
//! After a check, execution continues as if the check had held, so that each check has a verdict
//! of its own. A number that the platform chooses is any number. Where a rule makes the model
//! narrower than the world, the walk records it; where the user has lifted that rule, the walk
//! cannot continue.

pub mod check_notes;
pub mod contents;
pub mod context;
pub mod flow;
pub mod found;
pub mod linear;
mod moving;
pub mod nul;
pub mod num;
pub mod owners;
pub mod recent;
mod rows;
pub mod seen;
mod selectors;
mod shrinking;
mod sizes;
pub mod space;
pub mod state;
mod together;
mod turned;
pub mod value;
pub mod walk;
