//! Rust bindings of a harness's header, so that a test can say `config { name_len: 17, ..zeroed()
//! }`.
//!
//! bindgen needs libclang, which a generated package must not require. The feature is therefore off
//! by default. Where libclang is missing, the bindings that the tool wrote beside the harness
//! (`bindings/<harness>.rs`) are used.

use std::path::Path;

use super::BuildError;

/// Writes `<out>/<harness>_bindings.rs`.
pub(crate) fn write(
    harness: &str,
    root: &Path,
    header: &Path,
    args: &[String],
    out: &Path,
) -> Result<(), BuildError> {
    let target = out.join(format!("{harness}_bindings.rs"));
    let text = generate(&root.join(header), args).or_else(|why| {
        let committed = root.join("bindings").join(format!("{harness}.rs"));
        std::fs::read_to_string(&committed).map_err(|_| BuildError::Bindings {
            header: header.to_owned(),
            why: format!("{why}; and there is no {}", committed.display()),
        })
    })?;
    std::fs::write(&target, text).map_err(|why| BuildError::Io { path: target, why })
}

#[cfg(feature = "bindings")]
fn generate(header: &Path, args: &[String]) -> Result<String, String> {
    let builder = bindgen::Builder::default()
        .header(header.to_string_lossy())
        .clang_args(args)
        .derive_default(true)
        .derive_copy(true)
        .layout_tests(false)
        .allowlist_file(format!(
            ".*{}",
            header.file_name().unwrap_or_default().to_string_lossy()
        ));
    // bindgen panics if it cannot load libclang.
    match std::panic::catch_unwind(|| builder.generate()) {
        Ok(Ok(bindings)) => Ok(bindings.to_string()),
        Ok(Err(why)) => Err(why.to_string()),
        Err(_) => Err("libclang cannot be loaded".to_owned()),
    }
}

#[cfg(not(feature = "bindings"))]
fn generate(_: &Path, _: &[String]) -> Result<String, String> {
    Err("cegar-harness is built without its feature `bindings`".to_owned())
}
