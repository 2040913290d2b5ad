//! What trying the harnesses showed, for people.

use super::Initialised;

/// A harness that was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The function.
    pub function: String,
    /// The lines of it that were reached, of how many.
    pub lines: Option<(u64, u64)>,
    /// How many preconditions were learnt.
    pub preconditions: usize,
    /// How many faults it shows that are not its own.
    pub findings: u64,
    /// Why it is not offered.
    pub left_out: Option<String>,
    /// Whether the time for all trials was up before this one ended, or before it began.
    pub cut_short: bool,
}

/// What trying the harnesses showed, as a table.
pub fn table(done: &Initialised) -> Vec<String> {
    let width = done.tried.iter().map(|row| row.function.len()).max();
    let Some(width) = width else {
        return Vec::new();
    };
    let mut lines = vec![format!(
        "{:width$}  {:>11}  {:>13}  {:>6}  harness",
        "function", "lines", "preconditions", "faults"
    )];
    for row in &done.tried {
        let reached = match row.lines {
            Some((reached, all)) => format!("{reached}/{all}"),
            None if row.cut_short => "not tried".to_owned(),
            None => "not known".to_owned(),
        };
        let kept = match &row.left_out {
            Some(why) => format!("none: {why}"),
            None if row.cut_short => "yes, not tried to the end".to_owned(),
            None => "yes".to_owned(),
        };
        lines.push(format!(
            "{:width$}  {reached:>11}  {:>13}  {:>6}  {kept}",
            row.function, row.preconditions, row.findings
        ));
    }
    lines
}

/// The harnesses for which there was no time left, in words.
pub(super) fn cut_short(tried: &[Row]) -> Option<String> {
    let names: Vec<&str> = tried
        .iter()
        .filter(|row| row.cut_short && row.left_out.is_none())
        .map(|row| row.function.as_str())
        .collect();
    (!names.is_empty()).then(|| {
        format!(
            "the time for all trials was up (--try-all); what callers have to keep is not learnt, \
             or not all of it, for: {}",
            names.join(", ")
        )
    })
}
