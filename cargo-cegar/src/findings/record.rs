//! One stored input that showed a violation.
//!
//! The file is committed beside the test, so it is JSON that a reviewer can read, with one file for
//! each input: two branches that find two bugs merge without a conflict. It contains the input
//! twice where necessary: as the tape for the native targets of a campaign, and split by channel,
//! which is the form for a test's executable and remains valid if the order changes in which the
//! program asks for input.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cegar_model::program::CheckKind;
use serde::{Deserialize, Serialize};

use super::{Identity, Standing};
use crate::error::Error;
use crate::store;

/// The version of the file format that this program writes and reads.
const FORMAT: u32 = 1;

/// Bytes from one channel, in the order in which the program asked for them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// The channel: `stdin`, `env:HOME`, `usb_get_interface`.
    pub channel: String,
    /// The bytes.
    #[serde(serialize_with = "encode", deserialize_with = "decode")]
    pub bytes: Vec<u8>,
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// [`FORMAT`].
    pub format: u32,
    /// The harness that takes the input.
    pub harness: String,
    /// The name of the record, and of the test that was written for it.
    pub name: String,
    /// The identity of the fault.
    pub identity: Identity,
    /// The kind of the check.
    pub kind: CheckKind,
    /// A description for users.
    pub message: String,
    /// The line of the fault when it was last seen, for information.
    pub line: u32,
    /// The column of the fault when it was last seen, for information.
    pub column: u32,
    /// The method that found it.
    pub found_by: String,
    /// Whether the input failed in its last run.
    pub failing: bool,
    /// Whether the input passed in any run since it was found.
    pub seen_passing: bool,
    /// The tape, if it differs from the concatenated choices.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "encode_some",
        deserialize_with = "decode_some"
    )]
    pub tape: Option<Vec<u8>>,
    /// The choices of the run, in order.
    pub choices: Vec<Choice>,
}

impl Record {
    /// Creates the record of a new finding.
    #[allow(clippy::too_many_arguments, reason = "each is one line of the file")]
    pub fn new(
        harness: &str,
        name: &str,
        identity: Identity,
        kind: CheckKind,
        message: &str,
        (line, column): (u32, u32),
        found_by: &str,
        (tape, events): (&[u8], &[(String, Vec<u8>)]),
    ) -> Record {
        let choices = merged(events);
        let said: usize = choices.iter().map(|choice| choice.bytes.len()).sum();
        let same = said == tape.len()
            && choices
                .iter()
                .flat_map(|choice| &choice.bytes)
                .eq(tape.iter());
        Record {
            format: FORMAT,
            harness: harness.to_owned(),
            name: name.to_owned(),
            identity,
            kind,
            message: message.to_owned(),
            line,
            column,
            found_by: found_by.to_owned(),
            failing: true,
            seen_passing: false,
            tape: (!same).then(|| tape.to_vec()),
            choices,
        }
    }

    /// The standing of the finding if this input fails now.
    pub fn standing(&self) -> Standing {
        match self.seen_passing {
            true => Standing::FailsAgain,
            false => Standing::StillFails,
        }
    }

    /// The tape.
    pub fn input(&self) -> Vec<u8> {
        match &self.tape {
            Some(tape) => tape.clone(),
            None => self
                .choices
                .iter()
                .flat_map(|choice| &choice.bytes)
                .copied()
                .collect(),
        }
    }

    /// The choices in the format of a campaign.
    pub fn events(&self) -> Vec<(String, Vec<u8>)> {
        let choices = self.choices.iter();
        choices
            .map(|choice| (choice.channel.clone(), choice.bytes.clone()))
            .collect()
    }

