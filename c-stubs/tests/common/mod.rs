//! What the tests share: finding compilers, and building programs like a native build.
#![allow(dead_code, reason = "each test binary uses its own part")]
#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex, PoisonError};

use cegar_stubs::{Entry, Role, redefine_syms_file, write_sources};

/// The compilers to test with: the platform's, and clang if it is installed.
pub fn compilers() -> Vec<&'static str> {
    ["cc", "gcc", "clang-19", "clang"]
        .into_iter()
        .filter(|name| {
            Command::new(name)
                .arg("--version")
                .output()
                .is_ok_and(|o| o.status.success())
        })
        .filter(|name| *name != "cc" || cfg!(not(target_os = "linux")) || !has("gcc"))
        .collect()
}

fn has(name: &str) -> bool {
    Command::new(name)
        .arg("--version")
        .output()
        .is_ok_and(|o| o.status.success())
}

/// Runs a command and returns its standard output; panics with its standard error if it fails.
pub fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{command:?} failed:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The symbols that `nm` lists in an object file, with their kinds.
pub fn symbols(object: &Path) -> Vec<(char, String)> {
    run(Command::new("nm").arg(object))
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace().rev();
            let name = words.next()?;
            let kind = words.next()?.chars().next()?;
            Some((kind, name.to_owned()))
        })
        .collect()
}

/// Builds `program` (C text) with stubs, an entry and a runtime, and returns the executable.
pub fn build(
    folder: &Path,
    compiler: &str,
    program: &str,
    (entry_name, entry): (&str, Entry),
    runtime: Role,
    extra: &[&str],
) -> PathBuf {
    write_sources(folder).unwrap();
    let user = folder.join("user.c");
    std::fs::write(&user, program).unwrap();
    let object = folder.join("user.o");
    let include = format!("-I{}", folder.join("include").display());
    run(Command::new(compiler)
        .args(["-O0", "-g", "-w", "-c", &include])
        .args(extra)
        .arg(&user)
        .arg("-o")
        .arg(&object));
    let defined: HashSet<String> = symbols(&object)
        .into_iter()
        .filter(|(kind, name)| kind.is_ascii_uppercase() && *kind != 'U' && name != "main")
        .map(|(_, name)| name)
        .collect();
    let table = folder.join("redefine");
    std::fs::write(
        &table,
        redefine_syms_file(&defined, Some((entry_name, entry))),
    )
    .unwrap();
    run(Command::new("objcopy")
        .arg(format!("--redefine-syms={}", table.display()))
        .arg(&object));
    let prepared = prepare(compiler);
    let program = folder.join("program");
    let mut link = Command::new(compiler);
    link.args(extra).arg(&object);
    for (role, path) in &prepared.objects {
        if [Role::Stub, Role::Entry(entry), Role::Runtime, runtime].contains(role) {
            link.arg(path);
        }
    }
    if runtime == Role::RuntimeTape {
        link.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/tape_main.c"));
        link.arg(format!("-I{}", folder.join("src").display()));
    }
    run(link.arg("-lm").arg("-o").arg(&program));
    program
}

/// The object files of the library, compiled once per compiler.
struct Prepared {
    objects: Vec<(Role, PathBuf)>,
    _folder: tempfile::TempDir,
}

fn prepare(compiler: &str) -> Arc<Prepared> {
    static READY: Mutex<Vec<(String, Arc<Prepared>)>> = Mutex::new(Vec::new());
    let mut ready = READY.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, found)) = ready.iter().find(|(name, _)| name == compiler) {
        return found.clone();
    }
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(compiler);
    command
        .args(["-O0", "-w", "-DCRUNNER_NATIVE", "-DCRUNNER_ARGV=3", "-c"])
        .current_dir(folder.path());
    let mut objects = Vec::new();
    for (role, path) in write_sources(folder.path()).unwrap() {
        if role != Role::Header && role != Role::EngineOnly {
            command.arg(&path);
            let name = Path::new(path.file_name().unwrap()).with_extension("o");
            objects.push((role, folder.path().join(name)));
        }
    }
    run(&mut command);
    let prepared = Arc::new(Prepared {
        objects,
        _folder: folder,
    });
    ready.push((compiler.to_owned(), prepared.clone()));
    prepared
}

/// Runs a program built with the mock runtime.
pub fn run_mock(program: &Path, queues: &[(&str, &[u8])]) -> Output {
    let mut file = b"CEGMOCK1".to_vec();
    for (channel, bytes) in queues {
        file.extend((channel.len() as u32).to_le_bytes());
        file.extend(channel.as_bytes());
        file.extend((bytes.len() as u64).to_le_bytes());
        file.extend(*bytes);
    }
    let path = program.with_extension("mock");
    std::fs::write(&path, file).unwrap();
    Command::new(program)
        .env("CEGAR_MOCK", &path)
        .env("CEGAR_REPORT_FD", "1")
        .output()
        .unwrap()
}
