//! Converts debug information to the type descriptions from which mocks are generated.
//!
//! Types keep their names in C, made unique. Types that a mock cannot produce (a union passed by
//! value, `long double`) have no description, and the function keeps the simple mock that returns
//! bytes.

use cegar_harness::external::{Holds, Member, ObjectType, Pointee, Signature};

use super::debug_info::{DebugInfo, Node};

/// Structures with more bytes than this are treated as opaque, because a mock with that many bytes
/// is unreadable.
const LARGEST: usize = 16 << 10;

/// Collects the types to which signatures refer.
pub struct Describe<'a> {
    info: &'a DebugInfo,
    /// The types so far, each with the number of its node.
    known: Vec<(u32, ObjectType)>,
}

impl<'a> Describe<'a> {
    /// Creates an empty collection.
    pub fn new(info: &'a DebugInfo) -> Describe<'a> {
        Describe {
            info,
            known: Vec::new(),
        }
    }

    /// The collected types, and the type behind a `void *`.
    pub fn into_types(self) -> Vec<ObjectType> {
        let met = self.known.into_iter().map(|(_, object)| object);
        met.chain([ObjectType::unknown()]).collect()
    }

    /// The signature of a function that is only declared. `structure` is the structure type with
    /// which the program accesses the object behind a returned `void *`.
    pub fn declared(&mut self, name: &str, structure: Option<&str>) -> Option<Signature> {
        let subprogram = self.info.declared(name)?;
        // Without a prototype, the parameters are unknown.
        if !subprogram.text("flags")?.contains("DIFlagPrototyped") {
            return None;
        }
        let mut signature = self.subroutine(subprogram.node("type")?, 0)?;
        if let Some(Holds::Pointer(pointee)) = &mut signature.returns
            && pointee.to.is_none()
            && let Some(number) = structure.and_then(|name| self.info.structure(name))
        {
            pointee.to = self.object(number, 0);
        }
        Some(signature)
    }

    /// A pointer target that is the structure with this tag or typedef.
    pub fn pointer_to(&mut self, structure: &str) -> Option<Pointee> {
        let name = structure.trim_start_matches("struct ").trim();
        let number = self.info.structure(name)?;
        Some(Pointee {
            to: Some(self.object(number, 0)?),
            many: false,
            constant: false,
        })
    }

    /// A pointer target that consists of this number of bytes.
    pub fn bytes(&mut self, size: usize) -> Pointee {
        let name = self.unique(format!("bytes_{size}"));
        let all = Member {
            name: String::new(),
            offset: 0,
            holds: Holds::Bytes(size),
        };
        self.known.push((
            u32::MAX,
            ObjectType {
                name: name.clone(),
                size,
                members: vec![all],
                opaque: false,
            },
        ));
        Pointee {
            to: Some(name),
            many: false,
            constant: false,
        }
    }

    /// Whether a C compiler passes our description of a value in the same way as the value itself.
    fn passes_by_value(&self, holds: &Holds) -> bool {
        match holds {
            Holds::Bytes(_) => false,
            Holds::Array { of, .. } => self.passes_by_value(of),
            Holds::Struct(name) => self
                .known
                .iter()
                .find(|(_, object)| object.name == *name)
                .is_some_and(|(_, object)| {
                    let members = &object.members;
                    !object.opaque && members.iter().all(|m| self.passes_by_value(&m.holds))
                }),
            _ => true,
        }
    }

    /// The signature of a function type. `None` if a value in it would be passed otherwise than it
    /// is described.
    fn subroutine(&mut self, number: u32, depth: usize) -> Option<Signature> {
        let list = self.info.node(self.info.node(number)?.node("types")?)?;
        let (result, params) = match list.elements.split_first() {
            Some((first, rest)) => (*first, rest.to_vec()),
            None => (None, Vec::new()),
        };
        let returns = match result {
            Some(number) => Some(self.holds(number, depth)?),
            None => None,
        };
        let varargs = params.last() == Some(&None);
        let params = params
            .iter()
            .flatten()
            .map(|&number| self.holds(number, depth))
            .collect::<Option<Vec<_>>>()?;
        let mut values = params.iter().chain(&returns);
        if !values.all(|value| self.passes_by_value(value)) {
            return None;
        }
        Some(Signature {
            returns,
            params,
            varargs,
            rows: Vec::new(),
        })
    }

    /// The description of a value of this type.
    fn holds(&mut self, number: u32, depth: usize) -> Option<Holds> {
        let (number, _) = self.info.plain(number);
        let node = self.info.node(number?)?;
        let size = usize::try_from(node.number("size") / 8).ok()?;
        match (node.kind.as_str(), node.text("tag")) {
            ("DIBasicType", _) => basic(node, size),
            (_, Some("DW_TAG_pointer_type")) => Some(self.pointer(node, depth)),
            (_, Some("DW_TAG_enumeration_type")) => Some(Holds::Int {
                size,
                signed: false,
            }),
            (_, Some("DW_TAG_structure_type")) => Some(
                self.object(number?, depth)
                    .map_or(Holds::Bytes(size), Holds::Struct),
            ),
            // A vector is passed in registers of its own.
            (_, Some("DW_TAG_array_type")) if is_vector(node) => Some(Holds::Bytes(size)),
            (_, Some("DW_TAG_array_type")) => self.array(node, depth),
            (_, Some("DW_TAG_union_type")) => Some(Holds::Bytes(size)),
            _ => None,
        }
    }

    fn pointer(&mut self, node: &Node, depth: usize) -> Holds {
        let (target, constant) = match node.node("baseType") {
            Some(base) => self.info.plain(base),
            None => (None, false),
        };
        let unknown = Holds::Pointer(Pointee {
            to: None,
            many: false,
            constant,
        });
        let Some(number) = target else {
            return unknown;
        };
        let Some(of) = self.info.node(number) else {
            return unknown;
        };
        if of.kind == "DISubroutineType" {
            // Limits the nesting of functions that take functions.
            return match (depth < 3)
                .then(|| self.subroutine(number, depth + 1))
                .flatten()
            {
                Some(signature) => Holds::Code(Box::new(signature)),
                None => unknown,
            };
        }
        // A program that only passes a string on need not index it.
        let many = is_character(of) || self.info.is_indexed(&llvm_name(of));
        Holds::Pointer(Pointee {
            to: self.object(number, depth),
            many,
            constant,
        })
    }

    fn array(&mut self, node: &Node, depth: usize) -> Option<Holds> {
        let of = self.holds(node.node("baseType")?, depth)?;
        let ranges = self.info.node(node.node("elements")?)?.elements.clone();
        let counts: Vec<usize> = ranges
            .iter()
            .flatten()
            .filter_map(|range| usize::try_from(self.info.node(*range)?.number("count")).ok())
            .collect();
        Some(counts.into_iter().rev().fold(of, |of, count| Holds::Array {
            count,
            of: Box::new(of),
        }))
    }

    /// The name of a type that a pointer leads to, or of a structure. Adds the type to the
    /// collection.
    fn object(&mut self, number: u32, depth: usize) -> Option<String> {
        if let Some((_, known)) = self.known.iter().find(|(at, _)| *at == number) {
            return Some(known.name.clone());
        }
        let node = self.info.node(number)?;
        let is_structure = node.text("tag") == Some("DW_TAG_structure_type");
        // The structure may be declared here and defined elsewhere in the file.
        if is_structure
            && node.node("elements").is_none()
            && let Some(name) = node.text("name")
            && let Some(whole) = self.info.structure(name).filter(|whole| *whole != number)
        {
            return self.object(whole, depth);
        }
        let size = usize::try_from(node.number("size") / 8).ok()?;
        let hint = match (node.text("name"), node.text("tag")) {
            (Some(name), _) => identifier(name),
            (None, Some("DW_TAG_pointer_type")) => "pointer".to_owned(),
            (None, _) => "unnamed".to_owned(),
        };
        let opaque = size == 0
            || size > LARGEST
            || node.kind == "DICompositeType" && node.node("elements").is_none();
        let place = self.known.len();
        let name = self.unique(hint);
        // Added before its members are read, because a structure may refer to itself.
        self.known.push((
            number,
            ObjectType {
                name: name.clone(),
                size: if opaque { 16 } else { size },
                members: Vec::new(),
                opaque,
            },
        ));
        if opaque {
            return Some(name);
        }
        let members = if is_structure {
            self.members(node, size, depth)
        } else {
            let holds = self.holds(number, depth).unwrap_or(Holds::Bytes(size));
            vec![Member {
                name: String::new(),
                offset: 0,
                holds,
            }]
        };
        self.known[place].1.members = members;
        Some(name)
    }

    fn members(&mut self, node: &Node, size: usize, depth: usize) -> Vec<Member> {
        let elements = node
            .node("elements")
            .and_then(|list| self.info.node(list))
            .map(|list| list.elements.clone())
            .unwrap_or_default();
        let mut members: Vec<Member> = Vec::new();
        for number in elements.into_iter().flatten() {
            let Some(member) = self.info.node(number) else {
                continue;
            };
            let offset = (member.number("offset") / 8) as usize;
            let bit_field = member
                .text("flags")
                .is_some_and(|flags| flags.contains("DIFlagBitField"));
            let holds = if bit_field {
                let bits = member.number("offset") % 8 + member.number("size");
                Holds::Bytes(bits.div_ceil(8) as usize)
            } else {
                let whole = (member.number("size") / 8) as usize;
                let base = member.node("baseType");
                base.and_then(|base| self.holds(base, depth))
                    .unwrap_or(Holds::Bytes(whole))
            };
            // Adjacent bit-fields may share bytes.
            if let Some(last) = members.last_mut()
                && let Holds::Bytes(so_far) = &mut last.holds
                && bit_field
                && offset <= last.offset + *so_far
                && let Holds::Bytes(more) = holds
            {
                *so_far = (*so_far).max(offset + more - last.offset);
                continue;
            }
            let name = match member.text("name") {
                Some(name) if bit_field => format!("{}_and_so_on", identifier(name)),
                Some(name) => identifier(name),
                None => format!("unnamed_{offset}"),
            };
            if offset <= size {
                members.push(Member {
                    name,
                    offset,
                    holds,
                });
            }
        }
        members
    }

    fn unique(&self, hint: String) -> String {
        let taken = |name: &str| self.known.iter().any(|(_, object)| object.name == name);
        let mut name = hint.clone();
        let mut number = 2;
        while taken(&name) {
            name = format!("{hint}_{number}");
            number += 1;
        }
        name
    }
}

fn basic(node: &Node, size: usize) -> Option<Holds> {
    let signed = match node.text("encoding")? {
        "DW_ATE_boolean" => return Some(Holds::Bool),
        "DW_ATE_float" if matches!(size, 4 | 8) => return Some(Holds::Float { size }),
        "DW_ATE_signed" | "DW_ATE_signed_char" => true,
        "DW_ATE_unsigned" | "DW_ATE_unsigned_char" | "DW_ATE_UTF" => false,
        _ => return None,
    };
    matches!(size, 1 | 2 | 4 | 8).then_some(Holds::Int { size, signed })
}

fn is_vector(node: &Node) -> bool {
    let flags = node.text("flags");
    flags.is_some_and(|flags| flags.contains("DIFlagVector"))
}

/// Whether the type is a character or a byte. A pointer to it rarely leads to a single one.
fn is_character(node: &Node) -> bool {
    let encoding = node.text("encoding");
    encoding.is_some_and(|encoding| encoding.ends_with("_char")) && node.number("size") == 8
}

/// The name of the type in LLVM.
fn llvm_name(node: &Node) -> String {
    match (node.kind.as_str(), node.text("tag"), node.text("name")) {
        (_, Some("DW_TAG_structure_type"), Some(name)) => format!("struct.{name}"),
        (_, Some("DW_TAG_union_type"), Some(name)) => format!("union.{name}"),
        (_, Some("DW_TAG_pointer_type"), _) => "ptr".to_owned(),
        ("DIBasicType", _, _) if node.text("encoding") == Some("DW_ATE_float") => {
            if node.number("size") == 32 {
                "float".to_owned()
            } else {
                "double".to_owned()
            }
        }
        _ => format!("i{}", node.number("size")),
    }
}

/// Replaces characters so that the name consists of letters, digits and underscores.
fn identifier(name: &str) -> String {
    let mut plain: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    if plain.starts_with(|c: char| c.is_ascii_digit()) || plain.is_empty() {
        plain.insert(0, '_');
    }
    plain
}
