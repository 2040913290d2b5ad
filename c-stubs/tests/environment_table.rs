//! `docs/environment.md`: which results the model of each function of the stub library allows. The
//! table is derived from the sources, so that it cannot become outdated. If `CEGAR_WRITE_DOCS` is
//! set, the document is updated.
#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

mod common;
#[path = "common/outcomes.rs"]
mod outcomes;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use cegar_stubs::{Role, SymbolKind, engine_only, heap, redirections, write_sources};
use common::run;

/// The calls of a function and the narrowings that it asks about, in its own body.
#[derive(Default)]
struct Body {
    calls: BTreeSet<String>,
    asks: BTreeSet<String>,
}

/// The bodies of functions, by source file and name.
type Bodies = HashMap<(String, String), Body>;

fn bodies() -> Bodies {
    let folder = tempfile::tempdir().unwrap();
    let mut all = Bodies::new();
    for (role, path) in write_sources(folder.path()).unwrap() {
        if !matches!(role, Role::Stub | Role::EngineOnly) {
            continue;
        }
        let text = run(Command::new("clang-19")
            .args(["-O0", "-w", "-fno-builtin", "-S", "-emit-llvm", "-o", "-"])
            .arg(&path));
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        read(&file, &text, &mut all);
    }
    all
}

/// Parses the text of a module.
fn read(file: &str, text: &str, all: &mut Bodies) {
    let strings: HashMap<&str, &str> = text
        .lines()
        .filter(|line| line.starts_with("@.str"))
        .filter_map(|line| Some((line.split_once(' ')?.0, quoted(line)?)))
        .collect();
    let mut now: Option<(String, Body)> = None;
    for line in text.lines() {
        if line.starts_with("define ") {
            now = named(line).map(|name| (name, Body::default()));
        } else if line == "}" {
            if let Some((name, body)) = now.take() {
                all.insert((file.to_owned(), name), body);
            }
        } else if let Some((_, body)) = &mut now
            && let Some((_, call)) = line.split_once(" call ")
            && let Some(callee) = named(call)
        {
            if callee == "crunner_assumed" {
                let id = call.split(['(', ')', ' ']).find_map(|w| strings.get(w));
                body.asks.insert((*id.unwrap()).to_owned());
            }
            body.calls.insert(callee);
        }
    }
}

/// The name of the first global, which is followed by a parenthesis.
fn named(text: &str) -> Option<String> {
    let at = text.split_once('@')?.1;
    Some(at.split_once('(')?.0.trim_matches('"').to_owned())
}

fn quoted(line: &str) -> Option<&str> {
    let text = line.split_once("c\"")?.1;
    Some(text.split_once("\\00\"")?.0)
}

/// The narrowings that a function and its callees ask about, and whether it takes a choice.
fn reach(all: &Bodies, name: &str) -> (BTreeSet<String>, bool) {
    let find = |file: &str, name: &str| {
        let own = (file.to_owned(), name.to_owned());
        let other = || all.keys().find(|(_, n)| n == name).cloned();
        if all.contains_key(&own) {
            Some(own)
        } else {
            other()
        }
    };
    let mut seen = BTreeSet::new();
    let mut todo: Vec<(String, String)> = find("", name).into_iter().collect();
    let (mut asks, mut chooses) = (BTreeSet::new(), false);
    while let Some(key) = todo.pop() {
        if !seen.insert(key.clone()) {
            continue;
        }
        let body = &all[&key];
        asks.extend(body.asks.iter().cloned());
        for callee in &body.calls {
            // A handler may run in every call, which the page states once.
            if callee == "crunner_signals_arrive" {
                continue;
            }
            chooses |= callee == "crunner_choose";
            todo.extend(find(&key.0, callee));
        }
    }
    (asks, chooses)
}

/// Further remarks on functions.
const NOTES: &[(&str, &str)] = &[
    (
        "link",
        "a write through one name is not seen through the other",
    ),
    (
        "ioctl",
        "requests that are not known are not modelled, once `devices` is lifted",
    ),
    (
        "setlocale",
        "what is behind another locale is not modelled, once `locale` is lifted",
    ),
    ("localtime", "no summer time"),
    ("localtime_r", "no summer time"),
    ("mktime", "no summer time"),
    ("rand_r", "the sequence is glibc's"),
    ("drand48", "multiples of 2^-32 only"),
    (
        "malloc_usable_size",
        "exactly what was asked for, where an allocator may give more; a proof says so \
         (`usable-size`)",
    ),
    (
        "aligned_alloc",
        "an alignment that is no power of two is refused; a proof says so (`odd-alignment`)",
    ),
    (
        "memalign",
        "an alignment that is no power of two is refused; a proof says so (`odd-alignment`)",
    ),
    (
        "strerror",
        "the text of an unknown number lives on when the next one is asked for",
    ),
    (
        "strsignal",
        "the text of an unknown number lives on when the next one is asked for",
    ),
    ("strftime", "a width, and `%+`, are not modelled"),
    (
        "strtold",
        "what has a fraction, an exponent or more than 15 digits is not modelled",
    ),
    ("inet_pton", "addresses of IPv6 are not modelled"),
    ("inet_ntop", "addresses of IPv6 are not modelled"),
    ("open", "`a` and `./a` are two files"),
    ("fopen", "`a` and `./a` are two files"),
    (
        "sigaction",
        "a signal that was blocked while a handler ran comes at the next change of the mask",
    ),
    ("ungetc", "more than eight characters are not modelled"),
    (
        "srand",
        "the first 64 numbers after a seed come again after the same one",
    ),
    ("qsort", "equal elements keep their order"),
    (
        "fork",
        "what the other process does is not seen; its pipes bring anything",
    ),
    (
        "abort",
        "is a violation; a handler of SIGABRT is not run before",
    ),
    ("mkdir", "no later call knows of the folder"),
];

