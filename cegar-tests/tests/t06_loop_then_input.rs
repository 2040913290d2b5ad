//! What `cargo cegar` found in `t06_loop_then_input`.

use cegar_harness::*;

/// /work/shared/benchmarks/synergy/t06_loop_then_input.c:12: the error function is reached. Found
/// by partial simulation.
#[test]
fn reach_error_t06_loop_then_input_c_12() {
    Mock::new("t06_loop_then_input")
        .returns("__VERIFIER_nondet_int", [256, 77])
        .run()
        .expect_safe();
}
