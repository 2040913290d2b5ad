//! Enumerations, and which of their constants are valid values.
//!
//! Many enumerations have constants that no caller passes: a count (`COLOR_COUNT`), an end marker,
//! or a constant that makes the type as wide as an `int`. Their names indicate this, and so do
//! their values: such a constant is greater than all others, or negative. A name alone is not
//! sufficient: `LOG_ERROR` is a level, `TOKEN_NUM` a kind of token, and `LEVEL_MAX = LEVEL_ERROR`
//! another name of a level.

/// Words in the names of constants that follow the last value.
const BEHIND: &[&str] = &[
    "count",
    "cnt",
    "max",
    "maximum",
    "last",
    "num",
    "nb",
    "end",
    "invalid",
    "force",
    "force32",
    "sentinel",
    "size",
    "limit",
    "total",
    "undefined",
    "reserved",
    "bad",
    "dummy",
];
/// Words in the names of negative constants that are not values.
const BELOW: &[&str] = &[
    "invalid",
    "undefined",
    "unknown",
    "error",
    "none",
    "unset",
    "bad",
    "force",
];

/// The number of constants written as shifts from which on an enumeration is a bit mask.
const BITS: usize = 3;

/// The number of consecutive low bits from which on constants are flags, if there is also a
/// constant 0.
const FLAGS: u32 = 4;

/// An enumeration that is defined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Enumeration {
    /// Its constants, in order.
    pub constants: Vec<String>,
    /// The constants that are valid values, in order.
    pub values: Vec<String>,
    /// Whether a value may combine several constants, because they are written as bits, `1 << 3`.
    pub is_mask: bool,
}

/// A constant of an enumeration.
pub(super) struct Constant {
    /// Its name.
    pub(super) name: String,
    /// The number that it is set to, if it can be determined.
    pub(super) number: Option<i64>,
    /// Whether it has an initialiser. Otherwise its value is one more than that of the constant
    /// before it.
    pub(super) is_set: bool,
    /// Whether the initialiser is a shift.
    pub(super) is_shift: bool,
}

impl Enumeration {
    /// The enumeration with these constants.
    pub(super) fn new(constants: Vec<Constant>) -> Enumeration {
        let bits = constants.iter().filter(|constant| constant.is_shift);
        let set = constants
            .iter()
            .map(|constant| constant.number.filter(|_| constant.is_set));
        let set: Option<Vec<i64>> = set.collect();
        let is_mask = bits.count() >= BITS || set.is_some_and(|set| are_bits(&set));
        let mut numbers: Vec<Option<i64>> = Vec::new();
        for constant in &constants {
            let before = numbers.last().copied().unwrap_or(Some(-1));
            numbers.push(match constant.is_set {
                true => constant.number,
                false => before.and_then(|before| before.checked_add(1)),
            });
        }
        let named: Vec<(&str, Option<i64>)> = constants
            .iter()
            .map(|constant| constant.name.as_str())
            .zip(numbers)
            .collect();
        let values = named
            .iter()
            .filter(|(name, number)| !is_mark(name, *number, &named));
        let values: Vec<String> = values.map(|(name, _)| (*name).to_owned()).collect();
        let all: Vec<String> = named.iter().map(|(name, _)| (*name).to_owned()).collect();
        Enumeration {
            values: if values.is_empty() {
                all.clone()
            } else {
                values
            },
            constants: all,
            is_mask,
        }
    }
}

/// Whether a constant is not a valid value of its enumeration.
fn is_mark(name: &str, number: Option<i64>, all: &[(&str, Option<i64>)]) -> bool {
    let is_behind = has_word(name, BEHIND);
    let Some(number) = number else {
        return is_behind;
    };
    let mut others = all.iter().filter(|(other, _)| !has_word(other, BEHIND));
    let is_greatest = others.all(|(_, other)| other.is_none_or(|other| other < number));
    is_behind && is_greatest || number < 0 && has_word(name, BELOW)
}

/// Whether one of the words is a word of a constant's name, such as `ARR_COLOR_COUNT` or
/// `kColorCount`.
fn has_word(name: &str, words: &[&str]) -> bool {
    let mut split = String::new();
    let mut before = ' ';
    for c in name.chars() {
        if before.is_lowercase() && c.is_uppercase() {
            split.push('_');
        }
        split.push(c);
        before = c;
    }
    let split = split.to_lowercase();
    split.split('_').any(|part| words.contains(&part))
}

/// Whether the numbers are bit flags: either some number combines several bits, as in `0, 1, 2, 4,
/// 7`, or one is 0, as in `0, 1, 2, 4, 8`. `1, 2, 4` alone may be sizes or steps.
fn are_bits(values: &[i64]) -> bool {
    let one_bit = |value: &i64| *value > 0 && value.count_ones() == 1;
    let bits = values.iter().copied().filter(one_bit);
    let all = bits.clone().fold(0, |all, bit| all | bit);
    let is_several = |value: &i64| value.count_ones() > 1;
    let counts = values
        .windows(2)
        .all(|pair| pair[1] == pair[0].wrapping_add(1));
    let starts_with_none = values.contains(&0) && all.trailing_ones() >= FLAGS;
    bits.count() >= BITS
        && !counts
        && (values.iter().any(is_several) || starts_with_none)
        && values.iter().all(|value| value & !all == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of an enumeration whose constants are numbered consecutively, or set if a number
    /// is given.
    fn values(constants: &[(&str, Option<i64>)]) -> Vec<String> {
        let constant = |&(name, number): &(&str, Option<i64>)| Constant {
            name: name.to_owned(),
            number,
            is_set: number.is_some(),
            is_shift: false,
        };
        Enumeration::new(constants.iter().map(constant).collect()).values
    }

    #[test]
    fn what_counts_the_constants_is_no_value() {
        let colors = [
            ("ARR_NONE", None),
            ("ARR_RED", None),
            ("ARR_COLOR_COUNT", None),
        ];
        assert_eq!(values(&colors), ["ARR_NONE", "ARR_RED"]);
        let camel = [
            ("kRed", None),
            ("kBlue", None),
            ("kColorCount", None),
            ("kForce32", Some(0x7fff_ffff)),
        ];
        assert_eq!(values(&camel), ["kRed", "kBlue"]);
        let below = [("X_INVALID", Some(-1)), ("X_ONE", None), ("X_TWO", None)];
        assert_eq!(values(&below), ["X_ONE", "X_TWO"]);
    }

    #[test]
    fn a_name_alone_says_too_little() {
        let levels = [
            ("LOG_INFO", None),
            ("LOG_ERROR", None),
            ("LOG_MAX", Some(1)),
        ];
        assert_eq!(values(&levels).len(), 3);
        let blend = [
            ("BLEND_SRC", None),
            ("BLEND_OVER", None),
            ("FILE_APPEND", None),
        ];
        assert_eq!(values(&blend).len(), 3);
        let tokens = [("TOK_NUM", None), ("TOK_NAME", None)];
        assert_eq!(values(&tokens).len(), 2);
    }
}
