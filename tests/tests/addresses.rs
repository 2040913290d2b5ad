//! `cargo cegar check` on programs that compute with addresses. Each access belongs to the object
//! from which its pointer was derived. Nothing is proved from the platform's choices, that is,
//! where objects are placed and which bits their addresses have. The tests come in pairs: what may
//! fail is never proved, and what cannot fail is proved.

use cegar_tests::{Project, Tool};

const HEAD: &str = "#include <assert.h>\n#include <stdint.h>\n#include <stdlib.h>\n\
    #include <string.h>\nextern int __VERIFIER_nondet_int(void);\n\
    extern unsigned __VERIFIER_nondet_uint(void);\n\
    extern unsigned long __VERIFIER_nondet_ulong(void);\n";

/// The verdict of a check of a program within some time.
fn verdict(globals: &str, body: &str, property: &str, time: &str) -> String {
    let project = Project::empty();
    let text = format!("{HEAD}{globals}\nint main(void)\n{{\n{body}\n    return 0;\n}}\n");
    project.write("a.c", &text);
    let words = ["check", "a.c", "--property", property, "--max-time", time];
    let more = ["--message-format", "json", "--no-emit"];
    let run = Tool::new(project.path(), words.into_iter().chain(more)).run();
    let finished = run.finished();
    finished["verdict"].as_str().unwrap_or_default().to_owned()
}

fn proved(globals: &str, body: &str, property: &str) {
    let said = verdict(globals, body, property, "120s");
    assert_eq!(said, "proved", "{globals}\n{body}");
}

fn violated(globals: &str, body: &str, property: &str) {
    let said = verdict(globals, body, property, "120s");
    assert_eq!(said, "violated", "{globals}\n{body}");
}

/// Whether a violation can be shown depends on the platform's choices, but a proof would be wrong.
fn unproved(globals: &str, body: &str, property: &str) {
    let said = verdict(globals, body, property, "6s");
    assert!(
        said == "open" || said == "violated",
        "{said}: {globals}\n{body}"
    );
}

#[test]
fn a_step_of_2_to_the_32_leads_to_no_neighbour() {
    let two = "int x[4], y[4];";
    let index = "size_t k = __VERIFIER_nondet_ulong();\n\
        if (k >= 4 && (k < (1UL << 30) || k >= (1UL << 30) + 4)) return 0;\nx[k] = 1;";
    violated(two, index, "memory");
    let constant =
        "unsigned long k = 1UL << 30; int *p = x; if (__VERIFIER_nondet_int() == 77) p[k] = 1;";
    violated(two, constant, "memory");
    let looped = "char *p = (char *)x; while (__VERIFIER_nondet_int()) p += 1L << 32; return *p;";
    violated(two, looped, "memory");
    let number = "unsigned long k = __VERIFIER_nondet_ulong();\n\
        if (k != 0 && k != (1UL << 33)) return 0;\nreturn *(char *)((uintptr_t)x + k);";
    violated(two, number, "memory");
    let unsigned = "unsigned i = __VERIFIER_nondet_uint();\nif (i % (1u << 30) >= 4) return 0;\n\
        int *p = x; return i < 8 || i == 0x40000003 ? p[i] : 0;";
    violated(two, unsigned, "memory");
}

#[test]
fn small_steps_before_an_object_lead_back_into_it() {
    let body = "int *q = a, *p = q - 1; for (int i = 1; i <= 8; i++) p[i] = i;\n\
        int k = __VERIFIER_nondet_int(); if (k >= 1 && k <= 8) assert(p[k] == a[k - 1]);";
    proved("int a[8];", body, "assertion");
    proved("int a[8];", body, "memory");
}

#[test]
fn a_literal_is_no_address() {
    for literal in ["0x1000000000000", "0x5"] {
        let body = format!("if (__VERIFIER_nondet_int() == 77) *(char *){literal} = 1;");
        violated("int g = 1;", &body, "memory");
    }
    // A literal that could be an object's address under another layout is not modelled.
    let body = "if (__VERIFIER_nondet_int() == 77) *(char *)0x4f1bbcdd00000000 = 1;";
    unproved("int g = 1;", body, "memory");
}

#[test]
fn a_shift_by_the_width_is_anything() {
    let body = |limit: &str| {
        format!("unsigned s = __VERIFIER_nondet_uint(); if ({limit}) return 0; return t[1u << s];")
    };
    violated("int t[16];", &body("s >= 4 && s < 32"), "memory");
    proved("int t[16];", &body("s >= 4"), "memory");
    let zeros = |cond: &str, most: u32| {
        format!(
            "unsigned s = __VERIFIER_nondet_uint(); if ({cond}) assert(__builtin_clz(s) <= {most});"
        )
    };
    unproved("", &zeros("1", 32), "assertion");
    proved("", &zeros("s", 31), "assertion");
}

