//! Terms: values as functions of the tape.
//!
//! A [`Term`] is a number that stands for an expression over the bytes of the tape (and over free
//! variables). Terms are hash-consed in a [`Pool`]: building the same expression twice gives the
//! same number, so equality is one comparison and caches can be keyed by terms. Every constructor
//! simplifies. The interpreted program splits integers into bytes and reassembles them at every
//! load and store, widens everything to `int`, and compares the results of comparisons with zero.
//! The constructors undo these patterns once, so that they never reach a solver.
//!
//! Loops make terms as deep as the number of their turns, so no function here recurses over a term.
//! Children always exist before their parents, and every traversal uses an explicit stack.

mod arith;
mod array;
mod bits;
mod compare;
mod divide;
mod eval;
pub mod fault;
pub mod float;
mod floats;
mod node;
mod order;
mod pool;
#[cfg(any(test, feature = "generators"))]
#[allow(missing_docs)]
pub mod random;
mod rewrite;
mod show;
mod sides;
mod symbols;
#[cfg(test)]
mod tests;
mod text;
pub mod value;

pub use eval::{Environment, Evaluator};
pub use node::{Array, ArrayNode, Node, Term};
pub use order::Item;
pub use pool::Pool;
pub use rewrite::Rewriter;
pub use sides::sides;
pub use symbols::Symbol;
pub use text::TextError;
