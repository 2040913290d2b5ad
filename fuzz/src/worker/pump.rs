//! Mutations that lengthen: what finds the input of N + 1 bytes.
//!
//! LibAFL's own mutations insert at most 16 bytes at once, so a loop that must turn 10,000 times takes hundreds of
//! accepted steps, and with counters that stop at 255 the later ones are not accepted at all. Here a chunk of the input
//! is taken and repeated 2^k times: a loop's one turn, read from the tape, becomes thousands. The other
//! two variants make a run of one byte, and double the whole input.
//!
//! It runs in a stage of its own, one mutation per run: stacked with havoc's others, lengths would explode.

use std::borrow::Cow;

use libafl::Error;
use libafl::corpus::CorpusId;
use libafl::inputs::{BytesInput, HasMutatorBytes, ResizableMutator};
use libafl::mutators::{MutationResult, Mutator};
use libafl::state::{HasMaxSize, HasRand};
use libafl_bolts::Named;
use libafl_bolts::rands::Rand;

/// Longest chunk that is repeated.
const CHUNK: usize = 64;

/// The mutator.
#[derive(Debug, Default)]
pub(super) struct Pump;

impl Named for Pump {
    fn name(&self) -> &Cow<'static, str> {
        static NAME: Cow<'static, str> = Cow::Borrowed("Pump");
        &NAME
    }
}

/// What to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Variant {
    /// Repeat a chunk where it stands.
    Chunk,
    /// A run of one byte.
    Run,
    /// The whole input again.
    Double,
}

/// `tape` with `unit` inserted at `at`, `times` times, as far as `limit` allows.
fn insert(tape: &[u8], at: usize, unit: &[u8], times: usize, limit: usize) -> Vec<u8> {
    let room = limit.saturating_sub(tape.len());
    let mut longer = tape[..at].to_vec();
    let middle: Vec<u8> = unit
        .iter()
        .copied()
        .cycle()
        .take((unit.len() * times).min(room))
        .collect();
    longer.extend_from_slice(&middle);
    longer.extend_from_slice(&tape[at..]);
    longer
}

fn pumped<R: Rand>(rand: &mut R, tape: &[u8], limit: usize) -> Option<Vec<u8>> {
    if tape.is_empty() || tape.len() >= limit {
        return None;
    }
    let variant = match rand.below_or_zero(8) {
        0 => Variant::Double,
        1 | 2 => Variant::Run,
        _ => Variant::Chunk,
    };
    // Short chunks are the likelier: most loops take a byte or a few per turn.
    let most = 1 << rand.below_or_zero(CHUNK.ilog2() as usize + 1);
    let length = rand.between(1, most).min(tape.len());
    let from = rand.below_or_zero(tape.len() - length + 1);
    let doublings = (limit / length).max(2).ilog2() as usize;
    let times = 1usize << rand.between(1, doublings);
    Some(match variant {
        Variant::Chunk => insert(
            tape,
            from + length,
            &tape[from..from + length],
            times,
            limit,
        ),
        Variant::Run => {
            let byte = if rand.coinflip(0.5) {
                tape[from]
            } else {
                rand.below_or_zero(256) as u8
            };
            insert(
                tape,
                rand.below_or_zero(tape.len() + 1),
                &[byte],
                times * length,
                limit,
            )
        }
        Variant::Double => insert(tape, tape.len(), tape, 1, limit),
    })
}

impl<S: HasRand + HasMaxSize> Mutator<BytesInput, S> for Pump {
    fn mutate(&mut self, state: &mut S, input: &mut BytesInput) -> Result<MutationResult, Error> {
        let limit = state.max_size();
        let Some(longer) = pumped(state.rand_mut(), input.mutator_bytes(), limit) else {
            return Ok(MutationResult::Skipped);
        };
        input.resize(longer.len(), 0);
        input.mutator_bytes_mut().copy_from_slice(&longer);
        Ok(MutationResult::Mutated)
    }

    fn post_exec(&mut self, _: &mut S, _: Option<CorpusId>) -> Result<(), Error> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use libafl_bolts::rands::StdRand;

    use super::*;

    #[test]
    fn a_chunk_is_repeated_up_to_the_limit() {
        assert_eq!(insert(b"abc", 2, b"xy", 3, 100), b"abxyxyxyc");
        assert_eq!(insert(b"abc", 3, b"xy", 3, 6), b"abcxyx");
    }

    #[test]
    fn pumping_reaches_every_size_class_and_never_passes_the_limit() {
        let mut rand = StdRand::with_seed(1);
        let mut longest = 0;
        for _ in 0..2000 {
            let Some(longer) = pumped(&mut rand, b"a1;", 20_000) else {
                continue;
            };
            assert!(longer.len() > 3 && longer.len() <= 20_000);
            longest = longest.max(longer.len());
        }
        assert!(longest > 10_000);
    }
}
