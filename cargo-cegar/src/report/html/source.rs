//! Lines of C on the page.
//!
//! A line needs its text and a few more bytes: its state is a class of one letter, and the style
//! sheet does the rest. Sources may come from any generator: they may not be UTF-8, have the line
//! endings of another system, have a line of a megabyte, or be missing.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use super::escape::escape;
use crate::coverage::State;
use crate::verdict::Place;

/// The number of bytes of a line that are shown.
const WIDTH: usize = 300;
/// The number of lines before and after a finding.
const AROUND: u32 = 3;

/// The lines of a file.
pub(super) struct Text {
    bytes: Vec<u8>,
}

impl Text {
    /// Reads a file; the error says why it cannot be read.
    pub fn read(root: &Path, file: &str) -> Result<Text, String> {
        if file.is_empty() {
            return Err("no file is known".to_owned());
        }
        let mut bytes = std::fs::read(root.join(file)).map_err(|why| why.to_string())?;
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
        }
        Ok(Text { bytes })
    }

    /// The lines with their numbers, from 1.
    pub fn lines(&self) -> impl Iterator<Item = (u32, &[u8])> {
        (1..).zip(self.bytes.split(|byte| *byte == b'\n'))
    }

    /// The number of lines.
    pub fn count(&self) -> usize {
        self.lines().count()
    }
}

/// A line's text, escaped. Of a long line, only a part that contains `column` is shown, with the
/// number of bytes left out.
pub(super) fn line(bytes: &[u8], column: u32) -> String {
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    if bytes.len() <= WIDTH {
        return escape(&String::from_utf8_lossy(bytes));
    }
    // Cut by bytes before decoding, since a line may be as long as a file.
    let from = match column as usize {
        near if near < WIDTH => 0,
        far => (far - WIDTH / 2).min(bytes.len()),
    };
    let to = bytes.len().min(from + WIDTH);
    let mut out = String::new();
    if from > 0 {
        let _ = write!(out, "<s>{from} bytes</s>");
    }
    out.push_str(&escape(&String::from_utf8_lossy(&bytes[from..to])));
    if to < bytes.len() {
        let _ = write!(out, "<s>{} bytes more</s>", bytes.len() - to);
    }
    out
}

/// The lines around a place, with the place marked; empty if the source cannot be read.
pub(super) fn around(root: &Path, place: &Place) -> String {
    let Ok(text) = Text::read(root, &place.file) else {
        return String::new();
    };
    if place.line == 0 {
        return String::new();
    }
    let from = place.line.saturating_sub(AROUND);
    let mut out = String::from("<pre class=\"src\" tabindex=\"0\">");
    for (number, bytes) in text.lines() {
        if number < from || number > place.line + AROUND {
            continue;
        }
        let shown = line(
            bytes,
            if number == place.line {
                place.column
            } else {
                0
            },
        );
        let _ = match number == place.line {
            true => writeln!(out, "<mark><i>{number}</i>{shown}</mark>"),
            false => writeln!(out, "<i>{number}</i>{shown}"),
        };
    }
    out.push_str("</pre>\n");
    out
}

/// The style class for the state of a line.
pub(super) fn class(state: Option<State>) -> &'static str {
    match state {
        Some(State::Covered) => "c",
        Some(State::Partial) => "y",
        Some(State::Open) => "o",
        Some(State::Unreachable) => "u",
        None => "",
    }
}

/// The data that an excerpt needs for each line.
pub(super) struct Marks<'a> {
    /// The state of a line.
    pub state: &'a dyn Fn(u32) -> Option<State>,
    /// Lines that are the target of links.
    pub linked: &'a BTreeSet<u32>,
    /// Lines with findings.
    pub hit: &'a BTreeSet<u32>,
}

/// The wanted lines of a file, with the number of the lines left out in each gap.
pub(super) fn excerpt(
    text: &Text,
    wanted: &BTreeSet<u32>,
    file: usize,
    marks: &Marks<'_>,
) -> String {
    let mut out = String::from("<pre class=\"src\" tabindex=\"0\">");
    let mut missing = 0u32;
    let gap = |out: &mut String, missing: &mut u32| {
        if *missing > 0 {
            let lines = if *missing == 1 { "line" } else { "lines" };
            let _ = writeln!(out, "<s>{missing} {lines}</s>");
        }
        *missing = 0;
    };
    for (number, bytes) in text.lines() {
        if !wanted.contains(&number) {
            missing += 1;
            continue;
        }
        gap(&mut out, &mut missing);
        let hit = marks.hit.contains(&number);
        if hit {
            out.push_str("<mark>");
        }
        out.push_str("<i");
        let class = class((marks.state)(number));
        if !class.is_empty() {
            let _ = write!(out, " class={class}");
        }
        if marks.linked.contains(&number) || hit {
            let _ = write!(out, " id=s{file}-{number}");
        }
        let _ = write!(out, ">{number}</i>{}", line(bytes, 0));
        out.push_str(if hit { "</mark>\n" } else { "\n" });
    }
    gap(&mut out, &mut missing);
    out.push_str("</pre>\n");
    out
}
