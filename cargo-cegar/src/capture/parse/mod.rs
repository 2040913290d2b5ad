//! Converts records into compile commands.
//!
//! A build calls its compiler not only to compile the library, but also to ask for its version, to
//! test whether a header exists, to link, and to list dependencies. And it passes flags that only
//! affect the object file. Only what changes the *meaning* of the code is kept: defines, include
//! paths, the language standard, and the `-f` and `-m` flags that change types or which code is
//! compiled. Files that are not kept are reported with the reason.

mod flags;
mod rebase;

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use super::{Captured, LeftOut, Record, Unit};
use flags::{KEPT_WITH_ARGUMENT, WITH_ARGUMENT, matters, plain, significant};
pub(super) use rebase::{normal, rebase};

/// Why a file that is compiled and linked by one call is left out: most of these calls test the
/// compiler or an installed library.
pub(super) const STRAIGHT: &str = "compiled straight into an executable";

/// Converts the records of one package's build into its C files, in the order in which they were
/// compiled.
pub fn parse(records: &[Record]) -> Captured {
    let mut captured = Captured::default();
    // A file compiled twice (with and without -fPIC) is one file. With different macros it counts
    // as another file with other functions: if two define the same symbol, a linker takes the
    // first.
    let mut seen: BTreeMap<PathBuf, Vec<Vec<String>>> = BTreeMap::new();
    for record in records {
        let Some(call) = Call::read(record) else {
            continue;
        };
        for (source, language) in &call.sources {
            let source = normal(&record.cwd.join(source));
            if is_probe(&record.cwd, &source) {
                continue;
            }
            let mut leave = |why: &str| {
                let left = LeftOut {
                    file: source.clone(),
                    why: why.to_owned(),
                };
                if !captured.left_out.contains(&left) {
                    captured.left_out.push(left);
                }
            };
            match language {
                Language::Cxx if is_c_by_name(&source) && call.to_object => {
                    captured.maybe_c.push(Unit {
                        file: source,
                        args: call.flags.clone(),
                        directory: record.cwd.clone(),
                    });
                }
                Language::Cxx => leave("C++ is not supported"),
                Language::Assembly => leave("assembly; calls into it are mocked"),
                Language::Other => leave("not C"),
                Language::C if !call.to_object => leave(STRAIGHT),
                Language::C if !source.is_file() => leave("does not exist any more"),
                Language::C => {
                    let all = seen.entry(source.clone()).or_default();
                    let is_known =
                        |flags: &Vec<String>| significant(flags) == significant(&call.flags);
                    if all.iter().any(is_known) {
                        continue;
                    }
                    all.push(call.flags.clone());
                    captured.units.push(Unit {
                        file: source,
                        args: call.flags.clone(),
                        directory: record.cwd.clone(),
                    });
                }
            }
        }
    }
    captured
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    C,
    Cxx,
    Assembly,
    Other,
}

/// One call of the compiler.
struct Call {
    sources: Vec<(PathBuf, Language)>,
    flags: Vec<String>,
    to_object: bool,
}

impl Call {
    /// Reads a record. Returns `None` if the call compiles nothing.
    fn read(record: &Record) -> Option<Call> {
        let mut call = Call {
            sources: Vec::new(),
            flags: Vec::new(),
            to_object: false,
        };
        let mut forced: Option<Language> = None;
        let args = plain(expand(&record.args, &record.cwd, 0));
        let mut args = args.into_iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                // Preprocessing, dependencies, assembly listing, queries: the call makes no object.
                "-E" | "-M" | "-MM" | "-S" | "-fsyntax-only" | "--version" | "-dumpversion"
                | "-dumpmachine" | "-###" => return None,
                "-c" | "-shared" => call.to_object = true,
                "-x" => forced = language_named(&args.next()?),
                "-" => {}
                "-pthread" | "-ansi" | "-undef" | "-nostdinc" | "-trigraphs" => {
                    call.flags.push(arg)
                }
                "-Xclang" | "-Xassembler" | "-Xlinker" => drop(args.next()),
                word if KEPT_WITH_ARGUMENT.contains(&word) => {
                    let value = args.next()?;
                    call.flags.extend([arg, value]);
                }
                word if WITH_ARGUMENT.contains(&word) => drop(args.next()),
                word if word.starts_with("-x") => forced = language_named(&word[2..]),
                word if word.starts_with('-') => {
                    if matters(word) {
                        call.flags.push(arg);
                    }
                }
                word => {
                    if let Some(language) =
                        forced.or_else(|| language_of(Path::new(word), &record.compiler))
                    {
                        call.sources.push((PathBuf::from(word), language));
                    }
                }
            }
        }
        let paths = record.include_path.as_deref().unwrap_or_default();
        for path in paths.split(':').filter(|path| !path.is_empty()) {
            call.flags.extend(["-isystem".to_owned(), path.to_owned()]);
        }
        // If several libraries are built in turn, the build of the next one deletes the generated
        // headers of the previous one, but what was installed is still there.
        let installed = record.out_dir.as_ref().map(|out| out.join("include"));
        if let Some(folder) = installed.filter(|folder| folder.is_dir()) {
            let folder = folder.to_string_lossy().into_owned();
            call.flags.extend(["-idirafter".to_owned(), folder]);
        }
        (!call.sources.is_empty()).then_some(call)
    }
}

