//! Reads the library's actual definitions from the debug information of its compiled files.
//!
//! A header declares what the library promises, but a call reaches the compiled definition. Debug
//! information describes its types as clang understood them with the flags of the build: sizes,
//! offsets, constness, enumerators, and line numbers.

use std::collections::HashMap;
use std::path::Path;

use super::shape::{Enumeration, Field, Function, Line, Record, Shape, Signature, Types};
use super::writes::{self, Write};
use crate::externals::debug_info::{DebugInfo, Node};

/// All definitions.
#[derive(Debug, Default)]
pub(super) struct Defined {
    pub functions: HashMap<String, Function>,
    pub types: Types,
    /// The enumerators of all enumerations that were read: name, value and place.
    pub constants: HashMap<String, (i128, Line)>,
    /// Functions that cannot be compared, each with the reason.
    pub left_out: HashMap<String, String>,
    /// Parameters through which functions write.
    pub writes: HashMap<(String, usize), Write>,
}

/// The maximum depth to which pointers are followed.
const DEPTH: u32 = 12;

impl Defined {
    /// Adds the definitions of one module, given as textual IR.
    pub fn take(&mut self, text: &str, unit: usize, root: &Path) {
        let info = DebugInfo::read(text);
        let mut reader = Reader {
            info: &info,
            unit,
            root,
            all: self,
        };
        for (name, number) in definitions(text) {
            reader.function(&name, number);
        }
        writes::find(text, &info, &mut self.writes);
    }
}

/// The functions with external linkage, with the numbers of their debug information nodes.
fn definitions(text: &str) -> Vec<(String, u32)> {
    let lines = text.lines().filter(|line| line.starts_with("define "));
    let of_others = lines.filter(|line| {
        let mut words = line.split(' ');
        !words.any(|word| matches!(word, "internal" | "private" | "available_externally"))
    });
    of_others
        .filter_map(|line| {
            let (_, rest) = line.split_once(" @")?;
            let name = rest.split('(').next()?.trim_matches('"').to_owned();
            let (_, number) = line.rsplit_once("!dbg !")?;
            let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
            Some((name, digits.parse().ok()?))
        })
        .collect()
}

struct Reader<'a> {
    info: &'a DebugInfo,
    unit: usize,
    root: &'a Path,
    all: &'a mut Defined,
}

