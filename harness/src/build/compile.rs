//! From C sources to one executable.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use cegar_stubs::{Entry, Role};

use super::cache::{self, Cache};
use super::config::Unit;
use super::objects::Objects;
use super::parallel::parallel;
use super::tools::{Stop, run_until};
use super::{
    Build, BuildError, Built, Harness, archive, bindings, harness_flags, mocks, resolve, tools,
};
use crate::channel::Shape;
use crate::locate;
use crate::mocked::MockedFunction;

/// An object file of the user's, and the global symbols in it.
struct Object {
    path: PathBuf,
    source: PathBuf,
    defines: HashSet<String>,
    /// Those of them that no other file may define.
    strong: HashSet<String>,
    wants: HashSet<String>,
}

/// What the files of one harness are compiled with.
struct Compiling<'a> {
    base: &'a cc::Build,
    common: &'a [String],
    root: &'a Path,
    /// The harness's folder, whose name is no reason to compile again.
    out: &'a Path,
    /// The version of the headers in that folder.
    version: String,
    objects: &'a Objects,
    stop: &'a Stop,
}

/// Compiles one file, unless its object is known; the object, and the files that it is made of.
fn compile(with: &Compiling<'_>, unit: &Unit) -> Result<(Object, Vec<PathBuf>), BuildError> {
    let directory = resolve(with.root, &unit.directory);
    let file = resolve(&directory, &unit.file);
    let mut compiler = with.base.clone();
    for arg in with.common.iter().chain(&absolute(&unit.args, &directory)) {
        compiler.flag(arg);
    }
    let compiler = compiler.try_get_compiler()?;
    let how = Cache::depends_on(&compiler, with.out) + &with.version;
    let known = Objects::known(&how, &file);
    let folder = with.out.join("user");
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let number = cache::name(&[how.as_bytes(), file.as_os_str().as_encoded_bytes()]);
    let object = folder.join(format!("{}-{stem}.o", &number[..16]));
    let read = match with.objects.take(&known, &object, with.out) {
        Some(read) => read,
        None => {
            let list = object.with_extension("d");
            let mut command = compiler.to_command();
            command.arg("-MD").arg("-MF").arg(&list);
            command.arg("-c").arg(&file).arg("-o").arg(&object);
            run_until(&mut command, with.stop).map_err(|why| rejected(&file, why))?;
            let mut read = dependencies(&list);
            read.push(file.clone());
            with.objects.keep(&known, &object, &read, with.out);
            read
        }
    };
    let symbols = tools::symbols(&object)?;
    let made = Object {
        path: object,
        source: file,
        defines: symbols.defined,
        strong: symbols.strong,
        wants: symbols.wanted,
    };
    // What comes with the system changes with the compiler.
    let own = read.into_iter().filter(|file| !file.starts_with("/usr"));
    Ok((made, own.collect()))
}

