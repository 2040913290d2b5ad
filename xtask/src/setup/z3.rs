//! Z3, from the wheel that its authors publish.
//!
//! Debian 12 has version 4.8.12, which takes minutes for queries that a current Z3 answers in half
//! a second, and building Z3 takes longer than building the rest of this workspace. The wheel
//! contains a shared library for this machine and its headers. `z3-sys` needs nothing else once
//! pkg-config knows them. `docs/decisions/0001-z3-from-the-wheel.md` has the numbers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::root;
use crate::error::{Error, Result};
use crate::run;

/// The only place that sets Z3's version. The wheel's version has a fourth component, for the
/// packaging.
const VERSION: &str = "5.4.0";
const WHEEL: &str = "z3-solver==5.4.0.0";

/// The library's name with the version that it is linked under.
const LIBRARY: &str = "libz3.so.5.4";

const PREFIX: &str = "/usr/local";

/// The content of the file for pkg-config. `z3-sys` takes the version from it to select its
/// bindings.
const PKG_CONFIG: &str = "\
prefix=/usr/local
libdir=${prefix}/lib
includedir=${prefix}/include
Name: z3
Description: The Z3 theorem prover
Version: 5.4.0
Libs: -L${libdir} -lz3
Cflags: -I${includedir}
";

/// Downloads, unpacks and installs Z3 unless it is installed. Returns whether it was installed now.
pub(super) fn install(scratch: &Path) -> Result<bool> {
    if present() {
        run::status("Fresh", &format!("Z3 {VERSION}"));
        return Ok(false);
    }
    run::status(
        "Installing",
        &format!("Z3 {VERSION} into {PREFIX}, from the wheel {WHEEL}"),
    );
    if scratch.exists() {
        fs::remove_dir_all(scratch).map_err(Error::file("empty", scratch))?;
    }
    fs::create_dir_all(scratch).map_err(Error::file("create", scratch))?;

    run::succeeds(
        python()
            .args([
                "-m",
                "pip",
                "download",
                "--quiet",
                "--no-deps",
                "--only-binary=:all:",
                "--dest",
            ])
            .arg(scratch)
            .arg(WHEEL),
    )?;
    let wheel = find(scratch, |name| name.ends_with(".whl"))?.ok_or(Error::Wheel {
        what: "file",
        version: WHEEL,
    })?;
    run::succeeds(
        python()
            .args(["-m", "zipfile", "-e"])
            .arg(&wheel)
            .arg(scratch),
    )?;

    let library = scratch.join("z3/lib").join(LIBRARY);
    let include = scratch.join("z3/include");
    if !library.is_file() {
        return Err(Error::Wheel {
            what: LIBRARY,
            version: WHEEL,
        });
    }
    put(scratch, &library, &include)?;
    match known_version() {
        Some(version) if version == VERSION => Ok(true),
        other => Err(Error::OtherZ3 {
            wanted: VERSION,
            found: other.unwrap_or_else(|| "none".to_owned()),
        }),
    }
}

fn present() -> bool {
    let lib = Path::new(PREFIX).join("lib");
    lib.join(LIBRARY).is_file()
        && lib.join("libz3.so").exists()
        && Path::new(PREFIX).join("include/z3.h").is_file()
        && known_version().is_some_and(|version| version == VERSION)
}

fn known_version() -> Option<String> {
    run::asks(Command::new("pkg-config").args(["--modversion", "z3"]))
}

/// Installs the library, the headers and the file for pkg-config.
fn put(scratch: &Path, library: &Path, include: &Path) -> Result<()> {
    let pc = scratch.join("z3.pc");
    fs::write(&pc, PKG_CONFIG).map_err(Error::file("write", &pc))?;

    let lib = Path::new(PREFIX).join("lib");
    run::succeeds(
        root("install")
            .arg("-D")
            .arg("--mode=755")
            .arg(library)
            .arg(lib.join(LIBRARY)),
    )?;
    run::succeeds(
        root("ln")
            .args(["--symbolic", "--force", LIBRARY])
            .arg(lib.join("libz3.so")),
    )?;
    run::succeeds(
        root("mkdir")
            .arg("--parents")
            .arg(Path::new(PREFIX).join("include")),
    )?;
    run::succeeds(
        root("install")
            .arg("--mode=644")
            .arg("--target-directory")
            .arg(Path::new(PREFIX).join("include"))
            .args(headers(include)?),
    )?;
    run::succeeds(
        root("install")
            .args(["-D", "--mode=644"])
            .arg(&pc)
            .arg(lib.join("pkgconfig/z3.pc")),
    )?;
    run::succeeds(&mut root(if Path::new("/sbin/ldconfig").exists() {
        "/sbin/ldconfig"
    } else {
        "ldconfig"
    }))?;
    Ok(())
}

/// Debian's own Python if it exists, since another one that comes first in PATH may have no pip.
fn python() -> Command {
    let debian = Path::new("/usr/bin/python3");
    Command::new(if debian.exists() {
        debian
    } else {
        Path::new("python3")
    })
}

fn headers(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut headers = Vec::new();
    for entry in fs::read_dir(folder).map_err(Error::file("read", folder))? {
        let path = entry.map_err(Error::file("read", folder))?.path();
        if path.extension().is_some_and(|extension| extension == "h") {
            headers.push(path);
        }
    }
    headers.sort();
    if headers.is_empty() {
        return Err(Error::Wheel {
            what: "headers",
            version: WHEEL,
        });
    }
    Ok(headers)
}

fn find(folder: &Path, wanted: impl Fn(&str) -> bool) -> Result<Option<PathBuf>> {
    for entry in fs::read_dir(folder).map_err(Error::file("read", folder))? {
        let entry = entry.map_err(Error::file("read", folder))?;
        if wanted(&entry.file_name().to_string_lossy()) {
            return Ok(Some(entry.path()));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four strings contain the version and must be changed together.
    #[test]
    fn the_version_is_the_same_everywhere() {
        assert!(WHEEL.ends_with(&format!("=={VERSION}.0")));
        assert!(PKG_CONFIG.contains(&format!("\nVersion: {VERSION}\n")));
        assert!(VERSION.starts_with(LIBRARY.trim_start_matches("libz3.so.")));
        assert!(PKG_CONFIG.contains(&format!("prefix={PREFIX}\n")));
    }
}
