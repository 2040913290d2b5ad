//! The results of the trials as a table for users.

use super::Initialised;

/// The result of one harness's trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The function, or the name of the life, that the harness is for.
    pub function: String,
    /// The number of lines of the driven function that were reached, and the number of its lines.
    pub lines: Option<(u64, u64)>,
    /// The number of preconditions that were learnt.
    pub preconditions: usize,
    /// The number of faults that the harness is not to blame for.
    pub findings: u64,
    /// Why the harness is not offered, if so.
    pub left_out: Option<String>,
    /// Whether the time budget of all trials ended before this trial did, or before it began.
    pub cut_short: bool,
}

/// Formats the results of the trials as lines of a table.
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

/// The note that lists the harnesses whose trials were cut short.
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
