//! What a user knows about a function that nobody defines: `[external.NAME]` in `cegar.toml`.
//!
//! A mock that returns just anything finds violations that no real device could cause. A rule is written once and holds for
//! the search, for proofs and for the tests alike: all three compile the same C body, in which the rule is a
//! `crunner_assume`.

use serde::{Deserialize, Serialize};

/// `[external.NAME]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// What it returns: `"0..=255"`, `"0 | -errno"`, `"not null"`, `"not null, fresh"`. Default: anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returns: Option<String>,
    /// Its result is the address of an object from outside: of so many bytes, or of a structure of the program. For numbers
    /// that the program uses as addresses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address_of: Option<AddressOf>,
    /// Whether it may write to what its parameters point to. Default: where they do not point to `const`, nor to structures
    /// that hold pointers, unless those are variables for it to fill; with `true` there too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes: Option<bool>,
    /// Whether it may call the functions that are handed to it. Default true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls_back: Option<bool>,
}

/// What an address leads to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum AddressOf {
    /// So many bytes.
    Bytes(usize),
    /// A structure of the program, by its tag or its typedef's name.
    Structure(String),
}

/// What `returns` says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Returned {
    /// Ranges of numbers, both ends included; none: every number.
    pub ranges: Vec<(i128, i128)>,
    /// Never NULL.
    pub not_null: bool,
    /// Never an object that was returned before.
    pub fresh: bool,
}

/// A rule that cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no rule for a result: there are numbers and ranges (`0..=255`), `-errno`, `not null` and `fresh`, \
     with `|` between what is possible and `,` between what holds together"
)]
pub struct BadRule(pub String);

/// The largest error number of Linux.
const ERRNO: i128 = 4095;

impl Rules {
    /// Nothing is known.
    pub fn is_none(&self) -> bool {
        *self == Rules::default()
    }

    /// What holds of the result.
    ///
    /// # Errors
    /// When the text is no rule.
    pub fn returned(&self) -> Result<Returned, BadRule> {
        let mut returned = Returned::default();
        let Some(text) = &self.returns else {
            return Ok(returned);
        };
        for part in text.split(',') {
            match part.trim() {
                "not null" => returned.not_null = true,
                "fresh" => returned.fresh = true,
                alternatives => {
                    for one in alternatives.split('|') {
                        let range =
                            range(one.trim()).ok_or_else(|| BadRule(one.trim().to_owned()))?;
                        returned.ranges.push(range);
                    }
                }
            }
        }
        Ok(returned)
    }
}

fn range(text: &str) -> Option<(i128, i128)> {
    if text == "-errno" {
        return Some((-ERRNO, -1));
    }
    let number = |text: &str| -> Option<i128> {
        let text = text.trim();
        let (negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text),
        };
        let value = match digits.strip_prefix("0x") {
            Some(hex) => i128::from(u64::from_str_radix(hex, 16).ok()?),
            None => i128::from(digits.parse::<u64>().ok()?),
        };
        Some(if negative { -value } else { value })
    };
    let (low, high) = match text.split_once("..=") {
        Some((low, high)) => (number(low)?, number(high)?),
        None => (number(text)?, number(text)?),
    };
    (low <= high).then_some((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn returned(text: &str) -> Result<Returned, BadRule> {
        Rules {
            returns: Some(text.to_owned()),
            ..Rules::default()
        }
        .returned()
    }

    #[test]
    fn rules_are_read() {
        assert_eq!(
            returned("0 | -errno").map(|r| r.ranges),
            Ok(vec![(0, 0), (-4095, -1)])
        );
        assert_eq!(
            returned("0x10..=0xff").map(|r| r.ranges),
            Ok(vec![(16, 255)])
        );
        let both = returned("not null, fresh").expect("a rule");
        assert!(both.not_null && both.fresh && both.ranges.is_empty());
        assert!(returned("positive").is_err() && returned("3..=1").is_err());
    }
}
