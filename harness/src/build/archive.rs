//! Symbols that several files define.
//!
//! A linker takes a member of an archive only if it defines a symbol that is still undefined, and
//! of two members that define a symbol it takes the first. A library may therefore define a symbol
//! twice, in a file and in a variant of that file, and its crate builds nevertheless. Harnesses
//! link all files of the library directly, so the files that the linker would not have taken are
//! left out here.

use std::collections::{HashMap, HashSet};

/// The global symbols of a file.
#[derive(Debug, Clone, Default)]
pub struct Symbols {
    /// The symbols that it defines and that no other file may define.
    pub defines: HashSet<String>,
    /// The symbols that it uses and does not define.
    pub wants: HashSet<String>,
    /// Whether it is linked only if another file needs it: true for a file of the library, false
    /// for a harness.
    pub in_archive: bool,
}

/// A symbol that two files define.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duplicate {
    /// The symbol.
    pub symbol: String,
    /// The file whose definition is used.
    pub used: usize,
    /// The other file.
    pub other: usize,
    /// Whether the linker would not take the other file at all. Otherwise the other file is needed
    /// for another symbol that it defines.
    pub left_out: bool,
}

/// Finds the symbols that several of these files define. The files are in the order of the archive.
/// Two definitions outside the archive are not reported, since that is an error in the code.
pub fn duplicates(files: &[Symbols]) -> Vec<Duplicate> {
    let mut by_symbol: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, file) in files.iter().enumerate() {
        for symbol in &file.defines {
            by_symbol.entry(symbol).or_default().push(at);
        }
    }
    by_symbol.retain(|_, definers| definers.len() > 1);
    if by_symbol.is_empty() {
        return Vec::new();
    }
    let taken = taken(files);
    let mut found = Vec::new();
    for (symbol, definers) in by_symbol {
        let is_taken = |at: &&usize| taken[**at];
        let Some(used) = definers.iter().find(is_taken).or(definers.first()).copied() else {
            continue;
        };
        for other in definers {
            if other != used && files[other].in_archive {
                found.push(Duplicate {
                    symbol: symbol.to_owned(),
                    used,
                    other,
                    left_out: !taken[other],
                });
            }
        }
    }
    found.sort_by(|a, b| (a.other, &a.symbol).cmp(&(b.other, &b.symbol)));
    found
}

/// Whether the linker takes each file.
fn taken(files: &[Symbols]) -> Vec<bool> {
    let mut taken: Vec<bool> = files.iter().map(|file| !file.in_archive).collect();
    let mut defined: HashSet<&str> = HashSet::new();
    let mut wanted: HashSet<&str> = HashSet::new();
    for file in files.iter().filter(|file| !file.in_archive) {
        defined.extend(file.defines.iter().map(String::as_str));
        wanted.extend(file.wants.iter().map(String::as_str));
    }
    loop {
        let mut more = false;
        for (at, file) in files.iter().enumerate() {
            let is_wanted = |symbol: &String| {
                wanted.contains(symbol.as_str()) && !defined.contains(symbol.as_str())
            };
            if !taken[at] && file.defines.iter().any(is_wanted) {
                taken[at] = true;
                more = true;
                defined.extend(file.defines.iter().map(String::as_str));
                wanted.extend(file.wants.iter().map(String::as_str));
            }
        }
        if !more {
            return taken;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(defines: &[&str], wants: &[&str], in_archive: bool) -> Symbols {
        let set = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        Symbols {
            defines: set(defines),
            wants: set(wants),
            in_archive,
        }
    }

    #[test]
    fn the_first_member_of_an_archive_is_used() {
        let files = [
            file(&["main"], &["compress"], false),
            file(&["compress", "helper"], &["tables"], true),
            file(&["compress", "mini"], &[], true),
            file(&["tables"], &[], true),
        ];
        let found = duplicates(&files);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].used, found[0].other), (1, 2));
        assert!(found[0].left_out);
    }

    #[test]
    fn a_file_that_is_needed_for_something_else_stays() {
        let files = [
            file(&["main"], &["compress", "mini"], false),
            file(&["compress"], &[], true),
            file(&["compress", "mini"], &[], true),
        ];
        let found = duplicates(&files);
        assert_eq!(
            (found[0].used, found[0].other, found[0].left_out),
            (1, 2, false)
        );
    }

    #[test]
    fn what_is_wanted_first_by_the_harness_decides() {
        let files = [
            file(&["main"], &["mini"], false),
            file(&["compress"], &[], true),
            file(&["compress", "mini"], &[], true),
        ];
        let found = duplicates(&files);
        assert_eq!(
            (found[0].used, found[0].other, found[0].left_out),
            (2, 1, true)
        );
        assert!(duplicates(&files[..2]).is_empty());
    }
}
