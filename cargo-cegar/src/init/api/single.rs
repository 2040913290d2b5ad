//! A library that consists of a single C file without a header.
//!
//! Crates around a single-file library often have its declarations and its code in one `.c` file. A
//! harness cannot include that file, because everything would be defined twice. So a header is
//! generated from the text of the file: the functions that the crate's Rust code binds, and the
//! types and macros that they need.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use regex::Regex;

use super::tree::{Node, dumped};
use crate::compile::{Compiler, Unit};

/// Which functions of a C file a generated header declares.
#[derive(Clone, Copy)]
pub enum Users<'n> {
    /// Those with these names, which the crate's Rust code binds.
    Rust(&'n BTreeSet<String>),
    /// Those that other C files may call, and that no header declares.
    OtherFiles,
}

/// A header for functions of a C file. `None` if it defines none of them or cannot be read.
pub fn header(compiler: &Compiler, unit: &Unit, users: Users<'_>) -> Option<String> {
    let source = unit.directory.join(&unit.source).canonicalize().ok()?;
    let text = std::fs::read(&source).ok()?;
    let root = dumped(compiler, &[&source], &unit.flags).ok()?;
    let found = Found::of(&root, &source, &text, users);
    if found.functions.is_empty() {
        return None;
    }
    let words = Regex::new(r"[A-Za-z_]\w*").ok()?;
    let text = String::from_utf8_lossy(&text);
    let macros = numbers(&text);
    let mut needed: BTreeSet<&str> = BTreeSet::new();
    let mut open: Vec<&str> = found.functions.iter().map(String::as_str).collect();
    let (mut types, mut values) = (BTreeSet::new(), BTreeSet::new());
    while let Some(one) = open.pop() {
        for word in words.find_iter(one).map(|word| word.as_str()) {
            if !needed.insert(word) {
                continue;
            }
            for (i, (_, name, text)) in found.types.iter().enumerate() {
                if name == word && types.insert(i) {
                    open.push(text);
                }
            }
            for (i, (name, value)) in macros.iter().enumerate() {
                if name == word && values.insert(i) {
                    open.push(value);
                }
            }
        }
    }
    let name = source.file_name().unwrap_or_default().to_string_lossy();
    let mut header = format!(
        "/* What {name} has for its users: it comes without a header. */\n#pragma once\n\n"
    );
    header += "#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\n\n";
    // Types that the file gets from a header of its own.
    if needed.iter().any(|word| found.elsewhere.contains(*word)) {
        for line in included(&text) {
            header += &line;
            header.push('\n');
        }
        header.push('\n');
    }
    for i in values {
        let (name, value) = &macros[i];
        header += &format!("#define {name} {value}\n");
    }
    for i in types {
        header += &format!("{};\n", found.types[i].2);
    }
    header.push('\n');
    for function in &found.functions {
        header += &format!("{function};\n");
    }
    Some(header)
}

/// Whether a generated header declares a function that takes arguments.
pub fn takes_arguments(header: &str) -> bool {
    let is_prototype = |line: &&str| {
        let begins = line.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        begins && line.ends_with(");") && !line.contains("(*") && !line.starts_with("typedef")
    };
    let mut prototypes = header.lines().filter(is_prototype);
    prototypes.any(|line| !line.ends_with("(void);"))
}

/// Whether a prototype of a generated header has a pointer parameter without a name.
pub fn is_unnamed(line: &str) -> bool {
    line.contains("* )") || line.contains("* ,")
}

/// A generated header in which parameters have the names of the functions' definitions, as the
/// generated headers of other files have them with the same types.
pub fn with_names(header: &str, others: &[String]) -> String {
    let name_of = |line: &str| {
        let (before, _) = line.strip_suffix(");")?.split_once('(')?;
        let name = before.rsplit([' ', '*']).next()?;
        (!name.is_empty()).then(|| name.to_owned())
    };
    let known = others.iter().flat_map(|other| other.lines());
    let known: BTreeMap<String, &str> = known
        .filter(|line| !is_unnamed(line))
        .filter_map(|line| Some((name_of(line)?, line)))
        .collect();
    let line = |line: &str| {
        let named = name_of(line).and_then(|name| known.get(&name).copied());
        let named =
            named.filter(|named| is_unnamed(line) && without_names(named) == without_names(line));
        let named = named.unwrap_or(line);
        format!("{named}\n")
    };
    header.lines().map(line).collect()
}

