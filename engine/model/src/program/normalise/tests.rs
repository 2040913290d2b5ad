//! Tests on whole programs: C files, linked with the stub library, normalised and loaded.

mod locals;
mod platform;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use cegar_stubs::Role;

use super::*;
use crate::machine::{Limits, Machine, Outcome};
use crate::program::ir::*;

fn clang(input: &Path, output: &Path, flags: &[&str]) {
    let done = Command::new("clang-19")
        .args(flags)
        .arg("-w")
        .arg(input)
        .arg("-o")
        .arg(output)
        .output()
        .expect("clang-19 is needed");
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
}

/// The stub library's bitcode, compiled once for all tests: stubs, engine-only sources, drivers.
fn library() -> &'static (tempfile::TempDir, Vec<(Role, PathBuf)>) {
    static LIBRARY: OnceLock<(tempfile::TempDir, Vec<(Role, PathBuf)>)> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let sources = cegar_stubs::write_sources(folder.path()).expect("sources");
        let mut compiled = Vec::new();
        for (role, path) in sources {
            if matches!(role, Role::Stub | Role::EngineOnly | Role::Entry(_)) {
                let output = path.with_extension("bc");
                clang(&path, &output, &clang_flags(&[]));
                compiled.push((role, output));
            }
        }
        (folder, compiled)
    })
}

/// Normalises and loads a program of these C sources.
fn program(
    sources: &[&str],
    properties: &[Property],
    entry: Entry,
) -> Result<(Normalised, Program), NormaliseError> {
    let folder = tempfile::tempdir().expect("a folder");
    let mut user = Vec::new();
    for (i, source) in sources.iter().enumerate() {
        let input = folder.path().join(format!("user{i}.c"));
        std::fs::write(&input, source).expect("writing C");
        let output = input.with_extension("bc");
        clang(&input, &output, &clang_flags(properties));
        user.push(output);
    }
    link(folder.path(), user, entry)
}

fn link(
    folder: &Path,
    user: Vec<PathBuf>,
    entry: Entry,
) -> Result<(Normalised, Program), NormaliseError> {
    let (_, compiled) = library();
    let driver = match entry {
        Entry::Main => cegar_stubs::Entry::Main,
        Entry::Fuzzer => cegar_stubs::Entry::Fuzzer,
        Entry::Function(_) => cegar_stubs::Entry::Function,
    };
    let select = |wanted: fn(Role) -> bool| -> Vec<PathBuf> {
        compiled
            .iter()
            .filter(|(r, _)| wanted(*r))
            .map(|(_, p)| p.clone())
            .collect()
    };
    let mut stubs = select(|r| r == Role::Stub);
    stubs.extend(
        compiled
            .iter()
            .filter(|(r, _)| *r == Role::Entry(driver))
            .map(|(_, p)| p.clone()),
    );
    let request = LinkRequest::new(user, stubs, select(|r| r == Role::EngineOnly), entry);
    let out = folder.join("program.bc");
    let normalised = normalise(&request, &out)?;
    let program = Program::load(&out).expect("loads");
    Ok((normalised, program))
}

/// The user's functions as text, without those of the library.
fn user_dump(program: &Program) -> String {
    let mut text = String::new();
    for (i, function) in program.functions.iter().enumerate() {
        if function.is_defined() && function.kind == FunctionKind::User {
            program.dump_function(FuncId(i as u32), function, &mut text);
        }
    }
    text
}

#[test]
fn undefined_functions_become_mocks() {
    let source = "struct dev { int id; char name[28]; }; struct pair { double a; long b; };\n\
        struct big { long a[5]; };\n\
        extern int sensor(int); extern struct dev *open_dev(void); extern _Bool ready(void);\n\
        extern struct pair both(void); extern struct big large(int); extern float level(void);\n\
        extern char *raw(void); extern int tuning;\n\
        int main(void) { struct dev *d = open_dev(); if (!d || !ready()) return 1;\n\
        struct pair p = both(); struct big b = large(3);\n\
        if ((long)raw() & 1) return 2;\n\
        return d->id + sensor(2) + p.b + b.a[1] + (int)level() + tuning; }";
    let (normalised, program) = program(&[source], &[], Entry::Main).expect("normalises");
    let returns = |name: &str| {
        normalised
            .mocked
            .iter()
            .find(|m| m.name == name)
            .map(|m| m.returns.clone())
    };
    assert_eq!(returns("sensor"), Some(Returns::Integer { bytes: 4 }));
    assert_eq!(returns("ready"), Some(Returns::Bool));
    assert_eq!(returns("level"), Some(Returns::Float { bytes: 4 }));
    assert_eq!(returns("both"), Some(Returns::Aggregate { bytes: 16 }));
    assert_eq!(returns("large"), Some(Returns::Aggregate { bytes: 40 }));
    assert_eq!(
        returns("open_dev"),
        Some(Returns::Pointer {
            pointee: 32,
            may_return_any_address: false,
            structure: Some("dev".to_owned()),
        })
    );
    assert_eq!(
        returns("raw"),
        Some(Returns::Pointer {
            pointee: 0,
            may_return_any_address: true,
            structure: None,
        })
    );
    assert_eq!(normalised.external_data, ["tuning"]);
    let sensor = program.function_named("sensor").expect("there");
    assert_eq!(program.function(sensor).kind, FunctionKind::Mock);
    assert!(program.function_named("crunner_mock_pointer").is_some());
    assert!(program.unmodelled.is_empty(), "{:?}", program.unmodelled);
}

