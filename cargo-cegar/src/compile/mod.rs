//! Compiles C to bitcode.
//!
//! Each file becomes one bitcode file, without optimisation: what an optimiser removes (a loop that
//! it may assume to terminate, code after undefined behaviour) is exactly what must be checked. The
//! engine's flags keep every check that the C source implies visible in the bitcode; the required
//! passes run later, on the linked module.
//!
//! The `cc` crate determines the flags for the target, as it does for a build script, so that the C
//! code is compiled for the same machine as in the crate's build.

mod cache;
mod clang;
mod flags;

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::Instant;

use cache::Fresh;
use cegar_model::program::Property;
use cegar_model::program::normalise::clang_flags;
use cegar_stubs::UNSANITIZED;
use miette::Diagnostic;
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub(crate) use cache::parse_dependencies;
pub use clang::Compiler;
pub use flags::remember_in;

/// One C file and how it is compiled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unit {
    /// The file, absolute.
    pub source: PathBuf,
    /// The compiler's working directory, to which relative paths in `flags` refer.
    pub directory: PathBuf,
    /// Its own flags: `-D`, `-I`, `-std`, `-f...`.
    pub flags: Vec<String>,
}

/// Why there is no bitcode.
#[derive(Debug, Error, Diagnostic)]
pub enum CompileError {
    /// No clang was found.
    #[error("clang 19 was not found (looked for {looked_for})")]
    #[diagnostic(
        code(cegar::no_clang),
        help(
            "install it (Debian, Ubuntu: apt install clang-19), or set CEGAR_CLANG to its path. \
             Generated tests do not need it, only `cargo cegar` does"
        )
    )]
    NoClang {
        /// The names that were tried.
        looked_for: String,
    },
    /// The clang has another version, whose bitcode cannot be read.
    #[error("`{}` is {found}, and clang 19 is needed", path.display())]
    #[diagnostic(
        code(cegar::wrong_clang),
        help(
            "install clang-19 beside it (Debian, Ubuntu: apt install clang-19), or set CEGAR_CLANG \
             to its path"
        )
    )]
    WrongClang {
        /// Its path.
        path: PathBuf,
        /// The version that it reports.
        found: String,
    },
    /// The compiler rejected files; its output is included.
    #[error("clang rejected {}\n\n{output}", list(files))]
    #[diagnostic(code(cegar::rejected), help("{}", mended_by(output)))]
    Rejected {
        /// The files.
        files: Vec<PathBuf>,
        /// What clang printed.
        output: String,
    },
    /// The `cc` crate could not determine the flags for the target.
    #[error("no compiler flags for this target: {0}")]
    #[diagnostic(code(cegar::compiler_flags))]
    Flags(#[from] cc::Error),
    /// The compiler cannot be started, or its output cannot be moved into place.
    #[error("cannot {action} `{}`: {source}", path.display())]
    #[diagnostic(code(cegar::io))]
    Io {
        /// The attempted action.
        action: &'static str,
        /// The path that it concerns.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A flag that also changes the types of the C library.
    #[error("`{}` is compiled with `{flag}`, which is not supported: the models of the C library \
        are compiled without it", file.display())]
    #[diagnostic(
        code(cegar::unsupported_flag),
        help(
            "leave the file out with `exclude` under [c] in cegar.toml, or build the crate without \
             the flag"
        )
    )]
    Flag {
        /// The flag.
        flag: String,
        /// A file with it.
        file: PathBuf,
    },
    /// Ctrl-C.
    #[error("interrupted")]
    Interrupted,
}

/// Advice for the errors that clang reported.
fn mended_by(output: &str) -> String {
    const SOURCES: &str = "defines and include paths come from -D and -I, from [c] in cegar.toml, \
        or from the crate's own build (run `cargo cegar build` to capture it again)";
    match output.contains("'omp.h' file not found") {
        true => format!(
            "threads are not modelled: take the crate without its feature for OpenMP, or undefine \
             the macro that asks for it; {SOURCES}"
        ),
        false => SOURCES.to_owned(),
    }
}

fn list(files: &[PathBuf]) -> String {
    files
        .iter()
        .map(|f| format!("`{}`", f.display()))
        .collect::<Vec<_>>()
        .join(", ")
}

/// The result of [`compile`].
#[derive(Clone, Debug, Default)]
pub struct Compiled {
    /// One bitcode file for each unit, in the order of the units.
    pub bitcode: Vec<PathBuf>,
    /// How many of them were reused.
    pub cached: usize,
    /// Clang's warnings, as it printed them.
    pub warnings: String,
    /// The duration in seconds.
    pub seconds: f64,
}

