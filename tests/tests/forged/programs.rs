//! Small programs with a bug in a marked line, which `FIXED` removes.

use cegar_model::program::Property;
use cegar_tests::one_in;

use crate::case::{ASSERTION, MEMORY};

/// A program with a bug.
pub struct Buggy {
    pub name: &'static str,
    pub text: &'static str,
    pub properties: &'static [Property],
    /// A tape that shows the bug.
    pub tape: fn() -> Vec<u8>,
}

/// A tape of 4-byte words.
pub fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The step at which tests go through [`LIST`].
pub fn part() -> usize {
    one_in(3)
}

/// Every third program, starting with the given number, or all programs if the tests are thorough
/// (`CEGAR_TESTS=all`).
pub fn sampled(from: usize) -> impl Iterator<Item = &'static Buggy> {
    LIST.iter().skip(from % part()).step_by(part())
}

/// One program of each kind.
pub const LIST: &[Buggy] = &[
    Buggy {
        name: "hash",
        text: HASH,
        properties: ASSERTION,
        tape: || words(&[5, 7]),
    },
    Buggy {
        name: "nested",
        text: NESTED,
        properties: MEMORY,
        tape: || vec![9],
    },
    Buggy {
        name: "twice",
        text: TWICE,
        properties: ASSERTION,
        tape: || words(&[1; 10]),
    },
    Buggy {
        name: "elements",
        text: ELEMENTS,
        properties: ASSERTION,
        tape: || words(&[5]),
    },
    Buggy {
        name: "heap",
        text: HEAP,
        properties: MEMORY,
        tape: || words(&[77]),
    },
    Buggy {
        name: "string",
        text: STRING,
        properties: MEMORY,
        tape: || vec![b'a'; 16],
    },
    Buggy {
        name: "globals",
        text: GLOBALS,
        properties: MEMORY,
        tape: || vec![1; 20],
    },
    Buggy {
        name: "cells",
        text: CELLS,
        properties: MEMORY,
        tape: || words(&[1, 0, 0, 0, 0, 0]),
    },
    Buggy {
        name: "table",
        text: TABLE,
        properties: MEMORY,
        tape: || vec![0, 0, 0, 0, 0, 0, 0, 0, 3],
    },
    Buggy {
        name: "bases",
        text: BASES,
        properties: MEMORY,
        tape: || words(&[0, 0, 0]),
    },
    Buggy {
        name: "functions",
        text: FUNCTIONS,
        properties: MEMORY,
        tape: || words(&[0, 1, 1, 1]),
    },
    Buggy {
        name: "freed",
        text: FREED,
        properties: MEMORY,
        tape: || words(&[1, 0, 0, 0]),
    },
    Buggy {
        name: "unreached",
        text: UNREACHED,
        properties: ASSERTION,
        tape: || words(&[45]),
    },
];

/// A program that only the floor proves.
pub const ON_FLOOR: Buggy = Buggy {
    name: "renewed",
    text: RENEWED,
    properties: MEMORY,
    tape: || words(&[100; 3]),
};

/// Compares each input with the last one, which the corrected program never stores.
pub const HASH: &str = r#"
#include <assert.h>
unsigned __VERIFIER_nondet_uint(void);
int main(void)
{
    unsigned x = 0;
    for (int i = 0; i < 10; i++) {
        unsigned u = __VERIFIER_nondet_uint();
        unsigned h = (u * 2654435761u) >> 7;
        if (h == 1234567u || u == 7) {
            assert(x == 0 || x == u); /* BUG */
        }
#ifndef FIXED
        x = u;
#endif
    }
    return 0;
}
"#;

/// Two nested loops.
pub const NESTED: &str = r#"
#include <assert.h>
unsigned char __VERIFIER_nondet_uchar(void);
#ifdef FIXED
#define ROW 8
#else
#define ROW 9
#endif
int main(void)
{
    unsigned cells[8] = {0};
    unsigned n = __VERIFIER_nondet_uchar(), sum = 0;
    if (n > ROW) return 0;
    for (unsigned i = 0; i < n; i++) {
        for (unsigned k = 0; k <= i; k++) {
            cells[k] = i; /* BUG */
        }
        sum += 2;
    }
    assert(sum == 2 * n);
    return 0;
}
"#;

