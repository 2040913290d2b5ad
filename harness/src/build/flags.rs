//! What a harness is compiled with besides its own flags.
//!
//! It includes the library's headers, so it needs the folders that they lie in, and headers depend
//! on macros: those that the whole library is compiled with are the ones that its headers were
//! written for.

use std::path::Path;

use super::resolve;

/// The flags for a harness of a library with these files, each given by its folder and its flags:
/// all include folders, and the macros that all files agree on.
pub fn harness_flags<'a>(files: impl IntoIterator<Item = (&'a Path, &'a [String])>) -> Vec<String> {
    let mut folders: Vec<String> = Vec::new();
    let mut macros: Option<Vec<String>> = None;
    for (directory, flags) in files {
        let mut here = Vec::new();
        let mut flags = flags.iter().map(String::as_str);
        while let Some(flag) = flags.next() {
            let option = ["-I", "-isystem", "-D", "-U"]
                .into_iter()
                .find(|option| flag.starts_with(option));
            let Some(option) = option else { continue };
            let Some(value) = Some(&flag[option.len()..])
                .filter(|value| !value.is_empty())
                .or_else(|| flags.next())
            else {
                continue;
            };
            // A library that is one header has its code where this is defined: in one file, not in
            // the harness too.
            let name = value.split('=').next().unwrap_or(value);
            if option == "-D" && name.ends_with("_IMPLEMENTATION") {
                continue;
            }
            if matches!(option, "-D" | "-U") {
                here.push(format!("{option}{value}"));
                continue;
            }
            let folder = format!("-I{}", resolve(directory, value).display());
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        macros = Some(match macros {
            None => here,
            Some(mut agreed) => {
                agreed.retain(|one| here.contains(one));
                agreed
            }
        });
    }
    folders.extend(macros.unwrap_or_default());
    folders
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
    }
}
