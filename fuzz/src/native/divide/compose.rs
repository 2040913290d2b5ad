//! Composes a module from some functions of another module.
//!
//! Types, attribute groups and metadata are numbered by their first mention, and the names that are
//! mentioned are declared in alphabetical order. The text therefore depends only on the functions,
//! not on the program that contains them. Debug information is kept as far as a call stack needs
//! it: source locations, and the functions that were inlined.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::hash::Hash;

use super::module::{Function, Global, Module, Name};
use super::names::Names;
use super::scan::{Token, fields, tokens};

/// The maximal text length of a constant's value that is copied into the parts that read it.
const SHORT: usize = 256;

/// Assigns numbers in the order of first mentions.
struct Numbers<T> {
    number: HashMap<T, usize>,
    order: Vec<T>,
}

impl<T: Copy + Eq + Hash> Numbers<T> {
    fn new() -> Self {
        Numbers {
            number: HashMap::new(),
            order: Vec::new(),
        }
    }

    fn of(&mut self, item: T) -> usize {
        let next = self.order.len();
        *self.number.entry(item).or_insert_with(|| {
            self.order.push(item);
            next
        })
    }
}

/// What the parts of a program contain besides code.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    /// Source locations.
    pub debug: bool,
    /// What the optimiser needs for inlining: the values of short constants.
    pub inline: bool,
}

/// How a function is included in a part.
#[derive(Clone, Copy, PartialEq, Eq)]
enum As {
    Defined,
    /// Only for inlining; no code is emitted for it.
    Copy,
}

pub(super) struct Composer<'m, 't> {
    module: &'m Module<'t>,
    names: &'m Names<'t>,
    style: Style,
    types: Numbers<&'t str>,
    groups: Numbers<u32>,
    nodes: Numbers<u32>,
    units: Vec<usize>,
    mentions: BTreeMap<String, Name<'t>>,
    defined: HashSet<Name<'t>>,
    out: String,
}

impl<'m, 't> Composer<'m, 't> {
    pub fn new(module: &'m Module<'t>, names: &'m Names<'t>, style: Style) -> Self {
        Composer {
            module,
            names,
            style,
            types: Numbers::new(),
            groups: Numbers::new(),
            nodes: Numbers::new(),
            units: Vec::new(),
            mentions: BTreeMap::new(),
            defined: HashSet::new(),
            out: String::new(),
        }
    }

    /// A part with the functions `own`, and with `copies`, which are only there to be inlined.
    pub fn functions(mut self, own: &[usize], copies: &[usize]) -> String {
        for &index in own {
            self.define(&self.module.functions[index], As::Defined);
        }
        let module = self.module;
        for global in &module.globals {
            let function = global.labels.and_then(|name| module.function.get(&name));
            if function.is_some_and(|index| own.contains(index)) {
                self.variable(global);
            }
        }
        for &index in copies {
            self.define(&self.module.functions[index], As::Copy);
        }
        self.complete()
    }

    /// The part with all data (except tables of labels) and the functions that the sanitizer added;
    /// `more` is text to append.
    pub fn data(mut self, more: &str) -> String {
        let module = self.module;
        self.style.debug = false;
        for global in &module.globals {
            if global.value.is_some() && global.labels.is_none() {
                self.variable(global);
            }
        }
        for function in module.functions.iter().filter(|f| f.is_sanitizers()) {
            self.define(function, As::Defined);
        }
        self.out.push_str(more);
        self.complete()
    }

    fn emit(&mut self, text: &'t str, out: &mut String) {
        for token in tokens(text) {
            self.token(token, out);
        }
    }

    fn token(&mut self, token: Token<'t>, out: &mut String) {
        // Writing to a string cannot fail.
        let _ = match token {
            Token::Text(text) => {
                out.push_str(text);
                Ok(())
            }
            Token::Global(_) | Token::Unnamed(_) => {
                if let Some(name) = Name::of(token) {
                    self.mention(name, out);
                }
                Ok(())
            }
            Token::Local(name) if self.module.types.contains_key(name) => {
                write!(out, "%T{}", self.types.of(name))
            }
            Token::Local(name) => {
                out.push_str(name);
                Ok(())
            }
            Token::Metadata(node) => write!(out, "!{}", self.nodes.of(node)),
            Token::Debug { comma, node } if self.style.debug => {
                let comma = if comma { "," } else { "" };
                write!(out, "{comma} !dbg !{}", self.nodes.of(node))
            }
            Token::Debug { .. } => Ok(()),
            Token::Group(group) => write!(out, "#{}", self.groups.of(group)),
        };
    }

