//! Damaged versions of the files that the tool itself reads: configurations, baselines, lists of
//! goals, certificates, caches, mock environments. Each file causes a typed error or is understood;
//! the tool neither panics nor dies from a signal.
//!
//! Valid files are mutated with fixed seeds, so that failures are reproducible.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use cargo_cegar::ci::baseline::Baseline;
use cargo_cegar::config::Config;
use cargo_cegar::coverage::{Coverage, lcov, table};
use cargo_cegar::explain::StoredCampaign;
use cargo_cegar::findings::Record;
use cargo_cegar::report::html::{Chapter, page};
use cegar_checker::{AskZ3, Certificate};
use cegar_model::program::Program;
use cegar_tests::{Project, Tool, exit};

/// Pseudo-random numbers (SplitMix64).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

/// Words that have a meaning in one of the formats, or are near a limit.
const WORDS: &[&[u8]] = &[
    b"0",
    b"-1",
    b"4294967295",
    b"18446744073709551616",
    b"1e999",
    b"null",
    b"\"\"",
    b"[]",
    b"{}",
    b"[[[[[[[[",
    b"\\u0000",
    b"\xff\xfe",
    b"(",
    b")",
    b"=",
    b"../../../etc/passwd",
    b"\n",
];

/// Applies a few changes to `bytes`: bits are flipped, pieces removed, duplicated or replaced by a
/// word.
fn mutated(bytes: &[u8], chance: &mut Chance) -> Vec<u8> {
    let mut all = bytes.to_vec();
    for _ in 0..1 + chance.below(3) {
        let at = chance.below(all.len());
        let end = (at + 1 + chance.below(24)).min(all.len());
        match chance.below(7) {
            0 if !all.is_empty() => all[at] ^= 1 << chance.below(8),
            1 => drop(all.drain(at..end)),
            2 => all.truncate(at),
            3 => {
                let piece = all[at..end].to_vec();
                let to = chance.below(all.len() + 1);
                all.splice(to..to, piece);
            }
            // Replacing a number keeps the format valid, so that the mutation gets further.
            4 => {
                let digit = |b: &u8| b.is_ascii_digit();
                if let Some(from) = all[at..].iter().position(digit).map(|n| at + n) {
                    let n = all[from..].iter().take_while(|b| digit(b)).count();
                    let number = chance.next() >> chance.below(64);
                    all.splice(from..from + n, number.to_string().into_bytes());
                }
            }
            _ => {
                let word = WORDS[chance.below(WORDS.len())];
                all.splice(at..end, word.iter().copied());
            }
        }
    }
    all
}

/// Tries `count` mutations of `valid`; a panic of `judge` shows the file that caused it.
fn tries(valid: &[u8], count: u64, seed: u64, mut judge: impl FnMut(&[u8])) {
    for number in 0..count {
        let mut chance = Chance(seed.wrapping_mul(1 << 32) + number);
        let bytes = mutated(valid, &mut chance);
        let judged = catch_unwind(AssertUnwindSafe(|| judge(&bytes)));
        assert!(
            judged.is_ok(),
            "mutation {number} is not survived:\n{}",
            String::from_utf8_lossy(&bytes)
        );
    }
}

fn write(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
}

fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()))
}

/// The folder of a campaign: its goals, its program and its certificate.
fn left() -> &'static Project {
    static LEFT: OnceLock<Project> = OnceLock::new();
    LEFT.get_or_init(|| {
        let project = Project::program("ring.c");
        let words =
            "check ring.c --property assertion --engine-only --runs 1 --no-emit --certificate left";
        Tool::new(project.path(), words.split(' '))
            .run()
            .expect(exit::CLEAN);
        project
    })
}

#[test]
fn configurations() {
    let project = Project::empty();
    let path = project.at("cegar.toml");
    let valid = "[c]\nsources = [\"../c/a.c\"]\ndefines = { N = 10, FAST = true }\nlink = [\"z\"]\n\
        [run]\nmax_time = \"10m\"\nruns = 7\n[harness.one]\nproperty = [\"memory\", \"all\"]\n\
        argv = 2\ntimeout = \"1s\"\n[external.bus]\nreturns = \"0..=7 | -errno, not null\"\n\
        writes = false\n";
    let (mut good, mut bad) = (0, 0);
    tries(valid.as_bytes(), 3000, 1, |bytes| {
        write(&path, bytes);
        match Config::read(&path) {
            Ok(config) => {
                good += 1;
                for rules in config.external.values() {
                    // Rules are parsed later; that must not panic either.
                    let _ = rules.returned();
                }
            }
            Err(why) => {
                bad += 1;
                assert!(why.to_string().contains("cegar.toml"), "{why}");
            }
        }
    });
    // If no mutation parsed, or all did, the test would be useless.
    assert!(good > 100 && bad > 1000, "{good} {bad}");
}

