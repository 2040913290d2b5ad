//! Steps per second of the engine's machine, on C programs that went through the whole pipeline.
//!
//!     cargo bench -p cegar-benches --bench machine -- [rounds]
//!
//! Compiling, linking with the stubs, normalising and reading are not timed. Times are processor
//! time.

use std::fs;
use std::sync::atomic::AtomicBool;

use cargo_cegar::campaign::prepare::prepare;
use cargo_cegar::compile::{Compiler, Unit};
use cargo_cegar::options::{Harness, Settings, Sides};
use cargo_cegar::report::Fan;
use cegar_benches::{Result, median, numbers, own_time};
use cegar_model::machine::{Limits, Machine};

/// A program's name, its text, and the value of the macro `TURNS`.
const PROGRAMS: [(&str, &str, u64); 3] = [
    (
        "loop",
        "int main(void) { unsigned i, sum = 0; for (i = 0; i < TURNS; i++) sum += i ^ (sum >> 3); \
         return sum & 1; }",
        10_000_000,
    ),
    (
        "calls",
        "static unsigned fib(unsigned n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
         int main(void) { return fib(TURNS) & 1; }",
        27,
    ),
    (
        "memory",
        "static unsigned char table[4096];
         int main(void) { unsigned i; for (i = 0; i < TURNS; i++) table[(i * 7) & 4095] += (unsigned char)i;
           return table[5]; }",
        1_000_000,
    ),
];

fn main() -> Result<()> {
    let rounds = numbers().first().copied().unwrap_or(3);
    let settings = Settings {
        sides: Sides::Engine,
        ..Settings::new(Compiler::find()?)
    };
    println!("program     turns      steps  seconds  steps/s");
    for (name, text, turns) in PROGRAMS {
        let folder = tempfile::tempdir()?;
        let source = folder.path().join(format!("{name}.c"));
        fs::write(&source, text)?;
        let unit = Unit {
            source,
            directory: folder.path().to_owned(),
            flags: vec![format!("-DTURNS={turns}")],
        };
        let harness = Harness::new(name, vec![unit]);
        let stop = AtomicBool::new(false);
        let scratch = folder.path().join("scratch");
        let prepared = prepare(&harness, &settings, &scratch, &mut Fan::default(), &stop)?;
        let limits = Limits {
            steps: 2_000_000_000,
            ..Limits::default()
        };
        let machine = Machine::new(&prepared.program, limits);
        let mut seconds = Vec::new();
        let mut steps = 0;
        for _ in 0..rounds {
            let before = own_time();
            let run = machine.run(&[]);
            seconds.push((own_time() - before).as_secs_f64());
            steps = run.steps;
        }
        let seconds = median(seconds);
        println!(
            "{name:8} {turns:8} {steps:10}  {seconds:7.2}  {:5.1} M",
            steps as f64 / seconds / 1e6
        );
    }
    Ok(())
}
