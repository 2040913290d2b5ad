//! Compiles `program.bc` to native code: the fuzzing targets and the runners.
//!
//! The engine interprets the module and the fuzzer runs it; both must run the same program. The
//! module is therefore instrumented first (see the `instrument` module) and only then optimised by
//! clang, which also compiles and links the C runtime. Four products are made from the module:
//!
//! | [`Kind`] | file | what for |
//! |---|---|---|
//! | `Fast` | `target.so` | counters; what the fuzzer runs most of the time |
//! | `Comparisons` | `target-cmp.so` | counters and comparison log; one run in some hundreds |
//! | `Runner` | `runner` | confirmation: a process per tape, exact counters, stacks |
//! | `RunnerAsan` | `runner-asan` | the same under AddressSanitizer |
//!
//! A large program is compiled in parts, many at a time, which are cached and serve other harnesses
//! of the library too (see the `divide` and `objects` modules). A small one is compiled as a whole,
//! so that the optimiser sees all of it.
//!
//! AddressSanitizer's pass is run by name on the instrumented module, before clang optimises:
//! `clang -O2 -fsanitize=address` would optimise first and lose bugs that an optimiser may assume
//! away.

mod build_record;
mod compare;
mod divide;
mod instrument;
mod objects;
mod parts;
mod process;
mod run;
mod runtime;
mod symbolise;
mod undefined;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use cegar_llvm::{LlvmError, Machine, Module};
use serde::{Deserialize, Serialize};

pub use instrument::Site;
pub use parts::Progress;
pub use run::{Asan, Crashed, Event, Outcome, Run, RunOptions, Runner, Violated};
pub use symbolise::Frame;

use build_record::BuildRecord;
use divide::Division;
use instrument::{InstrumentOptions, Instrumented};
use parts::Input;
use process::{check, execute, lld};

/// A native product.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// `target.so`: counters.
    Fast,
    /// `target-cmp.so`: counters and comparison logging.
    Comparisons,
    /// `runner`: an executable that runs tapes.
    Runner,
    /// `runner-asan`: the same under AddressSanitizer.
    RunnerAsan,
}

impl Kind {
    /// The product's file name.
    pub fn file_name(self) -> &'static str {
        match self {
            Kind::Fast => "target.so",
            Kind::Comparisons => "target-cmp.so",
            Kind::Runner => "runner",
            Kind::RunnerAsan => "runner-asan",
        }
    }

    fn instrument_options(self, relative: bool) -> InstrumentOptions {
        InstrumentOptions {
            precise: self.confirms(),
            comparisons: self == Kind::Comparisons,
            address: self == Kind::RunnerAsan,
            relative,
        }
    }

    /// Whether runs of the product must behave exactly as the C code is written.
    fn confirms(self) -> bool {
        matches!(self, Kind::Runner | Kind::RunnerAsan)
    }
}

/// Why a target could not be built or run.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not bitcode that this LLVM can read.
    #[error("{path}: {message}")]
    Bitcode {
        /// Which file.
        path: PathBuf,
        /// LLVM's message.
        message: String,
    },
    /// LLVM failed to run a pass, or the instrumented module is invalid.
    #[error("LLVM on {path}: {message}")]
    Llvm {
        /// Which file.
        path: PathBuf,
        /// LLVM's message.
        message: String,
    },
    /// A program could not be started.
    #[error("cannot start `{command}`: {source}")]
    Start {
        /// The command line.
        command: String,
        /// Why.
        source: std::io::Error,
    },
    /// A program failed.
    #[error("`{command}` failed ({status})\n{stderr}")]
    Failed {
        /// The command line.
        command: String,
        /// Its exit status.
        status: std::process::ExitStatus,
        /// What it wrote to standard error.
        stderr: String,
    },
    /// The build was stopped.
    #[error("the build was interrupted")]
    Interrupted,
    /// A runner's output does not have the expected format.
    #[error("unexpected output of {runner}: {message}")]
    Output {
        /// Which runner.
        runner: PathBuf,
        /// What is wrong with it.
        message: String,
    },
}

impl TargetError {
    pub(crate) fn file(path: &Path) -> impl FnOnce(std::io::Error) -> TargetError {
        let path = path.to_owned();
        move |source| TargetError::File { path, source }
    }
}

/// A built product.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// The shared object or executable.
    pub path: PathBuf,
    /// The kind of product.
    pub kind: Kind,
    /// Number of blocks, which is the number of counters.
    pub blocks: u32,
    /// Places that can fail, by the number that a run reports.
    pub sites: Vec<Site>,
    /// Constants that the program compares with: tokens for the mutators.
    pub tokens: Vec<Vec<u8>>,
}

/// The prefix of scratch folders of builds, and the age from which such a folder is abandoned.
const SCRATCH: &str = ".build-";
const ABANDONED: Duration = Duration::from_secs(3600);

