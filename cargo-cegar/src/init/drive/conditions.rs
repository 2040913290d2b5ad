//! Conditions that a sentence states in words.
//!
//! A sentence like "n must not be more than used" is a C condition whose subject is an expression
//! of numeric parameters and whose operator is a phrase.

use super::expression::{Names, sum};
use super::prose::{begins_with, has_phrase, lower};

/// Words between the subject of a sentence and the statement about it.
const VERBS: &[&str] = &[
    "is", "are", "must", "be", "has", "have", "to", "should", "shall", "always",
];
/// Words that negate a condition.
pub(super) const NEGATIONS: &[&str] = &["not", "never", "no"];
/// Words that mark a sentence as a description of the result rather than a duty of the caller.
pub(super) const CONDITIONS: &[&str] = &[
    "if",
    "when",
    "where",
    "unless",
    "while",
    "until",
    "whether",
    "once",
    "otherwise",
    "else",
    "returns",
    "return",
];
/// Relations in words, each with its operator and the operator of its negation.
const RELATIONS: &[(&str, &str, &str)] = &[
    ("less than or equal to", "<=", ">"),
    ("greater than or equal to", ">=", "<"),
    ("at least", ">=", "<"),
    ("at most", "<=", ">"),
    ("less than", "<", ">="),
    ("smaller than", "<", ">="),
    ("below", "<", ">="),
    ("more than", ">", "<="),
    ("greater than", ">", "<="),
    ("larger than", ">", "<="),
    ("exceed", ">", "<="),
    ("> =", ">=", "<"),
    ("< =", "<=", ">"),
    (">", ">", "<="),
    ("<", "<", ">="),
    ("a multiple of", "%", ""),
];

/// Phrases before a relation that only say that there is one.
const ENOUGH: &[&str] = &["large enough", "big enough", "long enough"];

/// A condition as a list of words. Numbers and functions have their names from the header.
pub(super) type Condition = Vec<String>;

/// Where a sentence continues after a number: `n bytes, which must not be more than ..`.
fn behind_which(lower: &[String], end: usize) -> usize {
    let is_which = |at: usize| {
        let words = lower.get(at..at + 2);
        words.is_some_and(|words| words == [",", "which"])
    };
    match () {
        () if is_which(end) => end + 2,
        () if is_which(end + 1) => end + 3,
        () => end,
    }
}

/// Rewrites `a + b <= c` for numbers whose sum may overflow.
fn without_overflow(condition: Condition) -> Condition {
    let [a, plus, b, relation, c @ ..] = &condition[..] else {
        return condition;
    };
    if plus != "+" || !["<", "<="].contains(&relation.as_str()) || c.is_empty() {
        return condition;
    }
    let left = [a.clone(), relation.clone()]
        .into_iter()
        .chain(c.iter().cloned());
    let and = ["&&".to_owned(), b.clone(), relation.clone()];
    let rest = c.iter().cloned().chain(["-".to_owned(), a.clone()]);
    left.chain(and).chain(rest).collect()
}

/// The preconditions that a sentence documents.
pub(super) fn conditions(
    sentence: &[String],
    names: Names<'_>,
    call: impl Fn(&[String]) -> Option<Vec<String>>,
) -> Vec<Condition> {
    let lower = lower(sentence);
    let mut found = Vec::new();
    let mut at = 0;
    while at < sentence.len() {
        let Some(end) = sum(sentence, at, names) else {
            at += 1;
            continue;
        };
        let clause = lower[..at]
            .iter()
            .rposition(|word| word == "," || word == ":");
        let before = &lower[clause.map_or(0, |comma| comma + 1)..at];
        // `w and h are even` applies to both.
        let before_both = match before {
            [.., one, and] if and == "and" && names.numbers.contains(&one.as_str()) => {
                Some(vec![sentence[at - 2].clone()])
            }
            _ => None,
        };
        let is_answer = before
            .iter()
            .any(|word| CONDITIONS.contains(&word.as_str()));
        let subject = sentence[at..end].to_vec();
        // Continues a list: `x is at most w, y at most h`.
        let goes_on = !found.is_empty() && before.is_empty();
        let said = said_of((sentence, &lower), end, (names, goes_on), &call);
        if let Some(said) = said.filter(|_| !is_answer) {
            let subjects = before_both.into_iter().chain([subject]);
            found.extend(subjects.map(|subject| said.of(&subject)));
        }
        at = end;
    }
    found.extend(of_param(sentence, &lower, names));
    found
}

