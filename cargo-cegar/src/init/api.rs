//! What a header declares, as clang understands it.
//!
//! A pattern over the header's text cannot know what a macro hides, what a typedef means, or that a structure is never
//! defined. So clang is asked for its syntax tree, with the flags that the library itself is compiled with. (bindgen knows
//! the same, but tells it in Rust's types; a harness is C, and should use the header's own words.)

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use super::ctype::{self, Kind, Written};
use super::orders::Orders;
use crate::compile::Compiler;
use crate::error::Error;

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
}

impl Parameter {
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
    /// Those of headers beside it: what makes and gives back an object may be declared there.
    pub near: Vec<Declared>,
    /// Structures that are defined, by tag, or by the typedef of one without.
    records: HashMap<String, Record>,
    /// The constants of enumerations, by the same names.
    enums: HashMap<String, Vec<String>>,
    typedefs: HashMap<String, Written>,
    /// Variables that the library defines: name and type.
    pub variables: Vec<(String, Written)>,
    /// In which order callers call them.
    pub orders: Orders,
    /// Typedefs of `void *` of which functions return pointers: `codec_t *create(void)` makes an object that is known by its `codec_t *`.
    behind: BTreeSet<String>,
}

/// A node of clang's tree, as far as it matters.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Node {
    id: String,
    kind: String,
    name: String,
    loc: Place,
    range: Range,
    #[serde(rename = "type")]
    ty: Type,
    inner: Vec<Node>,
    tag_used: String,
    complete_definition: bool,
    variadic: bool,
    storage_class: String,
    is_implicit: bool,
    owned_tag_decl: Option<Tag>,
    is_bitfield: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Tag {
    id: String,
    name: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Type {
    qual_type: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Range {
    begin: Place,
    end: Place,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Place {
    offset: Option<usize>,
    file: Option<String>,
    tok_len: usize,
    spelling_loc: Option<Box<Place>>,
    expansion_loc: Option<Box<Place>>,
}

/// Reads a header, with those beside it as far as they can be read together.
pub fn read(compiler: &Compiler, header: &Path, flags: &[String]) -> Result<Api, Error> {
    let beside = beside(header);
    if !beside.is_empty() {
        let includes = beside
            .iter()
            .flat_map(|path| ["-include".to_owned(), path.display().to_string()]);
        let more: Vec<String> = flags.iter().cloned().chain(includes).collect();
        if let Ok(api) = read_one(compiler, header, &more)
            && !api.functions.is_empty()
        {
            return Ok(api);
        }
    }
    read_one(compiler, header, flags)
}

/// Headers in the same folder: a library of several public ones makes in one what it uses in another.
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

fn read_one(compiler: &Compiler, header: &Path, flags: &[String]) -> Result<Api, Error> {
    let output = Command::new(&compiler.path)
        .args(["-x", "c", "-fsyntax-only", "-w", "-std=gnu11"])
        .args(["-Xclang", "-ast-dump=json"])
        .args(["-include", "stddef.h", "-include", "stdint.h"])
        // Old headers want a `FILE` to be known already.
        .args(["-include", "stdbool.h", "-include", "stdio.h"])
        .args(flags)
        .arg(header)
        .output()
        .map_err(|why| Error::io("run", &compiler.path, why))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said: Vec<&str> = said.lines().take(12).collect();
        return Err(Error::nothing(
            format!(
                "`{}` does not compile by itself\n{}",
                header.display(),
                said.join("\n")
            ),
            "name the header that a user of the library includes; what it needs goes to `includes` and `defines` under [c] \
             in cegar.toml",
        ));
    }
    let root: Node = serde_json::from_slice(&output.stdout)
        .map_err(|why| Error::engine("reading clang's syntax tree", why))?;
    Ok(Reader::new(header).read(&root))
}

struct Reader {
    header: PathBuf,
    folder: PathBuf,
    /// The last file that was named: clang names one only where it changes.
    file: String,
    canonical: HashMap<String, PathBuf>,
    text: String,
    api: Api,
    /// Definitions without a tag, by their node's id, until a typedef names them.
    unnamed: HashMap<String, Record>,
    unnamed_enums: HashMap<String, Vec<String>>,
    /// Functions of other headers in the same folder.
    near: Vec<Declared>,
}

impl Reader {
    fn new(header: &Path) -> Reader {
        let header = header.canonicalize().unwrap_or_else(|_| header.to_owned());
        Reader {
            folder: header.parent().unwrap_or(Path::new("/")).to_owned(),
            text: String::from_utf8_lossy(&std::fs::read(&header).unwrap_or_default()).into_owned(),
            header,
            file: String::new(),
            canonical: HashMap::new(),
            api: Api::default(),
            unnamed: HashMap::new(),
            unnamed_enums: HashMap::new(),
            near: Vec::new(),
        }
    }

    fn read(mut self, root: &Node) -> Api {
        for node in &root.inner {
            self.declaration(node);
        }
        // A header that only includes others stands for them.
        if self.api.functions.is_empty() {
            self.api.functions = std::mem::take(&mut self.near);
            self.api.functions.iter_mut().for_each(|f| f.beside = None);
        }
        let mut seen = BTreeSet::new();
        self.api.functions.retain(|f| seen.insert(f.name.clone()));
        self.near.retain(|f| seen.insert(f.name.clone()));
        self.api.near = self.near;
        self.api.behind = self.api.behind();
        self.api
    }

    /// Follows the file names through a node; gives the file that it is in.
    fn enter(&mut self, node: &Node) -> String {
        let file = self.place(&node.loc).unwrap_or_else(|| self.file.clone());
        self.place(&node.range.begin);
        self.place(&node.range.end);
        file
    }

    fn place(&mut self, place: &Place) -> Option<String> {
        if let Some(spelling) = &place.spelling_loc {
            self.place(spelling);
        }
        if let Some(expansion) = &place.expansion_loc {
            return self.place(expansion);
        }
        if let Some(file) = &place.file {
            self.file.clone_from(file);
        }
        place.offset.map(|_| self.file.clone())
    }

    /// The rest of a node that is of no interest.
    fn pass(&mut self, node: &Node) {
        self.enter(node);
        for inner in &node.inner {
            self.pass(inner);
        }
    }

    fn declaration(&mut self, node: &Node) {
        match node.kind.as_str() {
            "FunctionDecl" => self.function(node),
            "RecordDecl" => self.record(node),
            "EnumDecl" => self.enumeration(node),
            "VarDecl" => {
                let file = self.enter(node);
                if node.storage_class == "extern" && self.whose(&file) != (false, false) {
                    let written = ctype::read(&node.ty.qual_type);
                    self.api.variables.push((node.name.clone(), written));
                }
                node.inner.iter().for_each(|inner| self.pass(inner));
            }
            "TypedefDecl" => {
                self.enter(node);
                self.typedef(node);
                node.inner.iter().for_each(|inner| self.pass(inner));
            }
            "LinkageSpecDecl" => {
                self.enter(node);
                node.inner.iter().for_each(|inner| self.declaration(inner));
            }
            _ => self.pass(node),
        }
    }

    fn typedef(&mut self, node: &Node) {
        let owned = node
            .inner
            .first()
            .and_then(|inner| inner.owned_tag_decl.as_ref());
        if let Some(tag) = owned.filter(|tag| tag.name.is_empty()) {
            if let Some(record) = self.unnamed.remove(&tag.id) {
                self.api.records.insert(node.name.clone(), record);
                let kind = Kind::Record(node.name.clone());
                self.define(&node.name, kind);
                return;
            }
            if let Some(constants) = self.unnamed_enums.remove(&tag.id) {
                self.api.enums.insert(node.name.clone(), constants);
                let kind = Kind::Enum(node.name.clone());
                self.define(&node.name, kind);
                return;
            }
        }
        let written = ctype::read(&node.ty.qual_type);
        self.api.typedefs.insert(node.name.clone(), written);
    }

    fn define(&mut self, name: &str, kind: Kind) {
        let written = Written {
            constant: false,
            words: name.to_owned(),
            kind,
        };
        self.api.typedefs.insert(name.to_owned(), written);
    }

    fn record(&mut self, node: &Node) {
        self.enter(node);
        let mut record = Record {
            fields: Vec::new(),
            union: node.tag_used == "union",
        };
        for inner in &node.inner {
            match inner.kind.as_str() {
                "RecordDecl" => self.record(inner),
                "EnumDecl" => self.enumeration(inner),
                "FieldDecl" => {
                    if !inner.name.is_empty() && !inner.is_bitfield {
                        let written = ctype::read(&inner.ty.qual_type);
                        record.fields.push((inner.name.clone(), written));
                    }
                    self.pass(inner);
                }
                _ => self.pass(inner),
            }
        }
        if !node.complete_definition {
            return;
        }
        if node.name.is_empty() {
            self.unnamed.insert(node.id.clone(), record);
        } else {
            self.api.records.insert(node.name.clone(), record);
        }
    }

    fn enumeration(&mut self, node: &Node) {
        self.enter(node);
        let constants: Vec<String> = node
            .inner
            .iter()
            .filter(|inner| inner.kind == "EnumConstantDecl")
            .map(|inner| inner.name.clone())
            .collect();
        node.inner.iter().for_each(|inner| self.pass(inner));
        if constants.is_empty() {
            return;
        }
        if node.name.is_empty() {
            self.unnamed_enums.insert(node.id.clone(), constants);
        } else {
            self.api.enums.insert(node.name.clone(), constants);
        }
    }

    fn function(&mut self, node: &Node) {
        let file = self.enter(node);
        let (mine, near) = self.whose(&file);
        let mut params = Vec::new();
        let (mut defined, mut deprecated) = (false, false);
        for inner in &node.inner {
            match inner.kind.as_str() {
                "ParmVarDecl" => {
                    params.push(Parameter {
                        name: inner.name.clone(),
                        ty: ctype::read(&inner.ty.qual_type),
                        bound: if mine { self.bound(inner) } else { None },
                    });
                }
                "CompoundStmt" => defined = true,
                "DeprecatedAttr" => deprecated = true,
                _ => {}
            }
            self.pass(inner);
        }
        if node.is_implicit || !(mine || near) {
            return;
        }
        let Some(ty) = ctype::function(&node.ty.qual_type) else {
            return;
        };
        // A function that returns a function is written in a way that is not read here.
        if ty.params.len() != params.len() {
            return;
        }
        let declared = Declared {
            name: node.name.clone(),
            returns: ty.returns,
            params,
            variadic: node.variadic,
            inline: defined || node.storage_class == "static",
            deprecated,
            beside: match mine {
                true => None,
                false => Path::new(&file)
                    .file_name()
                    .map(|name| name.to_string_lossy().into_owned()),
            },
        };
        if mine {
            self.api.functions.push(declared);
        } else {
            self.near.push(declared);
        }
    }

    /// Whether a file is the header, and whether it lies beside or below it.
    fn whose(&mut self, file: &str) -> (bool, bool) {
        let path = self
            .canonical
            .entry(file.to_owned())
            .or_insert_with(|| Path::new(file).canonicalize().unwrap_or_default());
        (*path == self.header, path.starts_with(&self.folder))
    }

    /// What the header's text has between the brackets after a parameter's name. (Its type is a pointer by now.)
    fn bound(&self, parameter: &Node) -> Option<String> {
        let at = parameter.loc.offset? + parameter.loc.tok_len;
        let rest = self.text.get(at..)?.trim_start();
        let inner = rest.strip_prefix('[')?.split_once(']')?.0;
        let inner = inner.trim().trim_start_matches("static ").trim();
        let plain = |c: char| c.is_ascii_alphanumeric() || "_+-*() ".contains(c);
        (!inner.is_empty() && inner.chars().all(plain)).then(|| inner.to_owned())
    }
}

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

    /// The type behind typedefs; its words stay those of the innermost pointer-free name that C accepts.
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
        self.enums.get(tag).map_or(&[], Vec::as_slice)
    }

    /// By what an object is known: a structure's tag, the typedef of `void` or `void *` that stands for it, or a pointer to such a typedef.
    pub fn identity(&self, pointer: &Written) -> Option<String> {
        // `voidpf` is a plain pointer by another name.
        let is_plain = |name: &str| name.to_lowercase().contains("void");
        if let Kind::Named(name) = &pointer.kind
            && !is_plain(name)
            && self
                .pointee(pointer)
                .is_some_and(|to| to.kind == Kind::Void)
        {
            return Some(name.clone());
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

    fn behind(&self) -> BTreeSet<String> {
        let returned = self.makers().filter_map(|f| self.pointee(&f.returns));
        let plain = |to: &Written| self.pointee(to).is_some_and(|to| to.kind == Kind::Void);
        let names = returned.filter(plain).filter_map(|to| match to.kind {
            Kind::Named(name) => Some(name),
            _ => None,
        });
        names
            .filter(|name| !name.to_lowercase().contains("void"))
            .collect()
    }

    /// By what an object is known, whether it is handed on by a pointer or by a number.
    pub fn handle(&self, ty: &Written) -> Option<String> {
        self.identity(ty).or_else(|| self.number_identity(ty))
    }

    /// The library's own typedef of a whole number, which may stand for an object: `typedef size_t csh;`
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

    /// The function of that name.
    pub fn function(&self, name: &str) -> Option<&Declared> {
        self.functions.iter().find(|function| function.name == name)
    }
}
