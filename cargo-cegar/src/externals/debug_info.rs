//! Reads debug information from clang's textual output.
//!
//! The types of functions that are declared but never defined occur in bitcode only as debug
//! information, and only if clang is set to optimise. So the user's files are compiled to textual
//! IR once more, with such flags and no passes. This module reads the metadata of that text: one
//! node per line, with fields by name. Unsupported syntax is skipped; the caller then knows less
//! about a type, but nothing wrong.

use std::collections::{HashMap, HashSet};

/// A metadata node with its kind (`DIDerivedType`) and its fields, or a list of kind `list` with
/// its elements.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Node {
    /// The kind, such as `DIBasicType`; `list` for `!{...}`.
    pub kind: String,
    fields: Vec<(String, String)>,
    /// The elements of a list; `None` stands for `null`.
    pub elements: Vec<Option<u32>>,
}

/// The maximum number of typedefs and qualifiers of one type that are followed.
const QUALIFIERS: usize = 64;

impl Node {
    /// The text of a field, without quotes.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.fields
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// The value of a numeric field; 0 if it is missing.
    pub fn number(&self, name: &str) -> u64 {
        self.text(name)
            .and_then(|text| text.parse().ok())
            .unwrap_or(0)
    }

    /// The number of the node that a field refers to.
    pub fn node(&self, name: &str) -> Option<u32> {
        self.text(name)?.strip_prefix('!')?.parse().ok()
    }
}

/// The relevant debug information of a module.
#[derive(Debug, Clone, Default)]
pub struct DebugInfo {
    nodes: HashMap<u32, Node>,
    /// The subprogram node of each function that is only declared.
    declared: HashMap<String, u32>,
    /// Defined structures, by tag or by the typedef of one without a tag.
    structures: HashMap<String, u32>,
    /// The LLVM names of the types to which indexed pointers lead: `struct.endpoint`, `i8`.
    indexed: HashSet<String>,
}

impl DebugInfo {
    /// Reads a module in clang's textual output.
    pub fn read(text: &str) -> DebugInfo {
        let mut info = DebugInfo::default();
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix('!') {
                if let Some((number, node)) = numbered(rest) {
                    if node.kind == "DICompositeType"
                        && node.text("tag") == Some("DW_TAG_structure_type")
                        && node.node("elements").is_some()
                        && let Some(name) = node.text("name")
                    {
                        info.structures.insert(name.to_owned(), number);
                    }
                    info.nodes.insert(number, node);
                }
            } else if let Some(rest) = line.strip_prefix("declare !dbg !") {
                let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
                if let (Ok(number), Some(name)) = (number.parse(), function_name(rest)) {
                    info.declared.insert(name, number);
                }
            } else if let Some((_, gep)) = line.split_once(" getelementptr ") {
                info.indexed.extend(indexed_type(gep));
            }
        }
        // A structure without a tag gets the name of its typedef: `typedef struct { ... } name`.
        let typedefs: Vec<(String, u32)> = info
            .nodes
            .values()
            .filter(|node| node.text("tag") == Some("DW_TAG_typedef"))
            .filter_map(|node| Some((node.text("name")?.to_owned(), node.node("baseType")?)))
            .filter(|(_, base)| {
                info.nodes
                    .get(base)
                    .is_some_and(|n| n.text("name").is_none())
            })
            .collect();
        for (name, base) in typedefs {
            let is_structure = info
                .node(base)
                .is_some_and(|node| node.text("tag") == Some("DW_TAG_structure_type"));
            if is_structure {
                info.structures.entry(name.clone()).or_insert(base);
                if let Some(node) = info.nodes.get_mut(&base) {
                    node.fields.push(("name".to_owned(), name));
                }
            }
        }
        info
    }

    /// The node with this number.
    pub fn node(&self, number: u32) -> Option<&Node> {
        self.nodes.get(&number)
    }

    /// The subprogram node of a function that is only declared.
    pub fn declared(&self, name: &str) -> Option<&Node> {
        self.node(*self.declared.get(name)?)
    }

    /// The number of the defined structure with this name.
    pub fn structure(&self, name: &str) -> Option<u32> {
        self.structures.get(name).copied()
    }

    /// The type behind typedefs and qualifiers, and whether one of the qualifiers was `const`.
    pub fn plain(&self, number: u32) -> (Option<u32>, bool) {
        let (mut at, mut constant) = (number, false);
        for _ in 0..QUALIFIERS {
            let Some(node) = self.node(at) else {
                break;
            };
            match node.text("tag") {
                Some("DW_TAG_const_type") => constant = true,
                Some(
                    "DW_TAG_typedef"
                    | "DW_TAG_volatile_type"
                    | "DW_TAG_restrict_type"
                    | "DW_TAG_atomic_type",
                ) => {}
                _ => return (Some(at), constant),
            }
            match node.node("baseType") {
                Some(next) => at = next,
                None => break,
            }
        }
        (None, constant)
    }

    /// Whether a pointer to the type with this LLVM name is indexed somewhere.
    pub fn is_indexed(&self, llvm_name: &str) -> bool {
        self.indexed.contains(llvm_name)
    }
}

