//! The types of external functions.
//!
//! Gennari et al., *Executable Counterexamples* (section 4), guess the size of the memory behind an
//! external pointer, and let reads of it return zeros (section 5). Here the prototype and the
//! structures come from debug information, so that sizes are known, and an object from outside has
//! pointers to further objects, to any depth. One description has three uses: the C bodies are
//! generated from it, the structure literals of a test are encoded with it
//! ([`Mock::returns_object`]), and the emitter decodes them with it.
//!
//! [`Mock::returns_object`]: crate::Mock::returns_object

pub mod codec;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

/// A structure, or another type that pointers from outside lead to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectType {
    /// Its name, an identifier: a structure's tag, or `int`, `ptr_to_node`.
    pub name: String,
    /// Bytes.
    pub size: usize,
    /// Its members. A type that is not a structure has one member, without a name.
    #[serde(default)]
    pub members: Vec<Member>,
    /// Whether the type is declared but not defined, so that the program cannot access its content.
    #[serde(default)]
    pub opaque: bool,
}

/// A member of a structure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// Where it starts, in bytes.
    pub offset: usize,
    /// What it holds.
    pub holds: Holds,
}

/// What a place in memory, a parameter or a result holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Holds {
    /// An integer or an enumeration.
    Int {
        /// Bytes.
        size: usize,
        /// Whether it has a sign.
        signed: bool,
    },
    /// A truth value.
    Bool,
    /// A floating point number.
    Float {
        /// 4 or 8 bytes.
        size: usize,
    },
    /// A pointer.
    Pointer(Pointee),
    /// A pointer to a function.
    Code(Box<Signature>),
    /// A structure.
    Struct(String),
    /// An array within a structure.
    Array {
        /// The number of elements.
        count: usize,
        /// The type of an element.
        of: Box<Holds>,
    },
    /// A number of bytes with unknown content: a union, bit-fields.
    Bytes(usize),
}

impl Holds {
    /// Whether it is a structure or bytes, which a call passes as several parameters or in memory.
    pub fn is_aggregate(&self) -> bool {
        matches!(self, Holds::Struct(_) | Holds::Bytes(_))
    }
}

/// Where a pointer leads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pointee {
    /// The type; none for `void`.
    pub to: Option<String>,
    /// Whether the program indexes such pointers, so that there may be several elements.
    #[serde(default)]
    pub many: bool,
    /// Whether it points to a `const` type.
    #[serde(default)]
    pub constant: bool,
}

/// A function's type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signature {
    /// What it returns; none for `void`.
    pub returns: Option<Holds>,
    /// Its parameters.
    pub params: Vec<Holds>,
    /// Whether further parameters may follow.
    #[serde(default)]
    pub varargs: bool,
    /// The pointer parameters, from 0, whose number of elements is another parameter: `int *row,
    /// int count`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<CountedPointer>,
}

/// A pointer parameter and the parameter that has the number of elements behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename = "Row")]
pub struct CountedPointer {
    /// The pointer's parameter number, from 0.
    pub param: usize,
    /// The parameter number of the count, from 0.
    pub count: usize,
}

impl Signature {
    /// The number of the parameter that has the number of elements, or bytes, behind parameter `i`:
    /// `void *buf, size_t n`.
    pub fn count_of(&self, i: usize) -> Option<usize> {
        let row = self.rows.iter().find(|row| row.param == i);
        row.map(|row| row.count).or_else(|| self.buffer(i))
    }

    fn buffer(&self, i: usize) -> Option<usize> {
        let is_bytes = |pointee: &Pointee| {
            let name = pointee.to.as_deref();
            !pointee.constant
                && name.is_none_or(|n| matches!(n, "char" | "unsigned_char" | "signed_char"))
        };
        let sized = matches!(
            self.params.get(i + 1),
            Some(Holds::Int {
                size: 8,
                signed: false
            })
        );
        match self.params.get(i) {
            Some(Holds::Pointer(pointee)) if is_bytes(pointee) && sized => Some(i + 1),
            _ => None,
        }
    }
}

/// The types that descriptions refer to by name.
#[derive(Debug, Clone, Copy)]
pub struct Types<'a>(pub &'a [ObjectType]);

