//! The grammar of random programs.
//!
//! The grammar is a table, because the programs worth trying change more often than the way of
//! generating them. Each rule is a piece of C with holes, which are named in angle brackets;
//! guillemets stand for the angle brackets of C, and `@` is replaced by a suffix that makes the
//! names of each program unique. Simple rules come first, since proptest shrinks towards them.

/// Declarations that all programs of a file share.
pub const PRELUDE: &str = "
#include <assert.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
extern unsigned char __VERIFIER_nondet_uchar(void);
extern unsigned __VERIFIER_nondet_uint(void);
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);
extern void reach_error(void);
extern void crunner_output(int, const void *, size_t);
static void observe(long number, long value) {
    long both[2] = {number, value};
    crunner_output(9, both, sizeof both);
}
#define IN (__VERIFIER_nondet_uchar() & 3)
";

/// The functions of a program that other functions may call.
pub const FUNCTIONS: [&str; 7] = ["f@", "d@", "w@", "c@", "r@", "sum@", "make@"];

/// The bodies of [`SHELL`], in order: the maximum number of statements, and the functions that they
/// may call.
pub const BODIES: [(usize, &[&str]); 6] = [
    (2, &[]),
    (2, &["r@", "sum@"]),
    (3, &["r@", "sum@", "d@"]),
    (2, &["f@"]),
    (2, &["w@", "sum@"]),
    (8, &["f@", "d@", "w@", "c@", "r@", "sum@", "make@"]),
];

/// The program without its bodies; each `stmts` hole takes one.
pub const SHELL: &str = "
struct node@ { int v; struct node@ *next; unsigned char t[3]; };
struct pair@ { unsigned char lo; short hi; int bits : 5; unsigned more : 3; };
static int g@, ga@[4] = {1, 2, 3, 4};
static unsigned char gb@[5] = \"abc\";
static const int gc@[3] = {7, 8, 9};
static struct node@ gs@ = {5, 0, {1, 2, 3}};
static int *gp@ = &g@;
static struct node@ *gh@;
#define LOCALS@ \\
    unsigned u = 3; unsigned char c = 1; int i = 0, a[4] = {0, 1, 2, 3}; unsigned char b[5] = \"xy\"; \\
    int *q = &y, *m = 0, **pp = &q; struct node@ s = {0, 0, {0, 1, 2}}, *h = 0; struct pair@ w = {1, 2, 3, 4}; \\
    int (*fp)(int, int) = 0;
static int sum@(int n, ...) {
    va_list list; int x = 0;
    va_start(list, n);
    for (int i = 0; i \u{ab} n; i++) x += va_arg(list, int);
    va_end(list);
    return x;
}
static struct node@ make@(int v, struct node@ s) { s.v += v; return s; }
static int r@(int n) {
    int x = n, y = 0, *p = &x; LOCALS@
    if (n \u{ab}= 0) return 1;
<stmts>
    y += r@(n - 1);
out: return x + y;
}
static int d@(int x, int y) {
    int n = 2, *p = &x; LOCALS@
<stmts>
out: return x - y;
}
static int f@(int x, int y) {
    int n = 2, *p = &x; LOCALS@
<stmts>
out: return x + y;
}
static void w@(int *p, int n) {
    int x = 0, y = 1; LOCALS@
<stmts>
out: ;
}
static int *c@(int *p, int n) {
    int x = 0, y = 1; LOCALS@
<stmts>
out: return p;
}
void entry@(void) {
    int x = 0, y = 1, n = 3, *p = &x; LOCALS@
<stmts>
out: ;
}
";

/// The rules that may fill a hole, with their weights.
pub fn rules(name: &str) -> &'static [(u32, &'static str)] {
    match name {
        "int" => INT,
        "ptr" => PTR,
        "stmt" => STMT,
        _ => &[(1, "")],
    }
}

