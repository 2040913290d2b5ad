//! Types of both languages, told in one vocabulary.
//!
//! A Rust declaration and a C definition can only be compared once both are said in the same words.
//! These are few: what matters at the border is how many bytes a value has, in what class of
//! registers it travels, and what lies where in a structure. What is not understood is
//! [`Shape::Unknown`] with the reason, and is never compared.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Nothing.
    Void,
    /// A truth value of one byte.
    Bool,
    /// A whole number.
    Int {
        size: u64,
        signed: bool,
        /// `usize` and `isize`, in which handles are kept.
        word: bool,
    },
    /// A floating-point number.
    Float { size: u64 },
    /// An enumeration, by its key.
    Enum { size: u64, key: String },
    /// A pointer to data.
    Pointer { to: Box<Shape>, constant: bool },
    /// A pointer to a function; none if nothing more is known of it.
    Code(Option<Box<Signature>>),
    /// A row of values.
    Array { of: Box<Shape>, count: u64 },
    /// A structure or union, by its key.
    Record(String),
    /// Something of which only the address is known.
    Opaque,
    /// What is not understood, and why.
    Unknown(String),
}

impl Shape {
    /// A whole number.
    pub fn int(size: u64, signed: bool) -> Shape {
        Shape::Int {
            size,
            signed,
            word: false,
        }
    }

    /// A pointer to something that may be written.
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
    /// Whether more may follow.
    pub variadic: bool,
    /// Whether it is called as C calls.
    pub is_c: bool,
}

/// A line of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Line {
    /// The file, relative to the crate where it lies in it.
    pub file: String,
    /// From 1; 0 where unknown.
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

/// A function as one side has it.
#[derive(Clone, Debug)]
pub(super) struct Function {
    /// The symbol.
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
    /// A bit-field, or bytes that stand for something else.
    pub blob: Option<u64>,
}

/// A structure or union.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub name: String,
    pub place: Line,
    pub size: u64,
    /// 0 where it is not known.
    pub align: u64,
    pub fields: Vec<Field>,
    pub union: bool,
    /// Whether others can make one: all its members are theirs to name.
    pub open: bool,
    /// Whether the order of its members is the written one.
    pub ordered: bool,
}

/// An enumeration.
#[derive(Clone, Debug)]
pub(super) struct Enumeration {
    pub name: String,
    pub place: Line,
    pub constants: Vec<(String, i128)>,
}

/// A piece of a structure that cannot be divided further.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Scalar {
    pub name: String,
    pub offset: u64,
    pub size: u64,
    pub class: Class,
}

/// How a value travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Int,
    Float,
    Pointer,
    /// Bytes of which no more is said.
    Bytes,
}

/// Elements of a row that are looked at one by one.
const ROW: u64 = 64;

/// The types of one side.
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

    /// The alignment of a type.
    pub fn align(&self, shape: &Shape) -> Result<u64, String> {
        Ok(match shape {
            Shape::Array { of, .. } => self.align(of)?,
            Shape::Record(key) => self.record(key)?.align.max(1),
            other => self.size(other)?.clamp(1, 16),
        })
    }

    /// A structure.
    pub fn record(&self, key: &str) -> Result<&Record, String> {
        match self.records.get(key) {
            Some(Ok(record)) => Ok(record),
            Some(Err(why)) => Err(why.clone()),
            None => Err("it is not defined".to_owned()),
        }
    }

    /// The pieces of a structure, in order.
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