/// Builds one harness below `out`.
pub(crate) fn harness(build: &Build, harness: &Harness, out: &Path) -> Result<Built, BuildError> {
    let out = out.join("cegar").join(&harness.name);
    std::fs::create_dir_all(&out).map_err(|why| BuildError::Io {
        path: out.clone(),
        why,
    })?;
    let root = std::path::absolute(&build.root).map_err(|why| BuildError::Io {
        path: build.root.clone(),
        why,
    })?;
    let stubs = out.join("stubs");
    let sources = cegar_stubs::write_sources(&stubs).map_err(|why| BuildError::Io {
        path: stubs.clone(),
        why,
    })?;

    let cache = Cache::new(build.cache.as_deref());
    let mut base = base(build, &out, &cache)?;
    let groups = harness.checks.sanitizers();
    let sanitizers = tools::working_sanitizers(&base.try_get_compiler()?, &groups, &out, &cache)?;
    let sanitize = (!sanitizers.is_empty()).then(|| format!("-fsanitize={}", sanitizers.join(",")));
    if !harness.checks.overflow {
        flag_if_supported(&mut base, "-fwrapv", &cache)?;
    }
    for flag in sanitize
        .iter()
        .map(String::as_str)
        .chain(sanitize.iter().map(|_| "-fno-sanitize-recover=all"))
    {
        base.flag(flag);
    }
    let mut common = absolute(&build.args, &root);
    common.push(format!("-I{}", stubs.join("include").display()));

    // The user's code. The harness comes first: its `main` is the one that counts.
    let mut inputs = Vec::new();
    let mut objects = Vec::new();
    let mut own_objects = 0;
    let folders: Vec<PathBuf> = build
        .units
        .iter()
        .map(|unit| resolve(&root, &unit.directory))
        .collect();
    let library = folders.iter().zip(&build.units);
    let library = harness_flags(library.map(|(folder, unit)| (&**folder, &*unit.args)));
    let own = harness.file.iter().map(|file| Unit {
        file: file.clone(),
        args: library.clone(),
        directory: PathBuf::new(),
    });
    let units: Vec<Unit> = own.chain(build.units.iter().cloned()).collect();
    let user = out.join("user");
    std::fs::create_dir_all(&user).map_err(|why| BuildError::Io { path: user, why })?;
    let kept = Objects::new(build.objects.as_deref());
    let texts: Vec<&[u8]> = cegar_stubs::sources()
        .iter()
        .map(|source| source.text.as_bytes())
        .collect();
    let with = Compiling {
        version: cache::name(&texts),
        base: &base,
        common: &common,
        root: &root,
        out: &out,
        objects: &kept,
        stop: &build.stop,
    };
    let compiled = parallel(&units, |unit| compile(&with, unit));
    for (number, compiled) in compiled.into_iter().enumerate() {
        let (made, files) = compiled?;
        objects.push(made);
        inputs.extend(files);
        if number == 0 && harness.file.is_some() {
            own_objects = objects.len();
        }
    }
    let (objects, notes) = without_duplicates(objects, own_objects)?;
    kept.clear();
    if let Some(header) = &harness.bindings {
        let folder = out.parent().and_then(Path::parent).unwrap_or(&out);
        let args = [common, library].concat();
        bindings::write(&harness.name, &root, header, &args, folder)?;
        inputs.push(root.join(header));
    }

    let entry = entry(harness, &objects)?;
    let mut linked = redirect(&objects, &entry, &out)?;

    // The stubs and the runtime, without redirection. They touch the user's memory, so sanitizers watch them as well.
    let mut native = base.clone();
    native
        .out_dir(out.join("native"))
        .define("CRUNNER_NATIVE", None)
        .include(stubs.join("src"))
        .include(stubs.join("include"));
    native.define("CRUNNER_ARGV", harness.argv.to_string().as_str());
    if !harness.checks.abort {
        native.define("CRUNNER_ABORT_ENDS", None);
    }
    if objects
        .iter()
        .any(|object| object.defines.contains("LLVMFuzzerInitialize"))
    {
        native.define("CRUNNER_FUZZER_INITIALIZE", None);
    }
    if returns_nothing(harness, &entry, &root) {
        native.define("CRUNNER_ENTRY_VOID", None);
    }
    let mut files: Vec<PathBuf> = sources
        .into_iter()
        .filter(|(role, path)| {
            let wanted = matches!(role, Role::Stub | Role::Runtime | Role::RuntimeMock)
                || *role == Role::Entry(entry.1);
            wanted && path.extension().is_some_and(|extension| extension == "c")
        })
        .map(|(_, path)| path)
        .collect();
    let support_text = include_str!("support.c");
    if !sanitizers.contains(&"address") {
        let support = out.join("support.c");
        write(&support, support_text)?;
        files.push(support);
    }
    let mut texts: Vec<&str> = cegar_stubs::sources()
        .iter()
        .flat_map(|source| [source.name, source.text])
        .collect();
    texts.push(support_text);
    let compiler = native.try_get_compiler()?;
    let depends_on = Cache::depends_on(&compiler, &out);
    linked.extend(cache.objects(
        &compiler,
        &files,
        &texts,
        &depends_on,
        (&out.join("native"), &build.stop),
    )?);

    let runner = out.join(&harness.name);
    let link = |objects: &[PathBuf]| -> Result<Command, BuildError> {
        let mut command = base.try_get_compiler()?.to_command();
        command
            .args(objects)
            .args(&sanitize)
            .args(["-pie", "-lm"])
            .args(&build.link)
            .arg("-o")
            .arg(&runner);
        Ok(command)
    };
    let undefined = |name: &String| !objects.iter().any(|object| object.defines.contains(name));
    let mut mocked: Vec<MockedFunction> = build
        .mocked
        .iter()
        .filter(|function| undefined(&function.name))
        .cloned()
        .collect();
    let mut guessed = Vec::new();
    let mut mock_objects = mock_object(&base, &mocked, &out)?;
    match run_until(
        &mut link(&[linked.clone(), mock_objects.clone()].concat())?,
        &build.stop,
    ) {
        Err(BuildError::Failed { output, command }) => {
            guessed = mocks::undefined_in(&output);
            if guessed.is_empty() {
                return Err(BuildError::Failed { output, command });
            }
            let int = Shape::Int {
                size: 4,
                signed: true,
            };
            mocked.extend(
                guessed
                    .iter()
                    .map(|name| MockedFunction::returning(name, int)),
            );
            mock_objects = mock_object(&base, &mocked, &out)?;
            run_until(&mut link(&[linked, mock_objects].concat())?, &build.stop)?;
        }
        other => other?,
    }

    let members: Vec<MockedFunction> = mocked.iter().flat_map(MockedFunction::members).collect();
    mocked.extend(members);
    let channels: BTreeMap<String, Shape> = mocked
        .iter()
        .map(|function| (function.channel().to_owned(), function.returns))
        .collect();
    let parameters = mocked.iter().filter_map(|function| {
        let signature = function.signature.as_ref()?;
        Some((function.channel().to_owned(), signature.params.clone()))
    });
    let about = locate::About {
        parameters: parameters.collect(),
        sanitized: sanitizers.contains(&"address"),
        channels,
        functions: mocked.into_iter().filter(mocks::is_typed).collect(),
    };
    let text = serde_json::to_string(&about).unwrap_or_default();
    write(&locate::about_path(&runner), &text)?;
    inputs.sort();
    inputs.dedup();
    inputs.retain(|input| !input.starts_with(&out));
    Ok(Built {
        harness: harness.name.clone(),
        runner,
        sanitizers: sanitizers.into_iter().map(str::to_owned).collect(),
        guessed,
        notes,
        inputs,
    })
}