/// The conditions that follow the description of a parameter: `@param stride bytes from one row to
/// the next, at least width`.
fn of_param(sentence: &[String], lower: &[String], names: Names<'_>) -> Vec<Condition> {
    let subject = match lower {
        [param, open, _, close, ..] if param == "param" && open == "[" && close == "]" => 4,
        [param, ..] if param == "param" => 1,
        _ => return Vec::new(),
    };
    let Some(subject) = sentence
        .get(subject)
        .filter(|name| names.numbers.contains(&name.as_str()))
    else {
        return Vec::new();
    };
    let commas = lower.iter().enumerate().filter(|(_, word)| *word == ",");
    let condition = |(comma, _): (usize, &String)| {
        let (count, operator) = relation(&lower[comma + 1..], false).filter(|(_, o)| *o != "%")?;
        let object = &sentence[comma + 1 + count..];
        let end = sum_or_number(object, names)?;
        // Anything else behind the number may limit the statement, or may be a description.
        let is_whole = object.get(end).is_none_or(|word| word == ",");
        let words = [&[subject.clone(), operator.to_owned()], &object[..end]].concat();
        is_whole.then_some(words)
    };
    commas.filter_map(condition).collect()
}

/// A statement about a subject.
enum Said {
    /// The words after the subject: `<= n`.
    Relation(Vec<String>),
    /// The subject lies within these bounds, or may be -1 as well if `or_none` is set.
    Range { low: u64, high: u64, or_none: bool },
}

impl Said {
    /// The condition on a subject.
    fn of(&self, subject: &[String]) -> Condition {
        match self {
            Said::Relation(tail) => without_overflow([subject, tail].concat()),
            Said::Range { low, high, or_none } => {
                let subject = subject.join(" ");
                let mut text = format!("( {subject} >= {low} && {subject} <= {high} )");
                if *or_none {
                    text += &format!(" || ( {subject} == - 1 )");
                }
                split(&text)
            }
        }
    }
}

