//! Comparison logging inside the fuzzer: runs the input once in the logging target, then tries the
//! compared values.
//!
//! If one side of a logged comparison occurs in the input, it is replaced by the other side.
//! LibAFL's `I2SRandReplace` searches the input again for each mutant, mostly without success, and
//! took a third of the time on inputs of some thousand bytes. Here the search is done once per
//! logged run, and its result is a list of patches that all fit. An input that was already logged
//! is logged again only rarely.
//!
//! An operand that was computed from the input is found by two logs (see the `transforms` module).
//!
//! Constants also become tokens, so that a magic word is found even if the input is copied or
//! shifted before it is compared.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use libafl::Error;
use libafl::common::HasMetadata;
use libafl::corpus::{CorpusId, HasCurrentCorpusId};
use libafl::inputs::HasMutatorBytes;
use libafl::mutators::Tokens;
use libafl::stages::{Restartable, Stage};
use libafl::state::{HasCurrentTestcase, HasRand};
use libafl_bolts::rands::Rand;

use super::State;
use super::executor::NativeExecutor;
use super::target::{CompareEntry, MemoryEntry, Target};
use super::{colour, transforms};

/// The maximal number of tokens; each one makes all others rarer.
const TOKENS: usize = 512;
/// The maximal number of distinct searches in one input.
const SEARCHES: usize = 128;
/// The maximal number of places that are used for one search.
const PLACES: usize = 4;
/// The number of bytes of an input that are searched.
const SEARCHED: usize = 1 << 12;
/// The probability that an input is logged again.
const AGAIN: f64 = 1.0 / 64.0;

/// A change that fits the current input.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Patch {
    /// The offset.
    pub at: usize,
    /// The number of bytes to remove, if there are that many.
    pub cut: usize,
    /// The bytes to insert.
    pub put: Vec<u8>,
}

impl Patch {
    /// Overwrites bytes, and extends the tape if they exceed its end.
    pub fn over(at: usize, put: Vec<u8>) -> Patch {
        let cut = put.len();
        Patch { at, cut, put }
    }
}

/// The patches that fit the current input, shared by this stage and the mutation stage.
pub(super) type Patches = Rc<RefCell<Vec<Patch>>>;

/// The logging target. It may become available later than the target with counters, since building
/// it takes seconds and the fuzzer does not wait for it.
pub(super) type Logging = Rc<RefCell<Option<Target>>>;

/// The stage that logs comparisons.
pub(super) struct CompareStage {
    target: Logging,
    /// The number of runs of the logging target.
    runs: Rc<Cell<u64>>,
    patches: Patches,
    seen: HashSet<CorpusId>,
}

impl CompareStage {
    pub fn new(target: Logging, runs: Rc<Cell<u64>>, patches: Patches) -> Self {
        CompareStage {
            target,
            runs,
            patches,
            seen: HashSet::new(),
        }
    }

    /// Patches that follow from the log of a second tape that takes the same path.
    fn twice(
        &self,
        state: &mut State,
        executor: &mut NativeExecutor,
        target: &mut Target,
        tape: &[u8],
        log: &[CompareEntry],
    ) -> Vec<Patch> {
        let Some(other) = colour::coloured(state.rand_mut(), executor, tape) else {
            return Vec::new();
        };
        target.clear_log();
        target.run(&other);
        self.runs.set(self.runs.get() + 1);
        transforms::integers([tape, &other], [log, target.logged().0])
    }
}

/// The bytes to search for, and the bytes to insert.
type Search = (Vec<u8>, Vec<u8>);

