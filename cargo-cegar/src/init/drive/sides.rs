//! Distinguishes functions for the two directions of an operation, such as reading and writing.
//!
//! Many libraries use one structure for both directions, but the function that ends one direction
//! is wrong for the other: a writer's buffer belongs to the library and is freed, a reader's buffer
//! belongs to the caller.

/// Words for the two directions of an operation. Ending a writer frees a buffer that a reader does
/// not own.
const SIDES: &[(&str, &str)] = &[
    ("read", "write"),
    ("decode", "encode"),
    ("decomp", "comp"),
    ("inflate", "deflate"),
];

/// Whether two functions belong to opposite directions: `oggpack_writeclear` and
/// `oggpack_readinit`.
pub(super) fn is_opposed(a: &str, b: &str) -> bool {
    let (a, b) = (a.to_lowercase(), b.to_lowercase());
    SIDES.iter().any(|(one, other)| {
        let is_one = |name: &str| name.contains(one);
        let is_other = |name: &str| name.contains(other) && !name.contains(one);
        is_one(&a) && is_other(&b) || is_other(&a) && is_one(&b)
    })
}

/// Words for functions that take data in. [`OUT`] lists those that produce it.
const IN: &[&str] = &[
    "input", "read", "decod", "decomp", "uncomp", "inflate", "unpack", "parse",
];
const OUT: &[&str] = &["output", "write", "encod", "compress", "deflate"];

/// Whether `maker` creates objects for the opposite direction of `user`: `OpenFileOutput` does not
/// create one for `UnpackSamples`. Suitable for preferences only, because names are too vague to
/// exclude a maker.
pub(super) fn is_other_side(maker: &str, user: &str) -> bool {
    let side = |name: &str| {
        let name = name.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
        match (has(IN), has(OUT)) {
            (true, false) => Some(true),
            // `decompress` contains `compress`; a transcoder has words of both directions.
            (true, true) => name.contains("decomp").then_some(true),
            (false, true) => Some(false),
            (false, false) => None,
        }
    };
    matches!((side(maker), side(user)), (Some(a), Some(b)) if a != b)
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
        assert!(is_other_side(
            "WavpackOpenFileOutput",
            "WavpackUnpackSamples"
        ));
        assert!(!is_other_side(
            "WavpackOpenFileInput",
            "WavpackUnpackSamples"
        ));
        assert!(is_other_side("BZ2_bzCompressInit", "BZ2_bzDecompress"));
        assert!(!is_other_side("kv_open", "kv_read"));
    }
}
