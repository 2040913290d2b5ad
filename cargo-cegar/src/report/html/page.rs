//! The page's text.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::Chapter;
use super::escape::{anchor, escape};
use super::growth::picture;
use crate::coverage::{Coverage, File, State, ranges};
use crate::explain::{self, Explained, Story};
use crate::report::{Finding, Goal, GoalKind, GoalStatus, Place, rule_id};

const STYLE: &str = include_str!("style.css");
/// Lines around a line with code that are shown.
const AROUND: u32 = 3;
/// Ranges of open lines that are listed per function.
const RANGES: usize = 12;

/// The whole page.
pub(super) fn page(title: &str, chapters: &[Chapter], missing: &[(String, String)]) -> String {
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <title>cargo cegar: {0}</title><style>{STYLE}</style></head><body>\n<h1>cargo cegar: {0}</h1>\n",
        escape(title)
    );
    // Writing to a string cannot fail.
    let _ = put(&mut out, chapters, missing);
    out.push_str("</body></html>\n");
    out
}

fn put(out: &mut String, chapters: &[Chapter], missing: &[(String, String)]) -> std::fmt::Result {
    overview(out, chapters)?;
    for (harness, why) in missing {
        let (harness, why) = (escape(harness), escape(why));
        writeln!(out, "<p><b>{harness}</b> has no result: {why}</p>")?;
    }
    for (number, chapter) in chapters.iter().enumerate() {
        let name = escape(&chapter.harness);
        writeln!(out, "<h2 id=\"h{number}\">Harness {name}</h2>")?;
        let graph = picture(&chapter.growth);
        if !graph.is_empty() {
            writeln!(
                out,
                "<p class=\"dim\"><span class=\"tag covered\">edges covered</span> \
                 <span class=\"tag open\">checks open</span> over time</p>\n{graph}"
            )?;
        }
        findings(out, number, chapter)?;
        checks(out, number, chapter)?;
        assumptions(out, chapter)?;
        sources(out, number, chapter)?;
    }
    Ok(())
}

fn overview(out: &mut String, chapters: &[Chapter]) -> std::fmt::Result {
    writeln!(
        out,
        "<div class=\"scroll\"><table><tr><th>harness<th class=\"n\">violated<th class=\"n\">proved<th class=\"n\">open\
         <th class=\"n\">edges covered<th class=\"n\">unreachable<th class=\"n\">open<th class=\"n\">lines covered\
         <th class=\"n\">executions<th class=\"n\">seconds</tr>"
    )?;
    for (number, chapter) in chapters.iter().enumerate() {
        let count = |kind: GoalKind, wanted: fn(&GoalStatus) -> bool| {
            let goals = chapter.left.kept.goals.iter();
            goals
                .filter(|g| g.kind == kind && wanted(&g.status))
                .count()
        };
        let is_open = |s: &GoalStatus| matches!(s, GoalStatus::Open { .. });
        let violated = count(GoalKind::Check, |s| *s == GoalStatus::Violated);
        let violated = violated.max(chapter.left.kept.findings.len());
        let stats = &chapter.left.kept.stats;
        writeln!(
            out,
            "<tr><td><a href=\"#h{number}\">{}</a><td class=\"n\">{violated}<td class=\"n\">{}<td class=\"n\">{}\
             <td class=\"n\">{}<td class=\"n\">{}<td class=\"n\">{}<td class=\"n\">{:.1}%<td class=\"n\">{}<td class=\"n\">{:.0}</tr>",
            escape(&chapter.harness),
            count(GoalKind::Check, |s| matches!(s, GoalStatus::Proved { .. })),
            count(GoalKind::Check, is_open),
            count(GoalKind::Edge, |s| *s == GoalStatus::Covered),
            count(GoalKind::Edge, |s| *s == GoalStatus::Unreachable),
            count(GoalKind::Edge, is_open),
            chapter.coverage.count().percent().unwrap_or(0.0),
            stats.executions,
            stats.seconds,
        )?;
    }
    writeln!(out, "</table></div>")
}

fn findings(out: &mut String, number: usize, chapter: &Chapter) -> std::fmt::Result {
    for (at, (_, finding)) in chapter.left.kept.findings.iter().enumerate() {
        writeln!(
            out,
            "<h3 id=\"f{number}-{at}\"><span class=\"tag violated\">violated</span> {} {}</h3>\n\
             <p class=\"dim\">test <code>{}</code>, found by {}</p>",
            link(number, &chapter.coverage, &finding.place),
            escape(&finding.message),
            escape(&finding.name),
            escape(&finding.found_by),
        )?;
        if let Some(test) = chapter.tests.get(&finding.name) {
            writeln!(out, "<pre>{}</pre>", escape(test))?;
        }
        let told = chapter.left.explain_finding(finding);
        writeln!(
            out,
            "<details><summary>the way there</summary><pre>{}</pre></details>",
            escape(&explain::show(&told))
        )?;
    }
    Ok(())
}

