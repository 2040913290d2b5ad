//! Rules for external functions that a user writes: `[external.NAME]` in `cegar.toml`.
//!
//! A mock that may return anything finds violations that no real device could cause. A rule is
//! written once and applies to the search, to proofs and to tests, since all three compile the same
//! C body, in which the rule is a `crunner_assume`.

use serde::{Deserialize, Serialize};

/// `[external.NAME]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// What it returns: `"0..=255"`, `"0 | -errno"`, `"not null"`, `"not null, fresh"`, `"into
    /// text"`, `"into n elements of row"`. Default: anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returns: Option<String>,
    /// The result is the address of an object from outside, which has this number of bytes or is a
    /// structure of the program. For programs that use numbers as addresses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address_of: Option<AddressOf>,
    /// Whether it may write to where its parameters point (`false`, `true`), or exactly what it may
    /// write there (`"n elements of row"`, `"4 bytes of p3"`; parameters have their names in the
    /// prototype, or `p1`, `p2`). Default for searching: it writes unless a parameter points to
    /// `const` or to a structure that contains pointers and is not a variable for it to fill; with
    /// `true` it writes to these structures too. Default for proofs: everything that is reachable
    /// from the parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes: Option<Writes>,
    /// Whether it stores the addresses that it is given, so that later calls of external functions
    /// may write there. Default: true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keeps: Option<bool>,
    /// Whether it may set `errno`. Default: true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errno: Option<bool>,
    /// Whether it writes nothing at all, neither where its parameters point nor anywhere else.
    /// Default: false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pure: Option<bool>,
    /// `"deep"`: nothing is written that is reachable from a parameter that points to `const`.
    #[serde(default, rename = "const", skip_serializing_if = "Option::is_none")]
    pub constant: Option<Depth>,
    /// Whether it may call the functions that are passed to it. Default: true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls_back: Option<bool>,
}

/// How far the `const` of a parameter applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Depth {
    /// To everything that is reachable.
    Deep,
}

/// What an external function writes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Writes {
    /// Anything where its parameters point, or nothing at all.
    Any(bool),
    /// `COUNT elements of PARAMETER` or `COUNT bytes of PARAMETER`, with commas between several.
    Exactly(String),
}

/// A number of elements, or bytes, where a parameter points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// The parameter, from 0.
    pub param: usize,
    /// The number of units.
    pub count: Count,
    /// Whether the units are bytes.
    pub bytes: bool,
}

/// A number of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// A constant.
    Fixed(u64),
    /// The value of this parameter, from 0.
    Param(usize),
}

