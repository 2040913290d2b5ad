//! Compiles the C library and generates the bindings to it.

use std::env;
use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=c");

    let mut build = cc::Build::new();
    build.file("c/tabfile.c").include("c").warnings(true);
    if env::var_os("CARGO_FEATURE_FIXED").is_some() {
        build.define("FIXED", None);
    }
    build.try_compile("tabfile")?;

    let bindings = bindgen::Builder::default()
        .header("c/tabfile.h")
        .allowlist_item("(tab|TAB)_.*")
        .allowlist_type("tab_.*")
        .prepend_enum_name(false)
        .generate()?;
    bindings.write_to_file(PathBuf::from(env::var("OUT_DIR")?).join("bindings.rs"))?;
    Ok(())
}
