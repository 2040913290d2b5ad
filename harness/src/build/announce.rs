//! What a build script reports to cargo and leaves for the tests.

use std::path::{Path, PathBuf};

use super::compile;
use super::error::BuildError;
use super::{Built, CAPTURED, fail};

/// Records that a harness was not built, so that its tests can report the reason.
pub(super) fn broken(harness: &str, why: &BuildError, out: &Path) {
    println!("cargo:warning=harness `{harness}` was not built: its tests will fail");
    for line in why.to_string().lines() {
        println!("cargo:warning={line}");
    }
    let folder = out.join("cegar").join(harness);
    let file = folder.join(format!("{harness}.{}", crate::locate::BROKEN));
    let written =
        std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&file, why.to_string()));
    if written.is_err() {
        fail(why);
    }
    println!(
        "cargo:rustc-env={}={}",
        crate::locate::variable(harness),
        file.display()
    );
    // It is unknown which file has to be corrected. The path of a file that never exists makes
    // cargo run the build script again each time.
    let never = folder.join("never");
    println!("cargo:rerun-if-changed={}", never.display());
}

/// Prints what a build script reports to cargo, and publishes the executables.
pub(super) fn announce(built: &[Built], inputs: &[PathBuf]) {
    println!("cargo:rerun-if-env-changed=CC");
    println!("cargo:rerun-if-env-changed=CEGAR_DEFINES");
    println!("cargo:rerun-if-env-changed={CAPTURED}");
    println!("cargo:rerun-if-env-changed=CARGO_HOME");
    for input in inputs
        .iter()
        .chain(built.iter().flat_map(|harness| &harness.inputs))
    {
        println!("cargo:rerun-if-changed={}", input.display());
    }
    compile::keep_only(built);
    for harness in built {
        println!(
            "cargo:rustc-env={}={}",
            crate::locate::variable(&harness.harness),
            harness.runner.display()
        );
        for note in &harness.notes {
            println!("cargo:warning={}: {note}", harness.harness);
        }
        for name in &harness.guessed {
            println!(
                "cargo:warning={}: nobody defines `{name}`, and mocks.json does not say what it \
                 returns: taken to be int",
                harness.harness
            );
        }
        compile::publish(harness);
    }
    if built.iter().any(|harness| harness.sanitizers.is_empty()) {
        println!(
            "cargo:warning=a harness is built without sanitizers: faults that do not crash go \
             unseen"
        );
    }
}
