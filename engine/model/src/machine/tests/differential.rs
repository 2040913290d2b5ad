//! Compares the machine with native execution.

use super::super::{Execution, Limits, Machine, Outcome};
use super::{Built, build, build_with};

fn status(run: &Execution) -> Option<i32> {
    match &run.outcome {
        Outcome::Returned(v) => Some((*v & 63) as i32),
        Outcome::Exited(v) => Some(*v & 255),
        Outcome::Rejected => Some(99),
        Outcome::Violated(_) => Some(98),
        other => panic!("{other:?}"),
    }
}

fn same(built: &Built, tapes: &[Vec<u8>]) {
    let machine = Machine::new(&built.program, Limits::default());
    for tape in tapes {
        let run = machine.run(tape);
        let (code, output) = built.native(tape);
        assert_eq!(
            run.written(1),
            output,
            "{:?} on {tape:?}, {:?}",
            run.outcome,
            built.program.unmodelled
        );
        assert_eq!(
            status(&run),
            code,
            "{:?} on {tape:?}, {:?}",
            run.outcome,
            built.program.unmodelled
        );
    }
}

/// Tapes from a small deterministic generator.
fn tapes(count: u64) -> Vec<Vec<u8>> {
    let mut state = 0x1234_5678_9abc_def1u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    };
    (0..count)
        .map(|n| (0..n * 7 % 64).map(|_| next()).collect())
        .collect()
}

#[test]
fn integers_floats_and_structs() {
    let built = build(
        "struct pair { int a; char b[5]; double d; } ; union u { float f; unsigned i; };
         struct bits { unsigned a : 3, b : 7; int c : 11; long d : 40; };
         static struct pair swap(struct pair p, int n) { p.a = p.b[n]; p.b[n]++; p.d /= 3; return p; }
         static int cmp(int a, int b) { return a < b; }
         static int (*table[2])(int, int) = {cmp, 0};
         int cegar_entry(void) {
           for (int i = 0; i < 6; i++) {
             int x = word(), y = word(); u8 n = byte();
             show(x + y); show(x * y); show((unsigned)x >> (n & 31)); show(x >> (n & 31));
             if (y != 0 && y != -1) { show(x / y); show(x % y); show((unsigned)x % (unsigned)y); }
             __int128 wide = (__int128)x * y << 30; show(wide >> 64); show(wide);
             struct pair p = {x, {n, 2, 3, 4, 5}, y}; p = swap(p, n % 5); show(p.a);
             union u v; v.f = p.d; show(v.i); show((long)(p.d * 8)); show(p.d < x);
             long double q = x; q = q / 7 + y; show((long)q);
             struct bits b; b.a = x; b.b = y; b.c = x; b.d = (long)x * y; show(b.a + b.b + b.c + b.d);
             show(table[0](x, y)); show(__builtin_popcount(x) + __builtin_clz(y | 1) + __builtin_bswap32(x));
             int s; show(__builtin_mul_overflow(x, y, &s)); show(s); show((u8)x + (short)y);
             switch (n % 7) { case 0: show(1); break; case 1: show(2); case 2: show(3); break; default: show(4); }
             char vla[n % 9 + 1]; for (int k = 0; k <= n % 9; k++) vla[k] = k * x; show(vla[n % 9]);
           }
           return 0; }",
    );
    built.link(&[]);
    same(&built, &tapes(12));
}

#[test]
fn variable_arguments() {
    let built = build(
        "#include <stdarg.h>
         struct big { long a, b, c; };
         static void print(const char *kinds, ...) { va_list l, m; va_start(l, kinds); va_copy(m, l);
           for (const char *k = kinds; *k; k++) switch (*k) {
             case 'i': show(va_arg(l, int)); break; case 'l': show(va_arg(l, long)); break;
             case 'd': show((long)(va_arg(l, double) * 16)); break;
             case 'x': show((long)(va_arg(l, long double) * 16)); break;
             case 's': { struct big b = va_arg(l, struct big); show(b.a + b.b * b.c); break; } }
           show(va_arg(m, int)); va_end(m); va_end(l); }
         int cegar_entry(void) { int x = word(); struct big b = {x, 2, byte()};
           print(\"idiliddlilixsidi\", x, 1.5, 2, 3l, 4, 2.5, x * 0.25, 5l, 6, 7l, 8, 2.5L, b, 9, 3.5, 10);
           print(\"dddddddddddi\", 1., 2., 3., 4., 5., 6., 7., 8., 9., 10., 11., 12);
           return 0; }",
    );
    built.link(&[]);
    same(&built, &tapes(3));
}

#[test]
fn heap_recursion_and_function_pointers() {
    let built = build(
        "struct node { struct node *l, *r; int v; };
         static struct node *insert(struct node *t, int v) {
           if (!t) { t = calloc(1, sizeof *t); t->v = v; return t; }
           if (v < t->v) t->l = insert(t->l, v); else t->r = insert(t->r, v); return t; }
         static void walk(struct node *t, void (*f)(unsigned long)) { if (t) { walk(t->l, f); f(t->v); walk(t->r, f); free(t); } }
         int cegar_entry(void) { struct node *t = 0; int n = 0; u8 *all = 0;
           while (crunner_remaining(\"x\")) { t = insert(t, byte()); all = realloc(all, ++n); all[n - 1] = n; }
           walk(t, show); for (int i = 0; i < n; i++) show(all[i]); free(all);
           crunner_assume(n % 5); return n; }",
    );
    built.link(&[]);
    same(&built, &tapes(12));
}

/// Random programs: `cargo test --release csmith -- --ignored`.
#[test]
#[ignore = "takes minutes; needs csmith"]
fn csmith() {
    let count = std::env::var("CSMITH_COUNT")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(20u32);
    let mut agreed = 0;
    for seed in 1..=count {
        let mut csmith = std::process::Command::new("csmith");
        csmith.args([
            "--seed",
            &seed.to_string(),
            "--max-funcs",
            "5",
            "--max-block-depth",
            "4",
        ]);
        csmith.args(["--no-volatiles", "--no-argc", "--concise"]);
        let text = super::tool(&mut csmith).stdout;
        // The checksum goes through the transcript instead of printf.
        let text = String::from_utf8_lossy(&text)
            .replace("int main (void)", "int cegar_entry(void)")
            .replace("platform_main_end(", "transcript(");
        let source = format!(
            "void crunner_output(int, const void *, unsigned long);
             static void transcript(unsigned long c, int f) {{ crunner_output(1, &c, sizeof c); }}
             {text}"
        );
        let flags = ["-I/usr/include/csmith"];
        let built = build_with(&source, &flags);
        built.link(&flags);
        let limits = Limits {
            steps: 50_000_000,
            ..Limits::default()
        };
        let run = Machine::new(&built.program, limits).run(&[]);
        if run.outcome == Outcome::StepLimit {
            continue;
        }
        let (code, output) = built.native(&[]);
        assert_eq!(
            (status(&run), run.written(1)),
            (code, output),
            "seed {seed}: {:?}",
            run.outcome
        );
        agreed += 1;
    }
    eprintln!("{agreed} of {count} programs ended and agreed");
    assert!(agreed > 0);
}
