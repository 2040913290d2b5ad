//! Determines the types that methods belong to, and the types that methods pass their object to.
//!
//! `impl Conn<Open>` and `impl Conn<Closed>` are different types, and no value has both; each of
//! them also has the methods of `impl<S> Conn<S>`. A method that consumes its object and returns a
//! `Conn<Open>` passes the object to that type. A method that returns a `Guard<'_>` lends the
//! object to the guard, and nothing else uses the object until the guard is dropped.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};
use syn::{GenericArgument, GenericParam, Generics, Item, PathArguments, ReturnType, Type};

/// A type: its name, and its type arguments.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    name: String,
    arguments: Vec<String>,
}

impl Key {
    /// The type that an `impl` is for.
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

    /// Whether it stands for the type with any arguments.
    fn is_general(&self) -> bool {
        self.arguments.is_empty()
    }
}

/// The types that have methods, each with its own methods and those of the type with any arguments.
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

/// The value that a method returns.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Given {
    /// The types in it that have methods.
    pub keys: BTreeSet<Key>,
    /// Whether it borrows from the method's arguments.
    pub borrows: bool,
}

impl Given {
    /// Derives it from a return type. `own` is the type of `Self`, `known` are the types that have
    /// methods, and `borrowing` are the types with a lifetime parameter.
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

/// The name of a type with a lifetime parameter. Such a type borrows even if the lifetime is
/// elided.
pub(super) fn borrowing(item: &Item) -> Option<String> {
    let (name, generics) = match item {
        Item::Struct(item) => (&item.ident, &item.generics),
        Item::Enum(item) => (&item.ident, &item.generics),
        _ => return None,
    };
    let has = generics.lifetimes().next().is_some();
    has.then(|| name.to_string())
}
