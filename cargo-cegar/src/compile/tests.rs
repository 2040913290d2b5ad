//! Tests of what is recompiled, and of clang's messages.

use super::*;

fn unit(dir: &Path, name: &str, text: &str) -> Unit {
    let source = dir.join(name);
    std::fs::write(&source, text).unwrap();
    Unit {
        source,
        directory: dir.to_owned(),
        flags: vec!["-DN=3".into()],
    }
}

#[test]
fn bitcode_is_made_once_until_a_header_changes() {
    let Ok(compiler) = Compiler::find() else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a b.h"), "#define M 1\n").unwrap();
    let units = [
        unit(
            dir.path(),
            "a.c",
            "#include \"a b.h\"\nint f(void) { return N + M; }\n",
        ),
        unit(dir.path(), "b.c", "int g(int x) { return x / N; }\n"),
    ];
    let out = dir.path().join("out");
    let stop = AtomicBool::new(false);
    let go = || {
        let mut done = 0;
        let flags = &[Property::Overflow];
        let made = compile(&compiler, &units, flags, &out, &stop, &mut |n| done = n);
        assert_eq!(done, units.len());
        made
    };
    let first = go().unwrap();
    assert_eq!((first.bitcode.len(), first.cached), (2, 0));
    assert!(
        std::fs::read(&first.bitcode[0])
            .unwrap()
            .starts_with(b"BC\xC0\xDE")
    );
    assert_eq!(go().unwrap().cached, 2);
    std::fs::write(dir.path().join("a b.h"), "#define M 2\n").unwrap();
    assert_eq!(go().unwrap().cached, 1);
}

#[test]
fn a_header_that_appears_before_another_is_noticed() {
    let Ok(compiler) = Compiler::find() else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("late")).unwrap();
    std::fs::write(dir.path().join("late/h.h"), "#define M 1\n").unwrap();
    let text = "#include <h.h>\n#if __has_include(\"own.h\")\n#include \"own.h\"\n#endif\n\
        int f(void) { return M; }\n";
    let mut one = unit(dir.path(), "a.c", text);
    one.flags = vec!["-Iearly".to_owned(), "-Ilate".to_owned()];
    let out = dir.path().join("out");
    let stop = AtomicBool::new(false);
    let cached = || {
        let units = std::slice::from_ref(&one);
        let made = compile(&compiler, units, &[], &out, &stop, &mut |_| {});
        made.unwrap().cached
    };
    assert_eq!((cached(), cached()), (0, 1));
    std::fs::create_dir(dir.path().join("early")).unwrap();
    std::fs::write(dir.path().join("early/h.h"), "#define M 2\n").unwrap();
    assert_eq!((cached(), cached()), (0, 1));
    std::fs::write(dir.path().join("own.h"), "#undef M\n#define M 3\n").unwrap();
    assert_eq!((cached(), cached()), (0, 1));
}

#[test]
fn the_code_does_not_see_the_sanitizers_that_insert_its_checks() {
    let Ok(compiler) = Compiler::find() else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let text = "#if __has_feature(undefined_behavior_sanitizer)\nint sanitized;\n#else\n\
        int plain;\n#endif\nint f(int x) { return x + x; }\n";
    let units = [unit(dir.path(), "a.c", text)];
    let out = dir.path().join("out");
    let stop = AtomicBool::new(false);
    let go = || {
        let flags = &[Property::Overflow];
        compile(&compiler, &units, flags, &out, &stop, &mut |_| {}).unwrap()
    };
    let symbols = cegar_model::program::normalise::symbols(&go().bitcode[0]).unwrap();
    assert!(symbols.defines.contains("plain"), "{symbols:?}");
    assert_eq!(go().cached, 1);
}

#[test]
fn every_rejected_file_is_named() {
    let Ok(compiler) = Compiler::find() else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let units = [
        unit(dir.path(), "a.c", "int f( {\n"),
        unit(dir.path(), "b.c", "goto;\n"),
    ];
    let stop = AtomicBool::new(false);
    let out = dir.path().join("out");
    match compile(&compiler, &units, &[], &out, &stop, &mut |_| {}) {
        Err(CompileError::Rejected { files, output }) => {
            assert_eq!(files.len(), 2);
            assert!(
                output.contains("a.c:1:") && output.contains("b.c:1:"),
                "{output}"
            );
        }
        other => panic!("{other:?}"),
    }
}
