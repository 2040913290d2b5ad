//! Reads a normalised module into a [`Program`].
//!
//! Functions and blocks are numbered in module order, so that a block's number is the index of its
//! coverage counter in the native target. What LLVM has and [`ir`](super::ir) does not is
//! translated: aggregates and vectors become runs of scalar registers (`types`), constants become
//! bit patterns with the addresses of globals resolved (`constants`), phi nodes become moves on
//! edges (`body`), calls get their System V argument classes (`calls`) and LLVM's intrinsics become
//! operations (`intrinsics`).
//!
//! Loading never fails because of the *contents* of a function: a construct that is not modelled
//! becomes [`Op::Unmodelled`] at its place, so that only the goals behind it stay open.

mod accesses;
mod assembly;
mod body;
mod calls;
mod constants;
mod describe;
mod instructions;
mod intrinsics;
mod lanes;
mod memory;
mod names;
mod numbering;
mod processor;
mod scopes;
mod simd;
mod types;
mod variables;
mod vectors;

use std::path::{Path, PathBuf};

use cegar_llvm::{BasicBlock, Layout, Metadata, Module, ModuleError, Value, metadata};
use rustc_hash::FxHashMap;

use super::convention::USER_ENTRY;
use super::ir::*;
use super::outside::{Effects, ExternalEffects};
use super::sources::Sources;
pub(crate) use calls::string;
use constants::Constants;
pub use names::sanitizer;
pub(crate) use names::{failing, intrinsic, violation};
use types::Types;
use variables::Variables;

/// The reason why a module cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file is not a well-formed module.
    #[error(transparent)]
    Module(#[from] ModuleError),
    /// The function in which execution starts is missing.
    #[error("{} has no function `{entry}` with a body", path.display())]
    NoEntry {
        /// The module.
        path: PathBuf,
        /// The function that was looked for.
        entry: String,
    },
    /// More blocks, functions or globals than there are object numbers for.
    #[error("{} is too large: {what}", path.display())]
    TooLarge {
        /// The module.
        path: PathBuf,
        /// The items of which there are too many.
        what: &'static str,
    },
}

/// The size in bytes of the largest variable. The engine holds the contents of all variables.
const MOST: u64 = 1 << 30;

/// The function in which execution starts.
pub const ENTRY: &str = "cegar_entry";

impl Program {
    /// Reads a normalised module; execution starts in `cegar_entry`.
    pub fn load(path: &Path) -> Result<Program, LoadError> {
        Program::load_with_entry(path, ENTRY)
    }

    /// Reads a module; execution starts in `entry`.
    pub fn load_with_entry(path: &Path, entry: &str) -> Result<Program, LoadError> {
        Program::read(path, entry, false)
    }

    /// Reads a normalised module with [`Program::loops`], which are needed only to state facts in
    /// C.
    pub fn load_with_loops(path: &Path) -> Result<Program, LoadError> {
        Program::read(path, ENTRY, true)
    }

    fn read(path: &Path, entry: &str, with_loops: bool) -> Result<Program, LoadError> {
        let module = Module::read(path)?;
        module.verify(&path.display().to_string())?;
        let mut loader = Loader::new(&module);
        if with_loops {
            loader.heads = scopes::of(&module);
        }
        loader.number();
        let counts = [
            (
                loader.program.globals.len(),
                FUNCTION_OBJECTS - GLOBAL_OBJECTS,
                "globals",
            ),
            (
                loader.program.functions.len(),
                BLOCK_OBJECTS - FUNCTION_OBJECTS,
                "functions",
            ),
            (
                loader.block_count,
                DYNAMIC_OBJECTS - BLOCK_OBJECTS,
                "blocks",
            ),
        ];
        for (count, most, what) in counts {
            if count >= most as usize {
                return Err(LoadError::TooLarge {
                    path: path.to_owned(),
                    what,
                });
            }
        }
        let lifted = module.named_nodes(super::convention::LIFTED);
        loader.program.lifted = lifted.iter().map(|node| node.string_at(0)).collect();
        let is_large = |global: &Value<'_>| loader.layout.size(global.value_type()) >= MOST;
        if module.globals().iter().any(is_large) {
            return Err(LoadError::TooLarge {
                path: path.to_owned(),
                what: "a variable of 1 GB or more",
            });
        }
        loader.globals();
        loader.bodies();
        let mut program = loader.program;
        program.shapes = loader.variables.shapes;
        match program.function_named(entry) {
            Some(id) if program.function(id).is_defined() => program.entry = id,
            _ => {
                return Err(LoadError::NoEntry {
                    path: path.to_owned(),
                    entry: entry.to_owned(),
                });
            }
        }
        program.outside = ExternalEffects::of(&program);
        Ok(program)
    }
}

