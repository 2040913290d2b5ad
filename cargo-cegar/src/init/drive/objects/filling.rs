//! Fills a container before a function inspects it.
//!
//! A map that was just created is empty, and a function that reads, removes or iterates over its
//! entries does nothing with an empty map. If the crate has neither C code that uses the library
//! nor Rust code around it, no caller shows an order of calls. But a function that puts an item
//! into a container may be called at any time, and many times: growing and rehashing happen at the
//! tenth entry, not at the first.

use crate::init::api::Declared;
use crate::init::ctype::Written;
use crate::init::drive::uses::{Case, KEPT_FREED};
use crate::init::drive::{ANY_TIME, Body, READS, has_word};
use crate::init::pairs;

/// The maximum number of filling functions to choose from.
const MOST: usize = 3;
/// The maximum number of calls of these functions.
const TURNS: usize = 24;

impl<'a> Body<'a> {
    /// Fills a container that was just created for the driven function.
    pub(super) fn stocked(
        &mut self,
        object: &str,
        (maker, function): (&Declared, &Declared),
        identity: &str,
        depth: usize,
    ) {
        if self.nested > 0
            || depth > 0
            || self.fed
            || self.main.is_some()
            || self.adjust.unfilled
            || function.name != self.function.name
            || has_word(&function.name, READS)
        {
            return;
        }
        // If callers show an order, a filling function must come right after the maker.
        let automaton = self.api.orders.of(identity);
        let is_in_order = |put: &Declared| {
            automaton.is_none_or(|automaton| {
                let first = automaton.next.get(&maker.name);
                !automaton.has(&put.name) || first.is_none_or(|first| first.contains(&put.name))
            })
        };
        let all = self.api.functions.iter();
        let puts: Vec<&'a Declared> = all
            .filter(|one| {
                one.name != function.name && self.puts_into(one, identity) && is_in_order(one)
            })
            .collect();
        let cases = self.first(MOST, puts, |body, one| body.case(one, identity, object));
        if !cases.is_empty() {
            self.fill(cases);
        }
    }

    /// Whether a function puts an item into a container without the caller naming a position.
    fn puts_into(&self, function: &Declared, identity: &str) -> bool {
        let changes = |to: &Written| !to.constant;
        let [first, others @ ..] = &function.params[..] else {
            return false;
        };
        !function.deprecated
            && self.is_put(function)
            && self.place_of(function, identity) == Some(0)
            && self.api.pointee(&first.ty).as_ref().is_some_and(changes)
            && !others.is_empty()
            && !others.iter().any(|other| pairs::is_place_name(&other.name))
    }

    /// Emits the loop that fills a container.
    pub(in crate::init::drive) fn fill(&mut self, cases: Vec<Case<'a>>) {
        let mut guessed = Vec::new();
        for case in &cases {
            if !self.fillers.contains(&case.function.name) {
                self.fillers.push(case.function.name.clone());
                guessed.push(format!("`{}`", case.function.name));
            }
        }
        self.turns(cases, (0, TURNS));
        // Two containers of the same kind are filled by the same functions, so the guess is noted
        // once.
        if !guessed.is_empty() {
            let names = guessed.join(", ");
            self.guesses.push(format!("{names} {ANY_TIME}"));
        }
    }

    /// A loop with a number of turns between `least` and `most`, each of which executes one of the
    /// uses.
    pub(in crate::init::drive) fn turns(
        &mut self,
        cases: Vec<Case<'a>>,
        (least, most): (usize, usize),
    ) {
        let lines = self.among(cases, most);
        self.lines.push(format!(
            "for (int turns = (int)crunner_size({least}, {most}); turns > 0; turns--) {{"
        ));
        self.lines
            .extend(lines.iter().map(|line| format!("    {line}")));
        self.lines.push("}".to_owned());
    }

    /// The lines of one of several uses, which the tape chooses. Reserves room for the blocks that
    /// are passed in `turns` turns.
    pub(in crate::init::drive) fn among(
        &mut self,
        cases: Vec<Case<'a>>,
        turns: usize,
    ) -> Vec<String> {
        let blocks = cases.iter().map(|case| case.blocks).max().unwrap_or(0);
        if blocks > 0 {
            self.keep(blocks * turns);
        }
        let is_alone = cases.len() == 1;
        let last = cases.len().saturating_sub(1);
        let mut all = Vec::new();
        if !is_alone {
            all.push(format!("switch (crunner_range(0, {last})) {{"));
        }
        for (number, case) in cases.into_iter().enumerate() {
            if is_alone {
                all.extend(case.lines);
            } else {
                all.push(format!("case {number}: {{"));
                all.extend(case.lines.iter().map(|line| format!("    {line}")));
                all.push("    break;".to_owned());
                all.push("}".to_owned());
            }
            self.callbacks.extend(case.callbacks);
            // Assumptions refer to choices by their names, so these stay reserved.
            self.names.extend(case.names);
        }
        if !is_alone {
            all.push("}".to_owned());
        }
        all
    }

    /// Reserves room for further blocks, which live until the objects are closed.
    fn keep(&mut self, blocks: usize) {
        let declared = |blocks: usize| format!("void *kept[{blocks}];");
        let before = declared(self.kept);
        self.kept += blocks;
        let now = declared(self.kept);
        if let Some(line) = self.lines.iter_mut().find(|line| **line == before) {
            *line = now;
            return;
        }
        self.lines.push(now);
        self.lines.push("int keeps = 0;".to_owned());
        self.cleanup.push(KEPT_FREED.to_owned());
    }
}
