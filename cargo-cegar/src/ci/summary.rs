//! The page that code hosts show for a build: Markdown with a table of the harnesses followed by
//! the findings.

use std::fmt::Write as _;

use super::{Class, Line, Report, Sorted};
use crate::findings::Blamed;
use crate::verdict::Place;
use crate::verdict::{CheckTable, Verdict};

/// The report as Markdown.
pub fn markdown(report: &Report) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = put(&mut out, report);
    out
}

fn put(out: &mut String, report: &Report) -> std::fmt::Result {
    writeln!(out, "## cargo cegar: {}\n", headline(report))?;
    writeln!(
        out,
        "| harness | verdict | fails | known | checks proved | unreachable | open | edges covered \
         | unreachable | open | executions | time |"
    )?;
    writeln!(
        out,
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    )?;
    for line in &report.harnesses {
        row(out, line)?;
    }
    if report.not_replayed > 0 {
        writeln!(
            out,
            "\n{} committed tests or inputs of earlier findings were not run to their end.",
            report.not_replayed
        )?;
    }
    if report.not_shown > 0 {
        writeln!(
            out,
            "\n{} violations are seen by the engine, and no native run showed them.",
            report.not_shown
        )?;
    }
    if report.late > 0 {
        writeln!(
            out,
            "\n{} failing inputs were not looked into before the time was up.",
            report.late
        )?;
    }
    if report.interrupted {
        writeln!(out, "\nThe command was interrupted: not all was looked at.")?;
    }
    let hangs = (report.hangs.iter())
        .map(|hang| format!("{}: {}", code(&hang.harness), text(&hang.words())));
    section(out, "Runs that do not end", hangs)?;
    let broken = report.preconditions.iter().map(|finding| {
        let (place, harness) = (code(&finding.place.show()), code(&finding.harness));
        let why = finding.blame.as_ref().map_or(String::new(), Blamed::words);
        format!(
            "{place}: {}; {harness}: {}",
            text(&finding.message),
            text(&why)
        )
    });
    section(
        out,
        "Broken by the harness, and in no list of preconditions",
        broken,
    )?;
    let vacuous = report.harnesses.iter().filter_map(|l| l.vacuous.as_ref());
    let vacuous = vacuous.map(|one| format!("{}: {}", code(&one.harness), text(&one.words())));
    section(out, "Vacuous", vacuous)?;
    let bindings = report.bindings.iter().map(|binding| {
        let known = if binding.known { ", known" } else { "" };
        let place = code(&binding.mismatch.rust.show());
        format!("{place}: {}{known}", text(&binding.in_full()))
    });
    section(out, "Declarations that do not fit the library", bindings)?;
    for class in Class::ALL {
        findings(out, report, class)?;
    }
    let rests = report.goals.checks.rest_on_assumptions(report.verdict);
    if rests && !report.assumptions.is_empty() {
        writeln!(out, "\n\"Proved\" assumes that")?;
        writeln!(out)?;
        for assumption in &report.assumptions {
            writeln!(out, "- {}", text(&assumption.sentence()))?;
        }
    }
    Ok(())
}

/// Writes a list under its title, or nothing if it is empty.
fn section(out: &mut String, title: &str, items: impl Iterator<Item = String>) -> std::fmt::Result {
    let mut items = items.peekable();
    if items.peek().is_some() {
        writeln!(out, "\n### {title}\n")?;
    }
    items.try_for_each(|item| writeln!(out, "- {item}"))
}

/// Writes the table row of a harness.
fn row(out: &mut String, line: &Line) -> std::fmt::Result {
    let verdict = match (&line.failed, line.verdict) {
        (Some(why), _) => format!("no result: {}", text(why)),
        (None, Some(verdict)) => word(verdict).to_owned(),
        (None, None) => "no result".to_owned(),
    };
    let verdict = match &line.unexecuted {
        Some(why) => format!("{verdict}, never executed: {}", text(why)),
        None => verdict,
    };
    let (checks, edges) = (&line.goals.checks, &line.goals.edges);
    writeln!(
        out,
        "| {} | {verdict} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {:.0}s |",
        text(&line.harness),
        line.counts.bad(),
        line.counts.known,
        proved(checks),
        checks.unreachable,
        checks.open,
        edges.covered,
        edges.unreachable,
        edges.open,
        line.stats.executions,
        line.seconds,
    )
}

/// Writes the findings of one class under their title.
fn findings(out: &mut String, report: &Report, class: Class) -> std::fmt::Result {
    let title = match class {
        Class::Regression => "Regressions: an earlier campaign saw them pass",
        Class::New => "New",
        Class::Failing => "Failing as before, and in no baseline",
        Class::Known => "Known: the baseline lists them",
    };
    let of = |sorted: &&Sorted| sorted.class == class;
    let line = |sorted: &Sorted| {
        let finding = &sorted.finding;
        format!(
            "{}{} in {}: {}; test {}, harness {}, found by {}",
            if sorted.again { "again: " } else { "" },
            code(&finding.place.show()),
            code(&function(&finding.place)),
            text(&finding.message),
            code(&finding.name),
            code(&finding.harness),
            text(&finding.found_by),
        )
    };
    section(out, title, report.findings.iter().filter(of).map(line))
}

