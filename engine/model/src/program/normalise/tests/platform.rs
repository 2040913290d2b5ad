//! Tests of what compilers, linkers and loaders do beyond C.

use super::*;

#[test]
fn what_the_platform_does_beyond_c_is_said() {
    let says = |source: &str| {
        let (_, program) = program(&[source], &[], Entry::Main).expect("normalises");
        let texts = program.globals.iter();
        let told = texts.filter(|global| global.name.starts_with("cegar.rule"));
        told.map(|global| {
            let text = global.init.strip_suffix(&[0]).unwrap_or(&global.init);
            String::from_utf8_lossy(text).into_owned()
        })
        .collect::<Vec<_>>()
    };
    assert_eq!(says("int main(void) { return 0; }"), [""; 0]);
    let versions =
        "__asm__(\".symver f,f@V1\"); int f(void) { return 1; } int main(void) { return f(); }";
    assert_eq!(says(versions), [""; 0]);
    let name = "int g; extern int h; __asm__(\".set h,g\"); int main(void) { return h; }";
    assert_eq!(says(name), ["assembly"]);
    let copies = "struct s { char a[200]; } x, y; int n;\n\
        void *memcpy(void *d, const void *s, unsigned long l) { n++; return d; }\n\
        int main(void) { x = y; return n; }";
    assert_eq!(says(copies), ["own-copies"]);
    let vectors = "typedef int v __attribute__((vector_size(16))); v f(char *p) { return *(v *)p; \
        }\nchar b[32]; int main(void) { return f(b + 1)[0]; }";
    assert_eq!(says(vectors), ["alignment"]);
    let alone = "_Bool g; int main(void) { _Bool b = g; if (b) g = 0; return g; }";
    assert_eq!(says(alone), [""; 0]);
    let written = "struct s { int n; _Bool b; } s; void *memcpy(void *, const void *, unsigned \
        long); char d[8];\nint main(void) { memcpy(&s, d, sizeof s); return s.b ? 1 : 2; }";
    assert_eq!(says(written), ["booleans"]);
    let literal = "int f(int *p) { return p[0]; }\n\
        int main(void) { int *p = 0, n = 0; { p = (int[]){1, 2}; } return p[1] + n; }";
    assert_eq!(says(literal), ["temporaries"]);
    let lent =
        "int *q; void f(int *p) { q = p; } int main(void) { { f((int[]){1, 2}); } return q[1]; }";
    assert_eq!(says(lent), ["temporaries"]);
    let result = "struct b { char d[8]; }; struct b g(void) { struct b b = {{1}}; return b; }\n\
        int main(void) { char *p = g().d; return p[0]; }";
    assert_eq!(says(result), ["temporaries"]);
    let handed = "struct b { char d[8]; }; char *k; struct b g(void) { struct b b = {{1}}; return \
        b; }\nvoid keep(char *d) { k = d; } int main(void) { keep(g().d); return k[1]; }";
    assert_eq!(says(handed), ["temporaries"]);
    let within = "struct b { char d[8]; int n; }; struct b g(void) { struct b b = {{1}}; return b; \
        }\nint h(struct b b, int *p) { return b.n + p[1]; }\n\
        int main(void) { struct b tmp = (struct b){{2}, 3}; char *p = tmp.d;\n\
        return h(g(), (int[]){1, 2}) + g().d[1] + p[0]; }";
    assert_eq!(says(within), [""; 0]);
    let section = "a section that the loader or the linker gives a meaning";
    let called = "static void f(void) {} __attribute__((section(\".init_array\"), used)) static \
        void (*p)(void) = f;\nint main(void) { return 0; }";
    assert_eq!(says(called), [section]);
    let ends = "__attribute__((section(\"foo\"))) int a = 1; extern int __start_foo[]; int \
        main(void) { return __start_foo[0] + a; }";
    assert_eq!(says(ends), [section]);
    let arguments =
        "int g; __attribute__((constructor)) void c(int n) { g = n; } int main(void) { return g; }";
    assert_eq!(
        says(arguments),
        ["a constructor that looks at its arguments"]
    );
}
