//! Measures the speed, which is a requirement: `cargo test --release
//! speed -- --ignored --nocapture`.

use std::time::Instant;

use super::super::{Limits, Machine, Outcome};
use super::build;
use crate::term::Pool;

fn timed(name: &str, source: &str) -> f64 {
    let built = build(source);
    let machine = Machine::new(
        &built.program,
        Limits {
            steps: 1 << 40,
            ..Limits::default()
        },
    );
    let start = Instant::now();
    let run = machine.run(&[]);
    let seconds = start.elapsed().as_secs_f64();
    assert!(
        matches!(run.outcome, Outcome::Returned(_)),
        "{:?}",
        run.outcome
    );
    eprintln!(
        "{name}: {} steps in {seconds:.2} s, {:.0} M/s",
        run.steps,
        run.steps as f64 / seconds / 1e6
    );
    let short = Machine::new(&built.program, Limits::default());
    let _ = short.run_symbolic(&[], &mut Pool::new(), 0..0);
    seconds
}

#[test]
#[ignore = "a measurement; for release builds"]
fn speed() {
    let sum = timed(
        "arithmetic",
        "int cegar_entry(void) { unsigned a = byte(), s = 0;
         for (unsigned i = 0; i < 10000000u; i++) { s += i ^ a; s *= 3; } return s & 1; }",
    );
    timed(
        "memory",
        "int cegar_entry(void) { static unsigned t[1024]; unsigned s = byte();
         for (unsigned i = 0; i < 10000000u; i++) { t[i & 1023] += s; s += t[s & 1023]; } return s & 1; }",
    );
    timed(
        "calls",
        "static int f(int *p) { int a[2]; a[0] = *p; a[1] = 1; return a[0] + a[1]; }
         int cegar_entry(void) { int s = byte(); for (int i = 0; i < 3000000; i++) s = f(&s); return s & 1; }",
    );
    if !cfg!(debug_assertions) {
        assert!(sum < 2.0, "10 million turns took {sum} s");
    }
}
