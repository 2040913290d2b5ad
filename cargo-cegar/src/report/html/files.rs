//! Files and functions with the state of their checks and edges. Below a function are its checks,
//! below a file its lines.
//!
//! Checks with the same reason are grouped. Open checks are listed one by one, since each must be
//! examined. For proved checks, and for functions that no execution entered, their lines are
//! enough.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::Chapter;
use super::budget::PageBudgets;
use super::escape::escape;
pub(super) use super::shown::Shown;
use super::tally::{CheckState, Counts, Edge, Function, Key, Seen, Tally};
use crate::coverage::ranges;
use crate::explain::{self, Explained, Explanation};
use crate::verdict::PERCENT;

/// The number of line ranges that are listed for one group.
const RANGES: usize = 60;

type Functions<'f, 'a> = Vec<(&'f String, &'f Function<'a>)>;

pub(super) fn put(
    out: &mut String,
    chapters: &[Chapter],
    tally: &Tally<'_>,
    shown: &Shown,
    budgets: &mut PageBudgets,
) -> std::fmt::Result {
    writeln!(
        out,
        "<section id=\"files\"><h2>Files and functions</h2>\n\
         <p class=\"dim\">A check that several harnesses have is counted once: as violated or open \
         if it is so from any of them. \u{201c}Unreachable\u{201d} means proved, and never come \
         to: nothing is tested.</p>\n<div class=\"row head\"><span>file, function</span>\
         <span>violated</span><span>open</span><span>proved</span><span>unreachable</span>\
         <span>edges covered</span></div>"
    )?;
    let mut order: Vec<_> = tally.files.iter().collect();
    let sum = |functions: &BTreeMap<String, Function<'_>>| {
        let mut all = Counts::default();
        functions.values().for_each(|f| all.add(&f.counts()));
        all
    };
    order.sort_by_key(|(path, functions)| {
        let counts = sum(functions);
        let rank = match (counts.of(CheckState::Violated), counts.edges(Edge::Covered)) {
            (0, 0) => 2,
            (0, _) => 1,
            _ => 0,
        };
        (rank, (*path).clone())
    });
    for (path, functions) in order {
        let name = match path.as_str() {
            "" => "no file is known",
            path => path,
        };
        let row = format!(
            "<details class=\"file\">{}\n",
            row(&escape(name), &sum(functions), "")
        );
        if !budgets.rows.takes(&row) {
            budgets.left_out("files without a row", 1);
            continue;
        }
        out.push_str(&row);
        let mut all: Functions<'_, '_> = functions.iter().collect();
        all.sort_by_key(|(name, function)| (function.line, (*name).clone()));
        let (told, never): (Functions<'_, '_>, Functions<'_, '_>) =
            all.into_iter().partition(|(_, function)| {
                function.is_entered() || function.counts().of(CheckState::Violated) > 0
            });
        for (name, function) in told {
            one(out, chapters, (path, name, function), shown, budgets)?;
        }
        never_entered(out, &never, budgets)?;
        match shown.source(path) {
            Some(source) if source.text.is_empty() => {
                writeln!(out, "<p class=\"dim\">{}</p>", source.what)?;
            }
            Some(source) => writeln!(
                out,
                "<details class=\"source\"><summary>{}</summary><p class=\"dim key\"><i \
                 class=c>executed</i> <i class=y>partly</i> <i class=o>open</i> <i \
                 class=u>unreachable</i></p>{}</details>",
                source.what, source.text
            )?,
            None => {}
        }
        writeln!(out, "</details>")?;
    }
    writeln!(out, "</section>")
}

/// The summary row of a file or function, with the counts in columns.
fn row(name: &str, counts: &Counts, tag: &str) -> String {
    let cell = |state: CheckState| match counts.of(state) {
        0 => "<b></b>".to_owned(),
        count => format!("<b class={}>{count}</b>", state.class()),
    };
    let more = |state: CheckState, what: &str| match counts.of(state) {
        0 => String::new(),
        count => format!(" <small>+{count} {what}</small>"),
    };
    let more =
        more(CheckState::ProvedIf, "if others hold") + &more(CheckState::NotReached, "not reached");
    let proved = match more.is_empty() {
        true => cell(CheckState::Proved),
        false => format!("<b class=p>{}{more}</b>", counts.of(CheckState::Proved)),
    };
    let edges: u64 = counts.edges.iter().sum();
    format!(
        "<summary class=row><code>{name}</code>{tag}{}{}{proved}{}<b \
         class=e>{}/{edges}</b></summary>",
        cell(CheckState::Violated),
        cell(CheckState::Open),
        cell(CheckState::Unreachable),
        counts.edges(Edge::Covered),
    )
}

