//! Builds the harnesses that the tests run.

fn main() {
    cegar_harness::build::harnesses("harnesses");
}
