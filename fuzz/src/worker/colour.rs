//! Changes as many bytes of an input as possible without changing its path.
//!
//! This does what LibAFL's `ColorizationStage` does, but on raw counts and without an observer of
//! LibAFL's. All bytes are replaced by others of the same kind; if that changes a count, each half
//! is tried separately. Bytes that could be replaced did not decide the path, and a second log with
//! the new bytes shows which operands depend on them.

use std::collections::VecDeque;

use libafl::executors::ExitKind;
use libafl_bolts::rands::Rand;

use super::executor::NativeExecutor;

/// The maximal number of runs for one input.
const RUNS: usize = 48;
/// Longer inputs are not coloured.
const LONGEST: usize = 1 << 12;

/// Another byte of the same kind: numbers stay numbers, and words words.
fn other<R: Rand>(rand: &mut R, byte: u8) -> u8 {
    let (first, count) = match byte {
        b'0'..=b'9' => (b'0', 10),
        b'a'..=b'f' => (b'a', 6),
        b'A'..=b'F' => (b'A', 6),
        b'g'..=b'z' => (b'g', 20),
        b'G'..=b'Z' => (b'G', 20),
        _ => return byte.wrapping_add(1 + rand.below_or_zero(255) as u8),
    };
    first + (byte - first + 1 + rand.below_or_zero(count - 1) as u8) % count as u8
}

/// A tape that takes the same path as `tape`; `None` if no byte could be replaced.
pub(super) fn coloured<R: Rand>(
    rand: &mut R,
    executor: &mut NativeExecutor,
    tape: &[u8],
) -> Option<Vec<u8>> {
    if tape.is_empty() || tape.len() > LONGEST || executor.run(tape) != ExitKind::Ok {
        return None;
    }
    let counts = executor.counts();
    let paint: Vec<u8> = tape.iter().map(|&byte| other(rand, byte)).collect();
    let mut done = tape.to_vec();
    let mut changed = false;
    // Longest parts first.
    let mut parts = VecDeque::new();
    parts.push_back(0..tape.len());
    for _ in 0..RUNS {
        let Some(part) = parts.pop_front() else { break };
        done[part.clone()].copy_from_slice(&paint[part.clone()]);
        if executor.run(&done) == ExitKind::Ok && executor.has_counts(&counts) {
            changed = true;
            continue;
        }
        done[part.clone()].copy_from_slice(&tape[part.clone()]);
        if part.len() > 1 {
            let middle = part.start + part.len() / 2;
            parts.push_back(part.start..middle);
            parts.push_back(middle..part.end);
        }
    }
    changed.then_some(done)
}

#[cfg(test)]
mod tests {
    use libafl_bolts::rands::StdRand;

    use super::*;

    #[test]
    fn another_byte_is_of_the_same_kind() {
        let mut rand = StdRand::with_seed(3);
        for byte in 0..=u8::MAX {
            for _ in 0..20 {
                let new = other(&mut rand, byte);
                assert_ne!(new, byte);
                if byte.is_ascii_alphanumeric() {
                    assert_eq!(byte.is_ascii_digit(), new.is_ascii_digit());
                    assert_eq!(byte.is_ascii_hexdigit(), new.is_ascii_hexdigit());
                    assert_eq!(byte.is_ascii_lowercase(), new.is_ascii_lowercase());
                }
            }
        }
    }
}
