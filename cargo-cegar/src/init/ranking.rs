//! The order in which functions get harnesses, and functions that others stand for.
//!
//! A harness is written for few of a library's functions, so those that read data come first, those
//! that the crate does not bind come later, and variants of a function come last.

use std::collections::BTreeSet;

use super::api::{Api, Declared};
use super::drive::Harness;

/// The score penalty of a function that the crate does not bind, if it binds others.
const UNUSED: i32 = 100;

/// Harnesses in the order in which they are chosen.
pub(super) fn in_order(
    mut found: Vec<(String, Harness)>,
    api: &Api,
    is_unused: impl Fn(&str) -> bool,
) -> Vec<(String, Harness)> {
    // The sorts are stable, so equal scores keep the order of the header.
    let score = |name: &str, harness: &Harness| match is_unused(name) {
        true => harness.score - UNUSED,
        false => harness.score,
    };
    found.sort_by_key(|(name, harness)| -score(name, harness));
    let twins = twins(api, &found);
    found.sort_by_key(|(name, _)| twins.contains(name));
    found
}

/// Whether `other` is the variant of `name` that validates its input: `lzo1x_decompress_safe` of
/// `lzo1x_decompress`.
pub(super) fn is_safe_twin(name: &str, other: &str) -> bool {
    let rest = other.strip_prefix(name);
    rest.is_some_and(|rest| matches!(rest, "_safe" | "Safe" | "_checked" | "_s"))
}

/// The functions that are a variant of one before them: `argon2d_verify` after `argon2i_verify`.
/// The parameters are equal, and the names differ in a few characters. A harness for one of them
/// finds most faults of the others, so they come last.
fn twins(api: &Api, found: &[(String, Harness)]) -> BTreeSet<String> {
    let mut twins = BTreeSet::new();
    let functions = found.iter().filter_map(|(name, _)| api.function(name));
    let functions: Vec<&Declared> = functions.collect();
    for (i, function) in functions.iter().enumerate() {
        let is_equal = |other: &&&Declared| {
            (&other.params, &other.returns) == (&function.params, &function.returns)
                && is_near(&other.name, &function.name)
        };
        let first = functions[..i].iter().find(is_equal);
        if first.is_some_and(|other| !twins.contains(&other.name)) {
            twins.insert(function.name.clone());
        }
    }
    twins
}

/// Parts of names that make an operation its opposite.
const OPPOSED: &[&str] = &[
    "en", "de", "un", "dis", "in", "out", "get", "set", "put", "add", "sub", "pop",
];

/// Whether two names differ in at most three characters, in one place and neither at the beginning
/// nor at the end, and do not name opposite operations.
fn is_near(a: &str, b: &str) -> bool {
    let before = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a.as_bytes()[before..], &b.as_bytes()[before..]);
    let behind = a.iter().rev().zip(b.iter().rev());
    let behind = behind.take_while(|(a, b)| a == b).count();
    let differ = a.len().max(b.len()) - behind;
    let parts = [&a[..a.len() - behind], &b[..b.len() - behind]];
    let is_opposed = |part: &&[u8]| OPPOSED.iter().any(|one| one.as_bytes() == *part);
    before > 0 && behind > 0 && differ <= 3 && !parts.iter().any(is_opposed)
}

/// Whether a function's name says that it trusts its caller: `unsafe_yyjson_set_arr`, `_get`,
/// `queue_pop_unchecked`.
pub(super) fn is_internal(name: &str) -> bool {
    let mut words = name.split('_');
    let is_word = |word: &str| {
        let lower = word.to_ascii_lowercase();
        matches!(lower.as_str(), "unsafe" | "unchecked" | "internal" | "impl")
    };
    name.starts_with('_') || words.any(is_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_of_a_name_differ_in_few_characters() {
        for (a, b) in [
            ("argon2i_verify", "argon2id_verify"),
            ("decode24_memory", "decode32_memory"),
        ] {
            assert!(is_near(a, b), "{a} {b}");
        }
        for (a, b) in [
            ("parse_request", "parse_response"),
            ("get", "set"),
            ("read_int", "read_uints"),
            ("cobs_encode", "cobs_decode"),
            ("mtx_lock", "mtx_unlock"),
        ] {
            assert!(!is_near(a, b), "{a} {b}");
        }
    }
}
