//! Running the crate's tests with the library's functions recorded.
//!
//! The linker does the work: under `--wrap=NAME` each call of `NAME` from another file becomes one of `__wrap_NAME`, and the recording
//! compiler, which stands in front of the linker as of everything else, adds that and an archive of wrappers. So it does not matter
//! how the build makes the library, and nothing of the crate changes. Each test runs in a process of its own with a limit of
//! time: one that aborts or hangs costs only itself.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::super::api::{Api, Declared};
use super::super::ctype::Kind;
use super::trace::{self, Run};
use crate::capture::recording;
use crate::compile::Compiler;
use crate::error::Error;
use crate::project::Project;
use crate::store;

/// What one test may take.
const ONE: Duration = Duration::from_secs(10);
/// What all may take.
const ALL: Duration = Duration::from_secs(120);
/// How often a test is looked at.
const TICK: Duration = Duration::from_millis(5);

const RECORDER: &str = include_str!("recorder.c");
const HEADER: &str = include_str!("recorder.h");

/// What was recorded.
#[derive(Debug, Default)]
pub(super) struct Recorded {
    pub runs: Vec<Run>,
    /// What was left out, in words.
    pub left_out: Vec<String>,
    /// How many tests and examples ran.
    pub ran: usize,
}

/// Builds and runs the tests of the workspace with these functions recorded.
pub(super) fn record(
    project: &Project,
    compiler: &Compiler,
    api: &Api,
    functions: &[&Declared],
    (include, flags): (&str, &[String]),
    stop: &AtomicBool,
) -> Result<Recorded, Error> {
    let folder = project.scratch().join("record").join(&project.name);
    // Traces of an earlier time would be taken for new ones.
    let _ = std::fs::remove_dir_all(folder.join("traces"));
    store::writable_dir(&folder.join("traces"))?;
    let mut recorded = Recorded::default();
    let wrapped = wrappers(
        &folder,
        compiler,
        api,
        functions,
        (include, flags),
        &mut recorded,
    )?;
    let programs = build(project, &folder, &wrapped)?;
    let until = Instant::now() + ALL;
    let mut late = 0;
    for program in &programs {
        for test in program.tests(project, &folder) {
            if stop.load(Ordering::Relaxed) {
                return Ok(recorded);
            }
            if Instant::now() >= until {
                late += 1;
                continue;
            }
            let traces = folder.join("traces").join(recorded.ran.to_string());
            store::writable_dir(&traces)?;
            recorded.ran += 1;
            let name = test.clone().unwrap_or_else(|| program.name.clone());
            if let Some(why) = program.run(project, test.as_deref(), &traces) {
                recorded
                    .left_out
                    .push(format!("{}: {why}", program.called(test.as_deref())));
            }
            let (runs, full) = trace::read(&traces, &name);
            if full {
                let text = format!(
                    "{}: it calls too often, and only the beginning was recorded",
                    program.called(test.as_deref())
                );
                recorded.left_out.push(text);
            }
            if runs.len() > 1 {
                let text = format!(
                    "{}: {} threads call the library; each is taken as a use of its own",
                    program.called(test.as_deref()),
                    runs.len()
                );
                recorded.left_out.push(text);
            }
            recorded.runs.extend(runs);
        }
    }
    if late > 0 {
        let text = format!("{late} tests were not run: {} s were over", ALL.as_secs());
        recorded.left_out.push(text);
    }
    Ok(recorded)
}

/// The archive of wrappers, and the names that are wrapped.
struct Wrapped {
    archive: PathBuf,
    names: Vec<String>,
    /// A hash of all the wrappers.
    hash: String,
}

