//! Inserts invariants into the source as assertions.

use std::collections::BTreeMap;

use super::schema::{Invariant, InvariantKind};

/// The body of the function that is called with a fact.
pub const FAILS: &str = "if (!fact) reach_error();";

/// The source with an assertion for each invariant: at its location, or, for a loop invariant,
/// before the loop's condition is evaluated.
pub fn with_assertions(text: &str, invariants: &[Invariant]) -> String {
    let mut at: BTreeMap<usize, Vec<(InvariantKind, String)>> = BTreeMap::new();
    let mut functions = "extern void reach_error(void);\n".to_owned();
    for (number, one) in invariants.iter().enumerate() {
        functions.push_str(&format!(
            "static void holds{number}(int fact) {{ {FAILS} }}\n"
        ));
        let call = format!("holds{number}({})", one.value);
        let before = text.lines().take(one.location.line as usize - 1);
        let line: usize = before.map(|line| line.len() + 1).sum();
        let column = one.location.column.unwrap_or(1) as usize - 1;
        at.entry(line + column).or_default().push((one.kind, call));
    }
    let mut text = text.to_owned();
    // Inserts from the end, so that earlier offsets stay valid.
    for (place, all) in at.into_iter().rev() {
        let kind = all[0].0;
        let facts: Vec<String> = all.into_iter().map(|(_, call)| call).collect();
        match kind {
            InvariantKind::LocationInvariant => {
                text.insert_str(place, &format!("{}; ", facts.join("; ")));
            }
            InvariantKind::LoopInvariant => {
                text.insert_str(condition(&text, place), &format!("{}, ", facts.join(", ")));
            }
        }
    }
    functions + &text
}

/// The offset at which the condition of the `while` or `for` at this place begins.
fn condition(text: &str, place: usize) -> usize {
    let is_for = text[place..].starts_with("for");
    let open = place + text[place..].find('(').expect("a parenthesis");
    match is_for {
        true => open + text[open..].find(';').expect("a semicolon") + 1,
        false => open + 1,
    }
}
