//! Compiles and links C sources into one executable.

pub(crate) mod publish;
mod unit;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use cegar_stubs::{Entry, Role, UNSANITIZED};

use crate::build::cache::{self, Cache};
use crate::build::config::Unit;
use crate::build::objects::Objects;
use crate::build::parallel::parallel;
use crate::build::tools::run_until;
use crate::build::{
    Build, BuildError, Built, Harness, bindings, harness_flags, mocks, resolve, tools,
};
use crate::channel::Shape;
use crate::locate;
use crate::mocked::MockedFunction;

pub(crate) use publish::{keep_only, publish};
use unit::{Compiling, Object, absolute, compile, redirect, without_duplicates};

/// Builds one harness below `out`.
pub(crate) fn harness(build: &Build, harness: &Harness, out: &Path) -> Result<Built, BuildError> {
    let making = HarnessBuild::new(build, harness, out)?;
    let Users {
        objects,
        notes,
        mut inputs,
    } = making.users()?;
    inputs.extend(making.bindings()?);
    let entry = entry(harness, &objects)?;
    let mut linked = redirect(&objects, &entry, &making.out)?;
    linked.extend(making.stubs(&objects, &entry)?);
    let (mocked, guessed) = making.link(linked, &objects)?;
    // A harness that `init` wrote calls only the library. If a function that it calls were mocked,
    // its tests would pass without testing anything.
    let own = objects.first().filter(|_| harness.drives.is_some());
    if let Some(function) = guessed
        .iter()
        .find(|name| own.is_some_and(|own| own.wants.contains(*name)))
    {
        return Err(BuildError::Undefined {
            harness: harness.name.clone(),
            function: function.clone(),
        });
    }
    making.describe(mocked)?;
    inputs.sort();
    inputs.dedup();
    inputs.retain(|input| !input.starts_with(&making.out));
    Ok(Built {
        harness: harness.name.clone(),
        runner: making.runner(),
        sanitizers: making
            .sanitizers
            .iter()
            .map(|&name| name.to_owned())
            .collect(),
        guessed,
        notes,
        inputs,
    })
}

/// The user's code, compiled.
struct Users {
    objects: Vec<Object>,
    /// Notes for the user about them.
    notes: Vec<String>,
    /// The files that they were compiled from.
    inputs: Vec<PathBuf>,
}

/// Everything that one harness is built with.
struct HarnessBuild<'a> {
    build: &'a Build,
    harness: &'a Harness,
    /// The harness's folder.
    out: PathBuf,
    /// The folder that the paths of the build are relative to.
    root: PathBuf,
    cache: Cache,
    /// The compiler with the flags that all files share.
    base: cc::Build,
    sanitizers: Vec<&'static str>,
    /// Flags for the user's files only.
    common: Vec<String>,
    /// The files of the stub library.
    sources: Vec<(Role, PathBuf)>,
}

impl<'a> HarnessBuild<'a> {
    fn new(build: &'a Build, harness: &'a Harness, out: &Path) -> Result<Self, BuildError> {
        let cache = Cache::new(&build.kept(out));
        let out = out.join("cegar").join(&harness.name);
        let at = |path: &Path| {
            let path = path.to_owned();
            |why| BuildError::Io { path, why }
        };
        std::fs::create_dir_all(&out).map_err(at(&out))?;
        let root = std::path::absolute(&build.root).map_err(at(&build.root))?;
        let stubs = out.join("stubs");
        let sources = cegar_stubs::write_sources(&stubs).map_err(at(&stubs))?;
        let mut base = base(build, &out, &cache)?;
        let groups = harness.checks.sanitizers();
        let compiler = base.try_get_compiler()?;
        let sanitizers = tools::working_sanitizers(&compiler, &groups, &out, &cache)?;
        if !harness.checks.overflow {
            flag_if_supported(&mut base, "-fwrapv", &cache)?;
        }
        if let Some(flag) = sanitize(&sanitizers) {
            base.flag(flag).flag("-fno-sanitize-recover=all");
        }
        let mut common = absolute(&build.args, &root);
        common.push(format!("-I{}", stubs.join("include").display()));
        common.extend(UNSANITIZED.map(str::to_owned));
        Ok(HarnessBuild {
            build,
            harness,
            out,
            root,
            cache,
            base,
            sanitizers,
            common,
            sources,
        })
    }

    /// The executable.
    fn runner(&self) -> PathBuf {
        self.out.join(&self.harness.name)
    }

