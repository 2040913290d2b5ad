//! Tests of the orders that Rust code shows.

#![allow(clippy::unwrap_used, reason = "tests")]

use super::super::Orders;
use super::super::tests::{self, box_api, learnt};

/// The pairs of consecutive calls that a Rust file shows.
fn pairs(text: &str) -> Vec<String> {
    tests::pairs("src/lib.rs", text)
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
            "let a = NonNull::new(unsafe { make(1) }).unwrap(); unsafe { put(a.as_ptr()); \
             drop(a.as_ptr()) }"
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
fn results_that_rust_drops_are_objects_of_their_own() {
    let fresh = |method: &str| {
        let text = WRAPPER.replace("HIDDEN", method);
        learnt("src/lib.rs", &text).is_fresh("ready")
    };
    let made = "Held { raw: unsafe { ffi::ready(self.raw) } }";
    assert!(fresh(&format!("pub fn half(&self) -> Held {{ {made} }}")));
    assert!(fresh(&format!(
        "pub fn half(&self) -> Option<Self> {{ Some({made}) }}"
    )));
    // A result that borrows lies in the object, and the result of a method that consumes the object
    // is that object.
    assert!(!fresh(&format!(
        "pub fn on(&mut self) -> &mut Self {{ {made}; self }}"
    )));
    assert!(!fresh(&format!("pub fn done(self) -> Held {{ {made} }}")));
}

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
    // Unsafe and crate-private methods make no such guarantee.
    for hidden in ["pub unsafe fn", "pub(crate) fn", "fn"] {
        let method = format!("{hidden} taken(&mut self) {{ unsafe {{ open(&mut self.raw) }} }}");
        assert_eq!(pairs(&WRAPPER.replace("HIDDEN", &method)), plain);
    }
    // Neither do methods that check their own state.
    for guard in [
        "if self.n > 3 { return; }",
        "let n = self.inner.borrow(); if n.is_on() { return; }",
        "must_be(self.state, State::Full);",
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

/// The functions after which the caller cannot release the object.
fn kept(text: &str) -> Vec<String> {
    learnt("lib.rs", text).kept.into_iter().collect()
}

#[test]
fn a_guard_has_the_object_until_it_is_dropped() {
    let text = "
pub struct Held { raw: *mut Box }
pub struct Guard<'a> { held: &'a mut Held }
impl Held {
    pub fn new(n: i32) -> Held { Held { raw: unsafe { make(n) } } }
    pub fn lock(&mut self) -> Result<Guard<'_>, ()> { unsafe { ready(self.raw) }; Ok(Guard { held: self }) }
    pub fn get(&self) -> i32 { unsafe { get(self.raw) } }
}
impl Drop for Held { fn drop(&mut self) { unsafe { drop(self.raw) } } }
impl<'a> Guard<'a> { pub fn put(&mut self) { unsafe { put(self.held.raw) } } }
impl Drop for Guard<'_> { fn drop(&mut self) { unsafe { set(self.held.raw, 0) } } }
";
    assert_eq!(
        pairs(text),
        [
            "get drop",
            "get get",
            "get ready",
            "make drop",
            "make get",
            "make ready",
            "put put",
            "put set",
            "ready put",
            "ready set",
            "set drop",
            "set get",
            "set ready"
        ]
    );
    assert_eq!(kept(text), ["put", "ready"]);
}

#[test]
fn types_with_other_arguments_are_others() {
    let text = "
pub struct Conn<S> { raw: *mut Box, state: PhantomData<S> }
impl Conn<Closed> {
    pub fn new(n: i32) -> Self { Conn { raw: unsafe { make(n) }, state: PhantomData } }
    pub fn open(self) -> Conn<Open> {
        let raw = self.raw;
        std::mem::forget(self);
        unsafe { ready(raw) };
        Conn { raw, state: PhantomData }
    }
}
impl Conn<Open> { pub fn put(&mut self) -> i32 { unsafe { put(self.raw) } } }
impl<S> Drop for Conn<S> { fn drop(&mut self) { unsafe { drop(self.raw) } } }
";
    assert_eq!(
        pairs(text),
        [
            "make drop",
            "make ready",
            "put drop",
            "put put",
            "ready drop",
            "ready put"
        ]
    );
    assert!(kept(text).is_empty());
}

#[test]
fn a_builder_goes_on_and_what_it_builds_has_the_object() {
    let text = "
pub struct Builder { raw: *mut Box }
pub struct Built { other: *mut Other }
impl Builder {
    pub fn new() -> Builder { Builder { raw: unsafe { make(1) } } }
    pub fn size(self, n: i32) -> Self { unsafe { set(self.raw, n) }; self }
    pub fn build(self) -> Built {
        let raw = self.raw;
        std::mem::forget(self);
        Built { other: unsafe { ready(raw) } }
    }
}
impl Drop for Builder { fn drop(&mut self) { unsafe { drop(self.raw) } } }
impl Built { pub fn used(&self) {} }
";
    assert_eq!(
        pairs(text),
        [
            "make drop",
            "make ready",
            "make set",
            "set drop",
            "set ready",
            "set set"
        ]
    );
    assert_eq!(kept(text), ["ready"]);
}

#[test]
fn what_asks_another_method_first_is_guarded() {
    let text = WRAPPER.replace(
        "HIDDEN",
        "fn check(&self) -> Result<(), ()> { self.on.then_some(()).ok_or(()) }
         pub fn taken(&mut self) -> Result<(), ()> { self.check()?; unsafe { open(&mut self.raw) }; Ok(()) }",
    );
    assert_eq!(pairs(&text), pairs(&WRAPPER.replace("HIDDEN", "")));
    let orders = learnt("lib.rs", &text);
    assert!(orders.is_guarded("open") && !orders.is_guarded("put"));
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
            .is_some_and(|automaton| automaton.next["put"].contains("put"))
    );
}
