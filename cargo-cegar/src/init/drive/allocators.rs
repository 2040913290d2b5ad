//! Callbacks that allocate, resize and release memory.
//!
//! A library that uses its caller's allocator works only if the allocator works, and a block that
//! it releases must really be freed: otherwise no access to a freed block is detected.

use super::{Body, has_word};
use crate::init::api::Prototype;
use crate::init::ctype::{Function, Kind, Written};

/// The number of the parameter that is the block, among the parameters of type `void *` of a
/// function that releases or resizes memory. The other one is the caller's own data. `None` if all
/// of them are.
fn block_of(memory: &[usize], said: Option<&Prototype>, length: Option<usize>) -> Option<usize> {
    const OWN: &[&str] = &[
        "user", "opaque", "context", "ctx", "arg", "cookie", "closure", "state", "pool", "data",
    ];
    const BLOCK: &[&str] = &["ptr", "block", "mem", "old", "address", "buf"];
    let is_named = |number: &usize, words: &[&str]| {
        let name = said.and_then(|said| said.names.get(number - 1));
        name.is_some_and(|name| has_word(name, words))
    };
    let is_free = |number: &&usize| !is_named(number, OWN);
    let mut free = memory.iter().filter(is_free);
    let block = free.find(|number| is_named(number, BLOCK));
    // The size usually follows the block.
    let before = memory.iter().find(|number| length == Some(**number + 1));
    let found = block
        .or_else(|| before.filter(is_free))
        .or_else(|| memory.iter().rfind(is_free));
    found.copied()
}

/// Whether a callback releases blocks, and not the items that a caller put into a container.
fn releases_blocks(wanted: &str) -> bool {
    const ITEMS: &[&str] = &[
        "key", "val", "item", "elem", "elfree", "entry", "node", "data", "user", "freeze",
    ];
    let lower = wanted.to_lowercase();
    has_word(wanted, &["free", "release", "dealloc", "memfree"])
        && !ITEMS.iter().any(|word| lower.contains(word))
}

impl Body<'_> {
    /// The body of a callback that returns memory. A callback with a length is an allocator, and a
    /// library whose allocator always fails does nothing.
    pub(super) fn given_memory(
        &self,
        (said, function): (Option<&Prototype>, &Function),
        wanted: &str,
    ) -> String {
        let is_length = |ty: &Written| {
            let kind = self.api.resolve(ty).kind;
            matches!(kind, Kind::Int { size, signed: false } if size >= 4)
        };
        let is_memory = |ty: &Written| self.is_memory(ty);
        let of = |wanted: &dyn Fn(&Written) -> bool| -> Vec<usize> {
            let all = function.params.iter().enumerate();
            all.filter(|(_, ty)| wanted(ty))
                .map(|(i, _)| i + 1)
                .collect()
        };
        // A pointer to the allocator object itself.
        let is_own = |ty: &Written| {
            let to = self.api.pointee(ty);
            to.is_some_and(|to| matches!(self.api.resolve(&to).kind, Kind::Record(_)))
        };
        let (lengths, memory) = (of(&is_length), of(&is_memory));
        let known = lengths.len() + memory.len() + of(&is_own).len();
        if !is_memory(&function.returns) || known != function.params.len() {
            return "    return NULL;\n".to_owned();
        }
        let again = wanted.to_lowercase().contains("realloc");
        match (&memory[..], &lengths[..]) {
            // As in Lua: user data, the block, its old size and its new size.
            ([_, block], [_, length]) => format!(
                "    if (p{length} == 0) {{\n        free(p{block});\n        return NULL;\n    \
                 }}\n    return realloc(p{block}, p{length});\n"
            ),
            ([_, ..], [length]) if again => match block_of(&memory, said, Some(*length)) {
                Some(block) => format!("    return realloc(p{block}, p{length});\n"),
                None => "    return NULL;\n".to_owned(),
            },
            (_, [length]) => format!("    return malloc(p{length});\n"),
            ([] | [_], [count, length]) => format!("    return calloc(p{count}, p{length});\n"),
            _ => "    return NULL;\n".to_owned(),
        }
    }

    /// The body of a callback that releases memory. If an allocator of the harness is beside it,
    /// the block is freed, so that a later access of the library to the block is detected. Only the
    /// first such callback of a set frees: another one releases something else.
    pub(super) fn taken_memory(
        &mut self,
        (said, function): (Option<&Prototype>, &Function),
        wanted: &str,
    ) -> String {
        let params = function.params.iter().enumerate();
        let memory: Vec<usize> = params
            .filter(|(_, ty)| self.is_memory(ty))
            .map(|(i, _)| i + 1)
            .collect();
        if !self.allocates || !releases_blocks(wanted) {
            return String::new();
        }
        match block_of(&memory, said, None) {
            Some(block) => {
                self.allocates = false;
                format!("    free(p{block});\n")
            }
            None => String::new(),
        }
    }

    /// Whether a type is a pointer to memory of any type that may be changed.
    fn is_memory(&self, ty: &Written) -> bool {
        let to = self.api.pointee(ty);
        to.is_some_and(|to| !to.constant && self.api.resolve(&to).kind == Kind::Void)
    }

    /// Whether one of the functions returns memory of a requested size.
    pub(super) fn has_allocator<'t>(&self, types: impl Iterator<Item = &'t Written>) -> bool {
        let mut types = types;
        types.any(|ty| {
            let to = self.api.pointee(ty).map(|to| self.api.resolve(&to).kind);
            let Some(Kind::Function(function)) = to else {
                return false;
            };
            self.given_memory((None, &function), "").contains("alloc(")
        })
    }
}
