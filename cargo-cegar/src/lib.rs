//! cargo-cegar
