//! Folders in committed lists of files whose location differs between machines.
//!
//! The sources of a dependency lie below cargo's own folder (`registry/src/...`,
//! `git/checkouts/...`). Copies of files that its build generated lie in the package, and no
//! relative path leads from one to the other on every machine. A list therefore has placeholders
//! for both folders, which are replaced when the list is read.

use std::path::{Path, PathBuf};

/// The placeholder for cargo's folder.
const CARGO: &str = "${CARGO_HOME}";
/// The placeholder for the package's folder.
const PACKAGE: &str = "${CEGAR_PACKAGE}";

/// The text of a package's list in the form that is committed.
pub fn portable(text: &str, package: &Path) -> String {
    folders(package)
        .into_iter()
        .fold(text.to_owned(), |text, (word, folder)| {
            text.replace(&format!("{folder}/"), &format!("{word}/"))
        })
}

/// The text of a package's committed list with the paths of this machine.
pub fn local(text: &str, package: &Path) -> String {
    folders(package)
        .into_iter()
        .fold(text.to_owned(), |text, (word, folder)| {
            text.replace(word, &folder)
        })
}

/// The placeholders and the folders, written as in JSON text.
fn folders(package: &Path) -> Vec<(&'static str, String)> {
    let cargo = cargo();
    let known = [(PACKAGE, Some(package)), (CARGO, cargo.as_deref())];
    known
        .into_iter()
        .filter_map(|(word, folder)| Some((word, quoted(folder?)?)))
        .collect()
}

fn cargo() -> Option<PathBuf> {
    let given = std::env::var_os("CARGO_HOME").filter(|home| !home.is_empty());
    let usual = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo"));
    given.map(PathBuf::from).or_else(usual)
}

/// An absolute path as JSON text, without the quotes.
fn quoted(folder: &Path) -> Option<String> {
    let text = serde_json::to_string(folder.to_str()?).ok()?;
    let inner = text.trim_matches('"').trim_end_matches('/');
    (folder.is_absolute() && !inner.is_empty()).then(|| inner.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_means_the_same_elsewhere() {
        let Some(cargo) = cargo().and_then(|cargo| quoted(&cargo)) else {
            return;
        };
        let package = Path::new("/somewhere/cegar-a");
        let text = format!(
            "[\"{cargo}/registry/src/a-1.0/a.c\", \"-I/somewhere/cegar-a/captured\", \"../c/b.c\"]"
        );
        let committed = portable(&text, package);
        assert_eq!(
            committed,
            "[\"${CARGO_HOME}/registry/src/a-1.0/a.c\", \"-I${CEGAR_PACKAGE}/captured\", \
             \"../c/b.c\"]"
        );
        assert_eq!(local(&committed, package), text);
    }
}
