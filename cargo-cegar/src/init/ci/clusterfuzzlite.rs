//! The contents of the files for ClusterFuzzLite.

use std::fmt::Write as _;
use std::path::Path;

use super::below;
use crate::options::Harness;
use crate::project::Project;

const WORKFLOW: &str = include_str!("cflite.yml");

/// The contents of the files.
pub(super) struct Files {
    pub dockerfile: String,
    pub build: String,
    pub project: String,
    pub workflow: String,
    pub left_out: Vec<String>,
}

/// The files for a project in the repository at `root`.
pub(super) fn files(project: &Project, root: &Path, harnesses: &[Harness]) -> Files {
    let mut left_out = Vec::new();
    let mut build = format!(
        "#!/bin/bash -eu\n\
         # Builds the harnesses of {} for ClusterFuzzLite. Written by `cargo cegar init --ci \
         clusterfuzzlite` from what the\n# crate's own build compiles; yours from now on.\n\n\
         source=$SRC/{1}\nwork=$(mktemp -d)\n",
        project.name,
        name_of(root, project),
    );
    let stubs = project.scratch().join("stubs");
    for harness in harnesses {
        if let Some(why) = unfit(harness) {
            let _ = writeln!(build, "\n# {}: left out, {why}", harness.name);
            left_out.push(format!("{}: {why}", harness.name));
            continue;
        }
        let _ = writeln!(build, "\n# {}", harness.name);
        let mut objects = Vec::new();
        for (number, unit) in harness.units.iter().enumerate() {
            let object = format!("\"$work/{}-{number}.o\"", harness.name);
            // The stub library's header is useless in a build without stubs.
            let flags: Vec<String> = unit
                .flags
                .iter()
                .filter(|flag| !flag.contains(stubs.to_string_lossy().as_ref()))
                .map(|flag| word(flag, root))
                .collect();
            let _ = writeln!(
                build,
                "(cd {} && $CC $CFLAGS {} -c {} -o {object})",
                word(&unit.directory.to_string_lossy(), root),
                flags.join(" "),
                word(&unit.source.to_string_lossy(), root),
            );
            objects.push(object);
        }
        let corpus = project.cegar.join("corpus").join(&harness.name);
        let corpus = word(&corpus.to_string_lossy(), root);
        let _ = writeln!(
            build,
            "$CXX $CXXFLAGS {} -o \"$OUT/{1}\" $LIB_FUZZING_ENGINE\n\
             if [ -d {corpus} ]; then\n    zip -q -j -r \"$OUT/{1}_seed_corpus.zip\" {corpus}\nfi",
            objects.join(" "),
            harness.name,
        );
    }
    Files {
        dockerfile: format!(
            "FROM gcr.io/oss-fuzz-base/base-builder:v1\n\
             RUN apt-get update && apt-get install -y --no-install-recommends make cmake zip\n\
             COPY . $SRC/{0}\n\
             WORKDIR $SRC/{0}\n\
             COPY ./.clusterfuzzlite/build.sh $SRC/\n",
            name_of(root, project)
        ),
        build,
        project: "language: c\n".to_owned(),
        workflow: WORKFLOW.replace("@PACKAGE@", &project.name),
        left_out,
    }
}

/// Why an engine that supports only `LLVMFuzzerTestOneInput` cannot use a harness.
fn unfit(harness: &Harness) -> Option<&'static str> {
    let source = harness.units.first().map(|unit| &unit.source)?;
    let text = std::fs::read_to_string(source).unwrap_or_default();
    if harness.entry.is_some() || !text.contains("LLVMFuzzerTestOneInput") {
        Some("it does not start in LLVMFuzzerTestOneInput")
    } else if ["crunner_", "__VERIFIER_"]
        .iter()
        .any(|own| text.contains(own))
    {
        Some("it calls functions that only cargo cegar provides")
    } else {
        None
    }
}

/// The repository's name in the container.
fn name_of(root: &Path, project: &Project) -> String {
    let name = root.file_name().unwrap_or(project.name.as_ref());
    let name = name.to_string_lossy();
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || c == '-' {
            c
        } else {
            '_'
        }
    };
    name.chars().map(plain).collect()
}

/// A quoted word of the script. Paths below the repository become paths below `$source`.
fn word(text: &str, root: &Path) -> String {
    let here = root.to_string_lossy();
    match text.find(here.as_ref()) {
        None => quoted(text),
        Some(at) => {
            let (before, path) = text.split_at(at);
            let rest = below(Path::new(path), root);
            let rest = if rest == "." {
                String::new()
            } else {
                format!("/{rest}")
            };
            format!("{}\"$source\"{}", quoted_if(before), quoted_if(&rest))
        }
    }
}

fn quoted_if(text: &str) -> String {
    match text {
        "" => String::new(),
        _ => quoted(text),
    }
}

fn quoted(text: &str) -> String {
    // Only a NUL cannot be quoted, and no path or flag contains one.
    let quoted = shlex::try_quote(text);
    quoted.map_or_else(|_| "''".to_owned(), |text| text.into_owned())
}
