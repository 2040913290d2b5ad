//! Executions per second of the worker compared with libFuzzer, on the same harness, in turn.
//!
//!     cargo bench -p cegar-benches --bench throughput -- [runs [rounds]]
//!
//! Both get the same `LLVMFuzzerTestOneInput`, the same maximum input length (4096 bytes), the same
//! number of runs and an empty corpus. Processor time is compared, so that other load on the
//! machine matters little. libFuzzer is built by clang with `-O2 -fsanitize=fuzzer`; the worker's
//! target has the counters of every block and, as in a campaign, a second object with comparison
//! logging. Only the ratio is meaningful: absolute numbers depend on the machine.
//!
//! The worker process is this executable itself, started again.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use cegar_benches::{Result, children_time, median, numbers};
use cegar_fuzz::native::{Kind, TargetBuilder};
use cegar_fuzz::worker::{Worker, WorkerConfig, WorkerEvent, worker_main};

/// The same allocator as in the subcommand: a target that is stopped inside `malloc` may leave the
/// lock of the C library's allocator locked.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A harness that reads records: loops, a table, a magic number; it has no fault.
const HARNESS: &str = r#"
#include <stddef.h>
#include <stdint.h>
static unsigned table[64];
static unsigned check(const uint8_t *p, size_t n) {
    unsigned h = 2166136261u;
    for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * 16777619u;
    return h;
}
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t at = 0, records = 0;
    while (at + 2 <= size && records < 64) {
        unsigned kind = data[at], length = data[at + 1];
        at += 2;
        if (length > size - at) return 0;
        switch (kind & 7) {
        case 0: break;
        case 1: table[records & 63] += length; break;
        case 2: if (length >= 4 && data[at] == 'm' && data[at + 1] == 'g') table[0]++; break;
        case 3: for (unsigned i = 0; i < length; i++) if (data[at + i] == ';') records++; break;
        case 4: if (length > 8 && check(data + at, 4) == 0x12345678) table[1]++; break;
        default: if (length & 1) return 0;
        }
        at += length;
        records++;
    }
    return records > 3;
}
"#;

/// The driver that a campaign takes from the stub library: the whole tape is the data.
const DRIVER: &str = r#"
#include <stddef.h>
#include <stdint.h>
void crunner_choose(const char *channel, void *into, size_t n);
size_t crunner_remaining(const char *channel);
void *crunner_malloc(size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void cegar_entry(void) {
    size_t n = crunner_remaining("data");
    uint8_t *data = crunner_malloc(n);
    if (!data) return;
    crunner_choose("data", data, n);
    LLVMFuzzerTestOneInput(data, n);
}
"#;

fn clang(arguments: &[&str], paths: &[&Path]) -> Result<()> {
    let status = Command::new("clang-19")
        .args(arguments)
        .args(paths)
        .status()?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("clang-19 {arguments:?}: {status}").into())
    }
}

/// libFuzzer's runs per second of processor time.
fn libfuzzer(executable: &Path, runs: u64, seed: u64) -> Result<f64> {
    let before = children_time();
    let output = Command::new(executable)
        .args([format!("-runs={runs}"), format!("-seed={seed}")])
        .arg("-max_len=4096")
        .stdout(Stdio::null())
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(runs as f64 / (children_time() - before).as_secs_f64())
}

/// The worker's runs per second of processor time, and the size of its corpus.
fn worker(mut config: WorkerConfig, runs: u64, seed: u64) -> Result<(f64, usize)> {
    config.runs = Some(runs);
    config.seed = seed;
    let before = children_time();
    let mut worker = Worker::spawn(&std::env::current_exe()?, config)?;
    let start = Instant::now();
    let (mut done, mut kept) = (0, 0);
    while start.elapsed() < Duration::from_secs(600) {
        for event in worker.poll(Duration::from_millis(50)) {
            match event {
                WorkerEvent::Stats {
                    executions, corpus, ..
                } => (done, kept) = (executions, corpus),
                WorkerEvent::Stopped { reason } if reason == "budget" => {
                    drop(worker);
                    let seconds = (children_time() - before).as_secs_f64();
                    return Ok((done as f64 / seconds, kept));
                }
                WorkerEvent::Stopped { reason } => return Err(reason.into()),
                WorkerEvent::Died { .. } => return Err("the worker died".into()),
                _ => {}
            }
        }
    }
    Err("the worker took more than ten minutes".into())
}

fn bench() -> Result<()> {
    let numbers = numbers();
    let runs = numbers.first().copied().unwrap_or(1_000_000);
    let rounds = numbers.get(1).copied().unwrap_or(5);
    let folder = tempfile::tempdir()?;
    let at = |name: &str| folder.path().join(name);
    let (harness, whole) = (at("harness.c"), at("whole.c"));
    fs::write(&harness, HARNESS)?;
    fs::write(&whole, format!("{HARNESS}{DRIVER}"))?;
    let fuzzer = at("libfuzzer");
    clang(
        &["-O2", "-g", "-fsanitize=fuzzer", "-o"],
        &[&fuzzer, &harness],
    )?;
    let bitcode = at("program.bc");
    let flags = "-O0 -Xclang -disable-O0-optnone -g -fPIC -emit-llvm -c -o";
    clang(&flags.split(' ').collect::<Vec<_>>(), &[&bitcode, &whole])?;
    let builder = TargetBuilder::new(&bitcode, at("out"));
    let target = builder.build(Kind::Fast)?;
    let mut config = WorkerConfig::new(target.path, target.blocks);
    config.cmp_so = Some(builder.build(Kind::Comparisons)?.path);
    config.max_len = 4096;

    println!("{runs} runs each, executions per second of processor time");
    println!("round  libFuzzer/s   worker/s  ratio  corpus");
    let mut ratios = Vec::new();
    for round in 1..=rounds {
        let theirs = libfuzzer(&fuzzer, runs, round)?;
        let (ours, kept) = worker(config.clone(), runs, round)?;
        println!(
            "{round:5}  {theirs:11.0}  {ours:9.0}  {:5.2}  {kept:6}",
            ours / theirs
        );
        ratios.push(ours / theirs);
    }
    println!("median ratio {:.2}", median(ratios));
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
