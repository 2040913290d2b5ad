//! Programs without input: their only execution decides them, unless it depends on a choice of the
//! machine that another platform may make differently.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use cegar_checker::{AskZ3, Certificate, Claim};
use cegar_model::machine::{Limits, Machine};
use cegar_model::program::{Program, Property};
use cegar_model::solver;
use cegar_search::strategy::Options;
use cegar_search::strategy::executed::executed;
use cegar_tests::{Project, Tool, exit};

#[path = "proofs/compiled.rs"]
#[allow(dead_code, reason = "the tests of generated programs use all of it")]
mod compiled;

const STEPS: u64 = 20_000_000;
const MEMORY: &[Property] = &[Property::Assertion, Property::Memory];

/// The beginning of each program's text.
const HEAD: &str = "\
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
extern int __VERIFIER_nondet_int(void);
void reach_error(void);
";

fn program(text: &str) -> Program {
    let project = Project::empty();
    project.write("case.c", &format!("{HEAD}{text}"));
    let program = compiled::from_files(&[project.at("case.c")], &[], None, MEMORY);
    program.unwrap_or_else(|why| panic!("{why}\n{text}"))
}

/// Why the program's run is refused, if it is.
fn refusal(text: &str) -> Option<&'static str> {
    let program = program(text);
    let run = Machine::new(&program, Limits::default()).run_exact(STEPS);
    run.refusal()
}

#[track_caller]
fn are_refused(texts: &[&str]) {
    for text in texts {
        assert!(refusal(text).is_some(), "decided by one execution:\n{text}");
    }
}

#[test]
fn whole_programs() {
    let names = [
        "calendar",
        "fractions",
        "hash",
        "interpreter",
        "list",
        "recursion",
        "tokens",
        "variadic",
    ];
    for name in names {
        let path = format!("executed/{name}.c");
        let project = Project::program(&path);
        let check = |more: &[&str]| {
            let mut words = vec!["check", &path, "--no-emit", "--message-format", "json"];
            words.extend(["--property", "unreach", "--property", "memory"]);
            words.extend(["--max-time", "120s"]);
            words.extend(more);
            Tool::new(project.path(), words).run()
        };
        check(&[]).expect(exit::VIOLATION);
        let run = check(&["-D", "FIXED", "--engine-only"]);
        assert_eq!(run.finished()["verdict"], "proved", "{name}\n{run}");
    }
}

#[test]
fn what_does_not_depend_on_the_platform_is_decided() {
    let texts = [
        "int main(void) { int x, *p = &x, *q = p + 1; *p = 3; if (p == NULL || p >= q || q - p != \
         1) reach_error(); return 0; }",
        "int main(void) { char a[4], b[4]; if (a == b || &a[1] == &b[1]) reach_error(); return 0; \
         }",
        "int main(void) { char *p = malloc(3), *q = malloc(3); if (!p || !q || p == q) \
         reach_error(); free(p); free(q); return 0; }",
        "struct s { char c; void *p; }; int main(void) { struct s s = { 1, &s }, t; memcpy(&t, &s, \
         sizeof s); if (t.p != &s) reach_error(); return 0; }",
        "int main(void) { if (strcmp(\"ab\", \"ac\") >= 0 || strcmp(\"b\", \"b\") != 0) \
         reach_error(); return 0; }",
        "int main(void) { void *p[2] = { p, 0 }; void **q = malloc(16); if (!q) return 0; \
         memcpy(q, p, 16); q = realloc(q, 32); if (!q || q[0] != p) reach_error(); free(q); return \
         0; }",
    ];
    for text in texts {
        assert_eq!(refusal(text), None, "{text}");
    }
}

