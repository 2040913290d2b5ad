//! The native side of `cargo cegar`: the program as machine code, and the fuzzer that runs it.
//!
//! [`native`] turns the normalised module into a shared object whose coverage counters carry the engine's
//! block numbers, and into runners that confirm what was found. [`worker`] is the LibAFL fuzzer, a process of its
//! own, and its parent's handle. [`sandbox`] is what both kinds of process run the C code in. [`exchange`] takes
//! what one machine's workers find to other machines.

pub mod exchange;
pub mod native;
pub mod sandbox;
pub mod worker;

/// Lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}
