//! A cache of bitcode.
//!
//! An entry's name is a hash of the compiler, the file's path and its flags. Beside the bitcode
//! there is a list of every file that was read to make it (clang's own dependency list) with the
//! hash of its content, and the hash of the preprocessed text. The entry is fresh if all files
//! still have that content, and the preprocessor still produces the same text: a new header that
//! comes first on the search path, or an include path in the environment, changes none of the files
//! that were read. The files are compared in addition because the text does not include columns.
//! Timestamps do not matter, so a fresh checkout or a touched header causes no compilation. The
//! hash of the bitcode itself is stored too: caches are copied between machines, and LLVM does not
//! survive every kind of damage.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{fs, io};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Compiler, Unit};
use crate::store;

/// What must be unchanged for bitcode to be reused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fresh {
    /// The files that were read. Used for the stub library, whose search path is known; it has some
    /// fifty files in each campaign.
    Files,
    /// The files and the preprocessed text.
    Text,
}

/// The cache entry of one unit.
pub(super) struct Entry {
    /// The bitcode file.
    pub bitcode: PathBuf,
    directory: PathBuf,
    list: PathBuf,
    /// The hash of the current preprocessed text. Empty if only files are compared, `None` if clang
    /// rejects the file.
    text: Option<String>,
    /// Properties of the files that clang reads.
    said: Said,
}

/// Properties of the files that clang reads.
#[derive(Clone, Copy, Default)]
struct Said {
    /// Whether a file mentions sanitizers.
    sanitizers: bool,
    /// Whether a file tests if `no_sanitize` is a macro.
    no_sanitize: bool,
}

#[derive(Serialize, Deserialize)]
struct List {
    /// The files and the hashes of their contents.
    files: BTreeMap<PathBuf, String>,
    /// The hash of the bitcode.
    #[serde(default)]
    bitcode: String,
    /// The hash of the preprocessed text.
    #[serde(default)]
    text: Option<String>,
    /// The compiler's warnings, to be repeated when the entry is reused.
    warnings: String,
}