#[test]
fn numbers_of_objects() {
    are_refused(&[
        "int main(void) { int x; if ((uintptr_t)&x % 64 == 32) reach_error(); return 0; }",
        "int main(void) { int x, y; if (&x < &y) reach_error(); return 0; }",
        "int main(void) { int x, y; if ((uintptr_t)&x - (uintptr_t)&y > 100) reach_error(); return \
         0; }",
        "int main(void) { int x; if ((int)(uintptr_t)&x > 5) reach_error(); return 0; }",
        "int main(void) { int x; if ((uintptr_t)&x > 1000000) reach_error(); return 0; }",
        "int main(void) { int x; uintptr_t n = (uintptr_t)&x; n += 5ull << 32; if (n >> 63) \
         reach_error(); return 0; }",
        "int a[2], b[2]; int main(void) { if (a + 2 == b) reach_error(); return 0; }",
        "int main(void) { const char *a = \"text\", *b = \"text\" + 0; if (a != b && \"x\" == \
         (char *)\"x\") reach_error(); const char *c = \"ab\"; const char *d = \"zab\"; if (c == d \
         + 1) reach_error(); return 0; }",
        "int main(void) { char *p = malloc(1); free(p); char *q = malloc(1); if (p == q) \
         reach_error(); return 0; }",
        "int main(void) { char *p = malloc(1), *q = realloc(p, 2); if (p == q) reach_error(); \
         return 0; }",
        "void f(void) {} void g(void) {} int main(void) { if ((uintptr_t)f < (uintptr_t)g) \
         reach_error(); return 0; }",
        "int main(void) { int x; double d = (double)(uintptr_t)&x; if (d > 1e18) reach_error(); \
         return 0; }",
        "int main(void) { int x, y; uintptr_t n = (uintptr_t)&x ^ (uintptr_t)&y; if (n & 4) \
         reach_error(); return 0; }",
    ]);
}

#[test]
fn numbers_of_objects_in_memory() {
    are_refused(&[
        "int main(void) { int x, *p = &x; unsigned h; memcpy(&h, (char *)&p + 4, 4); if (h & 2) \
         reach_error(); return 0; }",
        "union u { int *p; unsigned n[2]; }; int main(void) { int x; union u u = { &x }; if \
         (u.n[1] & 2) reach_error(); return 0; }",
        "int main(void) { int x, *p = &x, s = 0; unsigned char *b = (unsigned char *)&p; for (int \
         i = 0; i < 8; i++) s += b[i]; if (s % 3 == 1) reach_error(); return 0; }",
        "struct __attribute__((packed)) s { char c; int *p; char d[3]; }; int main(void) { int x; \
         struct s s = { 1, &x, { 0 } }; unsigned n; memcpy(&n, (char *)&s + 3, 4); if (n & 0x800) \
         reach_error(); return 0; }",
        "int main(void) { int x, *p = &x; unsigned char *b = (unsigned char *)&p; b[7] = 0; b[6] = \
         1; uintptr_t n = (uintptr_t)p; if (n % 7 == 2) reach_error(); return 0; }",
        "int main(void) { int x, y; int *p = &x, *q = &y; if (memcmp(&p, &q, sizeof p) < 0) \
         reach_error(); return 0; }",
        "static int *f(void) { int x; return &x; } int main(void) { uintptr_t n = (uintptr_t)f(); \
         if (n % 64 == 0) reach_error(); return 0; }",
        "static uintptr_t kept; static void f(void) { int x; kept = (uintptr_t)&x; } \
         int main(void) { f(); if (kept >> 40 & 1) reach_error(); return 0; }",
        "static int x; static int *const p = &x; int main(void) { if (((const unsigned char \
         *)&p)[5] & 1) reach_error(); return 0; }",
        "int main(void) { int x; int **p = malloc(8); if (!p) return 0; *p = &x; unsigned *q = \
         realloc(p, 12); if (q && q[1] & 4) reach_error(); return 0; }",
    ]);
}

#[test]
fn what_was_never_written() {
    are_refused(&[
        "int main(void) { int x; if (x == 5) reach_error(); return 0; }",
        "struct s { char c; int n; }; int main(void) { struct s a = { 1, 2 }, b = { 1, 2 }; char \
         p[sizeof a], q[sizeof b]; a.c = 1; memcpy(p, &a, sizeof a); memcpy(q, &b, sizeof b); int \
         x[3]; p[1] = (char)x[1]; if (p[1] != q[1]) reach_error(); return 0; }",
        "int main(void) { char *p = malloc(4); if (p && p[2]) reach_error(); return 0; }",
        "int main(void) { int a[3] = { 1, 2, 3 }, i; if (a[i & 1] == 2) reach_error(); return 0; }",
        "int main(void) { int x; int y = 7 / (x | 1); return y; }",
        "int main(void) { char a[] = \"a\", b[] = \"c\"; if (strcmp(a, b) == -2) reach_error(); \
         return 0; }",
        "int main(void) { char a = 1, b = 3; int n = memcmp(&a, &b, 1); if (n + 1 < 0) \
         reach_error(); return 0; }",
    ]);
}

