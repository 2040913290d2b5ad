//! Where inputs are stored: the queue in the scratch folder, and the corpus of the harness.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::error::Error;
use crate::store;

/// See the module.
pub struct Inputs {
    /// Where inputs that covered something new are stored in addition to the queue.
    pub corpus: Option<PathBuf>,
    /// Folders of inputs that are only read.
    pub seeds: Vec<PathBuf>,
    /// The fuzzer's queue, in the scratch folder.
    pub queue: PathBuf,
    /// The damaged files in these folders, which were already reported.
    pub damaged: BTreeSet<PathBuf>,
}

impl Inputs {
    /// The folders from which a campaign takes its first inputs.
    pub fn folders(&self) -> impl Iterator<Item = PathBuf> {
        let given = self.corpus.iter().chain(&self.seeds);
        given.cloned().chain([self.queue.clone()])
    }

    /// Reads the inputs that the user gave or an earlier campaign left. Returns them and the paths
    /// of damaged files.
    pub fn read(&self) -> Result<(Vec<Vec<u8>>, Vec<PathBuf>), Error> {
        let (mut tapes, mut damaged) = (Vec::new(), Vec::new());
        for folder in self.folders() {
            let (entries, corrupt) = store::read_corpus(&folder)?;
            tapes.extend(entries);
            damaged.extend(corrupt);
        }
        Ok((tapes, damaged))
    }

    /// Stores an input that covered something new for the next campaign. The machine takes longer
    /// tapes than the fuzzer, up to a megabyte; tapes longer than `max_len` are not put into the
    /// corpus, which users commit.
    pub fn keep(&self, tape: &[u8], max_len: usize) -> Result<(), Error> {
        self.put_off(tape)?;
        if let Some(corpus) = &self.corpus
            && tape.len() <= max_len
        {
            store::add_entry(corpus, tape)?;
        }
        Ok(())
    }

    /// Stores an input in the queue only, for the next campaign.
    pub fn put_off(&self, tape: &[u8]) -> Result<(), Error> {
        store::add_entry(&self.queue, tape)?;
        Ok(())
    }
}
