//! `cargo xtask demo`: the whole workflow, on a copy of an example.
//!
//! Succeeds only if the generated test fails on the C code as it is, and the same test passes on
//! the corrected C code.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Error, Result};
use crate::places::Places;
use crate::{examples, run, setup};

/// The example. Its harness is a `main` that reads standard input and the environment.
const EXAMPLE: &str = "linebuf";

/// The exit status of `cargo cegar` if a check is violated.
const VIOLATION: i32 = 100;

/// Runs the demo.
pub(crate) fn demo(places: &Places) -> Result<()> {
    setup::setup(places)?;
    run::succeeds(
        Command::new("cargo")
            .args(["build", "--release", "--package", "cargo-cegar"])
            .current_dir(&places.root),
    )?;

    let project = copy(places, &places.target.join("demo"))?;
    show(&places.target.join("release"), &project)
}

/// Copies the example to a folder.
pub(crate) fn copy(places: &Places, folder: &Path) -> Result<PathBuf> {
    let project = folder.join(EXAMPLE);
    run::status(
        "Copying",
        &format!("examples/{EXAMPLE} to {}", project.display()),
    );
    examples::copy(
        places,
        &places.root.join("examples").join(EXAMPLE),
        &project,
    )?;
    Ok(project)
}

/// Demonstrates the whole workflow in a copy, with the `cargo-cegar` in the folder `tool`.
pub(crate) fn show(tool: &Path, project: &Path) -> Result<()> {
    // The crate's own tests do not find the bug.
    run::succeeds(cargo(tool, project).args(["test", "--package", EXAMPLE]))?;

    let mut search = cargo(tool, project);
    search.args(["cegar", "run", "--max-time", "30s"]);
    let found = run::ends(&mut search)?;
    if found.code() != Some(VIOLATION) {
        return Err(Error::Demo(format!(
            "`{}` was to end with {VIOLATION}, a violation, but: {found}",
            run::shown(&search)
        )));
    }
    for test in tests(&project.join("cegar/tests"))? {
        run::status("Showing", &test.display().to_string());
        println!(
            "{}",
            fs::read_to_string(&test).map_err(Error::file("read", &test))?
        );
    }

    let tests = ["test", "--manifest-path", "cegar/Cargo.toml"];
    let (status, output) = run::shows(cargo(tool, project).args(tests))?;
    if status.success() || !output.contains("test result: FAILED") {
        return Err(Error::Demo(
            "the generated test was to fail on the C code as it is".to_owned(),
        ));
    }
    run::status(
        "Failed",
        "as it should: the C code still has the bug. Now the same test on the fixed code:",
    );

    let (status, output) = run::shows(
        cargo(tool, project)
            .args(tests)
            .args(["--features", "fixed"]),
    )?;
    let passed = crate::counts::Counts::of(&output).passed;
    if !status.success() || passed == 0 {
        return Err(Error::Demo(
            "the generated test was to pass on the fixed C code".to_owned(),
        ));
    }
    run::status(
        "Finished",
        "the generated test fails with the bug and passes without it",
    );
    Ok(())
}

/// A cargo command in the copy, with the folder of `cargo-cegar` first in PATH and its own target
/// folder.
fn cargo(tool: &Path, project: &Path) -> Command {
    let mut folders = vec![tool.to_owned()];
    folders.extend(env::var_os("PATH").iter().flat_map(env::split_paths));
    let mut command = Command::new("cargo");
    command.current_dir(project).env_remove("CARGO_TARGET_DIR");
    // PATH cannot contain a folder with a colon in its name. The installed `cargo-cegar` is used
    // then.
    if let Ok(path) = env::join_paths(folders) {
        command.env("PATH", path);
    }
    command
}

/// The test files that were generated.
fn tests(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    if let Ok(entries) = fs::read_dir(folder) {
        for entry in entries {
            let path = entry.map_err(Error::file("read", folder))?.path();
            if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    if found.is_empty() {
        return Err(Error::Demo(format!(
            "no test was written to {}",
            folder.display()
        )));
    }
    Ok(found)
}
