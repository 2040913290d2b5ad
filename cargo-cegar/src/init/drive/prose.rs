//! Splits comments into sentences and searches them for phrases.
//!
//! Headers express a fact in few ways. So sentences are split into words, with punctuation marks as
//! words of their own, and searched for known phrases. Any other wording is not understood and is
//! ignored.

/// Commands of Doxygen that only mark the word behind them.
const MARKS: &[&str] = &["ref", "p", "a", "b", "c", "e", "em"];

/// A comment without the marks of single words: `@p len`, `\ref LIMIT`, `*must*`.
fn unmarked(comment: &str) -> String {
    let mut text = String::with_capacity(comment.len());
    let mut rest = comment;
    while let Some(at) = rest.find(['@', '\\', '*']) {
        text += &rest[..at];
        let behind = &rest[at + 1..];
        let length = behind.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let (word, after) = behind.split_at(length.unwrap_or(behind.len()));
        let begins = !text.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        if rest[at..].starts_with('*') {
            let is_word = word.len() > 2 && word.chars().all(|c| c.is_ascii_alphabetic());
            let closed = after.strip_prefix('*').filter(|_| is_word && begins);
            text += if closed.is_some() { word } else { "*" };
            rest = closed.unwrap_or(behind);
        } else if begins && MARKS.contains(&word) && after.starts_with(' ') {
            rest = after;
        } else {
            text += &rest[at..=at];
            rest = behind;
        }
    }
    text + rest
}

/// The sentences of a comment, each as a list of words.
pub(super) fn sentences(comment: &str) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let comment = unmarked(comment);
    let mut characters = comment.chars().peekable();
    while let Some(c) = characters.next() {
        let next = characters.peek().copied();
        let ends = match c {
            '.' => next.is_none_or(char::is_whitespace),
            ';' | '@' | '\\' => true,
            '\n' => next == Some('\n'),
            _ => false,
        };
        if ends {
            all.push(std::mem::take(&mut words));
        } else if c.is_ascii_alphanumeric() || c == '_' {
            let mut word = c.to_string();
            while let Some(c) = characters.next_if(|c| c.is_ascii_alphanumeric() || *c == '_') {
                word.push(c);
            }
            words.push(word);
        } else if !c.is_whitespace() && !['`', '"', '\''].contains(&c) {
            words.push(if c == '×' {
                "*".to_owned()
            } else {
                c.to_string()
            });
        }
    }
    all.push(words);
    all.retain(|words| !words.is_empty());
    all
}

/// The words of a sentence in lower case.
pub(super) fn lower(sentence: &[String]) -> Vec<String> {
    sentence.iter().map(|word| word.to_lowercase()).collect()
}

/// Whether a sentence contains one of the phrases, regardless of case.
pub(super) fn has_phrase(sentence: &[String], phrases: &[&str]) -> bool {
    let text = format!(" {} ", lower(sentence).join(" "));
    let mut phrases = phrases.iter();
    phrases.any(|phrase| text.contains(&format!(" {phrase} ")))
}

/// Whether a sentence of a comment contains one of the phrases.
pub(super) fn says(comment: &str, phrases: &[&str]) -> bool {
    let said = sentences(comment);
    said.iter().any(|sentence| has_phrase(sentence, phrases))
}

/// Whether the words end with a phrase.
pub(super) fn ends_with(words: &[String], phrase: &str) -> bool {
    let mut words = words.iter().rev();
    let mut wanted = phrase.split(' ').rev();
    wanted.all(|wanted| words.next().is_some_and(|word| word == wanted))
}

/// The number of words of a phrase if the words begin with it and continue after it.
pub(super) fn begins_with(words: &[String], phrase: &str) -> Option<usize> {
    let count = phrase.split(' ').count();
    let is_begin = words
        .iter()
        .zip(phrase.split(' '))
        .all(|(word, wanted)| word == wanted);
    (is_begin && words.len() > count).then_some(count)
}