/// Compiles the program's own files to bitcode in `out_dir`, in parallel, reusing unchanged ones.
/// `progress` is called with the number of finished files whenever it changes.
pub fn compile(
    compiler: &Compiler,
    units: &[Unit],
    properties: &[Property],
    out_dir: &Path,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(usize),
) -> Result<Compiled, CompileError> {
    let flags = (&*clang_flags(properties), Fresh::Text);
    compile_with(compiler, units, flags, out_dir, (stop, progress))
}

/// Compiles the stub library, which is trusted and gets no checks of its own.
pub fn compile_stubs(
    compiler: &Compiler,
    units: &[Unit],
    out_dir: &Path,
    stop: &AtomicBool,
) -> Result<Compiled, CompileError> {
    let flags = (&*clang_flags(&[]), Fresh::Files);
    compile_with(compiler, units, flags, out_dir, (stop, &mut |_| {}))
}

/// Compiles files without checks, to inspect their declarations.
pub fn compile_unchecked(
    compiler: &Compiler,
    units: &[Unit],
    out_dir: &Path,
    stop: &AtomicBool,
) -> Result<Compiled, CompileError> {
    let flags = (&*clang_flags(&[]), Fresh::Text);
    compile_with(compiler, units, flags, out_dir, (stop, &mut |_| {}))
}

/// The module of one file as text, including the types of its declarations, or `None` if clang
/// fails.
pub fn printed(
    compiler: &Compiler,
    unit: &Unit,
    scratch: &Path,
) -> Result<Option<String>, CompileError> {
    // Declarations have types only in optimised code; no pass runs.
    let flags = [
        "-w",
        "-g",
        "-O1",
        "-Xclang",
        "-disable-llvm-passes",
        "-S",
        "-emit-llvm",
        "-o",
        "-",
    ];
    output(compiler, unit, scratch, &flags)
}

/// The syntax trees of the functions of one file whose names contain `name`, as JSON values, or
/// `None` if clang fails.
pub fn syntax_trees(
    compiler: &Compiler,
    unit: &Unit,
    scratch: &Path,
    name: &str,
) -> Result<Option<String>, CompileError> {
    let filter = format!("-ast-dump-filter={name}");
    let flags = [
        "-w",
        "-fsyntax-only",
        "-Xclang",
        "-ast-dump=json",
        "-Xclang",
        &filter,
    ];
    output(compiler, unit, scratch, &flags)
}

/// Clang's standard output for one file, or `None` if clang fails.
fn output(
    compiler: &Compiler,
    unit: &Unit,
    scratch: &Path,
    flags: &[&str],
) -> Result<Option<String>, CompileError> {
    let base = base_flags(compiler, scratch)?;
    let output = Command::new(&compiler.path)
        .current_dir(&unit.directory)
        .args(flags::of(unit, &base, flags))
        .arg(&unit.source)
        .output()
        .map_err(|source| CompileError::Io {
            action: "run",
            path: compiler.path.clone(),
            source,
        })?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(output.status.success().then_some(text))
}

fn compile_with(
    compiler: &Compiler,
    units: &[Unit],
    flags: (&[&str], Fresh),
    out_dir: &Path,
    (stop, progress): (&AtomicBool, &mut dyn FnMut(usize)),
) -> Result<Compiled, CompileError> {
    let started = Instant::now();
    for unit in units {
        if let Some(flag) = flags::unsupported(&unit.flags) {
            return Err(CompileError::Flag {
                flag: flag.clone(),
                file: unit.source.clone(),
            });
        }
    }
    std::fs::create_dir_all(out_dir).map_err(|source| CompileError::Io {
        action: "create",
        path: out_dir.to_owned(),
        source,
    })?;
    let base = base_flags(compiler, out_dir)?;
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<Result<One, CompileError>>>> =
        Mutex::new(units.iter().map(|_| None).collect());
    let workers = std::thread::available_parallelism()
        .map_or(2, usize::from)
        .min(units.len());
    let (tell, told) = channel();
    std::thread::scope(|scope| {
        for _ in 0..workers {
            let tell = tell.clone();
            let (base, next, results) = (&base, &next, &results);
            scope.spawn(move || {
                while let Some((index, unit)) = take(units, next, stop) {
                    let one = compile_one(compiler, base, unit, flags, out_dir);
                    if let Ok(mut results) = results.lock() {
                        results[index] = Some(one);
                    }
                    // The receiver lives until the last worker has ended.
                    let _ = tell.send(());
                }
            });
        }
        drop(tell);
        for (number, ()) in told.iter().enumerate() {
            progress(number + 1);
        }
    });
    let results = results
        .into_inner()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    let mut compiled = gather(units, results)?;
    compiled.seconds = started.elapsed().as_secs_f64();
    Ok(compiled)
}

fn take<'a>(units: &'a [Unit], next: &AtomicUsize, stop: &AtomicBool) -> Option<(usize, &'a Unit)> {
    if stop.load(Ordering::Relaxed) {
        return None;
    }
    let index = next.fetch_add(1, Ordering::Relaxed);
    units.get(index).map(|unit| (index, unit))
}