#[test]
fn the_library_is_swept_and_redirected() {
    let source = "#include <stdio.h>\n#include <string.h>\n#include <assert.h>\n\
        int main(int argc, char **argv) { int c = getchar(); assert(c != 'x'); return \
        strlen(argv[0]); }";
    let (normalised, program) = program(&[source], &[], Entry::Main).expect("normalises");
    assert!(normalised.mocked.is_empty(), "{:?}", normalised.mocked);
    let kind = |name: &str| {
        program
            .function_named(name)
            .map(|id| program.function(id).kind)
    };
    assert_eq!(kind("CRUNNER_getchar"), Some(FunctionKind::Stub));
    assert_eq!(kind("strlen"), Some(FunctionKind::EngineOnly));
    assert_eq!(kind("strstr"), None);
    assert_eq!(
        kind("crunner_choose"),
        Some(FunctionKind::Intrinsic(Intrinsic::Choose))
    );
    let assertion = program
        .checks
        .iter()
        .find(|c| c.expression == "c != 'x'")
        .expect("a check");
    assert_eq!(assertion.kind, CheckKind::Assertion);
}

#[test]
fn the_users_own_definitions_win() {
    let first = "int getchar(void) { return 7; } unsigned long strlen(const char *s) { return 3; }";
    let second = "int getchar(void); unsigned long strlen(const char *); static int read(int a) { \
        return a; }\nstatic const char *volatile text = \"\";\n\
        int main(void) { return getchar() + strlen(text) + read(1); }";
    let (_, program) = program(&[first, second], &[], Entry::Main).expect("normalises");
    let kind = |name: &str| {
        program
            .function_named(name)
            .map(|id| program.function(id).kind)
    };
    assert_eq!(kind("getchar"), Some(FunctionKind::User));
    assert_eq!(kind("strlen.0"), Some(FunctionKind::User));
    assert_eq!(kind("CRUNNER_getchar"), None);
}

#[test]
fn what_cannot_be_linked_is_said() {
    let duplicate = program(
        &[
            "int f(void) { return 1; } int main(void) { return 0; }",
            "int f(void) { return 2; }",
        ],
        &[],
        Entry::Main,
    );
    assert!(matches!(duplicate, Err(NormaliseError::Duplicate { symbol, .. }) if symbol == "f"));
    let none = program(&["int f(void) { return 1; }"], &[], Entry::Main);
    assert!(matches!(none, Err(NormaliseError::NoEntry(name)) if name == "main"));
    let wrong = program(
        &["int f(int a) { return a; }"],
        &[],
        Entry::Function("f".to_owned()),
    );
    assert!(matches!(wrong, Err(NormaliseError::EntrySignature { .. })));
    let static_entry = "static int f(void) { return 1; } int (*keep)(void) = f;";
    program(&[static_entry], &[], Entry::Function("f".to_owned())).expect("a static entry");
}

#[test]
fn clang_checks_have_their_kinds() {
    let source = "int t[4]; int a(int x, int y) { return x + y; } int s(int x, int y) { return x - \
        y; }\n\
        int m(int x, int y) { return x * y; } int n(int x) { return -x; } int d(int x, int y) { \
        return x / y; }\n\
        int h(int x, int y) { return x << y; } int i(int x) { return t[x]; } int r(int x) { if (x) \
        return 1; __builtin_unreachable(); }\n\
        int f(double x) { return (int)x; }int main(void) { return \
        a(1,1)+s(1,1)+m(1,1)+n(1)+d(1,1)+h(1,1)+i(1)+r(1)+f(1); }";
    let all = [Property::Assertion, Property::Memory, Property::Overflow];
    let (_, program) = program(&[source], &all, Entry::Main).expect("normalises");
    let kinds_in = |name: &str| -> Vec<CheckKind> {
        let id = program.function_named(name).expect("there");
        program
            .checks
            .iter()
            .filter(|c| c.function == id && !c.trivial)
            .map(|c| c.kind)
            .collect()
    };
    for (name, kind) in [
        ("a", CheckKind::SignedOverflow),
        ("s", CheckKind::SignedOverflow),
        ("m", CheckKind::SignedOverflow),
        ("n", CheckKind::SignedOverflow),
        ("d", CheckKind::DivisionByZero),
        ("h", CheckKind::Shift),
        ("f", CheckKind::FloatConversion),
        ("i", CheckKind::ArrayBound),
        ("r", CheckKind::Unreachable),
    ] {
        assert!(
            kinds_in(name).contains(&kind),
            "{name}: {:?}",
            kinds_in(name)
        );
    }
}

