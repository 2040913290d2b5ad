//! C types, parsed from clang's notation: `const unsigned char *`, `int (*)(void *, size_t)`,
//! `char[32]`.
//!
//! A harness declares variables of these types in the words of the header, and must also know what
//! the words mean. So each type keeps its spelling, and typedefs are resolved only on demand.

/// A type as it is written in C.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Whether the type itself is `const`.
    pub constant: bool,
    /// Its spelling, without its own `const`.
    pub words: String,
    /// Its meaning.
    pub kind: Kind,
}

/// The meaning of a type; see [`Written`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `void`; behind a pointer, any type.
    Void,
    /// A Boolean.
    Bool,
    /// An integer.
    Int {
        /// The size in bytes.
        size: u8,
        /// Whether it is signed.
        signed: bool,
    },
    /// A floating-point number of 4 or 8 bytes.
    Float {
        /// The size in bytes.
        size: u8,
    },
    /// An enumeration, by its tag.
    Enum(String),
    /// A structure or a union, by its tag.
    Record(String),
    /// A typedef's name.
    Named(String),
    /// A pointer.
    Pointer(Box<Written>),
    /// A function.
    Function(Box<Function>),
    /// An array.
    Array(Box<Written>),
    /// A type that is not supported.
    Other,
}

/// A function's type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// What it returns.
    pub returns: Written,
    /// Its parameters.
    pub params: Vec<Written>,
    /// Whether it takes further arguments (`...`).
    pub variadic: bool,
}

/// Words that do not change the kind of a type.
const QUALIFIERS: &[&str] = &[
    "const",
    "volatile",
    "restrict",
    "__restrict",
    "_Nonnull",
    "_Nullable",
    "_Atomic",
    "register",
];

/// Parses a type.
pub fn read(text: &str) -> Written {
    let text = text.trim();
    let other = |kind| Written {
        constant: false,
        words: text.to_owned(),
        kind,
    };
    if let Some(at) = text.find("(*") {
        return other(function_pointer(text, at));
    }
    if text.ends_with(')') && !text.contains(" at ") {
        return match function(text) {
            Some(function) => other(Kind::Function(Box::new(function))),
            None => other(Kind::Other),
        };
    }
    if let (Some(open), true) = (text.find('['), text.ends_with(']')) {
        // `char[3][4]` is an array of three `char[4]`.
        let after = text[open..]
            .find(']')
            .map_or("", |end| &text[open + end + 1..]);
        let of = read(&format!("{}{after}", &text[..open]));
        return other(Kind::Array(Box::new(of)));
    }
    if let Some(star) = text.rfind('*') {
        let after = &text[star + 1..];
        if after
            .split_whitespace()
            .all(|word| QUALIFIERS.contains(&word))
        {
            return Written {
                constant: after.split_whitespace().any(|word| word == "const"),
                words: text[..=star].trim_end().to_owned(),
                kind: Kind::Pointer(Box::new(read(&text[..star]))),
            };
        }
        return other(Kind::Other);
    }
    let constant = text.split_whitespace().any(|word| word == "const");
    let words: Vec<&str> = text
        .split_whitespace()
        .filter(|word| !QUALIFIERS.contains(word))
        .collect();
    Written {
        constant,
        words: words.join(" "),
        kind: base(&words),
    }
}

fn base(words: &[&str]) -> Kind {
    let int = |size, signed| Kind::Int { size, signed };
    match words {
        ["struct" | "union", tag] => Kind::Record((*tag).to_owned()),
        ["enum", tag] => Kind::Enum((*tag).to_owned()),
        ["void"] => Kind::Void,
        ["_Bool" | "bool"] => Kind::Bool,
        ["float"] => Kind::Float { size: 4 },
        ["double"] => Kind::Float { size: 8 },
        ["char"] | ["signed", "char"] => int(1, true),
        ["unsigned", "char"] => int(1, false),
        ["short"] => int(2, true),
        ["unsigned", "short"] => int(2, false),
        ["int"] => int(4, true),
        ["unsigned", "int"] => int(4, false),
        ["long"] | ["long", "long"] => int(8, true),
        ["unsigned", "long"] | ["unsigned", "long", "long"] => int(8, false),
        [name] => Kind::Named((*name).to_owned()),
        _ => Kind::Other,
    }
}

/// Parses `int (*)(void *, size_t)`; more complex types are [`Kind::Other`].
fn function_pointer(text: &str, at: usize) -> Kind {
    let Some(close) = text[at..].find(')').map(|end| at + end) else {
        return Kind::Other;
    };
    let inner = text[at + 2..close].trim();
    if !inner
        .split_whitespace()
        .all(|word| QUALIFIERS.contains(&word))
    {
        return Kind::Other;
    }
    match function(&format!("{} {}", &text[..at], &text[close + 1..])) {
        Some(function) => Kind::Pointer(Box::new(Written {
            constant: false,
            words: String::new(),
            kind: Kind::Function(Box::new(function)),
        })),
        None => Kind::Other,
    }
}

/// Parses a function type, `int (void *, size_t)`.
pub fn function(text: &str) -> Option<Function> {
    let text = text.trim();
    let open = text.find('(')?;
    let list = text.strip_suffix(')')?.get(open + 1..)?;
    let (mut depth, mut start, mut parts) = (0i32, 0, Vec::new());
    for (i, c) in list.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(list[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
        if depth < 0 {
            return None;
        }
    }
    parts.push(list[start..].trim());
    let variadic = parts.last() == Some(&"...");
    let params = parts
        .into_iter()
        .filter(|part| !matches!(*part, "" | "void" | "..."))
        .map(read)
        .collect();
    Some(Function {
        returns: read(&text[..open]),
        params,
        variadic,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_read_as_clang_writes_them() {
        let data = read("const unsigned char *const");
        assert!(data.constant);
        assert_eq!(data.words, "const unsigned char *");
        let Kind::Pointer(to) = data.kind else {
            panic!("no pointer")
        };
        assert!(to.constant && to.words == "unsigned char");
        assert_eq!(
            to.kind,
            Kind::Int {
                size: 1,
                signed: false
            }
        );
        assert_eq!(read("struct tag").kind, Kind::Record("tag".to_owned()));
        assert_eq!(read("size_t").kind, Kind::Named("size_t".to_owned()));
        assert!(matches!(read("int[4][2]").kind, Kind::Array(of) if of.words == "int[2]"));
        let Kind::Pointer(to) = read("void *(*)(void *, int (*)(int), const char *)").kind else {
            panic!("no pointer")
        };
        let Kind::Function(function) = to.kind else {
            panic!("no function")
        };
        assert_eq!(
            (function.params.len(), function.returns.words.as_str()),
            (3, "void *")
        );
        assert_eq!(read("void (*(*)(int))(void)").kind, Kind::Other);
    }
}
