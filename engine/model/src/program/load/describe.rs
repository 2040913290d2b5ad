//! Describes in C what an access touches.
//!
//! The text is rebuilt from the instructions that compute an address, with the names from debug
//! information. If a part has no name, or a name that the source file does not contain (from the
//! expansion of a system header's macro), the source line is quoted instead of the whole text,
//! because half a name does not help.

use std::cell::Cell;

use cegar_llvm::{LLVMOpcode, Layout, Type, Value};

use super::body::Body;
use super::variables::Variables;
use crate::program::ir::{Pos, Shape};

/// The longest chain of computations that is described.
const DEPTH: u32 = 20;
/// The number of computations after which a description is given up. Values are used many times, so
/// even a short chain may have thousands of paths.
const FUEL: u32 = 60;
/// The length of the longest description. A quotation of the source line is more helpful than a
/// longer one.
const LONGEST: usize = 80;

impl<'m> Body<'_, 'm> {
    /// The `size` bytes at `address`, as a C expression.
    pub(super) fn describe(&mut self, address: Value<'m>, size: u64) -> String {
        let text = self.describer().place(address, size.checked_mul(8), DEPTH);
        self.checked(text)
    }

    /// The pointer itself, as a C expression.
    pub(super) fn describe_pointer(&mut self, pointer: Value<'m>) -> String {
        let describer = self.describer();
        let text = describer.value(pointer, DEPTH).or_else(|| {
            let place = describer.place(pointer, None, DEPTH)?;
            Some(match place.strip_prefix('*') {
                Some(pointer) => pointer.to_owned(),
                None => format!("&{place}"),
            })
        });
        self.checked(text)
    }

    /// The contents of a register as a C expression, if there is one.
    pub(super) fn describe_value(&self, value: Value<'m>) -> Option<String> {
        let text = self.describer().value(value, DEPTH)?;
        (text.len() <= LONGEST).then_some(text)
    }

    fn describer(&self) -> Describer<'_, 'm> {
        Describer {
            variables: &self.loader.variables,
            layout: self.layout,
            fuel: Cell::new(FUEL),
        }
    }

    fn checked(&mut self, text: Option<String>) -> String {
        let Pos { file, line, column } = self.pos;
        let Some(path) = self.loader.program.files.get(file as usize) else {
            return text.unwrap_or_default();
        };
        let sources = &mut self.loader.sources;
        match text {
            Some(text) if text.len() <= LONGEST && sources.knows(path, &text) => text,
            _ if line == 0 => String::new(),
            _ => sources.quote(path, line, column).unwrap_or_default(),
        }
    }
}

struct Describer<'l, 'm> {
    variables: &'l Variables<'m>,
    layout: Layout<'m>,
    fuel: Cell<u32>,
}

