//! Runs per second of the worker against libFuzzer, on the same harness, in turn.
//!
//!     cargo build --release -p cegar-fuzz --bins --examples
//!     target/release/examples/throughput [seconds [rounds]]
//!
//! Both get the same `LLVMFuzzerTestOneInput`, the same longest input (4096 bytes) and one core. libFuzzer is built by clang with
//! `-O2 -fsanitize=fuzzer`; the worker's target has the counters of every block and, as in a campaign, a second
//! object with comparison logging. The ratio is what counts: absolute numbers depend on the machine.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cegar_fuzz::native::{Kind, TargetBuilder};
use cegar_fuzz::worker::{Worker, WorkerConfig, WorkerEvent};

/// A reader of records: loops, a table, a magic number; nothing to find.
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

/// The driver that a campaign takes from the stub library: all of the tape is the data.
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

fn clang(arguments: &[&str], paths: &[&Path]) -> Result<(), Box<dyn Error>> {
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

/// Runs per second that libFuzzer itself reports.
fn libfuzzer(executable: &Path, seconds: u64) -> Result<f64, Box<dyn Error>> {
    let output = Command::new(executable)
        .args([
            format!("-max_total_time={seconds}"),
            "-print_final_stats=1".into(),
            "-max_len=4096".into(),
        ])
        .arg("-seed=1")
        .stdout(Stdio::null())
        .output()?;
    let text = String::from_utf8_lossy(&output.stderr);
    let number = text
        .lines()
        .find_map(|l| l.strip_prefix("stat::number_of_executed_units:"))
        .ok_or("libFuzzer printed no statistics")?;
    Ok(number.trim().parse::<f64>()? / seconds as f64)
}

/// Runs per second of the worker, from its first to its last statistics.
fn worker(executable: &Path, config: WorkerConfig, seconds: u64) -> Result<f64, Box<dyn Error>> {
    let mut worker = Worker::spawn(executable, config)?;
    let start = Instant::now();
    let mut runs = 0;
    while start.elapsed() < Duration::from_secs(seconds) {
        for event in worker.poll(Duration::from_millis(50)) {
            match event {
                WorkerEvent::Stats { executions, .. } => runs = executions,
                WorkerEvent::Stopped { reason } => return Err(reason.into()),
                _ => {}
            }
        }
    }
    Ok(runs as f64 / start.elapsed().as_secs_f64())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let seconds: u64 = arguments.next().map_or(Ok(5), |s| s.parse())?;
    let rounds: u32 = arguments.next().map_or(Ok(3), |s| s.parse())?;
    let folder = tempfile::tempdir()?;
    let at = |name: &str| folder.path().join(name);
    let (harness, driver, whole) = (at("harness.c"), at("driver.c"), at("whole.c"));
    fs::write(&harness, HARNESS)?;
    fs::write(&driver, DRIVER)?;
    fs::write(&whole, format!("{HARNESS}{DRIVER}"))?;
    let fuzzer = at("libfuzzer");
    clang(
        &["-O2", "-g", "-fsanitize=fuzzer", "-o"],
        &[&fuzzer, &harness],
    )?;
    let bitcode = at("program.bc");
    clang(
        &[
            "-O0",
            "-Xclang",
            "-disable-O0-optnone",
            "-g",
            "-fPIC",
            "-emit-llvm",
            "-c",
            "-o",
        ],
        &[&bitcode, &whole],
    )?;
    let builder = TargetBuilder::new(&bitcode, at("out"));
    let target = builder.build(Kind::Fast)?;
    let mut config = WorkerConfig::new(target.path, target.blocks);
    config.cmp_so = Some(builder.build(Kind::Comparisons)?.path);
    config.max_len = 4096;
    let executable: PathBuf = std::env::current_exe()?
        .parent()
        .and_then(Path::parent)
        .ok_or("no folder above this executable")?
        .join("cegar-fuzz-worker");
    let mut ratios = Vec::new();
    for round in 1..=rounds {
        let theirs = libfuzzer(&fuzzer, seconds)?;
        let ours = worker(&executable, config.clone(), seconds)?;
        println!(
            "round {round}: libFuzzer {theirs:.0}/s, worker {ours:.0}/s, ratio {:.2}",
            ours / theirs
        );
        ratios.push(ours / theirs);
    }
    ratios.sort_by(f64::total_cmp);
    println!("median ratio {:.2}", ratios[ratios.len() / 2]);
    Ok(())
}
