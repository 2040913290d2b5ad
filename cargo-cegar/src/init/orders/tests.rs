//! Tests of the orders that C code shows.

#![allow(clippy::unwrap_used, reason = "tests")]

use super::super::api::Parameter;
use super::super::ctype;
use super::*;

fn declared(name: &str, returns: &str, params: &[&str]) -> Declared {
    let params = params.iter().map(|ty| Parameter {
        name: String::new(),
        ty: ctype::read(ty),
        bound: None,
        not_null: false,
    });
    Declared::plain(name, returns, params.collect(), "")
}

/// The API of a library of boxes.
pub(super) fn box_api() -> Api {
    Api::of(vec![
        declared("make", "struct box *", &["int"]),
        declared("set", "int", &["struct box *", "int"]),
        declared("put", "int", &["struct box *"]),
        declared("get", "int", &["const struct box *"]),
        declared("drop", "void", &["struct box *"]),
        declared("ready", "int", &["struct box *"]),
        declared("open", "int", &["struct box **"]),
    ])
}

/// The orders that are learnt from one file.
pub(super) fn learnt(file: &str, text: &str) -> Orders {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    Orders::learn(folder.path(), &[], &box_api()).unwrap()
}

/// The pairs of consecutive calls that one file shows.
pub(super) fn pairs(file: &str, text: &str) -> Vec<String> {
    let orders = learnt(file, text);
    let Some(automaton) = orders.of("box") else {
        return Vec::new();
    };
    assert_eq!(automaton.files, [file.to_owned()].into());
    let next = automaton.next.iter();
    next.flat_map(|(from, all)| all.iter().map(move |to| format!("{from} {to}")))
        .collect()
}

fn edges(body: &str) -> Vec<String> {
    let text = format!("static int use(int n, struct box *given)\n{{\n{body}\n}}\n");
    pairs("tests/use.c", &text)
}

#[test]
fn calls_on_one_object_follow_each_other() {
    assert_eq!(
        edges("struct box *a = make(1), *b; open(&b); set(a, 2); put(b); put(a); drop(a);"),
        ["make set", "open put", "put drop", "set put"]
    );
    // Calls that another function made before are unknown.
    assert_eq!(edges("put(given); drop(given);"), ["put drop"]);
    assert_eq!(
        edges("struct box b; ready(&b); put((struct box *)&b);"),
        ["ready put"]
    );
    assert!(edges("put(make(1)); other(given);").is_empty());
}

#[test]
fn branches_part_and_loops_come_round() {
    assert_eq!(
        edges("a = make(1); if (n) set(a, 1); else put(a); drop(a);"),
        ["make put", "make set", "put drop", "set drop"]
    );
    assert_eq!(
        edges("a = make(1); if (set(a, 1)) { drop(a); return 1; } put(a);"),
        ["make set", "set drop", "set put"]
    );
    assert_eq!(
        edges("a = make(1); while (n--) { if (n == 3) break; put(a); get(a); } drop(a);"),
        ["get drop", "get put", "make drop", "make put", "put get"]
    );
    assert_eq!(
        edges("a = make(1); do put(a); while (get(a)); drop(a);"),
        ["get drop", "get put", "make put", "put get"]
    );
    assert_eq!(
        edges(
            "a = make(1); switch (n) { case 1: put(a); break; case 2: get(a); default: set(a, 1); }"
        ),
        ["get set", "make get", "make put", "make set"]
    );
    assert_eq!(
        edges("a = make(1); if (n) goto out; put(a); out: drop(a);"),
        ["make drop", "make put", "put drop"]
    );
}
