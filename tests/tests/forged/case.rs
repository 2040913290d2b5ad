//! Programs, their honest certificates, and the checker's verdict on changed certificates.

use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use cegar_checker::certificate::{
    BytesClaim, CutClaim, KindClaim, KnownClaim, ObjectClaim, ValueClaim,
};
use cegar_checker::{AskZ3, Certificate, Checked, Claim, Rejected};
use cegar_model::machine::{Limits, Machine, Outcome};
use cegar_model::program::{Program, Property};
use cegar_model::solver;
use cegar_papers::prove;
use cegar_search::strategy::Options;
use cegar_tests::Project;

use crate::compiled;

pub const ASSERTION: &[Property] = &[Property::Assertion];
pub const MEMORY: &[Property] = &[Property::Assertion, Property::Memory];
pub const ALL: &[Property] = &[Property::Assertion, Property::Memory, Property::Overflow];

/// The hash that all certificates here give for their bitcode.
const HASH: &str = "forged";
/// The mark of a bug's line in a program's text.
const MARK: &str = "/* BUG */";

/// A program and its honest certificate.
pub struct Case {
    pub program: Program,
    pub honest: Certificate,
    text: String,
}

impl Case {
    /// Compiles a program and proves what can be proved with facts at cut points alone.
    pub fn new(text: &str, flags: &[&str], properties: &[Property]) -> Case {
        Case::of(text, flags, properties, false)
    }

    /// Compiles a program and proves what can be proved with the floor, so that the certificate
    /// contains states of the whole program.
    pub fn on_floor(text: &str, flags: &[&str], properties: &[Property]) -> Case {
        Case::of(text, flags, properties, true)
    }

    fn of(text: &str, flags: &[&str], properties: &[Property], floor: bool) -> Case {
        let project = Project::empty();
        project.write("case.c", text);
        let flags: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
        let program = compiled::from_files(&[project.at("case.c")], &flags, None, properties);
        let program = program.unwrap_or_else(|why| panic!("{why}\n{text}"));
        let options = Options {
            properties: properties.to_vec(),
            counted: true,
            time: Duration::from_secs(6),
            floor,
            ..Options::default()
        };
        let proof = prove(&program, &options, &AtomicBool::new(false));
        let honest = proof.outcome(HASH, properties).certificate;
        let case = Case {
            program,
            honest,
            text: text.to_owned(),
        };
        if let Err(why) = case.check(&case.honest) {
            panic!("the honest certificate is rejected: {why}\n{text}");
        }
        case
    }

    /// The corrected program (with `FIXED`) and the faulty one.
    pub fn pair(text: &str, properties: &[Property]) -> (Case, Case) {
        (
            Case::new(text, &["-DFIXED"], properties),
            Case::new(text, &[], properties),
        )
    }

    /// The checker's verdict. The checker's limits are counts, not times, so that it is
    /// reproducible.
    pub fn check(&self, certificate: &Certificate) -> Result<Checked, Rejected> {
        let limits = solver::Limits {
            time: Some(Duration::from_secs(4)),
            ..solver::Limits::default()
        };
        cegar_checker::check(
            &self.program,
            HASH,
            certificate,
            limits.counted(),
            &mut AskZ3,
        )
    }

    /// The honest certificate with a change.
    pub fn forged(&self, change: impl FnOnce(&mut Certificate)) -> Certificate {
        let mut certificate = self.honest.clone();
        change(&mut certificate);
        certificate
    }

    /// Asserts that the checker rejects a change. Returns the reason.
    #[track_caller]
    pub fn rejects(&self, what: &str, change: impl FnOnce(&mut Certificate)) -> String {
        let forged = self.forged(change);
        assert!(forged != self.honest, "{what}: nothing was changed");
        match self.check(&forged) {
            Err(why) => why.to_string(),
            Ok(_) => panic!("{what}: accepted, of\n{}", self.text),
        }
    }

    /// Asserts that the checker accepts a change, since the rest claims the same or less.
    #[track_caller]
    pub fn accepts(&self, what: &str, change: impl FnOnce(&mut Certificate)) {
        let forged = self.forged(change);
        assert!(forged != self.honest, "{what}: nothing was changed");
        if let Err(why) = self.check(&forged) {
            panic!("{what}: {why}, of\n{}", self.text);
        }
    }

    /// The checks of user code in the lines with the bug's mark.
    pub fn marked(&self) -> Vec<u32> {
        let lines: Vec<&str> = self.text.lines().collect();
        let is_marked = |line: u32| {
            let line = lines.get((line as usize).wrapping_sub(1));
            line.is_some_and(|line| line.contains(MARK))
        };
        let all = (0u32..).zip(&self.program.checks);
        let marked =
            all.filter(|(_, check)| is_marked(check.pos.line) && self.is_user(check.function));
        marked.map(|(id, _)| id).collect()
    }

    /// The first block of the user's `main`.
    pub fn entry_of_main(&self) -> u32 {
        let id = self.program.function_named("cegar_user_main");
        let id = id.unwrap_or_else(|| panic!("no main in\n{}", self.text));
        self.program.function(id).blocks.start
    }

