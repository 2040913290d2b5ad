//! Texts and pictures for users: progress, the place of a finding, abbreviated numbers.
//!
//! They are separate from the reporter, since they do not depend on the output.

use super::*;

/// The progress of work without a known end: the harness, the phase, and the text.
pub(super) fn progress_text(event: &Event) -> Option<(&str, &'static str, String)> {
    match event {
        Event::FuzzProgress {
            harness,
            executions,
            per_second,
            edges_covered,
            edges,
            checks_proved,
            checks,
            engine_seeds,
            ..
        } => Some((
            harness,
            "Fuzzing",
            format!(
                "{harness}  {} execs  {}/s  edges {edges_covered}/{edges}  checks \
                 {checks_proved}/{checks} proved  seeds from engine {engine_seeds}",
                count(*executions),
                count(*per_second as u64)
            ),
        )),
        Event::EngineProgress {
            harness,
            goal,
            solver_calls,
            refinements,
            open,
        } => Some((
            harness,
            "Proving",
            format!(
                "{harness}  {goal}  solver calls {}  refinements {}  open {open}",
                count(*solver_calls),
                count(*refinements)
            ),
        )),
        _ => None,
    }
}

/// The progress of work that counts up to a known number: the harness or package, the phase, the
/// number of finished items and of all items.
pub(super) fn counted_phase(event: &Event) -> Option<(&str, &'static str, u64, u64)> {
    match event {
        Event::CompileProgress { what, done, total } => Some((what, "Compiling", *done, *total)),
        Event::Building {
            harness,
            done,
            total,
        } => Some((harness, "Building", *done, *total)),
        Event::Replaying {
            harness,
            done,
            total,
        } => Some((harness, "Replaying", *done, *total)),
        _ => None,
    }
}

/// The lines of C around the fault with the fault underlined, or `None` if the source cannot be
/// read.
pub(super) fn source_picture(finding: &Finding, root: &Path, color: bool) -> Option<String> {
    let source = std::fs::read(root.join(&finding.place.file)).ok()?;
    // C source may not be UTF-8.
    let source = String::from_utf8_lossy(&source).into_owned();
    let line_start: usize = source
        .split_inclusive('\n')
        .take(finding.place.line.checked_sub(1)? as usize)
        .map(str::len)
        .sum();
    let line = source[line_start..].lines().next()?;
    let from = (finding.place.column.max(1) as usize - 1).min(line.len());
    let (from, length) = token_at(line, from);
    let theme = if color {
        miette::GraphicalTheme::unicode()
    } else {
        miette::GraphicalTheme::unicode_nocolor()
    };
    let diagnostic = miette::MietteDiagnostic::new(finding.message.clone())
        .with_code(format!(
            "cegar::{}",
            crate::verdict::rule_id(finding.kind).replace('-', "_")
        ))
        .with_label(miette::LabeledSpan::at(
            line_start + from..line_start + from + length,
            "here",
        ))
        .with_help(format!(
            "found by {}; test `{}`",
            finding.found_by, finding.name
        ));
    let report = miette::Report::new(diagnostic).with_source_code(
        miette::NamedSource::new(&finding.place.file, source.clone()).with_language("C"),
    );
    let mut picture = String::new();
    miette::GraphicalReportHandler::new_themed(theme)
        .with_links(false)
        .render_report(&mut picture, report.as_ref())
        .ok()?;
    Some(picture)
}

/// The token of `line` that contains byte `at`: a word, or one character. Returns its start and
/// length.
fn token_at(line: &str, at: usize) -> (usize, usize) {
    let at = (0..=at)
        .rev()
        .find(|&at| line.is_char_boundary(at))
        .unwrap_or(0);
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let length = line[at..]
        .chars()
        .take_while(|&c| word(c))
        .map(char::len_utf8)
        .sum::<usize>();
    let one = line[at..].chars().next().map_or(0, char::len_utf8);
    (at, length.max(one))
}

pub(super) fn seconds(seconds: f64) -> String {
    if seconds < 10.0 {
        format!("{seconds:.1}s")
    } else {
        format!("{seconds:.0}s")
    }
}

/// A number with its noun.
pub(super) fn counted(n: u64, noun: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{n} {noun}{plural}")
}

/// A number in abbreviated form: 950, 1.2k, 3.4M.
pub(super) fn count(n: u64) -> String {
    let n = n as f64;
    match n {
        n if n < 1e3 => format!("{n:.0}"),
        n if n < 1e6 => format!("{:.1}k", n / 1e3),
        n if n < 1e9 => format!("{:.1}M", n / 1e6),
        n => format!("{:.1}G", n / 1e9),
    }
}

/// Formats an answer as `unreach-call: true, as expected (2 points)`.
pub(super) fn answered(answered: &crate::svcomp::Answered) -> String {
    let mut text = format!("{}: {}", answered.property, answered.answer);
    match (answered.points, answered.expected) {
        (Some(points @ 1..), _) => text += &format!(", as expected ({points} points)"),
        (Some(points), Some(expected)) => {
            text += &format!(", and {expected} is expected ({points} points)");
        }
        _ => {}
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!([count(950), count(1_200_000)], ["950", "1.2M"]);
    }
}
