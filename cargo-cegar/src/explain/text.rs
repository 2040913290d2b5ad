//! Formats an explanation as text for users.

use std::fmt::Write as _;

use super::{Explained, Explanation, Open, Proved, Step, Way};
use crate::verdict::{Goal, GoalKind, GoalStatus, rule_id};

/// The explanation as text.
pub fn show(explained: &Explained) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = put(&mut out, explained);
    out
}

fn put(out: &mut String, explained: &Explained) -> std::fmt::Result {
    match &explained.explanation {
        Explanation::Violated { finding, path } => {
            let place = finding.place.show();
            writeln!(out, "{place}: violated: {}", finding.message)?;
            let (name, how) = (&finding.name, &finding.found_by);
            writeln!(out, "  test `{name}`, found by {how}")?;
            way(out, path)
        }
        Explanation::Proved(proved) => {
            let goal = explained.goal.as_ref();
            let status = match goal.map(|goal| (goal.kind, &goal.status)) {
                Some((GoalKind::Check, GoalStatus::Unreachable)) => "unreachable from this harness",
                Some((GoalKind::Check, GoalStatus::Proved { given, .. })) if !given.is_empty() => {
                    "proved if other checks hold"
                }
                Some((GoalKind::Check, GoalStatus::Proved { reached: false, .. })) => {
                    "proved, but not reached by an execution so far"
                }
                _ => "proved",
            };
            writeln!(out, "{}", head(goal, status))?;
            if let Some(blocked) = &proved.blocked {
                writeln!(out, "  the way to it is blocked {}", blocked.words())?;
            }
            put_proved(out, proved)
        }
        Explanation::Covered => {
            writeln!(out, "{}", head(explained.goal.as_ref(), "covered"))?;
            writeln!(out, "  some execution came here")
        }
        Explanation::Open(open) => {
            writeln!(out, "{}", head(explained.goal.as_ref(), "open"))?;
            put_open(out, open)
        }
    }
}

fn head(goal: Option<&Goal>, status: &str) -> String {
    let Some(goal) = goal else {
        return status.to_owned();
    };
    let what = match (goal.kind, goal.check) {
        (GoalKind::Edge, _) if goal.expression.is_empty() => "the branch".to_owned(),
        (GoalKind::Edge, _) => format!("the branch to `{}`", goal.expression),
        (_, Some(kind)) if goal.expression.is_empty() => rule_id(kind).to_owned(),
        (_, Some(kind)) => format!("{} `{}`", rule_id(kind), goal.expression),
        (_, None) => format!("`{}`", goal.expression),
    };
    let status = match (goal.kind, status) {
        (GoalKind::Edge, "proved") => "unreachable",
        _ => status,
    };
    format!("{}: {status}: {what}", goal.place.show())
}

fn way(out: &mut String, path: &Way) -> std::fmt::Result {
    writeln!(out, "  the way there:")?;
    let mut last = (String::new(), String::new());
    for step in &path.steps {
        match step {
            Step::Line {
                file,
                line,
                function,
                text,
                chosen,
            } => {
                if last != (file.clone(), function.clone()) {
                    writeln!(out, "    {function} in {file}")?;
                    last = (file.clone(), function.clone());
                }
                writeln!(out, "    {line:>6}  {text}")?;
                put_chosen(out, chosen)?;
            }
            Step::Again {
                lines,
                times: 0,
                chosen,
            } => {
                writeln!(out, "            ({lines} lines are left out)")?;
                put_chosen(out, chosen)?;
            }
            Step::Again {
                lines,
                times,
                chosen,
            } => {
                let lines = plural(*lines, "line");
                writeln!(
                    out,
                    "            (the last {lines} {} more)",
                    plural(*times, "time")
                )?;
                put_chosen(out, chosen)?;
            }
        }
    }
    if let Some(ended) = &path.ended {
        writeln!(out, "  in the engine's machine it ends otherwise: {ended}")?;
    }
    if !path.values.is_empty() {
        writeln!(out, "  the values that were chosen:")?;
        for (channel, value) in &path.values {
            writeln!(out, "    {channel}: {value}")?;
        }
    }
    Ok(())
}

fn put_chosen(out: &mut String, chosen: &[(String, String)]) -> std::fmt::Result {
    for (channel, value) in chosen {
        writeln!(out, "            <- {channel}: {value}")?;
    }
    Ok(())
}

fn put_proved(out: &mut String, proved: &Proved) -> std::fmt::Result {
    if proved.by_execution {
        writeln!(
            out,
            "  the program asks for no input, and the one execution that it has shows it"
        )?;
    } else if proved.by_floor {
        writeln!(
            out,
            "  it follows from the states of the whole program that the floor found without the \
             solver"
        )?;
    } else if proved.loops.is_empty() {
        writeln!(
            out,
            "  no invariant is needed: it follows from the code before it"
        )?;
    } else {
        let what = match proved
            .loops
            .iter()
            .all(|invariant| invariant.side.is_none())
        {
            true => "around these loops",
            false => "at these places",
        };
        writeln!(out, "  it follows from what holds {what}:")?;
    }
    for invariant in &proved.loops {
        let (place, function) = (&invariant.place, &invariant.function);
        match invariant.side {
            None => writeln!(out, "    {place} in {function}")?,
            Some(side) => writeln!(out, "    {place} at the {side} of {function}")?,
        }
        for call in &invariant.called_from {
            writeln!(out, "      called from {call}")?;
        }
        for fact in &invariant.facts {
            writeln!(out, "        {fact}")?;
        }
    }
    if proved.of > 0 {
        let facts = plural(proved.of, "fact");
        writeln!(
            out,
            "  {} of the proof's {facts}, inductive by themselves",
            proved.facts
        )?;
    }
    if !proved.given.is_empty() {
        writeln!(out, "  it rests on checks that are not proved")?;
        for check in &proved.given {
            writeln!(out, "    - {check}")?;
        }
    }
    if !proved.assumptions.is_empty() {
        writeln!(out, "  it is assumed that")?;
        for assumption in &proved.assumptions {
            writeln!(out, "    - {}", assumption.sentence())?;
        }
    }
    Ok(())
}

fn put_open(out: &mut String, open: &Open) -> std::fmt::Result {
    writeln!(out, "  {}", open.why)?;
    if let Some(lack) = &open.lack {
        put_list(out, "the floor knows only:", &lack.knows)?;
        put_list(out, "it needs:", &lack.needs)?;
    }
    writeln!(out, "  tried:")?;
    for tried in &open.tried {
        writeln!(out, "    {tried}")?;
    }
    writeln!(out, "  to go on:")?;
    for knob in &open.knobs {
        writeln!(out, "    {knob}")?;
    }
    Ok(())
}

fn put_list(out: &mut String, head: &str, items: &[String]) -> std::fmt::Result {
    if !items.is_empty() {
        writeln!(out, "  {head}")?;
    }
    for item in items {
        writeln!(out, "    {item}")?;
    }
    Ok(())
}

fn plural(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}