/// The state of a load.
struct Loader<'m> {
    module: &'m Module,
    layout: Layout<'m>,
    types: Types<'m>,
    constants: Constants<'m>,
    program: Program,
    /// The functions that have a number, defined or declared, with that number.
    functions: Vec<(FuncId, Value<'m>)>,
    blocks: FxHashMap<BasicBlock<'m>, BlockId>,
    block_count: usize,
    files: FxHashMap<(String, String), u32>,
    variables: Variables<'m>,
    /// The heads of loops, if they were asked for.
    heads: FxHashMap<BasicBlock<'m>, scopes::Head<'m>>,
    sources: Sources,
}

impl<'m> Loader<'m> {
    fn new(module: &'m Module) -> Loader<'m> {
        Loader {
            module,
            layout: module.layout(),
            types: Types::new(module.layout()),
            constants: Constants::new(module.layout()),
            program: Program::default(),
            functions: Vec::new(),
            blocks: FxHashMap::default(),
            block_count: 0,
            files: FxHashMap::default(),
            variables: variables::of(module),
            heads: FxHashMap::default(),
            sources: Sources::default(),
        }
    }

    /// Numbers every function, block and global. LLVM's own intrinsics get no number.
    fn number(&mut self) {
        for function in self.module.functions() {
            let name = function.name();
            if name.starts_with("llvm.") || name == super::convention::UNINIT {
                continue;
            }
            let id = FuncId(self.functions.len() as u32);
            let first = self.block_count as u32;
            for block in function.blocks() {
                let number = BlockId(self.block_count as u32);
                self.blocks.insert(block, number);
                self.constants
                    .add_block(block, Program::block_address(number));
                self.block_count += 1;
            }
            self.constants
                .add_global(function, Program::function_address(id));
            self.functions.push((id, function));
            let kind = if function.is_declaration() {
                names::declared(&name)
            } else {
                match function
                    .string_attribute(super::convention::KIND)
                    .as_deref()
                {
                    Some("stub") => FunctionKind::Stub,
                    Some("engine-only") => FunctionKind::EngineOnly,
                    Some("mock") => FunctionKind::Mock,
                    _ => FunctionKind::User,
                }
            };
            if kind == FunctionKind::Mock && !name.starts_with(super::convention::MEMBER) {
                self.program.mocked.push(name.clone());
            }
            let pos = self.position(function);
            let ty = function.value_type();
            let flatten = |types: &mut Types<'m>, ty| {
                types
                    .leaves(ty)
                    .map(|l| l.iter().map(|l| l.width).collect::<Vec<_>>())
                    .unwrap_or_default()
            };
            let params = ty
                .params()
                .into_iter()
                .flat_map(|p| flatten(&mut self.types, p))
                .collect();
            let result = flatten(&mut self.types, ty.result());
            self.program.functions.push(Function {
                name: source_name(function, name),
                kind,
                params,
                varargs: ty.is_vararg(),
                result,
                blocks: first..self.block_count as u32,
                registers: Vec::new(),
                names: Vec::new(),
                lines: Vec::new(),
                addressed: is_addressed(function),
                effects: function
                    .string_attribute(super::convention::EFFECTS)
                    .map_or_else(Effects::default, |text| Effects::read(&text)),
                pos,
            });
        }
        for (index, global) in self.module.globals().into_iter().enumerate() {
            let id = GlobalId(index as u32);
            self.constants
                .add_global(global, Program::global_address(id, 0));
            let name = global.name();
            let pos = self.position(global);
            let variable = self.variables.of(global).first().cloned();
            let (source_name, shape) = match variable {
                Some(variable) => (variable.name, variable.shape),
                None if describe::is_identifier(&name) => (name.clone(), None),
                None => (String::new(), None),
            };
            self.program.globals.push(Global {
                name,
                source_name,
                shape,
                init: Vec::new(),
                zeros: false,
                constant: global.is_global_constant(),
                align: global.align().max(self.layout.align(global.value_type())),
                external: global.is_declaration() || global.is_marked(super::convention::UNDEFINED),
                visible: global.is_marked(super::convention::VISIBLE),
                pos,
            });
        }
    }

