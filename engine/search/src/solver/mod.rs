//! Layers that save solver queries: caches, small cases, and solvers that keep the shared part of
//! queries.
//!
//! [`Cached`] answers most queries without a back end: it asks only about the constraints that
//! share symbols with the wanted one, tries known models, recognises sets that contain an
//! unsatisfiable one, and enumerates constraints on one or two bytes. [`Session`] keeps assertions
//! between queries that grow step by step; [`Circuit`] gives the shared part of many queries to a
//! SAT solver. Only the search uses them: the checker of certificates proves everything again.

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
