//! Determines what a build makes of its object files.
//!
//! A build compiles more than its library: for example, cmake builds tests and examples beside it.
//! This shows when objects are put into archives or linked into programs. Objects that go only into
//! programs are left out. The others are sorted in the order of their archive, since a linker takes
//! the first of two members that define the same symbol.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::compilers::{Tool, tool};
use super::parse::{expand, normal};
use super::{Captured, LeftOut, Record, Unit};

/// The uses of the objects.
#[derive(Default)]
struct Uses {
    /// For each object, the sources that it is compiled from.
    sources: BTreeMap<PathBuf, Vec<PathBuf>>,
    /// Sources in the order in which their objects go into archives and shared libraries.
    in_library: Vec<PathBuf>,
    /// Sources whose objects are linked into a program.
    in_program: Vec<PathBuf>,
    /// The objects that were compiled, including those of other languages.
    made: BTreeSet<PathBuf>,
    /// Whether a library contains an object that was not compiled in this build.
    older: bool,
}

/// The extensions other than C from which a C compiler makes objects.
const OTHERS: [&str; 6] = ["s", "S", "cc", "cpp", "cxx", "C"];

/// Leaves out units that belong only to programs, sorts the others in archive order, and records
/// whether the archives contain objects of an earlier build.
pub(super) fn sort(captured: &mut Captured, records: &[Record]) {
    let mut uses = Uses::default();
    for record in records {
        uses.read(record);
    }
    captured.is_partial = uses.older;
    let place = |unit: &Unit| uses.in_library.iter().position(|file| *file == unit.file);
    // Without a library, a program's objects cannot be distinguished.
    if uses.in_library.is_empty() {
        return;
    }
    let (library, programs): (Vec<Unit>, Vec<Unit>) = captured
        .units
        .drain(..)
        .partition(|unit| place(unit).is_some() || !uses.in_program.contains(&unit.file));
    captured.units = library;
    captured
        .units
        .sort_by_key(|unit| place(unit).unwrap_or(usize::MAX));
    let left = programs.into_iter().map(|unit| LeftOut {
        file: unit.file,
        why: "part of a program, and of no library".to_owned(),
    });
    captured.left_out.extend(left);
}

impl Uses {
    fn read(&mut self, record: &Record) {
        let args = expand(&record.args, &record.cwd, 0);
        let name = Path::new(&record.compiler).file_name();
        let name = name.unwrap_or_default().to_string_lossy();
        if tool(&name) == Some(Tool::Archiver) {
            self.archived(&args, &record.cwd);
            return;
        }
        let has = |option: &str| args.iter().any(|arg| arg == option);
        if has("-c") {
            self.compiled(&args, &record.cwd);
        } else if has("-shared") || has("-r") {
            self.archived(&args, &record.cwd);
        } else {
            let objects = self.objects(&args, &record.cwd);
            self.in_program.extend(objects);
        }
    }

    /// Records which objects go into a library.
    fn archived(&mut self, args: &[String], cwd: &Path) {
        let objects = self.objects(args, cwd);
        self.in_library.extend(objects);
        let mut objects = args.iter().filter(|arg| arg.ends_with(".o"));
        self.older |= objects.any(|arg| !self.made.contains(&normal(&cwd.join(arg))));
    }

    /// Records which object each source is compiled to.
    fn compiled(&mut self, args: &[String], cwd: &Path) {
        let has = |arg: &str, of: &[&str]| {
            let extension = Path::new(arg).extension().and_then(|e| e.to_str());
            !arg.starts_with('-') && extension.is_some_and(|extension| of.contains(&extension))
        };
        let is_c = |arg: &str| has(arg, &["c", "i"]);
        let is_source = |arg: &&String| is_c(arg) || has(arg, &OTHERS);
        let output = args.iter().position(|arg| arg == "-o");
        let output = output.and_then(|at| args.get(at + 1));
        let glued = args.iter().find_map(|arg| arg.strip_prefix("-o"));
        for source in args.iter().filter(is_source) {
            let object = match (output, glued) {
                (Some(output), _) => PathBuf::from(output),
                (None, Some(output)) if !output.is_empty() => PathBuf::from(output),
                _ => {
                    Path::new(Path::new(source).file_name().unwrap_or_default()).with_extension("o")
                }
            };
            let object = normal(&cwd.join(object));
            self.made.insert(object.clone());
            if !is_c(source) {
                continue;
            }
            let source = normal(&cwd.join(source));
            let known = self.sources.entry(object).or_default();
            if !known.contains(&source) {
                known.push(source);
            }
        }
    }

    /// The sources of the objects among the arguments.
    fn objects(&self, args: &[String], cwd: &Path) -> Vec<PathBuf> {
        let each = args.iter().map(|arg| normal(&cwd.join(arg)));
        each.filter_map(|path| self.sources.get(&path))
            .flatten()
            .cloned()
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(compiler: &str, line: &str) -> Record {
        Record {
            cwd: PathBuf::from("/b"),
            args: shlex::split(line).unwrap_or_default(),
            compiler: compiler.to_owned(),
            package: None,
            include_path: None,
            out_dir: None,
        }
    }

    fn sorted(files: &[&str], records: &[Record]) -> (Vec<String>, usize) {
        let unit = |file: &&str| Unit {
            file: Path::new("/s").join(file),
            args: Vec::new(),
            directory: PathBuf::from("/b"),
        };
        let mut captured = Captured {
            units: files.iter().map(unit).collect(),
            ..Captured::default()
        };
        sort(&mut captured, records);
        let name = |unit: &Unit| {
            unit.file
                .file_name()
                .map(|n| n.to_string_lossy().into_owned())
        };
        let names = captured.units.iter().filter_map(name).collect();
        (names, captured.left_out.len())
    }

    #[test]
    fn programs_go_and_the_archive_sorts() {
        let records = [
            record("cc", "-c ../s/b.c -o x/b.o"),
            record("cc", "-o x/a.o -c /s/a.c"),
            record("cc", "-c ../s/t.c"),
            record("cc", "-c ../s/loose.c"),
            record("/usr/bin/ar", "qc libx.a x/a.o x/b.o"),
            record("cc", "t.o x/b.o -o t libx.a"),
        ];
        let (names, left) = sorted(&["t.c", "b.c", "loose.c", "a.c"], &records);
        assert_eq!(
            (names.as_slice(), left),
            (&["a.c", "b.c", "loose.c"].map(str::to_owned)[..], 1)
        );
    }

    #[test]
    fn objects_of_an_earlier_build_are_known() {
        let archive = record("/usr/bin/ar", "rcs libx.a x/a.o x/b.o x/c.o");
        let mut records = vec![
            record("cc", "-c ../s/b.c -o x/b.o"),
            record("c++", "-c ../s/c.cpp -o x/c.o"),
            archive.clone(),
        ];
        let is_partial = |records: &[Record]| {
            let mut captured = Captured::default();
            sort(&mut captured, records);
            captured.is_partial
        };
        assert!(is_partial(&records));
        records.insert(0, record("cc", "-o x/a.o -c /s/a.S"));
        assert!(!is_partial(&records));
        assert!(!is_partial(&[]));
    }

    #[test]
    fn without_an_archive_nothing_changes() {
        let records = [record("cc", "-c ../s/t.c"), record("cc", "t.o -o t")];
        assert_eq!(sorted(&["t.c"], &records), (vec!["t.c".to_owned()], 0));
    }
}