impl<'m> Describer<'_, 'm> {
    fn deeper(&self, depth: u32) -> Option<u32> {
        self.fuel.set(self.fuel.get().checked_sub(1)?);
        depth.checked_sub(1)
    }

    /// The place that `address` points at, as a C expression. `bits` is the size of the access, if
    /// known.
    fn place(&self, address: Value<'m>, bits: Option<u64>, depth: u32) -> Option<String> {
        if self.is_in_union(address, bits) {
            return None;
        }
        let named_memory =
            address.is_global_variable() || address.opcode() == Some(LLVMOpcode::LLVMAlloca);
        if named_memory {
            return self.variable(address);
        }
        let depth = self.deeper(depth)?;
        // A pointer variable's own name is better than how its value was computed.
        if let Some(pointer) = self.variable(address) {
            return Some(format!("*{pointer}"));
        }
        if address.is_gep() {
            return self.part(address, bits, depth);
        }
        let pointer = self.value(address, depth)?;
        Some(format!("*{}", operand(&pointer)))
    }

    /// The place that a `getelementptr` selects.
    fn part(&self, gep: Value<'m>, bits: Option<u64>, depth: u32) -> Option<String> {
        let base = gep.operand(0);
        let mut text = self.place(base, None, depth)?;
        let mut ty = gep.gep_source();
        let first = gep.operand(1);
        // Either a member of a union or bytes of a structure: bitcode does not say which.
        let within = self.memory_type(base).is_some_and(Type::is_struct);
        let constant_bytes = gep.operand_count() == 2 && first.const_int().is_some();
        if within && !ty.is_struct() && !constant_bytes {
            return None;
        }
        if ty.is_integer()
            && ty.int_width() == Some(8)
            && gep.operand_count() == 2
            && let Some(at) = first.const_int()
            && let Some(selected) = self.member_of_variable(base, at, bits)
        {
            return Some(selected);
        }
        if within && !ty.is_struct() {
            return None;
        }
        if gep.operand_count() == 2 || first.const_int() != Some(0) {
            text = indexed(&text, &self.value(first, depth)?);
        }
        for i in 2..gep.operand_count() {
            let index = gep.operand(i);
            if ty.is_struct() {
                let field = index.const_int()? as u32;
                let inner = *ty.fields().get(field as usize)?;
                let called = match gep.operand_count() {
                    3 => gep.name(),
                    _ => String::new(),
                };
                let name = self.field(ty, field, inner, &called)?;
                text = selected(&text, &name);
                ty = inner;
                continue;
            }
            ty = ty.element();
            // An array decays to a pointer to its first element, which selects no element yet.
            let decays = i + 1 == gep.operand_count()
                && index.const_int() == Some(0)
                && gep.name().starts_with("arraydecay");
            if !decays && text.starts_with('*') {
                // Behind a pointer to a union, this may be a member of the union that is an array.
                return None;
            }
            if !decays {
                text = subscripted(&text, &self.value(index, depth)?);
            }
        }
        Some(text)
    }

    /// The type of the memory at an address, if the address determines it.
    fn memory_type(&self, address: Value<'m>) -> Option<Type<'m>> {
        if address.is_global_variable() {
            return Some(address.value_type());
        }
        if address.opcode() == Some(LLVMOpcode::LLVMAlloca) {
            return Some(address.allocated_type());
        }
        if !address.is_gep() {
            return None;
        }
        let mut ty = address.gep_source();
        for i in 2..address.operand_count() {
            ty = match ty.is_struct() {
                true => {
                    let field = address.operand(i).const_int()?;
                    *ty.fields().get(field as usize)?
                }
                false => ty.element(),
            };
        }
        Some(ty)
    }

    /// Whether a union is accessed through one of its members, and it is unknown which.
    fn is_in_union(&self, address: Value<'m>, bits: Option<u64>) -> bool {
        let Some(ty) = self.memory_type(address) else {
            return false;
        };
        let is_union = ty
            .struct_name()
            .is_some_and(|name| name.starts_with("union."));
        is_union && bits.is_some_and(|bits| bits <= 64)
    }

    /// The name of a structure's field.
    fn field(&self, of: Type<'m>, field: u32, inner: Type<'m>, called: &str) -> Option<String> {
        let from = self.layout.field_offset(of, field) * 8;
        let to = from + self.layout.size(inner).max(1) * 8;
        let name = of.struct_name()?;
        self.variables.member(&name, (from, to), called)
    }

    /// `s.count`, for an offset from a global variable of known type.
    fn member_of_variable(&self, base: Value<'m>, at: u64, bits: Option<u64>) -> Option<String> {
        if !base.is_global_variable() {
            return None;
        }
        let variable = self.variables.of(base).first()?;
        let whole = self.layout.size(base.value_type()) * 8;
        let shapes = &self.variables.shapes;
        let at = at.checked_mul(8)?;
        let selector = Shape::selector(shapes, variable.shape, whole, at, bits?)?;
        Some(format!("{}{selector}", variable.name))
    }

    /// The name of the variable that `value` is the address or the value of.
    fn variable(&self, value: Value<'m>) -> Option<String> {
        if let Some(variable) = self.variables.of(value).first() {
            return Some(variable.name.clone());
        }
        // Data that is only declared has no debug information, but it keeps its name in C.
        let name = match value.is_global_variable() {
            true => value.name(),
            false => return None,
        };
        is_identifier(&name).then_some(name)
    }

    /// A value as a C expression: a variable, a constant, a loaded place, or a computation from
    /// these.
    fn value(&self, value: Value<'m>, depth: u32) -> Option<String> {
        let depth = self.deeper(depth)?;
        if let Some(constant) = signed(value) {
            return Some(constant.to_string());
        }
        if value.is_function() {
            return function_name(value);
        }
        if value.is_global_variable() || value.opcode() == Some(LLVMOpcode::LLVMAlloca) {
            return Some(format!("&{}", self.variable(value)?));
        }
        if let Some(variable) = self.variable(value) {
            return Some(variable);
        }
        use LLVMOpcode::*;
        let opcode = value.opcode()?;
        match opcode {
            LLVMLoad => {
                let bits = self.layout.size(value.ty()) * 8;
                self.place(value.operand(0), Some(bits), depth)
            }
            LLVMSExt | LLVMZExt | LLVMTrunc | LLVMFreeze => self.value(value.operand(0), depth),
            LLVMCall => {
                let callee = value.callee();
                if !callee.is_function() || callee.name().starts_with("llvm.") {
                    return None;
                }
                let arguments = value.arguments().into_iter();
                let arguments: Option<Vec<String>> = arguments
                    .map(|argument| self.value(argument, depth))
                    .collect();
                Some(format!(
                    "{}({})",
                    function_name(callee)?,
                    arguments?.join(", ")
                ))
            }
            LLVMGetElementPtr => {
                let place = self.part(value, None, depth)?;
                match place.strip_prefix('*') {
                    Some(pointer) => Some(pointer.to_owned()),
                    None => Some(format!("&{place}")),
                }
            }
            // The result of an operation that is checked for overflow.
            LLVMExtractValue if value.indices() == [0] => {
                let call = value.operand(0);
                let name = call.is_call().then(|| call.callee().name())?;
                let symbol = match name.strip_prefix("llvm.")?.split('.').next()? {
                    "sadd" | "uadd" => "+",
                    "ssub" | "usub" => "-",
                    "smul" | "umul" => "*",
                    _ => return None,
                };
                self.binary(call, symbol, depth)
            }
            _ => self.binary(value, symbol(opcode)?, depth),
        }
    }

    fn binary(&self, value: Value<'m>, symbol: &str, depth: u32) -> Option<String> {
        let right = value.operand(1);
        let left = value.operand(0);
        if symbol == "-" && left.const_int() == Some(0) {
            return Some(format!("-{}", operand(&self.value(right, depth)?)));
        }
        let left = operand(&self.value(left, depth)?);
        match signed(right) {
            Some(n) if symbol == "+" && n < 0 => Some(format!("{left} - {}", n.unsigned_abs())),
            _ => Some(format!(
                "{left} {symbol} {}",
                operand(&self.value(right, depth)?)
            )),
        }
    }
}

