//! SV-COMP's exchange format for witnesses: version 2.0, in YAML.
//!
//! The types correspond to the published schema field by field, so that the serialised output
//! conforms to it.

use std::collections::BTreeMap;

use serde::Serialize;

/// The version of the format.
pub const VERSION: &str = "2.0";

/// A witness. A file contains a list of them; this tool writes one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "entry_type", rename_all = "snake_case")]
pub enum Entry {
    /// A path to a violation.
    ViolationSequence {
        /// The description of the witness.
        metadata: Metadata,
        /// The path, in order.
        content: Vec<SegmentItem>,
    },
    /// The invariants of a proof.
    InvariantSet {
        /// The description of the witness.
        metadata: Metadata,
        /// The invariants; their order does not matter.
        content: Vec<InvariantItem>,
    },
}

/// The subject and the origin of a witness.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Metadata {
    /// [`VERSION`].
    pub format_version: &'static str,
    /// A unique identifier.
    pub uuid: String,
    /// The time of creation in ISO 8601 format.
    pub creation_time: String,
    /// The tool that created it.
    pub producer: Producer,
    /// The verification task.
    pub task: Task,
}

/// The tool that created a witness.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Producer {
    /// The name of the tool.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
    /// Its command line.
    pub command_line: String,
}

/// The verification task of a witness.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Task {
    /// The C files, as named on the command line.
    pub input_files: Vec<String>,
    /// The SHA-256 of each file.
    pub input_file_hashes: BTreeMap<String, String>,
    /// The property in SV-COMP's notation.
    pub specification: String,
    /// The data model, which determines the sizes of integers.
    pub data_model: &'static str,
    /// The language; always C.
    pub language: &'static str,
}

/// A segment. The format wraps each list item in a map with one key.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SegmentItem {
    /// The waypoints; the last one is to be followed.
    pub segment: Vec<WaypointItem>,
}

/// A waypoint as a list item; see [`SegmentItem`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WaypointItem {
    /// The waypoint.
    pub waypoint: Waypoint,
}

/// A point that an execution passes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Waypoint {
    /// Its kind.
    #[serde(rename = "type")]
    pub kind: WaypointKind,
    /// Always `follow`: on a known path there is nothing to avoid.
    pub action: &'static str,
    /// The condition that holds there; `None` for a target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constraint: Option<Constraint>,
    /// Its place.
    pub location: Location,
}

/// The kinds of waypoints that this tool writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WaypointKind {
    /// The return of a call.
    FunctionReturn,
    /// The violation.
    Target,
}

/// A condition.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Constraint {
    /// The condition.
    pub value: String,
    /// The language of the condition.
    pub format: &'static str,
}

/// A place in a C file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Location {
    /// One of the task's files.
    pub file_name: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1; without it, the leftmost suitable place of the line is meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The surrounding function.
    pub function: String,
}

/// An invariant as a list item; see [`SegmentItem`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InvariantItem {
    /// The invariant.
    pub invariant: Invariant,
}

/// A condition that always holds at a place.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Invariant {
    /// The kind of place.
    #[serde(rename = "type")]
    pub kind: InvariantKind,
    /// The place.
    pub location: Location,
    /// The condition.
    pub value: String,
    /// The language of the condition: `c_expression`.
    pub format: &'static str,
}

/// Kinds of invariants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum InvariantKind {
    /// Holds whenever the condition of a loop is about to be evaluated.
    LoopInvariant,
    /// Holds whenever a statement is about to be executed.
    LocationInvariant,
}