    /// Reads the initial contents of globals. Every address has to be known by then. A global
    /// whose contents cannot be evaluated, or that leads to such a global, is unmodelled wherever
    /// code names it.
    fn globals(&mut self) {
        let globals = self.module.globals();
        let mut is_new = true;
        while std::mem::take(&mut is_new) {
            for (index, global) in globals.iter().enumerate() {
                if self.constants.is_vague(*global) {
                    continue;
                }
                if let Err(what) = self.initialise(index, *global) {
                    let reason = format!("the initial value of {}: {what}", global.name());
                    self.constants.add_vague(*global, reason);
                    is_new = true;
                }
            }
        }
    }

    fn initialise(&mut self, index: usize, global: Value<'m>) -> Result<(), String> {
        let size = self.layout.size(global.value_type()) as usize;
        let mut bytes = vec![0; size];
        let done = match global.initializer() {
            Some(value) => self.constants.write(value, &mut bytes),
            None => Ok(()),
        };
        let zeros = !(global.initializer()).is_some_and(|v| !v.is_null() && !v.is_undef());
        let global = &mut self.program.globals[index];
        (global.init, global.zeros) = (bytes, zeros);
        done
    }

    /// Reads the blocks and operations of every defined function.
    fn bodies(&mut self) {
        for (id, function) in std::mem::take(&mut self.functions) {
            if !function.is_declaration() {
                body::load(self, id, function);
                numbering::number(&mut self.program, id.index());
            }
        }
    }

    /// The source position of a value. Interns the name of the file.
    fn position(&mut self, value: Value<'m>) -> Pos {
        let Some(at) = value.position().filter(|at| !at.file.is_empty()) else {
            return Pos::default();
        };
        Pos {
            line: at.line,
            column: at.column,
            file: self.file(at.directory, at.file),
        }
    }

    fn file(&mut self, directory: String, name: String) -> u32 {
        let files = &mut self.program.files;
        *self
            .files
            .entry((directory, name))
            .or_insert_with_key(|(directory, name)| {
                let path = Path::new(directory).join(name).display().to_string();
                let at = files.iter().position(|f| *f == path).unwrap_or_else(|| {
                    files.push(path);
                    files.len() - 1
                });
                at as u32
            })
    }
}

#[cfg(test)]
mod tests;

/// Whether a function's address is used for anything but direct calls. The lists of symbols that
/// the linker must keep do not count.
fn is_addressed(function: Value<'_>) -> bool {
    let kept = |user: &Value<'_>| {
        let name = user.name();
        matches!(name.as_str(), "llvm.used" | "llvm.compiler.used")
    };
    function.users().into_iter().any(|user| {
        if user.is_instruction() {
            // The callee is the last operand.
            let uses = user.operands().iter().filter(|o| **o == function).count();
            return !(user.is_call() && user.callee() == function && uses == 1);
        }
        !user.users().iter().all(kept)
    })
}

/// The name that the user gave a function: in the module, the chosen entry has another name.
fn source_name(function: Value<'_>, name: String) -> String {
    if name != USER_ENTRY {
        return name;
    }
    let described = Metadata::of_function(function);
    let given = described.map(|about| about.string_at(metadata::NAME));
    given.filter(|given| !given.is_empty()).unwrap_or(name)
}
