//! Makes uninitialised locals survive promotion to registers.
//!
//! Promotion turns a read of an uninitialised local into `undef`, and then a join of `undef` and
//! `x` into `x`, which hides a bug. So before promotion every local gets an arbitrary value: a
//! local that becomes a register starts as `freeze poison` (an arbitrary but fixed value), and one
//! whose address escapes is marked by a call of `__cegar_uninit`. The call also keeps the local in
//! memory, so that a use after its scope can be found.

use std::ops::Range;

use cegar_llvm::{Builder, Callee, LLVMOpcode, LLVMTypeKind, Layout, Module, Type, Value};

use crate::program::convention::{KIND, UNINIT};

/// The prefixes of the names of the intrinsics that mark scopes.
pub(super) const SCOPE_BEGINS: &str = "llvm.lifetime.start.";
pub(super) const SCOPE_ENDS: &str = "llvm.lifetime.end.";
/// The size in bytes of the largest local that is promoted.
const LARGEST: u64 = 256;

/// Marks the locals of all functions.
pub(super) fn mark(module: &Module) {
    let parameters = [module.pointer(), module.int(64)];
    let uninit = module.declare(UNINIT, module.void(), &parameters);
    let builder = Builder::new(module);
    let layout = module.layout();
    for function in module.functions() {
        // The only local of a mock is filled before it is read.
        if function.string_attribute(KIND).as_deref() == Some("mock") {
            continue;
        }
        for block in function.blocks() {
            for instruction in block.instructions() {
                if instruction.opcode() == Some(LLVMOpcode::LLVMAlloca) {
                    mark_local((&builder, layout), instruction, uninit);
                }
            }
        }
    }
}

fn mark_local<'m>(
    (builder, layout): (&Builder<'m>, Layout<'m>),
    local: Value<'m>,
    uninit: Callee<'m>,
) {
    let Some(next) = local.next_instruction() else {
        return;
    };
    if is_promotable(layout, local) {
        // The home of a parameter is written at once.
        if !local.name().ends_with(".addr") {
            forget((builder, layout), next, local);
        }
        return;
    }
    builder.move_before(next);
    let word = local.ty().int_beside(64);
    let each = layout.size(local.allocated_type());
    let count = local.operand(0);
    let size = match count.const_int() {
        Some(n) => word.number(n.saturating_mul(each)),
        None => {
            let count = builder.resize(count, word, false);
            builder.mul(count, word.number(each))
        }
    };
    builder.call(uninit, &[local, size]);
}

/// Stores an unknown value into a local where each of its scopes begins, since the value of one
/// iteration of a loop is not that of the next (C11 6.2.4), or before the instruction `first` if it
/// has no marked scope. SROA leaves parts of some locals in memory, and these must not be written
/// outside of a scope. A store of the local's type does not write the bytes that belong to no
/// member (padding, or the bytes of another member of a union), so they are stored separately.
pub(super) fn forget<'m>(
    (builder, layout): (&Builder<'m>, Layout<'m>),
    first: Value<'m>,
    local: Value<'m>,
) {
    let mut gaps = Vec::new();
    let ty = local.allocated_type();
    between(layout, (ty, 0), &mut gaps);
    let begins = scope_marks(local, SCOPE_BEGINS);
    let behind = begins.iter().filter_map(|begin| begin.next_instruction());
    let mut places: Vec<Value<'m>> = behind.collect();
    if places.is_empty() {
        places.push(first);
    }
    for place in places {
        builder.move_before(place);
        // These instructions belong to no line of the program.
        builder.set_place(None);
        store_unknown(builder, ty, local);
        let (byte, word) = (ty.int_beside(8), ty.int_beside(64));
        for gap in &gaps {
            let at = builder.element(byte, local, word.number(gap.start));
            store_unknown(builder, byte.array(gap.end - gap.start), at);
        }
    }
}

fn store_unknown<'m>(builder: &Builder<'m>, ty: Type<'m>, at: Value<'m>) {
    let frozen = builder.freeze(ty.poison()).named("uninitialised");
    // The default alignment is that of the type: a byte's, or the local's own.
    builder.store(frozen, at);
}

