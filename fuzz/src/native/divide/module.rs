//! Parses the text of a module: what it defines, declares and numbers.
//!
//! Everything borrows from the text. A line that this parser does not recognise is an error, and
//! the program is then compiled as a whole, since leaving out the line could change the program.

use std::collections::HashMap;

use super::scan::{Token, fields, item, tokens, ty};

/// The name of a global. A global without a name has a number instead.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct Name<'t> {
    pub text: &'t str,
    pub unnamed: bool,
}

impl<'t> Name<'t> {
    pub fn of(token: Token<'t>) -> Option<Name<'t>> {
        match token {
            Token::Global(text) => Some(Name {
                text,
                unnamed: false,
            }),
            Token::Unnamed(text) => Some(Name {
                text,
                unnamed: true,
            }),
            _ => None,
        }
    }
}

/// Why a module cannot be divided.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Refused(pub String);

/// A function with its body.
#[derive(Debug)]
pub(super) struct Function<'t> {
    pub name: Name<'t>,
    /// The text from `define` to the name, both excluded.
    pub result: &'t str,
    /// Its parameters, including the brackets.
    pub parameters: &'t str,
    /// The text between the parameters and the body.
    pub tail: &'t str,
    /// The lines of its body.
    pub body: &'t str,
    /// The file that it was compiled from, with its folder, according to debug information; empty
    /// if unknown.
    pub file: String,
    /// The globals that it refers to, in the order of first mention.
    pub mentions: Vec<Name<'t>>,
}

impl Function<'_> {
    /// Whether the linker may replace it by another definition.
    pub fn is_weak(&self) -> bool {
        let weak =
            |word: &str| word == "weak" || word == "weak_odr" || word.starts_with("linkonce");
        self.result.split(' ').any(weak)
    }

    /// Whether the sanitizer added it. The linker knows it only under this name.
    pub fn is_sanitizers(&self) -> bool {
        self.name.text.starts_with("asan.")
    }

    /// Whether it jumps to labels by their addresses. A copy without its table of labels would have
    /// no targets, and the optimiser would delete the code after the jump.
    pub fn has_labels(&self) -> bool {
        self.body.contains("indirectbr ")
    }
}

/// A global variable.
#[derive(Debug)]
pub(super) struct Global<'t> {
    pub name: Name<'t>,
    pub linkage: &'t str,
    pub visibility: &'t str,
    /// The other words before `global` or `constant`.
    pub words: Vec<&'t str>,
    pub constant: bool,
    pub ty: &'t str,
    /// Its value; None if it is only declared.
    pub value: Option<&'t str>,
    /// Alignment, section and attachments.
    pub tail: Vec<&'t str>,
    /// The function whose labels it holds, which must be compiled with it.
    pub labels: Option<Name<'t>>,
}

impl Global<'_> {
    pub fn is_local(&self) -> bool {
        matches!(self.linkage, "private" | "internal")
    }
}

/// A module.
#[derive(Debug, Default)]
pub(super) struct Module<'t> {
    pub target: Vec<&'t str>,
    pub types: HashMap<&'t str, &'t str>,
    pub groups: HashMap<u32, &'t str>,
    pub nodes: HashMap<u32, &'t str>,
    /// The module's flags: a list of nodes.
    pub flags: &'t str,
    pub functions: Vec<Function<'t>>,
    pub function: HashMap<Name<'t>, usize>,
    pub globals: Vec<Global<'t>>,
    pub global: HashMap<Name<'t>, usize>,
    /// Functions without bodies: their lines.
    pub declared: HashMap<Name<'t>, &'t str>,
    /// The target of each alias.
    pub aliases: HashMap<Name<'t>, Name<'t>>,
}

const LINKAGES: [&str; 11] = [
    "private",
    "internal",
    "available_externally",
    "linkonce",
    "linkonce_odr",
    "weak",
    "weak_odr",
    "common",
    "appending",
    "extern_weak",
    "external",
];
const VISIBILITIES: [&str; 3] = ["default", "hidden", "protected"];

fn refused<T>(what: &str, line: &str) -> Result<T, Refused> {
    let short: String = line.chars().take(80).collect();
    Err(Refused(format!("{what}: {short}")))
}

