//! Finds clang. LLVM 19 may not be able to read the bitcode of another version of clang, so the
//! version is checked before anything is compiled.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use super::CompileError;
use crate::store;

/// A clang 19.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compiler {
    /// The program.
    pub path: PathBuf,
    /// The first line of its `--version`.
    pub version: String,
}

impl Compiler {
    /// Finds the clang named by `CEGAR_CLANG`, or else a clang 19 under its usual names and paths.
    pub fn find() -> Result<Self, CompileError> {
        Self::find_with(std::env::var_os("CEGAR_CLANG").map(PathBuf::from))
    }

    /// As [`Compiler::find`], but `chosen` (from the environment or a configuration file) takes
    /// precedence over the usual names. If the chosen compiler is not a clang 19, this is an error;
    /// no other compiler is used instead.
    pub fn find_with(chosen: Option<PathBuf>) -> Result<Self, CompileError> {
        if let Some(chosen) = chosen {
            let path = which::which(&chosen).map_err(|_| CompileError::NoClang {
                looked_for: format!("`{}`, as CEGAR_CLANG or cegar.toml says", chosen.display()),
            })?;
            return Self::at(&path);
        }
        if let Ok(path) = which::which("clang-19") {
            return Self::at(&path);
        }
        let usual = [
            "/usr/lib/llvm-19/bin/clang",
            "/usr/local/opt/llvm@19/bin/clang",
        ];
        // An empty PATH means that no program outside of it is to be used.
        let installed = std::env::var_os("PATH").is_some_and(|path| !path.is_empty());
        if let Some(path) = usual
            .iter()
            .map(Path::new)
            .find(|path| installed && path.is_file())
        {
            return Self::at(path);
        }
        match which::which("clang") {
            Ok(path) => Self::at(&path),
            Err(_) => Err(CompileError::NoClang {
                looked_for: "clang-19, clang".to_owned(),
            }),
        }
    }

    fn at(path: &Path) -> Result<Self, CompileError> {
        let memo = memo(path);
        let known = memo
            .as_ref()
            .and_then(|memo| std::fs::read_to_string(memo).ok());
        let (version, is_new) = match known.filter(|text| is_right(text)) {
            Some(version) => (version, false),
            None => (ask(path)?, true),
        };
        let path = path.to_owned();
        if !is_right(&version) {
            return Err(CompileError::WrongClang {
                path,
                found: version,
            });
        }
        if let Some(memo) = memo.filter(|_| is_new) {
            remember(&memo, &version);
        }
        Ok(Compiler { path, version })
    }
}

/// The first line of a compiler's version output.
fn ask(path: &Path) -> Result<String, CompileError> {
    let output = Command::new(path)
        .arg("--version")
        .output()
        .map_err(|source| CompileError::Io {
            action: "run",
            path: path.to_owned(),
            source,
        })?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().next().unwrap_or("not a compiler");
    Ok(line.trim().to_owned())
}

/// The file in which the version of this executable is stored, since asking clang for it takes as
/// long as compiling a small file. `None` if the program is not clang itself but, for example, a
/// script or `ccache`, which may start another clang later.
fn memo(path: &Path) -> Option<PathBuf> {
    let program = path.canonicalize().ok()?;
    let mut magic = [0; 4];
    let mut file = std::fs::File::open(&program).ok()?;
    file.read_exact(&mut magic).ok()?;
    let about = file.metadata().ok()?;
    let changed = about.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    let key = format!("{} {} {changed:?}", program.display(), about.len());
    let name = program.file_name()?.to_string_lossy();
    let is_clang = magic == *b"\x7fELF" && name.starts_with("clang");
    let folder = store::cache().filter(|_| is_clang)?.join("compilers");
    Some(folder.join(store::entry_name(key.as_bytes())))
}

/// Stores a version. If this fails, the next run asks again.
fn remember(memo: &Path, version: &str) {
    if memo
        .parent()
        .is_some_and(|folder| store::writable_dir(folder).is_ok())
    {
        let _ = store::write(memo, version.as_bytes());
    }
}

/// Whether this is the version whose bitcode can be read.
fn is_right(version: &str) -> bool {
    major_version(version) == Some(19)
}

/// The major version, for example 19 in `Debian clang version 19.1.7 (3)`.
fn major_version(line: &str) -> Option<u32> {
    let (_, after) = line.split_once("clang version ")?;
    after.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        assert_eq!(
            major_version("Debian clang version 19.1.7 (3~deb12u1)"),
            Some(19)
        );
        assert_eq!(major_version("clang version 20.0.0"), Some(20));
        assert_eq!(major_version("gcc (Debian 12.2.0) 12.2.0"), None);
    }

    #[test]
    fn a_chosen_compiler_is_not_replaced() {
        let missing = Compiler::find_with(Some("/no/such/clang".into()));
        assert!(matches!(missing, Err(CompileError::NoClang { .. })));
    }
}