#[test]
fn baselines() {
    let project = Project::empty();
    let path = project.at("baseline.json");
    let valid = r#"{"format":2,"findings":[{"identity":{"file":"c/a.c","function":"f","rule":"array-bound","text":"a[i]=1;","column":1,"occurrence":0,"context":"00","caller":"g"},"line":7,"message":"m"}]}"#;
    tries(valid.as_bytes(), 1000, 2, |bytes| {
        write(&path, bytes);
        if let Err(why) = Baseline::read(&path, false) {
            assert!(why.to_string().contains("baseline.json"), "{why}");
        }
    });
}

#[test]
fn records_of_findings() {
    let project = Project::empty();
    let path = project.at("record.json");
    let valid = r#"{"format":1,"harness":"h","name":"f_array_bound_1","identity":{"file":"c/a.c","function":"f","rule":"array-bound","text":"a[i]=1;","column":null,"occurrence":0,"context":"00","caller":"g"},"kind":"array_bound","message":"m","line":7,"column":2,"found_by":"fuzzing","failing":true,"seen_passing":false,"tape":"YWFh","choices":[{"channel":"stdin","bytes":"YQ=="}]}"#;
    tries(valid.as_bytes(), 1000, 2, |bytes| {
        write(&path, bytes);
        if let Err(why) = Record::read(&path) {
            assert!(why.to_string().contains("record.json"), "{why}");
        }
    });
    write(&path, valid.as_bytes());
    Record::read(&path).unwrap_or_else(|why| panic!("{why}"));
}

#[test]
fn lists_of_goals() {
    let whole = left();
    let project = Project::empty();
    fs::create_dir(project.at("left")).unwrap_or_else(|why| panic!("{why}"));
    for name in ["program.bc", "certificate.json"] {
        let bytes = read(&whole.at(&format!("left/{name}")));
        write(&project.at(&format!("left/{name}")), &bytes);
    }
    let valid = read(&whole.at("left/goals.json"));
    let folder = project.at("left");
    let mut understood = 0;
    tries(&valid, 400, 3, |bytes| {
        write(&folder.join("goals.json"), bytes);
        match StoredCampaign::read(&folder) {
            Ok(left) => {
                understood += 1;
                let coverage = Coverage::of(&left);
                assert!(!table(&coverage).is_empty() && !lcov(&coverage).contains('\0'));
                if let Ok(chapter) = Chapter::read("ring", &folder, &[]) {
                    assert!(!page("x", &[chapter], &[]).contains("<script"));
                }
            }
            Err(why) => assert!(why.to_string().contains("left"), "{why}"),
        }
    });
    assert!(understood > 2, "{understood}");
}

#[test]
fn certificates() {
    let folder = left().at("left");
    let valid = read(&folder.join("certificate.json"));
    let program = Program::load(&folder.join("program.bc")).unwrap_or_else(|why| panic!("{why}"));
    let known: Certificate = serde_json::from_slice(&valid).unwrap_or_else(|why| panic!("{why}"));
    let (mut checked, mut refused) = (0, 0);
    tries(&valid, 400, 4, |bytes| {
        let Ok(certificate) = serde_json::from_slice::<Certificate>(bytes) else {
            return;
        };
        // Each check needs the solver, so only some of the certificates that parse are checked.
        if checked >= 12 || certificate == known {
            return;
        }
        checked += 1;
        let limits = cegar_model::solver::Limits::default();
        let asked = &mut AskZ3;
        if cegar_checker::check(&program, &known.bitcode, &certificate, limits, asked).is_err() {
            refused += 1;
        }
    });
    assert!(checked == 12 && refused > 0, "{checked} {refused}");
}

