use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use cegar_llvm::Module;

use super::*;

const A: &str = r#"
static int count;
static int helper(int n) { static int calls; calls++; count += n; return count; }
static const char *const words[] = {"one", "two"};
const char *word(int n) { return words[n & 1]; }
int twice(int n) { return helper(n) + helper(n); }
#ifndef SMALL
int thrice(int n) { return twice(n) + helper(n) + word(n)[0]; }
#endif
"#;
const B: &str = r#"
static int count = 7;
static int helper(int n) { return n - count; }
int less(int n) { return helper(n) + "one"[n & 1]; }
__attribute__((weak)) int feeble(int n) { return n; }
int other(int n) __attribute__((alias("less")));
"#;
const LABELS: &str = r#"
int jump(int n)
{
    static void *const table[] = {&&one, &&two};
    goto *table[n & 1];
one: return 1;
two: return 2;
}
int hop(int n) { return jump(n) + jump(n + 1); }
void cegar_entry(void) { hop(1); }
"#;
const LARGE: &str = r#"
int thrice(int); int less(int); int other(int); int feeble(int);
static int helper(int n) { return thrice(n) + other(n); }
void cegar_entry(void) { helper(feeble(1)); }
"#;
const SMALL: &str = r#"
int twice(int); int less(int);
void cegar_entry(void) { if (less(twice(1))) { for (;;) {} } }
"#;

/// The text of a program that is linked from these files, in this order.
fn linked(files: &[(&str, &str)], flags: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let program = Module::empty("program");
    for (name, text) in files {
        let (source, bitcode) = (folder.path().join(name), folder.path().join("unit.bc"));
        fs::write(&source, text).expect("written");
        let status = Command::new("clang-19")
            .args(["-O0", "-Xclang", "-disable-O0-optnone", "-g", "-w", "-fPIC"])
            // The file's name without its folder, which differs in each test.
            .args(["-fno-discard-value-names", "-emit-llvm", "-c"])
            .args(["-fdebug-compilation-dir", "/lib"])
            .args(flags)
            .arg(name)
            .current_dir(folder.path())
            .arg("-o")
            .arg(&bitcode)
            .status()
            .expect("clang-19 is installed");
        assert!(status.success());
        let unit = program.read_beside(&bitcode).expect("bitcode");
        program.link(unit).expect("linked");
    }
    program.text()
}

fn large() -> String {
    linked(&[("large.c", LARGE), ("a.c", A), ("b.c", B)], &[])
}

fn small() -> String {
    linked(&[("b.c", B), ("a.c", A), ("small.c", SMALL)], &["-DSMALL"])
}

fn keys(text: &str, inline: bool) -> BTreeMap<String, String> {
    let division = Division::new(text, inline, !inline).expect("divided");
    let wanted = division.wanted().into_iter();
    wanted
        .map(|(name, key)| (name.to_owned(), key.to_owned()))
        .collect()
}

/// The functions that are in both programs, and whether their keys are equal.
fn common(one: &BTreeMap<String, String>, two: &BTreeMap<String, String>) -> Vec<(String, bool)> {
    let both = one.iter().filter_map(|(name, key)| {
        let other = two.get(name)?;
        Some((plain(name).to_owned(), key == other))
    });
    both.collect()
}

#[test]
fn a_function_has_one_key_in_every_program_of_its_library() {
    for inline in [false, true] {
        let (large, small) = (keys(&large(), inline), keys(&small(), inline));
        let mut both = common(&large, &small);
        both.sort();
        let equal = |name: &str| (name.to_owned(), true);
        let expected = [
            // The entry functions of the two harnesses.
            ("cegar_entry".to_owned(), false),
            equal("feeble"),
            equal("helper"),
            equal("helper"),
            equal("less"),
            equal("twice"),
            equal("word"),
        ];
        assert_eq!(both, expected);
        let helpers = large.keys().filter(|name| plain(name) == "helper").count();
        assert_eq!(helpers, 3, "each file's own");
    }
}