/// How to build targets from a module.
#[derive(Clone, Debug)]
pub struct TargetBuilder {
    /// The normalised module.
    pub bitcode: PathBuf,
    /// The folder for products; it is created.
    pub out: PathBuf,
    /// clang, version 19.
    pub clang: PathBuf,
    /// Optimisation level of the fuzzing targets: `-O0` to `-O3`.
    pub opt: String,
    /// The cache folder for the runtime's object files, which are the same for every program. None:
    /// they are compiled each time.
    pub cache: Option<PathBuf>,
    /// The cache folder for the objects of large programs' parts, which all programs of a library
    /// share. None, or without `cache`: they are compiled each time.
    pub objects: Option<PathBuf>,
    /// The number of blocks from which on a program is compiled in parts.
    pub divided: usize,
    /// The maximal number of compilers that run at the same time.
    pub jobs: usize,
    /// Set to stop the build: compilers are killed, and it ends with [`TargetError::Interrupted`].
    pub stop: Arc<AtomicBool>,
    /// The progress of the compilers.
    pub progress: Arc<Progress>,
}

/// The default number of blocks from which on a program is compiled in parts.
const DIVIDED: usize = 2000;

/// An instrumented program.
enum Form {
    /// Bitcode.
    Whole(Vec<u8>),
    /// LLVM's assembly language, which can be divided.
    Text(String),
}

impl Form {
    fn bytes(&self) -> &[u8] {
        match self {
            Form::Whole(bitcode) => bitcode,
            Form::Text(text) => text.as_bytes(),
        }
    }
}

impl TargetBuilder {
    /// A builder with the usual tools: `clang-19`, `-O2`.
    pub fn new(bitcode: impl Into<PathBuf>, out: impl Into<PathBuf>) -> Self {
        TargetBuilder {
            bitcode: bitcode.into(),
            out: out.into(),
            clang: PathBuf::from("clang-19"),
            opt: "-O2".to_owned(),
            cache: None,
            objects: None,
            divided: DIVIDED,
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            stop: Arc::default(),
            progress: Arc::default(),
        }
    }

    /// Builds one product. It appears under its name only when it is complete.
    pub fn build(&self, kind: Kind) -> Result<Target, TargetError> {
        fs::create_dir_all(&self.out).map_err(TargetError::file(&self.out))?;
        self.remove_abandoned();
        let begin = Instant::now();
        let (mut instrumented, form) = self.instrument(kind, self.divided)?;
        let until_instrumented = begin.elapsed();
        let path = self.out.join(kind.file_name());
        let bytes = form.bytes();
        let mut record = BuildRecord::new(self, kind, bytes, &path)?;
        if !record.as_ref().is_some_and(BuildRecord::holds) {
            check(&self.stop)?;
            let inline = !kind.confirms();
            let divided = match &form {
                Form::Text(text) => Division::new(text, inline, !inline).map(Some),
                Form::Whole(_) => Ok(None),
            };
            let (again, division);
            let bitcode = match divided {
                Ok(parts) => {
                    division = parts;
                    bytes
                }
                Err(why) => {
                    tracing::info!(why, "the program is compiled whole");
                    division = None;
                    (instrumented, again) = self.instrument(kind, usize::MAX)?;
                    again.bytes()
                }
            };
            let divided = begin.elapsed();
            check(&self.stop)?;
            let scratch = tempfile::Builder::new()
                .prefix(SCRATCH)
                .tempdir_in(&self.out)
                .map_err(TargetError::file(&self.out))?;
            let folder = scratch.path();
            let parts = division.as_ref().map(|division| Input::Parts {
                division,
                instrumented: &instrumented,
            });
            let input = parts.unwrap_or(Input::Whole(bitcode));
            let compiled = match (self.product(kind, input, &mut record, folder), &division) {
                // If the parts do not compile or link, the program is compiled as a whole.
                (Err(why @ TargetError::Failed { .. }), Some(_)) => {
                    tracing::warn!(%why, "the parts make no program; it is compiled whole");
                    let (_, whole) = self.instrument(kind, usize::MAX)?;
                    self.product(kind, Input::Whole(whole.bytes()), &mut record, folder)
                }
                (made, _) => made,
            };
            let compiled = match compiled {
                // The folder was removed meanwhile, which each tool reports in its own way.
                Err(TargetError::Failed { .. }) if !folder.is_dir() => {
                    let source = std::io::ErrorKind::NotFound.into();
                    return Err(TargetError::file(&self.out)(source));
                }
                compiled => compiled? - begin,
            };
            tracing::info!(
                product = kind.file_name(),
                instrumented = until_instrumented.as_millis() as u64,
                divided = (divided - until_instrumented).as_millis() as u64,
                compiled = (compiled - divided).as_millis() as u64,
                linked = (begin.elapsed() - compiled).as_millis() as u64,
                "target built"
            );
        }
        Ok(Target {
            path,
            kind,
            blocks: instrumented.blocks,
            sites: instrumented.sites,
            tokens: instrumented.tokens,
        })
    }

