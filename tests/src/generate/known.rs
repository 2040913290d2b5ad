//! Programs whose verdict is known by construction.
//!
//! Executing a program on all tapes decides its verdict only if its loops are short. But the
//! purpose of a prover is loops of any number of iterations. This file contains the shapes of such
//! loops in C programs. Each is correct for all inputs, and each has one constant that can be made
//! wrong by one. Tapes of a few boundary values are enough for an execution that violates the wrong
//! variant.

use proptest::prelude::*;
use proptest::strategy::BoxedStrategy;

/// A program and its verdict.
#[derive(Clone)]
pub struct Known {
    shape: &'static Shape,
    numbers: [u32; 2],
    /// Whether no execution violates a check.
    pub safe: bool,
}

impl std::fmt::Debug for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.render(""))
    }
}

/// The unit of a tape.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Characters.
    Byte,
    /// Integers of four bytes.
    Word,
}

#[derive(Debug)]
struct Shape {
    name: &'static str,
    unit: Unit,
    /// The C text. `$N` and `$M` stand for numbers of at least 2; `$D` is 0 in the correct variant
    /// and 1 in the wrong one.
    text: &'static str,
}

impl Known {
    /// The shape's name.
    pub fn name(&self) -> &'static str {
        self.shape.name
    }

    /// The program as C text; see [`super::Generated::render`].
    pub fn render(&self, suffix: &str) -> String {
        self.shape
            .text
            .replace('@', suffix)
            .replace("$N", &self.numbers[0].to_string())
            .replace("$M", &self.numbers[1].to_string())
            .replace("$D", if self.safe { "0" } else { "1" })
    }

    /// The units that tapes consist of: boundary values of the program's numbers.
    pub fn alphabet(&self) -> Vec<Vec<u8>> {
        let [n, m] = self.numbers;
        match self.shape.unit {
            Unit::Byte => vec![vec![b'a'], vec![b'b'], vec![0], vec![b'\n']],
            Unit::Word => [0, 1, n - 1, n, n + 1, m + 1, i32::MAX as u32, u32::MAX]
                .map(|word| word.to_le_bytes().to_vec())
                .to_vec(),
        }
    }
}

/// Programs of all shapes, correct and wrong.
pub fn programs() -> BoxedStrategy<Known> {
    let shape = (0..SHAPES.len()).prop_map(|i| &SHAPES[i]);
    (shape, [2..9u32, 2..7u32], any::<bool>())
        .prop_map(|(shape, numbers, safe)| Known {
            shape,
            numbers,
            safe,
        })
        .boxed()
}