const INT: &[(u32, &str)] = &[
    (3, "0"),
    (3, "1"),
    (2, "2"),
    (2, "3"),
    (1, "4"),
    (1, "5"),
    (1, "(-1)"),
    (1, "255"),
    (1, "0x7fffffff"),
    (4, "x"),
    (4, "y"),
    (3, "n"),
    (3, "i"),
    (2, "(int)u"),
    (2, "c"),
    (2, "g@"),
    (2, "a[0]"),
    (1, "a[3]"),
    (1, "b[1]"),
    (1, "gb@[2]"),
    (1, "s.v"),
    (1, "s.t[1]"),
    (1, "gs@.v"),
    (1, "w.hi"),
    (1, "w.bits"),
    (1, "(int)w.more"),
    (8, "IN"),
    (1, "getchar()"),
    (1, "(int)sizeof a"),
    (2, "x++"),
    (1, "--n"),
    (1, "(p != 0)"),
    (1, "(q == &y)"),
    (3, "(<int> + <int>)"),
    (3, "(<int> - <int>)"),
    (1, "(<int> * <int>)"),
    (2, "(<int> & <int>)"),
    (1, "(<int> | <int>)"),
    (1, "(<int> ^ <int>)"),
    (1, "(<int> \u{ab}\u{ab} (<int> & 7))"),
    (1, "(<int> \u{bb}\u{bb} (<int> & 7))"),
    (1, "(int)((unsigned)<int> \u{bb}\u{bb} (<int> & 7))"),
    (1, "(<int> % 4)"),
    (1, "(<int> / 3)"),
    (1, "(int)((unsigned)<int> % 5u)"),
    (1, "(int)((unsigned)<int> / ((<int> & 3) + 1u))"),
    (2, "(<int> \u{ab} <int>)"),
    (1, "(<int> \u{ab}= <int>)"),
    (2, "(<int> == <int>)"),
    (1, "(<int> != <int>)"),
    (1, "((unsigned)<int> \u{bb} (unsigned)<int>)"),
    (2, "(<int> && <int>)"),
    (1, "(<int> || <int>)"),
    (2, "!<int>"),
    (1, "~<int>"),
    (2, "(<int> ? <int> : <int>)"),
    (2, "(unsigned char)<int>"),
    (1, "(signed char)<int>"),
    (1, "(short)<int>"),
    (1, "(int)(((long)<int> * <int>) \u{bb}\u{bb} 2)"),
    (1, "(int)(<int> * 0.5)"),
    (3, "a[<int> & 3]"),
    (1, "a[<int>]"),
    (2, "b[<int> & 3]"),
    (1, "b[(unsigned)<int> % 5]"),
    (2, "ga@[<int> & 3]"),
    (1, "gb@[<int> & 3]"),
    (1, "gc@[(unsigned)<int> % 3]"),
    (1, "s.t[(unsigned)<int> % 3]"),
    (3, "(p ? *p : <int>)"),
    (2, "(q ? *q : <int>)"),
    (1, "*p"),
    (1, "*q"),
    (1, "**pp"),
    (1, "*gp@"),
    (1, "*<ptr>"),
    (1, "(m ? m[<int> & 1] : <int>)"),
    (2, "(h ? h-\u{bb}v : <int>)"),
    (1, "(h && h-\u{bb}next ? h-\u{bb}next-\u{bb}v : <int>)"),
    (1, "(gh@ ? gh@-\u{bb}v : <int>)"),
    (2, "(<ptr> == <ptr>)"),
    (2, "(<ptr> != 0)"),
    (1, "(int)(p - a)"),
    (1, "(int)(<ptr> - <ptr>)"),
    (1, "(<ptr> \u{ab} <ptr>)"),
    (1, "(int)((long)<ptr> & 7)"),
    (1, "(int)strlen((char *)b)"),
    (1, "memcmp(b, gb@, <int> & 3)"),
    (1, "(fp ? fp(<int>, <int>) : 0)"),
    (2, "f@(<int>, <int>)"),
    (1, "d@(<int>, <int>)"),
    (2, "r@(<int> & 3)"),
    (1, "sum@(2, <int>, <int>)"),
    (1, "sum@(<int> & 1, <int>)"),
    (1, "make@(<int>, s).v"),
    (1, "*c@(<ptr>, <int>)"),
];