    /// The flags of the library's files, which the harness is compiled with too, followed by the
    /// harness's own macros.
    fn library(&self) -> Vec<String> {
        let units = self.build.units.iter();
        let folders: Vec<PathBuf> = units
            .map(|unit| resolve(&self.root, &unit.directory))
            .collect();
        let library = folders.iter().zip(&self.build.units);
        let mut flags = harness_flags(library.map(|(folder, unit)| (&**folder, &*unit.args)));
        let own = self.harness.defines.iter();
        flags.extend(own.map(|define| format!("-D{define}")));
        flags
    }

    /// Compiles the user's code. The harness comes first, since its `main` takes precedence.
    fn users(&self) -> Result<Users, BuildError> {
        let own = self.harness.file.iter().map(|file| Unit {
            file: file.clone(),
            args: self.library(),
            directory: PathBuf::new(),
        });
        let units: Vec<Unit> = own.chain(self.build.units.iter().cloned()).collect();
        let user = self.out.join("user");
        std::fs::create_dir_all(&user).map_err(|why| BuildError::Io { path: user, why })?;
        let kept = Objects::new(self.build.objects.as_deref());
        let stubs = cegar_stubs::sources().iter();
        let texts: Vec<&[u8]> = stubs.map(|source| source.text.as_bytes()).collect();
        let with = Compiling {
            version: cache::name(&texts),
            base: &self.base,
            common: &self.common,
            root: &self.root,
            out: &self.out,
            objects: &kept,
            stop: &self.build.stop,
        };
        let compiled = parallel(&units, |unit| compile(&with, unit));
        let (mut objects, mut inputs) = (Vec::new(), Vec::new());
        for compiled in compiled {
            let (made, files) = compiled?;
            objects.push(made);
            inputs.extend(files);
        }
        let own_objects = usize::from(self.harness.file.is_some());
        let (objects, notes) = without_duplicates(objects, own_objects)?;
        kept.clear();
        Ok(Users {
            objects,
            notes,
            inputs,
        })
    }

    /// Writes Rust bindings of the harness's header, if they are asked for, and returns the header.
    fn bindings(&self) -> Result<Option<PathBuf>, BuildError> {
        let Some(header) = &self.harness.bindings else {
            return Ok(None);
        };
        let folder = self
            .out
            .parent()
            .and_then(Path::parent)
            .unwrap_or(&self.out);
        let args = [self.common.clone(), self.library()].concat();
        bindings::write(&self.harness.name, &self.root, header, &args, folder)?;
        Ok(Some(self.root.join(header)))
    }

    /// The objects of the stubs and the runtime. Their symbols are not redirected. They access the
    /// user's memory, so the sanitizers instrument them too.
    fn stubs(
        &self,
        objects: &[Object],
        entry: &(String, Entry),
    ) -> Result<Vec<PathBuf>, BuildError> {
        let (stubs, harness) = (self.out.join("stubs"), self.harness);
        let mut native = self.base.clone();
        native
            .out_dir(self.out.join("native"))
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
        if returns_nothing(harness, entry, &self.root) {
            native.define("CRUNNER_ENTRY_VOID", None);
        }
        let wanted = |(role, path): &&(Role, PathBuf)| {
            let of_runtime = matches!(
                role,
                Role::Stub | Role::Runtime | Role::RuntimeMock | Role::RuntimeWatched
            );
            (of_runtime || *role == Role::Entry(entry.1))
                && path.extension().is_some_and(|extension| extension == "c")
        };
        let sources = self.sources.iter().filter(wanted);
        let mut files: Vec<PathBuf> = sources.map(|(_, path)| path.clone()).collect();
        let support_text = include_str!("../support.c");
        if !self.sanitizers.contains(&"address") {
            let support = self.out.join("support.c");
            write(&support, support_text)?;
            files.push(support);
        }
        let texts = cegar_stubs::sources()
            .iter()
            .flat_map(|source| [source.name, source.text]);
        let texts: Vec<&str> = texts.chain([support_text]).collect();
        let compiler = native.try_get_compiler()?;
        let depends_on = Cache::depends_on(&compiler, &self.out);
        let place = (&*self.out.join("native"), &self.build.stop);
        self.cache
            .objects(&compiler, &files, &texts, &depends_on, place)
    }

