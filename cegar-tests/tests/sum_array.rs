//! What `cargo cegar` found in `sum_array`.

use cegar_harness::*;

/// /work/shared/benchmarks/satabs/sum_array.c:18: assertion fails: i < LEN. Found by a frontier
/// query.
#[test]
fn main_assertion_39cd4a() {
    Mock::new("sum_array").run().expect_safe();
}
