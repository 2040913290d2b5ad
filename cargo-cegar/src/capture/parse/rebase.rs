//! Rewrites the paths in flags.

use std::path::{Component, Path, PathBuf};

/// Returns the flags with every path, which is relative to `directory`, replaced by the result of
/// `place`.
pub(in crate::capture) fn rebase(
    flags: &[String],
    directory: &Path,
    place: &impl Fn(&Path) -> PathBuf,
) -> Vec<String> {
    const PATHS: &[&str] = &[
        "-isystem",
        "-iquote",
        "-idirafter",
        "-include",
        "-imacros",
        "-I",
    ];
    let moved = |path: &str, file: bool| {
        let whole = normal(&directory.join(path));
        // An `-include` file that does not exist here is searched for in the include path.
        if file && !whole.is_file() {
            return path.to_owned();
        }
        place(&whole).to_string_lossy().into_owned()
    };
    let is_file = |flag: &str| flag == "-include" || flag == "-imacros";
    let mut rebased = Vec::with_capacity(flags.len());
    let mut flags = flags.iter();
    while let Some(flag) = flags.next() {
        let option = PATHS.iter().find(|option| flag.starts_with(**option));
        match option {
            Some(option) if flag == option => {
                rebased.push(flag.clone());
                rebased.extend(flags.next().map(|path| moved(path, is_file(option))));
            }
            Some(option) => {
                rebased.push(format!(
                    "{option}{}",
                    moved(&flag[option.len()..], is_file(option))
                ));
            }
            None => {
                rebased.push(flag.clone());
                if flag == "-D" || flag == "-U" {
                    rebased.extend(flags.next().cloned());
                }
            }
        }
    }
    rebased
}

/// Removes `.` and `..` from a path textually: symbolic links are not resolved.
pub(in crate::capture) fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if normal.file_name().is_some() => {
                normal.pop();
            }
            part => normal.push(part),
        }
    }
    normal
}
