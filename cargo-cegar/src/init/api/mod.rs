//! The declarations of a header, as clang understands them.
//!
//! A textual pattern cannot know what a macro hides, what a typedef means, or that a structure is
//! never defined. So clang dumps its syntax tree, with the flags with which the library itself is
//! compiled. (bindgen has the same knowledge, but expresses it in Rust types; a harness is C and
//! should use the header's own words.)

mod comment;
mod enumeration;
mod prototype;
pub mod single;
mod tree;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use cegar_model::program::{CallerMembers, MemorySizes};

use super::ctype::{Kind, Written};
use super::orders::Orders;
use crate::compile::Compiler;
use crate::error::Error;
use enumeration::Enumeration;
pub use prototype::Prototype;
use tree::read_one;

/// A function of the header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// Its name.
    pub name: String,
    /// What it returns.
    pub returns: Written,
    /// Its parameters.
    pub params: Vec<Parameter>,
    /// Whether it takes further arguments (`...`).
    pub variadic: bool,
    /// Whether the header defines it.
    pub inline: bool,
    /// Whether the header marks it as deprecated.
    pub deprecated: bool,
    /// Whether it has the attribute `pure` or `const`: compilers drop a call whose result is
    /// unused.
    pub pure: bool,
    /// The header that declares it, relative to the folder of the library's own header, if another
    /// header in or below that folder does.
    pub sibling_header: Option<String>,
    /// The comment before it in the header, without comment markers.
    pub comment: String,
}

#[cfg(test)]
impl Declared {
    /// A function of the header without further attributes.
    pub fn plain(name: &str, returns: &str, params: Vec<Parameter>, comment: &str) -> Declared {
        Declared {
            name: name.to_owned(),
            returns: super::ctype::read(returns),
            params,
            variadic: false,
            inline: false,
            deprecated: false,
            pure: false,
            sibling_header: None,
            comment: comment.to_owned(),
        }
    }
}

/// A parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name; empty if the header gives none.
    pub name: String,
    /// Its type.
    pub ty: Written,
    /// The text between the brackets of `key[32]`.
    pub bound: Option<String>,
    /// Whether the header says that it is never NULL (`nonnull`, `_Nonnull`).
    pub not_null: bool,
}

impl Parameter {
    /// A parameter with a name and a type and no further attributes.
    pub fn plain(name: impl Into<String>, ty: Written) -> Parameter {
        Parameter {
            name: name.into(),
            ty,
            bound: None,
            not_null: false,
        }
    }

    /// The name of parameter number `i`, counted from 0, in a harness.
    pub fn wanted(&self, i: usize) -> String {
        match self.name.as_str() {
            "" => format!("argument_{}", i + 1),
            name => name.to_owned(),
        }
    }
}

/// A defined structure or union.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Its members: name and type.
    pub fields: Vec<(String, Written)>,
    /// Whether it is a union.
    pub union: bool,
}

/// Everything that is known from a header.
#[derive(Clone, Debug, Default)]
pub struct Api {
    /// The functions that it declares, in their order there.
    pub functions: Vec<Declared>,
    /// Functions of headers next to it: the constructor or destructor of an object may be declared
    /// there.
    pub sibling_functions: Vec<Declared>,
    /// Defined structures, by tag, or by typedef if they have no tag.
    records: HashMap<String, Record>,
    /// Enumerations, by the same names.
    enums: HashMap<String, Enumeration>,
    typedefs: HashMap<String, Written>,
    /// Variables that the library declares `extern`: name and type.
    pub variables: Vec<(String, Written)>,
    /// The order in which callers call the functions.
    pub orders: Orders,
    /// Typedefs of `void *` to which functions return pointers: `codec_t *create(void)` creates an
    /// object whose identity is `codec_t *`.
    behind: BTreeSet<String>,
    /// Typedefs of `char *` that stand for an object: the name of a function that returns one says
    /// that it creates something, and another function releases one (`typedef char *sds`). Unlike
    /// other strings, such a string is preceded by a header in memory.
    texts: BTreeSet<String>,
    /// The documentation of function pointers, by their typedefs, or by the members and parameters
    /// that hold them ([`prototype::key`]).
    prototypes: HashMap<String, Prototype>,
    /// The macros of the header that stand for a number.
    pub numbers: BTreeMap<String, u64>,
    /// Headers next to it that the header itself includes. They may have no include guard.
    pub included: BTreeSet<String>,
    /// The sizes of the memory that the library's functions work on.
    pub sizes: MemorySizes,
    /// The members that the library reads and never writes, by structure.
    caller_members: HashMap<String, BTreeMap<String, bool>>,
}

