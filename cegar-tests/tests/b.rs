//! What `cargo cegar` found in `b`.

use cegar_harness::*;

/// /tmp/t1/b.c:3: assertion fails: y > x. Found by a frontier query.
#[test]
fn main_assertion_2a5ac3() {
    Mock::new("b")
        .returns("__VERIFIER_nondet_int", [2147483647])
        .run()
        .expect_safe();
}
