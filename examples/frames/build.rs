//! Compiles the C library.

use std::env;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=c");
    let mut build = cc::Build::new();
    build.file("c/frames.c").include("c").warnings(true);
    if env::var_os("CARGO_FEATURE_FIXED").is_some() {
        build.define("FIXED", None);
    }
    build.try_compile("frames")?;
    Ok(())
}
