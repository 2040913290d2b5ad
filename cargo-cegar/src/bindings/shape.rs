//! A common representation of types of both languages.
//!
//! A Rust declaration and a C definition can be compared only in a common representation. It is
//! small, because only a few properties matter for a call: the size of a value, the class of
//! registers in which it is passed, and the offsets in a structure. Unsupported types are
//! [`Shape::Unknown`] with the reason, and are never compared.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// No value.
    Void,
    /// A Boolean of one byte.
    Bool,
    /// An integer.
    Int {
        size: u64,
        signed: bool,
        /// Whether it is `usize` or `isize`, which may hold a handle.
        word: bool,
    },
    /// A floating-point number.
    Float { size: u64 },
    /// An enumeration, by its key.
    Enum { size: u64, key: String },
    /// A pointer to data.
    Pointer { to: Box<Shape>, constant: bool },
    /// A pointer to a function, with its signature if that is known.
    Code(Option<Box<Signature>>),
    /// An array.
    Array { of: Box<Shape>, count: u64 },
    /// A structure or union, by its key.
    Record(String),
    /// A type of which only the address is used.
    Opaque,
    /// An unsupported type, with the reason.
    Unknown(String),
}

impl Shape {
    /// An integer of fixed width.
    pub fn int(size: u64, signed: bool) -> Shape {
        Shape::Int {
            size,
            signed,
            word: false,
        }
    }

    /// A pointer to a type, which is `const` if `constant` is set.
    pub fn pointer(to: Shape, constant: bool) -> Shape {
        Shape::Pointer {
            to: Box::new(to),
            constant,
        }
    }
}

/// A function's type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Signature {
    pub returns: Shape,
    pub params: Vec<Shape>,
    /// Whether it takes further arguments (`...`).
    pub variadic: bool,
    /// Whether it has the calling convention of C.
    pub is_c: bool,
}

/// A line of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Line {
    /// The file; relative to the crate if it lies inside.
    pub file: String,
    /// The line, counted from 1; 0 if unknown.
    pub line: u32,
}

impl Line {
    /// `file:line`.
    pub fn show(&self) -> String {
        match self.line {
            0 => self.file.clone(),
            line => format!("{}:{line}", self.file),
        }
    }
}

/// A function as one of the two sides declares or defines it.
#[derive(Clone, Debug)]
pub(super) struct Function {
    /// Its symbol.
    pub name: String,
    pub signature: Signature,
    pub place: Line,
}

/// A member.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub name: String,
    pub offset: u64,
    pub shape: Shape,
    /// The size in bytes of a bit-field, or of bytes that represent bit-fields.
    pub blob: Option<u64>,
}

/// A structure or union.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub name: String,
    pub place: Line,
    pub size: u64,
    /// The alignment in bytes; 0 if unknown.
    pub align: u64,
    pub fields: Vec<Field>,
    pub union: bool,
    /// Whether users can construct a value, because all of its members are public.
    pub open: bool,
    /// Whether its members are laid out in the order of their declaration.
    pub ordered: bool,
}

/// An enumeration.
#[derive(Clone, Debug)]
pub(super) struct Enumeration {
    pub name: String,
    pub place: Line,
    pub constants: Vec<(String, i128)>,
}

/// A scalar part of a structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Scalar {
    pub name: String,
    pub offset: u64,
    pub size: u64,
    pub class: Class,
}

/// The class in which a value is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Int,
    Float,
    Pointer,
    /// Bytes of unknown meaning.
    Bytes,
}

/// Arrays with more elements than this are treated as plain bytes.
const ROW: u64 = 64;

/// The types that one side defines.
#[derive(Debug, Default)]
pub(super) struct Types {
    pub records: HashMap<String, Result<Record, String>>,
    pub enums: HashMap<String, Enumeration>,
}

impl Types {
    /// The size of a type.
    pub fn size(&self, shape: &Shape) -> Result<u64, String> {
        Ok(match shape {
            Shape::Void => 0,
            Shape::Bool => 1,
            Shape::Int { size, .. } | Shape::Float { size } | Shape::Enum { size, .. } => *size,
            Shape::Pointer { .. } | Shape::Code(_) => 8,
            Shape::Array { of, count } => self.size(of)?.saturating_mul(*count),
            Shape::Record(key) => self.record(key)?.size,
            Shape::Opaque => return Err("its size is not declared".to_owned()),
            Shape::Unknown(why) => return Err(why.clone()),
        })
    }

    /// The alignment of a type in bytes.
    pub fn align(&self, shape: &Shape) -> Result<u64, String> {
        Ok(match shape {
            Shape::Array { of, .. } => self.align(of)?,
            Shape::Record(key) => self.record(key)?.align.max(1),
            other => self.size(other)?.clamp(1, 16),
        })
    }

    /// The structure or union with this key, or the reason why it is unknown.
    pub fn record(&self, key: &str) -> Result<&Record, String> {
        match self.records.get(key) {
            Some(Ok(record)) => Ok(record),
            Some(Err(why)) => Err(why.clone()),
            None => Err("it is not defined".to_owned()),
        }
    }

    /// The scalar parts of a structure, by ascending offset.
    pub fn scalars(&self, key: &str) -> Result<Vec<Scalar>, String> {
        let mut all = Vec::new();
        self.pieces(&Shape::Record(key.to_owned()), 0, "", 0, &mut all)?;
        all.sort_by_key(|scalar| scalar.offset);
        Ok(all)
    }

    fn pieces(
        &self,
        shape: &Shape,
        offset: u64,
        name: &str,
        depth: u32,
        into: &mut Vec<Scalar>,
    ) -> Result<(), String> {
        let mut put = |size, class| {
            into.push(Scalar {
                name: name.to_owned(),
                offset,
                size,
                class,
            });
        };
        match shape {
            Shape::Bool => put(1, Class::Int),
            Shape::Int { size, .. } | Shape::Enum { size, .. } => put(*size, Class::Int),
            Shape::Float { size } => put(*size, Class::Float),
            Shape::Pointer { .. } | Shape::Code(_) => put(8, Class::Pointer),
            Shape::Array { of, count } => {
                let size = self.size(of)?;
                if size <= 1 || *count > ROW {
                    put(size * count, Class::Bytes);
                    return Ok(());
                }
                for i in 0..*count {
                    let name = format!("{name}[{i}]");
                    self.pieces(of, offset + i * size, &name, depth + 1, into)?;
                }
            }
            Shape::Record(key) => {
                let record = self.record(key)?;
                if record.union || depth > 16 {
                    put(record.size, Class::Bytes);
                    return Ok(());
                }
                for field in &record.fields {
                    let name = match name {
                        "" => field.name.clone(),
                        outer => format!("{outer}.{}", field.name),
                    };
                    let at = offset + field.offset;
                    match field.blob {
                        Some(size) => into.push(Scalar {
                            name,
                            offset: at,
                            size,
                            class: Class::Bytes,
                        }),
                        None => self.pieces(&field.shape, at, &name, depth + 1, into)?,
                    }
                }
            }
            Shape::Void | Shape::Opaque => {}
            Shape::Unknown(why) => return Err(why.clone()),
        }
        Ok(())
    }
}
