//! Functions that the benchmarks share: processor time of processes, the median, arguments.
//!
//! The benchmarks are plain programs because they measure processes that run for seconds, which
//! harnesses for microbenchmarks do not support. The `README.md` of this package explains how to
//! run them.

pub mod check;
pub mod libraries;
pub mod prepared;

use std::path::PathBuf;
use std::time::Duration;

/// Benchmarks stop at the first error and print it.
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
    // SAFETY: the structure consists of plain numbers, and the call fills it.
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

/// The median of some numbers; 0 if there are none.
pub fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(0.0)
}

/// The numeric arguments, in order. Other arguments are skipped, since cargo adds `--bench`.
pub fn numbers() -> Vec<u64> {
    std::env::args()
        .skip(1)
        .filter_map(|a| a.parse().ok())
        .collect()
}

/// The path of the tool's release build. It must be in the folder of the running benchmark's
/// profile.
pub fn tool() -> Result<PathBuf> {
    let here = std::env::current_exe()?;
    let folder = here.ancestors().nth(2);
    match folder.map(|folder| folder.join("cargo-cegar")) {
        Some(tool) if tool.is_file() => Ok(tool),
        _ => Err("build the tool first: cargo build --release -p cargo-cegar".into()),
    }
}

/// Pins this process and the processes that it starts later to one core.
pub fn pin(core: usize) -> Result<()> {
    // SAFETY: the set consists of plain bits, `CPU_SET` checks the number, and the call only reads
    // the set.
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