#[test]
fn a_change_is_a_new_key_for_those_who_may_inline_it() {
    let edited = A.replace("count += n", "count -= n");
    let files = |a: &str| linked(&[("large.c", LARGE), ("a.c", a), ("b.c", B)], &[]);
    let changed = |inline| -> Vec<String> {
        let all = common(&keys(&files(A), inline), &keys(&files(&edited), inline));
        let mut names: Vec<String> = all
            .into_iter()
            .filter_map(|(name, equal)| (!equal).then_some(name))
            .collect();
        names.sort();
        names
    };
    assert_eq!(changed(false), ["helper"]);
    assert_eq!(changed(true), ["helper", "thrice", "twice"]);
}

#[test]
fn parts_are_modules_and_hold_everything_once() {
    let texts = [large(), linked(&[("labels.c", LABELS)], &[])];
    let ways = [(false, true), (true, false)];
    for (text, (inline, debug)) in texts.iter().flat_map(|text| ways.map(|way| (text, way))) {
        let division = Division::new(text, inline, debug).expect("divided");
        let parts = division.parts(&HashSet::new());
        let mut functions: Vec<String> = Vec::new();
        let mut texts: Vec<String> = vec![division.data(&[])];
        for part in parts {
            functions.extend(part.functions.into_keys());
            texts.push(part.text);
        }
        functions.sort();
        let mut wanted: Vec<&str> = division.wanted().into_keys().collect();
        wanted.sort_unstable();
        assert_eq!(functions, wanted);
        for text in texts {
            let module = Module::parse(&text).unwrap_or_else(|why| panic!("{why}\n{text}"));
            let verified = module.verify("a part");
            verified.unwrap_or_else(|why| panic!("{why}\n{text}"));
        }
    }
}

#[test]
fn functions_that_are_there_already_are_in_no_part() {
    let text = large();
    let division = Division::new(&text, true, false).expect("divided");
    let own: HashSet<String> = division
        .wanted()
        .into_keys()
        .filter(|name| plain(name) != "twice")
        .map(str::to_owned)
        .collect();
    let parts = division.parts(&own);
    assert_eq!(parts.len(), 1);
    let names: Vec<&str> = parts[0].functions.keys().map(|name| plain(name)).collect();
    assert_eq!(names, ["twice"]);
    assert!(
        parts[0].text.contains("define available_externally hidden"),
        "a short function of the file can be inlined"
    );
}

#[test]
fn a_table_of_labels_stays_with_its_function() {
    let text = linked(&[("labels.c", LABELS)], &[]);
    let division = Division::new(&text, true, false).expect("divided");
    let made = |wanted: &str| -> HashSet<String> {
        let all = division.wanted().into_keys();
        all.filter(|name| plain(name) != wanted)
            .map(str::to_owned)
            .collect()
    };
    for (function, tables, jumps) in [("jump", 1, 1), ("hop", 0, 0)] {
        let parts = division.parts(&made(function));
        let count = |what: &str| parts[0].text.matches(what).count();
        assert_eq!(count(" = hidden constant [2 x ptr]"), tables, "{function}");
        assert_eq!(count("indirectbr"), jumps, "no copy of it: {function}");
    }
    assert!(!division.data(&[]).contains("blockaddress"));
}

#[test]
fn what_cannot_be_divided_is_refused() {
    for (line, why) in [
        ("module asm \"nop\"", "line"),
        ("@f = ifunc void (), ptr @g", "chosen when"),
        ("@t = global [1 x ptr] [ptr blockaddress(@f, %b)]", "labels"),
        (
            "@t = internal global [1 x ptr] [ptr blockaddress(@f, %b)]",
            "no function",
        ),
        ("%0 = type { i32 }", "without a name"),
        ("@a = alias i8, getelementptr (i8, ptr @x, i64 1)", "alias"),
        ("@x = addrspace(1) global i32 0", "address space"),
    ] {
        let refused = Division::new(line, false, false).map(drop).expect_err(line);
        assert!(refused.contains(why), "{refused}");
    }
}
