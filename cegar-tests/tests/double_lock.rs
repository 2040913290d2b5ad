//! What `cargo cegar` found in `double_lock`.

use cegar_harness::*;

/// /work/shared/benchmarks/seahorn/double_lock.c:8: the error function is reached. Found by the
/// closed form of a loop.
#[test]
fn take_reach_error_6a0eff() {
    Mock::new("double_lock")
        .returns("__VERIFIER_nondet_int", [0])
        .returns("hw_ready", [0])
        .returns("hw_reset", [0, 0, 0, 0, 0])
        .run()
        .expect_safe();
}
