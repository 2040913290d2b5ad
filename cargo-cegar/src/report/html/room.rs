//! How much a page holds.
//!
//! A page is attached to a build and opened in a browser, so its size has a bound, whatever the
//! library's. Each of its parts has room for so many bytes; what does not fit is told in fewer
//! words, and the page says at its end what these were and where the whole is.

use std::collections::BTreeMap;

/// The whole page stays below this: the parts' rooms, and what belongs to every page.
pub const PAGE: usize = 2_000_000;

/// Room for one part of the page.
#[derive(Debug)]
pub struct Room {
    left: usize,
}

impl Room {
    /// A budget of so many bytes.
    pub fn new(bytes: usize) -> Room {
        Room { left: bytes }
    }

    /// Takes room for a text, if there is enough.
    pub fn takes(&mut self, text: &str) -> bool {
        let fits = text.len() <= self.left;
        if fits {
            self.left -= text.len();
        }
        fits
    }
}

/// The rooms of a page, and what was left out of it.
#[derive(Debug)]
pub struct Rooms {
    /// Findings with their tests and ways.
    pub findings: Room,
    /// Findings of which only the line is told.
    pub further: Room,
    /// The rows of files and functions.
    pub rows: Room,
    /// Checks with their expressions.
    pub checks: Room,
    /// Checks of which only the lines are told.
    pub lines: Room,
    /// What proofs rest on.
    pub proofs: Room,
    /// Sources.
    pub sources: Room,
    /// What is told of each harness: the table, pictures, assumptions, reasons.
    pub harnesses: Room,
    left_out: BTreeMap<&'static str, u64>,
}

impl Rooms {
    /// The budgets of a new page.
    pub fn new() -> Rooms {
        Rooms {
            findings: Room::new(PAGE / 20 * 3),
            further: Room::new(PAGE / 20),
            rows: Room::new(PAGE / 20 * 3),
            checks: Room::new(PAGE / 20 * 4),
            lines: Room::new(PAGE / 20),
            proofs: Room::new(PAGE / 20),
            sources: Room::new(PAGE / 20 * 5),
            harnesses: Room::new(PAGE / 20),
            left_out: BTreeMap::new(),
        }
    }

    /// Remembers that something was left out.
    pub fn left_out(&mut self, what: &'static str, count: u64) {
        if count > 0 {
            *self.left_out.entry(what).or_default() += count;
        }
    }

    /// What was left out, each with how much.
    pub fn all_left_out(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.left_out.iter().map(|(what, count)| (*what, *count))
    }
}
