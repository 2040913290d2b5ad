//! Makes a program of a harness: compiles, links with the stubs, normalises, and loads it.
//!
//! The stub library is compiled once per version of the stubs and of clang, into the user's cache
//! folder, because it is the same for every program. Everything else goes to the scratch folder of
//! the harness.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use cegar_model::program::Program;
use cegar_model::program::normalise::{
    self, Entry, LinkRequest, Mocked, Normalised, Returns, Symbols,
};
use cegar_stubs::Role;

use super::budget::Budget;
use super::linking::{Linked, Linking};
use super::refused;
use crate::compile::{self, Compiler, Unit};
use crate::error::Error;
use crate::event::{Event, Level, Reporter};
use crate::externals::Externals;
use crate::options::{Harness, Settings};
use crate::store;

/// A program that is ready to run.
pub struct Prepared {
    /// The normalised module.
    pub bitcode: PathBuf,
    /// The normalised module as read by the engine.
    pub program: Arc<Program>,
    /// The normalisation result, including the functions that had to be mocked.
    pub normalised: Normalised,
    /// Descriptions of the undefined functions.
    pub externals: Externals,
    /// The entry point.
    pub entry: Entry,
    /// The folder for data that is the same for every program: one per version of the stubs and of
    /// clang.
    pub cache: PathBuf,
    /// The largest number of arguments of `main`; 0 if it does not read them.
    pub argv: usize,
}

/// A harness's C code and the stubs for it, as bitcode: everything that must be compiled before the
/// clock starts.
pub struct Bitcode {
    units: Vec<Unit>,
    /// The program's modules, without those that the linker would leave out.
    modules: Vec<PathBuf>,
    /// The modules of all units.
    compiled: Vec<PathBuf>,
    /// Definitions that are overridden by those of other modules.
    weakened: HashSet<(PathBuf, String)>,
    stubs: Vec<PathBuf>,
    engine_only: Vec<PathBuf>,
    start: Start,
    cache: PathBuf,
}

/// Prepares a harness in its scratch folder.
pub fn prepare(
    harness: &Harness,
    settings: &Settings,
    scratch: &Path,
    reporter: &mut dyn Reporter,
    stop: &AtomicBool,
) -> Result<Prepared, Error> {
    let bitcode = bitcode(harness, settings, scratch, reporter, stop)?;
    let place = (scratch, Budget::new(None));
    link(bitcode, harness, settings, place, reporter, stop)
}

/// Compiles a harness's C code, reusing unchanged files.
pub fn bitcode(
    harness: &Harness,
    settings: &Settings,
    scratch: &Path,
    reporter: &mut dyn Reporter,
    stop: &AtomicBool,
) -> Result<Bitcode, Error> {
    store::writable_dir(scratch)?;
    let stubs = stub_folder(&settings.compiler, scratch)?;
    compile::remember_in(&stubs);
    let sources = cegar_stubs::write_sources(&stubs.join("sources"))
        .map_err(|why| Error::io("write", &stubs, why))?;
    let include = stubs.join("sources").join("include");

    let (units, compiled) = users(harness, settings, scratch, &include, reporter, stop)?;
    let symbols = compiled.bitcode.iter().map(|path| normalise::symbols(path));
    let symbols = symbols
        .collect::<Result<Vec<_>, _>>()
        .map_err(|why| Error::engine("reading the bitcode", why))?;
    refused::own_heap(&units, &symbols)?;
    let kept = refused::without_duplicates(harness, &symbols, &compiled.bitcode, reporter);
    let stays = || kept.stays.iter();
    let of_program = stays().zip(&symbols).filter(|(stays, _)| **stays);
    let start = start(harness, of_program.map(|(_, symbols)| symbols))?;
    let user_modules = stays().zip(&compiled.bitcode).filter(|(stays, _)| **stays);
    let user_modules = user_modules.map(|(_, path)| path.clone()).collect();
    let library = |wanted: &dyn Fn(Role) -> bool, flags: &[&str]| -> Result<Vec<PathBuf>, Error> {
        let units: Vec<Unit> = sources
            .iter()
            .filter(|(role, path)| wanted(*role) && path.extension().is_some_and(|e| e == "c"))
            .map(|(_, path)| Unit {
                source: path.clone(),
                directory: stubs.clone(),
                flags: flags.iter().map(|&flag| flag.to_owned()).collect(),
            })
            .collect();
        let made =
            compile::compile_stubs(&settings.compiler, &units, &stubs.join("bitcode"), stop)?;
        Ok(made.bitcode)
    };
    let argv = format!("-DCRUNNER_ARGV={}", start.argv);
    let mut flags = vec![argv.as_str()];
    if start.takes_arguments {
        flags.push("-DCRUNNER_TAKES_ARGUMENTS");
    }
    if start.initialise {
        flags.push("-DCRUNNER_FUZZER_INITIALIZE");
    }
    if start.void {
        flags.push("-DCRUNNER_ENTRY_VOID");
    }
    let kind = match start.entry {
        Entry::Main => cegar_stubs::Entry::Main,
        Entry::Fuzzer => cegar_stubs::Entry::Fuzzer,
        Entry::Function(_) => cegar_stubs::Entry::Function,
    };
    let (stub_modules, engine_only) = timed("compiling the stubs", || {
        let mut stubs = library(&|role| role == Role::Stub, &[])?;
        stubs.extend(library(&|role| role == Role::Entry(kind), &flags)?);
        let engine_only = library(&|role| role == Role::EngineOnly, &[])?;
        Ok::<_, Error>((stubs, engine_only))
    })?;

    Ok(Bitcode {
        units,
        modules: user_modules,
        compiled: compiled.bitcode,
        weakened: kept.weakened,
        stubs: stub_modules,
        engine_only,
        start,
        cache: stubs,
    })
}

