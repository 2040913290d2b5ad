//! Finds the values of C's variables at the heads of loops.
//!
//! Debug information binds variables to values in the order of execution, so the value of a
//! variable at a block is the one that all paths to the block agree on. Only certain bindings are
//! kept: a variable is left out if its value depends on the path, may be undefined, is computed
//! from another value, or is bound in several parts. C's rules for names decide which variables can
//! be used: the variable is declared before the loop in a scope around it, and no inner variable
//! hides it.

mod named;

use cegar_llvm::{BasicBlock, LLVMMetadataKind, LLVMOpcode, Metadata, Module, Value, metadata};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::program::convention::{LOOP, UNINIT};
use crate::program::ir::Width;

/// The head of a loop, in terms of LLVM's values.
pub(super) struct Head<'m> {
    file: (String, String),
    line: u32,
    column: u32,
    variables: Vec<Bound<'m>>,
}

/// A variable, and its value or its address at a head.
struct Bound<'m> {
    name: String,
    bits: Width,
    signed: bool,
    value: Value<'m>,
    /// Whether `value` is the address.
    memory: bool,
}

/// The position of a loop, and the scope of the instruction that goes back to its head.
#[derive(Clone, Copy)]
struct LoopPlace<'m> {
    line: u32,
    column: u32,
    scope: Metadata<'m>,
}

/// The value that each variable is bound to; `None` if it is not certain.
type Bindings<'m> = FxHashMap<Metadata<'m>, Option<Value<'m>>>;

/// The loops of a module, by the block in which an iteration begins.
pub(super) fn of(module: &Module) -> FxHashMap<BasicBlock<'_>, Head<'_>> {
    let globals = globals(module);
    let mut heads = FxHashMap::default();
    module.with_debug_calls(|| {
        for function in module.functions() {
            Reader::new(function).read(&globals, &mut heads);
        }
    });
    heads
}

fn globals(module: &Module) -> Vec<(Metadata<'_>, Value<'_>)> {
    let mut all = Vec::new();
    for global in module.globals() {
        for variable in Metadata::of_global(global) {
            all.push((variable, global));
        }
    }
    all
}

struct Reader<'m> {
    /// The reachable blocks, in reverse postorder.
    order: Vec<BasicBlock<'m>>,
    places: FxHashMap<BasicBlock<'m>, usize>,
    /// The bindings in each block, in order.
    events: FxHashMap<BasicBlock<'m>, Vec<(Metadata<'m>, Option<Value<'m>>)>>,
    /// The bindings to a block's own phi nodes before its first other instruction.
    first: FxHashMap<BasicBlock<'m>, Vec<(Metadata<'m>, Option<Value<'m>>)>>,
    /// The variables that live in memory, with their addresses.
    memory: FxHashMap<Metadata<'m>, Value<'m>>,
}

