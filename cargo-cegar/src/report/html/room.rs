//! The size limits of a page.
//!
//! A page is attached to a build and opened in a browser, so its size is bounded regardless of the
//! library's size. Each part of the page has a budget of bytes. Content that does not fit is shown
//! in a shorter form, and the end of the page says what was left out and where the complete data
//! is.

use std::collections::BTreeMap;

/// The upper bound of the whole page: the budgets of the parts, and the content that every page
/// has.
pub const PAGE: usize = 2_000_000;

/// The budget for one part of the page.
#[derive(Debug)]
pub struct Room {
    left: usize,
}

impl Room {
    /// A budget of `bytes` bytes.
    pub fn new(bytes: usize) -> Room {
        Room { left: bytes }
    }

    /// Takes the size of a text from the budget, if it fits.
    pub fn takes(&mut self, text: &str) -> bool {
        let fits = text.len() <= self.left;
        if fits {
            self.left -= text.len();
        }
        fits
    }
}

/// The budgets of a page, and what was left out of it.
#[derive(Debug)]
pub struct Rooms {
    /// Findings with their tests and the paths to the faults.
    pub findings: Room,
    /// Findings that are shown in one line.
    pub further: Room,
    /// The rows of files and functions.
    pub rows: Room,
    /// Checks with their expressions.
    pub checks: Room,
    /// Checks of which only the lines are shown.
    pub lines: Room,
    /// What proofs rest on.
    pub proofs: Room,
    /// Sources.
    pub sources: Room,
    /// The part about each harness: the table, graphs, assumptions, reasons.
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

    /// Records that something was left out.
    pub fn left_out(&mut self, what: &'static str, count: u64) {
        if count > 0 {
            *self.left_out.entry(what).or_default() += count;
        }
    }

    /// The descriptions of what was left out, with the counts.
    pub fn all_left_out(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.left_out.iter().map(|(what, count)| (*what, *count))
    }
}
