//! Linking: the user's modules, the entry's name, the library below.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use llvm_sys::LLVMLinkage;
use llvm_sys::prelude::LLVMModuleRef;

use super::{
    Entry, LinkRequest, NormaliseError, USER_ENTRY, USER_MAIN, granted, mocks, run, startup,
};
use crate::program::convention::{KIND, MEMBER, VISIBLE};
use crate::program::llvm::{
    Metadata, Module, Value, last_message, llvm, metadata, parse, parse_lazily,
};
use crate::program::load::ENTRY;

const FUZZER: &str = "LLVMFuzzerTestOneInput";

/// Links the user's modules, with their uses of the outside world redirected.
pub(super) fn user(module: &Module, request: &LinkRequest) -> Result<(), NormaliseError> {
    let mut parsed = Vec::new();
    let mut defined: HashMap<String, PathBuf> = HashMap::new();
    for path in &request.user_modules {
        let part = Part::read(module, path)?;
        for value in part.globals_and_functions() {
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
        .flat_map(Part::globals_and_functions)
        .filter(|v| !v.is_declaration() && !is_local(*v))
        .map(Value::name)
        .collect();
    for part in parsed {
        part.mark("user");
        // Before the link, which makes what it can local.
        for value in part.globals_and_functions() {
            if value.is_global_variable() && !value.is_declaration() && !is_local(value) {
                show(value);
            }
        }
        for value in part.globals_and_functions() {
            let name = value.name();
            if let Some(replacement) = request.redirections.get(&name)
                && value.is_declaration()
                && !weakly.contains(&name)
            {
                part.rename(value, replacement);
            }
        }
        part.link(module)?;
    }
    // C's `inline` definitions without an external one: the only body there is.
    for function in module.functions() {
        if function.linkage() == LLVMLinkage::LLVMAvailableExternallyLinkage {
            function.set_linkage(LLVMLinkage::LLVMInternalLinkage);
        }
    }
    Ok(())
}

/// Marks a variable as one that other files can reach, and the variables whose addresses it holds: what holds them may be
/// removed, since the program itself need not use it.
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
    let defined = |name: &str| module.function(name).filter(|f| !f.is_declaration());
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
            let ty = function.function_type();
            let result = ty.result();
            if !ty.params().is_empty() || !(result.is_void() || result.is_integer()) {
                return Err(NormaliseError::EntrySignature {
                    name: name.clone(),
                    signature: signature(module, function, name),
                });
            }
            function.set_linkage(LLVMLinkage::LLVMExternalLinkage);
            function.set_name(USER_ENTRY);
        }
    }
    // A second entry must not meet the native runner's own `main`.
    for name in ["main", FUZZER] {
        if (*entry != Entry::Fuzzer || name == "main")
            && let Some(other) = defined(name)
        {
            other.set_name(&format!("cegar_other_{name}"));
        }
    }
    Ok(())
}

/// A function's declaration in C's words.
fn signature(module: &Module, function: Value<'_>, name: &str) -> String {
    let about = Metadata::of_function(function);
    about
        .and_then(|about| metadata::declaration(module, about, name))
        .unwrap_or_else(|| format!("{name} ({})", function.function_type().text()))
}

