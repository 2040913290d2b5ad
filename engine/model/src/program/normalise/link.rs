//! Linking: the user's modules, the name of the entry, and the library below them.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use cegar_llvm::{Builder, LLVMLinkage, LlvmError, Metadata, Module, Position, Value};

use super::{
    Entry, LinkRequest, NormaliseError, USER_ENTRY, USER_MAIN, Unreached, declaration, granted,
    mocks, run,
};
use crate::program::convention::{ATEXIT, KIND, MEMBER, VISIBLE};
use crate::program::load::ENTRY;

const FUZZER: &str = "LLVMFuzzerTestOneInput";

/// Links the user's modules, with their uses of the outside world redirected.
pub(super) fn user(module: &Module, request: &LinkRequest) -> Result<(), NormaliseError> {
    let mut parsed = Vec::new();
    let mut defined: HashMap<String, PathBuf> = HashMap::new();
    for path in &request.user_modules {
        let part = Part::read(module, path)?;
        for value in part.module.functions_and_globals() {
            if value.is_declaration() || is_local(value) {
                continue;
            }
            let (symbol, second) = (value.name(), path.clone());
            if request.weakened.contains(&(second.clone(), symbol.clone())) {
                value.set_linkage(LLVMLinkage::LLVMWeakAnyLinkage);
            }
            let is_strong = value.linkage() == LLVMLinkage::LLVMExternalLinkage;
            match defined.get(&symbol) {
                Some(first) if is_strong => {
                    return Err(NormaliseError::Duplicate {
                        symbol,
                        first: first.clone(),
                        second,
                    });
                }
                None if is_strong => {
                    defined.insert(symbol, second);
                }
                _ => {}
            }
        }
        parsed.push(part);
    }
    let weakly: HashSet<String> = parsed
        .iter()
        .flat_map(|part| part.module.functions_and_globals())
        .filter(|v| !v.is_declaration() && !is_local(*v))
        .map(Value::name)
        .collect();
    for part in parsed {
        part.mark("user");
        // This comes before the link, which makes symbols local where it can.
        for value in part.module.functions_and_globals() {
            if value.is_global_variable() && !value.is_declaration() && !is_local(value) {
                show(value);
            }
        }
        for value in part.module.functions_and_globals() {
            let name = value.name();
            if let Some(replacement) = request.redirections.get(&name)
                && value.is_declaration()
                && !weakly.contains(&name)
            {
                rename(&part.module, value, replacement);
            }
        }
        part.link(module)?;
    }
    // C's `inline` definitions without an external definition: this is the only body.
    for function in module.functions() {
        if function.linkage() == LLVMLinkage::LLVMAvailableExternallyLinkage {
            function.set_linkage(LLVMLinkage::LLVMInternalLinkage);
        }
    }
    Ok(())
}

/// Marks a variable that other files can reach, and the variables whose addresses it contains. The
/// latter need marks of their own, because the variable itself may be removed if the program does
/// not use it.
fn show(variable: Value<'_>) {
    let mut open = vec![variable];
    let mut seen: HashSet<Value<'_>> = HashSet::new();
    while let Some(value) = open.pop() {
        if !seen.insert(value) || value.is_function() {
            continue;
        }
        if value.is_global_variable() {
            value.mark(VISIBLE);
            open.extend(value.initializer());
        } else {
            open.extend(value.operands());
        }
    }
}

/// Gives the entry the name by which the driver calls it.
pub(super) fn entry(module: &Module, entry: &Entry) -> Result<(), NormaliseError> {
    let defined = |name: &str| module.defined_function(name);
    let missing = |name: &str| NormaliseError::NoEntry(name.to_owned());
    match entry {
        Entry::Main => {
            defined("main")
                .ok_or_else(|| missing("main"))?
                .set_name(USER_MAIN);
        }
        Entry::Fuzzer => {
            defined(FUZZER).ok_or_else(|| missing(FUZZER))?;
        }
        Entry::Function(name) => {
            let function = defined(name).ok_or_else(|| missing(name))?;
            let ty = function.value_type();
            let result = ty.result();
            if !ty.params().is_empty() || !(result.is_void() || result.is_integer()) {
                return Err(NormaliseError::EntrySignature {
                    name: name.clone(),
                    signature: signature(function, name),
                });
            }
            function.set_linkage(LLVMLinkage::LLVMExternalLinkage);
            function.set_name(USER_ENTRY);
        }
    }
    // Another entry must not clash with the native runner's own `main`.
    for name in ["main", FUZZER] {
        if (*entry != Entry::Fuzzer || name == "main")
            && let Some(other) = defined(name)
        {
            other.set_name(&format!("cegar_other_{name}"));
        }
    }
    Ok(())
}

/// A function's declaration in C, for messages.
fn signature(function: Value<'_>, name: &str) -> String {
    let about = Metadata::of_function(function);
    about
        .and_then(|about| declaration::of(about, name))
        .unwrap_or_else(|| format!("{name} ({})", function.value_type().text()))
}

