//! Shortens and simplifies tapes, so that a person reads `repeat(b'a', 17)` and not 4,096 bytes of
//! noise.
//!
//! [`minimise`] first removes chunks, from half the tape down to single bytes. Then it overwrites
//! chunks with a plain byte (`a` in text, 0 in numbers), and clears as many bits as possible in the
//! bytes of numbers. [`simplify`] runs last, when it is known which bytes form a number and which
//! are text ([`Span`]): it moves each number as a whole towards zero (byte by byte, the result
//! would be -16777216 where -1 suffices) and makes text printable. Every candidate is judged by
//! execution. The budget is in executed steps, because a candidate of 100,000 bytes costs a
//! thousand times as much as one of a hundred.

use std::ops::Range;

/// The limits on all candidates together.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Candidates tried.
    pub tries: u32,
    /// Steps executed over all candidates.
    pub steps: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Budget {
            tries: 4000,
            steps: 20_000_000,
        }
    }
}

/// The result of executing one candidate.
#[derive(Clone, Copy, Debug)]
pub struct Judged {
    /// Whether the candidate still shows the same violation.
    pub same: bool,
    /// The number of bytes that the run consumed; the rest is cut off.
    pub consumed: usize,
    /// The number of steps that the run took.
    pub steps: u64,
}

/// Bytes of a tape that form one value or one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Their positions.
    pub at: Range<usize>,
    /// Their meaning.
    pub sort: Sort,
}

/// The meaning of a [`Span`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// An integer, little-endian, of at most 8 bytes.
    Number {
        /// Whether it has a sign.
        signed: bool,
    },
    /// Characters, each independent of the others.
    Text,
}

/// Returns the tape with simpler values in `spans`. A change is kept if `judge` accepts it and it
/// consumes the whole tape.
pub fn simplify(
    tape: &[u8],
    spans: &[Span],
    mut budget: Budget,
    mut judge: impl FnMut(&[u8]) -> Judged,
) -> Vec<u8> {
    let mut best = tape.to_vec();
    // Bytes past the end of the tape are zeros, which are simple already.
    let inside = |span: &&Span| span.at.end <= tape.len() && span.at.len() <= 8;
    let mut put = |best: &mut Vec<u8>, at: usize, bytes: &[u8]| -> bool {
        if budget.tries == 0 || budget.steps == 0 {
            return false;
        }
        let mut candidate = best.clone();
        candidate[at..at + bytes.len()].copy_from_slice(bytes);
        budget.tries -= 1;
        let judged = judge(&candidate);
        budget.steps = budget.steps.saturating_sub(judged.steps);
        let accepted = judged.same && judged.consumed == candidate.len();
        if accepted {
            *best = candidate;
        }
        accepted
    };
    for span in spans {
        if span.sort == Sort::Text {
            for at in span.at.clone().take_while(|at| *at < tape.len()) {
                if best[at] != 0 && best[at] != b'a' && !put(&mut best, at, b"a") {
                    let legible = best[at].is_ascii_graphic() || b" \n\t".contains(&best[at]);
                    for other in b"0A-/. _%".iter().take_while(|_| !legible) {
                        if put(&mut best, at, &[*other]) {
                            break;
                        }
                    }
                }
            }
        }
    }
    for span in spans.iter().filter(inside) {
        let Sort::Number { signed } = span.sort else {
            continue;
        };
        let (at, len) = (span.at.start, span.at.len());
        let mut value = number(&best[span.at.clone()], signed);
        let write = |value: i128| value.to_le_bytes()[..len].to_vec();
        for small in [0i128, 1, -1, 2, 3, 4, 8, 10, 16, 100] {
            let simpler =
                small == 0 || small.signum() == value.signum() && small.abs() < value.abs();
            if simpler && (signed || small >= 0) && put(&mut best, at, &write(small)) {
                value = small;
                break;
            }
        }
        // Reduces the value by half, then by a quarter, and so on, as long as that is accepted.
        let mut step = value / 2;
        while step != 0 {
            if put(&mut best, at, &write(value - step)) {
                value -= step;
                if step.abs() > (value / 2).abs() {
                    step = value / 2;
                }
            } else {
                step /= 2;
            }
        }
    }
    best
}

fn number(bytes: &[u8], signed: bool) -> i128 {
    let negative = signed && bytes.last().is_some_and(|byte| byte & 0x80 != 0);
    let mut wide = [if negative { 0xFF } else { 0 }; 16];
    wide[..bytes.len()].copy_from_slice(bytes);
    i128::from_le_bytes(wide)
}