const SHAPES: &[Shape] = &[
    Shape {
        name: "fill",
        unit: Unit::Word,
        text: "void entry@(void) { int a[$N]; unsigned n = __VERIFIER_nondet_uint();
            __VERIFIER_assume(n <= $N + $D); for (unsigned i = 0; i < n; i++) a[i] = i; }",
    },
    Shape {
        name: "double",
        unit: Unit::Word,
        text: "void entry@(void) { unsigned n = __VERIFIER_nondet_uint(), x = 0;
            for (unsigned i = 0; i < n; i++) { x += 2; if ($D && i == $N) x++; } assert(x == 2 * n); }",
    },
    Shape {
        name: "transfer",
        unit: Unit::Word,
        text: "void entry@(void) { unsigned n = __VERIFIER_nondet_uint(), x = n, y = 0;
            while (x > 0) { x--; y++; } assert(y == n + $D); }",
    },
    Shape {
        name: "parity",
        unit: Unit::Byte,
        text: "void entry@(void) { int c; unsigned x = $N * 2;
            while ((c = getchar()) != -1) { if (c == 'a') x += 4; else if (c == 'b') x += 2 + $D; } assert(x % 2 == 0); }",
    },
    Shape {
        name: "line",
        unit: Unit::Byte,
        text: "void entry@(void) { char b[$N]; int c, i = 0;
            while ((c = getchar()) != -1 && c != '\\n') { if (i < $N - 1 + $D) b[i++] = c; } b[i] = 0; }",
    },
    Shape {
        name: "line in a function",
        unit: Unit::Byte,
        text: "static int line@(char *to, int size) { int c, i = 0;
            while (i < size - 1 && (c = getchar()) != -1) to[i++] = c; to[i] = 0; return i; }
            void entry@(void) { char b[$N]; int n = line@(b, $N + $D); assert(n < $N + $D); }",
    },
    Shape {
        name: "matrix",
        unit: Unit::Word,
        text: "void entry@(void) { int a[$N * $M - $D]; unsigned n = __VERIFIER_nondet_uint();
            __VERIFIER_assume(n <= $N); for (unsigned i = 0; i < n; i++) for (unsigned j = 0; j < $M; j++) a[i * $M + j] = 1; }",
    },
    Shape {
        name: "toggle",
        unit: Unit::Byte,
        text: "static int held@; static void take@(void) { assert(!held@); held@ = 1; }
            static void drop@(void) { assert(held@); held@ = 0; }
            void entry@(void) { int c; while ((c = getchar()) != -1) { take@(); if (c == 'b' && $D) continue; drop@(); } }",
    },
    Shape {
        name: "blocks",
        unit: Unit::Byte,
        text: "void entry@(void) { while (getchar() != -1) { char *p = malloc($N); if (!p) continue;
            p[0] = 1; p[$N - 1 + $D] = 0; free(p); } }",
    },
    Shape {
        name: "block of any size",
        unit: Unit::Word,
        text: "void entry@(void) { unsigned n = __VERIFIER_nondet_uint(); __VERIFIER_assume(n < 1000); char *p = malloc(n);
            if (!p) return; for (unsigned i = 0; i < n + $D; i++) p[i] = 1; free(p); }",
    },
    Shape {
        name: "freed once",
        unit: Unit::Byte,
        text: "void entry@(void) { int c; int *p = 0; while ((c = getchar()) != -1) {
            if (c == 'a') { if (!p) { p = malloc(4); if (p) *p = 0; } } else if (c == 'b') { free(p); if (!$D) p = 0; } } }",
    },
    Shape {
        name: "used after",
        unit: Unit::Byte,
        text: "void entry@(void) { int c, t = 0; int *p = malloc(4); if (!p) return; *p = 0; while ((c = getchar()) != -1) {
            if (c == 'a' && !t) { free(p); t = 1; } else if (!t || $D) *p += 1; } }",
    },
    Shape {
        name: "search",
        unit: Unit::Word,
        text: "void entry@(void) { int a[$N]; for (int i = 0; i < $N; i++) a[i] = 2 * i;
            int lo = 0, hi = $N - 1 + $D, k = __VERIFIER_nondet_int();
            while (lo <= hi) { int mid = lo + (hi - lo) / 2; if (a[mid] == k) break; if (a[mid] < k) lo = mid + 1; else hi = mid - 1; } }",
    },
    Shape {
        name: "ring",
        unit: Unit::Byte,
        text: "void entry@(void) { char b[$N]; unsigned at = 0; int c;
            while ((c = getchar()) != -1) { b[at] = c; at = (at + 1) % ($N + $D); } }",
    },
    Shape {
        name: "walk",
        unit: Unit::Word,
        text: "void entry@(void) { int a[$N]; for (int *p = a; p != a + $N + $D; p++) *p = 0; \
            assert(a[$N - 1] == 0); }",
    },
    Shape {
        name: "clear",
        unit: Unit::Word,
        text: "static void clear@(int *p, unsigned n) { while (n--) *p++ = 0; }
            void entry@(void) { int a[$N], b[$M]; clear@(a, $N); clear@(b, $M + $D); }",
    },
    Shape {
        name: "depth",
        unit: Unit::Word,
        text: "static int a@[$N]; static int down@(unsigned n) { a@[n] = 1; return n ? down@(n - 1) + 1 : 0; }
            void entry@(void) { unsigned n = __VERIFIER_nondet_uint(); __VERIFIER_assume(n < $N + $D); assert(down@(n) == (int)n); }",
    },
    Shape {
        name: "vector",
        unit: Unit::Byte,
        text: "struct vector@ { unsigned len; char d[$N]; };
            static int push@(struct vector@ *v, char c) { if (v->len >= $N + $D) return 0; v->d[v->len++] = c; return 1; }
            void entry@(void) { struct vector@ v = {0, {0}}; int c; while ((c = getchar()) != -1) push@(&v, c); assert(v.len <= $N); }",
    },
    Shape {
        name: "either",
        unit: Unit::Word,
        text: "void entry@(void) { unsigned n = __VERIFIER_nondet_uint(); int x = 0, y = 0; __VERIFIER_assume(n < 1000);
            for (unsigned i = 0; i < n; i++) { int *p = i % 2 ? &x : &y; *p += 1; if ($D && i == $N) p = &x, *p = 0; }
            assert(x + y == (int)n); }",
    },
    Shape {
        name: "wraps",
        unit: Unit::Byte,
        text: "static char t@[256 - $D]; void entry@(void) { unsigned char i = $N; while \
            (getchar() != -1) { t@[i] = 1; i += 3; if ($D) i = 255; } }",
    },
    Shape {
        name: "states",
        unit: Unit::Byte,
        text: "void entry@(void) { int s = 1, c; while ((c = getchar()) != -1) { switch (s) { case 1: s = c == 'a' ? 2 : 1; break;
            case 2: s = c == 'b' ? 4 : 1; break; case 4: s = 1 + 2 * $D; break; default: s = 1; } assert(s != 3); } }",
    },
    Shape {
        name: "scope",
        unit: Unit::Byte,
        text: "void entry@(void) { int x = 1, *p = &x, c; while ((c = getchar()) != -1) { { int t \
            = c; p = &t; *p = 2; if (!$D) p = &x; } if (c == 'a') *p = 3; } }",
    },
    Shape {
        name: "sentinel",
        unit: Unit::Byte,
        text: "void entry@(void) { char b[$N]; for (int i = 0; i < $N; i++) { int c = getchar(); b[i] = c == -1 ? 'x' : c; }
            if (!$D) b[$N - 1] = 0; int n = 0; while (b[n]) n++; assert(n < $N); }",
    },
    Shape {
        name: "maximum",
        unit: Unit::Word,
        text: "void entry@(void) { unsigned n = __VERIFIER_nondet_uint() % 5; int most = -1; for (unsigned i = 0; i < n; i++) {
            int v = __VERIFIER_nondet_int(); if (v > most) most = v; if ($D && i == 1) most = 0; assert(most >= v && most >= -1); } }",
    },
    Shape {
        name: "list",
        unit: Unit::Byte,
        text: "struct node@ { struct node@ *next; int v; };
            void entry@(void) { struct node@ *h = 0; for (int i = 0; i < $N; i++) { struct node@ *t = malloc(sizeof *t); if (!t) break;
            t->v = i; t->next = h; h = t; } while (h) { struct node@ *t = h->next; free(h); h = $D ? h->next : t; } }",
    },
    Shape {
        name: "previous object",
        unit: Unit::Byte,
        text: "void entry@(void) { int *old = 0; while (getchar() != -1) { int *p = malloc(4); if (!p) return; *p = 1;
            if (old) { assert(old != p); free(old); if ($D) *old = 2; } old = p; } free(old); }",
    },
    Shape {
        name: "two of a loop",
        unit: Unit::Byte,
        text: "void entry@(void) { int *first = 0, n = 0; while (getchar() != -1) { int *p = malloc(4); if (!p) return; *p = n++;
            if (!first) first = p; else { *p = 7; assert(*first == 0 + 7 * $D); } } }",
    },
    Shape {
        name: "cast",
        unit: Unit::Byte,
        text: "void entry@(void) { char b[$N] = {0}; *(short *)(b + $N - 2 + $D) = getchar(); \
            assert(b[$N - 1] == 0 || b[$N - 1] == -1); }",
    },
    Shape {
        name: "set",
        unit: Unit::Byte,
        text: "void entry@(void) { char b[$N]; memset(b, getchar(), $N + $D); assert(b[0] == b[$N \
            - 1]); }",
    },
    Shape {
        name: "copied",
        unit: Unit::Byte,
        text: "void entry@(void) { char b[$N] = {getchar()}, to[$N + 1]; memcpy(to, b, $N + $D); \
            assert(to[0] == b[0]); }",
    },
    Shape {
        name: "parameter",
        unit: Unit::Byte,
        text: "static int byte@(int n) { return ((unsigned char *)&n)[3 + $D]; }
            void entry@(void) { int c = getchar(); assert(c < 0 || byte@(c) == 0); }",
    },
    Shape {
        name: "wider parameter",
        unit: Unit::Byte,
        text: "static int wide@(int n) { if (n == 'a') { if ($D) *(long *)&n = 1; else n = 1; } return n; }
            void entry@(void) { assert(wide@(getchar()) != 'a'); }",
    },
    Shape {
        name: "filled",
        unit: Unit::Byte,
        text: "static inline __attribute__((always_inline)) void fill@(int *p) { for (int i = 0; i < 1; i++) p[$N - 1 + $D] = getchar(); }
            void entry@(void) { int a[$N] = {0}; fill@(a); assert(a[$N - 1] < 256); }",
    },
    Shape {
        name: "measured",
        unit: Unit::Byte,
        text: "static inline __attribute__((always_inline)) void length@(void *p) { if ($D) *(size_t *)p = 4; else *(unsigned *)p = 4; }
            void entry@(void) { unsigned n = getchar(); length@(&n); assert(n == 4); }",
    },
    Shape {
        name: "place known late",
        unit: Unit::Byte,
        text: "void entry@(void) { int a[$N] = {getchar()}; size_t at = $N - 1; at += $D; a[at] = \
            1; assert(a[0] < 256); }",
    },
    Shape {
        name: "structure with more",
        unit: Unit::Byte,
        text: "struct item@ { int key; int more[]; };
            void entry@(void) { struct item@ one = {getchar()}, *at = &one; at += $D; assert(at->key < 256); }",
    },
    Shape {
        name: "frames",
        unit: Unit::Word,
        text: "static void deeper@(int n, char *above) { char here[$N]; here[0] = n; size_t by = (size_t)here - (size_t)above;
            assert(!above || by != 0 || !$D); assert(!above || by == 0 || !$D); if (n > 0) deeper@(n - 1, here); }
            void entry@(void) { deeper@(__VERIFIER_nondet_uint() % 4, 0); }",
    },
    Shape {
        name: "blocks apart",
        unit: Unit::Byte,
        text: "void entry@(void) { char *old = 0; while (getchar() != -1) { char *p = malloc($N); if (!p) return;
            size_t by = (size_t)p - (size_t)old; assert(!old || by == 0 || !$D); old = p; } }",
    },
    Shape {
        name: "declared in a loop",
        unit: Unit::Byte,
        text: "void entry@(void) { for (int i = 0; i < $N; i++) { int x; if (i == 0 || !$D) x = 3; \
            assert(x == 3); } }",
    },
];
