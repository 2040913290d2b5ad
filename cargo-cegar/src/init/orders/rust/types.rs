//! Which types the methods of a crate belong to, and which type a method hands its object on to.
//!
//! `impl Conn<Open>` and `impl Conn<Closed>` are two types of which one value is never both, and
//! what `impl<S> Conn<S>` has, each of them has. A method that takes its object over and gives back
//! a `Conn<Open>` hands the object on to that type; one that gives back a `Guard<'_>` lends the
//! object to the guard, and nothing else is done with it until the guard is gone.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};
use syn::{GenericArgument, GenericParam, Generics, Item, PathArguments, ReturnType, Type};

/// A type: its name, and its arguments where they are types themselves.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    name: String,
    arguments: Vec<String>,
}

impl Key {
    /// Of what an `impl` is for.
    pub(super) fn of(ty: &Type, generics: &Generics) -> Option<Key> {
        match ty {
            Type::Path(path) => Some(Key::of_path(&path.path, generics)?),
            Type::Reference(reference) => Key::of(&reference.elem, generics),
            Type::Paren(inner) => Key::of(&inner.elem, generics),
            _ => None,
        }
    }

    fn of_path(path: &syn::Path, generics: &Generics) -> Option<Key> {
        let segment = path.segments.last()?;
        let mut arguments = Vec::new();
        if let PathArguments::AngleBracketed(all) = &segment.arguments {
            let types = all.args.iter().filter_map(|argument| match argument {
                GenericArgument::Type(Type::Path(path)) => path.path.segments.last(),
                _ => None,
            });
            arguments = types.map(|last| last.ident.to_string()).collect();
        }
        let is_parameter = |name: &String| {
            generics.params.iter().any(
                |param| matches!(param, GenericParam::Type(param) if param.ident == name.as_str()),
            )
        };
        if arguments.iter().any(is_parameter) {
            arguments.clear();
        }
        Some(Key {
            name: segment.ident.to_string(),
            arguments,
        })
    }

    /// Whether its methods are those of any arguments.
    fn is_general(&self) -> bool {
        self.arguments.is_empty()
    }
}

/// The types that have methods: for each, those of its own and those of any arguments.
pub(super) fn complete<M>(methods: &BTreeMap<Key, Vec<M>>) -> BTreeMap<Key, Vec<&M>> {
    let has_arguments = |key: &&Key| !key.is_general();
    let special: BTreeSet<&str> = methods
        .keys()
        .filter(has_arguments)
        .map(|key| key.name.as_str())
        .collect();
    let mut all = BTreeMap::new();
    for (key, own) in methods {
        if key.is_general() && special.contains(key.name.as_str()) {
            continue;
        }
        let mut together: Vec<&M> = own.iter().collect();
        let general = Key {
            name: key.name.clone(),
            arguments: Vec::new(),
        };
        if general != *key {
            together.extend(methods.get(&general).into_iter().flatten());
        }
        all.insert(key.clone(), together);
    }
    all
}

/// What a method gives back.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Given {
    /// The types in it that have methods.
    pub keys: BTreeSet<Key>,
    /// Whether it borrows from the method's arguments.
    pub borrows: bool,
}

impl Given {
    /// By a signature. `own`: what `Self` is. `known`: the types that have methods. `borrowing`:
    /// the structures that have a lifetime.
    pub(super) fn of<M>(
        output: &ReturnType,
        own: &Key,
        known: &BTreeMap<Key, Vec<&M>>,
        borrowing: &BTreeSet<String>,
    ) -> Given {
        let ReturnType::Type(_, ty) = output else {
            return Given::default();
        };
        let mut named = Named::default();
        named.visit_type(ty);
        let is_meant = |key: &&Key| {
            named.keys.iter().any(|given| {
                given.name == key.name && (given == *key || given.is_general() || key.is_general())
            })
        };
        let mut keys: BTreeSet<Key> = known.keys().filter(is_meant).cloned().collect();
        if named.keys.iter().any(|key| key.name == "Self") {
            keys.insert(own.clone());
        }
        Given {
            borrows: named.borrows || keys.iter().any(|key| borrowing.contains(&key.name)),
            keys,
        }
    }
}

#[derive(Default)]
struct Named {
    keys: Vec<Key>,
    borrows: bool,
}

impl<'ast> Visit<'ast> for Named {
    fn visit_type_path(&mut self, path: &'ast syn::TypePath) {
        self.keys
            .extend(Key::of_path(&path.path, &Generics::default()));
        visit::visit_type_path(self, path);
    }

    fn visit_lifetime(&mut self, lifetime: &'ast syn::Lifetime) {
        self.borrows |= lifetime.ident != "static";
    }

    fn visit_type_reference(&mut self, reference: &'ast syn::TypeReference) {
        let is_static = |lifetime: &syn::Lifetime| lifetime.ident == "static";
        self.borrows |= !reference.lifetime.as_ref().is_some_and(is_static);
        visit::visit_type_reference(self, reference);
    }
}

/// The structures that have a lifetime, which stand for it also where it is not written.
pub(super) fn borrowing(item: &Item) -> Option<String> {
    let (name, generics) = match item {
        Item::Struct(item) => (&item.ident, &item.generics),
        Item::Enum(item) => (&item.ident, &item.generics),
        _ => return None,
    };
    let has = generics.lifetimes().next().is_some();
    has.then(|| name.to_string())
}