/// A prototype without blanks and without the names of its parameters.
fn without_names(prototype: &str) -> Option<String> {
    let (head, params) = prototype.strip_suffix(");")?.split_once('(')?;
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let plain = |text: &str| -> String { text.chars().filter(|c| !c.is_whitespace()).collect() };
    let unnamed = |param: &str| {
        let param = param.trim_end();
        let rest = param.trim_end_matches(is_part);
        // The last word of `unsigned int` belongs to the type.
        let is_name = rest.ends_with('*')
            || rest
                .split_whitespace()
                .any(|word| !QUALIFIERS.contains(&word));
        let is_type = BASIC.iter().any(|basic| param.ends_with(basic)) && !rest.ends_with('*');
        plain(if is_name && !is_type { rest } else { param })
    };
    let params: Vec<String> = params.split(',').map(unnamed).collect();
    Some(format!("{}({})", plain(head), params.join(",")))
}

/// Words of a type that do not name it.
const QUALIFIERS: &[&str] = &[
    "const", "volatile", "struct", "enum", "union", "unsigned", "signed",
];
/// Types that may follow another word of the type.
const BASIC: &[&str] = &["int", "char", "long", "short", "double", "float"];

/// The declarations of a C file, in order.
#[derive(Default)]
struct Found {
    /// For each type, the offset of its definition, its name and its text.
    types: Vec<(usize, String, String)>,
    functions: Vec<String>,
    /// The names of types that other files define.
    elsewhere: BTreeSet<String>,
}

impl Found {
    fn of(root: &Node, source: &Path, text: &[u8], users: Users<'_>) -> Found {
        let mut found = Found::default();
        let mut names = BTreeSet::new();
        for (node, file) in root.in_files() {
            let is_own = Path::new(&file)
                .canonicalize()
                .is_ok_and(|path| path == source);
            match node.kind.as_str() {
                "FunctionDecl" if !node.is_static() && names.insert(node.name.clone()) => {
                    let is_wanted = match users {
                        Users::Rust(bound) => bound.contains(&node.name),
                        Users::OtherFiles => is_own,
                    };
                    found
                        .functions
                        .extend(node.prototype().filter(|_| is_wanted));
                }
                "TypedefDecl" | "RecordDecl" | "EnumDecl" if is_own => {
                    let Some((begin, end)) = node.span() else {
                        continue;
                    };
                    let Some(part) = text.get(begin..end) else {
                        continue;
                    };
                    // A typedef that defines a structure includes the structure's text.
                    found.types.retain(|(at, ..)| *at < begin || *at >= end);
                    let part = String::from_utf8_lossy(part).into_owned();
                    found.types.push((begin, node.name.clone(), part));
                }
                "TypedefDecl" | "RecordDecl" | "EnumDecl"
                    if !Path::new(&file).starts_with("/usr") =>
                {
                    found.elsewhere.insert(node.name.clone());
                }
                _ => {}
            }
        }
        found
    }
}

/// The `#include` lines of a C file with quoted headers.
fn included(text: &str) -> Vec<String> {
    let quoted = text.lines().map(str::trim).filter(|line| {
        let rest = line.strip_prefix('#').map(str::trim_start);
        let rest = rest.and_then(|rest| rest.strip_prefix("include"));
        rest.is_some_and(|rest| rest.trim_start().starts_with('"'))
    });
    quoted.map(str::to_owned).collect()
}

/// Macros that expand to a number, a name or a simple expression.
fn numbers(text: &str) -> Vec<(String, String)> {
    let Ok(define) = Regex::new(
        r"(?m)^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)[ \t]+([\w() +*-]+?)[ \t]*(?:/[/*].*)?\r?$",
    ) else {
        return Vec::new();
    };
    let mut seen = BTreeSet::new();
    define
        .captures_iter(text)
        .map(|found| (found[1].to_owned(), found[2].to_owned()))
        .filter(|(name, _)| seen.insert(name.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_have_the_names_of_the_definition() {
        let header = "int a(void);\nvoid *load(void * , const char * , unsigned int );\n";
        let other =
            "void *load(void *state, const char *buffer, unsigned int length);\n".to_owned();
        assert_eq!(
            with_names(header, std::slice::from_ref(&other)),
            format!("int a(void);\n{other}")
        );
        // The header has no typedefs of the other file.
        let other = "void *load(void *state, const char *buffer, u32 length);\n".to_owned();
        assert_eq!(with_names(header, &[other]), header);
    }

    #[test]
    fn members_of_a_table_are_no_prototypes() {
        let table = "typedef struct {\n    int (*load)(void *, unsigned);\n} table;\n";
        assert!(!takes_arguments(&format!(
            "{table}const table *lang(void);\n"
        )));
        assert!(takes_arguments(&format!(
            "{table}int load(void * , unsigned );\n"
        )));
    }

    #[test]
    fn macros_that_are_numbers() {
        assert_eq!(
            numbers("#define A 12 // twelve\n# define B (A + 1)\n#define C(x) x\n#define D\n"),
            [("A", "12"), ("B", "(A + 1)")].map(|(a, b)| (a.to_owned(), b.to_owned()))
        );
    }
}
