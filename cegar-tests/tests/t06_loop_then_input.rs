//! What `cargo cegar` found in `t06_loop_then_input`.

use cegar_harness::*;

/// /work/shared/benchmarks/synergy/t06_loop_then_input.c:12: the error function is reached. Found
/// by a frontier query.
#[test]
fn main_reach_error_7a5582() {
    Mock::new("t06_loop_then_input")
        .returns("__VERIFIER_nondet_int", [100, 77])
        .run()
        .expect_safe();
}
