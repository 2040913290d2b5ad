//! Tests that Rust and compiled C read objects from outside alike, for random types and bytes.
//!
//! The C bodies of mocks and the walk in [`codec`](crate::external::codec) are two readers of one
//! grammar; here both read the same bytes. The mocks of random types are built like those of a
//! harness. A C program prints everything that it receives, and this is compared with the same text
//! made from what the walk reads. Then the values that were read are put into memory, encoded like
//! the values of a test, read again and passed to the C program. `CEGAR_RECEIVED=100` tests 100
//! sets of types from a random seed (`CEGAR_RECEIVED_SEED` sets the seed). It is a unit test since
//! it uses private functions of [`object`](crate::object()).

mod model;
mod program;
mod types;

use std::env;
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

use crate::Mock;
use crate::build::Build;
use crate::external::codec::Selector;
use model::Model;
use types::{World, worlds};

/// The number of sets of types, and the number of runs of each set.
const WORLDS: u64 = 2;
const RUNS: u32 = 16;
/// How often a run calls each function.
const ROUNDS: usize = 3;
/// The maximal number of bytes of a channel.
const BYTES: usize = 160;

fn number(name: &str) -> Option<u64> {
    env::var(name).ok()?.parse().ok()
}

fn runner(seed: u64) -> TestRunner {
    let mut bytes = [0u8; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config {
        cases: RUNS,
        failure_persistence: None,
        max_shrink_iters: 200,
        ..Config::default()
    };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
}

#[test]
fn rust_and_c_read_the_same_objects() {
    let folder = tempfile::tempdir().expect("a folder");
    let random = || {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        now.map_or(0, |since| since.as_nanos() as u64)
    };
    let (count, seed) = match number("CEGAR_RECEIVED") {
        Some(count) => (count, number("CEGAR_RECEIVED_SEED").unwrap_or_else(random)),
        None => (WORLDS, number("CEGAR_RECEIVED_SEED").unwrap_or(1)),
    };
    for seed in seed..seed.wrapping_add(count) {
        let mut runner = runner(seed);
        let world = worlds().new_tree(&mut runner).expect("types").current();
        let executable = build(&world, folder.path(), seed);
        let channels = world.channels();
        // One channel in five asks for a fresh object at each choice, so that chains reach their
        // maximal length.
        let channel = prop_oneof![
            4 => vec(any::<u8>(), 0..BYTES),
            1 => vec(Just(Selector::Fresh(0).byte()), BYTES),
        ];
        let bytes = vec(channel, channels.len());
        let result = runner.run(&bytes, |bytes| {
            let queues: Vec<(String, Vec<u8>)> = channels.iter().cloned().zip(bytes).collect();
            compare(&world, &executable, &queues)?;
            let encoded = model::encoded(&world, &queues).map_err(TestCaseError::fail)?;
            compare(&world, &executable, &encoded)
        });
        if let Err(why) = result {
            panic!("CEGAR_RECEIVED_SEED={seed}: {why}\n{:#?}", world.types);
        }
    }
}

fn build(world: &World, folder: &Path, seed: u64) -> std::path::PathBuf {
    let name = format!("received_{seed}");
    let file = folder.join(format!("{name}.c"));
    std::fs::write(&file, program::text(world, &name)).expect("the program is written");
    let build = Build::new()
        .harness(&name)
        .file(file)
        .root(folder)
        .cache(folder.join("cache"))
        .out_dir(folder.join(&name));
    let build = world.functions.iter().cloned().fold(build, Build::mock);
    let built = build.try_compile().expect("the mocks are built");
    built[0].runner.clone()
}

/// Checks that the C program receives what the walk reads from the same bytes.
fn compare(
    world: &World,
    executable: &Path,
    queues: &[(String, Vec<u8>)],
) -> Result<(), TestCaseError> {
    let mock = queues
        .iter()
        .fold(Mock::at(executable), |mock, (name, bytes)| {
            mock.choices(name, bytes)
        });
    let run = mock.run();
    prop_assert!(run.outcome().is_safe(), "{}", run.outcome());
    let received = String::from_utf8_lossy(&run.output(1)).into_owned();
    let read = Model::new(world, queues).run();
    for (received, read) in received.lines().zip(read.lines()) {
        prop_assert_eq!(received, read, "what C receives, and what Rust reads");
    }
    prop_assert_eq!(received.lines().count(), read.lines().count());
    Ok(())
}