/// A link to a place in the sources below, where its line is shown.
fn link(number: usize, coverage: &Coverage, place: &Place) -> String {
    let shown = escape(&place.show());
    match coverage.files.contains_key(&place.file) && place.line > 0 {
        true => format!(
            "<a href=\"#{}\"><code>{shown}</code></a>",
            line_id(number, &place.file, place.line)
        ),
        false => format!("<code>{shown}</code>"),
    }
}

fn line_id(number: usize, file: &str, line: u32) -> String {
    format!("h{number}-{}-L{line}", anchor(file))
}

fn word(status: &GoalStatus) -> &'static str {
    match status {
        GoalStatus::Proved { .. } => "proved",
        GoalStatus::Violated => "violated",
        GoalStatus::Covered => "covered",
        GoalStatus::Unreachable => "unreachable",
        GoalStatus::Open { .. } => "open",
    }
}

fn checks(out: &mut String, number: usize, chapter: &Chapter) -> std::fmt::Result {
    let goals = chapter.left.kept.goals.iter();
    let mut checks: Vec<&Goal> = goals.filter(|goal| goal.kind == GoalKind::Check).collect();
    if checks.is_empty() {
        return Ok(());
    }
    let rank = |goal: &Goal| match goal.status {
        GoalStatus::Violated => 0,
        GoalStatus::Open { .. } => 1,
        _ => 2,
    };
    checks.sort_by_key(|goal| {
        let place = &goal.place;
        (
            rank(goal),
            place.file.clone(),
            place.line,
            place.column,
            goal.id,
        )
    });
    writeln!(
        out,
        "<h3>Checks</h3><div class=\"scroll\"><table><tr><th>place<th>check<th>verdict<th>why</tr>"
    )?;
    for goal in checks {
        let what = match (goal.check, goal.expression.as_str()) {
            (Some(kind), "") => rule_id(kind).to_owned(),
            (Some(kind), expression) => {
                format!("{} <code>{}</code>", rule_id(kind), escape(expression))
            }
            (None, expression) => escape(expression),
        };
        let verdict = word(&goal.status);
        writeln!(
            out,
            "<tr id=\"c{number}-{}\"><td>{}<td>{what}<td><span class=\"tag {verdict}\">{verdict}</span><td>{}</tr>",
            goal.id,
            link(number, &chapter.coverage, &goal.place),
            why(number, chapter, goal),
        )?;
    }
    writeln!(out, "</table></div>")
}

/// Why a check stands as it does, and where more is said.
fn why(number: usize, chapter: &Chapter, goal: &Goal) -> String {
    match &goal.status {
        GoalStatus::Violated => {
            let findings = &chapter.left.kept.findings;
            let at = findings
                .iter()
                .position(|(check, _)| *check == Some(goal.id));
            match at {
                Some(at) => format!("<a href=\"#f{number}-{at}\">the input and the way there</a>"),
                None => "an input violates it".to_owned(),
            }
        }
        GoalStatus::Open { why } => match chapter.left.explain_open(goal) {
            Some(told) => details(why, &told),
            None => escape(why),
        },
        _ => match chapter.proofs.get(&goal.id) {
            Some(told) => details(&rests_on(told), told),
            None => format!(
                "<code>cargo cegar explain {}</code>",
                escape(&goal.place.show())
            ),
        },
    }
}

/// What a proof rests on, in a few words.
fn rests_on(told: &Explained) -> String {
    match &told.story {
        Story::Proved(proved) if !proved.loops.is_empty() => {
            let facts: usize = proved.loops.iter().map(|l| l.facts.len()).sum();
            format!("{facts} facts around {} loops", proved.loops.len())
        }
        Story::Proved(_) => "it follows from the code before it".to_owned(),
        _ => "the certificate says why".to_owned(),
    }
}

fn details(short: &str, told: &Explained) -> String {
    format!(
        "<details><summary>{}</summary><pre>{}</pre></details>",
        escape(short),
        escape(&explain::show(told))
    )
}

fn assumptions(out: &mut String, chapter: &Chapter) -> std::fmt::Result {
    let kept = &chapter.left.kept;
    for (title, list) in [
        (
            "\u{201c}Proved\u{201d} and \u{201c}unreachable\u{201d} assume that",
            &kept.assumptions,
        ),
        (
            "What may go wrong where no check of this code stands",
            &kept.elsewhere,
        ),
    ] {
        if !list.is_empty() {
            write!(out, "<h3>{title}</h3><ul>")?;
            for item in list {
                write!(out, "<li>{}", escape(item))?;
            }
            writeln!(out, "</ul>")?;
        }
    }
    Ok(())
}