#[test]
fn local_arrays_have_a_length_that_the_stack_holds() {
    let body = |limit: &str| {
        format!(
            "int n = __VERIFIER_nondet_int(); {limit}\n\
             int a[n]; for (int i = 0; i < n; i++) a[i] = i; return a[n - 1];"
        )
    };
    violated("", &body(""), "memory");
    violated("", &body("if (n < 1) return 0;"), "memory");
    proved("", &body("if (n < 1 || n > 100) return 0;"), "memory");
    let bytes = "unsigned long n = __VERIFIER_nondet_ulong(); if (n < 1) return 0;\n\
        char *a = __builtin_alloca(n); a[0] = 1; return a[0];";
    violated("", bytes, "memory");
}

#[test]
fn memcpy_does_not_overlap() {
    let globals = "char b[32]; struct s { int a, b, c; } t[8];";
    let copy = "unsigned k = __VERIFIER_nondet_uint(); if (k > 16) return 0; memcpy(b + k, b, 8);";
    violated(globals, copy, "memory");
    let apart = "unsigned k = __VERIFIER_nondet_uint(), j = __VERIFIER_nondet_uint();\n\
        if (k > 16 || k < 8 || j > 7) return 0;\n\
        memcpy(b + k, b, 8); t[j] = t[k - 8 < 8 ? k - 8 : 0]; memmove(b + 1, b, 8);";
    proved(globals, apart, "memory");
}

#[test]
fn low_bits_of_addresses_are_what_alignment_says() {
    unproved(
        "char buf[10];",
        "assert(((uintptr_t)buf & 15) == 0);",
        "assertion",
    );
    unproved(
        "char buf[10];",
        "assert((unsigned)(uintptr_t)&buf[1] == 1);",
        "assertion",
    );
    let table = "char buf[8]; int t[4], u[64];";
    unproved(table, "return t[(uintptr_t)buf & 7];", "memory");
    let hash = "int *p = malloc(8); if (!p) return 0; u[((uintptr_t)p >> 3) % 64] = 1;\n\
        u[(uintptr_t)p & 63] = 1; free(p);";
    proved(table, hash, "memory");
    let aligned = "int *p = malloc(8); if (p) assert(((uintptr_t)p & 7) == 0);";
    proved(table, aligned, "assertion");
}

#[test]
fn an_address_may_wrap_around() {
    let any = "char *p = malloc(16);\nif (!p) return 0;\n\
        unsigned long n = __VERIFIER_nondet_ulong();\n";
    let order = format!("{any}assert((uintptr_t)(p + n) > 1000);");
    unproved("", &order, "assertion");
    let below = format!("{any}assert((uintptr_t)p - n > 1000);");
    unproved("", &below, "assertion");
    // A program without position-independent code has lower addresses.
    unproved(
        "int g;",
        "assert((uintptr_t)&g > 0x80000000u);",
        "assertion",
    );
    let near = format!("{any}if (n < 16) assert(p + n && (uintptr_t)(p + n) > 4096);");
    proved("", &near, "assertion");
    let narrow = "char *p = malloc(16);\nif (!p) return 0;\nassert(p + __VERIFIER_nondet_uint());";
    proved("", narrow, "assertion");
}

#[test]
fn where_objects_lie_is_open() {
    let two = "int a[4], b[4];";
    unproved(two, "assert(a + 4 != b);", "assertion");
    let again = "char *p = malloc(8); uintptr_t old = (uintptr_t)p; free(p);\n\
        char *q = malloc(8); if (q) assert((uintptr_t)q != old);";
    unproved(two, again, "assertion");
    let living = "assert(a != b); int *p = malloc(4), *q = malloc(4);\n\
        if (p && q) { assert(p != q); assert(p != a); }";
    proved(two, living, "assertion");
}

#[test]
fn volatile_reads_answer_anything() {
    unproved("volatile int flag;", "assert(flag == 0);", "assertion");
    proved("", "volatile int x = 3; assert(x == 3);", "assertion");
}

/// Stack memory may be reused, so the addresses may be equal or different.
#[test]
fn locals_of_calls_that_have_ended_may_share_an_address() {
    let dead = "static uintptr_t f(void) { int x; int *volatile p = &x; return (uintptr_t)p; }";
    unproved(
        dead,
        "uintptr_t a = f(), b = f(); assert(a != b);",
        "assertion",
    );
    let apart = "int x, y; int *volatile p = &x, *volatile q = &y; assert(p != q);";
    proved("", apart, "assertion");
}

/// Addresses in a segment are relative to the segment's base, which is not that of ordinary memory.
#[test]
fn an_address_in_a_segment_is_another_one() {
    let body =
        "int __seg_fs *p = (int __seg_fs *)&x; if (__VERIFIER_nondet_int() == 9) assert(*p == 3);";
    unproved("static int x = 3;", body, "assertion");
}
