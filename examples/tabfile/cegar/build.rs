//! Builds the harnesses that the tests run.

use std::path::Path;

use cegar_harness::build::{Build, BuildError};

fn main() -> Result<(), BuildError> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut build = Build::from_package(package, "harnesses")?;
    if cfg!(feature = "fixed") {
        build = build.define("FIXED");
    }
    build.compile();
    Ok(())
}
