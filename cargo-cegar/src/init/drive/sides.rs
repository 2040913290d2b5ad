//! Functions for the two sides of one thing, reading and writing.
//!
//! One structure serves both in many libraries, and what ends the one is no end for the other: a
//! writer's buffer is the library's, and given back, a reader's is the caller's.

/// Words for the two sides of one thing: what ends a writer gives back what no reader has.
const SIDES: &[(&str, &str)] = &[
    ("read", "write"),
    ("decode", "encode"),
    ("decomp", "comp"),
    ("inflate", "deflate"),
];

/// Whether two functions are for the two sides: `oggpack_writeclear` and `oggpack_readinit`.
pub(super) fn is_opposed(a: &str, b: &str) -> bool {
    let (a, b) = (a.to_lowercase(), b.to_lowercase());
    SIDES.iter().any(|(one, other)| {
        let is_one = |name: &str| name.contains(one);
        let is_other = |name: &str| name.contains(other) && !name.contains(one);
        is_one(&a) && is_other(&b) || is_other(&a) && is_one(&b)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writer_is_not_ended_as_a_reader() {
        assert!(is_opposed("oggpack_writeclear", "oggpack_readinit"));
        assert!(is_opposed("BZ2_bzCompressEnd", "BZ2_bzDecompressInit"));
        assert!(!is_opposed("BZ2_bzDecompressEnd", "BZ2_bzDecompressInit"));
        assert!(!is_opposed("kv_free", "kv_read"));
    }
}
