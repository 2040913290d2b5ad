//! A cache of compiler capabilities and object files.
//!
//! Each entry is named by a hash of everything that it depends on: the compiler's file (its path,
//! size and modification time), its arguments and the text of the sources. An entry appears under
//! its name only when it is complete.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::BuildError;
use super::tools::{Stop, run_until};

/// A folder for results, or none if nothing is cached.
pub(crate) struct Cache {
    folder: Option<PathBuf>,
}

/// A hash that names a result. It combines two hashes with different starts, since 64 bits are too
/// few to rule out collisions.
pub(crate) fn name(parts: &[&[u8]]) -> String {
    let round = |start: u8| {
        let mut hasher = DefaultHasher::new();
        start.hash(&mut hasher);
        parts.hash(&mut hasher);
        hasher.finish()
    };
    format!("{:016x}{:016x}", round(0), round(1))
}

/// The compiler's file and its arguments, so that a new version of the compiler has a new identity.
fn identity(compiler: &cc::Tool) -> Vec<u8> {
    let path = compiler.path();
    let found = if path.components().count() > 1 {
        Some(path.to_owned())
    } else {
        std::env::var_os("PATH").and_then(|all| {
            std::env::split_paths(&all)
                .map(|folder| folder.join(path))
                .find(|file| file.is_file())
        })
    };
    let about = found
        .and_then(|file| std::fs::canonicalize(file).ok())
        .and_then(|file| {
            let metadata = std::fs::metadata(&file).ok()?;
            Some((file, metadata.len(), metadata.modified().ok()))
        });
    format!("{path:?} {about:?} {:?}", compiler.args()).into_bytes()
}

impl Cache {
    /// A cache in this folder. Without a folder, if it cannot be created.
    pub fn new(folder: &Path) -> Cache {
        let is_there = std::fs::create_dir_all(folder).is_ok();
        Cache {
            folder: is_there.then(|| folder.to_owned()),
        }
    }

    /// Whether this compiler can do `what`; runs `try_it` if the answer is not cached.
    pub fn can(&self, compiler: &cc::Tool, what: &str, try_it: impl FnOnce() -> bool) -> bool {
        let Some(folder) = &self.folder else {
            return try_it();
        };
        let name = name(&[&identity(compiler), what.as_bytes()]);
        let file = folder.join(format!("can-{name}"));
        match std::fs::read(&file).as_deref() {
            Ok(b"yes") => return true,
            Ok(b"no") => return false,
            _ => {}
        }
        let can = try_it();
        // If the write fails, the next build tries again.
        let _ = std::fs::write(&file, if can { "yes" } else { "no" });
        can
    }

    /// The object files of `sources`. Those that are not cached are compiled in parallel. The
    /// headers that they include must be among `texts`, whose content is part of the name. Without
    /// a cache folder the objects are written to `out`.
    pub fn objects(
        &self,
        compiler: &cc::Tool,
        sources: &[PathBuf],
        texts: &[&str],
        depends_on: &str,
        (out, stop): (&Path, &Stop),
    ) -> Result<Vec<PathBuf>, BuildError> {
        let io = |path: &Path| {
            let path = path.to_owned();
            move |why| BuildError::Io { path, why }
        };
        let folder = self.folder.as_deref().unwrap_or(out);
        std::fs::create_dir_all(folder).map_err(io(folder))?;
        let mut parts: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
        parts.push(depends_on.as_bytes());
        let name = name(&parts);
        let mut all = Vec::with_capacity(sources.len());
        let mut missing = Vec::new();
        for source in sources {
            let stem = source.file_stem().unwrap_or_default().to_string_lossy();
            let object = folder.join(format!("{name}-{stem}.o"));
            if self.folder.is_none() || !object.is_file() {
                missing.push((source, object.clone()));
            }
            all.push(object);
        }
        let compile = |source: &Path, object: &Path| -> Result<(), BuildError> {
            let made = object.with_extension(format!("{}.tmp", std::process::id()));
            let mut command: Command = compiler.to_command();
            run_until(command.arg("-c").arg(source).arg("-o").arg(&made), stop)?;
            std::fs::rename(&made, object).map_err(io(object))
        };
        let (next, failed) = (AtomicUsize::new(0), Mutex::new(None));
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            for _ in 0..threads.min(missing.len()) {
                scope.spawn(|| {
                    while let Some((source, object)) =
                        missing.get(next.fetch_add(1, Ordering::Relaxed))
                    {
                        if let Err(why) = compile(source, object) {
                            *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
                            return;
                        }
                    }
                });
            }
        });
        match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(why) => Err(why),
            None => Ok(all),
        }
    }

    /// What the objects of a compiler depend on. The path `scratch` is removed from the arguments,
    /// since the content of that folder is among the texts anyway.
    pub fn depends_on(compiler: &cc::Tool, scratch: &Path) -> String {
        let text = String::from_utf8_lossy(&identity(compiler)).into_owned();
        text.replace(&scratch.display().to_string(), "")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_kept_and_belongs_to_its_question() {
        let folder = std::env::temp_dir().join(format!("cegar-cache-{}", std::process::id()));
        let cache = Cache::new(&folder);
        let mut build = cc::Build::new();
        build
            .target("x86_64-unknown-linux-gnu")
            .host("x86_64-unknown-linux-gnu")
            .opt_level(0)
            .cargo_metadata(false);
        let compiler = build.try_get_compiler().expect("a C compiler");
        assert!(cache.can(&compiler, "a", || true));
        assert!(cache.can(&compiler, "a", || false));
        assert!(!cache.can(&compiler, "b", || false));
        std::fs::remove_dir_all(folder).expect("removed");
    }

    #[test]
    fn names_depend_on_every_part() {
        assert_ne!(name(&[b"a", b"b"]), name(&[b"ab", b""]));
        assert_ne!(name(&[b"a"]), name(&[b"b"]));
    }
}
