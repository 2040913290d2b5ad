//! The parameter names of prototypes.
//!
//! The debug information of a function that is only declared contains the types of its parameters
//! but not their names, so these are read from clang's syntax tree. Names have two uses: a rule may
//! refer to a parameter by its name (`writes = "n elements of row"`), and a number whose name
//! denotes a count gives the number of elements to which the pointer before it leads.

use cegar_harness::external::{CountedPointer, Holds, Signature, Types};
use serde::Deserialize;

/// The relevant parts of a node of clang's syntax tree.
#[derive(Deserialize)]
struct Node {
    kind: Option<String>,
    name: Option<String>,
    #[serde(default)]
    inner: Vec<Node>,
}

/// The names of a function's parameters according to the concatenated syntax trees of a file;
/// `None` for an unnamed parameter. Of several declarations, the one with the most names is used.
pub(super) fn of(function: &str, trees: &str) -> Option<Vec<Option<String>>> {
    // A body may be nested more deeply than the JSON parser permits, so each tree is parsed
    // separately. Each ends with this line.
    let nodes = trees
        .split_inclusive("\n}\n")
        .map(serde_json::from_str::<Node>);
    let is = |node: &Node, kind: &str| node.kind.as_deref() == Some(kind);
    nodes
        .filter_map(Result::ok)
        .filter(|node| is(node, "FunctionDecl") && node.name.as_deref() == Some(function))
        .map(|node| {
            let params = node
                .inner
                .into_iter()
                .filter(|node| is(node, "ParmVarDecl"));
            params.map(|param| param.name).collect::<Vec<_>>()
        })
        .max_by_key(|names| names.iter().flatten().count())
}

/// Names of element counts, and suffixes of such names. `num` is missing, because it often denotes
/// the index of one item.
const COUNTS: &[&str] = &["n", "count", "cnt", "nmemb", "nelem", "nelems", "nitems"];
/// Names of lengths in bytes, and suffixes of such names.
const LENGTHS: &[&str] = &[
    "len", "length", "size", "sz", "nbytes", "bytes", "cap", "capacity",
];

/// Whether a parameter's name is one of these words or ends with one: `count`, `reg_count`,
/// `regCount`.
fn is_named(name: &str, words: &[&str]) -> bool {
    words.iter().any(|word| {
        let plain = name.eq_ignore_ascii_case(word);
        let snake = name
            .strip_suffix(word)
            .is_some_and(|before| before.ends_with('_'));
        let (first, rest) = word.split_at(1);
        let camel = rest.len() > 1 && name.ends_with(&(first.to_uppercase() + rest));
        plain || snake || camel
    })
}

/// Whether a signature has a pointer to plain values followed by a number, so that the names of its
/// parameters are needed.
pub(super) fn may_have_rows(signature: &Signature, types: Types<'_>) -> bool {
    (0..signature.params.len()).any(|i| element_size(signature, i, types).is_some())
}

/// The size of the plain elements to which parameter `i` points, if a number follows it.
fn element_size(signature: &Signature, i: usize, types: Types<'_>) -> Option<usize> {
    let Some(Holds::Int { size: 2.., .. }) = signature.params.get(i + 1) else {
        return None;
    };
    let Holds::Pointer(pointee) = &signature.params[i] else {
        return None;
    };
    let object = types.get(pointee.to.as_deref()?)?;
    let plain = !object.opaque && object.size > 0 && types.plan(object).pointers.is_empty();
    (plain && !pointee.constant).then_some(object.size)
}

/// The parameters that point to an array whose length is the next parameter, according to its name.
pub(super) fn rows(
    signature: &Signature,
    types: Types<'_>,
    names: &[Option<String>],
) -> Vec<CountedPointer> {
    let all = (0..signature.params.len()).filter(|&i| {
        let Some(size) = element_size(signature, i, types) else {
            return false;
        };
        let name = names
            .get(i + 1)
            .and_then(Option::as_deref)
            .unwrap_or_default();
        // A length next to elements of several bytes may be in bytes.
        is_named(name, COUNTS) || size == 1 && is_named(name, LENGTHS)
    });
    all.map(|param| CountedPointer {
        param,
        count: param + 1,
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_from_trees_side_by_side() {
        let tree = |params: &str| {
            format!("{{\"kind\":\"FunctionDecl\",\"name\":\"fill\",\"inner\":[{params}]\n}}")
        };
        let row = r#"{"kind":"ParmVarDecl","name":"row"}"#;
        let unnamed = r#"{"kind":"ParmVarDecl"}"#;
        let text = format!(
            "{}\n{}\n{}",
            tree(&format!("{unnamed},{unnamed}")),
            tree(&format!("{row},{unnamed}")),
            r#"{"kind":"FunctionDecl","name":"filler"}"#
        );
        let names = of("fill", &text).expect("a declaration");
        assert_eq!(names, [Some("row".to_owned()), None]);
        assert_eq!(of("other", &text), None);
    }

    #[test]
    fn counts_are_told_by_their_names() {
        for name in ["n", "count", "reg_count", "regCount"] {
            assert!(is_named(name, COUNTS), "{name}");
        }
        for name in ["index", "discount", "num", "len", "xn", "enum"] {
            assert!(!is_named(name, COUNTS), "{name}");
        }
    }
}
