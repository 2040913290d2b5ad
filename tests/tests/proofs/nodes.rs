//! Random programs whose nodes are linked, moved and released, for the owners that a floor speaks of ([`cegar_model::domain::owners`]).
//!
//! Most are wrong somewhere. What matters is that no access and no release that an execution gets wrong is said to be right, and that the
//! owners of each state are those of the execution.

use std::fmt::Write as _;

use proptest::prelude::RngExt;
use proptest::test_runner::TestRunner;

use super::ground::{Compared, add, held, short};
use super::{ASSERTION_AND_MEMORY, FILE, compiled, random, runner};

/// What every program begins with; `@` is the program's suffix.
const BEGINNING: &str = "
struct node@ { int value; struct node@ *next, *down; };
static struct { struct node@ *head, *tail; } g@;
static struct node@ *make@(void) { struct node@ *n = calloc(1, sizeof *n); if (n) n->value = 1; return n; }
static void push@(struct node@ **to, struct node@ *n) { if (n) { n->next = *to; *to = n; } }
static void clear@(struct node@ *n) { while (n) { struct node@ *t = n->next; free(n); n = t; } }
int entry@(void) {
    struct node@ *a = NULL, *b = NULL, *c = NULL;
    int sum = 0, turns = 0;
    (void)push@; (void)clear@;
    while (turns++ < 6 && __VERIFIER_nondet_uchar()) {
";

/// Statements; `V` and `W` are variables, `F` is a link, `G` one of the program's two lists.
const STATEMENTS: &[&str] = &[
    "V = make@();",
    "V = make@();",
    "if (V) V->F = W;",
    "if (V) V->F = NULL;",
    "if (W) V = W->F;",
    "V = W;",
    "V = NULL;",
    "g@.G = V;",
    "g@.G = NULL;",
    "V = g@.G;",
    "free(V); V = NULL;",
    "free(V);",
    "if (V) { struct node@ *t = V->next; free(V); V = t; }",
    "if (V) { free(V->down); V->down = NULL; }",
    "if (V) free(V->down);",
    "push@(&g@.G, V);",
    "{ struct node@ *n = make@(); if (n) { n->F = V; V = n; } }",
    "{ struct node@ *n = make@(); if (n) { n->next = g@.G; g@.G = n; } }",
    "{ struct node@ *n = g@.G; if (n) { g@.G = n->next; free(n); } }",
    "if (V) sum += V->value;",
    "while (V) { struct node@ *t = V->next; free(V); V = t; }",
    "while (V) { struct node@ *t = V->next; free(V->down); free(V); V = t; }",
    "clear@(V); V = NULL;",
    "clear@(g@.G); g@.G = NULL;",
    "for (struct node@ *p = V; p && sum < 50; p = p->next) sum += p->value;",
    "{ struct node@ *p = V; while (p && p->next && __VERIFIER_nondet_uchar() & 1) p = p->next; W = p; }",
    "{ struct node@ *p = V; while (p && p->next && __VERIFIER_nondet_uchar() & 1) p = p->next; if (p) p->F = W; }",
    "{ struct node@ *p = V; while (p && p->next && __VERIFIER_nondet_uchar() & 1) p = p->next; if (p && p->next) { struct node@ *t = p->next; p->next = t->next; free(t); } }",
    "if (V && W) { struct node@ *t = V->F; W->next = NULL; if (t) { free(t); V->F = NULL; } }",
    "{ struct node@ *q = NULL; while (V) { struct node@ *t = V->next; V->next = q; q = V; V = t; } V = q; }",
];

/// The text of a program.
fn text(runner: &mut TestRunner) -> String {
    let mut text = BEGINNING.to_owned();
    let count = runner.rng().random_range(3..10);
    for _ in 0..count {
        statement(runner, 0, &mut text);
    }
    text.push_str("    }\n    return sum & 1;\n}\n");
    text
}

fn statement(runner: &mut TestRunner, depth: usize, text: &mut String) {
    let nests = depth < 2 && runner.rng().random_range(0..6) == 0;
    if !nests {
        let rng = runner.rng();
        let mut pick = |all: &[&str]| all[rng.random_range(0..all.len())].to_owned();
        let chosen = pick(STATEMENTS);
        let chosen = chosen
            .replace("V", &pick(&["a", "b", "c"]))
            .replace("W", &pick(&["a", "b", "c"]))
            .replace("F", &pick(&["next", "next", "down"]))
            .replace("G", &pick(&["head", "tail"]));
        // `NULL` has no variables in it.
        let _ = writeln!(text, "        {chosen}");
        return;
    }
    let how = ["if", "while"][runner.rng().random_range(0..2usize)];
    let _ = writeln!(text, "        {how} (__VERIFIER_nondet_uchar() & 1) {{");
    for _ in 0..runner.rng().random_range(1..4) {
        statement(runner, depth + 1, text);
    }
    text.push_str("        }\n");
}

/// So many files of random programs that link and release nodes.
pub fn compare(files: u64, seed: u64) -> (Vec<String>, Compared) {
    let (mut told, mut total) = (Vec::new(), Compared::default());
    for file in 0..files {
        let mut runner = runner(seed.wrapping_add(file << 32));
        let texts: Vec<String> = (0..FILE).map(|_| text(&mut runner)).collect();
        let named = texts.iter().enumerate();
        let named: Vec<String> = named
            .map(|(i, text)| text.replace('@', &compiled::suffix(i)))
            .collect();
        let mut program =
            compiled::together(&named, ASSERTION_AND_MEMORY).unwrap_or_else(|why| panic!("{why}"));
        for (i, text) in texts.iter().enumerate() {
            compiled::start_in(&mut program, i);
            let (differs, compared) = held(&program, &random::tapes(&mut runner), short);
            add(&mut total, compared);
            let place = format!("seed {seed}, file {file}, program {i}");
            told.extend(
                differs
                    .first()
                    .map(|what| format!("{place}: {what}\n{text}")),
            );
        }
    }
    (told, total)
}
