//! Verdicts in a form that other tools can read and check: SV-COMP's witness format 2.0.
//!
//! A violation becomes the answers of the environment on the path and the failing statement; a
//! proof becomes the invariants of its loops, in C. Both are derived from the results that the
//! check stored in its folder, as in `explain`: the input is executed again by the machine, and the
//! certificate was accepted by its checker. What cannot be expressed in the format or in C is left
//! out, counted and reported: a witness may say less than the verdict, but nothing that does not
//! hold.

mod format;
mod proof;
mod source;
mod violation;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use cegar_model::program::{CheckKind, Property};
use sha2::{Digest as _, Sha256};

use crate::error::Error;
use crate::event::{Event, Level, Reporter};
use crate::explain::StoredCampaign;
use crate::store;
use crate::verdict::Verdict;
use format::{Entry, Location, Metadata, Producer, Task, VERSION};
use source::{Sources, Spot};

/// The data for writing a witness.
#[derive(Clone, Debug)]
pub struct Request {
    /// The path of the witness.
    pub file: PathBuf,
    /// The folder with the results of the check.
    pub scratch: PathBuf,
    /// The C files: their names on the command line, and their paths.
    pub inputs: Vec<(String, PathBuf)>,
    /// The entry function.
    pub entry: String,
}

/// Writes the witness of a verdict, or reports why there is none.
pub fn write(
    request: &Request,
    verdict: Verdict,
    reporter: &mut dyn Reporter,
) -> Result<(), Error> {
    let mut note = |level, message: String| reporter.event(&Event::Note { level, message });
    if verdict == Verdict::Open {
        let message = format!(
            "no witness in {}: nothing is violated, and not everything is proved",
            request.file.display()
        );
        note(Level::Warning, message);
        return Ok(());
    }
    let left = StoredCampaign::read(&request.scratch)?;
    let sources = Sources::read(&request.inputs)?;
    let made = match verdict {
        Verdict::Violated => violation::entry(request, &left, &sources),
        _ => proof::entry(request, &left, &sources),
    };
    let (entry, told) = match made {
        Ok(made) => made,
        Err(Failed::Why(why)) => {
            let message = format!("no witness in {}: {why}", request.file.display());
            note(Level::Warning, message);
            return Ok(());
        }
        Err(Failed::Error(why)) => return Err(why),
    };
    let mut text = serde_saphyr::to_string(&[entry])
        .map_err(|why| Error::engine("writing the witness", why))?;
    if !text.ends_with('\n') {
        text.push('\n');
    }
    store::write(&request.file, text.as_bytes())?;
    note(
        Level::Info,
        format!("witness in {}: {told}", request.file.display()),
    );
    Ok(())
}

/// Why there is no witness.
enum Failed {
    /// The verdict cannot be expressed.
    Why(String),
    /// An error occurred.
    Error(Error),
}

impl From<Error> for Failed {
    fn from(why: Error) -> Failed {
        Failed::Error(why)
    }
}

/// An entry and its description for the user.
type Made = Result<(Entry, String), Failed>;

fn metadata(request: &Request, specification: String) -> Result<Metadata, Error> {
    let mut hashes = BTreeMap::new();
    for (name, path) in &request.inputs {
        let bytes = std::fs::read(path).map_err(|why| Error::io("read", path, why))?;
        hashes.insert(name.clone(), store::hex(&Sha256::digest(bytes)));
    }
    let words: Vec<String> = std::env::args_os()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let command_line = shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default();
    Ok(Metadata {
        format_version: VERSION,
        uuid: uuid::Uuid::new_v4().to_string(),
        creation_time: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        producer: Producer {
            name: "cargo-cegar",
            version: env!("CARGO_PKG_VERSION"),
            command_line,
        },
        task: Task {
            input_files: request
                .inputs
                .iter()
                .map(|(name, _)| name.clone())
                .collect(),
            input_file_hashes: hashes,
            specification,
            data_model: "LP64",
            language: "C",
        },
    })
}

/// The specification for properties, in SV-COMP's notation.
fn asked(entry: &str, properties: &[Property]) -> String {
    let mut all = Vec::new();
    for property in properties {
        match property {
            Property::Assertion => all.push(UNREACHED),
            Property::Abort => {}
            Property::Memory => all.extend([FREE, DEREFERENCE]),
            Property::Overflow => all.push(OVERFLOW),
        }
    }
    specification(entry, &all)
}

/// The specification for the violated property, in SV-COMP's notation.
fn violated(entry: &str, kind: CheckKind) -> String {
    let formula = match kind {
        CheckKind::Free => FREE,
        CheckKind::DivisionByZero | CheckKind::FloatConversion | CheckKind::Unreachable => DEFINED,
        _ => match kind.property() {
            Property::Assertion | Property::Abort => UNREACHED,
            Property::Memory => DEREFERENCE,
            Property::Overflow => OVERFLOW,
        },
    };
    specification(entry, &[formula])
}

const UNREACHED: &str = "! call(reach_error())";
const FREE: &str = "valid-free";
const DEREFERENCE: &str = "valid-deref";
const OVERFLOW: &str = "! overflow";
/// For undefined behaviour without a property of its own, such as a division by zero.
const DEFINED: &str = "def-behavior";

fn specification(entry: &str, formulas: &[&str]) -> String {
    let each = formulas
        .iter()
        .map(|formula| format!("CHECK( init({entry}()), LTL(G {formula}) )"));
    each.collect::<Vec<_>>().join("\n")
}

fn location(sources: &Sources, spot: Spot, column: Option<u32>, function: String) -> Location {
    Location {
        file_name: sources.name(spot).to_owned(),
        line: spot.line,
        column,
        function,
    }
}

/// Formats a count, as in `3 facts` or `1 fact`.
fn counted(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}

/// The name of a file in a witness, which is that on the command line, and its path.
pub fn named(given: &Path, here: &Path) -> (String, PathBuf) {
    (given.display().to_string(), here.join(given))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specifications_are_those_of_the_competition() {
        assert_eq!(
            asked("main", &[Property::Assertion]),
            "CHECK( init(main()), LTL(G ! call(reach_error())) )"
        );
        assert_eq!(
            asked("main", &[Property::Memory]),
            "CHECK( init(main()), LTL(G valid-free) )\nCHECK( init(main()), LTL(G valid-deref) )"
        );
        assert_eq!(
            violated("step", CheckKind::SignedOverflow),
            "CHECK( init(step()), LTL(G ! overflow) )"
        );
        assert_eq!(
            violated("main", CheckKind::DivisionByZero),
            "CHECK( init(main()), LTL(G def-behavior) )"
        );
    }

    #[test]
    fn the_version_stays_a_string() {
        let text = serde_saphyr::to_string(&BTreeMap::from([("format_version", VERSION)]));
        let text = text.expect("it is written");
        assert!(text.contains("\"2.0\"") || text.contains("'2.0'"), "{text}");
    }
}
