//! Compares the prover with the machine: nothing is "proved" that some execution violates.
//!
//! An unsound prover looks like a good one. So thousands of programs are generated whose truth is
//! known, by executing them on all their inputs or by construction, and each answer of the prover
//! is compared with it. `CEGAR_PROOFS=20000` runs this many programs with a random seed
//! (`CEGAR_PROOFS_SEED` sets it) instead of two hundred (with `CEGAR_TESTS=all` a thousand) with a
//! fixed one:
//! `CEGAR_PROOFS=10000 cargo test --release -p cegar-tests --test proofs -- --nocapture programs`.
//! The checker checks every certificate, and a prover that proves next to nothing fails, too.

mod compiled;
mod ends;
mod follow;
mod fragments;
mod ground;
mod judge;
mod kinds;
mod nodes;
mod owned;
mod random;
mod requests;
mod tally;
mod truth;
mod whole;

use std::env;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use cegar_model::machine::{Limits, Machine, Outcome};
use cegar_model::program::Property;
use cegar_search::simulate::search::Origin;
use cegar_search::strategy;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use cegar_tests::{one_in, thorough};
use judge::judge;
use kinds::{Grammar, KnownTruth, ProgramSource};
use tally::{MinimumRates, Total};
use truth::Truth;

const ASSERTION_AND_MEMORY: &[Property] = &[Property::Assertion, Property::Memory];
const EVERYTHING: &[Property] = &[Property::Assertion, Property::Memory, Property::Overflow];
/// The rates required for random programs. Measured: something is proved of 82 % of the programs,
/// and 87 to 92 % of the checks are proved, depending on the seed.
const RANDOM: MinimumRates = MinimumRates {
    programs: 70,
    checks: 80,
    whole: (&[], 0),
};
/// The rates required for programs of known truth. Measured: something is proved of 88 % of the
/// programs, and 80 % of the checks are proved, including those that are proved if others hold.
const KNOWN: MinimumRates = MinimumRates {
    programs: 75,
    checks: 60,
    whole: (
        &[
            "block of any size",
            "blocks",
            "fill",
            "line",
            "line in a function",
            "matrix",
            "ring",
            "search",
            "states",
            "toggle",
            "transfer",
            "vector",
        ],
        60,
    ),
};
/// The number of programs in one file.
const FILE: usize = 24;
/// The maximum number of shrinking steps for a wrong answer.
const SHRINKING: usize = 60;

fn number(name: &str) -> Option<u64> {
    env::var(name).ok()?.parse().ok()
}

/// The number of programs, and the seed.
fn volume() -> (usize, u64) {
    match number("CEGAR_PROOFS") {
        Some(count) => {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            let random = now.map_or(0, |d| d.as_nanos() as u64);
            let seed = number("CEGAR_PROOFS_SEED").unwrap_or(random);
            (count as usize, seed)
        }
        None => {
            let count = if thorough() { 1000 } else { 200 };
            (count, number("CEGAR_PROOFS_SEED").unwrap_or(1))
        }
    }
}

