//! Decides which of the tried harnesses are written.
//!
//! A harness that reaches few lines of its function is of little use, so another one is written
//! instead. If there is no other, it is written as a starting point: a trial of a few seconds does
//! not show what a campaign reaches.

use super::super::Initialised;
use super::super::drive;
use super::super::table::Row;
use super::Tried;

/// The percentage of reached lines from which on a harness is offered even if it violates a
/// precondition.
const MOSTLY: u64 = 60;

/// The harnesses to be written, and those to be written only if there are no others.
#[derive(Default)]
pub(super) struct Kept {
    pub harnesses: Vec<(String, drive::Harness)>,
    spare: Vec<(usize, Tried)>,
}

impl Kept {
    /// Takes the result of a trial.
    pub(super) fn take(&mut self, function: &str, mut tried: Tried, done: &mut Initialised) {
        if tried.is_of_use()
            && let Some(why) = tried.left_out.take()
        {
            done.notes.push(format!("{function}: {why}"));
        }
        let row = done.tried.len();
        done.tried.push(Row {
            function: function.to_owned(),
            lines: tried.lines,
            preconditions: tried.learnt.len(),
            findings: tried.findings,
            left_out: tried.left_out.clone(),
            cut_short: tried.cut_short,
        });
        match &tried.left_out {
            None => self.keep(function, tried, done),
            Some(_) if tried.is_shallow => self.spare.push((row, tried)),
            Some(why) => done.skipped.push((function.to_owned(), why.clone())),
        }
    }

    fn keep(&mut self, function: &str, mut tried: Tried, done: &mut Initialised) {
        // A later version of the harness may do without what a condition is about.
        let text = &tried.harness.text;
        tried.learnt.retain(|one| is_about(&one.condition, text));
        done.learnt.extend(tried.learnt);
        done.shown.push((function.to_owned(), tried.tapes));
        self.harnesses.push((function.to_owned(), tried.harness));
    }

    /// Returns the harnesses to be written.
    pub(super) fn finish(mut self, done: &mut Initialised) -> Vec<(String, drive::Harness)> {
        let is_all = self.harnesses.is_empty();
        for (row, mut tried) in std::mem::take(&mut self.spare) {
            let function = done.tried[row].function.clone();
            let why = tried.left_out.take().unwrap_or_default();
            match is_all {
                true => {
                    done.tried[row].left_out = None;
                    done.notes.push(format!(
                        "{function}: {why}; it is written, as there is no other"
                    ));
                    self.keep(&function, tried, done);
                }
                false => done.skipped.push((function, why)),
            }
        }
        self.harnesses
    }
}

/// Whether a condition about the size of memory names memory that a harness's text has. Other
/// conditions may use the library's name of an argument.
fn is_about(condition: &str, text: &str) -> bool {
    let Some(subject) = condition.split('`').nth(1) else {
        return true;
    };
    let mut words = subject.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let name = words.find(|word| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'));
    name.is_none_or(|name| drive::has_name(text, name))
}

impl Tried {
    /// Whether a harness reaches enough to be offered although it violates a precondition that
    /// could not be added. Every run blames the harness for a fault of its own. Other faults of
    /// such a harness may be consequences of the violated precondition, so a harness with other
    /// faults does not qualify.
    fn is_of_use(&self) -> bool {
        let most = self
            .lines
            .is_some_and(|(reached, all)| reached * 100 >= all * MOSTLY);
        most && self.findings == 0
    }
}

#[cfg(test)]
mod tests {
    use super::is_about;

    #[test]
    fn a_condition_about_memory_needs_this_memory() {
        assert!(is_about(
            "`out` has room for 8 bytes",
            "malloc(8); f(out, 8);"
        ));
        assert!(!is_about("`out` has room for 8 bytes", "f(output);"));
        assert!(is_about("data != NULL", "f(data_value);"));
    }
}