    fn mention(&mut self, name: Name<'t>, out: &mut String) {
        let target = self.module.target(name);
        let new = self.names.of(self.module, target);
        let _ = write!(out, "@\"{new}\"");
        self.mentions.insert(new, target);
    }

    /// Emits a function's linkage and return type, leaving out its current linkage.
    fn result(&mut self, function: &Function<'t>, out: &mut String) {
        const LINKED: [&str; 12] = [
            "internal",
            "private",
            "linkonce",
            "linkonce_odr",
            "weak",
            "weak_odr",
            "external",
            "dso_local",
            "dso_preemptable",
            "default",
            "hidden",
            "protected",
        ];
        let mut rest = function.result;
        while let Some((word, next)) = rest.split_once(' ') {
            if !LINKED.contains(&word) {
                break;
            }
            rest = next;
        }
        // A renamed symbol was `static` in its file, or is used only in this program.
        let is_renamed = self.names.of(self.module, function.name) != function.name.text;
        if is_renamed || function.result.split(' ').any(|word| word == "hidden") {
            out.push_str("hidden ");
        }
        self.emit(rest, out);
    }

    fn define(&mut self, function: &Function<'t>, how: As) {
        let mut text = "define ".to_owned();
        if how == As::Copy {
            text.push_str("available_externally ");
        } else if function.is_sanitizers() {
            text.push_str("internal ");
        } else if function
            .result
            .split(' ')
            .any(|word| word.ends_with("_odr"))
        {
            text.push_str("weak_odr ");
        } else if function.is_weak() {
            text.push_str("weak ");
        }
        self.result(function, &mut text);
        self.mention(function.name, &mut text);
        self.emit(function.parameters, &mut text);
        self.emit(
            function.tail.split(" comdat").next().unwrap_or(""),
            &mut text,
        );
        if let Some((_, after)) = function.tail.split_once(" comdat") {
            // A comdat name ends at its bracket.
            let after = match after.strip_prefix("($") {
                Some(name) => name.split_once(')').map_or("", |(_, rest)| rest),
                None => after,
            };
            self.emit(after, &mut text);
        }
        text.push_str(" {\n");
        for line in function.body.split_inclusive('\n') {
            let code = line.trim_start();
            if !code.starts_with("#dbg_") && !code.contains("call void @llvm.dbg.") {
                self.emit(line, &mut text);
            }
        }
        text.push_str("}\n");
        self.defined.insert(function.name);
        self.out.push_str(&text);
    }

    fn variable(&mut self, global: &Global<'t>) {
        let mut text = String::new();
        self.mention(global.name, &mut text);
        text.push_str(" = ");
        if self.names.is_promoted(global.name) {
            text.push_str("hidden ");
        } else {
            for word in [global.linkage, global.visibility] {
                if !word.is_empty() {
                    text.push_str(word);
                    text.push(' ');
                }
            }
        }
        self.rest_of(global, &mut text);
        text.push(' ');
        self.emit(global.value.unwrap_or(""), &mut text);
        for item in &global.tail {
            if !item.starts_with("comdat") && !item.starts_with("!dbg ") {
                text.push_str(", ");
                self.emit(item, &mut text);
            }
        }
        text.push('\n');
        self.defined.insert(global.name);
        self.out.push_str(&text);
    }

    fn rest_of(&mut self, global: &Global<'t>, text: &mut String) {
        for word in &global.words {
            text.push_str(word);
            text.push(' ');
        }
        text.push_str(if global.constant {
            "constant "
        } else {
            "global "
        });
        self.emit(global.ty, text);
    }

    /// Declares a variable of another part. With the value of a short constant, so that the
    /// optimiser knows it.
    fn declare_variable(&mut self, new: &str, global: &Global<'t>) {
        let aligned = global.tail.iter().find(|item| item.starts_with("align "));
        let value = global.value.filter(|value| {
            self.style.inline
                && global.constant
                && value.len() <= SHORT
                && !value.contains('@')
                && matches!(global.linkage, "" | "private" | "internal")
        });
        let linkage = match (value, global.linkage) {
            (Some(_), _) => "available_externally",
            (None, "extern_weak") => "extern_weak",
            _ => "external",
        };
        let visibility = match self.names.is_promoted(global.name) {
            true => "hidden",
            false => global.visibility,
        };
        let mut text = format!("@\"{new}\" = {linkage} ");
        if !visibility.is_empty() {
            text.push_str(visibility);
            text.push(' ');
        }
        self.rest_of(global, &mut text);
        if let Some(value) = value {
            text.push(' ');
            self.emit(value, &mut text);
        }
        if let Some(aligned) = aligned {
            text.push_str(", ");
            text.push_str(aligned);
        }
        text.push('\n');
        self.out.push_str(&text);
    }

