//! From `program.bc` to native code: the fuzzing targets and the runners.
//!
//! The engine interprets the module, the fuzzer runs it; both must see one program. So the module
//! is instrumented first (see the `instrument` module) and optimised only then, by clang, which also
//! compiles and links the C runtime. Four products come from the one module:
//!
//! | [`Kind`] | file | what for |
//! |---|---|---|
//! | `Fast` | `target.so` | counters; what the fuzzer runs most of the time |
//! | `Comparisons` | `target-cmp.so` | counters and comparison log; one run in some hundreds |
//! | `Runner` | `runner` | confirmation: a process per tape, exact counters, stacks |
//! | `RunnerAsan` | `runner-asan` | the same under AddressSanitizer |
//!
//! AddressSanitizer's pass is run by name on the instrumented module, before clang optimises: asking
//! `clang -O2 -fsanitize=address` for it would optimise first and lose bugs that an optimiser may assume away.

mod compare;
mod instrument;
mod ir;
mod mark;
mod run;
mod runtime;
mod symbolise;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use inkwell::OptimizationLevel;
use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::{
    CodeModel, InitializationConfig, RelocMode, Target as Machine, TargetMachine,
};
use serde::{Deserialize, Serialize};

pub use instrument::Site;
pub use run::{Asan, Crashed, Event, Outcome, Run, RunOptions, Runner, Violated};
pub use symbolise::Frame;

use instrument::{Found, Wish};
use mark::Mark;

