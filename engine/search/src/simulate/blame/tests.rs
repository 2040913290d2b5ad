//! Small libraries with a bug, or used wrongly.

use cegar_model::machine::crossing::Harness;
use cegar_model::machine::samples::build;
use cegar_model::machine::{Limits, Machine};

use super::{Blame, Condition, Missing, Subject, blame};

/// The blame for the fault of `entry`, which calls functions of `library`.
fn blamed(library: &str, entry: &str, tape: &[u8]) -> Blame {
    let source = format!("# 1 \"library.c\"\n{library}\n# 1 \"harness.c\"\n{entry}\n");
    let built = build(&source);
    let mut files = built.program.files.iter();
    let file = files
        .find(|file| file.ends_with("harness.c"))
        .expect("the harness's file");
    let mut harness = Harness::in_file(&built.program, file);
    let more: Vec<_> = ["byte", "word"]
        .iter()
        .filter_map(|name| built.program.function_named(name))
        .collect();
    harness.functions.extend(more);
    let machine = Machine::new(&built.program, Limits::default());
    let run = machine.run(tape);
    let violation = run
        .violation()
        .unwrap_or_else(|| panic!("{:?}", run.outcome));
    blame(&machine, tape, violation, &harness).expect("a fault in the library")
}

fn only(blame: Blame) -> Missing {
    match blame {
        Blame::Harness(mut missing) if missing.len() == 1 => missing.remove(0),
        other => panic!("{other:?}"),
    }
}

#[test]
fn null_that_the_harness_passed() {
    let missing = only(blamed(
        "int f(int n, int *p) { if (n > 2) return 1; return p[n]; }",
        "int f(int, int *); int cegar_entry(void) { return f(1, 0); }",
        &[],
    ));
    assert!(
        matches!(missing.subject, Subject::Argument { number: 1, .. }),
        "{missing:?}"
    );
    assert!(!missing.varies);
    let Condition::Outside { unsigned, .. } = missing.condition else {
        panic!("{missing:?}");
    };
    assert_eq!(unsigned.low, 0);
    assert!(unsigned.high < 1 << 32);
}

#[test]
fn null_of_the_librarys_own() {
    let library = "static int *find(int n) { return n > 3 ? 0 : (int *)malloc(4); }
         int f(int n) { int *p = find(n); *p = 1; return *p; }";
    let entry = "int f(int); int cegar_entry(void) { return f(word()); }";
    assert_eq!(blamed(library, entry, &[9, 0, 0, 0]), Blame::Library);
}

#[test]
fn a_member_that_is_zero() {
    let library =
        "struct s { int a; int *table; int n; }; int f(struct s *s) { return s->table[s->a]; }";
    let entry = "int f(struct s *);
         int cegar_entry(void) { struct s s = {0}; return f(&s); }";
    let missing = only(blamed(library, entry, &[]));
    let Subject::Member {
        variable, selector, ..
    } = &missing.subject
    else {
        panic!("{missing:?}");
    };
    assert_eq!((variable.as_str(), selector.as_str()), ("s", ".table"));
}

