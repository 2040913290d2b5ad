//! The report files of a command line. A report replaces its file, so that of two reports for one
//! file the last one written would stay, and nothing would say that the other is missing.

use std::path::{Path, PathBuf};

use crate::error::Error;

/// Refuses two options that name one file. Devices and pipes take any number of reports.
pub(super) fn distinct(reports: &[(&str, &Option<PathBuf>)]) -> Result<(), Error> {
    let mut seen: Vec<(&str, PathBuf)> = Vec::new();
    for (option, path) in reports {
        let Some(path) = path else {
            continue;
        };
        let file = resolved(path);
        if file.exists() && !file.is_file() {
            continue;
        }
        if let Some((first, _)) = seen.iter().find(|(_, other)| *other == file) {
            return Err(Error::usage(
                format!("{first} and {option} both write `{}`", path.display()),
                "give each report a file of its own",
            ));
        }
        seen.push((option, file));
    }
    Ok(())
}

/// The file that a path leads to, whether it is there or not.
fn resolved(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let folder = absolute.parent().and_then(|it| it.canonicalize().ok());
    match (folder, absolute.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => absolute,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_report_has_a_file_of_its_own() {
        let folder = tempfile::tempdir().unwrap_or_else(|why| panic!("{why}"));
        let at = |name: &str| Some(folder.path().join(name));
        let (a, b, again) = (at("a.sarif"), at("b.xml"), at("./a.sarif"));
        assert!(distinct(&[("--sarif", &a), ("--junit", &b), ("--json", &None)]).is_ok());
        assert!(distinct(&[("--sarif", &a), ("--junit", &again)]).is_err());
        std::fs::write(folder.path().join("a.sarif"), "").unwrap_or_else(|why| panic!("{why}"));
        std::os::unix::fs::symlink("a.sarif", folder.path().join("link"))
            .unwrap_or_else(|why| panic!("{why}"));
        assert!(distinct(&[("--sarif", &a), ("--junit", &at("link"))]).is_err());
        let nowhere = Some(PathBuf::from("/dev/null"));
        assert!(distinct(&[("--sarif", &nowhere), ("--junit", &nowhere)]).is_ok());
    }
}
