//! Mismatched declarations in the form that reporters output.

use std::fmt::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{ComparisonReport, Mismatch, RULE};
use crate::findings::Identity;

/// A mismatch in the form that reporters output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Binding {
    /// Always [`RULE`].
    pub kind: String,
    /// Its stable name.
    pub name: String,
    /// Its identity.
    pub identity: Identity,
    /// Whether the baseline lists it.
    pub known: bool,
    /// The mismatch.
    #[serde(flatten)]
    pub mismatch: Mismatch,
}

impl Binding {
    /// Creates it from a mismatch in the crate at `root`.
    pub fn new(mismatch: &Mismatch, root: &Path) -> Binding {
        let identity = mismatch.identity(root);
        Binding {
            kind: RULE.to_owned(),
            name: identity.name(),
            identity,
            known: false,
            mismatch: mismatch.clone(),
        }
    }

    /// `inflate: it has 2 parameters in Rust, and 3 in C`.
    pub fn sentence(&self) -> String {
        format!("{}: {}", self.mismatch.item, self.mismatch.message)
    }

    /// The sentence followed by the place in C.
    pub fn in_full(&self) -> String {
        format!("{} ({})", self.sentence(), self.mismatch.c_place())
    }
}

impl ComparisonReport {
    /// A summary of the comparison in one line.
    pub fn summary(&self) -> String {
        let mut text = format!(
            "{} of {} declared functions are of the library; {} functions and types compared",
            self.functions, self.declared, self.compared
        );
        if !self.left_out.is_empty() {
            // Writing to a string cannot fail.
            let _ = write!(text, ", {} left out", self.left_out.len());
        }
        let _ = match self.mismatches.len() {
            0 => write!(text, "; all fit"),
            1 => write!(text, "; 1 does not fit"),
            n => write!(text, "; {n} do not fit"),
        };
        text
    }
}
