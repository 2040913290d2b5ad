//! Small programs, compiled with each installed compiler, redirected with objcopy and linked with
//! the runtimes, behave as the tape or the mock environment says.
#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

mod common;

use std::process::Command;

use cegar_stubs::{Entry, Role};
use common::{build, compilers, run, run_mock};

/// Runs `program` with the mock runtime under every compiler. Returns the exit status and the
/// report, which must be the same for all.
fn mock(program: &str, entry: (&str, Entry), queues: &[(&str, &[u8])]) -> (i32, String) {
    let mut results = compilers().into_iter().map(|compiler| {
        let folder = tempfile::tempdir().unwrap();
        let program = build(
            folder.path(),
            compiler,
            program,
            entry,
            Role::RuntimeMock,
            &[],
        );
        let output = run_mock(&program, queues);
        let code = output.status.code();
        let report = String::from_utf8_lossy(&output.stdout).into_owned();
        (
            code.unwrap_or(-1),
            report.replace(&*folder.path().to_string_lossy(), ""),
        )
    });
    let first = results.next().unwrap();
    for other in results {
        assert_eq!(first, other);
    }
    first
}

fn mock_main(program: &str, queues: &[(&str, &[u8])]) -> (i32, String) {
    mock(program, ("main", Entry::Main), queues)
}

/// Runs `program` on tapes and returns one line of results per tape.
fn tapes(program: &str, entry: (&str, Entry), tapes: &[&[u8]]) -> Vec<String> {
    let mut first: Option<Vec<String>> = None;
    for compiler in compilers() {
        let folder = tempfile::tempdir().unwrap();
        let program = build(
            folder.path(),
            compiler,
            program,
            entry,
            Role::RuntimeTape,
            &[],
        );
        let mut command = Command::new("timeout");
        command.arg("60").arg(&program);
        for (i, tape) in tapes.iter().enumerate() {
            let path = folder.path().join(format!("tape{i}"));
            std::fs::write(&path, tape).unwrap();
            command.arg(path);
        }
        let lines: Vec<String> = run(&mut command).lines().map(str::to_owned).collect();
        if let Some(first) = &first {
            assert_eq!(first, &lines, "{compiler} differs");
        }
        first = Some(lines);
    }
    first.unwrap()
}

const FIGURE_3: &str = r#"
#include <assert.h>
#include <stdio.h>
int main() {
    char buffer[100];
    unsigned i = 0;
    int ch = getchar();
    while (ch != EOF) {
        assert(i < 100);
        buffer[i] = ch;
        i++;
        ch = getchar();
    }
    return i;
}
"#;

