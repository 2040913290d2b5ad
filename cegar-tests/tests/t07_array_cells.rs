//! What `cargo cegar` found in `t07_array_cells`.

use cegar_harness::*;

/// /work/shared/benchmarks/synergy/t07_array_cells.c:15: the error function is reached. Found by
/// the closed form of a loop.
#[test]
fn main_reach_error_75ce94() {
    Mock::new("t07_array_cells")
        .returns("__VERIFIER_nondet_int", [0])
        .run()
        .expect_safe();
}
