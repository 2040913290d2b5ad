//! Leaves out programs among a library's files.
//!
//! `make check` compiles a library's tests with the same compiler into the same log. Each test
//! defines `main`, which a program can have only once, so such files are left out and reported. The
//! preprocessor decides whether a file defines `main`: the definition may be in a header that the
//! tests share, or in a part that this build excludes.

use std::process::Command;

use regex::Regex;

use super::{Captured, LeftOut, Unit};

/// Leaves out the files that define `main`.
pub(super) fn leave_out(captured: &mut Captured, compiler: &str) {
    // The pattern is a constant that a test covers.
    let Ok(definition) = Regex::new(DEFINITION) else {
        return;
    };
    let (programs, library): (Vec<Unit>, Vec<Unit>) = captured
        .units
        .drain(..)
        .partition(|unit| is_suspect(unit) && defines_main(unit, compiler, &definition));
    captured.units = library;
    let left = programs.into_iter().map(|unit| LeftOut {
        file: unit.file,
        why: "defines main: a program of its own".to_owned(),
    });
    captured.left_out.extend(left);
}

/// Matches `int main(void) {`, on one line or several.
const DEFINITION: &str = r"(?m)(?:^|[\s;}])main\s*\([^;{}()]*(?:\([^;{}()]*\)[^;{}()]*)*\)\s*\{";

/// Whether a file is worth preprocessing: most files of a library do not mention `main` and are not
/// in a folder of tests.
fn is_suspect(unit: &Unit) -> bool {
    let folder = |part: &std::ffi::OsStr| {
        let part = part.to_string_lossy().to_lowercase();
        ["test", "example", "bench", "program", "tool"]
            .iter()
            .any(|word| part.contains(word))
    };
    let parent = unit.file.parent();
    let text = || std::fs::read(&unit.file).unwrap_or_default();
    parent.is_some_and(|path| path.iter().rev().take(3).any(folder))
        || text()
            .windows(5)
            .any(|word| word == b"main(" || word == b"main ")
}

fn defines_main(unit: &Unit, compiler: &str, definition: &Regex) -> bool {
    let output = Command::new(compiler)
        .current_dir(&unit.directory)
        .args(["-E", "-P", "-w"])
        .args(&unit.args)
        .arg(&unit.file)
        .output();
    // A file that cannot be preprocessed is reported when it is compiled.
    output.is_ok_and(|output| definition.is_match(&String::from_utf8_lossy(&output.stdout)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn programs_are_left_out_and_what_only_speaks_of_main_stays() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            Unit {
                file: path,
                args: vec!["-DOTHER".to_owned()],
                directory: dir.path().to_owned(),
            }
        };
        write(
            "tests/shared.h",
            "int x(void);\nint main(int argc,\n         char **argv)\n{ return x(); }\n",
        );
        let mut captured = Captured {
            units: vec![
                write(
                    "lib.c",
                    "/* main(void) { */\n#ifdef SELFTEST\nint main(void) { return 0; }\n#endif\n\
                     int f(void);\n",
                ),
                write(
                    "call.c",
                    "int main(int);\nint domain(int x) { return x; }\n\
                     int g(void) { return main(1); }\n",
                ),
                write(
                    "tests/one.c",
                    "#include \"shared.h\"\nint x(void) { return 0; }\n",
                ),
                write("tests/helper.c", "int helper(void) { return 0; }\n"),
            ],
            ..Captured::default()
        };
        leave_out(&mut captured, "cc");
        let names: Vec<_> = captured
            .units
            .iter()
            .filter_map(|unit| unit.file.file_name())
            .collect();
        assert_eq!(names, ["lib.c", "call.c", "helper.c"]);
        assert!(captured.left_out[0].file.ends_with("tests/one.c"));
    }
}
