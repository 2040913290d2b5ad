//! Complete reports of findings, and the final summary.

use std::io::Write;

use anstyle::Style;
use cegar_search::strategy::Strategy;

use super::words::{count, counted, seconds, source_picture};
use super::{BAD, GOOD, TerminalReporter, WARN};
use crate::event::{Expectations, Summary};
use crate::findings::Standing;
use crate::lists::few;
use crate::verdict::Finding;
use crate::verdict::{Stats, Verdict};

impl<W: Write> TerminalReporter<W> {
    pub(super) fn found(&mut self, finding: &Finding) {
        let text = format!(
            "{}  {} {}",
            finding.harness,
            finding.place.show(),
            finding.message
        );
        let verb = match finding.standing {
            Standing::New => "Found",
            Standing::StillFails => "Still fails",
            Standing::FailsAgain => "Fails again",
        };
        self.status(BAD, verb, &text);
        if self.verbosity >= 0
            && let Some(picture) = source_picture(finding, &self.root, self.color)
        {
            self.raw(&picture);
        }
    }

    /// Reports a fault of the harness itself.
    pub(super) fn precondition(&mut self, finding: &Finding) {
        let missing = finding.blame.iter().flat_map(|blame| &blame.missing);
        let missing: Vec<String> = missing
            .map(|one| match one.condition.as_str() {
                "" => one.why.clone(),
                condition => format!("{condition} ({})", one.why),
            })
            .collect();
        let text = format!(
            "{}  {}; else {}: {}",
            finding.harness,
            missing.join("; "),
            finding.place.show(),
            finding.message
        );
        self.status(WARN, "Precondition", &text);
    }

    /// Reports the results of the committed tests and the inputs of earlier findings.
    pub(super) fn expectations(&mut self, expected: &Expectations) {
        let passed = format!(
            "{}  {} of {} pass",
            expected.harness,
            expected.pass.len(),
            counted(expected.total() as u64, "known input"),
        );
        let failing = [
            (&expected.fail_again, "fail again"),
            (&expected.still_fail, "still fail"),
        ];
        let failing: String = failing
            .iter()
            .filter(|(names, _)| !names.is_empty())
            .map(|(names, verb)| format!("; {} {verb}", names.len()))
            .collect();
        let style = match expected.pass.len() == expected.total() {
            true => GOOD,
            false => BAD,
        };
        self.status(style, "Replayed", &format!("{passed}{failing}"));
        for (name, why) in &expected.not_run {
            self.status(
                WARN,
                "Not run",
                &format!("{}  {name}: {why}", expected.harness),
            );
        }
    }

    pub(super) fn finished(&mut self, summary: &Summary) {
        if let Some(mut bars) = self.bars.take() {
            bars.clear();
        }
        let (checks, edges) = (&summary.goals.checks, &summary.goals.edges);
        let style = match summary.verdict {
            Verdict::Violated => BAD,
            Verdict::Proved => GOOD,
            Verdict::Open => WARN,
        };
        for (why, mut places) in std::mem::take(&mut self.open) {
            let checks = counted(places.len() as u64, "check");
            // Several checks may have the same expression and place.
            places.dedup();
            let text = format!("{checks} ({}): {why}", few(&places, 2));
            self.status(WARN, "Open", &text);
        }
        let took = seconds(summary.stats.seconds);
        if self.verbosity >= 0 && checks.rest_on_assumptions(summary.verdict) {
            for assumption in &summary.assumptions {
                self.status(Style::new(), "Assuming", &assumption.sentence());
            }
        }
        if self.stats {
            self.statistics(&summary.stats);
        }
        if let Some(text) = summary.never_executed() {
            self.status(WARN, "Unexecuted", &text);
        }
        let verdict = match summary.verdict {
            Verdict::Violated => "violated",
            Verdict::Proved if checks.is_vacuous() => "proved, mostly vacuous",
            Verdict::Proved if checks.total() == 0 => "proved; there was nothing to check",
            Verdict::Proved => "proved",
            Verdict::Open => "open",
        };
        // The same fault may violate a check of several harnesses.
        let findings = match summary.findings {
            n if n > 0 && n != checks.violated => format!(" ({})", counted(n, "finding")),
            _ => String::new(),
        };
        let misfits = match self.misfits {
            0 => String::new(),
            1 => "; 1 declaration does not fit the library".to_owned(),
            n => format!("; {n} declarations do not fit the library"),
        };
        let not_shown = match summary.not_shown {
            0 => String::new(),
            1 => "; 1 violation is seen by the engine only".to_owned(),
            n => format!("; {n} violations are seen by the engine only"),
        };
        let late = match summary.late {
            0 => String::new(),
            1 => "; 1 failing input was not looked into".to_owned(),
            n => format!("; {n} failing inputs were not looked into"),
        };
        let goals = edges.covered + edges.unreachable + edges.open;
        let inputs = summary.stats.executions;
        let text = if goals == 0 && inputs > 0 && summary.unexecuted.is_empty() {
            // A replay has no goals.
            format!(
                "in {took}: {} of {inputs} inputs violate a check",
                checks.violated
            )
        } else {
            format!(
                "in {took}, {verdict}{findings}; checks: {}; edges: {} covered, {} unreachable, {} \
                 open{not_shown}{late}{misfits}",
                checks.words(),
                edges.covered,
                edges.unreachable,
                edges.open
            )
        };
        self.status(
            style,
            if summary.interrupted {
                "Interrupted"
            } else {
                "Finished"
            },
            &text,
        );
    }

    pub(super) fn statistics(&mut self, s: &Stats) {
        let text = format!(
            "{} executions, {} machine runs, {} solver calls, {} refinements, {} seeds from the \
             engine",
            count(s.executions),
            count(s.machine_runs),
            count(s.solver_calls),
            count(s.refinements),
            count(s.engine_seeds)
        );
        self.status(Style::new(), "Statistics", &text);
        if s.proving > 0.0 {
            let p = &s.prover;
            if s.strategy != Strategy::Auto {
                let text = format!(
                    "{} {}: {} iterations, {} splits, {} executions, {} solver calls",
                    s.strategy,
                    seconds(s.proving),
                    count(p.iterations),
                    count(p.splits),
                    count(p.executions),
                    count(p.solver_calls),
                );
                self.status(Style::new(), "Statistics", &text);
                return;
            }
            let floor = match p.floor > 0.0 {
                true => format!(
                    "the floor settles {} checks and {} blocks in {:.2}s; ",
                    count(p.floor_checks),
                    count(p.floor_blocks),
                    p.floor
                ),
                false => String::new(),
            };
            let text = format!(
                "prover {}: {floor}{} iterations, {} of {} guesses hold, {} solver calls, {} of {} \
                 paths around loops lead to a violation; explore {:.2}s, forest {:.2}s, loops \
                 {:.2}s, guess {:.2}s, houdini {:.2}s, settle {:.2}s, check {:.2}s",
                seconds(s.proving),
                p.iterations,
                count(p.facts),
                count(p.guesses),
                count(p.solver_calls),
                count(p.loop_seeds),
                count(p.loop_paths),
                p.explore,
                p.forest,
                p.loops,
                p.guess,
                p.houdini,
                p.settle,
                p.check
            );
            self.status(Style::new(), "Statistics", &text);
        }
    }
}
