//! Runs programs compiled by gcc with given inputs, and checks them with Frama-C.

use std::fmt::Write as _;
use std::process::{Command, Output};

use cegar_tests::Project;

use super::annotate::FAILS;

/// The exit code of our error function.
const REACHED: i32 = 77;
/// The number of input sequences that are tried.
const RUNS: u32 = 200;
/// The exit code of a program that reads more values than there are.
const ASKED: i32 = 78;

/// Definitions of the functions that a program only declares; each returns the next value of
/// `next`.
fn answering(text: &str, next: &str) -> String {
    let mut driver =
        format!("#include <stdlib.h>\nvoid reach_error(void) {{ exit({REACHED}); }}\n{next}\n");
    for line in text.lines().filter(|line| line.ends_with(");")) {
        let declaration = line.trim_start_matches("extern ").trim_end_matches(';');
        let is_declaration = !line.starts_with(' ') && !line.contains("reach_error");
        if is_declaration && let Some((head, _)) = declaration.split_once('(') {
            let ty = head.rsplit_once(' ').map_or("int", |(ty, _)| ty);
            let _ = writeln!(driver, "{declaration} {{ return ({ty})next(); }}");
        }
    }
    driver
}

fn run(project: &Project, file: &str, driver: &str) -> Output {
    project.write("driver.c", driver);
    let built = Command::new("gcc")
        .args([
            "-g",
            "-w",
            "-fsanitize=address,undefined",
            "-fno-sanitize-recover=all",
        ])
        .args(["-o", "native", file, "driver.c"])
        .current_dir(project.path())
        .output()
        .expect("gcc runs");
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    Command::new(project.at("native"))
        .output()
        .expect("it runs")
}

fn with_values(text: &str, values: &[i128]) -> String {
    let list: Vec<String> = values.iter().map(|v| format!("{v}LL")).collect();
    let next = format!(
        "static long long values[] = {{ {} 0 }};\nstatic int at;\n\
         static long long next(void) {{ if (at == {}) exit({ASKED}); return values[at++]; }}",
        list.iter().map(|v| format!("{v}, ")).collect::<String>(),
        values.len()
    );
    answering(text, &next)
}

/// Asserts that the program reaches the fault in this line with these values.
pub fn reaches(project: &Project, file: &str, text: &str, values: &[i128], line: u32) {
    let ran = run(project, file, &with_values(text, values));
    let said = String::from_utf8_lossy(&ran.stderr);
    let is_reached = ran.status.code() == Some(REACHED);
    let is_fault = said.contains(&format!("{file}:{line}:"));
    assert!(is_reached || is_fault, "{:?}: {said}", ran.status);
}

/// Asserts that the program reads more values than these, and reaches no fault before.
pub fn misses(project: &Project, file: &str, text: &str, values: &[i128]) {
    let ran = run(project, file, &with_values(text, values));
    assert_eq!(ran.status.code(), Some(ASKED), "{ran:?}");
}

/// Asserts that no run with many random input sequences reaches the error function.
pub fn never_fails(project: &Project, file: &str, text: &str) {
    let next = format!(
        "#include <sys/wait.h>\n#include <unistd.h>\nstatic unsigned long state;\n\
         static long next(void) {{\n\
             state = state * 6364136223846793005UL + 1442695040888963407UL;\n\
             unsigned long word = state >> 33;\n\
             return word % 3 == 0 ? (long)(word >> 8) - 4194304 : (long)(word >> 8) % 41 - 20;\n\
         }}\n\
         int program(void);\n\
         int main(void) {{\n\
             for (int run = 0; run < {RUNS}; run++) {{\n\
                 int status = 0;\n\
                 pid_t child = fork();\n\
                 if (child == 0) {{ state = run; program(); _exit(0); }}\n\
                 if (child < 0 || waitpid(child, &status, 0) != child || status != 0) return 1;\n\
             }}\n\
             return 0;\n\
         }}"
    );
    let renamed = format!("renamed_{file}");
    project.write(
        &renamed,
        &text.replace("int main(void)", "int program(void)"),
    );
    let ran = run(project, &renamed, &answering(text, &next));
    assert!(ran.status.success(), "{ran:?}\n{text}");
}

/// Asserts that Frama-C's Eva refutes no assertion; prints a note if it is not installed.
pub fn eva_refutes_nothing(project: &Project, file: &str, text: &str, invariants: usize) {
    let Ok(version) = Command::new("frama-c").arg("-version").output() else {
        eprintln!("skipped: frama-c is not installed (apt-get install frama-c-base)");
        return;
    };
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    // Eva judges annotations, so the body of each assertion function becomes one.
    let judged = text.replace(FAILS, "/*@ assert fact != 0; */");
    let name = format!("eva_{file}");
    project.write(&name, &judged);
    let ran = Command::new("frama-c")
        .args(["-machdep", "gcc_x86_64", "-eva", "-eva-precision", "6"])
        // An absolute path, because Frama-C uses `$PWD` instead of its working directory.
        .arg(project.at(&name))
        .current_dir(project.path())
        .output()
        .expect("frama-c runs");
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{said}");
    // `Assertions        3 valid     1 unknown     0 invalid      4 total`
    let mut lines = said.lines().map(str::trim_start);
    let line = lines.find_map(|line| line.strip_prefix("Assertions"));
    let line = line.unwrap_or_else(|| panic!("{said}"));
    let numbers: Vec<usize> = line
        .split_whitespace()
        .filter_map(|n| n.parse().ok())
        .collect();
    let [valid, unknown, invalid, _] = numbers[..] else {
        panic!("{said}");
    };
    assert_eq!(invalid, 0, "{said}");
    // All code is reached, so that each assertion was judged.
    assert_eq!(valid + unknown, invariants, "{said}");
    assert!(valid > 0, "{said}");
    eprintln!(
        "Frama-C {}: {file}: {valid} of {invariants} proved",
        version.trim()
    );
}