/// Replaces `@file` by the words in the file, like compilers do.
pub(super) fn expand(args: &[String], cwd: &Path, depth: usize) -> Vec<String> {
    let mut words = Vec::with_capacity(args.len());
    for arg in args {
        let inner = arg
            .strip_prefix('@')
            .filter(|_| depth < 8)
            .and_then(|file| std::fs::read_to_string(cwd.join(file)).ok())
            .and_then(|text| shlex::split(&text));
        match inner {
            Some(inner) => words.extend(expand(&inner, cwd, depth + 1)),
            None => words.push(arg.clone()),
        }
    }
    words
}

fn language_named(name: &str) -> Option<Language> {
    match name {
        "none" => None,
        "c" | "cpp-output" => Some(Language::C),
        "c++" | "c++-cpp-output" => Some(Language::Cxx),
        "assembler" | "assembler-with-cpp" => Some(Language::Assembly),
        _ => Some(Language::Other),
    }
}

/// The language of a file by its extension; `None` for files that are only linked. A C++ compiler
/// compiles `.c` as C++.
fn language_of(file: &Path, compiler: &str) -> Option<Language> {
    match file.extension()?.to_str()? {
        "c" | "i" if compiler.ends_with("++") => Some(Language::Cxx),
        "c" | "i" => Some(Language::C),
        "cc" | "cpp" | "cxx" | "c++" | "C" | "CPP" | "cp" | "ii" => Some(Language::Cxx),
        "s" | "S" | "sx" | "asm" => Some(Language::Assembly),
        "m" | "M" | "mm" | "f" | "f90" | "F" | "go" | "d" | "cu" => Some(Language::Other),
        _ => None,
    }
}

fn is_c_by_name(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "c")
}

