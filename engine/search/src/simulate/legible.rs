//! Makes tapes readable.
//!
//! A person reads `repeat(b'a', 513)` at a glance, but not 513 bytes of noise. Only a run shows
//! which bytes are text, and the run of a tape for a hundred thousand iterations of a loop takes
//! long. There, the bytes that the beginning of the run reads are extrapolated to the rest.

use cegar_model::machine::{Choice, Machine, Outcome};

/// A tape of at most this many bytes is executed quickly.
pub const SHORT: usize = 1 << 12;
/// The number of steps in the beginning of a run.
const BEGINNING: u64 = 100_000;
/// The longest period of repeated bytes.
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

/// The preferred byte at a position, given the sorted ranges of positions that are text.
pub fn plain_at(text: &[std::ops::Range<usize>], at: usize) -> u8 {
    let next = text.partition_point(|range| range.end <= at);
    match text.get(next) {
        Some(range) if range.start <= at => b'a',
        _ => 0,
    }
}

/// Returns the tape with `a` for all text and zeros for all numbers, as the beginning of its run
/// reads it. Returns `None` if that is the same tape, or if the bytes read at the beginning do not
/// repeat. The caller has to check that the result behaves like the tape.
pub fn legible(machine: &Machine<'_>, tape: &[u8]) -> Option<Vec<u8>> {
    let run = machine.limited(BEGINNING).run(tape);
    let text = text_positions(&run.choices);
    let known = run.consumed.min(tape.len());
    let mut plain: Vec<u8> = (0..known).map(|at| plain_at(&text, at)).collect();
    if run.outcome == Outcome::StepLimit && known < tape.len() {
        plain = continued(plain, tape.len())?;
    }
    (plain != tape).then_some(plain)
}

/// Extends `bytes` to `length` with the period that repeats in their second half.
fn continued(mut bytes: Vec<u8>, length: usize) -> Option<Vec<u8>> {
    let half = &bytes[bytes.len() / 2..];
    let turn = (1..=TURN.min(half.len() / 2)).find(|turn| {
        let (early, late) = (&half[..half.len() - turn], &half[*turn..]);
        early == late
    })?;
    while bytes.len() < length {
        bytes.push(bytes[bytes.len() - turn]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cegar_model::machine::Limits;
    use cegar_model::machine::samples::build;

    #[test]
    fn what_comes_again_goes_on() {
        assert_eq!(
            continued(b"xyababab".to_vec(), 11),
            Some(b"xyababababa".to_vec())
        );
        assert_eq!(continued(b"abcdefgh".to_vec(), 11), None);
        assert_eq!(continued(Vec::new(), 3), None);
    }

    /// Reads the number of characters and then the characters.
    const COUNTED: &str = "int cegar_entry(void) {
        int n = word(), sum = 0;
        for (int i = 0; i < n; i++) { u8 c; crunner_choose(\"stdin\", &c, 1); sum += c; }
        return sum & 1; }";

    #[test]
    fn the_beginning_of_a_long_tape_says_what_is_text() {
        let built = build(COUNTED);
        let machine = Machine::new(&built.program, Limits::default());
        let mut tape = 100_000i32.to_le_bytes().to_vec();
        tape.resize(100_004, 7);
        let all = machine.run(&tape);
        assert!(all.steps > BEGINNING && all.consumed == tape.len());
        let mut wanted = vec![0; 4];
        wanted.resize(tape.len(), b'a');
        assert_eq!(legible(&machine, &tape), Some(wanted));
    }

    #[test]
    fn what_is_legible_already_is_left_alone() {
        let built = build(COUNTED);
        let machine = Machine::new(&built.program, Limits::default());
        assert_eq!(legible(&machine, &[0; 4]), None);
    }
}
