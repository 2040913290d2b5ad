//! Reads the crate's Rust files as one tree of modules.
//!
//! `mod` items and `include!` are followed from the crate's root as the compiler does, including
//! files that the build script generated (`OUT_DIR`). The expansion of macros is not known; an
//! invocation that mentions `extern` or `fn` is counted as left out.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use syn::spanned::Spanned as _;
use syn::{Expr, ExprLit, Item, Lit, Meta};

use super::conditions::Conditions;
use super::shape::Line;

/// An item and the file that contains it.
#[derive(Debug)]
pub(super) struct Placed {
    pub item: Item,
    /// An index into [`Tree::files`].
    pub file: usize,
}

/// A module.
#[derive(Debug, Default)]
pub(super) struct Module {
    pub parent: Option<usize>,
    pub name: String,
    pub items: Vec<Placed>,
    pub children: Vec<usize>,
}

/// All modules; the first one is the crate's root.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub modules: Vec<Module>,
    /// The files; those inside the crate are relative to it.
    pub files: Vec<String>,
    /// The parts that were not read, each with its place and the reason.
    pub left_out: Vec<(Line, String)>,
}

/// Reads the files of a crate.
pub(super) struct Reader<'a> {
    pub root: &'a Path,
    pub out_dirs: Vec<PathBuf>,
    pub conditions: &'a Conditions,
    seen: BTreeSet<PathBuf>,
    tree: Tree,
}

