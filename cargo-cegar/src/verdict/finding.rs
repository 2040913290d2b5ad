//! A violation confirmed natively, and its place in the C source.

use cegar_model::program::{CheckKind, Property};
use serde::{Deserialize, Serialize};

use crate::findings::{Blamed, Identity, Standing};

/// A place in C source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The file as in the debug information, made relative if possible.
    pub file: String,
    /// The line, from 1; 0 if unknown.
    pub line: u32,
    /// The column, from 1; 0 if unknown.
    pub column: u32,
    /// The function.
    pub function: String,
}

impl Place {
    /// The place within a sentence: `at file:line:column`, or what is known instead.
    pub fn said(&self) -> String {
        match self.line {
            0 if self.file.is_empty() => self.show(),
            0 => format!("in {}", self.file),
            _ => format!("at {}", self.show()),
        }
    }

    /// The place as `file:line:column`, or what is known instead.
    pub fn show(&self) -> String {
        match (self.line, self.column) {
            (0, _) if self.file.is_empty() && self.function.is_empty() => {
                "at an unknown place".to_owned()
            }
            (0, _) if self.file.is_empty() => format!("in {}", self.function),
            (0, _) => self.file.clone(),
            (line, 0) => format!("{}:{line}", self.file),
            (line, column) => format!("{}:{line}:{column}", self.file),
        }
    }
}

/// A violation confirmed natively.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The harness with which it was found.
    pub harness: String,
    /// Its stable name, which is also that of its test: `parse_invalid_write_1f3a9c`.
    pub name: String,
    /// The kind of the violated check.
    pub kind: CheckKind,
    /// A description for users: ``write past the end of `name` (16 bytes) by 1 byte``.
    pub message: String,
    /// The place of the violation.
    pub place: Place,
    /// The calls that led there, innermost first.
    pub stack: Vec<Place>,
    /// The tape that shows it.
    #[serde(serialize_with = "base64_bytes", deserialize_with = "bytes_base64")]
    pub input: Vec<u8>,
    /// The method that found it: `fuzzing`, `partial simulation`, ...
    pub found_by: String,
    /// The identity of the fault.
    #[serde(default)]
    pub identity: Identity,
    /// Its relation to earlier campaigns.
    #[serde(default)]
    pub standing: Standing,
    /// The blame, if the harness was written by `init` and the engine can determine it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blame: Option<Blamed>,
}

/// The stable name of a kind of fault: the `ruleId` in SARIF, the type in JUnit, and part of test
/// names.
pub fn rule_id(kind: CheckKind) -> &'static str {
    match kind {
        CheckKind::Assertion => "assertion",
        CheckKind::Abort => "abort",
        CheckKind::ReachError => "reach-error",
        CheckKind::Fail => "fail",
        CheckKind::Read => "invalid-read",
        CheckKind::Write => "invalid-write",
        CheckKind::Free => "invalid-free",
        CheckKind::Call => "invalid-call",
        CheckKind::SignedOverflow => "signed-overflow",
        CheckKind::Shift => "bad-shift",
        CheckKind::DivisionByZero => "division-by-zero",
        CheckKind::FloatConversion => "float-conversion",
        CheckKind::ArrayBound => "array-bound",
        CheckKind::Unreachable => "unreachable",
    }
}

/// The name of a property on the command line and in files.
pub fn property_name(property: Property) -> &'static str {
    match property {
        Property::Assertion => "assertion",
        Property::Abort => "abort",
        Property::Memory => "memory",
        Property::Overflow => "overflow",
    }
}

fn bytes_base64<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    use base64::Engine as _;
    let text = String::deserialize(from)?;
    base64::engine::general_purpose::STANDARD
        .decode(text)
        .map_err(serde::de::Error::custom)
}

fn base64_bytes<S: serde::Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
    use base64::Engine as _;
    to.serialize_str(&base64::engine::general_purpose::STANDARD.encode(bytes))
}
