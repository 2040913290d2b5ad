//! The binary. It serves three masters: cargo (`cargo cegar`), a build script that believes it is calling a C
//! compiler (the capture shim), and the campaign (a fuzzing worker).
//!
//! The allocator is not the C library's: a fuzzed target that is left in the middle of `malloc` by a jump may keep
//! the C heap's lock, and the Rust side must go on all the same.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    if let Some(code) = cargo_cegar::capture::shim::dispatch() {
        return code;
    }
    // A fuzzing worker; started by a campaign, not by people.
    let mut words = std::env::args_os().skip(1);
    if words.next().is_some_and(|word| word == "__worker")
        && let Some(config) = words.next()
    {
        return cargo_cegar::campaign::worker(config.as_ref());
    }
    let code: cargo_cegar::ExitCode = cargo_cegar::cli::main(std::env::args_os());
    // A prover may still be at work in a thread of its own, and the solver's library tears itself down at exit.
    let _ = std::io::Write::flush(&mut std::io::stdout());
    let _ = std::io::Write::flush(&mut std::io::stderr());
    // SAFETY: `_exit` ends the process and touches nothing; what was to be written is written.
    unsafe { nix::libc::_exit(i32::from(code.code())) }
}