fn sources(out: &mut String, number: usize, chapter: &Chapter) -> std::fmt::Result {
    writeln!(
        out,
        "<h3>Lines</h3><p><span class=\"tag covered\">covered</span> <span class=\"tag partial\">partly</span> \
         <span class=\"tag open\">open</span> <span class=\"tag unreachable\">unreachable (proved)</span> \
         <span class=\"dim\">what a check says is at the line's left</span></p>"
    )?;
    for (path, file) in &chapter.coverage.files {
        let count = crate::coverage::Count::of(file.lines.values());
        let bad = chapter
            .left
            .kept
            .findings
            .iter()
            .any(|(_, f)| f.place.file == *path);
        let opened = if bad || count.open > 0 { " open" } else { "" };
        writeln!(
            out,
            "<details{opened}><summary><code>{}</code> {} of {} lines covered, {} unreachable, {} open</summary>",
            escape(path),
            count.covered,
            count.lines,
            count.unreachable,
            count.open
        )?;
        functions(out, number, path, file)?;
        let source = std::fs::read(chapter.left.kept.root.join(path));
        match source {
            Ok(bytes) => source_lines(out, number, chapter, path, file, &bytes)?,
            Err(why) => writeln!(
                out,
                "<p>the source cannot be read: {}</p>",
                escape(&why.to_string())
            )?,
        }
        writeln!(out, "</details>")?;
    }
    Ok(())
}

fn functions(out: &mut String, number: usize, path: &str, file: &File) -> std::fmt::Result {
    let mut functions: Vec<_> = file.functions.iter().collect();
    functions.sort_by_key(|(_, function)| function.line);
    write!(
        out,
        "<table><tr><th>function<th class=\"n\">lines<th class=\"n\">covered<th class=\"n\">unreachable<th>open</tr>"
    )?;
    for (name, function) in functions {
        let lines: Vec<(u32, State)> = file.within(function).collect();
        let count = crate::coverage::Count::of(lines.iter().map(|(_, state)| state));
        let open = lines.iter().filter(|(_, state)| *state == State::Open);
        let open: Vec<u32> = open.map(|(line, _)| *line).collect();
        write!(
            out,
            "<tr><td><a href=\"#{}\"><code>{}</code></a><td class=\"n\">{}<td class=\"n\">{:.0}%<td class=\"n\">{}<td>{}</tr>",
            line_id(number, path, function.line),
            escape(name),
            count.lines,
            count.percent().unwrap_or(0.0),
            count.unreachable,
            ranges(&open, RANGES),
        )?;
    }
    writeln!(out, "</table>")
}

fn source_lines(
    out: &mut String,
    number: usize,
    chapter: &Chapter,
    path: &str,
    file: &File,
    bytes: &[u8],
) -> std::fmt::Result {
    let text = String::from_utf8_lossy(bytes);
    let mut marks: BTreeMap<u32, Vec<&Goal>> = BTreeMap::new();
    for goal in &chapter.left.kept.goals {
        if goal.kind == GoalKind::Check && goal.place.file == *path {
            marks.entry(goal.place.line).or_default().push(goal);
        }
    }
    let hits: Vec<&Finding> = chapter.left.kept.findings.iter().map(|(_, f)| f).collect();
    let hit = |line| {
        hits.iter()
            .any(|f| f.place.file == *path && f.place.line == line)
    };
    let interesting = |line: u32| {
        let near = line.saturating_sub(AROUND)..=line + AROUND;
        file.lines.range(near.clone()).next().is_some()
            || file.functions.values().any(|f| near.contains(&f.line))
            || near.clone().any(hit)
    };
    writeln!(out, "<div class=\"src\">")?;
    let mut gap = false;
    for (line, source) in (1u32..).zip(text.lines()) {
        if !interesting(line) {
            if !gap {
                writeln!(out, "<div class=\"gap\">...</div>")?;
            }
            gap = true;
            continue;
        }
        gap = false;
        let state = file.lines.get(&line);
        let mut class = match state {
            Some(State::Covered) => "covered",
            Some(State::Partial) => "partial",
            Some(State::Open) => "open",
            Some(State::Unreachable) => "unreachable",
            None => "",
        }
        .to_owned();
        if hit(line) {
            class.push_str(" hit");
        }
        let said = match state {
            Some(State::Covered) | None => "",
            Some(State::Partial) => "partly",
            Some(State::Open) => "open",
            Some(State::Unreachable) => "unreachable",
        };
        writeln!(
            out,
            "<div class=\"{class}\" id=\"{}\"><span class=\"no\">{line}</span><span class=\"st\">{said}</span>\
             <span>{}</span><span class=\"tx\">{}</span></div>",
            line_id(number, path, line),
            marks
                .get(&line)
                .map(|goals| mark(number, goals))
                .unwrap_or_default(),
            escape(source),
        )?;
    }
    writeln!(out, "</div>")
}

/// What the checks of a line say, in a few letters, with a link to the table.
fn mark(number: usize, goals: &[&Goal]) -> String {
    let mut out = String::new();
    for word_wanted in ["violated", "open", "proved"] {
        let mut these = goals.iter().filter(|g| word(&g.status) == word_wanted);
        if let Some(first) = these.next() {
            let count = 1 + these.count();
            let count = if count > 1 {
                format!(" {count}")
            } else {
                String::new()
            };
            let _ = write!(
                out,
                "<a class=\"ck tag {word_wanted}\" href=\"#c{number}-{}\">{word_wanted}{count}</a>",
                first.id
            );
        }
    }
    out
}
