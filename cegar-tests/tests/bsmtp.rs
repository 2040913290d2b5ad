//! What `cargo cegar` found in `bsmtp`.

use cegar_harness::*;

/// /work/shared/benchmarks/crunner/bsmtp.c:32: index past an array's bound. Found by partial
/// simulation.
#[test]
fn send_stuffed_array_bound_8a638b() {
    Mock::new("bsmtp")
        .stdin(repeat(b'a', 62).then(b"\n."))
        .run()
        .expect_safe();
}