    fn declare_function(&mut self, function: &Function<'t>) {
        let mut text = "declare ".to_owned();
        self.result(function, &mut text);
        self.mention(function.name, &mut text);
        self.emit(function.parameters, &mut text);
        for word in function.tail.split(' ') {
            if word.starts_with('#') || word.ends_with("unnamed_addr") {
                text.push(' ');
                self.emit(word, &mut text);
            }
        }
        text.push('\n');
        self.out.push_str(&text);
    }

    /// Declares what is mentioned, and appends what is numbered.
    fn complete(mut self) -> String {
        let module = self.module;
        let mut nodes = String::new();
        let mut flags = String::new();
        self.emit(module.flags, &mut flags);
        let mut next = 0;
        while let Some(&node) = self.nodes.order.get(next) {
            let text = self.node(next, node);
            let _ = writeln!(nodes, "!{next} = {text}");
            next += 1;
        }
        for (new, name) in self.mentions.clone() {
            if self.defined.contains(&name) {
                continue;
            }
            if let Some(&index) = module.function.get(&name) {
                self.declare_function(&module.functions[index]);
            } else if let Some(&index) = module.global.get(&name) {
                self.declare_variable(&new, &module.globals[index]);
            } else if let Some(&line) = module.declared.get(&name) {
                let mut text = String::new();
                self.emit(line, &mut text);
                self.out.push_str(&text);
                self.out.push('\n');
            }
        }
        let mut text = module.target.join("\n");
        text.push('\n');
        let mut next = 0;
        while let Some(&name) = self.types.order.get(next) {
            let mut definition = String::new();
            self.emit(module.types[name], &mut definition);
            let _ = writeln!(text, "%T{next} = type {definition}");
            next += 1;
        }
        text.push_str(&self.out);
        for (number, group) in self.groups.order.iter().enumerate() {
            let group = module.groups.get(group).copied().unwrap_or("{ }");
            let _ = writeln!(text, "attributes #{number} = {group}");
        }
        if !flags.is_empty() {
            let _ = writeln!(text, "!llvm.module.flags = {flags}");
        }
        if !self.units.is_empty() {
            let units: Vec<String> = self.units.iter().map(|unit| format!("!{unit}")).collect();
            let _ = writeln!(text, "!llvm.dbg.cu = !{{{}}}", units.join(", "));
        }
        text.push_str(&nodes);
        text
    }

    /// The text of a node. Of debug information, it has only what a call stack needs.
    fn node(&mut self, number: usize, node: u32) -> String {
        let whole = self.module.nodes.get(&node).copied().unwrap_or("!{}");
        let sort = whole.strip_prefix("distinct ").unwrap_or(whole);
        let mut text = String::new();
        let kept: &[&str] = if sort.starts_with("!DISubprogram(") {
            &[
                "name",
                "linkageName",
                "file",
                "line",
                "scopeLine",
                "spFlags",
                "unit",
            ]
        } else if sort.starts_with("!DICompileUnit(") {
            self.units.push(number);
            &["language", "file", "producer"]
        } else if sort.starts_with("!DIFile(") {
            // The file's hash is left out, since it changes with every function of the file.
            &["filename", "directory"]
        } else {
            self.emit(whole, &mut text);
            return text;
        };
        let all = fields(sort);
        let has_unit = all.iter().any(|(key, _)| *key == "unit");
        let is_unit = sort.starts_with("!DICompileUnit(");
        let is_function = sort.starts_with("!DISubprogram(");
        if is_unit || has_unit {
            text.push_str("distinct ");
        }
        text.push_str(sort.split_once('(').map_or(sort, |(sort, _)| sort));
        text.push('(');
        let mut separator = "";
        for (key, value) in all.into_iter().filter(|(key, _)| kept.contains(key)) {
            let _ = write!(text, "{separator}{key}: ");
            self.emit(value, &mut text);
            if key == "file" && !is_unit {
                // The file replaces a function's scope, since its types and name spaces are left
                // out.
                text.push_str(", scope: ");
                self.emit(value, &mut text);
            }
            separator = ", ";
        }
        if is_unit {
            text.push_str(", emissionKind: LineTablesOnly, nameTableKind: None");
        }
        if is_function {
            // LLVM's writer of debug information reads the type without checking that there is one.
            text.push_str(", type: !DISubroutineType(types: !{})");
        }
        text.push(')');
        text
    }
}
