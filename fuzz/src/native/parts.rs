//! Compiles a program to one object, or a large program to the objects of its parts, in parallel.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::divide::Division;
use super::instrument::Instrumented;
use super::objects::Objects;
use super::process::{check, execute};
use super::{Kind, TargetBuilder, TargetError};

/// The progress of the compilers: how many parts of programs are compiled, and how many have to be
/// compiled, as far as that is known.
#[derive(Debug, Default)]
pub struct Progress {
    done: AtomicU32,
    total: AtomicU32,
}

impl Progress {
    /// The number of compiled parts, and the number of all parts.
    pub fn get(&self) -> (u32, u32) {
        (
            self.done.load(Ordering::Relaxed),
            self.total.load(Ordering::Relaxed),
        )
    }

    pub(super) fn add(&self, parts: usize) {
        self.total.fetch_add(parts as u32, Ordering::Relaxed);
    }

    pub(super) fn one_more(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}

/// The input of a compilation.
pub(super) enum Input<'a, 't> {
    /// A divided program.
    Parts {
        division: &'a Division<'t>,
        instrumented: &'a Instrumented,
    },
    /// Bitcode.
    Whole(&'a [u8]),
}

/// A text to compile, and the keys of its functions by name.
type Work = (BTreeMap<String, String>, String);

impl TargetBuilder {
    /// Compiles a program to objects in `scratch`.
    pub(super) fn program(
        &self,
        kind: Kind,
        input: Input<'_, '_>,
        scratch: &Path,
    ) -> Result<Vec<PathBuf>, TargetError> {
        match input {
            Input::Parts {
                division,
                instrumented,
            } => self.parts(kind, division, instrumented, scratch),
            Input::Whole(bitcode) => self.whole(kind, bitcode, scratch),
        }
    }

    /// Compiles a program as a whole.
    fn whole(
        &self,
        kind: Kind,
        bitcode: &[u8],
        scratch: &Path,
    ) -> Result<Vec<PathBuf>, TargetError> {
        let (source, object) = (scratch.join("program.bc"), scratch.join("program.o"));
        fs::write(&source, bitcode).map_err(TargetError::file(&source))?;
        let mut compile = self.clang([self.opt(kind), "-fPIC", "-Wno-override-module", "-c", "-o"]);
        compile.extend([object.clone().into(), source.into()]);
        self.progress.add(1);
        execute(&compile, &self.stop)?;
        self.progress.one_more();
        Ok(vec![object])
    }

    /// Compiles the parts of a divided program.
    fn parts(
        &self,
        kind: Kind,
        division: &Division<'_>,
        instrumented: &Instrumented,
        scratch: &Path,
    ) -> Result<Vec<PathBuf>, TargetError> {
        let flags = self.part_flags(kind);
        let objects = self.kept(kind, &flags);
        let data = division.data(&instrumented.function_numbers);
        let (mut all, mut work): (Vec<PathBuf>, Vec<Work>) = Default::default();
        let made = match &objects {
            Some(objects) => {
                let chosen = objects.choose(&division.wanted(), scratch);
                all.extend(chosen.objects);
                chosen.functions
            }
            None => Default::default(),
        };
        check(&self.stop)?;
        match objects.as_ref().and_then(|all| all.find(&data, scratch)) {
            Some(object) => all.push(object),
            None => work.push((BTreeMap::new(), data)),
        }
        let parts = division.parts(&made);
        work.extend(parts.into_iter().map(|part| (part.functions, part.text)));
        tracing::info!(
            product = kind.file_name(),
            kept = all.len(),
            compiled = work.len(),
            "parts"
        );
        self.progress.add(work.len());
        all.extend(self.compile_all(&work, &flags, objects.as_ref(), scratch)?);
        if let Some(objects) = &objects {
            objects.clear();
        }
        Ok(all)
    }

    fn part_flags(&self, kind: Kind) -> [OsString; 6] {
        let opt = self.opt(kind).to_owned();
        let flags = [
            "-fPIC",
            "-Wno-override-module",
            // The linker drops the functions of an object that the program does not use.
            "-ffunction-sections",
            "-fdata-sections",
            "-c",
        ];
        let [pic, quiet, functions, data, compile] = flags.map(OsString::from);
        [opt.into(), pic, quiet, functions, data, compile]
    }

    /// The cache of objects. None without a cache folder, whose name identifies the compiler's
    /// version.
    fn kept(&self, kind: Kind, flags: &[OsString]) -> Option<Objects> {
        let (folder, cache) = (self.objects.as_ref()?, self.cache.as_ref()?);
        let mut how = vec![
            cache.as_os_str().as_encoded_bytes(),
            self.clang.as_os_str().as_encoded_bytes(),
            kind.file_name().as_bytes(),
        ];
        how.extend(flags.iter().map(|flag| flag.as_encoded_bytes()));
        Some(Objects::new(folder, &how))
    }

    /// Compiles the parts in parallel, on at most `jobs` threads.
    fn compile_all(
        &self,
        work: &[Work],
        flags: &[OsString],
        objects: Option<&Objects>,
        scratch: &Path,
    ) -> Result<Vec<PathBuf>, TargetError> {
        let next = AtomicUsize::new(0);
        let is_over = AtomicBool::new(false);
        let failed = Mutex::new(None);
        let compile = |number: usize, (functions, text): &Work| -> Result<(), TargetError> {
            let (source, object) = (ir(scratch, number), object(scratch, number));
            fs::write(&source, text).map_err(TargetError::file(&source))?;
            let mut command = vec![OsString::from(&self.clang)];
            command.extend(flags.iter().cloned());
            command.extend(["-o".into(), object.clone().into(), source.clone().into()]);
            execute(&command, &self.stop)?;
            // The file is large, and the disk may be small.
            let _ = fs::remove_file(&source);
            if let Some(objects) = objects
                && let Err(why) = objects.keep(text, functions, &object)
            {
                tracing::warn!(%why, "an object is not kept");
            }
            self.progress.one_more();
            Ok(())
        };
        let one = || {
            while !is_over.load(Ordering::Relaxed) {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(part) = work.get(number) else { break };
                if let Err(why) = compile(number, part) {
                    is_over.store(true, Ordering::Relaxed);
                    failed
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .get_or_insert(why);
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.clamp(1, work.len().max(1)) {
                scope.spawn(one);
            }
        });
        match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(why) => Err(why),
            None => Ok((0..work.len())
                .map(|number| object(scratch, number))
                .collect()),
        }
    }
}

fn ir(scratch: &Path, number: usize) -> PathBuf {
    scratch.join(format!("part-{number}.ll"))
}

fn object(scratch: &Path, number: usize) -> PathBuf {
    scratch.join(format!("part-{number}.o"))
}
