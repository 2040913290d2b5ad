//! Finds undefined functions and generates C code that replaces them.
//!
//! In *Executable Counterexamples*, section 4, a mock returns recorded values and guesses the sizes
//! of pointer targets. Here the prototype of each function is looked up in the debug information of
//! the files that declare it. A function that returns a pointer, takes pointers or functions, or
//! has rules in `cegar.toml` gets a body in C, which the harness crate writes, so that search,
//! proofs and tests compile the same text. Other functions just take a choice from the tape.

pub(crate) mod debug_info;
mod effects;
mod names;
mod types;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use cegar_harness::build::{MockedFunction, search_bodies};
use cegar_harness::channel::Shape;
use cegar_harness::external::{Holds, ObjectType, Pointee, Signature, Types};
use cegar_harness::rules::{AddressOf, Rules};
use cegar_model::program::normalise::{Mocked, Provided, Returns};

use self::debug_info::DebugInfo;
use self::types::Describe;
use crate::compile::{self, Compiler, Unit};
use crate::config::nearest;
use crate::error::Error;
use crate::store;

/// The maximum number of bytes for `address_of`, because each byte is a choice of the tape.
const ROOM: usize = 1 << 20;

/// The undefined functions with the facts about them.
#[derive(Clone, Debug, Default)]
pub struct Externals {
    /// The functions.
    pub functions: Vec<MockedFunction>,
}

/// The inputs of the search for prototypes, and the folder for its output.
pub struct Search<'a> {
    /// The program's files.
    pub units: &'a [Unit],
    /// The compiler.
    pub compiler: &'a Compiler,
    /// The harness's scratch folder.
    pub scratch: &'a Path,
    /// The user's rules, by function.
    pub rules: &'a BTreeMap<String, Rules>,
    /// The identifiers of the assumptions that the user has lifted.
    pub lifted: &'a BTreeSet<String>,
    /// Set when the user stops the command.
    pub stop: &'a AtomicBool,
}

impl Externals {
    /// The rules for functions that are not called and that no file of the program mentions, each
    /// with the most similar name of a called function without a rule, if any. A name that occurs
    /// in a file is not a mistake, because another harness may call the function.
    pub fn misspelt<'a>(
        &'a self,
        rules: &'a BTreeMap<String, Rules>,
        units: &[Unit],
    ) -> Vec<(&'a str, Option<&'a str>)> {
        let is_known = |rule: &str| {
            let mut texts = units
                .iter()
                .filter_map(|unit| std::fs::read(&unit.source).ok());
            texts.any(|text| String::from_utf8_lossy(&text).contains(rule))
        };
        let names = || self.functions.iter().map(|function| function.name.as_str());
        let without = names().filter(|name| !rules.contains_key(*name));
        let without: Vec<&str> = without.collect();
        rules
            .keys()
            .filter(|rule| names().all(|name| name != *rule) && !is_known(rule))
            .map(|rule| (rule.as_str(), nearest(rule, without.iter().copied())))
            .collect()
    }

    /// Determines the facts about the undefined functions. Returns the bitcode of the generated
    /// bodies, if there are any, and the functions' effects.
    pub fn provide(&mut self, missing: &[Mocked], search: &Search<'_>) -> Result<Provided, Error> {
        let info = search.debug_info(missing)?;
        for function in missing {
            let mut described = plain(function);
            let names = ParameterNames {
                search,
                function: &function.name,
                known: OnceCell::new(),
            };
            described.rules = names.in_rules()?;
            described.rules.returned().map_err(|why| {
                Error::usage(
                    format!("[external.{}]: {why}", function.name),
                    "for example `returns = \"0 | -errno\"`",
                )
            })?;
            described.rules.written().map_err(|why| {
                Error::usage(
                    format!("[external.{}]: {why}", function.name),
                    "for example `writes = \"n elements of row\"`, where `row` and `n` are \
                     parameters of its prototype",
                )
            })?;
            let structure = match &function.returns {
                Returns::Pointer { structure, .. } => structure.as_deref(),
                _ => None,
            };
            described.outputs.clone_from(&function.outputs);
            let found = info.iter().find_map(|info| {
                let mut describe = Describe::new(info);
                let signature = describe.declared(&function.name, structure)?;
                Some((describe, signature))
            });
            if let Some((mut describe, mut signature)) = found {
                // A structure that is passed in registers becomes several parameters in LLVM.
                if signature.params.iter().any(Holds::is_aggregate) {
                    described.outputs.clear();
                }
                described.address = address(&mut describe, &described, &signature)?;
                let all = describe.into_types();
                let mut reached = std::collections::BTreeSet::new();
                let led_to = described.address.clone().map(Holds::Pointer);
                for holds in signature
                    .params
                    .iter()
                    .chain(&signature.returns)
                    .chain(&led_to)
                {
                    Types(&all).reach(holds, &mut reached);
                }
                described.returns = match &described.address {
                    Some(_) => Shape::Pointer { size: 0 },
                    None => refined(&all, signature.returns.as_ref(), described.returns),
                };
                described.may_return_any_address &= described.address.is_none();
                if names::may_have_rows(&signature, Types(&all)) {
                    signature.rows = names::rows(&signature, Types(&all), names.get()?);
                }
                described.types = all;
                described
                    .types
                    .retain(|object| reached.contains(&object.name));
                described.signature = Some(signature);
            } else if described.rules.address_of.is_some() {
                return Err(Error::usage(
                    format!(
                        "[external.{}]: `address_of` needs the function's prototype, and no file \
                         declares it",
                        function.name
                    ),
                    "include the header that does",
                ));
            }
            self.functions.push(described);
        }
        unify(&mut self.functions);
        let known = self.functions.iter();
        let effects = known
            .flat_map(|function| effects::all(function, search.lifted))
            .collect();
        let mut provided = Provided {
            bodies: None,
            effects,
        };
        let text = search_bodies(&self.functions);
        if text.is_empty() {
            return Ok(provided);
        }
        let file = search.scratch.join("mocks.c");
        store::write(&file, text.as_bytes())?;
        let unit = Unit {
            source: file,
            directory: search.scratch.to_owned(),
            flags: ["-w", "-std=gnu11", "-fno-builtin", "-g0"]
                .map(str::to_owned)
                .to_vec(),
        };
        let made = compile::compile_unchecked(
            search.compiler,
            &[unit],
            &search.scratch.join("bitcode"),
            search.stop,
        )?;
        provided.bodies = made.bitcode.into_iter().next();
        Ok(provided)
    }
}

