//! Formats objects from outside as structure literals.
//!
//! The traces in *Executable Counterexamples* (section 4) end in numbers. Here a device is written
//! with the program's own structures, and zero members are left out, so that the test shows what
//! the fault requires.

use std::collections::BTreeSet;

use cegar_harness::build::MockedFunction;
use cegar_harness::external::codec::{Element, ReadObject};
use cegar_harness::external::{Holds, Member, ObjectType, Pointee, Types};

use super::layout::Expr;
use super::literal;

/// Rust keywords that C may use as names.
const KEYWORDS: [&str; 22] = [
    "abstract", "as", "async", "await", "box", "dyn", "fn", "impl", "in", "let", "loop", "match",
    "mod", "move", "mut", "pub", "ref", "trait", "type", "use", "where", "yield",
];

/// The name of a member in Rust.
fn field(name: &str) -> String {
    if KEYWORDS.contains(&name) {
        format!("r#{name}")
    } else {
        name.to_owned()
    }
}

/// Formats the objects of one function.
#[derive(Debug, Clone, Copy)]
pub(super) struct Objects<'a> {
    types: Types<'a>,
}

impl<'a> Objects<'a> {
    pub(super) fn new(types: &'a [ObjectType]) -> Objects<'a> {
        Objects {
            types: Types(types),
        }
    }

    /// The elements without trailing zero ones. If the tape chose their number, all elements.
    fn told<'r>(
        self,
        pointee: &Pointee,
        object: &ObjectType,
        elements: &'r [Element],
    ) -> &'r [Element] {
        if self.types.array_layout(pointee, object).is_counted {
            return elements;
        }
        let used = elements
            .iter()
            .rposition(|(bytes, _)| bytes.iter().any(|byte| *byte != 0));
        &elements[..used.map_or(1, |last| last + 1).min(elements.len())]
    }

    /// The elements as bytes, as one value or as an array of values.
    pub(super) fn elements(
        self,
        pointee: &Pointee,
        object: &ObjectType,
        elements: &[Element],
    ) -> Content {
        let told = self.told(pointee, object, elements);
        if object.size == 1 && !object.opaque || pointee.to.is_none() || object.is_bytes() {
            let mut bytes: Vec<u8> = told.iter().flat_map(|(bytes, _)| bytes).copied().collect();
            let used = bytes.iter().rposition(|byte| *byte != 0);
            bytes.truncate(used.map_or(0, |last| last + 1));
            return Content::Text(literal::bytes(&bytes));
        }
        let row: Vec<Expr> = told
            .iter()
            .map(|(bytes, pointers)| self.value(object, bytes, pointers))
            .collect();
        match <[Expr; 1]>::try_from(row) {
            Ok([one]) => Content::One(one),
            Err(row) => Content::Row(row),
        }
    }

    /// A pointer within an object.
    pub(super) fn pointer(self, pointee: &Pointee, read: &ReadObject) -> Expr {
        match read {
            ReadObject::Null => Expr::plain("std::ptr::null_mut()"),
            ReadObject::Earlier(back) => Expr::plain(format!("earlier({back})")),
            ReadObject::Code => Expr::plain("code()"),
            ReadObject::Fresh(_) if self.types.target(pointee).opaque => Expr::plain("object(0u8)"),
            ReadObject::Fresh(elements) => {
                let object = self.types.target(pointee);
                match self.elements(pointee, object, elements) {
                    Content::Text(text) => Expr::Call("text".to_owned(), vec![Expr::Plain(text)]),
                    Content::One(one) => Expr::Call("object".to_owned(), vec![one]),
                    Content::Row(row) => Expr::Call("objects".to_owned(), vec![Expr::Row(row)]),
                }
            }
        }
    }

    /// The value of an object.
    pub(super) fn value(
        self,
        object: &ObjectType,
        bytes: &[u8],
        pointers: &[(usize, ReadObject)],
    ) -> Expr {
        match &object.members[..] {
            [Member { name, holds, .. }] if name.is_empty() => self
                .holds(holds, 0, bytes, pointers)
                .map_or_else(|| self.zero(holds), |value| self.typed(holds, value)),
            _ => self.structure(object, 0, bytes, pointers),
        }
    }

    /// Adds a type suffix to a number whose type cannot be inferred.
    fn typed(self, holds: &Holds, value: Expr) -> Expr {
        match (holds, value) {
            (Holds::Int { .. } | Holds::Float { .. }, Expr::Plain(text)) => {
                Expr::Plain(format!("{text}{}", self.rust(holds)))
            }
            (_, value) => value,
        }
    }

    fn zero(self, holds: &Holds) -> Expr {
        match holds {
            Holds::Bool => Expr::plain("false"),
            Holds::Pointer(_) | Holds::Code(_) => Expr::plain("std::ptr::null_mut::<u8>()"),
            Holds::Int { .. } => Expr::plain(format!("0{}", self.rust(holds))),
            Holds::Float { .. } => Expr::plain(format!("0.0{}", self.rust(holds))),
            _ => Expr::plain(format!("[0u8; {}]", self.types.size(holds))),
        }
    }

    fn structure(
        self,
        object: &ObjectType,
        base: usize,
        bytes: &[u8],
        pointers: &[(usize, ReadObject)],
    ) -> Expr {
        let mut fields = Vec::new();
        let rendered = self.rendered(object);
        for member in &rendered {
            let at = base + member.offset;
            if let Some(value) = self.holds(&member.holds, at, bytes, pointers) {
                fields.push((field(&member.name), value));
            }
        }
        if fields.is_empty() {
            return Expr::Plain(format!("zeroed::<{}>()", object.name));
        }
        Expr::Struct {
            name: object.name.clone(),
            zeroed: fields.len() < rendered.len(),
            fields,
        }
    }

    /// The value at an offset; `None` if it is zero.
    fn holds(
        self,
        holds: &Holds,
        at: usize,
        bytes: &[u8],
        pointers: &[(usize, ReadObject)],
    ) -> Option<Expr> {
        let size = self.types.size(holds);
        let here = bytes.get(at..at + size).unwrap_or_default();
        let nothing = here.iter().all(|byte| *byte == 0);
        match holds {
            Holds::Pointer(pointee) => {
                let read = pointers.iter().find(|(offset, _)| *offset == at)?;
                (read.1 != ReadObject::Null).then(|| self.pointer(pointee, &read.1))
            }
            Holds::Code(_) => {
                let read = pointers.iter().find(|(offset, _)| *offset == at)?;
                (read.1 == ReadObject::Code).then(|| Expr::plain("code()"))
            }
            Holds::Struct(name) => {
                let inner = self.types.get(name)?;
                let value = self.structure(inner, at, bytes, pointers);
                matches!(value, Expr::Struct { .. }).then_some(value)
            }
            Holds::Array { count, of } => self.array(*count, of, at, bytes, pointers),
            _ if nothing => None,
            Holds::Int { size, signed } => Some(Expr::plain(integer(here, *size, *signed))),
            Holds::Bool => Some(Expr::plain("true")),
            Holds::Float { size: 4 } => Some(Expr::plain(float(f64::from(f32::from_le_bytes(
                here.try_into().ok()?,
            ))))),
            Holds::Float { .. } => Some(Expr::plain(float(f64::from_le_bytes(
                here.try_into().ok()?,
            )))),
            Holds::Bytes(_) => Some(padded(here)),
        }
    }

    fn array(
        self,
        count: usize,
        of: &Holds,
        at: usize,
        bytes: &[u8],
        pointers: &[(usize, ReadObject)],
    ) -> Option<Expr> {
        let step = self.types.size(of);
        if let Holds::Int { size: 1, .. } = of {
            let here = bytes.get(at..at + count).unwrap_or_default();
            return here.iter().any(|byte| *byte != 0).then(|| padded(here));
        }
        let values: Vec<Option<Expr>> = (0..count)
            .map(|i| self.holds(of, at + i * step, bytes, pointers))
            .collect();
        let used = values.iter().rposition(Option::is_some)? + 1;
        let zero = match of {
            Holds::Int { .. } => Expr::plain("0"),
            Holds::Float { .. } => Expr::plain("0.0"),
            Holds::Bool => Expr::plain("false"),
            Holds::Pointer(_) | Holds::Code(_) => Expr::plain("std::ptr::null_mut()"),
            _ => Expr::plain("zeroed()"),
        };
        let plain = matches!(of, Holds::Int { .. } | Holds::Float { .. } | Holds::Bool);
        let kept = if plain && count - used > 2 {
            used
        } else {
            count
        };
        let row = Expr::Row(
            values
                .into_iter()
                .take(kept)
                .map(|value| value.unwrap_or_else(|| zero.clone()))
                .collect(),
        );
        Some(if kept < count {
            Expr::Call("padded".to_owned(), vec![row])
        } else {
            row
        })
    }

    /// The members of the Rust structure: gaps that alignment does not explain become members. A
    /// structure that Rust would lay out differently (a packed one) becomes an array of bytes.
    fn rendered(self, object: &ObjectType) -> Vec<Member> {
        let bytes = |offset: usize, size: usize| Member {
            name: format!("unnamed_{offset}"),
            offset,
            holds: Holds::Bytes(size),
        };
        let mut at = 0usize;
        let mut all = Vec::new();
        for member in &object.members {
            let align = self.align(&member.holds);
            if member.offset < at || !member.offset.is_multiple_of(align) {
                return vec![bytes(0, object.size)];
            }
            if at.next_multiple_of(align) != member.offset {
                all.push(bytes(at, member.offset - at));
            }
            all.push(member.clone());
            at = member.offset + self.types.size(&member.holds);
        }
        let align = object.members.iter().map(|m| self.align(&m.holds)).max();
        let end = at.next_multiple_of(align.unwrap_or(1));
        if end > object.size || !object.size.is_multiple_of(align.unwrap_or(1)) {
            return vec![bytes(0, object.size)];
        }
        if end < object.size {
            all.push(bytes(at, object.size - at));
        }
        all
    }

    fn align(self, holds: &Holds) -> usize {
        match holds {
            Holds::Int { size, .. } | Holds::Float { size } => (*size).max(1),
            Holds::Bool | Holds::Bytes(_) => 1,
            Holds::Pointer(_) | Holds::Code(_) => 8,
            Holds::Array { of, .. } => self.align(of),
            Holds::Struct(name) => self
                .types
                .get(name)
                .map(|object| self.rendered(object))
                .into_iter()
                .flatten()
                .map(|member| self.align(&member.holds))
                .max()
                .unwrap_or(1),
        }
    }

    /// The Rust type of a value.
    fn rust(self, holds: &Holds) -> String {
        match holds {
            // Most of these are characters, which are bytes in Rust.
            Holds::Int { size: 1, .. } => "u8".to_owned(),
            Holds::Int { size, signed } => {
                format!("{}{}", if *signed { 'i' } else { 'u' }, 8 * size)
            }
            Holds::Bool => "bool".to_owned(),
            Holds::Float { size } => format!("f{}", 8 * size),
            Holds::Code(_) => "*mut u8".to_owned(),
            Holds::Struct(name) => name.clone(),
            Holds::Array { count, of } => format!("[{}; {count}]", self.rust(of)),
            Holds::Bytes(size) => format!("[u8; {size}]"),
            Holds::Pointer(pointee) => {
                let target = pointee.to.as_deref().and_then(|name| self.types.get(name));
                match target {
                    Some(object) if !object.opaque => match &object.members[..] {
                        [Member { name, holds, .. }] if name.is_empty() => {
                            format!("*mut {}", self.rust(holds))
                        }
                        _ => format!("*mut {}", object.name),
                    },
                    _ => "*mut u8".to_owned(),
                }
            }
        }
    }

    /// The structures that values of this type need, inner ones first.
    fn needed(self, name: &str, into: &mut Vec<String>, seen: &mut BTreeSet<String>) {
        let Some(object) = self.types.get(name) else {
            return;
        };
        if !seen.insert(name.to_owned()) {
            return;
        }
        let mut reached = BTreeSet::new();
        for member in &object.members {
            let mut holds = &member.holds;
            while let Holds::Array { of, .. } = holds {
                holds = of;
            }
            match holds {
                Holds::Struct(inner) => {
                    reached.insert(inner.clone());
                }
                Holds::Pointer(pointee) => reached.extend(pointee.to.clone()),
                _ => {}
            }
        }
        for inner in &reached {
            self.needed(inner, into, seen);
        }
        let scalar = matches!(&object.members[..], [Member { name, .. }] if name.is_empty());
        if !scalar && !object.opaque {
            into.push(name.to_owned());
        }
    }

    fn definition(self, object: &ObjectType) -> String {
        let mut text = format!("    struct {} {{\n", object.name);
        for member in self.rendered(object) {
            text += &format!(
                "        {}: {},\n",
                field(&member.name),
                self.rust(&member.holds)
            );
        }
        text + "    }\n"
    }
}

