//! Making the `cegar/` package a member of the workspace, without touching anything else of the manifest.

use std::path::{Path, PathBuf};

use toml_edit::{Array, DocumentMut, Item, Table, Value};

use crate::capture::relative;
use crate::error::Error;
use crate::store;

/// Adds `package` to the members of the workspace at `root`; gives the manifest if it was changed.
pub(super) fn add_member(root: &Path, package: &Path) -> Result<Option<PathBuf>, Error> {
    let path = root.join("Cargo.toml");
    let member = relative(package, root, root).to_string_lossy().into_owned();
    let text = store::read_text(&path)?;
    let Some(changed) = with_member(&text, &member).map_err(|why| {
        Error::usage(
            format!("`{}` cannot be extended: {why}", path.display()),
            format!("add `{member}` to the members of [workspace] by hand"),
        )
    })?
    else {
        return Ok(None);
    };
    store::write(&path, changed.as_bytes())?;
    Ok(Some(path))
}

/// The manifest with the member, or `None` if it has it.
fn with_member(text: &str, member: &str) -> Result<Option<String>, String> {
    let mut document: DocumentMut = text
        .parse()
        .map_err(|why: toml_edit::TomlError| why.to_string())?;
    let workspace = document
        .entry("workspace")
        .or_insert_with(|| Item::Table(Table::new()));
    let workspace = workspace
        .as_table_like_mut()
        .ok_or("`workspace` is not a table")?;
    let members = workspace
        .entry("members")
        .or_insert_with(|| Item::Value(Value::Array(Array::new())));
    let members = members
        .as_array_mut()
        .ok_or("`workspace.members` is not a list")?;
    let has = |pattern: &str| {
        pattern == member
            || pattern
                .strip_suffix("/*")
                .is_some_and(|dir| parent(member) == dir)
    };
    if members.iter().filter_map(Value::as_str).any(has) {
        return Ok(None);
    }
    // A list with an element per line goes on that way.
    let last = members
        .iter()
        .last()
        .and_then(|value| value.decor().prefix())
        .and_then(|p| p.as_str());
    let prefix = last
        .filter(|prefix| prefix.contains('\n'))
        .map(str::to_owned);
    let mut value = Value::from(member);
    if let Some(prefix) = prefix {
        // A comment above the last element is not the new one's.
        let indent = prefix.rsplit('\n').next().unwrap_or_default().to_owned();
        value.decor_mut().set_prefix(format!("\n{indent}"));
        members.push_formatted(value);
    } else {
        members.push(value);
    }
    Ok(Some(document.to_string()))
}

fn parent(member: &str) -> &str {
    member.rsplit_once('/').map_or("", |(parent, _)| parent)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_workspace_is_added_where_there_is_none() {
        let text = "[package]\nname = \"x\" # mine\n";
        let changed = with_member(text, "cegar").unwrap().unwrap();
        assert!(changed.starts_with(text), "{changed}");
        assert!(
            changed.ends_with("[workspace]\nmembers = [\"cegar\"]\n"),
            "{changed}"
        );
    }

    #[test]
    fn formatting_is_kept() {
        let text = "[workspace]\nmembers = [\n    # first\n    \"a\",\n]\nresolver = \"3\"\n";
        let changed = with_member(text, "a/cegar").unwrap().unwrap();
        assert_eq!(
            changed,
            "[workspace]\nmembers = [\n    # first\n    \"a\",\n    \"a/cegar\",\n]\nresolver = \"3\"\n"
        );
        assert_eq!(with_member(&changed, "a/cegar").unwrap(), None);
        assert_eq!(
            with_member("[workspace]\nmembers = [\"crates/*\"]\n", "crates/c").unwrap(),
            None
        );
    }
}
