//! What `cargo cegar` found in `rcfile`.

use cegar_harness::*;

/// /work/shared/benchmarks/satabs/rcfile.c:17: invalid write of 1 byte at offset 25 of `home` (25
/// bytes, stack). Found by an initial input.
#[test]
fn copy_invalid_write_c48658() {
    Mock::new("rcfile")
        .env("HOME", repeat(b'a', 25))
        .run()
        .expect_safe();
}

/// /work/shared/benchmarks/satabs/rcfile.c:34: invalid write of 9 bytes at offset 42 of `home` (50
/// bytes, stack), in `strcat`. Found by replaying an answer around a loop.
#[test]
fn main_invalid_write_a1cfe3() {
    Mock::new("rcfile")
        .env("HOME", repeat(b'a', 42))
        .run()
        .expect_safe();
}
