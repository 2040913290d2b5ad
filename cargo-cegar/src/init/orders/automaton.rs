//! The automaton of calls on objects of one kind.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The calls that callers make on objects of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallAutomaton {
    /// For each function, the functions that were called next on the same object.
    pub next: BTreeMap<String, BTreeSet<String>>,
    /// The files that show these calls.
    pub files: BTreeSet<String>,
}

impl CallAutomaton {
    /// Whether callers call a function.
    pub fn has(&self, function: &str) -> bool {
        let mut all = self.next.iter();
        all.any(|(from, next)| from == function || next.contains(function))
    }

    /// The shortest sequence of calls between two functions on one object. `None` if the second
    /// never follows the first.
    pub fn between(&self, from: &str, to: &str) -> Option<Vec<String>> {
        self.way(from, |name| name == to)
    }

    /// The shortest sequence of calls after a function up to and including one that satisfies the
    /// predicate.
    pub fn up_to(&self, from: &str, is_it: impl Fn(&str) -> bool) -> Option<Vec<String>> {
        let mut last = None;
        let mut way = self.way(from, |name| {
            let found = is_it(name);
            if found {
                last = Some(name.to_owned());
            }
            found
        })?;
        way.extend(last);
        Some(way)
    }

    fn way(&self, from: &str, mut is_end: impl FnMut(&str) -> bool) -> Option<Vec<String>> {
        let mut seen: BTreeSet<&str> = [from].into();
        let mut open: VecDeque<(&str, Vec<String>)> = [(from, Vec::new())].into();
        while let Some((at, way)) = open.pop_front() {
            for next in self.next.get(at).into_iter().flatten() {
                if is_end(next) {
                    return Some(way);
                }
                if seen.insert(next) {
                    let mut further = way.clone();
                    further.push(next.clone());
                    open.push_back((next, further));
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_between_two_calls() {
        let automaton = CallAutomaton {
            next: [
                ("new", "set"),
                ("set", "open"),
                ("open", "put"),
                ("put", "put"),
            ]
            .map(|(from, to)| (from.to_owned(), [to.to_owned()].into()))
            .into(),
            files: BTreeSet::new(),
        };
        let all = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
        assert_eq!(automaton.between("new", "put"), all(&["set", "open"]));
        assert_eq!(automaton.between("new", "set"), all(&[]));
        assert_eq!(automaton.between("put", "new"), None);
        assert_eq!(
            automaton.up_to("new", |name| name == "open"),
            all(&["set", "open"])
        );
    }
}
