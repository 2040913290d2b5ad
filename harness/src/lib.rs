//! The library that tests written by `cargo cegar` link: mock environments for C code.
//!
//! A generated test must outlive the tool that wrote it. It runs under plain `cargo test`, on
//! machines that have only a C compiler, and a person must be able to read and edit it. This crate
//! is therefore small: [`build`] compiles C sources into one executable per harness, with the
//! outside world replaced by stubs. [`Mock`] defines what that world answers, and [`Run`] describes
//! what the C code did.
//!
//! ```no_run
//! use cegar_harness::{Mock, Then, repeat};
//!
//! Mock::new("parse_header")
//!     .stdin(b"NAME ".then(repeat(b'a', 17)))
//!     .returns("device_open", [3])
//!     .run()
//!     .expect_safe();
//! ```
//!
//! | item | what it does |
//! |---|---|
//! | [`build`] | called by the package's `build.rs`: C sources to one executable per harness |
//! | [`Mock`] | the answers of the outside world, by channel |
//! | [`Run`] | how a run ended, and what it printed and called |
//! | [`object()`], [`Value`], [`Respond`] | structures, numbers and functions that answer |
//! | [`channel`] | how the bytes of a channel are read |
//! | [`errno`] | the numbers of errors |
//! | [`external`], [`rules`] | prototypes of external functions, and what users say of them |
//!
//! Every run is a process of its own: a crash, a hang or a sanitizer's report fails one test and
//! says where.

#![warn(clippy::too_many_lines)]

mod behaviour;
pub mod build;
pub mod channel;
pub mod errno;
pub mod external;
mod isolate;
mod locate;
mod mock;
mod mocked;
mod object;
mod outcome;
#[cfg(test)]
mod received;
mod respond;
pub mod rules;
mod run;
mod sanitizer;
mod tape;
mod value;

pub use mock::Mock;
pub use object::{Mismatch, code, earlier, object, objects, text};
pub use outcome::{NOT_BUILT, Outcome, Place};
pub use respond::{Argument, Respond};
pub use run::Run;
pub use tape::{Then, padded, repeat, zeroed};
pub use value::{Scalar, Unfit, Value};

/// Includes the bindings that [`build`] wrote for a harness (`bindings = "header.h"` in
/// `cegar.toml`).
#[macro_export]
macro_rules! bindings {
    ($harness:literal) => {
        include!(concat!(env!("OUT_DIR"), "/", $harness, "_bindings.rs"));
    };
}