/// Compiles the user's files. The stubs' header is in the folder `include`.
fn users(
    harness: &Harness,
    settings: &Settings,
    scratch: &Path,
    include: &Path,
    reporter: &mut dyn Reporter,
    stop: &AtomicBool,
) -> Result<(Vec<Unit>, compile::Compiled), Error> {
    reporter.event(&Event::Compiling {
        what: harness.name.clone(),
        files: harness.units.len(),
        from: String::new(),
    });
    let mut units = harness.units.clone();
    for unit in &mut units {
        // Last, so that a header of the user with the same name takes precedence.
        unit.flags.push("-idirafter".to_owned());
        unit.flags.push(include.display().to_string());
    }
    let compiled = timed("compiling the program", || {
        compile::compile(
            &settings.compiler,
            &units,
            &harness.properties,
            &scratch.join("bitcode"),
            stop,
            &mut |done| {
                reporter.event(&Event::CompileProgress {
                    what: harness.name.clone(),
                    done: done as u64,
                    total: units.len() as u64,
                });
            },
        )
    })?;
    reporter.event(&Event::Compiled {
        what: harness.name.clone(),
        files: compiled.bitcode.len(),
        cached: compiled.cached,
        seconds: compiled.seconds,
        warnings: compiled.warnings.clone(),
    });
    Ok((units, compiled))
}

/// Links the compiled modules and reads the program, in the harness's scratch folder and within its
/// budget.
pub fn link(
    bitcode: Bitcode,
    harness: &Harness,
    settings: &Settings,
    (scratch, budget): (&Path, Budget),
    reporter: &mut dyn Reporter,
    stop: &AtomicBool,
) -> Result<Prepared, Error> {
    let Bitcode {
        units,
        modules,
        compiled,
        weakened,
        stubs,
        engine_only,
        start,
        cache,
    } = bitcode;
    let mut request = LinkRequest::new(modules, stubs, engine_only, start.entry.clone());
    request.weakened = weakened;
    request.lifted.clone_from(&settings.lifted);
    let bitcode = scratch.join("program.bc");
    let linking = Linking {
        request,
        bitcode: bitcode.clone(),
        units,
        compiled,
        compiler: settings.compiler.clone(),
        scratch: scratch.to_owned(),
        rules: harness.rules.clone(),
    };
    let Linked {
        normalised,
        externals,
        program,
    } = linking.within(budget, stop)?;
    tell(&normalised, reporter);
    if start.entry == Entry::Fuzzer {
        tell_unanswered(&harness.name, (&program, &normalised), reporter);
    }
    for (rule, nearest) in externals.misspelt(&harness.rules, &harness.units) {
        let (level, hint) = match nearest {
            Some(function) => (Level::Warning, format!(": did you mean `{function}`?")),
            // The files of another harness may name it.
            None => (Level::Info, String::new()),
        };
        let message = format!(
            "[external.{rule}] is for no function that the files of this harness name{hint}"
        );
        reporter.event(&Event::Note { level, message });
    }
    for construct in &program.unmodelled {
        reporter.event(&Event::Note {
            level: Level::Detail,
            message: format!(
                "not modelled: {} at {}; what lies behind it stays open",
                construct.what,
                program.show(construct.pos)
            ),
        });
    }
    Ok(Prepared {
        bitcode,
        program: Arc::new(program),
        normalised,
        externals,
        cache,
        entry: start.entry,
        argv: start.argv,
    })
}

/// Does `work` and logs how long it took.
pub(super) fn timed<T>(what: &'static str, work: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let result = work();
    tracing::info!(what, ms = started.elapsed().as_millis() as u64, "done");
    result
}

/// Functions of the C library whose results are input.
const ASKED: &[&str] = &[
    "clock_gettime",
    "fgetc",
    "fgets",
    "fread",
    "fscanf",
    "getc",
    "getchar",
    "getdelim",
    "getenv",
    "getline",
    "getrandom",
    "gettimeofday",
    "rand",
    "random",
    "read",
    "readdir",
    "scanf",
    "secure_getenv",
    "time",
];

