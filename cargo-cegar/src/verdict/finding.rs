//! A violation that was seen natively, and where in C source it is.

use cegar_model::program::{CheckKind, Property};
use serde::{Deserialize, Serialize};

use crate::findings::{Blamed, Identity, Standing};

/// A place in C source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The file, as debug information names it (made relative where possible).
    pub file: String,
    /// From 1; 0 where unknown.
    pub line: u32,
    /// From 1; 0 where unknown.
    pub column: u32,
    /// The function.
    pub function: String,
}

impl Place {
    /// `at file:line:column`, or what is known instead, for the middle of a sentence.
    pub fn said(&self) -> String {
        match self.line {
            0 if self.file.is_empty() => self.show(),
            0 => format!("in {}", self.file),
            _ => format!("at {}", self.show()),
        }
    }

    /// `file:line:column`.
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

/// A violation that was seen natively.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The harness it was found with.
    pub harness: String,
    /// Its stable name, also the test's: `parse_invalid_write_1f3a9c`.
    pub name: String,
    /// What the check guards against.
    pub kind: CheckKind,
    /// For people: ``write past the end of `name` (16 bytes) by 1 byte``.
    pub message: String,
    /// Where it happened.
    pub place: Place,
    /// The calls that led there, innermost first.
    pub stack: Vec<Place>,
    /// The tape.
    #[serde(serialize_with = "base64_bytes", deserialize_with = "bytes_base64")]
    pub input: Vec<u8>,
    /// What found it: `fuzzing`, `partial simulation`, ...
    pub found_by: String,
    /// What the fault is known by.
    #[serde(default)]
    pub identity: Identity,
    /// How it stands against what earlier campaigns saw.
    #[serde(default)]
    pub standing: Standing,
    /// Whose choice it is, where the harness was written by `init` and the engine can tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blame: Option<Blamed>,
}

/// The stable name of a kind of fault: SARIF's `ruleId`, the JUnit type, and part of test names.
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

/// The word for a property on the command line and in files.
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