/// Leaves out what a linker would not take from the library's archive because another member defines the symbol, and says so.
/// The first `own` objects are the harness's; without any there is no library.
fn without_duplicates(
    objects: Vec<Object>,
    own: usize,
) -> Result<(Vec<Object>, Vec<String>), BuildError> {
    let symbols: Vec<archive::Symbols> = objects
        .iter()
        .enumerate()
        .map(|(at, object)| archive::Symbols {
            defines: object.strong.clone(),
            wants: object.wants.clone(),
            in_archive: own > 0 && at >= own,
        })
        .collect();
    let (mut left_out, mut notes) = (HashSet::new(), Vec::new());
    for duplicate in archive::duplicates(&symbols) {
        let (symbol, other) = (&duplicate.symbol, &objects[duplicate.other]);
        let used = objects[duplicate.used].source.display();
        if duplicate.left_out {
            if left_out.insert(duplicate.other) {
                notes.push(format!(
                    "{} is left out: {used} defines `{symbol}`, too, and the linker takes that",
                    other.source.display()
                ));
            }
        } else {
            tools::weaken(&other.path, symbol)?;
            notes.push(format!(
                "{} defines `{symbol}`, too; what {used} defines is used",
                other.source.display()
            ));
        }
    }
    let kept = objects.into_iter().enumerate();
    let kept = kept.filter(|(at, _)| !left_out.contains(at));
    Ok((kept.map(|(_, object)| object).collect(), notes))
}

/// The compiler with what every file here is compiled with.
fn base(build: &Build, out: &Path, cache: &Cache) -> Result<cc::Build, BuildError> {
    let mut base = cc::Build::new();
    if std::env::var_os("TARGET").is_none() {
        base.cargo_warnings(false);
        // Outside a build script: this machine.
        let triple = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
        base.target(&triple).host(&triple);
    }
    if let Some(compiler) = &build.compiler {
        base.compiler(compiler);
    }
    base.opt_level(0)
        .debug(true)
        .warnings(false)
        .cargo_metadata(false)
        .out_dir(out);
    base.flag("-w")
        .flag("-g")
        .flag("-fno-omit-frame-pointer")
        .flag("-U_FORTIFY_SOURCE");
    // Fresh stack memory as the engine has it (clang: 0xAA; gcc's pattern is 0xFE).
    flag_if_supported(&mut base, "-ftrivial-auto-var-init=pattern", cache)?;
    Ok(base)
}

