//! Empty: this package consists of its tests. `tests/` contains what `cargo cegar` found.
