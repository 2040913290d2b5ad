//! Checks the report files of a command line. A report replaces its file, so if two reports used
//! the same file, only the last one would remain, without a warning about the other.

use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::store::FileError;

/// Rejects two options that name the same file, and files whose folder does not exist. This is
/// reported before the campaign instead of after it. Devices and pipes may receive several reports.
pub(super) fn distinct(reports: &[(&str, &Option<PathBuf>)]) -> Result<(), Error> {
    let mut seen: Vec<(&str, PathBuf)> = Vec::new();
    for (option, path) in reports {
        let Some(path) = path else {
            continue;
        };
        in_a_folder(option, path)?;
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

/// Rejects the file of an option if its folder does not exist.
pub(super) fn in_a_folder(option: &str, path: &Path) -> Result<(), Error> {
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => return Ok(()),
    };
    folder.metadata().map(drop).map_err(|why| {
        let help = format!("make the folder, or name another file with {option}");
        Error::Io(FileError::with_help("write", path, why, &help))
    })
}

/// The file that a path refers to, whether it exists or not.
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