    /// Compiles and links a product. Returns the time when compiling ended.
    fn product(
        &self,
        kind: Kind,
        input: Input<'_, '_>,
        record: &mut Option<BuildRecord>,
        scratch: &Path,
    ) -> Result<Instant, TargetError> {
        let divided = matches!(input, Input::Parts { .. });
        let objects = std::thread::scope(|scope| {
            let runtime = scope.spawn(|| self.runtime(kind, scratch));
            let mut objects = self.program(kind, input, scratch)?;
            objects.extend(match runtime.join() {
                Ok(objects) => objects?,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            Ok(objects)
        })?;
        let compiled = Instant::now();
        self.link(kind, objects, divided, record, scratch)?;
        Ok(compiled)
    }

    /// The optimisation level of a product. A runner confirms findings, so it must do what the code
    /// says: an optimiser turns 1/x into a comparison that survives x == 0. The fuzzer may miss
    /// such faults, and its findings are confirmed anyway.
    fn opt(&self, kind: Kind) -> &str {
        match kind.confirms() {
            false => &self.opt,
            true => "-O0",
        }
    }

    /// Links a product from its objects.
    fn link(
        &self,
        kind: Kind,
        objects: Vec<PathBuf>,
        divided: bool,
        record: &mut Option<BuildRecord>,
        scratch: &Path,
    ) -> Result<(), TargetError> {
        let product = scratch.join("product");
        // No symbol of the host process, such as its own malloc, may replace the target's.
        let mut link = match kind.confirms() {
            false => self.clang(["-shared", "-Wl,-Bsymbolic"]),
            true => self.clang([
                "-no-pie",
                "-Wl,--wrap=crunner_violation,--wrap=__cegar_trap",
            ]),
        };
        if divided {
            // An object may contain functions of another program of the library.
            link.push("-Wl,--gc-sections".into());
        }
        if kind == Kind::RunnerAsan {
            link.push("-fsanitize=address".into());
        }
        link.extend([OsString::from("-o"), product.clone().into()]);
        link.extend(objects.into_iter().map(OsString::from));
        link.push("-lm".into());
        let fast = lld(&self.clang).map(|option| [&link[..], &[option]].concat());
        // lld takes a `%` in a path for a placeholder. If it fails, the usual linker is tried.
        match fast.map(|fast| execute(&fast, &self.stop)) {
            None | Some(Err(TargetError::Failed { .. })) => execute(&link, &self.stop)?,
            Some(linked) => linked?,
        }
        if let Some(record) = record {
            record.remove()?;
        }
        let path = self.out.join(kind.file_name());
        fs::rename(&product, &path).map_err(TargetError::file(&path))?;
        match record {
            Some(record) => record.set(scratch),
            None => Ok(()),
        }
    }

    /// Removes scratch folders of builds whose process ended before they did, as at the end of a
    /// short campaign.
    fn remove_abandoned(&self) {
        let old = |entry: &fs::DirEntry| {
            let age = entry.metadata().and_then(|about| about.modified());
            age.is_ok_and(|made| made.elapsed().is_ok_and(|age| age > ABANDONED))
        };
        for entry in fs::read_dir(&self.out).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if name.to_string_lossy().starts_with(SCRATCH) && old(&entry) {
                // A folder that cannot be removed does no harm.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    fn clang<const N: usize>(&self, arguments: [&str; N]) -> Vec<OsString> {
        let mut command = vec![OsString::from(&self.clang)];
        command.extend(arguments.map(OsString::from));
        command
    }

    /// Instruments the program; as text if it has at least `divided` blocks.
    fn instrument(&self, kind: Kind, divided: usize) -> Result<(Instrumented, Form), TargetError> {
        let module = Module::read(&self.bitcode).map_err(|e| TargetError::Bitcode {
            path: self.bitcode.clone(),
            message: e.message(),
        })?;
        let failed = |message| TargetError::Llvm {
            path: self.bitcode.clone(),
            message,
        };
        check(&self.stop)?;
        let blocks: usize = module
            .functions()
            .into_iter()
            .map(|f| f.blocks().len())
            .sum();
        let relative = blocks >= divided;
        let instrumented = instrument::instrument(&module, kind.instrument_options(relative));
        check(&self.stop)?;
        let verified = module.verify("the instrumented program");
        verified.map_err(|e| failed(e.message()))?;
        if kind == Kind::RunnerAsan {
            watch_scopes();
            let machine = Machine::x86_64(&module);
            let ran = machine.and_then(|machine| module.run_passes("asan", Some(&machine)));
            ran.map_err(|LlvmError(message)| failed(message))?;
        }
        check(&self.stop)?;
        let form = match relative {
            true => Form::Text(module.text()),
            false => Form::Whole(module.bitcode()),
        };
        Ok((instrumented, form))
    }
}

/// Makes AddressSanitizer's pass detect uses of variables after their scope. When run by name, the
/// pass reads this option only from LLVM's command line, which is global to the process.
fn watch_scopes() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    // No other code in the process sets options.
    ONCE.call_once(|| cegar_llvm::set_options(&[c"-asan-use-after-scope"]));
}
