//! Functions of the C library whose arguments AddressSanitizer does not check: faults within them
//! are found, and the generated test fails.

use cegar_tests::{Project, Tool, cargo_test, exit};

/// The function's name, the size of the block `p` that is allocated before the call, and the call.
const CALLS: [(&str, &str, &str); 12] = [
    ("strtoul", "2", "strtoul(p, NULL, 10)"),
    ("strtoull", "2", "strtoull(p, NULL, 10)"),
    ("strtod", "2", "strtod(p, NULL)"),
    ("atof", "2", "atof(p)"),
    ("strsep", "2", "strsep(&p, \",\")"),
    ("memccpy", "4", "memccpy(p, \"abcdefgh\", 'z', 9)"),
    ("stpcpy", "4", "stpcpy(p, \"abcd\")"),
    ("stpncpy", "4", "stpncpy(p, \"ab\", 9)"),
    ("swab", "4", "swab(\"abcdef\", p, 6)"),
    ("wcscpy", "12", "wcscpy((wchar_t *)p, L\"123456\")"),
    ("wcscmp", "4", "wcscmp((wchar_t *)p, L\"1111\")"),
    ("wmemset", "12", "wmemset((wchar_t *)p, L'x', 4)"),
];

fn program(size: &str, call: &str) -> String {
    format!(
        "#define _GNU_SOURCE\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n\
         #include <wchar.h>\nint __VERIFIER_nondet_int(void);\nint main(void)\n{{\n    char *p = \
         malloc({size});\n    if (!p)\n        return 1;\n    for (int i = 0; i < {size}; \
         i++)\n        p[i] = i % 4 ? 0 : '1';\n    p[1] = {size} == 2 ? '2' : 0;\n    if \
         (__VERIFIER_nondet_int() == 77)\n        (void)({call});\n    return 0;\n}}\n"
    )
}

#[test]
fn faults_within_them_are_found() {
    let project = Project::empty();
    for (name, size, call) in CALLS {
        project.write("a.c", &program(size, call));
        Tool::new(
            project.path(),
            "check a.c --no-emit --max-time 20s".split(' '),
        )
        .run()
        .expect(exit::VIOLATION)
        .expect_message(&format!("in `{name}`"));
    }
}

#[test]
fn a_test_fails_that_reads_past_a_number() {
    let project = Project::package(
        "#include <stdlib.h>\nint demo(const unsigned char *data, size_t size)\n{\n    return size \
         > 2 && data[0] == ':' ? (int)strtoul((const char *)data + 1, NULL, 10) : 0;\n}\n",
    );
    Tool::new(project.path(), "run --max-time 20s".split(' '))
        .run()
        .expect(exit::VIOLATION)
        .expect_message("in `strtoul`");
    let tests = cargo_test(&project.at("cegar"), &[]);
    let said = tests.to_string();
    assert!(said.contains("heap-buffer-overflow"), "{said}");
    assert!(said.contains("0 passed; 1 failed"), "{said}");
}
