//! What a certificate states.
//!
//! A certificate is explicit: it states every object that can exist, with its layout, and for every
//! cut point what is known there: variables with their places, points-to sets, bounds and formulas.
//! The checker only asks whether the entry implies these facts, whether each transition keeps them,
//! and whether the claimed goals follow; it searches for nothing.
//!
//! The file is JSON. What this version does not know is an error, and so is a number that stands
//! twice.

pub mod floor;

use cegar_model::program::ir::Property;
use cegar_model::symbolic::world::Grain;
use serde::{Deserialize, Serialize};

use self::floor::FloorClaim;
use crate::assumptions::Assumption;

/// The format that this version writes and reads.
pub const FORMAT: u32 = 2;

/// See the [module](self).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// [`FORMAT`].
    pub format: u32,
    /// SHA-256 of the bitcode that it is about.
    pub bitcode: String,
    /// The properties that were asked for.
    pub properties: Vec<Property>,
    /// The checks that hold, including those of properties that the user did not ask for.
    pub checks: Vec<Claim>,
    /// The blocks that are never entered.
    pub blocks: Vec<Claim>,
    /// What claims rest on, where they rest on something; [`Claim::given`] is an index into it.
    pub conditions: Vec<Condition>,
    /// What every claim rests on. A checker derives it again.
    pub assumptions: Vec<Assumption>,
    /// How far apart the cut points are.
    pub grain: Grain,
    /// The objects that can exist, as far as they are not globals of which nothing is said.
    pub objects: Vec<ObjectClaim>,
    /// What is known of objects; [`CutClaim::objects`] has indices into it.
    pub known: Vec<KnownClaim>,
    /// The cut points.
    pub cuts: Vec<CutClaim>,
    /// The functions that are encoded alone, by number. Function N begins in context `fN` and ends
    /// in context `fN.end`; the facts of the cut points there are its summary.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alone: Vec<u32>,
    /// States of the whole program, from which claims follow without a solver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<FloorClaim>,
    /// Whether the program has one execution, and every claim follows from it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub executed: bool,
}

/// That a check holds, or that a block is never entered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Its number.
    pub id: u32,
    /// The condition, by its number among [`Certificate::conditions`]; none if it holds without
    /// one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<u32>,
}

/// Checks that are not proved and on which a claim rests: it holds in every execution in which
/// these hold.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// The checks, by number.
    pub checks: Vec<u32>,
    /// Whether something without a number may go wrong before, inside a library function.
    pub elsewhere: bool,
}

/// An object.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObjectClaim {
    /// What it is.
    pub kind: KindClaim,
    /// The number in its address; none for a global, and where each new object of an allocation
    /// gets another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u32>,
    /// Whether it comes from the heap.
    #[serde(default, skip_serializing_if = "is_false")]
    pub heap: bool,
    /// Whether its size is a guess.
    #[serde(default, skip_serializing_if = "is_false")]
    pub guessed: bool,
    /// The bytes that are accessed at offsets that vary: from the first one up to the second one,
    /// which is not among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub indexed: Vec<(u32, u32)>,
}

/// What an object is.
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
        /// Its index there.
        op: u32,
        /// Which of several that it makes.
        part: u32,
    },
}

/// What is known of a value.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum ValueClaim {
    /// Nothing.
    Any,
    /// It is this, in hexadecimal.
    Is(String),
    /// It lies between these, both inclusive, as a number without a sign.
    Within(u64, u64),
    /// It is an address: this offset from one of these, or an offset that varies.
    Points(Vec<BaseClaim>, Option<u64>),
}

/// The upper half of an address.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum BaseClaim {
    /// This number; 0 for NULL.
    Number(u32),
    /// The present object of an allocation, by its place among [`Certificate::objects`].
    Object(u32),
}

/// What is known of an object.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownClaim {
    /// Whether it can be accessed: one bit.
    pub alive: ValueClaim,
    /// Its size: 64 bits.
    pub size: ValueClaim,
    /// Its bytes.
    pub bytes: BytesClaim,
}

/// What is known of an object's bytes.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum BytesClaim {
    /// They are these.
    Fixed {
        /// The global whose initial bytes lie below; none for zeros.
        below: Option<u32>,
        /// Bytes above them: offset and hexadecimal digits.
        runs: Vec<(u32, String)>,
    },
    /// Cell by cell, all of them: offset, width in bits, value.
    Cells(Vec<(u32, u16, ValueClaim)>),
    /// These cells, and nothing of the other bytes.
    Mixed(Vec<(u32, u16, ValueClaim)>),
}

/// What holds at one cut point.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CutClaim {
    /// The call path: call sites and callees from the entry function on, or from a function that is
    /// encoded alone.
    pub context: String,
    /// The block.
    pub block: u32,
    /// Registers: the frame (0 is the outermost), the register, what is known of it. At the end of
    /// a function that is encoded alone, results are numbered behind the registers.
    pub registers: Vec<(u32, u32, ValueClaim)>,
    /// Objects and what is known of them, by their places in the certificate's lists.
    pub objects: Vec<(u32, u32)>,
    /// Formulas over the variables of this cut point.
    pub facts: Vec<String>,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

impl Certificate {
    /// About nothing and of nothing.
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

    /// What a claim rests on, if it rests on something.
    pub fn condition(&self, claim: &Claim) -> Option<&Condition> {
        self.conditions.get(claim.given? as usize)
    }
}
