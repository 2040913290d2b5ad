//! Each memory error is found at its line and described.

use super::super::{Limits, Machine, Outcome};
use super::build;
use crate::program::ir::CheckKind;

fn found(source: &str) -> (CheckKind, String, u32) {
    let built = build(source);
    let run = Machine::new(&built.program, Limits::default()).run(&[]);
    match run.outcome {
        Outcome::Violated(v) => (v.kind, v.detail, v.pos.line),
        other => panic!("{other:?} instead of a violation"),
    }
}

#[test]
fn accesses() {
    let (kind, detail, line) = found(
        "int cegar_entry(void) {\n u8 name[16];\n int i = word();\n name[16 + i] = 1;\n return \
         name[0]; }",
    );
    assert_eq!((kind, line), (CheckKind::Write, 4));
    assert_eq!(
        detail,
        "write of 1 byte at offset 16 of `name` (16 bytes, stack)"
    );
    let (kind, detail, _) =
        found("int a[4]; int cegar_entry(void) { int *p = a; return p[word() - 1]; }");
    assert_eq!(kind, CheckKind::Read);
    assert_eq!(
        detail,
        "read of 4 bytes at offset -4 of `a` (16 bytes, global)"
    );
    let (_, detail, _) =
        found("int cegar_entry(void) { int *p = (int *)(long)word(); return *p; }");
    assert_eq!(detail, "read of 4 bytes at NULL");
    let (kind, detail, _) = found("int cegar_entry(void) { *(char *)\"abc\" = 1; return 0; }");
    assert_eq!(kind, CheckKind::Write);
    assert!(detail.contains("constant"), "{detail}");
}

#[test]
fn lifetimes() {
    let (_, detail, line) =
        found("int cegar_entry(void) {\n char *p = malloc(3);\n free(p);\n return *p; }");
    assert_eq!(line, 4);
    assert!(
        detail.contains("3 bytes, heap, allocated at") && detail.contains(":2:"),
        "{detail}"
    );
    assert!(detail.ends_with(", freed)"), "{detail}");
    let (_, detail, _) = found(
        "int *f(void) { int x[2]; x[word()] = 1; int *p = x; return p; } int cegar_entry(void) { \
         return *f(); }",
    );
    assert_eq!(
        detail,
        "read of 4 bytes of `x` (8 bytes, stack, its function has returned)"
    );
    let (_, detail, _) =
        found("int cegar_entry(void) { int *p; { int x[2]; x[word()] = 1; p = x; } return *p; }");
    assert!(detail.contains("out of scope"), "{detail}");
}

#[test]
fn frees_and_calls() {
    let (kind, detail, _) =
        found("int cegar_entry(void) { char *p = malloc(3); free(p); free(p); return 0; }");
    assert_eq!(kind, CheckKind::Free);
    assert!(
        detail.starts_with("second free of a block (3 bytes"),
        "{detail}"
    );
    let (_, detail, _) =
        found("int cegar_entry(void) { char *p = malloc(3); free(p + 1); return 0; }");
    assert!(detail.starts_with("free at offset 1 of"), "{detail}");
    let (_, detail, _) = found("int cegar_entry(void) { char a[3]; free(a); return 0; }");
    assert!(detail.contains("was not allocated"), "{detail}");
    let (kind, detail, _) =
        found("int cegar_entry(void) { int (*f)(void) = (void *)(long)word(); return f(); }");
    assert_eq!((kind, detail.as_str()), (CheckKind::Call, "call of NULL"));
}

#[test]
fn arithmetic() {
    assert_eq!(
        found("int cegar_entry(void) { return 5 / word(); }").0,
        CheckKind::DivisionByZero
    );
    assert_eq!(
        found("int cegar_entry(void) { return (-2147483647 - 1) % (word() - 1); }").0,
        CheckKind::DivisionByZero
    );
}

