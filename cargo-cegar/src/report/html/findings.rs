//! The findings: what is wrong, where, and how to reproduce it.
//!
//! The first findings are shown in full. A library with a fundamental fault has ten thousand of
//! them, and nobody reads the test of the nine-thousandth: further findings get one line each, and
//! the rest is only counted.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::Chapter;
use super::NAMED;
use super::budget::PageBudgets;
use super::escape::escape;
use super::files::Shown;
use super::source;
use crate::explain;
use crate::findings::Standing;
use crate::lists::few;
use crate::verdict::{Finding, rule_id};

/// The number of findings that are shown in full, since each needs an execution.
const FULL: usize = 40;
/// The number of findings that are expanded.
const OPEN: usize = 1;
/// The largest length of one test, and of one path to a fault, in characters.
const TEST: usize = 12_000;

/// One fault, found by one harness or several.
struct Group<'a> {
    chapters: Vec<usize>,
    findings: Vec<&'a Finding>,
}

/// The number of faults.
pub(super) fn count(chapters: &[Chapter]) -> usize {
    groups(chapters).len()
}

pub(super) fn put(
    out: &mut String,
    chapters: &[Chapter],
    shown: &Shown,
    budgets: &mut PageBudgets,
) -> std::fmt::Result {
    let groups = groups(chapters);
    writeln!(out, "<section id=\"findings\"><h2>Findings</h2>")?;
    if groups.is_empty() {
        writeln!(out, "<p>None.</p></section>")?;
        return Ok(());
    }
    let mut further = String::new();
    let (mut told, mut counted) = (0, BTreeMap::<&str, u64>::new());
    for (number, group) in groups.iter().enumerate() {
        let finding = group.findings[0];
        if number < FULL {
            let text = full(chapters, group, number, shown)?;
            if budgets.findings.takes(&text) {
                out.push_str(&text);
                continue;
            }
        }
        let line = format!(
            "<li>{} {} <code>{}</code>",
            shown.link(&finding.place),
            escape(&finding.message),
            escape(&finding.name)
        );
        match budgets.further.takes(&line) {
            true => {
                further.push_str(&line);
                told += 1;
            }
            false => {
                *counted.entry(&finding.place.function).or_default() += 1;
                budgets.left_out("findings, which are counted by function", 1);
            }
        }
    }
    if !further.is_empty() {
        let text = "findings of which only the line is told, without test and way";
        budgets.left_out(text, told);
        writeln!(
            out,
            "<details><summary>{told} more, a line each</summary><ul>{further}</ul></details>"
        )?;
    }
    if !counted.is_empty() {
        let mut most: Vec<(&str, u64)> = counted.into_iter().collect();
        most.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
        let all: u64 = most.iter().map(|(_, count)| count).sum();
        let names = most.iter().take(30);
        let names = names.map(|(name, count)| format!("{} ({count})", escape(name)));
        let names: Vec<String> = names.collect();
        writeln!(
            out,
            "<p>And {all} more in {} functions: {}{}</p>",
            most.len(),
            names.join(", "),
            if most.len() > names.len() {
                ", ..."
            } else {
                ""
            }
        )?;
    }
    writeln!(out, "</section>")
}

/// Groups findings by fault, since several harnesses may find the same one.
fn groups(chapters: &[Chapter]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    // Indexed by function, since faults are only compared within one function.
    let mut at: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for (number, chapter) in chapters.iter().enumerate() {
        for (_, finding) in &chapter.left.kept.findings {
            let place = &finding.place;
            let near = at.entry((&place.file, &place.function)).or_default();
            let known = near
                .iter()
                .find(|&&at| groups[at].findings[0].identity.is(&finding.identity));
            let known = known.copied().unwrap_or(groups.len());
            if known == groups.len() {
                near.push(known);
                groups.push(Group {
                    chapters: Vec::new(),
                    findings: Vec::new(),
                });
            }
            groups[known].chapters.push(number);
            groups[known].findings.push(finding);
        }
    }
    groups
}

fn full(
    chapters: &[Chapter],
    group: &Group<'_>,
    number: usize,
    shown: &Shown,
) -> Result<String, std::fmt::Error> {
    let finding = group.findings[0];
    let chapter = &chapters[group.chapters[0]];
    let mut out = String::new();
    let open = if number < OPEN { " open" } else { "" };
    let standing = match finding.standing {
        Standing::New => "violated",
        known => known.words(),
    };
    let function = match finding.place.function.as_str() {
        "" => String::new(),
        name => format!(" in <code>{}</code>", escape(name)),
    };
    writeln!(
        out,
        "<details class=\"finding\" id=\"finding{number}\"{open}><summary><span class=\"tag \
         v\">{standing}</span> <b>{}</b> <span \
         class=\"at\"><code>{}</code>{function}</span></summary>",
        escape(&finding.message),
        escape(&finding.place.show()),
    )?;
    out.push_str(&source::around(&chapter.left.kept.root, &finding.place));
    let mut harnesses: Vec<&str> = Vec::new();
    for &at in &group.chapters {
        if !harnesses.contains(&chapters[at].harness.as_str()) {
            harnesses.push(&chapters[at].harness);
        }
    }
    let inputs = match group.findings.len() {
        1 => String::new(),
        many => format!(", {many} inputs"),
    };
    writeln!(
        out,
        "<p>{}, found by {} from harness {}{inputs}; test <code>{}</code>; {}</p>",
        escape(rule_id(finding.kind)),
        escape(&finding.found_by),
        escape(&few(&harnesses, NAMED)),
        escape(&finding.name),
        shown.link(&finding.place),
    )?;
    if let Some(test) = chapter.tests.get(&finding.name) {
        writeln!(
            out,
            "<h3>Test</h3><pre tabindex=\"0\">{}</pre>",
            escape(&cut(test, &finding.name))
        )?;
    }
    let way = explain::show(&chapter.left.explain_finding(finding));
    writeln!(
        out,
        "<details><summary>The way there</summary><pre tabindex=\"0\">{}</pre></details></details>",
        escape(&cut(&way, &finding.name))
    )?;
    Ok(out)
}

/// Shortens a long text and says how much is missing.
fn cut(text: &str, name: &str) -> String {
    match text.char_indices().nth(TEST) {
        Some((end, _)) => format!(
            "{}\n... {} bytes are left out: `cargo cegar explain {name}` has all\n",
            &text[..end],
            text.len() - end
        ),
        None => text.to_owned(),
    }
}