/// Parses `12 = distinct !DIKind(a: b, c: d)` or `12 = !{!3, null}`.
fn numbered(rest: &str) -> Option<(u32, Node)> {
    let (number, body) = rest.split_once(" = ")?;
    let number = number.parse().ok()?;
    let body = body.strip_prefix("distinct ").unwrap_or(body);
    let body = body.strip_prefix('!')?;
    if let Some(list) = body.strip_prefix('{').and_then(|b| b.strip_suffix('}')) {
        let elements = list
            .split(", ")
            .filter(|element| !element.is_empty())
            .map(|element| element.strip_prefix('!').and_then(|n| n.parse().ok()))
            .collect();
        return Some((
            number,
            Node {
                kind: "list".to_owned(),
                fields: Vec::new(),
                elements,
            },
        ));
    }
    let (kind, fields) = body.split_once('(')?;
    Some((
        number,
        Node {
            kind: kind.to_owned(),
            fields: fields_of(fields.strip_suffix(')')?),
            elements: Vec::new(),
        },
    ))
}

/// Parses `name: "a, b", line: 3`.
fn fields_of(text: &str) -> Vec<(String, String)> {
    let mut fields = Vec::new();
    let mut rest = text;
    while let Some((name, value)) = rest.split_once(": ") {
        let (value, after) = match value.strip_prefix('"') {
            Some(quoted) => {
                let end = quoted.find('"').unwrap_or(quoted.len());
                let after = quoted.get(end + 1..).unwrap_or_default();
                (&quoted[..end], after.strip_prefix(", ").unwrap_or(after))
            }
            None => value.split_once(", ").unwrap_or((value, "")),
        };
        fields.push((name.to_owned(), value.to_owned()));
        rest = after;
    }
    fields
}

/// The name in `... @name(...)` or `... @"na me"(...)`.
fn function_name(declaration: &str) -> Option<String> {
    let (_, name) = declaration.split_once('@')?;
    let name = match name.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"')?.0,
        None => name.split_once('(')?.0,
    };
    Some(name.to_owned())
}

/// The type in `inbounds %struct.T, ptr %1, i64 %2`: a single nonzero index moves the pointer from
/// one object to another.
fn indexed_type(gep: &str) -> Option<String> {
    let plain = gep
        .trim_start_matches("inbounds ")
        .trim_start_matches("nuw ")
        .trim_start_matches("nusw ");
    let plain = plain.split(", !dbg").next()?;
    let parts: Vec<&str> = plain.split(", ").collect();
    let [name, base, index] = parts[..] else {
        return None;
    };
    let steps = base.starts_with("ptr ") && !index.ends_with(" 0");
    steps.then(|| name.trim_start_matches('%').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_declarations_and_indices_are_read() {
        let info = DebugInfo::read(
            "%struct.node = type { ptr }\n\x20 %2 = getelementptr inbounds %struct.node, ptr %1, \
             i64 2, !dbg !3\n\x20 %3 = getelementptr inbounds nuw %struct.dev, ptr %1, i32 0, i32 \
             1, !dbg !3\ndeclare !dbg !7 ptr @get(i32 noundef) #2\n!5 = !{!6, null}\n\
             !6 = distinct !DICompositeType(tag: DW_TAG_structure_type, name: \"a, b\", size: 64, \
             elements: !5)\n!7 = !DISubprogram(name: \"get\", type: !8)\n\
             !8 = distinct !DICompositeType(tag: DW_TAG_structure_type, size: 64, elements: !5)\n\
             !9 = !DIDerivedType(tag: DW_TAG_typedef, name: \"anon\", baseType: !8)\n",
        );
        assert_eq!(info.structure("a, b"), Some(6));
        assert_eq!(info.structure("anon"), Some(8));
        assert_eq!(
            info.node(5).map(|n| n.elements.clone()),
            Some(vec![Some(6), None])
        );
        assert_eq!(info.node(6).map(|n| n.number("size")), Some(64));
        assert_eq!(info.declared("get").and_then(|n| n.node("type")), Some(8));
        assert!(info.is_indexed("struct.node") && !info.is_indexed("struct.dev"));
    }
}
