//! `cargo xtask package`: tests what users of a registry will get, before publishing.
//!
//! The crates are packaged and verified by cargo, then put into a folder that replaces the registry
//! (cargo's *directory source*), together with all their dependencies. Using only this folder, the
//! tool is installed and the demo runs, whose tests take `cegar-harness` from there too. This
//! detects a file that is missing in a package, a dependency on this checkout, or a version that is
//! not published. It compiles the tool twice, so it is not part of `cargo xtask test`; the tests
//! `published` check there what is quick.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Error, Result};
use crate::places::Places;
use crate::{demo, examples, run, setup};

/// The version of all crates.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The crates that are published.
const CRATES: [&str; 9] = [
    "cegar-stubs",
    "cegar-harness",
    "cegar-llvm",
    "cegar-model",
    "cegar-checker",
    "cegar-search",
    "cegar-papers",
    "cegar-fuzz",
    "cargo-cegar",
];

/// Runs the command.
pub(crate) fn package(places: &Places) -> Result<()> {
    setup::setup(places)?;
    // A separate target folder, since verifying would replace the workspace's executable.
    let target = places.target.join("published");
    run::succeeds(
        Command::new("cargo")
            .args(["package", "--workspace", "--allow-dirty", "--target-dir"])
            .arg(&target)
            .args(PROFILE)
            .current_dir(&places.root),
    )?;

    let registry = target.join("registry");
    fill(places, &target.join("package"), &registry)?;
    let project = demo::copy(places, &target.join("demo"))?;
    examples::from_registry(&project, VERSION)?;
    use_registry(&project, &registry)?;

    let installed = target.join("installed");
    run::succeeds(
        Command::new("cargo")
            .args(["install", "cargo-cegar", "--locked", "--debug", "--force"])
            .args(["--version", VERSION, "--root"])
            .arg(&installed)
            .arg("--target-dir")
            .arg(&target)
            .args(PROFILE)
            // The folder whose configuration replaces the registry.
            .current_dir(&project),
    )?;
    let tool = installed.join("bin");
    demo::show(&tool, &project)?;
    init(&tool, &project)
}

/// The options of the workspace's own profile; without them, the commands would be even slower.
const PROFILE: [&str; 4] = [
    "--config",
    "profile.dev.opt-level=1",
    "--config",
    "profile.dev.debug=false",
];

/// Fills the folder with the dependencies from other publishers, copied by `cargo vendor`, and with
/// our crates, unpacked from their package files.
fn fill(places: &Places, packages: &Path, registry: &Path) -> Result<()> {
    if registry.exists() {
        fs::remove_dir_all(registry).map_err(Error::file("empty", registry))?;
    }
    run::succeeds(
        Command::new("cargo")
            .args(["vendor", "--quiet", "--locked", "--versioned-dirs"])
            .arg(registry)
            .stdout(std::process::Stdio::null())
            .current_dir(&places.root),
    )?;
    for name in CRATES {
        let file = packages.join(format!("{name}-{VERSION}.crate"));
        run::succeeds(
            Command::new("tar")
                .arg("xzf")
                .arg(&file)
                .arg("-C")
                .arg(registry),
        )?;
        let sum = run::asks(Command::new("sha256sum").arg(&file)).unwrap_or_default();
        let sum = sum.split_whitespace().next().unwrap_or_default();
        let path = registry
            .join(format!("{name}-{VERSION}"))
            .join(".cargo-checksum.json");
        let text = format!("{{\"files\":{{}},\"package\":\"{sum}\"}}");
        fs::write(&path, text).map_err(Error::file("write", &path))?;
    }
    Ok(())
}

/// Makes cargo use only this registry in the project's folder.
fn use_registry(project: &Path, registry: &Path) -> Result<()> {
    let folder = project.join(".cargo");
    fs::create_dir_all(&folder).map_err(Error::file("create", &folder))?;
    let path = folder.join("config.toml");
    let text = format!(
        "[source.crates-io]\nreplace-with = \"packaged\"\n\n[source.packaged]\ndirectory = {:?}\n\n\
         [net]\noffline = true\n",
        registry.display().to_string()
    );
    fs::write(&path, text).map_err(Error::file("write", &path))
}

/// Checks that a tool from a registry writes packages that take the harness from the registry.
fn init(tool: &Path, project: &Path) -> Result<()> {
    let package: PathBuf = project.join("cegar");
    fs::remove_dir_all(&package).map_err(Error::file("remove", &package))?;
    run::succeeds(
        Command::new(tool.join("cargo-cegar"))
            .args(["cegar", "init", "--header", "c/linebuf.h"])
            .current_dir(project)
            .env_remove("CARGO_TARGET_DIR"),
    )?;
    let manifest = package.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).map_err(Error::file("read", &manifest))?;
    if !text.contains(&format!("cegar-harness = \"{VERSION}\"")) {
        return Err(Error::Demo(format!(
            "{} was to take cegar-harness from the registry:\n{text}",
            manifest.display()
        )));
    }
    run::succeeds(
        Command::new("cargo")
            .args(["test", "--manifest-path", "cegar/Cargo.toml"])
            .current_dir(project)
            .env_remove("CARGO_TARGET_DIR"),
    )?;
    run::status(
        "Finished",
        "the tool, installed from packages alone, and the tests that it writes work",
    );
    Ok(())
}