/// The outcome for one file: its bitcode, or the errors of the compiler.
enum One {
    Made {
        bitcode: PathBuf,
        cached: bool,
        warnings: String,
    },
    Rejected {
        output: String,
    },
}

fn gather(
    units: &[Unit],
    results: Vec<Option<Result<One, CompileError>>>,
) -> Result<Compiled, CompileError> {
    let mut compiled = Compiled::default();
    let (mut rejected, mut said) = (Vec::new(), String::new());
    for (unit, result) in units.iter().zip(results) {
        match result.ok_or(CompileError::Interrupted)?? {
            One::Made {
                bitcode,
                cached,
                warnings,
            } => {
                compiled.bitcode.push(bitcode);
                compiled.cached += usize::from(cached);
                compiled.warnings.push_str(&warnings);
            }
            One::Rejected { output } => {
                rejected.push(unit.source.clone());
                said.push_str(&output);
            }
        }
    }
    if rejected.is_empty() {
        Ok(compiled)
    } else {
        Err(CompileError::Rejected {
            files: rejected,
            output: said,
        })
    }
}

/// The compiler's flags for this machine, according to the `cc` crate.
fn base_flags(compiler: &Compiler, out_dir: &Path) -> Result<Vec<String>, CompileError> {
    flags::known(compiler, || {
        let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
        // Outside of a build script the environment contains nothing, so everything is set
        // explicitly.
        let tool = cc::Build::new()
            .compiler(&compiler.path)
            .target(&target)
            .host(&target)
            .opt_level(0)
            .debug(true)
            .warnings(false)
            .out_dir(out_dir)
            .cargo_metadata(false)
            .try_get_compiler()?;
        Ok(tool
            .args()
            .iter()
            .map(|arg| arg.to_string_lossy().into_owned())
            .collect())
    })
}

fn compile_one(
    compiler: &Compiler,
    base: &[String],
    unit: &Unit,
    (flags, fresh): (&[&str], Fresh),
    out_dir: &Path,
) -> Result<One, CompileError> {
    let mut args = flags::of(unit, base, flags);
    let entry = cache::Entry::new(out_dir, compiler, unit, &args, fresh);
    let is_plain = |arg: &String| !UNSANITIZED.contains(&arg.as_str());
    let all_plain = args.iter().all(is_plain);
    // The program may use the word `no_sanitize` for something else.
    if all_plain || !entry.asks_for_the_word() {
        let first = compile_as(compiler, unit, &args, entry)?;
        if all_plain || matches!(first, One::Made { .. }) {
            return Ok(first);
        }
    }
    args.retain(is_plain);
    let entry = cache::Entry::new(out_dir, compiler, unit, &args, fresh);
    let mut second = compile_as(compiler, unit, &args, entry)?;
    if let One::Made { warnings, .. } = &mut second {
        warnings.push_str(&format!(
            "{}: `no_sanitize` is not the attribute alone: what functions with that attribute do \
             is not checked\n",
            unit.source.display()
        ));
    }
    Ok(second)
}

/// Compiles a file with these arguments, unless its cache entry is fresh.
fn compile_as(
    compiler: &Compiler,
    unit: &Unit,
    args: &[String],
    entry: cache::Entry,
) -> Result<One, CompileError> {
    let io_error = |action, path: &Path| {
        let path = path.to_owned();
        move |source| CompileError::Io {
            action,
            path,
            source,
        }
    };
    if let Some(warnings) = entry.fresh() {
        return Ok(One::Made {
            bitcode: entry.bitcode,
            cached: true,
            warnings,
        });
    }
    let made = entry.scratch("bc");
    let dependencies = entry.scratch("d");
    let mut command = Command::new(&compiler.path);
    command.current_dir(&unit.directory).args(args);
    let text = entry
        .text_without_sanitizers(compiler, unit, args, &dependencies)
        .map_err(io_error("run", &compiler.path))?;
    match &text {
        None => command
            .args(["-MD", "-MF"])
            .arg(&dependencies)
            .arg(&unit.source),
        Some(text) => command
            .args(["-Wno-unused-command-line-argument", "-x", "cpp-output"])
            .arg(text),
    };
    let output = command
        .arg("-o")
        .arg(&made)
        .output()
        .map_err(io_error("run", &compiler.path))?;
    if let Some(text) = &text {
        // If removing fails, only a file in the scratch folder remains.
        let _ = std::fs::remove_file(text);
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        let said = if said.is_empty() {
            format!("{}\n", output.status)
        } else {
            said
        };
        return Ok(One::Rejected { output: said });
    }
    entry
        .keep(&made, &dependencies, &said)
        .map_err(io_error("write", &entry.bitcode))?;
    Ok(One::Made {
        bitcode: entry.bitcode,
        cached: false,
        warnings: said,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