/// A function with a loop, called from two places.
pub const TWICE: &str = r#"
#include <assert.h>
int __VERIFIER_nondet_int(void);
static int last;
static void take(int most)
{
    int n = 0;
    while (n < most && __VERIFIER_nondet_int()) n++;
    last = n;
}
int main(void)
{
    take(3);
    take(4);
#ifdef FIXED
    assert(last <= 4); /* BUG */
#else
    assert(last <= 3); /* BUG */
#endif
    return 0;
}
"#;

/// A property of all elements of an array that a loop fills.
pub const ELEMENTS: &str = r#"
#include <assert.h>
int __VERIFIER_nondet_int(void);
static int all[100];
int main(void)
{
    int value = __VERIFIER_nondet_int();
    for (int i = 0; i < 100; i++)
        all[i] = value;
#ifndef FIXED
    all[50]++;
#endif
    for (int i = 0; i < 100; i++)
        assert(all[i] == value); /* BUG */
    return 0;
}
"#;

/// Heap blocks whose object numbers are not known.
pub const HEAP: &str = r#"
#include <stdlib.h>
int __VERIFIER_nondet_int(void);
int main(void)
{
    int *last = 0;
    int *kept = malloc(4);
    if (!kept) return 0;
    *kept = 5;
    for (int i = 0; i < 5; i++) {
        if (last) free(last);
        int *fresh = malloc(8);
        last = fresh;
        if (!fresh) break;
        fresh[1] = i;
#ifndef FIXED
        if (__VERIFIER_nondet_int() == 77) { free(kept); free(last); break; }
#endif
    }
    *kept = 6; /* BUG */
    free(kept);
    return 0;
}
"#;

/// A terminated string, and one that may lack its terminator.
pub const STRING: &str = r#"
#include <string.h>
#include <stdio.h>
int main(void)
{
    char text[16];
    unsigned n = 0;
    int c;
    while ((c = getchar()) != EOF && n < 15)
        text[n++] = (char)c;
#ifdef FIXED
    text[n] = 0;
#else
    if (n < 15) text[n] = 0; else text[n] = 'x';
#endif
    unsigned at = 0;
    while (text[at]) at++; /* BUG */
    return at;
}
"#;

/// An array in a global structure, with numbers beside it.
pub const GLOBALS: &str = r#"
#include <assert.h>
unsigned char __VERIFIER_nondet_uchar(void);
static struct { unsigned used; unsigned char bytes[8]; unsigned limit; } box = {0, {0}, 8};
int main(void)
{
    for (int i = 0; i < 20; i++) {
        unsigned char b = __VERIFIER_nondet_uchar();
#ifdef FIXED
        if (box.used < box.limit)
#else
        if (box.used <= box.limit)
#endif
            box.bytes[box.used++] = b; /* BUG */
        assert(box.limit == 8);
    }
    return 0;
}
"#;

/// A structure with cells of several widths.
pub const CELLS: &str = r#"
#include <assert.h>
int __VERIFIER_nondet_int(void);
struct state { char mode; short level; long long sum; int *where; };
static int low, high;
static void step(struct state *s)
{
    if (s->mode) { s->level++; s->where = &high; } else { s->where = &low; }
    s->mode = !s->mode;
    s->sum += 2;
    *s->where += 1;
}
int main(void)
{
    struct state s = {0, 0, 0, &low};
    for (int i = 0; i < 6; i++)
        if (__VERIFIER_nondet_int()) step(&s);
#ifdef FIXED
    assert(s.sum % 2 == 0); /* BUG */
#else
    assert(s.sum % 4 == 0); /* BUG */
#endif
    return *s.where;
}
"#;

/// A table that is never written.
pub const TABLE: &str = r#"
#include <assert.h>
unsigned char __VERIFIER_nondet_uchar(void);
static const unsigned char next[4] = {1, 2, 3, 0};
int main(void)
{
    unsigned at = 0;
#ifdef FIXED
    for (int i = 0; i < 9; i++) at = next[at & 3];
#else
    for (int i = 0; i < 9; i++) { at = next[at & 3]; if (__VERIFIER_nondet_uchar() == 3) at = 4; }
#endif
    assert(at < 4); /* BUG */
    return 0;
}
"#;