fn one(
    out: &mut String,
    chapters: &[Chapter],
    (path, name, function): (&str, &str, &Function<'_>),
    shown: &Shown,
    budgets: &mut PageBudgets,
) -> std::fmt::Result {
    let counts = function.counts();
    let vacuous = counts.of(CheckState::Unreachable) * 100 > counts.total() * PERCENT;
    let tag = if vacuous { " <em>vacuous</em>" } else { "" };
    let name = match name {
        "" => "no function is known".to_owned(),
        name => escape(name),
    };
    let text = format!(
        "<details class=\"fn\">{}",
        row(&format!("{name}{tag}"), &counts, "")
    );
    if !budgets.rows.takes(&text) {
        budgets.left_out("functions without a row", 1);
        return Ok(());
    }
    out.push_str(&text);
    if let Some(anchor) = shown.anchor(path, function.line) {
        write!(out, "<p><a href=#{anchor}>line {}</a></p>", function.line)?;
    }
    let mut groups: BTreeMap<(CheckState, String), Vec<(&Key, &Seen<'_>)>> = BTreeMap::new();
    for (key, seen) in &function.checks {
        let group = groups
            .entry((seen.state(), seen.why(chapters)))
            .or_default();
        group.push((key, seen));
    }
    for ((state, why), checks) in &groups {
        let colon = if why.is_empty() { "" } else { ": " };
        write!(
            out,
            "<p><span class=\"tag {}\">{}</span> {}{colon}{}</p>",
            state.class(),
            state.text(),
            checks.len(),
            escape(why)
        )?;
        let each = matches!(state, CheckState::Violated | CheckState::Open);
        let list = each.then(|| list(path, checks, shown));
        match list {
            Some(list) if budgets.checks.takes(&list) => out.push_str(&list),
            Some(_) => {
                let text = "checks of which only the lines are told";
                budgets.left_out(text, checks.len() as u64);
                lines(out, checks.iter().map(|(key, _)| key.line), budgets)?;
            }
            None => {
                lines(out, checks.iter().map(|(key, _)| key.line), budgets)?;
                proofs(out, chapters, checks, budgets)?;
            }
        }
    }
    if function.checks.is_empty() {
        write!(out, "<p class=\"dim\">no checks</p>")?;
    }
    writeln!(out, "</details>")
}

/// Lists checks one by one, with those of one line and one kind together.
fn list(path: &str, checks: &[(&Key, &Seen<'_>)], shown: &Shown) -> String {
    let mut out = String::from("<ul>");
    let mut last: Option<(&Option<String>, u32, &str)> = None;
    let mut said: Vec<&str> = Vec::new();
    for (key, _) in checks {
        let file = key.elsewhere.as_deref().unwrap_or(path);
        let same_line =
            last.is_some_and(|(file, line, _)| (file, line) == (&key.elsewhere, key.line));
        if !same_line {
            out.push_str("<li>");
            if let Some(file) = &key.elsewhere {
                let _ = write!(out, "<code>{}</code> ", escape(file));
            }
            let _ = match (key.line, shown.anchor(file, key.line)) {
                (0, _) => write!(out, "no line"),
                (line, Some(anchor)) => write!(out, "<a href=#{anchor}>{line}</a>"),
                (line, None) => write!(out, "{line}"),
            };
        }
        let same_kind = same_line && last.is_some_and(|(_, _, kind)| kind == key.kind);
        if !same_kind {
            let _ = write!(out, "{} {}", if same_line { ";" } else { "" }, key.kind);
            said.clear();
        }
        // A repeated expression on the same line adds no information.
        if !key.expression.is_empty() && !said.contains(&key.expression.as_str()) {
            let _ = write!(out, " <code>{}</code>", escape(&key.expression));
            said.push(&key.expression);
        }
        last = Some((&key.elsewhere, key.line, key.kind));
    }
    out.push_str("</ul>\n");
    out
}

fn lines(
    out: &mut String,
    lines: impl Iterator<Item = u32>,
    budgets: &mut PageBudgets,
) -> std::fmt::Result {
    let mut numbers: Vec<u32> = lines.filter(|line| *line > 0).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let text = match ranges(&numbers, RANGES) {
        none if none.is_empty() => "<p class=k>no line is known</p>".to_owned(),
        ranges if numbers.len() == 1 => format!("<p class=k>line {ranges}</p>"),
        ranges => format!("<p class=k>lines {ranges}</p>"),
    };
    match budgets.lines.takes(&text) {
        true => out.push_str(&text),
        false => budgets.left_out("lists of the lines that checks are on", 1),
    }
    Ok(())
}

/// Lists what the proofs of checks rest on, as far as it was determined, grouping those that rest
/// on the same facts.
fn proofs(
    out: &mut String,
    chapters: &[Chapter],
    checks: &[(&Key, &Seen<'_>)],
    budgets: &mut PageBudgets,
) -> std::fmt::Result {
    let mut told: BTreeMap<(String, String), Vec<u32>> = BTreeMap::new();
    for (key, seen) in checks {
        let proof = seen.from.iter().find_map(|(chapter, goal)| {
            let told = chapters[*chapter].proofs.get(&goal.id)?;
            Some((rests_on(told)?, body(told)))
        });
        if let Some(proof) = proof {
            told.entry(proof).or_default().push(key.line);
        }
    }
    for ((short, body), mut numbers) in told {
        numbers.sort_unstable();
        numbers.dedup();
        let text = format!(
            "<details><summary>lines {}: {}</summary><pre tabindex=\"0\">{}</pre></details>",
            ranges(&numbers, RANGES),
            escape(&short),
            escape(&body)
        );
        match budgets.proofs.takes(&text) {
            true => out.push_str(&text),
            false => budgets.left_out("proofs of which it is not told what they rest on", 1),
        }
    }
    Ok(())
}

/// Describes what a proof rests on, or `None` if it only rests on the preceding code.
fn rests_on(told: &Explained) -> Option<String> {
    match &told.explanation {
        Explanation::Proved(proved) if !proved.loops.is_empty() => {
            let facts: usize = proved.loops.iter().map(|l| l.facts.len()).sum();
            Some(format!("{facts} facts around {} loops", proved.loops.len()))
        }
        _ => None,
    }
}

/// An explanation without its first line, which names the check, and without the assumptions, which
/// the page lists once.
fn body(told: &Explained) -> String {
    let text = explain::show(told);
    let text = text.split_once('\n').map_or("", |(_, rest)| rest);
    let end = text.find("  it is assumed that").unwrap_or(text.len());
    text[..end].to_owned()
}

/// Lists functions that no execution entered, one per line.
fn never_entered(
    out: &mut String,
    functions: &[(&String, &Function<'_>)],
    budgets: &mut PageBudgets,
) -> std::fmt::Result {
    if functions.is_empty() {
        return Ok(());
    }
    let mut all = Counts::default();
    functions.iter().for_each(|(_, f)| all.add(&f.counts()));
    let noun = if functions.len() == 1 {
        "function"
    } else {
        "functions"
    };
    let name = format!("{} {noun} not entered", functions.len());
    write!(
        out,
        "<details class=\"fn never\">{}<ul>",
        row(&name, &all, "")
    )?;
    let mut missing = 0;
    for (name, function) in functions {
        let counts = function.counts();
        let mut text = format!("<li><code>{}</code>", escape(name));
        if function.line > 0 {
            let _ = write!(text, " line {}", function.line);
        }
        let mut sep = ": ";
        for state in CheckState::ALL {
            if counts.of(state) > 0 {
                let _ = write!(text, "{sep}{} {}", counts.of(state), state.text());
                sep = ", ";
            }
        }
        match budgets.rows.takes(&text) {
            true => out.push_str(&text),
            false => missing += 1,
        }
    }
    if missing > 0 {
        write!(out, "<li>and {missing} more")?;
        budgets.left_out("functions without a row", missing);
    }
    writeln!(out, "</ul></details>")
}
