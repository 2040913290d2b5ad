//! Witnesses as SV-COMP exchanges them: format 2.0, in YAML.
//!
//! The types follow the published schema field by field, so that what is serialised from them has
//! its form.

use std::collections::BTreeMap;

use serde::Serialize;

/// The version of the format.
pub const VERSION: &str = "2.0";

/// A witness. A file is a list of them; this tool writes one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "entry_type", rename_all = "snake_case")]
pub enum Entry {
    /// A way to a violation.
    ViolationSequence {
        /// What it is about.
        metadata: Metadata,
        /// The way, in order.
        content: Vec<SegmentItem>,
    },
    /// Invariants that make a proof.
    InvariantSet {
        /// What it is about.
        metadata: Metadata,
        /// The invariants, in no order.
        content: Vec<InvariantItem>,
    },
}

/// What a witness is about, and where it comes from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Metadata {
    /// [`VERSION`].
    pub format_version: &'static str,
    /// Tells witnesses apart.
    pub uuid: String,
    /// ISO 8601.
    pub creation_time: String,
    /// The tool that made it.
    pub producer: Producer,
    /// What was asked.
    pub task: Task,
}

/// The tool that made a witness.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Producer {
    /// The tool.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
    /// How it was called.
    pub command_line: String,
}

/// What was asked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Task {
    /// The C files, as they were named.
    pub input_files: Vec<String>,
    /// SHA-256 by file.
    pub input_file_hashes: BTreeMap<String, String>,
    /// The property, as SV-COMP writes it.
    pub specification: String,
    /// The sizes of integers.
    pub data_model: &'static str,
    /// Always C.
    pub language: &'static str,
}

/// A list has maps with one key.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SegmentItem {
    /// The waypoints; the last is followed.
    pub segment: Vec<WaypointItem>,
}

/// See [`SegmentItem`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WaypointItem {
    /// The finding.
    pub waypoint: Waypoint,
}

/// Something that an execution passes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Waypoint {
    /// What it passes.
    #[serde(rename = "type")]
    pub kind: WaypointKind,
    /// Always `follow`: nothing is to be avoided on a way that is known.
    pub action: &'static str,
    /// What holds there; not of a target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constraint: Option<Constraint>,
    /// Where.
    pub location: Location,
}

/// Kinds of waypoints that this tool writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WaypointKind {
    /// A call returns.
    FunctionReturn,
    /// The violation.
    Target,
}

/// A condition.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Constraint {
    /// The finding.
    pub value: String,
    /// Its language.
    pub format: &'static str,
}

/// A place in a C file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Location {
    /// One of the task's files.
    pub file_name: String,
    /// From 1.
    pub line: u32,
    /// From 1; without it the leftmost place of the line that fits is meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The function around it.
    pub function: String,
}

/// See [`SegmentItem`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InvariantItem {
    /// The finding.
    pub invariant: Invariant,
}

/// What always holds at a place.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Invariant {
    /// What place.
    #[serde(rename = "type")]
    pub kind: InvariantKind,
    /// Where.
    pub location: Location,
    /// The condition.
    pub value: String,
    /// Its language: `c_expression`.
    pub format: &'static str,
}

/// Kinds of invariants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum InvariantKind {
    /// Whenever a loop's condition is about to be evaluated.
    LoopInvariant,
    /// Whenever a statement is about to be executed.
    LocationInvariant,
}
