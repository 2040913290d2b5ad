//! What a certificate states of all states of the program: its floor.
//!
//! [`crate::floor`](mod@crate::floor) finds out whether it holds.

use cegar_model::domain::contents::Contents;
use cegar_model::domain::linear::{Line, Product, Which};
use cegar_model::domain::num::Num;
use cegar_model::domain::owners::Owners;
use cegar_model::domain::recent::Fate;
use cegar_model::domain::space::{Alive, Made, ObjId};
use cegar_model::domain::value::Value;
use serde::{Deserialize, Serialize};

/// What a certificate states of all states.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FloorClaim {
    /// Whether relations of values are followed on the way
    /// ([`relations`](cegar_model::domain::walk::Walker::relations)).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub relations: bool,
    /// Functions that are walked once for all their calls.
    pub shared: Vec<u32>,
    /// Call contexts.
    pub contexts: Vec<ContextClaim>,
    /// What operations make; objects are counted behind the program's globals and functions.
    pub made: Vec<Made>,
    /// Contents of objects, each once.
    pub contents: Vec<Contents>,
    /// Where edges lead back.
    pub heads: Vec<HeadClaim>,
    /// The shared functions.
    pub functions: Vec<FunctionClaim>,
}

/// A call context.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContextClaim {
    /// The function.
    pub function: u32,
    /// The call: a context that stands before, the block, the operation. None for a function that
    /// is walked for itself.
    pub back: Option<(u32, u32, u32)>,
}

/// What holds where edges lead back.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeadClaim {
    /// The context, by its place.
    pub context: u32,
    /// The block.
    pub block: u32,
    /// What holds.
    pub state: StateClaim,
}

/// What holds where a shared function begins, and where it ends.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FunctionClaim {
    /// The function.
    pub function: u32,
    /// Where it begins.
    pub entry: StateClaim,
    /// Where it ends, if it does: its results are numbered as registers.
    pub exit: Option<StateClaim>,
}

/// A set of states.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateClaim {
    /// Registers.
    pub registers: Vec<(u32, Value)>,
    /// Objects: which, whether it lives, its size, the place of its contents.
    pub objects: Vec<(ObjId, Alive, Num, u32)>,
    /// Registers that hold what a cell holds: object, offset, bytes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<(u32, ObjId, u32, u32)>,
    /// Addresses that may have wrapped around.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wrapped: Vec<u32>,
    /// What values say of each other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<Line>,
    /// Products of two values that are known as sums.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub products: Vec<Product>,
    /// Zero bytes of objects: which, where they may be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nuls: Vec<(ObjId, Which, Num)>,
    /// What became of requests' last blocks since the innermost call began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fates: Vec<(ObjId, Fate)>,
    /// Who owns blocks of the heap.
    #[serde(default, skip_serializing_if = "Owners::is_empty")]
    pub owners: Owners,
    /// Which of several objects an argument of a call leads to, to keep states apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handed: Option<ObjId>,
}
