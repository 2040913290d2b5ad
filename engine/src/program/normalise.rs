//! From bitcode files to one module that both readers read.

/// The string attribute that says who provides a function.
pub const KIND: &str = "cegar-kind";
/// The marker that makes a local's bytes uninitialised: `void __cegar_uninit(void *, size_t)`.
pub const UNINIT: &str = "__cegar_uninit";