/// What the compiler has against a file, told with the file in place of the command.
fn rejected(file: &Path, why: BuildError) -> BuildError {
    match why {
        BuildError::Failed { output, .. } => BuildError::Failed {
            command: format!("compiling {}", file.display()),
            output,
        },
        why => why,
    }
}

/// Adds a flag if the compiler knows it.
fn flag_if_supported(base: &mut cc::Build, flag: &str, cache: &Cache) -> Result<(), BuildError> {
    let compiler = base.try_get_compiler()?;
    if cache.can(&compiler, flag, || {
        base.is_flag_supported(flag).unwrap_or(false)
    }) {
        base.flag(flag);
    }
    Ok(())
}

/// Where the program starts: the function's name and the driver for it.
fn entry(harness: &Harness, objects: &[Object]) -> Result<(String, Entry), BuildError> {
    let defined = |name: &str| objects.iter().any(|object| object.defines.contains(name));
    let in_harness = |name: &str| {
        objects
            .first()
            .is_some_and(|object| object.defines.contains(name))
    };
    let of = |name: &str| match name {
        "main" => Entry::Main,
        "LLVMFuzzerTestOneInput" => Entry::Fuzzer,
        _ => Entry::Function,
    };
    let chosen = match &harness.entry {
        Some(name) => defined(name).then_some(name.as_str()),
        None => ["LLVMFuzzerTestOneInput", "main", harness.name.as_str()]
            .into_iter()
            .find(|name| in_harness(name))
            .or_else(|| {
                ["LLVMFuzzerTestOneInput", "main"]
                    .into_iter()
                    .find(|name| defined(name))
            }),
    };
    match chosen {
        Some(name) => Ok((name.to_owned(), of(name))),
        None => Err(BuildError::NoEntry {
            harness: harness
                .entry
                .clone()
                .unwrap_or_else(|| harness.name.clone()),
        }),
    }
}

/// Whether the entry function is written `void name(`: the driver must know what it may read as a result.
fn returns_nothing(harness: &Harness, entry: &(String, Entry), root: &Path) -> bool {
    let text = harness
        .file
        .as_ref()
        .and_then(|file| std::fs::read_to_string(root.join(file)).ok())
        .unwrap_or_default();
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || c == '(')
        .filter(|word| !word.is_empty())
        .collect();
    entry.1 == Entry::Function
        && words
            .windows(2)
            .any(|pair| pair[0] == "void" && pair[1] == entry.0)
}

/// Points the user's objects at the stubs.
fn redirect(
    objects: &[Object],
    entry: &(String, Entry),
    out: &Path,
) -> Result<Vec<PathBuf>, BuildError> {
    let defined: HashSet<String> = objects
        .iter()
        .flat_map(|object| object.defines.iter().cloned())
        .collect();
    let main = objects
        .iter()
        .position(|object| object.defines.contains("main"));
    let mut redirected = Vec::with_capacity(objects.len());
    for (i, object) in objects.iter().enumerate() {
        // The runtime has the process's main; of the user's, one is the entry at most.
        let is_entry =
            entry.1 != Entry::Main || main == Some(i) || !object.defines.contains("main");
        let list = cegar_stubs::redefine_syms_file(
            &defined,
            is_entry.then_some((entry.0.as_str(), entry.1)),
        );
        let known = |name: &str| object.defines.contains(name) || object.wants.contains(name);
        let mut pairs: Vec<(String, String)> = list
            .lines()
            .filter_map(|line| line.split_once(' '))
            .filter(|(old, _)| known(old) && (is_entry || *old != "main"))
            .map(|(old, new)| (old.to_owned(), new.to_owned()))
            .collect();
        if object.defines.contains("main") && !(entry.1 == Entry::Main && main == Some(i)) {
            pairs.push(("main".to_owned(), format!("cegar_other_main_{i}")));
        }
        let to = out.join(format!("user-{i}.o"));
        tools::redefine(&object.path, &to, &pairs)?;
        redirected.push(to);
    }
    Ok(redirected)
}

