//! Builds harnesses: the whole of a generated package's `build.rs` is one call of [`harnesses`].
//!
//! Each harness becomes a separate executable, since a run needs its own process anyway and two
//! harnesses may define the same names. The user's C code is compiled unchanged. `objcopy` then
//! redirects its calls of the outside world to the stubs; a symbol that the user's code defines
//! itself is not redirected. The code is compiled without optimisation, because optimisers remove
//! the very behaviour that a test is about (C11 6.8.5p6, undefined behaviour). Sanitizers are used
//! if this compiler has them, so that an access one byte out of bounds is always reported.
//!
//! Only a C compiler with its binutils is needed. [`Build`] configures the same build by hand.

mod announce;
mod archive;
mod bindings;
mod bodies;
mod cache;
mod compile;
mod config;
mod error;
mod exclude;
mod flags;
mod home;
mod mocks;
mod objects;
mod package;
mod parallel;
mod paths;
mod script;
mod tools;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub use crate::mocked::MockedFunction;
use announce::{announce, broken};
pub use archive::{Duplicate, Symbols, duplicates};
pub use bodies::member_symbol;
use config::Checks;
pub use config::Unit;
pub use error::BuildError;
pub use exclude::Exclude;
pub use flags::{LAYOUT, harness_flags, is_c_by_name, is_wrapping, own_macros};
pub use home::{local, portable};
pub use package::CAPTURED;
pub use paths::resolve;
pub use script::{BUILD_SCRIPT, BuildScript};

/// The C files in a package's `models/`, sorted by name: bodies that the user gives to undefined
/// functions. They may choose and assume with `crunner.h`, and are used in the search, in proofs
/// and in tests.
pub fn models(root: &Path) -> Vec<PathBuf> {
    compile::c_files(&root.join("models")).unwrap_or_default()
}

/// The C bodies of these external functions for the search. It has those whose types are known and
/// matter, and is empty if there are none.
pub fn search_bodies(functions: &[MockedFunction]) -> String {
    mocks::typed_source(functions, false)
}

/// Builds every harness of this package: those that `cegar.toml` lists or, if it lists none, each
/// `*.c` in `folder`.
///
/// On an error the build script prints the reason and ends.
pub fn harnesses(folder: &str) {
    let root =
        std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from("."), PathBuf::from);
    match Build::from_package(&root, folder) {
        Ok(build) => build.compile(),
        Err(why) => fail(&why),
    }
}

fn fail(why: &BuildError) -> ! {
    for line in why.to_string().lines() {
        println!("cargo:warning={line}");
    }
    eprintln!("error: {why}");
    std::process::exit(1);
}

/// An executable that was built.
#[derive(Debug, Clone)]
pub struct Built {
    /// The harness's name.
    pub harness: String,
    /// The executable, for [`Mock::at`](crate::Mock::at).
    pub runner: PathBuf,
    /// The sanitizers it was built with.
    pub sanitizers: Vec<String>,
    /// Undefined functions that the tool did not know, which are assumed to return `int`.
    pub guessed: Vec<String>,
    /// Further notes for the user.
    pub notes: Vec<String>,
    /// Every file that it was built from.
    pub inputs: Vec<PathBuf>,
}

/// One harness.
#[derive(Debug, Clone)]
struct Harness {
    name: String,
    file: Option<PathBuf>,
    entry: Option<String>,
    drives: Option<String>,
    checks: Checks,
    argv: usize,
    bindings: Option<PathBuf>,
    /// The harness's own macros.
    defines: Vec<String>,
}

/// The harnesses to build, and the sources and options that they are built with.
#[derive(Debug, Clone)]
pub struct Build {
    root: PathBuf,
    units: Vec<Unit>,
    args: Vec<String>,
    link: Vec<String>,
    mocked: Vec<MockedFunction>,
    harnesses: Vec<Harness>,
    out_dir: Option<PathBuf>,
    compiler: Option<PathBuf>,
    cache: Option<PathBuf>,
    objects: Option<PathBuf>,
    stop: tools::Stop,
    inputs: Vec<PathBuf>,
    problem: Option<String>,
    notes: Vec<String>,
}

