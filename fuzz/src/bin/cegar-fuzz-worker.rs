//! The worker as a separate program, for tests and benchmarks. The subcommand of `cargo cegar` uses
//! the same entry point.

use std::process::ExitCode;

/// Not the C library's allocator: a target that is interrupted inside `malloc` may leave it locked.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [verb, config] if verb == "__worker" => cegar_fuzz::worker::worker_main(config.as_ref()),
        [verb, config] if verb == "__exchange" => cegar_fuzz::exchange::exchange_main(config),
        _ => {
            eprintln!("usage: cegar-fuzz-worker __worker|__exchange CONFIG");
            ExitCode::from(2)
        }
    }
}
