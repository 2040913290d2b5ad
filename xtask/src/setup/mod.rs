//! `cargo xtask setup`: installs clang 19, LLVM 19 and a current Z3 on a bare Debian 12.
//!
//! It can be repeated safely: it installs only what is missing, and downloads nothing if nothing is
//! missing. LLVM comes from Debian's own archive. Z3 does not: see [`z3`].

mod z3;

use std::path::Path;
use std::process::{Command, Stdio};

use crate::error::{Error, Result};
use crate::places::Places;
use crate::run;

/// Debian's packages, each with its purpose. LLVM is linked dynamically, so that the libraries it
/// uses (zlib, zstd, libxml2) are installed with it and need no headers here.
const PACKAGES: &[(&str, &str)] = &[
    ("ca-certificates", "downloads"),
    ("clang-19", "C to bitcode, and the native targets"),
    ("clang-format-19", "the format of the tool's C code"),
    ("llvm-19", "llvm-config, llvm-symbolizer, opt"),
    ("llvm-19-dev", "the engine and the fuzzer link LLVM"),
    ("libclang-19-dev", "bindgen loads libclang"),
    ("libclang-rt-19-dev", "AddressSanitizer, libFuzzer"),
    ("lld-19", "links the fuzzing targets"),
    ("libc6-dev", "the C library's headers"),
    ("gcc", "generated tests must build with it too"),
    ("g++", "build scripts that ask for C++"),
    ("make", "build scripts that use it"),
    ("cmake", "build scripts that use it"),
    (
        "binutils",
        "objcopy redirects input and output in generated tests",
    ),
    ("pkg-config", "finds Z3"),
    ("cvc5", "the tests ask it what Z3 was asked"),
    ("csmith", "random C programs for the differential tests"),
    ("libcsmith-dev", "their header"),
    ("chromium", "the tests look at the report as its readers do"),
    ("python3", "unpacks the wheel that Z3 comes in"),
    ("python3-pip", "downloads it"),
];

/// Installs what is missing.
pub(crate) fn setup(places: &Places) -> Result<()> {
    let packages = packages()?;
    let z3 = z3::install(&places.target.join("setup"))?;
    match packages || z3 {
        true => forget(places),
        false => Ok(()),
    }
}

/// Makes cargo look for LLVM and Z3 again. cargo does not repeat their build scripts when something
/// was installed, so that an earlier attempt at `cargo build` would keep "no LLVM", or Debian's Z3.
fn forget(places: &Places) -> Result<()> {
    for profile in ["dev", "release"] {
        let mut clean = Command::new("cargo");
        clean.current_dir(&places.root);
        clean.args([
            "clean",
            "--profile",
            profile,
            "-p",
            "llvm-sys",
            "-p",
            "z3-sys",
        ]);
        run::succeeds(&mut clean)?;
    }
    Ok(())
}

/// Installs missing packages; returns whether there were any.
fn packages() -> Result<bool> {
    let missing: Vec<&str> = PACKAGES
        .iter()
        .filter(|(package, _)| !installed(package))
        .map(|&(package, _)| package)
        .collect();
    if missing.is_empty() {
        run::status("Fresh", &format!("{} Debian packages", PACKAGES.len()));
        return Ok(false);
    }
    if !Path::new("/usr/bin/apt-get").exists() {
        return Err(Error::NoApt {
            packages: missing.join(" "),
        });
    }
    for &(package, purpose) in PACKAGES
        .iter()
        .filter(|(package, _)| missing.contains(package))
    {
        run::status("Missing", &format!("{package} ({purpose})"));
    }
    let no_apt = |error| match error {
        Error::Start { .. } => Error::NoApt {
            packages: missing.join(" "),
        },
        other => other,
    };
    run::succeeds(root("apt-get").args(["update", "--quiet=2"])).map_err(no_apt)?;
    // dpkg prints several lines for each of a hundred packages; errors go to standard error.
    run::status(
        "Installing",
        "them; LLVM is large: a gigabyte on the disk, and some minutes",
    );
    run::succeeds(
        root("apt-get")
            .args(["install", "--yes", "--quiet=2", "--no-install-recommends"])
            .args(&missing)
            .stdout(Stdio::null()),
    )?;
    Ok(true)
}

fn installed(package: &str) -> bool {
    run::asks(Command::new("dpkg-query").args([
        "--show",
        "--showformat=${db:Status-Status}",
        package,
    ]))
    .is_some_and(|status| status == "installed")
}

/// A command that needs root: run directly by root, and through sudo by other users.
fn root(program: &str) -> Command {
    let is_root = run::asks(Command::new("id").arg("-u")).is_some_and(|id| id == "0");
    let mut command = if is_root {
        Command::new(program)
    } else {
        let mut sudo = Command::new("sudo");
        sudo.args(["DEBIAN_FRONTEND=noninteractive", program]);
        sudo
    };
    command.env("DEBIAN_FRONTEND", "noninteractive");
    command
}
