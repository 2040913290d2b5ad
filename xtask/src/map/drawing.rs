//! The map in `docs/architecture.md`: the crates, and the modules of each crate.
//!
//! An arrow leads from the user to what it uses. Arrows that are implied by a path of other arrows
//! are left out, since thirty modules with all arrows are unreadable.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use petgraph::algo::toposort;
use petgraph::algo::tred::{dag_to_toposorted_adjacency_list, dag_transitive_reduction_closure};

use super::{CRATES, Crate, Graph, digraph, is_root};
use crate::error::{Error, Result};

/// The page with the map.
pub(super) const PAGE: &str = "docs/architecture.md";

const BEGIN: &str = "<!-- drawn by `cargo xtask map` -->\n";
const END: &str = "<!-- end of what `cargo xtask map` draws -->\n";

/// Draws the map again; returns whether it has changed.
pub(super) fn write(root: &Path, crates: &[Crate]) -> Result<bool> {
    let path = root.join(PAGE);
    let old = fs::read_to_string(&path).map_err(Error::file("read", &path))?;
    let new = page(root, crates, &old)?;
    if new == old {
        return Ok(false);
    }
    fs::write(&path, new).map_err(Error::file("write", &path))?;
    Ok(true)
}

/// The page with the current map.
pub(super) fn page(root: &Path, crates: &[Crate], old: &str) -> Result<String> {
    let parts = old.split_once(BEGIN).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(END)?;
        Some((before, after))
    });
    let Some((before, after)) = parts else {
        return Err(Error::Map(format!("{PAGE} has no place for the map")));
    };
    let mut drawn = section("The crates", &of_crates(root)?);
    for one in crates {
        let mut modules = one.modules();
        modules.retain(|module, _| !is_root(module));
        drawn += &section(&format!("The modules of `{}`", one.name), &modules);
    }
    Ok(format!("{before}{BEGIN}{drawn}\n{END}{after}"))
}

fn section(title: &str, graph: &Graph) -> String {
    let mut text = format!("\n{title}:\n\n```mermaid\ngraph TD\n");
    for (from, to) in reduced(graph) {
        // `Write` for a string cannot fail.
        let _ = match to {
            Some(to) => writeln!(text, "    {from} --> {to}"),
            None => writeln!(text, "    {from}"),
        };
    }
    text + "```\n"
}

/// The arrows that no longer path implies, and the nodes without arrows. A graph with cycles is
/// drawn completely.
fn reduced(graph: &Graph) -> Vec<(String, Option<String>)> {
    let drawn = digraph(graph);
    let mut arrows = BTreeSet::new();
    if let Ok(order) = toposort(&drawn, None) {
        let (list, _) = dag_to_toposorted_adjacency_list::<_, u32>(&drawn, &order);
        let (reduction, _) = dag_transitive_reduction_closure(&list);
        for edge in reduction.edge_indices() {
            if let Some((from, to)) = reduction.edge_endpoints(edge) {
                arrows.insert((drawn[order[from as usize]], drawn[order[to as usize]]));
            }
        }
    } else {
        arrows.extend(
            drawn
                .raw_edges()
                .iter()
                .map(|e| (drawn[e.source()], drawn[e.target()])),
        );
    }
    let joined: BTreeSet<_> = arrows.iter().flat_map(|(a, b)| [*a, *b]).collect();
    let alone = graph.keys().filter(|name| !joined.contains(name.as_str()));
    let alone = alone.map(|name| (name.clone(), None));
    let arrows = arrows
        .iter()
        .map(|(a, b)| ((*a).to_owned(), Some((*b).to_owned())));
    arrows.chain(alone).collect()
}

/// The dependencies between the crates, according to their manifests.
fn of_crates(root: &Path) -> Result<Graph> {
    let mut graph = Graph::new();
    for (name, folder) in CRATES.iter().filter(|(name, _)| *name != "xtask") {
        let path = root.join(folder).join("Cargo.toml");
        let text = fs::read_to_string(&path).map_err(Error::file("read", &path))?;
        let section = text
            .split("\n[")
            .find_map(|s| s.strip_prefix("dependencies]\n"));
        let names = section
            .unwrap_or_default()
            .lines()
            .filter_map(|l| l.split(['.', ' ']).next());
        let ours = names.filter(|dependency| dependency.starts_with("cegar-"));
        graph.insert((*name).to_owned(), ours.map(str::to_owned).collect());
    }
    Ok(graph)
}
