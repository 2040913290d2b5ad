//! Orders that Rust code shows.

#![allow(clippy::unwrap_used, reason = "tests")]

use super::super::Orders;
use super::super::tests::box_api;

/// The pairs of calls that a Rust file shows.
fn pairs(text: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("src")).unwrap();
    std::fs::write(folder.path().join("src/lib.rs"), text).unwrap();
    let orders = Orders::learn(folder.path(), &[], &box_api()).unwrap();
    let Some(life) = orders.of("box") else {
        return Vec::new();
    };
    assert_eq!(life.files, ["src/lib.rs".to_owned()].into());
    let next = life.next.iter();
    next.flat_map(|(from, all)| all.iter().map(move |to| format!("{from} {to}")))
        .collect()
}

fn body(body: &str) -> Vec<String> {
    pairs(&format!("fn used(n: i32, given: *mut Box) {{ {body} }}"))
}

#[test]
fn calls_of_one_function_follow_each_other() {
    assert_eq!(
        body(
            "unsafe { let a = make(1); ffi::set(a, 2); let b = a; assert_eq!(put(b), 1); drop(a) }"
        ),
        ["make set", "put drop", "set put"]
    );
    assert_eq!(
        body(
            "let a = NonNull::new(unsafe { make(1) }).unwrap(); unsafe { put(a.as_ptr()); drop(a.as_ptr()) }"
        ),
        ["make put", "put drop"]
    );
    assert_eq!(
        body("let mut a = null_mut(); unsafe { open(&mut a); put(a as *mut _); put(given); }"),
        ["open put"]
    );
    assert!(body("unsafe { put(make(1)); other(given) }").is_empty());
}

#[test]
fn branches_part_and_loops_come_round() {
    assert_eq!(
        body("let a = make(1); if n > 0 { set(a, 1); } else { put(a); } drop(a);"),
        ["make put", "make set", "put drop", "set drop"]
    );
    assert_eq!(
        body("let a = make(1); if set(a, 1) { drop(a); return; } put(a);"),
        ["make set", "set drop", "set put"]
    );
    assert_eq!(
        body("let a = make(1); for i in 0..n { if i == 3 { break; } put(a); get(a); } drop(a);"),
        ["get drop", "get put", "make drop", "make put", "put get"]
    );
    assert_eq!(
        body("let a = make(1); match n { 1 => put(a), _ => get(a) }; drop(a);"),
        ["get drop", "make get", "make put", "put drop"]
    );
}

const WRAPPER: &str = "
pub struct Held { raw: *mut Box }
impl Held {
    pub fn new(n: i32) -> Option<Held> {
        let raw = unsafe { ffi::make(n) };
        if raw.is_null() { return None; }
        Some(Held { raw })
    }
    pub fn put(&mut self) -> i32 { unsafe { ffi::put(self.raw) } }
    pub fn both(&mut self) { self.ready(); unsafe { ffi::set(self.raw, 1); } }
    fn ready(&mut self) { unsafe { ffi::ready(self.raw); } }
    HIDDEN
    pub fn into_end(self) -> i32 { unsafe { ffi::get(self.raw) } }
}
impl Drop for Held { fn drop(&mut self) { unsafe { ffi::drop(self.raw) } } }
";

#[test]
fn safe_methods_come_in_any_order() {
    let plain = pairs(&WRAPPER.replace("HIDDEN", ""));
    assert_eq!(
        plain,
        [
            "make drop",
            "make get",
            "make put",
            "make ready",
            "put drop",
            "put get",
            "put put",
            "put ready",
            "ready set",
            "set drop",
            "set get",
            "set put",
            "set ready"
        ]
    );
    // What is unsafe, or for the crate alone, makes no such promise.
    for hidden in ["pub unsafe fn", "pub(crate) fn", "fn"] {
        let method = format!("{hidden} taken(&mut self) {{ unsafe {{ open(&mut self.raw) }} }}");
        assert_eq!(pairs(&WRAPPER.replace("HIDDEN", &method)), plain);
    }
    // So does none that looks at its own state.
    for guard in [
        "if self.n > 3 { return; }",
        "assert!(self.n <= 3);",
        "match self.state { State::New => return, _ => {} }",
    ] {
        let method =
            format!("pub fn taken(&mut self) {{ {guard} unsafe {{ open(&mut self.raw) }} }}");
        assert_eq!(pairs(&WRAPPER.replace("HIDDEN", &method)), plain, "{guard}");
    }
    let method = "pub fn taken(&mut self, n: i32) { if self.raw.is_null() || n < 0 { return; } \
                  unsafe { open(&mut self.raw) } }";
    let more = pairs(&WRAPPER.replace("HIDDEN", method));
    assert!(more.contains(&"put open".to_owned()), "{more:?}");
    let method = "pub fn taken(&mut self) { unsafe { open(&mut self.raw) } }";
    let more = pairs(&WRAPPER.replace("HIDDEN", method));
    assert!(more.contains(&"open put".to_owned()) && more.contains(&"set open".to_owned()));
}

#[test]
fn a_crate_beside_calls_the_library() {
    let folder = tempfile::tempdir().unwrap();
    let (own, other) = (folder.path().join("box-sys"), folder.path().join("box"));
    for folder in [&own, &other] {
        std::fs::create_dir(folder).unwrap();
    }
    std::fs::write(other.join("lib.rs"), WRAPPER.replace("HIDDEN", "")).unwrap();
    let orders = Orders::learn(&own, &[other], &box_api()).unwrap();
    assert!(
        orders
            .of("box")
            .is_some_and(|life| life.next["put"].contains("put"))
    );
}
