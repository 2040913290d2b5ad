//! Finds the names that values and members have in the source.
//!
//! Names in bitcode are not C's: LLVM appends digits to names in use (`keys3`), but a C variable
//! may be called `p113` as well, so the form of a name proves nothing. Debug information has the
//! exact names. The optimiser tracks which value a variable has at which place in records beside
//! the instructions. This version of LLVM lets C callers read such records only in their older
//! form, as calls of intrinsics, so the module is converted to that form while it is read. Members
//! are found by their position in their type.

use cegar_llvm::{LLVMMetadataKind, Metadata, Module, Value, metadata};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::program::ir::{Member, Shape, ShapeId};

/// A variable, or a part of one, that a value stands for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Variable {
    /// Its name in C.
    pub(super) name: String,
    /// Its division into members or elements.
    pub(super) shape: Option<ShapeId>,
}

/// The names and types that debug information has.
#[derive(Default)]
pub(super) struct Variables<'m> {
    /// The variables that a value stands for, in the order of the bindings.
    values: FxHashMap<Value<'m>, Vec<Variable>>,
    /// Structures and unions by their names in bitcode.
    composites: FxHashMap<String, Vec<ShapeId>>,
    /// All types with parts.
    pub(super) shapes: Vec<Shape>,
}

impl<'m> Variables<'m> {
    /// The variables that a value stands for.
    pub(super) fn of(&self, value: Value<'m>) -> &[Variable] {
        self.values.get(&value).map_or(&[], Vec::as_slice)
    }

    /// The name of the member of the structure `of` that begins between two bits. `of` and `called`
    /// are the names of the structure and of the member in bitcode. Empty for an anonymous member.
    pub(super) fn member(&self, of: &str, (from, to): (u64, u64), called: &str) -> Option<String> {
        let name = of.split_once('.').map_or(of, |(_, name)| name);
        let name = name.split('.').next().unwrap_or(name);
        let candidates = match self.composites.get(name) {
            Some(known) => known,
            None => self.composites.get("")?,
        };
        let members = || {
            let shapes = candidates.iter();
            let shapes = shapes.filter_map(|id| self.shapes.get(id.0 as usize));
            let members = shapes.flat_map(|shape| &shape.members);
            members.filter(move |m| from <= m.at && m.at < to)
        };
        let mut prefix = called;
        loop {
            if let Some(found) = members().find(|m| m.name == prefix) {
                return Some(found.name.clone());
            }
            match prefix.strip_suffix(|c: char| c.is_ascii_digit()) {
                Some(rest) if !rest.is_empty() => prefix = rest,
                _ => break,
            }
        }
        let mut names = members().map(|m| &m.name);
        let first = names.next()?;
        names.all(|name| name == first).then(|| first.clone())
    }
}

/// Reads a module's debug information.
pub(super) fn of(module: &Module) -> Variables<'_> {
    let mut reader = Reader {
        shapes: FxHashMap::default(),
        seen: FxHashSet::default(),
        variables: Variables::default(),
    };
    reader.walk(module.named_nodes(metadata::COMPILE_UNITS));
    module.with_debug_calls(|| {
        for function in module.functions() {
            reader.walk(Metadata::of_function(function).into_iter().collect());
            for block in function.blocks() {
                for instruction in block.instructions() {
                    reader.binding(instruction);
                }
            }
        }
    });
    for global in module.globals() {
        for variable in Metadata::of_global(global) {
            reader.name(global, variable, None);
        }
    }
    reader.variables
}

struct Reader<'m> {
    shapes: FxHashMap<Metadata<'m>, Option<ShapeId>>,
    seen: FxHashSet<Metadata<'m>>,
    variables: Variables<'m>,
}

impl<'m> Reader<'m> {
    /// Records every structure and union that is reachable from these nodes.
    fn walk(&mut self, mut open: Vec<Metadata<'m>>) {
        while let Some(node) = open.pop() {
            if !node.is_node() || !self.seen.insert(node) {
                continue;
            }
            match node.tag() {
                metadata::tag::STRUCTURE | metadata::tag::UNION => {
                    let name = node.string_at(metadata::NAME);
                    self.composite(name, node);
                }
                // clang names a structure without a name after its first typedef.
                metadata::tag::TYPEDEF => {
                    if let Some(base) = node.operand(metadata::BASE)
                        && matches!(base.tag(), metadata::tag::STRUCTURE | metadata::tag::UNION)
                        && base.string_at(metadata::NAME).is_empty()
                    {
                        let name = node.string_at(metadata::NAME);
                        self.composite(name, base);
                    }
                }
                _ => {}
            }
            open.extend(node.operands().into_iter().flatten());
        }
    }

    fn composite(&mut self, name: String, node: Metadata<'m>) {
        if let Some(shape) = self.shape(node) {
            self.variables
                .composites
                .entry(name)
                .or_default()
                .push(shape);
        }
    }

