//! What a header declares, as clang understands it.
//!
//! A pattern over the header's text cannot know what a macro hides, what a typedef means, or that a
//! structure is never defined. So clang is asked for its syntax tree, with the flags that the
//! library itself is compiled with. (bindgen knows the same, but tells it in Rust's types; a
//! harness is C, and should use the header's own words.)

mod comment;
mod enumeration;
mod prototype;
pub mod single;
mod tree;

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

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
    /// Whether more may follow.
    pub variadic: bool,
    /// Whether the header defines it.
    pub inline: bool,
    /// Whether the header says that it is not to be called any more.
    pub deprecated: bool,
    /// The header beside the library's own that declares it, if that is where it is.
    pub beside: Option<String>,
    /// What the header says in a comment before it, without the comment's own signs.
    pub comment: String,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name; empty if the header gives none.
    pub name: String,
    /// Its type.
    pub ty: Written,
    /// What stands between the brackets of `key[32]`.
    pub bound: Option<String>,
    /// Whether the header says that it is never NULL (`nonnull`, `_Nonnull`).
    pub not_null: bool,
}

impl Parameter {
    /// A parameter of which no more is known than its name and its type.
    pub fn plain(name: impl Into<String>, ty: Written) -> Parameter {
        Parameter {
            name: name.into(),
            ty,
            bound: None,
            not_null: false,
        }
    }

    /// What a harness calls parameter number `i`, counted from 0.
    pub fn wanted(&self, i: usize) -> String {
        match self.name.as_str() {
            "" => format!("argument_{}", i + 1),
            name => name.to_owned(),
        }
    }
}

/// A structure or union that is defined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Its members: name and type.
    pub fields: Vec<(String, Written)>,
    /// Whether its members share their bytes.
    pub union: bool,
}

/// All that is known from a header.
#[derive(Clone, Debug, Default)]
pub struct Api {
    /// The functions that it declares, in order.
    pub functions: Vec<Declared>,
    /// Functions of headers beside it: an object's constructor or destructor may be declared there.
    pub near: Vec<Declared>,
    /// Structures that are defined, by tag, or by the typedef of one without.
    records: HashMap<String, Record>,
    /// The constants of enumerations, by the same names.
    enums: HashMap<String, Enumeration>,
    typedefs: HashMap<String, Written>,
    /// Variables that the library defines: name and type.
    pub variables: Vec<(String, Written)>,
    /// In which order callers call them.
    pub orders: Orders,
    /// Typedefs of `void *` of which functions return pointers: `codec_t *create(void)` makes an
    /// object that is known by its `codec_t *`.
    behind: BTreeSet<String>,
    /// Typedefs of `char *` that stand for an object: what returns one is named like what makes
    /// something, and there is a function that gives one back (`typedef char *sds`). Its text has a
    /// header before it, as no other text has.
    texts: BTreeSet<String>,
    /// What the header says of the functions that the library calls, by their typedefs, or by the
    /// members and parameters that point to them ([`prototype::key`]).
    prototypes: HashMap<String, Prototype>,
}

/// Reads a header, with those beside it as far as they can be read together.
///
/// The others are read behind it, as a harness includes them: one of them may switch something in
/// the header itself (`#define XXH_INLINE_ALL`), and what it declares then is not what its users
/// see. A header is left out that does not compile behind it, or that changes what it declares.
pub fn read(compiler: &Compiler, header: &Path, flags: &[String]) -> Result<Api, Error> {
    let beside = beside(header);
    let alone = read_one(compiler, (header, &[]), flags);
    if beside.is_empty() {
        return alone;
    }
    let Ok(alone) = alone else {
        // It may want what one of the others declares.
        let includes = beside
            .iter()
            .flat_map(|path| ["-include".to_owned(), path.display().to_string()]);
        let more: Vec<String> = flags.iter().cloned().chain(includes).collect();
        return match read_one(compiler, (header, &[]), &more) {
            Ok(api) if !api.functions.is_empty() => Ok(api),
            _ => alone,
        };
    };
    let names = |api: &Api| -> BTreeSet<String> {
        api.functions.iter().map(|one| one.name.clone()).collect()
    };
    let own = names(&alone);
    let as_before = |api: &Api| own.is_empty() && !api.functions.is_empty() || names(api) == own;
    if let Ok(api) = read_one(compiler, (header, &beside), flags)
        && as_before(&api)
    {
        return Ok(api);
    }
    let (mut best, mut taken) = (alone, Vec::new());
    for one in beside {
        taken.push(one);
        match read_one(compiler, (header, &taken), flags) {
            Ok(api) if as_before(&api) => best = api,
            _ => {
                taken.pop();
            }
        }
    }
    Ok(best)
}