    /// Reads a record.
    pub fn read(path: &Path) -> Result<Record, Error> {
        let bytes = std::fs::read(path).map_err(|why| Error::io("read", path, why))?;
        let wrong = |why: String| {
            Error::usage(
                format!("`{}` is no record of a finding: {why}", path.display()),
                "restore it from version control; if it is deleted, its input is not run any more",
            )
        };
        let value: serde_json::Value =
            serde_json::from_slice(&bytes).map_err(|why| wrong(why.to_string()))?;
        match value["format"].as_u64() {
            Some(format) if format == u64::from(FORMAT) => {
                let record: Record =
                    serde_json::from_value(value).map_err(|why| wrong(why.to_string()))?;
                // The name becomes the name of a file.
                let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
                match record.name.is_empty() || !record.name.chars().all(plain) {
                    true => Err(wrong(format!("`{}` is no name of a test", record.name))),
                    false => Ok(record),
                }
            }
            Some(format) => Err(wrong(format!(
                "it has format {format}, and this version reads {FORMAT}"
            ))),
            None => Err(wrong("it does not say its format".to_owned())),
        }
    }

    /// Writes the record atomically, unless the file contains it already.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let mut text = serde_json::to_vec_pretty(self)
            .map_err(|why| Error::engine("writing the record of a finding", why))?;
        text.push(b'\n');
        if std::fs::read(path).is_ok_and(|there| there == text) {
            return Ok(());
        }
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|why| Error::io("create", folder, why))?;
        }
        Ok(store::write(path, &text)?)
    }
}

/// Joins consecutive choices of the same channel, since a stream asks byte by byte.
pub fn merged(events: &[(String, Vec<u8>)]) -> Vec<Choice> {
    let mut choices: Vec<Choice> = Vec::new();
    for (channel, bytes) in events {
        match choices.last_mut() {
            Some(last) if last.channel == *channel => last.bytes.extend(bytes),
            _ => choices.push(Choice {
                channel: channel.clone(),
                bytes: bytes.clone(),
            }),
        }
    }
    choices
}

fn encode<S: serde::Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&STANDARD.encode(bytes))
}

fn decode<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(from)?;
    STANDARD.decode(text).map_err(serde::de::Error::custom)
}

fn encode_some<S: serde::Serializer>(bytes: &Option<Vec<u8>>, to: S) -> Result<S::Ok, S::Error> {
    encode(bytes.as_deref().unwrap_or_default(), to)
}

fn decode_some<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Vec<u8>>, D::Error> {
    decode(from).map(Some)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
pub(super) mod tests {
    use super::*;

    /// A record of the input `tape` on standard input.
    pub fn sample(harness: &str, name: &str, tape: &[u8]) -> Record {
        let identity = Identity {
            function: name.to_owned(),
            ..Identity::default()
        };
        let events: Vec<(String, Vec<u8>)> = tape
            .iter()
            .map(|&byte| ("stdin".to_owned(), vec![byte]))
            .collect();
        let kind = CheckKind::Write;
        Record::new(
            harness,
            name,
            identity,
            kind,
            "m",
            (3, 5),
            "fuzzing",
            (tape, &events),
        )
    }

    #[test]
    fn what_was_written_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("h/a.json");
        let record = sample("h", "a", b"abc");
        assert_eq!(record.choices.len(), 1);
        assert_eq!(
            (record.tape.clone(), record.input()),
            (None, b"abc".to_vec())
        );
        record.write(&path).unwrap();
        assert_eq!(Record::read(&path).unwrap(), record);
        // If the tape ends before the program's last choice, it is not the concatenation of the
        // choices.
        let mut short = sample("h", "a", b"abc");
        short = Record::new(
            "h",
            "a",
            short.identity,
            short.kind,
            "m",
            (3, 5),
            "fuzzing",
            (b"ab", &[("x".to_owned(), vec![b'a', b'b', 0])]),
        );
        short.write(&path).unwrap();
        let read = Record::read(&path).unwrap();
        assert_eq!(
            (read.input(), read.events()),
            (b"ab".to_vec(), short.events())
        );
    }

    #[test]
    fn what_is_no_record_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.json");
        for text in [
            "",
            "[]",
            "{\"format\":9}",
            "{\"format\":1}",
            "{\"format\":1",
        ] {
            std::fs::write(&path, text).unwrap();
            let error = Record::read(&path).unwrap_err();
            assert_eq!(error.exit_code(), crate::exit::ExitCode::Usage, "{text}");
        }
        sample("h", "../a", b"x").write(&path).unwrap();
        assert!(
            Record::read(&path)
                .unwrap_err()
                .to_string()
                .contains("is no name of a test")
        );
    }
}
