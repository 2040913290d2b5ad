//! Nothing but tests: `tests/` holds what `cargo cegar` found.