/// Adapts `main` to the driver, which calls `cegar_user_main(argc, argv, envp)` and expects a
/// status: a `main` with fewer parameters or without a result gets a wrapper.
pub(super) fn adapt_main(module: &Module) -> Result<(), NormaliseError> {
    let Some(main) = module.defined_function(USER_MAIN) else {
        return Ok(());
    };
    let ty = main.value_type();
    let (parameters, result) = (ty.params(), ty.result());
    let (int, pointer) = (module.int(32), module.pointer());
    let full = [int, pointer, pointer];
    let fits = parameters.iter().zip(full).all(|(p, f)| *p == f) && parameters.len() <= 3;
    if !fits || !(result.is_void() || result == int) {
        return Err(NormaliseError::EntrySignature {
            name: "main".to_owned(),
            signature: signature(main, "main"),
        });
    }
    if parameters.len() == 3 && !result.is_void() {
        return Ok(());
    }
    let wrapper_type = int.function(&full);
    let wrapper = module.add_function("cegar_call_main", wrapper_type);
    set_kind(wrapper, "stub");
    for user in main.users() {
        let is_driver =
            user.is_call() && user.callee() == main && user.callee_type() == wrapper_type;
        if is_driver {
            user.set_callee(wrapper);
        }
    }
    let builder = Builder::new(module);
    builder.move_to_end(wrapper.append_block("entry"));
    let mut arguments = wrapper.params();
    arguments.truncate(parameters.len());
    let called = builder.call(main.callable(), &arguments);
    let status = if result.is_void() { int.zero() } else { called };
    builder.ret(Some(status));
    Ok(())
}

/// The symbols that were linked below the user's code.
pub(super) struct Library {
    symbols: HashSet<String>,
}

