//! Finds operands of comparisons that occur in the input in a transformed form.
//!
//! A program may compare `length - 4`, a field whose bytes it swapped and widened, or a number that
//! it parsed from decimal digits; then the operand itself does not occur in the input. One log
//! cannot show which bytes an operand came from, but two can. The input is run again with other
//! bytes that do not change its path (see the `colour` module). If the same transform maps a number
//! in the input to the operand in both runs, its inverse is applied to the wanted value.
//!
//! LibAFL's `AflppRedQueen` does something similar, but copies the whole input for each change and
//! considers each position for each comparison. For logs of thousands of comparisons, this takes
//! longer than running all mutants.

use std::collections::HashMap;
use std::ops::Range;

use super::comparisons::{Patch, bytes_of, orders};
use super::target::{CompareEntry, MemoryEntry};

/// The maximal number of pairs of log entries, and of those of one comparison (a loop logs each
/// iteration).
const PAIRS: usize = 256;
const TURNS: usize = 4;
/// The maximal number of changes for one operand.
const PLACES: usize = 6;
/// The number of strings at the beginning of a tape that are replaced by texts.
const STRINGS: usize = 3;
/// The maximal number of texts that replace them.
const TEXTS: usize = 48;
/// The maximal number of digits of a number.
const DIGITS: usize = 20;

/// The values of an operand in both runs, and the value that it was compared with in the first run.
struct Operand {
    bytes: usize,
    was: [u64; 2],
    wanted: u64,
}

/// Pairs of entries of both logs for the same iteration of the same comparison.
fn pairs(logs: [&[CompareEntry]; 2]) -> impl Iterator<Item = (&CompareEntry, &CompareEntry)> {
    let mut second: HashMap<u64, Vec<&CompareEntry>> = HashMap::new();
    for entry in logs[1] {
        let turns = second.entry(entry.site).or_default();
        if turns.len() < TURNS {
            turns.push(entry);
        }
    }
    let mut turns: HashMap<u64, usize> = HashMap::new();
    logs[0].iter().filter_map(move |entry| {
        let turn = turns.entry(entry.site).or_default();
        *turn += 1;
        let other = second.get(&entry.site)?.get(*turn - 1)?;
        Some((entry, *other))
    })
}

fn mask(bytes: usize) -> u64 {
    u64::MAX >> (64 - 8 * bytes.clamp(1, 8))
}

/// The number of `width` bytes at `at`.
fn number(tape: &[u8], at: usize, width: usize, turned: bool) -> Option<u64> {
    let mut bytes = [0; 8];
    bytes[..width].copy_from_slice(tape.get(at..at + width)?);
    if turned {
        bytes[..width].reverse();
    }
    Some(u64::from_le_bytes(bytes))
}

fn sign_extended(number: u64, width: usize) -> u64 {
    let shift = 64 - 8 * width as u32;
    ((number << shift) as i64 >> shift) as u64
}

/// The value that must replace the number in the input for its operand to become `wanted`. The
/// number was `read` in the two runs.
fn inverse(read: [u64; 2], width: usize, operand: &Operand) -> Option<u64> {
    let whole = mask(operand.bytes.max(width));
    let [a, b] = operand.was.map(|was| was & whole);
    let wanted = operand.wanted;
    let extended = read.map(|read| sign_extended(read, width) & whole);
    // Two bytes differ by the same constant too often for that to be evidence.
    let steady = width > 1 || operand.bytes == 1;
    if read == [a, b] || extended == [a, b] {
        return Some(wanted);
    }
    let less = a.wrapping_sub(read[0]) & whole;
    if steady && less == b.wrapping_sub(read[1]) & whole {
        return Some(wanted.wrapping_sub(less));
    }
    let xored = a ^ read[0];
    if steady && xored == b ^ read[1] {
        return Some(wanted ^ xored);
    }
    let folded = |of: u64| u64::from_le_bytes(of.to_le_bytes().map(|b| b.to_ascii_lowercase()));
    if read.map(folded) == [a, b].map(folded) {
        return Some(wanted);
    }
    // The field occupies higher bits of its word.
    (1..8 * operand.bytes as u32)
        .find(|&by| read.map(|read| read << by & whole) == [a, b] && a != 0)
        .map(|by| wanted >> by)
}

