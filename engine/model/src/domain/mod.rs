//! Abstract interpretation of a whole program: what holds of all executions, without a solver.
//!
//! States are sets of concrete ones (Cousot and Cousot, *Abstract interpretation*, 1977): for each
//! register and cell of memory the numbers and addresses that it may hold ([`num`], [`value`]),
//! object by object ([`contents`], [`space`]). A [`walk`] says what a state becomes on the way
//! through a function's blocks, once each; where a loop begins or a function is shared by all its
//! calls it asks a [`walk::Guide`]. The search's guide makes states grow until they are large
//! enough, and the checker's asks whether those of a certificate are: both walk alike, and what is
//! trusted is the walk and the question.
//!
//! The walk means what the encoding of a step ([`crate::symbolic`]) means, in sets: after a check
//! an execution goes on as if it held, which is what makes each check's verdict one of its own; a
//! number that the platform chooses is any number; where the model is narrower than the world that
//! is noted, and where the user wants the wider world it cannot be passed.

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
pub mod short;
mod shrinking;
mod sizes;
pub mod space;
pub mod state;
mod together;
mod turned;
pub mod value;
pub mod walk;
