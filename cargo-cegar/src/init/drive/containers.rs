//! Orders of calls for containers that no caller is seen to use.
//!
//! A library alone in its crate has no callers, and then the life of an object has no harness,
//! although faults of containers often need several different calls: a pointer to an entry that was
//! removed. The functions of a container may usually be called in any order, so a harness assumes
//! this for an object that one function puts items into and that others read or change. Functions
//! whose names speak of a protocol (`begin`, `next`, `flush`) are left out, because the header does
//! not say what has to come before them.

use std::collections::BTreeSet;

use super::text::words;
use super::{Adjust, Body};
use crate::init::api::{Api, Declared};
use crate::init::orders::CallAutomaton;

/// Words in the names of functions that read or change what is in a container.
const USES: &[&str] = &[
    "available",
    "clear",
    "consume",
    "contains",
    "count",
    "delete",
    "dequeue",
    "drain",
    "erase",
    "find",
    "first",
    "get",
    "has",
    "last",
    "lookup",
    "peek",
    "pop",
    "read",
    "remove",
    "size",
    "take",
    "used",
];
/// Words in the names of functions that put something into a container, besides the usual ones.
const PUTS: &[&str] = &["feed", "write"];
/// Words in the names of functions that need another call before or after them.
const PROTOCOL: &[&str] = &[
    "begin", "close", "commit", "end", "finish", "flush", "init", "iter", "iterator", "lock",
    "next", "open", "pause", "prev", "reset", "resume", "rewind", "start", "stop", "unlock",
];

/// The objects that look like containers, each with every order of its functions.
pub fn containers(api: &Api, usable: &BTreeSet<String>) -> Vec<(String, CallAutomaton)> {
    let adjust = Adjust::default();
    let body = |function| Body::new(api, usable, function, &adjust);
    let has = |function: &Declared, list: &[&str]| {
        words(&function.name).any(|word| list.contains(&word.as_str()))
    };
    let filled = api.functions.iter().filter_map(|function| {
        let identity = api.handle(&function.params.first()?.ty)?;
        let body = body(function);
        let is_use = body.place_of(function, &identity) == Some(0);
        let is_put = body.is_put(function) || has(function, PUTS);
        (is_use && is_put).then_some(identity)
    });
    let identities: BTreeSet<String> = filled.collect();
    let any_order = |identity: String| {
        let users = api.functions.iter().filter(|function| {
            !function.deprecated
                && !has(function, PROTOCOL)
                && body(function).place_of(function, &identity) == Some(0)
        });
        let users: Vec<&Declared> = users.collect();
        if !users.iter().any(|function| has(function, USES)) {
            return None;
        }
        let names: BTreeSet<String> = users.iter().map(|one| one.name.clone()).collect();
        let makers = api.functions.iter().filter(|function| {
            let made = body(function).makes(function, &identity);
            made.is_some() && usable.contains(&function.name)
        });
        let from = makers
            .chain(users)
            .map(|one| (one.name.clone(), names.clone()));
        let automaton = CallAutomaton {
            next: from.collect(),
            files: BTreeSet::new(),
        };
        let is_made = automaton.next.len() > names.len();
        is_made.then_some((identity, automaton))
    };
    identities.into_iter().filter_map(any_order).collect()
}
