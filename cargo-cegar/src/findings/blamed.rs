//! The blame for a fault in a durable form: what a report says, and what a harness would have to
//! assume.
//!
//! The engine refers to call sites and registers (`cegar_search::simulate::blame`), but a reader of
//! a report has the harness's C code. So each choice is named by its expression in the harness.

use serde::{Deserialize, Serialize};

/// Marks an assumption in a harness that was learnt from a fault.
pub const LEARNT: &str = "/* learnt */";
/// Marks an array in a harness that is as long as the header says, so that the library knows its
/// length.
pub const DECLARED: &str = "/* as declared */";

/// The origin of the faulting value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum From {
    /// The library computed it.
    Library,
    /// It is a byte of input data.
    Input,
    /// The harness chose it.
    Harness,
}

/// The blame for a fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blamed {
    /// The origin of the faulting value.
    pub from: From,
    /// The preconditions that the harness violated; empty unless the harness is to blame.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Missing>,
}

impl Blamed {
    /// Describes what the harness did.
    pub fn words(&self) -> String {
        let missing = self.missing.iter().map(|missing| &*missing.why);
        missing.collect::<Vec<_>>().join("; ")
    }
}

/// A precondition that the harness violated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// A sentence for users: ``the harness passed NULL as `fmt` ``.
    pub why: String,
    /// The call of the library before which the condition must hold.
    pub call: String,
    /// The choice as a C expression of the harness: `level`, `options.depth`; empty if it has no
    /// name there.
    pub choice: String,
    /// The condition as a C expression over the harness's variables; empty if none was found.
    pub condition: String,
    /// Whether the tape determines the choice. For a fixed choice, no assumption would help.
    pub varies: bool,
    /// The number of the argument, if the choice is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argument: Option<usize>,
    /// Whether the choice is a variable that a function of the library sets, so that an assumption
    /// about it can be satisfied.
    #[serde(default)]
    pub is_set: bool,
    /// Whether the choice is a variable whose address is passed to the call and that was not set
    /// before.
    #[serde(default)]
    pub is_read: bool,
    /// The required size in bytes, if the condition is about the size of memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub room: Option<u64>,
    /// The required length in bytes, if the condition is about an input whose length is not
    /// checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least: Option<u64>,
    /// Whether the condition is about the numbers in a row, which the library uses as indices.
    #[serde(default)]
    pub elements: bool,
}

impl Missing {
    /// Describes the condition, or the choice if no condition was found.
    pub fn words(&self) -> String {
        if self.elements {
            return format!("the elements of `{}` are valid indices", self.choice);
        }
        if let Some(least) = self.least {
            return format!("`{}` has {least} bytes or more", self.choice);
        }
        match (self.condition.as_str(), self.room) {
            ("", Some(room)) => format!("`{}` has room for {room} bytes", self.choice),
            ("", None) => self.why.clone(),
            (condition, _) => condition.to_owned(),
        }
    }
}
