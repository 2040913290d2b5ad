//! Keeps the `cegar/` package out of the user's workspace.
//!
//! The package is a workspace of its own, so cargo ignores it unless a pattern among the user's
//! members, such as `crates/*`, matches its folder: then cargo finds two workspace roots and
//! rejects the whole workspace. Only in that case is the user's manifest changed: the folder is
//! added to `workspace.exclude`.

use std::path::{Path, PathBuf};

use toml_edit::{Array, DocumentMut, Item, Value};

use crate::capture::relative;
use crate::error::Error;
use crate::store;

/// Excludes `package` from the workspace at `root` if a pattern would make it a member. Returns the
/// manifest's path if it was changed.
pub(super) fn keep_apart(root: &Path, package: &Path) -> Result<Option<PathBuf>, Error> {
    let path = root.join("Cargo.toml");
    let folder = relative(package, root, root).to_string_lossy().into_owned();
    let text = store::read_text(&path)?;
    let Some(changed) = with_exclusion(&text, &folder).map_err(|why| {
        Error::usage(
            format!("`{}` cannot be extended: {why}", path.display()),
            format!("add `{folder}` to `exclude` of [workspace] by hand"),
        )
    })?
    else {
        return Ok(None);
    };
    store::write(&path, changed.as_bytes())?;
    Ok(Some(path))
}

/// The manifest with the exclusion, or `None` if it needs none.
fn with_exclusion(text: &str, folder: &str) -> Result<Option<String>, String> {
    let mut document: DocumentMut = text
        .parse()
        .map_err(|why: toml_edit::TomlError| why.to_string())?;
    let Some(workspace) = document.get_mut("workspace") else {
        return Ok(None);
    };
    let workspace = workspace
        .as_table_like_mut()
        .ok_or("`workspace` is not a table")?;
    let strings = |item: Option<&Item>| -> Vec<String> {
        let list = item.and_then(Item::as_array);
        let words = list.into_iter().flatten().filter_map(Value::as_str);
        words.map(str::to_owned).collect()
    };
    let members = strings(workspace.get("members"));
    let excluded = strings(workspace.get("exclude"));
    if !members.iter().any(|pattern| may_match(pattern, folder))
        || excluded
            .iter()
            .any(|known| Path::new(folder).starts_with(known))
    {
        return Ok(None);
    }
    let list = workspace
        .entry("exclude")
        .or_insert_with(|| Item::Value(Value::Array(Array::new())));
    let list = list
        .as_array_mut()
        .ok_or("`workspace.exclude` is not a list")?;
    push(list, folder);
    Ok(Some(document.to_string()))
}

/// Adds an element to a list. If the list has one element per line, so does the new one.
fn push(list: &mut Array, element: &str) {
    let last = list.iter().last();
    let prefix = last
        .and_then(|value| value.decor().prefix())
        .and_then(|prefix| prefix.as_str())
        .filter(|prefix| prefix.contains('\n'))
        .map(str::to_owned);
    let mut value = Value::from(element);
    if let Some(prefix) = prefix {
        // A comment above the last element must not be repeated.
        let indent = prefix.rsplit('\n').next().unwrap_or_default().to_owned();
        value.decor_mut().set_prefix(format!("\n{indent}"));
        list.push_formatted(value);
    } else {
        list.push(value);
    }
}

/// Whether a pattern with wildcards could match the folder. A superfluous exclusion is harmless, so
/// a component with a wildcard matches unless the text before the wildcard is not a prefix of the
/// folder's component.
fn may_match(pattern: &str, folder: &str) -> bool {
    let wild = |part: &str| part.contains(['*', '?', '[']);
    if !wild(pattern) {
        return false;
    }
    let pattern = pattern.trim_start_matches("./").trim_end_matches('/');
    let (mut patterns, mut parts) = (pattern.split('/'), folder.split('/'));
    loop {
        match (patterns.next(), parts.next()) {
            (Some("**"), _) | (None, None) => return true,
            (Some(pattern), Some(part)) if wild(pattern) => {
                let prefix = pattern.split(['*', '?', '[']).next().unwrap_or_default();
                if !part.starts_with(prefix) {
                    return false;
                }
            }
            (Some(pattern), Some(part)) if pattern == part => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_without_patterns_stays_as_it_is() {
        for text in [
            "[package]\nname = \"x\"\n",
            "[workspace]\n",
            "[workspace]\nmembers = [\"cegar\", \"a\"]\n",
            "[workspace]\nmembers = [\"crates/*\", \"d*\"]\n",
            "[workspace]\nmembers = [\"*\"]\nexclude = [\"cegar\"]\n",
        ] {
            assert_eq!(with_exclusion(text, "cegar").unwrap(), None, "{text}");
        }
    }

    #[test]
    fn a_pattern_that_matches_gets_an_exclusion_and_formatting_is_kept() {
        let text = "[workspace]\nmembers = [\"c*\"] # mine\nresolver = \"3\"\n";
        let changed = with_exclusion(text, "cegar").unwrap().unwrap();
        assert_eq!(changed, format!("{text}exclude = [\"cegar\"]\n"));
        let text =
            "[workspace]\nmembers = [\"crates/*\"]\nexclude = [\n    # first\n    \"a\",\n]\n";
        let changed = with_exclusion(text, "crates/cegar").unwrap().unwrap();
        assert_eq!(
            changed,
            "[workspace]\nmembers = [\"crates/*\"]\nexclude = [\n    # first\n    \"a\",\n    \
             \"crates/cegar\",\n]\n"
        );
    }
}