/// The searches for a comparison of integers: each side that is not constant, in both byte orders,
/// in the width of the comparison and, for small values, in the narrower widths in which they may
/// have been read.
fn integers(entry: &CompareEntry, searches: &mut Vec<Search>) {
    let whole = entry.bytes as usize;
    if !matches!(whole, 1 | 2 | 4 | 8) {
        return;
    }
    for side in 0..2 {
        if entry.constants & (1 << side) != 0 {
            continue;
        }
        let (from, to) = (entry.sides[side], entry.sides[1 - side]);
        for width in [1, 2, 4, 8] {
            let fits = |v: u64| width == 8 || v >> (8 * width) == 0;
            if width > whole || (width < whole && !(fits(from) && fits(to))) {
                continue;
            }
            for wanted in entry.wanted(side) {
                for turned in orders(width) {
                    let bytes = |number| bytes_of(number, width, turned);
                    searches.push((bytes(from), bytes(wanted)));
                }
            }
        }
    }
}

/// The byte orders in which a number of this width may occur in the input: whether it is
/// big-endian.
pub(super) fn orders(width: usize) -> impl Iterator<Item = bool> {
    [false, true].into_iter().take(1 + usize::from(width > 1))
}

/// The lowest bytes of a number, in little-endian order or, if `turned`, in big-endian order.
pub(super) fn bytes_of(number: u64, width: usize, turned: bool) -> Vec<u8> {
    let mut bytes = number.to_le_bytes()[..width].to_vec();
    if turned {
        bytes.reverse();
    }
    bytes
}

/// The searches for a comparison of memory: the start of one side is searched for, and the whole
/// other side is inserted.
fn memories(entry: &MemoryEntry, searches: &mut Vec<Search>) {
    for (from, to) in entry.both_ways() {
        if !from.is_empty() && !to.is_empty() && from != to {
            searches.push((from[..from.len().min(4)].to_vec(), to.to_vec()));
        }
    }
}

/// The first places of `needle`, starting at `start` and wrapping around. The first byte is
/// compared separately, since most places fail there.
fn places(tape: &[u8], needle: &[u8], start: usize) -> Vec<usize> {
    let (Some(&first), Some(last)) = (needle.first(), tape.len().checked_sub(needle.len())) else {
        return Vec::new();
    };
    let start = start % (last + 1);
    (start..=last)
        .chain(0..start)
        .filter(|&at| tape[at] == first && tape[at..].starts_with(needle))
        .take(PLACES)
        .collect()
}

/// Patches for `tape`. The search starts at `start` and wraps around, so that no part is preferred.
fn patches(tape: &[u8], searches: &[Search], start: usize) -> Vec<Patch> {
    let tape = &tape[..tape.len().min(SEARCHED)];
    let mut known: HashMap<&[u8], Vec<usize>> = HashMap::new();
    let mut done = HashSet::new();
    let mut found = Vec::new();
    for search in searches {
        if known.len() >= SEARCHES {
            break;
        }
        if !done.insert(search) {
            continue;
        }
        let (needle, put) = search;
        for &at in known
            .entry(needle)
            .or_insert_with(|| places(tape, needle, start))
            .iter()
        {
            found.push(Patch::over(at, put.clone()));
        }
    }
    found
}

/// The constants in the log that are useful as tokens.
fn tokens_of(compares: &[CompareEntry], memories: &[MemoryEntry]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for entry in compares
        .iter()
        .filter(|e| matches!(e.constants, 1 | 2) && matches!(e.bytes, 2 | 4 | 8))
    {
        let constant = entry.sides[usize::from(entry.constants == 2)];
        let unused = u64::MAX.checked_shl(8 * entry.bytes).unwrap_or(0);
        if constant > 255 && constant | unused != u64::MAX {
            let width = entry.bytes as usize;
            found.extend(orders(width).map(|turned| bytes_of(constant, width, turned)));
        }
    }
    for entry in memories {
        for bytes in entry.known() {
            if bytes.len() > 1 {
                found.push(bytes.to_vec());
            }
        }
    }
    found
}

