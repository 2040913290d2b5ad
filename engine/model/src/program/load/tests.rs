//! Tests that load small C files compiled by clang.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::*;

/// Compiles C at -O0 as a campaign does, with `flags` added.
pub(crate) fn compile(folder: &Path, name: &str, source: &str, flags: &[&str]) -> PathBuf {
    let input = folder.join(format!("{name}.c"));
    let output = folder.join(format!("{name}.bc"));
    std::fs::write(&input, source).expect("writing C");
    let done = Command::new("clang-19")
        .args([
            "-O0",
            "-Xclang",
            "-disable-O0-optnone",
            "-g",
            "-fno-discard-value-names",
        ])
        .args(["-fPIC", "-emit-llvm", "-w", "-c"])
        .args(flags)
        .arg(&input)
        .arg("-o")
        .arg(&output)
        .output()
        .expect("clang-19 is needed");
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    output
}

fn load(source: &str, flags: &[&str]) -> Program {
    let folder = tempfile::tempdir().expect("a folder");
    let file = compile(folder.path(), "test", source, flags);
    Program::load_with_entry(&file, "main").expect("loads")
}

#[test]
fn ordinary_c() {
    let program = load(
        "#include <assert.h>\nstruct node { int value; struct node *next; };\n\
         static int table[3] = {1, 2, 3};\nint *into = &table[1];\n\
         int sum(struct node *n) { int s = 0; while (n) { s += n->value; n = n->next; } return s; \
         }\nint main(void) { struct node a = {1, 0}, b = {2, &a}; assert(sum(&b) == 3); return \
         table[0]; }",
        &[],
    );
    program.check_widths().expect("consistent");
    let dump = program.dump();
    assert!(program.unmodelled.is_empty(), "{dump}");
    let into = program
        .globals
        .iter()
        .position(|g| g.name == "into")
        .expect("a global");
    let table = program
        .globals
        .iter()
        .position(|g| g.name == "table")
        .expect("a global");
    let address = Program::global_address(GlobalId(table as u32), 4);
    assert_eq!(program.globals[into].init, address.to_le_bytes());
    let assertion = program
        .checks
        .iter()
        .find(|c| c.kind == CheckKind::Assertion)
        .expect("a check");
    assert_eq!(assertion.expression, "sum(&b) == 3");
    assert_eq!(assertion.pos.line, 6);
    assert!(
        program
            .checks
            .iter()
            .any(|c| c.expression == "n->value" && !c.trivial),
        "{dump}"
    );
}

