//! Symbols that two files define.
//!
//! A linker takes from an archive only what is still wanted, and of two members that define a
//! symbol the first. So a library may define a symbol twice, in a file and in a variant of that
//! file, and its crate builds all the same. Here all of the library's files are linked, hence what
//! the linker would not have taken is left out.

use std::collections::{HashMap, HashSet};

/// The global symbols of a file.
#[derive(Debug, Clone, Default)]
pub struct Symbols {
    /// Those that it defines, and that no other file may define.
    pub defines: HashSet<String>,
    /// Those that it wants from elsewhere.
    pub wants: HashSet<String>,
    /// Whether it is taken only if something wants it: a file of the library, not a harness.
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
    /// Whether the linker would not take the other file at all. Else it is needed for what else it
    /// defines.
    pub left_out: bool,
}

/// The symbols that several of these files define, the files being in the archive's order. Two
/// files that are no part of the archive are not looked at: that is an error in the code.
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

/// Which files the linker takes.
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
