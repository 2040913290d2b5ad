//! Tapes that read well.
//!
//! A person reads `repeat(b'a', 513)` at a glance, and 513 bytes of noise not at all. Which bytes are text only a run says, and of
//! a tape that leads a loop around a hundred thousand times a run takes long: there the beginning says what all the rest is.

use crate::machine::{Choice, Limits, Machine, Outcome};

/// A tape of no more bytes is executed in no time.
pub const SHORT: usize = 1 << 12;
/// Steps of the beginning.
const BEGINNING: u64 = 100_000;
/// Longest turn, in bytes.
const TURN: usize = 64;

/// The positions of a tape that were read as text.
pub fn text_positions(choices: &[Choice]) -> Vec<std::ops::Range<usize>> {
    choices
        .iter()
        .filter(|choice| {
            let name = choice.channel.as_ref();
            ["stdin", "data", "bytes", "string"].contains(&name)
                || ["env:", "argv:", "file:"]
                    .iter()
                    .any(|p| name.starts_with(p))
        })
        .map(|choice| choice.at..choice.at + choice.len)
        .collect()
}

/// The byte that one would like to read at a position, where these ranges are text, in order.
pub fn plain_at(text: &[std::ops::Range<usize>], at: usize) -> u8 {
    let next = text.partition_point(|range| range.end <= at);
    match text.get(next) {
        Some(range) if range.start <= at => b'a',
        _ => 0,
    }
}

/// The tape with `a` for all text and zeros for all numbers, by what is read at its beginning; none if that is the same tape, or if the
/// beginning says nothing of the rest. Whether it does what the tape does has yet to be seen.
pub fn legible(machine: &mut Machine<'_>, tape: &[u8]) -> Option<Vec<u8>> {
    let limits = machine.limits().clone();
    machine.set_limits(Limits {
        steps: limits.steps.min(BEGINNING),
        ..limits.clone()
    });
    let run = machine.run(tape);
    machine.set_limits(limits);
    let text = text_positions(&run.choices);
    let known = run.consumed.min(tape.len());
    let mut plain: Vec<u8> = (0..known).map(|at| plain_at(&text, at)).collect();
    if run.outcome == Outcome::StepLimit && known < tape.len() {
        // What came again and again goes on.
        let half = &plain[known / 2..];
        let turn = (1..=TURN.min(half.len() / 2)).find(|turn| {
            let (early, late) = (&half[..half.len() - turn], &half[*turn..]);
            early == late
        })?;
        while plain.len() < tape.len() {
            plain.push(plain[plain.len() - turn]);
        }
    }
    (plain != tape).then_some(plain)
}
