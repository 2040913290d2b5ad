//! What `cargo cegar` found in `overflow_after_n`.

use cegar_harness::*;

/// /work/shared/benchmarks/crunner/overflow_after_n.c:20: assertion fails: used < N. Found by the
/// closed form of a loop.
#[test]
fn main_assertion_9b471b() {
    Mock::new("overflow_after_n")
        .stdin(repeat(b'a', 11))
        .run()
        .expect_safe();
}
