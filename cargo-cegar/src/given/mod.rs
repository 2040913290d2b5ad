//! What users have from other fuzzers and give to a campaign: dictionaries and seed corpora.
//!
//! Both are read before anything is compiled, so that an invalid line or path is reported at once.

mod dictionary;
mod seeds;

use std::path::{Path, PathBuf};

use crate::config::HarnessConfig;
use crate::error::Error;
use crate::options::Harness;
pub use seeds::{Unpacked, unpack};

/// Dictionaries and seeds that were checked to be readable.
#[derive(Clone, Debug, Default)]
pub struct Given {
    words: Vec<Vec<u8>>,
    seeds: Vec<PathBuf>,
}

impl Given {
    /// Reads dictionaries, and checks that the seeds exist.
    pub fn read(dictionaries: &[PathBuf], seeds: &[PathBuf]) -> Result<Given, Error> {
        let mut words = Vec::new();
        for file in dictionaries {
            words.extend(dictionary::read(file)?);
        }
        for path in seeds {
            seeds::check(path)?;
        }
        let absolute =
            |path: &PathBuf| std::path::absolute(path).map_err(|why| Error::io("read", path, why));
        Ok(Given {
            words,
            seeds: seeds.iter().map(absolute).collect::<Result<_, _>>()?,
        })
    }

    /// Reads those of `[harness.NAME]`, whose paths are relative to the package.
    pub fn configured(own: &HarnessConfig, package: &Path) -> Result<Given, Error> {
        let paths = |names: &Option<crate::config::Paths>| -> Vec<PathBuf> {
            let names = names.iter().flat_map(|names| names.list());
            names.map(|name| package.join(name)).collect()
        };
        Given::read(&paths(&own.dict), &paths(&own.seeds))
    }

    /// Adds them to a harness.
    pub fn give(&self, harness: &mut Harness) {
        harness.words.extend(self.words.iter().cloned());
        harness.words.sort();
        harness.words.dedup();
        harness.seeds.extend(self.seeds.iter().cloned());
    }
}