const HEAD: &str = "# The models of the C library

A proof holds for the real program only if the model of the C library allows all that the library
may do there. This page says, for each function that has a stub, which of its results the model
allows. The test `environment_table` of `c-stubs` writes the page from the stubs' sources and from
the tables of outcomes (`c-stubs/tests/outcomes`); all cases of these tables are executed.

- *exact*: the arguments and the earlier calls determine the result.
- *all outcomes*: where the system decides, the result is chosen, for proofs and for searches.
- *narrowed*: as *all outcomes* if the named assumption is lifted. Otherwise the model allows the
  ordinary outcome only, and a verdict that rests on the assumption names it and the option that
  lifts it. `io` is lifted unless `--faults none` or `--faults alloc` is given.

A call that the system can refuse takes one byte from the channel of its name: 128 plus the number
of the error, or a byte below 128 if the call succeeds. Input streams contain their faults: after
0xFF comes a 1 and the number of an error, or a 2 if a read ends early. In tests these are
`.fails(\"write\", errno::ENOSPC)`, `.short_write(\"write\", 2)`,
`.read_fails(\"stdin\", errno::EINTR)` and `.short_read(\"stdin\", \"ab\")`.

While a signal handler is installed, each call of a function that can wait, read, write or ask the
system may run the handler first: a byte of the channel `signal` decides. A signal between two calls
is not modelled (`signals`).
";

fn page() -> (String, Vec<String>) {
    let all = bodies();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/outcomes");
    let mut shown: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for case in outcomes::tables(&folder).into_iter().flat_map(|t| t.cases) {
        shown.entry(case.function).or_default().push(case.outcome);
    }
    let mut page = HEAD.to_owned();
    page.push_str(
        "\n| function | model | outcomes that tests reach | not modelled |\n|---|---|---|---|\n",
    );
    let mut without = Vec::new();
    let mut known = BTreeSet::new();
    let redirected = redirections().iter().chain(heap());
    let stubs = redirected
        .filter(|r| r.kind == SymbolKind::Function)
        .map(|r| (r.symbol, format!("CRUNNER_{}", r.symbol)));
    let pure = engine_only().iter().map(|&name| (name, name.to_owned()));
    let mut names: Vec<(&str, String)> = stubs.chain(pure).collect();
    names.sort();
    for (name, defined) in names {
        known.insert(name.to_owned());
        // These share the scanner with scanf, but here it reads a string and not a stream.
        let (asks, chooses) = match name.ends_with("sscanf") {
            true => (BTreeSet::new(), false),
            false => reach(&all, &defined),
        };
        let width = match (asks.is_empty(), chooses) {
            (true, false) => "exact".to_owned(),
            (true, true) => "all outcomes".to_owned(),
            (false, _) => {
                let ids: Vec<String> = asks.iter().map(|id| format!("`{id}`")).collect();
                format!("narrowed: {}", ids.join(", "))
            }
        };
        let reached = shown.get(name).map_or(String::new(), |all| all.join("; "));
        let another = all.contains_key(&("aliases.c".to_owned(), defined.clone()));
        if width != "exact" && reached.is_empty() && !another && !ELSEWHERE.contains(&name) {
            without.push(name.to_owned());
        }
        let note = NOTES.iter().find(|(of, _)| *of == name);
        let note = note.map_or("", |(_, note)| note);
        let _ = writeln!(page, "| `{name}` | {width} | {reached} | {note} |");
    }
    let stray = shown.keys().filter(|name| !known.contains(*name));
    let mathematics = |name: &&String| !cegar_stubs::math().contains(&name.as_str());
    without.extend(
        stray
            .filter(mathematics)
            .map(|name| format!("no such function: {name}")),
    );
    (page, without)
}

/// Functions without cases in the tables: their outcomes are those of allocations, which have
/// separate tests, or they are older names with a version or a size before the arguments.
const ELSEWHERE: &[&str] = &[
    "malloc",
    "calloc",
    "realloc",
    "reallocarray",
    "free",
    "aligned_alloc",
    "posix_memalign",
    "memalign",
    "valloc",
    "malloc_usable_size",
    "__asprintf_chk",
    "__vasprintf_chk",
    "vasprintf",
    "qsort_r",
    "qsort",
    "strdup",
    "__xstat",
    "__lxstat",
    "__fxstat",
    "funlockfile",
    "ftrylockfile",
    "setbuf",
    "setbuffer",
    "setlinebuf",
    "srand48",
    // The narrowings of these functions have no choice as an alternative.
    "bsearch",
    "gai_strerror",
    "strerror",
    "strerror_l",
    "strsignal",
    "strerror_r",
    "__xpg_strerror_r",
    "snprintf",
    "__snprintf_chk",
    "sprintf",
    "__sprintf_chk",
    "vsnprintf",
    "__vsnprintf_chk",
    "vsprintf",
    "__vsprintf_chk",
];

#[test]
fn the_page_says_what_the_sources_do() {
    let (page, without) = page();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/environment.md");
    if std::env::var_os("CEGAR_WRITE_DOCS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == page,
        "docs/environment.md is old: run this test with CEGAR_WRITE_DOCS=1"
    );
    assert!(without.is_empty(), "no outcome is tested of {without:?}");
}
