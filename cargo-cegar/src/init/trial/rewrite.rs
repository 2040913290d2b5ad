//! Harnesses that are written again with less in them, where what they had too much kept the
//! function from being shown.

use super::{Trial, Tried};
use crate::findings::MissingCondition;
use crate::init::drive::Adjust;
use crate::init::pairs::is_place_name;
use crate::verdict::Finding;

/// Short names of places in a container.
const PLACES: &[&str] = &["at", "i", "j", "k", "slot", "which"];
/// No caller keeps a number above this one.
const HIGH: u64 = 65_535;

/// Whether a condition excludes what every caller passes: an index that is not 0, a size that is no
/// NULL, a count that is above a large number. The fault is then that of an object that is empty,
/// or of the library.
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

/// Why a harness is given up.
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
    /// Writes a harness again that fills no container first: what goes wrong while it is filled is
    /// shown by the harnesses of the functions that fill it, once. False where nothing is filled.
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

    /// Writes a harness again that does not ask how the beginning of the library went: where
    /// nothing comes behind it, what it returns was understood wrongly. False where nothing changes
    /// by that.
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