#[test]
fn lengths_that_wrap_around() {
    let (kind, detail, _) = found(
        "int cegar_entry(void) { char a[8] = {0}, b[8] = {0};
         __builtin_memcpy(a, b + 1, (size_t)word() - 1); return a[0]; }",
    );
    assert_eq!(kind, CheckKind::Read, "{detail}");
    let (kind, detail, _) = found(
        "int cegar_entry(void) { char a[8]; __builtin_memset(a + 1, 0, (size_t)word() - 1); return \
         a[0]; }",
    );
    assert_eq!(kind, CheckKind::Write, "{detail}");
}

#[test]
fn an_array_from_outside_has_a_start() {
    let (kind, detail, _) = found(
        "void *crunner_row(size_t);
         int cegar_entry(void) { char *a = crunner_row(4), *b = crunner_row(4); return a[0] + b[word() - 1]; }",
    );
    assert_eq!(kind, CheckKind::Read, "{detail}");
    assert!(detail.contains("offset -1"), "{detail}");
}

#[test]
fn a_result_that_nobody_takes_changes_nothing() {
    let built = build(
        "struct two { long a, b; };
         static struct two f(void) { struct two t = {1, 2}; return t; }
         static int g(int x, int y) { void (*p)(void) = (void (*)(void))f; p(); return x * 10 + y; }
         static int h(void) { return 0x1207; }
         int cegar_entry(void) { u8 (*p)(void) = (u8 (*)(void))h; return g(byte(), 5) * 100 + p(); }",
    );
    let run = Machine::new(&built.program, Limits::default()).run(&[3]);
    assert_eq!(run.outcome, Outcome::Returned(3507));
}

#[test]
fn endings() {
    let ends = |source: &str, limits: Limits| {
        let built = build(source);
        Machine::new(&built.program, limits).run(&[7]).outcome
    };
    let default = Limits::default;
    assert_eq!(
        ends("int cegar_entry(void) { return byte(); }", default()),
        Outcome::Returned(7)
    );
    assert_eq!(
        ends("int cegar_entry(void) { crunner_stop(-3); }", default()),
        Outcome::Exited(-3)
    );
    assert_eq!(
        ends(
            "int cegar_entry(void) { crunner_assume(0); return 0; }",
            default()
        ),
        Outcome::Rejected
    );
    let few = Limits {
        steps: 1000,
        ..default()
    };
    assert_eq!(
        ends("int cegar_entry(void) { for (;;) ; return 0; }", few),
        Outcome::StepLimit
    );
    assert_eq!(
        ends(
            "int f(int i) { return f(i + 1) + 1; } int cegar_entry(void) { return f(0); }",
            default()
        ),
        Outcome::StackOverflow
    );
    let hungry = "int cegar_entry(void) { while (malloc(1 << 20)) ; return 0; }";
    assert_eq!(ends(hungry, default()), Outcome::OutOfMemory);
    assert_eq!(
        ends(
            "int cegar_entry(void) { return malloc(1ul << 40) == 0; }",
            default()
        ),
        // Whether the environment refuses a request is decided before this call.
        Outcome::OutOfMemory
    );
    let violation = ends(
        "int cegar_entry(void) {\n crunner_violation(3, \"why\", \"f\", 1); }",
        default(),
    );
    assert!(
        matches!(violation, Outcome::Violated(v) if v.kind == CheckKind::Fail && v.detail == "why")
    );
}

#[test]
fn uninitialised_data_is_followed_to_a_decision() {
    let built = build(
        "int cegar_entry(void) {\n u8 a[4]; a[word()] = 1;\n u8 b = a[1];\n \n if (b) return 3; \
         return 4; }",
    );
    let machine = Machine::new(&built.program, Limits::default());
    let run = machine.run_tracked(&[]);
    assert_eq!(run.outcome, Outcome::Returned(3));
    assert_eq!(run.undefined_read.map(|p| p.line), Some(5));
    assert_eq!(machine.run(&[]).undefined_load.map(|p| p.line), Some(3));
}
