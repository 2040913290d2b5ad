//! Tests of what normalisation does with locals.

use super::*;

/// The kind of the memory check that the only execution of a program violates.
fn violated(source: &str) -> Option<CheckKind> {
    let (_, program) = program(&[source], &[Property::Memory], Entry::Main).expect("normalises");
    let run = Machine::new(&program, Limits::default()).run(&[]);
    run.violation().map(|violation| violation.kind)
}

#[test]
fn uninitialised_locals_stay() {
    let source = "int f(int c) { int x; if (c) x = 1; return x; } int main(void) { return f(0); }";
    let (_, program) = program(&[source], &[], Entry::Main).expect("normalises");
    let dump = user_dump(&program);
    assert!(dump.contains("freeze undef"), "{dump}");
    // The driver calls `main` through a wrapper with the full signature.
    assert!(program.function_named("cegar_call_main").is_some());
}

#[test]
fn escaping_locals_stay_in_memory() {
    let source = "void g(int *p) { *p += 1; } int main(void) { int x; g(&x); return x; }";
    let (_, program) = program(&[source], &[], Entry::Main).expect("normalises");
    let dump = user_dump(&program);
    assert!(dump.contains("uninit r"), "{dump}");
}

#[test]
fn locals_end_with_their_scope() {
    let sources = [
        "int main(void) { int *p; { int x[2]; x[0] = 1; p = x; } return *p; }",
        "int main(void) { int *p; { int x; x = 1; p = &x; } return *p; }",
        "struct s { int *p; }; int main(void) { struct s s; { int x = 1; s.p = &x; } return *s.p; \
         }",
        "int main(void) { int n = 0, *p = &n; { struct { int a, b; } x = {1, 2}; p = &x.b; } \
         return p[0]; }",
    ];
    for source in sources {
        assert_eq!(violated(source), Some(CheckKind::Read), "{source}");
    }
}

#[test]
fn accesses_beyond_locals_stay() {
    let sources = [
        "int main(void) { int x = 1; *(long *)&x = 5; return x; }",
        "static int f(int n) { return ((char *)&n)[4]; } int main(void) { return f(1); }",
        "static inline __attribute__((always_inline)) void set(int *p) { p[1] = 1; }\n\
         int main(void) { int x = 1; set(&x); return x; }",
        "#include <string.h>\nint main(void) { int x; memset(&x, 0, 8); return x; }",
        "#include <string.h>\nint main(void) { int x = 1; long y; memcpy(&y, &x, 8); return y; }",
        "int main(void) { int x = 1, *p = &x; p--; return *p; }",
    ];
    for source in sources {
        assert!(violated(source).is_some(), "{source}");
    }
}

/// If a union is read as another type than it was written as, SROA leaves it in memory, with the
/// marks of its scope around it.
#[test]
fn a_part_that_stays_in_memory_is_not_written_before_its_scope() {
    let source = "struct value { unsigned tag; union { double number; int *pointer; } as; };\n\
        int main(void) { int n = 0; struct value all[2] = {{1, {.pointer = &n}}, {1, {.pointer = \
        &n}}};\nfor (int i = 0; i < 2; i++) { struct value *at = &all[i], old;\n\
        old.tag = at->tag; old.as.number = at->as.number; at->tag = 0; if (old.tag & 1) \
        ++*old.as.pointer; }\nreturn n; }";
    assert_eq!(violated(source), None);
}

/// A local that is copied to itself stays in memory as a whole. If SROA took it apart, the rest
/// would be written before its scope begins, which the sanitizer reports.
#[test]
fn a_local_that_is_moved_within_itself_stays_in_memory() {
    let source = "#include <string.h>\n\
        int main(void) { char text[8] = \"abcdefg\"; memmove(text + 1, text, 4); return text[4]; }";
    assert_eq!(violated(source), None);
    let (_, program) = program(&[source], &[Property::Memory], Entry::Main).expect("normalises");
    let main = program.function_named("cegar_user_main").expect("main");
    let sizes: Vec<&Operand> = program
        .operations(main)
        .filter_map(|op| match op {
            Op::Alloca { size, .. } => Some(size),
            _ => None,
        })
        .collect();
    assert_eq!(sizes, [&Operand::Const(8)]);
}
