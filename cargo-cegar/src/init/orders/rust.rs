//! Learns orders of calls from the Rust code that wraps a library.
//!
//! Most crates contain no C code that calls the library, because their callers are Rust. Two facts
//! are learnt from them. Calls that one function makes on one object are consecutive, as in C. And
//! methods that are not `unsafe` may be called in any order, as safe Rust guarantees: so the maker
//! of the object and each method may be followed by any method of the same type. A fault in such an
//! order can be reached from safe code. A method that checks its own state first may establish
//! preconditions of the library, so it shows no order. The value that a method returns may take
//! over the object ([`types`]).

mod flow;
mod guards;
mod types;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use syn::{Block, ImplItem, ImplItemFn, Item};

use super::{BYTES, DEPTH, FILES, files};
use crate::init::api::{Api, Parameter};
use flow::{BEFORE, Following, SELF};
use types::{Given, Key};

/// For each identity, functions of the library.
type Calls = BTreeMap<String, BTreeSet<String>>;

/// Two consecutive calls on an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edge {
    pub identity: String,
    pub from: String,
    pub to: String,
    /// The file that shows them.
    pub file: String,
}

/// The facts that Rust code shows.
#[derive(Debug, Default)]
pub(super) struct Shown {
    /// Consecutive calls.
    pub edges: BTreeSet<Edge>,
    /// Calls after which the caller cannot release the object.
    pub kept: BTreeSet<String>,
    /// Functions whose result becomes an object of its own, which Rust releases when it is dropped.
    pub fresh: BTreeSet<String>,
    /// Functions that are called only by methods which check their own state first.
    pub guarded: BTreeSet<String>,
    /// Functions that no caller calls first.
    pub inner: BTreeSet<String>,
    /// Functions that some caller calls without such a check.
    free: BTreeSet<String>,
}