/// The driver calls `cegar_user_main(argc, argv, envp)`; a `main` with fewer parameters gets a wrapper.
pub(super) fn adapt_main(module: &Module) -> Result<(), NormaliseError> {
    let Some(main) = module.function(USER_MAIN).filter(|f| !f.is_declaration()) else {
        return Ok(());
    };
    let ty = main.function_type();
    let (parameters, result) = (ty.params(), ty.result());
    let context = module.context;
    let int = llvm!(LLVMInt32TypeInContext(context));
    let pointer = llvm!(LLVMPointerTypeInContext(context, 0));
    let mut full = [int, pointer, pointer];
    let fits = parameters.iter().zip(full).all(|(p, f)| p.0 == f) && parameters.len() <= 3;
    if !fits || !(result.is_void() || result.0 == int) {
        return Err(NormaliseError::EntrySignature {
            name: "main".to_owned(),
            signature: signature(module, main, "main"),
        });
    }
    if parameters.len() == 3 && !result.is_void() {
        return Ok(());
    }
    let wrapper_type = llvm!(LLVMFunctionType(int, full.as_mut_ptr(), 3, 0));
    let wrapper = Value::new(llvm!(LLVMAddFunction(
        module.module,
        c"cegar_call_main".as_ptr(),
        wrapper_type
    )));
    set_kind(module, wrapper, "stub");
    for user in main.users() {
        let is_driver =
            user.is_call() && user.callee() == main && user.callee_type().0 == wrapper_type;
        if is_driver {
            user.set_operand(user.operand_count() - 1, wrapper);
        }
    }
    let block = llvm!(LLVMAppendBasicBlockInContext(
        context,
        wrapper.0,
        c"entry".as_ptr()
    ));
    let builder = llvm!(LLVMCreateBuilderInContext(context));
    llvm!(LLVMPositionBuilderAtEnd(builder, block));
    let mut arguments: Vec<_> = wrapper
        .params()
        .iter()
        .take(parameters.len())
        .map(|p| p.0)
        .collect();
    let count = arguments.len() as u32;
    let called = llvm!(LLVMBuildCall2(
        builder,
        ty.0,
        main.0,
        arguments.as_mut_ptr(),
        count,
        c"".as_ptr()
    ));
    let status = if result.is_void() {
        llvm!(LLVMConstInt(int, 0, 0))
    } else {
        called
    };
    llvm!(LLVMBuildRet(builder, status));
    llvm!(LLVMDisposeBuilder(builder));
    Ok(())
}

/// What was linked below the user's code.
pub(super) struct Library {
    symbols: HashSet<String>,
}

