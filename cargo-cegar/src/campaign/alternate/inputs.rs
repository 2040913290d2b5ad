//! Where inputs are kept: the scratch folder's queue, and the harness's corpus.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::error::Error;
use crate::store;

/// See the module.
pub struct Inputs {
    /// Where inputs that covered something new are kept, besides the queue.
    pub corpus: Option<PathBuf>,
    /// Folders of inputs that are only read.
    pub seeds: Vec<PathBuf>,
    /// The fuzzer's queue, in the scratch folder.
    pub queue: PathBuf,
    /// The files in these folders that were told of as damaged.
    pub damaged: BTreeSet<PathBuf>,
}

impl Inputs {
    /// The folders that a campaign begins with.
    pub fn folders(&self) -> impl Iterator<Item = PathBuf> {
        let given = self.corpus.iter().chain(&self.seeds);
        given.cloned().chain([self.queue.clone()])
    }

    /// What the user gave or an earlier campaign left, and the files that are damaged.
    pub fn read(&self) -> Result<(Vec<Vec<u8>>, Vec<PathBuf>), Error> {
        let (mut tapes, mut damaged) = (Vec::new(), Vec::new());
        for folder in self.folders() {
            let (entries, corrupt) = store::read_corpus(&folder)?;
            tapes.extend(entries);
            damaged.extend(corrupt);
        }
        Ok((tapes, damaged))
    }

    /// Keeps an input that covered something new, where the next campaign finds it. The machine
    /// takes longer tapes than the fuzzer, up to a megabyte: those are not put into the corpus,
    /// which people commit.
    pub fn keep(&self, tape: &[u8], max_len: usize) -> Result<(), Error> {
        self.put_off(tape)?;
        if let Some(corpus) = &self.corpus
            && tape.len() <= max_len
        {
            store::add_entry(corpus, tape)?;
        }
        Ok(())
    }

    /// Keeps an input for the next campaign alone.
    pub fn put_off(&self, tape: &[u8]) -> Result<(), Error> {
        store::add_entry(&self.queue, tape)?;
        Ok(())
    }
}
