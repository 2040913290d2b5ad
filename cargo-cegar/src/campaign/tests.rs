//! Turns a finding into a test that has been seen to fail.
//!
//! The generated package builds an executable from the user's C code with the user's compiler,
//! without LLVM's bitcode or the instrumentation that found the fault. A test is written only if
//! the finding still shows in it, so the same executable is built here first, by the same code, and
//! run in the mock environment.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use cegar_harness::build::{Build, BuildError, MockedFunction, Unit};
use cegar_model::program::Property;
use cegar_model::program::normalise::Entry;

use super::findings::Confirmed;
use super::prepare::{Prepared, timed};
use crate::emit::{self, Dependency, EmitError, Emitted, standalone};
use crate::error::Error;
use crate::event::{Event, Level, TestRef};
use crate::findings::{Record, Standing};
use crate::options::Harness;

/// Where tests are written.
#[derive(Clone, Copy, Debug)]
pub enum Where<'a> {
    /// A separate package made for a single check: the first of these folders that contains no
    /// tests of another program at the time of writing. The slice is not empty.
    Standalone(&'a [PathBuf]),
    /// The `cegar/` package of a crate.
    Package(&'a Path),
    /// A folder with the same structure as the package, for use with a package that is only read:
    /// its contents can be copied over the package.
    Beside {
        /// The `cegar/` package.
        package: &'a Path,
        /// Where tests are written.
        folder: &'a Path,
        /// The list of the library's files, if the package's own list belongs to another build.
        captured: Option<&'a Path>,
    },
}

/// Writes tests for one harness.
pub struct Tests<'a> {
    place: Where<'a>,
    harness: &'a Harness,
    entry: Option<String>,
    mocked: Vec<MockedFunction>,
    argv: usize,
    scratch: PathBuf,
    cache: PathBuf,
    objects: PathBuf,
    ends: (&'a AtomicBool, Option<Instant>),
    runner: Option<PathBuf>,
    made: bool,
    /// The index of the chosen folder for a standalone package.
    chosen: usize,
}

/// How often it is checked whether a build is still needed.
const GLANCE: Duration = Duration::from_millis(20);

impl<'a> Tests<'a> {
    /// Creates a writer for a prepared harness.
    pub fn new(
        place: Where<'a>,
        harness: &'a Harness,
        prepared: &Prepared,
        scratch: &Path,
    ) -> Tests<'a> {
        Tests {
            place,
            harness,
            entry: match &prepared.entry {
                Entry::Function(name) => Some(name.clone()),
                Entry::Main | Entry::Fuzzer => None,
            },
            mocked: prepared.externals.functions.clone(),
            argv: prepared.argv,
            scratch: scratch.join("test"),
            cache: prepared.cache.join("test"),
            objects: scratch.join("test-objects"),
            ends: (&NEVER, None),
            runner: None,
            made: false,
            chosen: 0,
        }
    }

    /// Makes the build of the executable end with Ctrl-C and when the time is up, and stores
    /// objects in the folder `common`, which all harnesses share.
    pub(super) fn until(
        mut self,
        ends: (&'a AtomicBool, Option<Instant>),
        common: &Path,
    ) -> Tests<'a> {
        self.ends = ends;
        self.objects = common.join("test-objects");
        self
    }

    /// Whether the time is up.
    fn is_late(&self) -> bool {
        self.ends.1.is_some_and(|until| Instant::now() >= until)
    }

    /// Runs long work, and sets `stop` once its result is no longer needed.
    fn interruptible<T>(&self, stop: &AtomicBool, work: impl FnOnce() -> T) -> T {
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    if self.is_late() || self.ends.0.load(Ordering::Relaxed) {
                        stop.store(true, Ordering::Relaxed);
                        return;
                    }
                    std::thread::sleep(GLANCE);
                }
            });
            let result = work();
            done.store(true, Ordering::Relaxed);
            result
        })
    }

    fn described(&self, confirmed: &Confirmed) -> emit::Finding {
        emit::Finding {
            harness: self.harness.name.clone(),
            test: confirmed.finding.name.clone(),
            what: confirmed.finding.message.clone(),
            file: confirmed.finding.place.file.clone(),
            line: confirmed.finding.place.line,
            found_by: confirmed.finding.found_by.clone(),
            explanation: String::new(),
            events: confirmed.events.clone(),
            mocked: self.mocked.clone(),
        }
    }

    /// Whether the program fails on a finding's input when built like its test; `None` if it cannot
    /// be built so.
    pub fn shows(&mut self, confirmed: &Confirmed) -> Option<bool> {
        let finding = self.described(confirmed);
        let runner = self.runner().ok()?;
        Some(finding.replay(&runner).outcome().is_violation())
    }

    /// Writes the test of a finding if it fails, and returns the events about it.
    pub fn write(&mut self, confirmed: &Confirmed) -> Result<(Vec<Event>, Option<TestRef>), Error> {
        let finding = self.described(confirmed);
        if confirmed.finding.standing != Standing::New && self.exists(&finding.test) {
            // The test was already run before the search began.
            let file = emit::package::test_file(self.committed(), &self.harness.name);
            return Ok((
                Vec::new(),
                Some(TestRef {
                    file,
                    name: finding.test,
                }),
            ));
        }
        let runner = match self.runner() {
            Ok(runner) => runner,
            Err(why) => return Ok((vec![warning(format!("no test was written: {why}"))], None)),
        };
        let run = finding.replay(&runner);
        if !run.outcome().is_violation() {
            let why = format!(
                "no test was written for {}: built as a test builds it, the program does not fail \
                 on this input ({:?})",
                finding.test,
                run.outcome()
            );
            return Ok((vec![warning(why)], None));
        }
        let (_alone, folder) = self.claim()?;
        let file = emit::package::test_file(&folder, &self.harness.name);
        let emitted = emit::add_test(&folder, &finding)
            .map_err(|why| Error::engine("writing the test", why))?;
        let name = finding.test.clone();
        let event = match emitted {
            Emitted::Written => Event::TestWritten {
                file: file.clone(),
                name: name.clone(),
            },
            Emitted::AlreadyThere => Event::Note {
                level: Level::Info,
                message: format!("{} has the test {name} already", self.shown(&file)),
            },
            Emitted::EditedByUser => warning(format!(
                "{} has a test {name} that was edited: left as it is",
                self.shown(&file)
            )),
        };
        Ok((vec![event], Some(TestRef { file, name })))
    }

    /// The package whose tests are under version control.
    pub(super) fn committed(&self) -> &Path {
        match self.place {
            Where::Package(package) | Where::Beside { package, .. } => package,
            Where::Standalone(folders) => &folders[self.chosen],
        }
    }

    /// The target folder of cargo.
    pub(super) fn target(&self) -> PathBuf {
        // `target/cegar/HARNESS/test`.
        self.scratch
            .ancestors()
            .nth(3)
            .unwrap_or(&self.scratch)
            .to_owned()
    }

    /// Whether the package has a test of this name.
    fn exists(&self, test: &str) -> bool {
        let file = emit::package::test_file(self.committed(), &self.harness.name);
        crate::list::tests_of(&file)
            .iter()
            .any(|known| known == test)
    }

    /// Runs the choices of a record like its test.
    pub(super) fn rerun(&self, runner: &Path, record: &Record) -> cegar_harness::Run {
        let finding = emit::Finding {
            harness: self.harness.name.clone(),
            test: record.name.clone(),
            what: String::new(),
            file: String::new(),
            line: 0,
            found_by: String::new(),
            explanation: String::new(),
            events: record.events(),
            mocked: self.mocked.clone(),
        };
        finding.replay(runner)
    }

    /// The package's folder, created if necessary, and a lock that keeps other processes from the
    /// package's shared files until it is dropped: campaigns may run in parallel.
    pub(super) fn claim(&mut self) -> Result<(File, PathBuf), Error> {
        let failed = |why| Error::engine("writing the test package", why);
        let Where::Standalone(folders) = self.place else {
            let lock = self.lock_of_package()?;
            return Ok((lock, self.package()?));
        };
        loop {
            let folder = &folders[self.chosen];
            crate::store::writable_dir(folder)?;
            // Locks the folder itself, since the scratch folder belongs to this check alone.
            let lock = File::open(folder).map_err(|why| Error::io("open", folder, why))?;
            lock.lock().map_err(|why| Error::io("lock", folder, why))?;
            if self.made {
                return Ok((lock, folder.clone()));
            }
            let written = standalone::write(folder, &self.checked(), Dependency::of_this_tool());
            match written {
                // Another check has claimed the folder.
                Err(EmitError::OtherProgram { .. }) if self.chosen + 1 < folders.len() => {
                    self.chosen += 1;
                }
                Err(why) => return Err(failed(why)),
                Ok(_) => {
                    self.made = true;
                    return Ok((lock, folder.clone()));
                }
            }
        }
    }

    /// The description of the program for a standalone package.
    fn checked(&self) -> standalone::CheckedProgram {
        standalone::CheckedProgram {
            name: self.harness.name.clone(),
            units: self.units(),
            entry: self.entry.clone(),
            properties: self.properties(),
            argv: self.argv(),
            mocked: self.mocked.clone(),
        }
    }

    /// The lock of a crate's package. It is in the scratch folder of all harnesses, the parent of
    /// this harness's folder.
    fn lock_of_package(&self) -> Result<File, Error> {
        let own = self.scratch.parent().unwrap_or(&self.scratch);
        let path = own.with_file_name("emit.lock");
        let lock = File::create(&path).map_err(|why| Error::io("create", &path, why))?;
        lock.lock().map_err(|why| Error::io("lock", &path, why))?;
        Ok(lock)
    }

    /// The list of the library's files, if the package's own list belongs to another build.
    pub(super) fn captured(&self) -> Option<&'a Path> {
        match self.place {
            Where::Beside { captured, .. } => captured,
            _ => None,
        }
    }

    /// Where tests are written.
    fn folder(&self) -> &Path {
        match self.place {
            Where::Package(folder) | Where::Beside { folder, .. } => folder,
            Where::Standalone(folders) => &folders[self.chosen],
        }
    }

    /// The path of a file of the package as shown to users.
    fn shown(&self, file: &Path) -> String {
        let folder = self.folder();
        let above = folder.parent().unwrap_or(folder);
        file.strip_prefix(above)
            .unwrap_or(file)
            .display()
            .to_string()
    }

    /// The executable that a test would run, built on first use. `Err` says why it cannot be built.
    pub(super) fn runner(&mut self) -> Result<PathBuf, String> {
        if let Some(runner) = &self.runner {
            return Ok(runner.clone());
        }
        let out = self.scratch.clone();
        std::fs::create_dir_all(&out).map_err(|why| format!("{}: {why}", out.display()))?;
        let mut build = match self.place {
            Where::Package(package) | Where::Beside { package, .. } => {
                Build::from_package_with(package, "harnesses", self.captured())
                    .map_err(|why| why.to_string())?
                    .only(&self.harness.name)
            }
            Where::Standalone(_) => {
                let mut build = Build::new().harness(&self.harness.name);
                if let Some(entry) = &self.entry {
                    build = build.entry(entry);
                }
                build = build.argv(self.argv()).properties(&self.properties());
                self.units().into_iter().fold(build, Build::unit)
            }
        };
        for function in &self.mocked {
            build = build.mock(function.clone());
        }
        let stop = Arc::new(AtomicBool::new(false));
        let build = build.out_dir(&out).cache(&self.cache);
        let build = build.objects(&self.objects).stop(Arc::clone(&stop));
        let built = timed("building the test's executable", || {
            self.interruptible(&stop, || build.try_compile())
        })
        .map_err(|why| match why {
            BuildError::Interrupted if self.is_late() => {
                "the time was up before it was built; another run writes it".to_owned()
            }
            why => why.to_string(),
        })?;
        let runner = built
            .into_iter()
            .find(|built| built.harness == self.harness.name)
            .map(|built| built.runner)
            .ok_or_else(|| format!("{} is not among the package's harnesses", self.harness.name))?;
        self.runner = Some(runner.clone());
        Ok(runner)
    }

    /// The folder of a crate's package, created if necessary.
    fn package(&mut self) -> Result<PathBuf, Error> {
        let folder = self.folder().to_owned();
        if let (Where::Beside { package, .. }, false) = (self.place, self.made) {
            self.copy(package, &folder)?;
        }
        if !self.made && !self.mocked.is_empty() {
            self.write_mocks(&folder.join("mocks.json"))?;
        }
        self.made = true;
        Ok(folder)
    }

    /// Copies the files of the package to which tests are added, so that the extended copy can
    /// replace them.
    fn copy(&self, package: &Path, folder: &Path) -> Result<(), Error> {
        let tests = emit::package::test_file(Path::new(""), &self.harness.name);
        for name in [
            tests.as_path(),
            ".emitted.json".as_ref(),
            "mocks.json".as_ref(),
        ] {
            let (from, to) = (package.join(name), folder.join(name));
            if !from.is_file() {
                continue;
            }
            let bytes = std::fs::read(&from).map_err(|why| Error::io("read", &from, why))?;
            if let Some(above) = to.parent() {
                crate::store::writable_dir(above)?;
            }
            crate::store::write_new(&to, &bytes)?;
        }
        Ok(())
    }

    /// Adds this harness's mocks to those of the package's other harnesses.
    fn write_mocks(&self, path: &Path) -> Result<(), Error> {
        let mut all: Vec<MockedFunction> = std::fs::read(path)
            .ok()
            .and_then(|text| serde_json::from_slice(&text).ok())
            .unwrap_or_default();
        all.retain(|known| self.mocked.iter().all(|new| new.name != known.name));
        all.extend(self.mocked.iter().cloned());
        all.sort_by(|a, b| a.name.cmp(&b.name));
        let mut text = serde_json::to_vec_pretty(&all)
            .map_err(|why| Error::engine("writing the mocks", why))?;
        text.push(b'\n');
        Ok(crate::store::write(path, &text)?)
    }

    fn argv(&self) -> usize {
        self.argv
    }

    fn properties(&self) -> Vec<String> {
        let asked = &self.harness.properties;
        let has = |property| asked.contains(&property);
        if has(Property::Abort) && has(Property::Memory) && has(Property::Overflow) {
            return vec!["all".to_owned()];
        }
        asked
            .iter()
            .filter_map(|&property| match property {
                // As users write it: `assertion` includes calls of abort, `unreach` does not.
                Property::Abort => None,
                Property::Assertion if !has(Property::Abort) => Some("unreach".to_owned()),
                _ => Some(crate::verdict::property_name(property).to_owned()),
            })
            .collect()
    }

    fn units(&self) -> Vec<Unit> {
        self.harness
            .units
            .iter()
            .map(|unit| Unit {
                file: unit.source.clone(),
                args: unit.flags.clone(),
                directory: unit.directory.clone(),
            })
            .collect()
    }
}

/// The flag for work without a deadline and Ctrl-C.
static NEVER: AtomicBool = AtomicBool::new(false);

fn warning(message: String) -> Event {
    Event::Note {
        level: Level::Warning,
        message,
    }
}
