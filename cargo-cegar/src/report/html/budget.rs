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
pub struct ByteBudget {
    left: usize,
}

impl ByteBudget {
    /// A budget of `bytes` bytes.
    pub fn new(bytes: usize) -> ByteBudget {
        ByteBudget { left: bytes }
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
pub struct PageBudgets {
    /// Findings with their tests and the paths to the faults.
    pub findings: ByteBudget,
    /// Findings that are shown in one line.
    pub further: ByteBudget,
    /// The rows of files and functions.
    pub rows: ByteBudget,
    /// Checks with their expressions.
    pub checks: ByteBudget,
    /// Checks of which only the lines are shown.
    pub lines: ByteBudget,
    /// What proofs rest on.
    pub proofs: ByteBudget,
    /// Sources.
    pub sources: ByteBudget,
    /// The part about each harness: the table, graphs, assumptions, reasons.
    pub harnesses: ByteBudget,
    left_out: BTreeMap<&'static str, u64>,
}

impl PageBudgets {
    /// The budgets of a new page.
    pub fn new() -> PageBudgets {
        PageBudgets {
            findings: ByteBudget::new(PAGE / 20 * 3),
            further: ByteBudget::new(PAGE / 20),
            rows: ByteBudget::new(PAGE / 20 * 3),
            checks: ByteBudget::new(PAGE / 20 * 4),
            lines: ByteBudget::new(PAGE / 20),
            proofs: ByteBudget::new(PAGE / 20),
            sources: ByteBudget::new(PAGE / 20 * 5),
            harnesses: ByteBudget::new(PAGE / 20),
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
