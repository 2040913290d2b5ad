//! The binary. It has several roles: a cargo subcommand (`cargo cegar`), a C compiler for build
//! scripts (the capture shim), and processes of a campaign, such as a fuzzing worker.
//!
//! It does not use the C library's allocator: a jump that leaves a fuzzed target in the middle of
//! `malloc` may keep the C heap's lock, and the Rust code must continue.

use std::io::Write as _;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    if let Some(code) = cargo_cegar::capture::shim::dispatch() {
        return code;
    }
    // A fuzzing worker, started by a campaign.
    let mut words = std::env::args_os().skip(1);
    match (words.next(), words.next()) {
        (Some(word), Some(config)) if word == "__worker" => {
            return cargo_cegar::campaign::worker(config.as_ref());
        }
        // The process that communicates with other machines, started by commands and campaigns.
        (Some(word), Some(config)) if word == "__exchange" => {
            return cargo_cegar::campaign::exchange(&config.to_string_lossy());
        }
        (Some(word), Some(bitcode)) if word == cargo_cegar::probe::WORD => {
            return cargo_cegar::probe::child(bitcode.as_ref());
        }
        // The campaign of one of several harnesses, started by `ci` and `run --jobs`.
        (Some(word), Some(options)) if word == "__campaign" => {
            end(cargo_cegar::cli::campaign(options.as_ref()))
        }
        _ => {}
    }
    end(cargo_cegar::cli::main(std::env::args_os()))
}

/// Ends the process at once. An abandoned prover may be in the middle of a question to Z3, whose
/// global state the C library's exit handlers would destroy.
fn end(code: cargo_cegar::exit::ExitCode) -> ! {
    let _ = std::io::stdout().flush();
    let _ = std::io::stderr().flush();
    // SAFETY: nothing is left to be dropped here: files and temporary folders belong to the
    // command, which has returned.
    unsafe { nix::libc::_exit(i32::from(code as u8)) }
}
