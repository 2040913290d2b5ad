//! Chooses the functions of a header that get a harness.
//!
//! A header may declare two hundred functions, and nobody reads two hundred harnesses. Functions
//! that read a buffer which another party wrote come first. Each harness is compiled before it is
//! offered, and each function without one is reported with the reason.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

use cegar_harness::build::own_macros;
use cegar_model::program::{CallerMembers, LibraryCode, MemorySizes};

use super::api::{self, Api};
use super::drive::{self, Adjust, Harness};
use super::macros;
use super::orders::Orders;
use super::ranking::{self, is_internal, is_safe_twin};
use crate::compile::{Compiler, Unit, compile_unchecked};
use crate::config;
use crate::error::Error;
use crate::store;

/// The facts about the library that harnesses are written and compiled with.
pub(super) struct Library<'a> {
    pub compiler: &'a Compiler,
    pub header: &'a Path,
    /// The header's path in the `#include` of a harness.
    pub include: &'a str,
    pub flags: &'a [String],
    pub units: &'a [Unit],
    pub scratch: PathBuf,
    /// The crate's folder.
    pub root: PathBuf,
    /// The folders of the crates that call the library.
    pub callers: Vec<PathBuf>,
    /// The functions of headers beside the library's own that get harnesses too.
    pub bound: BTreeSet<String>,
    pub stop: &'a AtomicBool,
}

/// The facts about the library that its code shows.
pub(super) struct Defined {
    /// The functions that its files define, each with the index of its file.
    pub functions: BTreeMap<String, usize>,
    /// The members of structures that its callers set.
    caller_members: CallerMembers,
    /// The sizes of the memory that its functions work on.
    sizes: MemorySizes,
}

/// The harnesses that were written for a header.
#[derive(Clone, Debug, Default)]
pub(super) struct Chosen {
    /// The harnesses, by function or name of a life.
    pub harnesses: Vec<(String, Harness)>,
    /// Harnesses beyond the requested number, by descending score; not compiled yet.
    pub further: Vec<(String, Harness)>,
    /// The declarations of the header; `usable` has the functions that can be called.
    pub api: Api,
    pub usable: BTreeSet<String>,
    /// For each function, the macros with which its file is compiled and not all other files are.
    pub defines: BTreeMap<String, Vec<String>>,
    /// Functions without a harness, with the reasons.
    pub skipped: Vec<(String, String)>,
    pub notes: Vec<String>,
}

impl Chosen {
    /// A remark that lists functions for which a harness could be written as well.
    pub(super) fn told_further(&self, skipped: &[(String, String)]) -> Option<String> {
        let is_done = |name: &String| {
            let mut written = self.harnesses.iter().map(|(name, _)| name);
            let mut skipped = skipped.iter().map(|(name, _)| name);
            written.any(|other| other == name) || skipped.any(|other| other == name)
        };
        let further = self.further.iter().map(|(name, _)| name);
        let left: Vec<&str> = further
            .filter(|name| !is_done(name))
            .map(String::as_str)
            .collect();
        (!left.is_empty()).then(|| {
            format!(
                "{} more could be driven; name them with --function, or raise --most: {}",
                left.len(),
                left.join(", ")
            )
        })
    }

    /// Accepts as many of the harnesses as are wanted and compile.
    fn take(
        &mut self,
        found: Vec<(String, drive::Harness)>,
        library: &Library<'_>,
        (wanted, most): (&Wanted, usize),
    ) {
        for (name, harness) in found {
            if self.harnesses.len() >= most && !wanted.names(&name) {
                self.further.push((name, harness));
                continue;
            }
            match library.compiles(&name, &harness.text) {
                None => self.harnesses.push((name, harness)),
                Some(why) => {
                    let why = format!("its harness does not compile: {why}");
                    self.skipped.push((name, why));
                }
            }
        }
    }
}

/// The error that the header does not declare a requested function.
fn undeclared(header: &Path, pattern: &str, names: &[&str]) -> Error {
    let help = match config::nearest(pattern, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("it declares: {}", names.join(", ")),
    };
    let header = header.display();
    Error::nothing(format!("`{header}` does not declare `{pattern}`"), help)
}

/// The functions that get harnesses: those that a pattern matches, or the most promising ones if
/// there is no pattern.
#[derive(Clone, Debug, Default)]
pub struct Wanted(pub Vec<String>);

