//! C expressions within a sentence: `(n + 7) / 8 bytes`, `HEX_SIZE(len) characters`.
//!
//! A comment is prose, and most of its operator characters are not operators: `and/or`, `see -
//! above`. So an expression is the longest sequence of words from a position on that C would
//! accept, built from numeric parameters, constants and macros.

/// The names that expressions may contain.
#[derive(Clone, Copy, Default)]
pub(super) struct Names<'s> {
    /// Numeric parameters.
    pub(super) numbers: &'s [&'s str],
    /// Functions of the library that compute a number from numbers: `compress_bound(len)`.
    pub(super) functions: &'s [&'s str],
    /// Macros that stand for a number.
    pub(super) constants: &'s [&'s str],
}

/// The end of an expression that begins at a word of a sentence. `None` unless it contains a
/// parameter's name, and an operator, a macro or a function.
pub(super) fn expression(words: &[String], at: usize, names: Names<'_>) -> Option<usize> {
    let mut reader = Reader::new(words, at, names);
    reader.sum()?;
    (reader.computes && reader.counts).then_some(reader.at)
}

/// The end of an expression that begins at a word of a sentence and contains a parameter's name.
pub(super) fn sum(words: &[String], at: usize, names: Names<'_>) -> Option<usize> {
    let mut reader = Reader::new(words, at, names);
    reader.sum()?;
    reader.counts.then_some(reader.at)
}

/// Whether the parenthesis at a word opens the arguments of an unknown function or macro. Such an
/// expression alone does not state a size.
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

/// Whether an expression has a value for all arguments: it neither subtracts, because the
/// difference may be negative, nor divides by a variable, which may be zero.
pub(super) fn is_total(words: &[String]) -> bool {
    let is_number = |word: &String| word.parse::<u64>().is_ok_and(|number| number > 0);
    let divides = |pair: &[String]| "/%".contains(pair[0].as_str()) && !is_number(&pair[1]);
    !words.iter().any(|word| word == "-") && !words.windows(2).any(divides)
}

/// A parser for expressions of numeric parameters, constants and macros.
struct Reader<'s> {
    words: &'s [String],
    at: usize,
    names: Names<'s>,
    /// Whether it contains an operator, a macro or a function. A single name may mean anything.
    computes: bool,
    /// Whether it contains a parameter.
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

    /// Operands with operators between them. An operator without an operand after it is not part of
    /// the expression.
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

    /// The rest of a parenthesised expression or argument list, after the opening parenthesis.
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