impl<'t> Module<'t> {
    /// Parses a module that LLVM has printed.
    pub fn read(text: &'t str) -> Result<Module<'t>, Refused> {
        if !text.is_ascii() {
            return refused("text beyond ASCII", "");
        }
        let mut module = Module::default();
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.find('\n').map_or(rest.len(), |end| end + 1);
            let line = rest[..end].trim_end();
            if line.starts_with("define ") {
                let Some(close) = rest.find("\n}\n") else {
                    return refused("a function without an end", line);
                };
                let body = &rest[end..close + 1];
                module.function(line, body)?;
                rest = &rest[close + 3..];
                continue;
            }
            rest = &rest[end..];
            module.line(line)?;
        }
        for index in 0..module.functions.len() {
            let function = &module.functions[index];
            if labelled(function.body)
                .iter()
                .any(|name| *name != function.name)
            {
                return refused("a label of another function", function.name.text);
            }
            module.functions[index].file = module.file(function.tail);
        }
        for global in &module.globals {
            let is_defined = |name: &Name| module.function.contains_key(name);
            if global.labels.is_some_and(|name| !is_defined(&name)) {
                return refused("a table of labels of no function", global.name.text);
            }
        }
        Ok(module)
    }

    fn line(&mut self, line: &'t str) -> Result<(), Refused> {
        let Some(first) = line.bytes().next() else {
            return Ok(());
        };
        let pair = || match line.split_once(" = ") {
            Some(pair) => Ok(pair),
            None => refused("a line that is not understood", line),
        };
        match first {
            b';' | b'$' => {}
            b'@' => self.global(line)?,
            b'%' => {
                let (name, what) = pair()?;
                let Some(definition) = what.strip_prefix("type ") else {
                    return refused("a line that is not understood", line);
                };
                if name[1..].bytes().all(|byte| byte.is_ascii_digit()) {
                    // Local values have such names too.
                    return refused("a type without a name", line);
                }
                self.types.insert(name, definition);
            }
            b'!' => {
                let (name, what) = pair()?;
                match name[1..].parse() {
                    Ok(number) => drop(self.nodes.insert(number, what)),
                    Err(_) if name == "!llvm.module.flags" => self.flags = what,
                    // The needed debug information follows from what is used; other named metadata
                    // is informative.
                    Err(_) => {}
                }
            }
            _ if line.starts_with("attributes #") => {
                let (name, what) = pair()?;
                let Ok(number) = name["attributes #".len()..].parse() else {
                    return refused("a line that is not understood", line);
                };
                self.groups.insert(number, what);
            }
            _ if line.starts_with("declare ") => match tokens(line).find_map(Name::of) {
                Some(name) => drop(self.declared.insert(name, line)),
                None => return refused("a declaration without a name", line),
            },
            _ if line.starts_with("target ") => self.target.push(line),
            _ if line.starts_with("source_filename ") => {}
            _ => return refused("a line that is not understood", line),
        }
        Ok(())
    }

    fn function(&mut self, header: &'t str, body: &'t str) -> Result<(), Refused> {
        let mut before = 0;
        let mut found = None;
        for token in tokens(header) {
            if let Some(name) = Name::of(token) {
                found = Some(name);
                break;
            }
            before += match token {
                Token::Text(text) | Token::Local(text) => text.len(),
                _ => return refused("a function that is not understood", header),
            };
        }
        let Some(name) = found else {
            return refused("a function without a name", header);
        };
        let Some(open) = header[before..].find('(').map(|open| before + open) else {
            return refused("a function that is not understood", header);
        };
        let Some(parameters) = ty_brackets(&header[open..]) else {
            return refused("a function that is not understood", header);
        };
        let tail = header[open + parameters.len()..].trim_end_matches(" {");
        let result = &header["define ".len()..before];
        let strange = [" prefix ", " prologue ", " personality ", " gc \""];
        if result.split(' ').any(|word| word == "available_externally")
            || strange.iter().any(|word| tail.contains(word))
        {
            return refused("a function of a rare sort", header);
        }
        let mut mentions = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for name in tokens(body).filter_map(Name::of) {
            if seen.insert(name) {
                mentions.push(name);
            }
        }
        self.function.insert(name, self.functions.len());
        self.functions.push(Function {
            name,
            result,
            parameters,
            tail,
            body,
            file: String::new(),
            mentions,
        });
        Ok(())
    }

