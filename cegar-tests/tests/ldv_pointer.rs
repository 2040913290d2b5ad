//! What `cargo cegar` found in `ldv_pointer`.

use cegar_harness::*;

/// /work/shared/benchmarks/seahorn/ldv_pointer.c:11: the error function is reached. Found by a
/// frontier query.
#[test]
fn main_reach_error_c8e4c9() {
    Mock::new("ldv_pointer")
        .returns_address("ldv_ptr", 0x100000000000000)
        .returns("__VERIFIER_nondet_int", [457])
        .run()
        .expect_safe();
}
