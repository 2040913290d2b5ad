//! `cargo xtask map`: which module uses which, according to the sources.
//!
//! Rust allows cycles between the modules of a crate and does not report them. This command reads
//! the paths that each file names (`map/paths.rs`), draws the map in `docs/architecture.md`
//! (`map/drawing.rs`), and fails on a cycle, whose files it prints. It also fails on a file that is
//! too long (`map/lengths.rs`). `cargo xtask quick`, `cargo xtask test` and unit tests fail on
//! both, and if the drawing is outdated.
//!
//! A module here is directly below the root of its crate: `campaign` with all files under
//! `campaign/`. Cycles between the files of one module are allowed: a parent and its children name
//! each other.

mod drawing;
mod lengths;
mod paths;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use petgraph::algo::tarjan_scc;
use petgraph::graph::DiGraph;

use crate::error::{Error, Result};
use crate::places::Places;
use crate::run;

/// The crates of the workspace, by folder.
const CRATES: [(&str, &str); 10] = [
    ("cargo-cegar", "cargo-cegar"),
    ("cegar-papers", "engine/papers"),
    ("cegar-search", "engine/search"),
    ("cegar-checker", "engine/checker"),
    ("cegar-model", "engine/model"),
    ("cegar-llvm", "engine/llvm"),
    ("cegar-fuzz", "fuzz"),
    ("cegar-harness", "harness"),
    ("cegar-stubs", "c-stubs"),
    ("xtask", "xtask"),
];

/// A crate: which file names which files.
pub(crate) struct Crate {
    name: &'static str,
    /// For each file, the files whose items it names, relative to `src`.
    uses: BTreeMap<PathBuf, BTreeSet<PathBuf>>,
}

impl Crate {
    fn read(root: &Path, name: &'static str, folder: &str) -> Result<Self> {
        Ok(Self {
            name,
            uses: paths::read(&root.join(folder).join("src"))?,
        })
    }

    /// For each module, the modules that its files name.
    fn modules(&self) -> Graph {
        let mut all = Graph::new();
        for (file, named) in &self.uses {
            let from = module_of(file);
            let to = all.entry(from.clone()).or_default();
            to.extend(named.iter().map(|file| module_of(file)));
            to.remove(&from);
        }
        all
    }

    /// The files through which one module names another.
    fn because(&self, from: &str, to: &str) -> Vec<String> {
        let files = self.uses.iter().filter(|(file, _)| module_of(file) == from);
        let to_files = |named: &BTreeSet<PathBuf>| {
            let there = named.iter().filter(|file| module_of(file) == to);
            there
                .map(|file| file.display().to_string())
                .collect::<Vec<_>>()
                .join("+")
        };
        let files = files.map(|(file, named)| (file, to_files(named)));
        let files = files.filter(|(_, to)| !to.is_empty());
        files
            .map(|(file, to)| format!("{} ({to})", file.display()))
            .collect()
    }

    /// The files of each cycle that leads through more than one module.
    fn circles_of_files(&self) -> Vec<Vec<String>> {
        let named = |file: &PathBuf| file.display().to_string();
        let uses = self.uses.iter();
        let graph = uses.map(|(file, to)| (named(file), to.iter().map(named).collect()));
        let mut circles = circles(&graph.collect());
        circles.retain(|circle| {
            let modules: BTreeSet<_> = circle.iter().map(|f| module_of(Path::new(f))).collect();
            modules.len() > 1
        });
        circles
    }
}

