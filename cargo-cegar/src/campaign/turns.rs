//! The order in which the harnesses of a package have their turns.
//!
//! Each harness gets an equal part of the time that is left, and time that it does not use benefits
//! those after it. So harnesses with small programs come first: many of them are settled within
//! seconds, and the large ones get what is left. The size of a program is known from an earlier
//! campaign or from the trial by `init`; harnesses of unknown size keep their order and come last.

use std::path::Path;

use crate::options::Harness;

/// The harnesses, each with something that belongs to it, in the order of their turns.
pub(super) fn in_order<'h, T>(
    mut all: Vec<(&'h Harness, T)>,
    scratch: &Path,
) -> Vec<(&'h Harness, T)> {
    all.sort_by_key(|(harness, _)| known_size(scratch, &harness.name));
    all
}

/// The size in bytes of the program that an earlier campaign or trial left.
fn known_size(scratch: &Path, harness: &str) -> u64 {
    let folders = [scratch.join(harness), scratch.join("try").join(harness)];
    let files = folders.iter().map(|folder| folder.join("program.bc"));
    let mut sizes = files.filter_map(|file| Some(file.metadata().ok()?.len()));
    sizes.next().unwrap_or(u64::MAX)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_campaign_counts_before_a_trial() {
        let scratch = tempfile::tempdir().unwrap();
        let put = |folder: &str, bytes: usize| {
            let folder = scratch.path().join(folder);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("program.bc"), vec![b' '; bytes]).unwrap();
        };
        put("try/parse", 7);
        assert_eq!(known_size(scratch.path(), "parse"), 7);
        put("parse", 9);
        assert_eq!(known_size(scratch.path(), "parse"), 9);
        assert_eq!(known_size(scratch.path(), "format"), u64::MAX);
    }
}
