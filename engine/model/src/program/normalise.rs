//! Links bitcode files to one normalised module, which the engine and the native side both read.
//!
//! The steps are listed in [`normalise_with`], and each has a file of its own. Their common
//! purpose: afterwards, nothing in the module may mean one thing to LLVM's optimiser (which
//! compiles the native side at -O2) and another to the engine's machine. So calls that leave the
//! program become choices from the tape (`mocks`), uninitialised locals become fixed values
//! (`locals`), and every flag and attribute by which C's undefined behaviour licenses an
//! optimisation is dropped (`licences`). LLVM's passes then run by name and in a fixed order; none
//! of them removes a branch, because branches are goals.

mod assumed;
mod declaration;
mod flags;
mod formats;
mod granted;
mod licences;
mod link;
mod locals;
mod mocks;
mod outputs;
mod platform;
mod promote;
mod reach;
mod startup;
mod temporaries;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use cegar_llvm::{
    Builder, LLVMLinkage, LLVMOpcode, LlvmError, Metadata, Module, ModuleError, Value,
};

use super::convention::EFFECTS;
use super::outside::Effects;

pub use super::convention::{MEMBER, USER_ENTRY, USER_MAIN};
pub use flags::clang_flags;
pub use mocks::{Mocked, Returns};
pub(super) use reach::tag;

/// The function in which the program starts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Entry {
    /// `main`, with no, two or three parameters.
    Main,
    /// `LLVMFuzzerTestOneInput`.
    Fuzzer,
    /// A function without parameters that returns nothing or an integer.
    Function(String),
}

/// The modules to link, and the meaning of the names in them.
#[derive(Clone, Debug)]
pub struct LinkRequest {
    /// The user's bitcode.
    pub user_modules: Vec<PathBuf>,
    /// The stub library's bitcode, with one driver that defines `cegar_entry`.
    pub stub_modules: Vec<PathBuf>,
    /// Bitcode of the functions that natively belong to the platform.
    pub engine_only_modules: Vec<PathBuf>,
    /// Symbols that user modules use, and their replacements.
    pub redirections: HashMap<String, String>,
    /// Undefined functions that are never mocked: natively, they belong to the platform.
    pub engine_only: HashSet<String>,
    /// Functions of `<math.h>` that both sides take from the host.
    pub math: HashSet<String>,
    /// Heap functions and others that the machine or the native runtime provides.
    pub runtime: HashSet<String>,
    /// Functions that are known but not modelled, with the reason.
    pub unsupported: HashMap<String, String>,
    /// Definitions in user modules that give way to another module's definition of the symbol.
    pub weakened: HashSet<(PathBuf, String)>,
    /// The function in which the program starts.
    pub entry: Entry,
    /// The rules of [`assumption`](crate::assumption) that are lifted, by identifier.
    pub lifted: BTreeSet<String>,
}

impl LinkRequest {
    /// A request with the stub library's tables.
    pub fn new(
        user_modules: Vec<PathBuf>,
        stub_modules: Vec<PathBuf>,
        engine_only_modules: Vec<PathBuf>,
        entry: Entry,
    ) -> LinkRequest {
        let names = |all: &[&str]| all.iter().map(|n| (*n).to_owned()).collect::<HashSet<_>>();
        let heap = cegar_stubs::heap().iter().map(|r| r.symbol.to_owned());
        LinkRequest {
            user_modules,
            stub_modules,
            engine_only_modules,
            redirections: cegar_stubs::redirections()
                .iter()
                .map(|r| (r.symbol.to_owned(), r.replacement.to_owned()))
                .collect(),
            engine_only: names(cegar_stubs::engine_only()),
            math: names(cegar_stubs::math()),
            runtime: heap.chain(names(cegar_stubs::runtime())).collect(),
            unsupported: cegar_stubs::unsupported()
                .iter()
                .map(|(name, why)| ((*name).to_owned(), (*why).to_owned()))
                .collect(),
            weakened: HashSet::new(),
            entry,
            lifted: BTreeSet::new(),
        }
    }
}

/// The result of normalisation.
#[derive(Clone, Debug, Default)]
pub struct Normalised {
    /// Undefined functions, which now return choices from the tape.
    pub mocked: Vec<Mocked>,
    /// The names of those functions whose bodies the caller provided.
    pub provided: Vec<String>,
    /// Undefined variables, which are now zero.
    pub external_data: Vec<String>,
    /// Called functions that are not modelled, with the reason.
    pub unsupported: Vec<(String, String)>,
    /// The user's functions that are not reachable from the entry. They are not part of the
    /// program.
    pub unreached: Vec<Unreached>,
}

/// A function of the user that is not part of the program.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Unreached {
    /// Its name in the linked module.
    pub name: String,
    /// The path of the file that defines it; empty without debug information.
    pub file: String,
    /// The line of its definition, or 0.
    pub line: u32,
    /// Its lines with code in that file, in order.
    pub lines: Vec<u32>,
}