fn module_of(file: &Path) -> String {
    let mut parts = file.components();
    let first = parts
        .next()
        .map_or(Path::new(""), |c| Path::new(c.as_os_str()));
    let stem = first.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

/// Whether a module is `lib.rs`, `main.rs` or an executable below `bin`, all of which name all
/// other modules.
fn is_root(module: &str) -> bool {
    matches!(module, "lib" | "main" | "bin")
}

/// For each name, the names that it uses.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// Converts the graph for the algorithms of `petgraph`. Edges to names that are not nodes are left
/// out.
fn digraph(graph: &Graph) -> DiGraph<&str, ()> {
    let mut drawn = DiGraph::new();
    let nodes: BTreeMap<_, _> = graph
        .keys()
        .map(|n| (n.as_str(), drawn.add_node(n.as_str())))
        .collect();
    for (from, named) in graph {
        for to in named.iter().filter_map(|to| nodes.get(to.as_str())) {
            drawn.add_edge(nodes[from.as_str()], *to, ());
        }
    }
    drawn
}

/// The strongly connected components with more than one node, each sorted.
fn circles(graph: &Graph) -> Vec<Vec<String>> {
    let drawn = digraph(graph);
    let mut found: Vec<Vec<String>> = tarjan_scc(&drawn)
        .into_iter()
        .filter(|component| component.len() > 1)
        .map(|component| {
            let mut names: Vec<_> = component.iter().map(|&n| drawn[n].to_owned()).collect();
            names.sort();
            names
        })
        .collect();
    found.sort();
    found
}

/// Prints the cycles, and draws the map again. Fails on a cycle, or if a file is too long.
pub(crate) fn map(places: &Places) -> Result<()> {
    let crates = read(&places.root)?;
    for one in &crates {
        let modules = one.modules();
        let circles = circles(&modules);
        println!(
            "{}: {} files, {} modules, {} circles of modules",
            one.name,
            one.uses.len(),
            modules.len(),
            circles.len()
        );
        for circle in &circles {
            println!("  modules: {}", circle.join(", "));
            for from in circle {
                let to: Vec<_> = modules[from]
                    .iter()
                    .filter(|to| circle.contains(to))
                    .collect();
                for to in to {
                    println!("    {from} -> {to}: {}", one.because(from, to).join(", "));
                }
            }
        }
        for circle in one.circles_of_files() {
            println!("  files: {}", circle.join(", "));
        }
    }
    if drawing::write(&places.root, &crates)? {
        run::status("Drew", drawing::PAGE);
    }
    rules(places, &crates)
}

/// Checks that the sources follow the rules, and that the drawing is up to date.
pub(crate) fn check(places: &Places) -> Result<()> {
    let crates = read(&places.root)?;
    let page = places.root.join(drawing::PAGE);
    let old = fs::read_to_string(&page).map_err(Error::file("read", &page))?;
    if drawing::page(&places.root, &crates, &old)? != old {
        let why = format!("{} is stale: run `cargo xtask map`", drawing::PAGE);
        return Err(Error::Map(why));
    }
    rules(places, &crates)
}

/// Checks that there are no cycles between the modules of a crate, and that no file is too long.
fn rules(places: &Places, crates: &[Crate]) -> Result<()> {
    let with_circles = crates
        .iter()
        .filter(|one| !circles(&one.modules()).is_empty());
    let names: Vec<&str> = with_circles.map(|one| one.name).collect();
    if !names.is_empty() {
        let names = names.join(", ");
        let why = format!("modules use each other in a circle in {names}: see `cargo xtask map`");
        return Err(Error::Map(why));
    }
    let long = lengths::too_long(&places.root)?;
    let files = format!("files of more than {} lines", lengths::MOST);
    let comments = format!("comments of more than {} columns", lengths::COLUMNS);
    for (what, found) in [(files, long.files), (comments, long.comments)] {
        if !found.is_empty() {
            return Err(Error::Map(format!("{what}: {}", found.join(", "))));
        }
    }
    Ok(())
}

fn read(root: &Path) -> Result<Vec<Crate>> {
    let crates = CRATES.iter();
    crates
        .map(|(name, folder)| Crate::read(root, name, folder))
        .collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn the_sources_keep_the_rules_and_the_drawing_is_of_them() {
        if let Err(why) = check(&Places::find()) {
            panic!("{why}");
        }
    }

    #[test]
    fn a_circle_is_found() {
        let to = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let graph = [
            ("a", to(&["b"])),
            ("b", to(&["c"])),
            ("c", to(&["b"])),
            ("d", to(&["a"])),
        ];
        let graph = graph.map(|(from, to): (&str, BTreeSet<String>)| (from.to_owned(), to));
        assert_eq!(circles(&graph.into()), [["b", "c"]]);
    }
}
