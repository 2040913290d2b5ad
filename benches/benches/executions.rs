//! Executions per second of the worker compared with libFuzzer, on libraries that crates bundle.
//!
//!     cargo bench -p cegar-benches --bench executions -- [seconds [rounds]] [library ...]
//!
//! Both get the same `LLVMFuzzerTestOneInput`, the same first input, the same maximum input length
//! and the same number of seconds. The figures compared are executions per second of *processor
//! time*, which includes everything that the process does. The worker runs alone, without the
//! engine. Its target is built as in a campaign, with the log of comparisons, but with `-O2` for
//! large programs too. A fuzzer that prefers cheap inputs executes more of them; therefore the
//! number of blocks that the worker covered is printed as well.
//!
//! The worker process is this executable itself, started again.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use cegar_benches::libraries::{LIBRARIES, Library};
use cegar_benches::prepared::{MAX_LEN, PreparedLibrary};
use cegar_benches::{Result, children_time, median, numbers};
use cegar_fuzz::native::{Kind, TargetBuilder};
use cegar_fuzz::worker::{Command as Tell, Worker, WorkerConfig, WorkerEvent, worker_main};

/// The same allocator as in the subcommand: a target that is stopped inside `malloc` may leave the
/// lock of the C library's allocator locked.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Executions per second of processor time, and the size and coverage of the corpus.
struct Speed {
    per_second: f64,
    corpus: usize,
    blocks: usize,
}

fn libfuzzer(bench: &PreparedLibrary<'_>, seconds: u64, seed: u64) -> Result<f64> {
    bench.plant(&bench.at("corpus"))?;
    let before = children_time();
    let output = Command::new("./libfuzzer")
        .args([
            format!("-max_total_time={seconds}"),
            format!("-seed={seed}"),
            format!("-max_len={MAX_LEN}"),
        ])
        .args(["-print_final_stats=1", "corpus"])
        .current_dir(&bench.folder)
        .stdout(Stdio::null())
        .output()?;
    let spent = (children_time() - before).as_secs_f64();
    let text = String::from_utf8_lossy(&output.stderr);
    let runs = (text.lines())
        .find_map(|line| line.strip_prefix("stat::number_of_executed_units:"))
        .and_then(|number| number.trim().parse::<f64>().ok());
    match runs {
        Some(runs) => Ok(runs / spent),
        None => Err(text.into_owned().into()),
    }
}

/// The worker's configuration for a library.
fn configured(bench: &PreparedLibrary<'_>) -> Result<WorkerConfig> {
    let bitcode = bench.program();
    let mut builder = TargetBuilder::new(&bitcode, bench.at("worker"));
    builder.cache = Some(bench.at("runtime"));
    builder.objects = Some(bench.at("objects"));
    let target = builder.build(Kind::Fast)?;
    let mut config = WorkerConfig::new(target.path, target.blocks);
    config.tokens = target.tokens;
    config.cmp_so = Some(builder.build(Kind::Comparisons)?.path);
    config.max_len = MAX_LEN.parse()?;
    config.corpus = vec![bench.at("seed")];
    Ok(config)
}

fn worker(mut config: WorkerConfig, seconds: u64, seed: u64) -> Result<Speed> {
    config.seed = seed;
    let before = children_time();
    let mut worker = Worker::spawn(&std::env::current_exe()?, config)?;
    let start = Instant::now();
    let mut speed = Speed {
        per_second: 0.0,
        corpus: 0,
        blocks: 0,
    };
    let (mut done, mut stopping) = (0, false);
    loop {
        for event in worker.poll(Duration::from_millis(20)) {
            match event {
                WorkerEvent::Stats {
                    executions,
                    corpus,
                    blocks,
                    ..
                } => (done, speed.corpus, speed.blocks) = (executions, corpus, blocks),
                WorkerEvent::Stopped { reason } if reason == "stop" => {
                    drop(worker);
                    let spent = (children_time() - before).as_secs_f64();
                    speed.per_second = done as f64 / spent;
                    return Ok(speed);
                }
                WorkerEvent::Stopped { reason } => return Err(reason.into()),
                WorkerEvent::Died { .. } => return Err("the worker died".into()),
                _ => {}
            }
        }
        if !stopping && start.elapsed() >= Duration::from_secs(seconds) {
            stopping = true;
            worker.send(&Tell::Stop)?;
        }
    }
}

fn bench() -> Result<()> {
    let numbers = numbers();
    let seconds = numbers.first().copied().unwrap_or(8);
    let rounds = numbers.get(1).copied().unwrap_or(1);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("executions");
    let words: Vec<String> = std::env::args().skip(1).collect();
    let is_named = |library: &Library| words.iter().any(|word| word == library.package);
    let all = !LIBRARIES.iter().any(is_named);
    println!("| library | libFuzzer 19 /s | worker /s | ratio | corpus | blocks |");
    println!("|---|---|---|---|---|---|");
    for library in LIBRARIES.iter().filter(|library| all || is_named(library)) {
        let bench = PreparedLibrary::new(library, &folder, false)?;
        bench.plant(&bench.at("seed"))?;
        let config = configured(&bench)?;
        let mut columns = [const { Vec::new() }; 5];
        for round in 1..=rounds {
            let theirs = libfuzzer(&bench, seconds, round)?;
            let ours = worker(config.clone(), seconds, round)?;
            let values = [
                theirs,
                ours.per_second,
                ours.per_second / theirs,
                ours.corpus as f64,
                ours.blocks as f64,
            ];
            for (column, value) in columns.iter_mut().zip(values) {
                column.push(value);
            }
        }
        let [theirs, ours, ratio, corpus, blocks] = columns.map(median);
        println!(
            "| {} | {theirs:.0} | {ours:.0} | {ratio:.2} | {corpus} | {blocks} |",
            library.package
        );
    }
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [verb, config] = arguments.as_slice()
        && verb == "__worker"
    {
        return worker_main(config.as_ref());
    }
    match bench() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}
