//! What the Rust code that wraps a library shows of the order of calls.
//!
//! Most crates carry no C code that calls the library: their callers are Rust. Two things are read
//! from them. Calls that one function makes on one object come one after the other, as in C. And
//! methods that are not `unsafe` may be called in any order, by the promise that safe Rust makes:
//! so behind what makes the object, and behind each method, comes any method of the same type. A
//! fault in such an order is one that safe code reaches. A method that looks at its own state first
//! may keep conditions of the library itself, and shows nothing.

mod flow;
mod guards;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use syn::{Block, ImplItem, ImplItemFn, Item};

use super::{BYTES, DEPTH, FILES, files};
use crate::init::api::{Api, Parameter};
use flow::{BEFORE, Following, SELF};

/// For each kind of object, functions of the library.
type Calls = BTreeMap<String, BTreeSet<String>>;

/// Two calls that follow each other on an object of a kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edge {
    pub identity: String,
    pub from: String,
    pub to: String,
    /// The file that shows it.
    pub file: String,
}

/// What the Rust files below some folders show.
pub(super) fn edges(roots: &[PathBuf], api: &Api) -> BTreeSet<Edge> {
    let mut bodies = Bodies::default();
    for root in roots {
        let mut paths = Vec::new();
        files(root, "rs", (DEPTH, FILES, BYTES), &mut paths);
        for path in paths {
            // What cannot be read or parsed shows nothing.
            let Ok(text) = std::fs::read_to_string(&path) else {
                continue;
            };
            let Ok(file) = syn::parse_file(&text) else {
                continue;
            };
            let name = path.strip_prefix(root).unwrap_or(&path);
            bodies.items(&file.items, &name.to_string_lossy());
        }
    }
    bodies.edges(api)
}

/// The functions with a body.
#[derive(Default)]
struct Bodies {
    /// Functions that are no methods, by file.
    plain: Vec<(String, Block)>,
    /// Methods by the name of their type.
    methods: BTreeMap<String, Vec<Method>>,
}

struct Method {
    function: ImplItemFn,
    file: String,
    /// Whether safe code outside of the crate may call it.
    is_open: bool,
}

impl Bodies {
    fn items(&mut self, items: &[Item], file: &str) {
        for item in items {
            match item {
                Item::Fn(function) => {
                    self.plain
                        .push((file.to_owned(), (*function.block).clone()));
                }
                Item::Mod(module) => {
                    let inner = module.content.as_ref();
                    self.items(inner.map_or(&[], |(_, items)| items), file);
                }
                Item::Impl(block) => {
                    let Some(ty) = type_name(&block.self_ty) else {
                        continue;
                    };
                    let is_trait = block.trait_.is_some();
                    for item in &block.items {
                        let ImplItem::Fn(function) = item else {
                            continue;
                        };
                        let is_public = matches!(function.vis, syn::Visibility::Public(_));
                        let is_safe = function.sig.unsafety.is_none() && block.unsafety.is_none();
                        self.methods.entry(ty.clone()).or_default().push(Method {
                            function: function.clone(),
                            file: file.to_owned(),
                            is_open: is_safe && (is_public || is_trait),
                        });
                    }
                }
                _ => {}
            }
        }
    }

    fn edges(&self, api: &Api) -> BTreeSet<Edge> {
        let mut all = BTreeSet::new();
        for (file, block) in &self.plain {
            let mut following = Following::new(api, Vec::new(), BTreeMap::new());
            following.function(block);
            all.extend(following.found(file));
        }
        let params = api.makers().flat_map(|function| &function.params);
        let identities: BTreeSet<String> = params.filter_map(|param| handle(api, param)).collect();
        for methods in self.methods.values() {
            any_order(methods, (api, &identities), &mut all);
        }
        all
    }
}

/// The calls at both ends of the methods of a type.
#[derive(Default)]
struct Ends {
    /// First calls of safe methods, with the files.
    first: Calls,
    /// Last calls of what makes the object, and of safe methods that leave it usable.
    last: Calls,
    files: BTreeMap<String, BTreeSet<String>>,
}

/// The edges within the methods of a type, and those between its safe methods.
fn any_order(
    methods: &[Method],
    (api, identities): (&Api, &BTreeSet<String>),
    all: &mut BTreeSet<Edge>,
) {
    let mut ends = Ends::default();
    for method in methods {
        if guards::looks_at_itself(&method.function.block, api) {
            continue;
        }
        let receiver = method.function.sig.receiver();
        let is_shared = receiver.is_some();
        let begin = identities.iter().filter(|_| is_shared).map(|identity| {
            let object = (identity.clone(), SELF.to_owned());
            (object, [BEFORE.to_owned()].into())
        });
        let mut following = Following::new(
            api,
            methods.iter().map(|one| &one.function).collect(),
            begin.collect(),
        );
        let end = following.function(&method.function.block);
        all.extend(following.found(&method.file));
        if !method.is_open {
            continue;
        }
        for (identity, call) in &following.first {
            let into = ends.first.entry(identity.clone()).or_default();
            into.insert(call.clone());
            let files = ends.files.entry(call.clone()).or_default();
            files.insert(method.file.clone());
        }
        // What takes the object over, and `drop`, leave none.
        let is_lent = receiver.is_none_or(|receiver| receiver.reference.is_some());
        if !is_lent || method.function.sig.ident == "drop" {
            continue;
        }
        for ((identity, object), calls) in end.into_iter().flatten() {
            if is_shared == (object == SELF) {
                let calls = calls.into_iter().filter(|call| call != BEFORE);
                ends.last.entry(identity).or_default().extend(calls);
            }
        }
    }
    for (identity, firsts) in &ends.first {
        for from in ends.last.get(identity).into_iter().flatten() {
            for to in firsts {
                for file in ends.files.get(to).into_iter().flatten() {
                    all.insert(Edge {
                        identity: identity.clone(),
                        from: from.clone(),
                        to: to.clone(),
                        file: file.clone(),
                    });
                }
            }
        }
    }
}

/// By what the object is known that a parameter takes, or the address of which it takes.
fn handle(api: &Api, param: &Parameter) -> Option<String> {
    let through = || api.handle(&api.pointee(&param.ty)?);
    api.handle(&param.ty).or_else(through)
}

/// The name of a type, without its path.
fn type_name(ty: &syn::Type) -> Option<String> {
    match ty {
        syn::Type::Path(path) => Some(path.path.segments.last()?.ident.to_string()),
        syn::Type::Reference(reference) => type_name(&reference.elem),
        syn::Type::Paren(inner) => type_name(&inner.elem),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