impl Wanted {
    /// Whether no function was requested, so that the most promising ones are chosen.
    pub fn is_any(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a function is requested by its full name, not only by a wildcard.
    fn names(&self, function: &str) -> bool {
        self.0.iter().any(|pattern| pattern == function)
    }

    fn covers(&self, function: &str) -> bool {
        self.is_any() || self.0.iter().any(|pattern| matches(pattern, function))
    }
}

/// The declarations of the header and of those beside it that the crate binds, and their text.
fn read(library: &Library<'_>) -> Result<(Api, String), Error> {
    let mut api = api::read(library.compiler, library.header, library.flags)?;
    let folder = library.header.parent().unwrap_or(Path::new("/"));
    let beside = api.take_bound(&library.bound).into_iter();
    let beside = beside.map(|header| folder.join(header));
    let mut text = String::new();
    for header in [library.header.to_owned()].into_iter().chain(beside) {
        let bytes = std::fs::read(header).unwrap_or_default();
        let one = String::from_utf8_lossy(&bytes);
        macros::put(&mut api, &one);
        text += &one;
    }
    Ok((api, text))
}

/// Writes harnesses for the requested functions, at most `most` of them unless they are requested
/// by name.
pub(super) fn choose(library: &Library<'_>, wanted: &Wanted, most: usize) -> Result<Chosen, Error> {
    let mut chosen = Chosen::default();
    let (mut api, text) = read(library)?;
    let defined = library.defined(&mut chosen.notes);
    if let Some(defined) = &defined {
        api.take_caller_members(&defined.caller_members);
        api.sizes.clone_from(&defined.sizes);
    }
    let usable: BTreeSet<String> = match &defined {
        Some(defined) => defined.functions.keys().cloned().collect(),
        None => api.functions.iter().map(|one| one.name.clone()).collect(),
    };
    api.orders = Orders::learn(&library.root, &library.callers, &api)?;
    for (identity, automaton) in drive::containers(&api, &usable) {
        api.orders.assume(identity, automaton);
    }
    let names: Vec<&str> = api.functions.iter().map(|f| f.name.as_str()).collect();
    if names.is_empty() {
        return Err(Error::nothing(
            format!("`{}` declares no function", library.header.display()),
            "name another header with --header",
        ));
    }
    let matching = names.iter().copied().filter(|name| wanted.covers(name));
    let matching: Vec<&str> = matching.collect();
    let is_function = |pattern: &&String| names.iter().any(|name| matches(pattern, name));
    let is_life = |pattern: &&String| {
        let mut lives = api.orders.identities().map(drive::automaton_name);
        lives.any(|name| matches(pattern, &name))
    };
    let mut patterns = wanted.0.iter();
    if let Some(pattern) = patterns.find(|one| !is_function(one) && !is_life(one)) {
        return Err(undeclared(library.header, pattern, &names));
    }
    if let Some(defined) = &defined {
        chosen.defines = library.own_macros(&defined.functions);
    }
    let mut found = Vec::new();
    let by_life = wanted.is_any() || !wanted.0.iter().all(|one| is_function(&one));
    for name in matching {
        if let Some(safe) = names.iter().find(|other| is_safe_twin(name, other))
            && !wanted.names(name)
        {
            let why = format!("`{safe}` is for data from outside, and it is not");
            chosen.skipped.push((name.to_owned(), why));
            continue;
        }
        // A name that the text of the header does not contain comes from a macro of the build.
        if is_internal(name) && text.contains(name) && !wanted.names(name) {
            let why = "its name says that callers keep conditions which no header states";
            chosen.skipped.push((name.to_owned(), why.to_owned()));
            continue;
        }
        match library.one(&api, &usable, name) {
            Ok(harness) => found.push((name.to_owned(), harness)),
            Err(why) => chosen.skipped.push((name.to_owned(), why)),
        }
    }
    if by_life {
        let lives = library.lives(&api, &usable, &mut chosen.skipped);
        found.extend(lives.into_iter().filter(|(name, _)| wanted.covers(name)));
    }
    let found = ranking::in_order(found, &api, |name| library.is_unused(name));
    chosen.take(found, library, (wanted, most));
    let is_written = |function: &str| chosen.harnesses.iter().any(|(name, _)| name == function);
    let mut named = wanted.0.iter().filter(|pattern| !pattern.contains('*'));
    let mut skipped = chosen.skipped.iter();
    // The life of an object is skipped under another name than the one that is requested.
    if chosen.harnesses.is_empty()
        && let Some(function) = named.find(|function| !is_written(function))
        && let Some((_, why)) = skipped
            .find(|(name, _)| name == function)
            .or(chosen.skipped.first())
    {
        return Err(Error::nothing(
            format!("no harness can be written for `{function}`: {why}"),
            "`cargo cegar init --name NAME` gives a template to write it by hand",
        ));
    }
    (chosen.api, chosen.usable) = (api, usable);
    Ok(chosen)
}

impl Library<'_> {
    /// Whether the crate's Rust code binds functions of the library, but not this one.
    fn is_unused(&self, name: &str) -> bool {
        let is_life = name.starts_with(drive::LIFE);
        !self.bound.is_empty() && !is_life && !self.bound.contains(name)
    }

    fn one(&self, api: &Api, usable: &BTreeSet<String>, name: &str) -> Result<Harness, String> {
        let function = api.function(name).ok_or("it is not declared")?;
        let harness = drive::harness(api, usable, function, self.include, &Adjust::default())?;
        if !function.inline && !usable.contains(name) {
            return Err("this build does not compile it".to_owned());
        }
        Ok(harness)
    }