impl<'m> Reader<'m> {
    fn new(function: Value<'m>) -> Reader<'m> {
        let order = reverse_postorder(function);
        let places = order.iter().enumerate().map(|(i, &b)| (b, i)).collect();
        Reader {
            order,
            places,
            events: FxHashMap::default(),
            first: FxHashMap::default(),
            memory: FxHashMap::default(),
        }
    }

    fn read(
        &mut self,
        globals: &[(Metadata<'m>, Value<'m>)],
        heads: &mut FxHashMap<BasicBlock<'m>, Head<'m>>,
    ) {
        let found = self.loops();
        if found.is_empty() {
            return;
        }
        for block in self.order.clone() {
            self.collect(block);
        }
        let at = self.propagate();
        for (block, place) in found {
            let mut bindings = at.get(&block).cloned().unwrap_or_default();
            bindings.extend(self.first.get(&block).into_iter().flatten().copied());
            if let Some(head) = self.head(place, &bindings, globals) {
                heads.insert(block, head);
            }
        }
    }

    /// The heads of loops with the positions of the loops. A block that is the head of two loops is
    /// left out.
    fn loops(&self) -> Vec<(BasicBlock<'m>, LoopPlace<'m>)> {
        let mut all: Vec<(BasicBlock<'m>, LoopPlace<'m>)> = Vec::new();
        let mut twice = FxHashSet::default();
        for (at, block) in self.order.iter().enumerate() {
            let Some(&end) = block.instructions().last() else {
                continue;
            };
            let Some((line, column)) = loop_place(end) else {
                continue;
            };
            let Some(scope) = Metadata::of_place(end).and_then(Metadata::scope) else {
                continue;
            };
            let place = LoopPlace {
                line,
                column,
                scope,
            };
            let back = |to: &BasicBlock<'m>| self.places.get(to).is_some_and(|&to| to <= at);
            let (backwards, forwards): (Vec<_>, Vec<_>) =
                end.successors().into_iter().partition(back);
            // The way back may go through a block that joins several edges or splits one.
            let own = |to: BasicBlock<'m>| {
                let end = to.instructions().last().copied();
                end.and_then(loop_place)
            };
            let joined = forwards
                .into_iter()
                .filter(|&to| jumps_only(to) && own(to).is_none());
            let joined = joined.flat_map(after).filter(back);
            for to in backwards.into_iter().chain(joined) {
                match all.iter().find(|(known, _)| *known == to) {
                    Some((_, known)) if (known.line, known.column) != (line, column) => {
                        twice.insert(to);
                    }
                    Some(_) => {}
                    None => all.push((to, place)),
                }
            }
        }
        all.retain(|(block, _)| !twice.contains(block));
        all
    }

    fn collect(&mut self, block: BasicBlock<'m>) {
        let mut leading = true;
        for instruction in block.instructions() {
            if !instruction.is_debug_binding() {
                leading &= instruction.opcode() == Some(LLVMOpcode::LLVMPHI);
                continue;
            }
            let Some(variable) = Metadata::of(instruction.operand(1)) else {
                continue;
            };
            let value = self.bound(instruction);
            if instruction.callee().name() == "llvm.dbg.declare" {
                if let Some(address) = value {
                    self.memory.insert(variable, address);
                }
                continue;
            }
            let is_own_phi = value.is_some_and(|value| {
                value.opcode() == Some(LLVMOpcode::LLVMPHI) && block.instructions().contains(&value)
            });
            if leading && is_own_phi {
                let first = self.first.entry(block).or_default();
                first.push((variable, value));
            }
            let events = self.events.entry(block).or_default();
            events.push((variable, value));
        }
    }