#[test]
fn figure_3_is_violated_by_101_characters_only() {
    let good = [b'a'; 100];
    let bad = [b'a'; 101];
    let (code, report) = mock_main(FIGURE_3, &[("stdin", &bad)]);
    assert_eq!(code, 70);
    assert!(
        report.contains(r#""outcome":"violated","status":0,"kind":"assertion","what":"i < 100""#),
        "{report}"
    );
    assert!(report.contains(r#""line":9,"#), "{report}");
    let (code, report) = mock_main(FIGURE_3, &[("stdin", &good)]);
    assert_eq!(code, 0);
    assert!(
        report.contains(r#""outcome":"exited","status":100"#),
        "{report}"
    );
    let lines = tapes(
        FIGURE_3,
        ("main", Entry::Main),
        &[
            &[&[0], &bad[..]].concat(),
            &[&[0], &good[..]].concat(),
            b"\0ab\xff\xff\xff\x00zz",
        ],
    );
    assert!(
        lines[0].starts_with("3 0 0 9 102 0 [i < 100] argc=00 stdin=61 "),
        "{}",
        lines[0]
    );
    assert!(lines[1].starts_with("1 100 0 0 101 0 "), "{}", lines[1]);
    // Two letters, the character 0xFF and the end; the rest of the tape is not read.
    assert_eq!(
        lines[2],
        "1 3 0 0 7 0 [] argc=00 stdin=61 stdin=62 stdin=ff stdin=ff stdin=ff stdin=00"
    );
}

#[test]
fn input_functions_take_what_c_says() {
    let program = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main() {
    char line[8], word[5], *grown = NULL;
    size_t room = 0;
    int a, n = 0;
    unsigned x;
    double d;
    if (!fgets(line, sizeof line, stdin)) return 1;
    printf("<%s>", line);
    printf("%ld ", (long)getline(&grown, &room, stdin));
    printf("<%s>", grown);
    free(grown);
    printf("%d ", scanf("%d %x,%lf %4s%n", &a, &x, &d, word, &n));
    printf("%d %x %.3f %s %d ", a, x, d, word, n);
    int c = getchar();
    ungetc(c, stdin);
    printf("%c", c);
    printf("%c", fgetc(stdin));
    char rest[4] = "";
    n = fread(rest, 1, 3, stdin);
    printf(" %d %s", n, rest);
    c = getchar();
    printf(" %d %d %d", c, feof(stdin) != 0, ferror(stdin));
    fputs("\n", stderr);
    return 0;
}
"#;
    let (code, report) = mock_main(program, &[("stdin", b"0123456789\n-12 ff,2.5e1 abcdefgh")]);
    assert_eq!(code, 0, "{report}");
    let text = output_of(&report);
    assert_eq!(
        text,
        "<0123456>4 <789\\u000a>4 -12 ff 25.000 abcd 17 ee 3 fgh -1 1 0\\u000a"
    );
    assert!(report.contains(r#""leaked":0"#), "{report}");
}

/// The pieces of the transcript, joined.
fn output_of(report: &str) -> String {
    let (_, output) = report.split_once(r#""output":["#).unwrap();
    output
        .split("],[")
        .map(|piece| {
            let start = piece.find('"').unwrap() + 1;
            &piece[start..piece.rfind('"').unwrap()]
        })
        .collect()
}

#[test]
fn files_keep_what_was_read_and_written() {
    let program = r#"
#include <stdio.h>
#include <sys/stat.h>
int main() {
    FILE *f = fopen("config", "r"), *g;
    char a[16] = "", b[16] = "";
    struct stat s;
    if (!f) return 1;
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    rewind(f);
    fread(a, 1, 3, f);
    fclose(f);
    f = fopen("config", "r");
    fgets(b, sizeof b, f);
    fclose(f);
    g = fopen("out", "w+");
    fprintf(g, "%s-%ld", a, size);
    rewind(g);
    fgets(a, sizeof a, g);
    fclose(g);
    stat("out", &s);
    int renamed = rename("out", "config");
    printf("%s %s %ld %d", a, b, (long)s.st_size, renamed);
    f = fopen("config", "r");
    printf(" %c", fgetc(f));
    printf(" %d", fopen("out", "r") == NULL);
    fclose(f);
    printf(" %d", remove("config"));
    printf(" %d", remove("config"));
    return 0;
}
"#;
    let (code, report) = mock_main(program, &[("file:config", b"\x01hello")]);
    assert_eq!(code, 0, "{report}");
    assert_eq!(output_of(&report), "hel-5hel-5 hello 5 0 h 1 0 -1");
    assert!(report.contains(r#""leaked":0"#), "{report}");
    assert_eq!(mock_main(program, &[]).0, 0);
}

#[test]
fn environment_time_and_arguments_are_choices() {
    let program = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
int main(int argc, char **argv) {
    char *home = getenv("HOME"), text[64];
    time_t t = time(NULL);
    printf("%d %s %d %s ", argc, argc > 1 ? argv[1] : "", home == getenv("HOME"), home);
    printf("%d ", getenv("NONE") == NULL);
    setenv("HOME", "new", 1);
    printf("%s ", getenv("HOME"));
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %a %j", gmtime(&t));
    printf("%s %d", text, rand());
    exit(7);
}
"#;
    let queues: &[(&str, &[u8])] = &[
        ("argc", b"\x01"),
        ("argv:1", b"-v\0"),
        ("env:HOME", b"\x01/root\0"),
        ("time", &1_700_000_000u32.to_le_bytes()),
        ("rand", &[5, 0, 0, 0x80]),
    ];
    let (code, report) = mock_main(program, queues);
    assert_eq!(code, 0);
    assert!(report.contains(r#""status":7"#), "{report}");
    assert_eq!(
        output_of(&report),
        "2 -v 1 /root 1 new 2023-11-14 22:13:20 Tue 318 5"
    );
    assert!(report.contains(r#""leaked":0"#), "{report}");
}

/// Large blocks are mapped and not filled: whatever a previous run, or a previous owner, wrote to
/// one is gone.
#[test]
fn a_large_block_is_fresh_each_time() {
    let program = r#"
#include <crunner.h>
#include <stdlib.h>
#include <string.h>
static int all(const unsigned char *block, size_t size, int byte) {
    for (size_t i = 0; i < size; i++)
        if (block[i] != byte) return 0;
    return 1;
}
int harness(void) {
    size_t sizes[] = {300000, 262144, 5000000, 70000};
    for (int i = 0; i < 4; i++) {
        size_t size = sizes[i];
        unsigned char *fresh = malloc(size), *zero = calloc(1, size), *again;
        if (!all(fresh, size, 0xAA)) return 10;
        if (!all(zero, size, 0)) return 11;
        memset(fresh, 1, size), memset(zero, 2, size);
        if (!all(fresh, size, 1) || !all(zero, size, 2)) return 12;
        free(zero);
        again = malloc(size);
        if (!all(again, size, 0xAA) || !all(fresh, size, 1)) return 13;
        free(fresh);
        if (!all(calloc(size, 1), size, 0)) return 14;
        fresh = realloc(again, size * 2);
        if (!all(fresh, size * 2, 0xAA)) return 15;
        if (crunner_get_byte() == 1) free(fresh + 4096);
        if (i == 2) memset(fresh, 3, size); /* stays: the next run finds nothing of it */
    }
    return 1;
}
"#;
    let list: [&[u8]; 4] = [&[0, 0, 0, 0], &[0, 0, 0, 0], &[1], &[0, 0, 0, 0]];
    let lines = tapes(program, ("harness", Entry::Function), &list);
    let begins = ["1 1 ", "1 1 ", "3 0 4 ", "1 1 "];
    for (i, (line, begin)) in lines.iter().zip(begins).enumerate() {
        assert!(line.starts_with(begin), "tape {i}: {line}");
    }
}

#[test]
fn ways_to_end() {
    let program = r#"
#include <crunner.h>
#include <stdlib.h>
#include <string.h>
void reach_error(void);
void __VERIFIER_assume(int);
int __VERIFIER_nondet_int(void);
int harness(void) {
    char *block = malloc(10), *volatile twice = block;
    switch (crunner_get_byte()) {
    case 0: return 5;
    case 1: abort();
    case 2: reach_error();
    case 3: crunner_fail("no");
    case 4: crunner_assume(0);
    case 5: free(block); free(twice);
    case 6: free(strdup("x")); free(block + 1);
    case 7: *(volatile int *)8 = 1;
    case 8: crunner_check(__VERIFIER_nondet_int() == -2);
    case 9: for (;;) if (!(block = malloc(1 << 26))) exit(3); else block[0] = 1;
    case 10: return crunner_range(-3, 300) + 10;
    case 11: return malloc((1u << 26) + 1) == 0 && (unsigned char)block[3] == 0xAA;
    }
    return 0;
}
"#;
    let list: Vec<Vec<u8>> = vec![
        vec![0],
        vec![1],
        vec![2],
        vec![3],
        vec![4],
        vec![5],
        vec![6],
        vec![7],
        vec![8, 0xfe, 0xff, 0xff, 0xff],
        vec![8],
        vec![9],
        vec![10, 4, 1],
        vec![11],
    ];
    let list: Vec<&[u8]> = list.iter().map(Vec::as_slice).collect();
    let lines = tapes(program, ("harness", Entry::Function), &list);
    let begins = [
        "1 5 ",
        "3 0 1 0 1 10 [abort]",
        "3 0 2 0 1 10 [reach_error]",
        "3 0 3 14 1 10 [no]",
        "2 0 ",
        "3 0 4 0 1 0 [double free]",
        "3 0 4 0 1 10 [free of what is no live heap block]",
        "4 11 ",
        "2 0 ",
        "3 0 3 19 1 10 [__VERIFIER_nondet_int() == -2]",
        "6 0 ",
        "1 267 ",
        "1 1 ",
    ];
    // Case 8 with -2 falls through to case 9, which runs out of memory.
    for (i, (line, begin)) in lines.iter().zip(begins).enumerate() {
        let begin = if i == 8 { "6 0 " } else { begin };
        assert!(line.starts_with(begin), "tape {i}: {line}");
    }
}

#[test]
fn fuzzer_entry_gets_exactly_the_data_and_own_definitions_win() {
    let program = r#"
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
int getline(char *text) { return text[0]; }
int rand(void) { return 4; }
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char first[2] = "x";
    printf("%zu %d %d", size, getline(first), rand());
    return size ? data[size - 1] : 0;
}
"#;
    // This program's getline would clash with the declaration in <stdio.h>.
    let program = program.replace("#include <stdio.h>", "int printf(const char *, ...);");
    let entry = ("LLVMFuzzerTestOneInput", Entry::Fuzzer);
    let lines = tapes(&program, entry, &[b"abc", b""]);
    assert_eq!(
        lines,
        [
            "1 99 0 0 3 0 [] data=616263 | 3 120 4",
            "1 0 0 0 0 0 [] | 0 120 4"
        ]
    );
    let (code, report) = mock(&program, entry, &[("data", b"abc"), ("other", b"zz")]);
    assert_eq!(code, 0);
    assert!(
        report.contains(r#""status":99"#) && report.contains(r#""unread":{"other":2}"#),
        "{report}"
    );
}

#[test]
fn pointers_from_outside_may_be_met_again() {
    let program = r#"
#include <crunner.h>
int harness(void) {
    int *a = crunner_mock_pointer("get", 4, 0), *b = crunner_mock_pointer("get", 4, 0);
    char *c = crunner_mock_pointer("raw", 0, 1);
    return (a ? *a : 0) * 10 + (a == b) * 2 + (c == (char *)0x1122);
}
"#;
    let tape: &[u8] = &[1, 7, 0, 0, 0, 2, 2, 0x22, 0x11, 0, 0, 0, 0, 0, 0];
    let lines = tapes(program, ("harness", Entry::Function), &[tape, &[0, 2, 5]]);
    assert!(lines[0].starts_with("1 73 "), "{}", lines[0]);
    assert!(lines[1].starts_with("1 0 "), "{}", lines[1]);
}

#[test]
fn a_broken_mock_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let program = build(
        folder.path(),
        compilers()[0],
        FIGURE_3,
        ("main", Entry::Main),
        Role::RuntimeMock,
        &[],
    );
    for bytes in [
        &b"CEGMOCK2"[..],
        b"CEG",
        b"CEGMOCK1\x05\0\0\0std",
        b"CEGMOCK1\x01\0\0\0s\xff\0\0\0\0\0\0\0",
    ] {
        let path = folder.path().join("broken");
        std::fs::write(&path, bytes).unwrap();
        let output = Command::new(&program)
            .env("CEGAR_MOCK", &path)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(72));
        assert!(!output.stderr.is_empty());
    }
}
