//! What `cargo cegar` found in `t14_diamonds_and_loop`.

use cegar_harness::*;

/// /work/shared/benchmarks/synergy/t14_diamonds_and_loop.c:30: the error function is reached. Found
/// by the closed form of a loop.
#[test]
fn main_reach_error_b3efba() {
    Mock::new("t14_diamonds_and_loop")
        .returns("__VERIFIER_nondet_int", repeat(0, 16).then([12345]))
        .run()
        .expect_safe();
}