impl Default for Build {
    fn default() -> Self {
        Self::new()
    }
}

impl Build {
    /// An empty build. Relative paths are relative to the current folder (in a build script, the
    /// package).
    pub fn new() -> Self {
        Build {
            root: PathBuf::from("."),
            units: Vec::new(),
            args: Vec::new(),
            link: Vec::new(),
            mocked: Vec::new(),
            harnesses: Vec::new(),
            out_dir: None,
            compiler: None,
            cache: None,
            objects: None,
            stop: tools::Stop::default(),
            inputs: Vec::new(),
            problem: None,
            notes: Vec::new(),
        }
    }

    /// Keeps only the harness of this name.
    #[must_use]
    pub fn only(mut self, name: &str) -> Self {
        self.harnesses.retain(|harness| harness.name == name);
        self
    }

    /// Adds a harness. The methods `file`, `entry`, `property`, `argv` and `bindings` configure the
    /// harness that was added last.
    #[must_use]
    pub fn harness(mut self, name: &str) -> Self {
        let name = name.to_owned();
        self.harnesses.push(Harness {
            name,
            file: None,
            entry: None,
            drives: None,
            checks: Checks::default(),
            argv: 0,
            bindings: None,
            defines: Vec::new(),
        });
        self
    }

    fn last(mut self, change: impl FnOnce(&mut Harness)) -> Self {
        if let Some(harness) = self.harnesses.last_mut() {
            change(harness);
        }
        self
    }

    /// The harness's C file.
    #[must_use]
    pub fn file(self, file: impl Into<PathBuf>) -> Self {
        self.last(|harness| harness.file = Some(file.into()))
    }

    /// The entry function. Default: `LLVMFuzzerTestOneInput`, `main` or a function with the
    /// harness's name, whichever is defined.
    #[must_use]
    pub fn entry(self, function: &str) -> Self {
        self.last(|harness| harness.entry = Some(function.to_owned()))
    }

    /// The property to check: `assertion`, `unreach` (`abort` merely ends the run), `memory` (the
    /// default), `overflow` or `all`.
    #[must_use]
    pub fn property(self, name: &str) -> Self {
        self.properties(&[name])
    }

    /// The properties to check, if there are several.
    #[must_use]
    pub fn properties<S: AsRef<str>>(mut self, names: &[S]) -> Self {
        match Checks::read(names) {
            Ok(checks) => self.last(|harness| harness.checks = checks),
            Err(BuildError::Property(name)) => {
                self.problem = Some(name);
                self
            }
            // `Checks::read` has no other error.
            Err(_) => self,
        }
    }

    /// The maximal number of arguments of `main`.
    #[must_use]
    pub fn argv(self, most: usize) -> Self {
        self.last(|harness| harness.argv = most)
    }

    /// A header whose types and functions the tests use (feature `bindings`).
    #[must_use]
    pub fn bindings(self, header: impl Into<PathBuf>) -> Self {
        self.last(|harness| harness.bindings = Some(header.into()))
    }

    /// C files of the library under test.
    #[must_use]
    pub fn sources<P: Into<PathBuf>>(mut self, files: impl IntoIterator<Item = P>) -> Self {
        let unit = |file: P| Unit {
            file: file.into(),
            args: Vec::new(),
            directory: PathBuf::new(),
        };
        self.units.extend(files.into_iter().map(unit));
        self
    }

    /// A C file with its own arguments.
    #[must_use]
    pub fn unit(mut self, unit: Unit) -> Self {
        self.units.push(unit);
        self
    }

    /// An include folder.
    #[must_use]
    pub fn include(self, folder: impl Into<PathBuf>) -> Self {
        self.includes([folder])
    }

    /// Include folders.
    #[must_use]
    pub fn includes<P: Into<PathBuf>>(mut self, folders: impl IntoIterator<Item = P>) -> Self {
        for folder in folders {
            self.args.push(format!("-I{}", folder.into().display()));
        }
        self
    }