/// Whether a file is a probe of a build system, which tests whether a header, flag or function
/// exists.
fn is_probe(cwd: &Path, source: &Path) -> bool {
    const FOLDERS: &[&str] = &[
        "CMakeScratch",
        "CMakeTmp",
        "CompilerIdC",
        "CompilerIdCXX",
        "meson-private",
        "meson-info",
    ];
    const FILES: &[&str] = &[
        "flag_check",
        "sanitycheckc",
        "testCCompiler",
        "testCXXCompiler",
        "CMakeCCompilerABI",
        "CMakeCXXCompilerABI",
        "CMakeCCompilerId",
        "CMakeCXXCompilerId",
        "CheckFunctionExists",
        "CheckSymbolExists",
        "CheckIncludeFile",
        "CheckTypeSize",
    ];
    let in_folder = |path: &Path| {
        path.components().any(|part| {
            matches!(part, Component::Normal(name) if FOLDERS.iter().any(|folder| name == *folder))
        })
    };
    let stem = source.file_stem().unwrap_or_default().to_string_lossy();
    in_folder(cwd)
        || in_folder(source)
        || stem.starts_with("conftest")
        || stem.ends_with("detect_compiler_family")
        || stem.starts_with("cmTC_")
        || FILES.contains(&&*stem)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// Creates a folder with the named files, and parses records of calls in it.
    fn called(files: &[&str], line: &str) -> (tempfile::TempDir, Captured) {
        let dir = tempfile::tempdir().unwrap();
        for file in files {
            let path = dir.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let records: Vec<Record> = line
            .lines()
            .map(|line| Record {
                cwd: dir.path().to_owned(),
                args: shlex::split(line).unwrap(),
                compiler: "cc".into(),
                package: None,
                include_path: None,
                out_dir: None,
            })
            .collect();
        let captured = parse(&records);
        (dir, captured)
    }

    fn names(captured: &Captured) -> Vec<String> {
        let name = |unit: &Unit| {
            unit.file
                .file_name()
                .unwrap()
                .to_string_lossy()
                .into_owned()
        };
        captured.units.iter().map(name).collect()
    }

    #[test]
    fn flags_that_matter_are_kept() {
        let (_dir, captured) = called(
            &["src/a.c"],
            "-O3 -ffunction-sections -fPIC -g -m64 -mtune=native -I include -Iother -D N=1 \
             '-DS=\"x y\"' -UQ -std=c99 -Wall -fsigned-char -include cfg.h -MD -MF a.d -o out.o -c \
             src/../src/a.c",
        );
        assert_eq!(names(&captured), ["a.c"]);
        assert_eq!(
            captured.units[0].args,
            [
                "-D__OPTIMIZE__=1",
                "-U__NO_INLINE__",
                "-m64",
                "-I",
                "include",
                "-Iother",
                "-D",
                "N=1",
                "-DS=\"x y\"",
                "-UQ",
                "-std=c99",
                "-fsigned-char",
                "-include",
                "cfg.h"
            ]
        );
    }

    #[test]
    fn flags_have_other_names() {
        let flags = |line: &str| {
            let (_dir, captured) = called(&["a.c"], &format!("{line} -c a.c"));
            captured.units[0].args.join(" ")
        };
        assert_eq!(
            flags("-Wp,-DA=1,-U,B,-MD,x.d,-include,c.h -Xpreprocessor -DD --define-macro=E"),
            "-DA=1 -U B -include c.h -DD -DE"
        );
        assert_eq!(
            flags("--include-directory d --include-directory=e --include=f.h --undefine-macro G"),
            "-Id -Ie -include f.h -UG"
        );
        assert_eq!(flags("-O2 -O0"), "");
        assert_eq!(
            flags("-Os -fopenmp -ffast-math"),
            "-D__OPTIMIZE__=1 -D__OPTIMIZE_SIZE__=1 -U__NO_INLINE__ -D_OPENMP=201511 \
             -D__FAST_MATH__=1 -D__FINITE_MATH_ONLY__=1 -D__NO_MATH_ERRNO__=1 \
             -D__NO_SIGNED_ZEROS__=1 -D__NO_TRAPPING_MATH__=1 -D__RECIPROCAL_MATH__=1 \
             -D__ASSOCIATIVE_MATH__=1 -D__GCC_IEC_559=0 -D__GCC_IEC_559_COMPLEX=0 \
             -fno-signed-zeros"
        );
        assert_eq!(
            flags("-ffast-math -fno-finite-math-only -fsigned-zeros -fno-reciprocal-math"),
            "-D__NO_MATH_ERRNO__=1 -D__NO_TRAPPING_MATH__=1"
        );
        assert_eq!(
            flags("-O2 -fcf-protection -fnon-call-exceptions -frounding-math -U__OPTIMIZE__"),
            "-D__OPTIMIZE__=1 -U__NO_INLINE__ -D__ROUNDING_MATH__=1 -D__EXCEPTIONS=1 -D__CET__=3 \
             -U__OPTIMIZE__"
        );
        assert_eq!(
            flags("-fexceptions -fstack-protector-all -fno-math-errno -fPIE"),
            "-D__NO_MATH_ERRNO__=1 -D__EXCEPTIONS=1 -D__SSP_ALL__=2 -D__PIE__=2"
        );
        assert_eq!(
            flags("-fexceptions -fno-exceptions -fPIE -fPIC -ffinite-math-only -fmath-errno"),
            "-D__FINITE_MATH_ONLY__=1 -fno-signed-zeros"
        );
        assert_eq!(
            flags("-finput-charset=latin1 -fexec-charset=UTF-8"),
            "-fexec-charset=UTF-8"
        );
    }

    #[test]
    fn several_files_and_response_files() {
        let (dir, captured) = called(&["a.c", "b.c"], "");
        assert!(captured.units.is_empty());
        std::fs::write(dir.path().join("args"), "-DX='1 2' a.c\nb.c").unwrap();
        let record = Record {
            cwd: dir.path().to_owned(),
            args: vec!["-c".into(), "@args".into()],
            compiler: "gcc".into(),
            package: None,
            include_path: Some("/inc".into()),
            out_dir: None,
        };
        let captured = parse(&[record]);
        assert_eq!(names(&captured), ["a.c", "b.c"]);
        assert_eq!(captured.units[1].args, ["-DX=1 2", "-isystem", "/inc"]);
    }

    #[test]
    fn probes_and_links_are_not_files() {
        let (_dir, captured) = called(
            &[
                "conftest.c",
                "CMakeFiles/CMakeScratch/T/x.c",
                "flag_check.c",
                "a.o",
                "a.c",
            ],
            "-c conftest.c\n-c CMakeFiles/CMakeScratch/T/x.c\n-c flag_check.c\na.o -o prog\n\
             -E a.c\n--version\n-M -c a.c",
        );
        assert_eq!(captured, Captured::default());
    }

    #[test]
    fn what_is_left_out_is_named() {
        let (_dir, captured) = called(
            &["a.cpp", "b.S", "main.c", "h", "x.c"],
            "-c a.cpp\n-c b.S\nmain.c -o main\n-x c -c h\n-c gone.c\n-c x.c\n-fPIC -DPIC -c x.c\n\
             -DY -c x.c",
        );
        // The second call differs only in -DPIC, which does not make it another file; the third has
        // another macro.
        assert_eq!(names(&captured), ["h", "x.c", "x.c"]);
        let why: Vec<&str> = captured
            .left_out
            .iter()
            .map(|left| left.why.as_str())
            .collect();
        assert_eq!(why.len(), 4, "{why:?}");
        assert!(why[0].contains("C++") && why[1].contains("assembly"));
    }
}
