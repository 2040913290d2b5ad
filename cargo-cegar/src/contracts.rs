//! `cegar/contracts.toml`: the learnt preconditions that callers of the library must satisfy.
//!
//! An unconfirmed condition is a guess that hides everything it excludes, so each one is stored in
//! a committed file, with where and why it was learnt. A maintainer confirms an entry (`state =
//! "confirmed"`) or deletes it. After deletion the harness no longer assumes the condition, and the
//! entry comes back as `rejected`, so that the condition is not learnt again; a fault that violates
//! a rejected condition is the library's.

use std::path::{Path, PathBuf};

use cegar_checker::Assumption;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::findings::LEARNT;
use crate::store;

/// The file's name in the package.
pub const FILE: &str = "contracts.toml";

/// The comment at the beginning of the file.
const HEAD: &str = "# What callers have to keep, as far as `cargo cegar init` learnt it from \
    faults that its own harnesses caused.\n#\n\
    # Each condition hides what it excludes: look at it once, and set state = \"confirmed\", or \
    delete the entry. The harness\n\
    # then assumes it no more, and the entry comes back as \"rejected\": a fault behind it is the \
    library's.\n# Delete a rejected entry as well, and the condition may be learnt again.\n";

/// The state of a condition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Learnt, and neither confirmed nor rejected.
    #[default]
    Learnt,
    /// Confirmed by a user.
    Confirmed,
    /// Rejected by a user.
    Rejected,
}

/// A learnt condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Precondition {
    /// The harness that keeps it.
    pub harness: String,
    /// The function of the library before whose call the condition must hold.
    pub call: String,
    /// The condition as a C expression over the harness's variables, or in words if the harness is
    /// written so that it holds.
    pub condition: String,
    /// The choice of the harness that violated it.
    pub why: String,
    /// The place of the fault.
    pub learnt: String,
    /// The kind of the fault.
    pub check: String,
    /// The state of the condition.
    #[serde(default)]
    pub state: State,
}

/// The contents of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contracts {
    /// The conditions.
    #[serde(default, rename = "precondition")]
    pub preconditions: Vec<Precondition>,
}

impl Contracts {
    /// Reads the package's file; empty if there is none.
    pub fn load(package: &Path) -> Result<Contracts, Error> {
        let path = package.join(FILE);
        if !path.exists() {
            return Ok(Contracts::default());
        }
        let text = store::read_text(&path)?;
        toml::from_str(&text).map_err(|why| {
            Error::usage(
                format!("`{}` is not a list of preconditions: {why}", path.display()),
                "mend it, or take it from version control; without the file, what the harnesses \
                 learnt counts as rejected",
            )
        })
    }

    /// Writes the file and returns its path.
    pub fn save(&self, package: &Path) -> Result<PathBuf, Error> {
        let path = package.join(FILE);
        let list = toml::to_string_pretty(self)
            .map_err(|why| Error::engine("writing the list of preconditions", why))?;
        store::write(&path, format!("{HEAD}\n{list}").as_bytes())?;
        Ok(path)
    }

    /// Adds conditions that are not listed yet.
    pub fn add(&mut self, learnt: impl IntoIterator<Item = Precondition>) {
        for new in learnt {
            let same = |known: &&Precondition| {
                (&known.harness, &known.call, &known.condition)
                    == (&new.harness, &new.call, &new.condition)
            };
            if self.preconditions.iter().find(same).is_none() {
                self.preconditions.push(new);
            }
        }
    }

    /// The conditions that a harness satisfies: those that are not rejected.
    pub fn kept<'c>(&'c self, harness: &'c str) -> impl Iterator<Item = &'c Precondition> {
        let all = self.preconditions.iter();
        all.filter(move |one| one.harness == harness && one.state != State::Rejected)
    }

    /// The assumptions about all callers on which proofs of a harness rest: the confirmed and the
    /// unconfirmed conditions.
    pub fn assumed(&self, harness: &str) -> Vec<Assumption> {
        let conditions = |state: State| -> Vec<String> {
            self.kept(harness)
                .filter(|one| one.state == state)
                .map(|one| match one.call.as_str() {
                    "" => one.condition.clone(),
                    call => format!("{call}: {}", one.condition),
                })
                .collect()
        };
        [(true, State::Confirmed), (false, State::Learnt)]
            .into_iter()
            .map(|(is_confirmed, state)| (is_confirmed, conditions(state)))
            .filter(|(_, conditions)| !conditions.is_empty())
            .map(|(is_confirmed, conditions)| Assumption::preconditions(is_confirmed, conditions))
            .collect()
    }

    /// The rejected conditions of a harness, in the words of a finding.
    pub fn rejected(&self, harness: &str) -> Vec<String> {
        let all = self.preconditions.iter();
        all.filter(|one| one.harness == harness && one.state == State::Rejected)
            .map(|one| one.condition.clone())
            .collect()
    }
}

/// A harness from which conditions were removed that the list no longer contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    /// Its name.
    pub harness: String,
    /// The path of the changed file.
    pub file: PathBuf,
    /// The conditions that were removed.
    pub conditions: Vec<String>,
}

