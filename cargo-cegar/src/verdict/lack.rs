//! What is missing for a proof of an open check, as far as the floor can tell.

use serde::{Deserialize, Serialize};

/// What the floor knows where a check is open, and what it would need. More may be known to the
/// solver, and more may be needed by it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lack {
    /// What is known, in words.
    pub knows: Vec<String>,
    /// What is needed and not known, in words.
    pub needs: Vec<String>,
    /// What a harness can say about it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub helps: Vec<String>,
    /// The numbers that are known of values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranges: Vec<Range>,
}

/// The numbers that a value is known to be among.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Range {
    /// The value, as C writes it.
    pub of: String,
    /// The least; none where it may be any number of its type.
    pub least: Option<i64>,
    /// The greatest; none where it may be any number of its type, or is too large to be written
    /// here.
    pub most: Option<i64>,
}
