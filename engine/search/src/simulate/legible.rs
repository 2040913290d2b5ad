//! Tapes that read well.
//!
//! A person reads `repeat(b'a', 513)` at a glance, and 513 bytes of noise not at all. Which bytes
//! are text only a run says, and of a tape that leads a loop around a hundred thousand times a run
//! takes long: there the beginning says what all the rest is.

use cegar_model::machine::{Choice, Machine, Outcome};

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

/// The tape with `a` for all text and zeros for all numbers, by what is read at its beginning; none
/// if that is the same tape, or if the beginning says nothing of the rest. Whether it does what the
/// tape does has yet to be seen.
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

/// So many bytes of what comes again and again in the second half of these.
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

    /// A number that says how many characters there are, and the characters.
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