#[test]
fn what_comes_from_outside() {
    are_refused(&[
        "int main(void) { if (__VERIFIER_nondet_int() == 5) reach_error(); return 0; }",
        "int other(void); int main(void) { if (other() == 5) reach_error(); return 0; }",
        "extern int outside; int main(void) { if (outside == 5) reach_error(); return 0; }",
        "volatile int device; int main(void) { if (device) reach_error(); return 0; }",
        "#include <stdio.h>\nint main(void) { if (getchar() == 'a') reach_error(); return 0; }",
        "int main(void) { if (getenv(\"HOME\")) reach_error(); return 0; }",
        "#include <math.h>\n\
         int main(void) { volatile double one = 1; if (sin(one) == 0.5) reach_error(); return 0; }",
        "#include <signal.h>\n#include <stdio.h>\n\
         static int hit; static void on(int s) { (void)s; hit = 1; } int main(void) { \
         signal(SIGUSR1, on); puts(\"x\"); if (hit) reach_error(); return 0; }",
        "#include <setjmp.h>\n\
         static jmp_buf at; int main(void) { volatile int n = 0; if (setjmp(at) == 3) \
         reach_error(); if (n++ < 3) longjmp(at, n); return 0; }",
        "int main(void) { for (;;) ; }",
        "static int f(int n) { return n < 0 ? 0 : 1 + f(n + 1) % 3; } int main(void) { return \
         f(1); }",
        "int main(void) { int a[2] = { 1, 2 }; return a[2 + (int)sizeof a % 3]; }",
    ]);
}

#[test]
fn forged_claims_of_an_execution() {
    let input = "int main(void) { if (__VERIFIER_nondet_int() == 5) reach_error(); return 0; }";
    let none = "int main(void) { char *p = malloc(3); int n = 1; if (n == 2) reach_error(); \
        free(p); return 0; }";
    let properties = [Property::Assertion, Property::Memory];
    let check = |program: &Program, certificate: &Certificate| {
        let limits = solver::Limits {
            time: Some(Duration::from_secs(4)),
            ..solver::Limits::default()
        };
        cegar_checker::check(program, "", certificate, limits, &mut AskZ3)
    };
    let program_of_input = program(input);
    let mut forged = Certificate::empty("", &properties);
    forged.executed = true;
    forged.checks.push(Claim { id: 0, given: None });
    assert!(check(&program_of_input, &forged).is_err());

    let program = program(none);
    let options = Options {
        properties: properties.to_vec(),
        executes: true,
        counted: true,
        ..Options::default()
    };
    let proof = executed(&program, &options).unwrap_or_else(|| panic!("refused: {none}"));
    let honest = proof.outcome("", &properties).certificate;
    assert!(check(&program, &honest).is_ok());
    assert!(!honest.blocks.is_empty() && !honest.assumptions.is_empty());
    let proof = cegar_search::strategy::auto::prove(&program, &options, &AtomicBool::new(false));
    assert_eq!(proof.outcome("", &properties).certificate, honest);

    let dead: Vec<u32> = honest.blocks.iter().map(|claim| claim.id).collect();
    let main = program
        .function_named("cegar_user_main")
        .map(|id| program.function(id).blocks.clone());
    let entered = main.into_iter().flatten().find(|id| !dead.contains(id));
    let mut forged = honest.clone();
    forged
        .blocks
        .extend(entered.map(|id| Claim { id, given: None }));
    assert!(forged != honest && check(&program, &forged).is_err());
    let mut forged = honest.clone();
    forged
        .assumptions
        .retain(|assumption| assumption.id != "alloc");
    assert!(forged != honest && check(&program, &forged).is_err());
    let mut forged = honest.clone();
    forged.executed = false;
    assert!(check(&program, &forged).is_err());
}
