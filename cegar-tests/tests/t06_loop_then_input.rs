//! What `cargo cegar` found in `t06_loop_then_input`.

use cegar_harness::*;

/// /work/shared/benchmarks/synergy/t06_loop_then_input.c:12: the error function is reached. Found
/// by the closed form of a loop.
#[test]
fn reach_error_t06_loop_then_input_c_12() {
    Mock::new("t06_loop_then_input")
        .returns("__VERIFIER_nondet_int", [100, 77])
        .run()
        .expect_safe();
}