/// The number of proved checks that executions reached, then those that rest on other checks, then
/// those that no execution reached.
fn proved(checks: &CheckTable) -> String {
    let mut words = checks.proved.to_string();
    if checks.proved_if > 0 {
        words += &format!(" + {} if others hold", checks.proved_if);
    }
    if checks.proved_not_reached > 0 {
        words += &format!(" + {} not reached", checks.proved_not_reached);
    }
    words
}

fn headline(report: &Report) -> String {
    let plural = |n: usize| if n == 1 { "" } else { "s" };
    let counts = &report.counts;
    match (counts.bad(), counts.known) {
        (0, 0) if report.verdict == Verdict::Proved && report.goals.checks.is_vacuous() => {
            "proved, mostly vacuous".to_owned()
        }
        (0, 0) if report.interrupted => "interrupted".to_owned(),
        (0, 0) => word(report.verdict).to_owned(),
        (0, known) => format!("nothing new, {known} known violation{}", plural(known)),
        (bad, 0) if bad == counts.new => format!("{bad} new violation{}", plural(bad)),
        _ => counts.words(),
    }
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Violated => "violated",
        Verdict::Proved => "proved",
        Verdict::Open => "open",
    }
}

fn function(place: &Place) -> String {
    match place.function.as_str() {
        "" => "?".to_owned(),
        name => name.to_owned(),
    }
}

/// Escapes text so that it is shown literally: without markup, within its table cell, on one line.
fn text(raw: &str) -> String {
    let mut out = String::new();
    for c in raw.chars() {
        match c {
            '\n' | '\r' => out.push(' '),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' | '#' | '~' | '!' | '@' => {
                out.push('\\');
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    out
}

/// As [`text`], in a monospaced font. Code spans have no escapes in Markdown, so it is written as
/// HTML.
fn code(raw: &str) -> String {
    format!("<code>{}</code>", text(raw))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ci::{Counts, Line};
    use crate::event::samples;
    use crate::verdict::Vacuous;
    use crate::verdict::{GoalTable, Stats};

    #[test]
    fn a_table_and_what_is_new() {
        let mut finding = samples::finding("c/a|b.c");
        finding.message = "index past `<b>`".to_owned();
        let mut goals = GoalTable::default();
        (goals.checks.violated, goals.checks.proved) = (1, 4);
        goals.checks.unreachable = 35;
        let report = Report {
            verdict: Verdict::Violated,
            goals: goals.clone(),
            stats: Stats::default(),
            counts: Counts {
                new: 1,
                ..Counts::default()
            },
            not_replayed: 0,
            not_shown: 0,
            late: 0,
            hangs: Vec::new(),
            preconditions: Vec::new(),
            interrupted: false,
            harnesses: vec![
                Line {
                    harness: "parse_header".to_owned(),
                    verdict: Some(Verdict::Violated),
                    goals,
                    stats: Stats::default(),
                    counts: Counts {
                        new: 1,
                        ..Counts::default()
                    },
                    seconds: 3.2,
                    failed: None,
                    unexecuted: None,
                    vacuous: Some(Vacuous {
                        calls_nothing: false,
                        harness: "parse_header".to_owned(),
                        checks: 40,
                        unreachable: 35,
                        blocked: None,
                    }),
                },
                Line {
                    harness: "other".to_owned(),
                    verdict: None,
                    goals: GoalTable::default(),
                    stats: Stats::default(),
                    counts: Counts::default(),
                    seconds: 3.2,
                    failed: Some("killed".to_owned()),
                    unexecuted: None,
                    vacuous: None,
                },
            ],
            bindings: vec![],
            findings: vec![Sorted {
                finding,
                class: Class::New,
                again: false,
            }],
            assumptions: vec![cegar_checker::Assumption::stated(
                "there is one thread".to_owned(),
            )],
            exit_code: 100,
        };
        insta::assert_snapshot!(markdown(&report), @r#"
        ## cargo cegar: 1 new violation

        | harness | verdict | fails | known | checks proved | unreachable | open | edges covered | unreachable | open | executions | time |
        |---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
        | parse\_header | violated | 1 | 0 | 4 | 35 | 0 | 0 | 0 | 0 | 0 | 3s |
        | other | no result: killed | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 3s |

        ### Vacuous

        - <code>parse\_header</code>: 35 of 40 checks cannot be reached from this harness: nothing that it executes calls the code they are in

        ### New

        - <code>c/a\|b.c:3:5</code> in <code>parse</code>: index past \`&lt;b&gt;\`; test <code>write\_past\_end\_header\_c\_3</code>, harness <code>parse\_header</code>, found by partial simulation

        "Proved" assumes that

        - there is one thread
        "#);
    }
}
