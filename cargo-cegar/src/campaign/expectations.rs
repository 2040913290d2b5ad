//! Replays what is expected to pass before anything is searched: the committed tests and the inputs
//! of all earlier findings.
//!
//! A search that does not find a known bug again says nothing about it, so a campaign begins with
//! the known inputs. The input of each record is run natively under AddressSanitizer, as the search
//! confirms its findings, and, if it passes there, also on the executable that the committed test
//! runs; it passes only if both runs pass. A test that a user has changed is run by cargo
//! ([`committed`]). A failure is a finding of this campaign like any other. What could not be run
//! completely is reported by name, and makes the command fail.

use std::path::PathBuf;

use cegar_fuzz::native;
use cegar_model::machine::Outcome;
use cegar_model::program::{CheckKind, plain};
use cegar_search::simulate::search::Origin;

use super::alternate::Alternation;
use super::committed::{self, Ended, TestFile};
use super::findings::Confirmed;
use crate::emit;
use crate::error::Error;
use crate::event::{Event, Expectations, Level, Reporter};
use crate::findings::{Memory, Record, Standing};
use crate::list;
use crate::options::RunOptions;
use crate::verdict::{Finding, Place};

/// The number of inputs per call of a runner.
const BATCH: usize = 16;

/// The tests of a file that cargo runs.
enum ByCargo {
    /// All tests of this file.
    All(PathBuf),
    /// The tests of these names.
    Named(Vec<String>),
}

/// How the native run of a record's input ended.
enum Replayed {
    /// The program violates a property.
    Fails,
    /// The program violates no property.
    Passes,
    /// The run did not end by itself, for this reason.
    Unclear(&'static str),
}

impl Alternation<'_, '_> {
    /// Runs the inputs and tests that are expected to pass, and reports those that fail.
    pub(super) fn replay_expected(&mut self) -> Result<Expectations, Error> {
        let mut told = Expectations {
            harness: self.subject.harness.name.clone(),
            ..Expectations::default()
        };
        let memory = self.confirming.judge.memory.iter();
        let records: Vec<Record> = memory
            .flat_map(|memory| memory.records())
            .cloned()
            .collect();
        let by_cargo = self.tests_for_cargo(&records)?;
        let total = (records.len() + usize::from(by_cargo.is_some())) as u64;
        if total == 0 {
            return Ok(told);
        }
        let mut passing = Vec::new();
        for (number, batch) in records.chunks(BATCH).enumerate() {
            self.progress_of_replay((number * BATCH) as u64, total);
            if self.is_over() {
                told.not_run
                    .extend(batch.iter().map(|record| not_run(record, TIME)));
                continue;
            }
            let tapes: Vec<Vec<u8>> = batch.iter().map(Record::input).collect();
            let runs = match self.subject.native.replay(&tapes) {
                Err(why) if why.is_the_end() => {
                    told.not_run
                        .extend(batch.iter().map(|record| not_run(record, TIME)));
                    continue;
                }
                runs => runs?,
            };
            for (record, run) in batch.iter().zip(runs) {
                match self.replayed(&run.outcome) {
                    Replayed::Fails => self.fails(record, &mut told)?,
                    Replayed::Passes => passing.push((record, None)),
                    Replayed::Unclear(why) => passing.push((record, Some(why))),
                }
            }
        }
        self.replay_tests(passing, &mut told)?;
        if let Some(by_cargo) = by_cargo {
            self.run_by_cargo(&by_cargo, &records, &mut told)?;
        }
        self.progress_of_replay(total, total);
        self.reporting.event(&Event::Expectations(told.clone()));
        Ok(told)
    }

    fn progress_of_replay(&mut self, done: u64, total: u64) {
        self.reporting.event(&Event::Replaying {
            harness: self.subject.harness.name.clone(),
            done,
            total,
        });
    }

