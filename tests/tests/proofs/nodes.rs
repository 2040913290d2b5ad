//! Random programs that link, move and release nodes, to test the owners of floors
//! ([`cegar_model::domain::owners`]).
//!
//! Most of the programs have a fault. The tests assert that no access and no release that an
//! execution violates is claimed to hold, and that the owners of each state are those of the
//! execution.

use std::fmt::Write as _;

use proptest::prelude::RngExt;
use proptest::test_runner::TestRunner;

use super::ground::{Compared, add, compare_with_floor, short};
use super::{ASSERTION_AND_MEMORY, FILE, compiled, random, runner};

/// The beginning of every program; `@` is the program's suffix.
const BEGINNING: &str = "
struct node@ { int value; struct node@ *next, *down; };
static struct { struct node@ *head, *tail; } g@;
static struct node@ *t@[6];
static struct node@ *make@(void) { struct node@ *n = calloc(1, sizeof *n); if (n) n->value = 1; return n; }
static void push@(struct node@ **to, struct node@ *n) { if (n) { n->next = *to; *to = n; } }
static void clear@(struct node@ *n) { while (n) { struct node@ *t = n->next; free(n); n = t; } }
static unsigned char pick@(void) { return __VERIFIER_nondet_uchar(); }
int entry@(void) {
    struct node@ *a = NULL, *b = NULL, *c = NULL;
    struct node@ *l[6];
    unsigned i = 0, j = 1, n = 0;
    int sum = 0, turns = 0;
    (void)pick@; (void)push@; (void)clear@; (void)l; (void)t@; (void)j;
    while (turns++ < 6 && __VERIFIER_nondet_uchar()) {
";

/// Statements on lists; `V` and `W` stand for variables, `F` for a link, `G` for one of the
/// program's two lists.
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
    "{ struct node@ *p = V; while (p && p->next && pick@() & 1) p = p->next; W = p; }",
    "{ struct node@ *p = V; while (p && p->next && pick@() & 1) p = p->next; if (p) p->F = W; }",
    "{ struct node@ *p = V; while (p && p->next && pick@() & 1) p = p->next; if (p && p->next) { \
     struct node@ *t = p->next; p->next = t->next; free(t); } }",
    "if (V && W) { struct node@ *t = V->F; W->next = NULL; if (t) { free(t); V->F = NULL; } }",
    "{ struct node@ *q = NULL; while (V) { struct node@ *t = V->next; V->next = q; q = V; V = t; } \
     V = q; }",
    "{ struct node@ *q = NULL, *p = V; while (p) { struct node@ *t = p->next; if (pick@() & 1) { \
     if (q) q->next = t; else V = t; free(p); } else q = p; p = t; } }",
    "{ struct node@ *q = NULL, *p = V; while (p) { struct node@ *t = p->F; if (pick@() & 1) { if \
     (q) q->next = t; else V = t; free(p); } else q = p; p = t; } }",
    "{ struct node@ *q = NULL, *p = g@.G; while (p && pick@() & 1) { q = p; p = p->next; } if (p) \
     { if (q) q->next = p->next; else g@.G = p->next; free(p); } }",
    "{ struct node@ *p = V; while (p && p->next && pick@() & 1) p = p->next; struct node@ *n = \
     make@(); if (n && p) { n->next = p->next; p->next = n; } else free(n); }",
    "{ struct node@ *p = V; while (p && p->next && pick@() & 1) p = p->next; struct node@ *n = \
     make@(); if (n && p) { n->F = p->next; p->next = n; W = n; } }",
    "if (V && V->F) V->F->F = W;",
    "{ struct node@ *n = make@(); if (n) { if (g@.tail) g@.tail->next = n; else g@.head = n; \
     g@.tail = n; } }",
    "{ struct node@ *n = make@(); if (n) { if (g@.tail) g@.tail->next = n; else g@.head = n; \
     g@.tail = n; } }",
    "{ struct node@ *n = g@.head; if (n) { g@.head = n->next; if (!g@.head) g@.tail = NULL; \
     free(n); } }",
    "{ struct node@ *n = g@.head; if (n) { g@.head = n->next; free(n); if (!g@.head) g@.tail = \
     NULL; } }",
    "if (g@.tail) g@.tail->value++;",
];

/// Statements on arrays; `I` and `J` stand for indices of `t`, each element of which may hold a
/// node. Of `l`, the first `n` elements hold nodes.
const OF_ARRAYS: &[&str] = &[
    "i = pick@() % 6;",
    "j = pick@() % 6;",
    "t@[I] = V;",
    "t@[I] = V; V = NULL;",
    "V = t@[I];",
    "V = t@[I]; t@[I] = NULL;",
    "t@[I] = NULL;",
    "t@[I] = t@[J];",
    "free(t@[I]);",
    "((unsigned char *)t@)[pick@() % 48] ^= 1;",
    "((unsigned char *)t@)[29] ^= 1;",
    "((unsigned short *)&t@[I])[1] = 7;",
    "{ char *at = (char *)t@ + 20; for (int k = 0; k < 8; k++) at[k] = 0; }",
    "free(t@[I]); t@[I] = NULL;",
    "if (!t@[I]) t@[I] = make@();",
    "if (t@[I]) sum += t@[I]->value;",
    "if (t@[I]) { t@[J] = NULL; sum += t@[I]->value; }",
    "{ struct node@ *m = make@(); if (m) { m->next = t@[I]; t@[I] = m; } }",
    "{ struct node@ *m = t@[I]; if (m) { t@[I] = m->next; free(m); } }",
    "{ struct node@ *m = t@[I]; if (m) { t@[I] = m->next; m->next = t@[J]; t@[J] = m; } }",
    "for (i = 0; i < 6; i++) { clear@(t@[i]); t@[i] = NULL; } i = 0;",
    "for (i = 0; i < 6; i++) { free(t@[i]); t@[i] = NULL; } i = 0;",
    "for (i = 6; i; i--) free(t@[i - 1]);",
    "if (n < 6 && V) { l[n++] = V; V = NULL; }",
    "if (n < 6) { l[n] = make@(); if (l[n]) n++; }",
    "if (n < 6) { struct node@ *m = make@(); if (m) l[n++] = m; }",
    "if (n) V = l[--n];",
    "if (n) V = l[n - 1];",
    "if (n) free(l[--n]);",
    "if (n) free(l[n - 1]);",
    "for (unsigned k = 0; k < n; k++) free(l[k]); n = 0;",
    "for (unsigned k = 0; k < n; k++) sum += l[k]->value;",
    "while (n) free(l[--n]);",
    "if (n > 1) l[0] = l[--n];",
    "if (n > 1) { struct node@ *m = l[0]; l[0] = l[n - 1]; l[n - 1] = m; }",
    "if (i < n) { free(l[i]); l[i] = l[--n]; }",
];

/// The text of a program.
fn text(runner: &mut TestRunner) -> String {
    let mut text = BEGINNING.to_owned();
    let count = runner.rng().random_range(3..10);
    // A program has lists only, arrays only, or both.
    let arrays = [0, 3, 6][runner.rng().random_range(0..3usize)];
    for _ in 0..count {
        statement(runner, (0, arrays), &mut text);
    }
    text.push_str("    }\n    return sum & 1;\n}\n");
    text
}

fn statement(runner: &mut TestRunner, (depth, arrays): (usize, u32), text: &mut String) {
    let nests = depth < 2 && runner.rng().random_range(0..6) == 0;
    if !nests {
        let rng = runner.rng();
        let statements = match rng.random_range(0..6) < arrays {
            true => OF_ARRAYS,
            false => STATEMENTS,
        };
        let mut pick = |all: &[&str]| all[rng.random_range(0..all.len())].to_owned();
        let chosen = pick(statements);
        let indices = ["i", "i", "j", "(i + 1) % 6", "turns % 6", "0"];
        let chosen = chosen
            .replace('I', &pick(&indices))
            .replace('J', &pick(&indices))
            .replace("V", &pick(&["a", "b", "c"]))
            .replace("W", &pick(&["a", "b", "c"]))
            .replace("F", &pick(&["next", "next", "down"]))
            .replace("G", &pick(&["head", "tail"]));
        // `NULL` contains none of the letters that are replaced.
        let _ = writeln!(text, "        {chosen}");
        return;
    }
    let how = ["if", "while"][runner.rng().random_range(0..2usize)];
    let _ = writeln!(text, "        {how} (__VERIFIER_nondet_uchar() & 1) {{");
    for _ in 0..runner.rng().random_range(1..4) {
        statement(runner, (depth + 1, arrays), text);
    }
    text.push_str("        }\n");
}

/// Compares `files` files of random programs that link and release nodes.
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
            let (differs, compared) =
                compare_with_floor(&program, &random::tapes(&mut runner), short);
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