/// The formatted target of a pointer.
pub(super) enum Content {
    /// Bytes.
    Text(String),
    /// One value.
    One(Expr),
    /// Several values.
    Row(Vec<Expr>),
}

/// A `c_structs!` block with the structures that the test mentions and the file does not define
/// yet; empty if there are none.
pub(super) fn definitions(mocked: &[MockedFunction], test: &str, file: &str) -> String {
    let mut text = String::new();
    let mut done = BTreeSet::new();
    for function in mocked {
        let objects = Objects::new(&function.types);
        for object in &function.types {
            let named = [format!("{} {{", object.name), format!("<{}>", object.name)];
            if !named.iter().any(|name| test.contains(name)) {
                continue;
            }
            let (mut names, mut seen) = (Vec::new(), BTreeSet::new());
            objects.needed(&object.name, &mut names, &mut seen);
            for name in names {
                let there = file.contains(&format!("struct {name} {{"));
                if let Some(object) = objects.types.get(&name).filter(|_| !there)
                    && done.insert(name)
                {
                    text += &objects.definition(object);
                }
            }
        }
    }
    if text.is_empty() {
        return text;
    }
    format!("c_structs! {{\n{text}}}\n")
}

fn integer(bytes: &[u8], size: usize, signed: bool) -> String {
    let fill = if signed && bytes.last().is_some_and(|byte| byte & 0x80 != 0) && size > 1 {
        0xFF
    } else {
        0
    };
    let mut wide = [fill; 16];
    wide[..bytes.len()].copy_from_slice(bytes);
    let value = i128::from_le_bytes(wide);
    // A value with high bits set is more likely a mask or an address than a quantity.
    let high = size == 1 && value >= 0x80 || value >= 1 << 24;
    if high && !signed {
        format!("{value:#x}")
    } else {
        value.to_string()
    }
}

fn float(value: f64) -> String {
    if value.is_finite() {
        format!("{value:?}")
    } else if value.is_nan() {
        "f64::NAN as _".to_owned()
    } else {
        format!("f64::from_bits({:#x}) as _", value.to_bits())
    }
}

/// Bytes without the zeros at their end.
fn padded(bytes: &[u8]) -> Expr {
    let used = bytes
        .iter()
        .rposition(|byte| *byte != 0)
        .map_or(0, |last| last + 1);
    let text = literal::bytes(&bytes[..used]);
    Expr::Call("padded".to_owned(), vec![Expr::Plain(text)])
}