fn mock_object(
    base: &cc::Build,
    mocked: &[MockedFunction],
    out: &Path,
) -> Result<Vec<PathBuf>, BuildError> {
    if mocked.is_empty() {
        return Ok(Vec::new());
    }
    let texts = [
        ("mocks.c", mocks::bodies(mocked)),
        ("mocks_typed.c", mocks::typed_source(mocked, true)),
    ];
    let mut compiler = base.clone();
    for (name, text) in texts.iter().filter(|(_, text)| !text.is_empty()) {
        let file = out.join(name);
        write(&file, text)?;
        compiler.file(file);
    }
    compiler
        .out_dir(out.join("native"))
        .flag("-fno-builtin")
        // The sanitizer and the C library call some functions of these names themselves.
        .flag("-fvisibility=hidden")
        .flag("-std=gnu99");
    Ok(compiler.try_compile_intermediates()?)
}

/// Arguments whose paths no longer depend on the folder they were written for.
fn absolute(args: &[String], directory: &Path) -> Vec<String> {
    const PATHS: &[&str] = &[
        "-I",
        "-isystem",
        "-iquote",
        "-idirafter",
        "-include",
        "-imacros",
    ];
    let mut path_next = false;
    args.iter()
        .map(|arg| {
            if std::mem::take(&mut path_next) {
                return resolve(directory, arg).display().to_string();
            }
            match PATHS
                .iter()
                .rev()
                .find_map(|option| Some((option, arg.strip_prefix(option)?)))
            {
                Some((_, "")) => {
                    path_next = true;
                    arg.clone()
                }
                Some((&"-I", path)) => format!("-I{}", resolve(directory, path).display()),
                _ => arg.clone(),
            }
        })
        .collect()
}

/// The files in a compiler's dependency list that may change: not those of the system.
fn dependencies(list: &Path) -> Vec<PathBuf> {
    let text = std::fs::read_to_string(list).unwrap_or_default();
    let text = text
        .split_once(':')
        .map_or("", |(_, files)| files)
        .replace("\\\n", " ")
        .replace("\\ ", "\u{1}");
    text.split_whitespace()
        .map(|file| PathBuf::from(file.replace('\u{1}', " ")))
        .collect()
}

/// Where tests that are started without cargo look; see [`crate::locate`].
fn published() -> Option<PathBuf> {
    let out = std::env::var_os("OUT_DIR").map(PathBuf::from)?;
    let package = std::env::var("CARGO_PKG_NAME").unwrap_or_default();
    let profile = out
        .ancestors()
        .find(|folder| folder.ends_with("build"))
        .and_then(Path::parent)?;
    Some(profile.join(locate::FOLDER).join(package))
}

/// Removes the copy of a harness that is not built any more.
pub(crate) fn unpublish(harness: &str) {
    if let Some(folder) = published() {
        // It may not be there.
        let _ = std::fs::remove_file(folder.join(harness));
    }
}

/// Leaves a copy where a test that is started without cargo finds it.
pub(crate) fn publish(built: &Built) {
    let Some(folder) = published() else {
        return;
    };
    let copies = [built.runner.clone(), locate::about_path(&built.runner)];
    // A convenience: a build does not fail for want of it.
    if std::fs::create_dir_all(&folder).is_ok() {
        for from in copies {
            let to = folder.join(from.file_name().unwrap_or_default());
            let _ = std::fs::remove_file(&to);
            let _ = std::fs::copy(&from, &to);
        }
    }
}

/// The C files in a folder, by name.
pub(crate) fn c_files(folder: &Path) -> Result<Vec<PathBuf>, BuildError> {
    let entries = std::fs::read_dir(folder).map_err(|why| BuildError::Io {
        path: folder.to_owned(),
        why,
    })?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "c"));
    files.sort();
    Ok(files)
}

fn write(path: &Path, text: &str) -> Result<(), BuildError> {
    std::fs::write(path, text).map_err(|why| BuildError::Io {
        path: path.to_owned(),
        why,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_made_absolute() {
        let args = ["-Iinc", "-I", "b", "-include", "c.h", "-DX=1", "-I/abs"].map(str::to_owned);
        assert_eq!(
            absolute(&args, Path::new("/d")),
            [
                "-I/d/inc", "-I", "/d/b", "-include", "/d/c.h", "-DX=1", "-I/abs"
            ]
        );
    }
}