fn wrappers(
    folder: &Path,
    compiler: &Compiler,
    api: &Api,
    functions: &[&Declared],
    (include, flags): (&str, &[String]),
    recorded: &mut Recorded,
) -> Result<Wrapped, Error> {
    let sources = folder.join("wrappers");
    let _ = std::fs::remove_dir_all(&sources);
    store::writable_dir(&sources)?;
    store::write(&sources.join("recorder.h"), HEADER.as_bytes())?;
    store::write(&sources.join("recorder.c"), RECORDER.as_bytes())?;
    let compile = |name: &str| compiled(&sources, name, compiler, flags);
    let mut objects = Vec::new();
    match compile("recorder")? {
        Some(object) => objects.push(object),
        None => {
            return Err(Error::engine(
                "compiling the recorder",
                std::io::Error::other("clang rejects it"),
            ));
        }
    }
    let mut names = Vec::new();
    let mut all = format!("{RECORDER}{HEADER}{flags:?}");
    for function in functions {
        let made = match wrapper(api, function, include) {
            Some(text) => {
                all += &text;
                let file = sources.join(format!("wrap_{}.c", function.name));
                store::write(&file, text.as_bytes())?;
                compile(&format!("wrap_{}", function.name))?
            }
            None => None,
        };
        match made {
            Some(object) => {
                objects.push(object);
                names.push(function.name.clone());
            }
            None => recorded.left_out.push(format!(
                "{}: its arguments cannot be recorded",
                function.name
            )),
        }
    }
    let archive = folder.join("librecorder.a");
    let _ = std::fs::remove_file(&archive);
    put_together(&archive, &objects, compiler)?;
    let hash = store::hex(&Sha256::digest(all.as_bytes()))[..16].to_owned();
    Ok(Wrapped {
        archive,
        names,
        hash,
    })
}

