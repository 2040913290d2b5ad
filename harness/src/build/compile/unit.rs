//! Compiles the user's C files into objects, and lists the symbols that these define and use.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use cegar_stubs::{Entry, UNSANITIZED};

use crate::build::cache::{self, Cache};
use crate::build::config::Unit;
use crate::build::objects::Objects;
use crate::build::tools::{Stop, run_until};
use crate::build::{BuildError, archive, flags, resolve, tools};

/// An object file of the user's code and its global symbols.
pub(super) struct Object {
    pub(super) path: PathBuf,
    pub(super) source: PathBuf,
    pub(super) defines: HashSet<String>,
    /// The defined symbols that no other file may define.
    pub(super) strong: HashSet<String>,
    pub(super) wants: HashSet<String>,
}

/// What the files of one harness are compiled with.
pub(super) struct Compiling<'a> {
    pub(super) base: &'a cc::Build,
    pub(super) common: &'a [String],
    pub(super) root: &'a Path,
    /// The harness's folder. Its name does not affect whether a file is compiled again.
    pub(super) out: &'a Path,
    /// The version of the headers in that folder.
    pub(super) version: String,
    pub(super) objects: &'a Objects,
    pub(super) stop: &'a Stop,
}

/// Compiles one file, unless its object is cached. Returns the object and the files that it was
/// made of.
pub(super) fn compile(
    with: &Compiling<'_>,
    unit: &Unit,
) -> Result<(Object, Vec<PathBuf>), BuildError> {
    let directory = resolve(with.root, &unit.directory);
    let file = resolve(&directory, &unit.file);
    let mut compiler = with.base.clone();
    // In this order the file's own include folders are searched first, and the package's macros
    // override the file's.
    for arg in absolute(&unit.args, &directory).iter().chain(with.common) {
        compiler.flag(arg);
    }
    // With these flags, signed arithmetic that overflows is defined.
    if flags::is_wrapping(&unit.args) {
        compiler.flag("-fno-sanitize=signed-integer-overflow");
    }
    let compiler = compiler.try_get_compiler()?;
    let how = Cache::depends_on(&compiler, with.out) + &with.version;
    let folder = with.out.join("user");
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let number = cache::name(&[how.as_bytes(), file.as_os_str().as_encoded_bytes()]);
    let object = folder.join(format!("{}-{stem}.o", &number[..16]));
    let text = match with.objects.is_kept() {
        true => preprocessed(&compiler, &file, &object, with.stop)?,
        false => Vec::new(),
    };
    let known = Objects::known(&how, &file, &text);
    let read = match with.objects.take(&known, &object, with.out) {
        Some(read) => read,
        None => {
            let list = object.with_extension("d");
            let compiles = |without: &[&str]| {
                let whole = compiler.to_command();
                let mut command = Command::new(whole.get_program());
                let is_taken = |arg: &&OsStr| without.iter().all(|left_out| arg != left_out);
                command.args(whole.get_args().filter(is_taken));
                let set = whole.get_envs();
                command.envs(set.filter_map(|(name, value)| Some((name, value?))));
                command.arg("-MD").arg("-MF").arg(&list);
                if !flags::is_c_by_name(&file) {
                    command.args(["-x", "c"]);
                }
                command.arg("-c").arg(&file).arg("-o").arg(&object);
                run_until(&mut command, with.stop).map_err(|why| rejected(&file, why))
            };
            match compiles(&[]) {
                Err(BuildError::Failed { .. }) => compiles(&UNSANITIZED)?,
                other => other?,
            }
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
    // System headers change only with the compiler.
    let mut own = searched(&unit.args, &directory, &made.source, with);
    own.extend(read);
    own.retain(|file| !file.starts_with("/usr"));
    Ok((made, own))
}

/// The folders that are searched for the headers of `file`. Cargo watches them, since a new header
/// in one of them may shadow another header. Folders that contain the output or the package are
/// left out, since they change with each build.
fn searched(args: &[String], directory: &Path, file: &Path, with: &Compiling<'_>) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = file.parent().map(Path::to_owned).into_iter().collect();
    let mut args = args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        let option = ["-iquote", "-isystem", "-idirafter", "-I"]
            .into_iter()
            .find_map(|option| arg.strip_prefix(option));
        match option {
            Some("") => folders.extend(args.next().map(|folder| resolve(directory, folder))),
            Some(folder) => folders.push(resolve(directory, folder)),
            None => {}
        }
    }
    folders.retain(|folder| {
        folder.is_dir() && !with.out.starts_with(folder) && !with.root.starts_with(folder)
    });
    folders
}

/// The preprocessed text of a file, without line markers, since these name scratch folders. It is
/// empty if the compiler rejects the file; compiling then reports the error. The text is made
/// before the object, so that a file that is saved in between does not match the text of the next
/// build.
fn preprocessed(
    compiler: &cc::Tool,
    file: &Path,
    object: &Path,
    stop: &Stop,
) -> Result<Vec<u8>, BuildError> {
    let made = object.with_extension("i");
    let mut command = compiler.to_command();
    command.args(["-E", "-P"]).arg(file).arg("-o").arg(&made);
    match run_until(&mut command, stop) {
        Err(BuildError::Interrupted) => Err(BuildError::Interrupted),
        Err(_) => Ok(Vec::new()),
        Ok(()) => {
            let text = std::fs::read(&made);
            // If it cannot be removed, it remains in the scratch folder.
            let _ = std::fs::remove_file(&made);
            text.map_err(|why| BuildError::Io { path: made, why })
        }
    }
}

/// Leaves out objects that a linker would not take from the library's archive because another
/// member defines the symbol, and returns a note for each. The first `own` objects are the
/// harness's; if `own` is 0, there is no library.
pub(super) fn without_duplicates(
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

/// The compiler's error for a file, with the name of the file in place of the command.
pub(super) fn rejected(file: &Path, why: BuildError) -> BuildError {
    match why {
        BuildError::Failed { output, .. } => BuildError::Failed {
            command: format!("compiling {}", file.display()),
            output,
        },
        why => why,
    }
}

/// Redirects the user's objects to the stubs.
pub(super) fn redirect(
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
        // The runtime defines the `main` of the process. At most one of the user's is the entry.
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

/// Makes the paths in arguments absolute; they are relative to `directory`.
pub(super) fn absolute(args: &[String], directory: &Path) -> Vec<String> {
    const PATHS: &[&str] = &[
        "-isystem",
        "-iquote",
        "-idirafter",
        "-include",
        "-imacros",
        "-I",
    ];
    let place = |option: &str, path: &str| match option {
        "-include" | "-imacros" => flags::first(directory, path),
        _ => resolve(directory, path).display().to_string(),
    };
    let mut next = None;
    let mut all = Vec::with_capacity(args.len());
    for arg in args {
        if let Some(option) = next.take() {
            all.push(place(option, arg));
            continue;
        }
        let option = PATHS.iter().find(|option| arg.starts_with(**option));
        match option.map(|option| (*option, &arg[option.len()..])) {
            Some((option, "")) => {
                next = Some(option);
                all.push(arg.clone());
            }
            Some((option, path)) => all.push(format!("{option}{}", place(option, path))),
            None => all.push(arg.clone()),
        }
    }
    all
}

/// The files in a compiler's dependency list.
pub(super) fn dependencies(list: &Path) -> Vec<PathBuf> {
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
