//! A smallest part of a corpus that covers what the whole corpus covers.
//!
//! The set is found greedily: it repeatedly adds the input that covers most of what is still
//! missing, the shorter one if several cover equally much. Chvatal's bound for set cover says how
//! close this comes to the minimum.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use super::{Features, Input, files, ready};
use crate::error::Error;
use crate::event::Reporter;
use crate::options::{Harness, RunOptions};
use crate::store;

/// The indices of a small set of inputs that covers what all inputs cover, in the order in which
/// the greedy algorithm adds them.
pub(super) fn cover(inputs: &[(usize, &[u64])]) -> Vec<usize> {
    let mut missing: BTreeSet<u64> = inputs.iter().flat_map(|(_, f)| f.iter().copied()).collect();
    let mut chosen = Vec::new();
    while !missing.is_empty() {
        let gains = inputs
            .iter()
            .enumerate()
            .map(|(number, (length, features))| {
                let gain = features.iter().filter(|f| missing.contains(f)).count();
                (gain, std::cmp::Reverse(*length), std::cmp::Reverse(number))
            });
        // Every missing feature belongs to some input.
        let Some((_, _, std::cmp::Reverse(best))) = gains.max() else {
            break;
        };
        for feature in inputs[best].1 {
            missing.remove(feature);
        }
        chosen.push(best);
    }
    chosen
}

pub(super) fn chosen(inputs: &[Input]) -> Vec<usize> {
    let sets: Vec<(usize, &[u64])> = inputs
        .iter()
        .map(|input| (input.tape.len(), input.features.as_slice()))
        .collect();
    cover(&sets)
}

/// The result of `cmin`.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Minimised {
    /// The harness.
    pub harness: String,
    /// The number of different inputs before, including those in the fuzzer's queue.
    pub before: usize,
    /// Inputs that are kept in the corpus.
    pub kept: usize,
    /// Files that were removed (or would be).
    pub removed: Vec<PathBuf>,
    /// Inputs that fail; they are left where they are.
    pub failing: Vec<PathBuf>,
}

/// Reduces a corpus to a smallest one (`cargo cegar cmin`). Files whose name is not a content hash
/// belong to the user and stay.
pub fn cmin(
    options: &RunOptions,
    harness: &Harness,
    dry: bool,
    reporter: &mut dyn Reporter,
    stop: &AtomicBool,
) -> Result<Minimised, Error> {
    let ready = ready(options, harness, reporter, stop)?;
    let files = files(options, &harness.name)?;
    let (inputs, failing) = ready.measure(&files, Features::Counts, stop)?;
    let chosen: BTreeSet<&[u8]> = chosen(&inputs)
        .into_iter()
        .map(|number| inputs[number].tape.as_slice())
        .collect();
    let corpus = options.corpus(&harness.name);
    let mut removed = Vec::new();
    // New files are added before unneeded ones are removed, so that a kill in between loses
    // nothing.
    for tape in &chosen {
        let there = |i: &Input| i.tape == *tape && i.path.starts_with(&corpus);
        if !dry && !inputs.iter().any(there) {
            store::add_entry(&corpus, tape)?;
        }
    }
    for input in &inputs {
        let own = input
            .path
            .file_name()
            .is_none_or(|name| name.to_string_lossy() != store::entry_name(&input.tape));
        if own || chosen.contains(input.tape.as_slice()) {
            continue;
        }
        if !dry {
            std::fs::remove_file(&input.path)
                .map_err(|why| Error::io("remove", &input.path, why))?;
        }
        removed.push(input.path.clone());
    }
    Ok(Minimised {
        harness: harness.name.clone(),
        before: inputs
            .iter()
            .map(|input| input.tape.as_slice())
            .collect::<BTreeSet<_>>()
            .len(),
        kept: chosen.len(),
        removed,
        failing,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_set_covers_all() {
        let inputs: [(usize, &[u64]); 5] = [
            (9, &[1, 2, 3]),
            (4, &[1, 2]),
            (2, &[3, 4]),
            (2, &[5]),
            (1, &[5]),
        ];
        assert_eq!(cover(&inputs), [0, 4, 2]);
        assert!(cover(&[]).is_empty());
        assert_eq!(cover(&[(3, &[7]), (3, &[7])]), [0]);
    }
}
