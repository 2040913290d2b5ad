//! The contents of a certificate.
//!
//! A certificate is explicit. It states every object that can exist, with its layout, and for every
//! cut point what is known there: variables with their places, points-to sets, bounds and formulas.
//! The checker only asks whether the entry implies these facts, whether each transition preserves
//! them, and whether the claimed goals follow. It searches for nothing.
//!
//! The file is JSON. Unknown fields and duplicate numbers are errors.

pub mod floor;

use cegar_model::program::ir::Property;
use cegar_model::symbolic::world::Grain;
use serde::{Deserialize, Serialize};

use self::floor::FloorClaim;
use crate::assumptions::Assumption;

/// The format that this version writes and reads.
pub const FORMAT: u32 = 2;

/// A certificate; see the [module](self).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// The format version: [`FORMAT`].
    pub format: u32,
    /// The SHA-256 hash of the bitcode that the certificate is about.
    pub bitcode: String,
    /// The properties that were asked for.
    pub properties: Vec<Property>,
    /// The claimed checks, including those of properties that the user did not ask for.
    pub checks: Vec<Claim>,
    /// The blocks that are claimed to be never entered.
    pub blocks: Vec<Claim>,
    /// The conditions of claims; [`Claim::given`] is an index into this list.
    pub conditions: Vec<Condition>,
    /// The assumptions that every claim rests on. The checker derives them again.
    pub assumptions: Vec<Assumption>,
    /// The grain of the cut points.
    pub grain: Grain,
    /// The objects that can exist. Globals of which nothing is stated may be absent.
    pub objects: Vec<ObjectClaim>,
    /// Descriptions of objects; [`CutClaim::objects`] contains indices into this list.
    pub known: Vec<KnownClaim>,
    /// The cut points.
    pub cuts: Vec<CutClaim>,
    /// The functions that are encoded alone, by number. Function N begins in context `fN` and ends
    /// in context `fN.end`. The facts of the cut points there are its summary.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alone: Vec<u32>,
    /// States of the whole program, from which claims follow without a solver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<FloorClaim>,
    /// Whether the program has only one execution, from which every claim follows.
    #[serde(default, skip_serializing_if = "is_false")]
    pub executed: bool,
}

/// The claim that a check holds, or that a block is never entered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The number of the check or block.
    pub id: u32,
    /// The condition, as an index into [`Certificate::conditions`]. `None` if the claim has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<u32>,
}

/// Checks that are not proved and that a claim rests on: the claim holds in every execution in
/// which these checks hold.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// The checks, by number.
    pub checks: Vec<u32>,
    /// Whether the claim also rests on violations without a check in library functions.
    pub elsewhere: bool,
}

/// An object.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObjectClaim {
    /// The kind of the object.
    pub kind: KindClaim,
    /// The number of the object in addresses. `None` for globals, and for an allocation whose
    /// objects get different numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u32>,
    /// Whether the object is a heap block.
    #[serde(default, skip_serializing_if = "is_false")]
    pub heap: bool,
    /// Whether the size is a guess.
    #[serde(default, skip_serializing_if = "is_false")]
    pub guessed: bool,
    /// The bytes that are accessed at varying offsets: ranges from the first offset up to, but not
    /// including, the second.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub indexed: Vec<(u32, u32)>,
}

/// The kind of an object.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum KindClaim {
    /// A global, by number.
    Global(u32),
    /// Made by an operation.
    Made {
        /// The call path: call sites and callees from the entry function on.
        context: String,
        /// The block of the operation.
        block: u32,
        /// The index of the operation in the block.
        op: u32,
        /// Distinguishes several objects of one operation.
        part: u32,
    },
}

/// What is known of a value.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum ValueClaim {
    /// Nothing is known.
    Any,
    /// The value is this constant, in hexadecimal.
    Is(String),
    /// The value, as an unsigned number, lies between these bounds, both inclusive.
    Within(u64, u64),
    /// The value is an address: an offset from one of these bases. The offset is `None` if it
    /// varies.
    Points(Vec<BaseClaim>, Option<u64>),
}

/// A possible value of the upper half of an address.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum BaseClaim {
    /// This number; 0 for NULL.
    Number(u32),
    /// The present object of an allocation, as an index into [`Certificate::objects`].
    Object(u32),
}

/// What is known of an object.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownClaim {
    /// Whether the object can be accessed: one bit.
    pub alive: ValueClaim,
    /// The size of the object: 64 bits.
    pub size: ValueClaim,
    /// The contents of the object.
    pub bytes: BytesClaim,
}

/// What is known of an object's bytes.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum BytesClaim {
    /// The contents are known.
    Fixed {
        /// The global whose initial bytes lie below the runs. `None` for zeros.
        below: Option<u32>,
        /// Bytes that replace those below: offset and hexadecimal digits.
        runs: Vec<(u32, String)>,
    },
    /// Cells that cover all bytes: offset, width in bits, value.
    Cells(Vec<(u32, u16, ValueClaim)>),
    /// Cells. Nothing is known of the other bytes.
    Mixed(Vec<(u32, u16, ValueClaim)>),
}

/// The claims about one cut point.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CutClaim {
    /// The call path: call sites and callees from the entry function on, or from a function that is
    /// encoded alone.
    pub context: String,
    /// The block.
    pub block: u32,
    /// The registers: the frame (0 is the outermost), the register, and what is known of its value.
    /// At the end of a function that is encoded alone, the numbers of results follow those of the
    /// registers.
    pub registers: Vec<(u32, u32, ValueClaim)>,
    /// Objects with their descriptions, as indices into [`Certificate::objects`] and
    /// [`Certificate::known`].
    pub objects: Vec<(u32, u32)>,
    /// Formulas over the variables of this cut point.
    pub facts: Vec<String>,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

impl Certificate {
    /// A certificate without claims.
    pub fn empty(bitcode: &str, properties: &[Property]) -> Certificate {
        Certificate {
            format: FORMAT,
            bitcode: bitcode.to_owned(),
            properties: properties.to_vec(),
            checks: Vec::new(),
            blocks: Vec::new(),
            conditions: Vec::new(),
            assumptions: Vec::new(),
            grain: Grain::default(),
            objects: Vec::new(),
            known: Vec::new(),
            cuts: Vec::new(),
            alone: Vec::new(),
            floor: None,
            executed: false,
        }
    }

    /// The claim about a check.
    pub fn check(&self, id: u32) -> Option<&Claim> {
        self.checks.iter().find(|claim| claim.id == id)
    }

    /// The condition of a claim, if it has one.
    pub fn condition(&self, claim: &Claim) -> Option<&Condition> {
        self.conditions.get(claim.given? as usize)
    }
}
