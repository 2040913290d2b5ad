//! The one question of a proof: can a set of terms hold together?
//!
//! The checker of certificates needs neither models nor unsatisfiable cores, and should not depend
//! on which solver answers. An [`Asker`] answers, or says why the question could not be put to a
//! solver at all. [`Z3`] is an asker, and so is every program that reads SMT-LIB
//! ([`super::External`]). A [`Recorder`] writes the questions to files and passes them on to
//! another asker.

use std::fmt::Display;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::external::ExternalError;
use super::smtlib::{self, Status, Unwritable};
use super::{Answer, Limits, Reason, Solver, Z3};
use crate::term::{Pool, Term};

/// The answer to a question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The terms can hold together.
    Sat,
    /// The terms cannot hold together.
    Unsat,
    /// No answer.
    Unknown(Reason),
}

/// Why no solver could be asked. If the time runs out, that is not an error but an answer
/// ([`Verdict::Unknown`]).
#[derive(Debug, Error)]
pub enum AskError {
    /// The question cannot be written as SMT-LIB.
    #[error("the question cannot be written as SMT-LIB: {0}")]
    Unwritable(#[from] Unwritable),
    /// The external solver failed or gave no valid answer.
    #[error(transparent)]
    External(#[from] ExternalError),
    /// The question cannot be written to the recorder's folder.
    #[error("cannot write `{}`", path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
}

/// Answers questions: a solver, or a recorder in front of one.
pub trait Asker {
    /// Whether all terms (of one bit each) can hold together. `about` describes the question for
    /// people.
    fn ask(
        &mut self,
        pool: &mut Pool,
        terms: &[Term],
        limits: &Limits,
        about: &dyn Display,
    ) -> Result<Verdict, AskError>;
}

impl<A: Asker + ?Sized> Asker for Box<A> {
    fn ask(
        &mut self,
        pool: &mut Pool,
        terms: &[Term],
        limits: &Limits,
        about: &dyn Display,
    ) -> Result<Verdict, AskError> {
        (**self).ask(pool, terms, limits, about)
    }
}

impl Asker for Z3 {
    fn ask(
        &mut self,
        pool: &mut Pool,
        terms: &[Term],
        limits: &Limits,
        _about: &dyn Display,
    ) -> Result<Verdict, AskError> {
        Ok(match self.check(pool, terms, limits) {
            Answer::Sat(_) => Verdict::Sat,
            Answer::Unsat { .. } => Verdict::Unsat,
            Answer::Unknown(reason) => Verdict::Unknown(reason),
        })
    }
}

/// Asks a new Z3 instance each time, so that no answer depends on earlier questions.
#[derive(Clone, Copy, Debug, Default)]
pub struct FreshZ3;

impl Asker for FreshZ3 {
    fn ask(
        &mut self,
        pool: &mut Pool,
        terms: &[Term],
        limits: &Limits,
        about: &dyn Display,
    ) -> Result<Verdict, AskError> {
        Z3::new().ask(pool, terms, limits, about)
    }
}

/// The name of the file in a recorder's folder that lists its questions.
pub const MANIFEST: &str = "manifest.tsv";

/// Writes each question to its own file in a folder before it passes the question on, and then
/// appends the answer to a list.
#[derive(Debug)]
pub struct Recorder<A> {
    asker: A,
    folder: PathBuf,
    asked: u64,
}

impl<A: Asker> Recorder<A> {
    /// Creates a recorder that writes to `folder`, and creates that folder. Deletes the questions
    /// that an earlier recorder left there, so that the folder holds the questions of one
    /// certificate only.
    pub fn new(asker: A, folder: &Path) -> Result<Recorder<A>, AskError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| AskError::Record { path, source }
        };
        fs::create_dir_all(folder).map_err(failed(folder))?;
        for entry in fs::read_dir(folder).map_err(failed(folder))? {
            let path = entry.map_err(failed(folder))?.path();
            if is_question(&path) {
                fs::remove_file(&path).map_err(failed(&path))?;
            }
        }
        let list = folder.join(MANIFEST);
        fs::write(&list, "file\tanswer\tabout\n").map_err(failed(&list))?;
        Ok(Recorder {
            asker,
            folder: folder.to_owned(),
            asked: 0,
        })
    }

    /// The number of questions asked so far.
    pub fn asked(&self) -> u64 {
        self.asked
    }
}

/// Whether a file is named like a question: digits, a hyphen, `.smt2`.
fn is_question(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let digits = name
        .and_then(|name| name.strip_suffix(".smt2"))
        .and_then(|name| name.split_once('-'));
    digits
        .is_some_and(|(digits, _)| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}

/// Turns the description of a question into a part of a file name: its beginning, in characters
/// that every file system allows.
fn slug(about: &str) -> String {
    let mut slug = String::new();
    for c in about.lines().next().unwrap_or_default().chars() {
        match c.to_ascii_lowercase() {
            c if c.is_ascii_alphanumeric() => slug.push(c),
            _ if !slug.is_empty() && !slug.ends_with('-') => slug.push('-'),
            _ => {}
        }
        if slug.len() >= 40 {
            break;
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "question" } else { slug }.to_owned()
}

impl<A: Asker> Asker for Recorder<A> {
    fn ask(
        &mut self,
        pool: &mut Pool,
        terms: &[Term],
        limits: &Limits,
        about: &dyn Display,
    ) -> Result<Verdict, AskError> {
        self.asked += 1;
        let about = about.to_string();
        let name = format!("{:04}-{}.smt2", self.asked, slug(&about));
        let path = self.folder.join(&name);
        let failed = |path: PathBuf| move |source| AskError::Record { path, source };
        // The file is written before the question is asked, so that a question that crashes the
        // solver can be examined.
        let script = smtlib::script(pool, terms, &about, Status::Unsat)?;
        fs::write(&path, &script.text).map_err(failed(path))?;
        let answer = self.asker.ask(pool, terms, limits, &about);
        let said = match &answer {
            Ok(Verdict::Unsat) => "unsat",
            Ok(Verdict::Sat) => "sat",
            Ok(Verdict::Unknown(_)) => "unknown",
            Err(_) => "error",
        };
        let list = self.folder.join(MANIFEST);
        let one_line = about.split_whitespace().collect::<Vec<_>>().join(" ");
        fs::OpenOptions::new()
            .append(true)
            .open(&list)
            .and_then(|mut file| writeln!(file, "{name}\t{said}\t{one_line}"))
            .map_err(failed(list))?;
        answer
    }
}
