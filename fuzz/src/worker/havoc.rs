//! Random changes of a tape, in place.
//!
//! This does what LibAFL's havoc does, at less cost. There each mutant is a fresh copy that passes
//! through a dispatch over a tuple, metadata that is looked up by type, and the whole evaluation,
//! which together took longer than the runs of a small target. Here a buffer is changed in place,
//! by few changes at a time, since a mutant with thirty changes seldom passes the first check.

use libafl_bolts::rands::Rand;

/// The inputs of a change.
pub(super) struct Material<'a> {
    /// The tokens to insert.
    pub tokens: &'a [Vec<u8>],
    /// Another input of the corpus.
    pub other: &'a [u8],
    /// The maximal length of the result.
    pub limit: usize,
}

/// Boundary values of numbers, truncated to the width that is changed.
const EDGES: [u64; 20] = [
    0,
    1,
    2,
    16,
    32,
    63,
    64,
    100,
    127,
    128,
    255,
    256,
    512,
    1000,
    1024,
    4096,
    0x7fff,
    0x8000,
    0x7fff_ffff,
    u64::MAX,
];
/// The numbers of changes that are stacked; one entry is drawn.
const STACKS: [u8; 8] = [1, 1, 1, 2, 2, 4, 8, 16];
/// The length of the longest chunk that is inserted or removed at a time, except for an occasional
/// longer one.
const CHUNK: usize = 64;

/// A random number below `n`, which must not be 0.
fn below<R: Rand>(rand: &mut R, n: usize) -> usize {
    // The upper half of a product avoids a division.
    ((u128::from(rand.next()) * n as u128) >> 64) as usize
}

/// Changes the tape once or several times.
pub(super) fn havoc<R: Rand>(rand: &mut R, tape: &mut Vec<u8>, material: &Material<'_>) {
    for _ in 0..STACKS[below(rand, STACKS.len())] {
        change(rand, tape, material);
    }
}

fn change<R: Rand>(rand: &mut R, tape: &mut Vec<u8>, material: &Material<'_>) {
    if tape.is_empty() {
        let byte = rand.next() as u8;
        insert(tape, 0, &[byte], material.limit);
        return;
    }
    let at = below(rand, tape.len());
    match below(rand, 24) {
        0..=2 => tape[at] ^= 1 << below(rand, 8),
        3..=5 => tape[at] = rand.next() as u8,
        6 | 7 => number(rand, tape, at, |rand, old| {
            let by = 1 + below(rand, 35) as u64;
            if below(rand, 2) == 0 {
                old.wrapping_add(by)
            } else {
                old.wrapping_sub(by)
            }
        }),
        8 | 9 => number(rand, tape, at, |rand, _| EDGES[below(rand, EDGES.len())]),
        10 => number(rand, tape, at, |_, old| old.wrapping_neg()),
        11 => digits(rand, tape, at),
        12..=14 => {
            let length = chunk(rand, tape.len() - at);
            tape.drain(at..at + length);
        }
        15 | 16 => {
            let bytes = [rand.next() as u8; CHUNK];
            let length = chunk(rand, CHUNK);
            insert(tape, at, &bytes[..length], material.limit);
        }
        17 => {
            let bytes = rand.next().to_le_bytes();
            let length = 1 + below(rand, bytes.len());
            insert(tape, at, &bytes[..length], material.limit);
        }
        18 => {
            let from = below(rand, tape.len());
            let length = chunk(rand, tape.len() - from.max(at));
            tape.copy_within(from..from + length, at);
        }
        19 => {
            let from = below(rand, tape.len());
            let length = chunk(rand, (tape.len() - from).min(CHUNK));
            let mut bytes = [0; CHUNK];
            bytes[..length].copy_from_slice(&tape[from..from + length]);
            insert(tape, at, &bytes[..length], material.limit);
        }
        20 | 21 => {
            if let Some(token) = material
                .tokens
                .get(below(rand, material.tokens.len().max(1)))
            {
                if below(rand, 2) == 0 {
                    overwrite(tape, at, token, material.limit);
                } else {
                    insert(tape, at, token, material.limit);
                }
            }
        }
        _ => {
            if !material.other.is_empty() {
                let from = below(rand, material.other.len());
                let length = chunk(rand, material.other.len() - from);
                let piece = &material.other[from..from + length];
                match below(rand, 4) {
                    0 => {
                        // A splice: the other input's end replaces the end of this one.
                        tape.truncate(at);
                        insert(tape, at, &material.other[from..], material.limit);
                    }
                    1 => insert(tape, at, piece, material.limit),
                    _ => overwrite(tape, at, piece, material.limit),
                }
            }
        }
    }
}

