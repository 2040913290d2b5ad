//! Frames: what a call saves and a return restores.

use super::shadow::Shade;
use crate::program::ir::{ArgClass, BlockId, CallSite, FuncId, Reg, Width};

/// A variable argument as it was passed.
#[derive(Clone, Debug)]
pub(super) struct VariableArgument {
    pub(super) value: u128,
    pub(super) shade: Shade,
    pub(super) width: Width,
    pub(super) class: ArgClass,
}

/// A call in progress.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) function: FuncId,
    /// The call that entered it; `None` for the entry function.
    pub(super) site: Option<CallSite>,
    /// The index of its first register in the shared stack of registers.
    pub(super) base: usize,
    /// The length of the list of stack objects when it was entered.
    pub(super) objects: usize,
    /// The place where the caller continues, and the register that takes the result.
    pub(super) back: (BlockId, usize),
    pub(super) dst: Reg,
    /// A hash of the call sites up to here.
    pub(super) hash: u64,
    /// Variable arguments; empty for most.
    pub(super) variable_arguments: Vec<VariableArgument>,
    /// The numbers of general and of SSE registers that the fixed parameters take.
    pub(super) fixed: (u32, u32),
}

/// Extends a hash of call sites by one.
pub(super) fn extend_hash(hash: u64, site: CallSite) -> u64 {
    (hash.rotate_left(17) ^ u64::from(site.0).wrapping_add(1)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
