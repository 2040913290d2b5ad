//! Finding clang. Bitcode has a version: what another clang writes, LLVM 19 may not read, so the
//! version is asked for before anything is compiled.

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
    /// The clang named by `CEGAR_CLANG`, else `clang-19`, else a `clang` that is version 19.
    pub fn find() -> Result<Self, CompileError> {
        Self::find_with(std::env::var_os("CEGAR_CLANG").map(PathBuf::from))
    }

    /// As [`Compiler::find`], with `chosen` (from a configuration file) before the usual names. A
    /// chosen compiler that is not a clang 19 is an error; another one is not silently taken
    /// instead.
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
        // An emptied PATH means that nothing outside of it is wanted.
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

/// The first line of what a compiler says of its version.
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

/// Where the version of this very file is remembered: to ask a clang takes as long as to compile a
/// small file. None for what is no clang itself (a script, `ccache`), and may start another one
/// tomorrow.
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

/// Remembers a version. Where that fails the next run asks again.
fn remember(memo: &Path, version: &str) {
    if memo
        .parent()
        .is_some_and(|folder| store::writable_dir(folder).is_ok())
    {
        let _ = store::write(memo, version.as_bytes());
    }
}

/// Whether a version is the one whose bitcode is read here.
fn is_right(version: &str) -> bool {
    major_version(version) == Some(19)
}

/// The 19 of `Debian clang version 19.1.7 (3)`.
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
