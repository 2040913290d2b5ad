//! Mutations that lengthen an input, to find the input of N + 1 bytes.
//!
//! LibAFL's own mutations insert at most 16 bytes at once. A loop that needs 10,000 iterations then
//! takes hundreds of accepted steps, and since counters saturate at 255, the later steps are not
//! accepted at all. Here a chunk of the input is repeated 2^k times: one loop iteration, read from
//! the tape, becomes thousands. The other two variants insert a run of one byte, or repeat the
//! whole input.
//!
//! There is only one such mutation per run: combined with havoc's mutations, lengths would explode.

use libafl_bolts::rands::Rand;

/// The length of the longest chunk that is repeated.
const CHUNK: usize = 64;

/// The kind of mutation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Variant {
    /// Repeats a chunk in place.
    Chunk,
    /// Inserts a run of one byte.
    Run,
    /// Repeats the whole input.
    Double,
}

/// Sets `longer` to `tape` with `unit` inserted at `at`, `times` times, as far as `limit` allows.
fn insert(tape: &[u8], at: usize, unit: &[u8], times: usize, limit: usize, longer: &mut Vec<u8>) {
    let room = limit.saturating_sub(tape.len());
    let end = at + (unit.len() * times).min(room);
    longer.clear();
    longer.extend_from_slice(&tape[..at]);
    longer.extend_from_slice(&unit[..unit.len().min(end - at)]);
    // Doubles what was inserted so far, which copies growing blocks instead of single bytes.
    while longer.len() < end {
        let more = (longer.len() - at).min(end - longer.len());
        longer.extend_from_within(at..at + more);
    }
    longer.extend_from_slice(&tape[at..]);
}

/// Sets `longer` to a longer version of `tape`. Returns whether there is one.
pub(super) fn pump<R: Rand>(rand: &mut R, tape: &[u8], limit: usize, longer: &mut Vec<u8>) -> bool {
    if tape.is_empty() || tape.len() >= limit {
        return false;
    }
    let variant = match rand.below_or_zero(8) {
        0 => Variant::Double,
        1 | 2 => Variant::Run,
        _ => Variant::Chunk,
    };
    // Short chunks are more likely, since most loops read only a few bytes per iteration.
    let most = 1 << rand.below_or_zero(CHUNK.ilog2() as usize + 1);
    let length = rand.between(1, most).min(tape.len());
    let from = rand.below_or_zero(tape.len() - length + 1);
    let doublings = (limit / length).max(2).ilog2() as usize;
    let times = 1usize << rand.between(1, doublings);
    match variant {
        Variant::Chunk => {
            let unit = &tape[from..from + length];
            insert(tape, from + length, unit, times, limit, longer);
        }
        Variant::Run => {
            let byte = if rand.coinflip(0.5) {
                tape[from]
            } else {
                rand.below_or_zero(256) as u8
            };
            let at = rand.below_or_zero(tape.len() + 1);
            insert(tape, at, &[byte], times * length, limit, longer);
        }
        Variant::Double => insert(tape, tape.len(), tape, 1, limit, longer),
    }
    true
}

#[cfg(test)]
mod tests {
    use libafl_bolts::rands::StdRand;

    use super::*;

    #[test]
    fn a_chunk_is_repeated_up_to_the_limit() {
        let mut longer = Vec::new();
        insert(b"abc", 2, b"xy", 3, 100, &mut longer);
        assert_eq!(longer, b"abxyxyxyc");
        insert(b"abc", 3, b"xy", 3, 6, &mut longer);
        assert_eq!(longer, b"abcxyx");
        insert(b"abc", 0, b"xy", 1, 4, &mut longer);
        assert_eq!(longer, b"xabc");
    }

    #[test]
    fn pumping_reaches_every_size_class_and_never_passes_the_limit() {
        let mut rand = StdRand::with_seed(1);
        let mut longest = 0;
        for _ in 0..2000 {
            let mut longer = Vec::new();
            assert!(pump(&mut rand, b"a1;", 20_000, &mut longer));
            assert!(longer.len() > 3 && longer.len() <= 20_000);
            longest = longest.max(longer.len());
        }
        assert!(longest > 10_000);
    }
}