fn runner(seed: u64) -> TestRunner {
    let mut bytes = [0u8; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    TestRunner::new_with_rng(Config::default(), rng)
}

/// Judges `count` programs of a kind. Wrong answers are recorded with a shrunk program.
fn compare<K: ProgramSource>(kind: &K, count: usize, seed: u64) -> Total {
    let next = AtomicUsize::new(0);
    let total = Total::default();
    let files = count.div_ceil(FILE);
    let work = || {
        loop {
            let file = next.fetch_add(1, Ordering::Relaxed);
            if file >= files {
                return;
            }
            let properties = if file % 4 == 3 {
                EVERYTHING
            } else {
                ASSERTION_AND_MEMORY
            };
            let mut runner = runner(seed.wrapping_add((file as u64) << 32));
            let mut trees = kind.trees(&mut runner, FILE.min(count - file * FILE));
            let programs: Vec<K::Value> = trees.iter().map(|tree| tree.current()).collect();
            let judged = kind.judge(&programs, 0, properties);
            for (i, (judgement, _)) in judged.iter().enumerate() {
                let small = (!judgement.wrong.is_empty())
                    .then(|| shrunk(kind, trees[i].as_mut(), i, properties));
                let sort = kind.shape(&programs[i]);
                let asked = match properties == EVERYTHING {
                    true => "everything",
                    false => "no overflows",
                };
                total.add(&format!("{sort}, {asked}"), judgement);
                if let Some((what, text)) = small {
                    let told = format!(
                        "seed {seed}, file {file}, program {i}: {}\nmade small: {}\n{text}",
                        judgement.wrong.join("; "),
                        what.join("\n")
                    );
                    total.wrong(told);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(2, |n| n.get());
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    total
}

/// Shrinks a program with a wrong answer. Returns the wrong answers and the text of the smallest
/// such program found.
fn shrunk<K: ProgramSource>(
    kind: &K,
    tree: &mut dyn ValueTree<Value = K::Value>,
    number: usize,
    properties: &'static [Property],
) -> (Vec<String>, String) {
    let judge = |tree: &dyn ValueTree<Value = K::Value>| {
        let mut judged = kind.judge(&[tree.current()], number, properties);
        judged.swap_remove(0)
    };
    let (mut best, mut text) = judge(tree);
    let mut more = tree.simplify();
    let mut tries = 0;
    while more && tries < SHRINKING {
        tries += 1;
        let (judgement, written) = judge(tree);
        more = if judgement.wrong.is_empty() {
            tree.complicate()
        } else {
            (best, text) = (judgement, written);
            tree.simplify()
        };
    }
    (best.wrong, text)
}

#[test]
fn random_programs() {
    let (count, seed) = volume();
    let count = count * 3 / 4;
    let kinds = compare(&Grammar, count, seed).tell("random programs", seed);
    tally::at_least(&kinds, RANDOM);
}

/// Asserts that there are no differences; prints the first `most` of them.
fn none_differ(told: &[String], compared: &impl std::fmt::Debug, most: usize) {
    eprintln!("{compared:?}");
    assert!(
        told.is_empty(),
        "{} differ\n{}",
        told.len(),
        told[..told.len().min(most)].join("\n\n")
    );
}

/// The fragments that the prover works with behave as the machine does.
#[test]
fn fragments_of_random_programs() {
    let (count, seed) = volume();
    let (told, compared) = fragments::compare((count / 250).max(1), seed);
    none_differ(&told, &compared, 3);
    // If hardly anything folds to a value, nothing is compared.
    assert!(compared.values > compared.open, "{compared:?}");
    assert!(
        compared.violations > 0 && compared.transitions > 0,
        "{compared:?}"
    );
}

/// Fragments behave as the machine does in cases that random programs hardly ever contain.
#[test]
fn fragments_of_special_cases() {
    let (told, compared) = fragments::special_cases();
    none_differ(&told, &compared, 6);
    assert!(
        compared.violations > 0 && compared.ends > compared.violations,
        "{compared:?}"
    );
    assert!(compared.passed > 0, "no loop is walked: {compared:?}");
}

/// The floor's states contain those of executions.
#[test]
fn floors_of_random_programs() {
    let (count, seed) = volume();
    let (told, compared) = ground::compare((count / 250).max(1), seed);
    are_contained(&told, &compared);
}

/// Asserts that every state of an execution was in the floor's, and that enough of them were
/// compared.
fn are_contained(told: &[String], compared: &ground::Compared) {
    none_differ(told, compared, 6);
    // If the floor knows nothing, nothing is compared.
    assert!(
        compared.blocks > 1000 && compared.values > compared.blocks,
        "{compared:?}"
    );
}

/// The floor's states contain those of executions of the tests' own programs.
#[test]
fn floors_of_whole_programs() {
    let (told, compared) = whole::whole();
    are_contained(&told, &compared);
}

/// The floor's states contain those of executions in cases that random programs hardly ever
/// contain.
#[test]
fn floors_of_pieces_and_cases() {
    let (mut told, mut compared) = ground::special_cases();
    let (others, more) = whole::cases();
    told.extend(others);
    ground::add(&mut compared, more);
    are_contained(&told, &compared);
}

/// Heap blocks have the owners that the floor states.
#[test]
fn owners_in_lists() {
    let (mut told, mut compared) = whole::lists();
    let (count, seed) = volume();
    let (others, more) = nodes::compare((count as u64 / 250).max(1), seed);
    told.extend(others);
    ground::add(&mut compared, more);
    are_contained(&told, &compared);
    assert!(compared.owners > compared.blocks, "{compared:?}");
}

#[test]
fn programs_of_known_truth() {
    let (count, seed) = volume();
    let count = count / 4;
    let kinds = compare(&KnownTruth, count, seed).tell("programs of known truth", seed);
    tally::at_least(&kinds, KNOWN);
}

/// Judges the programs of the end-to-end tests.
#[test]
fn whole_programs() {
    folder_is_judged("programs");
}

/// Judges the programs on which machine and native code are compared. They format numbers in all
/// ways, and for each of them the checker asks hundreds of queries about the formatter's loops.
#[test]
#[ignore = "takes a quarter of an hour"]
fn whole_programs_of_the_machine() {
    folder_is_judged("agree");
}

fn folder_is_judged(folder: &str) {
    let mut told = Vec::new();
    // Unless the tests are thorough, each program is judged for one set of properties.
    let both = [ASSERTION_AND_MEMORY, EVERYTHING];
    for (number, file) in compiled::folder(folder).into_iter().enumerate() {
        let name = file
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let first = if thorough() { 0 } else { number % 2 };
        for properties in both.into_iter().skip(first).step_by(one_in(2)) {
            let program = compiled::from_files(std::slice::from_ref(&file), &[], None, properties)
                .unwrap_or_else(|why| panic!("{name}: {why}"));
            let machine = Machine::new(
                &program,
                Limits {
                    steps: 2_000_000,
                    ..Limits::default()
                },
            );
            let mut truth = Truth::default();
            for tape in random_tapes(name.len() as u64) {
                truth.add(&tape, &machine.run(&tape));
            }
            let of = |name: &str| {
                program.function_named(name).is_some_and(|f| {
                    program.function(f).kind == cegar_model::program::ir::FunctionKind::User
                })
            };
            let judgement = judge(&program, &truth, properties, false, &of);
            eprintln!(
                "{name}: {} of {} proved, {} if others hold",
                judgement.proved, judgement.safe, judgement.conditional
            );
            told.extend(judgement.wrong.iter().map(|w| format!("{name}: {w}")));
        }
    }
    assert!(told.is_empty(), "\n{}", told.join("\n"));
}

/// Partial simulation solves for paths through loops, with the fewest iterations.
#[test]
fn paths_around_loops() {
    // Programs, and the minimum number of bytes that reach the fault.
    let all = [
        ("checksum", 4 + 3922),
        ("ring", 1025),
        ("retries", 4 * 10_001),
        ("white_space", 10_001),
        ("sum_reaches", 4),
        ("cubes", 4),
        ("every_seventh", 4),
        ("nested", 8),
    ];
    for (name, least) in all.into_iter().step_by(one_in(2)) {
        let file = compiled::folder("programs/loops")
            .into_iter()
            .find(|file| file.ends_with(format!("{name}.c")))
            .unwrap_or_else(|| panic!("no program {name}"));
        let program = compiled::from_files(&[file], &[], None, ASSERTION_AND_MEMORY)
            .unwrap_or_else(|why| panic!("{name}: {why}"));
        let (sender, seeds) = std::sync::mpsc::channel();
        let options = strategy::Options {
            properties: ASSERTION_AND_MEMORY.to_vec(),
            seeds: Some(sender),
            counted: true,
            time: Duration::from_secs(4),
            // The test is about solving loops.
            floor: false,
            ..strategy::Options::default()
        };
        cegar_papers::prove(&program, &options, &AtomicBool::new(false));
        drop(options);
        let found: Vec<Vec<u8>> = seeds
            .try_iter()
            .filter(|seed| seed.origin == Origin::Loop)
            .map(|seed| seed.tape)
            .collect();
        let lengths: Vec<usize> = found.iter().map(Vec::len).collect();
        // The end of the input takes no byte of the tape if it is a NUL, since a tape is followed
        // by zeros; one byte if it is another character, two if that is 0xFF, three if the stream
        // fails.
        let is_least = |length: &usize| (least..=least + 3).contains(length);
        assert!(
            lengths.iter().any(is_least),
            "{name}: {lengths:?}, not {least}"
        );
        let machine = Machine::new(&program, Limits::default());
        for tape in found {
            let outcome = machine.run(&tape).outcome;
            assert!(
                matches!(outcome, Outcome::Violated(_)),
                "{name}: {outcome:?}"
            );
        }
    }
}

/// Tapes of random bytes, text, digits, small numbers, zeros.
pub(crate) fn random_tapes(seed: u64) -> Vec<Vec<u8>> {
    use proptest::prelude::RngExt;
    let mut runner = runner(seed);
    let rng = runner.rng();
    (0..200)
        .map(|n| {
            let len = rng.random_range(0..if n % 3 == 0 { 16 } else { 201 });
            (0..len)
                .map(|_| match n % 5 {
                    0 => rng.random::<u8>(),
                    1 => rng.random_range(b' '..127),
                    2 => b"0123456789 0x-,\n"[rng.random_range(0..16)],
                    3 => rng.random_range(0..8),
                    _ => 0,
                })
                .collect()
        })
        .collect()
}
