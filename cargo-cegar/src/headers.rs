//! Finds the header that users of the library include.
//!
//! Most libraries have one header with the name of the library: the name that the crate links
//! (`links = "z"`), or the crate's name without `-sys`. If that is not unique, the candidates are
//! listed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::project::Project;

/// Folders from which no user includes headers.
const PRIVATE: &[&str] = &[
    "target",
    "tests",
    "test",
    "example",
    "examples",
    "bench",
    "benches",
    "fuzz",
    "fuzzing",
    "contrib",
    "doc",
    "docs",
    "programs",
    "tools",
    "cegar",
    "amiga",
    "os2",
    "vms",
    "symbian",
    "djgpp",
    "node_modules",
    ".git",
    "internal",
    "private",
    "win32",
    "msvc",
    "cmake",
];
/// The maximum depth of headers below the crate.
const DEPTH: usize = 6;
/// The number of candidates that are listed.
pub const LISTED: usize = 12;

/// The result of the search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// The header that is evident by its name, and all candidates.
    Evident(PathBuf, Vec<PathBuf>),
    /// Several candidates, the most likely one first.
    Candidates(Vec<PathBuf>),
}

impl Found {
    /// All headers that were found.
    pub fn all(self) -> Vec<PathBuf> {
        match self {
            Found::Evident(_, all) | Found::Candidates(all) => all,
        }
    }
}

/// Searches the include folders of the library and the crate.
pub fn find(project: &Project, includes: &[PathBuf]) -> Found {
    let mut includes = includes.to_vec();
    // A library's own files may include from `include/sodium`, while its users include from
    // `include`.
    let outer = includes.iter().filter_map(|folder| folder.parent());
    let outer = outer.filter(|folder| folder.file_name().is_some_and(|name| name == "include"));
    let outer: Vec<PathBuf> = outer.map(Path::to_owned).collect();
    includes.extend(outer);
    let includes = &includes[..];
    let names = names(project);
    let mut scored: Vec<(i32, PathBuf)> = all(project, includes)
        .into_iter()
        .map(|header| (score(&header, &names, project, includes), header))
        .filter(|(score, _)| *score > 0)
        .collect();
    scored.sort_by_key(|(score, path)| (-score, path.components().count(), path.clone()));
    let best = scored.first().map_or(0, |(score, _)| *score);
    let named: Vec<&PathBuf> = scored
        .iter()
        .filter(|(score, _)| *score == best && best >= NAMED)
        .map(|(_, path)| path)
        .collect();
    // Headers of the same name in several places (a copy for each platform) count as one, and the
    // nearest is taken.
    let one_name = named
        .windows(2)
        .all(|two| two[0].file_name() == two[1].file_name());
    let evident = named.first().filter(|_| one_name).map(|one| (*one).clone());
    let candidates: Vec<PathBuf> = scored.into_iter().map(|(_, path)| path).collect();
    let evident = evident.or_else(|| match &candidates[..] {
        [only] => Some(only.clone()),
        _ => bound_by_build(project, &candidates),
    });
    match evident {
        Some(one) => Found::Evident(one, candidates),
        None => Found::Candidates(candidates),
    }
}

/// The header that the crate's build script passes to bindgen, if it is one of the candidates.
fn bound_by_build(project: &Project, candidates: &[PathBuf]) -> Option<PathBuf> {
    let text = std::fs::read_to_string(project.root.join("build.rs")).ok()?;
    let behind = text.split(".header(\"").skip(1);
    let mut named = behind
        .filter_map(|rest| rest.split_once('"'))
        .map(|(name, _)| name);
    let (only, None) = (named.next()?, named.next()) else {
        return None;
    };
    let path = project.root.join(only);
    candidates.iter().find(|one| **one == path).cloned()
}

/// The headers in these folders and in the crate.
pub fn all(project: &Project, includes: &[PathBuf]) -> BTreeSet<PathBuf> {
    let mut headers = BTreeSet::new();
    for folder in includes {
        below(folder, 1, &mut headers);
    }
    below(&project.root, DEPTH, &mut headers);
    headers
}

/// The score of a header with the name of the library.
const NAMED: i32 = 100;

fn score(header: &Path, names: &[String], project: &Project, includes: &[PathBuf]) -> i32 {
    let stem = header
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .to_lowercase();
    let stem = stem.replace(['-', '_'], "");
    let mut score = 1;
    for (i, name) in names.iter().enumerate() {
        let close = [
            format!("{name}lib"),
            format!("lib{name}"),
            format!("{name}api"),
        ];
        if stem == *name {
            score = score.max(NAMED + 40 - i as i32);
        } else if close.contains(&stem) {
            score = score.max(NAMED + 20 - i as i32);
        }
    }
    let folder = header.parent().unwrap_or(Path::new("/"));
    if folder
        .components()
        .any(|part| part.as_os_str().eq_ignore_ascii_case("include"))
    {
        score += 2;
    }
    let plain = |name: &std::ffi::OsStr| {
        name.to_string_lossy()
            .to_lowercase()
            .replace(['-', '_'], "")
    };
    if folder
        .file_name()
        .is_some_and(|name| names.contains(&plain(name)))
    {
        score += 20;
        // As in `include/tree_sitter/api.h`.
        if stem == "api" {
            score = NAMED + 60;
        }
    }
    if includes.iter().any(|include| folder.starts_with(include)) {
        score += 1;
    }
    // As in `config.h` and `foo_internal.h`.
    let inner = [
        "config", "internal", "private", "common", "impl", "util", "priv", "wrapper",
    ];
    if inner.iter().any(|word| stem.contains(word)) {
        score -= 2;
    }
    // Headers that a build script unpacks are below `target`, but may be public.
    let in_includes = includes
        .iter()
        .filter_map(|include| header.strip_prefix(include).ok())
        .min_by_key(|within| within.components().count());
    let within = header.strip_prefix(&project.root).ok().or(in_includes);
    let hidden = within
        .unwrap_or(header)
        .parent()
        .into_iter()
        .flat_map(Path::components)
        .any(|part| {
            let part = part.as_os_str().to_string_lossy().to_lowercase();
            PRIVATE.contains(&part.as_str())
        });
    if hidden { 0 } else { score }
}

/// The possible names of the library, the most certain first.
fn names(project: &Project) -> Vec<String> {
    let mut names = Vec::new();
    let mut add = |name: &str| {
        let plain = name.to_lowercase().replace(['-', '_'], "");
        if plain.len() > 1 || plain == "z" {
            names.push(plain);
        }
    };
    let short = project
        .name
        .trim_end_matches("-sys")
        .trim_end_matches("_sys")
        .trim_end_matches("-src");
    let links = project.links.clone().unwrap_or_default();
    for name in [links.as_str(), short] {
        add(name);
        add(name.trim_start_matches("lib"));
        // Also without the part after a dash or an underscore, and without trailing digits:
        // `zstd-safe`, `onig_sys`, `foo2`.
        add(name.split(['-', '_']).next().unwrap_or(name));
        add(name.trim_end_matches(|c: char| c.is_ascii_digit()));
    }
    let mut seen = BTreeSet::new();
    names.retain(|name| !name.is_empty() && seen.insert(name.clone()));
    names
}

fn below(folder: &Path, depth: usize, into: &mut BTreeSet<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            let name = entry.file_name().to_string_lossy().to_lowercase();
            if depth > 1 && !PRIVATE.contains(&name.as_str()) {
                below(&path, depth - 1, into);
            }
        } else if path.extension().is_some_and(|extension| extension == "h")
            && let Ok(path) = path.canonicalize()
        {
            into.insert(path);
        }
    }
}