    fn replayed(&self, outcome: &native::Outcome) -> Replayed {
        match outcome {
            outcome if self.confirming.judge.is_fault(outcome) => Replayed::Fails,
            native::Outcome::Timeout => Replayed::Unclear("it runs into the time limit"),
            native::Outcome::OutOfMemory => Replayed::Unclear("it runs into the memory limit"),
            native::Outcome::Unreadable => Replayed::Unclear("its input cannot be made"),
            _ => Replayed::Passes,
        }
    }

    /// The tests of this harness that do not belong to a record. If the test file was not
    /// generated, these are all of its tests, since only cargo knows them.
    fn tests_for_cargo(&self, records: &[Record]) -> Result<Option<ByCargo>, Error> {
        let Some(tests) = self
            .confirming
            .judge
            .tests
            .as_ref()
            .filter(|_| self.confirming.judge.memory.is_some())
        else {
            return Ok(None);
        };
        let package = tests.committed();
        let file = emit::package::test_file(package, &self.subject.harness.name);
        let is_ours = emit::package::is_ours(package, &self.subject.harness.name)
            .map_err(|why| Error::engine("reading the tests", why))?;
        if !is_ours {
            return Ok(Some(ByCargo::All(file)));
        }
        let mut by_cargo = list::tests_of(&file);
        by_cargo.retain(|test| records.iter().all(|record| record.name != *test));
        Ok((!by_cargo.is_empty()).then_some(ByCargo::Named(by_cargo)))
    }

    fn is_as_written(&self, test: &str) -> Result<Option<bool>, Error> {
        let Some(tests) = &self.confirming.judge.tests else {
            return Ok(None);
        };
        emit::package::is_as_written(tests.committed(), &self.subject.harness.name, test)
            .map_err(|why| Error::engine("reading the tests", why))
    }

