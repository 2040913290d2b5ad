//! What is missing for a proof of an open check, as far as the floor can determine it.

use serde::{Deserialize, Serialize};

/// What the floor knows at an open check, and what it would need. The solver may know more, and may
/// need more.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lack {
    /// The known facts, in words.
    pub knows: Vec<String>,
    /// The facts that are needed and unknown, in words.
    pub needs: Vec<String>,
    /// Assumptions that a harness could add.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub helps: Vec<String>,
    /// The known ranges of values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranges: Vec<Range>,
}

/// The range of a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Range {
    /// The value as a C expression.
    pub of: String,
    /// The lower bound; `None` if the value may be any number of its type.
    pub least: Option<i64>,
    /// The upper bound; `None` if the value may be any number of its type, or if the bound is too
    /// large for this field.
    pub most: Option<i64>,
}
