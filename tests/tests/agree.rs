//! Compares the machine with native execution, on whole programs and random tapes.
//!
//! Both execute the same module, so both must see the same run: the same end, the same execution
//! count of each block, the same bytes of the tape for the same channels, the same transcript. The
//! rest of the project relies on that: a corpus entry that the machine replays differently is a
//! wrong start for a partial simulation, and a violation that only one side sees is no finding.
//! After an access that the machine calls invalid, a plain native run may behave in any way; for
//! such tapes the native side is the build with AddressSanitizer, and only the verdict is compared.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

use cargo_cegar::campaign::agreement::disagreement;
use cargo_cegar::campaign::prepare::{Prepared, prepare};
use cargo_cegar::compile::{Compiler, Unit};
use cargo_cegar::options::{Harness, Settings};
use cargo_cegar::report::{Event, Reporter};
use cegar_fuzz::native::{Kind, RunOptions, Runner, TargetBuilder};
use cegar_model::machine::{Execution, Limits, Machine, Outcome};
use cegar_model::program::Property;
use cegar_tests::{Project, one_in, thorough};

/// The number of tapes for each program.
const TAPES: u64 = 200;
const FEWER: u64 = 40;
const EVERYTHING: [Property; 3] = [Property::Assertion, Property::Memory, Property::Overflow];
const RECORDED: RunOptions = RunOptions {
    timeout_ms: 10_000,
    events: true,
    output: true,
};

/// A reporter that ignores all events.
struct Silent;

impl Reporter for Silent {
    fn event(&mut self, _: &Event) {}
}

/// Pseudo-random numbers that are the same in every run (xorshift).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }
}

/// Random tapes of 0 to 200 bytes: any bytes, text, digits with separators, small numbers, zeros.
fn tapes(seed: u64) -> Vec<Vec<u8>> {
    let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15 ^ (seed + 1) << 17);
    let count = if thorough() { TAPES } else { FEWER };
    (0..count)
        .map(|n| {
            let len = numbers.next() % if n % 3 == 0 { 16 } else { 201 };
            let mut byte = |kind: u64| match kind {
                0 => 0,
                1 => b' ' + (numbers.next() % 95) as u8,
                2 => b"0123456789 0x-,\n"[(numbers.next() % 16) as usize],
                3 => (numbers.next() % 8) as u8,
                _ => numbers.next() as u8,
            };
            (0..len).map(|_| byte(n % 8)).collect()
        })
        .collect()
}

/// A C program that is executed on both sides.
struct Program {
    folder: Project,
    prepared: Prepared,
}

impl Program {
    fn new(name: &str, files: &[PathBuf], flags: &[String], properties: &[Property]) -> Program {
        let folder = Project::empty();
        let headers = cargo_cegar::plan::stub_headers(folder.path())
            .unwrap_or_else(|why| panic!("{name}: {why}"));
        let mut flags = flags.to_vec();
        flags.push(format!("-I{}", headers.display()));
        let units = files
            .iter()
            .map(|source| Unit {
                source: source.clone(),
                directory: folder.path().to_owned(),
                flags: flags.clone(),
            })
            .collect();
        let mut harness = Harness::new(name, units);
        harness.properties = properties.to_vec();
        harness.argv = 2;
        let settings = Settings::new(Compiler::find().unwrap_or_else(|why| panic!("{why}")));
        let stop = AtomicBool::new(false);
        let prepared = prepare(&harness, &settings, folder.path(), &mut Silent, &stop)
            .unwrap_or_else(|why| panic!("{name}: {why}"));
        Program { folder, prepared }
    }

    fn runner(&self, kind: Kind) -> Runner {
        let builder = TargetBuilder::new(&self.prepared.bitcode, self.folder.at("native"));
        let target = builder.build(kind);
        Runner::new(&target.unwrap_or_else(|why| panic!("{why}")))
    }

    /// The differences between the two sides, and the number of runs that were compared to their
    /// end.
    fn differences(&self, tapes: &[Vec<u8>], limits: Limits) -> (Vec<String>, usize) {
        let program = &self.prepared.program;
        let machine = Machine::new(program, limits);
        let runs: Vec<Execution> = tapes.iter().map(|tape| machine.run(tape)).collect();
        let memory = |run: &Execution| {
            run.violation()
                .is_some_and(|v| v.kind.property() == Property::Memory)
        };
        let mut told = Vec::new();
        let mut compared = 0;
        for (kind, faulty) in [(Kind::Runner, false), (Kind::RunnerAsan, true)] {
            let chosen: Vec<usize> = (0..tapes.len())
                .filter(|&i| memory(&runs[i]) == faulty)
                .collect();
            if chosen.is_empty() {
                continue;
            }
            let paths: Vec<PathBuf> = chosen
                .iter()
                .map(|i| self.folder.at(&format!("tape-{i}")))
                .collect();
            for (i, path) in chosen.iter().zip(&paths) {
                fs::write(path, &tapes[*i]).unwrap_or_else(|why| panic!("{why}"));
            }
            let seen = self.runner(kind).run(&paths, RECORDED);
            let seen = seen.unwrap_or_else(|why| panic!("{why}"));
            for (i, native) in chosen.into_iter().zip(&seen) {
                let run = &runs[i];
                match &run.outcome {
                    Outcome::Unmodelled(n) => {
                        let what = program.unmodelled.get(*n as usize);
                        told.push(format!("tape {i}: not modelled: {what:?}"));
                    }
                    Outcome::StepLimit => {}
                    _ => compared += 1,
                }
                if let Some(how) = disagreement(program, &tapes[i], run, native, RECORDED) {
                    told.push(format!("tape {i} ({:02x?}): {how}", tapes[i]));
                }
            }
        }
        (told, compared)
    }
}