#[test]
fn nothing_licenses_the_optimiser() {
    let source = "int f(int *restrict p, int x) { for (;;) if (p[x] + x < x) return 1; } int \
        main(void) { int a[3]; return f(a, 1); }";
    let folder = tempfile::tempdir().expect("a folder");
    let input = folder.path().join("user.c");
    std::fs::write(&input, source).expect("writing C");
    let user = input.with_extension("bc");
    clang(
        &input,
        &user,
        &["-O0", "-Xclang", "-disable-O0-optnone", "-emit-llvm", "-c"],
    );
    link(folder.path(), vec![user], Entry::Main).expect("normalises");
    let module = cegar_llvm::Module::read(&folder.path().join("program.bc")).expect("reads");
    for function in module
        .functions()
        .into_iter()
        .filter(|f| !f.name().starts_with("llvm."))
    {
        let text = function.text();
        for licence in [
            " nsw ",
            " nuw ",
            "noundef",
            "noalias",
            "inbounds ",
            "mustprogress",
        ] {
            let body = text
                .lines()
                .filter(|l| !l.contains("getelementptr inbounds ("));
            assert!(
                !body.clone().any(|l| l.contains(licence)),
                "{licence}: {text}"
            );
        }
    }
}

#[test]
fn random_programs_load() {
    let folder = tempfile::tempdir().expect("a folder");
    for seed in (1..=20).step_by(crate::one_in(3)) {
        let input = folder.path().join(format!("random{seed}.c"));
        let made = Command::new("csmith")
            .args(["--seed", &seed.to_string(), "-o"])
            .arg(&input)
            .current_dir(folder.path())
            .status()
            .expect("csmith is needed");
        assert!(made.success());
        let user = input.with_extension("bc");
        let mut flags = clang_flags(&[]);
        flags.extend(["-I", "/usr/include/csmith"]);
        clang(&input, &user, &flags);
        let (_, program) = link(folder.path(), vec![user], Entry::Main).expect("normalises");
        let of_user: Vec<&Unmodelled> = program
            .unmodelled
            .iter()
            .filter(|u| program.function(u.function).kind == FunctionKind::User)
            .collect();
        assert!(of_user.is_empty(), "seed {seed}: {of_user:?}");
        let widths = program.check_widths();
        assert!(widths.is_ok(), "seed {seed}: {widths:?}");
    }
}

/// Accesses to the lanes that a mask selects become branches, also where the processor has them.
#[test]
fn masked_accesses_are_plain() {
    let source = "#include <immintrin.h>\n__attribute__((target(\"avx512bw,avx512vl\"))) \
        int main(int n, char **v) { __m128i a = _mm_maskz_loadu_epi8(n, *v); \
        _mm_mask_storeu_epi8(*v, n >> 1, a); return 0; }";
    let (_, program) = program(&[source], &[], Entry::Main).expect("normalises");
    let is_users = |at: &&Unmodelled| program.function(at.function).kind == FunctionKind::User;
    let of_user: Vec<&Unmodelled> = program.unmodelled.iter().filter(is_users).collect();
    assert!(of_user.is_empty(), "{of_user:?}");
}

/// Loads real code by hand: `CEGAR_C_SOURCES` has the names of the C files.
#[test]
#[ignore = "needs CEGAR_C_SOURCES"]
fn real_code_loads() {
    let named = std::env::var("CEGAR_C_SOURCES").expect("C files, separated by spaces");
    let folder = tempfile::tempdir().expect("a folder");
    let mut user = Vec::new();
    for (i, input) in named.split(' ').map(Path::new).enumerate() {
        let output = folder.path().join(format!("user{i}.bc"));
        clang(
            input,
            &output,
            &clang_flags(&[Property::Memory, Property::Overflow]),
        );
        user.push(output);
    }
    library();
    let start = std::time::Instant::now();
    let entry = std::env::var("CEGAR_C_ENTRY").map_or(Entry::Main, Entry::Function);
    let (normalised, program) = link(folder.path(), user, entry).expect("normalises");
    println!(
        "{:?}\n{}\n{normalised:?}",
        start.elapsed(),
        program.summary()
    );
    for unmodelled in &program.unmodelled {
        println!("{} {}", unmodelled.what, program.show(unmodelled.pos));
    }
    program.check_widths().expect("consistent");
    if std::env::var_os("CEGAR_C_DUMP").is_some() {
        println!("{}", user_dump(&program));
    }
}

