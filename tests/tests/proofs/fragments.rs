//! Compares fragments with the machine.
//!
//! A wrong proof shows only where something is proved. Here the terms themselves are compared with
//! the machine's behaviour, on random programs and random tapes, whether anything could be proved
//! or not.

use cegar_model::machine::Limits;
use cegar_model::symbolic::encode::Budget;
use cegar_model::symbolic::world::Grain;
use cegar_search::abstraction::graph::Graph;

use super::follow::{Compared, follow};
use super::{ASSERTION_AND_MEMORY, EVERYTHING, compiled, random};

fn add(total: &mut Compared, one: Compared) {
    total.transitions += one.transitions;
    total.passed += one.passed;
    total.values += one.values;
    total.open += one.open;
    total.ends += one.ends;
    total.violations += one.violations;
}

/// Compares `files` files of random programs with the machine.
pub fn compare(files: usize, seed: u64) -> (Vec<String>, Compared) {
    let mut total = Compared::default();
    let told = random::each(files, seed, |program, i, runner| {
        let grain = if i % 3 == 2 {
            Grain::Blocks
        } else {
            Grain::Loops
        };
        let mut graph = Graph::explore(program, grain, Budget::default()).ok()?;
        random::tapes(runner).into_iter().find_map(|tape| {
            let limits = Limits {
                steps: 20_000,
                call_depth: 200,
                ..Limits::default()
            };
            let (differs, compared) = follow(&mut graph, program, &tape, limits);
            add(&mut total, compared);
            let what = differs.first()?;
            Some(format!("{grain:?}, tape {tape:?}: {what}"))
        })
    });
    (told, total)
}

