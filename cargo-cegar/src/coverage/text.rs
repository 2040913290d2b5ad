//! Coverage as a table: one row per file, followed by one per function that a harness reaches, and
//! one for all other functions of the file.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Count, Coverage, File, Function, State};
use crate::lists::few;

/// The number of ranges of a function's open lines that are shown.
const SHOWN: usize = 8;

/// The number of functions that no harness reaches that are named.
const NAMED: usize = 4;
/// The label of the row for functions that no harness reaches.
const BEYOND: &str = "  no harness reaches";

/// The table, with the open lines of each function.
pub fn table(coverage: &Coverage) -> String {
    let names = coverage.files.iter().flat_map(|(path, file)| {
        let linked = file.functions.iter().filter(|(_, known)| known.is_linked);
        let beyond = file.functions.values().any(|known| !known.is_linked);
        let functions = linked.map(|(name, _)| name.chars().count() + 2);
        functions.chain([path.chars().count(), BEYOND.len() * usize::from(beyond)])
    });
    let width = names.max().unwrap_or(0).max("lines of".len());
    let mut out = format!(
        "{:width$}  lines  covered         unreachable   open\n",
        "lines of"
    );
    let mut row = |name: &str, count: Count, open: &str| {
        let row = format!(
            "{name:width$}  {:5}  {:7} {:>6}  {:11}  {:5}  {open}",
            count.lines,
            count.covered,
            // If no line can be executed, there is no percentage.
            count
                .percent()
                .map_or("-".to_owned(), |percent| format!("{percent:.1}%")),
            count.unreachable,
            count.open
        );
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{}", row.trim_end());
    };
    for (path, file) in &coverage.files {
        row(path, Count::of(file.lines.values()), "");
        let mut functions: Vec<_> = file.functions.iter().collect();
        functions.sort_by_key(|(_, function)| function.line);
        let (linked, beyond): (Vec<_>, Vec<_>) = functions
            .into_iter()
            .partition(|(_, known)| known.is_linked);
        for (name, function) in linked {
            let lines: Vec<(u32, State)> = file.within(function).collect();
            let open = lines.iter().filter(|(_, state)| *state == State::Open);
            let open: Vec<u32> = open.map(|(line, _)| *line).collect();
            let count = Count::of(lines.iter().map(|(_, state)| state));
            row(&format!("  {name}"), count, &ranges(&open, SHOWN));
        }
        if !beyond.is_empty() {
            let names: Vec<String> = beyond.iter().map(|(name, _)| (*name).clone()).collect();
            row(BEYOND, count_beyond(file, &beyond), &few(&names, NAMED));
        }
    }
    row("all", coverage.count(), "");
    out
}

/// The count of the lines that belong to these functions alone, and not to a linked one.
fn count_beyond(file: &File, functions: &[(&String, &Function)]) -> Count {
    let lines = functions.iter().flat_map(|(_, known)| file.within(known));
    let open: BTreeMap<u32, State> = lines.filter(|(_, state)| *state == State::Open).collect();
    Count::of(open.values())
}

/// Formats numbers as `3, 7-9`, with at most `most` ranges.
pub fn ranges(numbers: &[u32], most: usize) -> String {
    let mut found: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match found.last_mut() {
            Some((_, end)) if *end + 1 == number => *end = number,
            _ => found.push((number, number)),
        }
    }
    let mut words: Vec<String> = found
        .iter()
        .take(most)
        .map(|(from, to)| match from == to {
            true => from.to_string(),
            false => format!("{from}-{to}"),
        })
        .collect();
    if found.len() > most {
        words.push("...".to_owned());
    }
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::Function;
    use super::*;

    #[test]
    fn a_row_for_each_function() {
        let mut coverage = Coverage::default();
        let file = coverage.files.entry("c/ring.c".to_owned()).or_default();
        for line in 2..12 {
            file.lines.insert(line, State::Covered);
        }
        file.lines.insert(12, State::Open);
        file.lines.insert(13, State::Open);
        file.lines.insert(14, State::Unreachable);
        for (name, line, end) in [("put", 1, 8), ("take", 9, 14)] {
            let state = State::Covered;
            let function = Function {
                line,
                state,
                end,
                is_linked: true,
            };
            file.functions.insert(name.to_owned(), function);
        }
        for line in [17, 18, 21] {
            file.lines.insert(line, State::Open);
        }
        for (name, line, end) in [("peek", 16, 18), ("drop", 20, 21)] {
            let function = Function {
                line,
                state: State::Open,
                end,
                is_linked: false,
            };
            file.functions.insert(name.to_owned(), function);
        }
        insta::assert_snapshot!(table(&coverage), @r"
        lines of              lines  covered         unreachable   open
        c/ring.c                 16       10  66.7%            1      5
          put                     7        7 100.0%            0      0
          take                    6        3  60.0%            1      2  12-13
          no harness reaches      3        0   0.0%            0      3  peek, drop
        all                      16       10  66.7%            1      5
        ");
    }

    #[test]
    fn numbers_in_ranges() {
        assert_eq!(ranges(&[1, 2, 3, 7, 9, 10], 9), "1-3, 7, 9-10");
        assert_eq!(ranges(&[1, 3, 5], 2), "1, 3, ...");
    }
}
