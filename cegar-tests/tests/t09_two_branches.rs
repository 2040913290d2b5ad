//! What `cargo cegar` found in `t09_two_branches`.

use cegar_harness::*;

/// /work/shared/benchmarks/synergy/t09_two_branches.c:8: the error function is reached. Found by a
/// frontier query.
#[test]
fn main_reach_error_a25f89() {
    Mock::new("t09_two_branches")
        .returns("__VERIFIER_nondet_int", [10, 0])
        .run()
        .expect_safe();
}
