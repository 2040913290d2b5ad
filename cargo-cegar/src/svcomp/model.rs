//! Checks whether a program has the same meaning with 32-bit and with 64-bit `long` and pointers.
//!
//! Both are compiled without optimisation, and the results are compared. Unoptimised code shows
//! each type and each size on which the source depends: a `long`, the size of a structure that
//! contains a pointer, a pointer that is converted to a number. If the two texts differ only in
//! alignments, attributes of the target, and the type to which an index is extended before it is
//! added to a pointer, then the runs of both programs are the same, up to an access outside of an
//! object.

use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::compile::{Compiler, Unit};
use crate::error::Error;
use crate::store;

/// Compares both compilations of each file. The outer error is an error of the tool; the inner one
/// says how the models differ.
pub fn is_same(
    compiler: &Compiler,
    units: &[Unit],
    scratch: &Path,
) -> Result<Result<(), String>, Error> {
    // A platform without 32-bit libraries lacks this one header, which lists unsupported functions.
    let headers = scratch.join("model");
    store::writable_dir(&headers.join("gnu"))?;
    store::write(&headers.join("gnu/stubs-32.h"), b"")?;
    for unit in units {
        let mut both = Vec::new();
        for model in ["-m32", "-m64"] {
            match text(compiler, unit, model, &headers)? {
                Ok(text) => both.push(text),
                Err(why) => return Ok(Err(why)),
            }
        }
        let [narrow, wide] = [plain(&both[0]), plain(&both[1])];
        let lines = narrow.iter().zip(&wide);
        let differing = lines.clone().find(|(a, b)| a != b);
        let name = unit.source.display();
        if let Some((narrow, wide)) = differing {
            return Ok(Err(format!("{name}: `{narrow}` is `{wide}` with LP64")));
        }
        if narrow.len() != wide.len() {
            return Ok(Err(format!("{name}: it declares other things with LP64")));
        }
    }
    Ok(Ok(()))
}

/// The folder in which Debian keeps headers that differ between platforms. The C library's own
/// headers there support both data models.
const PLATFORM: &str = "/usr/include/x86_64-linux-gnu";

fn text(
    compiler: &Compiler,
    unit: &Unit,
    model: &str,
    headers: &Path,
) -> Result<Result<String, String>, Error> {
    let output = Command::new(&compiler.path)
        .current_dir(&unit.directory)
        .args([
            model,
            "-S",
            "-emit-llvm",
            "-O0",
            "-w",
            "-fno-color-diagnostics",
        ])
        .args(["-fno-discard-value-names", "-fwrapv"])
        .args(&unit.flags)
        .arg("-idirafter")
        .arg(headers)
        .args(["-idirafter", PLATFORM])
        .args(["-o", "-"])
        .arg(&unit.source)
        .output()
        .map_err(|why| Error::io("run", &compiler.path, why))?;
    if output.status.success() {
        return Ok(Ok(String::from_utf8_lossy(&output.stdout).into_owned()));
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let first = said.lines().find(|line| line.contains("error"));
    Ok(Err(first.unwrap_or("clang rejects it").to_owned()))
}

/// The lines that define the program's behaviour, without alignments, attributes, metadata and the
/// name of the target, and with indices as before their extension.
fn plain(text: &str) -> Vec<String> {
    let skipped = ["target ", "source_filename", "attributes ", "!", ";"];
    let mut kept = Vec::new();
    let mut widened: Vec<(String, String)> = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.is_empty() || skipped.iter().any(|start| line.starts_with(start)) {
            continue;
        }
        if line.starts_with("define ") {
            widened.clear();
        }
        if let Some(found) = WIDENED.captures(line) {
            widened.push((found[1].to_owned(), found[2].to_owned()));
            continue;
        }
        let line = ADDRESS.replace_all(line, |found: &Captures<'_>| {
            let indices = INDEX.replace_all(&found[0], |index: &Captures<'_>| {
                let value = &index[1];
                let narrow = widened.iter().rev().find(|(name, _)| name == value);
                format!("i32 {}", narrow.map_or(value, |(_, narrow)| narrow))
            });
            indices.into_owned()
        });
        kept.push(without_attributes(&line));
    }
    kept
}

/// An index that is extended to be added to a pointer, recognised by the names that clang gives to
/// such values.
static WIDENED: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^(%idx(?:prom|\.ext)\d*) = (?:sext|zext) i32 (\S+) to i64$"));
/// An addition to a pointer: the operands of an instruction or of a constant expression.
static ADDRESS: LazyLock<Regex> = LazyLock::new(|| regex(r"getelementptr[^)]*"));
/// An operand of 64 bits.
static INDEX: LazyLock<Regex> = LazyLock::new(|| regex(r"i64 ([^\s,)]+)"));

fn regex(pattern: &str) -> Regex {
    // The patterns are constants that the tests below cover.
    Regex::new(pattern).unwrap_or_else(|why| unreachable!("{pattern}: {why}"))
}

fn without_attributes(line: &str) -> String {
    // Removes alignments of operands (`, align 4`) and parameters (`align 4 %p`), attribute groups
    // (`#3`) and metadata (`, !loop !6`).
    let mut kept: Vec<&str> = Vec::new();
    let mut words = line.split_whitespace().peekable();
    while let Some(word) = words.next() {
        match word {
            "align" => {
                words.next();
            }
            _ if word.starts_with('!') => break,
            _ if word.starts_with('#') && word[1..].chars().all(|c| c.is_ascii_digit()) => {}
            _ if word.starts_with("dereferenceable") => {}
            _ => kept.push(word),
        }
    }
    kept.join(" ").trim_end_matches(',').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differ(source: &str) -> Option<String> {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("p.c");
        std::fs::write(&file, source).expect("written");
        let unit = Unit {
            source: file,
            directory: folder.path().to_owned(),
            flags: Vec::new(),
        };
        let compiler = Compiler::find().expect("clang");
        is_same(&compiler, &[unit], folder.path())
            .expect("compiles")
            .err()
    }

    #[test]
    fn what_depends_on_the_width_of_long_is_found() {
        let same = "#include <assert.h>\n\
            int f(int n, int *p) { int a[4] = {n}; assert(n > *p); return a[n & 3]; }\n\
            struct s { int a, b; } x[3]; long long y; int *at(int *p, unsigned i) { return p + i; \
            }\nint main(void) { return f(x[2].b, at(&x[1].a, 0)) + (int)y; }";
        assert_eq!(differ(same), None);
        for other in [
            "long x; int main(void) { return x > 0; }",
            "int *p; int main(void) { return sizeof p; }",
            "struct s { int a; int *p; }; int main(void) { return sizeof(struct s); }",
            "int *p; int main(void) { return (int)(unsigned long)p; }",
            "int a[4]; int main(void) { *(long *)&a[1] = 5; return a[0]; }",
            "int f(int *p, int *q) { return p - q; } int main(void) { int a; return f(&a, &a); }",
        ] {
            assert!(differ(other).is_some(), "{other}");
        }
    }
}