const PTR: &[(u32, &str)] = &[
    (4, "p"),
    (3, "q"),
    (2, "&x"),
    (2, "&y"),
    (2, "a"),
    (2, "(int *)0"),
    (2, "&g@"),
    (2, "gp@"),
    (1, "ga@"),
    (1, "&s.v"),
    (1, "&gs@.v"),
    (1, "m"),
    (1, "(int *)b"),
    (1, "(int *)gc@"),
    (1, "*pp"),
    (1, "&a[2]"),
    (2, "&a[<int> & 3]"),
    (1, "&ga@[<int> & 3]"),
    (1, "&a[<int>]"),
    (1, "(<ptr> + (<int> & 1))"),
    (1, "(<ptr> + <int>)"),
    (1, "(<ptr> - 1)"),
    (3, "(<int> ? <ptr> : <ptr>)"),
    (1, "(h ? &h-\u{bb}v : <ptr>)"),
    (1, "(int *)malloc((<int> & 3) * 4)"),
    (1, "(int *)((long)<ptr> & ~3L)"),
    (1, "(int *)((char *)<ptr> + (<int> & 3))"),
    (2, "c@(<ptr>, <int>)"),
];

const STMT: &[(u32, &str)] = &[
    (6, "see range"),
    (6, "see values"),
    (3, "see most"),
    (3, "see least"),
    (2, "see other"),
    (4, "see wrong most"),
    (4, "see wrong least"),
    (4, "see wrong value"),
    (6, "x = <int>;"),
    (5, "y = <int>;"),
    (4, "n = <int>;"),
    (2, "i = <int>;"),
    (3, "c = <int>;"),
    (3, "u = <int>;"),
    (3, "g@ = <int>;"),
    (2, "x += <int>;"),
    (1, "c += <int>;"),
    (1, "u -= <int>;"),
    (2, "s.v = <int>;"),
    (1, "w.hi = <int>;"),
    (1, "w.bits = <int>;"),
    (1, "w.more = <int>;"),
    (4, "a[<int> & 3] = <int>;"),
    (1, "a[<int>] = <int>;"),
    (2, "b[<int> & 3] = <int>;"),
    (1, "b[(unsigned)<int> % 5] = <int>;"),
    (1, "s.t[(unsigned)<int> % 3] = <int>;"),
    (2, "ga@[<int> & 3] = <int>;"),
    (5, "p = <ptr>;"),
    (4, "q = <ptr>;"),
    (2, "gp@ = <ptr>;"),
    (1, "pp = &p;"),
    (1, "pp = &gp@;"),
    (1, "*pp = <ptr>;"),
    (4, "if (p) *p = <int>;"),
    (3, "if (q) *q = <int>;"),
    (1, "*p = <int>;"),
    (1, "*q = <int>;"),
    (1, "if (p != q) *p = <int>;"),
    (1, "if (p == a) p[<int> & 3] = <int>;"),
    (2, "if (gp@) *gp@ = <int>;"),
    (1, "*<ptr> = <int>;"),
    (5, "if (<int>) <block>"),
    (4, "if (<int>) <block> else <block>"),
    (3, "for (int i = 0; i \u{ab} 3; i++) <block>"),
    (3, "for (int i = 0; i \u{ab} (<int> & 3); i++) <block>"),
    (2, "for (i = 3; i \u{bb}= 0; i--) <block>"),
    (2, "for (i = 0; i \u{ab} 4; i++) { a[i] = <int>; <stmts> }"),
    (
        2,
        "for (unsigned u = 0; u \u{ab} 50; u++) { <stmts> if (<int>) break; <stmts> }",
    ),
    (
        1,
        "for (int i = 0; i \u{ab} 1000; i++) { if (<int>) continue; <stmts> }",
    ),
    (2, "while (n \u{bb} 0) { n--; <stmts> }"),
    (2, "do { <stmts> n--; } while (n \u{bb} 0);"),
    (1, "while (<int>) { <stmts> if (i++ \u{bb} 4) break; }"),
    (1, "while ((x = getchar()) != -1) <block>"),
    (2, "for (p = a; p \u{ab} a + 4; p++) <block>"),
    (
        1,
        "for (p = a + 3; p \u{bb}= a; p--) { *p = <int>; <stmts> }",
    ),
    (
        1,
        "{ __label__ again; again: ; <stmts> if (n-- \u{bb} 0 && <int>) goto again; }",
    ),
    (
        1,
        "{ __label__ in; if (<int>) goto in; for (;;) { <stmts> in: ; <stmts> if (n-- \u{ab} 1) \
         break; } }",
    ),
    (
        2,
        "switch (<int> & 3) { case 0: <stmts> case 1: <stmts> break; case 2: <stmts> default: \
         <stmts> }",
    ),
    (
        1,
        "switch (<int>) { case 1: <stmts> break; case -1: <stmts> break; }",
    ),
    (1, "goto out;"),
    (1, "if (<int>) goto out;"),
    (2, "{ int t = <int>; p = &t; <stmts> }"),
    (
        1,
        "for (int j = 0; j \u{ab} 3; j++) { int t = j; if (<int>) p = &t; <stmts> }",
    ),
    (1, "{ int t; if (<int>) t = <int>; x = t; }"),
    (
        1,
        "{ int v[(<int> & 3) + 1]; v[0] = <int>; q = v; <stmts> }",
    ),
    (
        2,
        "{ union { int i; unsigned char b[4]; } t; t.i = <int>; t.b[<int> & 3] = c; x = t.i; }",
    ),
    (2, "m = malloc(8);"),
    (1, "m = calloc(<int> & 3, 4);"),
    (1, "m = realloc(m, 12);"),
    (2, "if (m) m[0] = <int>;"),
    (1, "if (m) { m[<int> & 1] = <int>; p = m; }"),
    (
        1,
        "if (!m) { m = malloc(8); if (m) { m[0] = <int>; m[1] = 1; } }",
    ),
    (1, "free(m);"),
    (2, "free(m); m = 0;"),
    (
        3,
        "{ struct node@ *t = malloc(sizeof *t); if (t) { t-\u{bb}v = <int>; t-\u{bb}next = h; h = \
         t; } }",
    ),
    (
        1,
        "{ struct node@ *t = malloc(sizeof *t); if (t) { *t = s; t-\u{bb}next = gh@; gh@ = t; } }",
    ),
    (
        2,
        "for (struct node@ *t = h; t; t = t-\u{bb}next) { x += t-\u{bb}v; <stmts> }",
    ),
    (
        2,
        "while (h) { struct node@ *t = h-\u{bb}next; free(h); h = t; }",
    ),
    (1, "if (h) h = h-\u{bb}next;"),
    (1, "if (h) { h-\u{bb}v = <int>; p = &h-\u{bb}v; }"),
    (1, "h = &s;"),
    (1, "h = &gs@;"),
    (1, "gh@ = h;"),
    (1, "s.next = h;"),
    (1, "gs@.next = &s;"),
    (1, "s = gs@;"),
    (1, "if (h) s = *h;"),
    (1, "s = make@(<int>, gs@);"),
    (2, "memcpy(a, ga@, sizeof a);"),
    (1, "memcpy(a, ga@, <int> & 7);"),
    (1, "memset(b, <int>, <int> & 3);"),
    (1, "memset(&s, 0, sizeof s);"),
    (1, "memmove(b, b + 1, 3);"),
    (1, "memcpy(b, &x, 4);"),
    (1, "memcpy(&y, gb@ + (<int> & 1), 4);"),
    (1, "memcpy(&p, &q, sizeof p);"),
    (
        1,
        "{ unsigned char t[8]; memcpy(t, &p, 8); if (<int>) t[0] ^= 4; memcpy(&q, t, 8); }",
    ),
    (1, "strcpy((char *)b, <int> ? \"ab\" : \"abcd\");"),
    (2, "fp = <int> ? f@ : d@;"),
    (2, "w@(<ptr>, <int>);"),
    (2, "w@(&x, <int>);"),
    (1, "w@(a, <int>);"),
    (1, "p = c@(<ptr>, <int>);"),
    (1, "assert(<int>);"),
    (1, "if (<int>) reach_error();"),
    (1, "if (<int>) abort();"),
    (2, "__VERIFIER_assume(<int>);"),
    (1, "if (<int>) exit(0);"),
    (1, "printf(\"%d\\n\", <int>);"),
];