fn symbol(opcode: LLVMOpcode) -> Option<&'static str> {
    use LLVMOpcode::*;
    Some(match opcode {
        LLVMAdd | LLVMFAdd => "+",
        LLVMSub | LLVMFSub => "-",
        LLVMMul | LLVMFMul => "*",
        LLVMUDiv | LLVMSDiv | LLVMFDiv => "/",
        LLVMURem | LLVMSRem => "%",
        LLVMShl => "<<",
        LLVMLShr | LLVMAShr => ">>",
        LLVMAnd => "&",
        LLVMOr => "|",
        LLVMXor => "^",
        _ => return None,
    })
}

/// A constant as a signed number, because indices are signed.
fn signed(value: Value<'_>) -> Option<i64> {
    let bits = value.const_int()?;
    let unused = 64 - value.ty().int_width()?;
    Some(match unused {
        63 => bits as i64,
        _ => ((bits << unused) as i64) >> unused,
    })
}

/// The name that a function has in the source, before normalisation and the linker renamed it.
fn function_name(function: Value<'_>) -> Option<String> {
    let name = function.name();
    let plain = super::super::plain(&name);
    is_identifier(plain).then(|| plain.to_owned())
}

/// Whether `name` can be an identifier in C.
pub(super) fn is_identifier(name: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$' || !c.is_ascii();
    !name.is_empty() && name.chars().all(inner) && !name.starts_with(|c: char| c.is_ascii_digit())
}

/// Whether the text has a binary operator outside of all brackets.
fn has_operator(text: &str) -> bool {
    let mut depth = 0u32;
    text.chars().any(|c| {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ' ' && depth == 0
    })
}

/// The text as an operand of a binary operator, in brackets if necessary.
fn operand(text: &str) -> String {
    match has_operator(text) {
        true => format!("({text})"),
        false => text.to_owned(),
    }
}

/// The text as the operand of a postfix operator, in brackets if necessary.
fn postfix(text: &str) -> String {
    match text.starts_with(['*', '&', '-']) || has_operator(text) {
        true => format!("({text})"),
        false => text.to_owned(),
    }
}

/// Element `index`, counted from the pointer whose target is `text`.
fn indexed(text: &str, index: &str) -> String {
    match text.strip_prefix('*') {
        Some(pointer) => format!("{}[{index}]", postfix(pointer)),
        // `(&x)[1]`, or further indices of an array that decayed to a pointer.
        None => format!("{}[{index}]", postfix(text)),
    }
}

/// Element `index` of the array `text`.
fn subscripted(text: &str, index: &str) -> String {
    format!("{}[{index}]", postfix(text))
}

/// Member `name` of `text`. The empty name is that of an anonymous member, whose own members C
/// names like those of the outer type.
fn selected(text: &str, name: &str) -> String {
    match (name, text.strip_prefix('*')) {
        ("", _) => text.to_owned(),
        (name, Some(pointer)) => format!("{}->{name}", postfix(pointer)),
        (name, None) => format!("{}.{name}", postfix(text)),
    }
}