/// Returns the shortest and plainest tape found within the budget that `judge` accepts. `tape`
/// itself must be accepted. `plain(at)` is the preferred byte at a position.
pub fn minimise(
    tape: &[u8],
    mut budget: Budget,
    mut judge: impl FnMut(&[u8]) -> Judged,
    plain: impl Fn(usize) -> u8,
) -> Vec<u8> {
    let mut best = tape.to_vec();
    let mut attempt = |candidate: &[u8], budget: &mut Budget| -> Option<usize> {
        if budget.tries == 0 || budget.steps == 0 {
            return None;
        }
        budget.tries -= 1;
        let judged = judge(candidate);
        budget.steps = budget.steps.saturating_sub(judged.steps);
        judged.same.then_some(judged.consumed.min(candidate.len()))
    };
    if let Some(consumed) = attempt(&best.clone(), &mut budget) {
        best.truncate(consumed);
    }
    // First replaces all bytes by plain ones at once: on a long tape the budget allows few
    // attempts, and this one alone makes the tape readable.
    let candidate: Vec<u8> = (0..best.len()).map(&plain).collect();
    if candidate != best
        && let Some(consumed) = attempt(&candidate, &mut budget)
    {
        best = candidate;
        best.truncate(consumed);
    }
    let mut size = best.len() / 2;
    while size > 0 && budget.tries > 0 && budget.steps > 0 {
        let mut at = 0;
        let mut shrunk = false;
        while at < best.len() {
            let end = (at + size).min(best.len());
            let mut candidate = best[..at].to_vec();
            candidate.extend_from_slice(&best[end..]);
            match attempt(&candidate, &mut budget) {
                Some(consumed) => {
                    candidate.truncate(consumed);
                    best = candidate;
                    shrunk = true;
                }
                None => at = end,
            }
            if budget.tries == 0 || budget.steps == 0 {
                break;
            }
        }
        if !shrunk || size == 1 {
            size /= 2;
        }
    }
    let mut size = best.len();
    while size > 0 && budget.tries > 0 && budget.steps > 0 {
        for at in (0..best.len()).step_by(size) {
            let end = (at + size).min(best.len());
            let mut candidate = best.clone();
            for (offset, byte) in candidate[at..end].iter_mut().enumerate() {
                *byte = plain(at + offset);
            }
            if candidate != best
                && let Some(consumed) = attempt(&candidate, &mut budget)
                && consumed == best.len()
            {
                best = candidate;
            }
        }
        size /= 2;
    }
    // Numbers: first as few bits as possible (for a mask, this shows which bit matters), then a
    // small value (for a count, this shows how many are needed).
    let mut at = 0;
    while at < best.len() && budget.tries > 0 && budget.steps > 0 {
        let bits = (0..8).rev().map(|bit| !(1u8 << bit));
        if plain(at) == 0 && best[at] != 0 {
            for mask in bits {
                try_byte(
                    &mut best,
                    at,
                    &mut |old| old & mask,
                    &mut attempt,
                    &mut budget,
                );
            }
            for value in 1..=4u8 {
                try_byte(
                    &mut best,
                    at,
                    &mut |old| old.min(value),
                    &mut attempt,
                    &mut budget,
                );
            }
        }
        at += 1;
    }
    best
}

/// Changes the byte at a position, if the result is accepted.
fn try_byte(
    best: &mut Vec<u8>,
    at: usize,
    change: &mut dyn FnMut(u8) -> u8,
    attempt: &mut dyn FnMut(&[u8], &mut Budget) -> Option<usize>,
    budget: &mut Budget,
) {
    let Some(&old) = best.get(at) else { return };
    let new = change(old);
    if new == old {
        return;
    }
    let mut candidate = best.clone();
    candidate[at] = new;
    if let Some(consumed) = attempt(&candidate, budget) {
        candidate.truncate(consumed);
        *best = candidate;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_only_what_matters() {
        let tape: Vec<u8> = (0..200u8).collect();
        let shortest = minimise(
            &tape,
            Budget::default(),
            |candidate| Judged {
                same: candidate.contains(&77) && candidate.len() >= 3,
                consumed: candidate.len(),
                steps: 1,
            },
            |_| b'a',
        );
        assert_eq!(shortest.len(), 3);
        assert!(shortest.contains(&77));
        assert_eq!(shortest.iter().filter(|&&b| b == b'a').count(), 2);
    }

    #[test]
    fn numbers_become_small() {
        let judge = |candidate: &[u8]| Judged {
            same: candidate.len() == 2 && candidate[0] & 0x80 != 0 && candidate[1] >= 2,
            consumed: candidate.len(),
            steps: 1,
        };
        let shortest = minimise(&[0xbb, 0xbb], Budget::default(), judge, |_| 0);
        assert_eq!(shortest, [0x80, 2]);
    }

    #[test]
    fn numbers_go_towards_zero_as_a_whole() {
        let value = |tape: &[u8]| i32::from_le_bytes([tape[0], tape[1], tape[2], tape[3]]);
        let simplest = |start: i32, same: &dyn Fn(i32) -> bool| {
            let span = Span {
                at: 0..4,
                sort: Sort::Number { signed: true },
            };
            let simple = simplify(&start.to_le_bytes(), &[span], Budget::default(), |tape| {
                Judged {
                    same: same(value(tape)),
                    consumed: 4,
                    steps: 1,
                }
            });
            value(&simple)
        };
        assert_eq!(simplest(-16_777_216, &|v| v < 0), -1);
        assert_eq!(simplest(0x7fff_0000, &|v| v > 1000), 1001);
        assert_eq!(simplest(i32::MIN, &|v| v < -77), -78);
        assert_eq!(simplest(12, &|v| v & 4 != 0), 4);
    }

    #[test]
    fn text_becomes_legible() {
        let span = Span {
            at: 0..3,
            sort: Sort::Text,
        };
        let simple = simplify(&[1, 7, 0], &[span], Budget::default(), |tape| Judged {
            same: tape[0] != 0 && tape[1] < b'a' && tape[1] > 0,
            consumed: 3,
            steps: 1,
        });
        assert_eq!(simple, [b'a', b'0', 0]);
    }

    #[test]
    fn cuts_what_was_not_consumed() {
        let shortest = minimise(
            b"xyz-------",
            Budget::default(),
            |candidate| Judged {
                same: candidate.starts_with(b"xyz"),
                consumed: 3,
                steps: 1,
            },
            |_| 0,
        );
        assert_eq!(shortest, b"xyz");
    }
}
