//! The published schema of witnesses, format 2.0, as types: fields and values that the schema does
//! not allow are errors.

use std::collections::BTreeMap;

use serde::Deserialize;
use sha2::{Digest as _, Sha256};

#[derive(Debug, Deserialize)]
#[serde(tag = "entry_type", rename_all = "snake_case")]
pub enum Entry {
    ViolationSequence(ViolationSequence),
    InvariantSet(InvariantSet),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ViolationSequence {
    metadata: Metadata,
    content: Vec<SegmentItem>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InvariantSet {
    metadata: Metadata,
    content: Vec<InvariantItem>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metadata {
    format_version: String,
    uuid: String,
    creation_time: String,
    producer: Producer,
    pub task: Task,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Producer {
    name: String,
    version: String,
    #[serde(default)]
    configuration: Option<String>,
    #[serde(default)]
    command_line: Option<String>,
    #[serde(default)]
    description: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    input_files: Vec<String>,
    input_file_hashes: BTreeMap<String, String>,
    pub specification: String,
    data_model: DataModel,
    language: Language,
}

#[derive(Debug, PartialEq, Deserialize)]
enum DataModel {
    #[serde(rename = "ILP32")]
    Ilp32,
    #[serde(rename = "LP64")]
    Lp64,
}

#[derive(Debug, Deserialize)]
enum Language {
    C,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SegmentItem {
    segment: Vec<WaypointItem>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WaypointItem {
    waypoint: Waypoint,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Waypoint {
    #[serde(rename = "type")]
    pub kind: WaypointKind,
    action: Action,
    #[serde(default)]
    constraint: Option<Constraint>,
    pub location: Location,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaypointKind {
    Assumption,
    Target,
    FunctionEnter,
    FunctionReturn,
    Branching,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    Follow,
    Avoid,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Constraint {
    value: String,
    #[serde(default)]
    format: Option<ConstraintFormat>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ConstraintFormat {
    CExpression,
    AcslExpression,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Location {
    pub file_name: String,
    pub line: u32,
    #[serde(default)]
    pub column: Option<u32>,
    #[serde(default)]
    function: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct InvariantItem {
    invariant: Invariant,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Invariant {
    #[serde(rename = "type")]
    pub kind: InvariantKind,
    pub location: Location,
    pub value: String,
    format: InvariantFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InvariantKind {
    LoopInvariant,
    LocationInvariant,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum InvariantFormat {
    CExpression,
}

/// The entries of a file.
pub fn read(text: &str) -> Vec<Entry> {
    serde_saphyr::from_str(text).unwrap_or_else(|why| panic!("{why}\n{text}"))
}

impl Entry {
    pub fn metadata(&self) -> &Metadata {
        match self {
            Entry::ViolationSequence(ViolationSequence { metadata, .. })
            | Entry::InvariantSet(InvariantSet { metadata, .. }) => metadata,
        }
    }
}

impl Metadata {
    /// Asserts that the strings have the schema's formats, and that the metadata belongs to this
    /// file.
    pub fn check(&self, file: &str, bytes: &[u8]) {
        assert_eq!(self.format_version, "2.0");
        let lengths: Vec<usize> = self.uuid.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12], "{}", self.uuid);
        assert!(self.uuid.chars().all(|c| c == '-' || c.is_ascii_hexdigit()));
        let time = self.creation_time.as_bytes();
        assert!(
            time.len() == 20 && time[10] == b'T' && time[19] == b'Z',
            "{}",
            self.creation_time
        );
        let Producer {
            name,
            version,
            configuration,
            command_line,
            description,
        } = &self.producer;
        assert_eq!(name, "cargo-cegar");
        assert!(!version.is_empty() && configuration.is_none() && description.is_none());
        assert!(
            command_line
                .as_ref()
                .is_some_and(|words| words.contains("--witness"))
        );
        assert_eq!(self.task.input_files, [file]);
        let digest = Sha256::digest(bytes);
        let hash: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(self.task.input_file_hashes[file], hash);
        assert_eq!(self.task.data_model, DataModel::Lp64);
        assert!(matches!(self.task.language, Language::C));
    }
}

impl ViolationSequence {
    /// The waypoints that are followed. Each segment ends with one of them; the last one is the
    /// target, which has no constraint.
    pub fn waypoints(&self) -> Vec<&Waypoint> {
        let mut all = Vec::new();
        for item in &self.content {
            let (last, before) = item.segment.split_last().expect("a segment is not empty");
            assert!(before.iter().all(|w| w.waypoint.action == Action::Avoid));
            assert_eq!(last.waypoint.action, Action::Follow);
            all.push(&last.waypoint);
        }
        let (last, before) = all.split_last().expect("there is a target");
        assert_eq!(last.kind, WaypointKind::Target);
        assert!(before.iter().all(|w| w.kind != WaypointKind::Target));
        let unconstrained = [WaypointKind::Target, WaypointKind::FunctionEnter];
        for waypoint in &all {
            let is_without = unconstrained.contains(&waypoint.kind);
            assert_eq!(is_without, waypoint.constraint.is_none(), "{waypoint:?}");
            waypoint.location.check();
        }
        all
    }
}

impl Waypoint {
    /// The number in `\result == 12`.
    pub fn returned(&self) -> i128 {
        let constraint = self.constraint.as_ref().expect("a return has a constraint");
        assert_eq!(constraint.format, Some(ConstraintFormat::AcslExpression));
        let value = constraint.value.strip_prefix("\\result == ");
        let value = value.and_then(|value| value.parse().ok());
        value.unwrap_or_else(|| panic!("{constraint:?}"))
    }
}

impl InvariantSet {
    pub fn invariants(self) -> Vec<Invariant> {
        let all: Vec<Invariant> = self
            .content
            .into_iter()
            .map(|item| item.invariant)
            .collect();
        for one in &all {
            assert_eq!(one.format, InvariantFormat::CExpression);
            one.location.check();
        }
        all
    }
}

impl Location {
    fn check(&self) {
        assert!(self.line > 0 && self.column != Some(0), "{self:?}");
        assert!(self.function.as_ref().is_some_and(|name| !name.is_empty()));
    }
}
