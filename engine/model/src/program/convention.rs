//! Names that normalising writes into a module and that loading reads there.

/// The string attribute that says who provides a function: `user`, `stub`, `engine-only` or `mock`.
pub const KIND: &str = "cegar-kind";
/// The marker that makes a local's bytes uninitialised: `void __cegar_uninit(void *, size_t)`.
pub const UNINIT: &str = "__cegar_uninit";