/// Adds changes that give an operand its wanted value. `changed` are the positions at which the two
/// tapes differ.
fn of_operand(tapes: [&[u8]; 2], changed: &[usize], operand: &Operand, found: &mut Vec<Patch>) {
    let before = found.len();
    for width in [8, 4, 2, 1] {
        let mut last = usize::MAX;
        for at in changed
            .iter()
            .flat_map(|&at| at.saturating_sub(width - 1)..=at)
        {
            if found.len() - before >= PLACES {
                return;
            }
            if last != usize::MAX && at <= last {
                continue;
            }
            last = at;
            for turned in orders(width) {
                let read = tapes.map(|tape| number(tape, at, width, turned));
                let [Some(first), Some(second)] = read else {
                    continue;
                };
                if first != second
                    && let Some(put) = inverse([first, second], width, operand)
                {
                    found.push(Patch::over(at, bytes_of(put, width, turned)));
                }
            }
        }
    }
}

/// The numbers in the tape that are written in digits of this base, with their places.
fn numerals(tape: &[u8], base: u32) -> Vec<(Range<usize>, u64)> {
    let is_digit = |byte: &u8| char::from(*byte).is_digit(base);
    let mut found = Vec::new();
    let mut at = 0;
    while at < tape.len() {
        let length = tape[at..].iter().take_while(|byte| is_digit(byte)).count();
        if (1..=DIGITS).contains(&length)
            && let Ok(text) = std::str::from_utf8(&tape[at..at + length])
            && let Ok(value) = u64::from_str_radix(text, base)
        {
            found.push((at..at + length, value));
        }
        at += length.max(1);
    }
    found
}

/// Numbers that both tapes contain at the same place, in the same base.
struct Numerals(Vec<(Range<usize>, [u64; 2])>, u32);

impl Numerals {
    fn of(tapes: [&[u8]; 2]) -> [Numerals; 2] {
        [10, 16].map(|base| {
            let [first, second] = tapes.map(|tape| numerals(tape, base));
            let second: HashMap<Range<usize>, u64> = second.into_iter().collect();
            let both = first.into_iter().filter_map(|(at, value)| {
                let other = *second.get(&at)?;
                (other != value).then_some((at, [value, other]))
            });
            Numerals(both.collect(), base)
        })
    }

    /// Adds changes that write the wanted value of an operand.
    fn find(&self, operand: &Operand, found: &mut Vec<Patch>) {
        let whole = mask(operand.bytes);
        for (at, read) in &self.0 {
            let less = operand.was[0].wrapping_sub(read[0]) & whole;
            if less != operand.was[1].wrapping_sub(read[1]) & whole {
                continue;
            }
            let wanted = sign_extended(operand.wanted.wrapping_sub(less), operand.bytes) as i64;
            let text = match self.1 {
                10 => wanted.to_string(),
                _ => format!("{:x}", wanted as u64 & whole),
            };
            found.push(Patch {
                at: at.start,
                cut: at.len(),
                put: text.into_bytes(),
            });
        }
    }
}

/// Changes that two logs suggest. The first log is of `tapes[0]`; the second one is of `tapes[1]`,
/// which takes the same path with other bytes.
pub(super) fn integers(tapes: [&[u8]; 2], logs: [&[CompareEntry]; 2]) -> Vec<Patch> {
    let changed: Vec<usize> = (0..tapes[0].len())
        .filter(|&at| tapes[0].get(at) != tapes[1].get(at))
        .collect();
    let numerals = Numerals::of(tapes);
    let mut found = Vec::new();
    let mut looked = 0;
    for (first, second) in pairs(logs) {
        for side in 0..2 {
            let was = [first.sides[side], second.sides[side]];
            let bytes = first.bytes as usize;
            if was[0] == was[1] || !matches!(bytes, 1 | 2 | 4 | 8) {
                continue;
            }
            looked += 1;
            if looked > PAIRS {
                return found;
            }
            for wanted in first.wanted(side) {
                let operand = Operand { bytes, was, wanted };
                of_operand(tapes, &changed, &operand, &mut found);
                numerals
                    .iter()
                    .for_each(|numerals| numerals.find(&operand, &mut found));
            }
        }
    }
    found
}