/// Each source has one feature of C: it loads, is consistent and leaves nothing unmodelled.
#[test]
fn features() {
    let features = [
        (
            "bit-fields",
            "struct b { unsigned a:3, b:13; long c:40; } g; int main(void) { g.a = 5; g.c = -2; \
             return g.b + g.a; }",
        ),
        (
            "varargs",
            "#include <stdarg.h>\n\
             struct s { long a[4]; }; double f(int n, ...) { va_list l, m; va_start(l, n); \
             va_copy(m, l); double d = va_arg(l, double) + va_arg(l, long double) + va_arg(l, \
             struct s).a[1]; va_end(l); return d + va_arg(m, int); } int main(void) { struct s s = \
             {{1}}; return f(2, 1.5, 2.5L, s, 7); }",
        ),
        (
            "structs by value",
            "struct p { float x, y; double z; }; struct p f(struct p a) { a.x += a.y; return a; } \
            int main(void) { struct p a = {1, 2, 3}; return f(a).z; }",
        ),
        (
            "switch",
            "int f(int x) { switch (x) { case 1: return 2; case 5 ... 9: return 3; default: return \
             4; } } int main(int c, char **v) { return f(c); }",
        ),
        (
            "function pointers",
            "int a(int x) { return x; } int b(int x) { return -x; } int (*t[])(int) = {a, b}; \
            int main(int c, char **v) { return t[c & 1](c); }",
        ),
        (
            "long double",
            "long double k = 1.25L; int main(void) { long double d = k * 3; return d > 3.5L; }",
        ),
        (
            "complex",
            "int main(void) { double _Complex z = 1.0 + 2.0i; z = z + z / 3; return (int)__real__ \
             z; }",
        ),
        (
            "volatile",
            "volatile int v; int main(void) { v = 1; return v + v; }",
        ),
        (
            "variable length arrays",
            "int main(int n, char **v) { for (int i = 0; i < n; i++) { int a[n]; a[i] = 1; } \
             return 0; }",
        ),
        (
            "computed goto",
            "int main(int n, char **v) { static void *t[] = {&&a, &&b}; goto *t[n & 1]; a: return \
             1; b: return 2; }",
        ),
        (
            "int128",
            "unsigned __int128 f(unsigned __int128 a) { return a * a >> 70 ^ (unsigned \
             __int128)-5; } int main(void) { return f(7); }",
        ),
        (
            "vectors",
            "typedef int v4 __attribute__((vector_size(16))); typedef long v2 \
             __attribute__((vector_size(16))); int main(int n, char **v) { v4 a = {1,2,3,n}; v4 b \
             = a * a + __builtin_shufflevector(a, a, 3, 2, 1, 0); b = b > a; v2 c = (v2)b; return \
             b[n & 3] + c[0]; }",
        ),
        (
            "builtins",
            "int main(int n, char **v) { int r; __builtin_add_overflow(n, 5, &r); return r + \
             __builtin_popcount(n) + __builtin_clz(n|1) + __builtin_bswap32(n) + \
             __builtin_expect(n, 1) + __builtin_constant_p(n) + __builtin_object_size(v, 0) + \
             __builtin_isnan(n * 1.0) + __builtin_fabs(n * 2.0) + __builtin_isnormal(n * 1.0f); }",
        ),
        (
            "atomics",
            "int g; int main(void) { __atomic_fetch_add(&g, 3, 5); int e = 3; \
             __atomic_compare_exchange_n(&g, &e, 4, 0, 5, 5); __sync_synchronize(); return g; }",
        ),
        (
            "barrier",
            "int main(int n, char **v) { asm volatile(\"\" ::: \"memory\"); asm(\"\" : \"+r\"(n)); \
             return n; }",
        ),
        (
            "assembly on registers",
            "int main(int n, char **v) { int a = n, b, c = 0, d; \
             asm(\"cpuid\" : \"+a\"(a), \"=b\"(b), \"+c\"(c), \"=d\"(d)); \
             asm volatile(\"xgetbv\" : \"=a\"(a), \"=d\"(d) : \"c\"(0)); return a + b + c + d; }",
        ),
        (
            "vectors of AVX2",
            "#include <immintrin.h>\n\
             __attribute__((target(\"avx2,bmi2\"))) int main(int n, char **v) { \
             __m256i a = _mm256_set1_epi32(n), b = _mm256_srli_epi16(a, 3); \
             b = _mm256_packs_epi16(_mm256_sad_epu8(a, b), _mm256_shuffle_epi8(a, b)); \
             b = _mm256_madd_epi16(a, b); \
             __m256 f = _mm256_rsqrt_ps(_mm256_castsi256_ps(b)); f = _mm256_hadd_ps(f, f); \
             return _mm256_movemask_epi8(b) + _mm256_testz_si256(a, b) + _bzhi_u32(n, 5) + \
             _pext_u32(n, 9) + _mm256_movemask_ps(_mm256_cmp_ps(f, f, _CMP_LT_OS)); }",
        ),
        (
            "constant addresses",
            "struct s { int a; struct s *n; } x[3] = {{1, &x[2]}, {2, x}}; char *p = (char \
             *)&x[1].n + 3; long d = (long)&x; int main(void) { return x[0].n->a; }",
        ),
        (
            "unions and flexible members",
            "#include <stdlib.h>\n\
             union u { double d; unsigned char b[8]; }; struct f { int n; char t[]; }; int \
             main(void) { union u u; u.d = 1; struct f *f = malloc(sizeof *f + 4); f->t[2] = \
             u.b[7]; free(f); return 0; }",
        ),
    ];
    for (name, source) in features {
        for flags in [&[] as &[&str], &["-O1", "-Xclang", "-disable-llvm-passes"]] {
            let program = load(source, flags);
            let widths = program.check_widths();
            assert!(widths.is_ok(), "{name}: {widths:?}\n{}", program.dump());
            assert!(
                program.unmodelled.is_empty(),
                "{name}: {:?}\n{}",
                program.unmodelled,
                program.dump()
            );
        }
    }
}

#[test]
fn what_has_no_model_is_named() {
    let program = load(
        "int main(int n, char **v) { asm(\"push %0; pop %0\" : \"+r\"(n)); return n; }",
        &[],
    );
    assert_eq!(program.unmodelled[0].what, "inline assembly");
    assert_eq!(program.unmodelled[0].pos.line, 1);
}

/// Assembly that may jump to labels is not modelled, and the code at the labels is behind the hole.
#[test]
fn labels_of_assembly_lie_behind_it() {
    let source = "int main(int n, char **v) { asm goto(\"jmp %l0\" : : : : out); return 0; out: \
        return v[n][0]; }";
    let program = load(source, &[]);
    let is_assembly = |block: &&Block| {
        let mut ops = block.ops.iter();
        ops.any(|inst| matches!(inst.op, Op::Unmodelled { .. }))
    };
    let block = program.blocks.iter().find(is_assembly).expect("assembly");
    assert_eq!(block.end.edges().len(), 2, "{:?}", block.end);
}

#[test]
fn variable_arguments_have_their_classes() {
    let source = "struct s { long a[4]; }; int f(int a, ...) { return a; } \
        int main(void) { struct s s; return f(1, 2L, 1.5, 2.5L, s); }";
    let program = load(source, &[]);
    let call = program
        .blocks
        .iter()
        .flat_map(|b| &b.ops)
        .find_map(|i| match &i.op {
            Op::Call(call) => Some(call),
            _ => None,
        })
        .expect("a call");
    let classes: Vec<ArgClass> = call.args.iter().map(|a| a.class).collect();
    let by_value = ArgClass::ByVal { size: 32, align: 8 };
    let expected = [
        ArgClass::Integer,
        ArgClass::Integer,
        ArgClass::Sse,
        ArgClass::X87,
        by_value,
    ];
    assert_eq!((classes.as_slice(), call.fixed), (expected.as_slice(), 1));
}

#[test]
fn what_nobody_defines_has_no_model() {
    let program = load("int f(int); int main(void) { return f(1); }", &[]);
    assert_eq!(program.unmodelled[0].what, "f");
}
