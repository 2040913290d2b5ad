//! Decides what counts as a finding.
//!
//! The machine or the fuzzer suspects a violation; this module confirms it. A suspected violation
//! becomes a finding when a native run in a process of its own, under AddressSanitizer and with
//! every inserted check, violates the same property. The place is reported, not compared. There is
//! one finding per fault ([`crate::findings::Identity`]); if another function leads to the same
//! fault, its input is a further input of that finding.

mod places;
mod words;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cegar_fuzz::native::Outcome;
use cegar_model::machine::{Execution, Violation};
use cegar_model::program::{CheckKind, Program, Property};
use cegar_search::simulate::search::Origin;

use super::native::{Native, fault};
use super::tests::Tests;
use crate::error::Error;
use crate::event::{Event, TestRef};
use crate::findings::{Identity, Memory, Record, Site, Standing};
use crate::verdict::{Finding, Place, rule_id};
use words::{message, native_kind};
pub use words::{plain, readable, told};

/// How often a fault that only native code shows is run again before it is reported.
const AGAIN: usize = 3;

/// A finding and the data needed to write its test.
#[derive(Clone, Debug)]
pub struct Confirmed {
    /// The finding as it is reported.
    pub finding: Finding,
    /// The violated check in the program, if the machine knows it.
    pub check: Option<u32>,
    /// The choices that the run made: channel and bytes, in order.
    pub events: Vec<(String, Vec<u8>)>,
    /// Whether only a native run shows the fault, and no limit of that run explains it.
    pub only_natively: bool,
}

/// Whether a fault was reported before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registered {
    /// It was not reported.
    New,
    /// It was reported, but for another calling function.
    Again,
    /// It was reported.
    Told,
}

/// Decides what is a finding, and names and stores findings.
pub struct Judge<'a> {
    harness: &'a str,
    program: &'a Program,
    root: PathBuf,
    properties: &'a [Property],
    pub(super) tests: Option<Tests<'a>>,
    /// The findings of earlier campaigns and of this one.
    pub memory: Option<Memory>,
    /// The faults that were reported, each with the functions that called the faulting one.
    told: Vec<(Identity, BTreeSet<String>)>,
    checks: BTreeSet<u32>,
    /// The findings, with their checks if these are known.
    pub findings: Vec<(Option<u32>, Finding)>,
    /// Faults of the harness itself, with their checks if these are known.
    pub preconditions: Vec<(Option<u32>, Finding)>,
    /// The tests that were written for the findings.
    pub written: Vec<TestRef>,
}