/// Appends to `gaps` the bytes of a type at the offset `at` that a store of the type does not
/// write.
fn between<'m>(layout: Layout<'m>, (ty, at): (Type<'m>, u64), gaps: &mut Vec<Range<u64>>) {
    let mut written = at;
    match ty.kind() {
        LLVMTypeKind::LLVMStructTypeKind => {
            for (number, field) in (0u32..).zip(ty.fields()) {
                let start = at + layout.field_offset(ty, number);
                gaps.extend((written < start).then_some(written..start));
                between(layout, (field, start), gaps);
                written = start + layout.size(field);
            }
        }
        LLVMTypeKind::LLVMArrayTypeKind => {
            for number in 0..ty.array_len() {
                let start = at + number * layout.size(ty.element());
                between(layout, (ty.element(), start), gaps);
            }
            written += layout.size(ty);
        }
        _ => written += layout.store_size(ty),
    }
    let end = at + layout.size(ty);
    gaps.extend((written < end).then_some(written..end));
}

/// The marks at which a local's scopes begin, or at which they end, depending on the prefix.
pub(super) fn scope_marks<'m>(local: Value<'m>, prefix: &str) -> Vec<Value<'m>> {
    let is_mark = |user: &Value<'_>| user.is_call() && user.callee().name().starts_with(prefix);
    local.users().into_iter().filter(is_mark).collect()
}

/// Whether a local may become registers: it is a single object of few bytes, and SROA will take it
/// apart because all its uses are plain accesses at constant offsets. SROA would remove an access
/// outside of the local together with its check, so a local with such an access stays in memory.
pub(super) fn is_promotable<'m>(layout: Layout<'m>, local: Value<'m>) -> bool {
    let size = layout.size(local.allocated_type());
    local.operand(0).const_int() == Some(1)
        && (1..=LARGEST).contains(&size)
        && has_plain_uses((layout, size), (local, 0))
}

/// Whether a call copies from a local to itself. SROA leaves the copied part in memory, and that
/// must not be written before its scope begins.
fn is_within_itself(copy: Value<'_>) -> bool {
    let root = |number| {
        let mut address = copy.operand(number);
        while address.opcode() == Some(LLVMOpcode::LLVMGetElementPtr) {
            address = address.operand(0);
        }
        address
    };
    root(0) == root(1)
}

/// Whether all uses of an address, which is `offset` bytes from the start of a local of `size`
/// bytes, are accesses within the local that SROA can take apart.
fn has_plain_uses<'m>(within: (Layout<'m>, u64), (address, offset): (Value<'m>, i64)) -> bool {
    let mut users = address.users().into_iter();
    users.all(|user| is_plain(within, (address, offset), user))
}

fn is_plain<'m>(
    (layout, size): (Layout<'m>, u64),
    (address, offset): (Value<'m>, i64),
    user: Value<'m>,
) -> bool {
    let is_within = |bytes: u64| {
        let end = u64::try_from(offset).map(|from| from.checked_add(bytes));
        end.is_ok_and(|end| end.is_some_and(|end| end <= size))
    };
    match user.opcode() {
        Some(LLVMOpcode::LLVMLoad) => {
            !user.is_volatile() && is_within(layout.store_size(user.ty()))
        }
        Some(LLVMOpcode::LLVMStore) => {
            let value = user.operand(0);
            value != address && !user.is_volatile() && is_within(layout.store_size(value.ty()))
        }
        Some(LLVMOpcode::LLVMGetElementPtr) if user.operand(0) == address => {
            let constant = user.gep_parts(layout);
            let by = constant.filter(|(_, indices)| indices.is_empty());
            let moved = by.and_then(|(by, _)| offset.checked_add(by));
            moved.is_some_and(|offset| has_plain_uses((layout, size), (user, offset)))
        }
        Some(LLVMOpcode::LLVMCall) => {
            let name = user.callee().name();
            let is_access = ["llvm.memcpy.", "llvm.memset.", "llvm.memmove."]
                .iter()
                .any(|prefix| name.starts_with(prefix));
            name == UNINIT
                || name.starts_with("llvm.lifetime.")
                || (is_access
                    && !is_within_itself(user)
                    && user.operand(2).const_int().is_some_and(is_within)
                    && user.operand(3).const_int() == Some(0))
        }
        _ => false,
    }
}
