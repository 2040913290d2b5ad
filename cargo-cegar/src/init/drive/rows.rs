//! Arrays of numbers whose length nobody states: `decode(d, data, len, sample *pcm)`.
//!
//! The header may have a constant for the most that one call writes, and trials show how much a
//! call needs at least. An array that is larger than callers' arrays hides faults.

use std::collections::BTreeSet;

use super::Body;
use super::text::words;
use crate::findings::DECLARED;
use crate::init::ctype::{Kind, Written};

/// Number of elements of a numeric output of unknown length.
const SAMPLES: usize = 8192;

impl Body<'_> {
    /// An array of numbers whose length nobody states. `asked` is the number of bytes that trials
    /// showed to be necessary, or 0.
    pub(super) fn row(&mut self, (name, to, target): (&str, &Written, &Written), asked: usize) {
        let size = match target.kind {
            Kind::Int { size, .. } | Kind::Float { size } => usize::from(size),
            _ => 1,
        };
        let (count, guess) = match self.greatest_count(name, to) {
            Some(count) if asked == 0 => (count, "as many elements as this constant says"),
            _ if asked == 0 => (SAMPLES.to_string(), ""),
            _ => (asked.div_ceil(size).to_string(), ""),
        };
        self.guesses.push(match guess {
            "" => format!("`{name}` has {count} elements"),
            guess => format!("`{name}` has {guess}: {count}"),
        });
        let words = to.words.trim_start_matches("const ");
        // A fault in memory of a stated size is the library's.
        let declared = match guess {
            "" => String::new(),
            _ => format!(" {DECLARED}"),
        };
        self.lines
            .push(format!("{words} {name}[{count}] = {{0}};{declared}"));
        if !to.constant {
            return;
        }
        let fill = match (&target.kind, self.choice(target)) {
            (Kind::Bool | Kind::Enum(_), Some(value)) => format!(
                "for (size_t i = 0; i < sizeof {name} / sizeof *{name}; i++)\n        {name}[i] = \
                 {value};"
            ),
            _ => format!("crunner_get_bytes({name}, sizeof {name});"),
        };
        self.lines.push(fill);
    }

    /// The macro of the header that says how many elements of a type a call writes at most:
    /// `MINIMP3_MAX_SAMPLES_PER_FRAME` for `mp3d_sample_t`. `None` unless there is exactly one such
    /// macro for the words in the names of the type and the array.
    fn greatest_count(&self, name: &str, to: &Written) -> Option<String> {
        let kinds: BTreeSet<String> = words(&to.words)
            .chain(words(name))
            .filter(|word| word.len() >= 4)
            .collect();
        let is_meant = |name: &&String| {
            let parts: Vec<String> = name.split('_').map(str::to_lowercase).collect();
            let has = |word: &str| parts.iter().any(|part| part.trim_end_matches('s') == word);
            has("max") && kinds.iter().any(|kind| has(kind.trim_end_matches('s')))
        };
        let mut named = self.api.numbers.keys().filter(is_meant);
        let only = named.next()?.clone();
        named.next().is_none().then_some(only)
    }
}