/// What can be built.
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

    fn wish(self) -> Wish {
        Wish {
            precise: matches!(self, Kind::Runner | Kind::RunnerAsan),
            comparisons: self == Kind::Comparisons,
            address: self == Kind::RunnerAsan,
        }
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
    /// The bitcode is not bitcode that this LLVM reads.
    #[error("{path}: {message}")]
    Bitcode {
        /// Which file.
        path: PathBuf,
        /// LLVM's words.
        message: String,
    },
    /// LLVM refused to run a pass, or the instrumented module is broken.
    #[error("LLVM on {path}: {message}")]
    Llvm {
        /// Which file.
        path: PathBuf,
        /// LLVM's words.
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
    /// A runner wrote something that is not its format.
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
    /// What it is.
    pub kind: Kind,
    /// Number of blocks, which is the number of counters.
    pub blocks: u32,
    /// Places that can fail, by the number that a run reports.
    pub sites: Vec<Site>,
    /// Constants that the program compares with: tokens for the mutators.
    pub tokens: Vec<Vec<u8>>,
}

/// Folders that builds work in, and the age at which none of them works there any more.
const SCRATCH: &str = ".build-";
const ABANDONED: Duration = Duration::from_secs(3600);

/// How to build targets from a module.
#[derive(Clone, Debug)]
pub struct TargetBuilder {
    /// The normalised module.
    pub bitcode: PathBuf,
    /// The folder that products go to; it is created.
    pub out: PathBuf,
    /// clang, version 19.
    pub clang: PathBuf,
    /// Optimisation level of the fuzzing targets: `-O0` to `-O3`.
    pub opt: String,
    /// Where the runtime's object files are kept, which are the same for every program. None: compiled each time.
    pub cache: Option<PathBuf>,
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
        }
    }

    /// Builds one product. It appears under its name only when it is complete.
    pub fn build(&self, kind: Kind) -> Result<Target, TargetError> {
        fs::create_dir_all(&self.out).map_err(TargetError::file(&self.out))?;
        self.remove_abandoned();
        let scratch = tempfile::Builder::new()
            .prefix(SCRATCH)
            .tempdir_in(&self.out)
            .map_err(TargetError::file(&self.out))?;
        let object = scratch.path().join("program.o");
        let instrumented = scratch.path().join("program.bc");
        let found = self.instrument(kind, &instrumented)?;
        let path = self.out.join(kind.file_name());
        let target = Target {
            path: path.clone(),
            kind,
            blocks: found.blocks,
            sites: found.sites,
            tokens: found.tokens,
        };
        let mark = Mark::new(self, kind, &instrumented, &path)?;
        if mark.as_ref().is_some_and(Mark::holds) {
            return Ok(target);
        }
        // A runner confirms, so it must do what is written: an optimiser turns 1/x into a comparison that
        // survives x == 0. The fuzzer is allowed to miss that; its finds are confirmed anyway.
        let opt = match kind {
            Kind::Fast | Kind::Comparisons => self.opt.as_str(),
            Kind::Runner | Kind::RunnerAsan => "-O0",
        };
        let mut compile = self.clang([opt, "-fPIC", "-Wno-override-module", "-c", "-o"]);
        compile.extend([object.clone().into(), instrumented.into()]);
        let runtime = std::thread::scope(|scope| {
            let runtime = scope.spawn(|| self.runtime(kind, scratch.path()));
            self.execute(compile)?;
            match runtime.join() {
                Ok(objects) => objects,
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })?;

        let product = scratch.path().join("product");
        // No symbol of the host process, such as a malloc of its own, may take the place of the target's.
        let mut link = match kind {
            Kind::Fast | Kind::Comparisons => self.clang(["-shared", "-Wl,-Bsymbolic"]),
            Kind::Runner | Kind::RunnerAsan => self.clang([
                "-no-pie",
                "-Wl,--wrap=crunner_violation,--wrap=__cegar_trap",
            ]),
        };
        if kind == Kind::RunnerAsan {
            link.push("-fsanitize=address".into());
        }
        link.extend([OsString::from("-o"), product.clone().into(), object.into()]);
        link.extend(runtime.into_iter().map(OsString::from));
        link.push("-lm".into());
        self.execute(link)?;

        if let Some(mark) = &mark {
            mark.remove()?;
        }
        fs::rename(&product, &path).map_err(TargetError::file(&path))?;
        if let Some(mark) = &mark {
            mark.set(scratch.path())?;
        }
        tracing::debug!(path = %path.display(), blocks = target.blocks, "target built");
        Ok(target)
    }

    /// Removes what builds left behind whose process ended before they did, as at the end of a short campaign.
    fn remove_abandoned(&self) {
        let old = |entry: &fs::DirEntry| {
            let age = entry.metadata().and_then(|about| about.modified());
            age.is_ok_and(|made| made.elapsed().is_ok_and(|age| age > ABANDONED))
        };
        for entry in fs::read_dir(&self.out).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if name.to_string_lossy().starts_with(SCRATCH) && old(&entry) {
                // Whatever cannot be removed is in nobody's way.
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    fn clang<const N: usize>(&self, arguments: [&str; N]) -> Vec<OsString> {
        let mut command = vec![OsString::from(&self.clang)];
        command.extend(arguments.map(OsString::from));
        command
    }

    fn instrument(&self, kind: Kind, to: &Path) -> Result<Found, TargetError> {
        let context = Context::create();
        let message = |e: inkwell::support::LLVMString| e.to_string_lossy().into_owned();
        let module = Module::parse_bitcode_from_path(&self.bitcode, &context).map_err(|e| {
            TargetError::Bitcode {
                path: self.bitcode.clone(),
                message: message(e),
            }
        })?;
        let failed = |message| TargetError::Llvm {
            path: self.bitcode.clone(),
            message,
        };
        let found = instrument::instrument(ir::Ir::new(&module), kind.wish());
        module.verify().map_err(|e| failed(message(e)))?;
        if kind == Kind::RunnerAsan {
            watch_scopes();
            let machine = self.machine(&module).map_err(failed)?;
            module
                .run_passes("asan", &machine, PassBuilderOptions::create())
                .map_err(|e| failed(message(e)))?;
        }
        // Where the disk is full, LLVM's own way to write a file ends the process.
        let bitcode = module.write_bitcode_to_memory();
        std::fs::write(to, bitcode.as_slice()).map_err(|source| TargetError::File {
            path: to.to_owned(),
            source,
        })?;
        Ok(found)
    }

    fn machine(&self, module: &Module<'_>) -> Result<TargetMachine, String> {
        Machine::initialize_x86(&InitializationConfig::default());
        let triple = module.get_triple();
        let machine =
            Machine::from_triple(&triple).map_err(|e| e.to_string_lossy().into_owned())?;
        machine
            .create_target_machine(
                &triple,
                "x86-64",
                "",
                OptimizationLevel::Default,
                RelocMode::PIC,
                CodeModel::Default,
            )
            .ok_or_else(|| format!("no code generator for {triple}"))
    }

    fn execute(&self, command: Vec<OsString>) -> Result<(), TargetError> {
        let shown = command
            .iter()
            .map(|a| a.to_string_lossy())
            .collect::<Vec<_>>()
            .join(" ");
        tracing::debug!(command = %shown);
        let Some((program, arguments)) = command.split_first() else {
            return Ok(());
        };
        let result = Command::new(program)
            .args(arguments)
            .output()
            .map_err(|source| TargetError::Start {
                command: shown.clone(),
                source,
            })?;
        if result.status.success() {
            return Ok(());
        }
        let stderr = String::from_utf8_lossy(&result.stderr).into_owned();
        Err(TargetError::Failed {
            command: shown,
            status: result.status,
            stderr,
        })
    }
}

/// Makes AddressSanitizer's pass heed the ends of scopes. Run by name it takes that from LLVM's own command line only,
/// which the process has one of.
fn watch_scopes() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let words = [c"cegar".as_ptr(), c"-asan-use-after-scope".as_ptr()];
        // SAFETY: two NUL-terminated words; the option exists in the LLVM that is linked, and nothing else in the
        // process sets options.
        unsafe {
            llvm_sys::support::LLVMParseCommandLineOptions(
                words.len() as i32,
                words.as_ptr(),
                c"".as_ptr(),
            );
        }
    });
}
