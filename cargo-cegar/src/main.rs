//! The binary. It serves three masters: cargo (`cargo cegar`), a build script that believes it is
//! calling a C compiler (the capture shim), and the campaign (a fuzzing worker).
//!
//! The allocator is not the C library's: a fuzzed target that is left in the middle of `malloc` by
//! a jump may keep the C heap's lock, and the Rust side must go on all the same.

use std::io::Write as _;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    if let Some(code) = cargo_cegar::capture::shim::dispatch() {
        return code;
    }
    // A fuzzing worker; started by a campaign, not by people.
    let mut words = std::env::args_os().skip(1);
    match (words.next(), words.next()) {
        (Some(word), Some(config)) if word == "__worker" => {
            return cargo_cegar::campaign::worker(config.as_ref());
        }
        // What speaks with other machines; started by commands and campaigns.
        (Some(word), Some(config)) if word == "__exchange" => {
            return cargo_cegar::campaign::exchange(&config.to_string_lossy());
        }
        (Some(word), Some(bitcode)) if word == cargo_cegar::probe::WORD => {
            return cargo_cegar::probe::child(bitcode.as_ref());
        }
        // One harness of several; started by `ci` and `run --jobs`.
        (Some(word), Some(options)) if word == "__campaign" => {
            end(cargo_cegar::cli::campaign(options.as_ref()))
        }
        _ => {}
    }
    end(cargo_cegar::cli::main(std::env::args_os()))
}

/// Ends at once. A prover that was given up may be in the middle of a question to Z3, whose global
/// state the C library's exit handlers would take from under it.
fn end(code: cargo_cegar::exit::ExitCode) -> ! {
    let _ = std::io::stdout().flush();
    let _ = std::io::stderr().flush();
    // SAFETY: nothing is left to be dropped here: files and temporary folders belong to the
    // command, which has returned.
    unsafe { nix::libc::_exit(i32::from(code as u8)) }
}