impl<'a> Judge<'a> {
    /// Creates a judge for a harness's runs. Paths are reported relative to `root`.
    pub fn new(
        harness: &'a str,
        program: &'a Program,
        properties: &'a [Property],
        root: &Path,
        tests: Option<Tests<'a>>,
        memory: Option<Memory>,
    ) -> Judge<'a> {
        Judge {
            harness,
            program,
            root: root.to_owned(),
            properties,
            tests,
            memory,
            told: Vec::new(),
            checks: BTreeSet::new(),
            findings: Vec::new(),
            preconditions: Vec::new(),
            written: Vec::new(),
        }
    }

    /// Whether there is a finding at this check.
    pub fn violated(&self, check: u32) -> bool {
        self.checks.contains(&check)
    }

    /// Records a fault of the harness itself. Returns whether it is new.
    pub fn record_precondition(&mut self, confirmed: &Confirmed) -> bool {
        let finding = &confirmed.finding;
        let mut known = self.preconditions.iter();
        if known
            .any(|(_, known)| known.identity.is(&finding.identity) && known.blame == finding.blame)
        {
            return false;
        }
        self.preconditions.push((confirmed.check, finding.clone()));
        true
    }

    /// The precondition that the harness violated when a run reached this check, or `None` if it
    /// violated none.
    pub fn unkept(&self, check: u32) -> Option<String> {
        let mut all = self.preconditions.iter();
        let (_, finding) = all.find(|(of, _)| *of == Some(check))?;
        let missing = &finding.blame.as_ref()?.missing;
        Some(
            missing
                .iter()
                .map(|one| one.words())
                .collect::<Vec<_>>()
                .join(", "),
        )
    }

    /// The number of findings.
    pub fn count(&self) -> u64 {
        self.told.len() as u64
    }

    /// Whether a fault was reported before. A new fault is recorded before it is reported, since
    /// its name is that of the record.
    pub fn register(&mut self, confirmed: &mut Confirmed) -> Result<Registered, Error> {
        self.checks.extend(confirmed.check);
        let identity = &confirmed.finding.identity;
        let caller = identity.caller.clone();
        if let Some((_, callers)) = self.told.iter_mut().find(|(told, _)| told.is(identity)) {
            // An unknown caller does not make a new finding.
            if caller.is_empty() || !callers.insert(caller) {
                return Ok(Registered::Told);
            }
            self.remember(confirmed, true)?;
            return Ok(Registered::Again);
        }
        let told = (identity.clone(), BTreeSet::from([caller]));
        self.remember(confirmed, false)?;
        self.told.push(told);
        self.findings
            .push((confirmed.check, confirmed.finding.clone()));
        Ok(Registered::New)
    }

    /// Stores the input of a fault. `further` says that the fault is known and another function
    /// calls here.
    fn remember(&mut self, confirmed: &mut Confirmed, further: bool) -> Result<(), Error> {
        let Some(memory) = &mut self.memory else {
            return Ok(());
        };
        let finding = &mut confirmed.finding;
        if finding.standing != Standing::New {
            // Its input is stored in the record already.
            return Ok(());
        }
        let name = match further {
            true => finding.identity.name_with_caller(),
            false => finding.identity.name(),
        };
        let known = match further {
            true => memory
                .records()
                .find(|known| known.failing && known.name == name),
            false => memory.failing(&finding.identity),
        };
        if let Some(known) = known {
            finding.standing = known.standing();
            finding.name = known.name.clone();
            return Ok(());
        }
        let name = memory.free_name(&name);
        if !further {
            finding.name.clone_from(&name);
        }
        let place = (finding.place.line, finding.place.column);
        memory.keep(Record::new(
            self.harness,
            &name,
            finding.identity.clone(),
            finding.kind,
            &finding.message,
            place,
            &finding.found_by,
            (&finding.input, &confirmed.events),
        ))
    }

    /// The identity of a fault at a place. `part` distinguishes several checks at that place;
    /// `caller` is the calling function.
    pub fn identity(
        &self,
        kind: CheckKind,
        place: &Place,
        part: Option<u32>,
        caller: &str,
    ) -> Identity {
        let mut all = self.program.functions.iter();
        let function = all.find(|known| {
            let file = self.program.files.get(known.pos.file as usize);
            plain(&known.name) == place.function
                && file.is_some_and(|file| self.relative(file) == place.file)
        });
        let site = Site {
            rule: rule_id(kind),
            file: &place.file,
            function: &place.function,
            begins: function.map_or(0, |function| function.pos.line),
            line: place.line,
            column: place.column,
            part,
            caller,
        };
        Identity::of(&self.root, &site)
    }

    /// Sets the check that a finding violates.
    pub fn assign(&mut self, finding: usize, check: u32) {
        if let Some((of, _)) = self.findings.get_mut(finding) {
            *of = Some(check);
            self.checks.insert(check);
        }
    }

    /// The folder to which reported paths are relative.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A path, relative to the root if it is below it.
    pub fn relative(&self, path: &str) -> String {
        let root = format!("{}/", self.root.display());
        path.strip_prefix(&root).unwrap_or(path).to_owned()
    }

    /// Judges a violation that the machine saw. The inner `Err` says why it is not a finding.
    pub fn violation(
        &self,
        native: &Native,
        tape: &[u8],
        run: &Execution,
        violation: &Violation,
        origin: Origin,
    ) -> Result<Result<Confirmed, String>, Error> {
        let seen = native.confirm(tape)?;
        let call = self.call_into_stubs(violation);
        let place = match call {
            Some((call, _)) => self.at(call.pos, &self.program.function(call.caller).name),
            None => self.check_place(violation),
        };
        if fault(&seen.outcome) != Some(violation.kind.property()) {
            return Ok(Err(format!(
                "{}: {} is what the engine sees, but the native run {}; it stays open",
                place.show(),
                message(violation.kind, &violation.detail),
                told(&seen.outcome),
            )));
        }
        let mut message = message(violation.kind, &violation.detail);
        if let Some((_, callee)) = call {
            let callee = plain(&self.program.function(callee).name);
            message = format!("{message}, in `{callee}`");
        }
        let stack = self.stack(violation);
        let part = self.part(violation, call.map(|(call, _)| call));
        let identity = self.identity(violation.kind, &place, part, caller(&place, &stack));
        let finding = Finding {
            harness: self.harness.to_owned(),
            name: identity.name(),
            kind: violation.kind,
            message,
            stack,
            place,
            input: tape.to_vec(),
            found_by: origin.to_string(),
            identity,
            standing: Standing::New,
            blame: None,
        };
        Ok(Ok(Confirmed {
            finding,
            check: violation.check.map(|check| check.0),
            only_natively: false,
            events: events(tape, run),
        }))
    }

    /// Whether a native run confirms the violation that the machine saw.
    pub fn is_shown(
        &self,
        native: &Native,
        tape: &[u8],
        violation: &Violation,
    ) -> Result<bool, Error> {
        let seen = native.confirm(tape)?;
        Ok(fault(&seen.outcome) == Some(violation.kind.property()))
    }

    /// Whether a fault that only native code shows occurs each time its tape is run again and, if
    /// its line is unknown, also in the program that its test would run. Threads and other
    /// influences besides the tape can make a program fail only once; such a fault cannot become a
    /// test.
    pub fn is_reproducible(
        &mut self,
        native: &Native,
        tape: &[u8],
        confirmed: &Confirmed,
    ) -> Result<bool, Error> {
        for _ in 0..AGAIN {
            if fault(&native.confirm(tape)?.outcome).is_none() {
                return Ok(false);
            }
        }
        let tests = self.tests.as_mut();
        let tests = tests.filter(|_| confirmed.finding.place.file.is_empty());
        Ok(tests
            .and_then(|tests| tests.shows(confirmed))
            .unwrap_or(true))
    }

    /// Whether a native run ended with a fault of a property that was asked for. With `memory`, a
    /// crash of any kind counts: a division by zero kills the program like an invalid access.
    pub fn is_fault(&self, outcome: &Outcome) -> bool {
        let Some(property) = fault(outcome) else {
            return false;
        };
        let is_killed = matches!(outcome, Outcome::Crashed(_));
        self.properties.contains(&property)
            || is_killed && self.properties.contains(&Property::Memory)
    }

    /// Judges an input on which only the native target failed.
    pub fn crash(&self, native: &Native, tape: &[u8]) -> Result<Option<Confirmed>, Error> {
        let seen = native.confirm(tape)?;
        if !self.is_fault(&seen.outcome) {
            return Ok(None);
        }
        // Frames are larger under the sanitizer, so the stack overflows sooner.
        let is_deep = match &seen.outcome {
            Outcome::Crashed(crashed) => crashed.signal == nix::libc::SIGSEGV,
            Outcome::Asan(asan) => asan.kind == "stack-overflow",
            _ => false,
        };
        if is_deep && !self.is_fault(&native.plain(tape)?.outcome) {
            return Ok(None);
        }
        let kind = native_kind(&seen.outcome);
        let frames: Vec<Place> = seen.stack.iter().map(|frame| self.frame(frame)).collect();
        let first = seen
            .stack
            .iter()
            .position(|frame| self.is_users(&frame.function));
        // Without a frame of the user's code, the stack contains only the runner's frames, and
        // there is no place to report.
        let place = match (&seen.outcome, first.and_then(|first| frames.get(first))) {
            (Outcome::Violated(violated), _) if violated.line > 0 => Place {
                file: self.relative(&violated.file),
                line: violated.line,
                column: violated.site.as_ref().map_or(0, |site| site.column),
                function: violated
                    .site
                    .as_ref()
                    .map(|site| plain(&site.function))
                    .unwrap_or_default(),
            },
            (_, Some(first)) => first.clone(),
            _ => Place::default(),
        };
        let callers: Vec<Place> = frames
            .iter()
            .filter(|frame| self.is_users(&frame.function))
            .cloned()
            .collect();
        let identity = self.identity(kind, &place, None, caller(&place, &callers));
        Ok(Some(Confirmed {
            finding: Finding {
                harness: self.harness.to_owned(),
                name: identity.name(),
                kind,
                message: match &seen.outcome {
                    Outcome::Violated(violated) => message(kind, &violated.what),
                    outcome => told(outcome),
                },
                stack: frames,
                place,
                input: tape.get(..seen.consumed as usize).unwrap_or(tape).to_vec(),
                found_by: Origin::Fuzzer.to_string(),
                identity,
                standing: Standing::New,
                blame: None,
            },
            check: None,
            only_natively: match &seen.outcome {
                Outcome::Violated(_) => true,
                Outcome::Asan(asan) => asan.kind != "stack-overflow",
                _ => false,
            },
            events: seen.events,
        }))
    }

    /// Writes the finding's test. Returns the events to report about it.
    pub fn write(&mut self, confirmed: Confirmed) -> Result<Vec<Event>, Error> {
        let Some(tests) = &mut self.tests else {
            return Ok(Vec::new());
        };
        let (events, test) = tests.write(&confirmed)?;
        if let (Some(memory), Some(test)) = (&self.memory, &test) {
            memory.commit(&test.name)?;
        }
        self.written.extend(test);
        Ok(events)
    }
}

/// The run's choices with the bytes that they took. Bytes past the end of the tape are zero.
pub fn events(tape: &[u8], run: &Execution) -> Vec<(String, Vec<u8>)> {
    run.choices
        .iter()
        .map(|choice| {
            let bytes = (choice.at..choice.at + choice.len)
                .map(|at| tape.get(at).copied().unwrap_or(0))
                .collect();
            (choice.channel.to_string(), bytes)
        })
        .collect()
}

/// The calling function: the innermost function on the stack other than the one at the place.
fn caller<'a>(place: &Place, stack: &'a [Place]) -> &'a str {
    let mut open = stack.iter().map(|frame| frame.function.as_str());
    open.find(|function| !function.is_empty() && *function != place.function)
        .unwrap_or_default()
}
