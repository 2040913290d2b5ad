//! What is stored about findings: their identities, and the inputs that showed them.
//!
//! A campaign finds a bug by chance, so its verdict says nothing about the next campaign: a bug
//! that was found, fixed and reintroduced must not pass because the search did not find it. So
//! every finding is stored as a [`Record`] with its input until it is deleted, and every campaign
//! begins by running the inputs of the records ([`Memory`]). An [`Identity`] tells whether two
//! violations are the same fault, even if lines have moved.

mod blamed;
mod identity;
mod memory;
mod record;

use serde::{Deserialize, Serialize};

pub use blamed::{Blamed, DECLARED, From as BlamedOn, LEARNT, Missing as MissingCondition};
pub use identity::{Identity, Site, squeezed};
pub use memory::{Memory, Place};
pub use record::{Choice, Record, merged};

/// The relation of a finding to earlier campaigns.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// No earlier campaign found it.
    #[default]
    New,
    /// An earlier campaign found it, and its input has not passed since.
    StillFails,
    /// An earlier campaign found it, and its input passed in a later one: a regression.
    FailsAgain,
}

impl Standing {
    /// A predicate of the finding, for users.
    pub fn words(self) -> &'static str {
        match self {
            Standing::New => "is new",
            Standing::StillFails => "still fails",
            Standing::FailsAgain => "fails again",
        }
    }
}