/// Reads a header, and the headers next to it as far as they can be read together.
///
/// The other headers are read after it, in the order in which a harness includes them: one of them
/// may configure the header itself (`#define XXH_INLINE_ALL`), so that it declares something else
/// than its users see. A header that does not compile in this position, or that changes the
/// declarations, is left out.
pub fn read(compiler: &Compiler, header: &Path, flags: &[String]) -> Result<Api, Error> {
    let siblings = sibling_headers(header);
    let alone = read_one(compiler, (header, &[]), flags);
    if siblings.is_empty() {
        return alone;
    }
    let Ok(alone) = alone else {
        // The header may need declarations of the others.
        let includes = siblings
            .iter()
            .flat_map(|path| ["-include".to_owned(), path.display().to_string()]);
        let more: Vec<String> = flags.iter().cloned().chain(includes).collect();
        return match read_one(compiler, (header, &[]), &more) {
            Ok(api) if !api.functions.is_empty() => Ok(api),
            _ => alone,
        };
    };
    let included = alone.sibling_functions.iter();
    let included = included.filter_map(|one| one.sibling_header.clone());
    let included: BTreeSet<String> = included.collect();
    let read = read_beside(compiler, header, flags, (alone, siblings));
    Ok(Api { included, ..read })
}

/// The declarations of a header and of those next to it that can be read after it, where `alone`
/// are its own.
fn read_beside(
    compiler: &Compiler,
    header: &Path,
    flags: &[String],
    (alone, siblings): (Api, Vec<PathBuf>),
) -> Api {
    let names = |api: &Api| -> BTreeSet<String> {
        api.functions.iter().map(|one| one.name.clone()).collect()
    };
    let own = names(&alone);
    let as_before = |api: &Api| own.is_empty() && !api.functions.is_empty() || names(api) == own;
    if let Ok(api) = read_one(compiler, (header, &siblings), flags)
        && as_before(&api)
    {
        return api;
    }
    let (mut best, mut taken) = (alone, Vec::new());
    for one in siblings {
        taken.push(one);
        match read_one(compiler, (header, &taken), flags) {
            Ok(api) if as_before(&api) => best = api,
            _ => {
                taken.pop();
            }
        }
    }
    best
}

/// Whether a typedef is just another name for a pointer to anything: `voidpf`, `gpointer`,
/// `LPVOID`.
fn is_plain(name: &str) -> bool {
    let lower = name.to_lowercase();
    ["void", "pointer"].iter().any(|word| lower.contains(word))
}

/// The other headers in the same folder: a library with several public headers may create an object
/// in one of them and use it in another.
fn sibling_headers(header: &Path) -> Vec<PathBuf> {
    let own = header.canonicalize().unwrap_or_else(|_| header.to_owned());
    let folder = own.parent().map(std::fs::read_dir);
    let mut all: Vec<PathBuf> = folder
        .into_iter()
        .flatten()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| *path != own && path.extension().is_some_and(|e| e == "h"))
        .collect();
    all.sort();
    match all.len() {
        0..=SIBLINGS => all,
        _ => Vec::new(),
    }
}

/// If a folder has more other headers than this, they are taken as the library's internal ones and
/// ignored.
const SIBLINGS: usize = 16;

/// Words in the names of functions that create a string with a header before it.
const MAKES: &[&str] = &["new", "create", "make", "alloc", "empty", "init"];
/// Words in the names of functions that release such a string.
const GIVES_BACK: &[&str] = &["free", "destroy", "delete", "release"];

impl Api {
    /// An API that consists of functions only.
    #[cfg(test)]
    pub fn of(functions: Vec<Declared>) -> Api {
        Api {
            functions,
            ..Api::default()
        }
    }