    fn is_user(&self, function: cegar_model::program::FuncId) -> bool {
        use cegar_model::program::FunctionKind;
        self.program.function(function).kind == FunctionKind::User
    }

    /// The marked check that the machine sees violated with one of these tapes.
    #[track_caller]
    pub fn bug(&self, tapes: &[Vec<u8>]) -> u32 {
        let machine = Machine::new(&self.program, Limits::default());
        let marked = self.marked();
        for tape in tapes {
            if let Outcome::Violated(violation) = machine.run(tape).outcome
                && let Some(check) = violation.check
                && marked.contains(&check.0)
            {
                let id = check.0;
                assert!(
                    self.honest.check(id).is_none(),
                    "what an input violates is proved, of\n{}",
                    self.text
                );
                return id;
            }
        }
        let said: Vec<Outcome> = tapes.iter().map(|t| machine.run(t).outcome).collect();
        panic!("no input violates {marked:?} in\n{}\n{said:?}", self.text);
    }

    /// Adds claims that these checks hold.
    pub fn claim(certificate: &mut Certificate, checks: &[u32]) {
        for &id in checks {
            if certificate.check(id).is_none() {
                certificate.checks.push(Claim { id, given: None });
            }
        }
    }

    /// The index of a global among the certificate's objects.
    pub fn global(&self, name: &str) -> usize {
        let is_it = |object: &ObjectClaim| match object.kind {
            KindClaim::Global(id) => self.program.globals[id as usize].name == name,
            KindClaim::Made { .. } => false,
        };
        let at = self.honest.objects.iter().position(is_it);
        at.unwrap_or_else(|| panic!("nothing is stated of {name}"))
    }

    /// Changes the state of an object at one cut point.
    pub fn know(
        certificate: &mut Certificate,
        cut: usize,
        object: usize,
        change: impl FnOnce(&mut KnownClaim),
    ) {
        let new = certificate.known.len() as u32;
        let stated = &mut certificate.cuts[cut].objects;
        let entry = stated.iter_mut().find(|(id, _)| *id as usize == object);
        let (_, place) = entry.unwrap_or_else(|| panic!("nothing is known of object {object}"));
        let mut known = certificate.known[*place as usize].clone();
        *place = new;
        change(&mut known);
        certificate.known.push(known);
    }

    /// The indices of the cut points in the user's functions.
    pub fn cuts(&self, certificate: &Certificate) -> Vec<usize> {
        let all = certificate.cuts.iter().enumerate();
        let of_user = all.filter(|(_, cut)| {
            let block = cegar_model::program::BlockId(cut.block);
            self.is_user(self.program.block(block).function)
        });
        of_user.map(|(at, _)| at).collect()
    }

    /// The variables of a cut point, as formulas write them, with their widths.
    pub fn variables(&self, certificate: &Certificate, cut: &CutClaim) -> Vec<(String, u16)> {
        let mut all = Vec::new();
        for (frame, reg, value) in &cut.registers {
            let (key, function) = self.frame(cut, *frame);
            let width = self.program.function(function).registers[*reg as usize];
            parts(&format!("r{key}:{reg}"), width, value, &mut all);
        }
        for &(object, known) in &cut.objects {
            let key = object_key(&certificate.objects[object as usize]);
            let known = &certificate.known[known as usize];
            if known.alive == ValueClaim::Any {
                all.push((format!("|l{key}|:1"), 1));
            }
            if known.size == ValueClaim::Any {
                all.push((format!("|s{key}|:64"), 64));
            }
            if let BytesClaim::Cells(cells) | BytesClaim::Mixed(cells) = &known.bytes {
                for (offset, width, value) in cells {
                    parts(&format!("m{key}:{offset}:{width}"), *width, value, &mut all);
                }
            }
        }
        all
    }

    /// The name and the function of a frame of a cut point.
    pub fn frame(&self, cut: &CutClaim, frame: u32) -> (String, cegar_model::program::FuncId) {
        let mut key = String::new();
        let mut function = self.program.entry;
        for step in cut.context.split('/').skip(1).take(frame as usize) {
            let _ = write!(key, "/{step}");
            let callee = step.rsplit('.').next().and_then(|id| id.parse().ok());
            function = cegar_model::program::FuncId(callee.unwrap_or_default());
        }
        (key, function)
    }
}

/// The variables of a value.
fn parts(key: &str, width: u16, value: &ValueClaim, all: &mut Vec<(String, u16)>) {
    match value {
        ValueClaim::Is(_) => {}
        ValueClaim::Any | ValueClaim::Within(..) => all.push((format!("|{key}|:{width}"), width)),
        ValueClaim::Points(bases, offset) => {
            if bases.len() > 1 {
                all.push((format!("|{key}^|:32"), 32));
            }
            if offset.is_none() {
                all.push((format!("|{key}+|:64"), 64));
            }
        }
    }
}

/// The name of an object in formulas.
pub fn object_key(object: &ObjectClaim) -> String {
    match &object.kind {
        KindClaim::Global(id) => format!("g{id}"),
        KindClaim::Made {
            context,
            block,
            op,
            part,
        } => format!("{context}@{block}.{op}.{part}"),
    }
}