/// The reason why a program cannot be normalised.
#[derive(Debug, thiserror::Error)]
pub enum NormaliseError {
    /// A module could not be read, or the result is not well-formed.
    #[error(transparent)]
    Module(#[from] ModuleError),
    /// Two files define the same symbol.
    #[error("`{symbol}` is defined in both {} and {}", first.display(), second.display())]
    Duplicate {
        /// The symbol.
        symbol: String,
        /// One file.
        first: PathBuf,
        /// The other.
        second: PathBuf,
    },
    /// LLVM's linker reported an error.
    #[error("cannot link {}: {message}", path.display())]
    Link {
        /// The module.
        path: PathBuf,
        /// LLVM's message.
        message: String,
    },
    /// The entry does not exist.
    #[error("no function `{0}` is defined to start from")]
    NoEntry(String),
    /// The entry has an unsupported signature.
    #[error("`{name}` cannot be where the program starts: it is `{signature}`")]
    EntrySignature {
        /// The function.
        name: String,
        /// Its declaration, as far as debug information has it.
        signature: String,
    },
    /// The caller failed to provide bodies for undefined functions.
    #[error("no bodies for external functions: {0}")]
    Provide(String),
    /// `crunner_assumed` is called with an argument that has no meaning.
    #[error("`crunner_assumed`: {0}")]
    Assumption(String),
    /// A pass failed.
    #[error("LLVM's passes `{passes}` failed: {message}")]
    Pass {
        /// The passes.
        passes: String,
        /// LLVM's message.
        message: String,
    },
    /// The result could not be written.
    #[error("cannot write {}: {message}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's message.
        message: String,
    },
}

/// The passes that turn locals into registers.
const PROMOTE: &str = "function(sroa<preserve-cfg>,mem2reg)";

/// The passes after [`PROMOTE`], in order. `simplifycfg` and `instcombine` are never among them,
/// because they remove branches. A function that ends with a call of itself becomes a loop,
/// natively too. An access to the lanes that a mask selects becomes branches around plain accesses.
const PASSES: [&str; 5] = [
    "function(scalarize-masked-mem-intrin)",
    "function(tailcallelim)",
    "function(lower-switch)",
    "function(loop-simplify)",
    "function(break-crit-edges)",
];

/// Links and normalises, and writes the module to `out` (by renaming a temporary file, so that
/// `out` is either complete or unchanged).
pub fn normalise(request: &LinkRequest, out: &Path) -> Result<Normalised, NormaliseError> {
    normalise_with(request, out, &mut |_| Ok(Provided::default()))
}

/// A caller's knowledge of undefined functions.
#[derive(Clone, Debug, Default)]
pub struct Provided {
    /// A module with bodies for some of the functions.
    pub bodies: Option<PathBuf>,
    /// What functions may do, by name, if it is known. The functions that objects from outside
    /// point to have the names of the bodies' module.
    pub effects: HashMap<String, Effects>,
}

/// A callback that returns what the caller knows of these functions.
pub type Provide<'a> = dyn FnMut(&[Mocked]) -> Result<Provided, String> + 'a;

/// As [`normalise`], but the caller may define some of the undefined functions: `provide` gets all
/// of them and may return a module with bodies for some. The others get mocks that return a choice.
pub fn normalise_with(
    request: &LinkRequest,
    out: &Path,
    provide: &mut Provide<'_>,
) -> Result<Normalised, NormaliseError> {
    let module = Module::empty("program");
    link::user(&module, request)?;
    link::entry(&module, &request.entry)?;
    let mut library = link::library(&module, request)?;
    startup::into_driver(&module, request);
    granted::ask(&module, request);
    let users = link::users_functions(&module);
    library.sweep(&module, &[mocks::NEEDED, &formats::needed()].concat())?;
    let is_gone = |one: &Unreached| module.defined_function(&one.name).is_none();
    let mut normalised = Normalised {
        unreached: users.into_iter().filter(is_gone).collect(),
        ..Normalised::default()
    };
    let missing = mocks::missing(&module, request);
    let mut provided = HashSet::new();
    let known = match missing.is_empty() {
        true => Provided::default(),
        false => provide(&missing).map_err(NormaliseError::Provide)?,
    };
    if let Some(path) = &known.bodies {
        let names: Vec<&str> = missing.iter().map(|mocked| &*mocked.name).collect();
        provided = library.add(&module, path, &names)?;
        let is_provided = |mocked: &&Mocked| provided.contains(&mocked.name);
        let of_caller = missing.iter().filter(is_provided).cloned();
        normalised.mocked.extend(of_caller);
    }
    mocks::generate(&module, request, &mut normalised);
    for (name, effects) in &known.effects {
        if let Some(function) = module.defined_function(name) {
            function.set_string_attribute(EFFECTS, &effects.text());
        }
    }
    normalised.provided = provided.into_iter().collect();
    normalised.provided.sort();
    link::adapt_main(&module)?;
    let formats = formats::take_apart(&module);
    let formats: Vec<&str> = formats.iter().map(String::as_str).collect();
    library.sweep(&module, &formats)?;
    assumed::fold(&module, request)?;
    mocks::hide(&module, &normalised);
    licences::drop(&module);
    locals::mark(&module);
    run(&module, PROMOTE)?;
    while promote::mark(&module) {
        run(&module, PROMOTE)?;
    }
    keep_defaults(&module);
    for passes in PASSES {
        run(&module, passes)?;
    }
    licences::relax_alignment(&module);
    module.verify("the normalised program")?;
    write(&module, out)?;
    Ok(normalised)
}