    /// Links the executable with mocks of the undefined functions: the functions that the tool
    /// described and, if the linker reports more, functions that return an `int`. Returns all mocks
    /// and the names of the guessed ones.
    fn link(
        &self,
        linked: Vec<PathBuf>,
        objects: &[Object],
    ) -> Result<(Vec<MockedFunction>, Vec<String>), BuildError> {
        let undefined = |name: &str| !objects.iter().any(|object| object.defines.contains(name));
        let known = self.build.mocked.iter();
        let known = known.filter(|function| undefined(&function.name));
        let mut mocked: Vec<MockedFunction> = known.cloned().collect();
        let with_mocks = |mocked: &[MockedFunction]| -> Result<(), BuildError> {
            let mocks = mock_object(&self.base, mocked, &self.out)?;
            let mut command = self.linker(&[linked.clone(), mocks].concat())?;
            run_until(&mut command, &self.build.stop)
        };
        let mut guessed = Vec::new();
        match with_mocks(&mocked) {
            Err(BuildError::Failed { output, command }) => {
                guessed = mocks::undefined_in(&output);
                if guessed.is_empty() {
                    return Err(BuildError::Failed { output, command });
                }
                let int = Shape::Int {
                    size: 4,
                    signed: true,
                };
                let names = guessed.iter();
                mocked.extend(names.map(|name| MockedFunction::returning(name, int)));
                with_mocks(&mocked)?;
            }
            other => other?,
        }
        Ok((mocked, guessed))
    }

    fn linker(&self, objects: &[PathBuf]) -> Result<Command, BuildError> {
        let mut command = self.base.try_get_compiler()?.to_command();
        command
            .args(objects)
            .args(sanitize(&self.sanitizers))
            .args(["-pie", "-lm"])
            .args(&self.build.link)
            .arg("-o")
            .arg(self.runner());
        Ok(command)
    }

    /// Writes a file beside the executable with what a test has to know about it.
    fn describe(&self, mut mocked: Vec<MockedFunction>) -> Result<(), BuildError> {
        let members: Vec<_> = mocked.iter().flat_map(MockedFunction::members).collect();
        mocked.extend(members);
        let all = mocked.iter();
        let channels: BTreeMap<String, Shape> = all
            .map(|function| (function.channel().to_owned(), function.returns))
            .collect();
        let parameters = mocked.iter().filter_map(|function| {
            let signature = function.signature.as_ref()?;
            Some((function.channel().to_owned(), signature.params.clone()))
        });
        let about = locate::About {
            parameters: parameters.collect(),
            sanitized: self.sanitizers.contains(&"address"),
            channels,
            functions: mocked
                .into_iter()
                .filter(MockedFunction::has_body)
                .collect(),
        };
        let text = serde_json::to_string(&about).unwrap_or_default();
        write(&locate::about_path(&self.runner()), &text)
    }
}

/// The flag that switches sanitizers on, if there are any.
fn sanitize(sanitizers: &[&str]) -> Option<String> {
    (!sanitizers.is_empty()).then(|| format!("-fsanitize={}", sanitizers.join(",")))
}

/// The compiler with the flags that every file is compiled with.
fn base(build: &Build, out: &Path, cache: &Cache) -> Result<cc::Build, BuildError> {
    let mut base = cc::Build::new();
    if std::env::var_os("TARGET").is_none() {
        base.cargo_warnings(false);
        // Outside a build script the target is this machine.
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
    // Fills fresh stack memory as the engine does (clang: 0xAA; gcc's pattern is 0xFE).
    flag_if_supported(&mut base, "-ftrivial-auto-var-init=pattern", cache)?;
    Ok(base)
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

/// The entry function's name and its driver.
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

/// Whether the entry function is written `void name(`. The driver must not read a result then.
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
        // The sanitizer and the C library themselves call some functions that have these names.
        .flag("-fvisibility=hidden")
        .flag("-std=gnu99");
    Ok(compiler.try_compile_intermediates()?)
}

/// The C files in a folder, sorted by name.
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
        let args = ["-Iinc", "-I", "b", "-isystemc", "-DX=1", "-I/abs"].map(str::to_owned);
        assert_eq!(
            absolute(&args, Path::new("/d")),
            ["-I/d/inc", "-I", "/d/b", "-isystem/d/c", "-DX=1", "-I/abs"]
        );
    }

    #[test]
    fn a_file_that_is_included_first_may_lie_in_a_header_folder() {
        let args = ["-include", "no/such.h", "-imacrosno/such.h"].map(str::to_owned);
        assert_eq!(absolute(&args, Path::new("/d")), args);
    }
}
