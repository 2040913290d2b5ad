//! The native side of `cargo cegar`: the program as machine code, and the fuzzer that runs it.
//!
//! [`native`] compiles the normalised module into a shared object whose coverage counters have the
//! engine's block numbers, and into runners that confirm findings. [`worker`] is the LibAFL fuzzer,
//! which is a separate process, and its parent's handle. [`sandbox`] restricts the processes that
//! run the C code. [`exchange`] sends the tapes that one machine's workers find to other machines.
//!
//! | module | what it does |
//! |---|---|
//! | [`native`] | instruments the module, compiles it in parts, links targets and runners; runs tapes in a runner |
//! | [`worker`] | fuzzes: mutation, scheduling, comparison logging, fresh memory for each run |
//! | [`sandbox`] | takes rights away from a process before it runs C code |
//! | [`exchange`] | tapes from machine to machine, over LLMP |
//!
//! A tape is a file of the corpus. Its name is derived from its bytes:
//!
//! ```
//! assert_eq!(cegar_fuzz::worker::tape_name(b""), "e3b0c44298fc1c14");
//! ```

#![warn(clippy::too_many_lines)]

mod encoding;
pub mod exchange;
pub mod native;
pub mod sandbox;
pub mod worker;

pub use encoding::hex;