    /// Moves functions of headers next to the library's own, which the crate binds too, to the
    /// functions that get harnesses. Returns the headers that declare them, relative to the folder.
    pub fn take_bound(&mut self, bound: &BTreeSet<String>) -> BTreeSet<String> {
        let siblings = std::mem::take(&mut self.sibling_functions);
        let (taken, left): (Vec<Declared>, Vec<Declared>) = siblings
            .into_iter()
            .partition(|function| bound.contains(&function.name));
        self.sibling_functions = left;
        let headers = taken.iter().filter_map(|one| one.sibling_header.clone());
        let headers = headers.collect();
        self.functions.extend(taken);
        headers
    }

    /// All functions that may create or release an object, those of the header itself first.
    pub fn all_functions(&self) -> impl Iterator<Item = &Declared> {
        self.functions.iter().chain(&self.sibling_functions)
    }

    /// The type behind typedefs, with the words of the innermost definition.
    pub fn resolve(&self, written: &Written) -> Written {
        let mut at = written.clone();
        for _ in 0..32 {
            let Kind::Named(name) = &at.kind else { break };
            let Some(next) = self.typedefs.get(name) else {
                break;
            };
            at = Written {
                constant: at.constant || next.constant,
                words: next.words.clone(),
                kind: next.kind.clone(),
            };
        }
        at
    }

    /// The type that a pointer leads to, if the type is a pointer.
    pub fn pointee(&self, written: &Written) -> Option<Written> {
        match self.resolve(written).kind {
            Kind::Pointer(to) => Some(*to),
            _ => None,
        }
    }

    /// The defined structure or union with this tag.
    pub fn record(&self, tag: &str) -> Option<&Record> {
        self.records.get(tag)
    }

    /// Notes the members that the library's code reads and never writes, so that callers set them.
    /// Structures with bit-fields are ignored: their members in C are not those in bitcode.
    pub fn take_caller_members(&mut self, found: &CallerMembers) {
        for (tag, members) in found {
            let record = self.records.get(tag);
            let is_same = |record: &&Record| record.fields.len() == members.count && !record.union;
            if let Some(record) = record.filter(is_same) {
                let names = members.set.iter();
                let names = names.map(|(&at, &compared)| (record.fields[at].0.clone(), compared));
                self.caller_members.insert(tag.clone(), names.collect());
            }
        }
    }

    /// Whether callers set a member of a structure, because the library only reads it.
    pub fn is_set_by_callers(&self, tag: &str, member: &str) -> bool {
        let members = self.caller_members.get(tag);
        members.is_some_and(|members| members.contains_key(member))
    }

    /// Whether the library compares such a member with something, for example a callback with NULL.
    pub fn is_compared(&self, tag: &str, member: &str) -> bool {
        let members = self.caller_members.get(tag);
        members.is_some_and(|members| members.get(member) == Some(&true))
    }

    /// All constants of an enumeration.
    pub fn constants(&self, tag: &str) -> &[String] {
        self.enums
            .get(tag)
            .map_or(&[], |one| one.constants.as_slice())
    }

    /// The constants of an enumeration that are valid values.
    pub fn values(&self, tag: &str) -> &[String] {
        self.enums.get(tag).map_or(&[], |one| one.values.as_slice())
    }

    /// The constants of an enumeration that are not valid values.
    pub fn marks(&self, tag: &str) -> Vec<&str> {
        let Some(one) = self.enums.get(tag) else {
            return Vec::new();
        };
        let marks = one
            .constants
            .iter()
            .filter(|name| !one.values.contains(name));
        marks.map(String::as_str).collect()
    }

    /// Whether the values of an enumeration are combinations of its constants.
    pub fn is_mask(&self, tag: &str) -> bool {
        self.enums.get(tag).is_some_and(|one| one.is_mask)
    }