/// Warns about functions whose results the fuzzer's input cannot choose.
fn tell_unanswered(
    harness: &str,
    (program, normalised): (&Program, &Normalised),
    reporter: &mut dyn Reporter,
) {
    let mut silent = Vec::new();
    let answers = |mocked: &Mocked| mocked.returns != Returns::Void;
    if normalised.mocked.iter().any(answers) {
        silent.push("mocks".to_owned());
    }
    let called = |name: &&&str| {
        let stub = format!("CRUNNER_{name}");
        program.functions.iter().any(|one| one.name == stub)
    };
    silent.extend(ASKED.iter().filter(called).map(|name| format!("`{name}`")));
    if silent.is_empty() {
        return;
    }
    reporter.event(&Event::Note {
        level: Level::Warning,
        message: format!(
            "{harness}: the data of LLVMFuzzerTestOneInput take the whole input: {} answer zero \
             behind it; a `main` with crunner_get_bytes leaves some for them",
            silent.join(", ")
        ),
    });
}

/// Reports the undefined functions that the program calls, and what else normalising found.
fn tell(normalised: &Normalised, reporter: &mut dyn Reporter) {
    if !normalised.mocked.is_empty() {
        let functions = normalised
            .mocked
            .iter()
            .map(|mocked| mocked.name.clone())
            .collect();
        reporter.event(&Event::Mocked { functions });
    }
    for (name, why) in &normalised.unsupported {
        reporter.event(&Event::Note {
            level: Level::Warning,
            message: format!(
                "`{name}` is not modelled ({why}); what lies behind a call of it stays open"
            ),
        });
    }
    if !normalised.unreached.is_empty() {
        let names: Vec<&str> = normalised.unreached.iter().map(|one| &*one.name).collect();
        reporter.event(&Event::Note {
            level: Level::Detail,
            message: format!(
                "{} functions are out of the harness's reach and left out: {}",
                names.len(),
                names.join(", ")
            ),
        });
    }
    for name in &normalised.external_data {
        reporter.event(&Event::Note {
            level: Level::Warning,
            message: format!("the variable `{name}` is defined nowhere; it starts as zeros"),
        });
    }
}

/// How the program is started.
struct Start {
    entry: Entry,
    /// Whether `LLVMFuzzerInitialize` is defined.
    initialise: bool,
    /// Whether the entry returns nothing.
    void: bool,
    /// Whether the entry is a `main` that reads its parameters.
    takes_arguments: bool,
    argv: usize,
}

fn start<'a>(
    harness: &Harness,
    modules: impl Iterator<Item = &'a Symbols>,
) -> Result<Start, Error> {
    let mut defined = std::collections::HashMap::new();
    for module in modules {
        let functions = module.functions.iter();
        defined.extend(functions.map(|(name, about)| (name.as_str(), about)));
    }
    let name = match &harness.entry {
        Some(name) => name.as_str(),
        None if defined.contains_key(FUZZER) => FUZZER,
        None => "main",
    };
    let Some(function) = defined.get(name) else {
        return Err(match &harness.entry {
            Some(name) => Error::nothing(
                format!("no function `{name}` is defined to start from"),
                "name a function without parameters with --entry, or in cegar.toml as `entry`",
            ),
            None => Error::nothing(
                format!("`{}` defines neither `main` nor `{FUZZER}`", harness.name),
                "name the function to start from with --entry, or in cegar.toml as `entry`",
            ),
        });
    };
    let entry = match name {
        FUZZER => Entry::Fuzzer,
        "main" => Entry::Main,
        _ => Entry::Function(name.to_owned()),
    };
    // A `main` that does not read its arguments gets none, since they would only use up tape.
    let takes_arguments = entry == Entry::Main && function.reads_parameters;
    Ok(Start {
        initialise: entry == Entry::Fuzzer && defined.contains_key("LLVMFuzzerInitialize"),
        void: function.void,
        takes_arguments,
        argv: if takes_arguments { harness.argv } else { 0 },
        entry,
    })
}

const FUZZER: &str = "LLVMFuzzerTestOneInput";

/// The folder of the stub library, shared by all programs: one per version of the stubs and of
/// clang.
fn stub_folder(compiler: &Compiler, scratch: &Path) -> Result<PathBuf, Error> {
    let mut text = format!("{} {}", compiler.path.display(), compiler.version);
    for source in cegar_stubs::sources() {
        text.push_str(source.name);
        text.push_str(source.text);
    }
    let version = store::entry_name(text.as_bytes());
    if let Some(folder) = store::cache().map(|cache| cache.join(&version))
        && store::writable_dir(&folder).is_ok()
    {
        return Ok(folder);
    }
    let folder = scratch.join("stubs");
    store::writable_dir(&folder)?;
    Ok(folder)
}
