//! Replays answers: repeats a stretch of tape that led once around a loop.
//!
//! CRunner's central economy (section 1.2) is that an answer is reused while execution keeps
//! returning to the same place: its example finds an overflow after n bytes with two solver calls,
//! for any n. The same works on a tape: when two choices were made at the same call site under the
//! same call stack, the bytes between them carried the program once around a loop, and repeating
//! them carries it around again. No solver is involved; execution judges. The number of repetitions
//! climbs by [`LADDER`], as long as the longer tape is consumed.

use rustc_hash::FxHashMap;

use cegar_model::machine::Choice;

/// How often a stretch is repeated, one rung after the other.
pub const LADDER: [usize; 6] = [16, 128, 1024, 8192, 65_536, 1 << 20];
/// The longest tape made by repetition, in bytes. Loops that need more iterations are solved, not
/// tried.
const LONGEST: usize = 1 << 20;

/// A stretch of the tape that goes around a loop once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Stretch {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// The maximum number of stretches from one execution.
const PER_EXECUTION: usize = 24;
/// The maximum number of choices in a stretch.
const SPAN: usize = 64;

/// The stretches of an execution that are worth repeating: for each site the first and the last
/// repetition, and the stretches that contain one of the `changed` positions, because the solver
/// just chose those bytes to make progress.
pub fn stretches(choices: &[Choice], consumed: usize, changed: &[u32]) -> Vec<Stretch> {
    let mut previous: FxHashMap<u64, usize> = FxHashMap::default();
    let mut first: FxHashMap<u64, Stretch> = FxHashMap::default();
    let mut last: FxHashMap<u64, Stretch> = FxHashMap::default();
    let mut touched: Vec<Stretch> = Vec::new();
    for (number, choice) in choices.iter().enumerate() {
        if choice.at > consumed {
            break;
        }
        if let Some(before) = previous.insert(choice.site, number)
            && number - before <= SPAN
        {
            let stretch = Stretch {
                start: choices[before].at,
                end: choice.at,
            };
            if stretch.end > stretch.start {
                if touched.len() < PER_EXECUTION
                    && changed
                        .iter()
                        .any(|&at| (stretch.start..stretch.end).contains(&(at as usize)))
                {
                    touched.push(stretch.clone());
                }
                first.entry(choice.site).or_insert_with(|| stretch.clone());
                last.insert(choice.site, stretch);
            }
        }
    }
    let mut result = touched;
    result.extend(first.into_values());
    result.extend(last.into_values());
    result.sort_by_key(|s| (s.start, s.end));
    result.dedup();
    result.truncate(PER_EXECUTION);
    result
}

/// Returns the tape with the stretch occurring `times` times instead of once. Fewer repetitions are
/// made where the result would exceed `max_len` bytes; `None` if there is no room for any.
pub fn pumped(tape: &[u8], stretch: &Stretch, times: usize, max_len: usize) -> Option<Vec<u8>> {
    let unit = tape.get(stretch.start..stretch.end)?;
    let room = max_len.min(LONGEST).checked_sub(tape.len())?;
    let more = (times - 1).min(room / unit.len().max(1));
    if more == 0 {
        return None;
    }
    let mut result = Vec::with_capacity(tape.len() + more * unit.len());
    result.extend_from_slice(&tape[..stretch.end]);
    for _ in 0..more {
        result.extend_from_slice(unit);
    }
    result.extend_from_slice(&tape[stretch.end..]);
    Some(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_the_stretch_in_place() {
        let stretch = Stretch { start: 1, end: 3 };
        assert_eq!(
            pumped(b"abcd", &stretch, 3, 100).as_deref(),
            Some(&b"abcbcbcd"[..])
        );
        assert_eq!(
            pumped(b"abcd", &stretch, 3, 6).as_deref(),
            Some(&b"abcbcd"[..])
        );
        assert_eq!(pumped(b"abcd", &stretch, 3, 4), None);
    }
}
