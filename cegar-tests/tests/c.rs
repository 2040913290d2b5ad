//! What `cargo cegar` found in `c`.

use cegar_harness::*;

/// /tmp/t1/c.c:4: assertion fails: x==0||x==u. Found by a frontier query.
#[test]
fn main_assertion_2ae1b4() {
    Mock::new("c")
        .returns("__VERIFIER_nondet_int", [0, 0, 0, 1, -1818280874])
        .run()
        .expect_safe();
}