    /// The identity of an object: the tag of a structure, the typedef of `void` or `void *` that
    /// stands for it, or a pointer to such a typedef.
    pub fn identity(&self, pointer: &Written) -> Option<String> {
        if let Some(name) = self.hidden(pointer) {
            return Some(name.to_owned());
        }
        if let Some(name) = self.text_object(pointer) {
            return Some(name.to_owned());
        }
        let to = self.pointee(pointer)?;
        match (self.resolve(&to).kind, &to.kind) {
            (Kind::Pointer(_), Kind::Named(name)) if self.behind.contains(name) => {
                Some(format!("{name} *"))
            }
            (Kind::Record(tag), _) => Some(tag),
            (Kind::Void, Kind::Named(name)) if !is_plain(name) => Some(name.clone()),
            _ => None,
        }
    }

    /// The typedef that hides a pointer to `void`: a handle (`cmsHPROFILE`), or memory whose layout
    /// is defined elsewhere (`soxr_in_t`). Such memory is not known to be bytes.
    pub fn hidden<'t>(&self, pointer: &'t Written) -> Option<&'t str> {
        let Kind::Named(name) = &pointer.kind else {
            return None;
        };
        let to = self.pointee(pointer)?;
        (to.kind == Kind::Void && !is_plain(name)).then_some(name.as_str())
    }

    fn behind(&self) -> BTreeSet<String> {
        let returned = self
            .all_functions()
            .filter_map(|f| self.pointee(&f.returns));
        let plain = |to: &Written| self.pointee(to).is_some_and(|to| to.kind == Kind::Void);
        let names = returned.filter(plain).filter_map(|to| match to.kind {
            Kind::Named(name) => Some(name),
            _ => None,
        });
        names.filter(|name| !is_plain(name)).collect()
    }

    fn texts(&self) -> BTreeSet<String> {
        let name = |ty: &Written| {
            let Kind::Named(name) = &ty.kind else {
                return None;
            };
            let to = self.pointee(ty)?;
            let is_text = matches!(self.resolve(&to).kind, Kind::Int { size: 1, .. });
            (is_text && !to.constant).then(|| name.clone())
        };
        let is_named = |function: &Declared, words: &[&str]| {
            let lower = function.name.to_lowercase();
            words.iter().any(|word| lower.contains(word))
        };
        let made = self
            .all_functions()
            .filter(|function| is_named(function, MAKES));
        let made: BTreeSet<String> = made
            .filter_map(|function| name(&function.returns))
            .collect();
        let backs = self
            .all_functions()
            .filter(|function| is_named(function, GIVES_BACK));
        let given_back = backs.filter_map(|function| match &function.params[..] {
            [only] => name(&only.ty),
            _ => None,
        });
        given_back.filter(|name| made.contains(name)).collect()
    }

    /// The identity of an object that is passed as a pointer or as a number.
    pub fn handle(&self, ty: &Written) -> Option<String> {
        self.identity(ty).or_else(|| self.number_identity(ty))
    }

    /// The library's own typedef of an integer, which may be the handle of an object: `typedef
    /// size_t csh;`
    pub fn number_identity(&self, ty: &Written) -> Option<String> {
        const PLAIN: &[&str] = &[
            "size", "int", "long", "char", "byte", "bool", "word", "off", "time",
        ];
        let Kind::Named(name) = &ty.kind else {
            return None;
        };
        let lower = name.to_lowercase();
        let is_plain = PLAIN.iter().any(|word| lower.contains(word));
        let is_number = matches!(self.resolve(ty).kind, Kind::Int { size, .. } if size >= 4);
        (is_number && !is_plain).then(|| format!("{name} (a number)"))
    }

    /// The typedef of `char *` that stands for an object, if the type is one.
    pub fn text_object<'t>(&self, ty: &'t Written) -> Option<&'t str> {
        match &ty.kind {
            Kind::Named(name) if self.texts.contains(name) => Some(name),
            _ => None,
        }
    }

    /// The documentation of a function that is called through a member or parameter with this name
    /// and type.
    pub fn prototype(&self, name: &str, ty: &Written) -> Option<&Prototype> {
        match &ty.kind {
            Kind::Named(name) => self.prototypes.get(name),
            Kind::Pointer(to) if matches!(to.kind, Kind::Named(_)) => self.prototype(name, to),
            _ => self.prototypes.get(&prototype::key(name, ty)),
        }
    }

    /// The function with this name, if the header declares it.
    pub fn function(&self, name: &str) -> Option<&Declared> {
        self.functions.iter().find(|function| function.name == name)
    }
}
