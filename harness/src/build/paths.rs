//! Short paths: `cegar.toml` says `../c/a.c`, and compilers would print `cegar/../c/a.c` in every
//! message.

use std::path::{Component, Path, PathBuf};

/// `path` relative to `folder`, with `..` resolved if that names the same file.
pub fn resolve(folder: &Path, path: impl AsRef<Path>) -> PathBuf {
    let long = folder.join(path);
    let mut short = PathBuf::new();
    for component in long.components() {
        let named = matches!(short.components().next_back(), Some(Component::Normal(_)));
        match component {
            Component::ParentDir if named => drop(short.pop()),
            component => short.push(component),
        }
    }
    // After a symbolic link, `..` leads elsewhere.
    match (short.canonicalize(), long.canonicalize()) {
        (Ok(a), Ok(b)) if a == b => short,
        _ => long,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_are_left_out_except_behind_links() -> std::io::Result<()> {
        let root = tempfile::tempdir()?;
        let root = root.path();
        std::fs::create_dir_all(root.join("a/b"))?;
        std::fs::write(root.join("x.c"), "")?;
        std::fs::write(root.join("a/x.c"), "")?;
        std::os::unix::fs::symlink(root.join("a/b"), root.join("l"))?;
        assert_eq!(resolve(&root.join("a"), "../x.c"), root.join("x.c"));
        assert_eq!(resolve(&root.join("l"), "../x.c"), root.join("l/../x.c"));
        assert_eq!(resolve(root, "/no/../such"), Path::new("/no/../such"));
        Ok(())
    }
}
