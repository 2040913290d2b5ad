//! Whose choice a fault is, in words that last: what a report says, and what a harness would have
//! to assume.
//!
//! The engine speaks of call sites and registers (`cegar_search::simulate::blame`); a reader of a
//! report has the harness's C code before them. So each choice is named by the expression that
//! stands in the harness.

use serde::{Deserialize, Serialize};

/// Behind an assumption in a harness that was learnt from a fault.
pub const LEARNT: &str = "/* learnt */";
/// Behind an array in a harness that is as long as the header says: the library knows.
pub const DECLARED: &str = "/* as declared */";

/// Where the faulting value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum From {
    /// The library computed it.
    Library,
    /// A byte of data.
    Input,
    /// The harness chose it.
    Harness,
}

/// The engine's word about a fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blamed {
    /// Where the faulting value comes from.
    pub from: From,
    /// The conditions that the harness did not keep; none unless it is the harness's choice.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Missing>,
}

impl Blamed {
    /// For people: what the harness did.
    pub fn words(&self) -> String {
        let missing = self.missing.iter().map(|missing| &*missing.why);
        missing.collect::<Vec<_>>().join("; ")
    }
}

/// A condition that a caller has to keep, and that the harness did not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// For people: ``the harness passed NULL as `fmt` ``.
    pub why: String,
    /// The call into the library before which it has to hold.
    pub call: String,
    /// The choice, as the harness has it in C: `level`, `options.depth`; empty where it has no name
    /// there.
    pub choice: String,
    /// The condition in C, in the harness's own variables; empty where none was found.
    pub condition: String,
    /// Whether the tape chooses it. What the harness has fixed no assumption mends.
    pub varies: bool,
    /// Where it is an argument, its number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argument: Option<usize>,
    /// Whether it is a variable that a function of the library sets, so that what is assumed of it
    /// may hold.
    #[serde(default)]
    pub is_set: bool,
    /// Whether it is a variable whose address the call gets, and that nothing has set before it.
    #[serde(default)]
    pub is_read: bool,
    /// Where it is about how much room there is: how much was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub room: Option<u64>,
    /// Where it is about an input whose length nothing looks at: how long it has to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least: Option<u64>,
    /// Whether it is about the numbers in a row, which the library takes for indices.
    #[serde(default)]
    pub elements: bool,
}

impl Missing {
    /// The condition, or what was chosen where there is none.
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
