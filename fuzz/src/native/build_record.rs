//! Records what a product was made from, so that the next campaign on the same program can reuse
//! it.
//!
//! Compiling a large program takes longer than a short campaign, but instrumenting it is fast and
//! gives the same module each time. A product is therefore reused if the hash beside it is that of
//! the module, the options and the runtime, and if the product has the hash that was recorded:
//! caches are copied between machines, and disks fill up. The record is removed before a product is
//! replaced and written afterwards, so that a kill in between costs only a build and never leaves a
//! product beside the record of another one.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::{Kind, TargetBuilder, TargetError};
use crate::hex;

pub(super) struct BuildRecord {
    product: PathBuf,
    path: PathBuf,
    digest: String,
}

impl BuildRecord {
    /// The record of a product with these inputs. None without a cache folder, whose name
    /// identifies the compiler's version.
    pub fn new(
        builder: &TargetBuilder,
        kind: Kind,
        module: &[u8],
        product: &Path,
    ) -> Result<Option<BuildRecord>, TargetError> {
        let Some(cache) = &builder.cache else {
            return Ok(None);
        };
        let runtime = builder.runtime_digest(kind);
        let mut hash = Sha256::new();
        for part in [
            cache.as_os_str().as_encoded_bytes(),
            kind.file_name().as_bytes(),
            builder.opt.as_bytes(),
            runtime.as_bytes(),
            module,
        ] {
            hash.update(part.len().to_le_bytes());
            hash.update(part);
        }
        let digest = hex(&hash.finalize());
        let mut path = product.as_os_str().to_owned();
        path.push(".sha256");
        Ok(Some(BuildRecord {
            product: product.to_owned(),
            path: path.into(),
            digest,
        }))
    }

    /// Whether the product on disk was made from these inputs.
    pub fn holds(&self) -> bool {
        let text = self.text();
        text.is_ok_and(|now| fs::read_to_string(&self.path).is_ok_and(|was| was == now))
    }

    fn text(&self) -> std::io::Result<String> {
        let product = hex(&Sha256::digest(fs::read(&self.product)?));
        Ok(format!("{}\n{product}\n", self.digest))
    }

    pub fn remove(&self) -> Result<(), TargetError> {
        match fs::remove_file(&self.path) {
            Err(why) if why.kind() != std::io::ErrorKind::NotFound => {
                Err(TargetError::file(&self.path)(why))
            }
            _ => Ok(()),
        }
    }

    /// Writes the record. `scratch` is a folder on the same disk.
    pub fn set(&self, scratch: &Path) -> Result<(), TargetError> {
        let made = scratch.join("mark");
        let text = self.text().map_err(TargetError::file(&self.product))?;
        fs::write(&made, text).map_err(TargetError::file(&made))?;
        fs::rename(&made, &self.path).map_err(TargetError::file(&self.path))
    }
}