/// The target of a function's result according to the user's rule `address_of`.
fn address(
    describe: &mut Describe<'_>,
    function: &MockedFunction,
    signature: &Signature,
) -> Result<Option<Pointee>, Error> {
    let Some(rule) = &function.rules.address_of else {
        return Ok(None);
    };
    let wrong = |why: String, help: &str| {
        Error::usage(
            format!("[external.{}]: {why}", function.name),
            help.to_owned(),
        )
    };
    match &signature.returns {
        Some(Holds::Int { size: 8, .. } | Holds::Pointer(_)) => {}
        _ => {
            return Err(wrong(
                "its result is too small to be an address".to_owned(),
                "`address_of` is for functions that return 8 bytes",
            ));
        }
    }
    match rule {
        AddressOf::Bytes(size) if (1..=ROOM).contains(size) => Ok(Some(describe.bytes(*size))),
        AddressOf::Bytes(size) => Err(wrong(
            format!("{size} bytes are not possible"),
            "`address_of` is between 1 and 1048576 bytes",
        )),
        AddressOf::Structure(name) => match describe.pointer_to(name) {
            Some(pointee) => Ok(Some(pointee)),
            None => Err(wrong(
                format!("no structure `{name}` is known where it is declared"),
                "`address_of` is a number of bytes, or the name of a structure",
            )),
        },
    }
}

/// The names of a function's parameters, which clang is asked for at most once and only on demand.
struct ParameterNames<'a> {
    search: &'a Search<'a>,
    function: &'a str,
    known: OnceCell<Vec<Option<String>>>,
}

impl ParameterNames<'_> {
    /// The names, as far as a file that mentions the function declares them.
    fn get(&self) -> Result<&[Option<String>], Error> {
        if let Some(known) = self.known.get() {
            return Ok(known);
        }
        let Search {
            compiler, scratch, ..
        } = *self.search;
        let mut found = Vec::new();
        for unit in self.search.mentioning(&[self.function]) {
            let trees = compile::syntax_trees(compiler, unit, scratch, self.function)?;
            if let Some(names) = trees.and_then(|trees| names::of(self.function, &trees)) {
                found = names;
                break;
            }
        }
        Ok(self.known.get_or_init(|| found))
    }

    /// The user's rules for the function, with the names of its parameters replaced by numbers.
    fn in_rules(&self) -> Result<Rules, Error> {
        let rules = self.search.rules.get(self.function);
        let rules = rules.cloned().unwrap_or_default();
        if !rules.has_names() {
            return Ok(rules);
        }
        let names = self.get()?;
        let number_of = |name: &str| {
            names
                .iter()
                .position(|known| known.as_deref() == Some(name))
        };
        Ok(rules.numbered(&number_of))
    }
}