    /// The value that a variable is bound to as a whole. `None` if only a part of the variable is
    /// bound, or the binding computes on the value.
    fn bound(&self, instruction: Value<'m>) -> Option<Value<'m>> {
        let value = Metadata::of(instruction.operand(0))?.value()?;
        let expression = Metadata::of(instruction.operand(2));
        let expression = expression.map_or_else(String::new, |e| e.text());
        matches!(expression.as_str(), "" | "!DIExpression()").then_some(value)
    }

    /// The bindings at the beginning of each block.
    fn propagate(&self) -> FxHashMap<BasicBlock<'m>, Bindings<'m>> {
        let mut at: FxHashMap<BasicBlock<'m>, Bindings<'m>> = FxHashMap::default();
        if let Some(&entry) = self.order.first() {
            at.insert(entry, Bindings::default());
        }
        let mut changed = true;
        while changed {
            changed = false;
            for &block in &self.order {
                let Some(mut bindings) = at.get(&block).cloned() else {
                    continue;
                };
                bindings.extend(self.events.get(&block).into_iter().flatten().copied());
                for to in after(block) {
                    match at.get_mut(&to) {
                        None => {
                            at.insert(to, bindings.clone());
                            changed = true;
                        }
                        Some(known) => changed |= meet(known, &bindings),
                    }
                }
            }
        }
        at
    }

    fn head(
        &self,
        place: LoopPlace<'m>,
        bindings: &Bindings<'m>,
        globals: &[(Metadata<'m>, Value<'m>)],
    ) -> Option<Head<'m>> {
        let LoopPlace {
            line,
            column,
            mut scope,
        } = place;
        // The jump back may be in a scope within the loop. The loop's own scope begins at the
        // loop's position or before it.
        while start_of(scope) > (line, column) {
            scope = scope.scope()?;
        }
        let inner = scope;
        let file = inner.file()?;
        let mut scopes = vec![inner];
        while let Some(outer) = scopes.last().and_then(|scope| scope.scope()) {
            scopes.push(outer);
        }
        let function = *scopes.last()?;
        // The declarations of `for (int i = 0; ...)` come after the position of the loop, in a
        // scope that begins at that position.
        let own_scope = (start_of(inner) == (line, column)).then_some(inner);
        let mut found: Vec<(usize, u32, Metadata<'m>, Option<Value<'m>>, bool)> = Vec::new();
        let locals = bindings.iter().map(|(&v, &value)| (v, value, false));
        let memory = self.memory.iter().map(|(&v, &a)| (v, Some(a), true));
        let statics = globals.iter().map(|&(v, a)| (v, Some(a), true));
        for (variable, value, memory) in locals.chain(memory).chain(statics) {
            let scope = variable.scope();
            let depth = scopes.iter().position(|own| Some(*own) == scope);
            let declared = variable.declared_in();
            let Some(depth) = depth.or_else(|| {
                let is_global = self.is_of_file(variable, function);
                is_global.then_some(scopes.len())
            }) else {
                continue;
            };
            let before = declared < line
                || (scope == Some(function) && is_parameter(variable))
                || (scope.is_some() && scope == own_scope);
            if before && variable.file().as_ref() == Some(&file) {
                found.push((depth, declared, variable, value, memory));
            } else if depth < scopes.len() {
                // The variable cannot be named, but it may hide an outer one.
                found.push((depth, declared, variable, None, memory));
            }
        }
        // Inner scopes first; within a scope in the order of declaration, so that the result is
        // deterministic.
        let name = |v: Metadata<'m>| v.string_at(metadata::VARIABLE_NAME);
        found.sort_by_cached_key(|&(depth, line, v, ..)| (depth, line, name(v)));
        let mut hidden = FxHashSet::default();
        let mut variables = Vec::new();
        for (_, _, variable, value, memory) in found {
            let name = name(variable);
            if name.is_empty() || !hidden.insert(name.clone()) {
                continue;
            }
            let ty = variable.operand(metadata::VARIABLE_TYPE);
            if let Some(value) = value.filter(|&v| memory || is_defined(v))
                && let Some((bits, signed)) = ty.and_then(|ty| self.integer(ty))
            {
                variables.push(Bound {
                    name,
                    bits,
                    signed,
                    value,
                    memory,
                });
            }
        }
        Some(Head {
            file,
            line,
            column,
            variables,
        })
    }

    /// Whether a variable has file scope and is declared before the function.
    fn is_of_file(&self, variable: Metadata<'m>, function: Metadata<'m>) -> bool {
        let unit = variable.scope();
        let is_global = unit.is_some_and(|unit| {
            matches!(unit.kind(), LLVMMetadataKind::LLVMDICompileUnitMetadataKind)
        });
        is_global && variable.declared_in() < line_of(function)
    }

    /// The size and the signedness of an integer type.
    fn integer(&self, ty: Metadata<'m>) -> Option<(Width, bool)> {
        use metadata::tag;
        let mut ty = ty;
        while matches!(ty.tag(), tag::TYPEDEF | tag::CONST) {
            ty = ty.operand(metadata::BASE)?;
        }
        if ty.tag() == tag::ENUMERATION {
            ty = ty.operand(metadata::BASE)?;
            return self.integer(ty);
        }
        if !matches!(ty.kind(), LLVMMetadataKind::LLVMDIBasicTypeMetadataKind) {
            return None;
        }
        let bits = Width::try_from(ty.bits()).ok()?;
        if !matches!(bits, 8 | 16 | 32 | 64) {
            return None;
        }
        let text = ty.text();
        let encoding = text.split("encoding: DW_ATE_").nth(1)?;
        match encoding.split([',', ')']).next()? {
            "signed" | "signed_char" => Some((bits, true)),
            "unsigned" | "unsigned_char" | "boolean" => Some((bits, false)),
            _ => None,
        }
    }
}

