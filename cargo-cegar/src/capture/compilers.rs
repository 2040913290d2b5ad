//! Installs recording compilers for a build.
//!
//! The `cc` and `cmake` crates and configure scripts read the variable `CC`; a Makefile with `CC =
//! gcc` and a build script that calls `cc` do not. So `CC` names the recording compiler, and a
//! folder at the front of `PATH` contains one under the name of every compiler on the machine.
//! Calls by an absolute path are not recorded.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

use super::{CaptureError, shim};

/// The kind of program that a recording program replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tool {
    /// A compiler for C.
    C,
    /// A compiler for C++, recorded so that its files can be reported as left out.
    Cxx,
    /// A program that puts objects into an archive.
    Archiver,
    /// A program that tells a build script where a library is installed.
    PkgConfig,
}

/// The kind of a program by its name, which may have a target prefix and a version suffix:
/// `x86_64-linux-gnu-gcc-12`.
pub(super) fn tool(name: &str) -> Option<Tool> {
    let version = |part: &str| part.chars().all(|c| c.is_ascii_digit() || c == '.');
    let unversioned = match name.rsplit_once('-') {
        Some((before, last)) if !last.is_empty() && version(last) => before,
        _ => name,
    };
    if ["pkg-config", "pkgconf"]
        .iter()
        .any(|known| unversioned.ends_with(known))
    {
        return Some(Tool::PkgConfig);
    }
    match unversioned
        .rsplit_once('-')
        .map_or(unversioned, |(_, last)| last)
    {
        "cc" | "gcc" | "clang" | "c89" | "c99" => Some(Tool::C),
        "c++" | "g++" | "clang++" => Some(Tool::Cxx),
        "ar" => Some(Tool::Archiver),
        _ => None,
    }
}

/// How a build is run with the recording compilers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trial {
    /// As without them.
    Plain,
    /// With `make` told to make everything again, including what an earlier build has left in the
    /// source folder.
    Anew,
    /// With `pkg-config` and vcpkg not finding installed libraries, so that a build script falls
    /// back to its bundled sources.
    Bundled,
}

/// Fills the folder `bin` with recording compilers, and makes `build` call them and write to `log`.
pub(super) fn record(
    build: &mut Command,
    bin: &Path,
    log: &Path,
    trial: Trial,
) -> Result<(), CaptureError> {
    match fs::remove_dir_all(bin) {
        Err(why) if why.kind() != io::ErrorKind::NotFound => {
            return Err(CaptureError::io("empty", bin)(why));
        }
        _ => {}
    }
    fs::create_dir_all(bin).map_err(CaptureError::io("create", bin))?;
    let this = env::current_exe().map_err(CaptureError::io("find", "cargo-cegar"))?;
    let path = env::var_os("PATH").unwrap_or_default();
    let mut names = names(&path);
    names.extend([shim::NAME.to_owned(), shim::NAME_CXX.to_owned()]);
    for name in names {
        if tool(&name) == Some(Tool::PkgConfig) && trial != Trial::Bundled {
            continue;
        }
        let link = bin.join(name);
        std::os::unix::fs::symlink(&this, &link).map_err(CaptureError::io("create", &link))?;
    }
    build.env(shim::LOG, log).env(shim::BIN, bin);
    let folders = std::iter::once(bin.to_owned()).chain(env::split_paths(&path));
    if let Ok(path) = env::join_paths(folders) {
        build.env("PATH", path);
    }
    for (variable, name, real) in [
        ("CC", shim::NAME, shim::REAL_CC),
        ("CXX", shim::NAME_CXX, shim::REAL_CXX),
    ] {
        // All variables are set, since one that the user has set could take precedence.
        let spellings = spellings(variable);
        let set = spellings.iter().filter_map(env::var_os);
        if let Some(set) = set.into_iter().find(|value| !value.is_empty()) {
            build.env(real, set);
        }
        for spelling in spellings {
            build.env(spelling, bin.join(name));
        }
    }
    if trial == Trial::Bundled {
        for spelling in spellings("PKG_CONFIG") {
            build.env_remove(spelling);
        }
        build.env("VCPKGRS_DISABLE", "1").env("NO_VCPKG", "1");
    }
    if trial == Trial::Anew {
        let flags = env::var("MAKEFLAGS").unwrap_or_default();
        build.env("MAKEFLAGS", anew(&flags));
    }
    // A compiler cache would bypass the compiler.
    for wrapper in ["RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER"] {
        build.env_remove(wrapper);
    }
    build.env("CCACHE_DISABLE", "1");
    Ok(())
}

/// Adds `--always-make` to the flags of `make`. The first word of the flags may be letters without
/// a dash.
fn anew(flags: &str) -> String {
    let first = flags.split_whitespace().next().unwrap_or_default();
    let are_letters = !first.is_empty() && first.chars().all(|c| c.is_ascii_alphabetic());
    let between = if are_letters { "" } else { " " };
    format!("B{between}{flags}")
}

/// The variables that the `cc` and `pkg-config` crates read, in their order of precedence.
fn spellings(variable: &str) -> Vec<String> {
    let target = format!("{}-unknown-linux-gnu", env::consts::ARCH);
    vec![
        format!("{variable}_{target}"),
        format!("{variable}_{}", target.replace('-', "_")),
        format!("TARGET_{variable}"),
        format!("HOST_{variable}"),
        variable.to_owned(),
    ]
}

/// The names of all programs in `path` that recording programs replace.
fn names(path: &OsStr) -> BTreeSet<String> {
    env::split_paths(path)
        .filter_map(|folder| fs::read_dir(folder).ok())
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| tool(name).is_some())
        .collect()
}

/// `path` without the folder of recording compilers, so that the real ones are found.
pub(super) fn without(path: &OsStr, bin: &OsStr) -> OsString {
    let others = env::split_paths(path).filter(|folder| folder != Path::new(bin));
    env::join_paths(others.collect::<Vec<PathBuf>>()).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compilers_are_known_by_their_names() {
        for name in [
            "cc",
            "gcc",
            "gcc-12",
            "x86_64-linux-gnu-gcc-12",
            "musl-gcc",
            "clang-19",
            "c99-gcc",
        ] {
            assert_eq!(tool(name), Some(Tool::C), "{name}");
        }
        for name in ["c++", "g++-13", "clang++", "aarch64-linux-gnu-g++"] {
            assert_eq!(tool(name), Some(Tool::Cxx), "{name}");
        }
        for name in [
            "clang-format",
            "gcc-nm",
            "clang-cpp-19",
            "rustc",
            "winegcc",
            "distcc",
            "cargo-cegar",
        ] {
            assert_eq!(tool(name), None, "{name}");
        }
        assert_eq!(tool("x86_64-linux-gnu-pkg-config"), Some(Tool::PkgConfig));
        assert_eq!(tool("pkgconf"), Some(Tool::PkgConfig));
        assert_eq!(tool("gcc-ar-12"), Some(Tool::Archiver));
    }

    #[test]
    fn everything_is_made_anew() {
        assert_eq!(anew(""), "B ");
        assert_eq!(anew("ks -j4"), "Bks -j4");
        assert_eq!(anew("-j4 -Otarget"), "B -j4 -Otarget");
        assert_eq!(anew("CFLAGS=-O2"), "B CFLAGS=-O2");
    }

    #[test]
    fn the_real_compiler_is_looked_for_elsewhere() {
        let path = without("/a:/w/bin:/b".as_ref(), "/w/bin".as_ref());
        assert_eq!(path, OsString::from("/a:/b"));
    }
}