/// Moves the `unreachable` of a `switch`'s default into a block of its own. The pass that lowers
/// `switch` would otherwise drop the default, although whether it is reached is to be found out.
fn keep_defaults(module: &Module) {
    for function in module.functions() {
        let ends = |at: &Value<'_>, how| at.opcode() == Some(how);
        for block in function.blocks() {
            let last = block.instructions().into_iter().next_back();
            let last = last.filter(|last| ends(last, LLVMOpcode::LLVMSwitch));
            let default = last.and_then(|switch| switch.successors().into_iter().next());
            let first = default.and_then(|block| block.instructions().into_iter().next());
            let Some(end) = first.filter(|end| ends(end, LLVMOpcode::LLVMUnreachable)) else {
                continue;
            };
            let place = Metadata::of_place(end);
            let moved = function.append_block("unreachable");
            let builder = Builder::before(end);
            builder.set_place(place);
            builder.jump(moved);
            end.delete();
            builder.move_to_end(moved);
            builder.set_place(place);
            builder.unreachable();
        }
    }
}

/// The properties of a function that decide whether it can be the entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Defined {
    /// Whether it returns nothing.
    pub void: bool,
    /// How many parameters it has.
    pub parameters: usize,
    /// Whether it reads one of them.
    pub reads_parameters: bool,
}

/// The symbols that a bitcode file defines and uses.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    /// The functions that it defines.
    pub functions: HashMap<String, Defined>,
    /// Functions and variables that no other file may define.
    pub defines: HashSet<String>,
    /// Functions and variables that it declares, but does not define.
    pub wants: HashSet<String>,
}

/// The symbols of a bitcode file.
pub fn symbols(path: &Path) -> Result<Symbols, NormaliseError> {
    let module = Module::read(path)?;
    let mut symbols = Symbols {
        functions: functions_in(&module),
        ..Symbols::default()
    };
    for value in module.functions_and_globals() {
        let name = value.name();
        if name.starts_with("llvm.") {
            continue;
        }
        if value.is_declaration() {
            symbols.wants.insert(name);
        } else if value.linkage() == LLVMLinkage::LLVMExternalLinkage {
            symbols.defines.insert(name);
        }
    }
    Ok(symbols)
}

fn functions_in(module: &Module) -> HashMap<String, Defined> {
    let functions = module.functions();
    functions
        .into_iter()
        .filter(|function| !function.is_declaration())
        .map(|function| {
            let ty = function.value_type();
            let defined = Defined {
                void: ty.result().is_void(),
                parameters: ty.params().len(),
                reads_parameters: function.params().into_iter().any(is_read),
            };
            (function.name(), defined)
        })
        .collect()
}

/// Whether a parameter is used other than by clang's copy of it to a local that nothing else uses.
fn is_read(parameter: Value<'_>) -> bool {
    let is_lone_copy = |user: Value<'_>| {
        if user.opcode() != Some(LLVMOpcode::LLVMStore) || user.is_volatile() {
            return false;
        }
        let local = user.operand(1);
        local.opcode() == Some(LLVMOpcode::LLVMAlloca) && local.users().len() == 1
    };
    !parameter.users().into_iter().all(is_lone_copy)
}

/// Runs LLVM's passes by name.
fn run(module: &Module, passes: &str) -> Result<(), NormaliseError> {
    let refused = |LlvmError(message)| NormaliseError::Pass {
        passes: passes.to_owned(),
        message,
    };
    module.run_passes(passes, None).map_err(refused)
}

fn write(module: &Module, out: &Path) -> Result<(), NormaliseError> {
    let failed = |message: String| NormaliseError::Write {
        path: out.to_owned(),
        message,
    };
    let mut name = out.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let temporary = out.with_file_name(name);
    let stored = std::fs::File::create(&temporary).and_then(|mut file| {
        std::io::Write::write_all(&mut file, &module.bitcode())?;
        file.sync_all()?;
        std::fs::rename(&temporary, out)
    });
    stored.map_err(|e| failed(e.to_string()))
}

#[cfg(test)]
mod tests;