impl Entry {
    pub fn new(
        out_dir: &Path,
        compiler: &Compiler,
        unit: &Unit,
        args: &[String],
        fresh: Fresh,
    ) -> Self {
        let mut hash = Sha256::new();
        for part in [
            compiler.path.as_os_str(),
            unit.source.as_os_str(),
            unit.directory.as_os_str(),
        ] {
            hash.update(part.as_encoded_bytes());
            hash.update([0]);
        }
        for part in std::iter::once(&compiler.version).chain(args) {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        let key = store::hex(&hash.finalize()[..8]);
        let stem = unit
            .source
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy();
        let (text, said) = match fresh {
            Fresh::Files => (Some(String::new()), Said::default()),
            Fresh::Text => {
                let list = scratch(&out_dir.join(format!("{stem}-{key}.bc")), "read");
                let text = preprocessed(compiler, unit, args, Some(&list));
                let is_about = |flag: &String| !flag.starts_with("-f") && flag.contains("sanit");
                let mut said = said(&list, &unit.directory);
                said.sanitizers |= unit.flags.iter().any(is_about);
                // If removing fails, the list takes some space in the cache and is never read.
                let _ = fs::remove_file(&list);
                (text, said)
            }
        };
        Entry {
            bitcode: out_dir.join(format!("{stem}-{key}.bc")),
            list: out_dir.join(format!("{stem}-{key}.json")),
            directory: unit.directory.clone(),
            text,
            said,
        }
    }

    /// Whether a file that clang reads tests if `no_sanitize` is a macro.
    pub fn asks_for_the_word(&self) -> bool {
        self.said.no_sanitize
    }

    /// The stored warnings, if nothing has changed since.
    pub fn fresh(&self) -> Option<String> {
        if !self.bitcode.is_file() || self.text.is_none() {
            return None;
        }
        let list: List = serde_json::from_str(&fs::read_to_string(&self.list).ok()?).ok()?;
        if self.text != list.text || content_hash(&self.bitcode).ok()? != list.bitcode {
            return None;
        }
        let same = |(path, hash): (&PathBuf, &String)| {
            content_hash(&self.directory.join(path)).is_ok_and(|now| now == *hash)
        };
        list.files.iter().all(same).then_some(list.warnings)
    }

    /// For a file that tests whether it is sanitized, the preprocessed text without sanitizers,
    /// since they are only the engine's way to have checks inserted. `None` for any other file. The
    /// list of the files that are read is written to `dependencies`.
    pub fn text_without_sanitizers(
        &self,
        compiler: &Compiler,
        unit: &Unit,
        args: &[String],
        dependencies: &Path,
    ) -> io::Result<Option<PathBuf>> {
        // `-Xclang` takes the next argument as its own, so `-fsanitize-address-...` must stay.
        let is_sanitizer =
            |arg: &&String| arg.starts_with("-fsanitize=") || arg.starts_with("-fsanitize-trap");
        let others = args.iter().filter(|arg| !is_sanitizer(arg));
        let others: Vec<String> = others.cloned().collect();
        let is_own = self.text.as_ref().is_some_and(|text| !text.is_empty());
        let asks = is_own
            && self.said.sanitizers
            && others.len() < args.len()
            && preprocessed(compiler, unit, &others, None) != self.text;
        if !asks {
            return Ok(None);
        }
        let text = self.scratch("i");
        let made = Command::new(&compiler.path)
            .current_dir(&unit.directory)
            .args(&others)
            .args(["-E", "-MD", "-MF"])
            .arg(dependencies)
            .arg("-o")
            .arg(&text)
            .arg(&unit.source)
            .output()?;
        // Clang reports errors in the file when it compiles it.
        Ok(made.status.success().then_some(text))
    }

    /// A path beside the entry that is unique to this process and call.
    pub fn scratch(&self, extension: &str) -> PathBuf {
        scratch(&self.bitcode, extension)
    }

    /// Moves the compiler's output into place. The list is written last, since the entry is not
    /// fresh without it.
    pub fn keep(&self, made: &Path, dependencies: &Path, warnings: &str) -> io::Result<()> {
        let text = fs::read_to_string(dependencies)?;
        fs::remove_file(dependencies)?;
        let mut files = BTreeMap::new();
        for path in parse_dependencies(&text) {
            let hash = content_hash(&self.directory.join(&path))?;
            files.insert(path, hash);
        }
        let list = serde_json::to_string(&List {
            files,
            bitcode: content_hash(made)?,
            text: self.text.clone(),
            warnings: warnings.to_owned(),
        })?;
        let _ = fs::remove_file(&self.list);
        fs::rename(made, &self.bitcode)?;
        fs::write(&self.list, list)
    }
}

/// A path beside a file that is unique to this process and call.
fn scratch(beside: &Path, extension: &str) -> PathBuf {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    beside.with_extension(format!("{}-{number}.{extension}", std::process::id()))
}

/// Examines the files in clang's dependency list, relative to `folder`. If none mentions sanitizers
/// (`__has_feature`, `__SANITIZE_ADDRESS__`), the preprocessor produces the same text with and
/// without them.
fn said(list: &Path, folder: &Path) -> Said {
    let Ok(list) = fs::read_to_string(list) else {
        return Said {
            sanitizers: true,
            ..Said::default()
        };
    };
    let mut said = Said::default();
    for path in parse_dependencies(&list) {
        let Ok(text) = fs::read(folder.join(path)) else {
            said.sanitizers = true;
            continue;
        };
        if !has(&text, b"sanit") {
            continue;
        }
        said.sanitizers = true;
        let mut lines = text.split(|byte| *byte == b'\n');
        said.no_sanitize |= lines.any(asks_for_the_word);
    }
    said
}

/// Whether a line tests if `no_sanitize` is a macro: `#ifdef no_sanitize`, but not `#if
/// __has_attribute(no_sanitize)`.
fn asks_for_the_word(line: &[u8]) -> bool {
    if !line.trim_ascii_start().starts_with(b"#") || !has(line, b"no_sanitize") {
        return false;
    }
    let solid = line.iter().filter(|byte| !byte.is_ascii_whitespace());
    let solid: Vec<u8> = solid.copied().collect();
    ["ifdef", "ifndef", "defined", "defined("]
        .iter()
        .any(|how| {
            let words = ["no_sanitize", "__no_sanitize__"].map(|word| format!("{how}{word}"));
            words.iter().any(|words| has(&solid, words.as_bytes()))
        })
}

/// Whether a text contains a word, ignoring case.
fn has(text: &[u8], word: &[u8]) -> bool {
    let mut parts = text.windows(word.len());
    parts.any(|part| part.eq_ignore_ascii_case(word))
}

/// The hash of the preprocessed text of a file, without line markers. The list of the files that
/// are read is written to `list`. It is computed before the bitcode, so that a file that is saved
/// in between makes the entry stale.
fn preprocessed(
    compiler: &Compiler,
    unit: &Unit,
    args: &[String],
    list: Option<&Path>,
) -> Option<String> {
    let mut command = Command::new(&compiler.path);
    command
        .current_dir(&unit.directory)
        .args(args)
        // Given several actions, clang performs the earliest phase, which is this one.
        .args(["-E", "-P", "-o", "-"])
        .arg(&unit.source);
    if let Some(list) = list {
        command.args(["-MD", "-MF"]).arg(list);
    }
    let output = command.output().ok()?;
    let made = output.status.success();
    made.then(|| store::hex(&Sha256::digest(&output.stdout)))
}

fn content_hash(path: &Path) -> io::Result<String> {
    Ok(store::hex(&Sha256::digest(fs::read(path)?)))
}

/// The files after the colon of a make rule. A space in a name is written as `\ `, and a line
/// continues after `\`.
pub(crate) fn parse_dependencies(text: &str) -> Vec<PathBuf> {
    let Some((_, after)) = text.split_once(": ") else {
        return Vec::new();
    };
    let (mut files, mut name) = (Vec::new(), String::new());
    let mut characters = after.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '\\' => match characters.next() {
                Some('\n') | None => {}
                Some(escaped @ (' ' | '#' | '\\')) => name.push(escaped),
                Some(other) => name.extend(['\\', other]),
            },
            '$' if characters.peek() == Some(&'$') => {
                characters.next();
                name.push('$');
            }
            c if c.is_whitespace() => {
                if !name.is_empty() {
                    files.push(PathBuf::from(std::mem::take(&mut name)));
                }
            }
            c => name.push(c),
        }
    }
    if !name.is_empty() {
        files.push(PathBuf::from(name));
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn make_rules_are_read() {
        let files = parse_dependencies("out.bc: a.c \\\n  dir/with\\ blank.h \\\n  c$$.h\n");
        let files: Vec<_> = files.iter().map(|f| f.to_string_lossy()).collect();
        assert_eq!(files, ["a.c", "dir/with blank.h", "c$.h"]);
    }
}
