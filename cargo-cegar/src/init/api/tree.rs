//! Reads clang's syntax tree of a header.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

use serde::Deserialize;

use super::enumeration::{Constant, Enumeration};
use super::{Api, Declared, Parameter, Record, comment, prototype};
use crate::compile::Compiler;
use crate::error::Error;
use crate::init::ctype::{self, Kind, Written};

/// The relevant parts of a node of clang's tree.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Node {
    id: String,
    pub(super) kind: String,
    pub(super) name: String,
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
    opcode: String,
    /// The value of a constant expression, in decimal digits.
    value: serde_json::Value,
}

/// `__attribute__((nonnull))`.
const NOT_NULL: &str = "NonNullAttr";

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Tag {
    id: String,
    name: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Type {
    qual_type: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Range {
    begin: Place,
    end: Place,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Place {
    offset: Option<usize>,
    file: Option<String>,
    tok_len: usize,
    spelling_loc: Option<Box<Place>>,
    expansion_loc: Option<Box<Place>>,
}

/// Reads a header, with others included after it.
pub(super) fn read_one(
    compiler: &Compiler,
    (header, behind): (&Path, &[PathBuf]),
    flags: &[String],
) -> Result<Api, Error> {
    let all = [header]
        .into_iter()
        .chain(behind.iter().map(PathBuf::as_path));
    let root = dumped(compiler, &all.collect::<Vec<_>>(), flags)?;
    Ok(Reader::new(header).read(&root))
}

/// Clang's tree of the files, each included after the one before it.
pub(super) fn dumped(
    compiler: &Compiler,
    files: &[&Path],
    flags: &[String],
) -> Result<Node, Error> {
    let last = files.last().copied().unwrap_or(Path::new(""));
    let before = files.len().saturating_sub(1);
    let before = files.iter().take(before);
    let output = Command::new(&compiler.path)
        .args(["-x", "c", "-fsyntax-only", "-w", "-std=gnu11"])
        .args(["-Xclang", "-ast-dump=json"])
        .args(["-include", "stddef.h", "-include", "stdint.h"])
        // Old headers expect `FILE` to be declared already.
        .args(["-include", "stdbool.h", "-include", "stdio.h"])
        .args(flags)
        .args(before.flat_map(|path| [Path::new("-include"), *path]))
        .arg(last)
        .output()
        .map_err(|why| Error::io("run", &compiler.path, why))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let said: Vec<&str> = said.lines().take(12).collect();
        return Err(Error::nothing(
            format!(
                "`{}` does not compile by itself\n{}",
                last.display(),
                said.join("\n")
            ),
            "name the header that a user of the library includes; what it needs goes to `includes` \
             and `defines` under [c] in cegar.toml",
        ));
    }
    serde_json::from_slice(&output.stdout)
        .map_err(|why| Error::engine("reading clang's syntax tree", why))
}

impl Node {
    /// A constant of an enumeration.
    fn constant(&self) -> Constant {
        let set = self.inner.iter().find(|inner| inner.kind.ends_with("Expr"));
        Constant {
            name: self.name.clone(),
            number: set.and_then(|set| set.value.as_str()?.parse().ok()),
            is_set: set.is_some(),
            is_shift: self.is_shift(),
        }
    }

    /// Whether the node is a left shift or contains one.
    fn is_shift(&self) -> bool {
        self.opcode == "<<" || self.inner.iter().any(Node::is_shift)
    }

    /// The top-level nodes, each with its file.
    pub(super) fn in_files(&self) -> Vec<(&Node, String)> {
        let mut reader = Reader::new(Path::new(""));
        let mut all = Vec::new();
        for node in &self.inner {
            let file = reader.enter(node);
            node.inner.iter().for_each(|inner| reader.pass(inner));
            all.push((node, file));
        }
        all
    }

    pub(super) fn is_static(&self) -> bool {
        self.storage_class == "static"
    }

    /// The byte range of the node in its file. `None` if it comes from a macro.
    pub(super) fn span(&self) -> Option<(usize, usize)> {
        let end = self.range.end.offset? + self.range.end.tok_len;
        Some((self.range.begin.offset?, end))
    }

    /// The declaration of the function in C.
    pub(super) fn prototype(&self) -> Option<String> {
        // The declaration of a function that returns a function pointer is not supported.
        let (returns, _) = self.ty.qual_type.split_once('(')?;
        let mut params = Vec::new();
        for inner in &self.inner {
            if inner.kind != "ParmVarDecl" {
                continue;
            }
            let ty = &inner.ty.qual_type;
            let name = &inner.name;
            params.push(match ty.split_once("(*") {
                Some((before, behind)) => format!("{before}(*{name}{behind}"),
                None => format!("{ty} {name}"),
            });
        }
        if self.variadic {
            params.push("...".to_owned());
        }
        if params.is_empty() {
            params.push("void".to_owned());
        }
        Some(format!("{returns}{}({})", self.name, params.join(", ")))
    }
}

pub(super) struct Reader {
    header: PathBuf,
    folder: PathBuf,
    /// The file named last: clang names a file only if it differs from the previous one.
    file: String,
    canonical: HashMap<String, PathBuf>,
    /// The texts of headers, by their names in the tree.
    texts: HashMap<String, Rc<str>>,
    api: Api,
    /// Definitions without a tag, by node id, until a typedef names them.
    unnamed: HashMap<String, Record>,
    unnamed_enums: HashMap<String, Enumeration>,
    /// Functions of other headers in or below the same folder.
    sibling_functions: Vec<Declared>,
}

impl Reader {
    fn new(header: &Path) -> Reader {
        let header = header.canonicalize().unwrap_or_else(|_| header.to_owned());
        Reader {
            folder: header.parent().unwrap_or(Path::new("/")).to_owned(),
            header,
            file: String::new(),
            canonical: HashMap::new(),
            texts: HashMap::new(),
            api: Api::default(),
            unnamed: HashMap::new(),
            unnamed_enums: HashMap::new(),
            sibling_functions: Vec::new(),
        }
    }

    fn read(mut self, root: &Node) -> Api {
        for node in &root.inner {
            self.declaration(node);
        }
        // A header that only includes others stands for them.
        if self.api.functions.is_empty() {
            self.api.functions = std::mem::take(&mut self.sibling_functions);
            self.api
                .functions
                .iter_mut()
                .for_each(|f| f.sibling_header = None);
        }
        let mut seen = BTreeSet::new();
        self.api.functions.retain(|f| seen.insert(f.name.clone()));
        self.sibling_functions
            .retain(|f| seen.insert(f.name.clone()));
        self.api.sibling_functions = self.sibling_functions;
        self.api.behind = self.api.behind();
        self.api.texts = self.api.texts();
        self.api
    }

    /// Updates the current file from the locations of a node, and returns the file of the node.
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

    /// Updates the current file from a node that is ignored otherwise.
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
                let file = self.enter(node);
                self.typedef(node);
                self.prototype(node, &file, node.name.clone());
                node.inner.iter().for_each(|inner| self.pass(inner));
            }
            "LinkageSpecDecl" => {
                self.enter(node);
                node.inner.iter().for_each(|inner| self.declaration(inner));
            }
            _ => self.pass(node),
        }
    }

    /// Records the documentation of a function pointer that a node declares.
    fn prototype(&mut self, node: &Node, file: &str, key: String) {
        if node.ty.qual_type.ends_with(')')
            && self.whose(file) != (false, false)
            && let Some(span) = node.span()
            && let Some(name) = node.loc.offset
            && let Some(prototype) = prototype::read(&self.text(file), span, name)
        {
            // The header's own documentation takes precedence.
            if self.whose(file).0 || !self.api.prototypes.contains_key(&key) {
                self.api.prototypes.insert(key, prototype);
            }
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
            if let Some(enumeration) = self.unnamed_enums.remove(&tag.id) {
                self.api.enums.insert(node.name.clone(), enumeration);
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
        let file = self.enter(node);
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
                        let key = prototype::key(&inner.name, &written);
                        self.prototype(inner, &file, key);
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
        let constants = node
            .inner
            .iter()
            .filter(|inner| inner.kind == "EnumConstantDecl");
        let enumeration = Enumeration::new(constants.map(Node::constant).collect());
        node.inner.iter().for_each(|inner| self.pass(inner));
        if enumeration.constants.is_empty() {
            return;
        }
        if node.name.is_empty() {
            self.unnamed_enums.insert(node.id.clone(), enumeration);
        } else {
            self.api.enums.insert(node.name.clone(), enumeration);
        }
    }

    fn function(&mut self, node: &Node) {
        let file = self.enter(node);
        let (mine, near) = self.whose(&file);
        let mut params = Vec::new();
        let (mut defined, mut deprecated, mut pure) = (false, false, false);
        for inner in &node.inner {
            match inner.kind.as_str() {
                "ParmVarDecl" => {
                    let written = ctype::read(&inner.ty.qual_type);
                    let key = prototype::key(&inner.name, &written);
                    self.prototype(inner, &file, key);
                    params.push(Parameter {
                        name: inner.name.clone(),
                        ty: written,
                        bound: self.bound(inner, &file).filter(|_| mine || near),
                        not_null: inner.ty.qual_type.contains("_Nonnull")
                            || inner.inner.iter().any(|one| one.kind == NOT_NULL),
                    });
                }
                "CompoundStmt" => defined = true,
                "DeprecatedAttr" => deprecated = true,
                "PureAttr" | "ConstAttr" => pure = true,
                // The tree does not tell which parameters the attribute names, so all of them are
                // treated as non-null.
                NOT_NULL => params.iter_mut().for_each(|param| param.not_null = true),
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
        // The declaration of a function that returns a function pointer is not supported.
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
            pure,
            comment: comment::before(&self.text(&file), node.loc.offset.unwrap_or(0)),
            sibling_header: match mine {
                true => None,
                false => Some(self.below_folder(&file)),
            },
        };
        if mine {
            self.api.functions.push(declared);
        } else {
            self.sibling_functions.push(declared);
        }
    }

    /// Whether a file is the header itself, and whether it lies in or below the header's folder.
    fn whose(&mut self, file: &str) -> (bool, bool) {
        let path = self
            .canonical
            .entry(file.to_owned())
            .or_insert_with(|| Path::new(file).canonicalize().unwrap_or_default());
        (*path == self.header, path.starts_with(&self.folder))
    }

    /// The path of a file relative to the header's folder, in which it lies.
    fn below_folder(&self, file: &str) -> String {
        let path = self.canonical.get(file);
        let inside = path.and_then(|path| path.strip_prefix(&self.folder).ok());
        let inside = inside.or(Path::new(file).file_name().map(Path::new));
        inside
            .unwrap_or(Path::new(file))
            .to_string_lossy()
            .into_owned()
    }

    /// The text of a header; empty if it cannot be read.
    fn text(&mut self, file: &str) -> Rc<str> {
        if let Some(text) = self.texts.get(file) {
            return Rc::clone(text);
        }
        let bytes = std::fs::read(file).unwrap_or_default();
        let text: Rc<str> = String::from_utf8_lossy(&bytes).into();
        self.texts.insert(file.to_owned(), Rc::clone(&text));
        text
    }

    /// The text between the brackets after a parameter's name in its header. (The tree shows the
    /// type as a pointer already.)
    fn bound(&mut self, parameter: &Node, file: &str) -> Option<String> {
        let at = parameter.loc.offset? + parameter.loc.tok_len;
        let text = self.text(file);
        let rest = text.get(at..)?.trim_start();
        let inner = rest.strip_prefix('[')?.split_once(']')?.0;
        let inner = inner.trim().trim_start_matches("static ").trim();
        let plain = |c: char| c.is_ascii_alphanumeric() || "_+-*() ".contains(c);
        (!inner.is_empty() && inner.chars().all(plain)).then(|| inner.to_owned())
    }
}