/// Changes that a comparison of memory suggests if one side occurs in the tape in another letter
/// case, or with two bytes per character.
pub(super) fn memories(tape: &[u8], log: &[MemoryEntry]) -> Vec<Patch> {
    let mut found = Vec::new();
    for entry in log {
        for (from, to) in entry.both_ways() {
            if from.is_empty() || to.is_empty() || from.eq_ignore_ascii_case(to) {
                continue;
            }
            let start = &from[..from.len().min(4)];
            let places = tape.windows(start.len()).enumerate();
            let folded = places.filter(|(_, at)| at.eq_ignore_ascii_case(start) && *at != start);
            found.extend(folded.take(2).map(|(at, _)| Patch::over(at, to.to_vec())));
            if from.len() < 2 {
                continue;
            }
            for zero_first in [false, true] {
                let wide = |text: &[u8]| -> Vec<u8> {
                    let pair = |&byte: &u8| if zero_first { [0, byte] } else { [byte, 0] };
                    text.iter().flat_map(pair).collect()
                };
                let start = wide(start);
                let at = tape.windows(start.len()).position(|at| at == start);
                found.extend(at.map(|at| Patch::over(at, wide(to))));
            }
        }
    }
    found
}

/// Changes that make a string of the tape the text that some string was compared with. A string on
/// the tape ends at a NUL and may be empty, too long for the log, or contain escapes, so it need
/// not occur in the log; each of the first strings, the last one and the one behind the tape's end
/// may be the one that was compared.
pub(super) fn strings(tape: &[u8], log: &[MemoryEntry]) -> Vec<Patch> {
    let mut all: Vec<(usize, usize)> = Vec::new();
    let mut at = 0;
    for string in tape.split(|&byte| byte == 0) {
        if all.len() > STRINGS {
            all.pop();
        }
        all.push((at, string.len()));
        at += string.len() + 1;
    }
    let is_text = |bytes: &[u8]| {
        let mut bytes = bytes.iter();
        bytes.len() > 1 && bytes.all(|byte| (0x20..0x7f).contains(byte))
    };
    let mut wanted: Vec<&[u8]> = Vec::new();
    let is_kept = |entry: &&MemoryEntry| {
        let mut lengths = entry.lengths.iter().zip(entry.known());
        lengths.all(|(&length, known)| length as usize == known.len())
    };
    // A text that the log has cut short equals nothing.
    for (from, to) in log.iter().filter(is_kept).flat_map(MemoryEntry::both_ways) {
        if from != to && is_text(to) && !wanted.contains(&to) && wanted.len() < TEXTS {
            wanted.push(to);
        }
    }
    let mut found = Vec::new();
    for to in wanted {
        let replaced = all.iter().map(|&(at, cut)| (at, cut, to.to_vec()));
        let behind = (tape.len(), 0, [&[0], to].concat());
        let patches = replaced.chain([behind]);
        found.extend(patches.map(|(at, cut, put)| Patch { at, cut, put }));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::comparisons::apply;
    use super::*;

    fn entry(a: u64, b: u64, bytes: u32) -> CompareEntry {
        CompareEntry {
            sides: [a, b],
            bytes,
            constants: 2,
            site: 7,
        }
    }

    /// The tapes that result if an operand that `of` computes from the tape is compared with `b`.
    fn tried(tapes: [&[u8]; 2], bytes: u32, of: impl Fn(&[u8]) -> u64, b: u64) -> Vec<Vec<u8>> {
        let [one, two] = tapes.map(|tape| [entry(of(tape), b, bytes)]);
        let patches = integers(tapes, [&one, &two]);
        let made = patches.iter().map(|patch| {
            let mut tape = tapes[0].to_vec();
            assert!(apply(patch, &mut tape, 100));
            tape
        });
        made.filter(|tape| of(tape) == b).collect()
    }

    fn word(tape: &[u8]) -> u64 {
        u64::from(u16::from_be_bytes([tape[1], tape[2]]))
    }

    #[test]
    fn the_step_from_input_to_operand_is_taken_backwards() {
        let tapes: [&[u8]; 2] = [b"x\x12\x34y", b"x\x98\x21y"];
        type Step = fn(&[u8]) -> u64;
        let steps: [(u32, Step); 6] = [
            (4, word),
            (4, |tape| word(tape) as i16 as i64 as u64 & 0xffff_ffff),
            (4, |tape| word(tape).wrapping_sub(4) & 0xffff_ffff),
            (4, |tape| word(tape) + 1000),
            (4, |tape| word(tape) ^ 0x5a5a_1234),
            (8, |tape| word(tape) << 12),
        ];
        for (nth, (bytes, step)) in steps.into_iter().enumerate() {
            let wanted = step(b"x\x07\x0ay");
            assert!(!tried(tapes, bytes, step, wanted).is_empty(), "step {nth}");
        }
    }

    #[test]
    fn a_number_in_digits_is_written_anew() {
        let parse = |base: u32| {
            move |tape: &[u8]| {
                let text = std::str::from_utf8(&tape[2..tape.len() - 1]).expect("text");
                i64::from_str_radix(text, base).expect("digits") as u64
            }
        };
        let tapes: [&[u8]; 2] = [b"n=12;", b"n=47;"];
        assert_eq!(tried(tapes, 4, parse(10), 65_537)[0], b"n=65537;");
        assert_eq!(tried(tapes, 8, parse(10), -3i64 as u64)[0], b"n=-3;");
        assert_eq!(tried(tapes, 4, parse(16), 0xbeef)[0], b"n=beef;");
    }

    #[test]
    fn letters_of_another_case_and_wide_ones_are_found() {
        let log = MemoryEntry::of([b"get", b"patch"]);
        let put = |tape: &[u8]| memories(tape, std::slice::from_ref(&log))[0].put.clone();
        assert_eq!(put(b"..GeT"), b"patch");
        assert_eq!(put(b".g\0e\0t\0"), b"p\0a\0t\0c\0h\0");
    }

    #[test]
    fn each_string_of_a_tape_may_be_the_one_that_was_compared() {
        let tried = |tape: &[u8], from: &[u8]| -> Vec<Vec<u8>> {
            let log = MemoryEntry::of([from, b"utf"]);
            let patches = strings(tape, std::slice::from_ref(&log));
            let all = patches.iter().map(|patch| {
                let mut tape = tape.to_vec();
                apply(patch, &mut tape, 64);
                tape
            });
            all.collect()
        };
        let all: [&[u8]; 4] = [b"utf\0\0", b"x\0utf\0", b"x\0\0utf", b"x\0\0\0utf"];
        assert_eq!(tried(b"x\0\0", b""), all);
        assert_eq!(tried(b"x", b""), [&b"utf"[..], b"x\0utf"]);
        assert_eq!(tried(b"\xff\xff\x01\0z", b"\xff\x01")[0], b"utf\0z");
    }

    #[test]
    fn entries_are_paired_by_comparison_and_turn() {
        let one: Vec<CompareEntry> = (0..3).map(|a| entry(a, 9, 4)).collect();
        let mut two: Vec<CompareEntry> = (5..7).map(|a| entry(a, 9, 4)).collect();
        two.insert(
            0,
            CompareEntry {
                site: 8,
                ..entry(1, 2, 4)
            },
        );
        let found: Vec<[u64; 2]> = pairs([&one, &two])
            .map(|(a, b)| [a.sides[0], b.sides[0]])
            .collect();
        assert_eq!(found, [[0, 5], [1, 6]]);
    }
}