/// Compares programs on both sides and fails with all differences. Each program is a name, its
/// files and its flags.
fn agree(programs: &[(String, Vec<PathBuf>, Vec<String>)]) {
    let mut told = String::new();
    let step = if programs.len() < 8 { 1 } else { one_in(2) };
    let some = programs.iter().step_by(step).enumerate();
    for (seed, (name, files, flags)) in some {
        if env::var("AGREE_ONLY").is_ok_and(|only| !name.contains(&only)) {
            continue;
        }
        let sets = [&EVERYTHING[..2], &EVERYTHING[..]];
        // Compilation takes most of the time: unless the tests are thorough, only half of the
        // programs are used, and every second one of these without checks of overflow.
        let sets = match thorough() {
            true => &sets[..],
            false => &sets[seed % 2..=seed % 2],
        };
        for properties in sets {
            let program = Program::new(name, files, flags, properties);
            let (differences, compared) =
                program.differences(&tapes(seed as u64), Limits::default());
            eprintln!("{name}: {compared} runs, {} differ", differences.len());
            for difference in differences.iter().take(4) {
                told.push_str(&format!("{name}: {difference}\n"));
            }
            if compared == 0 {
                told.push_str(&format!("{name}: no run came to its end\n"));
            }
        }
    }
    assert!(told.is_empty(), "\n{told}");
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The programs of a folder: each C file is one.
fn folder(name: &str) -> Vec<(String, Vec<PathBuf>, Vec<String>)> {
    let entries = fs::read_dir(root().join(name)).unwrap_or_else(|why| panic!("{name}: {why}"));
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "c"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{name} is empty");
    let program = |path: PathBuf| {
        let stem = path.file_stem().unwrap_or_default();
        (stem.to_string_lossy().into_owned(), vec![path], Vec::new())
    };
    files.into_iter().map(program).collect()
}

#[test]
fn programs_by_c_feature() {
    agree(&folder("agree"));
}

#[test]
fn programs_with_violations() {
    let mut programs = folder("programs");
    // In `far.c` the native run does not show the violation that the machine sees.
    programs.retain(|(name, ..)| name != "far");
    agree(&programs);
}

#[test]
fn the_examples() {
    let examples = root().with_file_name("examples");
    let program = |name: &str| {
        let folder = examples.join(name);
        let files = vec![
            folder.join(format!("cegar/harnesses/{name}.c")),
            folder.join(format!("c/{name}.c")),
        ];
        let flags = vec![format!("-I{}", folder.join("c").display())];
        (name.to_owned(), files, flags)
    };
    agree(&["linebuf", "tabfile"].map(program));
}

/// Programs from csmith: `CEGAR_CSMITH` of them (10), from seed `CEGAR_CSMITH_FROM` (1). The
/// transcript contains the checksum of all their variables.
#[test]
fn random_programs() {
    let number = |name: &str, default: u64| {
        let text = env::var(name).ok();
        text.and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    if Command::new("csmith").arg("--version").output().is_err() {
        eprintln!("csmith is not installed: nothing compared");
        return;
    }
    let (from, count) = (number("CEGAR_CSMITH_FROM", 1), number("CEGAR_CSMITH", 10));
    let (mut told, mut agreed) = (String::new(), 0);
    for seed in from..from + count {
        let text = Project::empty();
        let output = Command::new("csmith")
            // csmith leaves a file in its working directory.
            .current_dir(text.path())
            .args(["--seed", &seed.to_string()])
            .args(["--max-funcs", "5", "--max-block-depth", "4"])
            .args(["--no-argc", "--concise"])
            .output()
            .unwrap_or_else(|why| panic!("csmith: {why}"));
        text.write("random.c", &String::from_utf8_lossy(&output.stdout));
        let flags = ["-I/usr/include/csmith".to_owned(), "-w".to_owned()];
        let name = format!("csmith_{seed}");
        let program = Program::new(&name, &[text.at("random.c")], &flags, &EVERYTHING[..2]);
        let limits = Limits {
            steps: 20_000_000,
            ..Limits::default()
        };
        let (differences, compared) = program.differences(&[Vec::new()], limits);
        agreed += compared;
        for difference in differences {
            told.push_str(&format!("seed {seed}: {difference}\n"));
        }
    }
    eprintln!("{agreed} of {count} random programs came to their end");
    assert!(told.is_empty(), "\n{told}");
    assert!(agreed > 0, "no random program came to its end");
}