/// Links stubs and engine-only functions. A definition of the user's takes precedence over a stub's, and stands beside a function of the
/// platform's that has its name.
pub(super) fn library(module: &Module, request: &LinkRequest) -> Result<Library, NormaliseError> {
    let mut symbols = HashSet::new();
    let mut users: HashSet<String> = module
        .functions()
        .into_iter()
        .chain(module.globals())
        .filter(|v| !v.is_declaration())
        .map(Value::name)
        .collect();
    for name in cegar_stubs::engine_only() {
        // The platform's functions call one another, whatever the program calls by their names.
        if let Some(own) = module.function(name).filter(|f| !f.is_declaration()) {
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
            let (raw, into) = (parse_lazily(module.context, path)?, module);
            Ok((Part { path, raw, into }, kind))
        })
        .collect::<Result<_, NormaliseError>>()?;
    let needed = needed(module, &parts);
    for ((part, kind), is_needed) in parts.into_iter().zip(needed) {
        part.mark(kind);
        for value in part.globals_and_functions() {
            if value.is_declaration() || is_local(value) {
                continue;
            }
            let name = value.name();
            // The library refers to its own data by name; a user's static of that name is another.
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

/// Which parts of the library the program needs, as a linker chooses the members of an archive: each that defines what is wanted, and
/// what these want in turn. What else there is would be linked and swept away.
fn needed(module: &Module, parts: &[(Part<'_>, &str)]) -> Vec<bool> {
    let mut definers: HashMap<String, Vec<usize>> = HashMap::new();
    let mut wants: Vec<Vec<String>> = Vec::with_capacity(parts.len());
    for (number, (part, _)) in parts.iter().enumerate() {
        let mut wanted = Vec::new();
        for value in part.globals_and_functions() {
            if value.is_declaration() {
                wanted.push(value.name());
            } else if !is_local(value) {
                definers.entry(value.name()).or_default().push(number);
            }
        }
        wants.push(wanted);
    }
    let all = module.functions().into_iter().chain(module.globals());
    let mut open: Vec<String> = all
        .filter(|value| value.is_declaration())
        .map(Value::name)
        .collect();
    let asked_by_name = [ENTRY, startup::ATEXIT].into_iter();
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
    /// Links bodies of functions that are undefined so far, and gives the names of the functions that it has. The functions among `names`
    /// become mocks, what they use becomes part of the library.
    pub(super) fn add(
        &mut self,
        module: &Module,
        path: &Path,
        names: &[&str],
    ) -> Result<HashSet<String>, NormaliseError> {
        let part = Part::read(module, path)?;
        part.mark("stub");
        let mut provided = HashSet::new();
        for value in part.globals_and_functions() {
            let name = value.name();
            if value.is_function() && name.starts_with(MEMBER) {
                set_kind(module, value, "mock");
            }
            if value.is_declaration() || is_local(value) {
                continue;
            }
            if value.is_function() && names.contains(&name.as_str()) {
                set_kind(module, value, "mock");
                provided.insert(name.clone());
            }
            self.symbols.insert(name);
        }
        part.link(module)?;
        Ok(provided)
    }

    /// Removes what the driver does not reach, in the library and in the user's code alike; `keep` stay. A harness
    /// calls a small part of what it is linked with, and blocks that no input can enter would be goals for ever. Gives the names
    /// of the user's functions that went.
    pub(super) fn sweep(
        &self,
        module: &Module,
        keep: &[&str],
    ) -> Result<Vec<String>, NormaliseError> {
        let defined = || {
            let all = module.functions().into_iter().chain(module.globals());
            all.filter(|v| !v.is_declaration())
        };
        // By name, since the values themselves may be gone afterwards.
        let mut before: HashMap<String, LLVMLinkage> = HashMap::new();
        let mut functions = Vec::new();
        for value in defined() {
            let name = value.name();
            if value.is_function() && !self.symbols.contains(&name) {
                functions.push(name.clone());
            }
            // Constructors and `used` data are there without being referred to.
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
        let mut left = HashSet::new();
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
            left.insert(name);
        }
        functions.retain(|name| !left.contains(name));
        Ok(functions)
    }
}

/// Says who provides a function.
pub(super) fn set_kind(module: &Module, function: Value<'_>, kind: &str) {
    set_attribute(module, function, KIND, kind);
}

/// Whether a function is the user's.
pub(super) fn is_users(function: Value<'_>) -> bool {
    function.string_attribute(KIND).as_deref() == Some("user")
}

/// Gives a function an attribute with a text.
pub(super) fn set_attribute(module: &Module, function: Value<'_>, name: &str, text: &str) {
    let attribute = llvm!(LLVMCreateStringAttribute(
        module.context,
        name.as_ptr().cast(),
        name.len() as u32,
        text.as_ptr().cast(),
        text.len() as u32
    ));
    llvm!(LLVMAddAttributeAtIndex(
        function.0,
        llvm_sys::LLVMAttributeFunctionIndex,
        attribute
    ));
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
    raw: LLVMModuleRef,
    /// The destination, whose context owns the part's types.
    into: &'a Module,
}

impl<'a> Part<'a> {
    fn read(into: &'a Module, path: &'a Path) -> Result<Part<'a>, NormaliseError> {
        let raw = parse(into.context, path)?;
        Ok(Part { path, raw, into })
    }

    fn globals_and_functions(&self) -> Vec<Value<'a>> {
        let mut all = Vec::new();
        let mut at = llvm!(LLVMGetFirstFunction(self.raw));
        while !at.is_null() {
            all.push(Value::new(at));
            at = llvm!(LLVMGetNextFunction(at));
        }
        at = llvm!(LLVMGetFirstGlobal(self.raw));
        while !at.is_null() {
            all.push(Value::new(at));
            at = llvm!(LLVMGetNextGlobal(at));
        }
        all
    }

    fn mark(&self, kind: &str) {
        for value in self.globals_and_functions() {
            if value.is_function() && !value.is_declaration() {
                set_kind(self.into, value, kind);
            }
        }
    }

    /// Renames a declaration, or makes it the one of that name that there is already.
    fn rename(&self, value: Value<'a>, name: &str) {
        let existing = self
            .globals_and_functions()
            .into_iter()
            .find(|v| v.name() == name);
        match existing {
            None => value.set_name(name),
            Some(existing) => {
                value.replace_all_uses(existing);
                if value.is_function() {
                    llvm!(LLVMDeleteFunction(value.0));
                } else {
                    llvm!(LLVMDeleteGlobal(value.0));
                }
            }
        }
    }

    fn link(self, into: &Module) -> Result<(), NormaliseError> {
        let (path, raw) = (self.path.to_owned(), self.raw);
        std::mem::forget(self);
        // SAFETY: both modules are live and share a context; the linker consumes the source.
        if unsafe { llvm_sys::linker::LLVMLinkModules2(into.module, raw) } != 0 {
            return Err(NormaliseError::Link {
                path,
                message: last_message(),
            });
        }
        Ok(())
    }
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        llvm!(LLVMDisposeModule(self.raw));
    }
}