    /// The harnesses for the lives of objects that callers are seen to use, and of containers.
    fn lives(
        &self,
        api: &Api,
        usable: &BTreeSet<String>,
        skipped: &mut Vec<(String, String)>,
    ) -> Vec<(String, Harness)> {
        let mut all: Vec<(String, Harness)> = Vec::new();
        for identity in api.orders.identities() {
            let (name, orders) = (
                drive::automaton_name(identity),
                api.orders.of_life(identity),
            );
            let Some(automaton) = orders else { continue };
            let adjust = Adjust::default();
            match drive::automaton_harness(
                api,
                usable,
                (identity, automaton),
                self.include,
                &adjust,
            ) {
                Ok(harness) if all.iter().all(|(other, _)| *other != name) => {
                    all.push((name, harness));
                }
                Ok(_) => {}
                Err(why) => skipped.push((format!("the life of a {identity}"), why)),
            }
        }
        all
    }

    /// Writes the harness with this name again, with the adjustments from a trial.
    pub(super) fn again(
        &self,
        (api, usable): (&Api, &BTreeSet<String>),
        name: &str,
        adjust: &Adjust,
    ) -> Result<Harness, String> {
        let mut lives = api.orders.identities();
        let harness = match lives.find(|identity| drive::automaton_name(identity) == name) {
            Some(identity) => {
                let automaton = api.orders.of_life(identity).ok_or("no order is known")?;
                drive::automaton_harness(api, usable, (identity, automaton), self.include, adjust)?
            }
            None => {
                let function = api.function(name).ok_or("it is not declared")?;
                drive::harness(api, usable, function, self.include, adjust)?
            }
        };
        match self.compiles(name, &harness.text) {
            None => Ok(harness),
            Some(why) => Err(format!("what was learnt of it does not compile: {why}")),
        }
    }

    /// For each defined function, the macros of its file that not all files have.
    fn own_macros(&self, defined: &BTreeMap<String, usize>) -> BTreeMap<String, Vec<String>> {
        let own = |unit: &Unit| own_macros(&unit.flags, self.flags);
        let by_unit: Vec<Vec<String>> = self.units.iter().map(own).collect();
        let all = defined.iter().map(|(name, unit)| (name, &by_unit[*unit]));
        all.filter(|(_, own)| !own.is_empty())
            .map(|(name, own)| (name.clone(), own.clone()))
            .collect()
    }

    /// What the library's files define. `None` if there are no files or they do not compile.
    pub(super) fn defined(&self, notes: &mut Vec<String>) -> Option<Defined> {
        if self.units.is_empty() {
            return None;
        }
        let mut units = self.units.to_vec();
        for unit in &mut units {
            unit.flags.push("-w".to_owned());
        }
        let bitcode = self.scratch.join("bitcode");
        match compile_unchecked(self.compiler, &units, &bitcode, self.stop) {
            Ok(compiled) => {
                let mut functions = BTreeMap::new();
                let code = LibraryCode::read(&compiled.bitcode);
                for (number, names) in code.functions.into_iter().enumerate() {
                    // A linker takes the first of several definitions.
                    for name in names {
                        functions.entry(name).or_insert(number);
                    }
                }
                Some(Defined {
                    functions,
                    caller_members: code.caller_members,
                    sizes: code.sizes,
                })
            }
            Err(why) => {
                let text = why.to_string();
                let first = text.lines().next().unwrap_or_default();
                notes.push(format!(
                    "which functions the library has is not known: {first}"
                ));
                None
            }
        }
    }

    /// The first error of the compiler for a harness; `None` if it compiles.
    pub(super) fn compiles(&self, name: &str, text: &str) -> Option<String> {
        let file = self.scratch.join(format!("{name}.harness.c"));
        if let Err(why) = store::write(&file, text.as_bytes()) {
            return Some(why.to_string());
        }
        let said = refused(self.compiler, &file, self.flags);
        // A file left in the scratch folder is harmless.
        let _ = std::fs::remove_file(&file);
        said
    }
}

/// The first error in a C file; `None` if it compiles.
pub(super) fn refused(compiler: &Compiler, file: &Path, flags: &[String]) -> Option<String> {
    let output = Command::new(&compiler.path)
        .args(["-fsyntax-only", "-w", "-fno-color-diagnostics"])
        .args(flags)
        .arg(file)
        .output();
    let output = match output {
        Ok(output) => output,
        Err(why) => return Some(why.to_string()),
    };
    if output.status.success() {
        return None;
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let first = said
        .lines()
        .find_map(|line| line.split_once("error: "))
        .map_or(said.as_str(), |(_, message)| message);
    Some(first.to_owned())
}

/// Whether a name matches a pattern, in which `*` stands for any characters.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, rest)) => name.strip_prefix(start).is_some_and(|mut tail| {
            loop {
                if matches(rest, tail) {
                    return true;
                }
                let mut letters = tail.chars();
                if letters.next().is_none() {
                    return false;
                }
                tail = letters.as_str();
            }
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_letters() {
        assert!(matches("XML_*", "XML_Parse") && matches("*", "") && matches("a*c*", "abcd"));
        assert!(matches("parse", "parse") && !matches("parse", "parser") && !matches("*x", "xy"));
    }
}
