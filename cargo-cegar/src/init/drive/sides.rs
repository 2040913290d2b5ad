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

/// Words for what takes something in, and words for what gives it out.
const IN: &[&str] = &[
    "input", "read", "decod", "decomp", "uncomp", "inflate", "unpack", "parse",
];
const OUT: &[&str] = &["output", "write", "encod", "compress", "deflate"];

/// Whether an object from `maker` is made for the other side than `user`'s: `OpenFileOutput` makes
/// none for `UnpackSamples`. For preferences only: names say it too loosely to exclude by them.
pub(super) fn is_other_side(maker: &str, user: &str) -> bool {
    let side = |name: &str| {
        let name = name.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
        match (has(IN), has(OUT)) {
            (true, false) => Some(true),
            // `decompress` has `compress` in it, a transcoder both.
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
