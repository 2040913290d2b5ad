//! The tables list what the sources define, every source compiles without warnings in both ways,
//! and the engine's pure functions behave like the platform's.
#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

mod common;

use std::collections::{BTreeSet, HashSet};
use std::process::Command;

use cegar_stubs::{
    Role, SymbolKind, engine_only, failing_functions, heap, math, redirections,
    unmodelled_allocators, unsupported, write_sources,
};
use common::{compilers, run, symbols};

#[test]
fn tables_match_sources() {
    let mut replaced = BTreeSet::new();
    let mut pure = BTreeSet::new();
    let mut all = HashSet::new();
    let folder = tempfile::tempdir().unwrap();
    for (role, path) in write_sources(folder.path()).unwrap() {
        if !matches!(role, Role::Stub | Role::EngineOnly) {
            continue;
        }
        let object = folder.path().join("one.o");
        run(Command::new(compilers()[0])
            .args(["-O0", "-w", "-fno-builtin", "-c"])
            .arg(&path)
            .arg("-o")
            .arg(&object));
        for (kind, name) in symbols(&object) {
            if !"WTVDB".contains(kind) {
                continue;
            }
            all.insert(name.clone());
            // No program calls the functions that split formats.
            if role == Role::EngineOnly && !name.starts_with("engine_format_") {
                assert!(pure.insert(name.clone()), "{name} is defined twice");
            } else if let Some(symbol) = name.strip_prefix("CRUNNER_") {
                assert!(
                    replaced.insert(symbol.to_owned()),
                    "{name} is defined twice"
                );
            }
        }
    }
    let listed: BTreeSet<String> = redirections().iter().map(|r| r.symbol.to_owned()).collect();
    assert_eq!(listed, replaced);
    let listed: BTreeSet<String> = engine_only().iter().map(|&n| n.to_owned()).collect();
    assert_eq!(listed, pure);
    for failing in failing_functions() {
        assert!(
            all.contains(failing.name),
            "{} is not defined",
            failing.name
        );
    }
    assert!(
        redirections()
            .iter()
            .any(|r| r.symbol == "stdin" && r.kind == SymbolKind::Data)
    );
}

#[test]
fn no_name_is_in_two_lists() {
    let mut seen = HashSet::new();
    let names = redirections().iter().chain(heap()).map(|r| r.symbol);
    // Functions of <math.h> that set errno have a stub that calls the host's function.
    let redirected: HashSet<&str> = redirections().iter().map(|r| r.symbol).collect();
    let host = math().iter().filter(|name| !redirected.contains(*name));
    let names = names
        .chain(engine_only().iter().copied())
        .chain(host.copied());
    for name in names.chain(unsupported().iter().map(|u| u.0)) {
        assert!(seen.insert(name), "{name} is listed twice");
    }
}

#[test]
fn what_hands_out_the_platforms_memory_is_not_modelled() {
    let known: HashSet<&str> = unsupported().iter().map(|u| u.0).collect();
    let modelled: Vec<&&str> = unmodelled_allocators()
        .iter()
        .filter(|name| !known.contains(**name))
        .collect();
    assert!(modelled.is_empty(), "{modelled:?}");
}

#[test]
fn every_source_compiles_without_warnings_both_ways() {
    for compiler in compilers() {
        let folder = tempfile::tempdir().unwrap();
        for native in [false, true] {
            let mut command = Command::new(compiler);
            command.args(["-O0", "-Wall", "-Wextra", "-Werror", "-fno-builtin", "-c"]);
            command.current_dir(folder.path());
            if native {
                command.arg("-DCRUNNER_NATIVE");
            }
            for (role, path) in write_sources(folder.path()).unwrap() {
                let runtime = matches!(
                    role,
                    Role::Runtime | Role::RuntimeTape | Role::RuntimeMock | Role::RuntimeWatched
                );
                if role != Role::Header
                    && !(native && role == Role::EngineOnly)
                    && !(native && runtime)
                {
                    command.arg(path);
                }
            }
            run(&mut command);
        }
    }
}

#[test]
fn pure_functions_do_what_the_platform_does() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("compare");
    let mut command = Command::new(compilers()[0]);
    command.args(["-O0", "-w", "-fno-builtin", "-DCRUNNER_ENGINE_TEST"]);
    command.arg(format!("-I{}", folder.path().join("src").display()));
    for (_, path) in write_sources(folder.path()).unwrap() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let wanted = [
            "engine_format.c",
            "engine_scan.c",
            "engine_number.c",
            "engine_string.c",
            "engine_errno.c",
            "engine_ctype.c",
            "engine_multibyte.c",
            "engine_network.c",
            "engine_wide.c",
            "clock.c",
            "scan.c",
        ];
        if wanted.contains(&name.as_str()) {
            command.arg(path);
        }
    }
    for source in [
        "/tests/c/compare.c",
        "/tests/c/compare_time.c",
        "/tests/c/compare_wide.c",
    ] {
        command.arg(format!("{}{source}", env!("CARGO_MANIFEST_DIR")));
    }
    run(command.arg("-o").arg(&program));
    let output = Command::new(&program).output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
}