    /// The shape of a type that has parts.
    fn shape(&mut self, node: Metadata<'m>) -> Option<ShapeId> {
        if let Some(known) = self.shapes.get(&node) {
            return *known;
        }
        // A type cannot contain itself, but damaged bitcode may claim that it does.
        self.shapes.insert(node, None);
        let shape = match node.tag() {
            metadata::tag::STRUCTURE | metadata::tag::UNION => {
                let elements = node.operand(metadata::ELEMENTS);
                let elements = elements.map_or_else(Vec::new, |e| e.operands());
                let mut members = Vec::new();
                for member in elements.into_iter().flatten() {
                    if member.tag() != metadata::tag::MEMBER {
                        continue;
                    }
                    let base = member.operand(metadata::BASE);
                    members.push(Member {
                        name: member.string_at(metadata::NAME),
                        at: member.offset_in_bits(),
                        bits: member.bits(),
                        shape: base.and_then(|base| self.shape(base)),
                    });
                }
                self.kept(Shape {
                    bits: node.bits(),
                    members,
                    element: None,
                })
            }
            metadata::tag::ARRAY => self.array(node),
            _ => self.stripped(node).and_then(|base| self.shape(base)),
        };
        self.shapes.insert(node, shape);
        shape
    }

    /// The shape of an array, with one shape for each of its dimensions. Only the outermost length
    /// may be variable or unknown.
    fn array(&mut self, node: Metadata<'m>) -> Option<ShapeId> {
        let base = node.operand(metadata::BASE)?;
        let mut each = self.bits(base);
        let mut inner = self.shape(base);
        let ranges = node.operand(metadata::ELEMENTS)?;
        for (at, range) in ranges.operands().into_iter().enumerate().rev() {
            if each == 0 {
                return None;
            }
            let count = range.and_then(|range| range.operand(0));
            let count = count
                .filter(|c| {
                    matches!(
                        c.kind(),
                        LLVMMetadataKind::LLVMConstantAsMetadataMetadataKind
                    )
                })
                .and_then(|c| c.text().rsplit(' ').next()?.parse::<u64>().ok());
            let bits = count.map_or(0, |count| each.saturating_mul(count));
            inner = self.kept(Shape {
                bits,
                members: Vec::new(),
                element: Some((each, inner)),
            });
            if bits == 0 && at > 0 {
                return None;
            }
            each = bits;
        }
        inner
    }

    fn kept(&mut self, shape: Shape) -> Option<ShapeId> {
        let id = ShapeId(self.variables.shapes.len() as u32);
        self.variables.shapes.push(shape);
        Some(id)
    }

    /// The type that a qualified or renamed type is based on.
    fn stripped(&self, node: Metadata<'m>) -> Option<Metadata<'m>> {
        use metadata::tag::*;
        match node.tag() {
            TYPEDEF | CONST | VOLATILE | RESTRICT | ATOMIC => node.operand(metadata::BASE),
            _ => None,
        }
    }

    fn bits(&self, mut node: Metadata<'m>) -> u64 {
        while let Some(base) = self.stripped(node) {
            node = base;
        }
        node.bits()
    }

    /// Records the value and the variable of a call of `llvm.dbg.value` or `llvm.dbg.declare`.
    fn binding(&mut self, instruction: Value<'m>) {
        if !instruction.is_debug_binding() {
            return;
        }
        let value = Metadata::of(instruction.operand(0)).and_then(Metadata::value);
        let Some(value) = value.filter(|value| !value.is_constant()) else {
            return;
        };
        let Some(variable) = Metadata::of(instruction.operand(1)) else {
            return;
        };
        let expression = Metadata::of(instruction.operand(2));
        let expression = expression.map_or_else(String::new, |e| e.text());
        // Any other expression computes the variable's value from this value.
        let part = match expression.as_str() {
            "" | "!DIExpression()" => None,
            text => match fragment(text) {
                Some(part) => Some(part),
                None => return,
            },
        };
        self.name(value, variable, part);
    }

    fn name(&mut self, value: Value<'m>, variable: Metadata<'m>, part: Option<(u64, u64)>) {
        self.walk(vec![variable]);
        let mut name = variable.string_at(metadata::VARIABLE_NAME);
        if name.is_empty() {
            return;
        }
        let ty = variable.operand(metadata::VARIABLE_TYPE);
        let mut shape = ty.and_then(|ty| self.shape(ty));
        if let Some((at, bits)) = part {
            let whole = ty.map_or(0, |ty| self.bits(ty));
            let shapes = &self.variables.shapes;
            let Some(selector) = Shape::selector(shapes, shape, whole, at, bits) else {
                return;
            };
            name.push_str(&selector);
            shape = None;
        }
        let known = self.variables.values.entry(value).or_default();
        let named = Variable { name, shape };
        if !known.contains(&named) {
            known.push(named);
        }
    }
}

/// The offset and the size in `!DIExpression(DW_OP_LLVM_fragment, 0, 32)`; `None` for any other
/// expression.
fn fragment(expression: &str) -> Option<(u64, u64)> {
    let inner = expression.strip_prefix("!DIExpression(DW_OP_LLVM_fragment, ")?;
    let (at, bits) = inner.strip_suffix(')')?.split_once(", ")?;
    Some((at.parse().ok()?, bits.parse().ok()?))
}