    /// Runs the inputs that passed in the campaign's own builds again, as the committed test does.
    fn replay_tests(
        &mut self,
        passing: Vec<(&Record, Option<&'static str>)>,
        told: &mut Expectations,
    ) -> Result<(), Error> {
        for (record, unclear) in passing {
            if self.is_as_written(&record.name)? != Some(true) {
                match unclear {
                    Some(why) => told.not_run.push((record.name.clone(), why.to_owned())),
                    None => self.input_passes(record, told)?,
                }
                continue;
            }
            if self.is_over() {
                told.not_run.push(not_run(record, TIME));
                continue;
            }
            let Some(tests) = &mut self.confirming.judge.tests else {
                continue;
            };
            let run = match tests.runner() {
                Ok(runner) => tests.rerun(&runner, record),
                Err(why) => {
                    told.not_run.push((record.name.clone(), why));
                    continue;
                }
            };
            let outcome = run.outcome();
            if outcome.is_safe() {
                self.input_passes(record, told)?;
            } else if outcome.is_violation() {
                let at = outcome
                    .place()
                    .map(|place| (place.file.clone(), place.line));
                let finding = self.as_test(&record.name, Some(record), &outcome.to_string(), at);
                self.fails_as(record.standing(), finding, record.events(), None, told)?;
            } else {
                told.not_run
                    .push((record.name.clone(), outcome.to_string()));
            }
        }
        Ok(())
    }

    fn run_by_cargo(
        &mut self,
        by_cargo: &ByCargo,
        records: &[Record],
        told: &mut Expectations,
    ) -> Result<(), Error> {
        let Some(tests) = &self.confirming.judge.tests else {
            return Ok(());
        };
        let (package, target) = (tests.committed(), tests.target());
        let only = match by_cargo {
            ByCargo::All(_) => None,
            ByCargo::Named(names) => Some(&names[..]),
        };
        let (stem, until) = (&self.subject.harness.name, self.subject.budget.end());
        let file = TestFile {
            package,
            stem,
            target: &target,
            captured: tests.captured(),
            ends: (until, self.subject.stop),
        };
        let ended = committed::run(&file, only);
        let ended = match ended {
            Ok(ended) => ended,
            Err(why) => {
                let known = match by_cargo {
                    ByCargo::All(file) => list::tests_of(file),
                    ByCargo::Named(names) => names.clone(),
                };
                told.not_run.extend(committed::not_run(stem, known, &why));
                return Ok(());
            }
        };
        for (name, ended) in ended {
            let record = records.iter().find(|record| record.name == name);
            match ended {
                // A failing input is reported even if its test passes.
                Ended::Passed if told.is_failing(&name) => {}
                Ended::Passed => self.passes(&name, told)?,
                Ended::Ignored => self.reporting.event(&Event::Note {
                    level: Level::Warning,
                    message: format!("the test {name} is ignored, so it was not run"),
                }),
                Ended::NotRun(why) => told.not_run.push((name, why)),
                // Its input was run already and fails.
                Ended::Failed { .. } if told.is_failing(&name) => {}
                Ended::Failed { message, at } => {
                    told.pass.retain(|passing| *passing != name);
                    let finding = self.as_test(&name, record, &message, at);
                    let standing = record.map_or(Standing::StillFails, Record::standing);
                    self.fails_as(standing, finding, Vec::new(), None, told)?;
                }
            }
        }
        Ok(())
    }

    /// Records that the input of a record passes. Warns if it failed before and no longer reaches
    /// the function of the fault: then the harness may have changed while the fault remains.
    fn input_passes(&mut self, record: &Record, told: &mut Expectations) -> Result<(), Error> {
        let function = &record.identity.function;
        if record.failing && !function.is_empty() && !self.comes_to(function, &record.input()) {
            self.reporting.event(&Event::Note {
                level: Level::Warning,
                message: format!(
                    "the input of {} passes, but does not come to `{function}` any more: if the \
                     harness has changed, and not the C code, the fault may still be there",
                    record.name
                ),
            });
        }
        self.passes(&record.name, told)
    }

    /// Whether a run enters the user's function. Also true if the machine cannot follow the run to
    /// its end, so that it may.
    fn comes_to(&mut self, function: &str, tape: &[u8]) -> bool {
        let run = self.searching.search.observe(tape);
        let ends = matches!(
            run.outcome,
            Outcome::Returned(_) | Outcome::Exited(_) | Outcome::Rejected
        );
        let program = self.subject.program;
        let blocks = program.blocks.iter().zip(&run.counts);
        let mut entered = blocks.filter(|(_, count)| **count > 0);
        !ends || entered.any(|(block, _)| plain(&program.function(block.function).name) == function)
    }

    fn passes(&mut self, name: &str, told: &mut Expectations) -> Result<(), Error> {
        if let Some(memory) = &mut self.confirming.judge.memory {
            memory.note(name, None)?;
        }
        if !told.pass.iter().any(|passing| passing == name) {
            told.pass.push(name.to_owned());
        }
        Ok(())
    }

    /// Reports a record whose input fails in the campaign's own build. The machine's description is
    /// used if it sees the violation as well.
    fn fails(&mut self, record: &Record, told: &mut Expectations) -> Result<(), Error> {
        let tape = record.input();
        let run = self.searching.search.observe(&tape);
        let mut confirmed = None;
        if let Some(violation) = run
            .violation()
            .filter(|v| self.searching.search.wanted(v.kind))
        {
            let (judge, native) = (&self.confirming.judge, self.subject.native);
            confirmed = judge
                .violation(native, &tape, &run, violation, Origin::Given)?
                .ok();
            if confirmed.is_some() {
                self.searching.search.note_reported(violation);
            }
        }
        if confirmed.is_none() {
            confirmed = self.confirming.judge.crash(self.subject.native, &tape)?;
        }
        let (finding, events, check) = match confirmed {
            Some(Confirmed {
                finding,
                check,
                events,
                ..
            }) => (finding, events, check),
            // It failed in the earlier run, so its behaviour does not depend on the input alone.
            None => (
                self.as_test(&record.name, Some(record), &record.message, None),
                record.events(),
                None,
            ),
        };
        let finding = Finding {
            name: record.name.clone(),
            found_by: record.found_by.clone(),
            input: tape,
            ..finding
        };
        self.fails_as(record.standing(), finding, events, check, told)
    }

    /// Reports an expectation that does not hold.
    fn fails_as(
        &mut self,
        standing: Standing,
        mut finding: Finding,
        events: Vec<(String, Vec<u8>)>,
        check: Option<u32>,
        told: &mut Expectations,
    ) -> Result<(), Error> {
        finding.standing = standing;
        let name = finding.name.clone();
        if let Some(memory) = &mut self.confirming.judge.memory {
            memory.note(&name, Some(&finding.identity))?;
        }
        match standing {
            Standing::FailsAgain => told.fail_again.push(name),
            Standing::StillFails | Standing::New => told.still_fail.push(name),
        }
        self.found(Confirmed {
            finding,
            check,
            events,
            only_natively: false,
        })?;
        Ok(())
    }

    /// The finding for a failing test: taken from the record if there is one, otherwise from the
    /// test's message.
    fn as_test(
        &self,
        test: &str,
        record: Option<&Record>,
        message: &str,
        at: Option<(String, u32)>,
    ) -> Finding {
        let kind = record.map_or(CheckKind::Fail, |record| record.kind);
        let (file, line) = at.unwrap_or_else(|| match record {
            Some(record) => (record.identity.file.clone(), record.line),
            None => (
                format!(
                    "{}/tests/{}.rs",
                    self.package_name(),
                    self.subject.harness.name
                ),
                0,
            ),
        });
        let place = Place {
            file: self.confirming.judge.relative(&file),
            line,
            column: 0,
            // If the function is unknown, the test's name distinguishes faults.
            function: record.map_or_else(|| test.to_owned(), |r| r.identity.function.clone()),
        };
        Finding {
            harness: self.subject.harness.name.clone(),
            name: test.to_owned(),
            kind,
            message: format!("the test `{test}` fails: {message}"),
            identity: match record {
                Some(record) => record.identity.clone(),
                None => self.confirming.judge.identity(kind, &place, None, ""),
            },
            place,
            stack: Vec::new(),
            input: record.map(Record::input).unwrap_or_default(),
            found_by: record
                .map_or("a committed test", |record| &record.found_by)
                .to_owned(),
            standing: Standing::StillFails,
            blame: None,
        }
    }

    /// The package of the tests, as shown in messages.
    fn package_name(&self) -> String {
        let package = self
            .confirming
            .judge
            .tests
            .as_ref()
            .map(|tests| tests.committed());
        let package = package.map_or_else(String::new, |package| package.display().to_string());
        self.confirming.judge.relative(&package)
    }
}

/// The reason why an input was not run.
const TIME: &str = "the time was up";

/// A record whose input was not run in this campaign, and why. Its earlier result is not a finding,
/// since the C code may have changed.
fn not_run(record: &Record, why: &str) -> (String, String) {
    let before = match record.failing {
        true => "; it failed when it was run last",
        false => "",
    };
    (record.name.clone(), format!("{why}{before}"))
}

/// Reports the known inputs of a harness whose campaign did not run them, and returns how many
/// there are: none of them counts as passing.
pub(super) fn remember(
    options: &RunOptions,
    harness: &str,
    why: &str,
    reporter: &mut dyn Reporter,
) -> Result<u64, Error> {
    let (memory, _) = Memory::read(options.findings(harness))?;
    let told = Expectations {
        harness: harness.to_owned(),
        not_run: memory
            .records()
            .map(|record| not_run(record, why))
            .collect(),
        ..Expectations::default()
    };
    let count = told.not_run.len() as u64;
    if count > 0 {
        reporter.event(&Event::Expectations(told));
    }
    Ok(count)
}
