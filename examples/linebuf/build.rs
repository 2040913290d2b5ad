//! Compiles the C library and generates the bindings to it.

use std::env;
use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=c");

    let mut build = cc::Build::new();
    build.file("c/linebuf.c").include("c").warnings(true);
    if env::var_os("CARGO_FEATURE_FIXED").is_some() {
        build.define("FIXED", None);
    }
    build.try_compile("linebuf")?;

    let bindings = bindgen::Builder::default()
        .header("c/linebuf.h")
        .allowlist_item("(linebuf|LINEBUF)_.*")
        .allowlist_type("linebuf")
        .default_macro_constant_type(bindgen::MacroTypeVariation::Signed)
        .generate()?;
    bindings.write_to_file(PathBuf::from(env::var("OUT_DIR")?).join("bindings.rs"))?;
    Ok(())
}
