//! `cegar/contracts.toml`: what callers of the library have to keep, as far as it was learnt.
//!
//! A condition that is not confirmed is a guess that hides whatever it excludes, so each one stands
//! in a committed file with where it was learnt and why. A maintainer confirms a line (`state =
//! "confirmed"`), or deletes it: then the harness assumes it no more, and the line comes back as
//! `rejected`, which is how it is remembered that it is not to be learnt again; a fault that breaks
//! a rejected condition is the library's.

use std::path::{Path, PathBuf};

use cegar_checker::Assumption;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::findings::LEARNT;
use crate::store;

/// The file's name in the package.
pub const FILE: &str = "contracts.toml";

/// What stands at its top.
const HEAD: &str = "# What callers have to keep, as far as `cargo cegar init` learnt it from \
    faults that its own harnesses caused.\n#\n\
    # Each condition hides what it excludes: look at it once, and set state = \"confirmed\", or \
    delete the entry. The harness\n\
    # then assumes it no more, and the entry comes back as \"rejected\": a fault behind it is the \
    library's.\n# Delete a rejected entry as well, and the condition may be learnt again.\n";

/// How a condition stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Learnt, and neither confirmed nor rejected.
    #[default]
    Learnt,
    /// A person says that it is so.
    Confirmed,
    /// A person says that it is not.
    Rejected,
}

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Precondition {
    /// The harness that keeps it.
    pub harness: String,
    /// The function of the library before whose call it has to hold.
    pub call: String,
    /// The condition, in C and in the harness's variables; for people where the harness is written
    /// so that it holds.
    pub condition: String,
    /// What the harness did.
    pub why: String,
    /// Where the fault was.
    pub learnt: String,
    /// What the fault was.
    pub check: String,
    /// How it stands.
    #[serde(default)]
    pub state: State,
}

/// The file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contracts {
    /// The conditions.
    #[serde(default, rename = "precondition")]
    pub preconditions: Vec<Precondition>,
}

impl Contracts {
    /// Reads the package's file; nothing where there is none.
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

    /// Writes it.
    pub fn save(&self, package: &Path) -> Result<PathBuf, Error> {
        let path = package.join(FILE);
        let list = toml::to_string_pretty(self)
            .map_err(|why| Error::engine("writing the list of preconditions", why))?;
        store::write(&path, format!("{HEAD}\n{list}").as_bytes())?;
        Ok(path)
    }

    /// Adds conditions that are not there.
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

    /// The conditions that a harness keeps.
    pub fn kept<'c>(&'c self, harness: &'c str) -> impl Iterator<Item = &'c Precondition> {
        let all = self.preconditions.iter();
        all.filter(move |one| one.harness == harness && one.state != State::Rejected)
    }

    /// What proofs of a harness assume of all callers: what is confirmed, and what is not.
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

    /// Conditions that are no excuse, in the words of a finding.
    pub fn rejected(&self, harness: &str) -> Vec<String> {
        let all = self.preconditions.iter();
        all.filter(|one| one.harness == harness && one.state == State::Rejected)
            .map(|one| one.condition.clone())
            .collect()
    }
}

/// A harness without the conditions that the list no longer has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    /// Its name.
    pub harness: String,
    /// Its file, as it is now.
    pub file: PathBuf,
    /// What was taken out.
    pub conditions: Vec<String>,
}

/// Takes out of harnesses what is no longer listed as a precondition, and lists it as rejected. The
/// files are changed where they are, or, with `beside`, a folder of the package's shape gets what
/// they would be: a build changes no source tree.
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

/// A harness's text without the conditions that the list does not have, and those conditions.
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

/// The condition that a line of a harness assumes because it was learnt.
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
        // A build leaves the source tree as it is.
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