/// Removes conditions from harnesses that are no longer listed as preconditions, and lists them as
/// rejected. The files are changed in place, or, with `beside`, changed copies are written to that
/// folder, which has the structure of the package: a CI build must not change the source tree.
pub fn settle(
    package: &Path,
    harnesses: &[(String, PathBuf)],
    beside: Option<&Path>,
) -> Result<Vec<Settled>, Error> {
    let mut contracts = Contracts::load(package)?;
    let mut settled = Vec::new();
    for (name, file) in harnesses {
        if !file.is_file() {
            continue;
        }
        let text = store::read_text(file)?;
        let (text, conditions) = without(&text, &contracts, name);
        if conditions.is_empty() {
            continue;
        }
        let file = match beside {
            None => file.clone(),
            Some(folder) => {
                let folder = folder.join("harnesses");
                store::writable_dir(&folder)?;
                folder.join(format!("{name}.c"))
            }
        };
        store::write(&file, text.as_bytes())?;
        settled.push(Settled {
            harness: name.clone(),
            file,
            conditions,
        });
    }
    let gone = settled.iter().flat_map(|one| {
        one.conditions.iter().map(|condition| Precondition {
            harness: one.harness.clone(),
            call: String::new(),
            condition: condition.clone(),
            why: "the entry was deleted".to_owned(),
            learnt: String::new(),
            check: String::new(),
            state: State::Rejected,
        })
    });
    let gone: Vec<Precondition> = gone
        .filter(|new| !contracts.rejected(&new.harness).contains(&new.condition))
        .collect();
    if !gone.is_empty() {
        contracts.preconditions.extend(gone);
        contracts.save(beside.unwrap_or(package))?;
    }
    Ok(settled)
}

/// A harness's text without the conditions that the list does not contain, and those conditions.
fn without(text: &str, contracts: &Contracts, harness: &str) -> (String, Vec<String>) {
    let (mut lines, mut gone) = (String::new(), Vec::new());
    for line in text.lines() {
        match assumed(line) {
            Some(condition)
                if !contracts
                    .kept(harness)
                    .any(|one| one.condition == condition) =>
            {
                gone.push(condition.to_owned());
            }
            _ => {
                lines += line;
                lines.push('\n');
            }
        }
    }
    (lines, gone)
}

/// The condition that a line of a harness assumes, if it was learnt.
fn assumed(line: &str) -> Option<&str> {
    let rest = line.trim().strip_suffix(LEARNT)?.trim_end();
    rest.strip_prefix("crunner_assume(")?.strip_suffix(");")
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn one(condition: &str, state: State) -> Precondition {
        Precondition {
            harness: "h".to_owned(),
            call: "f".to_owned(),
            condition: condition.to_owned(),
            why: "the harness passed 0 as `n`".to_owned(),
            learnt: "src/a.c:3:1".to_owned(),
            check: "invalid read".to_owned(),
            state,
        }
    }

    #[test]
    fn what_is_deleted_is_rejected_and_taken_out() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("h.c");
        let text = format!(
            "    crunner_assume(a > 0); {LEARNT}\n    crunner_assume(b > 0); {LEARNT}\n    \
             crunner_assume(mine);\n"
        );
        std::fs::write(&file, text).unwrap();
        let mut contracts = Contracts::default();
        contracts.add([one("a > 0", State::Confirmed), one("a > 0", State::Learnt)]);
        assert_eq!(contracts.preconditions.len(), 1);
        contracts.save(folder.path()).unwrap();
        let all = [("h".to_owned(), file.clone())];
        // A CI build leaves the source tree unchanged.
        let (beside, before) = (folder.path().join("beside"), std::fs::read(&file).unwrap());
        let settled = settle(folder.path(), &all, Some(&beside)).unwrap();
        assert_eq!(settled[0].file, beside.join("harnesses/h.c"));
        assert_eq!(Contracts::load(&beside).unwrap().rejected("h"), ["b > 0"]);
        assert_eq!(std::fs::read(&file).unwrap(), before);
        assert!(
            Contracts::load(folder.path())
                .unwrap()
                .rejected("h")
                .is_empty()
        );

        let settled = settle(folder.path(), &all, None).unwrap();
        assert_eq!(
            (&*settled[0].harness, &*settled[0].conditions),
            ("h", &["b > 0".to_owned()][..])
        );
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.contains("a > 0") && !text.contains("b > 0") && text.contains("mine"));
        let after = Contracts::load(folder.path()).unwrap();
        assert_eq!(after.rejected("h"), ["b > 0"]);
        assert_eq!(after.kept("h").count(), 1);
        assert!(settle(folder.path(), &all, None).unwrap().is_empty());
    }

    #[test]
    fn a_damaged_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FILE), "[[precondition]]\nharness = 3\n").unwrap();
        let why = Contracts::load(folder.path()).unwrap_err().to_string();
        assert!(why.contains(FILE), "{why}");
    }
}
