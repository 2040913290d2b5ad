//! Expressions of C within a sentence: `(n + 7) / 8 bytes`, `HEX_SIZE(len) characters`.
//!
//! A comment is prose, and most of its operators are none: `and/or`, `see - above`. So an
//! expression is the longest sequence of words that C would accept at a place, made of numbers that
//! are passed, of constants and of macros.

/// The names that expressions may have in them.
#[derive(Clone, Copy, Default)]
pub(super) struct Names<'s> {
    /// Parameters that are numbers.
    pub(super) numbers: &'s [&'s str],
    /// The library's functions that make a number of numbers: `compress_bound(len)`.
    pub(super) functions: &'s [&'s str],
}

/// Where an expression ends that begins at a word of a sentence. `None` if none does that has an
/// operator, a macro or a function and a parameter's name in it.
pub(super) fn expression(words: &[String], at: usize, names: Names<'_>) -> Option<usize> {
    let mut reader = Reader::new(words, at, names);
    reader.sum()?;
    (reader.computes && reader.counts).then_some(reader.at)
}

/// Where an expression ends that begins at a word of a sentence and has a parameter's name in it.
pub(super) fn sum(words: &[String], at: usize, names: Names<'_>) -> Option<usize> {
    let mut reader = Reader::new(words, at, names);
    reader.sum()?;
    reader.counts.then_some(reader.at)
}

/// Whether what stands in parentheses at a word is what a function or a macro is given that nobody
/// knows: nothing follows from that alone.
pub(super) fn is_given(words: &[String], at: usize) -> bool {
    let called = at.checked_sub(1).and_then(|before| words.get(before));
    words.get(at).is_some_and(|word| word == "(")
        && called.is_some_and(|word| word.contains('_') || is_macro(word))
}

fn is_macro(word: &str) -> bool {
    word.len() > 2
        && word.starts_with(|c: char| c.is_ascii_uppercase())
        && !word.contains(|c: char| c.is_ascii_lowercase())
}

/// Whether an expression has a value whatever is passed: what is subtracted may be more, and a
/// divisor may be zero.
pub(super) fn is_total(words: &[String]) -> bool {
    let is_number = |word: &String| word.parse::<u64>().is_ok_and(|number| number > 0);
    let divides = |pair: &[String]| "/%".contains(pair[0].as_str()) && !is_number(&pair[1]);
    !words.iter().any(|word| word == "-") && !words.windows(2).any(divides)
}

/// Reads an expression of numbers that are passed, constants and macros.
struct Reader<'s> {
    words: &'s [String],
    at: usize,
    names: Names<'s>,
    /// Whether it has an operator, a macro or a function in it: a name alone is what it is for.
    computes: bool,
    /// Whether it has a parameter in it.
    counts: bool,
}

impl<'s> Reader<'s> {
    fn new(words: &'s [String], at: usize, names: Names<'s>) -> Self {
        Reader {
            words,
            at,
            names,
            computes: false,
            counts: false,
        }
    }

    fn next_is(&self, one_of: &str) -> bool {
        let word = self.words.get(self.at);
        word.is_some_and(|word| word.len() == 1 && one_of.contains(word.as_str()))
    }

    /// Operands with operators between them; an operator without an operand behind it is none.
    fn operands(&mut self, operators: &str, operand: fn(&mut Self) -> Option<()>) -> Option<()> {
        operand(self)?;
        while self.next_is(operators) {
            let before = self.at;
            self.at += 1;
            if operand(self).is_none() {
                self.at = before;
                break;
            }
            self.computes = true;
        }
        Some(())
    }

    fn sum(&mut self) -> Option<()> {
        self.operands("+-", Self::product)
    }

    fn product(&mut self) -> Option<()> {
        self.operands("*/%", Self::operand)
    }

    fn operand(&mut self) -> Option<()> {
        let before = self.at;
        let word = self.words.get(self.at)?.as_str();
        self.at += 1;
        if word == "(" {
            return self.closed(before);
        }
        if word.bytes().all(|byte| byte.is_ascii_digit()) {
            return Some(());
        }
        if self.names.numbers.contains(&word) {
            self.counts = true;
            return Some(());
        }
        let is_called = is_macro(word) || self.names.functions.contains(&word);
        if is_called && self.next_is("(") {
            self.at += 1;
            self.computes = true;
            return self.closed(before);
        }
        self.at = before;
        None
    }

    /// What stands between parentheses, behind the opening one.
    fn closed(&mut self, before: usize) -> Option<()> {
        loop {
            if self.sum().is_none() {
                break;
            }
            if self.next_is(")") {
                self.at += 1;
                return Some(());
            }
            if !self.next_is(",") {
                break;
            }
            self.at += 1;
        }
        self.at = before;
        None
    }
}