/// Damaged bitcode in a cache is not passed to LLVM, which may crash on it.
#[test]
fn damaged_caches() {
    let project = Project::package(
        "int demo(const unsigned char *data, size_t size) { return size && data[0] == 7; }\n",
    );
    let cache = project.at("cache");
    let run = || {
        let words = ["run", "--runs", "50", "--fuzz-only", "--no-emit"];
        Tool::new(project.path(), words)
            .env("CEGAR_CACHE", &cache)
            .run()
    };
    run().expect(exit::CLEAN);
    let mut chance = Chance(5);
    let mut damaged = 0;
    for folder in [project.at("target/cegar"), cache.clone()] {
        damaged += damage(&folder, &mut chance);
    }
    assert!(damaged > 10, "{damaged}");
    run().expect(exit::CLEAN);
}

/// Foreign bitcode that matches the hash in its certificate: LLVM may crash on it, the tool must
/// not.
#[test]
fn bitcode_that_fits_its_certificate() {
    let folder = left().at("left");
    let valid = read(&folder.join("program.bc"));
    let text = read(&folder.join("certificate.json"));
    let mut certificate: Certificate =
        serde_json::from_slice(&text).unwrap_or_else(|why| panic!("{why}"));
    let project = Project::empty();
    let (mut refused, mut read) = (0, 0);
    for number in 0..40u64 {
        let mut bytes = valid.clone();
        let mut chance = Chance(7 << 32 | number);
        let at = chance.below(bytes.len());
        bytes[at] ^= 1 << chance.below(8);
        if number % 8 == 0 {
            bytes.truncate(at);
        }
        write(&project.at("program.bc"), &bytes);
        let digest = <sha2::Sha256 as sha2::Digest>::digest(&bytes);
        certificate.bitcode = cargo_cegar::store::hex(&digest);
        let text = serde_json::to_vec(&certificate).unwrap_or_default();
        write(&project.at("certificate.json"), &text);
        let ended = Tool::new(project.path(), ["check-proof", "certificate.json"]).run();
        match ended.code {
            Some(exit::CLEAN | exit::REJECTED) => read += 1,
            Some(exit::USAGE) => {
                refused += 1;
                ended.expect_message("no bitcode of ours");
            }
            _ => panic!("{ended}"),
        }
    }
    assert!(refused > 5 && read > 5, "{refused} {read}");
}

/// Damages all bitcode files below a folder. Returns their number.
fn damage(folder: &Path, chance: &mut Chance) -> usize {
    let mut count = 0;
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            count += damage(&path, chance);
        } else if path.extension().is_some_and(|e| e == "bc") {
            write(&path, &mutated(&read(&path), chance));
            count += 1;
        }
    }
    count
}

/// The C runtime of generated tests reads a mock environment or reports that it is invalid.
#[test]
fn mock_environments() {
    let project = Project::package(
        "int demo(const unsigned char *data, size_t size) { return size > 3 && data[0] == data[3]; \
         }\n",
    );
    let out = project.at("out");
    let build = cegar_harness::build::Build::from_package(&project.at("cegar"), "harnesses");
    let built = build
        .and_then(|build| build.out_dir(&out).try_compile())
        .unwrap_or_else(|why| panic!("{why}"));
    let mut valid = b"CEGMOCK1".to_vec();
    for (name, bytes) in [
        ("data", &b"0123456789"[..]),
        ("stdin", b"abc"),
        ("int", &[1, 0, 0, 0]),
    ] {
        valid.extend((name.len() as u32).to_le_bytes());
        valid.extend(name.as_bytes());
        valid.extend((bytes.len() as u64).to_le_bytes());
        valid.extend(bytes);
    }
    let path = project.at("mock");
    let (mut read, mut told) = (0, 0);
    tries(&valid, 150, 6, |bytes| {
        write(&path, bytes);
        let ended = Command::new(&built[0].runner)
            .env("CEGAR_MOCK", &path)
            .stdin(Stdio::null())
            .output()
            .unwrap_or_else(|why| panic!("{why}"));
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        match ended.status.code() {
            Some(0) => read += 1,
            Some(72) => {
                told += 1;
                assert!(said.contains("mock environment"), "{said}");
            }
            other => panic!("{other:?}: {said}"),
        }
    });
    assert!(read > 3 && told > 10, "{read} {told}");
}