fn split(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

/// The statement about a subject that ends at `end`.
fn said_of(
    (sentence, lower): (&[String], &[String]),
    end: usize,
    (names, goes_on): (Names<'_>, bool),
    call: &impl Fn(&[String]) -> Option<Vec<String>>,
) -> Option<Said> {
    let mut at = behind_which(lower, end);
    let (mut has_verb, mut is_negated) = (goes_on, false);
    while let Some(word) = lower.get(at).map(String::as_str) {
        if VERBS.contains(&word) {
            has_verb = true;
        } else if NEGATIONS.contains(&word) {
            is_negated = true;
        } else {
            break;
        }
        at += 1;
    }
    let enough = ENOUGH
        .iter()
        .find_map(|phrase| begins_with(&lower[at..], phrase));
    if let Some(count) = enough {
        at += count;
        let is_open = |word: &&String| ["(", ":"].contains(&word.as_str());
        at += lower[at..].iter().take_while(is_open).count();
    }
    let rest = lower.get(at..).filter(|_| has_verb)?;
    let plain = match (rest.first().map(String::as_str)?, is_negated) {
        ("0" | "zero", true) => Some("!= 0"),
        ("positive", false) => Some("> 0"),
        ("negative", true) => Some(">= 0"),
        ("even", false) => Some("% 2 == 0"),
        _ => None,
    };
    if let Some(plain) = plain {
        return Some(Said::Relation(split(plain)));
    }
    // Matches `grey is 0 to 255, or -1`.
    if let [low, to, high, ..] = rest
        && !is_negated
        && to == "to"
        && let (Ok(low), Ok(high)) = (low.parse::<u64>(), high.parse::<u64>())
    {
        let or_none = has_phrase(rest, &["or - 1"]);
        return Some(Said::Range { low, high, or_none });
    }
    let (count, operator) = relation(rest, is_negated)?;
    let object = &sentence[at + count..];
    let object = match sum_or_number(object, names) {
        Some(end) => object[..end].to_vec(),
        None => call(object)?,
    };
    let mut tail = vec![operator.to_owned()];
    tail.extend(object);
    if operator == "%" {
        tail.extend(split("== 0"));
    }
    Some(Said::Relation(tail))
}

/// The relation that the words begin with: its number of words, and its operator.
pub(super) fn relation(words: &[String], is_negated: bool) -> Option<(usize, &'static str)> {
    let mut all = RELATIONS.iter();
    let (count, plain, negated) = all.find_map(|(phrase, plain, negated)| {
        begins_with(words, phrase).map(|count| (count, *plain, *negated))
    })?;
    let operator = if is_negated { negated } else { plain };
    (!operator.is_empty()).then_some((count, operator))
}

/// The end of an expression of numeric parameters, or of a number, at the beginning of the words.
fn sum_or_number(words: &[String], names: Names<'_>) -> Option<usize> {
    let first = words.first()?;
    let is_number = first.parse::<u64>().is_ok() || names.constants.contains(&first.as_str());
    sum(words, 0, names).or(is_number.then_some(1))
}

#[cfg(test)]
mod tests {
    use super::super::prose::sentences;
    use super::*;

    fn of(comment: &str) -> Vec<String> {
        let call = |words: &[String]| {
            let is_call = words.first().is_some_and(|word| word == "used");
            is_call.then(|| ["used", "(", "r", ")"].map(str::to_owned).to_vec())
        };
        let said = sentences(comment);
        let names = Names {
            numbers: &["n", "w", "x"],
            functions: &["bound"],
            constants: &["LEAST"],
        };
        let all = said
            .iter()
            .flat_map(|sentence| conditions(sentence, names, call));
        all.map(|words| words.join(" ")).collect()
    }

    #[test]
    fn duties_are_conditions_in_words() {
        for (comment, condition) in [
            ("n must be at least 1.", "n >= 1"),
            ("@p n *must* be >= @ref LEAST.", "n >= LEAST"),
            ("@param n bytes from row to row, at least @p w", "n >= w"),
            (
                "n must be large enough (>= LEAST), or it fails",
                "n >= LEAST",
            ),
            ("Copies them. x + w is at most n.", "x <= n && w <= n - x"),
            (
                "Drops n bytes, which must not be more than used.",
                "n <= used ( r )",
            ),
            ("n must not be more than used.", "n <= used ( r )"),
            ("x must be less than used, always", "x < used ( r )"),
            ("n is not 0", "n != 0"),
            ("n must be at least bound(w) + 1", "n >= bound ( w ) + 1"),
            ("n must not be negative", "n >= 0"),
            ("n is a multiple of 4", "n % 4 == 0"),
            (
                "n is 0 to 255, or -1",
                "( n >= 0 && n <= 255 ) || ( n == - 1 )",
            ),
        ] {
            assert_eq!(of(comment), [condition], "{comment}");
        }
        assert_eq!(of("so w and x are even"), ["w % 2 == 0", "x % 2 == 0"]);
        assert_eq!(of("w is at most n, x at most 7"), ["w <= n", "x <= 7"]);
    }

    #[test]
    fn answers_are_none() {
        for comment in [
            "Returns -1 if n is less than 4.",
            "n is the number of items.",
            "Where n is not 0 it is freed.",
            "at most n bytes are written",
            "n is 0 for all of them",
            "@param n the level, less than 0 means the default",
            "@param n bytes, at most 255 are hashed",
        ] {
            assert!(of(comment).is_empty(), "{comment}: {:?}", of(comment));
        }
    }
}