impl Search<'_> {
    /// The files that mention one of these functions. If there are none, all files, because a macro
    /// may compose a name.
    fn mentioning(&self, names: &[&str]) -> Vec<&Unit> {
        let mentions = |unit: &&Unit| {
            let text = std::fs::read(unit.directory.join(&unit.source)).unwrap_or_default();
            let text = String::from_utf8_lossy(&text).into_owned();
            names.iter().any(|name| text.contains(name))
        };
        let units: Vec<&Unit> = self.units.iter().filter(mentions).collect();
        match units.is_empty() {
            true => self.units.iter().collect(),
            false => units,
        }
    }

    /// The debug information of the files that mention one of the missing functions.
    fn debug_info(&self, missing: &[Mocked]) -> Result<Vec<DebugInfo>, Error> {
        let names: Vec<&str> = missing.iter().map(|function| &*function.name).collect();
        let mut all = Vec::new();
        for unit in self.mentioning(&names) {
            all.extend(compile::printed(self.compiler, unit, self.scratch)?);
        }
        Ok(all.iter().map(|text| DebugInfo::read(text)).collect())
    }
}

/// Renames types: the same name may denote different types in two files, and the later one gets a
/// new name.
fn unify(functions: &mut [MockedFunction]) {
    let mut known: Vec<ObjectType> = Vec::new();
    for function in functions {
        let mut renamed: Vec<(String, String)> = Vec::new();
        for object in &function.types {
            if known
                .iter()
                .any(|other| other.name == object.name && other != object)
            {
                let mut name = format!("{}_of_{}", object.name, function.name);
                while known.iter().any(|other| other.name == name) {
                    name.push('_');
                }
                renamed.push((object.name.clone(), name));
            }
        }
        for (old, new) in &renamed {
            rename(function, old, new);
        }
        for object in &function.types {
            if !known.iter().any(|other| other.name == object.name) {
                known.push(object.clone());
            }
        }
    }
}

fn rename(function: &mut MockedFunction, old: &str, new: &str) {
    fn within(holds: &mut Holds, old: &str, new: &str) {
        match holds {
            Holds::Pointer(pointee) if pointee.to.as_deref() == Some(old) => {
                pointee.to = Some(new.to_owned());
            }
            Holds::Struct(name) if name == old => *name = new.to_owned(),
            Holds::Array { of, .. } => within(of, old, new),
            Holds::Code(signature) => {
                for holds in signature.params.iter_mut().chain(&mut signature.returns) {
                    within(holds, old, new);
                }
            }
            _ => {}
        }
    }
    for object in &mut function.types {
        if object.name == old {
            object.name = new.to_owned();
        }
        for member in &mut object.members {
            within(&mut member.holds, old, new);
        }
    }
    if let Some(pointee) = &mut function.address
        && pointee.to.as_deref() == Some(old)
    {
        pointee.to = Some(new.to_owned());
    }
    if let Some(signature) = &mut function.signature {
        for holds in signature.params.iter_mut().chain(&mut signature.returns) {
            within(holds, old, new);
        }
    }
}

/// The description of a function according to the bitcode alone.
fn plain(function: &Mocked) -> MockedFunction {
    let size = |bytes: u64| usize::try_from(bytes).unwrap_or(0);
    let returns = match &function.returns {
        Returns::Void => Shape::Void,
        Returns::Bool => Shape::Bool,
        Returns::Integer { bytes } => Shape::Int {
            size: *bytes as usize,
            signed: true,
        },
        Returns::Float { bytes } => Shape::Float {
            size: *bytes as usize,
        },
        Returns::Pointer { pointee, .. } => Shape::Pointer {
            size: size(*pointee),
        },
        Returns::Aggregate { bytes } => Shape::Struct { size: size(*bytes) },
    };
    let raw = matches!(
        function.returns,
        Returns::Pointer {
            may_return_any_address: true,
            ..
        }
    );
    MockedFunction {
        may_return_any_address: raw,
        ..MockedFunction::returning(&function.name, returns)
    }
}

/// The shape of a result, with the signedness of the prototype.
fn refined(types: &[ObjectType], returns: Option<&Holds>, plain: Shape) -> Shape {
    match (returns, plain) {
        (Some(Holds::Int { size, signed }), _) => Shape::Int {
            size: *size,
            signed: *signed,
        },
        (Some(Holds::Bool), _) => Shape::Bool,
        (Some(Holds::Struct(name)), _) => Shape::Struct {
            size: Types(types).get(name).map_or(0, |object| object.size),
        },
        _ => plain,
    }
}

/// The assumptions about these functions that a proof makes in addition to the program.
pub fn assumed(functions: &[MockedFunction]) -> Vec<String> {
    let mut all = Vec::new();
    let returns_object = functions.iter().any(|function| {
        matches!(function.result(), Some(Holds::Pointer(_))) && !function.may_return_any_address
    });
    if returns_object {
        all.push(format!(
            "chains of objects from outside have at most {} links, and rows of them {} elements, \
             past which no run goes",
            cegar_harness::external::codec::DEPTH,
            cegar_harness::external::codec::ELEMENTS,
        ));
    }
    all
}
