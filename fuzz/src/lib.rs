//! The native side of `cargo cegar`: the program as machine code, and the fuzzer that runs it.
//!
//! [`native`] turns the normalised module into a shared object whose coverage counters carry the engine's
//! block numbers, and into runners that confirm what was found. [`worker`] is the LibAFL fuzzer, a process of its
//! own, and its parent's handle. [`sandbox`] is what both kinds of process run the C code in. [`exchange`] takes
//! what one machine's workers find to other machines.

#![warn(clippy::too_many_lines)]

mod encoding;
pub mod exchange;
pub mod native;
pub mod sandbox;
pub mod worker;

pub use encoding::hex;
