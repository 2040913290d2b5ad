//! What `cargo cegar` found in `t03_deterministic_loop`.

use cegar_harness::*;

/// /work/shared/benchmarks/synergy/t03_deterministic_loop.c:12: the error function is reached.
/// Found by the closed form of a loop.
#[test]
fn main_reach_error_b130d6() {
    Mock::new("t03_deterministic_loop")
        .returns("__VERIFIER_nondet_int", [0])
        .run()
        .expect_safe();
}
