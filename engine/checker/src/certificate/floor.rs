//! The floor of a certificate: statements about all states of the program.
//!
//! [`crate::floor`](mod@crate::floor) checks whether it holds.

use cegar_model::domain::contents::Contents;
use cegar_model::domain::linear::{Line, Product, Which};
use cegar_model::domain::num::Num;
use cegar_model::domain::owners::Owners;
use cegar_model::domain::recent::Fate;
use cegar_model::domain::space::{Alive, Made, ObjId};
use cegar_model::domain::value::Value;
use serde::{Deserialize, Serialize};

/// The floor of a certificate.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FloorClaim {
    /// Whether walks track relations between values
    /// ([`relations`](cegar_model::domain::walk::Walker::relations)).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub relations: bool,
    /// The functions that are walked once for all their calls.
    pub shared: Vec<u32>,
    /// The call contexts.
    pub contexts: Vec<ContextClaim>,
    /// The objects that operations make. Their numbers follow those of the program's globals and
    /// functions.
    pub made: Vec<Made>,
    /// Contents of objects, each once.
    pub contents: Vec<Contents>,
    /// The states at loop heads.
    pub heads: Vec<HeadClaim>,
    /// The states of shared functions.
    pub functions: Vec<FunctionClaim>,
}

/// A call context.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContextClaim {
    /// The function.
    pub function: u32,
    /// The call: an earlier context, the block, the operation. `None` for a function that is not
    /// walked as part of a call.
    pub back: Option<(u32, u32, u32)>,
}

/// A set of states at the target of retreating edges.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeadClaim {
    /// The context, by its index.
    pub context: u32,
    /// The block.
    pub block: u32,
    /// The states.
    pub state: StateClaim,
}

/// The states at the beginning and at the end of a shared function.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FunctionClaim {
    /// The function.
    pub function: u32,
    /// The states at its beginning.
    pub entry: StateClaim,
    /// The states at its end. `None` if it never returns. Results are numbered like registers.
    pub exit: Option<StateClaim>,
}

/// A set of states.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateClaim {
    /// The values of registers.
    pub registers: Vec<(u32, Value)>,
    /// The objects: identity, whether it is alive, size, index of its contents.
    pub objects: Vec<(ObjId, Alive, Num, u32)>,
    /// Registers that hold the value of a cell: object, offset, length in bytes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<(u32, ObjId, u32, u32)>,
    /// Registers with addresses that may have wrapped around.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wrapped: Vec<u32>,
    /// Linear relations between values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<Line>,
    /// Products of two values that are known as sums.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub products: Vec<Product>,
    /// Zero bytes of objects: the object, which zero byte, its possible offsets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nuls: Vec<(ObjId, Which, Num)>,
    /// What has become of the last blocks of requests since the innermost call began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fates: Vec<(ObjId, Fate)>,
    /// The owners of heap blocks.
    #[serde(default, skip_serializing_if = "Owners::is_empty")]
    pub owners: Owners,
    /// The object that an argument of a call points to, where states are kept apart by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handed: Option<ObjId>,
}
