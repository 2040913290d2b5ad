//! The list of programs, and their declarations in the first lines of each file.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use cegar_tests::thorough;

/// Whether a world can make the program fail.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum World {
    Breaks,
    Holds,
}

/// How a native run confirms the declaration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Native {
    /// No native run can confirm it, for this reason.
    None(String),
    /// By the program alone.
    Alone,
    /// By the program linked with the pair's `.ext.c`, which replaces these functions of the C
    /// library.
    Linked { wrapped: Vec<String> },
}

/// A program of the list.
pub struct Listed {
    /// `GROUP/NAME_breaks` or `GROUP/NAME_holds`.
    pub name: String,
    /// The name without `_breaks` or `_holds`.
    pub pair: String,
    pub path: PathBuf,
    pub world: World,
    /// The property that is checked.
    pub property: String,
    /// Further options of `cargo cegar check`.
    pub options: Vec<String>,
    pub native: Native,
    /// Further options of the platform's compiler.
    pub gcc: Vec<String>,
    /// Identifiers of the assumptions under which the program may be proved.
    pub assumptions: Vec<String>,
    /// The purpose of the program.
    pub why: String,
}

impl Listed {
    /// The file with the hostile world.
    pub fn ext(&self) -> PathBuf {
        folder().join(format!("{}.ext.c", self.pair))
    }
}

/// The folder of all programs.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("environment")
}

/// Whether an identifier consists of lower-case letters and hyphens only.
pub fn plain(id: &str) -> bool {
    !id.is_empty() && id.chars().all(|c| c.is_ascii_lowercase() || c == '-')
}

/// Every program.
pub fn all() -> Vec<Listed> {
    let names = files().into_iter().filter(|name| !name.ends_with(".ext"));
    names.map(listed).collect()
}

/// The programs whose names contain `CEGAR_ENVIRONMENT`, to work on a few of them.
///
/// Without that variable, one pair in `one_in` is selected, or all pairs if the tests are thorough
/// (`CEGAR_TESTS=all`).
pub fn selected(one_in: impl Fn(World) -> usize) -> Vec<Listed> {
    let all = all();
    let part = env::var("CEGAR_ENVIRONMENT").ok();
    let mut pairs: Vec<String> = all.iter().map(|program| program.pair.clone()).collect();
    pairs.sort();
    pairs.dedup();
    let is_taken = |program: &Listed| match &part {
        Some(part) => program.name.contains(part),
        None => {
            let number = pairs.binary_search(&program.pair).unwrap_or(0);
            thorough() || number.is_multiple_of(one_in(program.world))
        }
    };
    all.into_iter().filter(is_taken).collect()
}

/// The pairs that have a file with a hostile world.
pub fn worlds() -> Vec<String> {
    let names = files();
    let pairs = names.iter().filter_map(|name| name.strip_suffix(".ext"));
    pairs.map(str::to_owned).collect()
}

/// The contents of `known.txt`: each line is a program, its fault and a reason.
pub struct Known {
    /// The fault of each program.
    pub faults: BTreeMap<String, String>,
}

/// Reads `known.txt`.
pub fn known() -> Known {
    let path = folder().join("known.txt");
    let text = fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    let mut known = Known {
        faults: BTreeMap::new(),
    };
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.splitn(3, ' ');
        match (words.next(), words.next(), words.next()) {
            (Some(name), Some(fault), Some(_)) => {
                known.faults.insert(name.to_owned(), fault.to_owned());
            }
            _ => panic!("known.txt: not a name, a fault and a reason: {line}"),
        }
    }
    known
}

/// `GROUP/FILE` of every C file, without `.c`, in order.
fn files() -> Vec<String> {
    let entries = |folder: &Path| {
        let read = fs::read_dir(folder).unwrap_or_else(|why| panic!("{}: {why}", folder.display()));
        read.flatten().map(|entry| entry.path())
    };
    let mut found: Vec<String> = entries(&folder())
        .filter(|path| path.is_dir())
        .flat_map(|group| entries(&group))
        .filter_map(|path| {
            let relative = path.strip_prefix(folder()).ok()?.to_str()?;
            relative.strip_suffix(".c").map(str::to_owned)
        })
        .collect();
    found.sort_unstable();
    found
}

fn listed(name: String) -> Listed {
    let path = folder().join(format!("{name}.c"));
    let text = fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    let mut said: BTreeMap<&str, &str> = text
        .lines()
        .map_while(|line| line.strip_prefix("// "))
        .filter_map(|line| line.split_once(": "))
        .collect();
    let mut take = |key: &str| said.remove(key).map(str::trim);
    let words = |text: Option<&str>| -> Vec<String> {
        let words = text.unwrap_or_default().split_whitespace();
        words.map(str::to_owned).collect()
    };
    let needed = |key: &str, value: Option<&str>| match value {
        Some(value) => value.to_owned(),
        None => panic!("{name}: no line `// {key}: `"),
    };
    let (world, ending) = match take("world") {
        Some("breaks") => (World::Breaks, "_breaks"),
        Some("holds") => (World::Holds, "_holds"),
        other => panic!("{name}: world {other:?}"),
    };
    let pair = name
        .strip_suffix(ending)
        .unwrap_or_else(|| panic!("{name}: its name is to end in {ending}"))
        .to_owned();
    let native = match needed("native", take("native")).as_str() {
        "alone" => Native::Alone,
        "ext" => Native::Linked {
            wrapped: Vec::new(),
        },
        wrap if wrap.starts_with("wrap ") => Native::Linked {
            wrapped: words(wrap.strip_prefix("wrap ")),
        },
        none => match none
            .strip_prefix("none (")
            .and_then(|why| why.strip_suffix(')'))
        {
            Some(why) => Native::None(why.to_owned()),
            None => panic!("{name}: native `{none}`"),
        },
    };
    let program = Listed {
        pair,
        world,
        native,
        property: needed("property", take("property")),
        options: words(take("options")),
        gcc: words(take("gcc")),
        assumptions: words(take("assumption")),
        why: needed("why", take("why")),
        name: name.clone(),
        path,
    };
    assert!(said.is_empty(), "{name}: what is {said:?}?");
    program
}