/// Cases that random programs hardly ever contain. Each program reads a byte and has a loop, so
/// that there is a cut point in between.
pub const SPECIAL_CASES: [&str; 26] = [
    // The argument of `malloc_usable_size` has to be a heap block.
    "extern size_t malloc_usable_size(void *);
     void entry@(void) { int n = IN; char *p = malloc(8), a[4]; for (int i = 0; i < n; i++) p = n == 3 ? a : p;
       observe(0, malloc_usable_size(p) > 0); free(n == 1 ? p : 0); }",
    // An invalid alignment sets errno.
    "void entry@(void) { int n = IN; errno = 0; for (int i = 0; i < n; i++) errno = 0;
       void *p = aligned_alloc(n, 8); if (!p) assert(errno != 0); else free(p); observe(0, errno != 0); }",
    // NULL plus an offset is not NULL.
    "void entry@(void) { int n = IN; char *p = 0; for (int i = 0; i < n; i++) p = i == 1 ? malloc(8) : p;
       observe(0, p + n == 0); free(p + (n & 1) * 4); }",
    "void entry@(void) { int n = IN; char *p = 0; for (int i = 0; i < n; i++) p = i == 1 ? malloc(8) : p;
       p = p - n; observe(0, p == 0); free(p + n); }",
    // The caller ignores the callee's result.
    "static long f@(void) { return 7; }
     static int g@(int x) { void (*p)(void) = (void (*)(void))f@; p(); return x; }
     void entry@(void) { int n = IN, y = 0; for (int i = 0; i < n; i++) y += g@(n); assert(y == n * n); }",
    // The caller's type of the result is narrower than the callee's.
    "static int f@(void) { return 0x1203; }
     void entry@(void) { int n = IN, y = 0; unsigned char (*p)(void) = (unsigned char (*)(void))f@;
       for (int i = 0; i < n; i++) y += p(); assert(y == 3 * n); }",
    // Lengths and offsets that wrap around.
    "void entry@(void) { int n = IN; char a[8] = {0}, b[8] = {1}; for (int i = 0; i < n; i++) a[i] = 1;
       memcpy(a, b + 1, (size_t)n - 1); observe(0, a[0]); }",
    "void entry@(void) { int n = IN; char a[8]; for (int i = 0; i < n; i++) a[i] = 1;
       memset(a + n, 0, (size_t)n - 2); observe(0, a[n]); }",
    // Quotients and shifts.
    "void entry@(void) { int n = IN, y = -2147483647 - n; for (int i = 0; i < n; i++) y += 1;
       observe(0, y / (IN - 1)); observe(1, (y - 1) % (IN - 1)); observe(2, 1 << (n * 16)); }",
    "void entry@(void) { unsigned n = IN; unsigned long y = 5; for (unsigned i = 0; i < n; i++) y = y << i;
       observe(0, y >> (n * 21)); observe(1, (signed char)(n * 64) / (int)(IN - 1)); }",
    // Sizes that do not fit.
    "void entry@(void) { unsigned long n = IN, s = 1; for (unsigned i = 0; i < n; i++) s = s << 22;
       char *p = calloc(s, s); observe(0, p == 0); p = reallocarray(p, n, 4); observe(1, p == 0); free(p); }",
    // A pointer to one of two variables whose lifetimes end.
    "void entry@(void) { int n = IN, *p = 0; for (int i = 0; i < n; i++) { int x = i, y = 2; p = i & 1 ? &x : &y; *p += 1; observe(0, x + y); }
       if (n > 2) observe(1, *p); }",
    // Loops of the library whose number of iterations is known or bounded on the path; one has too
    // many iterations.
    "extern char *strchr(const char *, int);
     void entry@(void) { int n = IN, y = 0; for (int i = 0; i < n; i++) y += i;
       char *p = strchr(\"abcdef\", 'a' + n); observe(0, p != 0); if (p) observe(1, *p);
       p = strchr(\"abcdefghijklmno\", 'a' + n); observe(2, p != 0); if (p) observe(3, *p + y); }",
    "extern int snprintf(char *, unsigned long, const char *, ...);
     void entry@(void) { int n = IN, y = -3; for (int i = 0; i < n; i++) y = y * 5; char t[8];
       observe(0, snprintf(t, sizeof t, \"<%d>\", n)); observe(1, t[1]); observe(2, t[2]);
       observe(3, snprintf(t, sizeof t, \"%05x|\", y)); observe(4, t[0]); observe(5, t[6]); }",
    "extern char *strncpy(char *, const char *, unsigned long); extern int strcmp(const char *, const char *);
     void entry@(void) { int n = IN, y = 0; for (int i = 0; i < n; i++) y ^= i; char t[8] = \"uvwuvw\";
       strncpy(t, \"ab\", n & 7); observe(0, t[0]); observe(1, t[2]); observe(2, t[5]); observe(3, strcmp(t, \"ab\") + y); }",
    // An argument points to one of several objects; it is written through, stored, compared and
    // passed on.
    "static int *kept@, sum@ = 1;
     static int put@(int *p, int v) { *p += v; kept@ = p; return *p > 3; }
     static int both@(int *p, int *q, int v) { int t = put@(p, v) + put@(q, v + 1); if (p == q) t += 8; return t; }
     void entry@(void) { int n = IN, a = 1, b = 2, *p = n ? &a : &sum@, *q = IN ? &b : &a, t = 0; for (int i = 0; i < n; i++) t += both@(p, q, i);
       observe(0, t); observe(1, a + 10 * b + 100 * sum@); if (kept@) observe(2, *kept@); sum@ = 1; kept@ = 0; }",
    "static const char *const names@[] = {\"a\", \"bcd\", \"\", \"efghij\"};
     static int length@(const char *s) { int n = 0; while (*s) { n++; s++; } return n; }
     static int copy@(char *to, const char *s) { int n = length@(s); for (int i = 0; i <= n; i++) to[i] = s[i]; return n; }
     void entry@(void) { char t[8] = {0}; int n = IN & 3, y = 0; for (int i = 0; i <= n; i++) y = y * 8 + copy@(t, names@[(i + IN) & 3]);
       observe(0, y); observe(1, t[0]); observe(2, t[2]); observe(3, length@(n ? t : names@[IN & 3])); }",
    // Tables that are filled late in a loop.
    "static unsigned char of@[64]; void entry@(void) { int n = IN, y[4] = {0}; for (int i = 0; i < 64; i++) of@[i] = i > 50 ? 3 : i > 40 + n ? 2 : i == 33 ? 1 : 0;
       for (int i = 0; i < 64; i += 1 + n) y[of@[i]]++; observe(0, y[0]); observe(1, y[1] + 10 * y[2]); observe(2, y[3]); observe(3, of@[33 + n * 5]); }",
    // Two counters of which each iteration increments one, from constants and from inputs.
    "void entry@(void) { int n = IN, m = IN, i = n, j = m, k = 0; while (i < n + 3 && j < m + 2) { if (IN & 1) i++; else j += 2; k++; }
       int x = n ? 3 : 7, y = n ? -1 : 4, z = n ? 2 : 2 + m; observe(0, i + j - k); observe(1, 5 * x + 8 * y); observe(2, x - z); observe(3, k); }",
    // Copies into members of elements.
    "void entry@(void) { struct { unsigned char a, b[5]; short c; } r[4] = {{1, {2}, 3}}; int n = IN & 3; unsigned char from[5] = {9, 8, 7, 6, 5};
       for (int i = 0; i <= n; i++) { r[i].a = i; memcpy(r[i].b + (n & 1), from, n + 1); if (n == 2) memset(r[i].b, i, n); r[i].c += i; }
       observe(0, r[n].a); observe(1, r[n].b[1]); observe(2, r[0].c + r[3].c); observe(3, r[3].b[4]); }",
    // Successive products of two numbers, signed and unsigned.
    "void entry@(void) { int r = IN & 3, c = IN & 3, n = IN - 2; unsigned char *m = calloc(r + 1, (c + 1) * 2); int all = (r + 1) * (c + 1) * 2, y = 0;
       for (int i = 0; i <= r; i++) for (int j = 0; j <= c; j++) { int at = i * (c + 1) + j; y += at < all; m[at * 2 + 1] = at - n * j; }
       for (int i = r + n; i >= n - 1; i--) y += i * (c + 1) - n * (c + 1); observe(0, y); observe(1, m[all - 1]); observe(2, n * r - r * c); free(m); }",
    "static int at@(int w, int h, int x, int y) { if (x < 0 || y < 0 || x >= w || y >= h) return -1; return y * w + x; }
     void entry@(void) { int w = IN & 7, h = IN & 3, n = IN - 3, t = 0; char *p = malloc(w * h + 1), *q = p; p[w * h] = 5;
       for (int y = n; y < h; y++) { int i = at@(w, h, n + 1, y), k = y * w; t += i >= k; if (i >= 0) p[i] = q[w * h] + y; }
       for (int k = h * w, d = w; k > 0; k -= d) { t += k % w + k / (h ? h : 1); if (k == w) d = 1; }
       observe(0, t); observe(1, p[h * w]); observe(2, w * n - h * n); free(p); }",
    // A remainder is less than its divisor.
    "void entry@(void) { int n = IN - 2, m = IN + 1; unsigned u = IN, v = n; int a[8] = {0}, t = 0; for (int i = n; i < m + 3; i++) { int k = i % m; unsigned l = (u + i) % (m & 7 ? m & 7 : 1); t += k; a[l] += k; }
       observe(0, t); observe(1, a[1]); observe(2, v % m); observe(3, n % (int)(u + 1)); }",
    // An array that grows from nothing, and shrinks a little.
    "struct grown@ { int *p; size_t used, room; };
     static int put@(struct grown@ *g, int v) { if (g->used == g->room) { size_t room = g->room ? 2 * g->room : 1; int *p = realloc(g->p, room * sizeof *p);
       if (!p) return -1; g->p = p; g->room = room; } g->p[g->used++] = v; return 0; }
     void entry@(void) { struct grown@ g = {0}; int n = IN, m = IN; char *t = 0; size_t len = 0, room = 0; for (int i = 0; i < n * 3 + m; i++) { put@(&g, i);
       if (len + 2 > room) { room = room ? room * 2 : 2; t = realloc(t, room); } t[len++] = 'a' + i; t[len] = 0; if (i == 4 && m) g.used -= m; }
       observe(0, g.used + 16 * g.room); if (g.used) observe(1, g.p[g.used - 1]); if (t) observe(2, t[len ? len - 1 : 0]); free(g.p); free(t); }",
    // Numbers that decrease, to zero or not as far, and digits that are reversed.
    "static int digits@(long v, char *out) { char t[24]; int n = 0, o = 0; unsigned long u = v < 0 ? -(unsigned long)v : v; do { t[n++] = '0' + u % 10; u /= 10; } while (u);
       if (v < 0) out[o++] = '-'; while (n) out[o++] = t[--n]; out[o] = 0; return o; }
     void entry@(void) { int n = IN, m = IN, s = 0; char a[24]; unsigned char b[12]; unsigned w = 0; unsigned long x = n * 1000003ul << m * 9;
       observe(0, digits@((n & 1 ? -1 : 1) * (long)x, a)); observe(1, a[1]); while (x >= 128) { b[w++] = x | 128; x >>= 7; } b[w++] = x; observe(2, w + b[0]);
       for (int k = n - 2 + m * 300; k > 3 || k < -3; k /= 3) s += k & 7; for (short h = m * 70 - n; h; h >>= 2) { if (h == -1) break; s++; } observe(3, s); }",
    // Sizes that are rounded up, and masks with holes.
    "void entry@(void) { char all[64] = {0}; unsigned long used = 0; int n = IN, m = IN - 2, t = 0; for (int i = 0; i < n * 3 + 1; i++) { unsigned long size = i * 5 + n, up = (size + 7) & ~7ul;
       if (up > sizeof all - used) break; memset(all + used, i, size); used += up; t += (m + i) & -4; t ^= (m * i) & ~5; }
       observe(0, used); observe(1, t); observe(2, all[9]); observe(3, (unsigned char)((n + 7) & ~7) + ((m - 9) & ~15)); }",
];

/// Compares [`SPECIAL_CASES`] with the machine, on all short tapes.
pub fn special_cases() -> (Vec<String>, Compared) {
    let (mut told, mut total) = (Vec::new(), Compared::default());
    let texts: Vec<String> = SPECIAL_CASES
        .iter()
        .enumerate()
        .map(|(i, text)| text.replace('@', &compiled::suffix(i)))
        .collect();
    for properties in [ASSERTION_AND_MEMORY, EVERYTHING] {
        let text = texts.join("\n");
        let mut all = vec![format!("#include <errno.h>\n{text}")];
        all.extend((1..texts.len()).map(|_| String::new()));
        let mut program =
            compiled::together(&all, properties).unwrap_or_else(|why| panic!("{why}"));
        for (i, text) in texts.iter().enumerate() {
            compiled::start_in(&mut program, i);
            for grain in [Grain::Loops, Grain::Blocks] {
                let mut graph = Graph::explore(&program, grain, Budget::default())
                    .unwrap_or_else(|why| panic!("{why:?}"));
                for tape in 0..16u8 {
                    let tape = [tape & 3, tape >> 2, tape & 1];
                    let limits = Limits::default();
                    let (differs, compared) = follow(&mut graph, &program, &tape, limits);
                    add(&mut total, compared);
                    told.extend(
                        differs
                            .first()
                            .map(|what| format!("{grain:?}, {tape:?}: {what}\n{text}")),
                    );
                }
            }
        }
    }
    (told, total)
}