/// Whether a typedef is a pointer to anything by another name: `voidpf`, `gpointer`, `LPVOID`.
fn is_plain(name: &str) -> bool {
    let lower = name.to_lowercase();
    ["void", "pointer"].iter().any(|word| lower.contains(word))
}

/// Headers in the same folder: a library of several public ones makes in one what it uses in
/// another.
fn beside(header: &Path) -> Vec<PathBuf> {
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
        0..=BESIDE => all,
        _ => Vec::new(),
    }
}

/// With more headers beside it than this, a folder holds the library's inner ones.
const BESIDE: usize = 16;

/// In the names of functions that make a text with a header before it.
const MAKES: &[&str] = &["new", "create", "make", "alloc", "empty", "init"];
/// In the names of functions that give one back.
const GIVES_BACK: &[&str] = &["free", "destroy", "delete", "release"];

impl Api {
    /// A header with nothing but functions.
    #[cfg(test)]
    pub fn of(functions: Vec<Declared>) -> Api {
        Api {
            functions,
            ..Api::default()
        }
    }

    /// All functions that may make an object or give it back, the header's own first.
    pub fn makers(&self) -> impl Iterator<Item = &Declared> {
        self.functions.iter().chain(&self.near)
    }

    /// The type behind typedefs; its words stay those of the innermost pointer-free name that C
    /// accepts.
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

    /// What a pointer leads to, if the type is one, in the words that lead there.
    pub fn pointee(&self, written: &Written) -> Option<Written> {
        match self.resolve(written).kind {
            Kind::Pointer(to) => Some(*to),
            _ => None,
        }
    }

    /// A structure that is defined.
    pub fn record(&self, tag: &str) -> Option<&Record> {
        self.records.get(tag)
    }

    /// The constants of an enumeration.
    pub fn constants(&self, tag: &str) -> &[String] {
        self.enums
            .get(tag)
            .map_or(&[], |one| one.constants.as_slice())
    }

    /// The constants of an enumeration that are values.
    pub fn values(&self, tag: &str) -> &[String] {
        self.enums.get(tag).map_or(&[], |one| one.values.as_slice())
    }

    /// The constants of an enumeration that are no values of it.
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

    /// Whether a value of an enumeration is several of its constants at once.
    pub fn is_mask(&self, tag: &str) -> bool {
        self.enums.get(tag).is_some_and(|one| one.is_mask)
    }

    /// By what an object is known: a structure's tag, the typedef of `void` or `void *` that stands
    /// for it, or a pointer to such a typedef.
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

    /// The typedef behind which a pointer to `void` is hidden: a handle (`cmsHPROFILE`), or memory
    /// whose shape something else decides (`soxr_in_t`). It is not known to be bytes.
    pub fn hidden<'t>(&self, pointer: &'t Written) -> Option<&'t str> {
        let Kind::Named(name) = &pointer.kind else {
            return None;
        };
        let to = self.pointee(pointer)?;
        (to.kind == Kind::Void && !is_plain(name)).then_some(name.as_str())
    }

    fn behind(&self) -> BTreeSet<String> {
        let returned = self.makers().filter_map(|f| self.pointee(&f.returns));
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
        let made = self.makers().filter(|function| is_named(function, MAKES));
        let made: BTreeSet<String> = made
            .filter_map(|function| name(&function.returns))
            .collect();
        let backs = self
            .makers()
            .filter(|function| is_named(function, GIVES_BACK));
        let given_back = backs.filter_map(|function| match &function.params[..] {
            [only] => name(&only.ty),
            _ => None,
        });
        given_back.filter(|name| made.contains(name)).collect()
    }

    /// By what an object is known, whether it is handed on by a pointer or by a number.
    pub fn handle(&self, ty: &Written) -> Option<String> {
        self.identity(ty).or_else(|| self.number_identity(ty))
    }

    /// The library's own typedef of a whole number, which may stand for an object: `typedef size_t
    /// csh;`
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

    /// The typedef of `char *` that stands for an object, if a type is one.
    pub fn text_object<'t>(&self, ty: &'t Written) -> Option<&'t str> {
        match &ty.kind {
            Kind::Named(name) if self.texts.contains(name) => Some(name),
            _ => None,
        }
    }

    /// What the header says of a function that is called through a member or a parameter of this
    /// name and type.
    pub fn prototype(&self, name: &str, ty: &Written) -> Option<&Prototype> {
        match &ty.kind {
            Kind::Named(name) => self.prototypes.get(name),
            Kind::Pointer(to) if matches!(to.kind, Kind::Named(_)) => self.prototype(name, to),
            _ => self.prototypes.get(&prototype::key(name, ty)),
        }
    }

    /// The function of that name.
    pub fn function(&self, name: &str) -> Option<&Declared> {
        self.functions.iter().find(|function| function.name == name)
    }
}