/// An invalid rule for what is written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no rule for what is written: there are `true`, `false`, and texts such as `n \
     elements of row` or `4 bytes of p3`, with `,` between several; a parameter has its name in \
     the prototype, and `p1` is the first one"
)]
pub struct BadWrites(pub String);

/// The number of a parameter: 2 for `p3`.
fn parameter(text: &str) -> Option<usize> {
    let number: usize = text.strip_prefix('p')?.parse().ok()?;
    number.checked_sub(1)
}

impl Extent {
    fn read(text: &str) -> Option<Extent> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [count, unit, "of", param] = words[..] else {
            return None;
        };
        let count = match parameter(count) {
            Some(param) => Count::Param(param),
            None => Count::Fixed(count.parse().ok()?),
        };
        let bytes = match unit {
            "byte" | "bytes" => true,
            "element" | "elements" => false,
            _ => return None,
        };
        let param = parameter(param)?;
        Some(Extent {
            param,
            count,
            bytes,
        })
    }
}

/// What an address points to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum AddressOf {
    /// An object of this size in bytes.
    Bytes(usize),
    /// A structure of the program, by its tag or its typedef's name.
    Structure(String),
}

/// The target of a returned pointer that points into what a parameter points to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inside {
    /// A character of the string to which this parameter, from 0, points, or the string's end.
    Text(usize),
    /// One of these elements, or bytes.
    Extent(Extent),
}

impl Inside {
    fn read(text: &str) -> Option<Inside> {
        let extent = Extent::read(text).map(Inside::Extent);
        extent.or_else(|| parameter(text).map(Inside::Text))
    }

    /// The number of the parameter, from 0.
    pub fn param(self) -> usize {
        match self {
            Inside::Text(param) | Inside::Extent(Extent { param, .. }) => param,
        }
    }
}

/// A parsed rule `returns`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Returned {
    /// Ranges of numbers, inclusive at both ends; if there are none, every number is possible.
    pub ranges: Vec<(i128, i128)>,
    /// Whether it is never NULL.
    pub not_null: bool,
    /// Whether it is never an object that was returned before.
    pub fresh: bool,
    /// A pointer into what a parameter points to, or NULL.
    pub inside: Option<Inside>,
}

/// An invalid rule for a result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no rule for a result: there are numbers and ranges (`0..=255`), `-errno`, `not \
     null`, `fresh`, and `into text` or `into n elements of row` for parameters of such names, \
     with `|` between what is possible and `,` between what holds together"
)]
pub struct BadRule(pub String);

/// The first word of a part of `returns` that restricts an address.
const INTO: &str = "into ";
/// Keywords in rules about parameters.
const WORDS: [&str; 6] = ["into", "of", "element", "elements", "byte", "bytes"];

/// Whether a word of a rule about parameters is a parameter's name.
fn is_name(word: &str) -> bool {
    !word.is_empty()
        && !WORDS.contains(&word)
        && parameter(word).is_none()
        && !word.starts_with(|c: char| c.is_ascii_digit())
}

/// The largest error number of Linux.
const ERRNO: i128 = 4095;

impl Rules {
    /// Whether there are no rules.
    pub fn is_none(&self) -> bool {
        *self == Rules::default()
    }

    /// Whether nothing is written to where the parameters point.
    pub fn writes_nothing(&self) -> bool {
        self.writes == Some(Writes::Any(false)) || self.pure == Some(true)
    }

    /// The texts in the rules that refer to parameters.
    fn about_parameters(&mut self) -> impl Iterator<Item = &mut String> {
        let writes = match &mut self.writes {
            Some(Writes::Exactly(text)) => Some(text),
            _ => None,
        };
        let returns = self.returns.as_mut();
        let returns = returns.filter(|text| text.split(',').any(|p| p.trim().starts_with(INTO)));
        writes.into_iter().chain(returns)
    }

    /// Whether a rule refers to a parameter by its name in the prototype.
    pub fn has_names(&self) -> bool {
        let mut rules = self.clone();
        rules.about_parameters().any(|text| {
            let parts = text.split(',').map(str::trim);
            let parts = parts.filter(|part| !matches!(*part, "not null" | "fresh"));
            parts.flat_map(str::split_whitespace).any(is_name)
        })
    }

    /// The rules with `p1`, `p2` in place of the parameters' names. A name that `number_of` does
    /// not know is kept.
    #[must_use]
    pub fn numbered(&self, number_of: &dyn Fn(&str) -> Option<usize>) -> Rules {
        let mut rules = self.clone();
        for text in rules.about_parameters() {
            let word = |word: &str| match number_of(word).filter(|_| is_name(word)) {
                Some(number) => format!("p{}", number + 1),
                None => word.to_owned(),
            };
            let part = |part: &str| match part.trim() {
                part @ ("not null" | "fresh") => part.to_owned(),
                part => part
                    .split_whitespace()
                    .map(word)
                    .collect::<Vec<_>>()
                    .join(" "),
            };
            *text = text.split(',').map(part).collect::<Vec<_>>().join(", ");
        }
        rules
    }

    /// Exactly what is written to where the parameters point; none if no rule says so.
    ///
    /// # Errors
    /// If the text is not a valid rule.
    pub fn written(&self) -> Result<Option<Vec<Extent>>, BadWrites> {
        let Some(Writes::Exactly(text)) = &self.writes else {
            return Ok(None);
        };
        let parts = text.split(',').map(|part| {
            let part = part.trim();
            Extent::read(part).ok_or_else(|| BadWrites(part.to_owned()))
        });
        parts.collect::<Result<Vec<Extent>, BadWrites>>().map(Some)
    }

    /// The conditions on the result.
    ///
    /// # Errors
    /// If the text is not a valid rule.
    pub fn returned(&self) -> Result<Returned, BadRule> {
        let mut returned = Returned::default();
        let Some(text) = &self.returns else {
            return Ok(returned);
        };
        for part in text.split(',') {
            match part.trim() {
                "not null" => returned.not_null = true,
                "fresh" => returned.fresh = true,
                place if place.starts_with(INTO) => {
                    let inside = Inside::read(place[INTO.len()..].trim());
                    returned.inside = Some(inside.ok_or_else(|| BadRule(place.to_owned()))?);
                }
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
    fn what_is_written_is_read() {
        let written = |text: &str| {
            let rules = Rules {
                writes: Some(Writes::Exactly(text.to_owned())),
                ..Rules::default()
            };
            rules.written()
        };
        let expected = [
            Extent {
                param: 0,
                count: Count::Param(1),
                bytes: false,
            },
            Extent {
                param: 2,
                count: Count::Fixed(4),
                bytes: true,
            },
        ];
        assert_eq!(
            written("p2 elements of p1, 4 bytes of p3"),
            Ok(Some(expected.to_vec()))
        );
        for wrong in ["", "n elements of a", "p0 bytes of p1", "4 words of p1"] {
            assert!(written(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn parameters_have_names() {
        let rules = Rules {
            returns: Some("not null, into row".to_owned()),
            writes: Some(Writes::Exactly(
                "n elements of row, 4 bytes of p3".to_owned(),
            )),
            ..Rules::default()
        };
        assert!(rules.has_names());
        let number_of = |name: &str| ["row", "n"].iter().position(|known| *known == name);
        let numbered = rules.numbered(&number_of);
        assert!(!numbered.has_names());
        assert_eq!(
            numbered.written().map(|all| all.map(|a| a.len())),
            Ok(Some(2))
        );
        let returned = numbered.returned().expect("a rule");
        assert_eq!(returned.inside, Some(Inside::Text(0)));
        assert!(returned.not_null);
        assert!(rules.returned().is_err(), "a name means nothing by itself");
        assert_eq!(
            self::returned("into p2 elements of p1").map(|r| r.inside.map(Inside::param)),
            Ok(Some(0))
        );
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
