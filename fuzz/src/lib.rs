//! The native side of `cargo cegar`: the program as machine code, and the fuzzer that runs it.
//!
//! [`target`] turns the normalised module into a shared object whose coverage counters carry the engine's
//! block numbers, and into runners that confirm what was found.

pub mod target;
