//! The section of the harnesses: their counts and growth, why checks are open, and what the proofs
//! assume.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::Chapter;
use super::NAMED;
use super::budget::PageBudgets;
use super::escape::escape;
use super::growth::picture;
use super::tally::CheckState;
use crate::explain;
use crate::lists::few;
use crate::verdict::{Goal, GoalKind, GoalStatus};

/// The number of reasons that are shown for one harness.
const REASONS: usize = 12;

pub(super) fn put(
    out: &mut String,
    chapters: &[Chapter],
    budgets: &mut PageBudgets,
) -> std::fmt::Result {
    writeln!(out, "<section id=\"harnesses\"><h2>Harnesses</h2>")?;
    table(out, chapters, budgets)?;
    for chapter in chapters {
        let mut text = String::new();
        about(&mut text, chapter)?;
        match budgets.harnesses.takes(&text) {
            true => out.push_str(&text),
            false => budgets.left_out("harnesses of which only the counts are told", 1),
        }
    }
    writeln!(out, "</section>")?;
    assumptions(out, chapters, budgets)
}

fn table(out: &mut String, chapters: &[Chapter], budgets: &mut PageBudgets) -> std::fmt::Result {
    writeln!(
        out,
        "<div class=\"scroll\" tabindex=\"0\"><table><thead><tr><th scope=col>harness<th class=n \
         scope=col>violated<th class=n scope=col>open<th class=n scope=col>proved<th class=n \
         scope=col>not reached<th class=n scope=col>unreachable<th class=n scope=col>edges \
         covered<th class=n scope=col>unreachable<th class=n scope=col>open<th class=n \
         scope=col>lines covered<th class=n scope=col>executions<th class=n \
         scope=col>seconds</tr></thead><tbody>"
    )?;
    for chapter in chapters {
        let goals = || chapter.left.kept.goals.iter();
        let checks = |state: CheckState| {
            let of = |g: &&Goal| g.kind == GoalKind::Check && CheckState::of(&g.status) == state;
            goals().filter(of).count()
        };
        let edges = |wanted: fn(&GoalStatus) -> bool| {
            let of = |g: &&Goal| g.kind == GoalKind::Edge && wanted(&g.status);
            goals().filter(of).count()
        };
        let stats = &chapter.left.kept.stats;
        let violated = checks(CheckState::Violated).max(chapter.left.kept.findings.len());
        let lines = chapter.coverage.count().percent();
        let text = format!(
            "<tr><th scope=row>{}<td class=n>{violated}<td class=n>{}<td class=n>{}<td \
             class=n>{}<td class=n>{}<td class=n>{}<td class=n>{}<td class=n>{}<td class=n>{}<td \
             class=n>{}<td class=n>{:.0}</tr>\n",
            escape(&chapter.harness),
            checks(CheckState::Open),
            match checks(CheckState::ProvedIf) {
                0 => checks(CheckState::Proved).to_string(),
                more => format!("{} + {more} if others hold", checks(CheckState::Proved)),
            },
            checks(CheckState::NotReached),
            checks(CheckState::Unreachable),
            edges(|s| *s == GoalStatus::Covered),
            edges(|s| *s == GoalStatus::Unreachable),
            edges(|s| matches!(s, GoalStatus::Open { .. })),
            lines.map_or("none".to_owned(), |percent| format!("{percent:.1}%")),
            stats.executions,
            stats.seconds,
        );
        match budgets.harnesses.takes(&text) {
            true => out.push_str(&text),
            false => budgets.left_out("harnesses without a row", 1),
        }
    }
    writeln!(out, "</tbody></table></div>")
}

fn about(out: &mut String, chapter: &Chapter) -> std::fmt::Result {
    let graph = picture(&chapter.growth);
    let mut reasons: BTreeMap<&str, (u64, Option<&Goal>)> = BTreeMap::new();
    for goal in &chapter.left.kept.goals {
        if let (GoalKind::Check, GoalStatus::Open { why }) = (goal.kind, &goal.status) {
            let reason = reasons.entry(why).or_default();
            reason.0 += 1;
            reason.1.get_or_insert(goal);
        }
    }
    if graph.is_empty() && reasons.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "<details><summary>{}: how it went, and why checks are open</summary>",
        escape(&chapter.harness)
    )?;
    if !graph.is_empty() {
        writeln!(
            out,
            "<p class=\"dim\"><span class=\"tag p\">edges covered</span> <span class=\"tag \
             o\">checks open</span> over time</p>\n{graph}"
        )?;
    }
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(why, (count, _))| (std::cmp::Reverse(*count), *why));
    for (number, (why, (count, goal))) in reasons.iter().enumerate() {
        if number == REASONS {
            let rest = reasons[REASONS..].iter().map(|(_, (count, _))| count);
            let (kinds, checks) = (reasons.len() - REASONS, rest.sum::<u64>());
            writeln!(out, "<p>{checks} checks for {kinds} more reasons</p>")?;
            break;
        }
        let noun = if *count == 1 { "check" } else { "checks" };
        write!(
            out,
            "<details><summary><span class=\"tag o\">open</span> {count} {noun}: {}</summary>",
            escape(why)
        )?;
        if let Some(told) = goal.and_then(|goal| chapter.left.explain_open(goal)) {
            let place = escape(&goal.map(|goal| goal.place.show()).unwrap_or_default());
            write!(
                out,
                "<p class=\"dim\">For instance {place}:</p><pre tabindex=\"0\">{}</pre>",
                escape(&explain::show(&told))
            )?;
        }
        writeln!(out, "</details>")?;
    }
    writeln!(out, "</details>")
}

/// A function that lists sentences of a chapter.
type List = fn(&Chapter) -> Vec<String>;

fn assumptions(
    out: &mut String,
    chapters: &[Chapter],
    budgets: &mut PageBudgets,
) -> std::fmt::Result {
    writeln!(out, "<section id=\"assumptions\"><h2>Assumptions</h2>")?;
    let mut any = false;
    let lists: [(&str, List); 2] = [
        (
            "\u{201c}Proved\u{201d} and \u{201c}unreachable\u{201d} assume that",
            |c| {
                let all = c.left.kept.assumptions.iter();
                all.map(|assumption| assumption.sentence()).collect()
            },
        ),
        (
            "What may go wrong where no check of this code stands",
            |c| c.left.kept.elsewhere.clone(),
        ),
    ];
    for (title, list) in lists {
        let mut said: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for chapter in chapters {
            for item in list(chapter) {
                said.entry(item).or_default().push(&chapter.harness);
            }
        }
        if said.is_empty() {
            continue;
        }
        any = true;
        write!(out, "<h3>{title}</h3><ul>")?;
        for (item, harnesses) in said {
            let of = match harnesses.len() == chapters.len() {
                true => String::new(),
                false => format!(
                    " <span class=\"dim\">({})</span>",
                    escape(&few(&harnesses, NAMED))
                ),
            };
            let text = format!("<li>{}{of}", escape(&item));
            match budgets.harnesses.takes(&text) {
                true => out.push_str(&text),
                false => budgets.left_out("assumptions", 1),
            }
        }
        writeln!(out, "</ul>")?;
    }
    if !any {
        writeln!(out, "<p>Nothing is proved, so nothing is assumed.</p>")?;
    }
    writeln!(out, "</section>")
}
