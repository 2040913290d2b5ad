//! The frame of the page: the summary that a reader sees first, and the sections in order of
//! importance.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::Chapter;
use super::NAMED;
use super::budget::PageBudgets;
use super::escape::escape;
use super::tally::{CheckState, Edge, Tally};
use super::{files, findings, harnesses};
use crate::bindings::Binding;
use crate::lists::few;
use crate::verdict::End;

/// The number of mismatches that are listed.
const MISMATCHES: usize = 200;

const STYLE: &str = include_str!("style.css");

/// Returns the whole page.
pub(super) fn page(
    title: &str,
    chapters: &[Chapter],
    missing: &[(String, String)],
    mismatches: &[Binding],
) -> String {
    let title = escape(title);
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta \
         http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
         'unsafe-inline'\"><meta name=\"viewport\" \
         content=\"width=device-width,initial-scale=1\"><title>cargo cegar: \
         {title}</title><style>{STYLE}</style></head><body>\n\
         <header><h1>cargo cegar: {title}</h1>\n"
    );
    // Writing to a string cannot fail.
    let _ = put(&mut out, chapters, missing, mismatches);
    out.push_str("</main></body></html>\n");
    out
}

fn put(
    out: &mut String,
    chapters: &[Chapter],
    missing: &[(String, String)],
    mismatches: &[Binding],
) -> std::fmt::Result {
    let tally = Tally::of(chapters);
    let mut budgets = PageBudgets::new();
    // Which lines are shown must be known before anything links to them.
    let shown = files::Shown::of(chapters, &tally, &mut budgets);
    verdict(out, chapters, &tally)?;
    writeln!(
        out,
        "<nav><a href=\"#findings\">Findings</a> <a href=\"#files\">Files and functions</a> <a \
         href=\"#harnesses\">Harnesses</a> <a \
         href=\"#assumptions\">Assumptions</a></nav></header>\n<main>"
    )?;
    bindings(out, mismatches)?;
    findings::put(out, chapters, &shown, &mut budgets)?;
    warnings(out, chapters, missing)?;
    files::put(out, chapters, &tally, &shown, &mut budgets)?;
    harnesses::put(out, chapters, &mut budgets)?;
    left_out(out, chapters, &budgets)
}

/// The section of declarations that do not match the library.
fn bindings(out: &mut String, mismatches: &[Binding]) -> std::fmt::Result {
    if mismatches.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "<section id=\"bindings\"><h2>Declarations that do not fit the library</h2><ul>"
    )?;
    for binding in mismatches.iter().take(MISMATCHES) {
        let known = if binding.known { " (known)" } else { "" };
        let place = escape(&binding.mismatch.rust.show());
        let text = escape(&binding.in_full());
        writeln!(out, "<li><code>{place}</code> {text}{known}")?;
    }
    let more = mismatches.len().saturating_sub(MISMATCHES);
    if more > 0 {
        writeln!(out, "<li>and {more} more")?;
    }
    writeln!(out, "</ul></section>")
}

/// The first sentences: what was found, and the state of the goals.
fn verdict(out: &mut String, chapters: &[Chapter], tally: &Tally<'_>) -> std::fmt::Result {
    if chapters.is_empty() {
        return writeln!(
            out,
            "<p class=\"verdict bad\">No harness has a result: nothing was tested.</p>"
        );
    }
    let found = findings::count(chapters);
    let counts = tally.counts();
    let class = match (found, counts.of(CheckState::Open)) {
        (0, 0) => "good",
        (0, _) => "warn",
        _ => "bad",
    };
    write!(out, "<p class=\"verdict {class}\"><b>")?;
    match found {
        0 => write!(out, "No violation was found.")?,
        1 => write!(out, "1 violation was found.")?,
        _ => write!(out, "{found} violations were found.")?,
    }
    write!(out, "</b> {} checks: ", counts.total())?;
    let mut sep = "";
    for state in CheckState::ALL {
        let count = counts.of(state);
        if count > 0 {
            write!(out, "{sep}{count} {}", state.text())?;
            sep = ", ";
        }
    }
    let (covered, dead, open) = (
        counts.edges(Edge::Covered),
        counts.edges(Edge::Unreachable),
        counts.edges(Edge::Open),
    );
    write!(
        out,
        "{}{} edges: {covered} covered, {dead} unreachable, {open} open.",
        if sep.is_empty() { "none. " } else { ". " },
        covered + dead + open
    )?;
    let lines = tally.coverage.count();
    match lines.percent() {
        Some(percent) => write!(
            out,
            " {percent:.1}% of the lines that can be executed were."
        )?,
        None => write!(out, " No line was executed, and none is known that can be.")?,
    }
    writeln!(out, "</p>")
}

/// The section of facts that limit what the counts mean.
fn warnings(
    out: &mut String,
    chapters: &[Chapter],
    missing: &[(String, String)],
) -> std::fmt::Result {
    let mut said = Vec::new();
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (harness, why) in missing {
        reasons.entry(why).or_default().push(harness);
    }
    for (why, harnesses) in reasons {
        let (who, why) = (escape(&few(&harnesses, NAMED)), escape(why));
        said.push(format!("<b>No result</b> of {who}: {why}"));
    }
    for chapter in chapters {
        let name = escape(&chapter.harness);
        if let Some(vacuous) = &chapter.left.kept.vacuous {
            said.push(format!(
                "<b>Vacuous</b> {name}: {}",
                escape(&vacuous.words())
            ));
        }
        if !chapter.left.is_executed() {
            said.push(format!(
                "<b>Not executed</b> {name}: no execution of it was seen"
            ));
        }
    }
    let ended = chapters
        .iter()
        .filter(|c| c.left.kept.end == End::Interrupted);
    let interrupted: Vec<&str> = ended.map(|c| c.harness.as_str()).collect();
    if !interrupted.is_empty() {
        let who = escape(&few(&interrupted, NAMED));
        said.push(format!(
            "<b>Interrupted</b> {who}: what was found by then is here"
        ));
    }
    if said.is_empty() {
        return Ok(());
    }
    /// The number of warnings that are expanded.
    const SEEN: usize = 8;
    write!(out, "<section class=\"warn\" aria-label=\"Warnings\"><ul>")?;
    for text in said.iter().take(SEEN) {
        write!(out, "<li>{text}")?;
    }
    write!(out, "</ul>")?;
    if said.len() > SEEN {
        write!(
            out,
            "<details><summary>{} more</summary><ul>",
            said.len() - SEEN
        )?;
        for text in said.iter().skip(SEEN) {
            write!(out, "<li>{text}")?;
        }
        write!(out, "</ul></details>")?;
    }
    writeln!(out, "</section>")
}

fn left_out(out: &mut String, chapters: &[Chapter], budgets: &PageBudgets) -> std::fmt::Result {
    let all: Vec<_> = budgets.all_left_out().collect();
    if all.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "<section id=\"left-out\"><h2>What this page leaves out</h2><ul>"
    )?;
    for (what, count) in all {
        writeln!(out, "<li>{count} {}", escape(what))?;
    }
    let example = chapters.first().map_or("HARNESS", |c| c.harness.as_str());
    writeln!(
        out,
        "</ul><p>All of it is in <code>target/cegar/HARNESS/goals.json</code> (here for instance \
         <code>target/cegar/{}/goals.json</code>), and <code>cargo cegar explain FILE:LINE</code> \
         tells of each.</p></section>",
        escape(example)
    )
}
