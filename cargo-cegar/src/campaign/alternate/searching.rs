//! The search's part in the alternation: the engine's machine and the questions to the solver, and
//! the inputs that the machine has not executed yet.

use std::time::Instant;

use cegar_search::simulate::search::{News, Search};

use super::backlog::Backlog;
use super::subject::Subject;

/// See the module.
pub struct Searching<'p> {
    pub search: Search<'p>,
    pub backlog: Backlog,
    /// When either side last brought something new.
    pub last_news: Instant,
}

impl<'p> Searching<'p> {
    pub fn new(search: Search<'p>, started: Instant) -> Self {
        Searching {
            search,
            backlog: Backlog::default(),
            last_news: started,
        }
    }

    /// Has the machine execute what waits, until there is news for the others; false if nothing
    /// waited.
    pub fn catch_up(
        &mut self,
        until: Instant,
        subject: &Subject<'_>,
        news: &mut Vec<News>,
    ) -> bool {
        let mut looked = false;
        while news.is_empty() && Instant::now() < until && !subject.is_stopped() {
            let Some(waiting) = self.backlog.pop() else {
                break;
            };
            looked = true;
            self.search.glance(&waiting.tape, waiting.origin, news);
            self.search.note_covered(waiting.blocks);
        }
        looked
    }

    /// Whether one of these blocks is entered by nothing that was executed or waits.
    pub fn is_new(&self, blocks: &[u32]) -> bool {
        let covered = self.search.covered();
        let is_new = |&block: &u32| {
            !covered.get(block as usize).unwrap_or(&true) && !self.backlog.enters(block)
        };
        blocks.iter().any(is_new)
    }
}
