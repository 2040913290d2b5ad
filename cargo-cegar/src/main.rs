//! The subcommand.
fn main() {}
