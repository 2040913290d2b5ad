//! What `cargo cegar` found in `t09_two_branches`.

use cegar_harness::*;

/// /work/shared/benchmarks/synergy/t09_two_branches.c:8: the error function is reached. Found by a
/// frontier query.
#[test]
fn reach_error_t09_two_branches_c_8() {
    Mock::new("t09_two_branches")
        .returns("__VERIFIER_nondet_int", [10, 0])
        .run()
        .expect_safe();
}
