//! The C runtime's object files.
//!
//! They are the same for every program and take longer to compile than a small program, so they are
//! cached under the hash of everything that they are made from. An object appears under its name
//! only when it is complete, so concurrent builds do no harm.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use cegar_stubs::Role;
use sha2::{Digest, Sha256};

use super::process::execute;
use super::{Kind, TargetBuilder, TargetError};

/// The C sources of this crate, by the kind of product that links them.
const RUNNER_C: &str = include_str!("../../runtime/runner.c");
const COMPARISONS_C: &str = include_str!("../../runtime/cegar_cmp.c");

/// Warnings are disabled: they concern developers of the runtime, not its users.
const FLAGS: [&str; 5] = ["-w", "-O2", "-g", "-fPIC", "-fno-omit-frame-pointer"];

fn flags(kind: Kind) -> Vec<&'static str> {
    let mut flags = FLAGS.to_vec();
    if kind == Kind::RunnerAsan {
        flags.push("-fsanitize=address");
    }
    flags
}

impl TargetBuilder {
    /// A hash of everything that the runtime's objects for this kind of product are made from.
    pub(super) fn runtime_digest(&self, kind: Kind) -> String {
        let mut hash = Sha256::new();
        let mut add = |part: &[u8]| {
            hash.update(part);
            hash.update([0]);
        };
        add(self.clang.as_os_str().as_encoded_bytes());
        flags(kind).iter().for_each(|flag| add(flag.as_bytes()));
        // Any source may include any other.
        for source in cegar_stubs::sources() {
            add(source.name.as_bytes());
            add(source.text.as_bytes());
        }
        for text in [RUNNER_C, COMPARISONS_C] {
            add(text.as_bytes());
        }
        crate::hex(&hash.finalize()[..8])
    }

    /// The object files of the runtime for this kind of product. Those that are not cached are
    /// compiled. Without a cache they are written to `scratch`.
    pub(super) fn runtime(&self, kind: Kind, scratch: &Path) -> Result<Vec<PathBuf>, TargetError> {
        let own = match kind {
            Kind::Comparisons => Some(("cegar_cmp.c", COMPARISONS_C)),
            Kind::Runner | Kind::RunnerAsan => Some(("runner.c", RUNNER_C)),
            Kind::Fast => None,
        };
        let flags = flags(kind);
        let name = self.runtime_digest(kind);
        let mut sources: Vec<&str> = cegar_stubs::sources()
            .iter()
            .filter(|source| {
                let is_wanted = match source.role {
                    Role::Runtime | Role::RuntimeTape => true,
                    Role::RuntimeWatched => kind == Kind::RunnerAsan,
                    _ => false,
                };
                is_wanted && source.name.ends_with(".c")
            })
            .map(|source| source.name)
            .collect();
        sources.extend(own.map(|(name, _)| name));
        let kept = self.cache.as_ref().map(|cache| cache.join(name));
        let objects = match kept {
            Some(folder) if fs::create_dir_all(&folder).is_ok() => folder,
            _ => scratch.to_owned(),
        };
        let object = |source: &&str| {
            let file = Path::new(source).with_extension("o");
            objects.join(file.file_name().unwrap_or_default())
        };
        let all: Vec<PathBuf> = sources.iter().map(object).collect();
        sources.retain(|source| !object(source).is_file());
        if sources.is_empty() {
            return Ok(all);
        }

        // The sources are embedded in this executable, so that their version matches. They are
        // written to a scratch folder, since another process may compile the same objects.
        let folder = scratch.join("runtime");
        cegar_stubs::write_sources(&folder).map_err(TargetError::file(&folder))?;
        if let Some((name, text)) = own {
            let path = folder.join(name);
            fs::write(&path, text).map_err(TargetError::file(&path))?;
        }
        let compile = |source: &str| self.object(&folder, source, &object(&source), &flags);
        std::thread::scope(|scope| {
            let compiling: Vec<_> = sources
                .iter()
                .map(|source| scope.spawn(|| compile(source)))
                .collect();
            compiling.into_iter().try_for_each(|one| match one.join() {
                Ok(made) => made,
                Err(panic) => std::panic::resume_unwind(panic),
            })
        })?;
        Ok(all)
    }

    /// Compiles `source`, a file in `folder`, to `object`.
    fn object(
        &self,
        folder: &Path,
        source: &str,
        object: &Path,
        flags: &[&str],
    ) -> Result<(), TargetError> {
        let beside = object.parent().unwrap_or(object);
        let made = tempfile::Builder::new()
            .prefix(".object-")
            .tempfile_in(beside)
            .map_err(TargetError::file(beside))?;
        let mut command = self.clang(["-c"]);
        command.extend(flags.iter().map(OsString::from));
        command.extend([OsString::from("-I"), folder.join("src").into()]);
        command.extend([OsString::from("-o"), made.path().as_os_str().to_owned()]);
        command.push(folder.join(source).into());
        execute(&command, &self.stop)?;
        made.persist(object)
            .map_err(|e| TargetError::file(object)(e.error))?;
        Ok(())
    }
}