/// A pointer within an object.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Inner<'a> {
    /// To data.
    Data(&'a Pointee),
    /// To a function.
    Code(&'a Signature),
}

impl ObjectType {
    /// The type that stands for what a `void *` leads to.
    pub fn unknown() -> ObjectType {
        ObjectType {
            name: VOID.to_owned(),
            size: UNKNOWN,
            members: Vec::new(),
            opaque: false,
        }
    }

    /// Whether it is a number of bytes with unknown content.
    pub fn is_bytes(&self) -> bool {
        match &self.members[..] {
            [only] => only.name.is_empty() && matches!(only.holds, Holds::Bytes(_)),
            _ => false,
        }
    }
}

impl<'a> Types<'a> {
    /// The type of that name.
    pub fn get(self, name: &str) -> Option<&'a ObjectType> {
        self.0.iter().find(|known| known.name == name)
    }

    /// The size of a value in bytes.
    pub fn size(self, holds: &Holds) -> usize {
        match holds {
            Holds::Int { size, .. } | Holds::Float { size } | Holds::Bytes(size) => *size,
            Holds::Bool => 1,
            Holds::Pointer(_) | Holds::Code(_) => 8,
            Holds::Struct(name) => self.get(name).map_or(0, |known| known.size),
            Holds::Array { count, of } => count * self.size(of),
        }
    }

    /// The name of the member at an offset: `dev.parent`, `slots[3]`.
    pub fn path(self, object: &ObjectType, offset: usize) -> String {
        let found = object
            .members
            .iter()
            .rfind(|m| m.offset <= offset && offset - m.offset < self.size(&m.holds).max(1));
        let Some(member) = found else {
            return offset.to_string();
        };
        let (mut path, mut holds, mut at) =
            (member.name.clone(), &member.holds, offset - member.offset);
        loop {
            match holds {
                Holds::Array { of, .. } => {
                    let step = self.size(of).max(1);
                    path += &format!("[{}]", at / step);
                    (holds, at) = (of, at % step);
                }
                Holds::Struct(name) => {
                    if let Some(inner) = self.get(name) {
                        path = format!("{path}.{}", self.path(inner, at));
                    }
                    return path;
                }
                _ => return path,
            }
        }
    }

    /// The type of the object that a function writes to where this parameter points, if it does. A
    /// structure that contains pointers mostly belongs to the program and is not written, unless it
    /// is an `output`: a variable in which the program stored no pointer itself.
    pub fn written(self, holds: &Holds, output: bool) -> Option<&'a ObjectType> {
        let Holds::Pointer(pointee) = holds else {
            return None;
        };
        if pointee.constant {
            return None;
        }
        let object = self.get(pointee.to.as_deref()?)?;
        let plan = self.plan(object);
        let alone = plan.chosen.is_empty() && plan.pointers.len() == 1;
        let plain = plan.pointers.is_empty();
        (!object.opaque && object.size > 0 && (alone || plain || output)).then_some(object)
    }

    /// The type that a pointer leads to. A type without a description is treated as `void`.
    pub fn target(self, pointee: &Pointee) -> &'a ObjectType {
        static VOID_TYPE: LazyLock<ObjectType> = LazyLock::new(ObjectType::unknown);
        let known = pointee.to.as_deref().and_then(|name| self.get(name));
        known.or_else(|| self.get(VOID)).unwrap_or(&VOID_TYPE)
    }

    /// Collects the names of the types that a value of this type leads to.
    pub fn reach(self, holds: &Holds, into: &mut BTreeSet<String>) {
        let name = match holds {
            Holds::Pointer(pointee) => pointee.to.as_deref().unwrap_or(VOID),
            Holds::Struct(name) => name,
            Holds::Array { of, .. } => return self.reach(of, into),
            Holds::Code(signature) => {
                for holds in signature.params.iter().chain(&signature.returns) {
                    self.reach(holds, into);
                }
                return;
            }
            _ => return,
        };
        if let Some(object) = self.get(name)
            && into.insert(name.to_owned())
        {
            for member in &object.members {
                self.reach(&member.holds, into);
            }
        }
    }
}

/// The name of the type behind a `void *`.
pub const VOID: &str = "void";

/// Bytes behind a `void *`.
pub const UNKNOWN: usize = 64;