    fn global(&mut self, line: &'t str) -> Result<(), Refused> {
        let Some(name) = tokens(line).find_map(Name::of) else {
            return refused("a variable without a name", line);
        };
        // A name in quotes may contain any character.
        let after = match name.unnamed || !line[1..].starts_with('"') {
            true => 1 + name.text.len(),
            false => 3 + name.text.len(),
        };
        let Some(mut rest) = line[after..].strip_prefix(" = ") else {
            return refused("a variable that is not understood", line);
        };
        let (mut linkage, mut visibility, mut words) = ("", "", Vec::new());
        let constant = loop {
            let Some((word, next)) = rest.split_once(' ') else {
                return refused("a variable that is not understood", line);
            };
            rest = next;
            match word {
                "global" => break false,
                "constant" => break true,
                "alias" => return self.alias(name, linkage, rest, line),
                "ifunc" => return refused("a function chosen when the program starts", line),
                _ if LINKAGES.contains(&word) => linkage = word,
                _ if VISIBILITIES.contains(&word) => visibility = word,
                _ if word.starts_with("addrspace") => {
                    return refused("an address space", line);
                }
                _ => words.push(word),
            }
        };
        let Some(length) = ty(rest) else {
            return refused("a type that is not understood", line);
        };
        let (ty, rest) = rest.split_at(length);
        let is_declared = matches!(linkage, "external" | "extern_weak");
        let length = if is_declared { 0 } else { item(rest) };
        let (value, mut rest) = rest.split_at(length);
        let functions = labelled(value);
        let labels = match functions.as_slice() {
            [] => None,
            [function] if matches!(linkage, "private" | "internal") => Some(*function),
            _ => return refused("a table of labels of several functions", line),
        };
        let mut tail = Vec::new();
        while let Some(next) = rest.strip_prefix(", ") {
            let end = item(next);
            tail.push(&next[..end]);
            rest = &next[end..];
        }
        if !rest.is_empty() {
            return refused("a variable that is not understood", line);
        }
        self.global.insert(name, self.globals.len());
        self.globals.push(Global {
            name,
            linkage,
            visibility,
            words,
            constant,
            ty,
            value: (!is_declared).then_some(value.trim()),
            tail,
            labels,
        });
        Ok(())
    }

    fn alias(
        &mut self,
        name: Name<'t>,
        linkage: &str,
        rest: &'t str,
        line: &str,
    ) -> Result<(), Refused> {
        let aliased = rest[item(rest)..].strip_prefix(", ptr ");
        let target = aliased.and_then(|text| {
            let mut all = tokens(text);
            let target = Name::of(all.next()?)?;
            all.next().is_none().then_some(target)
        });
        match target {
            Some(target) if !linkage.starts_with("weak") => {
                self.aliases.insert(name, target);
                Ok(())
            }
            _ => refused("an alias that is not understood", line),
        }
    }

    /// The global that a name stands for, after following aliases.
    pub fn target(&self, mut name: Name<'t>) -> Name<'t> {
        // At most as many steps as there are aliases, in case they form a cycle.
        for _ in 0..=self.aliases.len() {
            match self.aliases.get(&name) {
                Some(&next) => name = next,
                None => break,
            }
        }
        name
    }

    /// The file of the compile unit of the function with this tail. The file's hash is not used, so
    /// that names do not change when a file is edited.
    fn file(&self, tail: &str) -> String {
        let place = tokens(tail).find_map(|token| match token {
            Token::Debug { node, .. } => Some(node),
            _ => None,
        });
        let field = |node: Option<u32>, key: &str| -> Option<u32> {
            let all = fields(self.nodes.get(&node?)?);
            let (_, value) = all.into_iter().find(|(name, _)| *name == key)?;
            value.strip_prefix('!')?.parse().ok()
        };
        let unit = field(place, "unit");
        let file = field(unit, "file");
        let all = fields(file.and_then(|file| self.nodes.get(&file)).unwrap_or(&""));
        let place = |wanted| all.iter().find(|(key, _)| *key == wanted);
        ["directory", "filename"]
            .into_iter()
            .filter_map(|wanted| place(wanted).map(|(_, value)| *value))
            .collect()
    }
}

/// The functions whose labels have their address taken in `text`.
fn labelled(text: &str) -> Vec<Name<'_>> {
    let mut all = Vec::new();
    if !text.contains("blockaddress(") {
        return all;
    }
    let mut is_label = false;
    for token in tokens(text) {
        if let Some(name) = Name::of(token)
            && is_label
            && !all.contains(&name)
        {
            all.push(name);
        }
        is_label = matches!(token, Token::Text(text) if text.ends_with("blockaddress("));
    }
    all
}

/// The bracketed text at the start of `text`.
fn ty_brackets(text: &str) -> Option<&str> {
    let mut depth = 0i32;
    let mut in_string = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' => in_string = !in_string,
            b'(' if !in_string => depth += 1,
            b')' if !in_string => {
                depth -= 1;
                if depth == 0 {
                    return Some(&text[..=at]);
                }
            }
            _ => {}
        }
    }
    None
}