/// The facts that the Rust files below some folders show.
pub(super) fn shown(roots: &[PathBuf], api: &Api) -> Shown {
    let mut bodies = Bodies::default();
    for root in roots {
        let mut paths = Vec::new();
        files(root, "rs", (DEPTH, FILES, BYTES), &mut paths);
        for path in paths {
            // Files that cannot be read or parsed are skipped.
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
    bodies.shown(api)
}

/// The function bodies of some Rust files.
#[derive(Default)]
struct Bodies {
    /// Free functions, each with its file.
    plain: Vec<(String, Block)>,
    /// Methods, by type.
    methods: BTreeMap<Key, Vec<Method>>,
    /// The types with a lifetime parameter.
    borrowing: BTreeSet<String>,
}

struct Method {
    function: ImplItemFn,
    file: String,
    /// Whether safe code outside the crate may call it.
    is_open: bool,
}

impl Bodies {
    fn items(&mut self, items: &[Item], file: &str) {
        for item in items {
            self.borrowing.extend(types::borrowing(item));
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
                    let Some(key) = Key::of(&block.self_ty, &block.generics) else {
                        continue;
                    };
                    let is_trait = block.trait_.is_some();
                    for item in &block.items {
                        let ImplItem::Fn(function) = item else {
                            continue;
                        };
                        let is_public = matches!(function.vis, syn::Visibility::Public(_));
                        let is_safe = function.sig.unsafety.is_none() && block.unsafety.is_none();
                        self.methods.entry(key.clone()).or_default().push(Method {
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

    fn shown(&self, api: &Api) -> Shown {
        let mut shown = Shown::default();
        let mut at_ends = AtEnds::default();
        for (file, block) in &self.plain {
            let mut following = Following::new(api, Vec::new(), BTreeMap::new());
            following.function(block);
            shown.edges.extend(following.found(file));
            // It is unknown how the callers of a free function continue, so each of its calls may
            // be the first or the last.
            let calls = guards::calls(block, api);
            shown.free.extend(calls.iter().cloned());
            at_ends.first.extend(calls.iter().cloned());
            at_ends.last.extend(calls);
        }
        let params = api.all_functions().flat_map(|function| &function.params);
        let identities: BTreeSet<String> = params.filter_map(|param| handle(api, param)).collect();
        let known = types::complete(&self.methods);
        let mut ends: BTreeMap<&Key, Ends> = BTreeMap::new();
        for (key, methods) in &known {
            let mut of_type = OfType {
                api,
                identities: &identities,
                methods,
                silent: silent(methods, api),
                ends: Ends::default(),
                shown: &mut shown,
            };
            for method in methods {
                let given = Given::of(&method.function.sig.output, key, &known, &self.borrowing);
                of_type.method(method, key, &given);
            }
            ends.insert(key, of_type.ends);
        }
        for of_type in ends.values() {
            of_type.linked(&ends, &mut shown);
            at_ends.take(of_type);
        }
        let [first, last] = [&at_ends.first, &at_ends.last];
        let inner = shown.edges.iter().map(|edge| &edge.to);
        shown.inner = inner.filter(|to| !first.contains(*to)).cloned().collect();
        // A method runs to its end, so nobody can release the object between its calls.
        let inner = shown.edges.iter().map(|edge| &edge.from);
        let inner: BTreeSet<String> = inner
            .filter(|from| !last.contains(*from))
            .cloned()
            .collect();
        shown.kept.extend(inner);
        let free = std::mem::take(&mut shown.free);
        shown.guarded.retain(|function| !free.contains(function));
        shown
    }
}

/// The functions that callers may call first, and those that they may call last.
#[derive(Default)]
struct AtEnds {
    first: BTreeSet<String>,
    last: BTreeSet<String>,
}

impl AtEnds {
    fn take(&mut self, ends: &Ends) {
        self.first.extend(ends.first.values().flatten().cloned());
        let handed = ends.handed.iter().map(|handed| &handed.calls);
        let all = handed.chain([&ends.last, &ends.dropped]);
        self.last
            .extend(all.flat_map(|calls| calls.values().flatten().cloned()));
    }
}

/// The first and the last calls of the methods of a type.
#[derive(Default)]
struct Ends {
    /// The first calls of safe methods.
    first: Calls,
    /// The last calls of makers, and of safe methods that leave the object usable.
    last: Calls,
    /// The last calls of `drop`.
    dropped: Calls,
    /// The methods that pass the object to another type.
    handed: Vec<Handed>,
    /// For each first call, the files that show it.
    files: BTreeMap<String, BTreeSet<String>>,
}

/// A method that passes its object to another type.
struct Handed {
    to: Key,
    /// Its last calls; [`BEFORE`] if it makes none.
    calls: Calls,
    /// Whether the object returns to its owner when the new value is dropped.
    borrows: bool,
    /// Whether the original value is never dropped.
    forgets: bool,
}

/// The methods of one type.
struct OfType<'t> {
    api: &'t Api,
    identities: &'t BTreeSet<String>,
    methods: &'t [&'t Method],
    /// Methods that call no function of the library.
    silent: BTreeSet<String>,
    ends: Ends,
    shown: &'t mut Shown,
}

impl OfType<'_> {
    /// Collects the facts that a method shows: pairs of calls within it, and its first and last
    /// calls.
    fn method(&mut self, method: &Method, own: &Key, given: &Given) {
        let api = self.api;
        let body = &method.function.block;
        if guards::looks_at_itself(body, api, &self.silent) {
            self.shown.guarded.extend(guards::calls(body, api));
            return;
        }
        self.shown.free.extend(guards::calls(body, api));
        let receiver = method.function.sig.receiver();
        let is_shared = receiver.is_some();
        let is_lent = receiver.is_none_or(|receiver| receiver.reference.is_some());
        let mut all = self.methods.iter();
        if is_shared
            && is_lent
            && !given.borrows
            && given.keys.contains(own)
            && all.any(|one| one.function.sig.ident == "drop")
        {
            self.shown.fresh.extend(guards::calls(body, api));
        }
        let begin = self
            .identities
            .iter()
            .filter(|_| is_shared)
            .map(|identity| {
                let object = (identity.clone(), SELF.to_owned());
                (object, [BEFORE.to_owned()].into())
            });
        let methods = self.methods.iter().map(|one| &one.function);
        let mut following = Following::new(api, methods.collect(), begin.collect());
        let end = following.function(body);
        self.shown.edges.extend(following.found(&method.file));
        if !method.is_open {
            return;
        }
        for (identity, call) in &following.first {
            let into = self.ends.first.entry(identity.clone()).or_default();
            into.insert(call.clone());
            let files = self.ends.files.entry(call.clone()).or_default();
            files.insert(method.file.clone());
        }
        let mut calls = Calls::default();
        for ((identity, object), last) in end.into_iter().flatten() {
            if is_shared == (object == SELF) {
                calls.entry(identity).or_default().extend(last);
            }
        }
        let others = || given.keys.iter().filter(|key| *key != own);
        if method.function.sig.ident == "drop" {
            extend(&mut self.ends.dropped, calls);
        } else if is_lent && is_shared && given.borrows && others().next().is_some() {
            self.hand(others(), &calls, (true, false));
        } else if is_lent || given.keys.contains(own) {
            extend(&mut self.ends.last, calls);
        } else {
            let forgets = guards::forgets(body);
            if forgets && others().next().is_none() {
                self.shown.kept.extend(calls.values().flatten().cloned());
            }
            self.hand(others(), &calls, (false, forgets));
        }
    }

    fn hand<'k>(
        &mut self,
        to: impl Iterator<Item = &'k Key>,
        calls: &Calls,
        (borrows, forgets): (bool, bool),
    ) {
        let all = to.map(|to| Handed {
            to: to.clone(),
            calls: calls.clone(),
            borrows,
            forgets,
        });
        self.ends.handed.extend(all);
    }
}

impl Ends {
    /// Adds the edges between methods: any method of the type may follow any other, and so may the
    /// methods of a type that the object is passed to.
    fn linked(&self, all: &BTreeMap<&Key, Ends>, shown: &mut Shown) {
        self.edges(&self.last, shown);
        for handed in &self.handed {
            let Some(to) = all.get(&handed.to) else {
                continue;
            };
            let mut from = handed.calls.clone();
            for (identity, calls) in &mut from {
                if calls.contains(BEFORE) {
                    calls.extend(self.last.get(identity).into_iter().flatten().cloned());
                }
            }
            to.edges(&from, shown);
            if handed.forgets {
                // If the new type does not use the object, the library owns it now.
                let lost = from.iter().filter(|(of, _)| !to.first.contains_key(*of));
                shown.kept.extend(lost.flat_map(|(_, calls)| calls.clone()));
            }
            if !handed.borrows {
                continue;
            }
            extend(&mut from, to.last.clone());
            // Dropping the new value leaves objects of other kinds unchanged: dropping an iterator
            // leaves its map.
            let (from, untouched): (Calls, Calls) = from
                .into_iter()
                .partition(|(of, _)| to.dropped.contains_key(of));
            self.edges(&untouched, shown);
            // Until the new value is dropped, the owner cannot use or release the object.
            self.edges(&to.dropped, shown);
            let is_closed = |call: &String| {
                let mut free = self.last.values().chain(to.dropped.values());
                call == BEFORE || free.any(|calls| calls.contains(call))
            };
            let open = from.into_values().flatten();
            shown.kept.extend(open.filter(|call| !is_closed(call)));
        }
    }

    /// Adds edges from the given calls to the first calls of this type.
    fn edges(&self, from: &Calls, shown: &mut Shown) {
        for (identity, firsts) in &self.first {
            let from = from.get(identity).into_iter().flatten();
            for from in from.filter(|from| *from != BEFORE) {
                for to in firsts {
                    for file in self.files.get(to).into_iter().flatten() {
                        shown.edges.insert(Edge {
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
}

/// The methods that call no function of the library and so can only inspect Rust's own state.
fn silent(methods: &[&Method], api: &Api) -> BTreeSet<String> {
    let all = methods.iter().map(|method| &method.function);
    all.filter(|function| guards::calls(&function.block, api).is_empty())
        .map(|function| function.sig.ident.to_string())
        .collect()
}

fn extend(into: &mut Calls, more: Calls) {
    for (identity, calls) in more {
        into.entry(identity).or_default().extend(calls);
    }
}

/// The identity of the object that a parameter takes, directly or by its address.
fn handle(api: &Api, param: &Parameter) -> Option<String> {
    let through = || api.handle(&api.pointee(&param.ty)?);
    api.handle(&param.ty).or_else(through)
}

#[cfg(test)]
mod tests;
