//! Finds the line of a header that declares a function, so that users can look it up.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use regex::Regex;

use super::shape::Line;
use crate::compile::Unit;
use crate::headers;
use crate::project::Project;

/// The headers in the folders of the library's files and in their include folders, with their text.
pub(super) struct Headers {
    files: Vec<(String, String)>,
}

impl Headers {
    pub fn new(project: &Project, units: &[Unit]) -> Headers {
        let mut folders = BTreeSet::new();
        for unit in units {
            folders.extend(unit.source.parent().map(Path::to_owned));
            let named = unit.flags.iter().filter_map(|flag| flag.strip_prefix("-I"));
            folders.extend(named.map(|folder| unit.directory.join(folder)));
        }
        let folders: Vec<PathBuf> = folders.into_iter().collect();
        let files = headers::all(project, &folders).into_iter().map(|path| {
            let text = std::fs::read(&path).unwrap_or_default();
            let shown = path.strip_prefix(&project.root).unwrap_or(&path);
            (
                shown.to_string_lossy().into_owned(),
                String::from_utf8_lossy(&text).into_owned(),
            )
        });
        Headers {
            files: files.collect(),
        }
    }

    /// The only line that can be a declaration; `None` if there is none or more than one.
    pub fn declares(&self, name: &str) -> Option<Line> {
        let pattern = format!(
            r"^\s*(?:[^#/*\s][^#/]*)?\b{}\b\s*\)?\s*\(",
            regex::escape(name)
        );
        let pattern = Regex::new(&pattern).ok()?;
        let mut found = self.files.iter().flat_map(|(file, text)| {
            let lines = text
                .lines()
                .enumerate()
                .filter(|(_, line)| pattern.is_match(line));
            lines.map(move |(number, _)| Line {
                file: file.clone(),
                line: number as u32 + 1,
            })
        });
        let first = found.next()?;
        found.next().is_none().then_some(first)
    }
}
