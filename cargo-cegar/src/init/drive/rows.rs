//! Arrays of numbers whose length nobody states: `decode(d, data, len, sample *pcm)`.
//!
//! The header may have a constant for the most that one call writes, and trials show how much a
//! call needs at least. An array that is larger than callers' arrays hides faults.

use std::collections::BTreeSet;

use super::Body;
use super::text::words;
use crate::findings::DECLARED;
use crate::init::ctype::{Kind, Written};

/// The greatest number of elements that a constant may state.
const GREATEST: u64 = 1 << 16;
/// Number of elements of a numeric output of unknown length.
const SAMPLES: usize = 8192;

impl Body<'_> {
    /// An array of numbers whose length nobody states. `asked` is the number of bytes that trials
    /// showed to be necessary, or 0.
    pub(super) fn row(&mut self, (name, to, target): (&str, &Written, &Written), asked: usize) {
        let size = match target.kind {
            Kind::Int { size, .. } | Kind::Float { size } => usize::from(size),
            Kind::Enum(_) => size_of::<i32>(),
            _ => 1,
        };
        let stated = self.greatest_count(name, to).filter(|_| asked == 0);
        let count = match &stated {
            Some(constant) => constant.clone(),
            None if asked == 0 => SAMPLES.to_string(),
            None => asked.div_ceil(size).to_string(),
        };
        // A fault in memory of a stated size is the library's.
        let (guess, declared) = match stated {
            Some(constant) => (
                format!("`{name}` has as many elements as this constant says: {constant}"),
                format!(" {DECLARED}"),
            ),
            None => (format!("`{name}` has {count} elements"), String::new()),
        };
        self.guesses.push(guess);
        let words = to.words.trim_start_matches("const ");
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
    /// `MINIMP3_MAX_SAMPLES_PER_FRAME` for `mp3d_sample_t`. The word behind `MAX` is a word of the
    /// type's own name or of the array's name, and not one that begins the library's names. `None`
    /// unless there is exactly one such macro.
    fn greatest_count(&self, name: &str, to: &Written) -> Option<String> {
        let prefix = words(&self.function.name).next().unwrap_or_default();
        let own = match &to.kind {
            Kind::Named(own) if !is_standard(own) => own.as_str(),
            _ => "",
        };
        let kinds: BTreeSet<String> = words(own)
            .chain(words(name))
            .map(|word| word.trim_end_matches('s').to_owned())
            .filter(|word| word.len() >= 4 && *word != prefix)
            .collect();
        let is_meant = |(name, value): &(&String, &u64)| {
            let mut parts = name.split('_').map(str::to_lowercase);
            let behind = parts.find(|part| part == "max").and_then(|_| parts.next());
            let is_kind = |part: String| kinds.contains(part.trim_end_matches('s'));
            (1..=GREATEST).contains(*value) && behind.is_some_and(is_kind)
        };
        let mut named = self.api.numbers.iter().filter(is_meant);
        let (only, _) = named.next()?;
        named.next().is_none().then(|| only.clone())
    }
}

/// Whether a type is one of `<stdint.h>` or `<stddef.h>`, whose name says nothing of the elements.
fn is_standard(name: &str) -> bool {
    let fixed = name.trim_start_matches('u').starts_with("int");
    fixed && name.ends_with("_t") || ["size_t", "ptrdiff_t"].contains(&name)
}
