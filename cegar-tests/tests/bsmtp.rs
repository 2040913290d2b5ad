//! What `cargo cegar` found in `bsmtp`.

use cegar_harness::*;

/// /work/shared/benchmarks/crunner/bsmtp.c:32: index past an array's bound. Found by partial
/// simulation.
#[test]
fn array_bound_bsmtp_c_32() {
    Mock::new("bsmtp")
        .stdin(repeat(b'a', 62).then(b"\n."))
        .run()
        .expect_safe();
}
