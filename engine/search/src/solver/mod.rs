//! What saves questions: caches, small cases, and solvers that keep what questions share.
//!
//! [`Cached`] answers most questions without a back end: it asks only about the constraints that
//! share symbols with the wanted one, tries the models it knows, recognises sets that contain an
//! unsatisfiable one, and enumerates what depends on one or two bytes. [`Session`] keeps assertions
//! between questions, for those that grow step by step; [`Circuit`] hands what many questions share
//! to a SAT solver. The search alone uses them: what is proved, a certificate's checker asks again.

mod blast;
mod cache;
mod circuit;
mod gates;
mod groups;
mod reads;
mod session;
mod small;
#[cfg(test)]
mod tests;

pub use self::cache::Cached;
pub use self::circuit::Circuit;
pub use self::groups::{components, related};
pub use self::session::Session;
