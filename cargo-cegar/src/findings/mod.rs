//! What is remembered of a finding: what it is known by, and the inputs that showed it.
//!
//! A campaign meets a bug by chance, so the verdict of one campaign is no word about the next: a
//! bug that was found, mended and put back must not be green because the search did not come by.
//! Every finding is therefore kept as a [`Record`] with its input until it is deleted, and every
//! campaign begins by running the inputs of the records ([`Memory`]). An [`Identity`] tells whether
//! two violations are one fault, in words that survive moved lines.

mod blamed;
mod identity;
mod memory;
mod record;

use serde::{Deserialize, Serialize};

pub use blamed::{Blamed, DECLARED, From as BlamedOn, LEARNT, Missing as MissingCondition};
pub use identity::{Identity, Site, squeezed};
pub use memory::{Memory, Place};
pub use record::{Choice, Record, merged};

/// How a finding stands against what earlier campaigns saw.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// No earlier campaign found it.
    #[default]
    New,
    /// An earlier campaign found it, and no campaign has seen its input pass.
    StillFails,
    /// An earlier campaign found it, and a later one saw its input pass: a regression.
    FailsAgain,
}

impl Standing {
    /// For people, as a predicate of the finding.
    pub fn words(self) -> &'static str {
        match self {
            Standing::New => "is new",
            Standing::StillFails => "still fails",
            Standing::FailsAgain => "fails again",
        }
    }
}
