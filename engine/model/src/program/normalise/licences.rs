//! Drops everything that lets an optimiser exploit undefined behaviour.
//!
//! The native side compiles this module at -O2. A signed sum that wraps, a pointer past its object
//! or an endless loop must behave there as in the machine; the optimiser must not assume that they
//! never happen.

use std::iter;

use cegar_llvm::{AttributeKind, Metadata, Module, Place, Value};

use crate::program::convention::{INSTEAD, LOOP};

const FUNCTION: [&str; 15] = [
    "mustprogress",
    "willreturn",
    "nofree",
    "nosync",
    "memory",
    "norecurse",
    "speculatable",
    "optnone",
    "noinline",
    "allockind",
    "allocsize",
    "nocallback",
    "alwaysinline",
    "inlinehint",
    "convergent",
];

const VALUE: [&str; 15] = [
    "noundef",
    "nonnull",
    "dereferenceable",
    "dereferenceable_or_null",
    "noalias",
    "range",
    "returned",
    "nocapture",
    "readonly",
    "readnone",
    "writeonly",
    "nofpclass",
    "initializes",
    "writable",
    "dead_on_unwind",
];

/// Drops flags, attributes, metadata and assumptions.
pub(super) fn drop(module: &Module) {
    let kept_metadata = ["dbg", "nosanitize", "srcloc", LOOP, INSTEAD];
    let kept_metadata = kept_metadata.map(|name| module.metadata_kind(name));
    let licences = Licences::known();
    for function in module.functions() {
        if function.name().starts_with("llvm.") {
            continue;
        }
        licences.remove(function, function.params().len());
        for block in function.blocks() {
            for instruction in block.instructions() {
                if instruction.is_call() && instruction.callee().name().starts_with("llvm.assume") {
                    instruction.delete();
                    continue;
                }
                instruction.drop_flags();
                keep_loop_place(module, instruction);
                instruction.keep_metadata(&kept_metadata);
                if instruction.is_call() {
                    licences.remove(instruction, instruction.arguments().len());
                }
            }
        }
    }
}

/// The attributes to remove, by LLVM's numbers.
struct Licences {
    function: Vec<AttributeKind>,
    value: Vec<AttributeKind>,
}

impl Licences {
    /// The attributes that this version of LLVM has.
    fn known() -> Licences {
        let (function, value) = (FUNCTION.into_iter(), VALUE.into_iter());
        Licences {
            function: function.filter_map(AttributeKind::named).collect(),
            value: value.filter_map(AttributeKind::named).collect(),
        }
    }

    /// Removes the attributes from a function or a call with this number of parameters.
    fn remove(&self, from: Value<'_>, parameters: usize) {
        for kind in &self.function {
            from.remove_attribute(Place::Function, *kind);
        }
        let parameters = (0..parameters as u32).map(Place::Parameter);
        for place in iter::once(Place::Result).chain(parameters) {
            for kind in &self.value {
                from.remove_attribute(place, *kind);
            }
        }
    }
}

/// Keeps only the position of the loop from `llvm.loop`.
fn keep_loop_place<'m>(module: &'m Module, terminator: Value<'m>) {
    let parts = terminator.metadata("llvm.loop").map(Metadata::operands);
    let mut places = parts.into_iter().flatten().flatten();
    if let Some((line, column)) = places.find_map(Metadata::location) {
        let number = |n: u32| Metadata::of(module.int(32).number(n.into()));
        let place = [number(line), number(column)];
        terminator.set_metadata(LOOP, &place.into_iter().flatten().collect::<Vec<_>>());
    }
}

/// Sets the alignment of plain accesses to 1. The machine accepts any alignment, and so does x86-64
/// unless the optimiser chooses instructions by a promised alignment.
pub(super) fn relax_alignment(module: &Module) {
    for function in module.functions() {
        for block in function.blocks() {
            for instruction in block.instructions() {
                if instruction.is_plain_access() {
                    instruction.set_align(1);
                }
            }
        }
    }
}