    /// A macro: `NAME` or `NAME=value`.
    #[must_use]
    pub fn define(self, define: &str) -> Self {
        self.flag(&format!("-D{define}"))
    }

    /// Any other flag for the compiler.
    #[must_use]
    pub fn flag(mut self, flag: &str) -> Self {
        self.args.push(flag.to_owned());
        self
    }

    /// Mocks an undefined function, replacing an earlier description of the same function.
    #[must_use]
    pub fn mock(mut self, function: MockedFunction) -> Self {
        self.mocked.retain(|known| known.name != function.name);
        self.mocked.push(function);
        self
    }

    /// The folder that relative paths are relative to.
    #[must_use]
    pub fn root(mut self, folder: impl Into<PathBuf>) -> Self {
        self.root = folder.into();
        self
    }

    /// The output folder; default: cargo's `OUT_DIR`.
    #[must_use]
    pub fn out_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.out_dir = Some(folder.into());
        self
    }

    /// The C compiler; default: what the `cc` crate finds (`CC`, then `cc`).
    #[must_use]
    pub fn compiler(mut self, program: impl Into<PathBuf>) -> Self {
        self.compiler = Some(program.into());
        self
    }

    /// A cache folder for what is the same for every program: the stubs' object files, and what
    /// this compiler can do. Default: the folder `harness` in the folder that `CEGAR_CACHE` names,
    /// which packages share, or else a folder beside the output, so that a change of the C code
    /// recompiles only that code.
    #[must_use]
    pub fn cache(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cache = Some(folder.into());
        self
    }

    /// A cache folder for the object files of the user's own code, by content. Several harnesses of
    /// a library and several runs share it. Default: none.
    #[must_use]
    pub fn objects(mut self, folder: impl Into<PathBuf>) -> Self {
        self.objects = Some(folder.into());
        self
    }

    /// A flag that stops the build: compilers are killed, and the build ends with
    /// [`BuildError::Interrupted`].
    #[must_use]
    pub fn stop(mut self, stop: Arc<AtomicBool>) -> Self {
        self.stop = tools::Stop(Some(stop));
        self
    }

    /// Builds all harnesses and tells cargo where they are. If a harness cannot be built, its tests
    /// fail with the reason, and the others are still built. If none can be built, the build script
    /// fails.
    pub fn compile(&self) {
        let out = match self.out() {
            Ok(out) => out,
            Err(why) => fail(&why),
        };
        let (mut built, mut failed) = (Vec::new(), Vec::new());
        for harness in &self.harnesses {
            match compile::harness(self, harness, &out) {
                Ok(one) => built.push(one),
                Err(why) => failed.push((harness.name.as_str(), why)),
            }
        }
        if let (Some((_, why)), true) = (failed.first(), built.is_empty()) {
            fail(why);
        }
        for note in &self.notes {
            println!("cargo:warning={note}");
        }
        for (name, why) in &failed {
            broken(name, why, &out);
        }
        announce(&built, &self.inputs);
    }

    /// The cache folder for the stubs' object files, if the executables go to `out`.
    fn kept(&self, out: &Path) -> PathBuf {
        let shared = || std::env::var_os("CEGAR_CACHE").filter(|folder| !folder.is_empty());
        self.cache
            .clone()
            .or_else(|| shared().map(|folder| Path::new(&folder).join("harness")))
            .unwrap_or_else(|| out.join("cegar-cache"))
    }

    fn out(&self) -> Result<PathBuf, BuildError> {
        if let Some(name) = &self.problem {
            return Err(BuildError::Property(name.clone()));
        }
        let from_cargo = || std::env::var_os("OUT_DIR").map(PathBuf::from);
        let out = self.out_dir.clone().or_else(from_cargo);
        out.ok_or(BuildError::NoOutDir)
    }

    /// Builds all harnesses without printing anything for cargo.
    ///
    /// # Errors
    /// If one of them cannot be built.
    pub fn try_compile(&self) -> Result<Vec<Built>, BuildError> {
        let out = self.out()?;
        self.harnesses
            .iter()
            .map(|harness| compile::harness(self, harness, &out))
            .collect()
    }
}