/// A length from 1 to `most` (at least 1), usually short.
fn chunk<R: Rand>(rand: &mut R, most: usize) -> usize {
    let class = if below(rand, 8) == 0 {
        most
    } else {
        1 << below(rand, CHUNK.ilog2() as usize + 1)
    };
    1 + below(rand, class.min(most).max(1))
}

/// Rewrites a number of 1, 2, 4 or 8 bytes in either byte order.
fn number<R: Rand>(
    rand: &mut R,
    tape: &mut [u8],
    at: usize,
    change: impl FnOnce(&mut R, u64) -> u64,
) {
    let widest = (tape.len() - at).min(8).ilog2() as usize;
    let width = 1 << below(rand, widest + 1);
    let turned = width > 1 && below(rand, 2) == 0;
    let place = &mut tape[at..at + width];
    let mut bytes = [0; 8];
    bytes[..width].copy_from_slice(place);
    if turned {
        bytes[..width].reverse();
    }
    let mut bytes = change(rand, u64::from_le_bytes(bytes)).to_le_bytes();
    if turned {
        bytes[..width].reverse();
    }
    place.copy_from_slice(&bytes[..width]);
}

/// Changes the first digit of a decimal number within [`CHUNK`] bytes from `at`, if there is one.
fn digits<R: Rand>(rand: &mut R, tape: &mut [u8], at: usize) {
    if let Some(digit) = tape[at..]
        .iter_mut()
        .take(CHUNK)
        .find(|b| b.is_ascii_digit())
    {
        *digit = b'0' + below(rand, 10) as u8;
    }
}

/// Inserts `piece` at `at`, as far as `limit` allows.
fn insert(tape: &mut Vec<u8>, at: usize, piece: &[u8], limit: usize) {
    let piece = &piece[..piece.len().min(limit.saturating_sub(tape.len()))];
    let old = tape.len();
    tape.resize(old + piece.len(), 0);
    tape.copy_within(at..old, at + piece.len());
    tape[at..at + piece.len()].copy_from_slice(piece);
}

/// Overwrites the bytes at `at` with `piece`, also beyond the end, as far as `limit` allows.
fn overwrite(tape: &mut Vec<u8>, at: usize, piece: &[u8], limit: usize) {
    let end = (at + piece.len()).min(limit.max(tape.len()));
    if end > tape.len() {
        tape.resize(end, 0);
    }
    tape[at..end].copy_from_slice(&piece[..end - at]);
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use libafl_bolts::rands::StdRand;

    use super::*;

    #[test]
    fn changes_keep_to_the_limit_and_differ() {
        let mut rand = StdRand::with_seed(7);
        let tokens = vec![b"magic".to_vec()];
        let material = Material {
            tokens: &tokens,
            other: b"from another input",
            limit: 40,
        };
        let mut seen = HashSet::new();
        for start in [&b""[..], b"a", b"12 and 345", &[7; 40]] {
            for _ in 0..5000 {
                let mut tape = start.to_vec();
                havoc(&mut rand, &mut tape, &material);
                assert!(tape.len() <= 40, "{tape:?}");
                seen.insert(tape);
            }
        }
        assert!(seen.len() > 5000);
        assert!(seen.iter().any(|t| t.windows(5).any(|w| w == b"magic")));
        assert!(seen.iter().any(|t| t.windows(7).any(|w| w == b"another")));
    }

    #[test]
    fn a_tape_above_the_limit_is_changed_but_not_lengthened() {
        let mut rand = StdRand::with_seed(1);
        for _ in 0..2000 {
            let mut tape = vec![1; 50];
            let material = Material {
                tokens: &[b"token".to_vec()],
                other: &[2; 90],
                limit: 10,
            };
            havoc(&mut rand, &mut tape, &material);
            assert!(tape.len() <= 50);
        }
    }

    #[test]
    fn pieces_go_where_they_should() {
        let mut tape = b"abcd".to_vec();
        insert(&mut tape, 2, b"XY", 5);
        assert_eq!(tape, b"abXcd");
        overwrite(&mut tape, 4, b"123", 6);
        assert_eq!(tape, b"abXc12");
    }
}
