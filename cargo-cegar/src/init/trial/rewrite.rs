//! Writes a harness again with fewer parts, if a superfluous part prevented the function from being
//! reached.

use super::{Trial, Tried};
use crate::findings::MissingCondition;
use crate::init::drive::Adjust;
use crate::init::pairs::is_place_name;
use crate::verdict::Finding;

/// Short names of positions in a container.
const PLACES: &[&str] = &["at", "i", "j", "k", "slot", "which"];
/// A lower bound above this number is not a realistic precondition.
const HIGH: u64 = 65_535;

/// Whether a condition excludes values that every caller passes: it requires an index to be
/// nonzero, a number to differ from NULL, or a count to exceed a large number. The fault then has
/// another cause: the object is empty, or the library is wrong.
pub(super) fn is_absurd(condition: &str, text: &str) -> bool {
    let words: Vec<&str> = condition.split(' ').collect();
    let is_number = |name: &str| {
        let mut lines = text.lines();
        lines.any(|line| {
            let chosen = line.split_once(&format!(" {name} = crunner_get_"));
            chosen.is_some_and(|(_, getter)| {
                !getter.starts_with("rest") && !getter.starts_with("elements")
            })
        })
    };
    match &words[..] {
        [_, ">", number] => number.parse::<u64>().is_ok_and(|number| number > HIGH),
        [name, "!=", "NULL"] => is_number(name),
        [name, "!=", "0"] => is_number(name) && (is_place_name(name) || PLACES.contains(name)),
        _ => false,
    }
}

/// The reason why a harness is given up.
pub(super) fn hopeless(finding: &Finding) -> String {
    let missing = finding.blame.iter().flat_map(|blame| &blame.missing);
    let words: Vec<String> = missing.map(MissingCondition::words).collect();
    format!(
        "it wants what nothing here makes ({}, else {}: {})",
        words.join(", "),
        finding.place.show(),
        finding.message
    )
}

impl Trial<'_> {
    /// Writes a harness again without filling a container first. A fault of a filling function is
    /// shown once, by the harness of that function. Returns `false` if no container is filled.
    pub(super) fn without_filling(
        &self,
        name: &str,
        adjust: &mut Adjust,
        tried: &mut Tried,
    ) -> bool {
        if tried.harness.fillers.is_empty() || self.is_stopped() {
            return false;
        }
        adjust.unfilled = true;
        let fillers = &tried.harness.fillers;
        adjust.assume.retain(|(call, _)| !fillers.contains(call));
        tried.learnt.retain(|one| !fillers.contains(&one.call));
        let again = self.library.again(self.api, name, adjust);
        again.map(|again| tried.harness = again).is_ok()
    }

    /// Writes a harness again that ignores the result of the library's initialisation. If nothing
    /// after the initialisation is reached, its return value was misinterpreted. Returns `false` if
    /// the harness does not change.
    pub(super) fn without_check(&self, name: &str, adjust: &mut Adjust, tried: &mut Tried) -> bool {
        if adjust.unchecked || self.is_stopped() {
            return false;
        }
        adjust.unchecked = true;
        match self.library.again(self.api, name, adjust) {
            Ok(again) if again.text != tried.harness.text => {
                tried.harness = again;
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_excludes_every_caller_is_not_learnt() {
        let text = "    size_t index = crunner_get_ulong();\n    size_t at = \
            crunner_get_ulong();\n    int level = crunner_get_int();\n";
        for condition in [
            "index != NULL",
            "index > 1073741823",
            "index != 0",
            "at != 0",
        ] {
            assert!(is_absurd(condition, text), "{condition}");
        }
        for condition in [
            "level != 0",
            "level > 3",
            "options != NULL",
            "index < level",
        ] {
            assert!(!is_absurd(condition, text), "{condition}");
        }
    }
}
