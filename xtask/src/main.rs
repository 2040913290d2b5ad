//! `cargo xtask`: tasks of the development of this workspace.
//!
//! Each command is complete in itself. `setup` prepares a bare Debian 12 with Rust and gcc so that
//! the workspace builds. `demo` shows the whole workflow from a crate's C code to a failing test,
//! and back to a passing one. `package` does the same with only the crates as they are published.
//! `quick`, `test` and `nightly` run tests. All of these run `setup` first, so that nothing has to
//! be done by hand before. `trusted` counts the lines of code that a proof rests on, and `map`
//! shows which module uses which. This package depends on nothing that it installs.

#![warn(clippy::too_many_lines)]

mod c_format;
mod counts;
mod demo;
mod error;
mod examples;
mod map;
mod package;
mod places;
mod run;
mod setup;
mod suite;
mod trusted;

use std::env;
use std::process::ExitCode;

pub(crate) use error::Result;
pub(crate) use places::Places;

const USAGE: &str = "\
Usage: cargo xtask <COMMAND>

Commands:
  setup   Install what is missing: clang 19, LLVM 19, Z3 and the tools that the tests use
  demo    From an example's C code to a failing test, and to a passing one with the C code fixed
  package Package the crates as they are published, install the tool from those files alone, and
          run the demo with it
  map     Draw the map in docs/architecture.md; fail on a circle between modules, on a file of more
          than 500 lines, or on a comment of more than 100 columns
  trusted Count the lines of code that a proof rests on
  quick   Format, lints, the unit tests, and ten programs from end to end
  test    Format, lints, documentation, every test of the workspace, and the examples' own tests
  nightly The tests that `test` leaves out, since they download crates or take minutes each, and in
          full those that it shortens
";

fn main() -> ExitCode {
    let places = Places::find();
    let words: Vec<String> = env::args().skip(1).collect();
    let outcome = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["setup"] => setup::setup(&places),
        ["demo"] => demo::demo(&places),
        ["package"] => package::package(&places),
        ["map"] => map::map(&places),
        ["trusted"] => trusted::trusted(&places),
        ["quick"] => suite::quick(&places),
        ["test"] => suite::test(&places),
        ["nightly"] => suite::nightly(&places),
        ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            Ok(())
        }
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            run::failed(&error.to_string());
            ExitCode::FAILURE
        }
    }
}