fn is_parameter(variable: Metadata<'_>) -> bool {
    variable.text().contains(", arg: ")
}

fn line_of(function: Metadata<'_>) -> u32 {
    number_after(&function.text(), ", line: ")
}

/// The position at which a scope begins: line and column of a block, or a place before all
/// positions for a function.
fn start_of(scope: Metadata<'_>) -> (u32, u32) {
    match scope.kind() {
        LLVMMetadataKind::LLVMDILexicalBlockMetadataKind => {
            let text = scope.text();
            let line = number_after(&text, ", line: ");
            (line, number_after(&text, ", column: "))
        }
        _ => (0, 0),
    }
}

fn number_after(text: &str, what: &str) -> u32 {
    let rest = text.split(what).nth(1).unwrap_or_default();
    let digits = rest.split(|c: char| !c.is_ascii_digit()).next();
    digits.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Line and column of the loop whose head is the target of the jump back at the end of a block.
fn loop_place(end: Value<'_>) -> Option<(u32, u32)> {
    let number = |part: Option<Metadata<'_>>| u32::try_from(part?.value()?.const_int()?).ok();
    match end.metadata(LOOP)?.operands()[..] {
        [line, column] => Some((number(line)?, number(column)?)),
        _ => None,
    }
}

/// Whether a block only jumps to another one.
fn jumps_only(block: BasicBlock<'_>) -> bool {
    let others = block.instructions().into_iter().filter(|instruction| {
        instruction.opcode() != Some(LLVMOpcode::LLVMPHI) && !instruction.is_debug_binding()
    });
    others.count() == 1 && after(block).len() == 1
}

/// Keeps the bindings that both agree on. Returns whether `known` changed.
fn meet<'m>(known: &mut Bindings<'m>, other: &Bindings<'m>) -> bool {
    let mut changed = false;
    for (variable, value) in known.iter_mut() {
        if value.is_some() && other.get(variable).copied().flatten() != *value {
            *value = None;
            changed = true;
        }
    }
    for &variable in other.keys() {
        if let std::collections::hash_map::Entry::Vacant(vacant) = known.entry(variable) {
            vacant.insert(None);
            changed = true;
        }
    }
    changed
}

/// Whether a value is defined, for every way through its phi nodes.
fn is_defined(value: Value<'_>) -> bool {
    let mut open = vec![value];
    let mut seen = FxHashSet::default();
    while let Some(value) = open.pop() {
        if !seen.insert(value) {
            continue;
        }
        if value.opcode() == Some(LLVMOpcode::LLVMFreeze) {
            open.push(value.operand(0));
            continue;
        }
        if value.is_undef() || (value.is_call() && value.callee().name() == UNINIT) {
            return false;
        }
        if value.opcode() == Some(LLVMOpcode::LLVMPHI) {
            open.extend(value.incoming().into_iter().map(|(value, _)| value));
        }
    }
    true
}

fn after(block: BasicBlock<'_>) -> Vec<BasicBlock<'_>> {
    let end = block.instructions().last().copied();
    end.map_or_else(Vec::new, Value::successors)
}

fn reverse_postorder(function: Value<'_>) -> Vec<BasicBlock<'_>> {
    let Some(&entry) = function.blocks().first() else {
        return Vec::new();
    };
    let mut order = Vec::new();
    let mut seen = FxHashSet::from_iter([entry]);
    let mut stack = vec![(entry, after(entry))];
    while let Some((block, next)) = stack.last_mut() {
        match next.pop() {
            Some(to) => {
                if seen.insert(to) {
                    stack.push((to, after(to)));
                }
            }
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}