impl Reader<'_> {
    fn key(&self, number: u32) -> String {
        format!("{}/{number}", self.unit)
    }

    fn place(&self, node: &Node) -> Line {
        let file = node.node("file").and_then(|file| self.info.node(file));
        let part = |name| file.and_then(|file| file.text(name)).unwrap_or_default();
        let path = Path::new(part("directory")).join(part("filename"));
        let path = path.canonicalize().unwrap_or(path);
        let path = path.strip_prefix(self.root).unwrap_or(&path);
        Line {
            file: path.to_string_lossy().into_owned(),
            line: node.number("line") as u32,
        }
    }

    fn function(&mut self, name: &str, number: u32) {
        let Some(node) = self.info.node(number) else {
            return;
        };
        let prototyped = node
            .text("flags")
            .is_some_and(|flags| flags.contains("DIFlagPrototyped"));
        if !prototyped {
            let why = "its definition has no prototype";
            self.all.left_out.insert(name.to_owned(), why.to_owned());
            return;
        }
        let Some(signature) = node.node("type").and_then(|ty| self.signature(ty, 0)) else {
            let why = "its debug information is not understood";
            self.all.left_out.insert(name.to_owned(), why.to_owned());
            return;
        };
        let function = Function {
            name: name.to_owned(),
            signature,
            place: self.place(node),
        };
        self.all.functions.insert(name.to_owned(), function);
    }

    fn signature(&mut self, number: u32, depth: u32) -> Option<Signature> {
        let list = self.info.node(self.info.node(number)?.node("types")?)?;
        let (result, params) = match list.elements.split_first() {
            Some((first, rest)) => (*first, rest),
            None => (None, &[][..]),
        };
        let variadic = params.last() == Some(&None);
        Some(Signature {
            returns: result.map_or(Shape::Void, |result| self.shape(result, depth)),
            params: params
                .iter()
                .flatten()
                .map(|param| self.shape(*param, depth))
                .collect(),
            variadic,
            is_c: true,
        })
    }

    fn shape(&mut self, number: u32, depth: u32) -> Shape {
        let unknown = || Shape::Unknown("a type of C that is not understood".to_owned());
        let (number, _) = self.info.plain(number);
        let Some(node) = number.and_then(|number| self.info.node(number)) else {
            return unknown();
        };
        let number = number.unwrap_or_default();
        let size = node.number("size") / 8;
        match (node.kind.as_str(), node.text("tag")) {
            ("DIBasicType", _) => match node.text("encoding") {
                Some("DW_ATE_boolean") => Shape::Bool,
                Some("DW_ATE_float") if size <= 8 => Shape::Float { size },
                Some("DW_ATE_signed" | "DW_ATE_signed_char") => Shape::int(size, true),
                Some("DW_ATE_unsigned" | "DW_ATE_unsigned_char" | "DW_ATE_UTF") => {
                    Shape::int(size, false)
                }
                _ => Shape::Unknown(format!("the C type `{}`", node.text("name").unwrap_or("?"))),
            },
            (_, Some("DW_TAG_pointer_type")) => self.pointer(node, depth),
            (_, Some("DW_TAG_enumeration_type")) => self.enumeration(number, node, size),
            (_, Some("DW_TAG_structure_type" | "DW_TAG_union_type")) => {
                self.record(number, node, depth)
            }
            (_, Some("DW_TAG_array_type")) => self.array(node, depth),
            ("DISubroutineType", _) => Shape::Code(None),
            _ => unknown(),
        }
    }

    fn pointer(&mut self, node: &Node, depth: u32) -> Shape {
        let (target, constant) = match node.node("baseType") {
            Some(base) => self.info.plain(base),
            None => (None, false),
        };
        // `void *`, or beyond the maximum depth.
        let Some(target) = target.filter(|_| depth < DEPTH) else {
            return Shape::pointer(Shape::Opaque, constant);
        };
        let is_code = self
            .info
            .node(target)
            .is_some_and(|node| node.kind == "DISubroutineType");
        if is_code {
            let signature = (depth < 4)
                .then(|| self.signature(target, depth + 1))
                .flatten();
            // An undeclared parameter list looks like a variadic one without parameters.
            let declared = signature.filter(|s| !(s.variadic && s.params.is_empty()));
            return Shape::Code(declared.map(Box::new));
        }
        let to = self.shape(target, depth + 1);
        Shape::pointer(to, constant)
    }

    fn array(&mut self, node: &Node, depth: u32) -> Shape {
        let Some(base) = node.node("baseType") else {
            return Shape::Unknown("an array of nothing".to_owned());
        };
        let of = self.shape(base, depth);
        let ranges = node.node("elements").and_then(|list| self.info.node(list));
        let ranges = ranges.map(|list| list.elements.clone()).unwrap_or_default();
        let counts = ranges.iter().flatten().map(|range| {
            let range = self.info.node(*range);
            // A flexible array member has a count of -1, or none.
            range.map_or(0, |range| range.number("count"))
        });
        let counts: Vec<u64> = counts.collect();
        counts.into_iter().rev().fold(of, |of, count| Shape::Array {
            of: Box::new(of),
            count,
        })
    }

    fn enumeration(&mut self, number: u32, node: &Node, size: u64) -> Shape {
        let key = self.key(number);
        if !self.all.types.enums.contains_key(&key) {
            let place = self.place(node);
            let list = node.node("elements").and_then(|list| self.info.node(list));
            let list = list.map(|list| list.elements.clone()).unwrap_or_default();
            let mut constants = Vec::new();
            for one in list
                .into_iter()
                .flatten()
                .filter_map(|one| self.info.node(one))
            {
                let value = one.text("value").and_then(|text| text.parse::<i128>().ok());
                if let (Some(name), Some(value)) = (one.text("name"), value) {
                    constants.push((name.to_owned(), value));
                    let entry = self.all.constants.entry(name.to_owned());
                    entry.or_insert_with(|| (value, place.clone()));
                }
            }
            let name = node.text("name").unwrap_or("enum").to_owned();
            let made = Enumeration {
                name,
                place,
                constants,
            };
            self.all.types.enums.insert(key.clone(), made);
        }
        Shape::Enum { size, key }
    }

    fn record(&mut self, number: u32, node: &Node, depth: u32) -> Shape {
        let mut number = number;
        let mut node = node;
        // The structure may be declared here and defined elsewhere in the file.
        if node.node("elements").is_none() {
            let whole = node.text("name").and_then(|name| self.info.structure(name));
            match whole.and_then(|whole| Some((whole, self.info.node(whole)?))) {
                Some((whole, found)) => (number, node) = (whole, found),
                None => return Shape::Opaque,
            }
        }
        let key = self.key(number);
        if self.all.types.records.contains_key(&key) {
            return Shape::Record(key);
        }
        let mut record = Record {
            name: node.text("name").unwrap_or("struct").to_owned(),
            place: self.place(node),
            size: node.number("size") / 8,
            align: node.number("align") / 8,
            fields: Vec::new(),
            union: node.text("tag") == Some("DW_TAG_union_type"),
            open: true,
            ordered: true,
        };
        // Added before its members are read, because these may refer to the structure itself.
        self.all
            .types
            .records
            .insert(key.clone(), Ok(record.clone()));
        let list = node.node("elements").and_then(|list| self.info.node(list));
        let list = list.map(|list| list.elements.clone()).unwrap_or_default();
        for member in list.into_iter().flatten() {
            let Some(member) = self.info.node(member) else {
                continue;
            };
            let bits = member
                .text("flags")
                .is_some_and(|flags| flags.contains("DIFlagBitField"));
            let base = member.node("baseType");
            let shape = match base {
                Some(base) => self.shape(base, depth + 1),
                None => Shape::Unknown("a member without a type".to_owned()),
            };
            let (offset, size) = (member.number("offset"), member.number("size"));
            let blob = bits.then(|| (offset % 8 + size).div_ceil(8));
            record.fields.push(Field {
                name: member.text("name").unwrap_or_default().to_owned(),
                offset: offset / 8,
                shape,
                blob,
            });
        }
        self.all.types.records.insert(key.clone(), Ok(record));
        Shape::Record(key)
    }
}