/// Links stubs and engine-only functions. A definition of the user's takes precedence over a
/// stub's. It is kept, under another name, beside a function of the platform with the same name.
pub(super) fn library(module: &Module, request: &LinkRequest) -> Result<Library, NormaliseError> {
    let mut symbols = HashSet::new();
    let mut users: HashSet<String> = module
        .functions_and_globals()
        .filter(|v| !v.is_declaration())
        .map(Value::name)
        .collect();
    for name in cegar_stubs::engine_only() {
        // The platform's functions call one another by these names, whatever the program defines
        // under them.
        if let Some(own) = module.defined_function(name) {
            own.set_name(&format!("{name}.0"));
            users.remove(*name);
        }
    }
    let stubs = request.stub_modules.iter().map(|p| (p, "stub"));
    let engine_only = request
        .engine_only_modules
        .iter()
        .map(|p| (p, "engine-only"));
    let parts: Vec<(Part<'_>, &str)> = stubs
        .chain(engine_only)
        .map(|(path, kind)| {
            let module = module.read_beside_lazily(path)?;
            Ok((Part { path, module }, kind))
        })
        .collect::<Result<_, NormaliseError>>()?;
    let needed = needed(module, &parts);
    for ((part, kind), is_needed) in parts.into_iter().zip(needed) {
        part.mark(kind);
        for value in part.module.functions_and_globals() {
            if value.is_declaration() || is_local(value) {
                continue;
            }
            let name = value.name();
            // The library refers to its own data by name; a user's static of that name is a
            // different one.
            value.set_linkage(LLVMLinkage::LLVMWeakAnyLinkage);
            if !users.contains(&name) {
                symbols.insert(name);
            }
        }
        if is_needed {
            part.link(module)?;
        }
    }
    Ok(Library { symbols })
}

/// Which parts of the library the program needs, as a linker chooses the members of an archive:
/// each part that defines a wanted symbol, and the parts that it wants in turn. Other parts would
/// be linked only to be swept away.
fn needed(module: &Module, parts: &[(Part<'_>, &str)]) -> Vec<bool> {
    let mut definers: HashMap<String, Vec<usize>> = HashMap::new();
    let mut wants: Vec<Vec<String>> = Vec::with_capacity(parts.len());
    for (number, (part, _)) in parts.iter().enumerate() {
        let mut wanted = Vec::new();
        for value in part.module.functions_and_globals() {
            if value.is_declaration() {
                wanted.push(value.name());
            } else if !is_local(value) {
                definers.entry(value.name()).or_default().push(number);
            }
        }
        wants.push(wanted);
    }
    let mut open: Vec<String> = module
        .functions_and_globals()
        .filter(|value| value.is_declaration())
        .map(Value::name)
        .collect();
    let asked_by_name = [ENTRY, ATEXIT].into_iter();
    let asked_by_name = asked_by_name.chain(granted::NEEDED);
    let asked_by_name = asked_by_name.chain(mocks::NEEDED.iter().copied());
    open.extend(asked_by_name.map(str::to_owned));
    let mut is_needed = vec![false; parts.len()];
    while let Some(name) = open.pop() {
        for &number in definers.get(&name).into_iter().flatten() {
            if !std::mem::replace(&mut is_needed[number], true) {
                open.extend(wants[number].iter().cloned());
            }
        }
    }
    is_needed
}

impl Library {
    /// Links bodies of functions that are undefined so far, and returns the names of the functions
    /// among `names` that it defines. These become mocks, and what they use becomes part of the
    /// library.
    pub(super) fn add(
        &mut self,
        module: &Module,
        path: &Path,
        names: &[&str],
    ) -> Result<HashSet<String>, NormaliseError> {
        let part = Part::read(module, path)?;
        part.mark("stub");
        let mut provided = HashSet::new();
        for value in part.module.functions_and_globals() {
            let name = value.name();
            if value.is_function() && name.starts_with(MEMBER) {
                set_kind(value, "mock");
            }
            if value.is_declaration() || is_local(value) {
                continue;
            }
            if value.is_function() && names.contains(&name.as_str()) {
                set_kind(value, "mock");
                provided.insert(name.clone());
            }
            self.symbols.insert(name);
        }
        part.link(module)?;
        Ok(provided)
    }

    /// Removes what the driver does not reach, from the library and from the user's code alike,
    /// except for the symbols in `keep`. A harness calls a small part of what it is linked with,
    /// and blocks that no input can enter would stay goals forever.
    pub(super) fn sweep(&self, module: &Module, keep: &[&str]) -> Result<(), NormaliseError> {
        let defined = || {
            let all = module.functions_and_globals();
            all.filter(|v| !v.is_declaration())
        };
        // By name, because the values themselves may be gone afterwards.
        let mut before: HashMap<String, LLVMLinkage> = HashMap::new();
        for value in defined() {
            let name = value.name();
            // Constructors and `used` data stay without being referred to.
            if is_local(value) || name.starts_with("llvm.") {
                continue;
            }
            before.insert(name.clone(), value.linkage());
            let stays = name == ENTRY || keep.contains(&name.as_str());
            value.set_linkage(if stays {
                LLVMLinkage::LLVMExternalLinkage
            } else {
                LLVMLinkage::LLVMInternalLinkage
            });
        }
        run(module, "globaldce")?;
        for value in defined() {
            let name = value.name();
            if let Some(&linkage) = before.get(&name) {
                let of_library = self.symbols.contains(&name);
                value.set_linkage(if of_library {
                    LLVMLinkage::LLVMExternalLinkage
                } else {
                    linkage
                });
            }
        }
        Ok(())
    }
}

/// The functions of the user, with what is to be known of those that are removed.
pub(super) fn users_functions(module: &Module) -> Vec<Unreached> {
    let functions = module.functions().into_iter();
    let users = functions.filter(|function| !function.is_declaration() && is_users(*function));
    users.map(|one| place_of(one.name(), one)).collect()
}

/// The place of a function and its lines with code.
fn place_of(name: String, function: Value<'_>) -> Unreached {
    let Some(place) = function.position() else {
        return Unreached {
            name,
            file: String::new(),
            line: 0,
            lines: Vec::new(),
        };
    };
    let is_here = |at: &Position| (&at.directory, &at.file) == (&place.directory, &place.file);
    let instructions = function
        .blocks()
        .into_iter()
        .flat_map(|block| block.instructions());
    let places = instructions.filter_map(Value::position).filter(is_here);
    let lines: BTreeSet<u32> = places.map(|at| at.line).collect();
    let file = Path::new(&place.directory).join(&place.file);
    Unreached {
        name,
        file: file.display().to_string(),
        line: place.line,
        lines: lines.into_iter().collect(),
    }
}

/// Records who provides a function.
pub(super) fn set_kind(function: Value<'_>, kind: &str) {
    function.set_string_attribute(KIND, kind);
}

/// Whether a function is the user's.
pub(super) fn is_users(function: Value<'_>) -> bool {
    function.string_attribute(KIND).as_deref() == Some("user")
}

fn is_local(value: Value<'_>) -> bool {
    use LLVMLinkage::*;
    matches!(
        value.linkage(),
        LLVMInternalLinkage
            | LLVMPrivateLinkage
            | LLVMAvailableExternallyLinkage
            | LLVMAppendingLinkage
    )
}

/// A module that is about to be linked.
struct Part<'a> {
    path: &'a Path,
    module: Module,
}

impl<'a> Part<'a> {
    fn read(into: &Module, path: &'a Path) -> Result<Part<'a>, NormaliseError> {
        let module = into.read_beside(path)?;
        Ok(Part { path, module })
    }

    fn mark(&self, kind: &str) {
        for function in self.module.functions() {
            if !function.is_declaration() {
                set_kind(function, kind);
            }
        }
    }

    fn link(self, into: &Module) -> Result<(), NormaliseError> {
        let failed = |LlvmError(message)| NormaliseError::Link {
            path: self.path.to_owned(),
            message,
        };
        into.link(self.module).map_err(failed)
    }
}

/// Renames a declaration, or replaces it by the existing symbol of that name.
fn rename<'m>(module: &'m Module, declaration: Value<'m>, name: &str) {
    let mut all = module.functions_and_globals();
    match all.find(|v| v.name() == name) {
        None => declaration.set_name(name),
        Some(existing) => {
            declaration.replace_all_uses(existing);
            declaration.delete();
        }
    }
}
