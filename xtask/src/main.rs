//! Set-up.
fn main() {}
