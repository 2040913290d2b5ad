//! Cargo's own folder in committed lists of files.
//!
//! The sources of a dependency lie below it (`registry/src/...`, `git/checkouts/...`), and it is somewhere else
//! on each machine. So a list names it by a word, which is replaced where the list is read.

use std::path::PathBuf;

/// Stands for cargo's folder in a committed list.
const WORD: &str = "${CARGO_HOME}";

/// A list's text as it is committed.
pub fn portable(text: &str) -> String {
    match folder() {
        Some(folder) => text.replace(&format!("{folder}/"), &format!("{WORD}/")),
        None => text.to_owned(),
    }
}

/// A committed list's text as it is meant on this machine.
pub fn local(text: &str) -> String {
    match folder() {
        Some(folder) if text.contains(WORD) => text.replace(WORD, &folder),
        _ => text.to_owned(),
    }
}

/// Cargo's folder as it stands in a text of JSON.
fn folder() -> Option<String> {
    let given = std::env::var_os("CARGO_HOME").filter(|home| !home.is_empty());
    let usual = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo"));
    let folder = given.map(PathBuf::from).or_else(usual)?;
    let quoted = serde_json::to_string(folder.to_str()?).ok()?;
    let inner = quoted.trim_matches('"').trim_end_matches('/');
    (inner.len() > 1).then(|| inner.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_means_the_same_elsewhere() {
        let Some(folder) = folder() else { return };
        let text = format!("[\"{folder}/registry/src/a-1.0/a.c\", \"../c/b.c\"]");
        let committed = portable(&text);
        assert_eq!(
            committed,
            "[\"${CARGO_HOME}/registry/src/a-1.0/a.c\", \"../c/b.c\"]"
        );
        assert_eq!(local(&committed), text);
    }
}
