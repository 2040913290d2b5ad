//! What `cargo cegar` found in `t14_diamonds_and_loop`.

use cegar_harness::*;

/// /work/shared/benchmarks/synergy/t14_diamonds_and_loop.c:30: the error function is reached. Found
/// by the closed form of a loop.
#[test]
fn reach_error_t14_diamonds_and_loop_c_30() {
    Mock::new("t14_diamonds_and_loop")
        .returns("__VERIFIER_nondet_int", repeat(0, 16).then([12345]))
        .run()
        .expect_safe();
}
