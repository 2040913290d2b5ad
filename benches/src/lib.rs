//! What the benchmarks share: processor time of child processes, and tables.
//!
//! The benchmarks are plain programs: what they measure takes seconds and starts processes, which a
//! statistics harness for functions is not made for. See `README.md` beside this for how to run
//! them.

pub mod check;
pub mod libraries;
pub mod prepared;

use std::path::PathBuf;
use std::time::Duration;

/// Benchmarks stop at whatever goes wrong, and print it.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Processor time, user and system, of all children that have ended and were waited for.
pub fn children_time() -> Duration {
    time_of(libc::RUSAGE_CHILDREN)
}

/// Processor time, user and system, of this process.
pub fn own_time() -> Duration {
    time_of(libc::RUSAGE_SELF)
}

fn time_of(whom: libc::c_int) -> Duration {
    // SAFETY: the structure is plain numbers, filled by the call.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(whom, &mut usage);
        usage
    };
    let time = |t: libc::timeval| {
        Duration::from_secs(t.tv_sec as u64) + Duration::from_micros(t.tv_usec as u64)
    };
    time(usage.ru_utime) + time(usage.ru_stime)
}

/// The middle of some numbers; 0 of none.
pub fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(0.0)
}

/// The arguments that are numbers, in order: cargo adds `--bench` of its own.
pub fn numbers() -> Vec<u64> {
    std::env::args()
        .skip(1)
        .filter_map(|a| a.parse().ok())
        .collect()
}

/// The tool, built for release beside the benchmark that runs.
pub fn tool() -> Result<PathBuf> {
    let here = std::env::current_exe()?;
    let folder = here.ancestors().nth(2);
    match folder.map(|folder| folder.join("cargo-cegar")) {
        Some(tool) if tool.is_file() => Ok(tool),
        _ => Err("build the tool first: cargo build --release -p cargo-cegar".into()),
    }
}

/// Keeps this process, and what it starts from here on, on one core.
pub fn pin(core: usize) -> Result<()> {
    // SAFETY: the set is plain bits, `CPU_SET` checks the number, and the call only reads them.
    let done = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(core, &mut set);
        libc::sched_setaffinity(0, size_of_val(&set), &set)
    };
    if done == 0 {
        Ok(())
    } else {
        Err(std::io::Error::last_os_error().into())
    }
}
