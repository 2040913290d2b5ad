//! `cargo xtask trusted`: counts the code that must be correct for "proved" to be correct.
//!
//! A proof rests on the checker and on the part of the model that the checker uses: reading
//! bitcode, terms, the encoding of a step as terms, and asking the solver. Cargo's dependencies
//! exclude the search (`cegar-checker` does not depend on it). Inside the model, and inside the
//! crate that calls LLVM, every file is in one of the lists below, so that each new file must be
//! classified, and code that is counted must not name code that is not. Lines of code are counted,
//! without blank lines, comments and tests. LLVM's reader of bitcode, Z3 and the compiler are
//! trusted too.

use std::fs;
use std::path::Path;

use crate::error::{Error, Result};
use crate::places::{Places, files_below};

/// What is counted: a description, and the paths.
const TRUSTED: [(&str, &[&str]); 9] = [
    ("the checker", &["checker/src"]),
    (
        "reading bitcode",
        &[
            "llvm/src/lib.rs",
            "llvm/src/metadata.rs",
            "llvm/src/module.rs",
            "llvm/src/raw.rs",
            "llvm/src/types.rs",
            "llvm/src/value.rs",
            "llvm/src/value/attributes.rs",
            "llvm/src/value/constant.rs",
            "llvm/src/value/instruction.rs",
            "model/src/program/mod.rs",
            "model/src/program/convention.rs",
            "model/src/program/ir.rs",
            "model/src/program/ir",
            "model/src/program/load.rs",
            "model/src/program/load/accesses.rs",
            "model/src/program/load/assembly.rs",
            "model/src/program/load/body.rs",
            "model/src/program/load/calls.rs",
            "model/src/program/load/constants.rs",
            "model/src/program/load/instructions.rs",
            "model/src/program/load/intrinsics.rs",
            "model/src/program/load/lanes.rs",
            "model/src/program/load/memory.rs",
            "model/src/program/load/names.rs",
            "model/src/program/load/numbering.rs",
            "model/src/program/load/processor.rs",
            "model/src/program/load/simd.rs",
            "model/src/program/load/types.rs",
            "model/src/program/load/vectors.rs",
            "model/src/program/sanity.rs",
        ],
    ),
    (
        "terms",
        &[
            "model/src/lib.rs",
            "model/src/deadline.rs",
            "model/src/operator.rs",
            "model/src/term/mod.rs",
            "model/src/term/node.rs",
            "model/src/term/order.rs",
            "model/src/term/pool.rs",
            "model/src/term/rewrite.rs",
            "model/src/term/sides.rs",
            "model/src/term/symbols.rs",
            "model/src/term/text.rs",
            "model/src/term/value.rs",
            "model/src/term/fault.rs",
        ],
    ),
    (
        "rewriting terms, each rule proved by Z3 in a test",
        &[
            "model/src/term/arith.rs",
            "model/src/term/array.rs",
            "model/src/term/bits.rs",
            "model/src/term/compare.rs",
            "model/src/term/divide.rs",
            "model/src/term/float.rs",
            "model/src/term/floats.rs",
        ],
    ),
    (
        "how wide the world is",
        &[
            "model/src/assumption.rs",
            "model/src/program/outside.rs",
            "model/src/program/stack.rs",
            "model/src/program/outside",
        ],
    ),
    ("sets of states", &["model/src/domain"]),
    ("a step as terms", &["model/src/symbolic"]),
    (
        "executing a program that asks for no input",
        &[
            "model/src/machine/access.rs",
            "model/src/machine/block.rs",
            "model/src/machine/calls.rs",
            "model/src/machine/contents.rs",
            "model/src/machine/exact.rs",
            "model/src/machine/exact",
            "model/src/machine/frame.rs",
            "model/src/machine/heap.rs",
            "model/src/machine/intrinsics.rs",
            "model/src/machine/memory.rs",
            "model/src/machine/mod.rs",
            "model/src/machine/ops.rs",
            "model/src/machine/outcome.rs",
            "model/src/machine/rare.rs",
            "model/src/machine/shadow.rs",
            "model/src/machine/step.rs",
            "model/src/machine/trace.rs",
            "model/src/machine/varargs.rs",
        ],
    ),
    (
        "asking the solver",
        &[
            "model/src/solver/mod.rs",
            "model/src/solver/translate.rs",
            "model/src/solver/floats.rs",
            "model/src/solver/timed.rs",
            "model/src/solver/z3.rs",
        ],
    ),
];