/// Compiles one of the sources; none if clang rejects it.
fn compiled(
    sources: &Path,
    name: &str,
    compiler: &Compiler,
    flags: &[String],
) -> Result<Option<PathBuf>, Error> {
    let object = sources.join(format!("{name}.o"));
    let output = Command::new(&compiler.path)
        .args(["-w", "-O1", "-fPIC", "-c", "-std=gnu11"])
        .args(flags)
        .arg(sources.join(format!("{name}.c")))
        .arg("-o")
        .arg(&object)
        .output()
        .map_err(|why| Error::io("run", &compiler.path, why))?;
    if !output.status.success() {
        tracing::info!("{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(output.status.success().then_some(object))
}

/// Makes an archive of objects, with LLVM's `ar` where it lies beside the compiler.
fn put_together(archive: &Path, objects: &[PathBuf], compiler: &Compiler) -> Result<(), Error> {
    let ar = compiler
        .path
        .canonicalize()
        .unwrap_or_default()
        .with_file_name("llvm-ar");
    let ar = if ar.is_file() {
        ar
    } else {
        PathBuf::from("ar")
    };
    let status = Command::new(&ar)
        .arg("rcs")
        .arg(archive)
        .args(objects)
        .status()
        .map_err(|why| Error::io("run", &ar, why))?;
    if !status.success() {
        let why = std::io::Error::other("it failed");
        return Err(Error::io("run", &ar, why));
    }
    Ok(())
}

/// The wrapper of one function; none if it cannot be written.
fn wrapper(api: &Api, function: &Declared, include: &str) -> Option<String> {
    if function.variadic {
        return None;
    }
    let name = &function.name;
    let (mut params, mut passed, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for (i, param) in function.params.iter().enumerate() {
        let constant = match (param.ty.constant, &param.ty.kind) {
            (true, Kind::Pointer(_)) | (false, _) => "",
            (true, _) => "const ",
        };
        params.push(format!("__typeof__({constant}{}) a{i}", param.ty.words));
        passed.push(format!("a{i}"));
        values.push(value(api, &param.ty, &format!("a{i}"))?);
    }
    let count = values.len();
    let values = match count {
        0 => "{CEGAR_NOTHING, 0, 0, 0, 0}".to_owned(),
        _ => values.join(",\n        "),
    };
    let returns = api.resolve(&function.returns);
    let words = &function.returns.words;
    let (keep, give, result) = match &returns.kind {
        Kind::Void => (
            String::new(),
            String::new(),
            "{CEGAR_NOTHING, 0, 0, 0, 0}".to_owned(),
        ),
        _ => (
            format!("__typeof__({words}) result = "),
            "    return result;\n".to_owned(),
            value(api, &function.returns, "result")?,
        ),
    };
    let params = match params.is_empty() {
        true => "void".to_owned(),
        false => params.join(", "),
    };
    let ret = match returns.kind {
        Kind::Void => "void".to_owned(),
        _ => format!("__typeof__({words})"),
    };
    let constant =
        if function.returns.constant && !matches!(function.returns.kind, Kind::Pointer(_)) {
            "const "
        } else {
            ""
        };
    let passed = passed.join(", ");
    Some(format!(
        "#include <stddef.h>\n#include <stdint.h>\n#include <stdbool.h>\n#include <stdio.h>\n#include <string.h>\n\
         #include \"{include}\"\n#include \"recorder.h\"\n#undef {name}\n\n\
         extern {constant}{ret} __real_{name}({params});\n\n\
         {constant}{ret} __wrap_{name}({params})\n{{\n\
         \x20   struct cegar_value values[] = {{\n        {values}\n    }};\n\
         \x20   unsigned long call = cegar_recorder_begin(\"{name}\", values, {count});\n\
         \x20   {keep}__real_{name}({passed});\n\
         \x20   struct cegar_value given = {result};\n\
         \x20   cegar_recorder_end(call, values, {count}, given);\n{give}}}\n"
    ))
}

/// How a value is written down; none where it is not known how.
fn value(api: &Api, ty: &super::super::ctype::Written, name: &str) -> Option<String> {
    let resolved = api.resolve(ty);
    Some(match &resolved.kind {
        Kind::Int { signed: true, .. } => {
            format!("{{CEGAR_INT, (uint64_t)(int64_t){name}, 0, 0, 0}}")
        }
        Kind::Int { .. } | Kind::Bool | Kind::Enum(_) => {
            format!("{{CEGAR_INT, (uint64_t){name}, 0, 0, 0}}")
        }
        Kind::Float { .. } => "{CEGAR_FLOAT, 0, 0, 0, 0}".to_owned(),
        Kind::Pointer(to) => {
            let target = api.resolve(to);
            let bits = format!("(uint64_t)(uintptr_t){name}");
            let (unit, text) = match &target.kind {
                Kind::Function(_) => return Some(format!("{{CEGAR_CODE, {bits}, 0, 0, 0}}")),
                Kind::Void | Kind::Other => ("0".to_owned(), 0),
                Kind::Record(tag) if api.record(tag).is_none() => ("0".to_owned(), 0),
                Kind::Int { size: 1, .. } => ("1".to_owned(), 1),
                Kind::Named(_) | Kind::Array(_) => ("0".to_owned(), 0),
                _ => (format!("sizeof(*{name})"), 0),
            };
            format!(
                "{{CEGAR_POINTER, {bits}, {unit}, {text}, {}}}",
                u8::from(!to.constant)
            )
        }
        _ => return None,
    })
}

/// A program with tests, or an example.
struct Program {
    name: String,
    path: PathBuf,
    /// The folder of its package: where cargo would run it.
    folder: PathBuf,
    /// Whether it is an example, or a test that is no `#[test]`.
    plain: bool,
}

fn build(project: &Project, folder: &Path, wrapped: &Wrapped) -> Result<Vec<Program>, Error> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    // Cargo does not know what is added where it links, and would take programs with other wrappers for fresh.
    let target = folder.join(format!("target-{}", wrapped.hash));
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("target-") && entry.path() != target {
            // What cannot be removed only takes room.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
    let mut command = Command::new(cargo);
    command
        .current_dir(&project.workspace)
        .args([
            "test",
            "--workspace",
            "--no-run",
            "--message-format",
            "json-render-diagnostics",
        ])
        .arg("--target-dir")
        .arg(&target);
    if project.member && project.root == project.workspace {
        // A crate alone: what else a workspace has is not asked for.
        command.arg("--exclude").arg(project.cegar_name());
    }
    let mut link: Vec<String> = wrapped
        .names
        .iter()
        .map(|name| format!("-Wl,--wrap={name}"))
        .collect();
    link.push(wrapped.archive.display().to_string());
    let file = folder.join("link.txt");
    store::write(&file, link.join("\n").as_bytes())?;
    recording(&mut command, folder, &file)?;
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .map_err(|why| Error::io("run", "cargo test", why))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let last: Vec<&str> = said.lines().rev().take(30).collect();
        let last: Vec<&str> = last.into_iter().rev().collect();
        return Err(Error::nothing(
            format!(
                "the crate's tests could not be built with recording\n{}",
                last.join("\n")
            ),
            "`cargo test --no-run` must work first",
        ));
    }
    let mut programs = Vec::new();
    for message in cargo_metadata::Message::parse_stream(&output.stdout[..]).flatten() {
        let cargo_metadata::Message::CompilerArtifact(artifact) = message else {
            continue;
        };
        let Some(path) = artifact.executable else {
            continue;
        };
        let is_example = artifact
            .target
            .kind
            .contains(&cargo_metadata::TargetKind::Example);
        if !artifact.profile.test && !is_example {
            continue;
        }
        let manifest = artifact.manifest_path.into_std_path_buf();
        programs.push(Program {
            name: artifact.target.name,
            path: path.into_std_path_buf(),
            folder: manifest.parent().map(Path::to_owned).unwrap_or_default(),
            plain: is_example && !artifact.profile.test,
        });
    }
    Ok(programs)
}

impl Program {
    /// How a person would call it.
    fn called(&self, test: Option<&str>) -> String {
        match test {
            Some(test) => format!("{} {test}", self.name),
            None => self.name.clone(),
        }
    }

    /// Its tests, each of which is run by itself; one without a name where it is to be run as it is.
    fn tests(&self, project: &Project, folder: &Path) -> Vec<Option<String>> {
        if self.plain {
            return vec![None];
        }
        let mut command = self.command(project);
        let file = folder.join("list.txt");
        let Ok(list) = std::fs::File::create(&file) else {
            return Vec::new();
        };
        command.args(["--list", "--format", "terse"]).stdout(list);
        let Ok(Some(status)) = limited(&mut command) else {
            return Vec::new();
        };
        let text = std::fs::read(&file).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        let tests = text.lines().filter_map(|line| line.strip_suffix(": test"));
        let tests: Vec<Option<String>> = tests.map(|test| Some(test.to_owned())).collect();
        match tests.is_empty() && !status.success() {
            // One with a `main` of its own does not know these words.
            true => vec![None],
            false => tests,
        }
    }

    fn command(&self, project: &Project) -> Command {
        let mut command = Command::new(&self.path);
        command
            .current_dir(&self.folder)
            .env("CARGO_MANIFEST_DIR", &self.folder)
            .env("CARGO_PKG_NAME", &project.name)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// Runs one test; says how it ended if not well.
    fn run(&self, project: &Project, test: Option<&str>, traces: &Path) -> Option<String> {
        use std::os::unix::process::ExitStatusExt as _;
        let mut command = self.command(project);
        if let Some(test) = test {
            command.args(["--exact", "--test-threads", "1", test]);
        }
        command.env("CEGAR_RECORD", traces);
        let status = match limited(&mut command) {
            Ok(Some(status)) => status,
            Ok(None) => {
                return Some(format!(
                    "it did not end within {} s; what it called until then was recorded",
                    ONE.as_secs()
                ));
            }
            Err(why) => return Some(format!("it could not be started: {why}")),
        };
        match (status.signal(), status.success()) {
            (Some(signal), _) => Some(format!(
                "it was ended by signal {signal}; what it called until then was recorded"
            )),
            (None, false) => Some("it failed; what it called was recorded".to_owned()),
            (None, true) => None,
        }
    }
}

/// Runs a program with a limit of time; none if it had to be ended.
fn limited(command: &mut Command) -> std::io::Result<Option<std::process::ExitStatus>> {
    use std::os::unix::process::CommandExt as _;
    let mut child = command.process_group(0).spawn()?;
    let group = Pid::from_raw(child.id() as i32);
    let until = Instant::now() + ONE;
    loop {
        match child.try_wait()? {
            Some(status) => {
                // What it started and left behind ends with it.
                let _ = killpg(group, Signal::SIGKILL);
                return Ok(Some(status));
            }
            None if Instant::now() < until => std::thread::sleep(TICK),
            None => {
                let _ = killpg(group, Signal::SIGKILL);
                child.wait()?;
                return Ok(None);
            }
        }
    }
}
