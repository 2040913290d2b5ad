//! What `cargo cegar` found in `prescan`.

use cegar_harness::*;

/// /work/shared/benchmarks/crunner/prescan.c:35: invalid write of 1 byte at offset 64 of `token`
/// (64 bytes, global). Found by replaying an answer around a loop.
#[test]
fn main_invalid_write_8e8ca9() {
    Mock::new("prescan")
        .stdin(repeat(b'a', 63).then(b"\xff\xff"))
        .run()
        .expect_safe();
}