/// What is not counted: the reason, the paths, and the names by which counted code must not use it.
/// Code without such names may be used, since no answer of it can lead to a false proof.
const OTHERS: [(&str, &[&str], &[&str]); 6] = [
    (
        "what is noted of executions for reports, for the search and for tests",
        &[
            "model/src/machine/crossing",
            "model/src/machine/crossing.rs",
            "model/src/machine/report.rs",
            "model/src/machine/samples.rs",
            "model/src/machine/processor.rs",
            "model/src/machine/sizes.rs",
            "model/src/machine/tests.rs",
            "model/src/machine/watch.rs",
        ],
        &[],
    ),
    (
        "what comes before the bitcode that a certificate is about",
        &[
            "llvm/src/builder.rs",
            "llvm/src/metadata/change.rs",
            "llvm/src/module/change.rs",
            "llvm/src/passes.rs",
            "llvm/src/value/change.rs",
            "llvm/src/value/make.rs",
            "model/src/program/normalise.rs",
            "model/src/program/normalise",
        ],
        &["program::normalise", "super::normalise", "run_passes"],
    ),
    (
        "words for people",
        &[
            "model/src/program/show.rs",
            "model/src/program/show",
            "model/src/program/caller_members.rs",
            "model/src/program/library_code.rs",
            "model/src/program/memory_sizes.rs",
            "model/src/program/sources.rs",
            "model/src/program/load/describe.rs",
            "model/src/program/load/scopes.rs",
            "model/src/program/load/scopes",
            "model/src/program/load/variables.rs",
            "model/src/term/show.rs",
        ],
        &[],
    ),
    (
        "answers that the checker asks about before it uses them",
        &["model/src/symbolic/update.rs"],
        &[],
    ),
    (
        "other solvers, and questions as text for them",
        &[
            "model/src/solver/ask.rs",
            "model/src/solver/external.rs",
            "model/src/solver/smtlib",
        ],
        &[],
    ),
    (
        "evaluation, for the search and for tests",
        &["model/src/term/eval.rs", "model/src/term/random.rs"],
        &[],
    ),
];

/// The document that states the number.
const DOCUMENT: &str = "docs/architecture.md";

/// Runs the command `cargo xtask trusted`.
pub(crate) fn trusted(places: &Places) -> Result<()> {
    let engine = places.root.join("engine");
    let mut files = Vec::new();
    for folder in ["checker/src", "llvm/src", "model/src"] {
        files.extend(files_below(&engine.join(folder), &["rs"])?);
    }
    let mut total = 0;
    let mut unlisted: Vec<String> = Vec::new();
    let mut sums = [0; TRUSTED.len()];
    for file in &files {
        let name = file.strip_prefix(&engine).unwrap_or(file);
        let name = name.to_string_lossy().replace('\\', "/");
        if name.ends_with("/tests.rs") || name.contains("/tests/") {
            continue;
        }
        let text = fs::read_to_string(file).map_err(Error::file("read", file.clone()))?;
        let is_other = OTHERS.iter().any(|(_, paths, _)| lies_in(&name, paths));
        let room = TRUSTED.iter().position(|(_, paths)| lies_in(&name, paths));
        match room {
            _ if is_other => {}
            Some(room) => {
                forbidden(&name, &text)?;
                sums[room] += lines(&text);
            }
            None => unlisted.push(name),
        }
    }
    for ((what, _), sum) in TRUSTED.iter().zip(sums) {
        println!("{sum:>7}  {what}");
        total += sum;
    }
    println!("{total:>7}  lines of code that a proof rests on");
    if !unlisted.is_empty() {
        return Err(Error::Trusted(format!(
            "neither counted nor excused in xtask/src/trusted.rs: {}",
            unlisted.join(", ")
        )));
    }
    documented(&places.root.join(DOCUMENT), total)
}

/// Checks that the document states the number, in hundreds.
fn documented(document: &Path, total: usize) -> Result<()> {
    let text = fs::read_to_string(document).map_err(Error::file("read", document))?;
    // Rounded, so that the document need not change with every line.
    let figure = format!("{} hundred lines of code", total.div_ceil(100));
    match text.contains(&figure) {
        true => Ok(()),
        false => Err(Error::Trusted(format!(
            "{DOCUMENT} does not say `{figure}`; write it there"
        ))),
    }
}

fn lies_in(name: &str, paths: &[&str]) -> bool {
    paths.iter().any(|path| {
        let rest = name.strip_prefix(path);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

/// Fails if code that is not counted is named.
fn forbidden(name: &str, text: &str) -> Result<()> {
    let code: Vec<&str> = code(text).collect();
    for (what, _, words) in OTHERS {
        let named = words
            .iter()
            .find(|word| code.iter().any(|line| line.contains(*word)));
        if let Some(word) = named {
            return Err(Error::Trusted(format!(
                "{name} uses `{word}`, which is not counted: {what}"
            )));
        }
    }
    Ok(())
}

/// The lines of code, without tests at the end of the file.
fn code(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().map(str::trim);
    let before = lines.take_while(|line| *line != "#[cfg(test)]" || !text.contains("mod tests {"));
    before.filter(|line| !line.is_empty() && !line.starts_with("//"))
}

fn lines(text: &str) -> usize {
    code(text).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_blank_lines_and_tests_are_no_code() {
        let text = "//! About.\n\nfn one() {}\n// why\nfn two() {}\n#[cfg(test)]\nmod tests {\n    \
            fn three() {}\n}\n";
        assert_eq!(lines(text), 2);
        assert_eq!(lines("#[cfg(test)]\nmod tests;\nfn one() {}\n"), 3);
    }

    #[test]
    fn a_room_is_a_file_or_a_folder() {
        assert!(lies_in("model/src/term/node.rs", &["model/src/term"]));
        assert!(!lies_in("model/src/terms.rs", &["model/src/term"]));
    }

    #[test]
    fn what_is_not_counted_is_not_used() {
        for name in OTHERS.iter().flat_map(|(_, _, names)| *names) {
            assert!(forbidden("x.rs", &format!("use crate::{name};\n")).is_err());
            assert!(forbidden("x.rs", &format!("// {name}\n")).is_ok());
        }
    }
}