#[test]
fn failing_functions_carry_checks() {
    let source = "#include <stddef.h>\n\
        void crunner_fail_at(const char *message, const char *file, unsigned line);\n\
        void __chk_fail(void); void __stack_chk_fail(void); void reach_error(void);\n\
        int main(int argc, char **argv) { switch (argc) {\n\
        case 1: crunner_fail_at(\"told\", \"f\", 1); case 2: __chk_fail();\n\
        case 3: __stack_chk_fail(); case 4: reach_error(); } return 0; }";
    let (_, program) = program(&[source], &[], Entry::Main).expect("normalises");
    let count = |kind: CheckKind| program.checks.iter().filter(|c| c.kind == kind).count();
    assert_eq!(count(CheckKind::Fail), 1);
    assert_eq!(count(CheckKind::Abort), 2);
    assert_eq!(count(CheckKind::ReachError), 1);
    assert!(program.checks.iter().any(|c| c.expression == "told"));
    for function in cegar_stubs::failing_functions() {
        let found = crate::program::load::failing(function.name);
        assert_eq!(found.map(|f| f.1), Some(function.text_argument));
    }
}

#[test]
fn constructors_run_in_the_driver() {
    let source = "static int n; void crunner_stop(int);\n\
        __attribute__((constructor)) static void second(void) { n = n * 10 + 2; }\n\
        __attribute__((constructor(150))) static void first(void) { n = n * 10 + 1; }\n\
        __attribute__((destructor)) static void last(void) { crunner_stop(n * 10 + 4); }\n\
        int main(void) { n = n * 10 + 3; return 0; }";
    let (_, program) = program(&[source], &[], Entry::Main).expect("normalises");
    let run = Machine::new(&program, Limits::default()).run(&[]);
    assert_eq!(run.outcome, Outcome::Exited(1234));
}

/// If clang checks for unreachable code, it removes `noreturn` from declarations.
#[test]
fn what_does_not_come_back_ends_the_run() {
    let source = "extern void die(int) __attribute__((noreturn)); extern int back(void);\n\
        int main(int argc, char **argv) { if (argc == 0) __builtin_unreachable();\n\
        if (back() == 3) die(1); die(2); }";
    for properties in [&[Property::Overflow][..], &[Property::Memory]] {
        let (normalised, program) =
            program(&[source], properties, Entry::Main).expect("normalises");
        let run = Machine::new(&program, Limits::default()).run(&[3, 0, 0, 0]);
        assert!(run.violation().is_none(), "{:?}", run.outcome);
        let is_mocked = |name| normalised.mocked.iter().any(|mocked| mocked.name == name);
        assert!(is_mocked("die") && is_mocked("back"));
    }
}

/// The global variables that an external function may write, by name.
fn written(source: &str, function: &str) -> Vec<String> {
    let (_, program) = program(&[source], &[], Entry::Main).expect("a program");
    let id = program.function_named(function).expect("the function");
    let reached = program
        .outside
        .reachable_by(id)
        .expect("an external function");
    let mut names: Vec<String> = reached
        .written
        .iter()
        .filter_map(|site| match site {
            crate::program::outside::Site::Global(global) => {
                Some(program.globals[global.index()].name.clone())
            }
            crate::program::outside::Site::Made(..) => None,
        })
        .filter(|name| name != crate::program::convention::ERRNO)
        .collect();
    names.sort();
    names
}

#[test]
fn external_functions_reach_what_they_are_given() {
    let source = "
        void fill(int *); void step(void); int *find(int *);
        static int given, other, deep, through_a_copy, found, by_number;
        static struct { int *p; } outer = {&deep}, inner;
        static void pass(int *p) { fill(p); }
        int main(void) {
            pass(&given); fill((int *)&outer);
            inner.p = &through_a_copy; char copy[sizeof inner]; const char *from = (const char *)&inner;
            for (unsigned i = 0; i < sizeof inner; i++) copy[i] = from[i];
            fill(*(int **)copy);
            find(&found);
            unsigned long n = (unsigned long)&by_number + 8; fill((int *)(n - 8));
            other = 1; step(); return other + given + deep;
        }";
    let all = [
        "by_number",
        "deep",
        "found",
        "given",
        "outer",
        "through_a_copy",
    ];
    assert_eq!(written(source, "fill"), all);
    // Objects that were kept may be written later.
    assert_eq!(written(source, "step"), all);
}

#[test]
fn other_files_reach_what_is_not_static() {
    let source = "void step(void); int visible; static int hidden; extern int elsewhere; const int table = 3;
        int main(void) { hidden = visible; step(); return hidden + elsewhere + visible + *(volatile const int *)&table; }";
    assert_eq!(written(source, "step"), ["elsewhere", "visible"]);
}
