//! The flags that a harness is compiled with besides its own.
//!
//! A harness includes the library's headers, so it needs their folders and the macros that the
//! headers were written for: those that the whole library is compiled with. The layout of a
//! structure also depends on flags. A harness without them could pass an object that is larger than
//! the library's, and an access past the library's object would stay within the harness's.

use std::path::Path;

use super::resolve;

/// Options with a value that a harness takes over if all files agree on it.
const AGREED: &[&str] = &["-D", "-U", "-include", "-imacros"];
/// Options with a folder.
const FOLDERS: &[&str] = &["-I", "-isystem", "-iquote", "-idirafter"];
/// Flags that determine the layout of types, the signedness of `char`, and the language extensions
/// that a header may use.
pub const LAYOUT: &[&str] = &[
    "-fsigned-char",
    "-funsigned-char",
    "-fno-signed-char",
    "-fno-unsigned-char",
    "-fshort-enums",
    "-fno-short-enums",
    "-fms-extensions",
    "-fplan9-extensions",
    "-fblocks",
];

/// Whether signed overflow wraps around in a file that is compiled with these flags.
pub fn is_wrapping(flags: &[String]) -> bool {
    let wraps = |flag: &String| matches!(flag.as_str(), "-fwrapv" | "-fno-strict-overflow");
    flags.iter().any(wraps)
}

/// Whether compilers recognise a file as C by its name.
pub fn is_c_by_name(file: &Path) -> bool {
    let extension = file.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("c" | "i"))
}

/// Whether a flag of one word determines the layout of types: one of [`LAYOUT`], packed structures,
/// or a machine option.
fn is_layout(flag: &str) -> bool {
    LAYOUT.contains(&flag) || flag.starts_with("-fpack-struct") || flag.starts_with("-m")
}

/// Splits a flag into one of `options` and its value, which may be the next word.
fn valued<'a>(
    options: &[&'static str],
    flag: &'a str,
    rest: &mut impl Iterator<Item = &'a str>,
) -> Option<(&'static str, &'a str)> {
    let option = options.iter().find(|option| flag.starts_with(**option))?;
    let value = match &flag[option.len()..] {
        "" => rest.next()?,
        value => value,
    };
    Some((option, value))
}

/// The flags for the harness of a library. Each file of the library is given by its folder and its
/// flags. The result has all include folders, and those macros, files that are included first and
/// layout flags that all files agree on.
pub fn harness_flags<'a>(files: impl IntoIterator<Item = (&'a Path, &'a [String])>) -> Vec<String> {
    let mut folders: Vec<String> = Vec::new();
    let mut agreed: Option<Vec<Vec<String>>> = None;
    for (directory, flags) in files {
        let mut here: Vec<Vec<String>> = Vec::new();
        let mut flags = flags.iter().map(String::as_str);
        while let Some(flag) = flags.next() {
            if let Some((_, folder)) = valued(FOLDERS, flag, &mut flags) {
                let folder = format!("-I{}", resolve(directory, folder).display());
                if !folders.contains(&folder) {
                    folders.push(folder);
                }
            } else if let Some((option, value)) = valued(AGREED, flag, &mut flags) {
                here.extend(taken_over(directory, option, value));
            } else if is_layout(flag) {
                here.push(vec![flag.to_owned()]);
            }
        }
        agreed = Some(match agreed {
            None => here,
            Some(mut agreed) => {
                agreed.retain(|one| here.contains(one));
                agreed
            }
        });
    }
    folders.extend(agreed.unwrap_or_default().into_iter().flatten());
    folders
}

/// The macros of one file of a library that not all files agree on, as values of `-D`. A header
/// that depends on such a macro means different things in different files.
pub fn own_macros(flags: &[String], agreed: &[String]) -> Vec<String> {
    let mut own = Vec::new();
    let mut flags = flags.iter().map(String::as_str);
    while let Some(flag) = flags.next() {
        let Some((option, value)) = valued(AGREED, flag, &mut flags) else {
            continue;
        };
        let is_agreed = agreed.contains(&format!("-D{value}"));
        if option == "-D" && !is_agreed && taken_over(Path::new(""), option, value).is_some() {
            own.push(value.to_owned());
        }
    }
    own
}

/// The words of an option, if a harness takes it over.
fn taken_over(directory: &Path, option: &str, value: &str) -> Option<Vec<String>> {
    if matches!(option, "-include" | "-imacros") {
        return Some(vec![option.to_owned(), first(directory, value)]);
    }
    // A single-header library has its code where this macro is defined. That is one file of the
    // library and must not be the harness too.
    let name = value.split('=').next().unwrap_or(value);
    let is_code = option == "-D" && name.ends_with("_IMPLEMENTATION");
    // A harness has its own `main`, so a macro that renames `main` is not taken over.
    let is_main = name == "main";
    (!is_code && !is_main).then(|| vec![format!("{option}{value}")])
}

/// The path of a file that is included first. A file that exists in the command's folder becomes an
/// absolute path; any other name is kept, since it is searched in the include folders.
pub(super) fn first(directory: &Path, file: &str) -> String {
    let path = resolve(directory, file);
    match path.is_file() {
        true => path.display().to_string(),
        false => file.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_folders_and_the_macros_of_every_file() {
        let words = |text: &str| -> Vec<String> { text.split(' ').map(str::to_owned).collect() };
        let a = words("-O2 -I include -DN=8 -D FAST -DONLY_A");
        let b = words("-Iinclude -isystem /other -DFAST -DN=8");
        let files = [(Path::new("/lib"), &a[..]), (Path::new("/lib"), &b[..])];
        assert_eq!(
            harness_flags(files),
            ["-I/lib/include", "-I/other", "-DN=8", "-DFAST"]
        );
        assert!(harness_flags([]).is_empty());
        let agreed = harness_flags(files);
        assert_eq!(own_macros(&a, &agreed), ["ONLY_A"]);
        assert!(own_macros(&b, &agreed).is_empty());
    }

    #[test]
    fn the_layout_of_types_is_the_librarys() -> std::io::Result<()> {
        let words = |text: &str| -> Vec<String> { text.split(' ').map(str::to_owned).collect() };
        let root = tempfile::tempdir()?;
        std::fs::write(root.path().join("first.h"), "")?;
        let a =
            words("-fshort-enums -fpack-struct=1 -include first.h -include far.h -Os -iquote q");
        let b = words("-fpack-struct=1 -includefirst.h -fshort-enums -includefar.h -mno-sse");
        let agreed = harness_flags([(root.path(), &a[..]), (root.path(), &b[..])]);
        let path = |name: &str| root.path().join(name).display().to_string();
        assert_eq!(
            agreed,
            [
                &format!("-I{}", path("q")),
                "-fshort-enums",
                "-fpack-struct=1",
                "-include",
                &path("first.h"),
                "-include",
                "far.h"
            ]
        );
        Ok(())
    }
}
