//! The progress lines at the end of the terminal output.
//!
//! Each phase of each harness has its own line, since fuzzing and proving run at the same time and
//! several harnesses may be active: on a single line, they would overwrite each other's numbers. A
//! phase of known length has a bar, which is removed when it is full; the lines of a harness are
//! removed when its results are reported.

use std::collections::BTreeMap;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Redraws per second.
const HERTZ: u8 = 8;
/// How often a line without news is redrawn to show that time passes.
const TICK: Duration = Duration::from_millis(250);
/// The template of a line with a message.
const TELLING: &str = "{prefix:>12.cyan.bold} {wide_msg} {elapsed}";
/// The template of a line with a bar up to a known number.
const COUNTING: &str = "{prefix:>12.cyan.bold} [{bar:24}] {pos} of {len}: {wide_msg} {elapsed}";

/// The progress lines.
pub(super) struct Bars {
    lines: MultiProgress,
    /// The bars, by harness or package and phase.
    bars: BTreeMap<(String, &'static str), ProgressBar>,
}

impl Bars {
    /// No lines yet, drawn to this target.
    pub fn on(target: ProgressDrawTarget) -> Bars {
        Bars {
            lines: MultiProgress::with_draw_target(target),
            bars: BTreeMap::new(),
        }
    }

    /// No lines yet, drawn to stderr.
    pub fn stderr() -> Bars {
        Bars::on(ProgressDrawTarget::stderr_with_hz(HERTZ))
    }

    /// Does some work with the lines hidden.
    pub fn suspend<T>(&self, work: impl FnOnce() -> T) -> T {
        self.lines.suspend(work)
    }

    /// Shows a phase without a known end.
    pub fn tell(&mut self, who: &str, phase: &'static str, text: String) {
        match self.bars.get(&(who.to_owned(), phase)) {
            Some(bar) => bar.set_message(text),
            None => self.begin(who, phase, TELLING, ProgressBar::new(0).with_message(text)),
        }
    }

    /// Shows a phase that ends when `done` reaches `total`.
    pub fn count(&mut self, who: &str, phase: &'static str, done: u64, total: u64) {
        if done >= total {
            if let Some(bar) = self.bars.remove(&(who.to_owned(), phase)) {
                self.remove(&bar);
            }
            return;
        }
        match self.bars.get(&(who.to_owned(), phase)) {
            Some(bar) => {
                bar.set_length(total);
                bar.set_position(done);
            }
            None => {
                let bar = ProgressBar::new(total).with_position(done);
                self.begin(who, phase, COUNTING, bar.with_message(who.to_owned()));
            }
        }
    }

    /// Removes all lines of one harness.
    pub fn end(&mut self, who: &str) {
        let theirs: Vec<_> = (self.bars.keys())
            .filter(|(name, _)| name == who)
            .cloned()
            .collect();
        for key in theirs {
            if let Some(bar) = self.bars.remove(&key) {
                self.remove(&bar);
            }
        }
    }

    /// Removes all lines.
    pub fn clear(&mut self) {
        for bar in std::mem::take(&mut self.bars).into_values() {
            self.remove(&bar);
        }
    }

    fn remove(&self, bar: &ProgressBar) {
        bar.finish_and_clear();
        self.lines.remove(bar);
    }

    /// Adds a line, whose first drawing shows all known data.
    fn begin(&mut self, who: &str, phase: &'static str, template: &str, bar: ProgressBar) {
        let mut bar = bar.with_prefix(phase);
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar = bar.with_style(style.progress_chars("=> "));
        }
        let bar = self.lines.add(bar);
        bar.enable_steady_tick(TICK);
        self.bars.insert((who.to_owned(), phase), bar);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The harness, its phase, and the text of its line.
    fn drawn(bars: &Bars) -> Vec<String> {
        let line = |((who, _), bar): (&(String, &str), &ProgressBar)| {
            let (at, of) = (bar.position(), bar.length().unwrap_or(0));
            format!("{who}: {} {at}/{of} {}", bar.prefix(), bar.message())
        };
        bars.bars.iter().map(line).collect()
    }

    #[test]
    fn each_phase_of_each_harness_has_a_line() {
        let mut bars = Bars::on(ProgressDrawTarget::hidden());
        bars.count("one", "Building", 3, 12);
        bars.tell("one", "Fuzzing", "one  950 execs".to_owned());
        bars.tell("two", "Fuzzing", "two  7 execs".to_owned());
        bars.tell("two", "Fuzzing", "two  8 execs".to_owned());
        let lines = drawn(&bars);
        assert_eq!(lines[0], "one: Building 3/12 one");
        assert_eq!(lines[1], "one: Fuzzing 0/0 one  950 execs");
        assert_eq!(lines[2], "two: Fuzzing 0/0 two  8 execs");
        bars.count("one", "Building", 12, 12);
        bars.end("two");
        assert_eq!(drawn(&bars), ["one: Fuzzing 0/0 one  950 execs"]);
        // Ending a line that was never begun has no effect.
        bars.count("three", "Replaying", 0, 0);
        bars.end("four");
        assert_eq!(drawn(&bars).len(), 1);
        bars.clear();
        assert!(drawn(&bars).is_empty());
    }
}