impl<EM, Z> Stage<NativeExecutor, EM, State, Z> for CompareStage {
    fn perform(
        &mut self,
        _: &mut Z,
        executor: &mut NativeExecutor,
        state: &mut State,
        _: &mut EM,
    ) -> Result<(), Error> {
        self.patches.borrow_mut().clear();
        let mut target = self.target.borrow_mut();
        let Some(target) = target.as_mut() else {
            return Ok(());
        };
        let again = state.rand_mut().coinflip(AGAIN);
        let first = state
            .current_corpus_id()?
            .is_some_and(|id| self.seen.insert(id));
        if !first && !again {
            return Ok(());
        }
        let input = state.current_input_cloned()?;
        let tape = input.mutator_bytes();
        target.clear_log();
        target.run(tape);
        self.runs.set(self.runs.get() + 1);
        let (compares, memory) = target.logged();
        let mut searches = Vec::new();
        // Late comparisons are as interesting as early ones, but a loop fills the log with its
        // iterations, so an evenly spaced sample of the log is used.
        let step = compares.len().div_ceil(SEARCHES).max(1);
        memory
            .iter()
            .for_each(|entry| memories(entry, &mut searches));
        compares
            .iter()
            .step_by(step)
            .for_each(|entry| integers(entry, &mut searches));
        let start = state.rand_mut().below_or_zero(tape.len().max(1));
        let mut found = patches(tape, &searches, start);
        found.extend(transforms::memories(tape, memory));
        found.extend(transforms::strings(tape, memory));
        *self.patches.borrow_mut() = found;
        if let Some(known) = state.metadata_map_mut().get_mut::<Tokens>() {
            for token in &tokens_of(compares, memory) {
                if known.len() >= TOKENS {
                    break;
                }
                known.add_token(token);
            }
        }
        if first {
            let log = compares.to_vec();
            let patches = self.twice(state, executor, target, tape, &log);
            self.patches.borrow_mut().extend(patches);
        }
        Ok(())
    }
}

impl<S> Restartable<S> for CompareStage {
    fn should_restart(&mut self, _: &mut S) -> Result<bool, Error> {
        Ok(true)
    }

    fn clear_progress(&mut self, _: &mut S) -> Result<(), Error> {
        Ok(())
    }
}

/// Applies a patch, if the result is no longer than `limit`. Returns whether it was applied.
pub(super) fn apply(patch: &Patch, tape: &mut Vec<u8>, limit: usize) -> bool {
    let end = (patch.at + patch.cut).min(tape.len());
    if patch.at > end || tape.len() - (end - patch.at) + patch.put.len() > limit {
        return false;
    }
    if end - patch.at == patch.put.len() {
        tape[patch.at..end].copy_from_slice(&patch.put);
    } else {
        tape.splice(patch.at..end, patch.put.iter().copied());
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_puts_the_constant_where_the_other_side_stands() {
        let entry = CompareEntry {
            sides: [0x0102_0304, 0xdead_beef],
            bytes: 4,
            constants: 2,
            site: 0,
        };
        let mut searches = Vec::new();
        integers(&entry, &mut searches);
        let found = patches(b"xx\x01\x02\x03\x04", &searches, 3);
        assert!(
            found.contains(&Patch::over(2, vec![0xde, 0xad, 0xbe, 0xef])),
            "{found:?}"
        );
        assert_eq!(found.len(), 3, "and its two neighbours");
        assert_eq!(tokens_of(&[entry], &[])[1], [0xde, 0xad, 0xbe, 0xef]);
    }

    #[test]
    fn a_small_value_is_looked_for_as_a_byte_too() {
        let entry = CompareEntry {
            sides: [b'a'.into(), b'z'.into()],
            bytes: 4,
            constants: 2,
            site: 0,
        };
        let mut searches = Vec::new();
        integers(&entry, &mut searches);
        assert!(patches(b"..a", &searches, 0).contains(&Patch::over(2, vec![b'z'])));
    }

    #[test]
    fn a_word_is_put_where_its_other_side_begins() {
        let entry = MemoryEntry::of([b"ab", b"magic"]);
        let mut searches = Vec::new();
        memories(&entry, &mut searches);
        assert_eq!(
            patches(b"zab", &searches, 0),
            [Patch::over(1, b"magic".to_vec())]
        );
    }
}