impl<'a> Reader<'a> {
    pub fn new(root: &'a Path, out_dirs: Vec<PathBuf>, conditions: &'a Conditions) -> Reader<'a> {
        Reader {
            root,
            out_dirs,
            conditions,
            seen: BTreeSet::new(),
            tree: Tree::default(),
        }
    }

    /// Reads the crate from its root file.
    pub fn read(mut self, file: &Path) -> Tree {
        self.tree.modules.push(Module::default());
        let folder = file.parent().unwrap_or(Path::new("/")).to_owned();
        self.file(file, &folder, 0);
        self.tree
    }

    fn file(&mut self, path: &Path, folder: &Path, module: usize) {
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let number = self.tree.files.len();
        let shown = path.strip_prefix(self.root).unwrap_or(&path);
        self.tree.files.push(shown.to_string_lossy().into_owned());
        if !self.seen.insert(path.clone()) {
            return;
        }
        let text = match std::fs::read(&path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(why) => return self.leave_out(number, 0, format!("it cannot be read: {why}")),
        };
        match syn::parse_file(&text) {
            Ok(parsed) => self.items(parsed.items, number, &path, folder, module),
            Err(why) => {
                let line = why.span().start().line as u32;
                self.leave_out(number, line, format!("it cannot be parsed: {why}"));
            }
        }
    }

    fn leave_out(&mut self, file: usize, line: u32, why: String) {
        let file = self.tree.files[file].clone();
        self.tree.left_out.push((Line { file, line }, why));
    }

    fn items(
        &mut self,
        items: Vec<Item>,
        number: usize,
        path: &Path,
        folder: &Path,
        module: usize,
    ) {
        for item in items {
            let line = item.span().start().line as u32;
            match self.conditions.hold(attributes(&item)) {
                Some(true) => {}
                Some(false) => continue,
                None => {
                    if matters(&item) {
                        let why = "whether it is compiled depends on a condition that is not known";
                        self.leave_out(number, line, why.to_owned());
                    }
                    continue;
                }
            }
            match item {
                Item::Mod(inner) => self.module(inner, number, path, folder, module),
                Item::Macro(call) if call.mac.path.is_ident("include") => {
                    self.include(&call.mac.tokens.to_string(), path, number, line, module);
                }
                Item::Macro(call) if call.ident.is_none() => {
                    let text = call.mac.tokens.to_string();
                    let is_branch = call.mac.path.segments.last();
                    let is_branch = is_branch.is_some_and(|last| last.ident == "cfg_if");
                    if is_branch && let Some(items) = self.branch(call.mac.tokens.clone()) {
                        self.items(items, number, path, folder, module);
                    } else if text.contains("extern") || text.split(' ').any(|word| word == "fn") {
                        self.leave_out(number, line, "it is made by a macro".to_owned());
                    }
                }
                item => self.tree.modules[module]
                    .items
                    .push(Placed { item, file: number }),
            }
        }
    }

    fn module(
        &mut self,
        inner: syn::ItemMod,
        number: usize,
        path: &Path,
        folder: &Path,
        parent: usize,
    ) {
        let name = inner.ident.to_string();
        let name = name.trim_start_matches("r#").to_owned();
        let module = self.tree.modules.len();
        self.tree.modules.push(Module {
            parent: Some(parent),
            name: name.clone(),
            ..Module::default()
        });
        self.tree.modules[parent].children.push(module);
        let below = folder.join(&name);
        if let Some((_, items)) = inner.content {
            return self.items(items, number, path, &below, module);
        }
        let named = self.conditions.attributes(&inner.attrs);
        let named = named.iter().find_map(|meta| match meta {
            Meta::NameValue(pair) if pair.path.is_ident("path") => text_of(&pair.value),
            _ => None,
        });
        let beside = path.parent().unwrap_or(Path::new("/"));
        let candidates = match named {
            Some(named) => vec![(beside.join(&named), beside.join(&named))],
            None => vec![
                (folder.join(format!("{name}.rs")), below.clone()),
                (below.join("mod.rs"), below.clone()),
            ],
        };
        for (file, within) in candidates {
            if file.is_file() {
                let within = match within.is_file() {
                    true => within.parent().unwrap_or(Path::new("/")).to_owned(),
                    false => within,
                };
                return self.file(&file, &within, module);
            }
        }
    }

    /// Follows `include!(NAME)` or the inclusion of a generated file,
    /// `include!(concat!(env!("OUT_DIR"), NAME))`.
    fn include(&mut self, text: &str, path: &Path, number: usize, line: u32, module: usize) {
        let last = text.split('"').rev().nth(1).unwrap_or_default();
        let last = last.trim_start_matches('/');
        let beside = path.parent().unwrap_or(Path::new("/")).join(last);
        let candidates: Vec<PathBuf> = match text.contains("OUT_DIR") {
            true => self
                .out_dirs
                .iter()
                .map(|folder| folder.join(last))
                .collect(),
            false if text.contains("CARGO_MANIFEST_DIR") => vec![self.root.join(last)],
            false => vec![beside],
        };
        match candidates.into_iter().find(|file| file.is_file()) {
            Some(file) => {
                let folder = file.parent().unwrap_or(Path::new("/")).to_owned();
                self.file(&file, &folder, module);
            }
            None => {
                let why = format!("the file that it includes was not found: {last}");
                self.leave_out(number, line, why);
            }
        }
    }

    /// The items in the branch of `cfg_if!` that is compiled; `None` if that is unknown.
    fn branch(&self, tokens: proc_macro2::TokenStream) -> Option<Vec<Item>> {
        use proc_macro2::{Delimiter, TokenTree};
        let mut rest = tokens.into_iter().peekable();
        let mut decided = Some(false);
        while let Some(token) = rest.next() {
            match token {
                TokenTree::Ident(word) if word == "if" => {
                    let is_hash = |token: TokenTree| match token {
                        TokenTree::Punct(sign) => sign.as_char() == '#',
                        _ => false,
                    };
                    rest.next().filter(|token| is_hash(token.clone()))?;
                    let TokenTree::Group(attribute) = rest.next()? else {
                        return None;
                    };
                    let meta = syn::parse2::<Meta>(attribute.stream()).ok()?;
                    let Meta::List(list) = meta else { return None };
                    decided = self.holds_list(&list);
                }
                TokenTree::Ident(word) if word == "else" => {
                    let last = matches!(rest.peek(), Some(TokenTree::Group(_)));
                    if last {
                        decided = Some(true);
                    }
                }
                TokenTree::Group(body) if body.delimiter() == Delimiter::Brace => {
                    if decided? {
                        return Some(syn::parse2::<syn::File>(body.stream()).ok()?.items);
                    }
                }
                _ => return None,
            }
        }
        Some(Vec::new())
    }

    fn holds_list(&self, list: &syn::MetaList) -> Option<bool> {
        let meta = list.parse_args::<Meta>().ok()?;
        self.conditions.holds(&meta)
    }
}

/// Whether the item may contain declarations to compare.
fn matters(item: &Item) -> bool {
    matches!(item, Item::ForeignMod(_) | Item::Mod(_))
}

/// The value of a string literal.
fn text_of(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => Some(text.value()),
        _ => None,
    }
}

/// The attributes of an item.
pub(super) fn attributes(item: &Item) -> &[syn::Attribute] {
    match item {
        Item::Const(i) => &i.attrs,
        Item::Enum(i) => &i.attrs,
        Item::ForeignMod(i) => &i.attrs,
        Item::Macro(i) => &i.attrs,
        Item::Mod(i) => &i.attrs,
        Item::Struct(i) => &i.attrs,
        Item::Type(i) => &i.attrs,
        Item::Union(i) => &i.attrs,
        Item::Use(i) => &i.attrs,
        _ => &[],
    }
}