/// A pointer to one of several objects.
pub const BASES: &str = r#"
int __VERIFIER_nondet_int(void);
static int one[2], two[4];
int main(void)
{
    int *p = 0;
    for (int i = 0; i < 3; i++) {
        switch (__VERIFIER_nondet_int()) {
        case 1: p = one; break;
        case 2: p = two; break;
        default: break;
        }
    }
#ifdef FIXED
    if (p) p[1] = 1; /* BUG */
#else
    p[1] = 1; /* BUG */
#endif
    return 0;
}
"#;

/// Function pointers.
pub const FUNCTIONS: &str = r#"
#include <assert.h>
int __VERIFIER_nondet_int(void);
static int count;
static void up(void) { count += 2; }
static void twice(void) { count += 4; }
static void odd(void) { count += 1; }
int main(void)
{
    void (*what)(void) = up;
    for (int i = 0; i < 4; i++) {
        what();
#ifdef FIXED
        what = __VERIFIER_nondet_int() ? up : twice;
#else
        what = __VERIFIER_nondet_int() ? up : odd;
#endif
    }
    assert(count % 2 == 0); /* BUG */
    return 0;
}
"#;

/// Memory that is used after it was freed.
pub const FREED: &str = r#"
#include <stdlib.h>
int __VERIFIER_nondet_int(void);
int main(void)
{
    int *p = malloc(4);
    int live = 1;
    if (!p) return 0;
    *p = 0;
    for (int i = 0; i < 4; i++)
        if (live && __VERIFIER_nondet_int()) {
            free(p);
            live = 0;
        }
#ifdef FIXED
    if (live) *p = 1; /* BUG */
#else
    *p = 1; /* BUG */
#endif
    return 0;
}
"#;

/// The last block of a request for memory, and the one before it.
pub const RENEWED: &str = r#"
#include <stdlib.h>
int __VERIFIER_nondet_int(void);
int table[8];
struct node { int value; };
static struct node *fresh(int value)
{
    struct node *node = malloc(sizeof *node);
    if (!node) exit(1);
    node->value = value;
    return node;
}
int main(void)
{
    struct node *last = 0;
    for (int i = 0; i < 3; i++) {
        struct node *before = last;
        last = fresh(5);
        if (before) before->value = __VERIFIER_nondet_int();
#ifdef FIXED
        table[last->value] = 1; /* BUG */
#else
        table[before ? before->value : 0] = 1; /* BUG */
#endif
    }
    return 0;
}
"#;

/// A sum that may overflow, and an assertion that rests on it.
pub const OVERFLOW: &str = r#"
#include <assert.h>
int __VERIFIER_nondet_int(void);
int main(void)
{
    int sum = 0, n = 0;
    while (n < 1000 && __VERIFIER_nondet_int()) {
        int more = __VERIFIER_nondet_int();
        if (more > 0) sum += more;
        n++;
        assert(sum >= 0); /* BUG */
    }
    assert(n <= 1000);
    return 0;
}
"#;

/// Code that is never reached.
pub const UNREACHED: &str = r#"
#include <assert.h>
unsigned __VERIFIER_nondet_uint(void);
int main(void)
{
    unsigned n = __VERIFIER_nondet_uint(), i = 0;
    while (i < n % 50) i++;
#ifdef FIXED
    if (i > 60) assert(0); /* BUG */
#else
    if (i > 40) assert(0); /* BUG */
#endif
    return 0;
}
"#;

/// A local object is written after its scope has ended.
pub const SCOPE: &str = r#"
int __VERIFIER_nondet_int(void);
static int *p;
int main(void)
{
    for (int i = 0; i < 3; i++) {
        int x;
        p = &x;
    }
    while (__VERIFIER_nondet_int()) ;
    *p = 1; /* BUG */
    return 0;
}
"#;

/// The program reads the number of an object from its address.
pub const NUMBER: &str = r#"
#include <assert.h>
int __VERIFIER_nondet_int(void);
static void *volatile seen;
int main(void)
{
    int x;
    seen = &x;
    unsigned long number = (unsigned long)&x;
    while (__VERIFIER_nondet_int()) number = (unsigned long)&x;
    assert(((number >> 32) & 1) == 0); /* BUG */
    return 0;
}
"#;