#[test]
fn null_at_an_index_from_the_data_is_still_null() {
    let library =
        "struct s { int *table; }; int f(struct s *s, u8 *d) { return s->table[d[0] & 7]; }";
    let entry = "int f(struct s *, u8 *); int cegar_entry(void) {
         struct s s = {0}; u8 d[4]; crunner_choose(\"bytes\", d, 4); return f(&s, d); }";
    let missing = only(blamed(library, entry, &[3, 0, 0, 0]));
    assert!(
        matches!(&missing.subject, Subject::Member { selector, .. } if selector.is_empty() || selector == ".table")
    );
    // An index that the harness chose is not a pointer.
    let library = "static int *none; int f(size_t n) { return none[n]; }";
    let entry = "int f(size_t); int cegar_entry(void) { return f(0); }";
    let blame = blamed(library, entry, &[]);
    let Blame::Harness(missing) = &blame else {
        return;
    };
    assert!(
        !matches!(missing[0].condition, Condition::Outside { unsigned, .. } if unsigned.high >= 1 << 31)
    );
}

#[test]
fn no_number_beside_a_null_of_the_librarys_is_to_blame() {
    let library = "static int *none; int f(int n) { return none[n & 3]; }";
    let entry = "int f(int); int cegar_entry(void) { return f(word()); }";
    assert_eq!(blamed(library, entry, &[0, 0, 0, 0]), Blame::Library);
    assert_eq!(blamed(library, entry, &[2, 0, 0, 0]), Blame::Library);
}

#[test]
fn memory_that_is_refused_for_what_was_asked() {
    let library = "int f(size_t n) { int *p = malloc(n * 4); p[0] = 1; return p[0]; }";
    let entry = "int f(size_t); int cegar_entry(void) { size_t n; crunner_choose(\"ulong\", &n, \
        8); return f(n); }";
    let blame = blamed(library, entry, &[0, 0, 0, 0, 0, 0, 0, 0x20]);
    assert_eq!(only(blame).value, 1 << 61);
}

#[test]
fn memory_that_the_environment_refuses_for_being_much() {
    let library = "static int crunner_refuses(size_t n) {
             u8 b; if (n <= 1000) return 0; crunner_choose(\"malloc:large\", &b, 1); return !(b & 1); }
         int f(size_t n) { size_t no = -(size_t)crunner_refuses(n); int *p = malloc(n | no); p[0] = 1; return p[0]; }";
    let entry = "int f(size_t); int cegar_entry(void) { size_t n; crunner_choose(\"ulong\", &n, \
        8); return f(n); }";
    let missing = only(blamed(library, entry, &[0, 4, 0, 0, 0, 0, 0, 0, 0]));
    assert_eq!(missing.value, 1024);
    let Condition::Outside { unsigned, .. } = missing.condition else {
        panic!("{missing:?}");
    };
    assert_eq!(unsigned.low, 1001);
    // A later branch may be the reason as well.
    let library = library.replace("p[0] = 1", "if (n == 1024) p[0] = 1");
    let blame = blamed(&library, entry, &[0, 4, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(blame, Blame::Library);
}

#[test]
fn a_setting_out_of_its_range() {
    let library = "static int table[10]; int f(int level) { if (level == 50) return 0; return \
        table[level]; }";
    let entry = "int f(int); int cegar_entry(void) { int level = word(); return f(level); }";
    let missing = only(blamed(library, entry, &[12, 0, 0, 0]));
    assert!(missing.varies);
    let Condition::Outside { signed, .. } = missing.condition else {
        panic!("{missing:?}");
    };
    assert_eq!(
        (signed.low, signed.high, signed.to_greatest),
        (10, 49, false)
    );
}

#[test]
fn data_is_never_the_harnesss_choice() {
    let library = "int f(u8 *d, size_t n) { int t[4] = {0}; return n ? t[d[0]] : 0; }";
    let entry = "int f(u8 *, size_t); int cegar_entry(void) {
         u8 d[4]; crunner_choose(\"bytes\", d, 4); return f(d, 4); }";
    assert_eq!(blamed(library, entry, &[77, 0, 0, 0]), Blame::Input);
}

#[test]
fn a_size_given_with_its_buffer_is_data() {
    let library = "int f(u8 *d, size_t n) { return d[n / 2] + d[n]; }";
    let entry = "int f(u8 *, size_t); int cegar_entry(void) {
         size_t n = (size_t)byte() % 8; u8 *d = malloc(n); crunner_choose(\"bytes\", d, n);
         int r = f(d, n); free(d); return r; }";
    assert_eq!(blamed(library, entry, &[3, 1, 1, 1]), Blame::Input);
}

#[test]
fn a_length_that_is_told_and_not_looked_at() {
    let entry = "int f(u8 *, size_t); int cegar_entry(void) {
         size_t n = (size_t)byte() % 8; u8 *d = malloc(n); crunner_choose(\"bytes\", d, n);
         int r = f(d, n); free(d); return r; }";
    let library = "int f(u8 *d, size_t n) { (void)n; return d[0] + d[6]; }";
    let missing = only(blamed(library, entry, &[3, 1, 1, 1]));
    assert_eq!(missing.condition, Condition::Least { bytes: 7 });
    let library = "int f(u8 *d, size_t n) { return n > 2 ? d[0] + d[6] : 0; }";
    assert_eq!(blamed(library, entry, &[3, 1, 1, 1]), Blame::Input);
}

#[test]
fn room_of_which_the_library_is_not_told() {
    let library = "void f(char *out, int n) { for (int i = 0; i < n; i++) out[i] = 1; }";
    let entry =
        "void f(char *, int); int cegar_entry(void) { char out[16]; f(out, 40); return out[0]; }";
    let missing = only(blamed(library, entry, &[]));
    assert!(matches!(&missing.subject, Subject::Room { variable: Some(v), .. } if v == "out"));
    assert_eq!(missing.condition, Condition::Room { bytes: 17 });
    // If the size is passed, it is the library's fault.
    let entry =
        "void f(char *, int); int cegar_entry(void) { char out[16]; f(out, 16); return out[0]; }";
    let library = "void f(char *out, int n) { for (int i = 0; i <= n; i++) out[i] = 1; }";
    assert_ne!(
        std::mem::discriminant(&blamed(library, entry, &[])),
        std::mem::discriminant(&Blame::Harness(Vec::new()))
    );
}

#[test]
fn a_size_of_one_thing_says_nothing_of_another() {
    let library = "static int left; void feed(const u8 *d, size_t n) { left = n ? d[0] : 0; }
         void take(float *out) { for (int i = 0; i < 2 + left; i++) out[i] = 1; }";
    let entry = "void feed(const u8 *, size_t); void take(float *); int cegar_entry(void) {
         float out; u8 *d = malloc(4); crunner_choose(\"bytes\", d, 4); feed(d, 4); take(&out); free(d); return 0; }";
    let missing = only(blamed(library, entry, &[1, 1, 1, 1]));
    assert_eq!(missing.condition, Condition::Room { bytes: 8 });
    // A size that is passed beside both objects, or alone before, may be about either.
    let entry = entry.replace("feed(d, 4)", "level(4)");
    let entry = entry.replace("void take", "void level(size_t); void take");
    let library = format!("void level(size_t n) {{ (void)n; }} {library}");
    let blame = blamed(&library, &entry, &[1, 1, 1, 1]);
    assert!(!matches!(blame, Blame::Harness(_)), "{blame:?}");
}

#[test]
fn a_number_that_the_library_counts_up_to() {
    let library = "struct m { unsigned short len; unsigned char body[8]; };
         int f(const struct m *m) { int s = 0; for (int i = 0; i < m->len; i++) s += m->body[i]; return s; }
         int g(int n) { char row[8]; for (int i = 0; i < n; i++) row[i] = 1; return row[0]; }";
    let missing = only(blamed(
        library,
        "int cegar_entry(void) { struct m m = {0}; m.len = byte(); return f(&m); }",
        &[200],
    ));
    assert!(
        matches!(&missing.subject, Subject::Member { selector, .. } if selector == ".len"),
        "{missing:?}"
    );
    let Condition::Outside { unsigned, .. } = missing.condition else {
        panic!("{missing:?}");
    };
    assert!(unsigned.to_greatest && unsigned.low == 9, "{unsigned:?}");
    // Overrunning the library's own memory is the library's fault.
    let blame = blamed(
        library,
        "int cegar_entry(void) { return g(byte()); }",
        &[200],
    );
    assert_eq!(blame, Blame::Library);
}

/// An assertion about an argument states the library's precondition. An assertion about a value
/// computed from data, or in a function that the harness did not call, is the library's own.
#[test]
fn what_is_asserted_of_arguments() {
    let entry = "void f(const unsigned char *, unsigned long);
         int cegar_entry(void) { unsigned long n = byte(); unsigned char *p = malloc(n);
             for (unsigned long i = 0; i < n; i++) p[i] = byte(); f(p, n); return 0; }";
    let missing = only(blamed(
        "#include <assert.h>\n\
         void f(const unsigned char *p, unsigned long n) { assert(n); (void)p; }",
        entry,
        &[0],
    ));
    assert!(
        matches!(missing.subject, Subject::Argument { number: 1, .. }),
        "{missing:?}"
    );
    let of_data = "#include <assert.h>\n\
        void f(const unsigned char *p, unsigned long n) { if (n) assert(p[0]); }";
    assert_eq!(blamed(of_data, entry, &[1, 0]), Blame::Input);
    let deeper = "#include <assert.h>\nstatic void g(unsigned long n) { assert(n != 3); }
         void f(const unsigned char *p, unsigned long n) { (void)p; if (n > 1) g(n); }";
    assert_eq!(blamed(deeper, entry, &[3, 0, 0, 0]), Blame::Input);
}
